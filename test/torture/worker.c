// SPDX-License-Identifier: GPL-2.0
/*
 * A worker; see worker.h.
 *
 * A worker may be killed at any instruction. The next one goes on with the accounts if
 * seat->updating was false: then the worker was in a system call, or about to make one.
 * All memory of calls is in the seat, so what the kernel has done can be seen there: a
 * result is NO_RESULT before the call, the id of an event is 0. Only the result of a single
 * CANCEL or RESCHEDULE is lost with the process; LIST tells it.
 */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "hoard.h"

/* What is due is late if the worker slept and woke up in so many tenths of a second. */
#define CALM_MAX 100
#define BEAT (100 * MS)

/* The same for what hwtimer does each second */
#define UNTOLD_MAX 50

/* Rounds for which a worker only waits for events, and one round in how many begins them */
#define QUIET_MAX 300
#define QUIET_ONE_IN 400

/* Longest time for which read() waits for an event: usually, and where none is due */
#define READ_MAX (100 * MS)
#define READ_IDLE_MAX (5 * SEC)

/* Periodic deadlines and intervals are multiples of it, see other_phase(). */
#define PHASES 64

/* Rounds of a worker after which its instance ends */
#define ROUNDS_MAX 3000

/* Calls after which a new instance gets no more memory, and rounds for which it does not */
#define STARVE_AFTER_MAX 4
#define STARVE_MAX 200

/* Maximum number of calls, with a pause after each that fails, until something is done */
#define TRIES_MAX 100000

static struct hwt *hwt;

static void begin_update(struct seat *seat)
{
	atomic_store(&seat->updating, true);
}

static void end_update(struct seat *seat)
{
	atomic_store(&seat->updating, false);
}

/* ---- what to ask for ---- */

static __u64 random_delay(struct rng *rng)
{
	if (rng_one_in(rng, 64))
		return HWTIMER_NEVER;
	return rng_time(rng, rng_below(rng, 8) ? 28 : 46);
}

static __u64 whole_phases(__u64 time)
{
	return time < PHASES ? PHASES : time / PHASES * PHASES;
}

/**
 * struct wish - which operations a call can do
 * @what: the only operation; 0: any
 * @plain: no interval and no slack
 * @absolute: -1: no matter; 0: delays; 1: deadlines
 * @discard: -1: no matter; otherwise whether CANCEL discards
 */
struct wish {
	__u32 what;
	bool plain;
	int absolute;
	int discard;
};

static bool choose_absolute(struct seat *seat, const struct wish *wish)
{
	if (wish->absolute >= 0)
		return wish->absolute;
	return seat_settable(seat) || rng_below(&seat->rng, 2);
}

static void ask_time(struct seat *seat, const struct wish *wish, struct op *op,
		     struct hwtimer_request *request)
{
	__u64 now = seat_now(seat);

	op->delay = random_delay(&seat->rng);
	request->time = op->delay;
	op->span = (struct span){ deadline_after(now, op->delay), OPEN_END };
	if (choose_absolute(seat, wish)) {
		request->flags |= HWTIMER_REQ_ABSTIME;
		request->time = op->span.low;
		op->span = (struct span){ request->time, request->time };
	}
}

static void ask_period(struct seat *seat, struct op *op,
		       struct hwtimer_request *request)
{
	__u64 interval = rng_time(&seat->rng, 29);

	/* Now and then, it may be shorter than a tick. */
	if (rng_below(&seat->rng, 4))
		interval += 4 * MS + 2 * seat->tick;
	request->flags = HWTIMER_REQ_ABSTIME;
	request->time = whole_phases(op->span.low);
	request->interval = whole_phases(interval);
	request->expirations_max = rng_below(&seat->rng, 5);
	if (!seat_settable(seat) && rng_one_in(&seat->rng, 4))
		request->flags |= HWTIMER_REQ_FIXED_DELAY;
	op->span = (struct span){ request->time, request->time };
}

