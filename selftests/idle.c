// SPDX-License-Identifier: GPL-2.0
/*
 * The worker sleeps while nothing is due: not one wake-up in ten seconds. fdinfo counts
 * wake-ups for this instance, the scheduler counts all.
 */
#include <dirent.h>

#include "hwtimer_test.h"

#define IDLE (10 * SEC)

/*
 * Returns how often the thread /proc/@pid went to sleep, if it is a worker; otherwise 0.
 */
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

/* Returns how often all workers went to sleep so far; 0 if none can be seen. */
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

/* The same, once no worker has gone to sleep for a second: then all of them sleep. */
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

/* Expects that no worker wakes up within IDLE. */
static void expect_idle(struct __test_metadata *_metadata, int fd)
{
	long long slept, before;

	dev_wait_rest(fd);
	slept = sleeps_at_rest();
	ASSERT_LT(0, slept);
	before = told(fd, "wakeups");
	sleep_ns(IDLE);
	EXPECT_EQ(before, told(fd, "wakeups"));
	EXPECT_EQ(slept, sleeps());
}

TEST_F(hwtimer, no_wakeup_with_nothing_scheduled)
{
	int other = dev_open(0);

	/* Without this, there would be no worker. */
	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, 0));
	/* A timer of a closed instance is no longer scheduled. */
	ASSERT_LE(0, other);
	ASSERT_NE(0, dev_after(other, 3 * SEC, 0));
	ASSERT_EQ(0, close(other));
	expect_idle(_metadata, self->fd);
}

TEST_F(hwtimer, no_wakeup_with_one_timer_an_hour_away)
{
	struct hwtimer_event event;

	/* The wheel has turned, and has had a dead entry that was due soon. */
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	cancel_in_time(_metadata, self->fd, 100 * MS);
	while (told(self->fd, "dead"))
		sleep_ns(10 * MS);
	expect_idle(_metadata, self->fd);
	EXPECT_EQ(1, stats_of(self->fd).pending);
}

TEST_HARNESS_MAIN
