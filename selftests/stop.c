// SPDX-License-Identifier: GPL-2.0
/*
 * STOP: the wheel ends. Timers that it never processed come back, each once, in any
 * number of calls. Ready events can still be read.
 */
#include "hwtimer_test.h"

#define N 300

static struct hwtimer_stop stop_argument(struct hwtimer_unprocessed *timers,
					 unsigned int count)
{
	return (struct hwtimer_stop){
		.size = sizeof(struct hwtimer_stop),
		.timers = (uintptr_t)timers,
		.count = count,
	};
}

/* Calls STOP with room for @room timers until none is left; expects @n timers. */
static void expect_handed_back(struct __test_metadata *_metadata, int fd,
			       unsigned int room, unsigned int n)
{
	struct hwtimer_unprocessed timers[N];
	bool came[N] = { false };
	struct hwtimer_stats stats;
	unsigned int got = 0;
	__u64 left = 1;

	while (left) {
		int ret = dev_stop(fd, timers, room, &left);

		ASSERT_EQ(n - got < room ? n - got : room, ret);
		for (int i = 0; i < ret; i++) {
			ASSERT_GT(N, timers[i].user_data);
			EXPECT_FALSE(came[timers[i].user_data]);
			came[timers[i].user_data] = true;
			EXPECT_NE(0, timers[i].id);
			EXPECT_EQ(0, timers[i].interval);
			EXPECT_EQ(0, timers[i].slack);
			EXPECT_EQ(0, timers[i].count);
			EXPECT_EQ(0, timers[i].flags);
		}
		got += ret;
		EXPECT_EQ(n - got, left);
	}
	EXPECT_EQ(n, got);
	EXPECT_EQ(0, dev_stop(fd, timers, room, &left));
	EXPECT_EQ(0, left);
	ASSERT_EQ(0, dev_stats(fd, &stats));
	EXPECT_EQ(n, stats.unprocessed);
	EXPECT_EQ(0, stats.pending);
	expect_balance(_metadata, &stats);
}

TEST_F(hwtimer, stop_of_an_unused_instance)
{
	__u64 left = 1;

	EXPECT_EQ(0, dev_stop(self->fd, NULL, 0, &left));
	EXPECT_EQ(0, left);
}

TEST_F(hwtimer, timer_comes_back_as_it_was)
{
	__u64 deadline = now_ns() + HOUR, before, after, left;
	__u64 id = dev_at(self->fd, deadline, 4711);
	struct hwtimer_unprocessed timer;

	ASSERT_NE(0, id);
	before = now_ns();
	ASSERT_EQ(1, dev_stop(self->fd, &timer, 1, &left));
	after = now_ns();
	EXPECT_EQ(0, left);
	EXPECT_EQ(id, timer.id);
	EXPECT_EQ(4711, timer.user_data);
	EXPECT_EQ(deadline, timer.deadline);
	EXPECT_GE(deadline - before, timer.remaining);
	EXPECT_LE(deadline - after, timer.remaining);
	EXPECT_EQ(0, timer.interval);
	EXPECT_EQ(0, timer.slack);
	EXPECT_EQ(0, timer.count);
	EXPECT_EQ(0, timer.flags);
}

TEST_F(hwtimer, rescheduled_timer_comes_back_once_with_its_last_deadline)
{
	__u64 id = dev_after(self->fd, HOUR, 1), deadline = now_ns() + 3 * HOUR;
	struct hwtimer_unprocessed timers[4];

	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, 4 * HOUR));
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, HOUR / 2));
	ASSERT_EQ(0, dev_reschedule(self->fd, id, HWTIMER_ABSOLUTE, deadline));
	ASSERT_EQ(1, dev_stop(self->fd, timers, 4, NULL));
	EXPECT_EQ(id, timers[0].id);
	EXPECT_EQ(deadline, timers[0].deadline);
}

