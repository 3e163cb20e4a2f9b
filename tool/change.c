// SPDX-License-Identifier: MIT
/* What has happened between two looks at the instances; see change.h. */
#include "change.h"

static uint64_t grown(const struct instance *now, const struct instance *before,
		      const char *name)
{
	return instance_counter(now, name) -
	       (before ? instance_counter(before, name) : 0);
}

/* @before: the same instance @seconds ago; NULL: it was not there. */
struct change change_of(const struct instance *now,
			const struct instance *before, double seconds)
{
	struct change change = {
		.seconds = seconds,
		.scheduled = grown(now, before, "scheduled") +
			     grown(now, before, "rearmed"),
		.cancelled = grown(now, before, "cancelled"),
		.expired = grown(now, before, "expired"),
		.delivered = grown(now, before, "delivered"),
	};
	unsigned int i;

	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++)
		change.lateness[i] =
			now->lateness[i] - (before ? before->lateness[i] : 0);
	return change;
}

/* Of several instances in the same time. */
void change_add(struct change *sum, const struct change *change)
{
	unsigned int i;

	sum->seconds = change->seconds;
	sum->scheduled += change->scheduled;
	sum->cancelled += change->cancelled;
	sum->expired += change->expired;
	sum->delivered += change->delivered;
	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++)
		sum->lateness[i] += change->lateness[i];
}
