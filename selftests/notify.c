// SPDX-License-Identifier: GPL-2.0
/*
 * NOTIFY: the number of events, or the delay, after which readers are woken; the eventfd
 * that is signalled as well; the arguments that are refused; when NOTIFY may be called.
 */
#include "hwtimer_test.h"

/* Long enough for the worker to do something that it must not do. */
#define A_WHILE (20 * MS)

/* Expects that an event comes, and reads it. */
static void expect_one_event(struct __test_metadata *_metadata, int fd)
{
	struct hwtimer_event event;

	ASSERT_NE(0, dev_after(fd, 0, 0));
	ASSERT_EQ(1, dev_collect(fd, &event, 1));
}

/* The same, and expects that the eventfd is signalled once. */
static void expect_told(struct __test_metadata *_metadata, int fd, int eventfd)
{
	ASSERT_NE(0, dev_after(fd, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(eventfd, POLLIN, -1));
	sleep_ns(A_WHILE);
	EXPECT_EQ(1, eventfd_take(eventfd));
	ASSERT_EQ(1, dev_discard_events(fd, 1));
}

/*
 * The worker signals events after it has released the lock; by then they may have been
 * read. It serves another instance only after that: wait for an event of one.
 */
static void await_worker(struct __test_metadata *_metadata)
{
	int other = dev_open(O_NONBLOCK);

	ASSERT_LE(0, other);
	expect_one_event(_metadata, other);
	ASSERT_EQ(0, close(other));
}

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
	ASSERT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER, -1));
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

	ASSERT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER, -1));
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

	ASSERT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER, -1));
	ASSERT_EQ(5, dev_schedule_many(self->fd, 5, 0, 0, ids));
	ASSERT_TRUE(dev_wait_ready(self->fd, 5));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	ASSERT_EQ(0, dev_cancel(self->fd, ids[2], HWTIMER_DISCARD));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
}

TEST_F(hwtimer, none_and_one_are_at_the_first)
{
	for (unsigned int events = 0; events < 2; events++) {
		ASSERT_EQ(0, dev_notify(self->fd, events, 0, -1));
		ASSERT_NE(0, dev_after(self->fd, 0, 0));
		EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
		EXPECT_EQ(1, dev_discard_events(self->fd, 1));
	}
}

TEST_F(hwtimer, ready_at_the_limit_of_timers)
{
	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, 10));
	ASSERT_EQ(0, dev_notify(self->fd, 100, HWTIMER_NEVER, -1));
	make_ready(_metadata, self->fd, 9);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

/* Discarded events behind an unread one count towards the limit, too. */
TEST_F(hwtimer, ready_when_nothing_more_can_come)
{
	__u64 ids[10], unused;

	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, 10));
	ASSERT_EQ(0, dev_notify(self->fd, 100, HWTIMER_NEVER, -1));
	ASSERT_EQ(9, dev_schedule_many(self->fd, 9, 0, 0, ids));
	ASSERT_TRUE(dev_wait_ready(self->fd, 9));
	for (unsigned int i = 4; i < 9; i++)
		ASSERT_EQ(0, dev_cancel(self->fd, ids[i], HWTIMER_DISCARD));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(-ENOSPC, dev_schedule(self->fd, 0, 0, 0, &unused));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	EXPECT_EQ(5, dev_discard_events(self->fd, 5));
}

/* SETUP comes after NOTIFY here; its limit counts. */
TEST_F(hwtimer, ready_at_the_limit_of_timers_that_was_set_afterwards)
{
	ASSERT_EQ(0, dev_notify(self->fd, UINT_MAX, HWTIMER_NEVER, -1));
	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, 3));
	make_ready(_metadata, self->fd, 2);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

TEST_F(hwtimer, nonblocking_read_takes_what_there_is)
{
	struct hwtimer_event events[10];

	ASSERT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER, -1));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, events, 10));
	make_ready(_metadata, self->fd, 3);
	EXPECT_EQ(3, dev_read(self->fd, events, 10));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, events, 10));
}

