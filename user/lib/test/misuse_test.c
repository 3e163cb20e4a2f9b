// SPDX-License-Identifier: MIT
/*
 * Tests what a program may do that knows only the names of the functions: calls in callbacks and
 * in an unusual order, an end in the middle of all, and no memory. Built with sanitizers and run
 * by test/vm/userland.sh: see module.h.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libhwtimer.h>

#include "check.h"
#include "memory.h"
#include "module.h"

#define SECOND 1000000000LL

/* More than the library reads at a time, and than it allocates at a time */
#define N 600

/* Values of user_data of timers that are no objects */
#define OTHER 1000

static struct hwt *hwt;
static struct hwt_timer timers[N];

/* The number of callbacks, and those of each of @timers and of OTHER + i */
static unsigned int callbacks, calls_of[N], events_of[N];

/* What the next callback does, once; NULL: nothing */
static hwt_timer_callback action;

static void act(struct hwt_timer *timer)
{
	hwt_timer_callback now = action;

	action = NULL;
	if (now)
		now(timer);
}

static void on_timer(struct hwt_timer *timer)
{
	callbacks++;
	calls_of[timer - timers]++;
	act(timer);
}

/* The event stays as it is while it is handled. */
static void on_event(void *arg, const struct hwtimer_event *event)
{
	uint64_t user_data = event->user_data;

	CHECK(arg == &callbacks);
	CHECK(user_data >= OTHER && user_data < OTHER + N);
	callbacks++;
	events_of[user_data - OTHER]++;
	act(NULL);
	CHECK(event->user_data == user_data);
}

static void begin(unsigned int flags)
{
	unsigned int i;

	module_reset(1);
	callbacks = 0;
	memset(calls_of, 0, sizeof(calls_of));
	memset(events_of, 0, sizeof(events_of));
	CHECK(!hwt_open(&hwt, flags));
	for (i = 0; i < N; i++)
		hwt_timer_init(&timers[i], hwt, on_timer);
}

static int dispatch(unsigned int max)
{
	return hwt_dispatch(hwt, on_event, &callbacks, max);
}

/* Starts @n timers, @first to begin with, @delay from now. */
static void start(unsigned int first, unsigned int n, int64_t delay)
{
	unsigned int i;

	for (i = first; i < first + n; i++)
		CHECK(!hwt_timer_start(&timers[i], delay));
}

/* Starts a timer that is due before those that are started after it. */
static void start_first(int64_t interval, unsigned int flags)
{
	if (interval)
		CHECK(!hwt_timer_start_every(&timers[0], SECOND, interval,
					     flags));
	else
		start(0, 1, SECOND);
}

static void schedule(unsigned int n, int64_t delay)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		CHECK(!hwt_schedule_at(hwt, module.now + delay, OTHER + i,
				       NULL));
}

/* Tells the module what has changed, and has @delay pass. */
static void pass(int64_t delay)
{
	CHECK(!hwt_flush(hwt));
	module_set_clock(module.now + delay);
}

static void check_all_were_called(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		CHECK(calls_of[i] == 1);
}

/* ---- hwt_cancel_all() ---- */

static void check_inactive(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		CHECK(!hwt_timer_active(&timers[i]));
		CHECK(hwt_timer_deadline(&timers[i]) == HWTIMER_NEVER);
	}
}

/*
 * It ends timer objects as all other timers: those that have expired, that the module has and
 * has not, and that are sooner than it knows. They can be started again.
 */
static void cancel_all_ends_objects(unsigned int flags)
{
	begin(HWT_NONBLOCK);
	start(0, 100, TICK);
	start(100, 100, SECOND);
	start(200, 100, SECOND);
	CHECK(!hwt_timer_start_every(&timers[300], SECOND, SECOND, 0));
	CHECK(!hwt_timer_start_every(&timers[301], SECOND, SECOND,
				     HWTIMER_REQ_FIXED_DELAY));
	pass(2 * TICK);
	start(200, 100, SECOND / 2);
	start(302, 98, SECOND);
	CHECK(!hwt_cancel_all(hwt, flags, NULL));
	check_inactive(400);
	CHECK(!module.pending);
	pass(2 * SECOND);
	CHECK(dispatch(1000) == (flags ? -EAGAIN : 100));
	CHECK(!callbacks);
	/* An object that is active, but that the library does not serve, would take a store. */
	for (unsigned int i = 0; i < 300; i++)
		CHECK(!hwt_timer_again(&timers[i]));
	start(300, 100, SECOND);
	CHECK(hwt_timer_active(&timers[0]));
	CHECK(!hwt_flush(hwt));
	CHECK(module.pending == 400);
	pass(2 * SECOND);
	CHECK(dispatch(1000) == 400);
	CHECK(callbacks == 400);
	check_all_were_called(400);
	hwt_close(hwt);
}

