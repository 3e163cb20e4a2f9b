/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixtures of adapters.c and adapters_shared.c. Each loop has the same tests: a timer's
 * callback is called once, the loop's other work goes on, and the loop ends when the instance
 * does, or when it cannot be read any more.
 */
#ifndef HWTIMER_ADAPTERS_H
#define HWTIMER_ADAPTERS_H

#include "hwtimer_test.h"

#include <libhwtimer.h>
#include <sys/eventfd.h>

#define N 3000

/* The timers of a test */
struct timers {
	struct hwt *hwt;
	unsigned int count;
	bool twice;
	unsigned int errors;
	int err;
	bool came[N];
};

FIXTURE(adapter)
{
	struct timers timers;
};

FIXTURE_SETUP(adapter)
{
	memset(&self->timers, 0, sizeof(self->timers));
	ASSERT_EQ(0, hwt_open(&self->timers.hwt, HWT_NONBLOCK));
	for (unsigned int i = 0; i < N; i++)
		ASSERT_EQ(0,
			  hwt_schedule(self->timers.hwt, i * 10 * US, i, NULL));
}

/* Stops the instance after the last timer, which ends a loop that has nothing else. */
static void on_timer(void *arg, const struct hwtimer_event *event)
{
	struct timers *timers = arg;

	timers->twice |= event->user_data >= N ||
			 timers->came[event->user_data];
	timers->came[event->user_data % N] = true;
	if (++timers->count == N)
		hwt_stop(timers->hwt, NULL, NULL, 0);
}

static void on_error(void *arg, int err)
{
	struct timers *timers = arg;

	timers->errors++;
	timers->err = err;
}

FIXTURE_TEARDOWN(adapter)
{
	EXPECT_EQ(N, self->timers.count);
	EXPECT_FALSE(self->timers.twice);
	hwt_close(self->timers.hwt);
}

/* ---- timer objects ---- */

#define OBJECTS 500
#define ROUNDS 5

/*
 * Objects that are started again in their callbacks. The module takes a fifth of them; the
 * others have to be served nevertheless. @left: callbacks to come; @early: were early
 */
FIXTURE(objects)
{
	struct timers timers;
};

struct object {
	struct hwt_timer timer;
	unsigned int rounds;
	__u64 deadline;
};

static struct object objects[OBJECTS];
static struct hwt *objects_hwt;
static unsigned int left, early, refused;

static void on_object(struct hwt_timer *timer)
{
	struct object *object = hwt_timer_object(timer, struct object, timer);

	early += now_ns() < object->deadline;
	left--;
	if (++object->rounds < ROUNDS) {
		if (hwt_timer_again(timer))
			abort();
		object->deadline = hwt_timer_deadline(timer);
	}
	/* This ends a loop that has nothing else. */
	if (!left)
		hwt_stop(objects_hwt, NULL, NULL, 0);
}

static void on_refusal(void *arg, int err)
{
	if (err == -ENOSPC)
		refused++;
	else
		on_error(arg, err);
}

/* The loop has ended, perhaps after it has seen that the instance was stopped. */
static inline bool ended_with_the_last(const struct timers *timers)
{
	return !timers->err || timers->err == -ENOTCONN;
}

FIXTURE_SETUP(objects)
{
	struct hwtimer_setup setup = { .timers = OBJECTS / 5 };
	unsigned int i;

	memset(&self->timers, 0, sizeof(self->timers));
	ASSERT_EQ(0, hwt_open(&self->timers.hwt, HWT_NONBLOCK));
	ASSERT_EQ(0, hwt_setup(self->timers.hwt, &setup));
	objects_hwt = self->timers.hwt;
	left = OBJECTS * ROUNDS;
	early = 0;
	refused = 0;
	for (i = 0; i < OBJECTS; i++) {
		hwt_timer_init(&objects[i].timer, objects_hwt, on_object);
		ASSERT_EQ(0, hwt_timer_start(&objects[i].timer,
					     (5 + i % 20) * MS));
		objects[i].rounds = 0;
		objects[i].deadline = hwt_timer_deadline(&objects[i].timer);
	}
}

FIXTURE_TEARDOWN(objects)
{
	EXPECT_EQ(0, left);
	EXPECT_EQ(0, early);
	EXPECT_LT(0, refused);
	hwt_close(self->timers.hwt);
}

/* ---- a loop that never rests ---- */

/*
 * The module takes one timer, which is far away. The loop always has other work, which starts
 * a timer each time. Another one, which the module refuses, has to be served nevertheless.
 */
FIXTURE(busy)
{
	struct timers timers;
};

static struct hwt_timer busy_far, busy_due, busy_other;
static bool busy_served;
static __u64 busy_until;
static unsigned int busy_passes;

static void on_due(struct hwt_timer *timer)
{
	busy_served = timer == &busy_due;
}

/* Does the loop's other work; returns whether the loop goes on. */
static bool busy_work(void)
{
	hwt_timer_stop(&busy_other);
	if (hwt_timer_start(&busy_other, HOUR))
		abort();
	/* If the machine stands still in between, the loop seems to rest. */
	return !busy_served && (++busy_passes < 100 || now_ns() < busy_until);
}

