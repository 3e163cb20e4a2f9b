// SPDX-License-Identifier: GPL-2.0
/*
 * The rare cases of operations on timers; see timers/op.h.
 */
#include "timers/op.h"

/**
 * hwtimer_op_deadline_clamp - convert a deadline that is not a time of the clock
 * @time: the deadline: negative, or HWTIMER_NEVER
 *
 * A function, as gcc would compute this for each timer of a bulk: 3 instructions.
 *
 * Return: 0, which has passed, or HWTIMER_TICK_NONE. Any context.
 */
u64 hwtimer_op_deadline_clamp(s64 time)
{
	return time < 0 ? 0 : HWTIMER_TICK_NONE;
}

/**
 * hwtimer_op_cancel_pending - end a pending timer of any kind
 * @instance: the instance; its lock is held
 * @record: the timer's record
 * @index: index of the record
 *
 * Counts the timer, too.
 */
void hwtimer_op_cancel_pending(struct hwtimer_instance *instance,
			       struct hwtimer_record *record, u32 index)
{
	lockdep_assert_held(&instance->lock);
	trace_hwtimer_cancel(instance, index);
	hwtimer_wheel_remove(&instance->wheel, record);
	hwtimer_period_free(instance, index);
	instance->stats.pending--;
	instance->stats.cancelled++;
}

/**
 * hwtimer_op_cancel_other - CANCEL a timer that hwtimer_op_cancel_plain() does not cancel
 * @instance: the instance; its lock is held
 * @id: id of the timer; any number
 * @flags: HWTIMER_REQ_DISCARD or 0
 * @hold: this hold of the instance's lock
 *
 * Counts the timer, too.
 *
 * Return: 0, 1 or -ENOENT, as struct hwtimer_request says.
 */
int hwtimer_op_cancel_other(struct hwtimer_instance *instance, u64 id,
			    u32 flags, struct hwtimer_hold *hold)
{
	struct hwtimer_record *record =
		hwtimer_table_find(&instance->table, id);
	u32 index = lower_32_bits(id);

	if (!record)
		return -ENOENT;
	if (record->state == HWTIMER_PENDING) {
		hwtimer_op_cancel_pending(instance, record, index);
		return 0;
	}
	if (flags & HWTIMER_REQ_DISCARD) {
		hwtimer_events_drop(instance, record, index);
		return 0;
	}
	if (hwtimer_record_periodic(record))
		hwtimer_period_end(instance, record, hwtimer_hold_now(hold));
	return 1;
}
