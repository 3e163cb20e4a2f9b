// SPDX-License-Identifier: GPL-2.0
/*
 * Memory: what a pending timer costs; that the kernel's own count agrees with STATS; that
 * all memory is charged to the memory cgroup and freed again; and that dead entries are
 * bounded.
 */
#include "hwtimer_test.h"

#include <sys/stat.h>

#define CGROUPS "/sys/fs/cgroup/"
#define CGROUP CGROUPS "hwtimer-memory/"

/* Bytes that the kernel may keep in stock for its processors without reporting them */
#define SLACK (2 << 20)

/* So many timers that the rest of the instance's memory hardly counts */
#define MANY 1000000

/* Bytes in chunks that are not full: at most one chunk in each bucket */
#define BUCKETS_MAX (2 << 20)

/* There are fewer dead entries than pending timers plus this. */
#define DEAD_MAX 65536

/* More dead entries than DEAD_MAX, if nothing removed them */
#define ENOUGH (96 * BATCH)

/* Schedules @n timers that spread over the buckets; returns how many were scheduled. */
static unsigned int schedule_spread(int fd, unsigned int n, __u64 over)
{
	struct hwtimer_request requests[BATCH];
	unsigned int done = 0;

	while (done < n) {
		unsigned int count = n - done < BATCH ? n - done : BATCH;
		int ret;

		fill_schedules(requests, count, 0, HOUR, done);
		for (unsigned int i = 0; i < count; i++)
			requests[i].time += (done + i) * 7919ULL % n * over / n;
		ret = dev_submit(fd, requests, count);
		if (ret <= 0)
			break;
		done += ret;
	}
	return done;
}

/* Returns the bytes that an instance for @n timers may have besides the timers' own. */
static __u64 bytes_besides(unsigned int n)
{
	int fd = dev_open(0);
	__u64 bytes = 0;

	if (n < MANY && fd >= 0 && !dev_setup(fd, 0, 0, n) &&
	    !dev_whole_wheel(fd))
		bytes = stats_of(fd).bytes + BUCKETS_MAX;
	close(fd);
	return bytes;
}

TEST_F(hwtimer, at_most_64_bytes_a_pending_timer)
{
	unsigned int n = scaled(MANY);
	__u64 before, bytes;

	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, n));
	before = stats_of(self->fd).bytes;
	ASSERT_EQ(n, schedule_spread(self->fd, n, 5 * SEC));
	bytes = stats_of(self->fd).bytes - before;
	TH_LOG("%.1f bytes a timer at %u over 5 s", (double)bytes / n, n);
	EXPECT_GE(64ULL * n + bytes_besides(n), bytes);
}

TEST_F(hwtimer, at_most_64_bytes_a_timer_in_one_tick)
{
	unsigned int n = scaled(MANY);
	__u64 bytes;

	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, n));
	ASSERT_EQ(n, dev_schedule_many(self->fd, n, HWTIMER_REQ_ABSTIME,
				       now_ns() + HOUR, NULL));
	bytes = stats_of(self->fd).bytes;
	TH_LOG("%.1f bytes a timer at %u in a tick", (double)bytes / n, n);
	EXPECT_GE(64ULL * n + bytes_besides(n), bytes);
}

/* The most that an instance with 4 timers may take, where a page has 4 KB */
#define FEW 4
#define FEW_BYTES (16 << 10)

/* An instance with a few timers takes little, whatever its settings are. */
TEST_F(hwtimer, at_most_16_kilobytes_with_4_timers)
{
	static const struct {
		__u32 nr;
		clockid_t id;
	} clocks[] = {
		{ HWTIMER_CLOCK_MONOTONIC, CLOCK_MONOTONIC },
		{ HWTIMER_CLOCK_BOOTTIME, CLOCK_BOOTTIME },
		{ HWTIMER_CLOCK_REALTIME, CLOCK_REALTIME },
		{ HWTIMER_CLOCK_TAI, CLOCK_TAI },
	};
	const __u64 pages = FEW_BYTES - 4096 + sysconf(_SC_PAGESIZE);

	for (unsigned int i = 0; i < 4 * 2; i++) {
		const struct hwtimer_setup setup = {
			.clock = clocks[i % 4].nr,
		};
		int fd = dev_open(O_NONBLOCK);

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, dev_setup_as(fd, setup));
		for (unsigned int k = 0; k < FEW; k++) {
			const struct hwtimer_request timer = {
				.flags = HWTIMER_REQ_ABSTIME,
				.time = clock_ns(clocks[i % 4].id) +
					k * 100 * MS,
				.interval = i < 4 ? 0 : MS,
			};

			ASSERT_NE(0, dev_add(fd, timer));
		}
		ASSERT_TRUE(dev_wait_ready(fd, 1));
		EXPECT_GE(pages, stats_of(fd).bytes_peak);
		if (i % 8 == 0)
			TH_LOG("%llu bytes with %u timers%s",
			       (unsigned long long)stats_of(fd).bytes_peak, FEW,
			       i ? ", which are periodic" : "");
		ASSERT_EQ(0, close(fd));
	}
}

