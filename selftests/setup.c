// SPDX-License-Identifier: GPL-2.0
/*
 * INFO and SETUP: the defaults, the range of every setting, what is refused and when, and
 * that a refused SETUP changes nothing.
 */
#include "hwtimer_test.h"

static __u32 buckets_of(int fd)
{
	struct hwtimer_info info;

	return dev_info(fd, &info) ? 0 : info.buckets;
}

static __u64 tick_of(int fd)
{
	struct hwtimer_info info;

	return dev_info(fd, &info) ? 0 : info.tick;
}

TEST_F(hwtimer, info_tells_the_version_and_the_limits)
{
	struct hwtimer_info info;

	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(HWTIMER_ABI_VERSION, info.abi_version);
	EXPECT_EQ(10 * US, info.tick_min);
	EXPECT_EQ(HOUR, info.tick_max);
	EXPECT_EQ(8, info.buckets_min);
	EXPECT_EQ(1 << 20, info.buckets_max);
	EXPECT_EQ(1 << 27, info.timers_max);
}

TEST_F(hwtimer, info_tells_the_defaults)
{
	struct hwtimer_info info;

	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(MS, info.tick);
	EXPECT_EQ(1 << 20, info.timers);
	EXPECT_LE(info.buckets_min, info.buckets);
	EXPECT_GE(info.buckets_max, info.buckets);
	EXPECT_EQ(0, info.buckets & (info.buckets - 1));
	EXPECT_EQ(HWTIMER_CLOCK_MONOTONIC, info.clock);
	EXPECT_EQ(0, info.started);
	EXPECT_EQ(0, info.flags);
}

TEST_F(hwtimer, info_tells_that_the_first_timer_started_it)
{
	struct hwtimer_info info;

	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(1, info.started);
}

TEST_F(hwtimer, refused_timer_does_not_start_it)
{
	struct hwtimer_info info;
	__u64 id;

	ASSERT_EQ(-EINVAL, dev_schedule(self->fd, 1 << 31, HOUR, 0, &id));
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(0, info.started);
	EXPECT_EQ(0, dev_setup(self->fd, 2 * MS, 0, 0));
}

TEST_F(hwtimer, setup_is_read_back_by_info)
{
	struct hwtimer_info info;

	ASSERT_EQ(0, dev_setup(self->fd, 250 * US, 4096, 77));
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(250 * US, info.tick);
	EXPECT_EQ(4096, info.buckets);
	EXPECT_EQ(77, info.timers);
	EXPECT_EQ(0, info.started);
}

TEST_F(hwtimer, setup_of_zeroes_is_the_defaults)
{
	const struct hwtimer_setup other = {
		.tick = 5 * MS,
		.timers = 77,
		.buckets = 64,
		.clock = HWTIMER_CLOCK_REALTIME,
		.flags = HWTIMER_SETUP_REPORT_CLOCK_SET |
			 HWTIMER_SETUP_AT_LEAST_ONCE,
	};
	struct hwtimer_info before, after;

	ASSERT_EQ(0, dev_info(self->fd, &before));
	ASSERT_EQ(0, dev_setup_as(self->fd, other));
	ASSERT_EQ(0, dev_setup_as(self->fd, (struct hwtimer_setup){ 0 }));
	ASSERT_EQ(0, dev_info(self->fd, &after));
	EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
}

TEST_F(hwtimer, setup_may_be_repeated_before_the_first_timer)
{
	ASSERT_EQ(0, dev_setup(self->fd, 5 * MS, 64, 0));
	ASSERT_EQ(0, dev_setup(self->fd, MS, 1 << 20, 0));
	ASSERT_EQ(0, dev_setup(self->fd, 3 * MS, 128, 0));
	EXPECT_EQ(3 * MS, tick_of(self->fd));
	EXPECT_EQ(128, buckets_of(self->fd));
}

