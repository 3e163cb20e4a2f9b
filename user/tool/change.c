// SPDX-License-Identifier: MIT
/* Computes what has happened between two samples; see change.h. */
#include "change.h"

#include <stddef.h>

static uint64_t grown(const struct instance *now, const struct instance *before,
		      const char *name)
{
	return instance_counter(now, name) -
	       (before ? instance_counter(before, name) : 0);
}

/*
 * Returns whether @now must be another instance than @before, because one of its
 * counters is smaller. When the module is reloaded, the numbers of instances begin at 1
 * again, so an equal number does not mean the same instance.
 */
static bool is_another(const struct instance *now,
		       const struct instance *before)
{
	static const char *const growing[] = { "scheduled", "rearmed",
					       "cancelled", "expired",
					       "delivered" };
	unsigned int i;

	for (i = 0; i < sizeof(growing) / sizeof(growing[0]); i++)
		if (instance_counter(now, growing[i]) <
		    instance_counter(before, growing[i]))
			return true;
	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++)
		if (now->lateness[i] < before->lateness[i])
			return true;
	return false;
}

/*
 * Returns the change from @before, the instance with the same number @seconds ago, to
 * @now. If @before is NULL or proves to be another instance, all counts of @now are new.
 */
struct change change_of(const struct instance *now,
			const struct instance *before, double seconds)
{
	struct change change = { .seconds = seconds };
	unsigned int i;

	if (before && is_another(now, before))
		before = NULL;
	change.scheduled =
		grown(now, before, "scheduled") + grown(now, before, "rearmed");
	change.cancelled = grown(now, before, "cancelled");
	change.expired = grown(now, before, "expired");
	change.delivered = grown(now, before, "delivered");
	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++)
		change.lateness[i] =
			now->lateness[i] - (before ? before->lateness[i] : 0);
	change.pending = instance_counter(now, "pending");
	change.ready = instance_counter(now, "ready");
	change.bytes = instance_counter(now, "bytes");
	return change;
}

/* Adds the change of another instance in the same time. */
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
	sum->pending += change->pending;
	sum->ready += change->ready;
	sum->bytes += change->bytes;
}
