// SPDX-License-Identifier: MIT
/*
 * Tests timer objects against an oracle: random operations, in callbacks and outside, on
 * objects that are freed, with a module that refuses, is interrupted, and has its clock
 * set. No callback is early, none comes twice or after a stop, and none is missing. Some
 * tests count system calls. Built with sanitizers and run by test/vm/userland.sh: see module.h.
 *
 *	usage: timer_test [PASSES [SEED]]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libhwtimer.h>

#include "memory.h"
#include "module.h"

#define SECOND 1000000000LL

/* Most objects of a random run */
#define OBJECTS 3000

enum kind { ONCE, FIXED_RATE, FIXED_DELAY };

/**
 * struct object - an object with a timer, and what the oracle expects of it
 * @timer: the timer
 * @index: its index in @objects, which is NULL while the object is freed
 * @active: it was started, and its callback has not come
 * @deadline: before which its callback must not come
 * @kind: kind of timer
 * @interval: of a periodic one
 * @delay: of hwt_timer_again(); negative: none
 */
struct object {
	struct hwt_timer timer;
	unsigned int index;
	bool active;
	int64_t deadline;
	enum kind kind;
	int64_t interval;
	int64_t delay;
};

static struct object *objects[OBJECTS];

/* Objects of this run: the fewer, the more often a callback is about the one that comes next. */
static unsigned int nr_objects;

static struct hwt *hwt;
static unsigned int seed;
static unsigned long callbacks, refused_callbacks;

/* The clock has been at least here since the last time it was set back. */
static int64_t latest;

/* In this pass, callbacks do random operations. */
static bool wild;

/* Callbacks that run, and how many of them wait for a time that must not go on */
static unsigned int depth, frozen;