static void ask_schedule(struct seat *seat, const struct wish *wish,
			 struct op *op, struct hwtimer_request *request)
{
	ask_time(seat, wish, op, request);
	if (wish->plain)
		return;
	if (rng_one_in(&seat->rng, 4))
		ask_period(seat, op, request);
	else if (rng_one_in(&seat->rng, 4))
		request->slack = random_delay(&seat->rng);
}

/*
 * The new deadline of a periodic timer has another phase than the old one, so that one can
 * see which of the two an event has. One with a fixed delay is left alone, as its next
 * deadline may be anywhere. Returns whether the timer can be rescheduled.
 */
static bool other_phase(const struct account *account, struct op *op,
			struct hwtimer_request *request)
{
	if (!account->interval)
		return true;
	if (account->fixed_delay || !(request->flags & HWTIMER_REQ_ABSTIME))
		return false;
	request->time =
		whole_phases(request->time) + (account->next.low + 1) % PHASES;
	op->span = (struct span){ request->time, request->time };
	return true;
}

/* What to do with a timer that the kernel has; 0: leave it alone */
static __u32 choose_op(struct seat *seat, const struct wish *wish)
{
	if (wish->what)
		return wish->what == HWTIMER_OP_SCHEDULE ? 0 : wish->what;
	switch (rng_below(&seat->rng, 6)) {
	case 0:
		return HWTIMER_OP_CANCEL;
	case 1:
	case 2:
		return HWTIMER_OP_RESCHEDULE;
	}
	return 0;
}

static bool ask_change(struct seat *seat, const struct wish *wish,
		       struct op *op, struct hwtimer_request *request)
{
	struct account *account = &seat->timers[op->timer];

	if (!account->armed || account->last)
		return false;
	op->what = choose_op(seat, wish);
	request->id = account->id;
	if (op->what == HWTIMER_OP_CANCEL) {
		op->discard = wish->discard >= 0 ? wish->discard > 0 :
						   rng_below(&seat->rng, 2) > 0;
		request->flags = op->discard ? HWTIMER_REQ_DISCARD : 0;
		return true;
	}
	if (op->what != HWTIMER_OP_RESCHEDULE)
		return false;
	ask_time(seat, wish, op, request);
	return other_phase(account, op, request);
}

/*
 * Chooses an operation on a random timer, and begins its account. Returns false if there is
 * nothing to do for this timer.
 */
static bool ask(struct seat *seat, const struct wish *wish, struct op *op,
		struct hwtimer_request *request)
{
	struct account *account;

	*op = (struct op){ .timer = rng_below(&seat->rng, TIMERS) };
	*request = (struct hwtimer_request){ 0 };
	account = &seat->timers[op->timer];
	/* Its last event may wait. */
	if (account->busy || account->returned)
		return false;
	if (!account->armed) {
		if (wish->what && wish->what != HWTIMER_OP_SCHEDULE)
			return false;
		op->what = HWTIMER_OP_SCHEDULE;
		ask_schedule(seat, wish, op, request);
	} else if (!ask_change(seat, wish, op, request)) {
		return false;
	}
	account_begin(seat, op, request);
	request->op = op->what;
	if (op->what == HWTIMER_OP_SCHEDULE)
		request->user_data = account_user_data(seat, op->timer);
	request->result = NO_REQUEST_RESULT;
	return true;
}

/* Fills seat->ops and seat->requests with up to @most operations. */
static void ask_many(struct seat *seat, const struct wish *wish,
		     unsigned int most)
{
	seat->count = 0;
	for (unsigned int i = 0; i < most; i++) {
		if (ask(seat, wish, &seat->ops[seat->count],
			&seat->requests[seat->count]))
			seat->count++;
	}
}

/* ---- calls with many operations ---- */

static void finish_submit(struct seat *seat)
{
	for (unsigned int i = 0; i < seat->count; i++) {
		const struct hwtimer_request *request = &seat->requests[i];

		if (request->result == NO_REQUEST_RESULT)
			account_skip(seat, &seat->ops[i]);
		else
			account_finish(seat, &seat->ops[i], request->id,
				       request->result);
	}
	seat->call = CALL_NONE;
}

