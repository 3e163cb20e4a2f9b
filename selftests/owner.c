// SPDX-License-Identifier: GPL-2.0
/*
 * The worker belongs to the owner: the process that first gives an instance something to
 * do. Tests which threads there are, what they are called, and when they end. The suite
 * in tenants/ tests what they cost and whom.
 *
 * With the module parameter workers, the threads are shared, and most tests are skipped.
 */
#include <dirent.h>
#include <grp.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "hwtimer_test.h"

#define USER 4711
#define OTHER_USER 4712

/* The thread that serves @fd, 0: none. */
static long long worker_of(int fd)
{
	return told(fd, "worker");
}

static void name_of(long long pid, char name[32])
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%lld/comm", pid);
	memset(name, 0, 32);
	file = fopen(path, "r");
	if (!file)
		return;
	if (fgets(name, 32, file))
		name[strcspn(name, "\n")] = '\0';
	fclose(file);
}

/* The number of threads called @name. */
static int threads_called(const char *name)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char found[32];
	int count = 0;

	if (!proc)
		return -1;
	while ((entry = readdir(proc))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		name_of(atoll(entry->d_name), found);
		count += !strcmp(found, name);
	}
	closedir(proc);
	return count;
}

/* Waits until @count threads are called @name: a thread ends a moment after close(). */
static void wait_for_threads(const char *name, int count)
{
	while (threads_called(name) != count)
		sleep_ns(10 * MS);
}

/* Makes this process one of an ordinary user. */
static void become(uid_t uid)
{
	if (setgroups(0, NULL) || setgid(uid) || setuid(uid))
		_exit(99);
}

static int set_uids(uid_t real, uid_t effective, uid_t saved)
{
	return syscall(SYS_setresuid, real, effective, saved);
}

/* Gives the instance its first timer. */
static int start(int fd)
{
	return dev_after(fd, HOUR, 0) ? 0 : -1;
}

/* Opens the device as an ordinary user; the process itself remains that of root. */
static int open_as(struct __test_metadata *_metadata, uid_t uid)
{
	struct stat device;
	int fd;

	ASSERT_EQ(0, stat(DEVICE, &device));
	ASSERT_EQ(0, chmod(DEVICE, 0666));
	ASSERT_EQ(0, set_uids(uid, uid, 0));
	fd = dev_open(0);
	EXPECT_LE(0, fd);
	ASSERT_EQ(0, set_uids(0, 0, 0));
	ASSERT_EQ(0, chmod(DEVICE, device.st_mode & 07777));
	return fd;
}

FIXTURE(owner)
{
	int fd;
};

