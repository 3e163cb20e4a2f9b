// SPDX-License-Identifier: GPL-2.0
/*
 * The machine's memory runs out. A program that schedules timers until there is no more
 * memory gets ENOMEM, and the OOM killer kills nobody. The memory of timers belongs to no
 * process; so the program itself is the smallest of all, and others would be killed.
 *
 * First, the tests make the machine small: a file without a name takes all memory but
 * what the tests need. This memory belongs to no process either.
 */
#include "hwtimer_test.h"

#include <sys/syscall.h>

/* The module leaves 1/64 of the memory to others, but at most this many bytes. */
#define KEPT_MAX (64LL << 20)

/* Bytes that the tests leave to the timers */
#define FOR_TIMERS (80LL << 20)

/* Bytes that a bystander holds all the time: more than any other process */
#define HELD (4 << 20)

/* Bytes that a bystander allocates in addition, and frees, again and again */
#define TAKEN (256 << 10)

#define BYSTANDERS 3

/* The program stops after so many refusals. */
#define REFUSALS 50

/* More instances than there is memory for, each with a large wheel */
#define INSTANCES 512

static long long available(void)
{
	return number_after("/proc/meminfo", "MemAvailable:") << 10;
}

static long long oom_kills(void)
{
	return number_after("/proc/vmstat", "oom_kill ");
}

/* Returns the bytes that the module leaves to others on this machine. */
static long long kept(void)
{
	long long total = number_after("/proc/meminfo", "MemTotal:") << 10;

	return total / 64 < KEPT_MAX ? total / 64 : KEPT_MAX;
}

