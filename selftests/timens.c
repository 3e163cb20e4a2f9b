// SPDX-License-Identifier: GPL-2.0
/*
 * Time namespaces. An instance uses the clocks of the namespace in which it was opened,
 * also when its descriptor is used in another one. All times that the kernel reports and
 * takes are compared with clock_gettime() in that namespace: never early, and not hours
 * late.
 */
#include "hwtimer_test.h"

#include <sched.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

/* How far ahead clocks are in the variants "ahead": not whole ticks. */
#define YEARS 10
#define FAR_SECONDS (YEARS * (__s64)(YEAR / SEC))
#define FAR_NS 123456789

/* A delay that is shorter than the offset of any variant. */
#define SOON (300 * MS)

/* The host's clocks must show so many seconds that other clocks can be behind them. */
#define UPTIME 5

FIXTURE(timens)
{
	int fd;
	int host; /* the host's namespace */
	int inner; /* the namespace with the offsets */
	clockid_t clock;
	bool ancient; /* the test has deadlines that are years in the past */
};

FIXTURE_VARIANT(timens)
{
	clockid_t clock;
	bool ahead; /* by years; otherwise the clock starts at about 0 */
};

/* clang-format off */
FIXTURE_VARIANT_ADD(timens, monotonic_behind)
{
	.clock = CLOCK_MONOTONIC,
	.ahead = false,
};

FIXTURE_VARIANT_ADD(timens, monotonic_ahead)
{
	.clock = CLOCK_MONOTONIC,
	.ahead = true,
};

FIXTURE_VARIANT_ADD(timens, boottime_behind)
{
	.clock = CLOCK_BOOTTIME,
	.ahead = false,
};

FIXTURE_VARIANT_ADD(timens, boottime_ahead)
{
	.clock = CLOCK_BOOTTIME,
	.ahead = true,
};

/* clang-format on */

static int open_namespace(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	return result_of(open(path, O_RDONLY | O_CLOEXEC));
}

/* Writes the offsets of the clocks of the new namespace. */
static bool write_offsets(clockid_t clock, bool ahead)
{
	__s64 behind = -(__s64)(clock_ns(clock) / SEC);
	char text[128];

	/* The other clock has another offset: a mix-up of the two shows. */
	snprintf(text, sizeof(text), "monotonic %lld %d\nboottime %lld %d\n",
		 clock != CLOCK_MONOTONIC ? 1000 :
		 ahead			  ? (long long)FAR_SECONDS :
					    (long long)behind,
		 ahead ? FAR_NS : 0,
		 clock != CLOCK_BOOTTIME ? 1000 :
		 ahead			 ? (long long)FAR_SECONDS :
					   (long long)behind,
		 ahead ? FAR_NS : 0);
	return write_file("/proc/self/timens_offsets", text);
}

/* Moves this process into @namespace. */
static void enter(struct __test_metadata *_metadata, int namespace)
{
	ASSERT_EQ(0, result_of(setns(namespace, CLONE_NEWTIME)));
}

/* Opens an instance with @clock in the current namespace. */
static int open_by(clockid_t clock)
{
	const struct hwtimer_setup setup = {
		.clock = HWTIMER_CLOCK(clock),
	};

	return dev_open_as(setup);
}

/* Returns the time of the instance's clock in the current namespace. */
static __u64 inner_now(const FIXTURE_DATA(timens) * self)
{
	return clock_ns(self->clock);
}

