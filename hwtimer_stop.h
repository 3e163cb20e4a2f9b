/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hands timers back for STOP.
 */
#ifndef HWTIMER_STOP_H
#define HWTIMER_STOP_H

#include <linux/compiler.h>
#include <linux/types.h>

struct hwtimer_instance;
struct hwtimer_unprocessed;

/**
 * struct hwtimer_stopping - progress of STOP
 * @at: time at which the instance was stopped, ns on its clock; constant once stopped
 * @cursor: index of the record from which STOP goes on; no record below it is to be handed
 *	back
 *
 * Protected by the instance's lock.
 */
struct hwtimer_stopping {
	u64 at;
	u64 cursor;
};

ssize_t hwtimer_stop_timers(struct hwtimer_instance *instance,
			    struct hwtimer_unprocessed __user *timers,
			    u32 count, u64 *left);

#endif /* HWTIMER_STOP_H */
