// SPDX-License-Identifier: GPL-2.0
/*
 * What a program cannot learn of other programs' instances: how many there are or were,
 * and what they do. SECURITY.md lists what it can learn.
 */
#include "hwtimer_test.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define NOBODY 65534

/* Makes the capabilities in @set, a mask, effective and no others. */
static int set_effective(__u64 set)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return -errno;
	data[0].effective = data[0].permitted & set;
	data[1].effective = data[1].permitted & (set >> 32);
	return result_of(syscall(SYS_capset, &header, data));
}

/* Whether @fd, of an fdinfo file, shows the number of the instance */
static bool shows_number(int fd)
{
	char text[4096];
	ssize_t length = pread(fd, text, sizeof(text) - 1, 0);

	if (length < 0)
		abort();
	text[length] = '\0';
	return strstr(text, "hwtimer-instance:");
}

static int open_fdinfo(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	return result_of(open(path, O_RDONLY | O_CLOEXEC));
}

TEST_F(hwtimer, number_is_not_for_everybody)
{
	EXPECT_LT(0, told(self->fd, "instance"));
	ASSERT_EQ(0, setuid(NOBODY));
	ASSERT_EQ(0, prctl(PR_SET_DUMPABLE, 1));
	EXPECT_EQ(-1, told(self->fd, "instance"));
	/* All else is the program's own. */
	EXPECT_EQ(0, told(self->fd, "pending"));
	EXPECT_LT(0, told(self->fd, "tick"));
}

TEST_F(hwtimer, number_is_for_those_who_may_trace)
{
	const __u64 tracers = 1ULL << CAP_PERFMON | 1ULL << CAP_SYS_ADMIN;

	ASSERT_EQ(0, set_effective(0));
	EXPECT_EQ(-1, told(self->fd, "instance"));
	ASSERT_EQ(0, set_effective(~tracers));
	EXPECT_EQ(-1, told(self->fd, "instance"));
	ASSERT_EQ(0, set_effective(1ULL << CAP_PERFMON));
	EXPECT_LT(0, told(self->fd, "instance"));
	ASSERT_EQ(0, set_effective(1ULL << CAP_SYS_ADMIN));
	EXPECT_LT(0, told(self->fd, "instance"));
}

/* A program cannot have a privileged one read the file for it. */
TEST_F(hwtimer, opener_of_the_file_counts)
{
	int privileged = open_fdinfo(self->fd), ordinary;

	ASSERT_LE(0, privileged);
	ASSERT_EQ(0, set_effective(0));
	ordinary = open_fdinfo(self->fd);
	ASSERT_LE(0, ordinary);
	EXPECT_TRUE(shows_number(privileged));
	EXPECT_FALSE(shows_number(ordinary));
	ASSERT_EQ(0, set_effective(~0ULL));
	EXPECT_FALSE(shows_number(ordinary));
	close(ordinary);
	close(privileged);
}

TEST_F(hwtimer, root_of_a_container_sees_no_number)
{
	if (unshare(CLONE_NEWUSER))
		SKIP(return, "no user namespaces");
	EXPECT_EQ(-1, told(self->fd, "instance"));
	EXPECT_EQ(0, told(self->fd, "pending"));
}

/* Makes an instance do all sorts of things. */
static void be_busy(struct __test_metadata *_metadata, int fd)
{
	struct hwtimer_event event;
	__u64 ids[100];

	ASSERT_EQ(100, dev_schedule_many(fd, 100, 0, HOUR, ids));
	ASSERT_EQ(50, dev_cancel_many(fd, 50, ids));
	ASSERT_NE(0, dev_after(fd, 0, 0));
	ASSERT_EQ(POLLIN, dev_poll(fd, POLLIN, -1));
	ASSERT_EQ(1, dev_read(fd, &event, 1));
}

TEST_F(hwtimer, ids_tell_nothing_of_other_instances)
{
	int quiet = dev_open(O_NONBLOCK), later;
	__u64 id;

	ASSERT_LE(0, quiet);
	id = dev_after(quiet, HOUR, 0);
	ASSERT_NE(0, id);
	be_busy(_metadata, self->fd);
	later = dev_open(O_NONBLOCK);
	ASSERT_LE(0, later);
	EXPECT_EQ(id, dev_after(later, HOUR, 0));
	EXPECT_EQ(dev_after(quiet, HOUR, 0), dev_after(later, HOUR, 0));
	ASSERT_EQ(0, close(later));
	ASSERT_EQ(0, close(quiet));
}

TEST_F(hwtimer, counters_tell_nothing_of_other_instances)
{
	struct hwtimer_stats before, after;
	int quiet = dev_open(O_NONBLOCK), later;

	ASSERT_LE(0, quiet);
	ASSERT_EQ(0, dev_stats(quiet, &before));
	be_busy(_metadata, self->fd);
	ASSERT_EQ(0, dev_stats(quiet, &after));
	EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
	later = dev_open(O_NONBLOCK);
	ASSERT_LE(0, later);
	ASSERT_EQ(0, dev_stats(later, &after));
	EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
	ASSERT_EQ(0, close(later));
	ASSERT_EQ(0, close(quiet));
}

TEST_F(hwtimer, ids_of_others_name_nothing)
{
	int other = dev_open(O_NONBLOCK);
	__u64 ids[10];

	ASSERT_LE(0, other);
	ASSERT_EQ(10, dev_schedule_many(other, 10, 0, HOUR, ids));
	for (unsigned int i = 0; i < 10; i++)
		EXPECT_EQ(-ENOENT, dev_cancel(self->fd, ids[i], 0));
	EXPECT_EQ(10, stats_of(other).pending);
	ASSERT_EQ(0, close(other));
}

TEST_HARNESS_MAIN
