// SPDX-License-Identifier: GPL-2.0
/*
 * CANCEL_ALL hands back the timers that are pending, each once, in any number of calls. With
 * HWTIMER_LIST_STOP the wheel ends, too: then only the events that wait can still be read.
 */
#include "hwtimer_test.h"

#define N 300

/* ---- what is handed back, with HWTIMER_LIST_STOP and without ---- */

FIXTURE(all)
{
	int fd;
	__u32 flags;
};

FIXTURE_VARIANT(all)
{
	__u32 flags;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(all, goes_on)
{
	.flags = 0,
};

FIXTURE_VARIANT_ADD(all, stops)
{
	.flags = HWTIMER_LIST_STOP,
};

/* clang-format on */

FIXTURE_SETUP(all)
{
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	self->flags = variant->flags;
}

FIXTURE_TEARDOWN(all)
{
	expect_close(_metadata, self->fd);
}

/* Takes up to @count timers, and expects that each is one that was pending. */
static int take(struct __test_metadata *_metadata, FIXTURE_DATA(all) * self,
		struct hwtimer_timer *timers, unsigned int count, __u64 *cursor)
{
	int ret = dev_cancel_some(self->fd, self->flags, timers, count, cursor);

	for (int i = 0; i < ret; i++) {
		EXPECT_NE(0, timers[i].id);
		EXPECT_EQ(HWTIMER_STATE_PENDING, timers[i].state);
		EXPECT_EQ(0, timers[i].expirations);
	}
	return ret;
}

/* Takes timers, @room at a time, until none is left; expects @n timers. */
static void expect_handed_back(struct __test_metadata *_metadata,
			       FIXTURE_DATA(all) * self, unsigned int room,
			       unsigned int n)
{
	struct hwtimer_timer timers[N];
	bool came[N] = { false };
	struct hwtimer_stats stats;
	unsigned int got = 0;
	__u64 cursor = 0;
	int ret;

	while ((ret = take(_metadata, self, timers, room, &cursor))) {
		ASSERT_LT(0, ret);
		ASSERT_GE(room, ret);
		for (int i = 0; i < ret; i++) {
			ASSERT_GT(N, timers[i].user_data);
			EXPECT_FALSE(came[timers[i].user_data]);
			came[timers[i].user_data] = true;
		}
		got += ret;
	}
	EXPECT_EQ(n, got);
	EXPECT_EQ(0, take(_metadata, self, timers, room, NULL));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(n, stats.cancelled);
	EXPECT_EQ(0, stats.pending);
	expect_balance(_metadata, &stats);
}

TEST_F(all, of_an_unused_instance)
{
	struct hwtimer_timer timer;

	EXPECT_EQ(0, take(_metadata, self, &timer, 1, NULL));
	/* It has not started the instance. */
	EXPECT_EQ(variant->flags ? -EBUSY : 0, dev_setup(self->fd, MS, 0, 0));
}

TEST_F(all, timer_comes_back_as_it_was)
{
	__u64 deadline = now_ns() + HOUR, before, after;
	__u64 id = dev_at(self->fd, deadline, 4711);
	struct hwtimer_timer timer;

	ASSERT_NE(0, id);
	memset(&timer, 0x5a, sizeof(timer));
	before = now_ns();
	ASSERT_EQ(1, take(_metadata, self, &timer, 1, NULL));
	after = now_ns();
	EXPECT_EQ(id, timer.id);
	EXPECT_EQ(4711, timer.user_data);
	EXPECT_EQ(deadline, timer.deadline);
	EXPECT_GE(deadline - before, timer.remaining);
	EXPECT_LE(deadline - after, timer.remaining);
	EXPECT_EQ(0, timer.interval);
	EXPECT_EQ(0, timer.slack);
	EXPECT_EQ(0, timer.flags);
	EXPECT_EQ(0, timer.expirations_left);
}

TEST_F(all, rescheduled_timer_comes_back_once_with_its_last_deadline)
{
	__u64 id = dev_after(self->fd, HOUR, 1), deadline = now_ns() + 3 * HOUR;
	struct hwtimer_timer timers[4];

	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, 4 * HOUR));
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, HOUR / 2));
	ASSERT_EQ(0,
		  dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME, deadline));
	ASSERT_EQ(1, take(_metadata, self, timers, 4, NULL));
	EXPECT_EQ(id, timers[0].id);
	EXPECT_EQ(deadline, timers[0].deadline);
}

TEST_F(all, timer_that_waits_for_ever_comes_back)
{
	struct hwtimer_timer timer;

	ASSERT_NE(0, dev_at(self->fd, HWTIMER_NEVER, 0));
	ASSERT_EQ(1, take(_metadata, self, &timer, 1, NULL));
	EXPECT_EQ(HWTIMER_NEVER, timer.deadline);
	EXPECT_EQ(HWTIMER_NEVER, timer.remaining);
}

