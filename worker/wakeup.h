/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeps an instance in step with its clock: tells the worker when to turn the wheel next,
 * and moves a wheel that stands behind the clock or ahead of it.
 *
 * Everyone who needs the worker at some time for another reason calls
 * hwtimer_wakeup_chores().
 */
#ifndef HWTIMER_WAKEUP_H
#define HWTIMER_WAKEUP_H

#include <linux/types.h>

struct hwtimer_instance;

/**
 * struct hwtimer_wakeup - when the wheel has to be turned, or moved to the clock
 * @at: latest time at which the worker turns the wheel, ns on the instance's clock;
 *	HWTIMER_TICK_NONE: never. Protected by the instance's lock
 * @follow_at: time in jiffies from which on the wheel may stand so far behind the clock
 *	that it has to be moved before timers are added; protected by the instance's lock
 * @follow_after: number of jiffies between moving the wheel and @follow_at; constant once
 *	the instance has started
 */
struct hwtimer_wakeup {
	u64 at;
	u64 follow_at;
	u64 follow_after;
};

u64 hwtimer_wakeup_earliest(const struct hwtimer_instance *instance);
void hwtimer_wakeup_rearm(struct hwtimer_instance *instance);
void hwtimer_wakeup_requeue(struct hwtimer_instance *instance, u64 now);
void hwtimer_wakeup_turned(struct hwtimer_instance *instance, u64 now);
void hwtimer_wakeup_again(struct hwtimer_instance *instance);
void hwtimer_wakeup_chores(struct hwtimer_instance *instance, u64 time);

void hwtimer_wakeup_followed(struct hwtimer_instance *instance);
void hwtimer_wakeup_follow(struct hwtimer_instance *instance, u64 now);

#endif /* HWTIMER_WAKEUP_H */