#define CHECK(condition)                                                 \
	do {                                                             \
		if (!(condition)) {                                      \
			printf("seed %u: line %d: %s\n", seed, __LINE__, \
			       #condition);                              \
			exit(1);                                         \
		}                                                        \
	} while (0)

static void operate(void);
static void operate_on(unsigned int index);
static void object_free(struct object *object);
static int dispatch(unsigned int max);

/* ---- the oracle ---- */

static void set_clock(int64_t now)
{
	latest = now > latest ? now : latest;
	module_set_clock(now);
}

/* Some callbacks take long, and timers expire meanwhile. */
static void take_time(void)
{
	if (wild && !frozen && !pick(8))
		set_clock(module.now + pick(2 * TICK));
}

/* A callback in a callback: a timer with a fixed delay counts from the end of all. */
static void dispatch_more(bool freeze)
{
	if (depth > 3)
		return;
	depth++;
	frozen += freeze;
	dispatch(1 + pick(200));
	frozen -= freeze;
	depth--;
}

static void on_timer(struct hwt_timer *timer)
{
	struct object *object = hwt_timer_object(timer, struct object, timer);
	int64_t missed, now = hwt_now(hwt);
	bool delays = object->kind == FIXED_DELAY;
	unsigned int index;

	callbacks++;
	refused_callbacks += hwt_refused(hwt) != 0;
	CHECK(objects[object->index] == object);
	CHECK(object->active);
	CHECK(object->deadline <= latest);
	if (object->kind == FIXED_RATE) {
		missed = (now - object->deadline) / object->interval;
		if (missed < 0)
			missed = 0;
		CHECK((int64_t)hwt_timer_expirations(timer) == missed + 1);
		object->deadline += (missed + 1) * object->interval;
		CHECK((int64_t)hwt_timer_deadline(timer) == object->deadline);
	} else if (object->kind == FIXED_DELAY) {
		CHECK(hwt_timer_expirations(timer) == 1);
		take_time();
		/* Whatever the callback does counts from here on. */
		object->deadline = module.now + object->interval;
	} else {
		object->active = false;
	}
	CHECK(hwt_timer_active(timer) == object->active);
	if (object->kind != FIXED_DELAY)
		take_time();
	if (!wild)
		return;
	switch (pick(8)) {
	case 0:
		operate_on(object->index);
		break;
	case 1:
		operate();
		break;
	case 2:
		/* It ends, and its memory is something else's, or a new one. */
		index = object->index;
		object_free(object);
		if (pick(2))
			operate_on(index);
		break;
	case 3:
		dispatch_more(delays);
		break;
	}
}

/* Most delays are short, so that many timers expire; some are very long. */
static int64_t random_delay(void)
{
	switch (pick(8)) {
	case 0:
		return 0;
	case 1:
		return -(int64_t)pick(1000);
	case 2:
		return 1000 * SECOND + pick(1000);
	case 3:
		return HWTIMER_NEVER - pick(2);
	default:
		return (int64_t)pick(100) * TICK + pick(3);
	}
}

static int64_t sum(int64_t time, int64_t delay)
{
	if (delay < 0)
		delay = 0;
	return delay > HWTIMER_NEVER - time ? HWTIMER_NEVER : time + delay;
}

static void expect(struct object *object, int err, int64_t deadline,
		   enum kind kind, int64_t delay, int64_t interval)
{
	CHECK(!err || err == -ENOMEM);
	if (err) /* nothing has changed */
		return;
	object->active = true;
	object->deadline = deadline;
	object->kind = kind;
	object->delay = delay;
	object->interval = interval;
}

static void start_once(struct object *object)
{
	int64_t delay = random_delay();
	int err = hwt_timer_start(&object->timer, delay);

	expect(object, err, sum(module.now, delay), ONCE, delay < 0 ? 0 : delay,
	       0);
}

static void start_at(struct object *object)
{
	uint64_t deadline = pick(20) ?
				    (uint64_t)sum(module.now, random_delay()) :
				    HWTIMER_NEVER - 1ULL + pick(3);
	int err = hwt_timer_start_at(&object->timer, deadline);

	expect(object, err, deadline < HWTIMER_NEVER ? deadline : HWTIMER_NEVER,
	       ONCE, -1, 0);
}

static void start_every(struct object *object)
{
	int64_t delay = random_delay(), interval = 1 + pick(20 * TICK);
	bool fixed = pick(2);
	int err = hwt_timer_start_every(&object->timer, delay, interval,
					fixed ? HWTIMER_REQ_FIXED_DELAY : 0);

	expect(object, err, sum(module.now, delay),
	       fixed ? FIXED_DELAY : FIXED_RATE, interval, interval);
}

static void start_again(struct object *object)
{
	int64_t now = hwt_now(hwt);
	int err = hwt_timer_again(&object->timer);

	if (object->delay < 0)
		CHECK(err == -EINVAL);
	else
		expect(object, err, sum(now, object->delay), object->kind,
		       object->delay, object->interval);
}

static struct object *object_new(unsigned int index)
{
	struct object *object = malloc(sizeof(*object));

	CHECK(object);
	memset(object, 0xa5, sizeof(*object));
	hwt_timer_init(&object->timer, hwt, on_timer);
	object->index = index;
	object->active = false;
	object->delay = -1;
	objects[index] = object;
	return object;
}

static void object_free(struct object *object)
{
	if (!object)
		return;
	hwt_timer_stop(&object->timer);
	objects[object->index] = NULL;
	free(object);
}

/* Has the module end all timers; some objects were stopped before. */
static void cancel_all(void)
{
	unsigned int i, stopped = pick(3);

	for (i = 0; i < OBJECTS; i++)
		if (objects[i] && stopped && (stopped == 1 || pick(2)))
			hwt_timer_stop(&objects[i]->timer);
	CHECK(!hwt_cancel_all(hwt, pick(2) ? HWTIMER_LIST_DISCARD : 0, NULL));
	for (i = 0; i < OBJECTS; i++) {
		if (!objects[i])
			continue;
		CHECK(!hwt_timer_active(&objects[i]->timer));
		objects[i]->active = false;
	}
}

/* Does something with an object. */
static void operate_on(unsigned int index)
{
	struct object *object = objects[index];
	int err;

	if (!object)
		object = object_new(index);
	CHECK(hwt_timer_active(&object->timer) == object->active);
	switch (pick(12)) {
	case 0:
	case 1:
		start_once(object);
		break;
	case 2:
		if (pick(500))
			start_once(object);
		else
			cancel_all();
		break;
	case 3:
		start_at(object);
		break;
	case 4:
		start_every(object);
		break;
	case 5:
	case 6:
	case 7:
	case 8:
		start_again(object);
		break;
	case 9:
		object_free(object);
		break;
	case 10:
		err = hwt_flush(hwt);
		CHECK(hwt_refused(hwt) == err);
		break;
	default:
		hwt_timer_stop(&object->timer);
		object->active = false;
	}
}

static void operate(void)
{
	operate_on(pick(nr_objects));
}

/* ---- a loop ---- */

/* That the clock was set is told, whatever else there was. */
static int dispatch(unsigned int max)
{
	bool report = module.report;
	int ret = hwt_dispatch(hwt, NULL, NULL, max);

	CHECK(!report || module.report || ret == -ECANCELED);
	return ret;
}

static void dispatch_all(void)
{
	int ret;

	do
		ret = dispatch(1 + pick(2000));
	while (ret >= 0 || ret == -ECANCELED || ret == -EINTR);
	CHECK(ret == -EAGAIN);
}

/* One pass of a loop, in which all calls may fail */
static void pass(void)
{
	unsigned int i, n = pick(40);

	wild = true;
	allocations_left = pick(50) ? -1 : (int)pick(3);
	for (i = 0; i < n; i++)
		operate();
	allocations_left = -1;
	if (pick(10))
		hwt_flush(hwt);
	/* Sometimes it stands still. */
	if (pick(5))
		set_clock(module.now + pick(pick(10) ? 2 * TICK : 300 * TICK));
	if (pick(3))
		dispatch(1 + pick(200));
}

/* When the module can do what it is asked, no timer that is due stays away. */
static void check_none_missing(void)
{
	unsigned int i, active = 0;

	wild = false;
	module.limit = 100000;
	module.no_memory = false;
	module.faults = 0;
	CHECK(!hwt_flush(hwt));
	CHECK(!hwt_refused(hwt));
	/* First those that came too early, then, as they were moved, those that did not. */
	for (i = 0; i < 2; i++) {
		set_clock(module.now + TICK);
		dispatch_all();
		CHECK(!hwt_flush(hwt));
	}
	dispatch_all();
	for (i = 0; i < OBJECTS; i++) {
		CHECK(!objects[i] || !objects[i]->active ||
		      objects[i]->deadline > module.now - TICK);
		active += objects[i] && objects[i]->active;
	}
	/* Those of the objects, and as many spares as may stay */
	CHECK(!hwt_flush(hwt));
	CHECK(module.pending + module.ready <= 2 * active + 64);
}

/* Events that wait meanwhile may come too early. */
static void set_clock_back_or_forth(void)
{
	latest = 0;
	set_clock(1000 * TICK + pick(3000) * TICK);
	module.report = true;
}

/* All objects end, and then the instance. */
static void end_orderly(void)
{
	unsigned int i;

	for (i = 0; i < OBJECTS; i++)
		object_free(objects[i]);
	CHECK(!hwt_flush(hwt));
	CHECK(module.pending + module.ready <= 64);
	set_clock(INT64_MAX / 2);
	dispatch_all();
	hwt_close(hwt);
}

/* The instance is stopped and closed in the middle of it: objects are plain memory then. */
static void end_stopped(void)
{
	unsigned int i;
	int ret;

	wild = true;
	module.stopped = true;
	for (i = 0; i < 100; i++) {
		operate();
		set_clock(module.now + pick(2 * TICK));
		ret = hwt_dispatch(hwt, NULL, NULL, 1 + pick(10));
		CHECK(ret > 0 || ret == -ENOTCONN);
	}
	hwt_close(hwt);
}

static void random_run(unsigned int passes, uint32_t clock)
{
	unsigned int i;

	latest = 0;
	module_reset(seed);
	module.clock = clock;
	set_clock(module.now);
	module.interrupts = pick(3) ? 0 : 10;
	nr_objects = seed % 3 ? 3 + pick(60) : OBJECTS;
	CHECK(!hwt_open(&hwt, HWT_NONBLOCK));
	hwt_cache_time(hwt, pick(2));
	for (i = 0; i < passes; i++) {
		if (!pick(100))
			module.limit = pick(3) ? 100000 : pick(500);
		if (!pick(50))
			module.no_memory = !pick(4);
		if (!pick(50))
			module.faults = pick(2) ? 0 : 1 + pick(20);
		pass();
		if (!pick(100))
			check_none_missing();
		if (clock != HWTIMER_CLOCK_MONOTONIC && !pick(200))
			set_clock_back_or_forth();
	}
	check_none_missing();
	module.interrupts = 0;
	if (seed % 2)
		end_orderly();
	else
		end_stopped();
	for (i = 0; i < OBJECTS; i++) {
		free(objects[i]);
		objects[i] = NULL;
	}
}

/* ---- what is told to the module, and in how many calls ---- */

#define N 1000
static struct object many[N];

static void on_any(struct hwt_timer *timer)
{
	hwt_timer_object(timer, struct object, timer)->active = false;
	callbacks++;
}

static void begin_with(unsigned int flags)
{
	unsigned int i;

	module_reset(1);
	callbacks = 0;
	CHECK(!hwt_open(&hwt, flags));
	for (i = 0; i < N; i++)
		hwt_timer_init(&many[i].timer, hwt, on_any);
}

static void begin(void)
{
	begin_with(HWT_NONBLOCK);
}

/* For timers that are no objects */
static void on_event(void *arg, const struct hwtimer_event *event)
{
	CHECK(arg == &callbacks && event->user_data == 5);
	callbacks += 1000;
}

/* Returns the number of system calls since it was called last. */
static unsigned long calls(void)
{
	unsigned long n = module.calls;

	module.calls = 0;
	return n;
}

static void start_many(unsigned int n, int64_t delay)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		CHECK(!hwt_timer_start(&many[i].timer, delay));
}

