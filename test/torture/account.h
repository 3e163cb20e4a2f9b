/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The account of one timer of an instance: what may happen to it, from the results of the
 * worker's calls and from the events so far. A worker is a single thread, so it knows that a
 * timer that is neither over nor in the kernel is lost.
 */
#ifndef TORTURE_ACCOUNT_H
#define TORTURE_ACCOUNT_H

#include <stdbool.h>

#include <linux/hwtimer.h>
#include <linux/types.h>

struct seat;
struct op;

#define OPEN_END (~0ULL)

/**
 * struct span - bounds of a deadline, which is exact if it was absolute
 * @low: earliest, ns on the instance's clock
 * @high: latest; OPEN_END while the operation is under way that determines it
 */
struct span {
	__u64 low;
	__u64 high;
};

/**
 * struct account - what may happen to a timer
 * @use: number of the use; part of the timer's user_data
 * @id: id
 * @armed: an event may come, or the kernel has the timer
 * @busy: an operation is under way
 * @last: the next event is the last one of a periodic timer
 * @listed: number of times that LIST has shown it, for an audit
 * @next: deadline of the next event
 * @moving: a RESCHEDULE is under way, and the next event may have the deadline @moved
 * @moved: the deadline that RESCHEDULE is to set
 * @arrived: an event that may have the deadline @moved has come meanwhile
 * @due: an event with a later deadline shows that this timer was passed over; OPEN_END:
 *	not judged
 * @patience: slack and ticks by which the timer may be late
 * @interval: interval; 0: the timer expires once
 * @fixed_delay: the interval counts from the read(), or from the ACK
 * @count: maximum number of expirations; 0: no maximum
 * @expirations: expirations so far
 * @sets: board->sets_begun when the timer was scheduled
 * @returned: CANCEL_ALL has handed it back, perhaps while its last event waited
 * @back: deadline with which it was handed back
 */
struct account {
	__u32 use;
	__u64 id;
	bool armed;
	bool busy;
	bool last;
	unsigned int listed;
	struct span next;
	bool moving;
	struct span moved;
	bool arrived;
	__u64 due;
	__u64 patience;
	__u64 interval;
	bool fixed_delay;
	__u32 count;
	__u64 expirations;
	unsigned int sets;
	bool returned;
	__u64 back;
};

/* The end of a delay, at most HWTIMER_NEVER */
__u64 deadline_after(__u64 time, __u64 delay);

__u64 account_user_data(const struct seat *seat, __u32 timer);
void account_begin(struct seat *seat, const struct op *op,
		   const struct hwtimer_request *request);
void account_finish(struct seat *seat, const struct op *op, __u64 id,
		    int result);
void account_skip(struct seat *seat, const struct op *op);
void account_event(struct seat *seat, const struct hwtimer_event *event,
		   __u64 now);
void account_list(struct seat *seat, const struct hwtimer_timer *timer);
void account_hand_back(struct seat *seat, const struct hwtimer_timer *timer);

#endif /* TORTURE_ACCOUNT_H */
