// SPDX-License-Identifier: GPL-2.0
/*
 * poll() and epoll: readable exactly while events wait, level- and edge-triggered, and a
 * hangup once the instance is stopped and drained. Also several epoll instances at once.
 */
#include "hwtimer_test.h"

#define ALL_EVENTS (POLLIN | POLLPRI | POLLOUT | POLLRDHUP)

/* Returns what epoll reports within @timeout_ms, or 0. */
static __u32 watched(int epoll, int timeout_ms)
{
	struct epoll_event event = { 0 };
	int ret;

	do {
		ret = epoll_wait(epoll, &event, 1, timeout_ms);
	} while (ret < 0 && errno == EINTR);
	return ret == 1 ? event.events : 0;
}

TEST_F(hwtimer, nothing_is_ready_at_first)
{
	EXPECT_EQ(0, dev_poll(self->fd, ALL_EVENTS, 0));
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	EXPECT_EQ(0, dev_poll(self->fd, ALL_EVENTS, 20));
}

TEST_F(hwtimer, poll_waits_for_an_event)
{
	struct hwtimer_event event;

	ASSERT_NE(0, dev_after(self->fd, 50 * MS, 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, ALL_EVENTS, -1));
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	expect_due(_metadata, &event);
}

TEST_F(hwtimer, readable_as_normal_data_too)
{
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(POLLIN | POLLRDNORM,
		  dev_poll(self->fd, POLLIN | POLLRDNORM, -1));
}

TEST_F(hwtimer, readable_until_the_last_event_is_read)
{
	struct hwtimer_event event;

	ASSERT_EQ(3, dev_schedule_many(self->fd, 3, 0, 0, NULL));
	ASSERT_TRUE(dev_wait_ready(self->fd, 3));
	for (unsigned int i = 0; i < 3; i++) {
		EXPECT_EQ(POLLIN, dev_poll(self->fd, ALL_EVENTS, 0));
		ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	}
	EXPECT_EQ(0, dev_poll(self->fd, ALL_EVENTS, 0));
}

TEST_F(hwtimer, readable_until_the_last_event_is_discarded)
{
	__u64 ids[3];

	ASSERT_EQ(3, dev_schedule_many(self->fd, 3, 0, 0, ids));
	ASSERT_TRUE(dev_wait_ready(self->fd, 3));
	for (unsigned int i = 0; i < 3; i++) {
		EXPECT_EQ(POLLIN, dev_poll(self->fd, ALL_EVENTS, 0));
		ASSERT_EQ(0, dev_cancel(self->fd, ids[i], HWTIMER_REQ_DISCARD));
	}
	EXPECT_EQ(0, dev_poll(self->fd, ALL_EVENTS, 0));
}

TEST_F(hwtimer, failed_read_leaves_it_readable)
{
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	ASSERT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	ASSERT_EQ(-EFAULT, dev_read(self->fd, bad_address(), 1));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
}

TEST_F(hwtimer, readable_means_that_read_gets_something)
{
	struct hwtimer_event events[4];
	unsigned int got = 0;

	for (unsigned int i = 0; i < 100; i++)
		ASSERT_NE(0, dev_after(self->fd, i * 300 * US, 0));
	while (got < 100) {
		int ret;

		ASSERT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
		ret = dev_read(self->fd, events, 4);
		ASSERT_LT(0, ret);
		got += ret;
	}
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
}

TEST_F(hwtimer, level_triggered_reports_while_events_wait)
{
	int epoll = epoll_watch(self->fd, EPOLLIN);
	struct hwtimer_event events[2];

	ASSERT_LE(0, epoll);
	EXPECT_EQ(0, watched(epoll, 0));
	ASSERT_EQ(2, dev_schedule_many(self->fd, 2, 0, 0, NULL));
	ASSERT_TRUE(dev_wait_ready(self->fd, 2));
	EXPECT_EQ(EPOLLIN, watched(epoll, -1));
	EXPECT_EQ(EPOLLIN, watched(epoll, 0));
	ASSERT_EQ(1, dev_read(self->fd, events, 1));
	EXPECT_EQ(EPOLLIN, watched(epoll, 0));
	ASSERT_EQ(1, dev_read(self->fd, events, 2));
	EXPECT_EQ(0, watched(epoll, 0));
}

