/* SPDX-License-Identifier: MIT */
/*
 * The account of restore's timers, to check that each expires at the right times and as
 * often as it should. A program does not need this to save and restore timers.
 */
#ifndef EXAMPLE_RESTORE_H
#define EXAMPLE_RESTORE_H

#include "example.h"

/* A timer, indexed by its user_data: the next deadline, and the expiries left */
struct known {
	uint64_t due, interval;
	unsigned int left;
};

static struct hwt *hwt;
static struct known *all;
static unsigned long expired, to_come, wrong;

/*
 * Schedules a timer that shall expire @times times, first at @time. If @now is not 0,
 * @time counts from @now. Checks that the module has the same deadline.
 */
static void schedule(struct hwtimer_request *timer, unsigned int times,
		     uint64_t now, uint64_t time)
{
	struct known *known = &all[timer->user_data];
	struct hwtimer_timer made;
	uint64_t took = 0;

	must(hwt_schedule_request(hwt, timer));
	if (now)
		took = now_ns(CLOCK_MONOTONIC) - now;
	made.id = timer->id;
	must(hwt_query(hwt, &made));
	known->due = now + time;
	wrong += made.deadline < known->due ||
		 made.deadline > known->due + took;
	known->interval = timer->interval;
	known->left = times;
	to_come += times;
}

static void on_event(const struct hwtimer_event *event)
{
	struct known *known = &all[event->user_data];

	if (event->expirations > known->left)
		errx(1, "timer %llu came too often", event->user_data);
	wrong += now_ns(CLOCK_MONOTONIC) < known->due;
	known->due += known->interval * event->expirations;
	known->left -= event->expirations;
	expired += event->expirations;
	to_come -= event->expirations;
}

#endif /* EXAMPLE_RESTORE_H */