TEST_F(hwtimer, blocking_read_waits_for_so_many)
{
	struct batch_reader reader = { .fd = self->fd, .result = INT_MIN };
	pthread_t thread;

	ASSERT_EQ(0, dev_notify(self->fd, 3, HWTIMER_NEVER, -1));
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

	ASSERT_EQ(0, dev_notify(self->fd, 3, HWTIMER_NEVER, -1));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	make_ready(_metadata, self->fd, 4);
	EXPECT_EQ(4, dev_read(self->fd, events, 10));
}

/* The reader of a busy instance is woken for ten events at a time. */
TEST_F(hwtimer, blocking_reads_get_at_least_so_many)
{
	struct hwtimer_event events[200];
	unsigned int got = 0, reads = 0;

	ASSERT_EQ(0, dev_notify(self->fd, 10, HWTIMER_NEVER, -1));
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

	ASSERT_EQ(0, dev_notify(self->fd, 3, HWTIMER_NEVER, -1));
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
	ASSERT_EQ(0, dev_notify(self->fd, 3, HWTIMER_NEVER, -1));
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

	ASSERT_EQ(0, dev_notify(self->fd, 1000, 50 * MS, -1));
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

	ASSERT_EQ(0, dev_notify(self->fd, 1000, 30 * MS, -1));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	ASSERT_EQ(1, dev_read(self->fd, events, 4));
	EXPECT_LE(events[0].deadline + events[0].lateness + 30 * MS, now_ns());
}

TEST_F(hwtimer, ready_at_so_many_before_the_delay)
{
	ASSERT_EQ(0, dev_notify(self->fd, 3, HOUR, -1));
	make_ready(_metadata, self->fd, 2);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

TEST_F(hwtimer, delay_ends_with_the_events)
{
	struct hwtimer_event event;

	ASSERT_EQ(0, dev_notify(self->fd, 1000, 30 * MS, -1));
	make_ready(_metadata, self->fd, 1);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 60));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
}

TEST_F(hwtimer, shortest_and_longest_delay)
{
	__u64 wakeups;

	ASSERT_EQ(0, dev_notify(self->fd, 1000, INT64_MAX, -1));
	make_ready(_metadata, self->fd, 1);
	dev_wait_rest(self->fd);
	wakeups = stats_of(self->fd).wakeups;
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 20));
	EXPECT_EQ(wakeups, stats_of(self->fd).wakeups);
	ASSERT_EQ(0, dev_notify(self->fd, 1000, 1, -1));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	EXPECT_EQ(1, dev_discard_events(self->fd, 1));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

/* ---- changed while events wait ---- */

TEST_F(hwtimer, lower_watermark_is_reached_at_once)
{
	ASSERT_EQ(0, dev_notify(self->fd, 10, HWTIMER_NEVER, -1));
	make_ready(_metadata, self->fd, 4);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	ASSERT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER, -1));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	ASSERT_EQ(0, dev_notify(self->fd, 4, HWTIMER_NEVER, -1));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	ASSERT_EQ(0, dev_notify(self->fd, 10, HWTIMER_NEVER, -1));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0, -1));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

TEST_F(hwtimer, lower_watermark_ends_a_blocked_read)
{
	struct batch_reader reader = { .fd = self->fd, .result = INT_MIN };
	pthread_t thread;

	ASSERT_EQ(0, dev_notify(self->fd, 10, HWTIMER_NEVER, -1));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	make_ready(_metadata, self->fd, 2);
	start_threads(&thread, 1, read_batch, &reader, 0);
	sleep_ns(A_WHILE);
	EXPECT_TRUE(still_reads(&reader));
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0, -1));
	join_threads(&thread, 1);
	EXPECT_EQ(2, reader.result);
}

TEST_F(hwtimer, delay_that_comes_later_counts_too)
{
	ASSERT_EQ(0, dev_notify(self->fd, 10, HWTIMER_NEVER, -1));
	make_ready(_metadata, self->fd, 1);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 2));
	ASSERT_EQ(0, dev_notify(self->fd, 10, 30 * MS, -1));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