TEST_F(hwtimer, edge_triggered_reports_each_arrival_once)
{
	int epoll = epoll_watch(self->fd, EPOLLIN | EPOLLET);
	struct hwtimer_event event;

	ASSERT_LE(0, epoll);
	EXPECT_EQ(0, watched(epoll, 0));
	for (unsigned int i = 1; i <= 3; i++) {
		ASSERT_NE(0, dev_after(self->fd, 0, i));
		EXPECT_EQ(EPOLLIN, watched(epoll, -1));
		EXPECT_EQ(0, watched(epoll, 20));
		EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	}
	for (unsigned int i = 1; i <= 3; i++) {
		ASSERT_EQ(1, dev_read(self->fd, &event, 1));
		EXPECT_EQ(i, event.user_data);
	}
	EXPECT_EQ(0, watched(epoll, 20));
}

TEST_F(hwtimer, edge_triggered_after_draining)
{
	int epoll = epoll_watch(self->fd, EPOLLIN | EPOLLET);
	struct hwtimer_event events[8];

	ASSERT_LE(0, epoll);
	for (unsigned int i = 0; i < 20; i++) {
		int ret;

		ASSERT_NE(0, dev_after(self->fd, i % 3 * MS, i));
		ASSERT_EQ(EPOLLIN, watched(epoll, -1));
		ret = dev_read(self->fd, events, 8);
		ASSERT_EQ(1, ret);
	}
}

TEST_F(hwtimer, one_shot_reports_once_until_rearmed)
{
	struct epoll_event again = { .events = EPOLLIN | EPOLLONESHOT };
	int epoll = epoll_watch(self->fd, EPOLLIN | EPOLLONESHOT);

	ASSERT_LE(0, epoll);
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(EPOLLIN, watched(epoll, -1));
	EXPECT_EQ(0, watched(epoll, 0));
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_MOD, self->fd, &again));
	EXPECT_EQ(EPOLLIN, watched(epoll, 0));
}

TEST_F(hwtimer, added_to_epoll_when_events_wait_already)
{
	int epoll;

	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	epoll = epoll_watch(self->fd, EPOLLIN | EPOLLET);
	ASSERT_LE(0, epoll);
	EXPECT_EQ(EPOLLIN, watched(epoll, 0));
}

/* A thread that polls until something happens, and the events that it got */
struct poller {
	int fd;
	short events;
};

static void *poller(void *arg)
{
	struct poller *poller = arg;

	poller->events = dev_poll(poller->fd, POLLIN, -1);
	return NULL;
}

TEST_F(hwtimer, one_event_wakes_every_poller)
{
	struct poller pollers[4];
	pthread_t threads[4];

	for (unsigned int i = 0; i < 4; i++)
		pollers[i] = (struct poller){ .fd = self->fd };
	start_threads(threads, 4, poller, pollers, sizeof(pollers[0]));
	sleep_ns(50 * MS);
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	join_threads(threads, 4);
	for (unsigned int i = 0; i < 4; i++)
		EXPECT_EQ(POLLIN, pollers[i].events);
}

TEST_F(hwtimer, hangs_up_when_stopped_and_drained)
{
	struct hwtimer_event event;

	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0) & POLLIN);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0) & POLLHUP);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(POLLHUP, dev_poll(self->fd, POLLIN, 0) & POLLHUP);
	EXPECT_EQ(0, dev_read(self->fd, &event, 1));
}

TEST_F(hwtimer, hangs_up_when_the_last_event_is_discarded)
{
	__u64 id = dev_after(self->fd, 0, 0);

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	ASSERT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
	EXPECT_EQ(POLLHUP, dev_poll(self->fd, POLLIN, 0) & POLLHUP);
}