TEST_F(hwtimer, range_of_the_tick)
{
	EXPECT_EQ(0, dev_setup(self->fd, 10 * US, 0, 0));
	EXPECT_EQ(10 * US, tick_of(self->fd));
	EXPECT_EQ(0, dev_setup(self->fd, HOUR, 0, 0));
	EXPECT_EQ(HOUR, tick_of(self->fd));
	EXPECT_EQ(-EINVAL, dev_setup(self->fd, 1, 0, 0));
	EXPECT_EQ(-EINVAL, dev_setup(self->fd, 10 * US - 1, 0, 0));
	EXPECT_EQ(-EINVAL, dev_setup(self->fd, HOUR + 1, 0, 0));
	EXPECT_EQ(-EINVAL, dev_setup(self->fd, UINT64_MAX, 0, 0));
}

TEST_F(hwtimer, range_of_the_buckets)
{
	EXPECT_EQ(0, dev_setup(self->fd, 0, 8, 0));
	EXPECT_EQ(8, buckets_of(self->fd));
	EXPECT_EQ(0, dev_setup(self->fd, 0, 1 << 20, 0));
	EXPECT_EQ(1 << 20, buckets_of(self->fd));
	EXPECT_EQ(-EINVAL, dev_setup(self->fd, 0, 1, 0));
	EXPECT_EQ(-EINVAL, dev_setup(self->fd, 0, 7, 0));
	EXPECT_EQ(-EINVAL, dev_setup(self->fd, 0, (1 << 20) + 1, 0));
	EXPECT_EQ(-EINVAL, dev_setup(self->fd, 0, 1U << 31, 0));
	EXPECT_EQ(-EINVAL, dev_setup(self->fd, 0, UINT_MAX, 0));
}

TEST_F(hwtimer, buckets_are_rounded_up_to_a_power_of_two)
{
	EXPECT_EQ(0, dev_setup(self->fd, 0, 9, 0));
	EXPECT_EQ(16, buckets_of(self->fd));
	EXPECT_EQ(0, dev_setup(self->fd, 0, 1000, 0));
	EXPECT_EQ(1024, buckets_of(self->fd));
	EXPECT_EQ(0, dev_setup(self->fd, 0, (1 << 20) - 1, 0));
	EXPECT_EQ(1 << 20, buckets_of(self->fd));
}

/* Expects that a wheel with these settings takes near and far timers. */
static void expect_works(struct __test_metadata *_metadata, __u64 tick,
			 __u32 buckets)
{
	struct hwtimer_timer query;
	int fd = dev_open(0);
	__u64 id;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, dev_setup(fd, tick, buckets, 0));
	/* More than the wheel with which an instance starts has room for */
	ASSERT_EQ(100, dev_schedule_many(fd, 100, 0, 24 * HOUR, NULL));
	EXPECT_NE(0, dev_after(fd, INT64_MAX - 1, 0));
	id = dev_at(fd, INT64_MAX - 1, 7);
	ASSERT_NE(0, id);
	ASSERT_EQ(0, dev_query(fd, id, &query));
	EXPECT_EQ(INT64_MAX - 1, query.deadline);
	EXPECT_EQ(0, dev_cancel(fd, id, 0));
	EXPECT_EQ(0, close(fd));
}

TEST_F(hwtimer, extremes_work_together)
{
	expect_works(_metadata, HOUR, 1 << 20);
	expect_works(_metadata, HOUR, 8);
	expect_works(_metadata, 10 * US, 1 << 20);
	expect_works(_metadata, 10 * US, 8);
}

TEST_F(hwtimer, range_of_the_limit)
{
	struct hwtimer_info info;

	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(0, dev_setup(self->fd, 0, 0, 1));
	EXPECT_EQ(0, dev_setup(self->fd, 0, 0, info.timers_max));
	EXPECT_EQ(-EINVAL, dev_setup(self->fd, 0, 0, info.timers_max + 1));
	EXPECT_EQ(-EINVAL, dev_setup(self->fd, 0, 0, UINT64_MAX));
}