TEST_F(hwtimer, delay_that_is_taken_back_does_not_come)
{
	ASSERT_EQ(0, dev_notify(self->fd, 10, 50 * MS, -1));
	make_ready(_metadata, self->fd, 1);
	ASSERT_EQ(0, dev_notify(self->fd, 10, HWTIMER_NEVER, -1));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 100));
}

TEST_F(hwtimer, may_be_called_before_the_first_timer)
{
	struct hwtimer_info info;

	ASSERT_EQ(0, dev_notify(self->fd, 2, HWTIMER_NEVER, -1));
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
	EXPECT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER, -1));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	EXPECT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(POLLHUP, dev_poll(self->fd, POLLIN, 0));
	EXPECT_EQ(0, dev_notify(self->fd, 0, 0, -1));
	EXPECT_EQ(0, dev_read(self->fd, &event, 1));
}

TEST_F(hwtimer, stopped_instance_is_ready_at_once)
{
	struct hwtimer_event events[4];

	ASSERT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER, -1));
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

	ASSERT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER, -1));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	make_ready(_metadata, self->fd, 2);
	start_threads(&thread, 1, read_batch, &reader, 0);
	sleep_ns(A_WHILE);
	EXPECT_TRUE(still_reads(&reader));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	join_threads(&thread, 1);
	EXPECT_EQ(2, reader.result);
}

/* ---- the eventfd ---- */

TEST_F(hwtimer, eventfd_counts_each_arrival)
{
	int eventfd = make_eventfd();

	ASSERT_LE(0, eventfd);
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0, eventfd));
	EXPECT_EQ(0, eventfd_take(eventfd));
	for (unsigned int i = 0; i < 3; i++)
		expect_told(_metadata, self->fd, eventfd);
}

TEST_F(hwtimer, eventfd_adds_up_while_nobody_looks)
{
	int eventfd = make_eventfd();
	__u64 total = 0;

	ASSERT_LE(0, eventfd);
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0, eventfd));
	for (unsigned int i = 0; i < 4; i++)
		make_ready(_metadata, self->fd, 1);
	while (total < 4) {
		total += eventfd_take(eventfd);
		sleep_ns(MS);
	}
	sleep_ns(A_WHILE);
	EXPECT_EQ(4, total + eventfd_take(eventfd));
}

TEST_F(hwtimer, eventfd_is_told_of_what_waits_already)
{
	int eventfd = make_eventfd();

	ASSERT_LE(0, eventfd);
	make_ready(_metadata, self->fd, 2);
	await_worker(_metadata);
	ASSERT_EQ(0, dev_notify(self->fd, 3, HWTIMER_NEVER, eventfd));
	EXPECT_EQ(0, eventfd_take(eventfd));
	ASSERT_EQ(0, dev_notify(self->fd, 2, HWTIMER_NEVER, eventfd));
	EXPECT_EQ(1, eventfd_take(eventfd));
}

TEST_F(hwtimer, eventfd_waits_for_the_watermark)
{
	int eventfd = make_eventfd();

	ASSERT_LE(0, eventfd);
	ASSERT_EQ(0, dev_notify(self->fd, 3, HWTIMER_NEVER, eventfd));
	for (unsigned int i = 0; i < 2; i++) {
		make_ready(_metadata, self->fd, 1);
		sleep_ns(A_WHILE);
		EXPECT_EQ(0, eventfd_take(eventfd));
	}
	/* From then on, each arrival finds poll() ready. */
	for (unsigned int i = 0; i < 2; i++) {
		ASSERT_NE(0, dev_after(self->fd, 0, 0));
		EXPECT_EQ(POLLIN, dev_poll(eventfd, POLLIN, -1));
		sleep_ns(A_WHILE);
		EXPECT_EQ(1, eventfd_take(eventfd));
	}
}