/* @what: the only operation; 0: any */
static void submit(struct seat *seat, __u32 what)
{
	const struct wish wish = { .what = what,
				   .absolute = -1,
				   .discard = -1 };

	begin_update(seat);
	ask_many(seat, &wish, 1 + rng_below(&seat->rng, BATCH));
	seat->call = CALL_SUBMIT;
	end_update(seat);
	hwt_submit(hwt, seat->requests, seat->count);
	begin_update(seat);
	finish_submit(seat);
	end_update(seat);
}

static void finish_bulk(struct seat *seat)
{
	for (unsigned int i = 0; i < seat->count; i++) {
		const struct op *op = &seat->ops[i];
		__u64 result = seat->results[i];

		if (result == NO_RESULT)
			account_skip(seat, op);
		else if (op->what == HWTIMER_OP_SCHEDULE)
			account_finish(seat, op, result, hwt_error(result));
		else
			account_finish(seat, op, 0, result);
	}
	seat->call = CALL_NONE;
}

static void fill_bulk(struct seat *seat)
{
	for (unsigned int i = 0; i < seat->count; i++) {
		const struct hwtimer_request *request = &seat->requests[i];

		seat->results[i] = NO_RESULT;
		seat->ids[i] = request->id;
		seat->bulk[i].time = request->time;
		if (request->op == HWTIMER_OP_SCHEDULE)
			seat->bulk[i].user_data = request->user_data;
		else
			seat->bulk[i].id = request->id;
	}
}

static void call_bulk(struct seat *seat, const struct wish *wish)
{
	unsigned int flags = wish->absolute ? HWTIMER_REQ_ABSTIME : 0;

	if (wish->what == HWTIMER_OP_SCHEDULE)
		hwt_schedule_many(hwt, flags, seat->bulk, seat->results,
				  seat->count);
	else if (wish->what == HWTIMER_OP_RESCHEDULE)
		hwt_reschedule_many(hwt, flags, seat->bulk, seat->results,
				    seat->count);
	else
		hwt_cancel_many(hwt, wish->discard ? HWTIMER_REQ_DISCARD : 0,
				seat->ids, seat->results, seat->count);
}

static void bulk(struct seat *seat)
{
	struct wish wish = { .plain = true };

	begin_update(seat);
	wish.what = HWTIMER_OP_SCHEDULE + rng_below(&seat->rng, 3);
	wish.absolute = choose_absolute(seat, &(struct wish){ .absolute = -1 });
	wish.discard = rng_below(&seat->rng, 2);
	ask_many(seat, &wish, BATCH);
	fill_bulk(seat);
	seat->call = CALL_BULK;
	end_update(seat);
	if (seat->count)
		call_bulk(seat, &wish);
	begin_update(seat);
	finish_bulk(seat);
	end_update(seat);
}

/* ---- calls with one operation ---- */

static int call_single(struct seat *seat)
{
	struct hwtimer_request *request = &seat->requests[0];
	bool absolute = request->flags & HWTIMER_REQ_ABSTIME;

	switch (request->op) {
	case HWTIMER_OP_SCHEDULE:
		request->result = 0;
		return hwt_schedule_request(hwt, request);
	case HWTIMER_OP_CANCEL:
		return seat->ops[0].discard ? hwt_discard(hwt, request->id) :
					      hwt_cancel(hwt, request->id);
	default:
		return absolute ?
			       hwt_reschedule_at(hwt, request->id,
						 request->time) :
			       hwt_reschedule(hwt, request->id, request->time);
	}
}

static void single(struct seat *seat)
{
	const struct wish any = { .absolute = -1, .discard = -1 };
	int result = 0;

	begin_update(seat);
	ask_many(seat, &any, 1);
	seat->call = CALL_SINGLE;
	end_update(seat);
	if (seat->count)
		result = call_single(seat);
	begin_update(seat);
	if (seat->count)
		account_finish(seat, &seat->ops[0], seat->requests[0].id,
			       result);
	seat->call = CALL_NONE;
	end_update(seat);
}

/* ---- events ---- */

static void take_events(struct seat *seat)
{
	__u64 now = seat_now(seat);

	for (unsigned int i = 0; i < EVENTS && seat->events[i].id; i++)
		account_event(seat, &seat->events[i], now);
	seat->call = CALL_NONE;
}