TEST_F(hwtimer, timer_that_waits_for_ever_comes_back)
{
	struct hwtimer_unprocessed timer;

	ASSERT_NE(0, dev_at(self->fd, HWTIMER_NEVER, 0));
	ASSERT_EQ(1, dev_stop(self->fd, &timer, 1, NULL));
	EXPECT_EQ(HWTIMER_NEVER, timer.deadline);
	EXPECT_LE(100 * YEAR, timer.remaining);
}

TEST_F(hwtimer, all_in_one_call)
{
	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	expect_handed_back(_metadata, self->fd, N, N);
}

TEST_F(hwtimer, one_by_one)
{
	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	expect_handed_back(_metadata, self->fd, 1, N);
}

TEST_F(hwtimer, in_calls_that_do_not_divide_them)
{
	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	expect_handed_back(_metadata, self->fd, 7, N);
}

TEST_F(hwtimer, count_of_0_only_stops)
{
	__u64 left;

	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	EXPECT_EQ(0, dev_stop(self->fd, NULL, 0, &left));
	EXPECT_EQ(N, left);
	expect_handed_back(_metadata, self->fd, N, N);
}

TEST_F(hwtimer, only_pending_timers_come_back)
{
	struct hwtimer_unprocessed timers[4];
	__u64 pending, cancelled, ready, left;
	struct hwtimer_event event;
	struct hwtimer_stats stats;

	ready = dev_after(self->fd, 0, 1);
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	cancelled = dev_after(self->fd, HOUR, 2);
	pending = dev_after(self->fd, HOUR, 3);
	ASSERT_EQ(0, dev_cancel(self->fd, cancelled, 0));
	ASSERT_EQ(1, dev_stop(self->fd, timers, 4, &left));
	EXPECT_EQ(0, left);
	EXPECT_EQ(pending, timers[0].id);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(ready, event.id);
	EXPECT_EQ(0, dev_read(self->fd, &event, 1));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(1, stats.unprocessed);
	EXPECT_EQ(1, stats.cancelled);
	EXPECT_EQ(1, stats.delivered);
}

TEST_F(hwtimer, ready_events_can_be_read_between_calls)
{
	struct hwtimer_unprocessed timers[2];
	struct hwtimer_event event;

	ASSERT_EQ(5, dev_schedule_many(self->fd, 5, 0, 0, NULL));
	ASSERT_TRUE(dev_wait_ready(self->fd, 5));
	ASSERT_EQ(5, dev_schedule_many(self->fd, 5, 0, HOUR, NULL));
	EXPECT_EQ(2, dev_stop(self->fd, timers, 2, NULL));
	EXPECT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(2, dev_stop(self->fd, timers, 2, NULL));
	EXPECT_EQ(4, dev_discard_events(self->fd, 4));
	EXPECT_EQ(1, dev_stop(self->fd, timers, 2, NULL));
	EXPECT_EQ(0, dev_read(self->fd, &event, 1));
}

TEST_F(hwtimer, nothing_expires_any_more)
{
	__u64 deadline, left = 0;
	struct hwtimer_unprocessed timer;
	struct hwtimer_event event;

	/* If the timer has expired before STOP, try again with more time. */
	for (__u64 delay = 300 * MS;; delay *= 3) {
		deadline = now_ns() + delay;
		ASSERT_NE(0, dev_at(self->fd, deadline, 0));
		ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, &left));
		if (left)
			break;
		ASSERT_LE(deadline, now_ns());
		ASSERT_TRUE(dev_renew(&self->fd));
	}
	ASSERT_EQ(1, left);
	while (now_ns() < deadline + 50 * MS)
		sleep_ns(50 * MS);
	EXPECT_EQ(0, dev_read(self->fd, &event, 1));
	ASSERT_EQ(1, dev_stop(self->fd, &timer, 1, NULL));
	EXPECT_EQ(deadline, timer.deadline);
	EXPECT_EQ(0, timer.remaining);
}

