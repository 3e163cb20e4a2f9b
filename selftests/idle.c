// SPDX-License-Identifier: GPL-2.0
/*
 * The worker sleeps while nothing is due: not one wake-up in ten seconds, neither for
 * this instance, as STATS tells, nor for any other reason, as the scheduler does.
 */
#include <dirent.h>

#include "hwtimer_test.h"

#define IDLE (10 * SEC)

/* How often the thread in directory @pid of /proc slept, if it is a worker; else 0. */
static long long sleeps_of(const char *pid)
{
	char path[300], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (!fgets(name, sizeof(name), file))
		name[0] = 0;
	fclose(file);
	if (strncmp(name, "hwtimer/", 8))
		return 0;
	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	return number_after(path, "voluntary_ctxt_switches:");
}

/* How often all workers slept so far; 0: there are none, or they cannot be seen. */
static long long sleeps(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	long long sum = 0;

	if (!proc)
		return 0;
	while ((entry = readdir(proc)))
		if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
			sum += sleeps_of(entry->d_name);
	closedir(proc);
	return sum;
}

/* The same, once all workers sleep: nobody has gone to sleep for a second. */
static long long sleeps_at_rest(void)
{
	long long before, now = sleeps();

	do {
		before = now;
		sleep_ns(SEC);
		now = sleeps();
	} while (now != before);
	return now;
}

static __u64 wakeups(int fd)
{
	struct hwtimer_stats stats;

	return dev_stats(fd, &stats) ? UINT64_MAX : stats.wakeups;
}

TEST_F(hwtimer, no_wakeup_with_nothing_scheduled)
{
	int other = dev_open(0);
	long long slept;
	__u64 before;

	/* A timer that went with its instance is not scheduled any more. */
	ASSERT_LE(0, other);
	ASSERT_NE(0, dev_after(other, 3 * SEC, 0));
	ASSERT_EQ(0, close(other));
	ASSERT_TRUE(dev_rests(self->fd));
	slept = sleeps_at_rest();
	ASSERT_LT(0, slept);
	before = wakeups(self->fd);
	ASSERT_NE(UINT64_MAX, before);
	sleep_ns(IDLE);
	EXPECT_EQ(before, wakeups(self->fd));
	EXPECT_EQ(slept, sleeps());
}

TEST_F(hwtimer, no_wakeup_with_one_timer_an_hour_away)
{
	struct hwtimer_event event;
	struct hwtimer_stats stats;
	long long slept;
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
	slept = sleeps_at_rest();
	ASSERT_LT(0, slept);
	before = wakeups(self->fd);
	ASSERT_NE(UINT64_MAX, before);
	sleep_ns(IDLE);
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(before, stats.wakeups);
	EXPECT_EQ(slept, sleeps());
	EXPECT_EQ(1, stats.pending);
}

TEST_HARNESS_MAIN
