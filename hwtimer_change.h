/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does what RESCHEDULE does beyond another deadline: changes any property of a pending
 * timer, and ends the timer that HWTIMER_REARM makes anew. Called by hwtimer_request.c
 * with the instance's lock held.
 */
#ifndef HWTIMER_CHANGE_H
#define HWTIMER_CHANGE_H

#include <linux/types.h>

#include <uapi/linux/hwtimer.h>

struct hwtimer_instance;
struct hwtimer_moment;

/* All flags of RESCHEDULE that set a field */
#define HWTIMER_CHANGE_ALL \
	(HWTIMER_SET_USER_DATA | HWTIMER_SET_INTERVAL | HWTIMER_SET_SLACK)

/**
 * hwtimer_change_sets - tell which fields a RESCHEDULE sets
 * @flags: flags of the request
 *
 * Return: HWTIMER_SET_*, all of them with HWTIMER_REARM. Any context.
 */
static inline u32 hwtimer_change_sets(u32 flags)
{
	return flags & HWTIMER_REARM ? HWTIMER_CHANGE_ALL :
				       flags & HWTIMER_CHANGE_ALL;
}

bool hwtimer_change_pending(struct hwtimer_instance *instance,
			    const struct hwtimer_request *request,
			    struct hwtimer_moment *moment, int *result);
int hwtimer_change_end(struct hwtimer_instance *instance,
		       const struct hwtimer_request *request);

#endif /* HWTIMER_CHANGE_H */
