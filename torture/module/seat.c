// SPDX-License-Identifier: GPL-2.0
/*
 * Creates, uses and destroys clients; see seat.h. What a thread does to a timer is chosen
 * at random; the timer's account says what the call may return, and which callbacks may
 * come.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/time64.h>

#include "report.h"
#include "seat.h"

/* A client is stalled if the clerk slept and woke up so often while timers were due. */
#define CALM_MAX 2000

/* user_data is the number of the use and that of the timer. */
#define USE_SHIFT 16

/* Periodic deadlines and intervals are multiples of it, see seat_reschedule(). */
#define PHASES 64

/* The module's other half, which sets the clock, adds 1 before and 1 after it does. */
static unsigned int clock_steps;
module_param(clock_steps, uint, 0644);
MODULE_PARM_DESC(clock_steps, "Odd while CLOCK_REALTIME is being set");

/* ---- time ---- */

static u64 seat_now(const struct torture_seat *seat)
{
	switch (seat->options.clock) {
	case HWTIMER_CLIENT_BOOTTIME:
		return ktime_get_boottime_ns();
	case HWTIMER_CLIENT_REALTIME:
		return ktime_get_real_ns();
	default:
		return ktime_get_ns();
	}
}

static bool seat_settable(const struct torture_seat *seat)
{
	return seat->options.clock == HWTIMER_CLIENT_REALTIME;
}

/* Whether the clock goes on as it did when the timer was scheduled */
static bool clock_steady(const struct torture_seat *seat,
			 const struct torture_account *account)
{
	unsigned int steps = READ_ONCE(clock_steps);

	return !seat_settable(seat) ||
	       (!(steps % 2) && steps == account->steps);
}

/* ---- callbacks ---- */

static void seat_use_timer(struct torture_seat *seat, struct rnd_state *random,
			   bool in_callback);

static void check_time(struct torture_seat *seat,
		       const struct torture_account *account,
		       const struct hwtimer_event *event)
{
	u64 now = seat_now(seat);

	if (!clock_steady(seat, account))
		torture_did(TORTURE_UNJUDGED);
	else if (now < event->deadline)
		torture_wrong(TORTURE_EARLY,
			      "timer %llx of seat %u, by %llu ns", event->id,
			      seat->nr, event->deadline - now);
	else
		torture_late(now - event->deadline);
}

/* Timers are called in the order of their ticks, if no one sets the clock back. */
static void check_order(struct torture_seat *seat, u64 due, u64 deadline,
			u64 id)
{
	if (seat_settable(seat))
		return;
	if (seat->horizon > due)
		torture_wrong(TORTURE_ORDER,
			      "timer %llx of seat %u, due %llu, after %llu", id,
			      seat->nr, due, seat->horizon);
	seat->horizon = max(seat->horizon, deadline);
}

static void expect_deadlock(int result, const char *what)
{
	if (result != -EDEADLK)
		torture_wrong(TORTURE_RESULT, "%s in a callback returned %d",
			      what, result);
}

/* Does in a callback what other threads do, and what callbacks must not do. */
static void seat_meddle(struct torture_seat *seat,
			const struct hwtimer_event *event)
{
	struct hwtimer_client *client = seat->client;

	switch (torture_below(&seat->random, 8)) {
	case 0:
		expect_deadlock(hwtimer_client_cancel_sync(client, event->id),
				"cancel_sync");
		break;
	case 1:
		expect_deadlock(hwtimer_client_stop(client, NULL), "stop");
		break;
	case 2:
		expect_deadlock(hwtimer_client_destroy(client), "destroy");
		break;
	case 3:
		if (seat->queue)
			usleep_range(100, 3000);
		break;
	case 4:
		udelay(9);
		break;
	default:
		seat_use_timer(seat, &seat->random, true);
	}
}

static void seat_expire(struct hwtimer_client *client,
			const struct hwtimer_event *event)
{
	struct torture_seat *seat = hwtimer_client_private(client);
	struct torture_account *account =
		&seat->accounts[event->user_data % TORTURE_TIMERS];
	u64 due = torture_account_due(account);

	if (atomic_xchg(&seat->inside, 1))
		torture_wrong(TORTURE_TOGETHER, "two callbacks of seat %u",
			      seat->nr);
	torture_did(TORTURE_CALLED);
	atomic64_inc(&seat->called);
	if (torture_account_call(account, event->user_data >> USE_SHIFT,
				 event)) {
		check_time(seat, account, event);
		check_order(seat, due, event->deadline, event->id);
		if (!torture_below(&seat->random, 4))
			seat_meddle(seat, event);
		torture_account_return(account);
	}
	atomic_set(&seat->inside, 0);
}

