/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Defines the tracepoints hwtimer:hwtimer_*. With them, perf and bpftrace can follow one
 * timer by its id; see Documentation/tracing.md.
 *
 * The operations call the tracepoints themselves. A disabled tracepoint costs a nop, which
 * the kernel patches: what an event has is read from the timer's record only if somebody
 * listens.
 *
 * The events of timers and turns are emitted with the instance's lock held, so they come
 * in the order in which things happen. Only hwtimer_open and hwtimer_close are emitted
 * without it. Times are ns on the instance's clock, in the time namespace in which the
 * instance was opened. An instance is identified by its number, which is not used again
 * until the module is unloaded.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM hwtimer

#if !defined(HWTIMER_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define HWTIMER_TRACE_H

#include <linux/tracepoint.h>

#include "hwtimer.h"

/* Formatted as trace headers are in the kernel. */
/* clang-format off */

/*
 * The events of a timer are emitted while its record is in use, with the deadline that is
 * to be reported.
 */
DECLARE_EVENT_CLASS(hwtimer_timer,
	TP_PROTO(const struct hwtimer_instance *instance, u32 index),
	TP_ARGS(instance, index),
	TP_STRUCT__entry(
		__field(u64, instance)
		__field(u64, id)
		__field(u64, user_data)
		__field(u64, deadline)
	),
	TP_fast_assign(
		const struct hwtimer_record *record =
			hwtimer_table_record(&instance->table, index);

		lockdep_assert_held(&instance->lock);
		__entry->instance = instance->nr;
		__entry->id = hwtimer_table_id(record, index);
		__entry->user_data = hwtimer_table_user_data(&instance->table,
							     record);
		__entry->deadline = min_t(u64, record->deadline, HWTIMER_NEVER);
	),
	TP_printk("instance=%llu id=%llu user_data=%llu deadline=%llu",
		  __entry->instance, __entry->id, __entry->user_data,
		  __entry->deadline)
);

#define DEFINE_TIMER_EVENT(name)						\
DEFINE_EVENT(hwtimer_timer, name,					\
	TP_PROTO(const struct hwtimer_instance *instance, u32 index),	\
	TP_ARGS(instance, index)					\
)

/* A timer was scheduled. */
DEFINE_TIMER_EVENT(hwtimer_schedule);

/* A timer got another deadline. */
DEFINE_TIMER_EVENT(hwtimer_reschedule);

/* A periodic timer became pending again after its event was delivered. */
DEFINE_TIMER_EVENT(hwtimer_rearm);

/* A timer was cancelled before it expired. */
DEFINE_TIMER_EVENT(hwtimer_cancel);

/*
 * An event was discarded: its timer was cancelled after it had expired. Nobody gets the
 * event.
 */
DEFINE_TIMER_EVENT(hwtimer_discard);

/* A timer expired: its event is about to be queued. */
TRACE_EVENT(hwtimer_expire,
	TP_PROTO(const struct hwtimer_instance *instance, u32 index, u64 now),
	TP_ARGS(instance, index, now),
	TP_STRUCT__entry(
		__field(u64, instance)
		__field(u64, id)
		__field(u64, user_data)
		__field(u64, deadline)
		__field(u64, lateness)
	),
	TP_fast_assign(
		const struct hwtimer_record *record =
			hwtimer_table_record(&instance->table, index);

		lockdep_assert_held(&instance->lock);
		__entry->instance = instance->nr;
		__entry->id = hwtimer_table_id(record, index);
		__entry->user_data = hwtimer_table_user_data(&instance->table,
							     record);
		__entry->deadline = record->deadline;
		__entry->lateness = now - record->deadline;
	),
	TP_printk("instance=%llu id=%llu user_data=%llu deadline=%llu lateness=%llu",
		  __entry->instance, __entry->id, __entry->user_data,
		  __entry->deadline, __entry->lateness)
);

/* An event was delivered: read() has copied it. */
TRACE_EVENT(hwtimer_deliver,
	TP_PROTO(const struct hwtimer_instance *instance,
		 const struct hwtimer_event *event),
	TP_ARGS(instance, event),
	TP_STRUCT__entry(
		__field(u64, instance)
		__field(u64, id)
		__field(u64, user_data)
		__field(u64, deadline)
		__field(u32, lateness)
		__field(u32, expirations)
	),
	TP_fast_assign(
		lockdep_assert_held(&instance->lock);
		__entry->instance = instance->nr;
		__entry->id = event->id;
		__entry->user_data = event->user_data;
		__entry->deadline = event->deadline;
		__entry->lateness = event->lateness;
		__entry->expirations = event->expirations;
	),
	TP_printk("instance=%llu id=%llu user_data=%llu deadline=%llu lateness=%u expirations=%u",
		  __entry->instance, __entry->id, __entry->user_data,
		  __entry->deadline, __entry->lateness, __entry->expirations)
);

/*
 * The worker turned the wheel of an instance for one slice, or read() did. @late: ns after the
 * time for which the worker was armed; @expired: number of timers that expired then;
 * @pending, @ready: number of pending timers and of waiting events afterwards.
 */
TRACE_EVENT(hwtimer_turn,
	TP_PROTO(const struct hwtimer_instance *instance, u64 now, u32 expired),
	TP_ARGS(instance, now, expired),
	TP_STRUCT__entry(
		__field(u64, instance)
		__field(u64, now)
		__field(u64, late)
		__field(u64, pending)
		__field(u64, ready)
		__field(u32, expired)
	),
	TP_fast_assign(
		lockdep_assert_held(&instance->lock);
		__entry->instance = instance->nr;
		__entry->now = now;
		/* Still the time for which the worker was armed */
		__entry->late = now - min(now, instance->wakeup.at);
		__entry->pending = instance->stats.pending;
		__entry->ready = instance->stats.ready;
		__entry->expired = expired;
	),
	TP_printk("instance=%llu now=%llu late=%llu expired=%u pending=%llu ready=%llu",
		  __entry->instance, __entry->now, __entry->late,
		  __entry->expired, __entry->pending, __entry->ready)
);

DECLARE_EVENT_CLASS(hwtimer_instance,
	TP_PROTO(const struct hwtimer_instance *instance),
	TP_ARGS(instance),
	TP_STRUCT__entry(
		__field(u64, instance)
		__field(u64, pending)
		__field(u64, ready)
	),
	TP_fast_assign(
		__entry->instance = instance->nr;
		__entry->pending = instance->stats.pending;
		__entry->ready = instance->stats.ready;
	),
	TP_printk("instance=%llu pending=%llu ready=%llu",
		  __entry->instance, __entry->pending, __entry->ready)
);

#define DEFINE_INSTANCE_EVENT(name)				\
DEFINE_EVENT(hwtimer_instance, name,				\
	TP_PROTO(const struct hwtimer_instance *instance),	\
	TP_ARGS(instance)					\
)

/* An instance was created. */
DEFINE_INSTANCE_EVENT(hwtimer_open);

/* An instance is freed with all its timers. These emit no events of their own. */
DEFINE_INSTANCE_EVENT(hwtimer_close);

/* clang-format on */

#endif /* HWTIMER_TRACE_H */

/* <trace/define_trace.h> finds this file by the -I in Kbuild. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