TEST_F(hwtimer, started_wheel_is_what_info_told)
{
	struct hwtimer_info before, after;

	ASSERT_EQ(0, dev_setup(self->fd, 0, 8, 0));
	ASSERT_EQ(0, dev_info(self->fd, &before));
	/* The wheel with which it starts has other buckets, which nobody is told. */
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	ASSERT_EQ(0, dev_info(self->fd, &after));
	EXPECT_EQ(1, after.started);
	after.started = 0;
	after.until_next = before.until_next;
	EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
}

TEST_F(hwtimer, clock_can_be_chosen)
{
	const __u32 clocks[] = { HWTIMER_CLOCK_BOOTTIME, HWTIMER_CLOCK_REALTIME,
				 HWTIMER_CLOCK_TAI, HWTIMER_CLOCK_MONOTONIC };
	struct hwtimer_setup setup = { 0 };
	struct hwtimer_info info;

	for (unsigned int i = 0; i < ARRAY_SIZE(clocks); i++) {
		setup.clock = clocks[i];
		ASSERT_EQ(0, dev_setup_as(self->fd, setup));
		ASSERT_EQ(0, dev_info(self->fd, &info));
		EXPECT_EQ(clocks[i], info.clock);
	}
}

/* A program that chooses nothing gets the clock for timeouts, which takes delays. */
TEST_F(hwtimer, default_clock_takes_delays)
{
	struct hwtimer_event event;
	struct hwtimer_info info;

	ASSERT_EQ(0, dev_setup_as(self->fd, (struct hwtimer_setup){ 0 }));
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(HWTIMER_CLOCK_MONOTONIC, info.clock);
	ASSERT_NE(0, dev_after(self->fd, MS, 1));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	expect_due(_metadata, &event);
}

TEST(numbers_of_clocks_are_those_of_time_h_and_256)
{
	EXPECT_EQ(HWTIMER_CLOCK_REALTIME, HWTIMER_CLOCK(CLOCK_REALTIME));
	EXPECT_EQ(HWTIMER_CLOCK_MONOTONIC, HWTIMER_CLOCK(CLOCK_MONOTONIC));
	EXPECT_EQ(HWTIMER_CLOCK_BOOTTIME, HWTIMER_CLOCK(CLOCK_BOOTTIME));
	EXPECT_EQ(HWTIMER_CLOCK_TAI, HWTIMER_CLOCK(CLOCK_TAI));
	EXPECT_EQ(256 + CLOCK_TAI, HWTIMER_CLOCK_TAI);
}

/* Numbers of <time.h> name no clock, and neither do those of its other clocks and 256. */
TEST_F(hwtimer, other_clocks_are_einval)
{
	const __u32 clocks[] = { CLOCK_MONOTONIC,
				 CLOCK_BOOTTIME,
				 CLOCK_TAI,
				 CLOCK_MONOTONIC_RAW,
				 CLOCK_MONOTONIC_COARSE,
				 CLOCK_REALTIME_COARSE,
				 CLOCK_REALTIME_ALARM,
				 CLOCK_BOOTTIME_ALARM,
				 CLOCK_PROCESS_CPUTIME_ID,
				 CLOCK_THREAD_CPUTIME_ID,
				 HWTIMER_CLOCK(CLOCK_MONOTONIC_RAW),
				 HWTIMER_CLOCK(CLOCK_MONOTONIC_COARSE),
				 HWTIMER_CLOCK(CLOCK_REALTIME_COARSE),
				 HWTIMER_CLOCK(CLOCK_REALTIME_ALARM),
				 HWTIMER_CLOCK(CLOCK_BOOTTIME_ALARM),
				 HWTIMER_CLOCK(CLOCK_PROCESS_CPUTIME_ID),
				 HWTIMER_CLOCK(CLOCK_THREAD_CPUTIME_ID),
				 255,
				 268,
				 512,
				 1U << 31,
				 UINT_MAX };
	struct hwtimer_setup setup = { 0 };

	for (unsigned int i = 0; i < ARRAY_SIZE(clocks); i++) {
		setup.clock = clocks[i];
		EXPECT_EQ(-EINVAL, dev_setup_as(self->fd, setup));
	}
}

