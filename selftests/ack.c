// SPDX-License-Identifier: GPL-2.0
/*
 * HWTIMER_SETUP_AT_LEAST_ONCE: events stay until ACK ends them, and come again after
 * HWTIMER_ACK_REWIND. What read(), poll(), CANCEL_ALL, the limits and periodic timers make of
 * events that are not acknowledged; a process that dies between an event and its ACK.
 */
#include "hwtimer_test.h"

#define INTERVAL (20 * MS)

static int setup_instance(int fd, __u64 timers)
{
	return dev_setup_as(fd, (struct hwtimer_setup){
					.flags = HWTIMER_SETUP_AT_LEAST_ONCE,
					.timers = timers,
				});
}

/* An instance with HWTIMER_SETUP_AT_LEAST_ONCE, whose reads do not block */
FIXTURE(ack)
{
	int fd;
};

FIXTURE_SETUP(ack)
{
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, setup_instance(self->fd, 0));
}

FIXTURE_TEARDOWN(ack)
{
	expect_close(_metadata, self->fd);
}

/* Lets @n timers expire, in the order of their user_data, which begins at @first. */
static void expire(struct __test_metadata *_metadata, int fd, __u64 first,
		   unsigned int n, __u64 *ids)
{
	struct hwtimer_request requests[BATCH];
	__u64 ready = stats_of(fd).ready;

	ASSERT_GE(BATCH, n);
	fill_schedules(requests, n, 0, 0, first);
	schedule_in_time(_metadata, fd, CLOCK_MONOTONIC, requests, n, 3 * MS);
	ASSERT_TRUE(dev_wait_ready(fd, ready + n));
	for (unsigned int i = 0; ids && i < n; i++)
		ids[i] = requests[i].id;
}

/* Reads exactly @n events, whose user_data count up from @first. */
static void expect_events(struct __test_metadata *_metadata, int fd,
			  __u64 first, unsigned int n)
{
	struct hwtimer_event events[BATCH];

	ASSERT_GE(BATCH, n);
	ASSERT_EQ(n, dev_read(fd, events, n));
	for (unsigned int i = 0; i < n; i++)
		ASSERT_EQ(first + i, events[i].user_data);
}

static void expect_nothing(struct __test_metadata *_metadata, int fd)
{
	struct hwtimer_event event;

	EXPECT_EQ(-EAGAIN, dev_read(fd, &event, 1));
	EXPECT_EQ(0, dev_poll(fd, POLLIN, 0));
}

static void expect_state(struct __test_metadata *_metadata, int fd, __u64 id,
			 __u32 state)
{
	EXPECT_EQ(state, query_of(_metadata, fd, id).state);
}

static void expect_gone(struct __test_metadata *_metadata, int fd, __u64 id)
{
	struct hwtimer_timer query;

	EXPECT_EQ(-ENOENT, dev_query(fd, id, &query));
}

/* ---- events, one after the other ---- */

TEST_F(ack, info_tells)
{
	struct hwtimer_info info;

	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(HWTIMER_SETUP_AT_LEAST_ONCE, info.flags);
}

TEST_F(ack, event_stays_until_it_is_acknowledged)
{
	__u64 id;

	expire(_metadata, self->fd, 7, 1, &id);
	EXPECT_EQ(-EINVAL, dev_ack(self->fd, 1));
	expect_events(_metadata, self->fd, 7, 1);
	expect_nothing(_metadata, self->fd);
	expect_state(_metadata, self->fd, id, HWTIMER_STATE_EXPIRED);
	EXPECT_EQ(1, stats_of(self->fd).ready);
	EXPECT_EQ(0, stats_of(self->fd).delivered);

	EXPECT_EQ(1, dev_ack(self->fd, 1));
	expect_gone(_metadata, self->fd, id);
	EXPECT_EQ(0, stats_of(self->fd).ready);
	EXPECT_EQ(1, stats_of(self->fd).delivered);
	EXPECT_EQ(-EINVAL, dev_ack(self->fd, 1));
	expect_nothing(_metadata, self->fd);
}

TEST_F(ack, reads_go_on_behind_what_was_read)
{
	expire(_metadata, self->fd, 0, 10, NULL);
	for (unsigned int i = 0; i < 10; i++) {
		EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
		expect_events(_metadata, self->fd, i, 1);
	}
	expect_nothing(_metadata, self->fd);
	EXPECT_EQ(10, dev_ack(self->fd, 10));
}

TEST_F(ack, oldest_end_first)
{
	__u64 ids[10];

	expire(_metadata, self->fd, 0, 10, ids);
	expect_events(_metadata, self->fd, 0, 8);
	EXPECT_EQ(0, dev_ack(self->fd, 0));
	EXPECT_EQ(3, dev_ack(self->fd, 3));
	for (unsigned int i = 0; i < 3; i++)
		expect_gone(_metadata, self->fd, ids[i]);
	for (unsigned int i = 3; i < 10; i++)
		expect_state(_metadata, self->fd, ids[i],
			     HWTIMER_STATE_EXPIRED);
	/* More than were read: nothing ends. */
	EXPECT_EQ(-EINVAL, dev_ack(self->fd, 6));
	EXPECT_EQ(-EINVAL, dev_ack(self->fd, UINT_MAX));
	EXPECT_EQ(7, stats_of(self->fd).ready);
	EXPECT_EQ(5, dev_ack(self->fd, 5));
	expect_events(_metadata, self->fd, 8, 2);
	EXPECT_EQ(2, dev_ack(self->fd, 2));
}

