// SPDX-License-Identifier: GPL-2.0
/*
 * Timer objects of libhwtimer on the module: what comes, and when. user/lib/test/timer_test.c
 * tests the library's part without the module, and with a module that refuses.
 */
#include "hwtimer_test.h"

#include "hwtimer_epoll.h"

#define N 2000

/**
 * struct object - an object with a timer, and what is expected of it
 * @timer: the timer
 * @active: it was started, and its callback has not come
 * @deadline: before which its callback must not come
 */
struct object {
	struct hwt_timer timer;
	bool active;
	__u64 deadline;
};

static struct object *objects[N];
static struct hwt *hwt;
static clockid_t clock_id;
static struct hwt_epoll in_epoll;

/* What on_timer() has found */
static unsigned int callbacks, unexpected, early;

/* Callbacks do random operations. */
static bool wild;
static unsigned int seed;

static void operate(void);

static void on_timer(struct hwt_timer *timer)
{
	struct object *object = hwt_timer_object(timer, struct object, timer);

	callbacks++;
	unexpected += !object->active;
	early += clock_ns(clock_id) < object->deadline;
	object->active = false;
	if (wild)
		operate();
}

static struct object *object_of(unsigned int i)
{
	if (!objects[i]) {
		objects[i] = calloc(1, sizeof(*objects[i]));
		hwt_timer_init(&objects[i]->timer, hwt, on_timer);
	}
	return objects[i];
}

/* Starts the timer; its deadline is what the library says, but not before the delay's end. */
static void start(struct object *object, __u64 delay)
{
	__u64 before = clock_ns(clock_id);

	if (hwt_timer_start(&object->timer, delay))
		abort();
	object->active = true;
	object->deadline = hwt_timer_deadline(&object->timer);
	early += object->deadline < before + delay;
}

static void stop(struct object *object)
{
	hwt_timer_stop(&object->timer);
	object->active = false;
}

/* Does something with a random object. */
static void operate(void)
{
	unsigned int i = next_random(&seed) % N;
	struct object *object = object_of(i);
	int err;

	switch (next_random(&seed) % 8) {
	case 0:
	case 1:
	case 2:
		start(object, next_random(&seed) % 50 * MS);
		break;
	case 3:
	case 4:
	case 5:
		err = hwt_timer_again(&object->timer);
		if (err)
			break; /* never started */
		object->active = true;
		object->deadline = hwt_timer_deadline(&object->timer);
		break;
	case 6:
		stop(object);
		break;
	default:
		stop(object);
		free(object);
		objects[i] = NULL;
	}
}

/* One pass of the loop; returns as hwt_epoll_dispatch(). */
static int pass(int timeout)
{
	struct epoll_event ready;

	if (hwt_epoll_wait(&in_epoll, &ready, 1, timeout) > 0)
		abort();
	return hwt_epoll_dispatch(&in_epoll);
}

static unsigned int count_active(void)
{
	unsigned int i, count = 0;

	for (i = 0; i < N; i++)
		count += objects[i] && objects[i]->active;
	return count;
}

/* Runs the loop until no timer is active. */
static void run_to_end(void)
{
	while (count_active())
		pass(10);
}

FIXTURE(objects)
{
	int epoll;
};

FIXTURE_SETUP(objects)
{
	clock_id = CLOCK_MONOTONIC;
	callbacks = 0;
	unexpected = 0;
	early = 0;
	wild = false;
	seed = 1;
	ASSERT_EQ(0, hwt_open(&hwt, HWT_NONBLOCK));
	self->epoll = epoll_create1(EPOLL_CLOEXEC);
	in_epoll.hwt = hwt;
	ASSERT_EQ(0, hwt_epoll_add(&in_epoll, self->epoll));
}

FIXTURE_TEARDOWN(objects)
{
	unsigned int i;

	EXPECT_EQ(0, unexpected);
	EXPECT_EQ(0, early);
	for (i = 0; i < N; i++) {
		free(objects[i]);
		objects[i] = NULL;
	}
	close(self->epoll);
	hwt_close(hwt);
}

