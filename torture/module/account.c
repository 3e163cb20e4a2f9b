// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the account of one timer; see account.h. All functions but those named
 * torture_account_call(), torture_account_return() and torture_account_due() are called by
 * the thread that holds account->user, or when no other thread is left.
 */
#include <linux/time64.h>

#include "account.h"
#include "report.h"

void torture_account_init(struct torture_account *account)
{
	*account = (struct torture_account){ .use = 0 };
	mutex_init(&account->user);
	spin_lock_init(&account->lock);
}

/**
 * torture_account_open - begin a new use, before the timer is scheduled
 * @account: the account
 * @request: the request
 * @next: the deadline
 * @tick: the client's tick, ns
 */
void torture_account_open(struct torture_account *account,
			  const struct hwtimer_request *request,
			  struct torture_span next, u64 tick)
{
	spin_lock(&account->lock);
	account->use++;
	account->id = 0;
	account->armed = true;
	account->next = next;
	account->moving = false;
	account->due = U64_MAX;
	/* The deadline may be anywhere in its tick, and so may the one that is later. */
	account->slack = request->slack + 2 * tick;
	account->interval = request->interval;
	account->fixed_delay = request->flags & HWTIMER_FIXED_DELAY;
	account->count = request->count;
	account->expirations = 0;
	spin_unlock(&account->lock);
}

/*
 * The time after which another tick is a later one. Judged only for timers that expire
 * once: a periodic timer rests until its callback has returned.
 */
static u64 due_after(const struct torture_account *account, u64 high, u64 now)
{
	u64 due = max(high, now);

	if (account->interval || due > U64_MAX - account->slack)
		return U64_MAX;
	return due + account->slack;
}

/* The timer was scheduled. @high: latest deadline; @now: time after the call, ns */
void torture_account_scheduled(struct torture_account *account, u64 id,
			       u64 high, u64 now)
{
	spin_lock(&account->lock);
	account->id = id;
	/* A periodic timer that was called meanwhile has another deadline by now. */
	if (!account->expirations) {
		account->next.high = high;
		account->due = due_after(account, high, now);
	}
	spin_unlock(&account->lock);
}

/* The timer was not scheduled. */
void torture_account_refused(struct torture_account *account)
{
	bool called;

	spin_lock(&account->lock);
	called = account->expirations;
	account->armed = false;
	spin_unlock(&account->lock);
	if (called)
		torture_wrong(TORTURE_GHOST,
			      "use %u was refused, and its callback came",
			      account->use);
}

/* A RESCHEDULE to @moved begins. */
void torture_account_move(struct torture_account *account,
			  struct torture_span moved)
{
	spin_lock(&account->lock);
	account->moving = true;
	account->moved = moved;
	account->arrived = false;
	account->stayed = false;
	account->due = U64_MAX;
	spin_unlock(&account->lock);
}

/**
 * torture_account_moved - end a RESCHEDULE
 * @account: the account
 * @high: latest new deadline
 * @now: time after the call, ns
 * @stands: the call was successful
 */
void torture_account_moved(struct torture_account *account, u64 high, u64 now,
			   bool stands)
{
	bool stale, ghost;

	spin_lock(&account->lock);
	account->moving = false;
	/* An event with the old deadline would have been there before the call. */
	stale = stands && !account->arrived && !account->armed;
	ghost = !stands && account->arrived && !account->stayed;
	if (stands && !account->arrived) {
		account->next = account->moved;
		account->next.high = high;
		account->due = due_after(account, high, now);
	}
	spin_unlock(&account->lock);
	if (stale)
		torture_wrong(TORTURE_DEADLINE,
			      "timer %llx was rescheduled, but had expired",
			      account->id);
	if (ghost)
		torture_wrong(TORTURE_DEADLINE,
			      "timer %llx kept its deadline, but moved",
			      account->id);
}

static bool within(const struct torture_span *span, u64 deadline)
{
	return span->low <= deadline && deadline <= span->high;
}

/* Checks the deadline of an event; returns whether it is one that the timer has. */
static bool right_deadline(struct torture_account *account, u64 deadline)
{
	bool stays = within(&account->next, deadline);
	bool arrives = account->moving && within(&account->moved, deadline);

	lockdep_assert_held(&account->lock);
	account->stayed |= stays;
	account->arrived |= arrives;
	return stays || arrives;
}

/* Sets what may come after an event. */
static void go_on(struct torture_account *account,
		  const struct hwtimer_event *event)
{
	lockdep_assert_held(&account->lock);
	account->expirations += event->expirations;
	account->due = U64_MAX;
	if (!account->interval ||
	    (account->count && account->expirations >= account->count)) {
		account->armed = false;
		return;
	}
	account->next.low =
		event->deadline + event->expirations * account->interval;
	account->next.high = account->next.low;
	/* Counts from the callback's return, which is later than its deadline. */
	if (account->fixed_delay)
		account->next.high = U64_MAX;
}