TEST_F(hwtimer, nothing_can_be_scheduled_any_more)
{
	__u64 id = dev_after(self->fd, HOUR, 0);
	struct hwtimer_request requests[] = {
		{ .op = HWTIMER_OP_SCHEDULE, .time = HOUR },
		{ .op = HWTIMER_OP_RESCHEDULE, .id = id, .time = HOUR },
	};
	__u64 unused;

	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(-ESHUTDOWN, dev_schedule(self->fd, 0, HOUR, 0, &unused));
	EXPECT_EQ(-ESHUTDOWN, dev_schedule(self->fd, 0, 0, 0, &unused));
	EXPECT_EQ(-ESHUTDOWN, dev_reschedule(self->fd, id, 0, HOUR));
	EXPECT_EQ(2, dev_submit(self->fd, requests, 2));
	EXPECT_EQ(-ESHUTDOWN, requests[0].result);
	EXPECT_EQ(-ESHUTDOWN, requests[1].result);
}

TEST_F(hwtimer, unused_instance_stays_stopped)
{
	__u64 unused;

	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(-ESHUTDOWN, dev_schedule(self->fd, 0, HOUR, 0, &unused));
}

TEST_F(hwtimer, cancel_works_and_takes_the_timer_out)
{
	struct hwtimer_unprocessed timers[4];
	__u64 ids[3], left;

	ASSERT_EQ(3, dev_schedule_many(self->fd, 3, 0, HOUR, ids));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, &left));
	EXPECT_EQ(3, left);
	EXPECT_EQ(0, dev_cancel(self->fd, ids[1], 0));
	ASSERT_EQ(2, dev_stop(self->fd, timers, 4, &left));
	EXPECT_EQ(0, left);
	EXPECT_NE(ids[1], timers[0].id);
	EXPECT_NE(ids[1], timers[1].id);
}

TEST_F(hwtimer, ids_handed_back_are_no_longer_valid)
{
	struct hwtimer_unprocessed timer;
	struct hwtimer_query query;
	__u64 id = dev_after(self->fd, HOUR, 0);

	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(0, dev_query(self->fd, id, &query));
	EXPECT_EQ(HWTIMER_STATE_PENDING, query.state);
	ASSERT_EQ(1, dev_stop(self->fd, &timer, 1, NULL));
	EXPECT_EQ(-ENOENT, dev_query(self->fd, id, &query));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, id, 0));
}

TEST_F(hwtimer, read_is_0_again_and_again)
{
	struct hwtimer_event event;

	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(0, dev_read(self->fd, &event, 1));
	EXPECT_EQ(0, dev_read(self->fd, &event, 1));
}

TEST_F(hwtimer, stop_ends_blocked_reads)
{
	struct reader readers[4];
	pthread_t threads[4];

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	for (unsigned int i = 0; i < 4; i++)
		readers[i] = (struct reader){ .fd = self->fd, .result = 1 };
	start_threads(threads, 4, read_one, readers, sizeof(readers[0]));
	sleep_ns(50 * MS);
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	join_threads(threads, 4);
	for (unsigned int i = 0; i < 4; i++)
		EXPECT_EQ(0, readers[i].result);
}

TEST_F(hwtimer, info_and_stats_work_when_stopped)
{
	struct hwtimer_stats stats;
	struct hwtimer_info info;

	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(0, dev_stats(self->fd, &stats));
}

TEST_F(hwtimer, unknown_flags_are_einval_and_do_not_stop)
{
	struct hwtimer_stop stop;

	for (unsigned int bit = 0; bit < 32; bit++) {
		stop = stop_argument(NULL, 0);
		stop.flags = 1U << bit;
		EXPECT_EQ(-EINVAL,
			  dev_ioctl(self->fd, HWTIMER_IOC_STOP, &stop));
	}
	stop = stop_argument(NULL, 0);
	stop.reserved = 1;
	EXPECT_EQ(-EINVAL, dev_ioctl(self->fd, HWTIMER_IOC_STOP, &stop));
	/* The result could not tell so many. */
	stop = stop_argument(NULL, (__u32)INT_MAX + 1);
	EXPECT_EQ(-EINVAL, dev_ioctl(self->fd, HWTIMER_IOC_STOP, &stop));
	EXPECT_NE(0, dev_after(self->fd, HOUR, 0));
}