static void stop_many(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		hwt_timer_stop(&many[i].timer);
}

static void counts_calls(void)
{
	unsigned int i;

	begin();
	start_many(1, 10 * SECOND);
	calls(); /* INFO, once */
	CHECK(!hwt_flush(hwt));
	CHECK(calls() == 1);
	start_many(500, 10 * SECOND);
	CHECK(!hwt_flush(hwt));
	CHECK(calls() == 1);
	CHECK(module.pending == 500);

	/* Later deadlines are stores, until the module's timers expire. */
	for (i = 0; i < 500; i++)
		CHECK(!hwt_timer_again(&many[i].timer));
	start_many(500, 20 * SECOND);
	CHECK(!hwt_flush(hwt));
	CHECK(calls() == 0);
	module_set_clock(module.now + 10 * SECOND + TICK);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 500) == 500);
	CHECK(callbacks == 0);
	calls();
	CHECK(!hwt_flush(hwt));
	CHECK(calls() == 1);
	CHECK(module.pending == 500);
	module_set_clock(module.now + 10 * SECOND + TICK);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 1000) == 500);
	CHECK(callbacks == 500);

	/* Sooner ones and new ones: a few are one call, many are two. */
	start_many(10, 10 * SECOND);
	CHECK(!hwt_flush(hwt));
	calls();
	start_many(12, SECOND);
	CHECK(!hwt_flush(hwt));
	CHECK(calls() == 1);
	start_many(500, SECOND / 2);
	CHECK(!hwt_flush(hwt));
	CHECK(calls() == 2);
	/* Sooner, and later again, is nothing. */
	start_many(500, SECOND / 4);
	start_many(500, SECOND);
	CHECK(!hwt_flush(hwt));
	CHECK(calls() == 0);
	hwt_close(hwt);
}

