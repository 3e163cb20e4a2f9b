/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does SCHEDULE, CANCEL and RESCHEDULE to a timer, and the work before and after the
 * operations of one hold of the instance's lock. Called by timers/request.c and
 * timers/change.c, whose operations are of mixed kinds, and by timers/bulk.c, whose
 * operations are all alike.
 *
 * The operations are inline, so that in a loop over operations of one kind the compiler
 * knows what is constant.
 */
#ifndef HWTIMER_OP_H
#define HWTIMER_OP_H

#include "hwtimer.h"
#include "trace.h"

/* Number of operations between the prefetch of a record and its use */
#define HWTIMER_AHEAD 16

/**
 * struct hwtimer_moment - the time of one hold of an instance's lock
 * @instance: the instance
 * @now: time on the instance's clock, ns; 0: the clock has not been read yet
 * @ready: number of events that waited before the operations
 * @idle: no timer was in the wheel before the operations
 *
 * hwtimer_op_begin() sets all members but @instance. Protected by the instance's lock.
 *
 * Reading the clock takes as long as scheduling a timer, and absolute deadlines mostly
 * need no clock. So it is read when it is first needed, and at most once in each hold of
 * the lock.
 */
struct hwtimer_moment {
	const struct hwtimer_instance *instance;
	u64 now;
	u64 ready;
	bool idle;
};

/**
 * hwtimer_moment_now - the time of a hold of the lock
 * @moment: the hold; the instance's lock is held
 *
 * Return: ns on the instance's clock.
 */
static inline u64 hwtimer_moment_now(struct hwtimer_moment *moment)
{
	if (!moment->now)
		moment->now = hwtimer_instance_now(moment->instance);
	return moment->now;
}

void hwtimer_op_end(struct hwtimer_instance *instance, u32 count,
		    const struct hwtimer_moment *moment)
	__releases(&instance->lock);

int hwtimer_op_cancel_other(struct hwtimer_instance *instance, u64 id,
			    u32 flags, struct hwtimer_moment *moment);
void hwtimer_op_cancel_pending(struct hwtimer_instance *instance,
			       struct hwtimer_record *record, u32 index);

/**
 * hwtimer_op_begin - have the wheel follow the clock before requests are done
 * @instance: the instance; its lock is held
 * @moment: out: this hold of the lock
 */
static __always_inline void hwtimer_op_begin(struct hwtimer_instance *instance,
					     struct hwtimer_moment *moment)
{
	lockdep_assert_held(&instance->lock);
	*moment = (struct hwtimer_moment){
		.instance = instance,
		.ready = instance->stats.ready,
		.idle = !instance->stats.pending,
	};
	if (unlikely(instance->wheel.rewinds ||
		     hwtimer_instance_behind(instance)))
		hwtimer_wakeup_follow(instance, hwtimer_moment_now(moment));
}

u64 hwtimer_op_deadline_odd(s64 time);

/**
 * hwtimer_op_deadline - convert the time of a request to a deadline
 * @time: delay or deadline, ns, as in struct hwtimer_request
 * @flags: HWTIMER_REQ_ABSTIME or not; other flags are ignored
 * @moment: this hold of the instance's lock
 *
 * Return: the deadline, ns on the instance's clock; HWTIMER_TICK_NONE: never, or beyond the
 * range of that clock.
 */
static __always_inline u64 hwtimer_op_deadline(s64 time, u32 flags,
					       struct hwtimer_moment *moment)
{
	s64 now;

	if (flags & HWTIMER_REQ_ABSTIME) {
		/* HWTIMER_NEVER + 1 is negative, too, so one test finds all that need more. */
		if (likely((s64)((u64)time + 1) > 0))
			return time;
		return hwtimer_op_deadline_odd(time);
	}
	now = hwtimer_moment_now(moment);
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
 * hwtimer_op_no_timer - the result of CANCEL and RESCHEDULE if an instance has no timer
 * @instance: the instance; no lock is needed
 * @op: HWTIMER_OP_CANCEL or HWTIMER_OP_RESCHEDULE
 *
 * Return: -ENOENT or -ESHUTDOWN. Any context.
 */
static inline int hwtimer_op_no_timer(const struct hwtimer_instance *instance,
				      u32 op)
{
	return op == HWTIMER_OP_RESCHEDULE &&
			       hwtimer_instance_stopped(instance) ?
		       -ESHUTDOWN :
		       -ENOENT;
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
 * @moment: this hold of the instance's lock
 *
 * Return: 0, 1 or -ENOENT, as struct hwtimer_request says.
 */
static __always_inline int hwtimer_op_cancel(struct hwtimer_instance *instance,
					     u64 id, u32 flags,
					     struct hwtimer_moment *moment)
{
	struct hwtimer_record *record;

	/* The instance may not have started. */
	if (unlikely(!hwtimer_table_end(&instance->table)))
		return -ENOENT;
	record = hwtimer_table_fetch(&instance->table, &id);
	if (unlikely(!hwtimer_op_cancel_plain(instance, record, id)))
		return hwtimer_op_cancel_other(instance, id, flags, moment);
	hwtimer_op_count_cancelled(instance, 1);
	return 0;
}

/**
 * hwtimer_op_reschedule - RESCHEDULE a timer
 * @instance: the instance; its lock is held, and memory for the move is reserved
 * @id: id of the timer; any number
 * @time: delay or deadline, ns
 * @flags: HWTIMER_REQ_ABSTIME or 0
 * @moment: this hold of the instance's lock
 *
 * Return: 0, -ESHUTDOWN, -ENOENT or -EALREADY, as struct hwtimer_request says.
 */
static __always_inline int
hwtimer_op_reschedule(struct hwtimer_instance *instance, u64 id, s64 time,
		      u32 flags, struct hwtimer_moment *moment)
{
	struct hwtimer_record *record;

	if (hwtimer_instance_stopped(instance))
		return -ESHUTDOWN;
	record = hwtimer_table_find(&instance->table, id);
	if (!record)
		return -ENOENT;
	if (unlikely(record->state != HWTIMER_PENDING))
		return -EALREADY;
	hwtimer_wheel_move(&instance->wheel, record, lower_32_bits(id),
			   hwtimer_op_deadline(time, flags, moment));
	trace_hwtimer_reschedule(instance, lower_32_bits(id));
	instance->stats.rescheduled++;
	return 0;
}

#endif /* HWTIMER_OP_H */
