// SPDX-License-Identifier: GPL-2.0
/*
 * The instances in debugfs. They come and go with the descriptors; the file is for root only,
 * and agrees with STATS. Skipped on a kernel without debugfs.
 */
#include "hwtimer_test.h"

#include <sys/stat.h>

/* The longest line, in bytes */
#define LINE 512

#define INSTANCES "/sys/kernel/debug/hwtimer/instances"

/* The numbers of some columns */
enum { PENDING = 6, BYTES = 12, SPENT = 14, UID = 15, TENANT_SPENT = 17 };

FIXTURE(debugfs)
{
	int fd;
	long long nr;
};

FIXTURE_SETUP(debugfs)
{
	self->fd = -1;
	if (access(INSTANCES, F_OK))
		SKIP(return, "this kernel has no debugfs");
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	self->nr = told(self->fd, "instance");
}

FIXTURE_TEARDOWN(debugfs)
{
	if (self->fd >= 0)
		EXPECT_EQ(0, close(self->fd));
}

/* Stores the file's last line about instance @nr; returns the number of such lines. */
static unsigned int lines_of(long long nr, char line[LINE])
{
	FILE *file = fopen(INSTANCES, "r");
	unsigned int count = 0;
	char read[LINE];

	if (!file)
		abort();
	while (fgets(read, sizeof(read), file))
		if (strtoll(read, NULL, 10) == nr) {
			snprintf(line, LINE, "%s", read);
			count++;
		}
	fclose(file);
	return count;
}

/* A number in a line of `instances` */
static long long column(const char *line, unsigned int nr)
{
	while (nr--)
		line = strchr(line, '\t') + 1;
	return strtoll(line, NULL, 10);
}

/* The number of characters at the start of @text that are those of @expected. */
static size_t common_start(const char *text, const char *expected)
{
	size_t count = 0;

	while (expected[count] && text[count] == expected[count])
		count++;
	return count;
}

TEST_F(debugfs, instances_come_and_go)
{
	char line[LINE];
	int other;

	ASSERT_EQ(1, lines_of(self->nr, line));
	EXPECT_EQ(0, lines_of(self->nr + 1, line));
	other = dev_open(0);
	ASSERT_LE(0, other);
	EXPECT_EQ(1, lines_of(told(other, "instance"), line));
	EXPECT_EQ(1, lines_of(self->nr, line));
	ASSERT_EQ(0, close(other));
	ASSERT_EQ(0, close(self->fd));
	self->fd = -1;
	EXPECT_EQ(0, lines_of(self->nr, line));
	EXPECT_EQ(0, lines_of(self->nr + 1, line));
}

TEST_F(debugfs, an_instance_tells_who_it_is)
{
	const struct hwtimer_setup setup = {
		.clock = HWTIMER_CLOCK_BOOTTIME,
		.tick = 2 * MS,
		.buckets = 512,
		.timers = 1000,
	};
	char line[LINE], expected[256];
	__u64 ids[20];

	ASSERT_EQ(0, dev_setup_as(self->fd, setup));
	ASSERT_EQ(20, dev_schedule_many(self->fd, 20, 0, HOUR, ids));
	ASSERT_EQ(3, dev_cancel_many(self->fd, 3, ids));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	/* The worker counts its time a moment after the event can be read. */
	for (;;) {
		ASSERT_EQ(1, lines_of(self->nr, line));
		if (column(line, SPENT))
			break;
		sleep_ns(MS);
	}
	sprintf(expected, "%lld\t%d\t%d\t2000000\t512\t1000\t", self->nr,
		getpid(), HWTIMER_CLOCK_BOOTTIME);
	sprintf(expected + strlen(expected), "17\t1\t21\t3\t1\t0\t%llu\t%lld\t",
		stats_of(self->fd).bytes, told(self->fd, "worker"));
	EXPECT_EQ(strlen(expected), common_start(line, expected));
	EXPECT_EQ(0, column(line, UID));
	EXPECT_LE(column(line, SPENT), column(line, TENANT_SPENT));
}

/* The instances of one user, and the sums of their columns */
struct user {
	long long instances, pending, bytes, spent;
};

static struct user user_of(unsigned int uid)
{
	FILE *file = fopen(INSTANCES, "r");
	struct user user = {};
	char line[LINE];

	/* Without the headline */
	if (!file || !fgets(line, sizeof(line), file))
		abort();
	while (fgets(line, sizeof(line), file)) {
		if (column(line, UID) != uid)
			continue;
		user.instances++;
		user.pending += column(line, PENDING);
		user.bytes += column(line, BYTES);
		user.spent += column(line, TENANT_SPENT);
	}
	fclose(file);
	return user;
}

