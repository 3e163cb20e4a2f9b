// SPDX-License-Identifier: GPL-2.0
/*
 * CANCEL and CANCEL_ALL: a cancelled timer never comes; where its event waits already, CANCEL
 * says so; an id that is stale, forged or of another instance does not reach any timer.
 */
#include "hwtimer_test.h"

/* Returns the id of a timer whose event is ready, or 0. */
static __u64 expired_timer(int fd, __u64 user_data)
{
	__u64 id = dev_after(fd, 0, user_data);

	return dev_poll(fd, POLLIN, -1) & POLLIN ? id : 0;
}

TEST_F(hwtimer, cancelled_timer_does_not_come)
{
	struct hwtimer_event event;
	struct hwtimer_stats stats;
	__u64 delay, other, before;

	delay = cancel_in_time(_metadata, self->fd, 50 * MS);
	before = stats_of(self->fd).expired;
	other = dev_after(self->fd, delay + 10 * MS, 2);
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(other, event.id);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(0, stats.pending);
	EXPECT_EQ(1, stats.cancelled);
	EXPECT_EQ(before + 1, stats.expired);
}

TEST_F(hwtimer, timer_that_waits_for_ever_is_cancelled)
{
	__u64 id = dev_at(self->fd, HWTIMER_NEVER, 0);
	struct hwtimer_stats stats;

	ASSERT_EQ(0, dev_cancel(self->fd, id, 0));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(0, stats.pending);
}

TEST_F(hwtimer, second_cancel_is_enoent)
{
	__u64 id = dev_after(self->fd, HOUR, 0);
	struct hwtimer_stats stats;

	ASSERT_EQ(0, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(1, stats.cancelled);
	EXPECT_EQ(0, stats.pending);
}

TEST_F(hwtimer, delivered_timer_is_enoent)
{
	__u64 id = dev_after(self->fd, 0, 0);
	struct hwtimer_event event;

	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
}

TEST_F(hwtimer, event_that_waits_is_told_and_still_comes)
{
	__u64 id = expired_timer(self->fd, 5);
	struct hwtimer_event event;

	ASSERT_NE(0, id);
	EXPECT_EQ(1, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(1, dev_cancel(self->fd, id, 0));
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(5, event.user_data);
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(0, stats_of(self->fd).cancelled);
}

TEST_F(hwtimer, discard_drops_the_unread_event)
{
	__u64 id = expired_timer(self->fd, 0);
	struct hwtimer_event event;
	struct hwtimer_stats stats;

	ASSERT_NE(0, id);
	EXPECT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(1, stats.discarded);
	EXPECT_EQ(0, stats.cancelled);
	EXPECT_EQ(0, stats.ready);
	EXPECT_EQ(0, stats.delivered);
}

TEST_F(hwtimer, discard_takes_one_event_out_of_many)
{
	struct hwtimer_event events[10];
	__u64 ids[10];

	ASSERT_EQ(10, dev_schedule_many(self->fd, 10, 0, 0, ids));
	ASSERT_TRUE(dev_wait_ready(self->fd, 10));
	EXPECT_EQ(0, dev_cancel(self->fd, ids[0], HWTIMER_REQ_DISCARD));
	EXPECT_EQ(0, dev_cancel(self->fd, ids[5], HWTIMER_REQ_DISCARD));
	EXPECT_EQ(0, dev_cancel(self->fd, ids[9], HWTIMER_REQ_DISCARD));
	ASSERT_EQ(7, dev_read(self->fd, events, 10));
	for (unsigned int i = 0; i < 7; i++) {
		EXPECT_NE(0, events[i].user_data);
		EXPECT_NE(5, events[i].user_data);
		EXPECT_NE(9, events[i].user_data);
	}
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, events, 10));
}

TEST_F(hwtimer, discarded_events_do_not_hide_the_next)
{
	struct hwtimer_event event;
	__u64 ids[1001];

	ASSERT_EQ(1001, dev_schedule_many(self->fd, 1001, 0, 0, ids));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1001));
	for (unsigned int i = 1; i < 1000; i++)
		ASSERT_EQ(0, dev_cancel(self->fd, ids[i], HWTIMER_REQ_DISCARD));
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(ids[0], event.id);
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(ids[1000], event.id);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
}

TEST_F(hwtimer, discard_of_a_pending_timer_is_a_cancel)
{
	__u64 id = dev_after(self->fd, HOUR, 0);
	struct hwtimer_stats stats;

	EXPECT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(1, stats.cancelled);
	EXPECT_EQ(0, stats.discarded);
}

