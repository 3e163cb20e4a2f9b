// SPDX-License-Identifier: GPL-2.0
/*
 * Hands timers back for STOP; see hwtimer_stop.h.
 *
 * As read(), copies to user memory with the lock held, and ends in the same hold what was
 * copied. A periodic timer whose event waits is handed back, too, as it will be after that
 * event, which becomes its last one.
 */
#include <linux/minmax.h>

#include "hwtimer.h"
#include "hwtimer_copy.h"
#include "hwtimer_period.h"
#include "hwtimer_stop.h"
#include "hwtimer_trace.h"

/* Whether a timer is to be handed back. If so, describes it. */
static bool timer_describe(const struct hwtimer_instance *instance,
			   const struct hwtimer_record *record, u32 index,
			   struct hwtimer_unprocessed *timer)
{
	u64 now = hwtimer_instance_now(instance);

	if (record->state == HWTIMER_PENDING) {
		hwtimer_period_describe(instance, index, now, timer);
		return true;
	}
	return record->flags & HWTIMER_RECORD_RESTING &&
	       hwtimer_period_describe_next(instance, index, now, timer);
}

/* Ends a timer that was handed back. */
static void timer_end(struct hwtimer_instance *instance,
		      struct hwtimer_record *record, u32 index)
{
	trace_hwtimer_unprocessed(instance, index);
	instance->stats.unprocessed++;
	if (record->state == HWTIMER_PENDING) {
		hwtimer_wheel_remove(&instance->wheel, record);
		hwtimer_period_free(instance, index);
		instance->stats.pending--;
	} else {
		hwtimer_period_end(instance, record, instance->stopping.at);
		instance->stats.rearmed++;
	}
}

/*
 * Hands the next timers back, in one hold of the lock: checks HWTIMER_HOLD records at most.
 * Adds their number to *@done. Returns 1 if there may be more, 0 if there is none, or -EFAULT
 * where the copy to user memory stops.
 */
static int stop_some(struct hwtimer_instance *instance,
		     struct hwtimer_unprocessed __user *timers, u32 count,
		     u32 *done)
{
	u64 *cursor = &instance->stopping.cursor;
	u64 end = *cursor + HWTIMER_HOLD;
	struct hwtimer_unprocessed timer;
	struct hwtimer_record *record;

	lockdep_assert_held(&instance->lock);
	for (; *done < count && *cursor < end; ++*cursor) {
		record = hwtimer_table_next(&instance->table, cursor,
					    end - *cursor);
		if (!record)
			break;
		if (!timer_describe(instance, record, *cursor, &timer)) {
			/* If its last event waits, it does not count in @left any more. */
			hwtimer_period_rests_no_more(instance, record);
			continue;
		}
		if (copy_to_user_nofault(&timers[*done], &timer, sizeof(timer)))
			return -EFAULT;
		timer_end(instance, record, *cursor);
		++*done;
	}
	hwtimer_shrink_ended(instance);
	return *done < count && *cursor < hwtimer_table_end(&instance->table);
}

/**
 * hwtimer_stop_timers - hand timers back to STOP
 * @instance: the instance, which is stopped; its lock is not held
 * @timers: an array in user space
 * @count: number of elements of @timers
 * @left: out: number of timers still to be handed back, at most
 *
 * Each timer is handed back once, by the call that has room for it.
 *
 * Return: the number of timers written. If none was written: 0, -EFAULT or -EINTR. Takes the
 * lock. May sleep.
 */
ssize_t hwtimer_stop_timers(struct hwtimer_instance *instance,
			    struct hwtimer_unprocessed __user *timers,
			    u32 count, u64 *left)
{
	unsigned int tries = 0;
	u32 done = 0, before;
	int ret;

	do {
		before = done;
		spin_lock(&instance->lock);
		ret = stop_some(instance, timers, count, &done);
		*left = instance->stats.pending + instance->resting;
		spin_unlock(&instance->lock);
		if (done != before)
			tries = 0;
		if (ret == -EFAULT)
			ret = hwtimer_copy_fault_in(&timers[done], sizeof(*timers), &tries) ?:
				      1;
		else if (ret && signal_pending(current))
			ret = -EINTR;
		cond_resched();
	} while (ret > 0);
	return done ? (ssize_t)done : ret;
}
