// SPDX-License-Identifier: GPL-2.0
/*
 * Emits the tracepoints; see hwtimer_trace.h. Called only while a tracepoint is enabled, so
 * that its code is not in the way of code that is not traced.
 */
#include "hwtimer.h"

#define CREATE_TRACE_POINTS
#include "hwtimer_trace.h"

/* What each event of a timer tells */
struct trace_timer {
	u64 id;
	u64 user_data;
	u64 deadline;
};

static struct trace_timer timer_at(const struct hwtimer_instance *instance,
				   u32 index)
{
	const struct hwtimer_record *record =
		hwtimer_table_record(&instance->table, index);

	lockdep_assert_held(&instance->lock);
	return (struct trace_timer){
		.id = hwtimer_table_id(record, index),
		.user_data = hwtimer_table_user_data(&instance->table, record),
		.deadline = record->deadline,
	};
}

/* A tracepoint that tells about a timer and nothing else */
typedef void tell_timer(u64 instance, u64 id, u64 user_data, u64 deadline);

static __always_inline void
tell(tell_timer *trace, const struct hwtimer_instance *instance, u32 index)
{
	struct trace_timer timer = timer_at(instance, index);

	trace(instance->nr, timer.id, timer.user_data, timer.deadline);
}

/*
 * hwtimer_trace_EVENT(): the instance's lock is held. @index is the index of the timer's
 * record, which is still in use and has the deadline to be told.
 */

void hwtimer_trace_schedule(const struct hwtimer_instance *instance, u32 index)
{
	tell(trace_hwtimer_schedule, instance, index);
}

void hwtimer_trace_reschedule(const struct hwtimer_instance *instance,
			      u32 index)
{
	tell(trace_hwtimer_reschedule, instance, index);
}

void hwtimer_trace_rearm(const struct hwtimer_instance *instance, u32 index)
{
	tell(trace_hwtimer_rearm, instance, index);
}

void hwtimer_trace_cancel(const struct hwtimer_instance *instance, u32 index)
{
	tell(trace_hwtimer_cancel, instance, index);
}

void hwtimer_trace_discard(const struct hwtimer_instance *instance, u32 index)
{
	tell(trace_hwtimer_discard, instance, index);
}

/* @results are those of a bulk of SCHEDULEs: ids, or negative errnos. */
void hwtimer_trace_bulk(const struct hwtimer_instance *instance,
			const u64 *results, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (hwtimer_table_find(&instance->table, results[i]))
			hwtimer_trace_schedule(instance,
					       lower_32_bits(results[i]));
}

/* @due are the indices of @count records, which expire at @now. */
void hwtimer_trace_expire(const struct hwtimer_instance *instance,
			  const u32 *due, u32 count, u64 now)
{
	u32 i;

	for (i = 0; i < count; i++) {
		struct trace_timer timer = timer_at(instance, due[i]);

		trace_hwtimer_expire(instance->nr, timer.id, timer.user_data,
				     timer.deadline, now - timer.deadline);
	}
}

/* @ring: the events are in the completion ring; otherwise read() has copied them. */
void hwtimer_trace_deliver(const struct hwtimer_instance *instance,
			   const struct hwtimer_event *events, u32 count,
			   bool ring)
{
	u32 i;

	lockdep_assert_held(&instance->lock);
	for (i = 0; i < count; i++)
		trace_hwtimer_deliver(instance->nr, &events[i], ring);
}

/* STOP has copied @timers to user space. */
void hwtimer_trace_unprocessed(const struct hwtimer_instance *instance,
			       const struct hwtimer_unprocessed *timers,
			       u32 count)
{
	u32 i;

	lockdep_assert_held(&instance->lock);
	for (i = 0; i < count; i++)
		trace_hwtimer_unprocessed(instance->nr, timers[i].id,
					  timers[i].user_data,
					  timers[i].deadline);
}

/* Called in a turn at @now, before the time of the next turn is computed. */
void hwtimer_trace_turn(const struct hwtimer_instance *instance, u64 now,
			u32 expired)
{
	lockdep_assert_held(&instance->lock);
	trace_hwtimer_turn(instance->nr, now,
			   now - min(now, instance->wakeup.at), expired,
			   instance->stats.pending, instance->stats.ready);
}
