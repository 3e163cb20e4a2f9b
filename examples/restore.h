/* SPDX-License-Identifier: MIT */
/*
 * What restore remembers of its timers, to see whether each comes when it should, and
 * as often as it should. Not what a program needs to save and restore them.
 */
#ifndef EXAMPLE_RESTORE_H
#define EXAMPLE_RESTORE_H

#include "example.h"

/* Of each timer, by its user_data: when it is due next, and how often it will be */
struct known {
	uint64_t due, interval;
	unsigned int left;
};

static struct hwt *hwt;
static struct known *all;
static unsigned long expired, to_come, wrong;

/* Looks whether the timer has the deadline that it should have. */
static void schedule(struct hwtimer_request *timer, unsigned int times)
{
	bool is_delay = !(timer->flags & HWTIMER_ABSOLUTE);
	struct known *known = &all[timer->user_data];
	uint64_t now = now_ns(CLOCK_MONOTONIC), took;
	struct hwtimer_query query;

	must(hwt_schedule_request(hwt, timer));
	took = now_ns(CLOCK_MONOTONIC) - now;
	query.id = timer->id;
	must(hwt_query(hwt, &query));
	known->due = timer->time + (is_delay ? now : 0);
	wrong += query.deadline - known->due > (is_delay ? took : 0);
	known->interval = timer->interval;
	known->left = times;
	to_come += times;
}

static void on_event(const struct hwtimer_event *event)
{
	struct known *known = &all[event->user_data];

	wrong += now_ns(CLOCK_MONOTONIC) < known->due ||
		 event->expirations > known->left;
	known->due += known->interval * event->expirations;
	known->left -= event->expirations;
	expired += event->expirations;
	to_come -= event->expirations;
}

#endif /* EXAMPLE_RESTORE_H */
