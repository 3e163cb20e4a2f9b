// SPDX-License-Identifier: GPL-2.0
/*
 * Timers by CLOCK_BOOTTIME, and timers by the clocks that may be set, CLOCK_REALTIME and
 * CLOCK_TAI. The latter follow the clock when somebody sets it, forwards or backwards, and an
 * instance can ask for a report of that. These tests set the machine's clock, and set it right
 * again by CLOCK_MONOTONIC.
 */
#include "hwtimer_test.h"

#include <sys/timex.h>

/* The true CLOCK_REALTIME minus CLOCK_MONOTONIC, taken before the first test. */
static __u64 true_offset;

static void __attribute__((constructor)) remember_the_time(void)
{
	true_offset = clock_ns(CLOCK_REALTIME) - now_ns();
}

/* Sets CLOCK_REALTIME to the true time plus @shift; returns 0 or -errno. */
static int shift_clock(__s64 shift)
{
	__u64 time = now_ns() + true_offset + shift;
	struct timespec ts = { .tv_sec = time / SEC, .tv_nsec = time % SEC };

	return result_of(clock_settime(CLOCK_REALTIME, &ts));
}

/* The clock of a test's instance that may be set, and how far it is ahead of CLOCK_REALTIME */
static clockid_t settable = CLOCK_REALTIME;
static __u64 ahead;

static __u64 now_settable(void)
{
	return clock_ns(settable);
}

/* Sets how far CLOCK_TAI is ahead of CLOCK_REALTIME; returns 0 or -errno. */
static int set_tai(unsigned int seconds)
{
	struct timex timex = { .modes = ADJ_TAI, .constant = seconds };

	return adjtimex(&timex) < 0 ? -errno : 0;
}

/* Begins a test with @clock. Returns 0 or, if the clock may not be set, -EPERM. */
static int begin_settable(clockid_t clock)
{
	settable = clock;
	ahead = clock == CLOCK_TAI ? 37 * SEC : 0;
	return set_tai(37) ?: shift_clock(0);
}

static int end_settable(void)
{
	return set_tai(0) ?: shift_clock(0);
}

static int open_clock(clockid_t clock, __u32 flags)
{
	struct hwtimer_setup setup = {
		.flags = flags,
		.clock = HWTIMER_CLOCK(clock),
	};

	return dev_open_as(setup);
}

/* ---- the numbers ---- */

/* So that a number of <time.h> means the clock that it means there, or none */
TEST_F(hwtimer, numbers_of_time_h_are_refused)
{
	struct hwtimer_info info;

	for (clockid_t id = 0; id < 20; id++) {
		bool known = id == CLOCK_REALTIME || id == CLOCK_MONOTONIC ||
			     id == CLOCK_BOOTTIME || id == CLOCK_TAI;
		struct hwtimer_setup setup = { .clock = HWTIMER_CLOCK(id) };

		EXPECT_EQ(known ? 0 : -EINVAL, dev_setup_as(self->fd, setup))
		{
			TH_LOG("clock %d", id);
		}
		setup.clock = id;
		EXPECT_EQ(id ? -EINVAL : 0, dev_setup_as(self->fd, setup))
		{
			TH_LOG("number %d", id);
		}
		ASSERT_EQ(0, dev_info(self->fd, &info));
		EXPECT_EQ(known && id ? HWTIMER_CLOCK(id) :
					(__u32)HWTIMER_CLOCK_MONOTONIC,
			  info.clock);
		ASSERT_EQ(0, dev_setup_as(self->fd, (struct hwtimer_setup){}));
	}
}

/* ---- CLOCK_BOOTTIME ---- */

FIXTURE(boottime)
{
	int fd;
};

FIXTURE_SETUP(boottime)
{
	self->fd = open_clock(CLOCK_BOOTTIME, 0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(boottime)
{
	expect_close(_metadata, self->fd);
}

TEST_F(boottime, relative_timer_comes)
{
	struct hwtimer_event event;
	__u64 before, after;

	before = clock_ns(CLOCK_BOOTTIME);
	ASSERT_NE(0, dev_after(self->fd, 20 * MS, 7));
	after = clock_ns(CLOCK_BOOTTIME);
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	expect_not_early(_metadata, &event, CLOCK_BOOTTIME);
	EXPECT_EQ(7, event.user_data);
	EXPECT_LE(before + 20 * MS, event.deadline);
	EXPECT_GE(after + 20 * MS, event.deadline);
}

TEST_F(boottime, absolute_timer_comes)
{
	__u64 deadline = clock_ns(CLOCK_BOOTTIME) + 20 * MS;
	struct hwtimer_event event;

	ASSERT_NE(0, dev_at(self->fd, deadline, 0));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	expect_not_early(_metadata, &event, CLOCK_BOOTTIME);
	EXPECT_EQ(deadline, event.deadline);
}

TEST_F(boottime, query_reschedule_and_stop_use_it)
{
	__u64 deadline = clock_ns(CLOCK_BOOTTIME) + HOUR, before, after, id;
	struct hwtimer_timer timer, query;

	id = dev_at(self->fd, deadline, 0);
	before = clock_ns(CLOCK_BOOTTIME);
	query = query_of(_metadata, self->fd, id);
	after = clock_ns(CLOCK_BOOTTIME);
	EXPECT_GE(deadline - before, query.remaining);
	EXPECT_LE(deadline - after, query.remaining);
	before = clock_ns(CLOCK_BOOTTIME);
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, 2 * HOUR));
	ASSERT_EQ(1, dev_stop(self->fd, &timer, 1, NULL));
	after = clock_ns(CLOCK_BOOTTIME);
	EXPECT_LE(before + 2 * HOUR, timer.deadline);
	EXPECT_GE(after + 2 * HOUR, timer.deadline);
	EXPECT_GE(2 * HOUR, timer.remaining);
}