TEST_F(ack, rewind_begins_with_the_oldest)
{
	expire(_metadata, self->fd, 0, 10, NULL);
	expect_events(_metadata, self->fd, 0, 7);
	EXPECT_EQ(2, dev_ack(self->fd, 2));
	EXPECT_EQ(0, dev_rewind(self->fd));
	EXPECT_EQ(-EINVAL, dev_ack(self->fd, 1));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	expect_events(_metadata, self->fd, 2, 4);
	EXPECT_EQ(0, dev_rewind(self->fd));
	EXPECT_EQ(0, dev_rewind(self->fd));
	expect_events(_metadata, self->fd, 2, 8);
	EXPECT_EQ(-EINVAL, dev_ack(self->fd, 9));
	EXPECT_EQ(8, dev_ack(self->fd, 8));
	EXPECT_EQ(0, dev_rewind(self->fd));
	expect_nothing(_metadata, self->fd);
	EXPECT_EQ(10, stats_of(self->fd).delivered);
}

/* A program that waits meanwhile hears of the events that come again. */
TEST_F(ack, rewind_is_heard)
{
	struct reader reader = { .fd = self->fd };
	struct epoll_event out;
	pthread_t thread;
	int epoll;

	expire(_metadata, self->fd, 7, 1, NULL);
	expect_events(_metadata, self->fd, 7, 1);
	epoll = epoll_watch(self->fd, EPOLLIN | EPOLLET);
	ASSERT_LE(0, epoll);
	EXPECT_EQ(0, epoll_wait(epoll, &out, 1, 20));
	ASSERT_EQ(0, dev_rewind(self->fd));
	EXPECT_EQ(1, epoll_wait(epoll, &out, 1, -1));
	expect_events(_metadata, self->fd, 7, 1);
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	start_threads(&thread, 1, read_one, &reader, 0);
	sleep_ns(20 * MS);
	ASSERT_EQ(0, dev_rewind(self->fd));
	join_threads(&thread, 1);
	EXPECT_EQ(7, reader.event.user_data);
	EXPECT_EQ(1, dev_ack(self->fd, 1));
	close(epoll);
}

TEST_F(ack, event_is_the_same_after_rewind)
{
	struct hwtimer_event event, again;

	expire(_metadata, self->fd, 4711, 1, NULL);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	ASSERT_EQ(0, dev_rewind(self->fd));
	ASSERT_EQ(1, dev_read(self->fd, &again, 1));
	EXPECT_EQ(0, memcmp(&event, &again, sizeof(event)));
	EXPECT_EQ(1, dev_ack(self->fd, 1));
}

TEST_F(ack, rewind_of_an_unused_instance)
{
	EXPECT_EQ(0, dev_rewind(self->fd));
	EXPECT_EQ(0, dev_ack(self->fd, 0));
	EXPECT_EQ(-EINVAL, dev_ack(self->fd, 1));
	expect_nothing(_metadata, self->fd);
}

TEST_F(ack, fault_reads_nothing)
{
	struct hwtimer_event *edge = page_edge(sizeof(*edge) * 3 / 2);

	expire(_metadata, self->fd, 0, 3, NULL);
	EXPECT_EQ(-EFAULT, dev_read(self->fd, bad_address(), 3));
	EXPECT_EQ(-EINVAL, dev_ack(self->fd, 1));
	EXPECT_EQ(1, dev_read(self->fd, edge, 3));
	EXPECT_EQ(0, edge->user_data);
	EXPECT_EQ(-EINVAL, dev_ack(self->fd, 2));
	expect_events(_metadata, self->fd, 1, 2);
	EXPECT_EQ(3, dev_ack(self->fd, 3));
}

/* One call acknowledges, and then rewinds; or it does neither. */
TEST_F(ack, ack_and_rewind)
{
	struct hwtimer_ack ack = { .count = 2, .flags = HWTIMER_ACK_REWIND };

	expire(_metadata, self->fd, 0, 5, NULL);
	expect_events(_metadata, self->fd, 0, 4);
	EXPECT_EQ(2, dev_ioctl(self->fd, HWTIMER_IOC_ACK, &ack));
	expect_events(_metadata, self->fd, 2, 1);
	EXPECT_EQ(-EINVAL, dev_ioctl(self->fd, HWTIMER_IOC_ACK, &ack));
	expect_events(_metadata, self->fd, 3, 2);
	EXPECT_EQ(3, dev_ack(self->fd, 3));
}

/* The instance moves to its whole wheel while events are read, unread and acknowledged. */
TEST_F(ack, instance_that_grows_keeps_the_order)
{
	expire(_metadata, self->fd, 0, 20, NULL);
	expect_events(_metadata, self->fd, 0, 15);
	EXPECT_EQ(5, dev_ack(self->fd, 5));
	ASSERT_EQ(0, dev_whole_wheel(self->fd));
	expect_events(_metadata, self->fd, 15, 5);
	EXPECT_EQ(0, dev_rewind(self->fd));
	expire(_metadata, self->fd, 20, 300, NULL);
	expect_events(_metadata, self->fd, 5, 315);
	EXPECT_EQ(315, dev_ack(self->fd, 315));
}

/* ---- what other calls make of events that were read ---- */

TEST_F(ack, cancel_comes_too_late)
{
	__u64 id;

	expire(_metadata, self->fd, 0, 1, &id);
	expect_events(_metadata, self->fd, 0, 1);
	EXPECT_EQ(1, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(-EALREADY, dev_reschedule(self->fd, id, 0, HOUR));
	EXPECT_EQ(1, dev_ack(self->fd, 1));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, id, 0));
}

TEST_F(ack, event_that_was_discarded_after_the_read_counts)
{
	__u64 discarded;
	__u64 ids[3];

	expire(_metadata, self->fd, 0, 3, ids);
	/* expire() discards what a slow machine has let expire too early. */
	discarded = stats_of(self->fd).discarded;
	expect_events(_metadata, self->fd, 0, 3);
	EXPECT_EQ(0, dev_cancel(self->fd, ids[1], HWTIMER_REQ_DISCARD));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, ids[1], HWTIMER_REQ_DISCARD));
	EXPECT_EQ(2, stats_of(self->fd).ready);
	EXPECT_EQ(2, dev_ack(self->fd, 2));
	expect_gone(_metadata, self->fd, ids[0]);
	expect_state(_metadata, self->fd, ids[2], HWTIMER_STATE_EXPIRED);
	EXPECT_EQ(1, dev_ack(self->fd, 1));
	EXPECT_EQ(-EINVAL, dev_ack(self->fd, 1));
	EXPECT_EQ(2, stats_of(self->fd).delivered);
	EXPECT_EQ(discarded + 1, stats_of(self->fd).discarded);
}

