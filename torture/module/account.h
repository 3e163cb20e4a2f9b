/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The account of one timer: what may happen to it, from what its client has done. seat.c
 * keeps it; the functions here find what must not happen.
 *
 * A timer's account is used again and again. The number of the use is part of the timer's
 * user_data, so that an event of an earlier use is recognized.
 */
#ifndef TORTURE_ACCOUNT_H
#define TORTURE_ACCOUNT_H

#include <linux/mutex.h>
#include <linux/spinlock.h>

#include <linux/hwtimer_client.h>

/**
 * struct torture_span - bounds of a deadline, which is exact if it was absolute
 * @low: earliest, ns on the client's clock
 * @high: latest; U64_MAX while the call is under way that determines it
 */
struct torture_span {
	u64 low;
	u64 high;
};

/**
 * struct torture_account - what may happen to a timer
 * @user: held by the thread that works on the timer. Callbacks only try to take it
 * @lock: protects all members below
 * @use: number of the use, 1 or higher
 * @id: id; 0 while it is not known
 * @armed: a callback may come
 * @running: the callback runs
 * @next: deadline of the next event
 * @moving: a RESCHEDULE is under way, and the next event may have the deadline @moved
 * @moved: the deadline that RESCHEDULE is to set
 * @arrived: an event that may have the deadline @moved has come since RESCHEDULE began
 * @stayed: an event that may have the old deadline has come since then
 * @due: if a callback with a later deadline has run before this one, this one was passed
 *	over; U64_MAX: not judged
 * @slack: slack and what else delays the timer, ns
 * @interval: interval; 0: the timer expires once
 * @fixed_delay: the interval counts from the callback's return
 * @count: maximum number of expirations; 0: no maximum
 * @expirations: expirations so far
 * @steps: how often the clock had been set when the timer was scheduled
 */
struct torture_account {
	struct mutex user; /* held by the thread that works on the timer */
	spinlock_t lock; /* protects all members below */
	u32 use;
	u64 id;
	bool armed;
	bool running;
	struct torture_span next;
	bool moving;
	struct torture_span moved;
	bool arrived;
	bool stayed;
	u64 due;
	u64 slack;
	u64 interval;
	bool fixed_delay;
	u32 count;
	u64 expirations;
	unsigned int steps;
};

void torture_account_init(struct torture_account *account);
void torture_account_open(struct torture_account *account,
			  const struct hwtimer_request *request,
			  struct torture_span next, u64 tick);
void torture_account_scheduled(struct torture_account *account, u64 id,
			       u64 high, u64 now);
void torture_account_refused(struct torture_account *account);
void torture_account_move(struct torture_account *account,
			  struct torture_span moved);
void torture_account_moved(struct torture_account *account, u64 high, u64 now,
			   bool stands);
bool torture_account_call(struct torture_account *account, u32 use,
			  const struct hwtimer_event *event);
void torture_account_return(struct torture_account *account);
bool torture_account_over(struct torture_account *account);
void torture_account_cancelled(struct torture_account *account);
void torture_account_ended(struct torture_account *account, const char *how,
			   bool waited);
bool torture_account_hand_back(struct torture_account *account, u32 use,
			       const struct hwtimer_unprocessed *timer);
void torture_account_close(struct torture_account *account);
u64 torture_account_due(struct torture_account *account);

#endif /* TORTURE_ACCOUNT_H */