FIXTURE_SETUP(timens)
{
	__u64 outside;

	self->fd = -1;
	self->clock = variant->clock;
	self->host = open_namespace("time");
	if (self->host == -ENOENT)
		SKIP(return, "this kernel has no time namespaces");
	ASSERT_LE(0, self->host);
	sleep_until(UPTIME * SEC);
	ASSERT_EQ(0, result_of(unshare(CLONE_NEWTIME)));
	ASSERT_TRUE(write_offsets(variant->clock, variant->ahead));
	self->inner = open_namespace("time_for_children");
	ASSERT_LE(0, self->inner);
	outside = clock_ns(variant->clock);
	enter(_metadata, self->inner);
	/* The clocks differ enough for a mix-up to show. */
	ASSERT_EQ(variant->ahead, inner_now(self) > outside);
	ASSERT_LT(SOON, variant->ahead ? inner_now(self) - outside :
					 outside - inner_now(self));
	self->fd = open_by(variant->clock);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(timens)
{
	struct hwtimer_stats stats;

	EXPECT_EQ(0, dev_stats(self->fd, &stats));
	expect_balance(_metadata, &stats);
	/* An error in a time would be an error of years. */
	if (!self->ancient)
		EXPECT_GT(YEAR, stats.lateness_max);
	EXPECT_EQ(0, close(self->fd));
}

/* Expects that the next event has this @user_data and @deadline, and is not early. */
static void expect_event(struct __test_metadata *_metadata,
			 FIXTURE_DATA(timens) * self, __u64 user_data,
			 __u64 deadline)
{
	struct hwtimer_event event;

	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(user_data, event.user_data);
	EXPECT_EQ(deadline, event.deadline);
	expect_not_early(_metadata, &event, self->clock);
}

/* Expects that @deadline is @delay after a moment between @before and now. */
static void expect_delay(struct __test_metadata *_metadata,
			 FIXTURE_DATA(timens) * self, __u64 deadline,
			 __u64 delay, __u64 before)
{
	EXPECT_LE(before + delay, deadline);
	EXPECT_GE(inner_now(self) + delay, deadline);
}

TEST_F(timens, absolute_deadline)
{
	__u64 deadline = inner_now(self) + SOON;

	ASSERT_NE(0, dev_at(self->fd, deadline, 1));
	expect_event(_metadata, self, 1, deadline);
}

TEST_F(timens, delay)
{
	__u64 before = inner_now(self);
	struct hwtimer_event event;

	ASSERT_NE(0, dev_after(self->fd, SOON, 1));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	expect_not_early(_metadata, &event, self->clock);
	expect_delay(_metadata, self, event.deadline, SOON, before);
}

/* Deadlines at the first moment of the clock and before it are in the past, too. */
TEST_F(timens, past_deadlines)
{
	__u64 now = inner_now(self);

	self->ancient = true;
	ASSERT_NE(0, dev_at(self->fd, now, 1));
	expect_event(_metadata, self, 1, now);
	ASSERT_NE(0, dev_at(self->fd, 1, 2));
	expect_event(_metadata, self, 2, 1);
	ASSERT_NE(0, dev_at(self->fd, 0, 3));
	expect_event(_metadata, self, 3, 0);
	ASSERT_NE(0, dev_at(self->fd, -5, 4));
	expect_event(_metadata, self, 4, 0);
}

/* The host's clock may not be able to show such a time. */
TEST_F(timens, end_of_time)
{
	static const __s64 times[] = { HWTIMER_NEVER, LLONG_MAX - 1,
				       LLONG_MAX - HOUR };
	struct hwtimer_timer query;
	__u64 ids[3], deadline;

	for (unsigned int i = 0; i < 3; i++) {
		ids[i] = dev_at(self->fd, times[i], i);
		ASSERT_NE(0, ids[i]);
	}
	deadline = inner_now(self) + SOON;
	ASSERT_NE(0, dev_at(self->fd, deadline, 4));
	expect_event(_metadata, self, 4, deadline);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 100));
	for (unsigned int i = 0; i < 3; i++) {
		ASSERT_EQ(0, dev_query(self->fd, ids[i], &query));
		EXPECT_EQ(HWTIMER_STATE_PENDING, query.state);
		EXPECT_EQ(times[i], query.deadline);
		EXPECT_LE(i ? 100 * YEAR : HWTIMER_NEVER, query.remaining);
	}
}

TEST_F(timens, submit)
{
	__u64 deadline = inner_now(self) + SOON;
	struct hwtimer_request requests[2];

	fill_schedules(requests, 2, HWTIMER_REQ_ABSTIME, deadline, 1);
	requests[1].time += SOON;
	ASSERT_EQ(2, dev_submit(self->fd, requests, 2));
	EXPECT_EQ(0, requests[0].result);
	EXPECT_EQ(0, requests[1].result);
	expect_event(_metadata, self, 1, deadline);
	expect_event(_metadata, self, 2, deadline + SOON);
}