/* A read that finds fewer events than there is room for is the last one. */
static void reads_once(void)
{
	begin();
	start_many(100, TICK);
	CHECK(!hwt_flush(hwt));
	module_set_clock(module.now + 2 * TICK);
	calls();
	CHECK(hwt_dispatch(hwt, NULL, NULL, 1000) == 100);
	CHECK(calls() == 1);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 1000) == -EAGAIN);
	CHECK(hwt_next(hwt, NULL) == -EBUSY);
	CHECK(hwt_read(hwt, NULL, 1) == -EBUSY);
	hwt_close(hwt);
}

/* What was stopped serves what is started; only what is too much is cancelled. */
static void keeps_spares(void)
{
	unsigned int i;

	begin();
	start_many(1000, SECOND);
	CHECK(!hwt_flush(hwt));
	for (i = 0; i < 500; i++)
		hwt_timer_stop(&many[i].timer);
	calls();
	CHECK(!hwt_flush(hwt));
	CHECK(calls() == 0);
	start_many(500, 2 * SECOND);
	CHECK(!hwt_flush(hwt));
	CHECK(calls() == 0);
	for (i = 0; i < 1000; i++)
		hwt_timer_stop(&many[i].timer);
	CHECK(!hwt_flush(hwt));
	/* 936, 512 at a time, and then the others, for the memory that they keep */
	CHECK(calls() == 3);
	CHECK(!module.pending);
	start_many(200, SECOND);
	CHECK(!hwt_flush(hwt));
	stop_many(200);
	calls();
	CHECK(!hwt_flush(hwt));
	CHECK(calls() == 1);
	CHECK(module.pending == 64);
	module_set_clock(module.now + 10 * SECOND);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 1000) == 64);
	CHECK(callbacks == 0 && !module.pending && !module.ready);
	hwt_close(hwt);
}

/* hwt_cancel_all() ends the module's timers of what was stopped: they serve nobody then. */
static void cancel_all_ends_spares(unsigned int flags)
{
	uint64_t cancelled;

	begin();
	start_many(20, SECOND);
	start_many(10, TICK);
	CHECK(!hwt_flush(hwt));
	module_set_clock(module.now + 2 * TICK);
	stop_many(20);
	CHECK(!hwt_cancel_all(hwt, flags, &cancelled));
	CHECK(cancelled == 10 && module.ready == (flags ? 0 : 10));
	start_many(20, 2 * SECOND);
	CHECK(!hwt_flush(hwt));
	CHECK(module.pending == 20);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 100) == (flags ? -EAGAIN : 10));
	CHECK(callbacks == 0);
	module_set_clock(module.now + 2 * SECOND + TICK);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 100) == 20);
	CHECK(callbacks == 20);
	/* Those that are left can be cancelled, and serve again. */
	start_many(20, SECOND);
	CHECK(!hwt_flush(hwt));
	stop_many(20);
	start_many(20, 2 * SECOND);
	CHECK(!hwt_flush(hwt));
	CHECK(module.pending == 20);
	hwt_close(hwt);
}