TEST_F(boottime, periodic_timers_of_both_sorts)
{
	__u64 first = clock_ns(CLOCK_BOOTTIME) + 5 * MS, next = first, before;
	struct hwtimer_event event;
	__u64 id;

	ASSERT_NE(0, dev_add(self->fd, (struct hwtimer_request){
					       .flags = HWTIMER_REQ_ABSTIME,
					       .time = first,
					       .interval = 5 * MS,
					       .expirations_max = 6,
				       }));
	while (next < first + 6 * 5 * MS) {
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		expect_not_early(_metadata, &event, CLOCK_BOOTTIME);
		EXPECT_EQ(next, event.deadline);
		ASSERT_LE(1, event.expirations);
		next += event.expirations * 5 * MS;
	}
	EXPECT_EQ(first + 6 * 5 * MS, next);
	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_REQ_FIXED_DELAY,
				       .interval = HOUR,
			       });
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	before = clock_ns(CLOCK_BOOTTIME);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_LE(before + HOUR, query_of(_metadata, self->fd, id).deadline);
	EXPECT_GE(clock_ns(CLOCK_BOOTTIME) + HOUR,
		  query_of(_metadata, self->fd, id).deadline);
}

/* ---- clocks that may be set ---- */

FIXTURE(settable)
{
	int fd;
};