static void start_all(__u64 delay)
{
	unsigned int i;

	for (i = 0; i < N; i++)
		start(object_of(i), delay);
}

TEST_F(objects, random_operations)
{
	unsigned int i, j, passes = scaled(1000);

	wild = true;
	for (i = 0; i < passes; i++) {
		for (j = 0; j < 20; j++)
			operate();
		pass(1);
	}
	wild = false;
	run_to_end();
	EXPECT_LT(0, callbacks);
	/* What is left in the module are timers that were stopped. */
	ASSERT_EQ(0, hwt_flush(hwt));
	EXPECT_GE(64, stats_of(hwt_fd(hwt)).pending);
}

TEST_F(objects, later_is_not_told)
{
	unsigned int i, j;

	start_all(HOUR);
	ASSERT_EQ(0, hwt_flush(hwt));
	for (j = 0; j < 10; j++) {
		for (i = 0; i < N; i++)
			ASSERT_EQ(0, hwt_timer_again(&objects[i]->timer));
		ASSERT_EQ(0, hwt_flush(hwt));
	}
	EXPECT_EQ(N, stats_of(hwt_fd(hwt)).scheduled);
	EXPECT_EQ(0, stats_of(hwt_fd(hwt)).rescheduled);
	/* Sooner is. */
	start_all(MS);
	run_to_end();
	EXPECT_EQ(N, callbacks);
	EXPECT_EQ(N, stats_of(hwt_fd(hwt)).rescheduled);
}

TEST_F(objects, later_is_moved_when_it_comes_early)
{
	unsigned int i;

	start_all(20 * MS);
	ASSERT_EQ(0, hwt_flush(hwt));
	for (i = 0; i < N; i += 2)
		start(objects[i], 200 * MS);
	run_to_end();
	EXPECT_EQ(N, callbacks);
}

TEST_F(objects, stop_what_has_expired)
{
	unsigned int i;

	start_all(MS);
	ASSERT_EQ(0, hwt_flush(hwt));
	ASSERT_TRUE(dev_wait_ready(hwt_fd(hwt), N));
	for (i = 0; i < N; i += 2)
		stop(objects[i]);
	run_to_end();
	EXPECT_EQ(N / 2, callbacks);
	EXPECT_EQ(-EAGAIN, hwt_dispatch(hwt, NULL, NULL, 1000));
}

/* The first callback stops and frees all, though their events have been read. */
static void stop_all(struct hwt_timer *timer)
{
	unsigned int i;

	(void)timer;
	callbacks++;
	for (i = 0; i < N; i++) {
		hwt_timer_stop(&objects[i]->timer);
		memset(objects[i], 0xa5, sizeof(*objects[i]));
		free(objects[i]);
		objects[i] = NULL;
	}
}

TEST_F(objects, stop_what_was_read)
{
	unsigned int i;

	for (i = 0; i < N; i++) {
		hwt_timer_init(&object_of(i)->timer, hwt, stop_all);
		ASSERT_EQ(0, hwt_timer_start(&objects[i]->timer, MS));
	}
	ASSERT_EQ(0, hwt_flush(hwt));
	ASSERT_TRUE(dev_wait_ready(hwt_fd(hwt), N));
	/* Events that belong to nobody any more are taken, too. */
	while (hwt_dispatch(hwt, NULL, NULL, 100) > 0)
		;
	EXPECT_EQ(1, callbacks);
}

/* The limit is below the number of timers: what is refused is told, and comes nevertheless. */
TEST_F(objects, more_than_the_limit)
{
	struct hwtimer_setup setup = { .timers = 50 };

	ASSERT_EQ(0, hwt_setup(hwt, &setup));
	start_all(50 * MS);
	EXPECT_EQ(-ENOSPC, hwt_flush(hwt));
	EXPECT_EQ(-ENOSPC, hwt_refused(hwt));
	run_to_end();
	EXPECT_EQ(N, callbacks);
	EXPECT_EQ(0, hwt_flush(hwt));
}