/* From now on, only a set that begins later counts. One under way may have been noticed. */
static void watch_sets(struct watch *watch)
{
	watch->beats = 0;
	watch->since = atomic_load(&board->sets_begun);
}

static void take_report(struct seat *seat)
{
	unsigned int begun = atomic_load(&board->sets_begun);

	did(REPORTS);
	watch_sets(&seat->report);
	/*
	 * Between two reports, the clock was set at least once. When the instance was set
	 * up, a set may have been under way, and a suspend.
	 */
	if (!seat->reports || ++seat->reported > begun - seat->sets + 2)
		wrong(REPORT, "report %u on seat %u after %u sets",
		      seat->reported, seat->nr, begun - seat->sets);
}

/* Whether a call may fail with @error although nothing is wrong */
static bool passing(int error)
{
	return error == -EAGAIN || error == -EINTR || error == -ENOMEM;
}

/*
 * Reads events in vain: a rewind makes them come again. If the worker is killed meanwhile, the
 * next one calls it. Leaves the events in @peeked.
 */
static void peek(struct seat *seat, struct hwtimer_event *peeked)
{
	int err;

	memset(peeked, 0, EVENTS * sizeof(*peeked));
	hwt_read(hwt, peeked, 1 + rng_below(&seat->rng, EVENTS));
	err = hwt_rewind(hwt);
	if (err)
		wrong(RESULT, "the rewind on seat %u: %s", seat->nr,
		      strerror(-err));
}

/* The events that came were those that had been read in vain before. */
static void check_peeked(const struct seat *seat,
			 const struct hwtimer_event *peeked)
{
	for (unsigned int i = 0;
	     i < EVENTS && peeked[i].id && seat->events[i].id; i++)
		if (peeked[i].id != seat->events[i].id)
			wrong(ORDER, "timer %llx of seat %u came after %llx",
			      peeked[i].id, seat->nr, seat->events[i].id);
}

/* All that was read is acknowledged before anything else is done. */
static void acknowledge(struct seat *seat, unsigned int count)
{
	int result = hwt_ack(hwt, count);

	if (result != (int)count)
		wrong(RESULT, "ACK of %u on seat %u: %d", count, seat->nr,
		      result);
}

/* Reads up to @most events; returns what hwt_read() returned. */
static int read_events(struct seat *seat, unsigned int most)
{
	struct hwtimer_event peeked[EVENTS] = { 0 };
	int result;

	/* It might take a report. */
	if (seat->keeps && !seat->reports && rng_one_in(&seat->rng, 4) &&
	    fcntl(hwt_fd(hwt), F_GETFL) & O_NONBLOCK)
		peek(seat, peeked);
	begin_update(seat);
	memset(seat->events, 0, sizeof(seat->events));
	seat->call = CALL_READ;
	end_update(seat);
	result = hwt_read(hwt, seat->events, most);
	if (seat->keeps && result > 0) {
		check_peeked(seat, peeked);
		acknowledge(seat, result);
	}
	begin_update(seat);
	take_events(seat);
	if (result == -ECANCELED)
		take_report(seat);
	else if (result < 0 && !passing(result) &&
		 !(result == -ENOTCONN && seat->stopping))
		wrong(RESULT, "read() on seat %u: %s", seat->nr,
		      strerror(-result));
	end_update(seat);
	return result;
}

/* ---- audits ---- */

/* Has LIST show all timers; returns whether it has shown them all. */
static bool list_all(struct seat *seat)
{
	static struct hwtimer_timer page[128];
	uint64_t cursor = 0;
	int count;

	for (int i = 0; i < TIMERS; i++)
		seat->timers[i].listed = 0;
	do {
		count = hwt_list(hwt, &cursor, page, 128);
		for (int i = 0; i < count; i++) {
			if (page[i].user_data != PARKED)
				account_list(seat, &page[i]);
		}
	} while (count > 0 || count == -EINTR);
	if (count && count != -ENOMEM)
		wrong(RESULT, "LIST on seat %u: %s", seat->nr,
		      strerror(-count));
	return !count;
}

