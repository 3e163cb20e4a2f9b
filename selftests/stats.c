// SPDX-License-Identifier: GPL-2.0
/*
 * STATS and fdinfo: the counters through a timer's life, the histogram of
 * lateness, and the worker's sleep while nothing is due.
 */
#include "hwtimer_test.h"

TEST_F(hwtimer, all_is_zero_at_first)
{
	struct hwtimer_stats stats, zero = { .size = sizeof(zero) };

	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	zero.wakeups = stats.wakeups;
	zero.bytes = stats.bytes;
	zero.bytes_peak = stats.bytes_peak;
	EXPECT_EQ(0, memcmp(&zero, &stats, sizeof(zero)));
}

TEST_F(hwtimer, counters_follow_a_timer)
{
	struct hwtimer_event event;
	struct hwtimer_stats stats;
	__u64 id;

	id = dev_after(self->fd, HOUR, 0);
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(1, stats.scheduled);
	EXPECT_EQ(1, stats.pending);
	EXPECT_EQ(1, stats.entries);
	EXPECT_EQ(0, stats.dead);
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(1, stats.rescheduled);
	EXPECT_EQ(0, stats.pending);
	EXPECT_EQ(1, stats.expired);
	EXPECT_EQ(1, stats.ready);
	EXPECT_LE(1, stats.walked);
	EXPECT_LE(1, stats.turns);
	EXPECT_LE(1, stats.wakeups);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(1, stats.expired);
	EXPECT_EQ(0, stats.ready);
	EXPECT_EQ(1, stats.delivered);
}

TEST_F(hwtimer, cancelled_timers_leave_dead_entries)
{
	struct hwtimer_stats stats;
	__u64 ids[100];

	ASSERT_EQ(100, dev_schedule_many(self->fd, 100, 0, HOUR, ids));
	ASSERT_EQ(40, dev_cancel_many(self->fd, 40, ids));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(60, stats.pending);
	EXPECT_EQ(40, stats.cancelled);
	EXPECT_EQ(60, stats.entries - stats.dead);
}

TEST_F(hwtimer, dead_entries_go_when_their_time_comes)
{
	struct hwtimer_stats stats;
	__u64 ids[50], end;

	ASSERT_EQ(50, dev_schedule_many(self->fd, 50, 0, 300 * MS, ids));
	ASSERT_EQ(49, dev_cancel_many(self->fd, 49, ids));
	ASSERT_EQ(1, dev_discard_events(self->fd, 1));
	end = now_ns() + HANG_MS * MS;
	do {
		ASSERT_EQ(0, dev_stats(self->fd, &stats));
	} while (stats.entries && now_ns() < end);
	EXPECT_EQ(0, stats.entries);
	EXPECT_EQ(0, stats.dead);
	EXPECT_EQ(49, stats.buried);
}

TEST_F(hwtimer, dead_entries_that_are_removed_were_walked)
{
	struct hwtimer_stats stats;
	__u64 ids[50], end;

	for (unsigned int i = 0; i < 50; i++) {
		ids[i] = dev_after(self->fd, 200 * MS + i * MS, i);
		ASSERT_NE(0, ids[i]);
	}
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	ASSERT_EQ(50, dev_cancel_many(self->fd, 50, ids));
	end = now_ns() + HANG_MS * MS;
	do {
		ASSERT_EQ(0, dev_stats(self->fd, &stats));
	} while (stats.dead && now_ns() < end);
	EXPECT_EQ(50, stats.buried);
	EXPECT_LE(stats.passed_over + stats.refiled + stats.buried +
			  stats.cascaded,
		  stats.walked);
}

TEST_F(hwtimer, later_deadlines_add_no_entries)
{
	struct hwtimer_stats stats;
	__u64 id = dev_after(self->fd, HOUR, 0);

	for (unsigned int i = 1; i <= 1000; i++)
		ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, HOUR + i * SEC));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(1, stats.entries);
}

TEST_F(hwtimer, lateness_of_the_events_is_in_the_histogram)
{
	__u64 counts[HWTIMER_LATENESS_BUCKETS] = { 0 }, max = 0;
	struct hwtimer_event events[50];
	struct hwtimer_stats stats;

	for (unsigned int i = 0; i < 50; i++)
		ASSERT_NE(0, dev_after(self->fd, i * MS / 2, i));
	ASSERT_EQ(50, dev_collect(self->fd, events, 50));
	for (unsigned int i = 0; i < 50; i++) {
		__u32 lateness = events[i].lateness;

		counts[lateness ? 32 - __builtin_clz(lateness) : 0]++;
		if (lateness > max)
			max = lateness;
	}
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(0, memcmp(counts, stats.lateness, sizeof(counts)));
	EXPECT_EQ(max, stats.lateness_max);
}

TEST_F(hwtimer, very_late_events_are_counted_too)
{
	struct hwtimer_event event;
	struct hwtimer_stats stats;

	/* As late as the machine is up, and more than 4.3 s. */
	while (now_ns() < 5 * SEC)
		sleep_ns(100 * MS);
	ASSERT_NE(0, dev_at(self->fd, 1, 0));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(1, event.deadline);
	EXPECT_EQ(UINT_MAX, event.lateness);
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_LE(5 * SEC - 1, stats.lateness_max);
	EXPECT_GE(now_ns(), stats.lateness_max);
	EXPECT_EQ(1, stats.lateness[64 - __builtin_clzll(stats.lateness_max)]);
}