/* ---- what threads do to a timer ---- */

/* A random number of ns, small ones as likely as large ones */
static u64 random_time(struct rnd_state *random, unsigned int bits)
{
	u64 number = (u64)prandom_u32_state(random) << 32 |
		     prandom_u32_state(random);

	return number >> (64 - 1 - torture_below(random, bits));
}

/* A delay: mostly up to 270 ms, sometimes up to a day */
static u64 random_delay(struct rnd_state *random)
{
	return random_time(random, torture_below(random, 8) ? 28 : 46);
}

static u64 whole_phases(u64 time)
{
	return max_t(u64, time / PHASES, 1) * PHASES;
}

static void make_periodic(struct torture_seat *seat,
			  struct hwtimer_request *request,
			  struct rnd_state *random)
{
	u64 interval = 4 * NSEC_PER_MSEC + 2 * seat->options.tick +
		       random_time(random, 29);

	request->flags = HWTIMER_ABSOLUTE;
	request->time = whole_phases(seat_now(seat) + random_delay(random));
	request->interval = whole_phases(interval);
	request->count = torture_below(random, 5);
	request->slack = 0;
	if (!seat_settable(seat) && !torture_below(random, 4))
		request->flags |= HWTIMER_FIXED_DELAY;
}

/* A random request; sets *@next to the bounds of its deadline. */
static struct hwtimer_request make_request(struct torture_seat *seat,
					   struct rnd_state *random,
					   struct torture_span *next)
{
	struct hwtimer_request request = { .time = random_delay(random) };
	u64 now = seat_now(seat);

	if (!torture_below(random, 4))
		request.slack =
			torture_below(random, request.time % U32_MAX + 1);
	if (!torture_below(random, 4))
		make_periodic(seat, &request, random);
	else if (seat_settable(seat) || torture_below(random, 2))
		request.flags = HWTIMER_ABSOLUTE;
	if (request.flags & HWTIMER_ABSOLUTE) {
		if (!request.interval)
			request.time += now;
		*next = (struct torture_span){ request.time, request.time };
	} else {
		*next = (struct torture_span){ now + request.time, U64_MAX };
	}
	return request;
}

/* The latest deadline, once the call is over that began with *@span */
static u64 span_end(const struct torture_seat *seat,
		    const struct torture_span *span, u64 delay)
{
	return span->high == U64_MAX ? seat_now(seat) + delay : span->high;
}

/* Whether a call may fail with @result although nothing is wrong */
static bool refused(const struct torture_seat *seat, int result)
{
	if (result != -ENOMEM && result != -ENOSPC &&
	    !(result == -ESHUTDOWN && READ_ONCE(seat->stopping)))
		return false;
	torture_did(TORTURE_REFUSED);
	return true;
}

static void seat_schedule(struct torture_seat *seat,
			  struct torture_account *account,
			  struct rnd_state *random)
{
	struct torture_span next;
	struct hwtimer_request request = make_request(seat, random, &next);
	int result;

	account->steps = READ_ONCE(clock_steps);
	torture_account_open(account, &request, next, seat->options.tick);
	request.user_data = (u64)account->use << USE_SHIFT |
			    (account - seat->accounts);
	result = hwtimer_client_schedule(seat->client, &request);
	if (!result) {
		torture_did(TORTURE_SCHEDULED);
		atomic64_inc(&seat->scheduled);
		torture_account_scheduled(account, request.id,
					  span_end(seat, &next, request.time),
					  seat_now(seat));
		return;
	}
	torture_account_refused(account);
	if (!refused(seat, result))
		torture_wrong(TORTURE_RESULT, "schedule returned %d", result);
}

/*
 * The new deadline of a periodic timer has another phase than the old one, so that one can
 * see which of the two an event has. One with a fixed delay is left alone, as its next
 * deadline may be anywhere.
 */
static u64 other_phase(const struct torture_account *account, u64 time)
{
	if (!account->interval)
		return time;
	return whole_phases(time) + (account->next.low + 1) % PHASES;
}

static void seat_reschedule(struct torture_seat *seat,
			    struct torture_account *account,
			    struct rnd_state *random)
{
	u64 time = random_delay(random), now = seat_now(seat);
	struct torture_span moved = { now + time, U64_MAX };
	u32 flags = 0;
	int result;

	if (account->fixed_delay)
		return;
	if (account->interval || seat_settable(seat) ||
	    torture_below(random, 2)) {
		flags = HWTIMER_ABSOLUTE;
		time = other_phase(account, now + time);
		moved = (struct torture_span){ time, time };
	}
	torture_account_move(account, moved);
	result = hwtimer_client_reschedule(seat->client, account->id, time,
					   flags);
	torture_account_moved(account, span_end(seat, &moved, time),
			      seat_now(seat), !result);
	if (!result)
		torture_did(TORTURE_RESCHEDULED);
	else if (result == -ENOENT)
		torture_account_ended(account, "reschedule said ENOENT", false);
	else if (result != -EALREADY && !refused(seat, result))
		torture_wrong(TORTURE_RESULT, "reschedule returned %d", result);
}