TEST_F(timens, bulk)
{
	__u64 deadline = inner_now(self) + SOON, before;
	struct hwtimer_bulk_timer timers[2] = {
		{ .user_data = 1, .time = deadline },
		{ .user_data = 2, .time = deadline + HOUR },
	};
	struct hwtimer_timer query;
	__u64 ids[2], result;

	ASSERT_EQ(2, dev_bulk(self->fd, HWTIMER_OP_SCHEDULE,
			      HWTIMER_REQ_ABSTIME, timers, ids, 2));
	expect_event(_metadata, self, 1, deadline);
	timers[1].id = ids[1];
	timers[1].time = SOON;
	before = inner_now(self);
	ASSERT_EQ(1, dev_bulk(self->fd, HWTIMER_OP_RESCHEDULE, 0, &timers[1],
			      &result, 1));
	EXPECT_EQ(0, result);
	if (!dev_query(self->fd, ids[1], &query))
		expect_delay(_metadata, self, query.deadline, SOON, before);
	timers[1].time = inner_now(self) + SOON;
	ASSERT_EQ(1, dev_bulk(self->fd, HWTIMER_OP_RESCHEDULE,
			      HWTIMER_REQ_ABSTIME, &timers[1], &result, 1));
	if (!result)
		expect_event(_metadata, self, 2, timers[1].time);
}

TEST_F(timens, reschedule)
{
	__u64 id = dev_after(self->fd, HOUR, 1), before = inner_now(self);
	struct hwtimer_timer query;
	__u64 deadline;

	ASSERT_NE(0, id);
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, 2 * HOUR));
	ASSERT_EQ(0, dev_query(self->fd, id, &query));
	expect_delay(_metadata, self, query.deadline, 2 * HOUR, before);
	/* Earlier, and then later than that, in the same bucket or in another one. */
	deadline = inner_now(self) + SOON;
	ASSERT_EQ(0,
		  dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME, deadline));
	if (!dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME, deadline + SOON))
		deadline += SOON;
	expect_event(_metadata, self, 1, deadline);
}

TEST_F(timens, query)
{
	__u64 deadline = inner_now(self) + HOUR, before, after, id;
	struct hwtimer_timer query;

	id = dev_at(self->fd, deadline, 1);
	ASSERT_NE(0, id);
	before = inner_now(self);
	ASSERT_EQ(0, dev_query(self->fd, id, &query));
	after = inner_now(self);
	EXPECT_EQ(deadline, query.deadline);
	EXPECT_GE(deadline - before, query.remaining);
	EXPECT_LE(deadline - after, query.remaining);
}

TEST_F(timens, stop)
{
	__u64 deadline = inner_now(self) + HOUR, before, after;
	struct hwtimer_timer timer;

	ASSERT_NE(0, dev_at(self->fd, deadline, 1));
	before = inner_now(self);
	ASSERT_EQ(1, dev_stop(self->fd, &timer, 1, NULL));
	after = inner_now(self);
	EXPECT_EQ(deadline, timer.deadline);
	EXPECT_GE(deadline - before, timer.remaining);
	EXPECT_LE(deadline - after, timer.remaining);
}

/* After a stop, the last event counts what became due up to it, and no more. */
TEST_F(timens, periodic)
{
	__u64 first = inner_now(self) + SOON, told = 0;
	struct hwtimer_request request = {
		.flags = HWTIMER_REQ_ABSTIME,
		.time = first,
		.interval = 10 * MS,
	};
	struct hwtimer_event event;
	__u64 before, after, id;

	id = dev_add(self->fd, request);
	ASSERT_NE(0, id);
	for (unsigned int i = 0; i < 5; i++) {
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		EXPECT_EQ(first + told * request.interval, event.deadline);
		expect_not_early(_metadata, &event, self->clock);
		told += event.expirations;
		EXPECT_GT(inner_now(self),
			  first + (told - 1) * request.interval);
	}
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	before = inner_now(self);
	ASSERT_LE(0, dev_stop(self->fd, NULL, 0, NULL));
	after = inner_now(self);
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(first + told * request.interval, event.deadline);
	told += event.expirations;
	EXPECT_GT(first + told * request.interval, before);
	EXPECT_LE(first + (told - 1) * request.interval, after);
}