TEST_F(all, in_one_call)
{
	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	expect_handed_back(_metadata, self, N, N);
}

TEST_F(all, one_by_one)
{
	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	expect_handed_back(_metadata, self, 1, N);
}

TEST_F(all, in_calls_that_do_not_divide_them)
{
	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	expect_handed_back(_metadata, self, 7, N);
}

TEST_F(all, only_pending_timers_come_back)
{
	struct hwtimer_timer timers[4];
	__u64 pending, cancelled, ready;
	struct hwtimer_event event;
	struct hwtimer_stats stats;

	ready = dev_after(self->fd, 0, 1);
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	cancelled = dev_after(self->fd, HOUR, 2);
	pending = dev_after(self->fd, HOUR, 3);
	ASSERT_EQ(0, dev_cancel(self->fd, cancelled, 0));
	ASSERT_EQ(1, take(_metadata, self, timers, 4, NULL));
	EXPECT_EQ(pending, timers[0].id);
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, pending, 0));
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(ready, event.id);
	EXPECT_EQ(variant->flags ? 0 : -EAGAIN, dev_read(self->fd, &event, 1));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(2, stats.cancelled);
	EXPECT_EQ(1, stats.delivered);
}

TEST_F(all, ready_events_can_be_read_between_calls)
{
	struct hwtimer_timer timers[2];
	struct hwtimer_event event;

	make_ready(_metadata, self->fd, 5);
	ASSERT_EQ(5, dev_schedule_many(self->fd, 5, 0, HOUR, NULL));
	EXPECT_EQ(2, take(_metadata, self, timers, 2, NULL));
	EXPECT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(2, take(_metadata, self, timers, 2, NULL));
	EXPECT_EQ(4, dev_discard_events(self->fd, 4));
	EXPECT_EQ(1, take(_metadata, self, timers, 2, NULL));
	EXPECT_EQ(variant->flags ? 0 : -EAGAIN, dev_read(self->fd, &event, 1));
}

/* Events that are dropped are no timers that are handed back, and take no room from these. */
TEST_F(all, discard_drops_the_events_that_wait)
{
	struct hwtimer_timer timers[2];
	struct hwtimer_event event;
	struct hwtimer_stats stats;
	unsigned int got = 0;
	__u64 cursor = 0;
	int ret;

	make_ready(_metadata, self->fd, N);
	ASSERT_EQ(5, dev_schedule_many(self->fd, 5, 0, HOUR, NULL));
	self->flags |= HWTIMER_LIST_DISCARD;
	while ((ret = take(_metadata, self, timers, 2, &cursor))) {
		ASSERT_LT(0, ret);
		got += ret;
	}
	EXPECT_EQ(5, got);
	EXPECT_EQ(variant->flags ? 0 : -EAGAIN, dev_read(self->fd, &event, 1));
	EXPECT_EQ(variant->flags ? POLLHUP : 0, dev_poll(self->fd, POLLIN, 0));
	stats = stats_of(self->fd);
	EXPECT_EQ(N, stats.discarded);
	EXPECT_EQ(5, stats.cancelled);
	EXPECT_EQ(0, stats.ready + stats.pending);
}

/* It is handed back as it will be after the event, which is dropped. */
TEST_F(all, discard_of_a_periodic_timer_whose_event_waits)
{
	__u64 id = dev_every(self->fd, 0, HOUR, 7), deadline;
	struct hwtimer_timer timers[2];
	struct hwtimer_event event;
	struct hwtimer_stats stats;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	deadline = query_of(_metadata, self->fd, id).deadline;
	self->flags |= HWTIMER_LIST_DISCARD;
	ASSERT_EQ(1, take(_metadata, self, timers, 2, NULL));
	EXPECT_EQ(id, timers[0].id);
	EXPECT_EQ(7, timers[0].user_data);
	EXPECT_EQ(HOUR, timers[0].interval);
	EXPECT_EQ(deadline + HOUR, timers[0].deadline);
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(variant->flags ? 0 : -EAGAIN, dev_read(self->fd, &event, 1));
	stats = stats_of(self->fd);
	EXPECT_EQ(1, stats.rearmed);
	EXPECT_EQ(1, stats.cancelled);
	EXPECT_EQ(1, stats.discarded);
	EXPECT_EQ(0, stats.ready);
}

TEST_F(all, bad_array_is_efault_and_loses_nothing)
{
	struct hwtimer_timer zeroes[8] = { 0 };

	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	EXPECT_EQ(-EFAULT, dev_cancel_some(self->fd, self->flags, bad_address(),
					   N, NULL));
	EXPECT_EQ(-EFAULT,
		  dev_cancel_some(self->fd, self->flags,
				  read_only_copy(zeroes, sizeof(zeroes)), 8,
				  NULL));
	EXPECT_EQ(-EFAULT, dev_cancel_some(self->fd, self->flags, page_edge(24),
					   1, NULL));
	expect_handed_back(_metadata, self, N, N);
}

