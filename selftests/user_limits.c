// SPDX-License-Identifier: GPL-2.0
/*
 * The limits per user: of instances, timers and memory. Who is charged, what each refusal
 * looks like, and that everything comes back. run.sh loads the module with small limits
 * for this program.
 *
 * The tests run as root, and become other users. A user is charged by its real uid; the
 * saved uid stays 0, so that a test can become root again.
 */
#include "hwtimer_test.h"

#include <linux/capability.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define CGROUPS "/sys/fs/cgroup/"
#define USERS "/sys/kernel/debug/hwtimer/users"

#define ALICE 40001
#define BOB 40002

/* The first uid of the host that a user namespace of the tests has */
#define SUBUIDS 500000

/* More instances than any user of the tests may have */
#define MANY 10

/* A wheel of this size is larger than the limit of memory. */
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

/* Opens up to @count instances; returns how many, and stores the error or 0. */
static int open_many(int *fds, int count, int *err)
{
	int n = 0;

	*err = 0;
	while (n < count) {
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

/*
 * Returns column @column of the next line of @file that is of @uid's account; -1: there is
 * none. Column 0 is the uid, 3 are the instances, 4 the timers, 5 the bytes.
 */
static long long next_account_of(FILE *file, unsigned int uid, int column)
{
	char line[256];

	while (fgets(line, sizeof(line), file)) {
		char *rest = line;

		if (line[0] < '0' || line[0] > '9' ||
		    strtoul(line, NULL, 10) != uid)
			continue;
		for (int i = 0; i < column; i++)
			rest = strchr(rest, '\t') + 1;
		return strtoll(rest, NULL, 10);
	}
	return -1;
}

static FILE *open_accounts(void)
{
	FILE *file = fopen(USERS, "r");

	if (!file)
		abort();
	return file;
}

/*
 * Returns column @column of @uid's account in debugfs; the sum, if there are several
 * accounts; -1: there is none. See next_account_of() for the columns.
 */
static long long account_of(unsigned int uid, int column)
{
	FILE *file = open_accounts();
	long long sum = -1, value;

	while ((value = next_account_of(file, uid, column)) >= 0)
		sum = (sum < 0 ? 0 : sum) + value;
	fclose(file);
	return sum;
}

static bool accounts_shown(void)
{
	return !access(USERS, R_OK);
}

/*
 * Waits until nothing is charged to @uid, as far as the kernel shows it. If a worker was
 * just serving an instance that was closed, the instance is freed a little later.
 */
static void wait_for_no_account(uid_t uid)
{
	become_root();
	while (accounts_shown() && account_of(uid, 3) >= 0)
		sleep_ns(MS);
}

FIXTURE(users)
{
	long long instances; /* the limits of a user */
	long long timers;
	long long memory; /* bytes */
	long long of_one; /* the limit of timers of one instance */
	mode_t mode; /* the device's mode before the test */
};

FIXTURE_SETUP(users)
{
	struct stat stat_of_device;

	self->instances = module_parameter("max_instances_user");
	self->timers = module_parameter("max_timers_user");
	self->memory = module_parameter("max_memory_user") << 20;
	self->of_one = module_parameter("default_timers");
	ASSERT_EQ(0, stat(DEVICE, &stat_of_device));
	self->mode = stat_of_device.st_mode & 0777;
	if (self->instances >= MANY || self->timers > 100000)
		SKIP(return, "the limits are too large to try");
	/* The tests need two instances that a user's timers do not fit into. */
	ASSERT_LE(3, self->instances);
	ASSERT_LT(self->of_one, self->timers);
	ASSERT_GT(2 * self->of_one, self->timers);
	ASSERT_EQ(0, chmod(DEVICE, 0666));
}

FIXTURE_TEARDOWN(users)
{
	set_capabilities(ALL_CAPABILITIES);
	become_root();
	EXPECT_EQ(0, chmod(DEVICE, self->mode));
}

/* The largest number of timers that an instance keeps without need */
static long long kept(const FIXTURE_DATA(users) * self)
{
	return 2 * (self->timers / 16 / self->instances);
}

static int try_schedule(int fd)
{
	__u64 id;

	return dev_schedule(fd, 0, HOUR, 0, &id);
}

/* ---- instances ---- */

TEST_F(users, one_instance_too_many_is_emfile_and_others_can_open)
{
	int fds[MANY], others[MANY], err, n;

	become(ALICE);
	n = open_many(fds, MANY, &err);
	EXPECT_EQ(self->instances, n);
	EXPECT_EQ(-EMFILE, err);
	EXPECT_EQ(-EMFILE, dev_open(0));
	become_root();
	become(BOB);
	EXPECT_EQ(self->instances, open_many(others, self->instances, &err));
	become_root();
	become(ALICE);
	EXPECT_EQ(-EMFILE, dev_open(0));
	ASSERT_EQ(0, close(fds[--n]));
	EXPECT_EQ(n + 1, n + open_many(fds + n, 2, &err));
	EXPECT_EQ(-EMFILE, err);
	close_all(_metadata, fds, self->instances);
	close_all(_metadata, others, self->instances);
	wait_for_no_account(ALICE);
	wait_for_no_account(BOB);
}

TEST_F(users, the_file_of_accounts_shows_what_they_have)
{
	int fds[2], err;

	if (!accounts_shown())
		SKIP(return, "this kernel has no debugfs");
	become(ALICE);
	ASSERT_EQ(2, open_many(fds, 2, &err));
	ASSERT_EQ(5, dev_schedule_many(fds[0], 5, 0, HOUR, NULL));
	become_root();
	EXPECT_EQ(2, account_of(ALICE, 3));
	EXPECT_LE(5, account_of(ALICE, 4));
	EXPECT_GE(5 + kept(self), account_of(ALICE, 4));
	EXPECT_EQ(stats_of(fds[0]).bytes + stats_of(fds[1]).bytes,
		  account_of(ALICE, 5));
	EXPECT_EQ(-1, account_of(BOB, 3));
	become(ALICE);
	EXPECT_NE(0, access(USERS, R_OK));
	close_all(_metadata, fds, 2);
	wait_for_no_account(ALICE);
}

/* Opens and closes instances as @uid until the process is killed. */
static void come_and_go(uid_t uid)
{
	become(uid);
	for (;;) {
		int fd = dev_open(0);

		if (fd < 0 || try_schedule(fd))
			_exit(1);
		close(fd);
	}
}

/*
 * Expects that each account of @uid in debugfs has at most @most instances; returns how
 * many accounts have one. The file is no snapshot: an account that ends once its line is
 * printed, and begins again meanwhile, has another line.
 */
static unsigned int expect_instances(struct __test_metadata *_metadata,
				     uid_t uid, long long most)
{
	FILE *file = open_accounts();
	unsigned int seen = 0;
	long long instances;

	while ((instances = next_account_of(file, uid, 3)) >= 0) {
		EXPECT_GE(most, instances);
		seen += instances > 0;
	}
	fclose(file);
	return seen;
}

TEST_F(users, accounts_may_end_while_they_are_shown)
{
	pid_t pids[4];
	unsigned int seen = 0;

	if (!accounts_shown())
		SKIP(return, "this kernel has no debugfs");
	for (unsigned int i = 0; i < ARRAY_SIZE(pids); i++) {
		pids[i] = fork();
		if (!pids[i])
			come_and_go(ALICE + i % 2);
	}
	for (__u64 end = now_ns() + SEC; now_ns() < end || !seen;)
		seen += expect_instances(_metadata, ALICE, 2);
	for (unsigned int i = 0; i < ARRAY_SIZE(pids); i++) {
		ASSERT_EQ(0, kill(pids[i], SIGKILL));
		EXPECT_EQ(-SIGKILL, wait_for_child(pids[i]));
	}
	wait_for_no_account(ALICE);
	wait_for_no_account(BOB);
}

/* ---- who is charged ---- */

TEST_F(users, root_has_no_limit)
{
	int fds[MANY], err, n = self->instances + 1;

	ASSERT_EQ(n, open_many(fds, n, &err));
	close_all(_metadata, fds, n);
	if (accounts_shown())
		EXPECT_EQ(-1, account_of(0, 3));
}

TEST_F(users, a_user_with_the_capability_has_no_limit)
{
	int fds[MANY], err, n = self->instances + 1;

	become(ALICE);
	set_capabilities(SYS_RESOURCE);
	ASSERT_EQ(n, open_many(fds, n, &err));
	close_all(_metadata, fds, n);
	set_capabilities(0);
	EXPECT_EQ(self->instances, open_many(fds, MANY, &err));
	EXPECT_EQ(-EMFILE, err);
	close_all(_metadata, fds, self->instances);
}

/* Moves this process to the cgroup @name, which is "" or ends with a slash. */
static bool enter_cgroup(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), CGROUPS "%s", name);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), CGROUPS "%scgroup.procs", name);
	return write_file(path, "0");
}