TEST_F(hwtimer, eventfd_is_told_after_the_delay)
{
	int eventfd = make_eventfd();
	struct hwtimer_event event;

	ASSERT_LE(0, eventfd);
	ASSERT_EQ(0, dev_notify(self->fd, 1000, 30 * MS, eventfd));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(eventfd, POLLIN, -1));
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_LE(event.deadline + event.lateness + 30 * MS, now_ns());
	EXPECT_EQ(1, eventfd_take(eventfd));
}

TEST_F(hwtimer, eventfd_in_epoll)
{
	int eventfd = make_eventfd(), epoll = epoll_watch(eventfd, EPOLLIN);
	struct epoll_event out = { 0 };

	ASSERT_LE(0, eventfd);
	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0, eventfd));
	EXPECT_EQ(0, epoll_wait(epoll, &out, 1, 2));
	for (unsigned int i = 0; i < 3; i++) {
		ASSERT_NE(0, dev_after(self->fd, i * MS, 0));
		ASSERT_EQ(1, epoll_wait(epoll, &out, 1, -1));
		EXPECT_EQ(EPOLLIN, out.events);
		EXPECT_LE(1, eventfd_take(eventfd));
		EXPECT_EQ(1, dev_discard_events(self->fd, 1));
	}
}

TEST_F(hwtimer, eventfd_that_is_detached_is_left_alone)
{
	int eventfd = make_eventfd();

	ASSERT_LE(0, eventfd);
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0, eventfd));
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0, -1));
	expect_one_event(_metadata, self->fd);
	sleep_ns(A_WHILE);
	EXPECT_EQ(0, eventfd_take(eventfd));
}

TEST_F(hwtimer, eventfd_that_is_replaced_is_left_alone)
{
	int old = make_eventfd(), new = make_eventfd();

	ASSERT_LE(0, old);
	ASSERT_LE(0, new);
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0, old));
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0, new));
	expect_told(_metadata, self->fd, new);
	EXPECT_EQ(0, eventfd_take(old));
}

TEST_F(hwtimer, eventfd_that_is_given_again_counts_once)
{
	int eventfd = make_eventfd();

	ASSERT_LE(0, eventfd);
	for (unsigned int i = 0; i < 3; i++)
		ASSERT_EQ(0, dev_notify(self->fd, 0, 0, eventfd));
	expect_told(_metadata, self->fd, eventfd);
}

TEST_F(hwtimer, eventfd_that_the_program_closed_does_no_harm)
{
	int eventfd = make_eventfd();

	ASSERT_LE(0, eventfd);
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0, eventfd));
	expect_told(_metadata, self->fd, eventfd);
	ASSERT_EQ(0, close(eventfd));
	for (unsigned int i = 0; i < 3; i++)
		expect_one_event(_metadata, self->fd);
	await_worker(_metadata);
	eventfd = make_eventfd();
	ASSERT_LE(0, eventfd);
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0, eventfd));
	expect_told(_metadata, self->fd, eventfd);
	ASSERT_EQ(0, close(eventfd));
	/* The instance is closed with the eventfd attached. */
}

TEST_F(hwtimer, eventfd_outlives_the_instance)
{
	int eventfd = make_eventfd();

	ASSERT_LE(0, eventfd);
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0, eventfd));
	expect_told(_metadata, self->fd, eventfd);
	ASSERT_EQ(0, close(self->fd));
	self->fd = -1;
	EXPECT_EQ(0, eventfd_write(eventfd, 5));
	EXPECT_EQ(5, eventfd_take(eventfd));
}

TEST_F(hwtimer, eventfd_that_is_full_holds_nobody_up)
{
	int eventfd = make_eventfd();

	ASSERT_LE(0, eventfd);
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0, eventfd));
	ASSERT_EQ(0, eventfd_write(eventfd, UINT64_MAX - 1));
	for (unsigned int i = 0; i < 3; i++)
		expect_one_event(_metadata, self->fd);
	await_worker(_metadata);
	EXPECT_LE(UINT64_MAX - 1, eventfd_take(eventfd));
	expect_told(_metadata, self->fd, eventfd);
}