/* Of all timers, those that LIST has shown. The others have ended. */
static void find_missing(struct seat *seat)
{
	for (int i = 0; i < TIMERS; i++) {
		struct account *account = &seat->timers[i];

		if (!account->armed || account->listed)
			continue;
		account->armed = false;
		wrong(LOST, "the kernel does not have timer %llx of seat %u",
		      account->id, seat->nr);
	}
}

/* A worker makes no other call while LIST runs. */
static void audit(struct seat *seat)
{
	bool whole = list_all(seat);

	begin_update(seat);
	if (whole)
		find_missing(seat);
	end_update(seat);
	did(AUDITS);
}

/* The counters balance, and say what this seat has counted. */
static void check_stats(struct seat *seat)
{
	struct hwtimer_stats stats;

	if (hwt_stats(hwt, &stats))
		return;
	if (stats.scheduled + stats.rearmed !=
		    stats.pending + stats.cancelled + stats.expired ||
	    stats.expired != stats.ready + stats.delivered + stats.discarded)
		wrong(STATS, "the counters of seat %u do not balance",
		      seat->nr);
	if (seat->exact && (stats.scheduled != seat->scheduled ||
			    stats.delivered != seat->taken))
		wrong(STATS,
		      "seat %u: %llu of %llu scheduled, %llu of %llu delivered",
		      seat->nr, stats.scheduled, seat->scheduled,
		      stats.delivered, seat->taken);
}

/* ---- beats ---- */

static bool overdue(const struct seat *seat)
{
	__u64 now = seat_now(seat);

	for (int i = 0; i < TIMERS; i++) {
		const struct account *account = &seat->timers[i];
		__u64 due = account->next.high;

		if (account->armed && !account->busy && !account->moving &&
		    due < OPEN_END - account->patience - SEC &&
		    due + account->patience + SEC < now)
			return true;
	}
	return false;
}

/*
 * Not time counts, but how often this process woke up while the kernel's worker ought to
 * have done so.
 */
static void check_stall(struct seat *seat)
{
	if (seat->taken != seat->calm_events || !overdue(seat)) {
		seat->calm_events = seat->taken;
		seat->calm = 0;
	} else if (++seat->calm == CALM_MAX) {
		wrong(STALLED, "seat %u: timers are due, and no event comes",
		      seat->nr);
	}
}

/* Counts a beat if the clock was set and that has not led to something. */
static void watch_beat(const struct seat *seat, struct watch *watch,
		       const char *what)
{
	if (atomic_load(&board->sets_done) <= watch->since)
		watch->beats = 0;
	else if (++watch->beats == UNTOLD_MAX)
		wrong(REPORT, "seat %u %s that the clock was set", seat->nr,
		      what);
}

static void check_report(struct seat *seat)
{
	struct hwtimer_stats stats;

	if (!seat->reports || hwt_stats(hwt, &stats))
		return;
	if (stats.clock_sets != seat->noticed)
		watch_sets(&seat->notice);
	seat->noticed = stats.clock_sets;
	watch_beat(seat, &seat->notice, "has not noticed");
	watch_beat(seat, &seat->report, "was not told");
}

static void beat(struct seat *seat)
{
	__u64 now = clock_ns(CLOCK_MONOTONIC);

	if (now < seat->beat + BEAT)
		return;
	begin_update(seat);
	seat->beat = now;
	check_stall(seat);
	check_report(seat);
	end_update(seat);
}

/* ---- the beginning and the end of an instance ---- */

static void choose_setup(struct seat *seat, struct hwtimer_setup *setup)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME,
					    CLOCK_REALTIME, CLOCK_TAI };
	struct rng *rng = &seat->rng;

	seat->clock = clocks[rng_below(rng, seat->mild ? 2 : 4)];
	seat->tick = 10 * US << rng_below(rng, 13);
	seat->reports = seat_settable(seat) && rng_below(rng, 4);
	seat->keeps = rng_one_in(rng, 3);
	*setup = (struct hwtimer_setup){
		.flags = (seat->reports ? HWTIMER_SETUP_REPORT_CLOCK_SET : 0) |
			 (seat->keeps ? HWTIMER_SETUP_AT_LEAST_ONCE : 0),
		.tick = seat->tick,
		.buckets = 8 << rng_below(rng, 10),
		.clock = HWTIMER_CLOCK(seat->clock),
		.timers = TIMERS * 4,
	};
}