/* Waits for the callback of a timer that cancel has found to be running, or about to. */
static void seat_wait(struct torture_seat *seat,
		      struct torture_account *account)
{
	int result = hwtimer_client_cancel_sync(seat->client, account->id);

	if (result != -EALREADY && result != -ENOENT)
		torture_wrong(TORTURE_RESULT,
			      "cancel_sync after EALREADY returned %d", result);
	torture_account_ended(account, "cancel_sync after EALREADY", true);
}

static void seat_cancel(struct torture_seat *seat,
			struct torture_account *account, bool sync,
			bool in_callback)
{
	int result =
		sync ? hwtimer_client_cancel_sync(seat->client, account->id) :
		       hwtimer_client_cancel(seat->client, account->id);

	if (!result) {
		torture_did(TORTURE_CANCELLED);
		torture_account_cancelled(account);
	} else if (result == -ENOENT) {
		torture_account_ended(account, "cancel said ENOENT", false);
	} else if (result != -EALREADY) {
		torture_wrong(TORTURE_RESULT, "cancel returned %d", result);
	} else if (in_callback) {
		/* Callbacks of one client do not run at the same time. */
		torture_wrong(TORTURE_TOGETHER,
			      "timer %llx is called in another's callback",
			      account->id);
	} else if (sync) {
		torture_account_ended(account, "cancel_sync said EALREADY",
				      true);
	} else {
		seat_wait(seat, account);
	}
}

/* Does something to a timer whose account the caller holds. */
static void seat_do(struct torture_seat *seat, struct torture_account *account,
		    struct rnd_state *random, bool in_callback)
{
	if (torture_account_over(account)) {
		seat_schedule(seat, account, random);
		return;
	}
	switch (torture_below(random, 8)) {
	case 0:
	case 1:
		seat_reschedule(seat, account, random);
		break;
	case 2:
		seat_cancel(seat, account, false, in_callback);
		break;
	case 3:
		seat_cancel(seat, account, true, in_callback);
		break;
	}
}

static void seat_use_timer(struct torture_seat *seat, struct rnd_state *random,
			   bool in_callback)
{
	struct torture_account *account =
		&seat->accounts[torture_below(random, TORTURE_TIMERS)];

	/* In its own callback, a timer is neither over nor free for others. */
	if (!mutex_trylock(&account->user))
		return;
	if (!(in_callback && account->running))
		seat_do(seat, account, random, in_callback);
	mutex_unlock(&account->user);
}

/* Does something to a random timer of the client, if there is one. */
void torture_seat_use(struct torture_seat *seat, struct rnd_state *random)
{
	down_read(&seat->sitting);
	if (seat->client)
		seat_use_timer(seat, random, false);
	up_read(&seat->sitting);
}

/* ---- creating and ending clients ---- */

static void seat_returns(struct hwtimer_client *client,
			 const struct hwtimer_unprocessed *timer)
{
	struct torture_seat *seat = hwtimer_client_private(client);
	struct torture_account *account =
		&seat->accounts[timer->user_data % TORTURE_TIMERS];
	u64 due = torture_account_due(account);

	torture_did(TORTURE_RETURNED);
	if (torture_account_hand_back(account, timer->user_data >> USE_SHIFT,
				      timer))
		check_order(seat, due, 0, timer->id);
}

/* The counters balance, and say what we have counted. */
static void seat_balance(struct torture_seat *seat)
{
	u64 scheduled = atomic64_read(&seat->scheduled);
	u64 called = atomic64_read(&seat->called);
	struct hwtimer_stats stats;

	hwtimer_client_stats(seat->client, &stats);
	if (stats.scheduled != scheduled)
		torture_wrong(TORTURE_STATS, "seat %u: scheduled %llu of %llu",
			      seat->nr, stats.scheduled, scheduled);
	if (stats.delivered != called)
		torture_wrong(TORTURE_STATS, "seat %u: called %llu of %llu",
			      seat->nr, stats.delivered, called);
	if (stats.pending || stats.ready ||
	    stats.scheduled + stats.rearmed !=
		    stats.cancelled + stats.expired + stats.unprocessed ||
	    stats.expired != stats.delivered + stats.discarded)
		torture_wrong(TORTURE_STATS,
			      "the counters of seat %u do not balance",
			      seat->nr);
}

