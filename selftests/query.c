// SPDX-License-Identifier: GPL-2.0
/*
 * QUERY: what it reports of a timer in each state of the timer's life.
 */
#include "hwtimer_test.h"

TEST_F(hwtimer, pending_timer)
{
	__u64 deadline = now_ns() + HOUR, before, after;
	__u64 id = dev_at(self->fd, deadline, 99);
	struct hwtimer_query query;

	before = now_ns();
	ASSERT_EQ(0, dev_query(self->fd, id, &query));
	after = now_ns();
	EXPECT_EQ(id, query.id);
	EXPECT_EQ(HWTIMER_STATE_PENDING, query.state);
	EXPECT_EQ(99, query.user_data);
	EXPECT_EQ(deadline, query.deadline);
	EXPECT_GE(deadline - before, query.remaining);
	EXPECT_LE(deadline - after, query.remaining);
	EXPECT_EQ(0, query.interval);
	EXPECT_EQ(0, query.slack);
	EXPECT_EQ(0, query.count);
	EXPECT_EQ(0, query.flags);
	EXPECT_EQ(0, query.reserved);
}

TEST_F(hwtimer, rescheduled_timer)
{
	__u64 id = dev_after(self->fd, HOUR, 99), deadline = now_ns() + MS;
	struct hwtimer_query query;

	deadline += 2 * HOUR;
	ASSERT_EQ(0, dev_reschedule(self->fd, id, HWTIMER_ABSOLUTE, deadline));
	ASSERT_EQ(0, dev_query(self->fd, id, &query));
	EXPECT_EQ(HWTIMER_STATE_PENDING, query.state);
	EXPECT_EQ(99, query.user_data);
	EXPECT_EQ(deadline, query.deadline);
}

TEST_F(hwtimer, expired_timer)
{
	__u64 deadline = now_ns() - MS;
	__u64 id = dev_at(self->fd, deadline, 99);
	struct hwtimer_query query;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, dev_query(self->fd, id, &query));
	EXPECT_EQ(HWTIMER_STATE_EXPIRED, query.state);
	EXPECT_EQ(99, query.user_data);
	EXPECT_EQ(deadline, query.deadline);
	EXPECT_EQ(0, query.remaining);
}

TEST_F(hwtimer, query_does_not_consume_the_event)
{
	__u64 id = dev_after(self->fd, 0, 0);
	struct hwtimer_query query;
	struct hwtimer_event event;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, dev_query(self->fd, id, &query));
	EXPECT_EQ(1, dev_read(self->fd, &event, 1));
}

TEST_F(hwtimer, delivered_timer_is_enoent)
{
	__u64 id = dev_after(self->fd, 0, 0);
	struct hwtimer_query query;
	struct hwtimer_event event;

	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(-ENOENT, dev_query(self->fd, id, &query));
}

TEST_F(hwtimer, cancelled_timer_is_enoent)
{
	__u64 id = dev_after(self->fd, HOUR, 0);
	struct hwtimer_query query;

	ASSERT_EQ(0, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(-ENOENT, dev_query(self->fd, id, &query));
}

TEST_F(hwtimer, discarded_timer_is_enoent)
{
	__u64 id = dev_after(self->fd, 0, 0);
	struct hwtimer_query query;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, dev_cancel(self->fd, id, HWTIMER_DISCARD));
	EXPECT_EQ(-ENOENT, dev_query(self->fd, id, &query));
}

TEST_F(hwtimer, what_was_in_the_buffer_does_not_matter)
{
	struct hwtimer_query query;
	__u64 id = dev_after(self->fd, HOUR, 99);

	memset(&query, 0x5a, sizeof(query));
	query.id = id;
	query.reserved = 0;
	ASSERT_EQ(0, dev_ioctl(self->fd, HWTIMER_IOC_QUERY, &query));
	EXPECT_EQ(99, query.user_data);
	EXPECT_EQ(0, query.interval);
	EXPECT_EQ(0, query.slack);
	EXPECT_EQ(HWTIMER_STATE_PENDING, query.state);
	EXPECT_EQ(0, query.count);
	EXPECT_EQ(0, query.flags);
}

TEST_F(hwtimer, reserved_is_einval)
{
	struct hwtimer_query query = {
		.id = dev_after(self->fd, HOUR, 0),
		.reserved = 1,
	};

	EXPECT_EQ(-EINVAL, dev_ioctl(self->fd, HWTIMER_IOC_QUERY, &query));
}

/* ---- the next event ---- */

TEST_F(hwtimer, next_of_none)
{
	struct hwtimer_query query;

	EXPECT_EQ(-ENOENT, dev_query(self->fd, 0, &query));
	ASSERT_EQ(0, dev_cancel(self->fd, dev_after(self->fd, HOUR, 1), 0));
	EXPECT_EQ(-ENOENT, dev_query(self->fd, 0, &query));
	query.id = 0;
	query.reserved = 1;
	EXPECT_EQ(-EINVAL, dev_ioctl(self->fd, HWTIMER_IOC_QUERY, &query));
}

TEST_F(hwtimer, next_is_never_later_than_the_earliest)
{
	__u64 earliest = HWTIMER_NEVER, now;
	unsigned int seed = 1;

	for (unsigned int i = 0; i < 200; i++) {
		__u64 delay = 1 + (next_random(&seed) % 5000) * HOUR / 100;
		struct hwtimer_query query;

		ASSERT_NE(0, dev_at(self->fd, now_ns() + HOUR + delay, i));
		query = query_of(_metadata, self->fd, 0);
		EXPECT_EQ(HWTIMER_STATE_PENDING, query.state);
		EXPECT_EQ(0, query.user_data + query.interval + query.count);
		now = now_ns();
		if (now + HOUR + delay < earliest)
			earliest = now + HOUR + delay;
		/* A tick later than the deadline, as the event */
		EXPECT_GE(earliest + 2 * MS, query.deadline);
		EXPECT_LT(0, query.remaining);
		EXPECT_GE(query.deadline, query.remaining);
	}
}

/* A program that sleeps as long as it is told gets its event, and wakes up a few times only. */
TEST_F(hwtimer, next_event_comes_to_a_program_that_sleeps)
{
	__u64 id = dev_after(self->fd, 300 * MS, 1);
	unsigned int sleeps = 0;
	struct hwtimer_event event;
	struct hwtimer_query query;

	for (;;) {
		query = query_of(_metadata, self->fd, 0);
		if (query.state == HWTIMER_STATE_EXPIRED)
			break;
		ASSERT_GT(1000, ++sleeps);
		sleep_ns(query.remaining + MS);
	}
	EXPECT_EQ(0, query.remaining);
	EXPECT_EQ(0, query.id);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(id, event.id);
	TH_LOG("%u sleeps", sleeps);
	EXPECT_EQ(-ENOENT, dev_query(self->fd, 0, &query));
}

TEST_F(hwtimer, next_of_parked_and_of_stopped_timers_is_never)
{
	__u64 id = dev_at(self->fd, HWTIMER_NEVER, 1);
	struct hwtimer_query query = query_of(_metadata, self->fd, 0);

	EXPECT_EQ(HWTIMER_NEVER, query.deadline);
	EXPECT_EQ(HWTIMER_STATE_PENDING, query.state);
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, HOUR));
	EXPECT_GE(HOUR + 2 * MS, query_of(_metadata, self->fd, 0).remaining);
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(HWTIMER_NEVER, query_of(_metadata, self->fd, 0).deadline);
}

TEST_HARNESS_MAIN