FIXTURE_VARIANT(settable)
{
	clockid_t clock;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(settable, realtime)
{
	.clock = CLOCK_REALTIME,
};

FIXTURE_VARIANT_ADD(settable, tai)
{
	.clock = CLOCK_TAI,
};

/* clang-format on */

FIXTURE_SETUP(settable)
{
	if (begin_settable(variant->clock) == -EPERM)
		SKIP(return, "the clock may not be set");
	self->fd = open_clock(variant->clock, 0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(settable)
{
	struct hwtimer_stats stats = stats_of(self->fd);

	EXPECT_EQ(0, end_settable());
	expect_balance(_metadata, &stats);
	/* Sets are counted only with HWTIMER_SETUP_REPORT_CLOCK_SET. */
	EXPECT_EQ(0, stats.clock_sets);
	EXPECT_EQ(0, close(self->fd));
}

/*
 * Expects @n events in order, each once. A timer's user_data is its place in the order;
 * no event may be early by the clock as it is now.
 */
static void expect_all(struct __test_metadata *_metadata, int fd,
		       unsigned int first, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct hwtimer_event event;

		ASSERT_EQ(1, dev_collect(fd, &event, 1));
		expect_not_early(_metadata, &event, settable);
		EXPECT_EQ(1, event.expirations);
		ASSERT_EQ(first + i, event.user_data);
	}
}

/*
 * Schedules @n timers, @spacing apart, in another order than that of their deadlines. All
 * are scheduled before the first is due, which is @lead from now or later. Returns the
 * first deadline.
 */
static __u64 schedule_shuffled(struct __test_metadata *_metadata, int fd,
			       unsigned int n, __u64 spacing, __u64 lead)
{
	struct hwtimer_request requests[BATCH];

	ASSERT_GE(BATCH, n);
	fill_schedules(requests, n, HWTIMER_REQ_ABSTIME, 0, 0);
	for (unsigned int i = 0; i < n; i++) {
		/* 37 has no common factor with any of the numbers of timers below. */
		requests[i].user_data = i * 37 % n;
		requests[i].time = requests[i].user_data * spacing;
	}
	return schedule_in_time(_metadata, fd, settable, requests, n, lead);
}

TEST_F(settable, timer_comes)
{
	__u64 deadline = now_settable() + 20 * MS;
	struct hwtimer_event event;

	ASSERT_NE(0, dev_at(self->fd, deadline, 7));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	expect_not_early(_metadata, &event, settable);
	EXPECT_EQ(deadline, event.deadline);
	EXPECT_EQ(7, event.user_data);
}

TEST_F(settable, past_deadlines_expire_and_far_ones_wait)
{
	const __s64 past[] = {
		0, 1, now_settable() / 2, now_settable() - 1, -5, INT64_MIN
	};
	struct hwtimer_event event;

	ASSERT_NE(0, dev_at(self->fd, HWTIMER_NEVER, 0));
	ASSERT_NE(0, dev_at(self->fd, HWTIMER_NEVER - 1, 0));
	ASSERT_NE(0, dev_at(self->fd, now_settable() + 100 * YEAR, 0));
	for (unsigned int i = 0; i < ARRAY_SIZE(past); i++) {
		ASSERT_NE(0, dev_at(self->fd, past[i], 1 + i));
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		EXPECT_EQ(1 + i, event.user_data);
	}
	EXPECT_EQ(3, stats_of(self->fd).pending);
}

TEST_F(settable, delays_are_einval)
{
	const __s64 delays[] = { 0, 1, HOUR, -1, HWTIMER_NEVER };
	__u64 deadline = now_settable() + HOUR, id;

	id = dev_at(self->fd, deadline, 0);
	ASSERT_NE(0, id);
	for (unsigned int i = 0; i < ARRAY_SIZE(delays); i++) {
		struct hwtimer_request requests[] = {
			{ .op = HWTIMER_OP_SCHEDULE, .time = delays[i] },
			{ .op = HWTIMER_OP_RESCHEDULE,
			  .id = id,
			  .time = delays[i] },
			{ .op = HWTIMER_OP_SCHEDULE,
			  .time = delays[i],
			  .interval = SEC },
		};
		__u64 unused;

		EXPECT_EQ(-EINVAL,
			  dev_schedule(self->fd, 0, delays[i], 0, &unused));
		EXPECT_EQ(-EINVAL, dev_reschedule(self->fd, id, 0, delays[i]));
		ASSERT_EQ(3, dev_submit(self->fd, requests, 3));
		for (unsigned int j = 0; j < 3; j++)
			EXPECT_EQ(-EINVAL, requests[j].result);
	}
	EXPECT_EQ(deadline, query_of(_metadata, self->fd, id).deadline);
	EXPECT_EQ(1, stats_of(self->fd).scheduled);
	EXPECT_EQ(0, stats_of(self->fd).rescheduled);
}

TEST_F(settable, refused_delay_does_not_start_it)
{
	struct hwtimer_info info;
	__u64 unused;

	EXPECT_EQ(-EINVAL, dev_schedule(self->fd, 0, HOUR, 0, &unused));
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(HWTIMER_CLOCK(settable), info.clock);
	EXPECT_EQ(0, info.started);
}

/* But without an interval the flag means nothing. */
TEST_F(settable, fixed_delay_is_einval)
{
	struct hwtimer_request request = {
		.flags = HWTIMER_REQ_ABSTIME | HWTIMER_REQ_FIXED_DELAY,
		.time = now_settable() + HOUR,
		.interval = SEC,
	};

	EXPECT_EQ(-EINVAL, dev_try(self->fd, request));
	EXPECT_EQ(0, stats_of(self->fd).scheduled);
	request.interval = 0;
	EXPECT_EQ(0, dev_try(self->fd, request));
}

TEST_F(settable, query_reschedule_and_stop_use_it)
{
	__u64 deadline = now_settable() + HOUR, before, after, id;
	struct hwtimer_timer timer, query;

	id = dev_at(self->fd, deadline, 0);
	before = now_settable();
	query = query_of(_metadata, self->fd, id);
	after = now_settable();
	EXPECT_GE(deadline - before, query.remaining);
	EXPECT_LE(deadline - after, query.remaining);
	ASSERT_EQ(0, dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME,
				    deadline + HOUR));
	before = now_settable();
	ASSERT_EQ(1, dev_stop(self->fd, &timer, 1, NULL));
	after = now_settable();
	EXPECT_EQ(deadline + HOUR, timer.deadline);
	EXPECT_GE(deadline + HOUR - before, timer.remaining);
	EXPECT_LE(deadline + HOUR - after, timer.remaining);
}

TEST_F(settable, forward_set_makes_a_pending_timer_due)
{
	__u64 deadline = now_settable() + HOUR, start;
	struct hwtimer_event event;

	ASSERT_NE(0, dev_at(self->fd, deadline, 7));
	sleep_ns(20 * MS);
	start = now_ns();
	ASSERT_EQ(0, shift_clock(2 * HOUR));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	TH_LOG("after %llu us", (now_ns() - start) / US);
	expect_not_early(_metadata, &event, settable);
	EXPECT_EQ(deadline, event.deadline);
	/* By its own clock the timer is an hour late. */
	EXPECT_EQ(UINT_MAX, event.lateness);
	EXPECT_LE(HOUR / 2, stats_of(self->fd).lateness_max);
}

TEST_F(settable, forward_set_leaves_what_is_still_ahead)
{
	__u64 deadline = now_settable() + 3 * HOUR, id;
	struct hwtimer_event event;

	id = dev_at(self->fd, deadline, 1);
	ASSERT_NE(0, dev_at(self->fd, now_settable() + HOUR, 0));
	ASSERT_EQ(0, shift_clock(2 * HOUR));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(0, event.user_data);
	sleep_ns(20 * MS);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	EXPECT_GE(HOUR, query_of(_metadata, self->fd, id).remaining);
	ASSERT_EQ(0, shift_clock(3 * HOUR));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(deadline, event.deadline);
}

/*
 * Like schedule_shuffled(), and then sets the clock to @shift, before the first timer is
 * due. Returns when that timer would have been due, in ns of CLOCK_MONOTONIC.
 */
static __u64 set_back_in_time(struct __test_metadata *_metadata, int fd,
			      unsigned int n, __u64 spacing, __s64 shift)
{
	for (__u64 lead = 50 * MS;; lead *= 2) {
		__u64 due = schedule_shuffled(_metadata, fd, n, spacing, lead) -
			    true_offset - ahead;

		ASSERT_EQ(0, shift_clock(shift));
		if (now_ns() < due)
			return due;
		ASSERT_EQ(0, shift_clock(0));
		ASSERT_EQ(n, dev_discard_events(fd, n));
	}
}

TEST_F(settable, backward_set_puts_a_pending_timer_off)
{
	struct hwtimer_event event;
	__u64 due;

	due = set_back_in_time(_metadata, self->fd, 1, 0, -(__s64)HOUR);
	sleep_until(due + 100 * MS);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	EXPECT_EQ(1, stats_of(self->fd).pending);
	ASSERT_EQ(0, shift_clock(0));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	expect_not_early(_metadata, &event, settable);
	EXPECT_EQ(due + true_offset + ahead, event.deadline);
}

/*
 * The timers come late by as much as the clock was set back, though nobody sets it again.
 */
TEST_F(settable, timer_comes_in_the_end_after_a_backward_set)
{
	__u64 due;

	due = set_back_in_time(_metadata, self->fd, 20, 5 * MS,
			       -(__s64)(200 * MS));
	expect_all(_metadata, self->fd, 0, 20);
	EXPECT_LE(due + 200 * MS, now_ns());
}

TEST_F(settable, many_timers_stay_in_order_across_a_backward_set)
{
	struct hwtimer_event event;
	__u64 due;

	due = set_back_in_time(_metadata, self->fd, 1000, 100 * US,
			       -(__s64)(24 * HOUR));
	sleep_until(due + 50 * MS);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	EXPECT_EQ(1000, stats_of(self->fd).pending);
	ASSERT_EQ(0, shift_clock(0));
	for (unsigned int i = 0; i < 1000; i++) {
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		expect_not_early(_metadata, &event, settable);
		/* 10 of them share a tick; the test does not know where a tick begins. */
		EXPECT_LE(i, event.user_data + 10);
		EXPECT_GE(i + 10, event.user_data);
	}
}

TEST_F(settable, backward_set_in_the_middle_of_them)
{
	unsigned int came = 0;

	schedule_shuffled(_metadata, self->fd, 100, 3 * MS, 50 * MS);
	expect_all(_metadata, self->fd, 0, 20);
	ASSERT_EQ(0, shift_clock(-(__s64)HOUR));
	sleep_ns(20 * MS);
	/* Events that were queued before can still be read: they were not early then. */
	for (struct hwtimer_event event; dev_read(self->fd, &event, 1) == 1;
	     came++)
		ASSERT_EQ(20 + came, event.user_data);
	sleep_ns(50 * MS);
	EXPECT_EQ(0, stats_of(self->fd).ready);
	EXPECT_EQ(80 - came, stats_of(self->fd).pending);
	ASSERT_EQ(0, shift_clock(0));
	expect_all(_metadata, self->fd, 20 + came, 80 - came);
}

TEST_F(settable, forward_set_in_the_middle_of_them)
{
	schedule_shuffled(_metadata, self->fd, 1000, 3 * MS, 50 * MS);
	expect_all(_metadata, self->fd, 0, 10);
	ASSERT_EQ(0, shift_clock(HOUR));
	expect_all(_metadata, self->fd, 10, 990);
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

/* Deadlines that are many rounds of the wheel ago are still delivered in order. */
TEST_F(settable, forward_set_over_many_rounds_of_a_small_wheel)
{
	struct hwtimer_setup setup = {
		.buckets = 8,
		.clock = HWTIMER_CLOCK(settable),
	};

	ASSERT_EQ(0, dev_setup_as(self->fd, setup));
	schedule_shuffled(_metadata, self->fd, 1000, 7 * MS, 50 * MS);
	ASSERT_EQ(0, shift_clock(HOUR));
	expect_all(_metadata, self->fd, 0, 1000);
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

/* The clock is set to a time before the instance was started, with old and new timers. */
TEST_F(settable, new_timers_after_a_backward_set)
{
	__u64 old = now_settable() + HOUR, deadline;
	struct hwtimer_event event;

	ASSERT_NE(0, dev_at(self->fd, old, 0));
	ASSERT_NE(0, dev_at(self->fd, now_settable() + 5 * MS, 1));
	ASSERT_EQ(1, dev_discard_events(self->fd, 1));
	for (unsigned int days = 1; days < 4; days++) {
		ASSERT_EQ(0, shift_clock(-(__s64)(days * 24 * HOUR)));
		for (unsigned int i = 0; i < 5; i++) {
			deadline = now_settable() + i * 7 * MS;
			ASSERT_NE(0, dev_at(self->fd, deadline, 2));
			ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
			expect_not_early(_metadata, &event, settable);
			EXPECT_EQ(2, event.user_data);
			EXPECT_EQ(deadline, event.deadline);
		}
	}
	EXPECT_EQ(1, stats_of(self->fd).pending);
	ASSERT_EQ(0, shift_clock(2 * HOUR));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(old, event.deadline);
}

/* The timer waits for the next tick, which is an hour away after the clock is set. */
TEST_F(settable, overdue_timer_comes_after_a_backward_set)
{
	struct hwtimer_setup setup = {
		.tick = 200 * MS,
		.clock = HWTIMER_CLOCK(settable),
	};
	struct hwtimer_event event;

	ASSERT_EQ(0, dev_setup_as(self->fd, setup));
	ASSERT_NE(0, dev_at(self->fd, 1, 7));
	ASSERT_EQ(0, shift_clock(-(__s64)HOUR));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(7, event.user_data);
}

TEST_F(settable, new_timers_in_order_after_a_backward_set)
{
	ASSERT_NE(0, dev_at(self->fd, now_settable(), 0));
	ASSERT_EQ(1, dev_discard_events(self->fd, 1));
	ASSERT_EQ(0, shift_clock(-(__s64)(24 * HOUR)));
	schedule_shuffled(_metadata, self->fd, 50, 2 * MS, 50 * MS);
	expect_all(_metadata, self->fd, 0, 50);
}

TEST_F(settable, rescheduled_after_a_backward_set)
{
	__u64 id = dev_at(self->fd, now_settable() + HOUR, 5), deadline;
	struct hwtimer_event event;

	ASSERT_NE(0, id);
	ASSERT_EQ(0, shift_clock(-(__s64)(24 * HOUR)));
	deadline = now_settable() + 20 * MS;
	ASSERT_EQ(0,
		  dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME, deadline));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	expect_not_early(_metadata, &event, settable);
	EXPECT_EQ(deadline, event.deadline);
	EXPECT_EQ(id, event.id);
}

TEST_F(settable, cancelled_and_stopped_after_a_backward_set)
{
	struct hwtimer_timer timers[4];
	__u64 id = dev_at(self->fd, now_settable() + HOUR, 5);

	ASSERT_NE(0, id);
	ASSERT_NE(0, dev_at(self->fd, now_settable() + HOUR, 6));
	ASSERT_EQ(0, shift_clock(-(__s64)(24 * HOUR)));
	EXPECT_EQ(0, dev_cancel(self->fd, id, 0));
	ASSERT_EQ(1, dev_stop(self->fd, timers, 4, NULL));
	EXPECT_EQ(6, timers[0].user_data);
	EXPECT_LT(24 * HOUR, timers[0].remaining);
	EXPECT_GE(25 * HOUR, timers[0].remaining);
}

/* The clock is set to and fro, over near and far timers: each comes once. */
TEST_F(settable, set_again_and_again)
{
	bool came[200] = { false };
	unsigned int total = 0;

	schedule_shuffled(_metadata, self->fd, 200, 50 * MS, 50 * MS);
	for (unsigned int i = 0; total < 200 && i < 2000; i++) {
		struct hwtimer_event events[16];
		int got;

		/* On the whole the clock goes forward. */
		ASSERT_EQ(0, shift_clock(i * 100 * MS +
					 (i * 7919ULL % 100) * 30 * MS));
		dev_poll(self->fd, POLLIN, 1);
		got = dev_read(self->fd, events, 16);
		for (int j = 0; j < got; j++, total++) {
			ASSERT_GT(200, events[j].user_data);
			ASSERT_FALSE(came[events[j].user_data]);
			came[events[j].user_data] = true;
		}
	}
	/* Events that a slow worker did not queue between the sets. */
	ASSERT_EQ(0, shift_clock(HOUR));
	for (; total < 200; total++) {
		struct hwtimer_event event;

		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		ASSERT_GT(200, event.user_data);
		ASSERT_FALSE(came[event.user_data]);
		came[event.user_data] = true;
	}
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

TEST_F(settable, forward_set_counts_all_expirations_of_a_periodic_timer)
{
	__u64 first = now_settable() + 10 * MS, before, after;
	struct hwtimer_event event;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_REQ_ABSTIME,
				       .time = first,
				       .interval = 10 * MS,
			       });
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, shift_clock(HOUR));
	before = now_settable();
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	after = now_settable();
	EXPECT_EQ(first, event.deadline);
	EXPECT_LE((before - first) / (10 * MS) + 1, event.expirations);
	EXPECT_GE((after - first) / (10 * MS) + 1, event.expirations);
	first += event.expirations * 10 * MS;
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	expect_not_early(_metadata, &event, settable);
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(first, event.deadline);
}