TEST_F(hwtimer, left_is_only_an_answer)
{
	struct hwtimer_stop stop = stop_argument(NULL, 0);

	stop.left = 12345;
	EXPECT_EQ(0, dev_ioctl(self->fd, HWTIMER_IOC_STOP, &stop));
	EXPECT_EQ(0, stop.left);
}

TEST_F(hwtimer, bad_array_is_efault_and_loses_nothing)
{
	struct hwtimer_unprocessed zeroes[8] = { 0 };

	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	EXPECT_EQ(-EFAULT, dev_stop(self->fd, NULL, N, NULL));
	EXPECT_EQ(-EFAULT, dev_stop(self->fd, bad_address(), N, NULL));
	EXPECT_EQ(-EFAULT,
		  dev_stop(self->fd, read_only_copy(zeroes, sizeof(zeroes)), 8,
			   NULL));
	EXPECT_EQ(-EFAULT, dev_stop(self->fd, page_edge(24), 1, NULL));
	expect_handed_back(_metadata, self->fd, N, N);
}

TEST_F(hwtimer, argument_that_cannot_be_answered_loses_nothing)
{
	struct hwtimer_unprocessed timers[8];
	struct hwtimer_stop stop = stop_argument(timers, 8);
	void *copy = read_only_copy(&stop, sizeof(stop));

	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	EXPECT_EQ(-EFAULT, dev_ioctl(self->fd, HWTIMER_IOC_STOP, copy));
	expect_handed_back(_metadata, self->fd, N, N);
}

TEST_F(hwtimer, array_that_faults_half_way_loses_nothing)
{
	const size_t one = sizeof(struct hwtimer_unprocessed);
	struct hwtimer_unprocessed *edge = page_edge(20 * one + one / 2);
	struct hwtimer_unprocessed rest[N];
	bool came[N] = { false };
	__u64 left;
	int got;

	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	got = dev_stop(self->fd, edge, N, &left);
	ASSERT_LE(1, got);
	ASSERT_GE(20, got);
	EXPECT_EQ(N - got, left);
	for (int i = 0; i < got; i++)
		came[edge[i].user_data] = true;
	ASSERT_EQ(N - got, dev_stop(self->fd, rest, N, &left));
	EXPECT_EQ(0, left);
	for (int i = 0; i < N - got; i++) {
		EXPECT_FALSE(came[rest[i].user_data]);
		came[rest[i].user_data] = true;
	}
	for (unsigned int i = 0; i < N; i++)
		EXPECT_TRUE(came[i]);
}

TEST_F(hwtimer, signals_end_it_early_and_lose_nothing)
{
	unsigned int n = scaled(200000), got = 0, calls = 0;
	struct hwtimer_unprocessed *timers = calloc(n, sizeof(*timers));
	bool *came = calloc(n, sizeof(*came));

	ASSERT_NE(NULL, timers);
	ASSERT_NE(NULL, came);
	ASSERT_EQ(n, dev_schedule_many(self->fd, n, 0, HOUR, NULL));
	memset(timers, 0xff, n * sizeof(*timers));
	interrupt_every(2000);
	for (; got < n; calls++) {
		int ret = dev_stop(self->fd, timers + got, n - got, NULL);

		if (ret != -EINTR) {
			ASSERT_LT(0, ret);
			got += ret;
		}
	}
	interrupt_every(0);
	TH_LOG("%u timers in %u calls", n, calls);
	for (unsigned int i = 0; i < n; i++) {
		ASSERT_GT(n, timers[i].user_data);
		ASSERT_FALSE(came[timers[i].user_data]);
		came[timers[i].user_data] = true;
	}
}

TEST_HARNESS_MAIN
