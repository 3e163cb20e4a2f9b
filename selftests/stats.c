// SPDX-License-Identifier: GPL-2.0
/*
 * STATS and fdinfo: the counters through a timer's life, the histogram of lateness, and, in
 * fdinfo only, the wheel's counters.
 */
#include "hwtimer_test.h"

TEST_F(hwtimer, all_is_zero_at_first)
{
	struct hwtimer_stats stats, zero = { 0 };

	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	zero.bytes = stats.bytes;
	zero.bytes_peak = stats.bytes_peak;
	EXPECT_EQ(0, memcmp(&zero, &stats, sizeof(zero)));
}

/* An instance's counter does not show wake-ups of the worker for other instances. */
TEST_F(hwtimer, busy_neighbour_wakes_up_for_itself)
{
	unsigned int rounds = scaled(30) + 3, woken = 0;
	int other = dev_open(0);
	long long before, last = 0;

	ASSERT_LE(0, other);
	/* This instance was served once and is idle since, with a pending timer. */
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	dev_wait_rest(self->fd);
	before = told(self->fd, "wakeups");
	EXPECT_LE(1, before);
	for (unsigned int i = 1; i <= rounds; i++) {
		long long now;

		ASSERT_NE(0, dev_after(other, 5 * MS, 0));
		ASSERT_TRUE(dev_wait_ready(other, i));
		now = told(other, "wakeups");
		woken += now > last;
		last = now;
	}
	EXPECT_LE(1, woken);
	TH_LOG("%u of %u timers woke the worker up", woken, rounds);
	EXPECT_EQ(before, told(self->fd, "wakeups"));
	ASSERT_EQ(0, close(other));
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
	EXPECT_EQ(1, told(self->fd, "entries"));
	EXPECT_EQ(0, told(self->fd, "dead"));
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(1, stats.rescheduled);
	EXPECT_EQ(0, stats.pending);
	EXPECT_EQ(1, stats.expired);
	EXPECT_EQ(1, stats.ready);
	EXPECT_LE(1, told(self->fd, "walked"));
	EXPECT_LE(1, told(self->fd, "turns"));
	EXPECT_LE(1, told(self->fd, "wakeups"));
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(1, stats.expired);
	EXPECT_EQ(0, stats.ready);
	EXPECT_EQ(1, stats.delivered);
}

/* Expects that the counters balance, and returns them. */
static struct hwtimer_stats balanced(struct __test_metadata *_metadata, int fd)
{
	struct hwtimer_stats stats = stats_of(fd);

	expect_balance(_metadata, &stats);
	return stats;
}