TEST_F(users, root_without_the_capability_is_counted_by_its_cgroup)
{
	int fds[MANY], others[MANY], err, n = self->instances;

	if (!enter_cgroup("hwtimer-a/"))
		SKIP(return, "no cgroup (v2) at " CGROUPS);
	set_capabilities(~SYS_RESOURCE);
	EXPECT_EQ(n, open_many(fds, MANY, &err));
	EXPECT_EQ(-EMFILE, err);
	ASSERT_TRUE(enter_cgroup("hwtimer-b/"));
	EXPECT_EQ(n, open_many(others, n, &err));
	EXPECT_EQ(-EMFILE, dev_open(0));
	/* What is open stays where it was opened. */
	ASSERT_EQ(0, close(fds[--n]));
	EXPECT_EQ(-EMFILE, dev_open(0));
	ASSERT_TRUE(enter_cgroup("hwtimer-a/"));
	fds[n] = dev_open(0);
	EXPECT_LE(0, fds[n]);
	set_capabilities(ALL_CAPABILITIES);
	close_all(_metadata, fds, self->instances);
	close_all(_metadata, others, self->instances);
	ASSERT_TRUE(enter_cgroup(""));
	EXPECT_EQ(0, rmdir(CGROUPS "hwtimer-a"));
	EXPECT_EQ(0, rmdir(CGROUPS "hwtimer-b"));
	if (accounts_shown())
		EXPECT_EQ(-1, account_of(0, 3));
}