TEST_F(settable, backward_set_keeps_the_phase_of_a_periodic_timer)
{
	__u64 first = now_settable() + 10 * MS;
	struct hwtimer_event event;
	struct hwtimer_timer query;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_REQ_ABSTIME,
				       .time = first,
				       .interval = 10 * MS,
			       });
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, shift_clock(-(__s64)HOUR));
	/* The timer had expired; its next deadline is an hour away. */
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(first, event.deadline);
	EXPECT_EQ(1, event.expirations);
	query = query_of(_metadata, self->fd, id);
	EXPECT_EQ(HWTIMER_STATE_PENDING, query.state);
	EXPECT_EQ(first + 10 * MS, query.deadline);
	sleep_ns(30 * MS);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	ASSERT_EQ(0, shift_clock(0));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(first + 10 * MS, event.deadline);
}

/* An event counts expirations in 32 bits; the next event has the rest. */
TEST_F(settable, more_expirations_than_an_event_can_tell)
{
	__u64 first = now_settable() - 43000 * SEC, before, after, rest;
	struct hwtimer_setup setup = {
		.tick = 10 * US,
		.clock = HWTIMER_CLOCK(settable),
	};
	struct hwtimer_event event;

	ASSERT_EQ(0, dev_setup_as(self->fd, setup));
	ASSERT_NE(0, dev_add(self->fd, (struct hwtimer_request){
					       .flags = HWTIMER_REQ_ABSTIME,
					       .time = first,
					       .interval = 10 * US,
				       }));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(first, event.deadline);
	EXPECT_EQ(UINT_MAX, event.expirations);
	first += UINT_MAX * 10ULL * US;
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	before = now_settable();
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	after = now_settable();
	EXPECT_EQ(first, event.deadline);
	rest = event.expirations;
	EXPECT_LE((before - first) / (10 * US) + 1, rest);
	EXPECT_GE((after - first) / (10 * US) + 1, rest);
	EXPECT_EQ(UINT_MAX - 1 + rest - 1, stats_of(self->fd).missed);
}