TEST_F(ack, event_that_was_discarded_before_the_read_does_not_count)
{
	struct hwtimer_event events[4];
	__u64 ids[3];

	expire(_metadata, self->fd, 0, 3, ids);
	EXPECT_EQ(0, dev_cancel(self->fd, ids[1], HWTIMER_REQ_DISCARD));
	ASSERT_EQ(2, dev_read(self->fd, events, 4));
	EXPECT_EQ(ids[0], events[0].id);
	EXPECT_EQ(ids[2], events[1].id);
	EXPECT_EQ(-EINVAL, dev_ack(self->fd, 3));
	EXPECT_EQ(2, dev_ack(self->fd, 2));
}

TEST_F(ack, event_that_was_discarded_does_not_come_again)
{
	struct hwtimer_event events[4];
	__u64 ids[3];

	expire(_metadata, self->fd, 0, 3, ids);
	expect_events(_metadata, self->fd, 0, 3);
	EXPECT_EQ(0, dev_cancel(self->fd, ids[0], HWTIMER_REQ_DISCARD));
	EXPECT_EQ(0, dev_rewind(self->fd));
	ASSERT_EQ(2, dev_read(self->fd, events, 4));
	EXPECT_EQ(ids[1], events[0].id);
	EXPECT_EQ(-EINVAL, dev_ack(self->fd, 3));
	EXPECT_EQ(2, dev_ack(self->fd, 2));
}

TEST_F(ack, discard_of_all_that_was_read)
{
	__u64 ids[5];

	expire(_metadata, self->fd, 0, 5, ids);
	expect_events(_metadata, self->fd, 0, 5);
	for (unsigned int i = 0; i < 5; i++)
		EXPECT_EQ(0, dev_cancel(self->fd, ids[i], HWTIMER_REQ_DISCARD));
	EXPECT_EQ(0, stats_of(self->fd).ready);
	EXPECT_EQ(5, dev_ack(self->fd, 5));
	EXPECT_EQ(0, stats_of(self->fd).delivered);
	expire(_metadata, self->fd, 10, 1, NULL);
	expect_events(_metadata, self->fd, 10, 1);
	EXPECT_EQ(1, dev_ack(self->fd, 1));
}

/* One action takes long. Those after it end before, each by DISCARD, as ACK ends the oldest. */
TEST_F(ack, slow_action_holds_up_no_others)
{
	const unsigned int n = 200;
	__u64 id;

	expire(_metadata, self->fd, 0, 1, NULL);
	expect_events(_metadata, self->fd, 0, 1);
	for (unsigned int i = 1; i < n; i++) {
		expire(_metadata, self->fd, i, 1, &id);
		expect_events(_metadata, self->fd, i, 1);
		ASSERT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
	}
	EXPECT_EQ(1, stats_of(self->fd).ready);
	EXPECT_EQ(n, dev_ack(self->fd, n));
}

TEST_F(ack, cancel_all_drops_what_was_read)
{
	__u64 discarded;

	expire(_metadata, self->fd, 0, 10, NULL);
	discarded = stats_of(self->fd).discarded;
	expect_events(_metadata, self->fd, 0, 4);
	EXPECT_EQ(0, dev_cancel_all(self->fd, 0));
	EXPECT_EQ(discarded, stats_of(self->fd).discarded);
	EXPECT_EQ(0, dev_cancel_all(self->fd, HWTIMER_LIST_DISCARD));
	EXPECT_EQ(discarded + 10, stats_of(self->fd).discarded);
	EXPECT_EQ(0, dev_rewind(self->fd));
	expect_nothing(_metadata, self->fd);
	EXPECT_EQ(0, stats_of(self->fd).ready);
}

TEST_F(ack, rearm_drops_the_event)
{
	struct hwtimer_request request = {
		.flags = HWTIMER_REQ_REARM,
		.time = HOUR,
		.user_data = 1,
	};
	__u64 id;

	expire(_metadata, self->fd, 0, 1, &id);
	expect_events(_metadata, self->fd, 0, 1);
	request.id = id;
	ASSERT_EQ(0, dev_ioctl(self->fd, HWTIMER_IOC_RESCHEDULE, &request));
	EXPECT_NE(id, request.id);
	EXPECT_EQ(1, dev_ack(self->fd, 1));
	expect_gone(_metadata, self->fd, id);
	expect_state(_metadata, self->fd, request.id, HWTIMER_STATE_PENDING);
}

TEST_F(ack, list_shows_what_is_not_acknowledged)
{
	struct hwtimer_timer timers[10];
	__u64 cursor = 0;

	expire(_metadata, self->fd, 0, 5, NULL);
	expect_events(_metadata, self->fd, 0, 3);
	ASSERT_EQ(5, dev_list(self->fd, timers, 10, &cursor));
	for (unsigned int i = 0; i < 5; i++)
		EXPECT_EQ(HWTIMER_STATE_EXPIRED, timers[i].state);
	EXPECT_EQ(2, dev_ack(self->fd, 2));
	cursor = 0;
	EXPECT_EQ(3, dev_list(self->fd, timers, 10, &cursor));
}

/* An event that was read is not the next one. */
TEST_F(ack, next_event_is_an_unread_one)
{
	struct hwtimer_info info;

	expire(_metadata, self->fd, 0, 1, NULL);
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(0, info.until_next);
	expect_events(_metadata, self->fd, 0, 1);
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(HWTIMER_NEVER, info.until_next);
	ASSERT_EQ(0, dev_rewind(self->fd));
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(0, info.until_next);
	expect_events(_metadata, self->fd, 0, 1);
	EXPECT_EQ(1, dev_ack(self->fd, 1));
}

/* ---- periodic timers ---- */