static int open_instance(struct seat *seat)
{
	if (seat->fd >= 0)
		return hwt_from_fd(&hwt, dup(seat->fd), HWT_NONBLOCK);
	return hwt_open(&hwt, HWT_NONBLOCK);
}

/*
 * A timer that never expires: setting the clock always matters, and the instance has its
 * wheel.
 */
static bool park(void)
{
	struct hwtimer_request request = {
		.flags = HWTIMER_REQ_ABSTIME,
		.time = HWTIMER_NEVER,
		.user_data = PARKED,
	};

	return !hwt_schedule_request(hwt, &request);
}

/* Sets up a new instance; returns whether it is ready. */
static bool set_up(struct seat *seat)
{
	struct hwtimer_setup setup;

	choose_setup(seat, &setup);
	if (hwt_setup(hwt, &setup))
		return false;
	seat->sets = atomic_load(&board->sets_begun);
	watch_sets(&seat->report);
	watch_sets(&seat->notice);
	/* A hoard takes only what the worker's own user may have. */
	if (!seat->alien && !seat->mild && rng_below(&seat->rng, 2))
		seat->starving = rng_below(&seat->rng, STARVE_MAX);
	if ((seat->reports || seat->starving) && !park())
		return false;
	if (seat->reports || seat->starving)
		seat->scheduled++;
	seat->exact = true;
	atomic_store(&seat->ready, true);
	did(STARTED);
	return true;
}

static void finish_cancel_all(struct seat *seat)
{
	for (unsigned int i = 0; i < EVENTS && seat->returned[i].id; i++) {
		if (seat->returned[i].user_data != PARKED)
			account_hand_back(seat, &seat->returned[i]);
	}
	seat->call = CALL_NONE;
}

/* One call of a CANCEL_ALL; returns its result or a negative errno. */
static int cancel_all(struct seat *seat, struct hwtimer_list *list)
{
	int count;

	begin_update(seat);
	memset(seat->returned, 0, sizeof(seat->returned));
	seat->stopping |= list->flags & HWTIMER_LIST_STOP;
	seat->call = CALL_CANCEL_ALL;
	end_update(seat);
	count = ioctl(hwt_fd(hwt), HWTIMER_IOC_CANCEL_ALL, list);
	if (count < 0)
		count = -errno;
	begin_update(seat);
	finish_cancel_all(seat);
	end_update(seat);
	return count;
}

static void take_back(struct seat *seat, unsigned int flags)
{
	struct hwtimer_list list = {
		.timers = (uintptr_t)seat->returned,
		.count = EVENTS,
		.flags = flags,
	};
	int count;

	do {
		count = cancel_all(seat, &list);
	} while (count > 0 || passing(count));
	if (count)
		wrong(RESULT, "CANCEL_ALL on seat %u: %s", seat->nr,
		      strerror(-count));
}

/* Ends all timers, and takes their last events. Each timer must have ended in one way. */
static void end_all(struct seat *seat, unsigned int flags)
{
	int result;

	take_back(seat, flags);
	do {
		result = read_events(seat, EVENTS);
	} while (result > 0 || result == -ECANCELED || result == -EINTR ||
		 result == -ENOMEM || (result == -EAGAIN && seat->stopping));
	begin_update(seat);
	for (int i = 0; i < TIMERS; i++)
		seat->timers[i].listed = 0;
	find_missing(seat);
	for (int i = 0; i < TIMERS; i++)
		seat->timers[i].returned = false;
	end_update(seat);
	check_stats(seat);
}

/* Stops the instance. */
static void retire(struct seat *seat)
{
	end_all(seat, HWTIMER_LIST_STOP);
	did(RETIRED);
	atomic_store(&seat->done, true);
}

/* ---- going on where another worker was killed ---- */

