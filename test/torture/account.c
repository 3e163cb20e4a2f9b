// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the accounts of timers; see account.h.
 */
#include "account.h"

#include <errno.h>
#include <string.h>

#include "seat.h"

/* user_data is the seat, the number of the use, and the timer. */
#define TIMER_BITS 16
#define USE_BITS 32

__u64 account_user_data(const struct seat *seat, __u32 timer)
{
	return (__u64)seat->nr << (USE_BITS + TIMER_BITS) |
	       (__u64)seat->timers[timer].use << TIMER_BITS | timer;
}

/* Finds the account of a timer; NULL: no use of any timer had this user_data last. */
static struct account *account_of(struct seat *seat, __u64 user_data)
{
	__u32 timer = user_data & ((1U << TIMER_BITS) - 1);

	if (timer >= TIMERS || account_user_data(seat, timer) != user_data)
		return NULL;
	return &seat->timers[timer];
}

__u64 deadline_after(__u64 time, __u64 delay)
{
	return delay < HWTIMER_NEVER - time ? time + delay : HWTIMER_NEVER;
}

static bool within(const struct span *span, __u64 deadline)
{
	return span->low <= deadline && deadline <= span->high;
}

static void set_due(const struct seat *seat, struct account *account)
{
	__u64 now = seat_now(seat), due = account->next.high;

	if (now > due)
		due = now;
	/* A periodic timer rests until its event is read. */
	if (seat_settable(seat) || account->interval ||
	    due >= OPEN_END - account->patience)
		account->due = OPEN_END;
	else
		account->due = due + account->patience;
}

/* ---- operations ---- */

/* Called before an operation is passed to the kernel. */
void account_begin(struct seat *seat, const struct op *op,
		   const struct hwtimer_request *request)
{
	struct account *account = &seat->timers[op->timer];

	account->busy = true;
	if (op->what == HWTIMER_OP_SCHEDULE) {
		*account = (struct account){
			.use = account->use + 1,
			.armed = true,
			.busy = true,
			.next = op->span,
			.due = OPEN_END,
			.patience = request->slack + 2 * seat->tick,
			.interval = request->interval,
			.fixed_delay = request->flags & HWTIMER_REQ_FIXED_DELAY,
			.count = request->expirations_max,
			.sets = atomic_load(&board->sets_begun),
		};
	} else if (op->what == HWTIMER_OP_RESCHEDULE) {
		account->moving = true;
		account->moved = op->span;
		account->arrived = false;
		account->due = OPEN_END;
	}
}

/* The end of an operation that the kernel has not begun */
void account_skip(struct seat *seat, const struct op *op)
{
	struct account *account = &seat->timers[op->timer];

	account->busy = false;
	account->moving = false;
	if (op->what == HWTIMER_OP_SCHEDULE)
		account->armed = false;
}

static void finish_schedule(struct seat *seat, const struct op *op, __u64 id)
{
	struct account *account = &seat->timers[op->timer];

	did(SCHEDULED);
	seat->scheduled++;
	account->id = id;
	if (account->expirations)
		return;
	if (account->next.high == OPEN_END)
		account->next.high = deadline_after(seat_now(seat), op->delay);
	set_due(seat, account);
}

static void finish_reschedule(struct seat *seat, const struct op *op)
{
	struct account *account = &seat->timers[op->timer];

	did(RESCHEDULED);
	account->moving = false;
	if (account->arrived)
		return;
	account->next = op->span;
	if (account->next.high == OPEN_END)
		account->next.high = deadline_after(seat_now(seat), op->delay);
	set_due(seat, account);
	if (!account->armed)
		wrong(DEADLINE,
		      "timer %llx of seat %u was rescheduled, but had expired",
		      account->id, seat->nr);
}

/* @waits: the event waits, the last one */
static void finish_cancel(struct seat *seat, const struct op *op, bool waits)
{
	struct account *account = &seat->timers[op->timer];

	if (waits && op->discard)
		wrong(RESULT,
		      "timer %llx of seat %u: the event was not dropped",
		      account->id, seat->nr);
	if (!account->armed)
		wrong(GHOST,
		      "timer %llx of seat %u was cancelled, but had ended",
		      account->id, seat->nr);
	if (waits) {
		account->last = true;
		return;
	}
	did(CANCELLED);
	account->armed = false;
}