/* CLOCK_REALTIME and CLOCK_TAI */
static const struct {
	__u32 nr;
	clockid_t id;
} settable[] = {
	{ HWTIMER_CLOCK_REALTIME, CLOCK_REALTIME },
	{ HWTIMER_CLOCK_TAI, CLOCK_TAI },
};

/* Nothing says what a delay would mean if the clock was set. */
TEST_F(hwtimer, clocks_that_may_be_set_take_deadlines_only)
{
	const __s64 delays[] = { HWTIMER_NEVER, HOUR, 0, -1, INT64_MIN };

	for (unsigned int i = 0; i < ARRAY_SIZE(settable); i++) {
		struct hwtimer_setup setup = { .clock = settable[i].nr };
		struct hwtimer_bulk_timer timer = { 0 };
		__u64 deadline, id, result;
		struct hwtimer_event event;

		ASSERT_TRUE(dev_renew(&self->fd));
		ASSERT_EQ(0, dev_setup_as(self->fd, setup));
		id = dev_at(self->fd, clock_ns(settable[i].id) + HOUR, 1);
		ASSERT_NE(0, id);
		for (unsigned int j = 0; j < ARRAY_SIZE(delays); j++) {
			struct hwtimer_request request = {
				.op = HWTIMER_OP_SCHEDULE,
				.time = delays[j],
			};

			EXPECT_EQ(-EINVAL, dev_try(self->fd, request));
			EXPECT_EQ(-EINVAL,
				  dev_reschedule(self->fd, id, 0, delays[j]));
			ASSERT_EQ(1, dev_submit(self->fd, &request, 1));
			EXPECT_EQ(-EINVAL, request.result);
			timer.time = delays[j];
			EXPECT_EQ(-EINVAL,
				  dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, 0,
					   &timer, &result, 1));
			EXPECT_EQ(-EINVAL,
				  dev_bulk(self->fd, HWTIMER_OP_RESCHEDULE, 0,
					   &timer, &result, 1));
		}
		EXPECT_EQ(-EINVAL,
			  dev_try(self->fd,
				  (struct hwtimer_request){
					  .flags = HWTIMER_REQ_ABSTIME |
						   HWTIMER_REQ_FIXED_DELAY,
					  .time = HWTIMER_NEVER,
					  .interval = SEC,
				  }));
		EXPECT_EQ(1, stats_of(self->fd).scheduled);
		deadline = clock_ns(settable[i].id) + 5 * MS;
		ASSERT_NE(0, dev_at(self->fd, deadline, 2));
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		EXPECT_EQ(2, event.user_data);
		EXPECT_EQ(deadline, event.deadline);
		expect_not_early(_metadata, &event, settable[i].id);
		ASSERT_EQ(0, dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME,
					    HWTIMER_NEVER));
		EXPECT_EQ(HWTIMER_NEVER,
			  query_of(_metadata, self->fd, id).deadline);
	}
}

TEST_F(hwtimer, report_of_clock_sets_can_be_chosen)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(settable); i++) {
		struct hwtimer_setup setup = {
			.flags = HWTIMER_SETUP_REPORT_CLOCK_SET,
			.clock = settable[i].nr,
		};
		struct hwtimer_info info;

		ASSERT_EQ(0, dev_setup_as(self->fd, setup));
		ASSERT_EQ(0, dev_info(self->fd, &info));
		EXPECT_EQ(HWTIMER_SETUP_REPORT_CLOCK_SET, info.flags);
		setup.flags = 0;
		ASSERT_EQ(0, dev_setup_as(self->fd, setup));
		ASSERT_EQ(0, dev_info(self->fd, &info));
		EXPECT_EQ(0, info.flags);
	}
}

