/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeps an instance in step with its clock: tells the worker when to turn the wheel next,
 * and moves a wheel that stands behind the clock, or ahead of it. Called by everyone who
 * adds timers to the wheel, and by the worker's turn.
 */
#ifndef HWTIMER_WAKEUP_H
#define HWTIMER_WAKEUP_H

#include <linux/types.h>

struct hwtimer_instance;

/**
 * struct hwtimer_wakeup - when the wheel has to be turned
 * @at: when the worker turns the wheel at the latest, ns on the instance's clock;
 *	HWTIMER_TICK_NONE: not at all. Protected by the instance's lock
 * @follow_at: from this time on, in jiffies, the wheel may stand so far behind the clock
 *	that it has to follow before timers are added; protected by the instance's lock
 * @follow_after: jiffies that this takes; constant once the instance has started
 */
struct hwtimer_wakeup {
	u64 at;
	u64 follow_at;
	u64 follow_after;
};

void hwtimer_wakeup_rearm(struct hwtimer_instance *instance);
void hwtimer_wakeup_requeue(struct hwtimer_instance *instance, u64 now);
void hwtimer_wakeup_guard_overdue(struct hwtimer_instance *instance, u64 now);
void hwtimer_wakeup_chores(struct hwtimer_instance *instance, u64 time);

void hwtimer_wakeup_followed(struct hwtimer_instance *instance);
void hwtimer_wakeup_follow(struct hwtimer_instance *instance, u64 now);

#endif /* HWTIMER_WAKEUP_H */