/* At the limit, spares make room for what is started. */
static void spares_make_room(void)
{
	unsigned int i;

	begin();
	module.limit = 10;
	start_many(10, SECOND);
	CHECK(!hwt_flush(hwt));
	module_set_clock(module.now + SECOND + TICK);
	/* Of ten events that wait, eight are not wanted any more. */
	for (i = 0; i < 8; i++)
		hwt_timer_stop(&many[i].timer);
	start_many(8,
		   SECOND); /* these take over the timers that have expired */
	CHECK(!hwt_flush(hwt));
	CHECK(hwt_dispatch(hwt, NULL, NULL, 100) == 10);
	CHECK(callbacks == 2);
	CHECK(!hwt_flush(hwt));
	CHECK(module.pending == 8);
	hwt_close(hwt);
}

/* The same for new timers while all that the limit allows are pending. */
static void pending_spares_make_room(void)
{
	unsigned int i;

	begin();
	module.limit = 10;
	start_many(10, SECOND);
	CHECK(!hwt_flush(hwt));
	for (i = 10; i < 15; i++)
		CHECK(!hwt_timer_start(&many[i].timer, SECOND));
	for (i = 0; i < 5; i++)
		hwt_timer_stop(&many[i].timer);
	CHECK(!hwt_flush(hwt));
	CHECK(!hwt_refused(hwt));
	CHECK(module.pending == 10);
	module_set_clock(module.now + SECOND + TICK);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 100) == 10);
	CHECK(callbacks == 10);
	hwt_close(hwt);
}

/* What the module refuses is told, and served without it. */
static void serves_what_is_refused(void)
{
	begin();
	module.no_memory = true;
	start_many(100, SECOND);
	CHECK(hwt_flush(hwt) == -ENOMEM);
	CHECK(hwt_refused(hwt) == -ENOMEM);
	CHECK(hwt_wait_ms(hwt, -1) > 0 && hwt_wait_ms(hwt, 1) == 1);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 1000) == -EAGAIN);
	module_set_clock(module.now + SECOND);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 60) == 60);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 1000) == 40);
	CHECK(callbacks == 100);
	module.no_memory = false;
	CHECK(!hwt_flush(hwt));
	CHECK(hwt_wait_ms(hwt, -1) == -1 && hwt_wait_ms(hwt, 50) == 50);
	module.stopped = true;
	start_many(1, SECOND);
	CHECK(hwt_flush(hwt) == -ESHUTDOWN);
	CHECK(hwt_wait_ms(hwt, -1) == -1);
	hwt_close(hwt);
}

/* The module's timer is too late, and cannot be changed. */
static void serves_what_cannot_be_sooner(void)
{
	begin();
	start_many(100, 10 * SECOND);
	CHECK(!hwt_flush(hwt));
	module.no_memory = true;
	start_many(50, SECOND);
	CHECK(hwt_flush(hwt) == -ENOMEM);
	module_set_clock(module.now + SECOND);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 1000) == 50);
	CHECK(callbacks == 50);
	module_set_clock(module.now + 10 * SECOND);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 1000) == 100);
	CHECK(callbacks == 100);
	hwt_close(hwt);
}

/* Of a few changes as one call, the module does some, and then has no memory. */
static void serves_what_a_call_has_left(unsigned int done)
{
	begin();
	start_many(6, 10 * SECOND);
	CHECK(!hwt_flush(hwt));
	start_many(8, SECOND);
	module.cut = done;
	/* What one call for all has no memory for may be told one by one, or it is refused. */
	if (!hwt_flush(hwt))
		CHECK(!hwt_refused(hwt) && module.pending == 8);
	module_set_clock(module.now + SECOND + TICK);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 100) == 8);
	CHECK(callbacks == 8);
	hwt_close(hwt);
}

/* The time is read again in each pass, and after events were read. */
static void time_of_a_pass(void)
{
	int64_t now;

	begin();
	start_many(1, SECOND);
	now = module.now;
	CHECK(hwt_now(hwt) == (uint64_t)now);
	module_set_clock(now + TICK);
	CHECK(hwt_now(hwt) == (uint64_t)now);
	CHECK(!hwt_timer_again(&many[0].timer));
	CHECK(hwt_timer_deadline(&many[0].timer) == (uint64_t)now + SECOND);
	CHECK(!hwt_flush(hwt));
	CHECK(hwt_now(hwt) == (uint64_t)module.now);
	module_set_clock(now + 2 * TICK);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 1) == -EAGAIN);
	CHECK(hwt_now(hwt) == (uint64_t)module.now);
	hwt_cache_time(hwt, 0);
	module_set_clock(now + 3 * TICK);
	CHECK(hwt_now(hwt) == (uint64_t)module.now);
	CHECK(!hwt_timer_again(&many[0].timer));
	CHECK(hwt_timer_deadline(&many[0].timer) ==
	      (uint64_t)module.now + SECOND);
	hwt_close(hwt);
}