/* Schedules a periodic timer that is due, and waits until its event can be read. */
static __u64 add_periodic(struct __test_metadata *_metadata, int fd,
			  __u32 flags, __u64 interval, __u32 count)
{
	__u64 ready = stats_of(fd).ready;
	__u64 id = dev_add(fd, (struct hwtimer_request){
				       .flags = flags,
				       .interval = interval,
				       .expirations_max = count,
			       });

	ASSERT_NE(0, id);
	ASSERT_TRUE(dev_wait_ready(fd, ready + 1));
	return id;
}

TEST_F(ack, periodic_timer_goes_on_with_ack)
{
	__u64 id = add_periodic(_metadata, self->fd, 0, INTERVAL, 0);
	struct hwtimer_event event, next;

	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	sleep_ns(2 * INTERVAL);
	expect_nothing(_metadata, self->fd);
	expect_state(_metadata, self->fd, id, HWTIMER_STATE_EXPIRED);
	EXPECT_EQ(0, stats_of(self->fd).rearmed);
	EXPECT_EQ(1, dev_ack(self->fd, 1));
	EXPECT_EQ(1, stats_of(self->fd).rearmed);
	/* No deadline is left out, and none is told twice. */
	ASSERT_EQ(1, dev_collect(self->fd, &next, 1));
	EXPECT_EQ(id, next.id);
	EXPECT_EQ(event.deadline + event.expirations * INTERVAL, next.deadline);
	EXPECT_LE(2, next.expirations);
	EXPECT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
}

TEST_F(ack, periodic_timer_tells_what_has_passed_after_rewind)
{
	__u64 id = add_periodic(_metadata, self->fd, 0, MS, 0);
	struct hwtimer_event event, again, next;

	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	sleep_until(event.deadline + (event.expirations + 1) * MS);
	ASSERT_EQ(0, dev_rewind(self->fd));
	ASSERT_EQ(1, dev_read(self->fd, &again, 1));
	EXPECT_EQ(event.id, again.id);
	EXPECT_EQ(event.deadline, again.deadline);
	EXPECT_LT(event.expirations, again.expirations);
	EXPECT_EQ(1, dev_ack(self->fd, 1));
	ASSERT_EQ(1, dev_collect(self->fd, &next, 1));
	EXPECT_EQ(again.deadline + again.expirations * MS, next.deadline);
	EXPECT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
}

TEST_F(ack, fixed_delay_counts_from_ack)
{
	__u64 id = add_periodic(_metadata, self->fd, HWTIMER_REQ_FIXED_DELAY,
				HOUR, 0);
	__u64 before, after, deadline;

	expect_events(_metadata, self->fd, 0, 1);
	sleep_ns(MS);
	before = now_ns();
	EXPECT_EQ(1, dev_ack(self->fd, 1));
	after = now_ns();
	deadline = query_of(_metadata, self->fd, id).deadline;
	EXPECT_LE(before + HOUR, deadline);
	EXPECT_GE(after + HOUR, deadline);
}

TEST_F(ack, last_event_of_a_periodic_timer)
{
	__u64 id = add_periodic(_metadata, self->fd, HWTIMER_REQ_FIXED_DELAY,
				MS, 2);
	struct hwtimer_event event;

	for (unsigned int i = 0; i < 2; i++) {
		expect_state(_metadata, self->fd, id, HWTIMER_STATE_EXPIRED);
		ASSERT_EQ(1, dev_read(self->fd, &event, 1));
		EXPECT_EQ(1, dev_ack(self->fd, 1));
		if (!i)
			ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	}
	expect_gone(_metadata, self->fd, id);
}