static long long charged(void)
{
	return number_after(CGROUP "memory.current", "");
}

/* A memory cgroup with the test in it */
FIXTURE(cgroup)
{
	long long before; /* bytes charged when the test begins */
};

FIXTURE_SETUP(cgroup)
{
	/* The memory that the test touches must not be charged later. */
	ASSERT_EQ(0, mlockall(MCL_CURRENT));
	write_file(CGROUPS "cgroup.subtree_control", "+memory");
	mkdir(CGROUP, 0755);
	if (access(CGROUP "memory.current", R_OK) ||
	    !write_file(CGROUP "cgroup.procs", "0"))
		SKIP(return, "no memory cgroup (v2) at " CGROUPS);
	self->before = charged();
	ASSERT_LE(0, self->before);
}

FIXTURE_TEARDOWN(cgroup)
{
	EXPECT_TRUE(write_file(CGROUPS "cgroup.procs", "0"));
	EXPECT_EQ(0, rmdir(CGROUP));
}

/*
 * Whether objects of the kernel's allocator are larger than those who allocate them know:
 * under KASAN, where the tests run with fewer timers, or with slub_debug=Z.
 */
static bool objects_have_red_zones(void)
{
	char digit = '0';
	int fd = open("/sys/kernel/slab/kmalloc-64/red_zone", O_RDONLY);

	if (fd >= 0) {
		if (read(fd, &digit, 1) != 1)
			digit = '0';
		close(fd);
	}
	return digit == '1' || scaled(2) < 2;
}

/* Returns the largest charge for memory that STATS reports as @bytes. */
static long long charge_max(long long bytes)
{
	if (objects_have_red_zones())
		return 2 * bytes + SLACK;
	return bytes + bytes / 20 + SLACK;
}

TEST_F(cgroup, is_charged_for_all_of_it_and_gets_all_back)
{
	unsigned int n = scaled(1000000);
	long long during, bytes;
	int fd;

	fd = dev_open(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, dev_setup(fd, 0, 0, n));
	ASSERT_EQ(n, schedule_spread(fd, n, 5 * SEC));
	during = charged();
	bytes = stats_of(fd).bytes;
	TH_LOG("%lld bytes by STATS, %lld by the cgroup", bytes,
	       during - self->before);
	EXPECT_LE(bytes - bytes / 20 - SLACK, during - self->before);
	EXPECT_GE(charge_max(bytes), during - self->before);
	ASSERT_EQ(0, close(fd));
	while (charged() > self->before + SLACK)
		sleep_ns(10 * MS);
}

TEST_F(cgroup, is_charged_for_unread_events)
{
	unsigned int n = scaled(200000);
	long long now, bytes;
	int fd;

	fd = dev_open(0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, dev_setup(fd, 0, 0, n));
	ASSERT_EQ(n, dev_schedule_many(fd, n, 0, 0, NULL));
	ASSERT_TRUE(dev_wait_ready(fd, n));
	/* Meanwhile the worker may free some. */
	do {
		bytes = stats_of(fd).bytes;
		now = charged();
	} while ((long long)stats_of(fd).bytes != bytes);
	EXPECT_LE(bytes - bytes / 20 - SLACK, now - self->before);
	EXPECT_GE(charge_max(bytes), now - self->before);
	ASSERT_EQ(0, close(fd));
}

/* The cgroup's limit in bytes, and more instances than it has room for */
#define CGROUP_MAX "33554432"
#define MAPPINGS_MAX 64

/* Schedules timers in one instance after another. Exits with 0 after ENOMEM. */
static void schedule_until_it_fails(void)
{
	/* The program's own memory must be there before the limit is reached. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		_exit(1);
	for (unsigned int i = 0; i < MAPPINGS_MAX; i++) {
		struct hwtimer_request requests[BATCH];
		int fd = dev_open(0), ret;

		if (fd < 0)
			_exit(errno == ENOMEM ? 0 : 2);
		do {
			fill_schedules(requests, BATCH, 0, HOUR, 0);
			ret = dev_submit(fd, requests, BATCH);
			if (ret == -ENOMEM)
				_exit(0);
			for (int j = 0; j < ret; j++)
				if (requests[j].result == -ENOMEM)
					_exit(0);
		} while (ret > 0 && requests[ret - 1].result == 0);
	}
	_exit(3);
}

/* Runs @run in a child whose cgroup has little memory; returns as wait_for_child(). */
static int run_in_little_memory(struct __test_metadata *_metadata,
				void (*run)(void))
{
	int result;
	pid_t pid;

	ASSERT_TRUE(write_file(CGROUP "memory.max", CGROUP_MAX));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		/* If the OOM killer kills a process, then the child, not the test. */
		write_file("/proc/self/oom_score_adj", "1000");
		run();
	}
	result = wait_for_child(pid);
	EXPECT_TRUE(write_file(CGROUP "memory.max", "max"));
	return result;
}

/* A program with too many timers gets ENOMEM; the cgroup's OOM killer kills nobody. */
TEST_F(cgroup, refuses_timers_and_kills_nobody)
{
	EXPECT_EQ(0, run_in_little_memory(_metadata, schedule_until_it_fails));
	EXPECT_EQ(0, number_after(CGROUP "memory.events", "oom_kill "));
	EXPECT_LT(0, number_after(CGROUP "memory.events", "max "));
}

