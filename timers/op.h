/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SCHEDULE, CANCEL and RESCHEDULE of one timer, from which requests and bulks are made. They
 * are inline, so that in a loop over operations of one kind the compiler knows what is
 * constant.
 */
#ifndef HWTIMER_OP_H
#define HWTIMER_OP_H

#include "hwtimer.h"
#include "timers/hold.h"
#include "trace.h"

/* Number of operations between the prefetch of a record and its use */
#define HWTIMER_AHEAD 16

/* ---- change.c ---- */

int hwtimer_change_pending(struct hwtimer_instance *instance,
			   const struct hwtimer_request *request,
			   struct hwtimer_hold *hold);
int hwtimer_change_end(struct hwtimer_instance *instance,
		       const struct hwtimer_request *request);

/* ---- op.c ---- */

int hwtimer_op_cancel_other(struct hwtimer_instance *instance, u64 id,
			    u32 flags, struct hwtimer_hold *hold);
void hwtimer_op_cancel_pending(struct hwtimer_instance *instance,
			       struct hwtimer_record *record, u32 index);

u64 hwtimer_op_deadline_clamp(s64 time);

/**
 * hwtimer_op_deadline - convert the time of a request to a deadline
 * @time: delay or deadline, ns, as in struct hwtimer_request
 * @flags: HWTIMER_REQ_ABSTIME or not; other flags are ignored
 * @hold: this hold of the instance's lock
 *
 * Return: the deadline, ns on the instance's clock; HWTIMER_TICK_NONE: never, or beyond the
 * range of that clock.
 */
static __always_inline u64 hwtimer_op_deadline(s64 time, u32 flags,
					       struct hwtimer_hold *hold)
{
	s64 now;

	if (flags & HWTIMER_REQ_ABSTIME) {
		/* HWTIMER_NEVER + 1 is negative, too, so one test finds all that need more. */
		if (likely((s64)((u64)time + 1) > 0))
			return time;
		return hwtimer_op_deadline_clamp(time);
	}
	now = hwtimer_hold_now(hold);
	if (unlikely(time >= HWTIMER_NEVER - now))
		return HWTIMER_TICK_NONE;
	return now + max_t(s64, time, 0);
}

/**
 * hwtimer_op_room - count the timers that may be added now
 * @instance: the instance, which has started; its lock is held
 * @wanted: number of timers that are to be added
 *
 * Return: @wanted, or fewer if the instance's limit allows no more; 0 if the instance is
 * stopped.
 */
static __always_inline u32
hwtimer_op_room(const struct hwtimer_instance *instance, u32 wanted)
{
	if (hwtimer_instance_stopped(instance))
		return 0;
	return min(wanted, instance->settings.timers -
				   hwtimer_instance_timers(instance));
}

/**
 * hwtimer_op_refusal - the error when hwtimer_op_room() is 0
 * @instance: the instance; its lock is held
 *
 * Return: -ESHUTDOWN or -ENOSPC.
 */
static __always_inline int
hwtimer_op_refusal(const struct hwtimer_instance *instance)
{
	return hwtimer_instance_stopped(instance) ? -ESHUTDOWN : -ENOSPC;
}

/**
 * hwtimer_op_fill - fill in the record of a new timer
 * @record: the record; free
 * @deadline: deadline, ns on the instance's clock
 * @user_data: number for the event
 *
 * That is all for a timer that expires once and has no slack. The caller adds the rest.
 */
static __always_inline void hwtimer_op_fill(struct hwtimer_record *record,
					    u64 deadline, u64 user_data)
{
	const struct hwtimer_record pending = { .state = HWTIMER_PENDING };

	record->deadline = deadline;
	record->user_data = user_data;
	hwtimer_record_check(record, HWTIMER_PENDING);
	record->status = pending.status;
}

/**
 * hwtimer_op_count_filed - count timers that were scheduled
 * @instance: the instance; its lock is held
 * @count: number of timers
 */
static inline void hwtimer_op_count_filed(struct hwtimer_instance *instance,
					  u32 count)
{
	instance->stats.scheduled += count;
	instance->stats.pending += count;
}