/*
 * Does a single operation again. It must be done, even if there is no memory for a moment:
 * otherwise nothing would say whether it was done before.
 */
static int call_again(struct seat *seat)
{
	int result;

	for (int i = 0; i < TRIES_MAX; i++) {
		result = call_single(seat);
		if (!passing(result))
			break;
		sleep_ns(MS);
	}
	return result;
}

/*
 * A single CANCEL or RESCHEDULE may have been done or not. It is done again: if it had
 * been done, the result shows that, or the timer's deadline does.
 */
static void resolve_single(struct seat *seat)
{
	struct op *op = &seat->ops[0];
	struct hwtimer_timer query = { .id = seat->requests[0].id };
	int result;

	if (op->what == HWTIMER_OP_SCHEDULE) {
		if (query.id)
			account_finish(seat, op, query.id, 0);
		else
			account_skip(seat, op);
		return;
	}
	result = call_again(seat);
	if (op->what == HWTIMER_OP_CANCEL && result == -ENOENT)
		result = 0;
	if (op->what == HWTIMER_OP_RESCHEDULE && result == -EALREADY &&
	    !hwt_query(hwt, &query) && query.deadline >= op->span.low &&
	    query.deadline <= op->span.high)
		result = 0;
	account_finish(seat, op, 0, result);
}

static void resolve(struct seat *seat)
{
	begin_update(seat);
	if (seat->call != CALL_NONE)
		did(IN_FLIGHT);
	switch (seat->call) {
	case CALL_SUBMIT:
		finish_submit(seat);
		break;
	case CALL_BULK:
		finish_bulk(seat);
		break;
	case CALL_SINGLE:
		if (seat->count)
			resolve_single(seat);
		break;
	case CALL_READ:
		take_events(seat);
		/* A report may have been lost with the process. */
		watch_sets(&seat->report);
		break;
	case CALL_CANCEL_ALL:
		finish_cancel_all(seat);
		break;
	case CALL_NONE:
		break;
	}
	seat->call = CALL_NONE;
	seat->beat = clock_ns(CLOCK_MONOTONIC);
	end_update(seat);
}

/*
 * The events of a read() that is not accounted for are in seat->events: they are acknowledged
 * now, if they were not. Others can only have been read in vain.
 */
static void resolve_unacknowledged(struct seat *seat)
{
	if (seat->call != CALL_READ || !seat->events[0].id) {
		hwt_rewind(hwt);
		return;
	}
	while (hwt_ack(hwt, 1) == 1)
		;
}

static void inherit(struct seat *seat)
{
	did(INHERITED);
	seat->exact = false;
	if (seat->keeps)
		resolve_unacknowledged(seat);
	resolve(seat);
	audit(seat);
}

/* ---- the life of a worker ---- */

static void operate(struct seat *seat)
{
	switch (rng_below(&seat->rng, 4)) {
	case 0:
		submit(seat, 0);
		break;
	case 1:
		bulk(seat);
		break;
	default:
		single(seat);
	}
}

/* Reads as a program does that waits for its events: sleeps in the kernel, up to @most ns. */
static void read_blocking(struct seat *seat, __u64 most)
{
	const struct timeval time = { most / SEC, most % SEC / US };
	const struct itimerval limit = { time, time };
	int flags = fcntl(hwt_fd(hwt), F_GETFL);

	fcntl(hwt_fd(hwt), F_SETFL, flags & ~O_NONBLOCK);
	setitimer(ITIMER_REAL, &limit, NULL);
	read_events(seat, 1 + rng_below(&seat->rng, EVENTS));
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	fcntl(hwt_fd(hwt), F_SETFL, flags | O_NONBLOCK);
}

/* Sleeps for a random time, or until an event comes. */
static void wait_a_moment(struct seat *seat)
{
	struct pollfd pfd = { .fd = hwt_fd(hwt), .events = POLLIN };

	if (rng_one_in(&seat->rng, 4)) {
		read_blocking(seat, READ_MAX);
		return;
	}
	if (rng_below(&seat->rng, 4))
		poll(&pfd, 1,
		     rng_below(&seat->rng, 8) ? (int)rng_below(&seat->rng, 10) :
						100);
	read_events(seat, 1 + rng_below(&seat->rng, EVENTS));
}