/* Schedules and cancels @n timers, 256 at a time; checks the bound on dead entries. */
static void schedule_and_cancel(struct __test_metadata *_metadata, int fd,
				unsigned int n, __u64 delay)
{
	__u64 ids[256];

	for (unsigned int done = 0; done < n; done += 256) {
		ASSERT_EQ(256, dev_schedule_many(fd, 256, 0, delay + done * US,
						 ids));
		ASSERT_EQ(256, dev_cancel_many(fd, 256, ids));
		ASSERT_GT(told(fd, "pending") + DEAD_MAX, told(fd, "dead"));
	}
}

TEST_F(hwtimer, dead_entries_are_bounded)
{
	__u64 peak;

	schedule_and_cancel(_metadata, self->fd, ENOUGH, HOUR);
	peak = stats_of(self->fd).bytes_peak;
	schedule_and_cancel(_metadata, self->fd, ENOUGH, HOUR);
	EXPECT_LT(0, told(self->fd, "compactions"));
	EXPECT_GE(peak + peak / 4, stats_of(self->fd).bytes_peak);
}

TEST_F(hwtimer, dead_entries_among_pending_timers_are_bounded)
{
	ASSERT_EQ(1000, dev_schedule_many(self->fd, 1000, 0, HOUR, NULL));
	schedule_and_cancel(_metadata, self->fd, ENOUGH, HOUR);
	EXPECT_LT(0, told(self->fd, "compactions"));
	EXPECT_EQ(1000, stats_of(self->fd).pending);
}

TEST_F(hwtimer, entries_of_rescheduled_timers_are_bounded)
{
	struct hwtimer_request requests[BATCH];
	__u64 ids[BATCH];

	/* Each earlier deadline leaves a dead entry behind. */
	ASSERT_EQ(BATCH, dev_schedule_many(self->fd, BATCH, 0, 2 * HOUR, ids));
	for (unsigned int done = 0; done < ENOUGH; done += BATCH) {
		for (unsigned int i = 0; i < BATCH; i++) {
			requests[i] = (struct hwtimer_request){
				.op = HWTIMER_OP_RESCHEDULE,
				.id = ids[i],
				.time = 2 * HOUR - done * MS,
			};
		}
		ASSERT_EQ(BATCH, dev_submit(self->fd, requests, BATCH));
		ASSERT_EQ(BATCH, told(self->fd, "pending"));
		ASSERT_GT(BATCH + DEAD_MAX, told(self->fd, "dead"));
	}
	EXPECT_EQ(ENOUGH, stats_of(self->fd).rescheduled);
}

TEST_F(hwtimer, memory_is_used_again)
{
	unsigned int n = scaled(100000);
	__u64 *ids = calloc(n, sizeof(*ids)), full, first;

	ASSERT_NE(NULL, ids);
	first = stats_of(self->fd).bytes;
	ASSERT_EQ(n, dev_schedule_many(self->fd, n, 0, HOUR, ids));
	full = stats_of(self->fd).bytes;
	for (unsigned int round = 0; round < 3; round++) {
		ASSERT_EQ(n, dev_cancel_many(self->fd, n, ids));
		ASSERT_EQ(n, dev_schedule_many(self->fd, n, 0, HOUR, ids));
	}
	/* Records are used again, and dead entries are bounded. */
	EXPECT_GE(full + (full - first) + DEAD_MAX * 16,
		  stats_of(self->fd).bytes_peak);
}

/*
 * Waits for less than @bytes: the worker frees memory that was not needed for a second.
 */
static void await_less(int fd, __u64 bytes)
{
	while (stats_of(fd).bytes > bytes)
		sleep_ns(50 * MS);
}

/*
 * Schedules @n timers that are all pending before they expire; returns the peak in bytes.
 */
static __u64 schedule_to_expire(struct __test_metadata *_metadata, int fd,
				unsigned int n)
{
	struct hwtimer_request *requests = calloc(n, sizeof(*requests));

	ASSERT_NE(NULL, requests);
	fill_schedules(requests, n, 0, 0, 0);
	schedule_in_time(_metadata, fd, CLOCK_MONOTONIC, requests, n, 200 * MS);
	free(requests);
	return stats_of(fd).bytes_peak;
}

TEST_F(hwtimer, entries_and_events_are_given_back)
{
	unsigned int n = scaled(200000);
	__u64 full = schedule_to_expire(_metadata, self->fd, n);

	ASSERT_EQ(n, dev_discard_events(self->fd, n));
	await_less(self->fd, full - 8ULL * n);
}

TEST_F(hwtimer, stop_does_not_keep_what_is_to_be_given_back)
{
	unsigned int n = scaled(200000);
	__u64 full = schedule_to_expire(_metadata, self->fd, n);

	ASSERT_EQ(n, dev_discard_events(self->fd, n));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	await_less(self->fd, full - 8ULL * n);
}

TEST_HARNESS_MAIN
