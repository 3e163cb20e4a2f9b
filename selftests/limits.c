// SPDX-License-Identifier: GPL-2.0
/*
 * The limit of an instance's timers.
 *
 * A timer counts until it is cancelled or its event is read. So expired events that
 * nobody reads are limited just as pending timers are.
 */
#include "hwtimer_test.h"

#define LIMIT 10

/* An instance with room for LIMIT timers, which are all scheduled */
FIXTURE(full)
{
	int fd;
	__u64 ids[LIMIT];
};

FIXTURE_SETUP(full)
{
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, LIMIT));
	ASSERT_EQ(LIMIT,
		  dev_schedule_many(self->fd, LIMIT, 0, HOUR, self->ids));
}

FIXTURE_TEARDOWN(full)
{
	struct hwtimer_stats stats;

	EXPECT_EQ(0, dev_stats(self->fd, &stats));
	expect_balance(_metadata, &stats);
	EXPECT_GE(LIMIT, stats.pending + stats.ready);
	EXPECT_EQ(0, close(self->fd));
}

static int try_schedule(int fd)
{
	__u64 id;

	return dev_schedule(fd, 0, HOUR, 0, &id);
}

TEST_F(full, one_more_is_enospc)
{
	struct hwtimer_stats stats;

	EXPECT_EQ(-ENOSPC, try_schedule(self->fd));
	EXPECT_EQ(-ENOSPC, try_schedule(self->fd));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(LIMIT, stats.pending);
	EXPECT_EQ(LIMIT, stats.scheduled);
}

TEST_F(full, cancel_lifts_it)
{
	for (unsigned int i = 0; i < LIMIT; i++) {
		ASSERT_EQ(0, dev_cancel(self->fd, self->ids[i], 0));
		EXPECT_EQ(0, try_schedule(self->fd));
		EXPECT_EQ(-ENOSPC, try_schedule(self->fd));
	}
}

TEST_F(full, reading_lifts_it_and_expiry_alone_does_not)
{
	struct hwtimer_event event;

	ASSERT_EQ(0, dev_reschedule(self->fd, self->ids[0], 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(-ENOSPC, try_schedule(self->fd));
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(0, try_schedule(self->fd));
	EXPECT_EQ(-ENOSPC, try_schedule(self->fd));
}

TEST_F(full, failed_read_does_not_lift_it)
{
	ASSERT_EQ(0, dev_reschedule(self->fd, self->ids[0], 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(-EFAULT, dev_read(self->fd, bad_address(), 1));
	EXPECT_EQ(-ENOSPC, try_schedule(self->fd));
}

TEST_F(full, discard_lifts_it)
{
	ASSERT_EQ(0, dev_reschedule(self->fd, self->ids[0], 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, dev_cancel(self->fd, self->ids[0], HWTIMER_REQ_DISCARD));
	EXPECT_EQ(0, try_schedule(self->fd));
	EXPECT_EQ(-ENOSPC, try_schedule(self->fd));
}

TEST_F(full, discarded_event_makes_room_at_once)
{
	struct hwtimer_event event;

	ASSERT_EQ(0, dev_reschedule(self->fd, self->ids[0], 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, dev_reschedule(self->fd, self->ids[1], 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 2));
	ASSERT_EQ(0, dev_cancel(self->fd, self->ids[1], HWTIMER_REQ_DISCARD));
	EXPECT_EQ(0, try_schedule(self->fd));
	EXPECT_EQ(-ENOSPC, try_schedule(self->fd));
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(self->ids[0], event.id);
	EXPECT_EQ(0, try_schedule(self->fd));
	EXPECT_EQ(-ENOSPC, try_schedule(self->fd));
}

TEST_F(full, reschedule_works_at_the_limit)
{
	for (unsigned int i = 0; i < 100; i++) {
		ASSERT_EQ(0, dev_reschedule(self->fd, self->ids[i % LIMIT], 0,
					    HOUR / 2 + i * 37 % 100 * SEC));
	}
	EXPECT_EQ(-ENOSPC, try_schedule(self->fd));
}

TEST_F(full, submit_refuses_only_what_is_too_much)
{
	struct hwtimer_request requests[] = {
		{ .op = HWTIMER_OP_SCHEDULE, .time = HOUR },
		{ .op = HWTIMER_OP_CANCEL, .id = self->ids[3] },
		{ .op = HWTIMER_OP_SCHEDULE, .time = HOUR },
		{ .op = HWTIMER_OP_SCHEDULE, .time = HOUR },
	};

	ASSERT_EQ(4, dev_submit(self->fd, requests, 4));
	EXPECT_EQ(-ENOSPC, requests[0].result);
	EXPECT_EQ(0, requests[1].result);
	EXPECT_EQ(0, requests[2].result);
	EXPECT_EQ(-ENOSPC, requests[3].result);
}

TEST_F(full, other_instances_have_limits_of_their_own)
{
	int other = dev_open(O_NONBLOCK);

	ASSERT_LE(0, other);
	EXPECT_EQ(0, try_schedule(other));
	EXPECT_EQ(0, close(other));
}

TEST_F(hwtimer, limit_of_one)
{
	struct hwtimer_event event;

	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, 1));
	for (unsigned int i = 0; i < 5; i++) {
		ASSERT_NE(0, dev_after(self->fd, 0, i));
		EXPECT_EQ(-ENOSPC, try_schedule(self->fd));
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		EXPECT_EQ(i, event.user_data);
	}
}

TEST_F(hwtimer, periodic_timer_counts_once_for_as_long_as_it_lives)
{
	struct hwtimer_event event;
	__u64 id;

	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, 1));
	id = dev_every(self->fd, 0, MS, 5);
	ASSERT_NE(0, id);
	for (unsigned int i = 0; i < 5; i++) {
		EXPECT_EQ(-ENOSPC, try_schedule(self->fd));
		ASSERT_TRUE(dev_wait_ready(self->fd, 1));
		EXPECT_EQ(-ENOSPC, try_schedule(self->fd));
		ASSERT_EQ(1, dev_read(self->fd, &event, 1));
		EXPECT_EQ(id, event.id);
	}
	EXPECT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
	EXPECT_EQ(0, try_schedule(self->fd));
	EXPECT_EQ(-ENOSPC, try_schedule(self->fd));
}

TEST_F(hwtimer, as_many_periodic_timers_as_others)
{
	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, LIMIT));
	for (unsigned int i = 0; i < LIMIT; i++) {
		EXPECT_EQ(i, stats_of(self->fd).pending);
		ASSERT_NE(0, dev_every(self->fd, HOUR, HOUR, i));
	}
	EXPECT_EQ(-ENOSPC, try_schedule(self->fd));
}

TEST_F(hwtimer, last_expiration_of_a_limited_timer_lifts_it)
{
	struct hwtimer_event event;

	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, 1));
	ASSERT_NE(0, dev_add(self->fd, (struct hwtimer_request){
					       .interval = MS,
					       .expirations_max = 2,
				       }));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	sleep_ns(5 * MS);
	EXPECT_EQ(-ENOSPC, try_schedule(self->fd));
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(2, event.expirations);
	EXPECT_EQ(0, try_schedule(self->fd));
	EXPECT_EQ(-ENOSPC, try_schedule(self->fd));
}

TEST_HARNESS_MAIN