TEST_F(settable, largest_count_that_has_passed_already)
{
	struct hwtimer_setup setup = {
		.tick = 10 * US,
		.clock = HWTIMER_CLOCK(settable),
	};
	struct hwtimer_event event;
	struct hwtimer_timer query;

	ASSERT_EQ(0, dev_setup_as(self->fd, setup));
	ASSERT_NE(0, dev_add(self->fd, (struct hwtimer_request){
					       .flags = HWTIMER_REQ_ABSTIME,
					       .time = 0,
					       .interval = 10 * US,
					       .expirations_max = UINT_MAX,
				       }));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(0, event.deadline);
	EXPECT_EQ(UINT_MAX, event.expirations);
	EXPECT_EQ(-ENOENT, dev_query(self->fd, event.id, &query));
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

TEST_F(settable, slack_and_a_backward_set)
{
	__u64 due = now_ns() + 50 * MS;
	struct hwtimer_event event;

	ASSERT_NE(0,
		  dev_add(self->fd, (struct hwtimer_request){
					    .flags = HWTIMER_REQ_ABSTIME,
					    .time = due + true_offset + ahead,
					    .slack = 10 * MS,
				    }));
	ASSERT_EQ(0, shift_clock(-(__s64)(50 * MS)));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(due + true_offset + ahead, event.deadline);
}

/*
 * The clock is set forward and back again. Timers that did not expire in between come at
 * their time, as if the clock had not been set.
 */
TEST_F(settable, forward_set_that_is_taken_back_while_they_expire)
{
	unsigned int n = scaled(50000);
	struct hwtimer_request *requests = calloc(n, sizeof(*requests));

	ASSERT_NE(NULL, requests);
	fill_schedules(requests, n, HWTIMER_REQ_ABSTIME, 0, 0);
	schedule_in_time(_metadata, self->fd, settable, requests, n,
			 100 * MS + n * 5 * US);
	ASSERT_EQ(0, shift_clock(HOUR));
	while (!stats_of(self->fd).ready)
		sleep_ns(100 * US);
	ASSERT_EQ(0, shift_clock(0));
	TH_LOG("%llu of %u had expired", stats_of(self->fd).ready, n);
	EXPECT_EQ(n, dev_discard_events(self->fd, n));
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

/* Timers within a tick keep their order, whether scheduled before or after a set. */
TEST_F(settable, order_within_a_tick_across_sets_of_both_sorts)
{
	enum { EACH = 100, SETS = 3, N = SETS * EACH, TICKS = 5 };
	const __s64 shifts[SETS] = { -(__s64)(24 * HOUR), HOUR / 2, 2 * HOUR };
	__u64 base = now_settable() + HOUR, last = 0, next[TICKS];
	struct hwtimer_request requests[EACH];
	struct hwtimer_event event;

	for (unsigned int i = 0; i < SETS; i++) {
		/* The wheel has turned, and must go back. */
		if (shifts[i] < 0) {
			ASSERT_NE(0, dev_at(self->fd, now_settable(), N));
			ASSERT_EQ(1, dev_discard_events(self->fd, 1));
		}
		fill_schedules(requests, EACH, HWTIMER_REQ_ABSTIME, base,
			       i * EACH);
		for (unsigned int j = 0; j < EACH; j++)
			requests[j].time += requests[j].user_data % TICKS * MS;
		schedule_all(_metadata, self->fd, requests, EACH);
		ASSERT_EQ(0, shift_clock(shifts[i]));
	}
	for (unsigned int i = 0; i < TICKS; i++)
		next[i] = i;
	for (unsigned int i = 0; i < N; i++) {
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		ASSERT_GT(N, event.user_data);
		EXPECT_LE(last, event.deadline);
		last = event.deadline;
		EXPECT_EQ(next[event.user_data % TICKS], event.user_data);
		next[event.user_data % TICKS] += TICKS;
	}
}

/* Instances with another clock do not notice the set. */
TEST_F(settable, other_clocks_are_not_set)
{
	const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_BOOTTIME };

	for (unsigned int i = 0; i < ARRAY_SIZE(clocks); i++) {
		int fd = open_clock(clocks[i], 0);
		struct hwtimer_event event;

		ASSERT_LE(0, fd);
		ASSERT_NE(0, dev_after(fd, HOUR, 0));
		ASSERT_EQ(0, shift_clock(2 * HOUR));
		sleep_ns(30 * MS);
		EXPECT_EQ(-EAGAIN, dev_read(fd, &event, 1));
		ASSERT_NE(0, dev_after(fd, 10 * MS, 1));
		ASSERT_EQ(0, shift_clock(-(__s64)HOUR));
		ASSERT_EQ(1, dev_collect(fd, &event, 1));
		EXPECT_EQ(1, event.user_data);
		EXPECT_EQ(0, close(fd));
	}
}

/* NOTIFY's delay does not follow the clock either. */
TEST_F(settable, delay_of_notify_is_not_set_back)
{
	ASSERT_EQ(0, dev_notify(self->fd, 10, 100 * MS));
	ASSERT_NE(0, dev_at(self->fd, 1, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, shift_clock(-(__s64)HOUR));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

TEST_F(settable, nobody_is_told_who_did_not_ask)
{
	struct hwtimer_event event;

	ASSERT_NE(0, dev_at(self->fd, now_settable() + 3 * HOUR, 0));
	ASSERT_EQ(0, shift_clock(HOUR));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 1100));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
}

/* ---- HWTIMER_SETUP_REPORT_CLOCK_SET ---- */

FIXTURE(report)
{
	int fd;
	__u64 far; /* a timer that is pending all the time */
};

FIXTURE_VARIANT(report)
{
	clockid_t clock;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(report, realtime)
{
	.clock = CLOCK_REALTIME,
};

FIXTURE_VARIANT_ADD(report, tai)
{
	.clock = CLOCK_TAI,
};

/* clang-format on */

FIXTURE_SETUP(report)
{
	if (begin_settable(variant->clock) == -EPERM)
		SKIP(return, "the clock may not be set");
	self->fd = open_clock(variant->clock, HWTIMER_SETUP_REPORT_CLOCK_SET);
	ASSERT_LE(0, self->fd);
	self->far = dev_at(self->fd, now_settable() + 100 * 24 * HOUR, 1000);
	ASSERT_NE(0, self->far);
}

FIXTURE_TEARDOWN(report)
{
	struct hwtimer_stats stats = stats_of(self->fd);

	EXPECT_EQ(0, end_settable());
	expect_balance(_metadata, &stats);
	EXPECT_EQ(0, close(self->fd));
}

/* Waits until the instance has counted @sets sets of the clock; returns false if it has more. */
static bool wait_for_sets(int fd, __u64 sets)
{
	while (stats_of(fd).clock_sets < sets)
		sleep_ns(5 * MS);
	return stats_of(fd).clock_sets == sets;
}

/* Expects that a reader gets the report, and gets it only once. */
static void expect_report(struct __test_metadata *_metadata, int fd)
{
	struct hwtimer_event event;

	EXPECT_EQ(POLLIN, dev_poll(fd, POLLIN, -1));
	EXPECT_EQ(-ECANCELED, dev_read(fd, &event, 1));
	EXPECT_EQ(0, dev_poll(fd, POLLIN, 0));
	EXPECT_EQ(-EAGAIN, dev_read(fd, &event, 1));
}

TEST_F(report, each_set_is_told_once)
{
	const __s64 shifts[] = { HOUR, -(__s64)HOUR, 0 };

	for (unsigned int i = 0; i < ARRAY_SIZE(shifts); i++) {
		__u64 start = now_ns();

		ASSERT_EQ(0, shift_clock(shifts[i]));
		expect_report(_metadata, self->fd);
		TH_LOG("after %llu ms", (now_ns() - start) / MS);
		EXPECT_EQ(i + 1, stats_of(self->fd).clock_sets);
		EXPECT_EQ(1, stats_of(self->fd).pending);
	}
	/* No further report comes. */
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 1100));
	EXPECT_EQ(3, stats_of(self->fd).clock_sets);
	EXPECT_EQ(3, told(self->fd, "clock_sets"));
}

