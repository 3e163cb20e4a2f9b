// SPDX-License-Identifier: GPL-2.0
/*
 * Describes timers to programs; see show/show.h.
 *
 * LIST goes through the table of records. A timer has the same record from SCHEDULE to
 * its end, wherever it is meanwhile: in the wheel, or in the ring of events. So LIST finds each
 * timer once, and its cursor is an index. Nothing needs to be remembered between two calls.
 */
#include <linux/nospec.h>
#include <linux/uaccess.h>

#include "hwtimer.h"
#include "show/show.h"

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
		next = hwtimer_wakeup_earliest(instance);
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

/* Lists the next timers, as hwtimer_copy_list() wants it: checks HWTIMER_HOLD records at most. */
static int list_some(struct hwtimer_instance *instance,
		     struct hwtimer_list *list, u32 *done)
{
	struct hwtimer_timer __user *to = u64_to_user_ptr(list->timers);
	const struct hwtimer_table *table = &instance->table;
	u64 end = hwtimer_table_end(table);
	u64 now = hwtimer_instance_now(instance);
	const struct hwtimer_record *record;
	struct hwtimer_timer timer;
	u64 last;

	lockdep_assert_held(&instance->lock);
	if (list->cursor >= end)
		return 0;
	list->cursor = array_index_nospec(list->cursor, end);
	last = min(list->cursor + HWTIMER_HOLD, end);
	for (; *done < list->count && list->cursor < last; list->cursor++) {
		record = hwtimer_table_next(table, &list->cursor,
					    last - list->cursor);
		if (!record)
			break;
		if (record->state == HWTIMER_EXTENSION)
			continue;
		hwtimer_period_describe(instance, list->cursor, now, &timer);
		if (copy_to_user_nofault(&to[*done], &timer, sizeof(timer)))
			return -EFAULT;
		++*done;
	}
	return *done < list->count && list->cursor < end;
}

static int list_locked(struct hwtimer_instance *instance,
		       struct hwtimer_list *list, u32 *done)
{
	int ret;

	spin_lock(&instance->lock);
	ret = list_some(instance, list, done);
	spin_unlock(&instance->lock);
	return ret;
}

/**
 * hwtimer_query_list - HWTIMER_IOC_LIST: list timers, and take none
 * @instance: the instance; its lock is not held
 * @list: argument of the ioctl; its flags and count are valid, the rest is unchecked. Out, also
 *	after an error: the cursor
 *
 * Return: as hwtimer_copy_list(). Takes the lock; may sleep.
 */
long hwtimer_query_list(struct hwtimer_instance *instance,
			struct hwtimer_list *list)
{
	return hwtimer_copy_list(instance, list, list_locked);
}