FIXTURE_SETUP(owner)
{
	if (module_parameter("workers"))
		SKIP(return, "the module has shared workers");
	self->fd = open(DEVICE, O_RDWR);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(owner)
{
	close(self->fd);
}

TEST_F(owner, comes_with_the_first_timer_and_ends_with_close)
{
	char name[32];

	/* Threads of an earlier test may just be ending. */
	wait_for_threads("hwtimer/0", 0);
	EXPECT_EQ(0, worker_of(self->fd));
	ASSERT_EQ(0, start(self->fd));
	EXPECT_LT(0, worker_of(self->fd));
	name_of(worker_of(self->fd), name);
	EXPECT_STREQ("hwtimer/0", name);
	EXPECT_EQ(1, threads_called("hwtimer/0"));
	close(self->fd);
	wait_for_threads("hwtimer/0", 0);
	self->fd = open(DEVICE, O_RDWR);
}

TEST_F(owner, comes_with_setup)
{
	struct hwtimer_setup setup = { .size = sizeof(setup),
				       .clock = CLOCK_MONOTONIC };

	ASSERT_EQ(0, ioctl(self->fd, HWTIMER_IOC_SETUP, &setup));
	EXPECT_LT(0, worker_of(self->fd));
}

TEST_F(owner, instances_of_a_process_share_a_worker)
{
	int fd = open(DEVICE, O_RDWR);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, start(self->fd));
	ASSERT_EQ(0, start(fd));
	EXPECT_EQ(worker_of(self->fd), worker_of(fd));
	close(fd);
	EXPECT_LT(0, worker_of(self->fd));
	/* The worker is still there: it serves the other instance. */
	EXPECT_NE(0, dev_after(self->fd, MS, 1));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

/* A second program gets a worker of its own, if there is a processor for it. */
TEST_F(owner, processes_have_their_own_workers)
{
	long long ours;
	int status;
	pid_t child;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one processor");
	ASSERT_EQ(0, start(self->fd));
	ours = worker_of(self->fd);
	child = fork();
	if (!child) {
		int fd = open(DEVICE, O_RDWR);

		_exit(start(fd) || worker_of(fd) == ours);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
}

/* There are never more workers than processors for one owner, however many processes. */
TEST_F(owner, has_no_more_workers_than_processors)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	int i, count = 3 * processors + 1, hold[2], ready[2];
	char byte;

	ASSERT_EQ(0, pipe(hold));
	ASSERT_EQ(0, pipe(ready));
	for (i = 0; i < count; i++) {
		if (fork())
			continue;
		close(hold[1]);
		i = open(DEVICE, O_RDWR);
		byte = start(i) ? 'n' : 'y';
		if (write(ready[1], &byte, 1) == 1)
			/* Until the parent closes its end */
			i = read(hold[0], &byte, 1);
		_exit(0);
	}
	for (i = 0; i < count; i++) {
		ASSERT_EQ(1, read(ready[0], &byte, 1));
		EXPECT_EQ('y', byte);
	}
	EXPECT_LE(1, threads_called("hwtimer/0"));
	EXPECT_GE(processors, threads_called("hwtimer/0"));
	close(hold[1]);
	for (i = 0; i < count; i++)
		wait(NULL);
	wait_for_threads("hwtimer/0", 0);
}

/* The worker is that of the user who starts the instance, not of the one who opened it. */
TEST_F(owner, is_who_starts_an_instance)
{
	char name[32];
	int status;
	pid_t child;

	child = fork();
	if (!child) {
		become(USER);
		_exit(start(self->fd));
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_EQ(0, status);
	name_of(worker_of(self->fd), name);
	EXPECT_STREQ("hwtimer/4711", name);
	/* The process has ended, the instance and its worker have not. */
	EXPECT_NE(0, dev_after(self->fd, MS, 1));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
}

TEST_F(owner, users_have_their_own_workers)
{
	int fd = open(DEVICE, O_RDWR), status;
	pid_t child;

	ASSERT_LE(0, fd);
	child = fork();
	if (!child) {
		become(USER);
		_exit(start(self->fd));
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	child = fork();
	if (!child) {
		become(OTHER_USER);
		_exit(start(fd));
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_LT(0, worker_of(fd));
	EXPECT_NE(worker_of(self->fd), worker_of(fd));
	close(fd);
}

TEST_F(owner, has_its_nice_value)
{
	int status;
	pid_t child;

	child = fork();
	if (!child)
		_exit(setpriority(PRIO_PROCESS, 0, 7) || start(self->fd));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_EQ(0, status);
	EXPECT_EQ(7, getpriority(PRIO_PROCESS, worker_of(self->fd)));
}

TEST_F(owner, has_its_policy)
{
	const struct sched_param none = {};
	int status;
	pid_t child;

	child = fork();
	if (!child)
		_exit(sched_setscheduler(0, SCHED_IDLE, &none) ||
		      start(self->fd));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_EQ(0, status);
	EXPECT_EQ(SCHED_IDLE, sched_getscheduler(worker_of(self->fd)));
}

/* Takes a real-time policy for itself only: no cgroup limits that of a kthread. */
TEST_F(owner, does_not_pass_real_time_on)
{
	const struct sched_param high = { .sched_priority = 5 };
	int status;
	pid_t child;

	child = fork();
	if (!child)
		_exit(sched_setscheduler(0, SCHED_FIFO, &high) ||
		      start(self->fd));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_EQ(0, status);
	EXPECT_EQ(SCHED_OTHER, sched_getscheduler(worker_of(self->fd)));
}

/*
 * Whoever starts an instance pays for its thread. So an ordinary user must not get another
 * user to do that, not even root.
 */
TEST_F(owner, cannot_be_made_another_user)
{
	struct hwtimer_setup setup = { .clock = CLOCK_MONOTONIC };
	int fd = open_as(_metadata, USER);

	EXPECT_EQ(-EPERM, dev_setup_as(fd, setup));
	EXPECT_EQ(0, dev_after(fd, HOUR, 0));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(0, worker_of(fd));
	/* Its user starts it; then others may use it. */
	ASSERT_EQ(0, set_uids(USER, USER, 0));
	EXPECT_EQ(0, start(fd));
	ASSERT_EQ(0, set_uids(0, 0, 0));
	EXPECT_EQ(0, start(fd));
	EXPECT_EQ(0, close(fd));
}

/* Many instances that come and go at the same time: no thread is lost, none is left. */
TEST_F(owner, survives_coming_and_going)
{
	int i, child, children = 4, rounds = scaled(200);

	for (child = 0; child < children; child++) {
		if (fork())
			continue;
		if (child % 2)
			become(USER);
		for (i = 0; i < rounds; i++) {
			int fd = open(DEVICE, O_RDWR);

			if (fd < 0)
				_exit(child % 2 ? 0 : 1);
			if (start(fd))
				_exit(2);
			close(fd);
		}
		_exit(0);
	}
	for (child = 0; child < children; child++) {
		int status;

		ASSERT_LT(0, wait(&status));
		EXPECT_EQ(0, status);
	}
	wait_for_threads("hwtimer/0", 0);
	wait_for_threads("hwtimer/4711", 0);
}

TEST_HARNESS_MAIN
