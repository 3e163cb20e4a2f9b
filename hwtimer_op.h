/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What SCHEDULE, CANCEL and RESCHEDULE do to a timer, and what is to be done
 * before and after some of them, in one hold of the instance's lock. Used by
 * hwtimer_request.c and hwtimer_bulk.c, which differ in how they are asked.
 *
 * The operations are inline, so that a loop of one kind knows what is constant. Those
 * that tell tracing of it are not: there are other loops for them, chosen once a hold,
 * so that a loop that is not traced is the same as if there were no tracing.
 */
#ifndef HWTIMER_OP_H
#define HWTIMER_OP_H

#include <linux/ktime.h>
#include <linux/prefetch.h>

#include "hwtimer.h"
#include "hwtimer_trace.h"

/* Operations between the prefetch of a record and its use. */
#define HWTIMER_AHEAD 32

/**
 * struct hwtimer_moment - one hold of an instance's lock, as a point in time
 * @instance: whose
 * @now: ns on its clock; 0: nobody has asked yet
 *
 * A clock takes as long to read as a timer to schedule, and one with an absolute
 * deadline mostly needs none.
 */
struct hwtimer_moment {
	const struct hwtimer_instance *instance;
	u64 now;
};

static inline u64 hwtimer_moment_now(struct hwtimer_moment *moment)
{
	if (!moment->now)
		moment->now = hwtimer_instance_now(moment->instance);
	return moment->now;
}

/* Steps of a compaction or a rewind after requests: all that they owe. */
#define HWTIMER_STEPS_OWED U64_MAX

/* In the worker, for which other instances wait. */
#define HWTIMER_STEPS_SLICE 1ULL

void hwtimer_op_begin(struct hwtimer_instance *instance,
		      struct hwtimer_moment *moment);
bool hwtimer_op_fits_slice(const struct hwtimer_instance *instance, u32 count);
void hwtimer_op_end(struct hwtimer_instance *instance, u32 count, u64 ready,
		    u64 most) __releases(&instance->lock);

int hwtimer_op_cancel_other(struct hwtimer_instance *instance, u64 id,
			    u32 flags, struct hwtimer_moment *moment);
int hwtimer_op_reschedule_late(const struct hwtimer_instance *instance,
			       const struct hwtimer_record *record);

int hwtimer_op_cancel_traced(struct hwtimer_instance *instance, u64 id,
			     u32 flags, struct hwtimer_moment *moment);
int hwtimer_op_reschedule_traced(struct hwtimer_instance *instance, u64 id,
				 u64 time, u32 flags,
				 struct hwtimer_moment *moment);

/* Whether tracing is told of what operations do. */
static inline bool hwtimer_op_traced(void)
{
	return trace_hwtimer_schedule_enabled() ||
	       trace_hwtimer_cancel_enabled() ||
	       trace_hwtimer_reschedule_enabled();
}

/*
 * Whether @time is refused: as a delay, HWTIMER_NEVER would be -1, and expire at once.
 * No caller wants that.
 */
static __always_inline bool hwtimer_op_no_time(u64 time, u32 flags)
{
	return unlikely(time == HWTIMER_NEVER) && !(flags & HWTIMER_ABSOLUTE);
}

/* The absolute deadline that @time means; see struct hwtimer_request. */
static __always_inline u64 hwtimer_op_deadline(u64 time, u32 flags,
					       struct hwtimer_moment *moment)
{
	u64 now;

	if (flags & HWTIMER_ABSOLUTE) {
		if (time == HWTIMER_NEVER)
			return HWTIMER_NEVER;
		return max_t(s64, time, 0);
	}
	now = hwtimer_moment_now(moment);
	if ((s64)time > KTIME_MAX - (s64)now)
		return HWTIMER_NEVER;
	return now + max_t(s64, time, 0);
}

/* How many more timers there may be. */
static __always_inline u32
hwtimer_op_room(const struct hwtimer_instance *instance)
{
	return instance->stopped ? 0 :
				   instance->settings.timers -
					   hwtimer_instance_timers(instance);
}

/* Why there may be none. */
static __always_inline int
hwtimer_op_refusal(const struct hwtimer_instance *instance)
{
	return instance->stopped ? -ESHUTDOWN : -ENOSPC;
}

/* What all timers have; one for once and without slack has no more. */
static __always_inline void hwtimer_op_fill(struct hwtimer_record *record,
					    u64 deadline, u64 user_data)
{
	const struct hwtimer_record pending = { .state = HWTIMER_PENDING };

	record->deadline = deadline;
	record->user_data = user_data;
	record->status = pending.status;
}

static inline void hwtimer_op_count_filed(struct hwtimer_instance *instance,
					  u32 count)
{
	instance->stats.scheduled += count;
	instance->stats.pending += count;
}

/*
 * CANCEL of the timer that @id names, if nothing is to be done but that; otherwise
 * returns false. It is still to be counted.
 */
static __always_inline bool
hwtimer_op_cancel_plain(struct hwtimer_instance *instance, u64 id)
{
	struct hwtimer_record *record;
	u32 index;

	record = hwtimer_table_find_plain(&instance->table, id, &index);
	if (unlikely(!record))
		return false;
	hwtimer_wheel_remove(&instance->wheel, record);
	hwtimer_table_put_record(&instance->table, record, index);
	return true;
}

static inline void hwtimer_op_count_cancelled(struct hwtimer_instance *instance,
					      u32 count)
{
	instance->stats.pending -= count;
	instance->stats.cancelled += count;
}

/* CANCEL of the timer that @id names; returns 0 or the error. */
static __always_inline int hwtimer_op_cancel(struct hwtimer_instance *instance,
					     u64 id, u32 flags,
					     struct hwtimer_moment *moment)
{
	if (unlikely(!hwtimer_op_cancel_plain(instance, id)))
		return hwtimer_op_cancel_other(instance, id, flags, moment);
	hwtimer_op_count_cancelled(instance, 1);
	return 0;
}

/* RESCHEDULE of the timer that @id names; returns 0 or the error. */
static __always_inline int
hwtimer_op_reschedule(struct hwtimer_instance *instance, u64 id, u64 time,
		      u32 flags, struct hwtimer_moment *moment)
{
	struct hwtimer_record *record;

	if (instance->stopped)
		return -ESHUTDOWN;
	record = hwtimer_table_find(&instance->table, id);
	if (!record)
		return -ENOENT;
	if (unlikely(record->state != HWTIMER_PENDING))
		return hwtimer_op_reschedule_late(instance, record);
	hwtimer_wheel_move(&instance->wheel, record, lower_32_bits(id),
			   hwtimer_op_deadline(time, flags, moment));
	instance->stats.rescheduled++;
	return 0;
}

#endif /* HWTIMER_OP_H */