TEST_F(hwtimer, stale_id_does_not_reach_the_next_timer)
{
	__u64 stale = dev_after(self->fd, HOUR, 1), id = stale;
	struct hwtimer_timer query;

	/* The same record is used for each timer. */
	for (unsigned int i = 0; i < 1000; i++) {
		ASSERT_EQ(0, dev_cancel(self->fd, id, 0));
		id = dev_after(self->fd, HOUR, 2);
		ASSERT_NE(stale, id);
		ASSERT_EQ(-ENOENT, dev_cancel(self->fd, stale, 0));
	}
	EXPECT_EQ(-ENOENT, dev_query(self->fd, stale, &query));
	EXPECT_EQ(-ENOENT, dev_reschedule(self->fd, stale, 0, 0));
	ASSERT_EQ(0, dev_query(self->fd, id, &query));
	EXPECT_EQ(2, query.user_data);
}

TEST_F(hwtimer, id_of_a_delivered_timer_does_not_reach_the_next)
{
	__u64 stale = dev_after(self->fd, 0, 1), id;
	struct hwtimer_event event;

	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	id = dev_after(self->fd, HOUR, 2);
	EXPECT_NE(stale, id);
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, stale, HWTIMER_REQ_DISCARD));
	EXPECT_EQ(0, dev_cancel(self->fd, id, 0));
}

TEST_F(hwtimer, foreign_ids_are_enoent)
{
	int other = dev_open(O_NONBLOCK);
	struct hwtimer_timer query;
	__u64 ids[300];

	ASSERT_LE(0, other);
	ASSERT_EQ(300, dev_schedule_many(other, 300, 0, HOUR, ids));
	for (unsigned int i = 0; i < 300; i++) {
		EXPECT_EQ(-ENOENT, dev_cancel(self->fd, ids[i], 0));
		EXPECT_EQ(-ENOENT, dev_reschedule(self->fd, ids[i], 0, 0));
		EXPECT_EQ(-ENOENT, dev_query(self->fd, ids[i], &query));
	}
	EXPECT_EQ(300, dev_cancel_many(other, 300, ids));
	EXPECT_EQ(0, close(other));
}

TEST_F(hwtimer, forged_ids_are_enoent)
{
	__u64 id = dev_after(self->fd, HOUR, 0);
	const __u64 forged[] = {
		0,
		1,
		UINT32_MAX,
		1ULL << 32,
		UINT64_MAX,
		id & UINT32_MAX,
		id & ~(__u64)UINT32_MAX,
		id + 1,
		id - 1,
		id + (1ULL << 32),
		id - (1ULL << 32),
		id + (2ULL << 32),
		id ^ (1ULL << 31),
		id ^ (1ULL << 63),
		id | UINT32_MAX,
	};
	struct hwtimer_timer query;

	ASSERT_NE(0, id);
	for (unsigned int i = 0; i < ARRAY_SIZE(forged); i++) {
		if (forged[i] == id) /* index 0 has no low bits to clear */
			continue;
		EXPECT_EQ(-ENOENT, dev_cancel(self->fd, forged[i], 0));
		EXPECT_EQ(-ENOENT,
			  dev_cancel(self->fd, forged[i], HWTIMER_REQ_DISCARD));
		EXPECT_EQ(-ENOENT, dev_reschedule(self->fd, forged[i], 0, 0));
		EXPECT_EQ(-ENOENT, dev_query(self->fd, forged[i], &query));
	}
	EXPECT_EQ(0, dev_cancel(self->fd, id, 0));
}

TEST_F(hwtimer, ids_before_the_first_timer_are_enoent)
{
	struct hwtimer_timer query;
	struct hwtimer_info info;

	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, 1ULL << 32, 0));
	EXPECT_EQ(-ENOENT, dev_reschedule(self->fd, 1ULL << 32, 0, 0));
	EXPECT_EQ(-ENOENT, dev_query(self->fd, 1ULL << 32, &query));
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(0, info.started);
}