/* Whoever starts an instance pays for its thread, and uid 0 is not one tenant. */
TEST_F(users, root_of_a_container_cannot_have_another_start_an_instance)
{
	int fd;

	if (module_parameter("workers"))
		SKIP(return, "the module has shared workers");
	if (!enter_cgroup("hwtimer-a/"))
		SKIP(return, "no cgroup (v2) at " CGROUPS);
	set_capabilities(~SYS_RESOURCE);
	fd = dev_open(0);
	EXPECT_LE(0, fd);
	ASSERT_TRUE(enter_cgroup("hwtimer-b/"));
	EXPECT_EQ(-EPERM, try_schedule(fd));
	ASSERT_TRUE(enter_cgroup("hwtimer-a/"));
	EXPECT_EQ(0, try_schedule(fd));
	set_capabilities(ALL_CAPABILITIES);
	EXPECT_EQ(0, close(fd));
	ASSERT_TRUE(enter_cgroup(""));
	EXPECT_TRUE(cgroup_goes(CGROUPS "hwtimer-a"));
	EXPECT_TRUE(cgroup_goes(CGROUPS "hwtimer-b"));
}

/* A cgroup matters only for uid 0: no user gets more by moving to another one. */
TEST_F(users, other_users_are_counted_across_cgroups)
{
	int fds[MANY], err, n;

	if (!enter_cgroup("hwtimer-a/"))
		SKIP(return, "no cgroup (v2) at " CGROUPS);
	become(ALICE);
	n = open_many(fds, MANY, &err);
	EXPECT_EQ(self->instances, n);
	become_root();
	ASSERT_TRUE(enter_cgroup(""));
	become(ALICE);
	EXPECT_EQ(-EMFILE, dev_open(0));
	close_all(_metadata, fds, n);
	become_root();
	EXPECT_EQ(0, rmdir(CGROUPS "hwtimer-a"));
}