TEST_F(hwtimer, eventfd_for_two_instances)
{
	int eventfd = make_eventfd(), other = dev_open(O_NONBLOCK);

	ASSERT_LE(0, eventfd);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0, eventfd));
	ASSERT_EQ(0, dev_notify(other, 0, 0, eventfd));
	expect_told(_metadata, self->fd, eventfd);
	expect_told(_metadata, other, eventfd);
	ASSERT_EQ(0, close(other));
	expect_told(_metadata, self->fd, eventfd);
}

TEST_F(hwtimer, eventfd_is_told_of_the_end)
{
	int eventfd = make_eventfd();

	ASSERT_LE(0, eventfd);
	ASSERT_EQ(0, dev_notify(self->fd, 5, HWTIMER_NEVER, eventfd));
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(POLLIN, dev_poll(eventfd, POLLIN, -1));
	EXPECT_EQ(1, eventfd_take(eventfd));
}

TEST_F(hwtimer, eventfd_is_told_of_the_end_once)
{
	__u64 id = dev_after(self->fd, HOUR, 0);
	int eventfd = make_eventfd();

	ASSERT_LE(0, eventfd);
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0, eventfd));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(1, eventfd_take(eventfd));
	EXPECT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(0, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(0, dev_after(self->fd, HOUR, 0));
	EXPECT_EQ(0, eventfd_take(eventfd));
}

/* When the delay since the first event ends, the watermark was reached: no new signal. */
TEST_F(hwtimer, eventfd_is_not_told_of_the_delay_after_the_watermark)
{
	int eventfd = make_eventfd();

	ASSERT_LE(0, eventfd);
	ASSERT_EQ(0, dev_notify(self->fd, 2, 100 * MS, eventfd));
	make_ready(_metadata, self->fd, 2);
	EXPECT_EQ(POLLIN, dev_poll(eventfd, POLLIN, -1));
	EXPECT_LE(1, eventfd_take(eventfd));
	sleep_ns(200 * MS);
	EXPECT_EQ(0, eventfd_take(eventfd));
}

TEST_F(hwtimer, eventfd_is_told_of_the_end_when_the_last_event_was_read)
{
	int eventfd = make_eventfd();
	struct hwtimer_event event;

	ASSERT_LE(0, eventfd);
	make_ready(_metadata, self->fd, 1);
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	ASSERT_EQ(0, dev_notify(self->fd, 0, 0, eventfd));
	eventfd_take(eventfd);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(POLLIN, dev_poll(eventfd, POLLIN, -1));
}

/* ---- what is refused ---- */

static struct hwtimer_notify valid_notify(void)
{
	return (struct hwtimer_notify){
		.size = sizeof(struct hwtimer_notify),
		.eventfd = -1,
	};
}

static int do_notify(int fd, struct hwtimer_notify notify)
{
	return dev_ioctl(fd, HWTIMER_IOC_NOTIFY, &notify);
}

TEST_F(hwtimer, unknown_flags_are_einval)
{
	struct hwtimer_notify notify = valid_notify();

	for (unsigned int bit = 0; bit < 32; bit++) {
		notify.flags = 1U << bit;
		EXPECT_EQ(-EINVAL, do_notify(self->fd, notify));
	}
	EXPECT_EQ(0, do_notify(self->fd, valid_notify()));
}

TEST_F(hwtimer, descriptors_that_are_not_open_are_ebadf)
{
	int closed = make_eventfd();
	const int fds[] = { closed, 1000000, INT_MAX };

	ASSERT_LE(0, closed);
	ASSERT_EQ(0, close(closed));
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++)
		EXPECT_EQ(-EBADF, dev_notify(self->fd, 0, 0, fds[i]));
}

TEST_F(hwtimer, negative_descriptors_but_minus_1_are_einval)
{
	const int fds[] = { -2, -100, INT_MIN };

	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++)
		EXPECT_EQ(-EINVAL, dev_notify(self->fd, 0, 0, fds[i]));
}