/*
 * Calls of a program tell the kernel's worker to look, so one that has missed something
 * finds it then. So sometimes this process only waits. Returns whether it does.
 */
static bool is_quiet(struct seat *seat)
{
	if (!seat->quiet && rng_one_in(&seat->rng, QUIET_ONE_IN))
		seat->quiet = rng_below(&seat->rng, QUIET_MAX);
	if (!seat->quiet)
		return false;
	if (!seat->calm)
		seat->quiet--;
	return true;
}

/* Whether something is due, and has not been for so long that it is wrong */
static bool in_suspense(const struct seat *seat)
{
	return seat->calm && seat->calm < CALM_MAX;
}

static void do_something(struct seat *seat)
{
	if (!is_quiet(seat))
		operate(seat);
}

/*
 * After its first rounds, an instance gets no more memory for some time; nor does another one
 * of the same user. If the worker is killed, the next one goes on with that.
 */
static void starve(struct seat *seat)
{
	if (!seat->starving)
		return;
	for (int i = rng_below(&seat->rng, STARVE_AFTER_MAX); i > 0; i--)
		operate(seat);
	hoard_take();
	while (seat->starving && !seat->stopping &&
	       !atomic_load(&board->over)) {
		seat->starving--;
		/* Each change of a deadline needs an entry, so it soon finds no memory. */
		submit(seat, HWTIMER_OP_RESCHEDULE);
		operate(seat);
		wait_a_moment(seat);
		hoard_more();
	}
	hoard_release();
}

static void live(struct seat *seat)
{
	int rounds = rng_below(&seat->rng, ROUNDS_MAX);

	while ((rounds-- > 0 || in_suspense(seat)) && !seat->stopping &&
	       !atomic_load(&board->over)) {
		beat(seat);
		do_something(seat);
		wait_a_moment(seat);
		if (rng_one_in(&seat->rng, 50))
			audit(seat);
		if (rng_one_in(&seat->rng, 50))
			check_stats(seat);
		if (!seat->reports && rng_one_in(&seat->rng, 200))
			end_all(seat, 0);
	}
}

/* Some instances begin with a reader for whom nothing is due. */
static void begin(struct seat *seat)
{
	if (!seat->starving && rng_one_in(&seat->rng, 8))
		read_blocking(seat, READ_IDLE_MAX);
}

/* A worker that goes on with an instance may at first only wait for its events. */
static void go_on(struct seat *seat)
{
	if (!seat->quiet && !seat->starving && rng_one_in(&seat->rng, 3))
		seat->quiet = rng_below(&seat->rng, QUIET_MAX);
}

/**
 * worker_reset - forget the instance of a seat
 * @seat: the seat
 *
 * The numbers of uses go on, so that events of an older instance would be seen.
 */
void worker_reset(struct seat *seat)
{
	*seat = (struct seat){ .nr = seat->nr,
			       .life = seat->life + 1,
			       .fd = -1 };
	seat->rng.state = board->seed ^ ((__u64)seat->nr << 32) ^ seat->life;
	for (int i = 0; i < TIMERS; i++)
		seat->timers[i].use = seat->life << 16;
}

/* The signal of setitimer() only interrupts read(). */
static void ignore(int signal)
{
	(void)signal;
}

static void work(struct seat *seat)
{
	if (!atomic_load(&seat->ready)) {
		if (!set_up(seat))
			return;
		begin(seat);
	} else {
		inherit(seat);
		go_on(seat);
	}
	starve(seat);
	live(seat);
	retire(seat);
}

/**
 * worker_run - the life of a worker
 * @seat: its seat
 *
 * Returns when the instance has ended, when the run is over, or when something could not
 * be done: then another worker tries again.
 */
void worker_run(struct seat *seat)
{
	int result = open_instance(seat);

	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = ignore }, NULL);
	if (!result) {
		work(seat);
		hwt_close(hwt);
	} else if (!passing(result)) {
		wrong(RESULT, "open() on seat %u: %s", seat->nr,
		      strerror(-result));
	}
}