/* Each way in which a timer can begin, go on, and end */
TEST_F(hwtimer, counters_balance_after_each_call)
{
	struct hwtimer_request rearm = {
		.flags = HWTIMER_REQ_REARM,
		.time = HOUR,
	};
	struct hwtimer_event event;
	struct hwtimer_stats stats;
	__u64 id;

	/* A periodic timer: pending again; cancelled while its event waits, which is read */
	id = dev_every(self->fd, 0, HOUR, 0);
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(1, balanced(_metadata, self->fd).rearmed);
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	balanced(_metadata, self->fd);
	EXPECT_EQ(1, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(0, balanced(_metadata, self->fd).cancelled);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	stats = balanced(_metadata, self->fd);
	EXPECT_EQ(1, stats.scheduled);
	EXPECT_EQ(1, stats.rearmed);
	EXPECT_EQ(2, stats.expired);
	EXPECT_EQ(2, stats.delivered);
	EXPECT_EQ(0, stats.pending);

	/* A timer whose event is dropped by REARM, and which is then cancelled */
	rearm.id = dev_after(self->fd, 0, 0);
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, dev_ioctl(self->fd, HWTIMER_IOC_RESCHEDULE, &rearm));
	stats = balanced(_metadata, self->fd);
	EXPECT_EQ(3, stats.scheduled);
	EXPECT_EQ(2, stats.rescheduled);
	EXPECT_EQ(1, stats.discarded);
	EXPECT_EQ(1, stats.pending);
	ASSERT_EQ(0, dev_cancel(self->fd, rearm.id, 0));
	EXPECT_EQ(1, balanced(_metadata, self->fd).cancelled);

	/* CANCEL_ALL hands back one timer that is pending and one whose event waits. */
	ASSERT_NE(0, dev_every(self->fd, 0, HOUR, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	make_ready(_metadata, self->fd, 1);
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	EXPECT_EQ(2, dev_cancel_all(self->fd, 0));
	stats = balanced(_metadata, self->fd);
	EXPECT_EQ(3, stats.cancelled);
	EXPECT_EQ(2, stats.rearmed);
	EXPECT_EQ(2, stats.ready);
	EXPECT_EQ(0, stats.pending);
	EXPECT_EQ(0, dev_cancel_all(self->fd, HWTIMER_LIST_DISCARD));
	stats = balanced(_metadata, self->fd);
	EXPECT_EQ(3, stats.discarded);
	EXPECT_EQ(0, stats.ready);
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
	EXPECT_EQ(60, told(self->fd, "entries") - told(self->fd, "dead"));
}

/*
 * Schedules @n timers, each 1 ms after the last, and cancels the first @cancelled of them
 * before they are due. If the machine was too slow, tries again with more time.
 */
static void schedule_and_cancel(struct __test_metadata *_metadata, int *fd,
				unsigned int n, unsigned int cancelled,
				__u64 *ids)
{
	for (__u64 delay = 200 * MS;; delay *= 3) {
		__u64 start = now_ns();

		for (unsigned int i = 0; i < n; i++) {
			ids[i] = dev_after(*fd, delay + i * MS, i);
			ASSERT_NE(0, ids[i]);
		}
		if (dev_cancel_many(*fd, cancelled, ids) == cancelled)
			return;
		ASSERT_LE(start + delay, now_ns());
		ASSERT_TRUE(dev_renew(fd));
	}
}

TEST_F(hwtimer, dead_entries_go_when_their_time_comes)
{
	__u64 ids[50];

	schedule_and_cancel(_metadata, &self->fd, 50, 49, ids);
	ASSERT_EQ(1, dev_discard_events(self->fd, 1));
	while (told(self->fd, "entries"))
		sched_yield();
	EXPECT_EQ(0, told(self->fd, "dead"));
	EXPECT_EQ(49, told(self->fd, "removed"));
}

TEST_F(hwtimer, dead_entries_that_are_removed_were_walked)
{
	__u64 ids[50];

	schedule_and_cancel(_metadata, &self->fd, 50, 50, ids);
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	while (told(self->fd, "dead"))
		sched_yield();
	EXPECT_EQ(50, told(self->fd, "removed"));
	EXPECT_LE(told(self->fd, "refiled") + told(self->fd, "removed") +
			  told(self->fd, "cascaded"),
		  told(self->fd, "walked"));
}

TEST_F(hwtimer, later_deadlines_add_no_entries)
{
	__u64 id = dev_after(self->fd, HOUR, 0);

	for (unsigned int i = 1; i <= 1000; i++)
		ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, HOUR + i * SEC));
	EXPECT_EQ(1, told(self->fd, "entries"));
}

TEST_F(hwtimer, lateness_of_the_events_is_in_the_histogram)
{
	__u64 counts[HWTIMER_LATENESS_BUCKETS], max = UINT_MAX, sum = 0;
	struct hwtimer_event events[50];
	struct hwtimer_stats stats;

	/* A lateness of UINT_MAX means that or more: then try again. */
	for (unsigned int tries = 0; max == UINT_MAX && tries < 20; tries++) {
		ASSERT_TRUE(dev_renew(&self->fd));
		memset(counts, 0, sizeof(counts));
		max = 0;
		sum = 0;
		for (unsigned int i = 0; i < 50; i++)
			ASSERT_NE(0, dev_after(self->fd, i * MS / 2, i));
		ASSERT_EQ(50, dev_collect(self->fd, events, 50));
		for (unsigned int i = 0; i < 50; i++) {
			__u32 lateness = events[i].lateness;

			counts[lateness_bucket(lateness)]++;
			sum += lateness;
			if (lateness > max)
				max = lateness;
		}
	}
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(0, memcmp(counts, stats.lateness, sizeof(counts)));
	EXPECT_EQ(max, stats.lateness_max);
	EXPECT_EQ(sum, stats.lateness_sum);
}

/* The bounds leave no gap, and the first ones are those of the header's comment. */
TEST(each_lateness_has_one_bucket)
{
	EXPECT_EQ(0, HWTIMER_LATENESS_BOUND(0));
	EXPECT_EQ(256, HWTIMER_LATENESS_BOUND(1));
	EXPECT_EQ(1024, HWTIMER_LATENESS_BOUND(4));
	EXPECT_EQ(2048, HWTIMER_LATENESS_BOUND(8));
	for (unsigned int i = 1; i < HWTIMER_LATENESS_BUCKETS; i++)
		EXPECT_LT(HWTIMER_LATENESS_BOUND(i - 1),
			  HWTIMER_LATENESS_BOUND(i));
	for (unsigned int i = 4; i < HWTIMER_LATENESS_BUCKETS - 4; i++)
		EXPECT_EQ(2 * HWTIMER_LATENESS_BOUND(i),
			  HWTIMER_LATENESS_BOUND(i + 4));
	EXPECT_LT(7 * SEC,
		  HWTIMER_LATENESS_BOUND(HWTIMER_LATENESS_BUCKETS - 1));
}