/* No timer is lost, but the call has done what its flags say. */
TEST_F(all, bad_array_stops_the_instance_and_drops_events)
{
	struct hwtimer_request request = { .time = HOUR };

	make_ready(_metadata, self->fd, 1);
	ASSERT_NE(0, dev_after(self->fd, HOUR, 1));
	EXPECT_EQ(-EFAULT,
		  dev_cancel_some(self->fd, self->flags | HWTIMER_LIST_DISCARD,
				  bad_address(), 1, NULL));
	EXPECT_EQ(0, stats_of(self->fd).ready);
	EXPECT_EQ(1, stats_of(self->fd).pending);
	EXPECT_EQ(self->flags ? -ESHUTDOWN : 0,
		  dev_ioctl(self->fd, HWTIMER_IOC_SCHEDULE, &request));
}

TEST_F(all, argument_that_cannot_be_answered_loses_nothing)
{
	struct hwtimer_timer timers[8];
	struct hwtimer_list list = {
		.timers = (uintptr_t)timers,
		.count = 8,
		.flags = self->flags,
	};
	void *copy = read_only_copy(&list, sizeof(list));

	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	EXPECT_EQ(-EFAULT, dev_ioctl(self->fd, HWTIMER_IOC_CANCEL_ALL, copy));
	expect_handed_back(_metadata, self, N, N);
}

TEST_F(all, array_that_faults_half_way_loses_nothing)
{
	const size_t one = sizeof(struct hwtimer_timer);
	struct hwtimer_timer *edge = page_edge(20 * one + one / 2);
	struct hwtimer_timer rest[N];
	bool came[N] = { false };
	__u64 cursor = 0;
	int got;

	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	got = take(_metadata, self, edge, N, &cursor);
	ASSERT_LE(1, got);
	ASSERT_GE(20, got);
	for (int i = 0; i < got; i++)
		came[edge[i].user_data] = true;
	ASSERT_EQ(N - got, take(_metadata, self, rest, N, &cursor));
	for (int i = 0; i < N - got; i++) {
		EXPECT_FALSE(came[rest[i].user_data]);
		came[rest[i].user_data] = true;
	}
	for (unsigned int i = 0; i < N; i++)
		EXPECT_TRUE(came[i]);
}

