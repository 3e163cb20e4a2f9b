// SPDX-License-Identifier: GPL-2.0
/*
 * The worker sleeps while nothing is due: not one wake-up in ten seconds.
 */
#include "hwtimer_test.h"

#define IDLE (10 * SEC)

static __u64 wakeups(int fd)
{
	struct hwtimer_stats stats;

	return dev_stats(fd, &stats) ? UINT64_MAX : stats.wakeups;
}

TEST_F(hwtimer, no_wakeup_with_nothing_scheduled)
{
	int other = dev_open(0);
	__u64 before;

	/* A timer that went with its instance is not scheduled any more. */
	ASSERT_LE(0, other);
	ASSERT_NE(0, dev_after(other, 3 * SEC, 0));
	ASSERT_EQ(0, close(other));
	ASSERT_TRUE(dev_rests(self->fd));
	before = wakeups(self->fd);
	ASSERT_NE(UINT64_MAX, before);
	sleep_ns(IDLE);
	EXPECT_EQ(before, wakeups(self->fd));
}

TEST_F(hwtimer, no_wakeup_with_one_timer_an_hour_away)
{
	struct hwtimer_event event;
	struct hwtimer_stats stats;
	__u64 before;

	/* The wheel has turned, and has a dead entry that is due soon. */
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	cancel_in_time(_metadata, self->fd, 100 * MS);
	for (__u64 end = now_ns() + HANG_MS * MS; stats_of(self->fd).dead;) {
		ASSERT_GT(end, now_ns());
		sleep_ns(10 * MS);
	}
	ASSERT_TRUE(dev_rests(self->fd));
	before = wakeups(self->fd);
	ASSERT_NE(UINT64_MAX, before);
	sleep_ns(IDLE);
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(before, stats.wakeups);
	EXPECT_EQ(1, stats.pending);
}

TEST_HARNESS_MAIN
