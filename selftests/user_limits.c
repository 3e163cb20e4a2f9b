// SPDX-License-Identifier: GPL-2.0
/*
 * The limit of memory of each user: who is charged, what a refusal looks like, and that
 * everything comes back. run.sh loads the module with a small limit for this program.
 *
 * The tests run as root, and become other users. A user is charged by its real uid; the
 * saved uid stays 0, so that a test can become root again.
 */
#include "hwtimer_test.h"

#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define ALICE 40001
#define BOB 40002

/* More instances than have room in the limit */
#define MANY 1000

/* More timers than there is memory for */
#define TIMERS 50000

/* A wheel of this size is larger than the limit. */
#define HUGE_BUCKETS 1048576

static void become(uid_t uid)
{
	if (syscall(SYS_setresuid, uid, uid, 0))
		abort();
}

static void become_root(void)
{
	become(0);
}

/* Makes exactly the capabilities in @mask effective that the process may have. */
static void set_capabilities(__u64 mask)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		abort();
	data[0].effective = data[0].permitted & mask;
	data[1].effective = data[1].permitted & (mask >> 32);
	if (syscall(SYS_capset, &header, data))
		abort();
}

#define ALL_CAPABILITIES (~0ULL)
#define SYS_RESOURCE ((__u64)CAP_TO_MASK(CAP_SYS_RESOURCE))

/* Opens up to MANY instances; returns how many, and stores the error or 0. */
static int open_many(int *fds, int *err)
{
	int n = 0;

	*err = 0;
	while (n < MANY) {
		fds[n] = dev_open(O_NONBLOCK);
		if (fds[n] < 0) {
			*err = fds[n];
			break;
		}
		n++;
	}
	return n;
}

static void close_all(struct __test_metadata *_metadata, const int *fds, int n)
{
	while (n--)
		ASSERT_EQ(0, close(fds[n]));
}

static int try_schedule(int fd)
{
	__u64 id;

	return dev_schedule(fd, 0, HOUR, 0, &id);
}

/* Opens an instance once those that were closed are freed, by a work item perhaps. */
static int open_again(void)
{
	int fd;

	while ((fd = dev_open(O_NONBLOCK)) == -ENOMEM)
		sleep_ns(MS);
	return fd;
}

FIXTURE(users)
{
	long long memory; /* the limit, bytes */
	mode_t mode; /* the device's mode before the test */
};

FIXTURE_SETUP(users)
{
	struct stat stat_of_device;

	self->memory = module_parameter("max_memory_user") << 20;
	ASSERT_EQ(0, stat(DEVICE, &stat_of_device));
	self->mode = stat_of_device.st_mode & 0777;
	if (self->memory > 4 << 20)
		SKIP(return, "the limit is too large to try");
	ASSERT_EQ(0, chmod(DEVICE, 0666));
}

FIXTURE_TEARDOWN(users)
{
	set_capabilities(ALL_CAPABILITIES);
	become_root();
	EXPECT_EQ(0, chmod(DEVICE, self->mode));
}

TEST_F(users, instances_are_charged_and_others_can_open)
{
	int fds[MANY], others[MANY], err, n, again;
	long long bytes = 0;

	become(ALICE);
	n = open_many(fds, &err);
	EXPECT_EQ(-ENOMEM, err);
	ASSERT_LT(0, n);
	for (int i = 0; i < n; i++)
		bytes += stats_of(fds[i]).bytes;
	EXPECT_GE(self->memory, bytes);
	EXPECT_LT(self->memory - bytes, bytes / n);
	become_root();
	become(BOB);
	EXPECT_EQ(n, open_many(others, &err));
	EXPECT_EQ(-ENOMEM, err);
	become_root();
	become(ALICE);
	EXPECT_EQ(-ENOMEM, dev_open(0));
	ASSERT_EQ(0, close(fds[--n]));
	again = open_again();
	EXPECT_LE(0, again);
	EXPECT_EQ(-ENOMEM, dev_open(0));
	EXPECT_EQ(0, close(again));
	close_all(_metadata, fds, n);
	close_all(_metadata, others, n + 1);
}

/* What an instance takes for its timers is charged, too, and comes back with its end. */
TEST_F(users, timers_are_charged)
{
	unsigned int n, again;
	int fd;

	become(ALICE);
	fd = open_again();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, dev_setup(fd, 0, 0, TIMERS));
	n = dev_schedule_many(fd, TIMERS, 0, HOUR, NULL);
	EXPECT_LT(1000, n);
	EXPECT_GT(TIMERS, n);
	EXPECT_EQ(-ENOMEM, try_schedule(fd));
	EXPECT_GE(self->memory, stats_of(fd).bytes);
	ASSERT_EQ(0, close(fd));
	fd = open_again();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, dev_setup(fd, 0, 0, TIMERS));
	/* The old instance may be freed a moment later. */
	again = dev_schedule_many(fd, n, 0, HOUR, NULL);
	while (again < n) {
		sleep_ns(MS);
		again += dev_schedule_many(fd, n - again, 0, HOUR, NULL);
	}
	ASSERT_EQ(0, close(fd));
}

/* A wheel that is too large is refused when it is needed, and nothing else is lost. */
TEST_F(users, a_wheel_is_charged)
{
	struct hwtimer_event event;
	int fd, n = 0;

	become(ALICE);
	fd = open_again();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, dev_setup(fd, 0, HUGE_BUCKETS, 0));
	while (dev_after(fd, MS, 0))
		n++;
	EXPECT_EQ(-ENOMEM, try_schedule(fd));
	ASSERT_LT(0, n);
	ASSERT_TRUE(dev_wait_ready(fd, n));
	while (n--)
		ASSERT_EQ(1, dev_read(fd, &event, 1));
	EXPECT_EQ(0, try_schedule(fd));
	ASSERT_EQ(0, close(fd));
}

TEST_F(users, root_has_no_limit)
{
	int fds[MANY], err;

	ASSERT_EQ(MANY, open_many(fds, &err));
	close_all(_metadata, fds, MANY);
}

TEST_F(users, a_user_with_the_capability_has_no_limit)
{
	int fds[MANY], err, n;

	become(ALICE);
	set_capabilities(SYS_RESOURCE);
	ASSERT_EQ(MANY, open_many(fds, &err));
	/* They do not use up what the user may have without it. */
	set_capabilities(0);
	ASSERT_EQ(0, close(open_again()));
	close_all(_metadata, fds, MANY);
	n = open_many(fds, &err);
	EXPECT_GT(MANY, n);
	EXPECT_EQ(-ENOMEM, err);
	close_all(_metadata, fds, n);
}

/* Whoever uses an instance, and whoever starts it, its opener is charged. */
TEST_F(users, the_opener_is_charged)
{
	int fds[MANY], err, fd, n;

	become(ALICE);
	fd = open_again();
	ASSERT_LE(0, fd);
	become_root();
	become(BOB);
	ASSERT_EQ(0, dev_setup(fd, 0, 0, TIMERS));
	EXPECT_LT(1000, dev_schedule_many(fd, TIMERS, 0, HOUR, NULL));
	EXPECT_EQ(-ENOMEM, try_schedule(fd));
	n = open_many(fds, &err);
	EXPECT_LT(10, n);
	close_all(_metadata, fds, n);
	become_root();
	become(ALICE);
	EXPECT_GT(n / 2, open_many(fds, &err));
	EXPECT_EQ(-ENOMEM, err);
	become_root();
}

TEST_HARNESS_MAIN
