/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The allowance of an instance is the number of timers that it may have without asking
 * its account. So a timer that is scheduled costs one comparison, as if there were only
 * the limit of the instance.
 *
 * To ask the account takes atomic operations on counters that all instances of a user
 * share. So an instance asks for more than it needs, and keeps some of what it no longer
 * needs: up to two steps, see hwtimer_account_step().
 *
 * hwtimer_supply.c begins the allowance when the instance starts. hwtimer_op.h lets it
 * grow. hwtimer_op.c, hwtimer_harvest.c and hwtimer_supply.c have it settled after timers
 * may have ended. hwtimer_instance.c ends it.
 */
#ifndef HWTIMER_ALLOWANCE_H
#define HWTIMER_ALLOWANCE_H

#include <linux/types.h>

struct hwtimer_instance;

/**
 * struct hwtimer_allowance - the timers that an instance may have without asking
 * @max: number of timers, at most the instance's limit; charged to the instance's
 *	account. Without an account, it is the limit
 * @low: if the instance has fewer timers than this, it gives some of @max back; at most
 *	@max
 * @bound: if that many events wait, no more can come: the instance's limit or, when the
 *	account has refused a timer, @max at that time. Also read without the lock
 *
 * Protected by the instance's lock.
 */
struct hwtimer_allowance {
	u32 max;
	u32 low;
	u32 bound;
};

void hwtimer_allowance_begin(struct hwtimer_instance *instance);
u32 hwtimer_allowance_grow(struct hwtimer_instance *instance, u32 wanted);
void hwtimer_allowance_settle(struct hwtimer_instance *instance);
void hwtimer_allowance_end(struct hwtimer_instance *instance);

#endif /* HWTIMER_ALLOWANCE_H */