/* What has been read, and not been handled yet, calls nothing either. */
static void cancels_all(struct hwt_timer *timer)
{
	(void)timer;
	CHECK(!hwt_cancel_all(hwt, HWTIMER_LIST_DISCARD, NULL));
	check_inactive(100);
}

static void cancel_all_in_a_callback(unsigned int flags)
{
	begin(HWT_NONBLOCK);
	CHECK(!hwt_timer_start_every(&timers[0], SECOND, SECOND, flags));
	start(1, 99, SECOND);
	pass(2 * SECOND);
	action = cancels_all;
	CHECK(dispatch(1000) == 100);
	CHECK(callbacks == 1 && calls_of[0] == 1);
	check_inactive(100);
	pass(2 * SECOND);
	CHECK(dispatch(1000) == -EAGAIN);
	CHECK(!hwt_timer_again(&timers[0]));
	pass(2 * SECOND);
	CHECK(dispatch(1000) == 1);
	CHECK(callbacks == 2 && calls_of[0] == 2);
	hwt_close(hwt);
}

/* Begins with @count objects that could not be started, so that their callbacks come anyway. */
static void begin_with_refused(unsigned int count)
{
	begin(HWT_NONBLOCK);
	module.no_memory = true;
	start(0, count, SECOND);
	CHECK(hwt_flush(hwt) == -ENOMEM);
	module_set_clock(module.now + SECOND);
}

static void cancel_all_of_what_is_refused(void)
{
	begin_with_refused(100);
	action = cancels_all;
	CHECK(dispatch(1000) == 1);
	CHECK(dispatch(1000) == -EAGAIN);
	CHECK(callbacks == 1);
	hwt_close(hwt);
}

static void cancel_all_that_fails_ends_nothing(void)
{
	begin(HWT_NONBLOCK);
	start(0, 10, SECOND);
	CHECK(hwt_cancel_all(hwt, 1U << 31, NULL) == -EINVAL);
	CHECK(hwt_timer_active(&timers[0]));
	pass(2 * SECOND);
	CHECK(dispatch(1000) == 10);
	check_all_were_called(10);
	hwt_close(hwt);
}

/* An instance that is stopped by it takes no object any more. */
static void cancel_all_that_stops(void)
{
	begin(HWT_NONBLOCK);
	start(0, 10, SECOND);
	CHECK(!hwt_flush(hwt));
	CHECK(!hwt_cancel_all(hwt, HWTIMER_LIST_STOP, NULL));
	check_inactive(10);
	CHECK(!module.pending);
	CHECK(dispatch(1000) == -ENOTCONN);
	start(0, 1, SECOND);
	CHECK(hwt_flush(hwt) == -ESHUTDOWN);
	hwt_close(hwt);
}

/* ---- calls in callbacks ---- */

static void closes(struct hwt_timer *timer)
{
	hwt_close(hwt);
	/* An object is plain memory now. */
	if (timer)
		memset(timer, 0xff, sizeof(*timer));
}

/* An end in a callback is the last one. */
static void close_in_a_callback(int64_t interval, unsigned int flags)
{
	begin(HWT_NONBLOCK);
	start_first(interval, flags);
	start(1, 300, SECOND);
	pass(2 * SECOND);
	action = closes;
	CHECK(dispatch(1000) == 1);
	CHECK(callbacks == 1 && calls_of[0] == 1);
}