/* Whatever a program has in the other fields; see also abi.c. */
TEST_F(hwtimer, only_the_id_and_discard_matter)
{
	struct hwtimer_request request = {
		.op = 77,
		.flags = HWTIMER_REQ_ABSTIME | HWTIMER_REQ_REARM |
			 HWTIMER_REQ_CREATE | HWTIMER_REQ_SET,
		.time = -1,
		.interval = UINT64_MAX,
		.slack = UINT64_MAX,
		.user_data = 7,
		.expirations_max = 7,
		.result = -1,
	};

	request.id = expired_timer(self->fd, 0);
	ASSERT_NE(0, request.id);
	EXPECT_EQ(1, dev_ioctl(self->fd, HWTIMER_IOC_CANCEL, &request));
	request.flags |= HWTIMER_REQ_DISCARD;
	EXPECT_EQ(0, dev_ioctl(self->fd, HWTIMER_IOC_CANCEL, &request));
	EXPECT_EQ(-ENOENT, dev_ioctl(self->fd, HWTIMER_IOC_CANCEL, &request));
	request.id = dev_after(self->fd, HOUR, 0);
	EXPECT_EQ(0, dev_ioctl(self->fd, HWTIMER_IOC_CANCEL, &request));
}

/* ---- CANCEL_ALL ---- */

TEST_F(hwtimer, all_of_none)
{
	EXPECT_EQ(0, dev_cancel_all(self->fd, 0));
	/* It has not started the instance. */
	EXPECT_EQ(0, dev_setup(self->fd, MS, 0, 0));
}

TEST_F(hwtimer, all_are_cancelled_and_the_instance_goes_on)
{
	unsigned int n = scaled(100000);
	struct hwtimer_stats stats;
	struct hwtimer_event event;
	__u64 id;

	ASSERT_EQ(n, dev_schedule_many(self->fd, n, 0, HOUR, NULL));
	ASSERT_NE(0, dev_every(self->fd, HOUR, HOUR, 1));
	ASSERT_NE(0, dev_at(self->fd, HWTIMER_NEVER, 1));
	make_ready(_metadata, self->fd, 3);
	EXPECT_EQ(n + 2, dev_cancel_all(self->fd, 0));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(0, stats.pending);
	EXPECT_EQ(n + 2, stats.cancelled);
	EXPECT_EQ(0, stats.discarded);
	EXPECT_EQ(3, dev_discard_events(self->fd, 3));
	id = dev_after(self->fd, 0, 7);
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(0, dev_cancel_all(self->fd, 0));
}

/* With an array, and without one */
TEST_F(hwtimer, not_more_than_asked_for_are_ended)
{
	struct hwtimer_timer timers[8] = { 0 };
	__u64 ids[20], cursor = 0;

	ASSERT_EQ(20, dev_schedule_many(self->fd, 20, 0, HOUR, ids));
	EXPECT_EQ(-EINVAL, dev_cancel_some(self->fd, 0, NULL, 0, &cursor));
	EXPECT_EQ(-EINVAL, dev_cancel_some(self->fd, 0, timers, 0, &cursor));
	EXPECT_EQ(20, stats_of(self->fd).pending);
	ASSERT_EQ(7, dev_cancel_some(self->fd, 0, timers, 7, &cursor));
	EXPECT_EQ(13, stats_of(self->fd).pending);
	for (unsigned int i = 0; i < 7; i++) {
		EXPECT_EQ(ids[timers[i].user_data], timers[i].id);
		EXPECT_EQ(-ENOENT, dev_cancel(self->fd, timers[i].id, 0));
	}
	EXPECT_EQ(0, timers[7].id);
	EXPECT_EQ(6, dev_cancel_some(self->fd, 0, NULL, 6, &cursor));
	EXPECT_EQ(7, stats_of(self->fd).pending);
	EXPECT_EQ(7, dev_cancel_some(self->fd, 0, NULL, INT_MAX, &cursor));
	EXPECT_EQ(0, dev_cancel_some(self->fd, 0, NULL, INT_MAX, &cursor));
	EXPECT_EQ(20, stats_of(self->fd).cancelled);
}

TEST_F(hwtimer, all_events_are_discarded)
{
	struct hwtimer_event event;
	struct hwtimer_stats stats;

	ASSERT_EQ(0, dev_setup(self->fd, MS, 0, 1000));
	make_ready(_metadata, self->fd, 700);
	ASSERT_EQ(300, dev_schedule_many(self->fd, 300, 0, HOUR, NULL));
	EXPECT_EQ(300, dev_cancel_all(self->fd, HWTIMER_LIST_DISCARD));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(0, stats.pending + stats.ready);
	EXPECT_EQ(300, stats.cancelled);
	EXPECT_EQ(700, stats.discarded);
	/* All of the limit is free again. */
	EXPECT_EQ(1000, dev_schedule_many(self->fd, 1000, 0, HOUR, NULL));
}

