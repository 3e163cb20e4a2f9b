// SPDX-License-Identifier: GPL-2.0
/*
 * Describes timers to programs, and ends none: QUERY, LIST, and the time until the next one
 * expires.
 */
#include "hwtimer.h"
#include "show/show.h"
#include "timers/timers.h"

/*
 * If the clock was set back, a timer that was overdue when it was scheduled may expire before
 * the tick under which it is filed. So the wheel has to go back first. The worker does that.
 */
static void query_follow(struct hwtimer_instance *instance, u64 now)
{
	if (likely(!instance->wheel.rewinds))
		return;
	hwtimer_wakeup_follow(instance, now);
	hwtimer_wakeup_rearm(instance);
}

/**
 * hwtimer_query_until_next - tell how long a program may sleep, for struct hwtimer_info
 * @instance: the instance; its lock is not held
 *
 * Return: ns before which no timer expires; 0: an event waits; HWTIMER_NEVER: none will come.
 * Does not sleep; takes the instance's lock.
 */
u64 hwtimer_query_until_next(struct hwtimer_instance *instance)
{
	u64 now, next = HWTIMER_TICK_NONE;

	spin_lock(&instance->lock);
	now = hwtimer_instance_now(instance);
	query_follow(instance, now);
	if (instance->events.unread)
		next = now;
	else if (instance->stats.pending &&
		 !hwtimer_events_full(&instance->events))
		next = hwtimer_wakeup_next(instance);
	spin_unlock(&instance->lock);
	return next < HWTIMER_NEVER ? next - min(next, now) : HWTIMER_NEVER;
}

/**
 * hwtimer_query_timer - HWTIMER_IOC_QUERY: describe one timer
 * @instance: the instance; its lock is not held
 * @timer: in: the id; out: all other members, unless there is an error
 *
 * Return: 0; -ENOENT: no such timer. Does not sleep; takes the instance's lock.
 */
int hwtimer_query_timer(struct hwtimer_instance *instance,
			struct hwtimer_timer *timer)
{
	bool found;

	spin_lock(&instance->lock);
	found = hwtimer_table_find(&instance->table, timer->id);
	if (found)
		hwtimer_period_describe(instance, lower_32_bits(timer->id),
					hwtimer_instance_now(instance), timer);
	spin_unlock(&instance->lock);
	return found ? 0 : -ENOENT;
}

static int list_visit(struct hwtimer_scan *scan, struct hwtimer_record *record,
		      u32 index)
{
	struct hwtimer_timer timer;

	if (record->state == HWTIMER_EXTENSION)
		return 0;
	hwtimer_period_describe(scan->instance, index, scan->now, &timer);
	return hwtimer_scan_copy(scan, &timer) ?: 1;
}

/**
 * hwtimer_query_list - HWTIMER_IOC_LIST: list timers, and take none
 * @instance: the instance; its lock is not held
 * @list: argument of the ioctl; its flags and count are valid, the rest is unchecked. Out, also
 *	after an error: the cursor
 *
 * Return: as hwtimer_scan_run(). Takes the lock; may sleep.
 */
long hwtimer_query_list(struct hwtimer_instance *instance,
			struct hwtimer_list *list)
{
	struct hwtimer_scan scan = {
		.instance = instance,
		.list = list,
		.visit = list_visit,
	};

	return hwtimer_scan_run(&scan);
}