static void close_in_a_callback_of_an_event(void)
{
	begin(HWT_NONBLOCK);
	schedule(N, 0);
	start(0, 1, 0);
	pass(TICK);
	action = closes;
	CHECK(dispatch(1000) == 1);
	CHECK(callbacks == 1);
}

static void close_in_a_callback_of_what_is_refused(void)
{
	begin_with_refused(100);
	action = closes;
	CHECK(dispatch(1000) == 1);
	CHECK(callbacks == 1);
}

/* The clock was set, too, but nothing is read any more. */
static void reports_and_closes(struct hwt_timer *timer)
{
	module.report = true;
	closes(timer);
}

static void close_in_a_callback_before_a_report(void)
{
	begin(HWT_NONBLOCK);
	start(0, 1, 0);
	pass(TICK);
	action = reports_and_closes;
	CHECK(dispatch(1000) == 1);
}

static void dispatches(struct hwt_timer *timer)
{
	(void)timer;
	CHECK(dispatch(1000) > 0);
}

static void dispatches_and_closes(struct hwt_timer *timer)
{
	action = closes;
	dispatches(timer);
	CHECK(callbacks == 2);
}

/* Two calls of hwt_dispatch() run when the second one's callback ends the instance. */
static void close_in_a_callback_in_a_callback(unsigned int flags)
{
	begin(HWT_NONBLOCK);
	start_first(5 * SECOND, flags);
	start(1, 300, SECOND);
	pass(2 * SECOND);
	action = dispatches_and_closes;
	CHECK(dispatch(1000) == 1);
	CHECK(callbacks == 2 && calls_of[0] == 1 && calls_of[1] == 1);
}

static void breaks(struct hwt_timer *timer)
{
	(void)timer;
	hwt_break(hwt);
}

/* A loop that a callback runs after it has ended the one around it */
static void breaks_and_dispatches(struct hwt_timer *timer)
{
	(void)timer;
	action = NULL;
	hwt_break(hwt);
	CHECK(dispatch(1000) == 9);
	CHECK(callbacks == 10);
	CHECK(hwt_wait_ms(hwt, -1) == -1);
}

static void dispatch_after_a_break(void)
{
	begin(HWT_NONBLOCK);
	start(0, 10, SECOND);
	pass(2 * SECOND);
	action = breaks_and_dispatches;
	CHECK(dispatch(1000) == 1);
	check_all_were_called(10);
	CHECK(dispatch(1000) == -EAGAIN);
	hwt_close(hwt);
}

static void dispatches_and_breaks(struct hwt_timer *timer)
{
	action = breaks;
	dispatches(timer);
	CHECK(callbacks == 2);
}

/* What is left after a break is told to the loop, and comes, in the order that it would have. */
static void break_in_a_callback(int64_t interval, unsigned int flags,
				hwt_timer_callback breaks_then)
{
	unsigned int at = breaks_then == breaks ? 1 : 2;

	begin(HWT_NONBLOCK);
	hwt_break(hwt);
	start_first(interval, flags);
	start(1, 299, SECOND);
	CHECK(!hwt_flush(hwt));
	schedule(300, SECOND);
	pass(2 * SECOND);
	action = breaks_then;
	CHECK(dispatch(1000) == 1);
	CHECK(callbacks == at && calls_of[0] == 1);
	CHECK(!hwt_wait_ms(hwt, -1));
	CHECK(dispatch(600 - at) == (int)(600 - at));
	CHECK(!hwt_wait_ms(hwt, -1));
	CHECK(dispatch(1000) == -EAGAIN);
	CHECK(hwt_wait_ms(hwt, -1) == -1);
	check_all_were_called(300);
	CHECK(hwt_timer_active(&timers[0]) == !!interval);
	hwt_close(hwt);
}

static void break_in_a_callback_of_what_is_refused(void)
{
	begin_with_refused(100);
	action = breaks;
	CHECK(dispatch(1000) == 1);
	CHECK(callbacks == 1);
	CHECK(dispatch(1000) == 99);
	check_all_were_called(100);
	hwt_close(hwt);
}

static unsigned int wrapped;

static void wrap(void *arg, struct hwt_timer *timer)
{
	CHECK(arg == &wrapped);
	wrapped++;
	timer->callback(timer);
}