TEST_F(hwtimer, very_late_events_are_counted_too)
{
	struct hwtimer_event event;
	struct hwtimer_stats stats;

	/* As late as the machine's uptime, which must be more than 4.3 s */
	while (now_ns() < 5 * SEC)
		sleep_ns(100 * MS);
	ASSERT_NE(0, dev_at(self->fd, 1, 0));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(1, event.deadline);
	EXPECT_EQ(UINT_MAX, event.lateness);
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_LE(5 * SEC - 1, stats.lateness_max);
	EXPECT_GE(now_ns(), stats.lateness_max);
	EXPECT_EQ(1, stats.lateness[lateness_bucket(stats.lateness_max)]);
	EXPECT_EQ(UINT_MAX, stats.lateness_sum);
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

TEST_F(hwtimer, what_was_in_the_buffer_does_not_matter)
{
	struct hwtimer_stats stats;

	memset(&stats, 0x5a, sizeof(stats));
	ASSERT_EQ(0, dev_ioctl(self->fd, HWTIMER_IOC_STATS, &stats));
	EXPECT_EQ(0, stats.scheduled);
	EXPECT_EQ(0, stats.lateness[HWTIMER_LATENESS_BUCKETS - 1]);
}

/* Returns whether the file has this line. */
static bool has_line(const char *path, const char *expected)
{
	char line[4096];
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
	char path[64], line[4096];
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

/* This test is root; privacy.c has those who see no number. */
TEST_F(hwtimer, instances_have_numbers)
{
	int other = dev_open(0);

	ASSERT_LE(0, other);
	EXPECT_LT(0, told(self->fd, "instance"));
	EXPECT_LT(told(self->fd, "instance"), told(other, "instance"));
	EXPECT_EQ(0, close(other));
}

TEST_F(hwtimer, before_the_first_timer_fdinfo_tells_the_settings)
{
	EXPECT_EQ(MS, told(self->fd, "tick"));
	EXPECT_EQ(4096, told(self->fd, "buckets"));
}

TEST_F(hwtimer, counters_of_the_wheel_are_in_fdinfo)
{
	const char *const names[] = { "entries", "dead",	"walked",
				      "refiled", "cascaded",	"removed",
				      "turns",	 "compactions", "wakeups" };

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		EXPECT_EQ(0, told(self->fd, names[i]));
}

TEST_F(hwtimer, fdinfo_tells_the_same)
{
	struct hwtimer_event event;
	struct hwtimer_stats stats;
	__u64 ids[20], id;

	/* Two expirations or more in one event */
	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_REQ_ABSTIME,
				       .interval = now_ns() * 2 / 3,
			       });
	ASSERT_NE(0, id);
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_LE(2, event.expirations);
	ASSERT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
	ASSERT_EQ(20, dev_schedule_many(self->fd, 20, 0, HOUR, ids));
	ASSERT_EQ(3, dev_cancel_many(self->fd, 3, ids));
	ASSERT_EQ(0, dev_reschedule(self->fd, ids[4], 0, 2 * HOUR));
	for (unsigned int i = 5; i < 12; i++)
		ASSERT_EQ(0, dev_reschedule(self->fd, ids[i], 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 7));
	ASSERT_EQ(0, dev_cancel(self->fd, ids[5], HWTIMER_REQ_DISCARD));
	ASSERT_EQ(2, dev_discard_events(self->fd, 2));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(1, stats.rearmed);
	EXPECT_EQ(event.expirations - 1, stats.missed);
	EXPECT_EQ(stats.pending, told(self->fd, "pending"));
	EXPECT_EQ(stats.ready, told(self->fd, "ready"));
	EXPECT_EQ(stats.scheduled, told(self->fd, "scheduled"));
	EXPECT_EQ(stats.cancelled, told(self->fd, "cancelled"));
	EXPECT_EQ(stats.rescheduled, told(self->fd, "rescheduled"));
	EXPECT_EQ(stats.expired, told(self->fd, "expired"));
	EXPECT_EQ(stats.delivered, told(self->fd, "delivered"));
	EXPECT_EQ(stats.discarded, told(self->fd, "discarded"));
	EXPECT_EQ(stats.bytes, told(self->fd, "bytes"));
	EXPECT_EQ(stats.bytes_peak, told(self->fd, "bytes_peak"));
	EXPECT_EQ(stats.lateness_max, told(self->fd, "lateness_max"));
	EXPECT_EQ(1, told(self->fd, "references"));
	EXPECT_EQ(stats.lateness_sum, told(self->fd, "lateness_sum"));
	EXPECT_EQ(stats.rearmed, told(self->fd, "rearmed"));
	EXPECT_EQ(stats.missed, told(self->fd, "missed"));
	EXPECT_EQ(stats.clock_sets, told(self->fd, "clock_sets"));
}

TEST_HARNESS_MAIN
