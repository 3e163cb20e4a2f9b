// SPDX-License-Identifier: GPL-2.0
/*
 * Asks the account of an instance for timers, and gives them back; see
 * hwtimer_allowance.h.
 */
#include <linux/minmax.h>

#include "hwtimer.h"

/* Sets @max, and what depends on it. */
static void allowance_set(struct hwtimer_allowance *allowance, u32 max)
{
	allowance->max = max;
	allowance->low = max - min(max, 2 * hwtimer_account_step());
}

/**
 * hwtimer_allowance_begin - set the allowance with which an instance starts
 * @instance: the instance, which is starting; its lock is held
 */
void hwtimer_allowance_begin(struct hwtimer_instance *instance)
{
	u32 limit = instance->settings.timers;

	lockdep_assert_held(&instance->lock);
	instance->allowance = (struct hwtimer_allowance){
		.max = instance->account ? 0 : limit,
		.bound = limit,
	};
}

/**
 * hwtimer_allowance_grow - ask the account for more timers
 * @instance: the instance; it has started, its lock is held
 * @wanted: number of timers that are to be added
 *
 * Asks for a step at once. If the account refuses that, asks for as many timers as are
 * needed now, and takes what it can get. So the last timers below the user's limit go to
 * instances that need them.
 *
 * Return: the number of timers that may be added: @wanted, or fewer if the instance's
 * limit or the account allows no more. Does not sleep.
 */
noinline u32 hwtimer_allowance_grow(struct hwtimer_instance *instance,
				    u32 wanted)
{
	struct hwtimer_allowance *allowance = &instance->allowance;
	u32 limit = instance->settings.timers;
	u32 timers = hwtimer_instance_timers(instance);
	u32 room = allowance->max - timers;
	u32 step = min(hwtimer_account_step(), limit - allowance->max);
	u32 needed, more;

	lockdep_assert_held(&instance->lock);
	wanted = min(wanted, limit - timers);
	if (wanted <= room)
		return wanted;
	needed = wanted - room;
	if (needed < step &&
	    hwtimer_account_charge(instance->account, HWTIMER_TIMERS, step))
		more = step;
	else
		more = hwtimer_account_take(instance->account, HWTIMER_TIMERS,
					    needed);
	allowance_set(allowance, allowance->max + more);
	/* Readers may look at @bound without the lock. */
	WRITE_ONCE(allowance->bound, more < needed ? allowance->max : limit);
	return min(wanted, room + more);
}

/**
 * hwtimer_allowance_settle - give back what the instance does not need of its allowance
 * @instance: the instance; its lock is held
 *
 * Called after timers may have ended. An instance keeps up to two steps, so that it
 * hardly ever gives back what it then asks for again. Does not sleep.
 */
void hwtimer_allowance_settle(struct hwtimer_instance *instance)
{
	struct hwtimer_allowance *allowance = &instance->allowance;
	u32 keep = hwtimer_instance_timers(instance) + hwtimer_account_step();
	u32 back;

	lockdep_assert_held(&instance->lock);
	if (likely(!hwtimer_instance_has_surplus(instance)))
		return;
	back = allowance->max - keep;
	allowance_set(allowance, keep);
	hwtimer_account_uncharge(instance->account, HWTIMER_TIMERS, back);
}

/**
 * hwtimer_allowance_end - give the whole allowance back
 * @instance: an instance that is being freed, which nobody uses any more
 *
 * Does not sleep.
 */
void hwtimer_allowance_end(struct hwtimer_instance *instance)
{
	hwtimer_account_uncharge(instance->account, HWTIMER_TIMERS,
				 instance->allowance.max);
}