/* The user who opens an instance; once it has timers, the one who has scheduled the first */
TEST_F(debugfs, users_are_told_apart)
{
	struct user user;
	struct hwtimer_event event;
	int fds[2], status;
	pid_t child;

	fds[0] = self->fd;
	fds[1] = dev_open(O_NONBLOCK);
	ASSERT_LE(0, fds[1]);
	EXPECT_EQ(0, user_of(1000).instances);
	child = fork();
	if (!child) {
		bool done =
			!setresuid(1000, 1000, 1000) &&
			dev_schedule_many(fds[0], 20, 0, HOUR, NULL) == 20 &&
			dev_after(fds[1], 0, 0) && dev_after(fds[1], HOUR, 0) &&
			dev_wait_ready(fds[1], 1) &&
			dev_read(fds[1], &event, 1) == 1;

		_exit(!done);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_EQ(0, status);
	user = user_of(1000);
	EXPECT_EQ(2, user.instances);
	EXPECT_EQ(21, user.pending);
	EXPECT_EQ(stats_of(fds[0]).bytes + stats_of(fds[1]).bytes, user.bytes);
	/* The worker counts its time a moment after the event can be read. */
	while (!user_of(1000).spent)
		sleep_ns(MS);
	EXPECT_EQ(0, close(fds[1]));
	user = user_of(1000);
	EXPECT_EQ(1, user.instances);
	EXPECT_EQ(20, user.pending);
	EXPECT_EQ(0, close(fds[0]));
	self->fd = -1;
	EXPECT_EQ(0, user_of(1000).instances);
}

TEST_F(debugfs, many_instances_are_all_there)
{
	char line[LINE];
	int fds[300];

	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = dev_open(0);
		ASSERT_LE(0, fds[i]);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i += 50)
		EXPECT_EQ(1, lines_of(told(fds[i], "instance"), line));
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++)
		EXPECT_EQ(0, close(fds[i]));
}

/* Instances end while a reader reads; it misses none that stays. */
TEST_F(debugfs, reader_misses_none_that_stays)
{
	long long nr, last = 0;
	bool came[300] = {};
	char line[LINE];
	int fds[300];
	FILE *file;

	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = dev_open(0);
		ASSERT_LE(0, fds[i]);
	}
	nr = told(fds[0], "instance");
	file = fopen(INSTANCES, "r");
	ASSERT_NE(NULL, file);
	/* Unbuffered, so that the kernel fills its buffer again and again. */
	setvbuf(file, NULL, _IONBF, 0);
	while (fgets(line, sizeof(line), file)) {
		long long shown = strtoll(line, NULL, 10);

		EXPECT_LE(last, shown);
		last = shown;
		if (shown < nr || shown >= nr + (long long)ARRAY_SIZE(fds))
			continue;
		came[shown - nr] = true;
		/* Every other instance that was shown ends. */
		if ((shown - nr) % 2) {
			ASSERT_EQ(0, close(fds[shown - nr]));
			fds[shown - nr] = -1;
		}
	}
	fclose(file);
	for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++) {
		EXPECT_TRUE(came[i])
		{
			TH_LOG("instance %u of those opened", i);
		}
		if (fds[i] >= 0)
			EXPECT_EQ(0, close(fds[i]));
	}
}

TEST_F(debugfs, file_is_for_root)
{
	struct stat st;

	ASSERT_EQ(0, stat(INSTANCES, &st));
	EXPECT_EQ(0400, st.st_mode & 0777);
}

static void *look_until_told(void *arg)
{
	const bool *stop = arg;
	char line[LINE];

	while (!__atomic_load_n(stop, __ATOMIC_RELAXED))
		lines_of(0, line);
	return NULL;
}

TEST_F(debugfs, instances_may_end_while_they_are_shown)
{
	bool stop = false;
	pthread_t looker;

	start_threads(&looker, 1, look_until_told, &stop, 0);
	for (unsigned int i = 0; i < scaled(200); i++) {
		int fd = dev_open(0);

		ASSERT_LE(0, fd);
		ASSERT_NE(0, dev_after(fd, i % 2 ? HOUR : 0, 0));
		ASSERT_EQ(0, close(fd));
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	join_threads(&looker, 1);
}

/* Someone who looks at the time that a worker has spent for an instance */
struct auditor {
	long long nr;
	unsigned int looks;
	unsigned int backwards; /* looks after which it was less than before */
	bool done;
};

static void *audit(void *arg)
{
	struct auditor *auditor = arg;
	long long last = 0;
	char line[LINE];

	for (unsigned int i = 0; i < auditor->looks; i++) {
		long long spent;

		if (lines_of(auditor->nr, line) != 1)
			abort();
		spent = column(line, SPENT);
		auditor->backwards += spent < last;
		last = spent;
	}
	__atomic_store_n(&auditor->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/*
 * The time is counted while someone looks at it. KCSAN watches that; each instance makes it
 * more likely that it sees the two meet.
 */
TEST_F(debugfs, time_spent_never_goes_back)
{
	struct auditor auditor = { .nr = self->nr, .looks = 300 };
	struct hwtimer_event event;
	pthread_t thread;
	int fds[20];

	fds[0] = self->fd;
	for (unsigned int i = 1; i < ARRAY_SIZE(fds); i++) {
		fds[i] = dev_open(O_NONBLOCK);
		ASSERT_LE(0, fds[i]);
	}
	start_threads(&thread, 1, audit, &auditor, 0);
	while (!__atomic_load_n(&auditor.done, __ATOMIC_ACQUIRE)) {
		for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++)
			ASSERT_NE(0, dev_after(fds[i], 0, 0));
		for (unsigned int i = 0; i < ARRAY_SIZE(fds); i++) {
			ASSERT_TRUE(dev_wait_ready(fds[i], 1));
			ASSERT_EQ(1, dev_read(fds[i], &event, 1));
		}
	}
	join_threads(&thread, 1);
	EXPECT_EQ(0, auditor.backwards);
	for (unsigned int i = 1; i < ARRAY_SIZE(fds); i++)
		EXPECT_EQ(0, close(fds[i]));
}

TEST_HARNESS_MAIN