/*
 * In a user namespace of @creator: opens instances as several users of the namespace, the
 * limit of a user in all. Exit status: 0, or the number of the check that failed; 100: there is
 * no user namespace. Reads a byte of @go when the users are mapped.
 */
static int open_as_mapped_users(uid_t creator, int instances, int ready, int go)
{
	char byte = 0;
	int i;

	if (syscall(SYS_setresuid, creator, creator, creator))
		return 1;
	if (unshare(CLONE_NEWUSER))
		byte = 1;
	if (write(ready, &byte, 1) != 1)
		return 2;
	if (byte)
		return 100;
	if (read(go, &byte, 1) != 1)
		return 3;
	for (i = 0; i < instances; i++) {
		/* The saved uid 0 of the namespace is the creator's own. */
		if (syscall(SYS_setresuid, 1 + i, 1 + i, 0))
			return 4;
		if (dev_open(0) < 0)
			return 5;
		if (syscall(SYS_setresuid, 0, 0, 0))
			return 6;
	}
	/* Neither the root of the namespace nor a user without an instance */
	if (dev_open(0) != -EMFILE)
		return 7;
	if (syscall(SYS_setresuid, 50, 50, 50) || dev_open(0) != -EMFILE)
		return 8;
	if (write(ready, &byte, 1) != 1)
		return 9;
	pause();
	return 10;
}

/*
 * Starts open_as_mapped_users() in a process, and waits until it has opened instances. @map
 * is the namespace's map of users. Returns the process; 0: there is no user namespace.
 */
static pid_t spawn_mapped(struct __test_metadata *_metadata, uid_t creator,
			  const char *map, int instances)
{
	int ready[2], go[2];
	char path[64], byte = 0;
	pid_t pid;

	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, pipe(go));
	pid = fork();
	if (!pid)
		_exit(open_as_mapped_users(creator, instances, ready[1],
					   go[0]));
	close(ready[1]);
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	if (byte) {
		EXPECT_EQ(100, wait_for_child(pid));
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	ASSERT_TRUE(write_file(path, map));
	ASSERT_EQ(1, write(go[1], &byte, 1));
	ASSERT_EQ(1, read(ready[0], &byte, 1))
	{
		TH_LOG("check %d failed", wait_for_child(pid));
	}
	return pid;
}

TEST_F(users, mapped_users_count_against_the_creator)
{
	pid_t pid = spawn_mapped(_metadata, ALICE, "0 40001 1\n1 500000 100\n",
				 self->instances);
	int fd;

	if (!pid)
		SKIP(return, "this kernel has no user namespaces for users");
	if (accounts_shown()) {
		EXPECT_EQ(self->instances, account_of(ALICE, 3));
		EXPECT_EQ(1, account_of(SUBUIDS, 3));
	}
	become(ALICE);
	EXPECT_EQ(-EMFILE, dev_open(0));
	become_root();
	/* The same uid outside of the namespace is another matter. */
	become(SUBUIDS);
	fd = dev_open(0);
	EXPECT_LE(0, fd);
	EXPECT_EQ(0, close(fd));
	become_root();
	ASSERT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(-SIGKILL, wait_for_child(pid));
	wait_for_no_account(ALICE);
	wait_for_no_account(SUBUIDS);
}