TEST_F(ack, cancel_makes_the_event_that_was_read_the_last)
{
	__u64 id = add_periodic(_metadata, self->fd, 0, MS, 0);
	struct hwtimer_event event, again;

	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(1, dev_cancel(self->fd, id, 0));
	sleep_until(event.deadline + (event.expirations + 1) * MS);
	ASSERT_EQ(0, dev_rewind(self->fd));
	ASSERT_EQ(1, dev_read(self->fd, &again, 1));
	EXPECT_EQ(event.expirations, again.expirations);
	EXPECT_EQ(1, dev_ack(self->fd, 1));
	expect_gone(_metadata, self->fd, id);
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

TEST_F(ack, discard_ends_a_periodic_timer_that_was_read)
{
	__u64 id = add_periodic(_metadata, self->fd, 0, MS, 0);

	expect_events(_metadata, self->fd, 0, 1);
	EXPECT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
	EXPECT_EQ(1, dev_ack(self->fd, 1));
	expect_gone(_metadata, self->fd, id);
	EXPECT_EQ(0, stats_of(self->fd).pending);
	EXPECT_EQ(0, stats_of(self->fd).ready);
}

/* ---- CANCEL_ALL with HWTIMER_LIST_STOP ---- */

/* A timer whose last event waits, or was read, is not handed back. */
TEST_F(ack, stop_leaves_last_events)
{
	struct hwtimer_timer timer;
	struct hwtimer_event event;

	add_periodic(_metadata, self->fd, 0, HOUR, 1);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	add_periodic(_metadata, self->fd, 0, HOUR, 1);
	ASSERT_EQ(0, dev_stop(self->fd, &timer, 1, NULL));
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(2, dev_ack(self->fd, 2));
	EXPECT_EQ(0, dev_stop(self->fd, &timer, 1, NULL));
}

TEST_F(ack, stopped_instance_keeps_what_is_not_acknowledged)
{
	struct hwtimer_timer timer;
	struct hwtimer_event event;

	expire(_metadata, self->fd, 0, 5, NULL);
	expect_events(_metadata, self->fd, 0, 3);
	ASSERT_EQ(0, dev_stop(self->fd, &timer, 1, NULL));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	expect_events(_metadata, self->fd, 3, 2);
	EXPECT_EQ(0, dev_read(self->fd, &event, 1));
	EXPECT_EQ(POLLHUP, dev_poll(self->fd, POLLIN, 0));
	EXPECT_EQ(2, dev_ack(self->fd, 2));
	/* Another process takes it over. */
	EXPECT_EQ(0, dev_rewind(self->fd));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	expect_events(_metadata, self->fd, 2, 3);
	EXPECT_EQ(0, dev_read(self->fd, &event, 1));
	EXPECT_EQ(3, dev_ack(self->fd, 3));
	EXPECT_EQ(POLLHUP, dev_poll(self->fd, POLLIN, 0));
	EXPECT_EQ(5, stats_of(self->fd).delivered);
}

/* The timer comes back as it is after the event that was read, which is its last. */
TEST_F(ack, stop_hands_back_a_timer_whose_event_was_read)
{
	__u64 id = add_periodic(_metadata, self->fd, 0, MS, 0);
	struct hwtimer_event event, again;
	struct hwtimer_timer timer;

	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	sleep_until(event.deadline + (event.expirations + 1) * MS);
	ASSERT_EQ(1, dev_stop(self->fd, &timer, 1, NULL));
	EXPECT_EQ(id, timer.id);
	EXPECT_EQ(event.deadline + event.expirations * MS, timer.deadline);
	ASSERT_EQ(0, dev_rewind(self->fd));
	ASSERT_EQ(1, dev_read(self->fd, &again, 1));
	EXPECT_EQ(event.expirations, again.expirations);
	EXPECT_EQ(1, dev_ack(self->fd, 1));
	expect_gone(_metadata, self->fd, id);
	EXPECT_EQ(0, dev_stop(self->fd, &timer, 1, NULL));
	EXPECT_EQ(1, stats_of(self->fd).rearmed);
	EXPECT_EQ(1, stats_of(self->fd).cancelled);
	EXPECT_EQ(1, stats_of(self->fd).delivered);
}

/* A timer that ACK makes pending afterwards comes back, too. */
TEST_F(ack, stop_hands_back_what_ack_makes_pending)
{
	__u64 id = add_periodic(_metadata, self->fd, 0, HOUR, 0);
	struct hwtimer_timer timer;
	struct hwtimer_event event;

	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(1, dev_ack(self->fd, 1));
	ASSERT_EQ(1, dev_stop(self->fd, &timer, 1, NULL));
	EXPECT_EQ(id, timer.id);
	EXPECT_EQ(event.deadline + HOUR, timer.deadline);
}

/* ---- limits ---- */

TEST_F(ack, events_count_against_the_limit_until_they_are_acknowledged)
{
	__u64 unused;

	ASSERT_EQ(0, setup_instance(self->fd, 10));
	expire(_metadata, self->fd, 0, 10, NULL);
	expect_events(_metadata, self->fd, 0, 10);
	EXPECT_EQ(-ENOSPC, dev_schedule(self->fd, 0, HOUR, 0, &unused));
	EXPECT_EQ(1, dev_ack(self->fd, 1));
	EXPECT_EQ(0, dev_schedule(self->fd, 0, HOUR, 0, &unused));
	EXPECT_EQ(-ENOSPC, dev_schedule(self->fd, 0, HOUR, 0, &unused));
	EXPECT_EQ(9, dev_ack(self->fd, 9));
}

/* Only unread events count for the threshold; but if no more can come, those that wait do. */
TEST_F(ack, notify_counts_unread_events)
{
	ASSERT_EQ(0, setup_instance(self->fd, 10));
	ASSERT_EQ(0, dev_notify(self->fd, 4, HWTIMER_NEVER));
	expire(_metadata, self->fd, 0, 4, NULL);
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	expect_events(_metadata, self->fd, 0, 1);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
	ASSERT_EQ(0, dev_rewind(self->fd));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	expect_events(_metadata, self->fd, 0, 4);
	expire(_metadata, self->fd, 4, 3, NULL);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
	expect_events(_metadata, self->fd, 4, 3);
	expire(_metadata, self->fd, 7, 3, NULL);
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	expect_events(_metadata, self->fd, 7, 3);
	expect_nothing(_metadata, self->fd);
	EXPECT_EQ(10, dev_ack(self->fd, 10));
}

/* ---- the bound ---- */

/* More timers than events can wait */
#define MANY (HWTIMER_EVENTS_MAX + 1000)

/*
 * Schedules MANY timers that are due, and reads until there is nothing more to read without
 * ACK. Counts the events in @came; returns their number.
 */
static unsigned int reach_bound(struct __test_metadata *_metadata, int fd,
				unsigned char *came)
{
	struct hwtimer_event events[BATCH];
	unsigned int got = 0;
	int ret;

	ASSERT_EQ(MANY, dev_schedule_many(fd, MANY, 0, 0, NULL));
	while (got <= HWTIMER_EVENTS_MAX - 256) {
		ASSERT_EQ(POLLIN, dev_poll(fd, POLLIN, -1));
		ret = dev_read(fd, events, BATCH);
		ASSERT_LT(0, ret);
		for (int i = 0; i < ret; i++)
			came[events[i].user_data]++;
		got += ret;
	}
	return got;
}

/* Acknowledges and reads the rest, where @got events were read, and @unacked not acknowledged. */
static void read_rest(struct __test_metadata *_metadata, int fd,
		      unsigned char *came, unsigned int got,
		      unsigned int unacked)
{
	struct hwtimer_event events[BATCH];

	while (got < MANY) {
		int ret;

		ASSERT_EQ(unacked, dev_ack(fd, unacked));
		ASSERT_EQ(POLLIN, dev_poll(fd, POLLIN, -1));
		ret = dev_read(fd, events, BATCH);
		ASSERT_LT(0, ret);
		for (int i = 0; i < ret; i++)
			came[events[i].user_data]++;
		unacked = ret;
		got += ret;
	}
	ASSERT_EQ(unacked, dev_ack(fd, unacked));
	for (unsigned int i = 0; i < MANY; i++)
		ASSERT_EQ(1, came[i]);
	EXPECT_EQ(MANY, stats_of(fd).delivered);
}

TEST_F(ack, program_that_never_acknowledges_holds_up_itself_only)
{
	unsigned char came[MANY] = { 0 };
	unsigned int got = reach_bound(_metadata, self->fd, came);
	struct hwtimer_stats stats;
	int other = dev_open(0);
	long long turns;

	ASSERT_GE(HWTIMER_EVENTS_MAX, got);
	expect_nothing(_metadata, self->fd);
	turns = told(self->fd, "turns");
	ASSERT_LE(0, other);
	/* The worker serves others, and does not turn this wheel meanwhile. */
	for (unsigned int i = 0; i < 10; i++) {
		ASSERT_NE(0, dev_after(other, MS, i));
		ASSERT_EQ(1, dev_discard_events(other, 1));
	}
	close(other);
	stats = stats_of(self->fd);
	EXPECT_EQ(turns, told(self->fd, "turns"));
	EXPECT_EQ(got, stats.ready);
	EXPECT_EQ(MANY - got, stats.pending);
	expect_nothing(_metadata, self->fd);
	read_rest(_metadata, self->fd, came, got, got);
}

/* To rewind frees nothing: the same events come again, and no other ones. */
TEST_F(ack, rewind_at_the_bound)
{
	unsigned char came[MANY] = { 0 }, again[MANY] = { 0 };
	unsigned int got = reach_bound(_metadata, self->fd, came), read = 0;
	struct hwtimer_event events[BATCH];
	int ret;

	ASSERT_EQ(0, dev_rewind(self->fd));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	while ((ret = dev_read(self->fd, events, BATCH)) > 0)
		for (int i = 0; i < ret; i++, read++)
			again[events[i].user_data]++;
	EXPECT_EQ(got, read);
	EXPECT_EQ(0, memcmp(came, again, sizeof(came)));
	read_rest(_metadata, self->fd, came, got, got);
}

/* As many acknowledged events as are needed for a hold of timers make the rest come. */
TEST_F(ack, poll_hears_of_ack)
{
	unsigned char came[MANY] = { 0 };
	unsigned int got = reach_bound(_metadata, self->fd, came);
	int edges = epoll_watch(self->fd, EPOLLIN | EPOLLET);
	int level = epoll_watch(self->fd, EPOLLIN);
	struct epoll_event out;
	struct hwtimer_event event;

	ASSERT_LE(0, edges);
	ASSERT_LE(0, level);
	EXPECT_EQ(0, epoll_wait(edges, &out, 1, 20));
	EXPECT_EQ(0, epoll_wait(level, &out, 1, 0));
	EXPECT_EQ(256, dev_ack(self->fd, 256));
	EXPECT_EQ(1, epoll_wait(edges, &out, 1, -1));
	EXPECT_EQ(1, epoll_wait(level, &out, 1, -1));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	came[event.user_data]++;
	read_rest(_metadata, self->fd, came, got + 1, got + 1 - 256);
}

TEST_F(ack, blocked_reader_hears_of_ack)
{
	unsigned char came[MANY] = { 0 };
	unsigned int got = reach_bound(_metadata, self->fd, came);
	struct reader reader = { .fd = self->fd };
	pthread_t thread;

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	start_threads(&thread, 1, read_one, &reader, 0);
	sleep_ns(20 * MS);
	EXPECT_EQ(got, dev_ack(self->fd, got));
	join_threads(&thread, 1);
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	EXPECT_EQ(1, reader.result);
	came[reader.event.user_data]++;
}

/*
 * A rewind takes dropped events out of the queue behind the last one that stays. So others expire,
 * although nobody is told of the one that is unread again.
 */
TEST_F(ack, rewind_makes_room)
{
	struct hwtimer_event *events = calloc(EVENTS_MAX, sizeof(*events));
	__u64 first;
	int got;

	ASSERT_NE(NULL, events);
	ASSERT_EQ(0, dev_notify(self->fd, 100, HWTIMER_NEVER));
	ASSERT_EQ(MANY, dev_schedule_many(self->fd, MANY, 0, 0, NULL));
	ASSERT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	while (stats_of(self->fd).ready < EVENTS_MAX - 255)
		sleep_ns(MS);
	got = dev_read(self->fd, events, EVENTS_MAX);
	ASSERT_LE(EVENTS_MAX - 255, got);
	first = events[0].id;
	for (int i = 1; i < got; i++)
		ASSERT_EQ(0, dev_cancel(self->fd, events[i].id,
					HWTIMER_REQ_DISCARD));
	ASSERT_EQ(0, dev_rewind(self->fd));
	ASSERT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	ASSERT_LT(1, dev_read(self->fd, events, EVENTS_MAX));
	EXPECT_EQ(first, events[0].id);
	free(events);
}

/* If all events are dropped after they were read, they make room. They still count for ACK. */
TEST_F(ack, dropped_events_make_room)
{
	struct hwtimer_event *events = calloc(EVENTS_MAX, sizeof(*events));
	int got;

	ASSERT_NE(NULL, events);
	for (unsigned int round = 0; round < 3; round++) {
		ASSERT_EQ(EVENTS_MAX,
			  dev_schedule_many(self->fd, EVENTS_MAX, 0, 0, NULL));
		ASSERT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
		while (stats_of(self->fd).ready < EVENTS_MAX - 255)
			sleep_ns(MS);
		got = dev_read(self->fd, events, EVENTS_MAX);
		ASSERT_LE(EVENTS_MAX - 255, got);
		ASSERT_LE(0, dev_cancel_all(self->fd, HWTIMER_LIST_DISCARD));
		/* One that stays, and then the bound again */
		ASSERT_NE(0, dev_after(self->fd, 0, 7));
		ASSERT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
		ASSERT_EQ(1, dev_read(self->fd, events, 1));
		EXPECT_EQ(7, events[0].user_data);
		EXPECT_EQ(got + 1, dev_ack(self->fd, got + 1));
		EXPECT_EQ(-EINVAL, dev_ack(self->fd, 1));
	}
	free(events);
}

/* DISCARD of unread events makes room, DISCARD of those that were read makes it with ACK. */
TEST_F(ack, discard_at_the_bound)
{
	unsigned char came[MANY] = { 0 };
	unsigned int got = reach_bound(_metadata, self->fd, came);
	struct hwtimer_stats stats;
	int ended;

	/* The first events that it drops make room, and others may expire before it gets there. */
	ended = dev_cancel_all(self->fd, HWTIMER_LIST_DISCARD);
	stats = stats_of(self->fd);
	EXPECT_EQ(ended, stats.cancelled);
	EXPECT_EQ(MANY, stats.cancelled + stats.discarded);
	EXPECT_EQ(0, stats.pending + stats.ready);
	EXPECT_EQ(got, dev_ack(self->fd, got));
	expire(_metadata, self->fd, 0, 10, NULL);
	expect_events(_metadata, self->fd, 0, 10);
	EXPECT_EQ(10, dev_ack(self->fd, 10));
}

TEST_F(ack, stop_at_the_bound)
{
	unsigned char came[MANY] = { 0 };
	unsigned int got = reach_bound(_metadata, self->fd, came);
	struct hwtimer_timer *timers = calloc(MANY, sizeof(*timers));
	struct hwtimer_event event;

	ASSERT_NE(NULL, timers);
	ASSERT_EQ(MANY - got, dev_stop(self->fd, timers, MANY, NULL));
	for (unsigned int i = 0; i < MANY - got; i++)
		came[timers[i].user_data]++;
	for (unsigned int i = 0; i < MANY; i++)
		ASSERT_EQ(1, came[i]);
	EXPECT_EQ(0, dev_read(self->fd, &event, 1));
	EXPECT_EQ(got, dev_ack(self->fd, got));
	free(timers);
}

/* ---- a program that dies ---- */

/* What a process has done, for the ones after it */
struct journal {
	unsigned int acted[1000];
	unsigned int again;
	bool ends; /* the process that has died last had acted on all */
};

static unsigned int acted_in(const struct journal *journal)
{
	unsigned int acted = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(journal->acted); i++)
		acted += !!journal->acted[i];
	return acted;
}