/* The kernel does not have the timer: its event has come. */
static void finish_gone(struct seat *seat, struct account *account)
{
	if (!account->armed)
		return;
	account->armed = false;
	wrong(LOST, "the kernel does not know timer %llx of seat %u",
	      account->id, seat->nr);
}

static void finish_failed(struct seat *seat, const struct op *op, int result)
{
	struct account *account = &seat->timers[op->timer];

	account->moving = false;
	if (op->what == HWTIMER_OP_SCHEDULE) {
		if (account->expirations)
			wrong(GHOST,
			      "a timer of seat %u was refused, and expired",
			      seat->nr);
		account->armed = false;
	}
	/* There is room for all timers and more, so ENOSPC would be wrong. */
	if (result == -ENOMEM)
		did(REFUSED);
	else if (op->what == HWTIMER_OP_SCHEDULE)
		wrong(RESULT, "SCHEDULE on seat %u: %s", seat->nr,
		      strerror(-result));
	else if (result == -ENOENT)
		finish_gone(seat, account);
	else if (op->what == HWTIMER_OP_CANCEL || result != -EALREADY)
		wrong(RESULT, "operation %u on seat %u: %s", op->what, seat->nr,
		      strerror(-result));
}

/*
 * Whether a call has done nothing because its process was being killed, as its successor
 * now sees: it was to start the instance first.
 */
static bool killed_before(const struct seat *seat, int result)
{
	return result == -EINTR && !seat->exact;
}

/**
 * account_finish - note the result of an operation
 * @seat: the seat
 * @op: the operation
 * @id: id of a new timer
 * @result: what hwtimer_request.result would be
 */
void account_finish(struct seat *seat, const struct op *op, __u64 id,
		    int result)
{
	struct account *account = &seat->timers[op->timer];

	account->busy = false;
	if (killed_before(seat, result))
		account_skip(seat, op);
	else if (result < 0)
		finish_failed(seat, op, result);
	else if (op->what == HWTIMER_OP_SCHEDULE)
		finish_schedule(seat, op, id);
	else if (op->what == HWTIMER_OP_RESCHEDULE)
		finish_reschedule(seat, op);
	else
		finish_cancel(seat, op, result);
}

/* ---- events ---- */

static void check_time(const struct seat *seat, const struct account *account,
		       const struct hwtimer_event *event, __u64 now)
{
	/*
	 * The clock may have been further ahead when the timer expired. CLOCK_TAI is the same as
	 * CLOCK_REALTIME, as nobody tells the kernel how many leap seconds there were.
	 */
	if (seat_settable(seat))
		now = clock_ns(CLOCK_MONOTONIC) + board_ahead(account->sets);
	if (now < event->deadline)
		wrong(EARLY, "timer %llx of seat %u, by %llu ns", event->id,
		      seat->nr, event->deadline - now);
	else if (!seat_settable(seat))
		late(now - event->deadline);
}

static void check_order(struct seat *seat, const struct account *account,
			const struct hwtimer_event *event)
{
	if (seat_settable(seat))
		return;
	if (seat->horizon > account->due)
		wrong(ORDER,
		      "timer %llx of seat %u, due at %llu, after one of %llu",
		      event->id, seat->nr, account->due, seat->horizon);
	if (event->deadline > seat->horizon)
		seat->horizon = event->deadline;
}

static void go_on(struct account *account, const struct hwtimer_event *event)
{
	account->due = OPEN_END;
	if (!account->interval || account->last ||
	    (account->count && account->expirations >= account->count)) {
		account->armed = false;
		return;
	}
	account->next.low =
		event->deadline + event->expirations * account->interval;
	account->next.high = account->next.low;
	if (account->fixed_delay)
		account->next.high = OPEN_END;
}

