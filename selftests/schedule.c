// SPDX-License-Identifier: GPL-2.0
/*
 * SCHEDULE: timers come, never early and in order, with the data that they were given.
 * The tests use every kind of time, from the distant past to never, and every refusal.
 */
#include "hwtimer_test.h"

/* Expects the event of a timer that expires at once, with its user_data. */
static void expect_event(struct __test_metadata *_metadata, int fd, __u64 id,
			 __u64 user_data)
{
	struct hwtimer_event event = { 0 };

	ASSERT_EQ(1, dev_collect(fd, &event, 1));
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(user_data, event.user_data);
	expect_due(_metadata, &event);
}

/* Expects that no timer expires, and that this one has a century left. */
static void expect_waits(struct __test_metadata *_metadata, int fd, __u64 id)
{
	struct hwtimer_event event;
	struct hwtimer_timer query;

	sleep_ns(50 * MS);
	EXPECT_EQ(-EAGAIN, dev_read(fd, &event, 1));
	ASSERT_EQ(0, dev_query(fd, id, &query));
	EXPECT_EQ(HWTIMER_STATE_PENDING, query.state);
	EXPECT_LE(100 * YEAR, query.remaining);
}

TEST_F(hwtimer, relative_timer_comes_with_its_deadline)
{
	struct hwtimer_event event;
	__u64 before, after, id;

	before = now_ns();
	id = dev_after(self->fd, 20 * MS, 42);
	after = now_ns();
	ASSERT_NE(0, id);
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	expect_due(_metadata, &event);
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(42, event.user_data);
	EXPECT_LE(before + 20 * MS, event.deadline);
	EXPECT_GE(after + 20 * MS, event.deadline);
}

TEST_F(hwtimer, absolute_timer_comes_with_its_deadline)
{
	__u64 deadline = now_ns() + 20 * MS + 123457;
	__u64 id = dev_at(self->fd, deadline, UINT64_MAX);
	struct hwtimer_event event;

	ASSERT_NE(0, id);
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	expect_due(_metadata, &event);
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(UINT64_MAX, event.user_data);
	EXPECT_EQ(deadline, event.deadline);
}

TEST_F(hwtimer, comes_once)
{
	struct hwtimer_stats stats;
	struct hwtimer_event event;

	ASSERT_NE(0, dev_after(self->fd, MS, 0));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	sleep_ns(50 * MS);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(1, stats.scheduled);
	EXPECT_EQ(1, stats.delivered);
}

TEST_F(hwtimer, zero_delay_expires)
{
	expect_event(_metadata, self->fd, dev_after(self->fd, 0, 1), 1);
}

TEST_F(hwtimer, negative_delays_expire)
{
	const __s64 delays[] = { -1, -2, -(__s64)HOUR, INT64_MIN + 1,
				 INT64_MIN };

	for (unsigned int i = 0; i < ARRAY_SIZE(delays); i++) {
		__u64 id = dev_after(self->fd, delays[i], i);

		ASSERT_NE(0, id);
		expect_event(_metadata, self->fd, id, i);
	}
}

TEST_F(hwtimer, past_deadlines_expire)
{
	const __s64 times[] = { 0, 1, now_ns() - 1, now_ns() / 2 };

	for (unsigned int i = 0; i < ARRAY_SIZE(times); i++) {
		__u64 id = dev_at(self->fd, times[i], i);

		ASSERT_NE(0, id);
		expect_event(_metadata, self->fd, id, i);
	}
}

TEST_F(hwtimer, negative_deadlines_expire)
{
	const __s64 times[] = { -1, -(__s64)HOUR, INT64_MIN + 1, INT64_MIN };

	for (unsigned int i = 0; i < ARRAY_SIZE(times); i++) {
		__u64 id = dev_at(self->fd, times[i], i);

		ASSERT_NE(0, id);
		expect_event(_metadata, self->fd, id, i);
	}
}

/* Expects that a timer with this time is parked, whichever call made or moved it. */
static void expect_parked(struct __test_metadata *_metadata, int fd,
			  __u32 flags, __s64 time)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.flags = flags,
		.time = time,
	};
	struct hwtimer_bulk_timer timer = { .time = time };
	struct hwtimer_timer query;
	__u64 ids[4], result;

	ASSERT_EQ(0, dev_schedule(fd, flags, time, 0, &ids[0]));
	ids[1] = dev_after(fd, HOUR, 0);
	ASSERT_EQ(0, dev_reschedule(fd, ids[1], flags, time));
	ASSERT_EQ(1, dev_submit(fd, &request, 1));
	ASSERT_EQ(0, request.result);
	ids[2] = request.id;
	ASSERT_EQ(1,
		  dev_bulk(fd, HWTIMER_OP_SCHEDULE, flags, &timer, &ids[3], 1));
	timer.id = ids[3];
	ASSERT_EQ(1, dev_bulk(fd, HWTIMER_OP_RESCHEDULE, flags, &timer, &result,
			      1));
	EXPECT_EQ(0, result);
	for (unsigned int i = 0; i < 4; i++) {
		expect_waits(_metadata, fd, ids[i]);
		query = query_of(_metadata, fd, ids[i]);
		EXPECT_EQ(HWTIMER_NEVER, query.deadline);
		EXPECT_EQ(HWTIMER_NEVER, query.remaining);
		EXPECT_EQ(0, dev_cancel(fd, ids[i], 0));
	}
}

