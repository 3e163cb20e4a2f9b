/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeps the events of an instance, and lets timers expire into them.
 *
 * Events wait in a ring, as the ids of their timers, in the order in which these expired. The
 * ring is bounded, so that the worker does not run ahead of the program: what does not fit stays
 * in the wheel.
 *
 * The worker and read() let timers expire into the ring. Each relies on the other:
 *
 *   the worker	turns the wheel while a hold of timers fits into the ring, and wakes readers
 *		when the instance is readable. Once the ring is full, it parks: its alarm for
 *		turns is not kicked until events are taken
 *   read()	turns the wheel when no event is left and timers are due. If it leaves due
 *		timers behind, the instance is readable, or read() kicks the alarm
 *   a thread	that makes room or raises the threshold does the same, by
 *		hwtimer_notice_unpark()
 *
 * test/proofs/events.pml is a model of this.
 *
 * An event is dropped by freeing its timer: then its id is dead. (Not a stamp, as in the wheel:
 * an event may stay unread for so long that stamps come again.) With HWTIMER_SETUP_AT_LEAST_ONCE,
 * events that were read stay in the ring until they are acknowledged.
 */
#ifndef HWTIMER_EVENTS_H
#define HWTIMER_EVENTS_H

#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/types.h>

#include <uapi/linux/hwtimer.h>

struct hwtimer_alarm;
struct hwtimer_instance;
struct hwtimer_record;
struct iov_iter;

/* ---- queue.c ---- */

unsigned int hwtimer_events_turn(struct hwtimer_instance *instance, u64 now);
void hwtimer_events_taken(struct hwtimer_instance *instance, u32 count);
void hwtimer_events_drop(struct hwtimer_instance *instance,
			 struct hwtimer_record *record, u32 index);

/* ---- notice.c ---- */

/**
 * struct hwtimer_notice - when readers are woken
 * @events: number of events that make poll() ready
 * @clock_set: 1 if the clock was set and no reader has been told yet; otherwise 0
 * @first: time at which events began to wait, that is, at which the first event came
 *	after there was none; ns on CLOCK_MONOTONIC; HWTIMER_TICK_NONE: no event waits
 * @delay: time after @first at which poll() becomes ready however few events wait, ns;
 *	HWTIMER_NEVER: it does not
 * @due: time at which poll() becomes ready by @delay, ns on CLOCK_MONOTONIC;
 *	HWTIMER_TICK_NONE: never, or the time has passed
 * @offset: hwtimer_clock_offset() at the last check of the clock
 * @overdue: @due has passed, and events have been waiting ever since
 * @watching: the worker checks every second whether the clock was set
 *
 * Protected by the instance's lock. Some functions read members without it: those members
 * are written by WRITE_ONCE(), and a wake-up follows. A reader takes @clock_set by xchg()
 * without the lock.
 */
struct hwtimer_notice {
	u32 events;
	u32 clock_set;
	u64 first;
	u64 delay;
	u64 due;
	s64 offset;
	bool overdue;
	bool watching;
};

void hwtimer_notice_init(struct hwtimer_notice *notice);
void hwtimer_notice_set(struct hwtimer_instance *instance, u32 events,
			u64 delay);

bool hwtimer_notice_enough(const struct hwtimer_instance *instance);
bool hwtimer_notice_readable(const struct hwtimer_instance *instance);
__poll_t hwtimer_notice_mask(const struct hwtimer_instance *instance);
int hwtimer_notice_wait(struct hwtimer_instance *instance);
void hwtimer_notice_wake(struct hwtimer_instance *instance, __poll_t mask);

void hwtimer_notice_unpark(struct hwtimer_instance *instance);
void hwtimer_notice_queued(struct hwtimer_instance *instance);
void hwtimer_notice_taken(struct hwtimer_instance *instance);

void hwtimer_notice_watch_clock(struct hwtimer_instance *instance);
bool hwtimer_notice_check_clock(struct hwtimer_instance *instance);
bool hwtimer_notice_take_report(struct hwtimer_instance *instance);
void hwtimer_notice_chores(struct hwtimer_instance *instance);

/* ---- period.c ---- */

void hwtimer_period_begin(struct hwtimer_instance *instance,
			  struct hwtimer_record *record,
			  const struct hwtimer_request *request);
u32 hwtimer_period_spare(const struct hwtimer_instance *instance,
			 const struct hwtimer_record *record);
void hwtimer_period_change(struct hwtimer_instance *instance,
			   struct hwtimer_record *record,
			   const struct hwtimer_request *request);
void hwtimer_period_describe(const struct hwtimer_instance *instance, u32 index,
			     u64 now, struct hwtimer_timer *timer);
void hwtimer_period_end(struct hwtimer_instance *instance,
			struct hwtimer_record *record, u64 now);
bool hwtimer_period_describe_next(const struct hwtimer_instance *instance,
				  u32 index, u64 now,
				  struct hwtimer_timer *timer);
u32 hwtimer_period_expirations(const struct hwtimer_instance *instance,
			       const struct hwtimer_record *record, u64 now);
bool hwtimer_period_rearm(struct hwtimer_instance *instance, u32 index,
			  u32 expirations, u64 now);

void hwtimer_period_free(struct hwtimer_instance *instance, u32 index);

/* ---- turn.c ---- */

void hwtimer_turn(struct hwtimer_alarm *alarm);
void hwtimer_turn_chores(struct hwtimer_alarm *alarm);

/* ---- read.c ---- */

/*
 * Number of times in a row that a page is faulted in, and the copy stops there all the same.
 * Others may take the page away again; but memory may also be protected within a page, on
 * arm64 with MTE, and then it would go on for ever.
 */
#define HWTIMER_FAULTS 100

/**
 * hwtimer_interrupted - whether a call that does not sleep has to end before it is finished
 * @done: the call has something to return
 *
 * signal_pending() is also true if io_uring has other work for the thread. That is no signal to the
 * program, and can wait. But a command that one of io_uring's own threads executes is cancelled
 * that way, so there it ends a call that can say how far it has come.
 *
 * Return: whether it has to. Without @done, the caller returns the error of an interrupted call.
 */
static inline bool hwtimer_interrupted(bool done)
{
	if (done && current->flags & PF_IO_WORKER)
		return signal_pending(current);
	return task_sigpending(current);
}

ssize_t hwtimer_read_events(struct hwtimer_instance *instance,
			    struct iov_iter *to);
long hwtimer_read_ack(struct hwtimer_instance *instance, u32 count);
void hwtimer_read_rewind(struct hwtimer_instance *instance);

#endif /* HWTIMER_EVENTS_H */