/* Dies at step number @steps: after a read, an action or an ACK. */
static void step(unsigned int *steps)
{
	if (!--*steps)
		kill(getpid(), SIGKILL);
}

/* Reads up to @room events at a time, and acknowledges each after it has acted on it. */
static void serve_until_killed(int fd, struct journal *journal,
			       unsigned int room, unsigned int steps)
{
	struct hwtimer_event events[16];

	if (dev_rewind(fd))
		_exit(1);
	while (!journal->ends) {
		int ret = dev_read(fd, events, room);

		if (ret == -EAGAIN) {
			dev_poll(fd, POLLIN, -1);
			continue;
		}
		if (ret <= 0)
			_exit(2);
		step(&steps);
		for (int i = 0; i < ret; i++) {
			if (journal->acted[events[i].user_data]++)
				journal->again++;
			step(&steps);
			if (dev_ack(fd, 1) != 1)
				_exit(3);
			journal->ends = acted_in(journal) ==
					ARRAY_SIZE(journal->acted);
			step(&steps);
		}
	}
	_exit(0);
}

/*
 * Processes die one after the other. Each timer is acted on, and each death has at most one
 * acted on twice, however many events were read at a time.
 */
static void check_deaths(struct __test_metadata *_metadata, int fd,
			 unsigned int room)
{
	struct journal *journal = mmap(NULL, sizeof(*journal),
				       PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int n = ARRAY_SIZE(journal->acted), deaths = 0, seed = room;

	ASSERT_NE(MAP_FAILED, journal);
	for (unsigned int i = 0; i < n; i++)
		ASSERT_NE(0, dev_after(fd, i * 50 * US, i));
	while (!journal->ends) {
		unsigned int steps = 1 + next_random(&seed) % 60;
		pid_t pid = fork();
		int status;

		ASSERT_LE(0, pid);
		if (!pid)
			serve_until_killed(fd, journal, room, steps);
		status = wait_for_child(pid);
		if (status)
			ASSERT_EQ(-SIGKILL, status);
		deaths += status != 0;
	}
	TH_LOG("%u deaths, %u acted on twice", deaths, journal->again);
	EXPECT_EQ(n, acted_in(journal));
	EXPECT_LE(journal->again, deaths);
	EXPECT_LT(10, deaths);
	EXPECT_NE(0, journal->again);
	EXPECT_EQ(n, stats_of(fd).delivered);
	expect_nothing(_metadata, fd);
	munmap(journal, sizeof(*journal));
}

TEST_F(ack, processes_that_die_with_one_event)
{
	check_deaths(_metadata, self->fd, 1);
}

TEST_F(ack, processes_that_die_with_several_events)
{
	check_deaths(_metadata, self->fd, 16);
}

/* A process is killed while it waits in read(); it has taken no event with it. */
TEST_F(ack, process_that_is_killed_while_it_waits)
{
	pid_t pid;

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct hwtimer_event event;

		_exit(dev_read(self->fd, &event, 1));
	}
	ASSERT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(-SIGKILL, wait_for_child(pid));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	expire(_metadata, self->fd, 0, 1, NULL);
	expect_events(_metadata, self->fd, 0, 1);
	EXPECT_EQ(1, dev_ack(self->fd, 1));
}