/* Without memory of its own, the library starts nothing, and changes nothing. */
static void start_without_memory(void)
{
	unsigned int i;

	begin();
	allocations_left = 0;
	CHECK(hwt_timer_start(&many[0].timer, 0) == -ENOMEM);
	for (i = 0; i < 2;
	     i++) { /* the first of two allocations fails, the second */
		allocations_left = 1;
		CHECK(hwt_timer_start(&many[0].timer, 0) == -ENOMEM);
	}
	CHECK(!hwt_timer_active(&many[0].timer));
	CHECK(hwt_timer_again(&many[0].timer) == -EINVAL);
	allocations_left = -1;
	start_many(1, 0);
	CHECK(hwt_timer_start_every(&many[0].timer, 0, 0, 0) == -EINVAL);
	CHECK(hwt_timer_start_every(&many[0].timer, 0, 1,
				    HWTIMER_REQ_ABSTIME) == -EINVAL);
	CHECK(hwt_timer_active(&many[0].timer));
	hwt_close(hwt);
}

/* SETUP may come after the first object, but not while one has a deadline on the old clock. */
static void clock_changes_between_objects(void)
{
	struct hwtimer_setup setup = { .clock = HWTIMER_CLOCK_BOOTTIME };

	begin();
	CHECK(hwt_now(hwt) == (uint64_t)module.now);
	CHECK(!hwt_setup(hwt, &setup));
	CHECK(hwt_now(hwt) == (uint64_t)module.now);
	start_many(1, SECOND);
	setup.clock = HWTIMER_CLOCK_REALTIME;
	CHECK(hwt_setup(hwt, &setup) == -EBUSY);
	CHECK(module.clock == HWTIMER_CLOCK_BOOTTIME);
	hwt_timer_stop(&many[0].timer);
	CHECK(!hwt_setup(hwt, &setup));
	/* clock_gettime() of another clock would end the test. */
	CHECK(!hwt_timer_again(&many[0].timer));
	hwt_timer_stop(&many[0].timer);
	setup.clock = HWTIMER_CLOCK_MONOTONIC;
	CHECK(!hwt_setup(hwt, &setup));
	start_many(1, SECOND);
	CHECK(hwt_now(hwt) == (uint64_t)module.now);
	CHECK(!hwt_flush(hwt));
	module_set_clock(module.now + SECOND + TICK);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 10) == 1);
	hwt_close(hwt);
}

/* Begins with a timer that expires, and sets the clock back before that time. */
static int64_t begin_set_back(uint32_t clock)
{
	int64_t now;

	begin();
	module.clock = clock;
	now = module.now;
	start_many(1, SECOND);
	CHECK(!hwt_flush(hwt));
	module_set_clock(now + SECOND + TICK);
	CHECK(module.ready == 1);
	module_set_clock(now);
	return now;
}

/* Handles the event of @begin_set_back(), and calls nothing until @deadline. */
static void end_set_back(int64_t deadline)
{
	CHECK(!hwt_flush(hwt));
	CHECK(hwt_dispatch(hwt, NULL, NULL, 10) == 1);
	CHECK(callbacks == 0);
	CHECK(!hwt_flush(hwt));
	module_set_clock(deadline - TICK);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 10) == -EAGAIN);
	module_set_clock(deadline + TICK);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 10) == 1);
	CHECK(callbacks == 1);
	hwt_close(hwt);
}

/*
 * An event that waits while the clock is set back comes too early for whatever has a deadline
 * after the new time: the timer itself, the timer with a sooner deadline, and one that takes
 * over what it has left in the module.
 */
static void no_event_is_early_after_the_clock(uint32_t clock)
{
	int64_t now = begin_set_back(clock);

	end_set_back(now + SECOND);
	now = begin_set_back(clock);
	CHECK(!hwt_timer_start_at(&many[0].timer, now + SECOND / 2));
	end_set_back(now + SECOND / 2);
	now = begin_set_back(clock);
	hwt_timer_stop(&many[0].timer);
	CHECK(!hwt_timer_start_at(&many[1].timer, now + SECOND / 2));
	end_set_back(now + SECOND / 2);
}

