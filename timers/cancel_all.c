// SPDX-License-Identifier: GPL-2.0
/*
 * Ends all timers of an instance, and hands them back; see timers/timers.h.
 *
 * As read(), copies to user memory with the lock held, and ends in the same hold what was
 * copied. So each timer is handed back once, whatever happens to the array and the caller.
 */
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>

#include "hwtimer.h"
#include "timers/op.h"
#include "timers/timers.h"

/* Whether a record is that of a periodic timer whose event waits, and is not its last. */
static bool rests(const struct hwtimer_record *record)
{
	return record->state == HWTIMER_EXPIRED &&
	       hwtimer_record_periodic(record) &&
	       !(record->flags & HWTIMER_RECORD_ENDING);
}

/*
 * Whether a timer is to be handed back. If so, describes it: a periodic timer whose event waits
 * as it will be after that event.
 */
static bool timer_describe(struct hwtimer_instance *instance,
			   const struct hwtimer_record *record, u32 index,
			   u64 now, struct hwtimer_timer *timer)
{
	if (record->state == HWTIMER_PENDING) {
		hwtimer_period_describe(instance, index, now, timer);
		return true;
	}
	return rests(record) &&
	       hwtimer_period_describe_next(instance, index, now, timer);
}

/*
 * Ends the timer of a record in use. Returns 1 if it was handed back, 0 if it was not, or
 * -EFAULT: it could not be copied, and has not ended.
 */
static int timer_end(struct hwtimer_instance *instance,
		     struct hwtimer_record *record, u32 index, u32 flags,
		     struct hwtimer_timer __user *to, u64 now)
{
	struct hwtimer_timer timer;
	bool back = timer_describe(instance, record, index, now, &timer);

	if (back && to && copy_to_user_nofault(to, &timer, sizeof(timer)))
		return -EFAULT;
	if (record->state == HWTIMER_PENDING) {
		hwtimer_op_cancel_pending(instance, record, index);
		return 1;
	}
	if (rests(record))
		hwtimer_period_end(instance, record, now);
	if (back) {
		/* As if it was pending again */
		instance->stats.rearmed++;
		instance->stats.cancelled++;
	}
	if (record->state == HWTIMER_EXPIRED && flags & HWTIMER_LIST_DISCARD)
		hwtimer_events_drop(instance, record, index);
	return back;
}

/*
 * Ends the next timers, as hwtimer_copy_list() wants it: checks HWTIMER_HOLD records at most,
 * and helps with a compaction as that many requests do.
 */
static int cancel_some(struct hwtimer_instance *instance,
		       struct hwtimer_list *list, u32 *done)
{
	struct hwtimer_timer __user *to = u64_to_user_ptr(list->timers);
	const struct hwtimer_table *table = &instance->table;
	struct hwtimer_record *record;
	struct hwtimer_hold hold;
	u64 end, last;
	int ret = 0;

	spin_lock(&instance->lock);
	end = hwtimer_table_end(table);
	if (list->cursor >= end) {
		spin_unlock(&instance->lock);
		return 0;
	}
	list->cursor = array_index_nospec(list->cursor, end);
	last = min(list->cursor + HWTIMER_HOLD, end);
	hwtimer_hold_begin(instance, &hold);
	for (; *done < list->count && list->cursor < last; list->cursor++) {
		record = hwtimer_table_next(table, &list->cursor,
					    last - list->cursor);
		if (!record)
			break;
		ret = timer_end(instance, record, list->cursor, list->flags,
				to ? &to[*done] : NULL,
				hwtimer_hold_now(&hold));
		if (ret < 0)
			break;
		*done += ret;
	}
	hwtimer_hold_end(instance, HWTIMER_HOLD, &hold);
	return ret < 0 ? ret : *done < list->count && list->cursor < end;
}

/**
 * hwtimer_cancel_all - HWTIMER_IOC_CANCEL_ALL: end all timers, and hand them back
 * @instance: the instance, which may be stopped; its lock is not held
 * @list: argument of the ioctl; its flags and its count are valid, the rest is unchecked. Out,
 *	also after an error: the cursor
 *
 * Return: the number of timers that have ended and, if there is an array, were written to it;
 * 0: the end. If there was none, also -EFAULT or -EINTR. Takes the lock; may sleep.
 */
long hwtimer_cancel_all(struct hwtimer_instance *instance,
			struct hwtimer_list *list)
{
	return hwtimer_copy_list(instance, list, cancel_some);
}
