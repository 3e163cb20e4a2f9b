// SPDX-License-Identifier: GPL-2.0
/*
 * QUERY: what it reports of a timer in each state of the timer's life. INFO's field
 * until_next: how long a program may sleep.
 */
#include "hwtimer_test.h"

TEST_F(hwtimer, pending_timer)
{
	__u64 deadline = now_ns() + HOUR, before, after;
	__u64 id = dev_at(self->fd, deadline, 99);
	struct hwtimer_timer query;

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
	EXPECT_EQ(0, query.flags);
	EXPECT_EQ(0, query.expirations_left);
	EXPECT_EQ(0, query.expirations);
}

TEST_F(hwtimer, rescheduled_timer)
{
	__u64 id = dev_after(self->fd, HOUR, 99), deadline = now_ns() + MS;
	struct hwtimer_timer query;

	deadline += 2 * HOUR;
	ASSERT_EQ(0,
		  dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME, deadline));
	ASSERT_EQ(0, dev_query(self->fd, id, &query));
	EXPECT_EQ(HWTIMER_STATE_PENDING, query.state);
	EXPECT_EQ(99, query.user_data);
	EXPECT_EQ(deadline, query.deadline);
}

TEST_F(hwtimer, expired_timer)
{
	__u64 deadline = now_ns() - MS;
	__u64 id = dev_at(self->fd, deadline, 99);
	struct hwtimer_timer query;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, dev_query(self->fd, id, &query));
	EXPECT_EQ(HWTIMER_STATE_EXPIRED, query.state);
	EXPECT_EQ(99, query.user_data);
	EXPECT_EQ(deadline, query.deadline);
	EXPECT_EQ(0, query.remaining);
	EXPECT_EQ(0, query.expirations_left);
	EXPECT_EQ(1, query.expirations);
}

TEST_F(hwtimer, query_does_not_consume_the_event)
{
	__u64 id = dev_after(self->fd, 0, 0);
	struct hwtimer_timer query;
	struct hwtimer_event event;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, dev_query(self->fd, id, &query));
	EXPECT_EQ(1, dev_read(self->fd, &event, 1));
}

TEST_F(hwtimer, delivered_timer_is_enoent)
{
	__u64 id = dev_after(self->fd, 0, 0);
	struct hwtimer_timer query;
	struct hwtimer_event event;

	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(-ENOENT, dev_query(self->fd, id, &query));
}

TEST_F(hwtimer, cancelled_timer_is_enoent)
{
	__u64 id = dev_after(self->fd, HOUR, 0);
	struct hwtimer_timer query;

	ASSERT_EQ(0, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(-ENOENT, dev_query(self->fd, id, &query));
}

TEST_F(hwtimer, discarded_timer_is_enoent)
{
	__u64 id = dev_after(self->fd, 0, 0);
	struct hwtimer_timer query;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
	EXPECT_EQ(-ENOENT, dev_query(self->fd, id, &query));
}

TEST_F(hwtimer, what_was_in_the_buffer_does_not_matter)
{
	struct hwtimer_timer query;
	__u64 id = dev_after(self->fd, HOUR, 99);

	memset(&query, 0x5a, sizeof(query));
	query.id = id;
	ASSERT_EQ(0, dev_ioctl(self->fd, HWTIMER_IOC_QUERY, &query));
	EXPECT_EQ(id, query.id);
	EXPECT_EQ(99, query.user_data);
	EXPECT_EQ(0, query.interval);
	EXPECT_EQ(0, query.slack);
	EXPECT_EQ(HWTIMER_STATE_PENDING, query.state);
	EXPECT_EQ(0, query.flags);
	EXPECT_EQ(0, query.expirations_left);
	EXPECT_EQ(0, query.expirations);
}

/* No timer has this id, whether timers are pending or events wait. */
TEST_F(hwtimer, id_of_0_is_enoent)
{
	struct hwtimer_timer query;

	EXPECT_EQ(-ENOENT, dev_query(self->fd, 0, &query));
	ASSERT_NE(0, dev_after(self->fd, HOUR, 1));
	EXPECT_EQ(-ENOENT, dev_query(self->fd, 0, &query));
	make_ready(_metadata, self->fd, 1);
	EXPECT_EQ(-ENOENT, dev_query(self->fd, 0, &query));
}

/* ---- how long a program may sleep ---- */

/* Returns INFO's field until_next. */
static __u64 until_next(struct __test_metadata *_metadata, int fd)
{
	struct hwtimer_info info;

	ASSERT_EQ(0, dev_info(fd, &info));
	return info.until_next;
}

TEST_F(hwtimer, until_none_is_never)
{
	EXPECT_EQ(HWTIMER_NEVER, until_next(_metadata, self->fd));
	ASSERT_EQ(0, dev_cancel(self->fd, dev_after(self->fd, HOUR, 1), 0));
	EXPECT_EQ(HWTIMER_NEVER, until_next(_metadata, self->fd));
}

TEST_F(hwtimer, until_next_is_never_later_than_the_earliest)
{
	__u64 earliest = HWTIMER_NEVER;
	unsigned int seed = 1;

	for (unsigned int i = 0; i < 200; i++) {
		__u64 delay = 1 + (next_random(&seed) % 5000) * HOUR / 100;
		__u64 deadline = now_ns() + HOUR + delay, now, until;

		ASSERT_NE(0, dev_at(self->fd, deadline, i));
		if (deadline < earliest)
			earliest = deadline;
		now = now_ns();
		until = until_next(_metadata, self->fd);
		/* A tick later than the deadline, as the event */
		EXPECT_GE(earliest + 2 * MS, now + until);
		EXPECT_LT(0, until);
	}
}

/* A program that sleeps as long as it is told gets its event, and wakes up a few times only. */
TEST_F(hwtimer, next_event_comes_to_a_program_that_sleeps)
{
	__u64 id = dev_after(self->fd, 300 * MS, 1), until;
	unsigned int sleeps = 0;
	struct hwtimer_event event;

	while ((until = until_next(_metadata, self->fd))) {
		ASSERT_GT(1000, ++sleeps);
		sleep_ns(until + MS);
	}
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(id, event.id);
	TH_LOG("%u sleeps", sleeps);
	EXPECT_EQ(HWTIMER_NEVER, until_next(_metadata, self->fd));
}

TEST_F(hwtimer, until_next_is_0_while_events_wait)
{
	make_ready(_metadata, self->fd, 2);
	ASSERT_NE(0, dev_after(self->fd, HOUR, 1));
	EXPECT_EQ(0, until_next(_metadata, self->fd));
	EXPECT_EQ(1, dev_discard_events(self->fd, 1));
	EXPECT_EQ(0, until_next(_metadata, self->fd));
	EXPECT_EQ(1, dev_discard_events(self->fd, 1));
	EXPECT_LT(0, until_next(_metadata, self->fd));
	EXPECT_GE(HOUR + 2 * MS, until_next(_metadata, self->fd));
}

TEST_F(hwtimer, until_parked_and_stopped_timers_is_never)
{
	__u64 id = dev_at(self->fd, HWTIMER_NEVER, 1);

	ASSERT_NE(0, dev_after(self->fd, HWTIMER_NEVER, 1));
	EXPECT_EQ(HWTIMER_NEVER, until_next(_metadata, self->fd));
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, HOUR));
	EXPECT_GE(HOUR + 2 * MS, until_next(_metadata, self->fd));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(HWTIMER_NEVER, until_next(_metadata, self->fd));
}

TEST_HARNESS_MAIN