static void seat_destroy(struct torture_seat *seat)
{
	unsigned int i;
	int result;

	WRITE_ONCE(seat->stopping, true);
	result = hwtimer_client_stop(seat->client, seat_returns);
	if (result < 0)
		torture_wrong(TORTURE_RESULT, "stop returned %d", result);
	seat_balance(seat);
	result = hwtimer_client_destroy(seat->client);
	if (result)
		torture_wrong(TORTURE_RESULT, "destroy returned %d", result);
	if (atomic_read(&seat->inside))
		torture_wrong(TORTURE_RUNNING,
			      "seat %u is free, and its callback runs",
			      seat->nr);
	for (i = 0; i < TORTURE_TIMERS; i++)
		torture_account_close(&seat->accounts[i]);
	if (seat->queue)
		destroy_workqueue(seat->queue);
	seat->client = NULL;
	seat->queue = NULL;
	seat->stopping = false;
}

static void choose_options(struct torture_seat *seat, struct rnd_state *random)
{
	seat->options = (struct hwtimer_client_options){
		.expire = seat_expire,
		.private = seat,
		.workqueue = seat->queue,
		.tick = 10 * NSEC_PER_USEC << torture_below(random, 13),
		/* Room for events that were cancelled and wait for their turn */
		.timers = TORTURE_TIMERS * 4,
		.buckets = 8 << torture_below(random, 10),
		.kind = 1 + torture_below(random, 2),
		.clock = torture_below(random, 3),
	};
}

static void seat_create(struct torture_seat *seat, struct rnd_state *random)
{
	struct hwtimer_client *client;
	unsigned int i;

	if (torture_below(random, 2))
		seat->queue = alloc_workqueue("hwtimer_torture", WQ_UNBOUND, 0);
	choose_options(seat, random);
	for (i = 0; i < TORTURE_TIMERS; i++) {
		seat->accounts[i].armed = false;
		seat->accounts[i].running = false;
	}
	prandom_seed_state(&seat->random, prandom_u32_state(random));
	atomic_set(&seat->inside, 0);
	atomic64_set(&seat->called, 0);
	atomic64_set(&seat->scheduled, 0);
	seat->horizon = 0;
	seat->calm = 0;
	client = hwtimer_client_create(&seat->options);
	if (!IS_ERR(client)) {
		seat->client = client;
		torture_did(TORTURE_CREATED);
		return;
	}
	if (!refused(seat, PTR_ERR(client)))
		torture_wrong(TORTURE_RESULT, "create returned %ld",
			      PTR_ERR(client));
	if (seat->queue)
		destroy_workqueue(seat->queue);
	seat->queue = NULL;
}

/* Ends the client of a seat, if there is one, and creates another one. */
void torture_seat_replace(struct torture_seat *seat, struct rnd_state *random)
{
	down_write(&seat->sitting);
	if (seat->client)
		seat_destroy(seat);
	seat_create(seat, random);
	up_write(&seat->sitting);
}

/* Ends the client of a seat, for good. */
void torture_seat_clear(struct torture_seat *seat)
{
	down_write(&seat->sitting);
	if (seat->client)
		seat_destroy(seat);
	up_write(&seat->sitting);
}

void torture_seat_init(struct torture_seat *seat, unsigned int nr)
{
	unsigned int i;

	seat->nr = nr;
	init_rwsem(&seat->sitting);
	for (i = 0; i < TORTURE_TIMERS; i++)
		torture_account_init(&seat->accounts[i]);
}

/* ---- watching ---- */

/* Whether a timer is due for a second or more */
static bool seat_overdue(struct torture_seat *seat)
{
	u64 now = seat_now(seat);
	unsigned int i;

	for (i = 0; i < TORTURE_TIMERS; i++) {
		u64 due = torture_account_due(&seat->accounts[i]);

		if (due < now && now - due > NSEC_PER_SEC)
			return true;
	}
	return false;
}

/*
 * Called by the clerk each time that it has slept. A machine that stands still, or has no
 * time for hwtimer's worker, has none for the clerk either. So not time counts, but how
 * often the clerk woke up while the worker ought to have done so.
 */
void torture_seat_watch(struct torture_seat *seat)
{
	u64 called = atomic64_read(&seat->called);

	if (!down_read_trylock(&seat->sitting))
		return;
	if (!seat->client || called != seat->calm_called ||
	    !seat_overdue(seat)) {
		seat->calm_called = called;
		seat->calm = 0;
	} else if (++seat->calm == CALM_MAX) {
		torture_wrong(TORTURE_STALLED,
			      "seat %u: timers are due, and none is called",
			      seat->nr);
	}
	up_read(&seat->sitting);
}