TEST_F(hwtimer, never_waits_as_deadline_and_as_delay)
{
	expect_parked(_metadata, self->fd, HWTIMER_REQ_ABSTIME, HWTIMER_NEVER);
	expect_parked(_metadata, self->fd, 0, HWTIMER_NEVER);
}

/* The clock has shown more than a nanosecond since it began. */
TEST_F(hwtimer, delay_beyond_the_end_of_the_clock_waits)
{
	expect_parked(_metadata, self->fd, 0, INT64_MAX - 1);
}

TEST_F(hwtimer, latest_deadline_before_never_waits)
{
	__u64 id = dev_at(self->fd, HWTIMER_NEVER - 1, 0);

	ASSERT_NE(0, id);
	expect_waits(_metadata, self->fd, id);
	EXPECT_EQ(HWTIMER_NEVER - 1,
		  query_of(_metadata, self->fd, id).deadline);
}

TEST_F(hwtimer, delay_of_a_century_waits)
{
	__u64 id = dev_after(self->fd, 101 * YEAR, 0);

	ASSERT_NE(0, id);
	expect_waits(_metadata, self->fd, id);
}

TEST_F(hwtimer, those_that_wait_do_not_stop_the_others)
{
	__u64 never = dev_at(self->fd, HWTIMER_NEVER, 0), id;

	ASSERT_NE(0, never);
	ASSERT_NE(0, dev_after(self->fd, HWTIMER_NEVER, 0));
	ASSERT_NE(0, dev_after(self->fd, INT64_MAX - 1, 0));
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	id = dev_after(self->fd, 5 * MS, 9);
	expect_event(_metadata, self->fd, id, 9);
	EXPECT_EQ(0, dev_cancel(self->fd, never, 0));
}

TEST_F(hwtimer, earlier_timer_overtakes_a_pending_one)
{
	struct hwtimer_request requests[2];

	fill_schedules(requests, 2, HWTIMER_REQ_ABSTIME, 0, 0);
	requests[0].time = 55 * MS;
	schedule_in_time(_metadata, self->fd, CLOCK_MONOTONIC, requests, 2,
			 5 * MS);
	expect_event(_metadata, self->fd, requests[1].id, 1);
	expect_event(_metadata, self->fd, requests[0].id, 0);
}

/* Ticks and wheels, from fine to coarse, with deadlines within a round and beyond */
FIXTURE(wheel)
{
	int fd;
};

FIXTURE_VARIANT(wheel)
{
	__u64 tick;
	__u32 buckets;
	__u64 spacing;
	unsigned int timers;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(wheel, one_turn)
{
	.tick = MS, .buckets = 4096, .spacing = MS, .timers = 100,
};

FIXTURE_VARIANT_ADD(wheel, many_turns)
{
	.tick = 10 * MS, .buckets = 8, .spacing = 10 * MS, .timers = 100,
};

FIXTURE_VARIANT_ADD(wheel, whole_turns)
{
	.tick = 10 * MS, .buckets = 8, .spacing = 80 * MS, .timers = 10,
};

FIXTURE_VARIANT_ADD(wheel, finest_tick)
{
	.tick = 10 * US, .buckets = 65536, .spacing = 77 * US, .timers = 100,
};

FIXTURE_VARIANT_ADD(wheel, coarse_tick)
{
	.tick = 50 * MS, .buckets = 8, .spacing = 7 * MS, .timers = 100,
};

/* clang-format on */

FIXTURE_SETUP(wheel)
{
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, dev_setup(self->fd, variant->tick, variant->buckets, 0));
}

FIXTURE_TEARDOWN(wheel)
{
	EXPECT_EQ(0, close(self->fd));
}

#define TIMERS_MAX 100

/* Expects that the events came in the order of their ticks. */
static void expect_order(struct __test_metadata *_metadata,
			 const struct hwtimer_event *events, unsigned int n,
			 __u64 tick)
{
	for (unsigned int i = 1; i < n; i++)
		EXPECT_LT(events[i - 1].deadline, events[i].deadline + tick);
}