/* ---- against a model ---- */

/* The events of an instance in their order: which were read, and which were dropped */
struct model {
	__u64 ids[64];
	bool dead[64];
	unsigned int count, read;
};

static void model_remove(struct model *model, unsigned int i, unsigned int n)
{
	model->count -= n;
	if (i < model->read)
		model->read -= n;
	memmove(model->ids + i, model->ids + i + n,
		(model->count - i) * sizeof(*model->ids));
	memmove(model->dead + i, model->dead + i + n,
		(model->count - i) * sizeof(*model->dead));
}

/* Events that were dropped and are unread leave the queue. */
static void model_clean(struct model *model)
{
	for (unsigned int i = model->read; i < model->count;)
		if (model->dead[i])
			model_remove(model, i, 1);
		else
			i++;
}

static void model_read(struct __test_metadata *_metadata, int fd,
		       struct model *model, unsigned int room)
{
	struct hwtimer_event events[64];
	unsigned int unread = model->count - model->read;
	unsigned int expected = unread < room ? unread : room;
	int ret = dev_read(fd, events, room);

	ASSERT_EQ(expected ? (int)expected : -EAGAIN, ret);
	for (unsigned int i = 0; i < expected; i++)
		ASSERT_EQ(model->ids[model->read++], events[i].id);
}