TEST_F(hwtimer, descriptors_of_something_else_are_einval)
{
	int pipes[2], epoll = epoll_create1(EPOLL_CLOEXEC);

	ASSERT_EQ(0, pipe(pipes));
	ASSERT_LE(0, epoll);
	EXPECT_EQ(-EINVAL, dev_notify(self->fd, 0, 0, self->fd));
	EXPECT_EQ(-EINVAL, dev_notify(self->fd, 0, 0, pipes[0]));
	EXPECT_EQ(-EINVAL, dev_notify(self->fd, 0, 0, pipes[1]));
	EXPECT_EQ(-EINVAL, dev_notify(self->fd, 0, 0, epoll));
}

TEST_F(hwtimer, senseless_delays_are_einval)
{
	const struct {
		__u32 events;
		__u64 delay;
	} bad[] = {
		{ 0, 1 },
		{ 0, SEC },
		{ 0, HWTIMER_NEVER },
		{ 1, 1 },
		{ 1, INT64_MAX },
		{ 1, HWTIMER_NEVER },
		{ 2, 0 },
		{ UINT_MAX, 0 },
		{ 2, INT64_MAX + 1ULL },
		{ 2, HWTIMER_NEVER - 1 },
		{ UINT_MAX, 1ULL << 63 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EINVAL,
			  dev_notify(self->fd, bad[i].events, bad[i].delay, -1))
		{
			TH_LOG("bad[%u]", i);
		}
	}
	EXPECT_EQ(0, dev_notify(self->fd, 2, 1, -1));
	EXPECT_EQ(0, dev_notify(self->fd, 2, INT64_MAX, -1));
	EXPECT_EQ(0, dev_notify(self->fd, UINT_MAX, HWTIMER_NEVER, -1));
}

TEST_F(hwtimer, refusal_changes_nothing)
{
	int eventfd = make_eventfd(), other = make_eventfd();
	struct hwtimer_notify notify = valid_notify();

	ASSERT_LE(0, eventfd);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, dev_notify(self->fd, 3, HWTIMER_NEVER, eventfd));
	notify.flags = 1;
	EXPECT_EQ(-EINVAL, do_notify(self->fd, notify));
	EXPECT_EQ(-EINVAL, dev_notify(self->fd, 0, 1, -1));
	EXPECT_EQ(-EINVAL, dev_notify(self->fd, 2, 0, other));
	EXPECT_EQ(-EINVAL, dev_notify(self->fd, 0, 0, self->fd));
	EXPECT_EQ(-EBADF, dev_notify(self->fd, 0, 0, INT_MAX));
	make_ready(_metadata, self->fd, 2);
	sleep_ns(A_WHILE);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
	EXPECT_EQ(0, eventfd_take(eventfd));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(eventfd, POLLIN, -1));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	EXPECT_EQ(0, eventfd_take(other));
}

/* A thread that changes all settings while thousands of events come. */
struct changer {
	int fd;
	int eventfd;
	bool stop;
	unsigned int failures;
};

static void *change_notify(void *arg)
{
	struct changer *changer = arg;

	for (unsigned int i = 0;
	     !__atomic_load_n(&changer->stop, __ATOMIC_RELAXED); i++) {
		__u32 events = i % 7;
		__u64 delay = events < 2 ? 0 : i % 3 * MS + 1;

		if (dev_notify(changer->fd, events, delay,
			       i % 2 ? changer->eventfd : -1))
			changer->failures++;
	}
	return NULL;
}

TEST_F(hwtimer, changed_all_the_time_loses_no_event)
{
	struct changer changers[2] = { { .fd = self->fd }, { .fd = self->fd } };
	unsigned int n = scaled(20000);
	pthread_t threads[2];

	for (unsigned int i = 0; i < 2; i++) {
		changers[i].eventfd = make_eventfd();
		ASSERT_LE(0, changers[i].eventfd);
	}
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
