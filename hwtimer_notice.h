/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How readers are told: when poll() is ready, who is woken, the eventfd, and the report that
 * CLOCK_REALTIME was set. Called by everyone who queues events or takes them, and by the
 * worker's turn and chores for what is due at a time.
 *
 * Whatever makes an instance readable has to wake its readers. Functions here that may make
 * it readable return whether hwtimer_notice_wake() has to follow, because that must not be
 * called with the instance's lock held.
 */
#ifndef HWTIMER_NOTICE_H
#define HWTIMER_NOTICE_H

#include <linux/poll.h>
#include <linux/types.h>

struct eventfd_ctx;
struct hwtimer_instance;

/**
 * struct hwtimer_notice - when and how readers are told
 * @events: number of events that make poll() ready
 * @clock_set: 1 if the clock was set, and no reader has been told yet
 * @first: when the first of the events that wait came, on CLOCK_MONOTONIC;
 *	HWTIMER_TICK_NONE: no event waits
 * @delay: ns after the first event at which poll() is ready, however few events there are
 * @due: when that is, on CLOCK_MONOTONIC; HWTIMER_TICK_NONE: never, or it has passed
 * @offset: hwtimer_clock_offset() when the clock was last checked
 * @eventfd: signalled whenever readers are woken; NULL: none
 * @overdue: @due has come, and events have been waiting ever since
 * @watching: the worker checks the clock every second
 *
 * Protected by the instance's lock. hwtimer_notice_readable() reads some members without it:
 * those are written by WRITE_ONCE(), and a wake-up follows. @clock_set is taken by xchg().
 */
struct hwtimer_notice {
	u32 events;
	u32 clock_set;
	u64 first;
	u64 delay;
	u64 due;
	s64 offset;
	struct eventfd_ctx *eventfd;
	bool overdue;
	bool watching;
};

void hwtimer_notice_init(struct hwtimer_notice *notice);
void hwtimer_notice_release(struct hwtimer_notice *notice);
void hwtimer_notice_set(struct hwtimer_instance *instance, u32 events,
			u64 delay, struct eventfd_ctx *eventfd);

bool hwtimer_notice_readable(const struct hwtimer_instance *instance);
bool hwtimer_notice_ready(const struct hwtimer_instance *instance);
__poll_t hwtimer_notice_mask(const struct hwtimer_instance *instance);
int hwtimer_notice_wait(struct hwtimer_instance *instance);
void hwtimer_notice_wake(struct hwtimer_instance *instance, __poll_t mask);
void hwtimer_notice_hang_up(struct hwtimer_instance *instance);

bool hwtimer_notice_queued(struct hwtimer_instance *instance);
void hwtimer_notice_taken(struct hwtimer_instance *instance);

void hwtimer_notice_watch_clock(struct hwtimer_instance *instance);
bool hwtimer_notice_check_clock(struct hwtimer_instance *instance);
bool hwtimer_notice_take_report(struct hwtimer_instance *instance);
void hwtimer_notice_chores(struct hwtimer_instance *instance);

#endif /* HWTIMER_NOTICE_H */