TEST_F(timens, fixed_delay)
{
	struct hwtimer_request request = {
		.flags = HWTIMER_REQ_FIXED_DELAY,
		.time = SOON,
		.interval = HOUR,
	};
	__u64 id = dev_add(self->fd, request), before = 0;
	struct hwtimer_timer query;
	struct hwtimer_event event;

	ASSERT_NE(0, id);
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	before = inner_now(self);
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	expect_not_early(_metadata, &event, self->clock);
	ASSERT_EQ(0, dev_query(self->fd, id, &query));
	expect_delay(_metadata, self, query.deadline, HOUR, before);
}

/* An instance keeps the namespace in which it was opened. */
TEST_F(timens, descriptor_is_used_on_the_host)
{
	__u64 deadline = inner_now(self) + HOUR;
	struct hwtimer_timer timer;
	struct hwtimer_timer query;
	__u64 id, at;

	enter(_metadata, self->host);
	id = dev_at(self->fd, deadline, 1);
	ASSERT_NE(0, id);
	ASSERT_EQ(0, dev_query(self->fd, id, &query));
	EXPECT_EQ(deadline, query.deadline);
	EXPECT_GE(HOUR, query.remaining);
	EXPECT_LT(0, query.remaining);

	enter(_metadata, self->inner);
	at = inner_now(self) + SOON;
	enter(_metadata, self->host);
	ASSERT_NE(0, dev_at(self->fd, at, 2));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	enter(_metadata, self->inner);
	expect_event(_metadata, self, 2, at);

	enter(_metadata, self->host);
	ASSERT_EQ(1, dev_stop(self->fd, &timer, 1, NULL));
	EXPECT_EQ(deadline, timer.deadline);
	EXPECT_GE(HOUR, timer.remaining);
	EXPECT_LT(0, timer.remaining);
	enter(_metadata, self->inner);
}

/* The other way round; SETUP and the first timer come from another namespace. */
TEST_F(timens, descriptor_of_the_host)
{
	const struct hwtimer_setup setup = {
		.clock = HWTIMER_CLOCK(self->clock),
	};
	struct hwtimer_timer query;
	__u64 deadline, id, soon;
	int fd;

	enter(_metadata, self->host);
	fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, fd);
	deadline = inner_now(self) + HOUR;
	soon = inner_now(self) + SOON;
	enter(_metadata, self->inner);
	ASSERT_EQ(0, dev_setup_as(fd, setup));
	close(self->fd);
	self->fd = fd;
	id = dev_at(fd, deadline, 1);
	ASSERT_NE(0, id);
	ASSERT_EQ(0, dev_query(fd, id, &query));
	EXPECT_EQ(deadline, query.deadline);
	EXPECT_GE(HOUR, query.remaining);
	EXPECT_LT(0, query.remaining);
	ASSERT_NE(0, dev_at(fd, soon, 2));
	EXPECT_EQ(POLLIN, dev_poll(fd, POLLIN, -1));
	enter(_metadata, self->host);
	expect_event(_metadata, self, 2, soon);
}

/* All namespaces have the same CLOCK_REALTIME and CLOCK_TAI. */
TEST_F(timens, clocks_that_may_be_set)
{
	const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_TAI };
	struct hwtimer_event event;
	__u64 deadline;

	for (unsigned int i = 0; i < ARRAY_SIZE(clocks); i++) {
		close(self->fd);
		self->fd = open_by(clocks[i]);
		ASSERT_LE(0, self->fd);
		deadline = clock_ns(clocks[i]) + SOON;
		ASSERT_NE(0, dev_at(self->fd, deadline, 1));
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		EXPECT_EQ(deadline, event.deadline);
		expect_not_early(_metadata, &event, clocks[i]);
	}
}

/* The delay of NOTIFY is a span of time, which is the same in all namespaces. */
TEST_F(timens, notify)
{
	__u64 before = now_ns();

	ASSERT_EQ(0, dev_notify(self->fd, 2, SOON));
	ASSERT_NE(0, dev_after(self->fd, 0, 1));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	EXPECT_LE(before + SOON, now_ns());
	EXPECT_EQ(1, dev_discard_events(self->fd, 1));
}

TEST_HARNESS_MAIN