/* The offset of CLOCK_TAI is set without CLOCK_REALTIME. */
TEST_F(report, only_tai_is_set)
{
	ASSERT_EQ(0, set_tai(38));
	if (settable == CLOCK_TAI)
		expect_report(_metadata, self->fd);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 1100));
	EXPECT_EQ(settable == CLOCK_TAI, stats_of(self->fd).clock_sets);
}

TEST_F(report, nothing_is_told_when_nobody_sets_it)
{
	struct hwtimer_event event;

	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2200));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	EXPECT_EQ(0, stats_of(self->fd).clock_sets);
	EXPECT_EQ(0, stats_of(self->fd).expired);
}

TEST_F(report, comes_before_events_that_wait_and_loses_none)
{
	struct hwtimer_event events[4];

	for (unsigned int i = 0; i < 3; i++)
		ASSERT_NE(0, dev_at(self->fd, 1 + i, i));
	ASSERT_TRUE(dev_wait_ready(self->fd, 3));
	ASSERT_EQ(0, shift_clock(SEC));
	ASSERT_TRUE(wait_for_sets(self->fd, 1));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	EXPECT_EQ(-ECANCELED, dev_read(self->fd, events, 4));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	ASSERT_EQ(3, dev_read(self->fd, events, 4));
	for (unsigned int i = 0; i < 3; i++)
		EXPECT_EQ(1, events[i].expirations);
}