TEST_F(hwtimer, bytes_grow_and_the_peak_stays)
{
	struct hwtimer_stats before, during, after;
	__u64 ids[5000];

	ASSERT_EQ(0, dev_stats(self->fd, &before));
	ASSERT_EQ(5000, dev_schedule_many(self->fd, 5000, 0, HOUR, ids));
	ASSERT_EQ(0, dev_stats(self->fd, &during));
	EXPECT_LT(before.bytes, during.bytes);
	ASSERT_EQ(5000, dev_cancel_many(self->fd, 5000, ids));
	ASSERT_EQ(0, dev_stats(self->fd, &after));
	EXPECT_LE(during.bytes, after.bytes_peak);
}

TEST_F(hwtimer, reserved_is_einval)
{
	struct hwtimer_stats stats = { .size = sizeof(stats), .reserved = 1 };

	EXPECT_EQ(-EINVAL, dev_ioctl(self->fd, HWTIMER_IOC_STATS, &stats));
}

TEST_F(hwtimer, what_was_in_the_buffer_does_not_matter)
{
	struct hwtimer_stats stats;

	memset(&stats, 0x5a, sizeof(stats));
	stats.size = sizeof(stats);
	stats.reserved = 0;
	ASSERT_EQ(0, dev_ioctl(self->fd, HWTIMER_IOC_STATS, &stats));
	EXPECT_EQ(0, stats.scheduled);
	EXPECT_EQ(0, stats.lateness[HWTIMER_LATENESS_BUCKETS - 1]);
}

/* Whether the file has this line. */
static bool has_line(const char *path, const char *expected)
{
	char line[2048];
	FILE *file;
	bool found = false;

	file = fopen(path, "r");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = !strcmp(line, expected);
	fclose(file);
	return found;
}

TEST_F(hwtimer, fdinfo_tells_the_histogram)
{
	char path[64], line[2048];
	struct hwtimer_stats stats;
	int length;

	ASSERT_EQ(50, dev_schedule_many(self->fd, 50, 0, 0, NULL));
	ASSERT_NE(0, dev_at(self->fd, 1, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 51));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	length = sprintf(line, "hwtimer-lateness:\t%llu", stats.lateness[0]);
	for (unsigned int i = 1; i < HWTIMER_LATENESS_BUCKETS; i++)
		length += sprintf(line + length, " %llu", stats.lateness[i]);
	sprintf(line + length, "\n");
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", self->fd);
	EXPECT_TRUE(has_line(path, line));
}

/* The number of @name in what the kernel tells of @fd, or -1. */
static long long told(int fd, const char *name)
{
	char path[64], key[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	snprintf(key, sizeof(key), "hwtimer-%s:", name);
	return number_after(path, key);
}

TEST_F(hwtimer, fdinfo_tells_the_same)
{
	struct hwtimer_stats stats;
	__u64 ids[20];

	/* Two expirations in one event, and the third is far enough. */
	ASSERT_NE(0, dev_add(self->fd, (struct hwtimer_request){
					       .flags = HWTIMER_ABSOLUTE,
					       .interval = now_ns() * 2 / 3,
				       }));
	ASSERT_EQ(1, dev_discard_events(self->fd, 1));
	ASSERT_EQ(20, dev_schedule_many(self->fd, 20, 0, HOUR, ids));
	ASSERT_EQ(3, dev_cancel_many(self->fd, 3, ids));
	ASSERT_EQ(0, dev_reschedule(self->fd, ids[4], 0, 2 * HOUR));
	for (unsigned int i = 5; i < 12; i++)
		ASSERT_EQ(0, dev_reschedule(self->fd, ids[i], 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 7));
	ASSERT_EQ(0, dev_cancel(self->fd, ids[5], HWTIMER_DISCARD));
	ASSERT_EQ(2, dev_discard_events(self->fd, 2));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(1, stats.rearmed);
	EXPECT_EQ(1, stats.missed);
	EXPECT_EQ(stats.pending, told(self->fd, "pending"));
	EXPECT_EQ(stats.ready, told(self->fd, "ready"));
	EXPECT_EQ(stats.scheduled, told(self->fd, "scheduled"));
	EXPECT_EQ(stats.cancelled, told(self->fd, "cancelled"));
	EXPECT_EQ(stats.rescheduled, told(self->fd, "rescheduled"));
	EXPECT_EQ(stats.expired, told(self->fd, "expired"));
	EXPECT_EQ(stats.delivered, told(self->fd, "delivered"));
	EXPECT_EQ(stats.discarded, told(self->fd, "discarded"));
	EXPECT_EQ(stats.unprocessed, told(self->fd, "unprocessed"));
	EXPECT_EQ(stats.entries, told(self->fd, "entries"));
	EXPECT_EQ(stats.dead, told(self->fd, "dead"));
	EXPECT_EQ(stats.walked, told(self->fd, "walked"));
	EXPECT_EQ(stats.passed_over, told(self->fd, "passed_over"));
	EXPECT_EQ(stats.refiled, told(self->fd, "refiled"));
	EXPECT_EQ(stats.buried, told(self->fd, "buried"));
	EXPECT_EQ(stats.compactions, told(self->fd, "compactions"));
	EXPECT_EQ(stats.turns, told(self->fd, "turns"));
	EXPECT_EQ(stats.wakeups, told(self->fd, "wakeups"));
	EXPECT_EQ(stats.bytes, told(self->fd, "bytes"));
	EXPECT_EQ(stats.bytes_peak, told(self->fd, "bytes_peak"));
	EXPECT_EQ(stats.lateness_max, told(self->fd, "lateness_max"));
	EXPECT_EQ(stats.rearmed, told(self->fd, "rearmed"));
	EXPECT_EQ(stats.missed, told(self->fd, "missed"));
	EXPECT_EQ(stats.cascaded, told(self->fd, "cascaded"));
	EXPECT_EQ(stats.clock_sets, told(self->fd, "clock_sets"));
}

TEST_HARNESS_MAIN