TEST_F(hwtimer, stop_wakes_pollers)
{
	struct poller waiting = { .fd = self->fd };
	int epoll = epoll_watch(self->fd, EPOLLIN | EPOLLET);
	pthread_t thread;

	ASSERT_LE(0, epoll);
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	start_threads(&thread, 1, poller, &waiting, sizeof(waiting));
	sleep_ns(50 * MS);
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	join_threads(&thread, 1);
	EXPECT_EQ(POLLHUP, waiting.events & POLLHUP);
	EXPECT_EQ(EPOLLHUP, watched(epoll, -1) & EPOLLHUP);
}

TEST_F(hwtimer, last_read_after_stop_wakes_pollers)
{
	int epoll = epoll_watch(self->fd, EPOLLET);
	struct hwtimer_event event;

	ASSERT_LE(0, epoll);
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	while (watched(epoll, 20))
		;
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(EPOLLHUP, watched(epoll, -1));
}

/* ---- several epoll instances ---- */

/* Somebody waits in an exclusive epoll instance; one behind it need not be told. */
TEST_F(hwtimer, exclusive_epoll_is_told)
{
	struct hwtimer_event event;
	int epolls[2];

	for (unsigned int i = 0; i < 2; i++) {
		epolls[i] = epoll_watch(self->fd, EPOLLIN | EPOLLEXCLUSIVE);
		ASSERT_LE(0, epolls[i]);
	}
	for (unsigned int i = 0; i < 4; i++) {
		ASSERT_NE(0, dev_after(self->fd, MS, i));
		ASSERT_EQ(EPOLLIN, watched(epolls[i % 2], -1));
		ASSERT_EQ(1, dev_read(self->fd, &event, 1));
		EXPECT_EQ(i, event.user_data);
	}
}

struct epoll_waiter {
	int epoll;
	__u32 events;
};

static void *epoll_waiter(void *arg)
{
	struct epoll_waiter *waiter = arg;

	waiter->events = watched(waiter->epoll, -1);
	return NULL;
}

/* After the end nothing comes that would wake the next of several exclusive waiters. */
TEST_F(hwtimer, stop_wakes_each_exclusive_epoll)
{
	struct epoll_waiter waiters[3];
	pthread_t threads[3];

	for (unsigned int i = 0; i < 3; i++) {
		waiters[i].epoll =
			epoll_watch(self->fd, EPOLLIN | EPOLLEXCLUSIVE);
		ASSERT_LE(0, waiters[i].epoll);
	}
	start_threads(threads, 3, epoll_waiter, waiters, sizeof(waiters[0]));
	sleep_ns(50 * MS);
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	join_threads(threads, 3);
	for (unsigned int i = 0; i < 3; i++)
		EXPECT_EQ(EPOLLHUP, waiters[i].events & EPOLLHUP);
}

/* close() in the middle of a wake-up; with KASAN, a waiter that is left would be found. */
TEST(close_while_it_is_being_woken)
{
	static const __u32 kinds[] = { EPOLLET, 0, EPOLLEXCLUSIVE,
				       EPOLLEXCLUSIVE | EPOLLET };
	int epolls[ARRAY_SIZE(kinds)];

	for (unsigned int i = 0; i < 20; i++) {
		int fd = dev_open(O_NONBLOCK);

		ASSERT_LE(0, fd);
		for (unsigned int j = 0; j < ARRAY_SIZE(kinds); j++) {
			epolls[j] = epoll_watch(fd, EPOLLIN | kinds[j]);
			ASSERT_LE(0, epolls[j]);
		}
		ASSERT_NE(0, dev_after(fd, 0, 0));
		if (i % 2)
			dev_poll(fd, POLLIN, -1);
		ASSERT_EQ(0, close(fd));
		for (unsigned int j = 0; j < ARRAY_SIZE(kinds); j++)
			ASSERT_EQ(0, close(epolls[j]));
	}
}

TEST_HARNESS_MAIN