TEST_F(report, timers_that_become_due_by_it_come_too)
{
	bool came[100] = { false };
	unsigned int total = 0, reports = 0;

	for (unsigned int i = 0; i < 100; i++)
		ASSERT_NE(0, dev_at(self->fd, now_settable() + HOUR, i));
	ASSERT_EQ(0, shift_clock(2 * HOUR));
	while (total < 100 || !reports) {
		struct hwtimer_event events[30];
		int got;

		ASSERT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
		got = dev_read(self->fd, events, 30);
		if (got == -ECANCELED) {
			reports++;
			continue;
		}
		ASSERT_LT(0, got);
		for (int i = 0; i < got; i++, total++) {
			ASSERT_GT(100, events[i].user_data);
			ASSERT_FALSE(came[events[i].user_data]);
			came[events[i].user_data] = true;
		}
	}
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 1100));
	EXPECT_EQ(1, reports);
	EXPECT_EQ(1, stats_of(self->fd).pending);
}

TEST_F(report, ends_a_blocked_read)
{
	struct reader reader = { .fd = self->fd };
	pthread_t thread;

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	start_threads(&thread, 1, read_one, &reader, 0);
	sleep_ns(20 * MS);
	ASSERT_EQ(0, shift_clock(-(__s64)HOUR));
	join_threads(&thread, 1);
	EXPECT_EQ(-ECANCELED, reader.result);
}

