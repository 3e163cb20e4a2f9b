// SPDX-License-Identifier: GPL-2.0
/*
 * NOTIFY: the number of events, or the delay, after which readers are woken; the arguments
 * that are refused; when NOTIFY may be called.
 */
#include "hwtimer_test.h"

/* Long enough for the worker to do something that it must not do. */
#define A_WHILE (20 * MS)

/* The argument of read_batch(), which reads up to 16 events in a thread of its own. */
struct batch_reader {
	int fd;
	int result; /* of dev_read(), once the thread has ended; INT_MIN before */
	struct hwtimer_event events[16];
};

static void *read_batch(void *arg)
{
	struct batch_reader *reader = arg;
	int result = dev_read(reader->fd, reader->events, 16);

	__atomic_store_n(&reader->result, result, __ATOMIC_RELEASE);
	return NULL;
}

static bool still_reads(struct batch_reader *reader)
{
	return __atomic_load_n(&reader->result, __ATOMIC_ACQUIRE) == INT_MIN;
}

/* ---- the watermark ---- */

TEST_F(hwtimer, ready_at_so_many_events)
{
	ASSERT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER));
	for (unsigned int i = 0; i < 4; i++) {
		make_ready(_metadata, self->fd, 1);
		EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	}
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	make_ready(_metadata, self->fd, 1);
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
}

TEST_F(hwtimer, ready_no_more_when_there_are_less)
{
	struct hwtimer_event events[3];

	ASSERT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER));
	make_ready(_metadata, self->fd, 7);
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	ASSERT_EQ(2, dev_read(self->fd, events, 2));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	ASSERT_EQ(1, dev_read(self->fd, events, 1));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
	make_ready(_metadata, self->fd, 1);
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
}

TEST_F(hwtimer, ready_no_more_when_one_is_discarded)
{
	__u64 ids[5];

	ASSERT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER));
	ASSERT_EQ(5, dev_schedule_many(self->fd, 5, 0, 0, ids));
	ASSERT_TRUE(dev_wait_ready(self->fd, 5));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	ASSERT_EQ(0, dev_cancel(self->fd, ids[2], HWTIMER_REQ_DISCARD));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
}

/* Zeros are the default, and one event needs no delay. */
TEST_F(hwtimer, what_means_at_the_first)
{
	const struct hwtimer_notify first[] = {
		{ .events = 0, .delay = 0 },
		{ .events = 1, .delay = 0 },
		{ .events = 0, .delay = 1 },
		{ .events = 0, .delay = HWTIMER_NEVER },
		{ .events = 1, .delay = HOUR },
		{ .events = 1, .delay = HWTIMER_NEVER },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(first); i++) {
		/* The choice before it holds no more. */
		ASSERT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER));
		ASSERT_EQ(0,
			  dev_notify(self->fd, first[i].events, first[i].delay))
		{
			TH_LOG("first[%u]", i);
		}
		ASSERT_NE(0, dev_after(self->fd, 0, 0));
		EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
		EXPECT_EQ(1, dev_discard_events(self->fd, 1));
	}
}

/* A delay of 0 is none, also if there was one before. */
TEST_F(hwtimer, no_delay)
{
	ASSERT_EQ(0, dev_notify(self->fd, 3, 30 * MS));
	ASSERT_EQ(0, dev_notify(self->fd, 3, 0));
	make_ready(_metadata, self->fd, 2);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 60));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

TEST_F(hwtimer, ready_at_the_limit_of_timers)
{
	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, 10));
	ASSERT_EQ(0, dev_notify(self->fd, 100, HWTIMER_NEVER));
	make_ready(_metadata, self->fd, 9);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

/* Discarded events make room at once, also behind an unread one. */
TEST_F(hwtimer, discarded_events_make_room)
{
	__u64 ids[10];

	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, 10));
	ASSERT_EQ(0, dev_notify(self->fd, 100, HWTIMER_NEVER));
	ASSERT_EQ(9, dev_schedule_many(self->fd, 9, 0, 0, ids));
	ASSERT_TRUE(dev_wait_ready(self->fd, 9));
	for (unsigned int i = 4; i < 9; i++)
		ASSERT_EQ(0, dev_cancel(self->fd, ids[i], HWTIMER_REQ_DISCARD));
	make_ready(_metadata, self->fd, 5);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	EXPECT_EQ(10, dev_discard_events(self->fd, 10));
}

/* SETUP comes after NOTIFY here; its limit counts. */
TEST_F(hwtimer, ready_at_the_limit_of_timers_that_was_set_afterwards)
{
	ASSERT_EQ(0, dev_notify(self->fd, EVENTS_MAX, HWTIMER_NEVER));
	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, 3));
	make_ready(_metadata, self->fd, 2);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