/* Docker's userns-remap: root of the container can become any of its users. */
TEST_F(users, mapped_users_of_a_namespace_of_roots_share_the_limits)
{
	pid_t pid =
		spawn_mapped(_metadata, 0, "0 500000 200\n", self->instances);

	if (!pid)
		SKIP(return, "this kernel has no user namespaces");
	if (accounts_shown())
		EXPECT_EQ(self->instances, account_of(0, 3));
	/* Nobody else is affected. */
	become(ALICE);
	EXPECT_LE(0, dev_open(0));
	become_root();
	ASSERT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(-SIGKILL, wait_for_child(pid));
	wait_for_no_account(SUBUIDS);
}

TEST_F(users, a_descriptor_that_is_passed_stays_the_openers)
{
	int fds[MANY], sockets[2], err, n;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	become(ALICE);
	n = open_many(fds, MANY, &err);
	ASSERT_EQ(self->instances, n);
	/* Before ALICE has started the instance, nobody else can use it. */
	ASSERT_EQ(1, dev_schedule_many(fds[0], 1, 0, 0, NULL));
	become_root();
	EXPECT_EQ(-EPERM, try_schedule(fds[1]));
	pid = fork();
	if (!pid) {
		int fd;

		close_all(_metadata, fds, n);
		become(BOB);
		fd = receive_descriptor(sockets[1]);
		/* BOB's own instance does not count ALICE's timers. */
		if (dev_schedule_many(fd, self->of_one - 1, 0, HOUR, NULL) !=
		    self->of_one - 1)
			_exit(1);
		fd = dev_open(0);
		if (dev_schedule_many(fd, self->of_one, 0, HOUR, NULL) !=
		    self->of_one)
			_exit(2);
		_exit(0);
	}
	ASSERT_EQ(1, send_descriptor(sockets[0], fds[0]));
	EXPECT_EQ(0, wait_for_child(pid));
	become(ALICE);
	EXPECT_EQ(-EMFILE, dev_open(0));
	EXPECT_EQ(self->timers - self->of_one,
		  dev_schedule_many(fds[1], self->of_one, 0, HOUR, NULL));
	EXPECT_EQ(-ENOSPC, try_schedule(fds[1]));
	close_all(_metadata, fds, n);
	wait_for_no_account(ALICE);
	wait_for_no_account(BOB);
}

/* ---- timers ---- */

TEST_F(users, timers_of_all_instances_together_are_limited)
{
	long long left = self->timers - self->of_one;
	int fds[3], err, other;
	__u64 ids[1000];

	ASSERT_GE(1000, self->of_one);
	become(ALICE);
	ASSERT_EQ(3, open_many(fds, 3, &err));
	ASSERT_EQ(self->of_one,
		  dev_schedule_many(fds[0], self->of_one, 0, HOUR, ids));
	EXPECT_EQ(left, dev_schedule_many(fds[1], self->of_one, 0, HOUR, NULL));
	EXPECT_EQ(-ENOSPC, try_schedule(fds[1]));
	EXPECT_EQ(-ENOSPC, try_schedule(fds[2]));
	become_root();
	become(BOB);
	other = dev_open(0);
	EXPECT_EQ(0, try_schedule(other));
	EXPECT_EQ(0, close(other));
	become_root();
	become(ALICE);

	/* What is cancelled can be scheduled elsewhere, but for a few timers. */
	ASSERT_EQ(self->of_one, dev_cancel_many(fds[0], self->of_one, ids));
	left = dev_schedule_many(fds[2], self->of_one, 0, HOUR, NULL);
	EXPECT_LE(self->of_one - kept(self), left);
	EXPECT_EQ(self->of_one - left,
		  dev_schedule_many(fds[0], self->of_one, 0, HOUR, NULL));
	EXPECT_EQ(-ENOSPC, try_schedule(fds[0]));

	/* What is closed can be scheduled elsewhere, to the last timer. */
	ASSERT_EQ(0, close(fds[2]));
	EXPECT_EQ(left, dev_schedule_many(fds[0], self->of_one, 0, HOUR, NULL));
	close_all(_metadata, fds, 2);
	wait_for_no_account(ALICE);
}

