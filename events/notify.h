/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tells readers that an instance has something to read: by read() and poll(), and by
 * wake-ups; also reports that the clock was set.
 *
 * Code that makes an instance readable has to wake its readers, without the instance's
 * lock. So functions here that may make it readable, and that are called with the lock
 * held, return whether the caller has to call hwtimer_notice_wake() after it has released
 * the lock.
 */
#ifndef HWTIMER_NOTICE_H
#define HWTIMER_NOTICE_H

#include <linux/poll.h>
#include <linux/types.h>

struct hwtimer_instance;

/**
 * struct hwtimer_notice - when readers are told
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
void hwtimer_notice_hang_up(struct hwtimer_instance *instance);

void hwtimer_notice_unpark(struct hwtimer_instance *instance);
bool hwtimer_notice_queued(struct hwtimer_instance *instance);
void hwtimer_notice_taken(struct hwtimer_instance *instance);

void hwtimer_notice_watch_clock(struct hwtimer_instance *instance);
bool hwtimer_notice_check_clock(struct hwtimer_instance *instance);
bool hwtimer_notice_take_report(struct hwtimer_instance *instance);
void hwtimer_notice_chores(struct hwtimer_instance *instance);

#endif /* HWTIMER_NOTICE_H */