static void wrapper_calls_callbacks(void)
{
	begin(HWT_NONBLOCK);
	hwt_wrap_callbacks(hwt, wrap, &wrapped);
	start_first(SECOND, 0);
	start(1, 1, SECOND);
	schedule(1, SECOND);
	pass(SECOND + TICK);
	CHECK(dispatch(1000) == 3);
	CHECK(wrapped == 2 && callbacks == 3);
	hwt_wrap_callbacks(hwt, NULL, NULL);
	pass(SECOND);
	CHECK(dispatch(1000) == 1);
	CHECK(wrapped == 2 && callbacks == 4);
	hwt_close(hwt);
}

/* A periodic timer is due again while its callback runs: the next one comes after that. */
static void waits_for_itself(struct hwt_timer *timer)
{
	pass(3 * SECOND);
	CHECK(dispatch(1000) == 1);
	CHECK(calls_of[0] == 1 && calls_of[1] == 1);
	CHECK(hwt_timer_active(timer));
}

static void dispatch_in_the_callback_of_what_is_due_again(void)
{
	begin(HWT_NONBLOCK);
	start_first(SECOND, 0);
	start(1, 1, 2 * SECOND);
	pass(SECOND + TICK);
	action = waits_for_itself;
	CHECK(dispatch(1000) == 1);
	pass(TICK);
	CHECK(dispatch(1000) == 1);
	CHECK(calls_of[0] == 2);
	CHECK(hwt_timer_expirations(&timers[0]) == 3);
	hwt_close(hwt);
}

/* It stops all timers, and the library gives back the memory that they had. */
static void stops_all(struct hwt_timer *timer)
{
	unsigned int i;

	(void)timer;
	for (i = 0; i < N; i++)
		hwt_timer_stop(&timers[i]);
	pass(0);
}

static void give_memory_back_in_a_callback(int64_t interval, unsigned int flags)
{
	long before;

	begin(HWT_NONBLOCK);
	start_first(interval, flags);
	start(1, N - 1, 2 * SECOND);
	pass(SECOND + TICK);
	before = allocated;
	action = stops_all;
	CHECK(dispatch(1000) == 1);
	CHECK(!hwt_flush(hwt));
	CHECK(allocated < before - 2 * N * (long)sizeof(void *));
	CHECK(!module.pending);
	start(0, N, 0);
	pass(TICK);
	CHECK(dispatch(1000) == N);
	hwt_close(hwt);
}

/* Each has one callback, whichever hwt_dispatch() calls it. */
static void dispatch_in_a_callback(int64_t interval, unsigned int flags)
{
	begin(HWT_NONBLOCK);
	start_first(interval, flags);
	start(1, N - 1, SECOND);
	CHECK(!hwt_flush(hwt));
	schedule(N, SECOND);
	pass(2 * SECOND);
	action = dispatches;
	CHECK(dispatch(1) == 1);
	while (dispatch(1000) > 0)
		;
	CHECK(callbacks == 2 * N);
	check_all_were_called(N);
	CHECK(hwt_timer_active(&timers[0]) == !!interval);
	pass(9 * SECOND);
	CHECK(dispatch(1000) == (interval ? 1 : -EAGAIN));
	CHECK(calls_of[0] == (interval ? 2 : 1));
	hwt_close(hwt);
}

/* Timers whose interval counts from the end of the callback go on, whatever else has one then. */
static void dispatch_between_fixed_delays(void)
{
	begin(HWT_NONBLOCK);
	start_first(5 * SECOND, HWTIMER_REQ_FIXED_DELAY);
	CHECK(!hwt_timer_start_every(&timers[1], SECOND, 5 * SECOND,
				     HWTIMER_REQ_FIXED_DELAY));
	pass(2 * SECOND);
	action = dispatches;
	CHECK(dispatch(1000) == 1);
	CHECK(callbacks == 2);
	CHECK(hwt_timer_deadline(&timers[0]) ==
	      (uint64_t)module.now + 5 * SECOND);
	pass(6 * SECOND);
	CHECK(dispatch(1000) == 2);
	CHECK(calls_of[0] == 2 && calls_of[1] == 2);
	hwt_close(hwt);
}