TEST_F(wheel, all_come_never_early_and_in_order)
{
	struct hwtimer_request requests[TIMERS_MAX];
	struct hwtimer_event events[TIMERS_MAX];
	bool came[TIMERS_MAX] = { false };
	unsigned int n = variant->timers;
	__u64 base = now_ns() + 100 * MS;
	bool in_time;

	fill_schedules(requests, n, HWTIMER_REQ_ABSTIME, 0, 0);
	/* 37 has no common factor with the number of timers, which shuffles them. */
	for (unsigned int i = 0; i < n; i++) {
		requests[i].user_data = i * 37 % n;
		requests[i].time =
			base + requests[i].user_data * variant->spacing;
	}
	ASSERT_EQ(n, dev_submit(self->fd, requests, n));
	in_time = now_ns() < base;
	for (unsigned int i = 0; i < n; i++) {
		__u64 nth;

		ASSERT_EQ(1, dev_collect(self->fd, &events[i], 1));
		expect_due(_metadata, &events[i]);
		nth = events[i].user_data;
		ASSERT_GT(n, nth);
		EXPECT_FALSE(came[nth]);
		came[nth] = true;
		EXPECT_EQ(base + nth * variant->spacing, events[i].deadline);
	}
	if (in_time)
		expect_order(_metadata, events, n, variant->tick);
	else
		TH_LOG("the first was due before the last was scheduled");
}

TEST_F(hwtimer, ids_are_distinct_and_never_zero)
{
	__u64 ids[500];

	ASSERT_EQ(500, dev_schedule_many(self->fd, 500, 0, HOUR, ids));
	for (unsigned int i = 0; i < 500; i++) {
		EXPECT_NE(0, ids[i]);
		for (unsigned int j = 0; j < i; j++)
			EXPECT_NE(ids[i], ids[j]);
	}
}

/* The ioctl says what is to be done. */
TEST_F(hwtimer, op_and_id_are_ignored)
{
	const __u32 ops[] = { HWTIMER_OP_SCHEDULE, HWTIMER_OP_CANCEL,
			      HWTIMER_OP_RESCHEDULE, 4, UINT_MAX };
	__u64 first = dev_after(self->fd, HOUR, 1);

	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++) {
		struct hwtimer_request request = {
			.op = ops[i],
			.id = first,
			.time = HOUR,
			.result = -1,
		};

		EXPECT_EQ(0,
			  dev_ioctl(self->fd, HWTIMER_IOC_SCHEDULE, &request));
		EXPECT_NE(0, request.id);
		EXPECT_NE(first, request.id);
	}
	EXPECT_EQ(1 + ARRAY_SIZE(ops), stats_of(self->fd).pending);
}

TEST_F(hwtimer, flags_of_other_operations_are_ignored)
{
	struct hwtimer_timer timer;
	__u64 id;

	id = dev_add(self->fd,
		     (struct hwtimer_request){
			     .flags = HWTIMER_REQ_DISCARD | HWTIMER_REQ_REARM |
				      HWTIMER_REQ_CREATE | HWTIMER_REQ_SET,
			     .time = HOUR,
			     .user_data = 7,
		     });
	ASSERT_NE(0, id);
	timer = query_of(_metadata, self->fd, id);
	EXPECT_EQ(7, timer.user_data);
	EXPECT_EQ(0, timer.flags);
}

/* They are about a timer that repeats. */
TEST_F(hwtimer, without_an_interval_its_fields_are_ignored)
{
	struct hwtimer_request request = {
		.flags = HWTIMER_REQ_FIXED_DELAY,
		.user_data = 7,
		.expirations_max = 5,
	};
	struct hwtimer_timer timer;
	struct hwtimer_event event;
	__u64 id = dev_add(self->fd, request);

	ASSERT_NE(0, id);
	timer = query_of(_metadata, self->fd, id);
	EXPECT_EQ(0, timer.interval);
	EXPECT_EQ(0, timer.flags);
	EXPECT_EQ(0, timer.expirations_left);
	expect_event(_metadata, self->fd, id, 7);
	sleep_ns(20 * MS);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

TEST_F(hwtimer, bad_fields_are_einval)
{
	const struct hwtimer_request bad[] = {
		{ .flags = 1U << 6 },
		{ .flags = 1U << 31 },
		{ .interval = INT64_MAX + 1ULL },
		{ .interval = UINT64_MAX },
		{ .slack = INT64_MAX + 1ULL },
		{ .slack = UINT64_MAX },
		{ .reserved = 1 },
		{ .reserved = 1ULL << 63 },
	};
	struct hwtimer_stats stats;

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EINVAL, dev_try(self->fd, bad[i]))
		{
			TH_LOG("bad[%u]", i);
		}
	}
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(0, stats.scheduled);
}

TEST_F(hwtimer, not_done_if_the_id_cannot_be_written)
{
	struct hwtimer_request request = { .time = HOUR };

	EXPECT_EQ(-EFAULT,
		  dev_ioctl(self->fd, HWTIMER_IOC_SCHEDULE,
			    read_only_copy(&request, sizeof(request))));
	EXPECT_EQ(0, stats_of(self->fd).scheduled);
}

TEST_HARNESS_MAIN