TEST_F(objects, stopped_instance)
{
	start_all(HOUR);
	ASSERT_EQ(0, hwt_flush(hwt));
	ASSERT_EQ(0, hwt_stop(hwt, NULL, NULL, 0));
	start(objects[0], MS);
	EXPECT_EQ(-ESHUTDOWN, hwt_flush(hwt));
	EXPECT_EQ(-1, hwt_wait_ms(hwt, -1));
}

/* Sets CLOCK_REALTIME @ahead of what it is. */
static int set_ahead(__s64 ahead)
{
	__u64 time = clock_ns(CLOCK_REALTIME) + ahead;
	struct timespec ts = { .tv_sec = time / SEC, .tv_nsec = time % SEC };

	return clock_settime(CLOCK_REALTIME, &ts);
}

TEST_F(objects, clock_set)
{
	struct hwtimer_setup setup = { .clock = HWTIMER_CLOCK_REALTIME,
				       .flags =
					       HWTIMER_SETUP_REPORT_CLOCK_SET };
	bool told = false;

	clock_id = CLOCK_REALTIME;
	ASSERT_EQ(0, hwt_setup(hwt, &setup));
	start_all(HOUR);
	ASSERT_EQ(0, hwt_timer_again(&objects[0]->timer));
	ASSERT_EQ(0, hwt_flush(hwt));
	if (set_ahead(HOUR))
		SKIP(return, "the clock cannot be set here");
	while (count_active() || !told)
		told |= pass(100) == -ECANCELED;
	EXPECT_EQ(N, callbacks);
	EXPECT_EQ(0, set_ahead(-HOUR));
}

/* ---- periodic timers ---- */

/* A periodic timer; @slow: its callback takes three intervals. */
struct beat {
	struct hwt_timer timer;
	bool slow;
	__u64 expirations, next, ended;
	unsigned int callbacks, early;
};

static void on_beat(struct hwt_timer *timer)
{
	struct beat *beat = hwt_timer_object(timer, struct beat, timer);

	beat->early += now_ns() < beat->next || now_ns() < beat->ended;
	beat->expirations += hwt_timer_expirations(timer);
	beat->next = hwt_timer_deadline(timer);
	if (beat->slow)
		sleep_ns(30 * MS);
	if (++beat->callbacks == 10)
		hwt_timer_stop(timer);
	beat->ended = now_ns() + 10 * MS;
}

static void run_beat(struct beat *beat)
{
	while (hwt_timer_active(&beat->timer))
		pass(10);
}

/* Deadlines are @interval apart, and those that pass during a callback are counted. */
TEST_F(objects, fixed_rate)
{
	struct beat beat = { .slow = true };
	__u64 first;

	hwt_timer_init(&beat.timer, hwt, on_beat);
	ASSERT_EQ(0, hwt_timer_start_every(&beat.timer, 5 * MS, 10 * MS, 0));
	first = hwt_timer_deadline(&beat.timer);
	beat.next = first;
	run_beat(&beat);
	EXPECT_EQ(10, beat.callbacks);
	EXPECT_LE(28, beat.expirations);
	EXPECT_EQ(first + beat.expirations * 10 * MS, beat.next);
}

/* The next deadline is an interval after the callback's end. */
TEST_F(objects, fixed_delay)
{
	struct beat beat = { .slow = true };

	hwt_timer_init(&beat.timer, hwt, on_beat);
	ASSERT_EQ(0, hwt_timer_start_every(&beat.timer, 5 * MS, 10 * MS,
					   HWTIMER_REQ_FIXED_DELAY));
	beat.next = 0;
	run_beat(&beat);
	EXPECT_EQ(10, beat.callbacks);
	EXPECT_EQ(10, beat.expirations);
	EXPECT_EQ(0, beat.early);
}

TEST_HARNESS_MAIN