TEST_F(all, signals_end_it_early_and_lose_nothing)
{
	unsigned int n = scaled(200000), got = 0, calls = 0;
	struct hwtimer_timer *timers = calloc(n, sizeof(*timers));
	bool *came = calloc(n, sizeof(*came));
	__u64 cursor = 0;

	ASSERT_NE(NULL, timers);
	ASSERT_NE(NULL, came);
	ASSERT_EQ(n, dev_schedule_many(self->fd, n, 0, HOUR, NULL));
	memset(timers, 0xff, n * sizeof(*timers));
	interrupt_every(2000);
	for (; got < n; calls++) {
		int ret = dev_cancel_some(self->fd, self->flags, timers + got,
					  n - got, &cursor);

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

/* One of the threads that take all timers; @came: how often each was handed back, by user_data */
struct hand {
	int fd;
	__u32 flags;
	unsigned int n;
	unsigned char *came;
	unsigned int taken;
	bool failed;
};

static void *take_pages(void *arg)
{
	struct hwtimer_timer timers[64];
	struct hand *hand = arg;
	__u64 cursor = 0;
	int ret;

	while ((ret = dev_cancel_some(hand->fd, hand->flags, timers, 64,
				      &cursor)) > 0) {
		for (int i = 0; i < ret; i++) {
			__u64 nth = timers[i].user_data;

			if (nth >= hand->n)
				hand->failed = true;
			else
				__atomic_add_fetch(&hand->came[nth], 1,
						   __ATOMIC_RELAXED);
		}
		hand->taken += ret;
	}
	hand->failed |= ret < 0;
	return NULL;
}

TEST_F(all, two_threads_get_each_timer_once)
{
	unsigned int n = scaled(100000);
	unsigned char *came = calloc(n, 1);
	struct hand hands[2];
	pthread_t threads[2];

	ASSERT_NE(NULL, came);
	ASSERT_EQ(n, dev_schedule_many(self->fd, n, 0, HOUR, NULL));
	for (unsigned int i = 0; i < 2; i++)
		hands[i] = (struct hand){
			.fd = self->fd,
			.flags = self->flags,
			.n = n,
			.came = came,
		};
	start_threads(threads, 2, take_pages, hands, sizeof(hands[0]));
	join_threads(threads, 2);
	TH_LOG("%u and %u timers", hands[0].taken, hands[1].taken);
	EXPECT_FALSE(hands[0].failed || hands[1].failed);
	EXPECT_EQ(n, hands[0].taken + hands[1].taken);
	for (unsigned int i = 0; i < n; i++)
		ASSERT_EQ(1, came[i]);
}

/* ---- HWTIMER_LIST_STOP ---- */

TEST_F(hwtimer, nothing_expires_any_more)
{
	struct hwtimer_timer timer;
	struct hwtimer_event event;
	__u64 deadline;

	/* If the timer has expired before the stop, try again with more time. */
	for (__u64 delay = 300 * MS;; delay *= 3) {
		deadline = now_ns() + delay;
		ASSERT_NE(0, dev_at(self->fd, deadline, 0));
		ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
		if (stats_of(self->fd).pending)
			break;
		ASSERT_LE(deadline, now_ns());
		ASSERT_TRUE(dev_renew(&self->fd));
	}
	while (now_ns() < deadline + 50 * MS)
		sleep_ns(50 * MS);
	EXPECT_EQ(0, dev_read(self->fd, &event, 1));
	ASSERT_EQ(1, dev_stop(self->fd, &timer, 1, NULL));
	EXPECT_EQ(deadline, timer.deadline);
	EXPECT_EQ(0, timer.remaining);
}

TEST_F(hwtimer, count_of_0_only_stops)
{
	struct hwtimer_timer timer;

	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	make_ready(_metadata, self->fd, 3);
	/* Without the flag it would do nothing. */
	EXPECT_EQ(-EINVAL, dev_cancel_some(self->fd, 0, &timer, 0, NULL));
	EXPECT_EQ(-EINVAL, dev_cancel_some(self->fd, HWTIMER_LIST_DISCARD, NULL,
					   0, NULL));
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	EXPECT_EQ(0, dev_stop(self->fd, &timer, 0, NULL));
	EXPECT_EQ(0, dev_cancel_some(self->fd,
				     HWTIMER_LIST_STOP | HWTIMER_LIST_DISCARD,
				     NULL, 0, NULL));
	EXPECT_EQ(N + 1, stats_of(self->fd).pending);
	EXPECT_EQ(3, stats_of(self->fd).ready);
	EXPECT_EQ(0, dev_after(self->fd, HOUR, 0));
}

/* Once it is stopped, a call without the flag goes on as one with it. */
TEST_F(hwtimer, stop_is_for_good)
{
	struct hwtimer_timer timers[4];
	__u64 unused;

	ASSERT_EQ(3, dev_schedule_many(self->fd, 3, 0, HOUR, NULL));
	ASSERT_EQ(1, dev_stop(self->fd, timers, 1, NULL));
	EXPECT_EQ(2, dev_cancel_some(self->fd, 0, timers, 4, NULL));
	EXPECT_EQ(-ESHUTDOWN, dev_schedule(self->fd, 0, HOUR, 0, &unused));
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
	struct hwtimer_info info;
	__u64 unused;

	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(-ESHUTDOWN, dev_schedule(self->fd, 0, HOUR, 0, &unused));
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(0, info.started);
}

TEST_F(hwtimer, cancel_works_and_takes_the_timer_out)
{
	struct hwtimer_timer timers[4];
	__u64 ids[3];

	ASSERT_EQ(3, dev_schedule_many(self->fd, 3, 0, HOUR, ids));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(0, dev_cancel(self->fd, ids[1], 0));
	ASSERT_EQ(2, dev_stop(self->fd, timers, 4, NULL));
	EXPECT_NE(ids[1], timers[0].id);
	EXPECT_NE(ids[1], timers[1].id);
}

TEST_F(hwtimer, ids_handed_back_are_no_longer_valid)
{
	struct hwtimer_timer timer, query;
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

TEST_F(hwtimer, refusals_do_not_stop)
{
	const __u32 known = HWTIMER_LIST_STOP | HWTIMER_LIST_DISCARD;
	struct hwtimer_list list = { 0 };

	for (unsigned int bit = 0; bit < 32; bit++) {
		if (known & 1U << bit)
			continue;
		list.flags = HWTIMER_LIST_STOP | 1U << bit;
		EXPECT_EQ(-EINVAL,
			  dev_ioctl(self->fd, HWTIMER_IOC_CANCEL_ALL, &list));
	}
	/* The result could not tell so many. */
	list.flags = HWTIMER_LIST_STOP;
	list.count = (__u32)INT_MAX + 1;
	EXPECT_EQ(-EINVAL, dev_ioctl(self->fd, HWTIMER_IOC_CANCEL_ALL, &list));
	EXPECT_NE(0, dev_after(self->fd, HOUR, 0));
}

TEST_HARNESS_MAIN
