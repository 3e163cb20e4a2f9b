// SPDX-License-Identifier: GPL-2.0
/*
 * Judges the run. The audit compares each timer's requests with its events, and the sums
 * with the module's counters. It trusts neither the module's deadlines nor its
 * statistics. It counts all problems, and prints the first PROBLEMS_SHOWN of them.
 */
#include <stdio.h>
#include <string.h>

#include "demo.h"
#include "histogram.h"

#define PROBLEMS_SHOWN 10

#define problem(audit, format, ...)                                         \
	do {                                                                \
		if (++(audit)->problems <= PROBLEMS_SHOWN)                  \
			printf("demo: WRONG: " format "\n", ##__VA_ARGS__); \
	} while (0)

static void check_event(struct audit *audit, __u32 index,
			const struct timer *timer, const struct sighting *event)
{
	if (event->seen < timer->deadline) {
		audit->early++;
		problem(audit, "timer %u came %llu ns early", index,
			timer->deadline - event->seen);
	}
	if (event->id != timer->id)
		problem(audit, "timer %u has id %llx, its event %llx", index,
			timer->id, event->id);
	if (event->deadline != timer->deadline)
		problem(audit, "timer %u is due at %llu, its event says %llu",
			index, timer->deadline, event->deadline);
	if (event->deadline + event->lateness > event->seen)
		problem(audit,
			"timer %u was read at %llu, but expired at %llu + %u",
			index, event->seen, event->deadline, event->lateness);
}

static void check_timer(struct audit *audit, __u32 index,
			const struct timer *timer, const struct sighting *event)
{
	__u32 ends = (timer->fate == FATE_CANCELLED) + event->times;

	if (timer->fate == FATE_UNSCHEDULED) {
		if (ends)
			problem(audit, "timer %u was refused, but came", index);
		return;
	}
	audit->scheduled++;
	audit->cancelled += timer->fate == FATE_CANCELLED;
	audit->delivered += event->times > 0;
	if (!ends) {
		audit->lost++;
		problem(audit, "timer %u never came", index);
	}
	if (ends > 1) {
		audit->duplicate++;
		problem(audit, "timer %u was %s, and came %u times", index,
			timer->fate == FATE_CANCELLED ? "cancelled" :
							"not cancelled",
			event->times);
	}
	if (event->times)
		check_event(audit, index, timer, event);
}

static void check_conduct(struct audit *audit, const struct demo *demo)
{
	const struct submitted *submitted = &demo->submitted;
	const struct harvested *harvested = &demo->harvested;

	if (harvested->stalled)
		problem(audit, "gave up waiting: no more events came");
	if (submitted->refused)
		problem(audit, "%u timers were refused: %s", submitted->refused,
			strerror(submitted->refusal));
	if (submitted->odd)
		problem(audit, "%u CANCELs returned neither 0, 1 nor ENOENT",
			submitted->odd);
	if (harvested->foreign)
		problem(audit, "%u events belong to no timer",
			harvested->foreign);
	if (harvested->miscounted)
		problem(audit, "%u events do not say 1 expiration",
			harvested->miscounted);
}

static void check_sum(struct audit *audit, const char *name, __u64 says,
		      __u64 is)
{
	if (says != is)
		problem(audit,
			"the module counts %llu %s, but it should be %llu",
			says, name, is);
}

static void check_sums(struct audit *audit, const struct hwtimer_stats *stats)
{
	check_sum(audit, "scheduled", stats->scheduled, audit->scheduled);
	check_sum(audit, "cancelled", stats->cancelled, audit->cancelled);
	check_sum(audit, "expired", stats->expired, audit->delivered);
	check_sum(audit, "delivered", stats->delivered, audit->delivered);
	check_sum(audit, "pending", stats->pending, 0);
	check_sum(audit, "ready", stats->ready, 0);
	check_sum(audit, "discarded", stats->discarded, 0);
}

/* Returns the row in which the demo counts what the module counts in bucket @i. */
static __u32 row_of_bucket(__u32 i)
{
	const __u64 bound = HWTIMER_LATENESS_BOUND(i);

	return bound <= 0xffffffff ? histogram_row(bound) : HISTOGRAM_ROWS - 1;
}

/*
 * Compares all rows of the histograms but the last, which holds times that are too long
 * for an event's field. Rows below 256 ns are one, as the module has one bucket for them.
 */
static void check_lateness(struct audit *audit, const struct demo *demo,
			   const struct hwtimer_stats *stats)
{
	__u64 rows[HISTOGRAM_ROWS] = { 0 }, theirs[HISTOGRAM_ROWS] = { 0 };
	__u32 i;

	for (i = 0; i < demo->options.timers; i++)
		if (demo->sightings[i].times)
			rows[histogram_row(demo->sightings[i].lateness)]++;
	for (i = 1; i <= 8; i++)
		rows[0] += rows[i];
	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++)
		theirs[row_of_bucket(i)] += stats->lateness[i];
	for (i = 0; i < HISTOGRAM_ROWS - 1; i++)
		if ((!i || i > 8) && rows[i] != theirs[i])
			problem(audit,
				"the module counts %llu timers late by up to 2^%u ns, the events say %llu",
				theirs[i], i ? i : 8, rows[i]);
}

void audit_run(const struct demo *demo, const struct hwtimer_stats *stats,
	       struct audit *audit)
{
	__u32 i;

	*audit = (struct audit){ 0 };
	check_conduct(audit, demo);
	for (i = 0; i < demo->options.timers; i++)
		check_timer(audit, i, &demo->timers[i], &demo->sightings[i]);
	check_sums(audit, stats);
	check_lateness(audit, demo, stats);
	if (audit->problems > PROBLEMS_SHOWN)
		printf("demo: WRONG: ... and %u more\n",
		       audit->problems - PROBLEMS_SHOWN);
}