FIXTURE_SETUP(busy)
{
	struct hwtimer_setup setup = { .timers = 1 };

	memset(&self->timers, 0, sizeof(self->timers));
	ASSERT_EQ(0, hwt_open(&self->timers.hwt, HWT_NONBLOCK));
	ASSERT_EQ(0, hwt_setup(self->timers.hwt, &setup));
	hwt_timer_init(&busy_far, self->timers.hwt, on_due);
	hwt_timer_init(&busy_due, self->timers.hwt, on_due);
	hwt_timer_init(&busy_other, self->timers.hwt, on_due);
	ASSERT_EQ(0, hwt_timer_start(&busy_far, HOUR));
	ASSERT_EQ(0, hwt_flush(self->timers.hwt));
	ASSERT_EQ(0, hwt_timer_start(&busy_due, 20 * MS));
	busy_served = false;
	busy_until = now_ns() + 200 * MS;
	busy_passes = 0;
}

FIXTURE_TEARDOWN(busy)
{
	EXPECT_TRUE(busy_served);
	EXPECT_EQ(-ENOSPC, self->timers.err);
	hwt_close(self->timers.hwt);
}

/* ---- more events than the loop can serve ---- */

#define FLOOD_MAX 50000

/*
 * Periodic timers that are due again before all their events are handled. The loop's other
 * work, which comes up in the middle of that, gets its turn nevertheless. @other: descriptor
 * that is ready then; @count: events so far; @turn: of these, before the other work.
 */
static struct flood {
	struct hwt *hwt;
	int other;
	unsigned int count;
	unsigned int turn;
} flood;

FIXTURE(flood)
{
	struct timers timers;
};

FIXTURE_SETUP(flood)
{
	struct hwtimer_setup setup = { .tick = 100 * US };
	struct hwtimer_request request = { .interval = 100 * US };

	memset(&self->timers, 0, sizeof(self->timers));
	memset(&flood, 0, sizeof(flood));
	ASSERT_EQ(0, hwt_open(&flood.hwt, HWT_NONBLOCK));
	self->timers.hwt = flood.hwt;
	ASSERT_EQ(0, hwt_setup(flood.hwt, &setup));
	for (unsigned int i = 0; i < N; i++) {
		request.id = 0;
		ASSERT_EQ(0, hwt_schedule_request(flood.hwt, &request));
	}
	flood.other = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ASSERT_LE(0, flood.other);
	ASSERT_TRUE(dev_wait_ready(hwt_fd(flood.hwt), N));
}

static void on_flood(void *arg, const struct hwtimer_event *event)
{
	(void)arg;
	(void)event;
	if (++flood.count == 500 && eventfd_write(flood.other, 1))
		abort();
	if (flood.count == FLOOD_MAX)
		hwt_stop(flood.hwt, NULL, NULL, 0);
}

/* The other work; it ends the instance, and so the loop. */
static void flood_other(void)
{
	eventfd_t value;

	eventfd_read(flood.other, &value);
	flood.turn = flood.count;
	hwt_stop(flood.hwt, NULL, NULL, 0);
}

FIXTURE_TEARDOWN(flood)
{
	EXPECT_LE(500, flood.turn);
	EXPECT_GT(10000, flood.turn); /* a few turns */
	EXPECT_EQ(-ENOTCONN, self->timers.err);
	hwt_close(flood.hwt);
	close(flood.other);
}

/* ---- an instance that cannot be read ---- */

/* An instance whose descriptor stops being one; @keep: a duplicate, which goes on */
FIXTURE(broken)
{
	struct timers timers;
	int keep;
};

FIXTURE_SETUP(broken)
{
	memset(&self->timers, 0, sizeof(self->timers));
	ASSERT_EQ(0, hwt_open(&self->timers.hwt, HWT_NONBLOCK));
	self->keep = dup(hwt_fd(self->timers.hwt));
	ASSERT_LE(0, self->keep);
	/* More than the library reads before it calls the first callback */
	ASSERT_EQ(N, dev_schedule_many(self->keep, N, 0, MS, NULL));
}

FIXTURE_TEARDOWN(broken)
{
	EXPECT_LE(1, self->timers.count);
	EXPECT_GT(N, self->timers.count);
	EXPECT_EQ(1, self->timers.errors);
	EXPECT_EQ(-EISDIR, self->timers.err);
	hwt_close(self->timers.hwt);
	EXPECT_EQ(0, close(self->keep));
}

/*
 * Puts a directory in the place of the instance. For the loop, the descriptor stays ready:
 * epoll watches the open file, and the duplicate keeps that.
 */
static void break_descriptor(void *arg, const struct hwtimer_event *event)
{
	struct timers *timers = arg;
	int directory;

	(void)event;
	if (timers->count++)
		return;
	directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0 || dup2(directory, hwt_fd(timers->hwt)) < 0)
		abort();
	close(directory);
}

#endif /* HWTIMER_ADAPTERS_H */