/* Who only asks for the time has no timer objects, and may read events. */
static void time_without_objects(void)
{
	struct hwtimer_event event;

	begin();
	CHECK(hwt_now(hwt) == (uint64_t)module.now);
	CHECK(!hwt_schedule_at(hwt, module.now, 7, NULL));
	module_set_clock(module.now + TICK);
	CHECK(hwt_next(hwt, &event) == 1 && event.user_data == 7);
	CHECK(hwt_read(hwt, &event, 1) == -EAGAIN);
	hwt_close(hwt);
}

/* A program may stop a timer of an object that it has only cleared. */
static void stop_what_was_never_made(void)
{
	struct hwt_timer timer;

	memset(&timer, 0, sizeof(timer));
	CHECK(!hwt_timer_active(&timer));
	hwt_timer_stop(&timer);
}

/* The module says EAGAIN where a descriptor that blocks would wait: nothing may ask it to. */
static void dispatch_waits_once(void)
{
	begin_with(0);
	CHECK(!hwt_schedule_at(hwt, module.now, 5, NULL));
	module_set_clock(module.now + TICK);
	calls();
	CHECK(hwt_dispatch(hwt, on_event, &callbacks, 100) == 1);
	CHECK(calls() == 1);
	CHECK(hwt_dispatch(hwt, on_event, &callbacks, 100) == -EAGAIN);
	CHECK(calls() == 1);
	hwt_close(hwt);
}

/* Where the module's timers would be waited for, those that it has refused are served. */
static void dispatch_waits_for_what_is_refused(void)
{
	begin_with(0);
	module.no_memory = true;
	start_many(1, 25 * TICK);
	CHECK(hwt_flush(hwt) == -ENOMEM);
	calls();
	CHECK(hwt_dispatch(hwt, NULL, NULL, 100) == -EAGAIN);
	CHECK(hwt_flush(hwt) == -ENOMEM);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 100) == -EAGAIN);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 100) == 1);
	CHECK(callbacks == 1);
	CHECK(calls() == 1); /* no read() */
	/* What the module has taken makes it read, at once. */
	module.no_memory = false;
	start_many(1, TICK);
	CHECK(!hwt_flush(hwt));
	module.no_memory = true;
	CHECK(!hwt_timer_start(&many[1].timer, SECOND));
	CHECK(hwt_flush(hwt) == -ENOMEM);
	module_set_clock(module.now + TICK);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 100) == 1);
	CHECK(callbacks == 2);
	hwt_close(hwt);
}

/* Another process has read an event. When the program makes the timer sooner, it works. */
static void event_taken_by_another(void)
{
	struct hwtimer_event event;
	struct hwt *other;

	begin();
	start_many(1, SECOND);
	CHECK(!hwt_flush(hwt));
	module_set_clock(module.now + SECOND + TICK);
	CHECK(!hwt_open(&other,
			HWT_NONBLOCK)); /* the module has one instance */
	CHECK(hwt_read(other, &event, 1) == 1);
	start_many(1, 0);
	CHECK(!hwt_flush(hwt));
	hwt_timer_start_at(&many[0].timer, 0);
	CHECK(!hwt_flush(hwt));
	module_set_clock(module.now + TICK);
	CHECK(hwt_dispatch(hwt, NULL, NULL, 10) == 1);
	CHECK(callbacks == 1);
	hwt_close(other);
	hwt_close(hwt);
}

static unsigned int changes;

static void on_change(void *arg)
{
	CHECK(arg == &changes);
	changes++;
}

static void tells_of_changes(void)
{
	begin();
	hwt_on_change(hwt, on_change, &changes);
	start_many(10, SECOND);
	CHECK(changes == 1);
	CHECK(!hwt_flush(hwt));
	start_many(10, 2 * SECOND);
	CHECK(changes == 1);
	start_many(10, SECOND / 2);
	CHECK(changes == 2);
	CHECK(!hwt_flush(hwt));
	stop_many(9);
	CHECK(changes == 2 && hwt_active(hwt) == 1);
	hwt_timer_stop(&many[9].timer);
	CHECK(changes == 3 && !hwt_active(hwt));
	/* The module has a timer that serves this one. */
	CHECK(!hwt_flush(hwt));
	start_many(1, 2 * SECOND);
	CHECK(changes == 4 && hwt_active(hwt) == 1);
	calls();
	CHECK(!hwt_flush(hwt));
	CHECK(!calls());
	hwt_close(hwt);
}