/**
 * hwtimer_op_cancel_plain - CANCEL a timer, if it is plain
 * @instance: the instance; its lock is held
 * @record: the record from hwtimer_table_fetch()
 * @id: the id from hwtimer_table_fetch()
 *
 * A plain timer is pending and not periodic. The caller counts the timer by
 * hwtimer_op_count_cancelled().
 *
 * Return: whether it was cancelled. Otherwise nothing has changed, and
 * hwtimer_op_cancel_other() is to be called.
 */
static __always_inline bool
hwtimer_op_cancel_plain(struct hwtimer_instance *instance,
			struct hwtimer_record *record, u64 id)
{
	if (unlikely(!hwtimer_record_plain(record, id)))
		return false;
	trace_hwtimer_cancel(instance, lower_32_bits(id));
	hwtimer_wheel_remove(&instance->wheel, record);
	hwtimer_record_become(record, HWTIMER_FREE);
	/* @record is in the table, so the low half of @id is its index. */
	hwtimer_table_release(&instance->table, record->generation,
			      lower_32_bits(id));
	return true;
}

/**
 * hwtimer_op_count_cancelled - count timers that hwtimer_op_cancel_plain() cancelled
 * @instance: the instance; its lock is held
 * @count: number of timers
 */
static inline void hwtimer_op_count_cancelled(struct hwtimer_instance *instance,
					      u32 count)
{
	instance->table.used -= count;
	instance->stats.pending -= count;
	instance->stats.cancelled += count;
}

/**
 * hwtimer_op_cancel - CANCEL a timer
 * @instance: the instance; its lock is held
 * @id: id of the timer; any number
 * @flags: HWTIMER_REQ_DISCARD or 0
 * @hold: this hold of the instance's lock
 *
 * Return: 0, 1 or -ENOENT, as struct hwtimer_request says.
 */
static __always_inline int hwtimer_op_cancel(struct hwtimer_instance *instance,
					     u64 id, u32 flags,
					     struct hwtimer_hold *hold)
{
	struct hwtimer_record *record;

	/* The instance may not have started. */
	if (unlikely(!hwtimer_table_end(&instance->table)))
		return -ENOENT;
	record = hwtimer_table_fetch(&instance->table, &id);
	if (unlikely(!hwtimer_op_cancel_plain(instance, record, id)))
		return hwtimer_op_cancel_other(instance, id, flags, hold);
	hwtimer_op_count_cancelled(instance, 1);
	return 0;
}

/**
 * hwtimer_op_find_pending - find the timer that a RESCHEDULE names
 * @instance: the instance; its lock is held
 * @id: id of the timer; any number
 * @record: out: the timer's record, if it is pending
 *
 * Return: 0, -ESHUTDOWN, -ENOENT or -EALREADY, as struct hwtimer_request says.
 */
static __always_inline int
hwtimer_op_find_pending(struct hwtimer_instance *instance, u64 id,
			struct hwtimer_record **record)
{
	if (hwtimer_instance_stopped(instance))
		return -ESHUTDOWN;
	*record = hwtimer_table_find(&instance->table, id);
	if (!*record)
		return -ENOENT;
	return likely((*record)->state == HWTIMER_PENDING) ? 0 : -EALREADY;
}

/**
 * hwtimer_op_reschedule - RESCHEDULE a timer
 * @instance: the instance; its lock is held, and memory for the move is reserved
 * @id: id of the timer; any number
 * @time: delay or deadline, ns
 * @flags: HWTIMER_REQ_ABSTIME or 0
 * @hold: this hold of the instance's lock
 *
 * Return: 0, -ESHUTDOWN, -ENOENT or -EALREADY, as struct hwtimer_request says.
 */
static __always_inline int
hwtimer_op_reschedule(struct hwtimer_instance *instance, u64 id, s64 time,
		      u32 flags, struct hwtimer_hold *hold)
{
	struct hwtimer_record *record;
	int err = hwtimer_op_find_pending(instance, id, &record);

	if (unlikely(err))
		return err;
	hwtimer_wheel_move(&instance->wheel, record, lower_32_bits(id),
			   hwtimer_op_deadline(time, flags, hold));
	trace_hwtimer_reschedule(instance, lower_32_bits(id));
	instance->stats.rescheduled++;
	return 0;
}

#endif /* HWTIMER_OP_H */