static void model_ack(struct __test_metadata *_metadata, int fd,
		      struct model *model, unsigned int n)
{
	int ret = dev_ack(fd, n);

	if (n > model->read) {
		ASSERT_EQ(-EINVAL, ret);
		return;
	}
	ASSERT_EQ(n, ret);
	model_remove(model, 0, n);
}

static void model_discard(struct __test_metadata *_metadata, int fd,
			  struct model *model, unsigned int i)
{
	ASSERT_EQ(model->dead[i] ? -ENOENT : 0,
		  dev_cancel(fd, model->ids[i], HWTIMER_REQ_DISCARD));
	model->dead[i] = true;
	model_clean(model);
}

static void model_step(struct __test_metadata *_metadata, int fd,
		       struct model *model, unsigned int *seed)
{
	unsigned int n = next_random(seed) % 12;

	switch (next_random(seed) % 6) {
	case 0:
		if (model->count + n > 30)
			break;
		if (n)
			expire(_metadata, fd, 0, n, model->ids + model->count);
		memset(model->dead + model->count, 0, n);
		model->count += n;
		break;
	case 1:
	case 2:
		model_read(_metadata, fd, model, n + 1);
		break;
	case 3:
		model_ack(_metadata, fd, model, n);
		break;
	case 4:
		if (n)
			break;
		ASSERT_EQ(0, dev_rewind(fd));
		model->read = 0;
		model_clean(model);
		break;
	default:
		if (n < model->count)
			model_discard(_metadata, fd, model, n);
	}
}

static void check_model(struct __test_metadata *_metadata, int fd,
			unsigned int seed, unsigned int steps)
{
	struct model model = { 0 };

	while (steps--) {
		unsigned int alive = 0;

		model_step(_metadata, fd, &model, &seed);
		for (unsigned int i = 0; i < model.count; i++)
			alive += !model.dead[i];
		ASSERT_EQ(alive, stats_of(fd).ready);
		ASSERT_EQ(model.read < model.count ? POLLIN : 0,
			  dev_poll(fd, POLLIN, 0));
	}
}

/* Some thousand events go through the ring of 512 with which an instance starts. */
TEST_F(ack, random_calls)
{
	check_model(_metadata, self->fd, 1, scaled(2000));
}

TEST_F(ack, random_calls_with_the_whole_wheel)
{
	ASSERT_EQ(0, dev_whole_wheel(self->fd));
	check_model(_metadata, self->fd, 2, scaled(8000));
}

/* ---- several threads ---- */

/* A thread that acknowledges what others read, one event or some at a time */
struct acker {
	int fd;
	unsigned int n; /* of events that all threads together have to end */
	unsigned int *ended;
	unsigned int failures;
};

static void *acknowledge(void *arg)
{
	struct acker *acker = arg;

	for (unsigned int i = 0;
	     __atomic_load_n(acker->ended, __ATOMIC_RELAXED) < acker->n; i++) {
		int ret = dev_ack(acker->fd, 1 + i % 300);

		if (ret > 0)
			__atomic_add_fetch(acker->ended, ret, __ATOMIC_RELAXED);
		else if (ret == -EINVAL) /* not so many were read */
			dev_ack(acker->fd, 0);
		else if (ret)
			acker->failures++;
	}
	return NULL;
}

TEST_F(ack, threads_acknowledge_what_others_read)
{
	unsigned int n = scaled(20000), ended = 0, got = 0;
	struct hwtimer_event events[300];
	unsigned char *came = calloc(n, 1);
	struct acker ackers[2];
	pthread_t threads[2];

	ASSERT_NE(NULL, came);
	for (unsigned int i = 0; i < 2; i++)
		ackers[i] = (struct acker){ self->fd, n, &ended, 0 };
	ASSERT_EQ(n, dev_schedule_many(self->fd, n, 0, MS, NULL));
	start_threads(threads, 2, acknowledge, ackers, sizeof(ackers[0]));
	while (got < n) {
		int ret;

		dev_poll(self->fd, POLLIN, -1);
		ret = dev_read(self->fd, events, 300);
		ASSERT_LT(0, ret);
		for (int i = 0; i < ret; i++)
			came[events[i].user_data]++;
		got += ret;
	}
	/* The others may want more at a time than there are. */
	while (__atomic_load_n(&ended, __ATOMIC_RELAXED) < n) {
		int ret = dev_ack(self->fd, 1);

		if (ret > 0)
			__atomic_add_fetch(&ended, ret, __ATOMIC_RELAXED);
	}
	join_threads(threads, 2);
	EXPECT_EQ(n, ended);
	EXPECT_EQ(0, ackers[0].failures + ackers[1].failures);
	for (unsigned int i = 0; i < n; i++)
		ASSERT_EQ(1, came[i]);
	EXPECT_EQ(n, stats_of(self->fd).delivered);
	free(came);
}

/* ---- what is refused ---- */

TEST_F(hwtimer, other_instances_refuse_ack_and_rewind)
{
	struct hwtimer_event event;

	EXPECT_EQ(-EINVAL, dev_ack(self->fd, 0));
	EXPECT_EQ(-EINVAL, dev_rewind(self->fd));
	make_ready(_metadata, self->fd, 1);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(-EINVAL, dev_ack(self->fd, 0));
	EXPECT_EQ(-EINVAL, dev_ack(self->fd, 1));
	EXPECT_EQ(-EINVAL, dev_rewind(self->fd));
}

TEST_HARNESS_MAIN