/* Many more events are read while the one that is handled has to stay. */
static void dispatch_in_a_callback_of_an_event(void)
{
	unsigned int i;

	begin(HWT_NONBLOCK);
	schedule(N, 0);
	module_set_clock(module.now + TICK);
	action = dispatches;
	CHECK(dispatch(N) == 1);
	CHECK(callbacks == N);
	for (i = 0; i < N; i++)
		CHECK(events_of[i] == 1);
	hwt_close(hwt);
}

static void takes_next(struct hwt_timer *timer)
{
	struct hwtimer_event event;

	(void)timer;
	while (hwt_next(hwt, &event) == 1)
		events_of[event.user_data - OTHER]++;
}

static void next_in_a_callback(void)
{
	unsigned int i;

	begin(HWT_NONBLOCK);
	schedule(N, 0);
	module_set_clock(module.now + TICK);
	action = takes_next;
	CHECK(dispatch(N) == 1);
	for (i = 0; i < N; i++)
		CHECK(events_of[i] == 1);
	hwt_close(hwt);
}

/*
 * The module has refused to make the timer sooner, so it has a second event, and that comes while
 * the first callback runs.
 */
static void waits_and_dispatches(struct hwt_timer *timer)
{
	module_set_clock(module.now + 10 * SECOND);
	CHECK(dispatch(1000) == 1);
	CHECK(callbacks == 1);
	CHECK(hwt_timer_active(timer));
}

static void dispatch_in_the_callback_of_what_is_refused(void)
{
	begin(HWT_NONBLOCK);
	CHECK(!hwt_timer_start_every(&timers[0], 10 * SECOND, SECOND,
				     HWTIMER_REQ_FIXED_DELAY));
	CHECK(!hwt_flush(hwt));
	module.no_memory = true;
	CHECK(!hwt_timer_start_every(&timers[0], SECOND, SECOND,
				     HWTIMER_REQ_FIXED_DELAY));
	CHECK(hwt_flush(hwt) == -ENOMEM);
	module_set_clock(module.now + SECOND);
	action = waits_and_dispatches;
	CHECK(dispatch(1000) == 1);
	CHECK(callbacks == 1);
	module.no_memory = false;
	pass(SECOND + TICK);
	CHECK(dispatch(1000) == 1);
	CHECK(callbacks == 2);
	hwt_close(hwt);
}

/* ---- timers whose event was read ---- */

static uint64_t ids[N];

/* All that come after the first one end. */
static void discards(struct hwt_timer *timer)
{
	unsigned int i;

	(void)timer;
	for (i = 1; i < 50; i++)
		CHECK(!hwt_discard(hwt, ids[i]));
	CHECK(hwt_discard(hwt, ids[0]) == -ENOENT);
	CHECK(hwt_discard(hwt, ids[1]) == -ENOENT);
}

static void cancels(struct hwt_timer *timer)
{
	unsigned int i;

	(void)timer;
	for (i = 1; i < 50; i++)
		CHECK(hwt_cancel(hwt, ids[i]) == 1);
	CHECK(hwt_cancel(hwt, ids[0]) == -ENOENT);
}

static void discards_one(struct hwt_timer *timer)
{
	(void)timer;
	CHECK(!hwt_discard(hwt, ids[25]));
}

static void *discards_elsewhere(void *unused)
{
	(void)unused;
	CHECK(hwt_discard(hwt, ids[1]) == -ENOENT);
	CHECK(hwt_cancel(hwt, ids[1]) == -ENOENT);
	return NULL;
}

static void discards_in_another_thread(struct hwt_timer *timer)
{
	pthread_t thread;

	(void)timer;
	CHECK(!pthread_create(&thread, NULL, discards_elsewhere, NULL));
	CHECK(!pthread_join(thread, NULL));
}

/* Does @act in the callback of the first of 50 timers. Returns the number of callbacks. */
static unsigned int end_in_a_callback(hwt_timer_callback act)
{
	unsigned int i;

	begin(HWT_NONBLOCK);
	for (i = 0; i < 50; i++)
		CHECK(!hwt_schedule_at(hwt, module.now, OTHER + i, &ids[i]));
	module_set_clock(module.now + TICK);
	action = act;
	dispatch(1000);
	hwt_close(hwt);
	return callbacks;
}