TEST_F(hwtimer, nonblocking_read_takes_what_there_is)
{
	struct hwtimer_event events[10];

	ASSERT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, events, 10));
	make_ready(_metadata, self->fd, 3);
	EXPECT_EQ(3, dev_read(self->fd, events, 10));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, events, 10));
}

TEST_F(hwtimer, blocking_read_waits_for_so_many)
{
	struct batch_reader reader = { .fd = self->fd, .result = INT_MIN };
	pthread_t thread;

	ASSERT_EQ(0, dev_notify(self->fd, 3, HWTIMER_NEVER));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	start_threads(&thread, 1, read_batch, &reader, 0);
	for (unsigned int i = 0; i < 2; i++) {
		make_ready(_metadata, self->fd, 1);
		sleep_ns(A_WHILE);
		EXPECT_TRUE(still_reads(&reader));
	}
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	join_threads(&thread, 1);
	EXPECT_EQ(3, reader.result);
}

TEST_F(hwtimer, blocking_read_comes_when_so_many_wait_already)
{
	struct hwtimer_event events[10];

	ASSERT_EQ(0, dev_notify(self->fd, 3, HWTIMER_NEVER));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	make_ready(_metadata, self->fd, 4);
	EXPECT_EQ(4, dev_read(self->fd, events, 10));
}

/* The reader of a busy instance is woken for ten events at a time. */
TEST_F(hwtimer, blocking_reads_get_at_least_so_many)
{
	struct hwtimer_event events[200];
	unsigned int got = 0, reads = 0;

	ASSERT_EQ(0, dev_notify(self->fd, 10, HWTIMER_NEVER));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	for (unsigned int i = 0; i < 200; i++)
		ASSERT_NE(0, dev_after(self->fd, i * 500 * US, i));
	while (got < 191) {
		int ret = dev_read(self->fd, events, 200);

		ASSERT_LE(10, ret);
		got += ret;
		reads++;
	}
	EXPECT_GE(20, reads);
}

TEST_F(hwtimer, edge_triggered_once_at_so_many)
{
	struct epoll_event out;
	int epoll;

	ASSERT_EQ(0, dev_notify(self->fd, 3, HWTIMER_NEVER));
	epoll = epoll_watch(self->fd, EPOLLIN | EPOLLET);
	ASSERT_LE(0, epoll);
	make_ready(_metadata, self->fd, 2);
	EXPECT_EQ(0, epoll_wait(epoll, &out, 1, 20));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	ASSERT_EQ(1, epoll_wait(epoll, &out, 1, -1));
	EXPECT_EQ(EPOLLIN, out.events);
	EXPECT_EQ(0, epoll_wait(epoll, &out, 1, 20));
}

TEST_F(hwtimer, periodic_events_count_too)
{
	ASSERT_EQ(0, dev_notify(self->fd, 3, HWTIMER_NEVER));
	/* One timer has one event at a time, so it never reaches the watermark. */
	ASSERT_NE(0, dev_every(self->fd, 0, MS, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 20));
	ASSERT_NE(0, dev_every(self->fd, 0, MS, 0));
	ASSERT_NE(0, dev_every(self->fd, 0, MS, 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	EXPECT_EQ(3, dev_discard_events(self->fd, 3));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

/* ---- the delay ---- */

TEST_F(hwtimer, ready_after_the_delay_however_few)
{
	struct hwtimer_event event;

	ASSERT_EQ(0, dev_notify(self->fd, 1000, 50 * MS));
	for (unsigned int i = 0; i < 3; i++) {
		ASSERT_NE(0, dev_after(self->fd, 0, 0));
		EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
		ASSERT_EQ(1, dev_read(self->fd, &event, 1));
		expect_due(_metadata, &event);
		/* Not before the delay, which counts from when the event was queued. */
		EXPECT_LE(event.deadline + event.lateness + 50 * MS, now_ns());
		EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
	}
}

TEST_F(hwtimer, blocking_read_returns_after_the_delay)
{
	struct hwtimer_event events[4];

	ASSERT_EQ(0, dev_notify(self->fd, 1000, 30 * MS));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	ASSERT_EQ(1, dev_read(self->fd, events, 4));
	EXPECT_LE(events[0].deadline + events[0].lateness + 30 * MS, now_ns());
}

TEST_F(hwtimer, ready_at_so_many_before_the_delay)
{
	ASSERT_EQ(0, dev_notify(self->fd, 3, HOUR));
	make_ready(_metadata, self->fd, 2);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

TEST_F(hwtimer, delay_ends_with_the_events)
{
	struct hwtimer_event event;

	ASSERT_EQ(0, dev_notify(self->fd, 1000, 30 * MS));
	make_ready(_metadata, self->fd, 1);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 60));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
}

TEST_F(hwtimer, shortest_and_longest_delay)
{
	long long wakeups;

	ASSERT_EQ(0, dev_notify(self->fd, 1000, INT64_MAX - 1));
	make_ready(_metadata, self->fd, 1);
	dev_wait_rest(self->fd);
	wakeups = told(self->fd, "wakeups");
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 20));
	EXPECT_EQ(wakeups, told(self->fd, "wakeups"));
	ASSERT_EQ(0, dev_notify(self->fd, 1000, 1));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	EXPECT_EQ(1, dev_discard_events(self->fd, 1));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

/* ---- changed while events wait ---- */

TEST_F(hwtimer, lower_watermark_is_reached_at_once)
{
	ASSERT_EQ(0, dev_notify(self->fd, 10, HWTIMER_NEVER));
	make_ready(_metadata, self->fd, 4);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	ASSERT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	ASSERT_EQ(0, dev_notify(self->fd, 4, HWTIMER_NEVER));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	ASSERT_EQ(0, dev_notify(self->fd, 10, HWTIMER_NEVER));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

TEST_F(hwtimer, lower_watermark_ends_a_blocked_read)
{
	struct batch_reader reader = { .fd = self->fd, .result = INT_MIN };
	pthread_t thread;

	ASSERT_EQ(0, dev_notify(self->fd, 10, HWTIMER_NEVER));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	make_ready(_metadata, self->fd, 2);
	start_threads(&thread, 1, read_batch, &reader, 0);
	sleep_ns(A_WHILE);
	EXPECT_TRUE(still_reads(&reader));
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0));
	join_threads(&thread, 1);
	EXPECT_EQ(2, reader.result);
}