TEST_F(report, is_for_one_of_two_readers)
{
	struct reader readers[2] = { { .fd = self->fd }, { .fd = self->fd } };
	pthread_t threads[2];

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	start_threads(threads, 2, read_one, readers, sizeof(readers[0]));
	sleep_ns(20 * MS);
	ASSERT_EQ(0, shift_clock(SEC));
	while (!__atomic_load_n(&readers[0].result, __ATOMIC_RELAXED) &&
	       !__atomic_load_n(&readers[1].result, __ATOMIC_RELAXED))
		sleep_ns(MS);
	ASSERT_NE(0, dev_at(self->fd, 1, 7));
	join_threads(threads, 2);
	EXPECT_EQ(1 - ECANCELED, readers[0].result + readers[1].result);
}

TEST_F(report, is_not_used_up_by_a_read_that_asks_for_too_little)
{
	char buffer[sizeof(struct hwtimer_event)];

	ASSERT_EQ(0, shift_clock(SEC));
	ASSERT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	EXPECT_EQ(-EINVAL, result_of(read(self->fd, buffer, 31)));
	EXPECT_EQ(-ECANCELED, result_of(read(self->fd, buffer, 32)));
	EXPECT_EQ(-EAGAIN, result_of(read(self->fd, buffer, 32)));
}

TEST_F(report, every_instance_that_asked_is_told)
{
	int other = open_clock(settable, HWTIMER_SETUP_REPORT_CLOCK_SET);
	int silent = open_clock(settable, 0);

	ASSERT_LE(0, other);
	ASSERT_LE(0, silent);
	ASSERT_NE(0, dev_at(other, now_settable() + 24 * HOUR, 0));
	ASSERT_NE(0, dev_at(silent, now_settable() + 24 * HOUR, 0));
	ASSERT_EQ(0, shift_clock(HOUR));
	expect_report(_metadata, self->fd);
	expect_report(_metadata, other);
	EXPECT_EQ(0, dev_poll(silent, POLLIN, 20));
	EXPECT_EQ(0, stats_of(silent).clock_sets);
	EXPECT_EQ(0, close(other));
	EXPECT_EQ(0, close(silent));
}

TEST_F(report, is_ready_below_the_watermark)
{
	struct hwtimer_event event;

	ASSERT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER));
	ASSERT_NE(0, dev_at(self->fd, 1, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
	ASSERT_EQ(0, shift_clock(SEC));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	EXPECT_EQ(-ECANCELED, dev_read(self->fd, &event, 1));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
	EXPECT_EQ(1, dev_read(self->fd, &event, 1));
}

TEST_HARNESS_MAIN