static bool expected(struct account *account, const struct hwtimer_event *event)
{
	bool arrives = account->moving &&
		       within(&account->moved, event->deadline);

	account->arrived |= arrives;
	return arrives || within(&account->next, event->deadline);
}

/*
 * The event of a periodic timer may come after CANCEL_ALL has handed the timer back, as it is after
 * that event. Returns whether this is that event.
 */
static bool waited(const struct seat *seat, struct account *account,
		   const struct hwtimer_event *event)
{
	if (!account->returned || account->armed || account->id != event->id)
		return false;
	account->returned = false;
	account->expirations += event->expirations;
	if (!account->fixed_delay && account->back != HWTIMER_NEVER &&
	    account->back !=
		    event->deadline + event->expirations * account->interval)
		wrong(DEADLINE,
		      "timer %llx of seat %u: CANCEL_ALL had it at %llu, its event was for %llu",
		      event->id, seat->nr, account->back, event->deadline);
	return true;
}

static void unexpected(struct seat *seat, const struct account *account,
		       const struct hwtimer_event *event)
{
	bool twice = account && !account->armed && account->expirations &&
		     !account->interval;

	wrong(twice ? TWICE : GHOST, "timer %llx of seat %u, user_data %llx",
	      event->id, seat->nr, event->user_data);
}

/**
 * account_event - note an event
 * @seat: the seat
 * @event: the event
 * @now: time on the instance's clock after the event was taken, ns
 */
void account_event(struct seat *seat, const struct hwtimer_event *event,
		   __u64 now)
{
	struct account *account = account_of(seat, event->user_data);

	did(EXPIRED);
	seat->taken++;
	if (account && waited(seat, account, event))
		return;
	if (!account || !account->armed) {
		unexpected(seat, account, event);
		return;
	}
	account->expirations += event->expirations;
	check_time(seat, account, event, now);
	check_order(seat, account, event);
	if (!expected(account, event))
		wrong(DEADLINE,
		      "timer %llx of seat %u: %llu is not in %llu to %llu",
		      event->id, seat->nr, event->deadline, account->next.low,
		      account->next.high);
	if (!event->expirations ||
	    (account->count && account->expirations > account->count))
		wrong(COUNT, "timer %llx of seat %u: %llu of %u", event->id,
		      seat->nr, account->expirations, account->count);
	go_on(account, event);
}

/* ---- what the kernel says of a timer ---- */

void account_list(struct seat *seat, const struct hwtimer_timer *timer)
{
	struct account *account = account_of(seat, timer->user_data);

	/* The last event of a periodic timer that CANCEL_ALL has handed back may wait. */
	if (account && account->returned && timer->id == account->id &&
	    timer->expirations == timer->expirations_left)
		return;
	if (!account || !account->armed) {
		wrong(GHOST, "LIST has timer %llx of seat %u, user_data %llx",
		      timer->id, seat->nr, timer->user_data);
		return;
	}
	if (account->listed++)
		wrong(TWICE, "LIST has timer %llx of seat %u twice", timer->id,
		      seat->nr);
	if (timer->id != account->id)
		wrong(RESULT, "LIST has id %llx, not %llx, on seat %u",
		      timer->id, account->id, seat->nr);
	if (!account->interval && !within(&account->next, timer->deadline))
		wrong(DEADLINE, "LIST has timer %llx of seat %u at %llu",
		      timer->id, seat->nr, timer->deadline);
}

void account_hand_back(struct seat *seat, const struct hwtimer_timer *timer)
{
	struct account *account = account_of(seat, timer->user_data);

	did(RETURNED);
	if (!account || !account->armed) {
		wrong(GHOST,
		      "CANCEL_ALL has timer %llx of seat %u, user_data %llx",
		      timer->id, seat->nr, timer->user_data);
		return;
	}
	account->armed = false;
	account->returned = account->interval;
	account->back = timer->deadline;
	if (seat->horizon > account->due)
		wrong(ORDER,
		      "CANCEL_ALL has timer %llx of seat %u, due at %llu, after one of %llu",
		      timer->id, seat->nr, account->due, seat->horizon);
}