/* Other timers of the instance get their events, with any data. */
static void other_timers(void)
{
	begin();
	start_many(10, SECOND);
	CHECK(!hwt_schedule_at(hwt, module.now, 5, NULL));
	CHECK(!hwt_flush(hwt));
	module_set_clock(module.now + SECOND + TICK);
	CHECK(hwt_dispatch(hwt, on_event, &callbacks, 100) == 11);
	CHECK(callbacks == 1010);
	hwt_close(hwt);
}

/* Schedules @count timers that are due, with user_data from @first on. */
static void make_due(unsigned int first, unsigned int count)
{
	while (count--)
		CHECK(!hwt_schedule_at(hwt, module.now, first++, NULL));
	module_set_clock(module.now + TICK);
}

/* Reads events with user_data from @first on. */
static void expect_next(unsigned int first, unsigned int count)
{
	struct hwtimer_event event;

	while (count--)
		CHECK(hwt_next(hwt, &event) == 1 && event.user_data == first++);
}

static void on_due(void *arg, const struct hwtimer_event *event)
{
	unsigned int *expected = arg;

	CHECK(event->user_data == (*expected)++);
}

/* hwt_rewind() makes the events in the buffer come again, not twice. */
static void at_least_once(void)
{
	const struct hwtimer_setup setup = {
		.flags = HWTIMER_SETUP_AT_LEAST_ONCE,
	};
	struct hwtimer_event event;
	unsigned int expected;
	struct hwt_timer timer;

	begin();
	CHECK(hwt_ack(hwt, 0) == -EINVAL);
	CHECK(hwt_rewind(hwt) == -EINVAL);
	CHECK(!hwt_setup(hwt, &setup));
	hwt_timer_init(&timer, hwt, on_any);
	CHECK(hwt_timer_start(&timer, SECOND) == -EINVAL);
	CHECK(!hwt_timer_active(&timer));
	make_due(0, 200);
	expect_next(0, 150);
	CHECK(hwt_ack(hwt, 201) == -EINVAL);
	CHECK(hwt_ack(hwt, 100) == 100);
	CHECK(module.ready == 100);
	CHECK(!hwt_rewind(hwt));
	CHECK(hwt_ack(hwt, 1) == -EINVAL);
	expect_next(100, 100);
	CHECK(hwt_next(hwt, &event) == -EAGAIN);
	CHECK(hwt_ack(hwt, 100) == 100);
	CHECK(!module.ready);
	/* The buffer is the same for hwt_dispatch(). */
	make_due(200, 3);
	expect_next(200, 1);
	CHECK(!hwt_rewind(hwt));
	expected = 200;
	CHECK(hwt_dispatch(hwt, on_due, &expected, 100) == 3);
	CHECK(expected == 203);
	CHECK(hwt_ack(hwt, 3) == 3);
	hwt_close(hwt);
	/* What was found out before SETUP does not count after it. */
	begin();
	hwt_timer_init(&timer, hwt, on_any);
	CHECK(!hwt_timer_start(&timer, SECOND));
	hwt_timer_stop(&timer);
	CHECK(!hwt_setup(hwt, &setup));
	CHECK(hwt_timer_start(&timer, SECOND) == -EINVAL);
	hwt_close(hwt);
}

int main(int argc, char **argv)
{
	static const uint32_t clocks[] = {
		HWTIMER_CLOCK_REALTIME,
		HWTIMER_CLOCK_MONOTONIC,
		HWTIMER_CLOCK_TAI,
		HWTIMER_CLOCK_MONOTONIC,
	};
	unsigned int passes = argc > 1 ? atoi(argv[1]) : 20000;
	unsigned int first = argc > 2 ? atoi(argv[2]) : 1;

	counts_calls();
	reads_once();
	keeps_spares();
	cancel_all_ends_spares(0);
	cancel_all_ends_spares(HWTIMER_LIST_DISCARD);
	spares_make_room();
	pending_spares_make_room();
	serves_what_is_refused();
	serves_what_cannot_be_sooner();
	for (seed = 1; seed < 8; seed++)
		serves_what_a_call_has_left(seed);
	seed = 0;
	time_of_a_pass();
	start_without_memory();
	clock_changes_between_objects();
	no_event_is_early_after_the_clock(HWTIMER_CLOCK_REALTIME);
	no_event_is_early_after_the_clock(HWTIMER_CLOCK_TAI);
	time_without_objects();
	stop_what_was_never_made();
	dispatch_waits_once();
	dispatch_waits_for_what_is_refused();
	event_taken_by_another();
	tells_of_changes();
	other_timers();
	at_least_once();
	callbacks = 0;
	for (seed = first; seed < first + 12; seed++)
		random_run(passes, clocks[seed % 4]);
	printf("%lu callbacks, %lu while the module refused\n", callbacks,
	       refused_callbacks);
	return !callbacks || !refused_callbacks;
}