static void end_what_was_read(void)
{
	CHECK(end_in_a_callback(discards) == 1);
	CHECK(end_in_a_callback(cancels) == 50);
	CHECK(end_in_a_callback(discards_one) == 49);
	CHECK(events_of[24] == 1 && !events_of[25] && events_of[26] == 1);
	CHECK(end_in_a_callback(discards_in_another_thread) == 50);
}

/* Each event that was read has to be acknowledged, in their order. */
static void discard_what_has_to_be_acknowledged(void)
{
	struct hwtimer_setup setup = { .flags = HWTIMER_SETUP_AT_LEAST_ONCE };
	struct hwtimer_event event;

	begin(HWT_NONBLOCK);
	CHECK(!hwt_setup(hwt, &setup));
	schedule(2, 0);
	CHECK(!hwt_schedule_at(hwt, module.now, OTHER, &ids[0]));
	module_set_clock(module.now + TICK);
	CHECK(hwt_next(hwt, &event) == 1);
	CHECK(!hwt_discard(hwt, ids[0]));
	CHECK(hwt_next(hwt, &event) == 1 && hwt_next(hwt, &event) == 1);
	CHECK(hwt_ack(hwt, 3) == 3);
	hwt_close(hwt);
}

/* ---- fork() ---- */

static void check_child(void)
{
	int status;

	CHECK(wait(&status) > 0);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* A child that ends all that it finds asks the module for nothing. */
static void fork_with_objects(void)
{
	unsigned int i;

	begin(HWT_NONBLOCK);
	start(0, 400, SECOND);
	pass(0);
	start(0, 100, SECOND / 2);
	if (!fork()) {
		module.calls = 0;
		for (i = 0; i < 200; i++)
			hwt_timer_stop(&timers[i]);
		CHECK(hwt_timer_start(&timers[0], SECOND) == -EBADF);
		CHECK(hwt_timer_start(&timers[500], SECOND) == -EBADF);
		CHECK(hwt_timer_again(&timers[0]) == -EBADF);
		CHECK(!hwt_timer_again(&timers[300]));
		CHECK(hwt_flush(hwt) == -EBADF);
		CHECK(dispatch(1000) == -EBADF);
		hwt_close(hwt);
		_exit(module.calls);
	}
	check_child();
	pass(2 * SECOND);
	CHECK(dispatch(1000) == 400);
	check_all_were_called(400);
	hwt_close(hwt);
}

/* A daemon is a child, and has no objects before. */
static void fork_before_objects(void)
{
	begin(HWT_NONBLOCK);
	if (!fork()) {
		start(0, 10, SECOND);
		pass(2 * SECOND);
		CHECK(dispatch(1000) == 10);
		hwt_close(hwt);
		_exit(0);
	}
	check_child();
	hwt_close(hwt);
}

/* ---- calls that are missing ---- */

/* A hwt_dispatch() that waits would wait for ever for what nobody has told the module. */
static void dispatch_without_flush(void)
{
	begin(0);
	start(0, 10, SECOND);
	CHECK(dispatch(1000) == -EAGAIN); /* where the device waits */
	CHECK(module.pending == 10);
	module_set_clock(module.now + 2 * SECOND);
	while (dispatch(1000) > 0)
		;
	check_all_were_called(10);
	hwt_close(hwt);
}

static void refused_dispatch_without_flush(void)
{
	unsigned int i;

	begin(0);
	module.no_memory = true;
	start(0, 10, SECOND);
	for (i = 0; i < 200 && callbacks < 10; i++)
		dispatch(1000);
	CHECK(callbacks == 10);
	hwt_close(hwt);
}

static void start_without_init(void)
{
	struct hwt_timer timer;

	begin(HWT_NONBLOCK);
	memset(&timer, 0, sizeof(timer));
	CHECK(hwt_timer_start(&timer, SECOND) == -EINVAL);
	CHECK(hwt_timer_start_at(&timer, 0) == -EINVAL);
	CHECK(hwt_timer_start_every(&timer, 0, SECOND, 0) == -EINVAL);
	CHECK(!hwt_timer_active(&timer));
	hwt_timer_init(&timer, hwt, NULL);
	CHECK(hwt_timer_start(&timer, SECOND) == -EINVAL);
	hwt_close(hwt);
}

/* ---- no memory ---- */

/*
 * Opens an instance, and starts all timers, with so many allocations that succeed. Whatever has
 * failed succeeds once there is memory. Returns whether something has failed.
 */
static bool start_with(unsigned int allocations)
{
	bool failed;
	unsigned int i;
	int err;

	module_reset(1);
	callbacks = 0;
	memset(calls_of, 0, sizeof(calls_of));
	allocations_left = allocations;
	err = hwt_open(&hwt, HWT_NONBLOCK);
	failed = err;
	if (failed) {
		CHECK(err == -ENOMEM && !hwt && !module.calls);
		allocations_left = -1;
		CHECK(!hwt_open(&hwt, HWT_NONBLOCK));
	}
	for (i = 0; i < N; i++) {
		hwt_timer_init(&timers[i], hwt, on_timer);
		err = hwt_timer_start(&timers[i], SECOND);
		if (!err)
			continue;
		CHECK(err == -ENOMEM && !failed);
		CHECK(!hwt_timer_active(&timers[i]));
		failed = true;
		/* All that was started goes on. */
		CHECK(!hwt_flush(hwt));
		CHECK(module.pending == i);
		allocations_left = -1;
		CHECK(!hwt_timer_start(&timers[i], SECOND));
	}
	allocations_left = 0; /* From here on, nothing needs memory. */
	pass(2 * SECOND);
	CHECK(dispatch(1000) == N);
	check_all_were_called(N);
	hwt_close(hwt);
	allocations_left = -1;
	return failed;
}

/* An instance, its timer objects, and for each 256 of these an array and its place */
static void no_memory_at_each_allocation(void)
{
	unsigned int n = 0;

	while (start_with(n))
		n++;
	CHECK(n == 2 + 2 * ((N + 255) / 256));
}

int main(void)
{
	static const struct {
		int64_t interval;
		unsigned int flags;
	} kinds[] = { { 0, 0 },
		      { 5 * SECOND, 0 },
		      { 5 * SECOND, HWTIMER_REQ_FIXED_DELAY } };

	cancel_all_ends_objects(0);
	cancel_all_ends_objects(HWTIMER_LIST_DISCARD);
	cancel_all_in_a_callback(0);
	cancel_all_in_a_callback(HWTIMER_REQ_FIXED_DELAY);
	cancel_all_of_what_is_refused();
	cancel_all_that_fails_ends_nothing();
	cancel_all_that_stops();
	for (unsigned int i = 0; i < 3; i++) {
		close_in_a_callback(kinds[i].interval, kinds[i].flags);
		dispatch_in_a_callback(kinds[i].interval, kinds[i].flags);
		break_in_a_callback(kinds[i].interval, kinds[i].flags, breaks);
		break_in_a_callback(kinds[i].interval, kinds[i].flags,
				    dispatches_and_breaks);
		give_memory_back_in_a_callback(kinds[i].interval,
					       kinds[i].flags);
	}
	close_in_a_callback_of_an_event();
	close_in_a_callback_of_what_is_refused();
	break_in_a_callback_of_what_is_refused();
	dispatch_after_a_break();
	wrapper_calls_callbacks();
	dispatch_in_the_callback_of_what_is_due_again();
	close_in_a_callback_before_a_report();
	close_in_a_callback_in_a_callback(0);
	close_in_a_callback_in_a_callback(HWTIMER_REQ_FIXED_DELAY);
	dispatch_between_fixed_delays();
	dispatch_in_a_callback_of_an_event();
	next_in_a_callback();
	dispatch_in_the_callback_of_what_is_refused();
	end_what_was_read();
	discard_what_has_to_be_acknowledged();
	fork_with_objects();
	fork_before_objects();
	dispatch_without_flush();
	refused_dispatch_without_flush();
	start_without_init();
	no_memory_at_each_allocation();
	printf("all is well\n");
	return 0;
}