/**
 * torture_account_call - note that a callback has begun
 * @account: the account
 * @use: number of the use, from the event
 * @event: the event
 *
 * Return: whether the callback belongs to the timer.
 */
bool torture_account_call(struct torture_account *account, u32 use,
			  const struct hwtimer_event *event)
{
	bool ghost, twice, other, many;

	spin_lock(&account->lock);
	twice = use == account->use && !account->armed && !account->interval &&
		account->expirations;
	ghost = !twice && (use != account->use || !account->armed);
	other = !twice && !ghost && !right_deadline(account, event->deadline);
	if (!twice && !ghost) {
		go_on(account, event);
		account->running = true;
	}
	many = account->count && account->expirations > account->count;
	spin_unlock(&account->lock);

	if (twice)
		torture_wrong(TORTURE_TWICE, "timer %llx, use %u", event->id,
			      use);
	if (ghost)
		torture_wrong(TORTURE_GHOST, "timer %llx, use %u of %u",
			      event->id, use, account->use);
	if (other)
		torture_wrong(TORTURE_DEADLINE,
			      "timer %llx: %llu is not in %llu to %llu",
			      event->id, event->deadline, account->next.low,
			      account->next.high);
	if (many || !event->expirations)
		torture_wrong(TORTURE_COUNT, "timer %llx: %llu of %u, then %u",
			      event->id, account->expirations, account->count,
			      event->expirations);
	return !twice && !ghost;
}

/* Notes that a callback is about to return. */
void torture_account_return(struct torture_account *account)
{
	spin_lock(&account->lock);
	account->running = false;
	spin_unlock(&account->lock);
}

/* Returns whether no callback may come any more. */
bool torture_account_over(struct torture_account *account)
{
	bool over;

	spin_lock(&account->lock);
	over = !account->armed && !account->running;
	spin_unlock(&account->lock);
	return over;
}

/* A cancel has returned 0: the callback neither runs nor comes. */
void torture_account_cancelled(struct torture_account *account)
{
	bool called, running;

	spin_lock(&account->lock);
	called = !account->armed;
	running = account->running;
	account->armed = false;
	spin_unlock(&account->lock);
	if (called)
		torture_wrong(TORTURE_GHOST,
			      "timer %llx was cancelled, but had ended",
			      account->id);
	if (running)
		torture_wrong(TORTURE_RUNNING,
			      "timer %llx was cancelled, and its callback runs",
			      account->id);
}

/**
 * torture_account_ended - the timer has ended by itself, as a call has said
 * @account: the account
 * @how: the call and its result
 * @waited: a periodic timer has ended with a callback that the call waited for; otherwise
 *	all of its expirations must have been reported
 */
void torture_account_ended(struct torture_account *account, const char *how,
			   bool waited)
{
	bool lost, running;

	spin_lock(&account->lock);
	running = account->running;
	lost = account->armed && !(account->interval && waited);
	account->armed = false;
	spin_unlock(&account->lock);
	if (lost)
		torture_wrong(TORTURE_LOST,
			      "timer %llx: %s, but it was not called",
			      account->id, how);
	if (running)
		torture_wrong(TORTURE_RUNNING,
			      "timer %llx: %s, but its callback runs",
			      account->id, how);
}

/**
 * torture_account_hand_back - note that the stopped client has handed the timer back
 * @account: the account
 * @use: number of the use, from the timer
 * @timer: the timer
 *
 * Return: whether the timer may be handed back.
 */
bool torture_account_hand_back(struct torture_account *account, u32 use,
			       const struct hwtimer_unprocessed *timer)
{
	bool right;

	spin_lock(&account->lock);
	right = use == account->use && account->armed;
	if (right)
		account->armed = false;
	spin_unlock(&account->lock);
	if (!right)
		torture_wrong(TORTURE_GHOST,
			      "timer %llx was handed back, use %u of %u",
			      timer->id, use, account->use);
	return right;
}

/* After the client has handed back all timers: none may be left. */
void torture_account_close(struct torture_account *account)
{
	if (account->armed)
		torture_wrong(TORTURE_LOST,
			      "timer %llx: neither called nor handed back",
			      account->id);
	if (account->running)
		torture_wrong(TORTURE_RUNNING,
			      "timer %llx: stopped, but its callback runs",
			      account->id);
}

/* The time after which a later tick means that this timer was passed over. */
u64 torture_account_due(struct torture_account *account)
{
	u64 due;

	spin_lock(&account->lock);
	due = account->armed ? account->due : U64_MAX;
	spin_unlock(&account->lock);
	return due;
}
