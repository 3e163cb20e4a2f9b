// SPDX-License-Identifier: GPL-2.0
/*
 * Emits the tracepoints; see hwtimer_trace.h. Callers check that a tracepoint is enabled
 * before they call anything here, so all code that only tracing needs is out of their
 * way.
 */
#include "hwtimer.h"
#include "hwtimer_ring.h"

#define CREATE_TRACE_POINTS
#include "hwtimer_trace.h"

/**
 * struct trace_timer - the fields that all events of a timer have
 * @id: id of the timer
 * @user_data: user_data that the timer was scheduled with
 * @deadline: deadline of the timer, ns on the instance's clock
 */
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

/* A tracepoint that has no other fields */
typedef void tell_timer(u64 instance, u64 id, u64 user_data, u64 deadline);

static __always_inline void
tell(tell_timer *trace, const struct hwtimer_instance *instance, u32 index)
{
	struct trace_timer timer = timer_at(instance, index);

	trace(instance->nr, timer.id, timer.user_data, timer.deadline);
}

/*
 * All functions below are called with the instance's lock held. @index is the index of
 * the timer's record, which is still in use and holds the deadline to be reported.
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

/**
 * hwtimer_trace_bulk - emit hwtimer_schedule for the timers of a bulk
 * @instance: the instance; its lock is held
 * @results: results of a bulk of SCHEDULE operations: ids, or negative errnos
 * @count: number of results
 */
void hwtimer_trace_bulk(const struct hwtimer_instance *instance,
			const u64 *results, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (hwtimer_table_find(&instance->table, results[i]))
			hwtimer_trace_schedule(instance,
					       lower_32_bits(results[i]));
}

/**
 * hwtimer_trace_expire - emit hwtimer_expire for timers that expire
 * @instance: the instance; its lock is held
 * @due: indices of the timers' records
 * @count: number of records
 * @now: the time at which they expire, ns on the instance's clock
 */
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

/**
 * hwtimer_trace_deliver - emit hwtimer_deliver for events
 * @instance: the instance; its lock is held
 * @events: the events
 * @count: number of events
 * @ring: the events go to the completion ring; otherwise read() has copied them, or the
 *	callback of a kernel client has returned
 */
void hwtimer_trace_deliver(const struct hwtimer_instance *instance,
			   const struct hwtimer_event *events, u32 count,
			   bool ring)
{
	u32 i;

	lockdep_assert_held(&instance->lock);
	for (i = 0; i < count; i++)
		trace_hwtimer_deliver(instance->nr, &events[i], ring);
}

/**
 * hwtimer_trace_unprocessed - emit hwtimer_unprocessed for timers that were handed back
 * @instance: the instance; its lock is held
 * @timers: the timers, which user space or the kernel client has got
 * @count: number of timers
 */
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

/**
 * hwtimer_trace_turn - emit hwtimer_turn for one slice
 * @instance: the instance; its lock is held, and instance->wakeup.at is still the time
 *	for which the worker was armed
 * @now: the time of the turn, ns on the instance's clock
 * @expired: number of timers that expired in this slice
 */
void hwtimer_trace_turn(const struct hwtimer_instance *instance, u64 now,
			u32 expired)
{
	const struct hwtimer_ring *ring = instance->exchange.ring;

	lockdep_assert_held(&instance->lock);
	trace_hwtimer_turn(instance->nr, now,
			   now - min(now, instance->wakeup.at), expired,
			   instance->stats.pending + (ring ? ring->paused : 0),
			   instance->stats.ready);
}