TEST_F(users, unread_events_count_and_reading_makes_room)
{
	struct hwtimer_event events[1000];
	int fds[2], err;

	ASSERT_GE(1000, self->of_one);
	become(ALICE);
	ASSERT_EQ(2, open_many(fds, 2, &err));
	ASSERT_EQ(self->of_one,
		  dev_schedule_many(fds[0], self->of_one, 0, 0, NULL));
	ASSERT_TRUE(dev_wait_ready(fds[0], self->of_one));
	EXPECT_EQ(self->timers - self->of_one,
		  dev_schedule_many(fds[1], self->of_one, 0, HOUR, NULL));
	EXPECT_EQ(-ENOSPC, try_schedule(fds[1]));
	ASSERT_EQ(self->of_one, dev_collect(fds[0], events, self->of_one));
	EXPECT_EQ(0, try_schedule(fds[1]));
	close_all(_metadata, fds, 2);
	wait_for_no_account(ALICE);
}

/* ---- memory ---- */

TEST_F(users, memory_beyond_the_limit_is_enomem)
{
	int fd, other;

	ASSERT_GT(8LL * HUGE_BUCKETS, self->memory);
	become(ALICE);
	fd = dev_open(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, dev_setup(fd, 0, HUGE_BUCKETS, 0));
	/* A few timers do not need the whole wheel. */
	EXPECT_EQ(-ENOMEM, dev_whole_wheel(fd));
	EXPECT_EQ(-ENOMEM, try_schedule(fd));
	EXPECT_LT(0, stats_of(fd).pending);
	EXPECT_GT(WHOLE_WHEEL, stats_of(fd).pending);
	become_root();
	other = dev_open(0);
	ASSERT_EQ(0, dev_setup(other, 0, HUGE_BUCKETS, 0));
	/* The limit of timers may end this, but not that of memory. */
	EXPECT_NE(-ENOMEM, dev_whole_wheel(other));
	EXPECT_LT(stats_of(fd).pending, stats_of(other).pending);
	EXPECT_EQ(0, close(other));
	EXPECT_EQ(0, close(fd));
	wait_for_no_account(ALICE);
}

/* ---- the end ---- */

/* Opens and schedules as much as ALICE may, tells @ready, and waits to be killed. */
static void use_up_everything(int instances, int ready)
{
	int fds[MANY], err;

	become(ALICE);
	if (open_many(fds, instances, &err) != instances)
		_exit(1);
	for (int i = 0; i < instances; i++)
		dev_schedule_many(fds[i], 1000, 0, i * HOUR, NULL);
	if (try_schedule(fds[0]) != -ENOSPC || dev_open(0) != -EMFILE)
		_exit(2);
	if (write(ready, "", 1) != 1)
		_exit(3);
	for (;;)
		pause();
}

TEST_F(users, everything_comes_back_after_sigkill)
{
	for (int round = 0; round < 3; round++) {
		int ready[2];
		char byte;
		pid_t pid;

		ASSERT_EQ(0, pipe(ready));
		pid = fork();
		if (!pid)
			use_up_everything(self->instances, ready[1]);
		close(ready[1]);
		ASSERT_EQ(1, read(ready[0], &byte, 1))
		{
			TH_LOG("exit status %d", wait_for_child(pid));
		}
		if (accounts_shown()) {
			EXPECT_EQ(self->instances, account_of(ALICE, 3));
			EXPECT_EQ(self->timers, account_of(ALICE, 4));
		}
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(-SIGKILL, wait_for_child(pid));
		close(ready[0]);
		wait_for_no_account(ALICE);
	}
}

TEST_HARNESS_MAIN