/* Takes all memory but what the tests need; returns the file that holds it, or -1. */
static int take_memory(void)
{
	int fd = syscall(SYS_memfd_create, "hwtimer-scarcity", 0);
	long long size = available() - kept() - FOR_TIMERS;

	if (fd >= 0 && size > 0 && fallocate(fd, 0, 0, size)) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * Runs as an ordinary program: holds some memory, and allocates and frees some more.
 * Writes a byte to @to each time, as a sign that it is alive.
 */
static void be_a_bystander(int to)
{
	char *held = mmap(NULL, HELD, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (held == MAP_FAILED)
		_exit(1);
	memset(held, 1, HELD);
	for (;;) {
		char *taken = mmap(NULL, TAKEN, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (taken == MAP_FAILED)
			_exit(2);
		memset(taken, 1, TAKEN);
		munmap(taken, TAKEN);
		if (write(to, "", 1) != 1)
			_exit(3);
		sleep_ns(5 * MS);
	}
}

struct bystander {
	pid_t pid;
	int from;
};

FIXTURE(scarce)
{
	struct bystander bystanders[BYSTANDERS];
	long long killed;
	int taken;
};

static bool hear(const struct bystander *bystander)
{
	struct pollfd pfd = { .fd = bystander->from, .events = POLLIN };
	char c;

	return poll(&pfd, 1, -1) == 1 && read(pfd.fd, &c, 1) == 1;
}

FIXTURE_SETUP(scarce)
{
	if (available() < kept() + FOR_TIMERS)
		SKIP(return, "there is less memory than the test leaves");
	self->killed = oom_kills();
	ASSERT_LE(0, self->killed);
	for (unsigned int i = 0; i < BYSTANDERS; i++) {
		struct bystander *bystander = &self->bystanders[i];
		int ends[2];

		ASSERT_EQ(0, pipe(ends));
		bystander->pid = fork();
		ASSERT_LE(0, bystander->pid);
		if (!bystander->pid)
			be_a_bystander(ends[1]);
		close(ends[1]);
		bystander->from = ends[0];
		ASSERT_TRUE(hear(bystander));
	}
	self->taken = take_memory();
	ASSERT_LE(0, self->taken);
}

FIXTURE_TEARDOWN(scarce)
{
	close(self->taken);
	for (unsigned int i = 0; i < BYSTANDERS; i++) {
		kill(self->bystanders[i].pid, SIGKILL);
		waitpid(self->bystanders[i].pid, NULL, 0);
		close(self->bystanders[i].from);
	}
}

/* Expects that each bystander is alive and still writes; drops what it wrote before. */
static void expect_bystanders(struct __test_metadata *_metadata,
			      const struct bystander *bystanders)
{
	for (unsigned int i = 0; i < BYSTANDERS; i++) {
		const struct bystander *bystander = &bystanders[i];
		int flags = fcntl(bystander->from, F_GETFL);
		char told[4096];

		fcntl(bystander->from, F_SETFL, flags | O_NONBLOCK);
		while (read(bystander->from, told, sizeof(told)) > 0)
			;
		fcntl(bystander->from, F_SETFL, flags);
		for (unsigned int round = 0; round < 20; round++)
			ASSERT_TRUE(hear(bystander));
		EXPECT_EQ(0, waitpid(bystander->pid, NULL, WNOHANG));
	}
}

/* Schedules until a timer is refused; returns the error. */
static int schedule_until_refused(int fd, __u64 *scheduled)
{
	struct hwtimer_request requests[256];

	for (;;) {
		int ret;

		fill_schedules(requests, 256, 0, HOUR, *scheduled);
		ret = dev_submit(fd, requests, 256);
		if (ret <= 0)
			return ret;
		for (int i = 0; i < ret; i++) {
			if (requests[i].result)
				return requests[i].result;
			++*scheduled;
		}
	}
}

static void schedule_until_enomem(struct __test_metadata *_metadata)
{
	int fd = dev_open(0), err = 0;
	__u64 scheduled = 0;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, dev_setup(fd, 0, 0, 1 << 24));
	for (unsigned int i = 0; i < REFUSALS; i++) {
		err = schedule_until_refused(fd, &scheduled);
		ASSERT_EQ(-ENOMEM, err);
	}
	TH_LOG("%llu timers, then ENOMEM; %lld kB are available", scheduled,
	       available() >> 10);
	/* There was enough memory for at least this many. */
	EXPECT_LT(FOR_TIMERS / 2 / 64, scheduled);
	EXPECT_EQ(scheduled, stats_of(fd).pending);
	EXPECT_GT(kept() + FOR_TIMERS / 2, available());
}

/* The program that schedules lives on and keeps its memory, and so do the others. */
TEST_F(scarce, timers_stop_at_enomem_and_bystanders_live)
{
	schedule_until_enomem(_metadata);
	expect_bystanders(_metadata, self->bystanders);
	EXPECT_EQ(self->killed, oom_kills());
}

/* Makes instances with @make, which returns 0 or -errno, until memory runs out. */
static void make_until_enomem(struct __test_metadata *_metadata,
			      int (*make)(int fd))
{
	unsigned int refusals = 0, i;

	for (i = 0; i < INSTANCES && refusals < REFUSALS; i++) {
		int fd = dev_open(0), err = fd < 0 ? -errno : make(fd);

		if (!err)
			continue;
		ASSERT_EQ(-ENOMEM, err);
		refusals++;
		if (fd >= 0)
			close(fd);
	}
	TH_LOG("%u instances, then ENOMEM; %lld kB are available", i - refusals,
	       available() >> 10);
	EXPECT_EQ(REFUSALS, refusals);
	EXPECT_LT(REFUSALS, i);
}

static int make_wheel(int fd)
{
	int err = dev_setup(fd, 0, 1 << 16, 1000);

	return err ? err : dev_whole_wheel(fd);
}

TEST_F(scarce, wheels_stop_at_enomem_and_bystanders_live)
{
	make_until_enomem(_metadata, make_wheel);
	expect_bystanders(_metadata, self->bystanders);
	EXPECT_EQ(self->killed, oom_kills());
}

TEST_HARNESS_MAIN