TEST_F(hwtimer, delay_that_comes_later_counts_too)
{
	ASSERT_EQ(0, dev_notify(self->fd, 10, HWTIMER_NEVER));
	make_ready(_metadata, self->fd, 1);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	ASSERT_EQ(0, dev_notify(self->fd, 10, 30 * MS));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

TEST_F(hwtimer, delay_that_is_taken_back_does_not_come)
{
	ASSERT_EQ(0, dev_notify(self->fd, 10, 50 * MS));
	make_ready(_metadata, self->fd, 1);
	ASSERT_EQ(0, dev_notify(self->fd, 10, HWTIMER_NEVER));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 100));
}

TEST_F(hwtimer, may_be_called_before_the_first_timer)
{
	struct hwtimer_info info;

	ASSERT_EQ(0, dev_notify(self->fd, 2, HWTIMER_NEVER));
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(0, info.started);
	EXPECT_EQ(0, dev_setup(self->fd, 2 * MS, 64, 0));
	make_ready(_metadata, self->fd, 1);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	make_ready(_metadata, self->fd, 1);
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

TEST_F(hwtimer, may_be_called_when_stopped)
{
	struct hwtimer_event event;

	make_ready(_metadata, self->fd, 1);
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	EXPECT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(POLLHUP, dev_poll(self->fd, POLLIN, 0));
	EXPECT_EQ(0, dev_notify(self->fd, 0, 0));
	EXPECT_EQ(0, dev_read(self->fd, &event, 1));
}

TEST_F(hwtimer, stopped_instance_is_ready_at_once)
{
	struct hwtimer_event events[4];

	ASSERT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER));
	make_ready(_metadata, self->fd, 2);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	EXPECT_EQ(2, dev_read(self->fd, events, 4));
	EXPECT_EQ(POLLHUP, dev_poll(self->fd, POLLIN, 0));
}

TEST_F(hwtimer, stop_ends_a_blocked_read_with_the_few_that_wait)
{
	struct batch_reader reader = { .fd = self->fd, .result = INT_MIN };
	pthread_t thread;

	ASSERT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	make_ready(_metadata, self->fd, 2);
	start_threads(&thread, 1, read_batch, &reader, 0);
	sleep_ns(A_WHILE);
	EXPECT_TRUE(still_reads(&reader));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	join_threads(&thread, 1);
	EXPECT_EQ(2, reader.result);
}

/* ---- edges ---- */

/* Watches for edges; the first one says what was there before. */
static int watch_edges(struct __test_metadata *_metadata, int fd)
{
	int epoll = epoll_watch(fd, EPOLLIN | EPOLLET);

	ASSERT_LE(0, epoll);
	return epoll;
}