/* The event that waits is the last one of a periodic timer. */
TEST_F(hwtimer, all_end_periodic_timers_that_rest)
{
	__u64 id = dev_every(self->fd, 0, MS, 1), cursor = 0;
	struct hwtimer_timer timer;
	struct hwtimer_event event;
	struct hwtimer_stats stats;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(1, dev_cancel_some(self->fd, 0, &timer, 1, &cursor));
	EXPECT_EQ(0, dev_cancel_some(self->fd, 0, &timer, 1, &cursor));
	EXPECT_EQ(id, timer.id);
	EXPECT_EQ(HWTIMER_STATE_PENDING, timer.state);
	EXPECT_EQ(0, timer.expirations);
	EXPECT_EQ(1, dev_cancel(self->fd, id, 0));
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(event.deadline + event.expirations * MS, timer.deadline);
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(0, stats.pending);
	EXPECT_EQ(1, stats.rearmed);
	EXPECT_EQ(1, stats.cancelled);
}

TEST_F(hwtimer, rest_of_periodic_timers_is_discarded)
{
	struct hwtimer_event event;

	ASSERT_NE(0, dev_every(self->fd, 0, MS, 1));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(1, dev_cancel_all(self->fd, HWTIMER_LIST_DISCARD));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	EXPECT_EQ(1, stats_of(self->fd).cancelled);
	EXPECT_EQ(1, stats_of(self->fd).discarded);
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

TEST_F(hwtimer, all_of_a_stopped_instance)
{
	ASSERT_EQ(5, dev_schedule_many(self->fd, 5, 0, HOUR, NULL));
	make_ready(_metadata, self->fd, 2);
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(5, dev_cancel_all(self->fd, HWTIMER_LIST_DISCARD));
	EXPECT_EQ(2, stats_of(self->fd).discarded);
	EXPECT_EQ(POLLHUP, dev_poll(self->fd, POLLIN, -1));
}

TEST_F(hwtimer, all_are_cancelled_and_the_instance_stops)
{
	struct hwtimer_event events[4];
	__u64 id;

	ASSERT_EQ(5, dev_schedule_many(self->fd, 5, 0, HOUR, NULL));
	make_ready(_metadata, self->fd, 2);
	EXPECT_EQ(5, dev_cancel_all(self->fd, HWTIMER_LIST_STOP));
	EXPECT_EQ(-ESHUTDOWN, dev_schedule(self->fd, 0, 0, 0, &id));
	EXPECT_EQ(2, dev_read(self->fd, events, 4));
	EXPECT_EQ(0, dev_read(self->fd, events, 4));
	EXPECT_EQ(POLLHUP, dev_poll(self->fd, POLLIN, 0));
}

TEST_F(hwtimer, all_goes_on_where_it_was_interrupted)
{
	unsigned int n = scaled(400000), calls = 0, ended = 0;
	__u64 cursor = 0;
	int ret;

	ASSERT_EQ(n, dev_schedule_many(self->fd, n, 0, HOUR, NULL));
	interrupt_every(1000);
	do {
		__u64 before = cursor;

		ret = dev_cancel_some(self->fd, 0, NULL, INT_MAX, &cursor);
		calls++;
		if (ret)
			EXPECT_LT(before, cursor);
		if (ret > 0)
			ended += ret;
	} while (ret > 0 || ret == -EINTR);
	interrupt_every(0);
	TH_LOG("%u in %u calls", n, calls);
	EXPECT_EQ(0, ret);
	EXPECT_EQ(n, ended);
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

TEST_F(hwtimer, all_fails_before_a_timer_ends)
{
	struct hwtimer_timer timer = { 0 };
	__u64 cursor = 0;

	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	EXPECT_EQ(-EFAULT,
		  dev_cancel_some(self->fd, 0, bad_address(), 1, &cursor));
	EXPECT_EQ(-EFAULT,
		  dev_cancel_some(self->fd, 0,
				  read_only_copy(&timer, sizeof(timer)), 1,
				  &cursor));
	EXPECT_EQ(-EINVAL,
		  dev_cancel_some(self->fd, 0, &timer, 1U << 31, &cursor));
	EXPECT_EQ(-EINVAL,
		  dev_cancel_some(self->fd, 0, NULL, 1U << 31, &cursor));
	EXPECT_EQ(1, stats_of(self->fd).pending);
	EXPECT_EQ(1, dev_cancel_some(self->fd, 0, &timer, 1, &cursor));
	/* A cursor may be anything. */
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	cursor = ~0ULL;
	EXPECT_EQ(0, dev_cancel_some(self->fd, 0, NULL, INT_MAX, &cursor));
	EXPECT_EQ(1, stats_of(self->fd).pending);
}

TEST_HARNESS_MAIN