TEST_F(hwtimer, report_of_clock_sets_is_for_clocks_that_may_be_set)
{
	struct hwtimer_setup setup = { 0 };

	setup.flags = HWTIMER_SETUP_REPORT_CLOCK_SET;
	EXPECT_EQ(-EINVAL, dev_setup_as(self->fd, setup));
	setup.clock = HWTIMER_CLOCK_BOOTTIME;
	EXPECT_EQ(-EINVAL, dev_setup_as(self->fd, setup));
	setup.clock = HWTIMER_CLOCK_DEFAULT;
	EXPECT_EQ(-EINVAL, dev_setup_as(self->fd, setup));
}

TEST_F(hwtimer, unknown_settings_are_einval)
{
	struct hwtimer_setup setup;

	for (unsigned int bit = 2; bit < 32; bit++) {
		setup = (struct hwtimer_setup){ 0 };
		setup.flags = 1U << bit;
		EXPECT_EQ(-EINVAL, dev_setup_as(self->fd, setup));
		setup.clock = HWTIMER_CLOCK_REALTIME;
		setup.flags |= HWTIMER_SETUP_REPORT_CLOCK_SET;
		EXPECT_EQ(-EINVAL, dev_setup_as(self->fd, setup));
	}
	EXPECT_EQ(0, dev_setup(self->fd, 0, 0, 0));
}

TEST_F(hwtimer, refused_setup_changes_nothing)
{
	struct hwtimer_info before, after;
	struct hwtimer_setup setup;

	ASSERT_EQ(0, dev_setup(self->fd, 5 * MS, 64, 77));
	ASSERT_EQ(0, dev_info(self->fd, &before));
	setup = (struct hwtimer_setup){ 0 };
	setup.tick = 7 * MS;
	setup.buckets = 128;
	setup.timers = 99;
	setup.flags = 1U << 31;
	EXPECT_EQ(-EINVAL, dev_setup_as(self->fd, setup));
	EXPECT_EQ(-EINVAL, dev_setup(self->fd, 7 * MS, 128, UINT64_MAX));
	EXPECT_EQ(-EINVAL, dev_setup(self->fd, 7 * MS, 1, 99));
	EXPECT_EQ(-EINVAL, dev_setup(self->fd, 1, 128, 99));
	setup = (struct hwtimer_setup){ 0 };
	setup.clock = CLOCK_MONOTONIC;
	EXPECT_EQ(-EINVAL, dev_setup_as(self->fd, setup));
	setup.clock = HWTIMER_CLOCK_BOOTTIME;
	setup.flags = HWTIMER_SETUP_REPORT_CLOCK_SET;
	EXPECT_EQ(-EINVAL, dev_setup_as(self->fd, setup));
	ASSERT_EQ(0, dev_info(self->fd, &after));
	EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
}

TEST_F(hwtimer, setup_of_a_turning_wheel_is_ebusy)
{
	struct hwtimer_info before, after;
	__u64 id = dev_after(self->fd, HOUR, 0);

	ASSERT_NE(0, id);
	ASSERT_EQ(0, dev_info(self->fd, &before));
	EXPECT_EQ(-EBUSY, dev_setup(self->fd, 5 * MS, 64, 0));
	ASSERT_EQ(0, dev_info(self->fd, &after));
	after.until_next = before.until_next;
	EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
}

TEST_F(hwtimer, setup_stays_ebusy_when_all_timers_have_ended)
{
	__u64 id = dev_after(self->fd, HOUR, 0);

	ASSERT_EQ(0, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(-EBUSY, dev_setup(self->fd, 5 * MS, 64, 0));
}

TEST_F(hwtimer, setup_of_a_stopped_instance_is_ebusy)
{
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(-EBUSY, dev_setup(self->fd, 5 * MS, 64, 0));
}

TEST_HARNESS_MAIN