TEST_F(hwtimer, edge_tells_of_what_waits_already)
{
	struct epoll_event out;
	int epoll;

	make_ready(_metadata, self->fd, 2);
	ASSERT_EQ(0, dev_notify(self->fd, 3, HWTIMER_NEVER));
	epoll = watch_edges(_metadata, self->fd);
	EXPECT_EQ(0, epoll_wait(epoll, &out, 1, 20));
	ASSERT_EQ(0, dev_notify(self->fd, 2, HWTIMER_NEVER));
	EXPECT_EQ(1, epoll_wait(epoll, &out, 1, -1));
}

TEST_F(hwtimer, edge_comes_after_the_delay)
{
	struct hwtimer_event event;
	struct epoll_event out;
	int epoll;

	ASSERT_EQ(0, dev_notify(self->fd, 1000, 30 * MS));
	epoll = watch_edges(_metadata, self->fd);
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(1, epoll_wait(epoll, &out, 1, -1));
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_LE(event.deadline + event.lateness + 30 * MS, now_ns());
}

/* When the delay since the first event ends, the watermark was reached: no new edge. */
TEST_F(hwtimer, edge_does_not_come_after_the_watermark)
{
	struct epoll_event out;
	int epoll;

	ASSERT_EQ(0, dev_notify(self->fd, 2, 100 * MS));
	epoll = watch_edges(_metadata, self->fd);
	make_ready(_metadata, self->fd, 2);
	EXPECT_EQ(1, epoll_wait(epoll, &out, 1, -1));
	EXPECT_EQ(0, epoll_wait(epoll, &out, 1, 200));
}

TEST_F(hwtimer, edge_tells_of_the_end_once)
{
	__u64 id = dev_after(self->fd, HOUR, 0);
	struct epoll_event out;
	int epoll;

	ASSERT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER));
	epoll = watch_edges(_metadata, self->fd);
	EXPECT_EQ(0, epoll_wait(epoll, &out, 1, 0));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(1, epoll_wait(epoll, &out, 1, -1));
	EXPECT_EQ(EPOLLHUP, out.events);
	EXPECT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(0, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(0, dev_after(self->fd, HOUR, 0));
	EXPECT_EQ(0, epoll_wait(epoll, &out, 1, 0));
}

/* ---- what is refused ---- */

TEST_F(hwtimer, values_out_of_range_are_einval)
{
	const struct hwtimer_notify bad[] = {
		{ .delay = INT64_MAX + 1ULL },
		{ .delay = INT64_MAX + 1ULL, .events = 2 },
		{ .delay = UINT64_MAX, .events = EVENTS_MAX },
		{ .events = EVENTS_MAX + 1 },
		{ .events = EVENTS_MAX + 1, .delay = HWTIMER_NEVER },
		{ .events = UINT_MAX, .delay = HWTIMER_NEVER },
	};

	/* A refusal changes nothing. */
	ASSERT_EQ(0, dev_notify(self->fd, 3, HWTIMER_NEVER));
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EINVAL,
			  dev_notify(self->fd, bad[i].events, bad[i].delay))
		{
			TH_LOG("bad[%u]", i);
		}
	}
	for (unsigned int bit = 0; bit < 32; bit++) {
		struct hwtimer_notify notify = { .flags = 1U << bit };

		EXPECT_EQ(-EINVAL,
			  dev_ioctl(self->fd, HWTIMER_IOC_NOTIFY, &notify));
	}
	make_ready(_metadata, self->fd, 2);
	sleep_ns(A_WHILE);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

/* A thread that changes all settings while thousands of events come. */
struct changer {
	int fd;
	bool stop;
	unsigned int failures;
};

static void *change_notify(void *arg)
{
	struct changer *changer = arg;

	for (unsigned int i = 0;
	     !__atomic_load_n(&changer->stop, __ATOMIC_RELAXED); i++) {
		if (dev_notify(changer->fd, i % 7, i % 3 * MS))
			changer->failures++;
	}
	return NULL;
}

TEST_F(hwtimer, changed_all_the_time_loses_no_event)
{
	struct changer changers[2] = { { .fd = self->fd }, { .fd = self->fd } };
	unsigned int n = scaled(20000);
	pthread_t threads[2];

	start_threads(threads, 2, change_notify, changers, sizeof(changers[0]));
	for (unsigned int done = 0; done < n; done += 100) {
		ASSERT_EQ(100, dev_schedule_many(self->fd, 100, 0, MS, NULL));
		ASSERT_EQ(100, dev_discard_events(self->fd, 100));
	}
	for (unsigned int i = 0; i < 2; i++)
		__atomic_store_n(&changers[i].stop, true, __ATOMIC_RELAXED);
	join_threads(threads, 2);
	EXPECT_EQ(0, changers[0].failures + changers[1].failures);
	EXPECT_EQ(0, stats_of(self->fd).ready);
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

TEST_HARNESS_MAIN
