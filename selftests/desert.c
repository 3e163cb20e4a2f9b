// SPDX-License-Identifier: GPL-2.0
/*
 * An instance outlives the cgroup of its owner. When no process is left there, the workers
 * leave the cgroup, and the instance waits for a process that adopts it.
 *
 * Each test makes cgroups below that of the test itself, which is mostly the root. The
 * owner is a child in a cgroup of its own, which SIGKILL ends.
 */
#include "hwtimer_test.h"

#include <grp.h>
#include <linux/io_uring.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define CGROUPS "/sys/fs/cgroup/"
#define THREADS_MAX "/proc/sys/kernel/threads-max"
#define OWNER "hwtimer-owner"
#define HEIR "hwtimer-heir"

#define USER 4711

/* ---- cgroups ---- */

static void cgroup_file(char *path, size_t size, const char *cgroup,
			const char *file)
{
	snprintf(path, size, CGROUPS "%s/%s", cgroup, file);
}

static bool cgroup_make(const char *cgroup)
{
	char path[128];

	cgroup_file(path, sizeof(path), cgroup, "");
	return !mkdir(path, 0755) || errno == EEXIST;
}

static bool cgroup_join(const char *cgroup)
{
	char path[128];

	cgroup_file(path, sizeof(path), cgroup, "cgroup.procs");
	return write_file(path, "0");
}

static bool is_populated(const char *cgroup)
{
	char path[128];

	cgroup_file(path, sizeof(path), cgroup, "cgroup.events");
	return number_after(path, "populated ") == 1;
}

/* Waits until the cgroup is empty; then it can be removed. */
static bool is_removed(const char *cgroup)
{
	char path[128];

	while (is_populated(cgroup))
		sleep_ns(MS);
	cgroup_file(path, sizeof(path), cgroup, "");
	return !rmdir(path);
}

/* ---- processes ---- */

/* The thread that serves @fd, 0: none. */
static long long worker_of(int fd)
{
	return told(fd, "worker");
}

/* Whether a thread is in @cgroup. */
static bool is_in(long long pid, const char *cgroup)
{
	char path[64], line[256] = "";
	const char *name;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%lld/cgroup", pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	/* "0::/" and the path, in a line of its own */
	while (fgets(line, sizeof(line), file) && strncmp(line, "0::", 3))
		;
	fclose(file);
	line[strcspn(line, "\n")] = 0;
	name = strrchr(line, '/');
	return name && !strcmp(name + 1, cgroup);
}

/* What a process of the tests shares with its parent: where it is. */
struct stage {
	int begun[2];
	pid_t pid;
};

static void stage_say(struct stage *stage)
{
	if (write(stage->begun[1], "", 1) != 1)
		_exit(90);
}

static void stage_hear(struct __test_metadata *_metadata, struct stage *stage)
{
	char byte;

	ASSERT_EQ(1, read(stage->begun[0], &byte, 1));
}

/* Forks. The child is in @cgroup, and dies with its parent. Returns what fork() does. */
static pid_t stage_fork(struct __test_metadata *_metadata, struct stage *stage,
			const char *cgroup)
{
	ASSERT_EQ(0, pipe(stage->begun));
	stage->pid = fork();
	ASSERT_LE(0, stage->pid);
	if (stage->pid) {
		/* If the child ends early, stage_hear() sees that. */
		close(stage->begun[1]);
		return stage->pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!cgroup_join(cgroup))
		_exit(91);
	return 0;
}

/*
 * In a child that is to be killed: waits until its worker may leave at once, which is 0.1 s
 * after it has been created.
 */
static void stage_settle(void)
{
	sleep_ns(110 * MS);
}

/* The end of a child that has done its part: it waits to be killed. */
static void stage_wait(struct stage *stage)
{
	stage_say(stage);
	for (;;)
		pause();
}

static void stage_kill(struct stage *stage)
{
	int status;

	kill(stage->pid, SIGKILL);
	waitpid(stage->pid, &status, 0);
	close(stage->begun[0]);
}

/* The exit status of a child that ends itself. */
static int stage_end(struct stage *stage)
{
	int status = -1;

	waitpid(stage->pid, &status, 0);
	close(stage->begun[0]);
	return status;
}

static void wait_until_deserted(int fd)
{
	while (worker_of(fd))
		sleep_ns(MS);
}

/* Makes this process one of an ordinary user. */
static void become(uid_t uid)
{
	if (setgroups(0, NULL) || setgid(uid) || setuid(uid))
		_exit(99);
}

/* ---- the fixture ---- */

FIXTURE(desert)
{
	int fd;
	struct stage owner;
	struct stage heir;
};

FIXTURE_SETUP(desert)
{
	if (access(CGROUPS "cgroup.controllers", R_OK))
		SKIP(return, "there is no cgroup of version 2");
	if (module_parameter("workers"))
		SKIP(return, "the module has shared workers");
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_TRUE(cgroup_make(OWNER));
	ASSERT_TRUE(cgroup_make(HEIR));
}

FIXTURE_TEARDOWN(desert)
{
	close(self->fd);
	is_removed(OWNER);
	is_removed(HEIR);
}

/* Starts an owner who gives the instance @count timers, one each ms, and keeps it. */
static void owner_begin(struct __test_metadata *_metadata, struct stage *owner,
			int fd, unsigned int count, __u64 delay)
{
	if (!stage_fork(_metadata, owner, OWNER)) {
		for (unsigned int i = 0; i < count; i++)
			if (!dev_after(fd, delay + i * MS, i))
				_exit(92);
		stage_wait(owner);
	}
	stage_hear(_metadata, owner);
}

/* Has an owner schedule timers and die; the instance is deserted then. */
static void desert(struct __test_metadata *_metadata, struct stage *owner,
		   int fd, unsigned int count, __u64 delay)
{
	owner_begin(_metadata, owner, fd, count, delay);
	EXPECT_LT(0, worker_of(fd));
	stage_kill(owner);
	wait_until_deserted(fd);
}

/*
 * Reads @count events, which carry the numbers from 0 on, in this order and not early.
 * Adopts the instance if need be.
 */
static void read_all(struct __test_metadata *_metadata, int fd,
		     unsigned int count)
{
	struct hwtimer_event events[16];
	unsigned int got = 0;

	while (got < count) {
		ssize_t bytes = read(fd, events, sizeof(events));

		if (bytes < 0 && errno == EAGAIN) {
			ASSERT_EQ(POLLIN, dev_poll(fd, POLLIN, -1));
			continue;
		}
		ASSERT_LT(0, bytes);
		for (size_t i = 0; i < bytes / sizeof(*events); i++) {
			EXPECT_EQ(got++, events[i].user_data);
			EXPECT_GE(now_ns(), events[i].deadline);
		}
	}
}

/* ---- the cgroup ---- */

TEST_F(desert, lets_the_cgroup_go)
{
	struct hwtimer_stats stats;

	desert(_metadata, &self->owner, self->fd, 3, HOUR);
	EXPECT_TRUE(is_removed(OWNER));
	EXPECT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(3, stats.pending);
}

/* An owner that has only called SETUP. The heir's timers work. */
TEST_F(desert, comes_before_the_first_timer)
{
	struct hwtimer_setup setup = { .clock = CLOCK_MONOTONIC };

	if (!stage_fork(_metadata, &self->owner, OWNER)) {
		if (dev_setup_as(self->fd, setup))
			_exit(92);
		stage_wait(&self->owner);
	}
	stage_hear(_metadata, &self->owner);
	stage_kill(&self->owner);
	EXPECT_TRUE(is_removed(OWNER));
	EXPECT_EQ(0, worker_of(self->fd));
	ASSERT_NE(0, dev_after(self->fd, MS, 0));
	read_all(_metadata, self->fd, 1);
}

/* A process without the descriptor is enough to keep the workers. */
TEST_F(desert, waits_for_the_last_process)
{
	long long worker;

	owner_begin(_metadata, &self->owner, self->fd, 3, 600 * MS);
	if (!stage_fork(_metadata, &self->heir, OWNER)) {
		close(self->fd);
		stage_wait(&self->heir);
	}
	stage_hear(_metadata, &self->heir);
	worker = worker_of(self->fd);
	stage_kill(&self->owner);
	/* Events come; nobody has to adopt the instance for that. */
	sleep_ns(SEC);
	EXPECT_EQ(worker, worker_of(self->fd));
	read_all(_metadata, self->fd, 3);
	EXPECT_TRUE(is_in(worker, OWNER));
	stage_kill(&self->heir);
	EXPECT_TRUE(is_removed(OWNER));
	EXPECT_EQ(0, worker_of(self->fd));
}

/* An owner may pass the descriptor on and close it, and end later. */
TEST_F(desert, comes_after_the_owner_has_closed_it)
{
	if (!stage_fork(_metadata, &self->owner, OWNER)) {
		if (!dev_after(self->fd, HOUR, 0))
			_exit(92);
		close(self->fd);
		stage_wait(&self->owner);
	}
	stage_hear(_metadata, &self->owner);
	sleep_ns(100 * MS);
	EXPECT_LT(0, worker_of(self->fd));
	stage_kill(&self->owner);
	EXPECT_TRUE(is_removed(OWNER));
}

/*
 * An owner may end without closing anything: here it shares its table of descriptors with
 * another process.
 */
TEST_F(desert, comes_without_a_close)
{
	pid_t pid;
	int status;

	/* As fork(), and what it does below is as simple as in a child of vfork(). */
	pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (!pid) {
		if (!cgroup_join(OWNER))
			_exit(91);
		if (!dev_after(self->fd, HOUR, 0))
			_exit(92);
		_exit(0);
	}
	ASSERT_LT(0, pid);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	EXPECT_TRUE(is_removed(OWNER));
	EXPECT_EQ(0, worker_of(self->fd));
}

/* While others let go of descriptors, an owner that lives keeps its worker. */
TEST_F(desert, does_not_come_while_the_owner_lives)
{
	long long worker;

	owner_begin(_metadata, &self->owner, self->fd, 1, HOUR);
	worker = worker_of(self->fd);
	for (int i = 0; i < 20; i++) {
		int copy = dup(self->fd);

		if (!stage_fork(_metadata, &self->heir, i % 2 ? OWNER : HEIR))
			_exit(0);
		EXPECT_EQ(0, stage_end(&self->heir));
		EXPECT_EQ(0, close(copy));
	}
	sleep_ns(100 * MS);
	EXPECT_EQ(worker, worker_of(self->fd));
	stage_kill(&self->owner);
	EXPECT_TRUE(is_removed(OWNER));
}

static bool cgroup_take(const char *cgroup, long long pid)
{
	char path[128], text[32];

	cgroup_file(path, sizeof(path), cgroup, "cgroup.procs");
	snprintf(text, sizeof(text), "%lld", pid);
	return write_file(path, text);
}

/* So does one whose worker an administrator has moved to where nobody is. */
TEST_F(desert, does_not_come_when_the_worker_is_moved)
{
	long long worker;

	owner_begin(_metadata, &self->owner, self->fd, 1, HOUR);
	worker = worker_of(self->fd);
	ASSERT_TRUE(cgroup_take(HEIR, worker));
	/* A process that ends makes the worker look. */
	if (!stage_fork(_metadata, &self->heir, OWNER))
		_exit(0);
	EXPECT_EQ(0, stage_end(&self->heir));
	sleep_ns(500 * MS);
	EXPECT_EQ(worker, worker_of(self->fd));
	/* Back again, it leaves as others do. */
	ASSERT_TRUE(cgroup_take(OWNER, worker));
	stage_kill(&self->owner);
	EXPECT_TRUE(is_removed(OWNER));
}

/* Many instances leave together, those of two users, too. */
TEST_F(desert, takes_all_instances_of_the_cgroup)
{
	int i, fds[100];

	for (i = 0; i < 100; i++) {
		fds[i] = dev_open(O_NONBLOCK);
		ASSERT_LE(0, fds[i]);
	}
	owner_begin(_metadata, &self->owner, fds[0], 1, HOUR);
	if (!stage_fork(_metadata, &self->heir, OWNER)) {
		for (i = 1; i < 99; i++)
			if (!dev_after(fds[i], HOUR, 0))
				_exit(92);
		become(USER);
		if (!dev_after(fds[99], HOUR, 0))
			_exit(93);
		stage_wait(&self->heir);
	}
	stage_hear(_metadata, &self->heir);
	stage_kill(&self->heir);
	stage_kill(&self->owner);
	EXPECT_TRUE(is_removed(OWNER));
	for (i = 0; i < 100; i++) {
		EXPECT_EQ(0, worker_of(fds[i]));
		EXPECT_EQ(0, close(fds[i]));
	}
}

/* Processes that come and die at once do not make as many threads. */
TEST_F(desert, takes_its_time)
{
	__u64 begin = now_ns();

	desert(_metadata, &self->owner, self->fd, 1, HOUR);
	EXPECT_LE(100 * MS, now_ns() - begin);
}

/* ---- who adopts, and who does not ---- */

TEST_F(desert, nothing_expires_at_nobodys_expense)
{
	struct hwtimer_query query;
	struct hwtimer_stats stats;
	struct hwtimer_info info;

	desert(_metadata, &self->owner, self->fd, 10, 600 * MS);
	sleep_ns(SEC);
	/* Whoever only looks does not pay. */
	memset(&query, 0, sizeof(query));
	query.id = 12345;
	EXPECT_EQ(-ENOENT, dev_query(self->fd, 12345, &query));
	EXPECT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(0, worker_of(self->fd));
	EXPECT_EQ(10, stats.pending);
	EXPECT_EQ(0, stats.expired);
	read_all(_metadata, self->fd, 10);
}

TEST_F(desert, ends_with_read)
{
	desert(_metadata, &self->owner, self->fd, 10, 600 * MS);
	read_all(_metadata, self->fd, 10);
	EXPECT_LT(0, worker_of(self->fd));
}

/* A service manager waits for EPOLLHUP and EPOLLERR only: it does not have to pay. */
TEST_F(desert, goes_on_for_whom_events_do_not_matter)
{
	struct epoll_event event = { .events = 0 };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	ASSERT_LE(0, epoll);
	owner_begin(_metadata, &self->owner, self->fd, 1, 100 * MS);
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, self->fd, &event));
	stage_kill(&self->owner);
	wait_until_deserted(self->fd);
	EXPECT_EQ(0, epoll_wait(epoll, &event, 1, 300));
	EXPECT_EQ(0, dev_poll(self->fd, 0, 100));
	EXPECT_EQ(0, dev_poll(self->fd, POLLOUT, 100));
	EXPECT_EQ(0, worker_of(self->fd));
	/* It may change its mind. */
	event.events = EPOLLIN;
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_MOD, self->fd, &event));
	EXPECT_LT(0, worker_of(self->fd));
	EXPECT_EQ(1, epoll_wait(epoll, &event, 1, -1));
	EXPECT_EQ(EPOLLIN, event.events);
	close(epoll);
}

TEST_F(desert, ends_with_poll)
{
	desert(_metadata, &self->owner, self->fd, 1, HOUR);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
	EXPECT_LT(0, worker_of(self->fd));
}

/* To adopt takes milliseconds. A reader that must not wait leaves that to poll(). */
TEST_F(desert, goes_on_for_whom_does_not_wait)
{
	struct hwtimer_event event;
	struct iovec buffer = { .iov_base = &event, .iov_len = sizeof(event) };
	int flags = fcntl(self->fd, F_GETFL);

	desert(_metadata, &self->owner, self->fd, 1, 600 * MS);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(-EAGAIN, result_of(preadv2(self->fd, &buffer, 1, -1,
						     RWF_NOWAIT)));
		EXPECT_EQ(0, worker_of(self->fd));
		/* Once more, and the descriptor waits. */
		ASSERT_EQ(0, fcntl(self->fd, F_SETFL, flags & ~O_NONBLOCK));
	}
	ASSERT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	EXPECT_LT(0, worker_of(self->fd));
	EXPECT_EQ(sizeof(event),
		  result_of(preadv2(self->fd, &buffer, 1, -1, RWF_NOWAIT)));
}

/* A ring of io_uring for one request. All offsets are those of the kernel. */
struct uring {
	struct io_uring_params params;
	struct io_uring_sqe *sqes;
	char *rings;
	int fd;
};

static void *uring_map(const struct uring *uring, size_t bytes, __u64 offset)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_POPULATE, uring->fd, offset);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

static bool uring_begin(struct uring *uring)
{
	memset(uring, 0, sizeof(*uring));
	uring->fd = syscall(SYS_io_uring_setup, 1, &uring->params);
	if (uring->fd < 0)
		return false;
	/* The completions are behind the submissions. */
	uring->rings = uring_map(uring,
				 uring->params.cq_off.cqes +
					 uring->params.cq_entries *
						 sizeof(struct io_uring_cqe),
				 IORING_OFF_SQ_RING);
	uring->sqes = uring_map(uring, sizeof(*uring->sqes), IORING_OFF_SQES);
	return true;
}

/* Submits a read of one event, and does not wait for it. */
static int uring_read(struct uring *uring, int fd, struct hwtimer_event *event)
{
	const struct io_sqring_offsets *offsets = &uring->params.sq_off;

	*uring->sqes = (struct io_uring_sqe){
		.opcode = IORING_OP_READ,
		.fd = fd,
		.off = -1,
		.addr = (uintptr_t)event,
		.len = sizeof(*event),
	};
	*(__u32 *)(uring->rings + offsets->array) = 0;
	__atomic_add_fetch((__u32 *)(uring->rings + offsets->tail), 1,
			   __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, uring->fd, 1, 0, 0, NULL, 0);
}

/* Waits for the request; returns its result. */
static int uring_result(struct uring *uring)
{
	const struct io_cqring_offsets *offsets = &uring->params.cq_off;
	const struct io_uring_cqe *cqes =
		(void *)(uring->rings + offsets->cqes);
	__u32 *head = (__u32 *)(uring->rings + offsets->head);
	int result;

	if (syscall(SYS_io_uring_enter, uring->fd, 0, 1, IORING_ENTER_GETEVENTS,
		    NULL, 0) < 0)
		return -errno;
	result = cqes[*head & (uring->params.cq_entries - 1)].res;
	__atomic_add_fetch(head, 1, __ATOMIC_RELEASE);
	return result;
}

/* io_uring reads without waiting, and polls: that adopts the instance. */
TEST_F(desert, ends_with_a_read_of_io_uring)
{
	struct hwtimer_event event;
	struct uring uring;

	if (!uring_begin(&uring))
		SKIP(return, "this kernel has no io_uring");
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL,
			   fcntl(self->fd, F_GETFL) & ~O_NONBLOCK));
	/* The read comes after the owner has gone. */
	desert(_metadata, &self->owner, self->fd, 1, 300 * MS);
	ASSERT_EQ(1, uring_read(&uring, self->fd, &event));
	EXPECT_EQ(sizeof(event), uring_result(&uring));
	EXPECT_EQ(0, event.user_data);
	EXPECT_LT(0, worker_of(self->fd));
	/* The read waits while the owner goes. */
	close(self->fd);
	self->fd = dev_open(0);
	ASSERT_LE(0, self->fd);
	owner_begin(_metadata, &self->owner, self->fd, 1, 600 * MS);
	ASSERT_EQ(1, uring_read(&uring, self->fd, &event));
	stage_kill(&self->owner);
	EXPECT_EQ(sizeof(event), uring_result(&uring));
	close(uring.fd);
}

/* Whoever changes something adopts the instance; each call in turn, after a desertion. */
TEST_F(desert, ends_with_a_call)
{
	struct hwtimer_bulk_timer timer = { .time = HOUR };
	struct hwtimer_request request = { .op = HWTIMER_OP_SCHEDULE,
					   .time = HOUR };
	__u64 id, result;
	int call;

	for (call = 0; call < 6; call++) {
		/* The test itself has become the owner, and lives on. */
		ASSERT_TRUE(dev_renew(&self->fd));
		desert(_metadata, &self->owner, self->fd, 1, HOUR);
		switch (call) {
		case 0:
			EXPECT_EQ(0, dev_schedule(self->fd, 0, HOUR, 0, &id));
			break;
		case 1:
			EXPECT_EQ(-ENOENT,
				  dev_reschedule(self->fd, 12345, 0, HOUR));
			break;
		case 2:
			EXPECT_EQ(1, dev_submit(self->fd, &request, 1));
			break;
		case 3:
			EXPECT_EQ(1, dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, 0,
					      &timer, &result, 1));
			break;
		case 4:
			EXPECT_EQ(0, dev_notify(self->fd, 1, 0));
			break;
		case 5:
			EXPECT_EQ(-EAGAIN,
				  dev_read(self->fd, &(struct hwtimer_event){},
					   1));
			break;
		}
		EXPECT_LT(0, worker_of(self->fd));
	}
}

/*
 * Where the machine has too many threads, read() says so. It does not say EAGAIN, at which
 * a program waits for poll() to be ready, as it is.
 */
TEST_F(desert, is_told_from_having_no_event)
{
	struct stage others[20];
	char limit[32];
	int i;

	snprintf(limit, sizeof(limit), "%lld", number_after(THREADS_MAX, ""));
	desert(_metadata, &self->owner, self->fd, 1, 600 * MS);
	/* The kernel accepts no lower limit than 20. */
	for (i = 0; i < 20; i++)
		if (!stage_fork(_metadata, &others[i], HEIR))
			stage_wait(&others[i]);
	if (!write_file(THREADS_MAX, "20"))
		SKIP(return, "the number of threads cannot be limited");
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	EXPECT_EQ(-EUSERS, dev_read(self->fd, &(struct hwtimer_event){}, 1));
	EXPECT_EQ(0, dev_after(self->fd, HOUR, 0));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_TRUE(write_file(THREADS_MAX, limit));
	for (i = 0; i < 20; i++)
		stage_kill(&others[i]);
	EXPECT_EQ(0, worker_of(self->fd));
	read_all(_metadata, self->fd, 1);
}

/* CANCEL, STOP and close() need no worker. */
TEST_F(desert, goes_on_for_whom_ends_timers)
{
	struct hwtimer_unprocessed timers[4];
	__u64 left;

	desert(_metadata, &self->owner, self->fd, 3, HOUR);
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, 12345, 0));
	EXPECT_EQ(3, dev_stop(self->fd, timers, 4, &left));
	EXPECT_EQ(0, left);
	EXPECT_EQ(POLLHUP, dev_poll(self->fd, POLLIN, -1));
	EXPECT_EQ(0, dev_read(self->fd, &(struct hwtimer_event){}, 1));
	EXPECT_EQ(0, dev_after(self->fd, HOUR, 0));
	EXPECT_EQ(ESHUTDOWN, errno);
}

/* A new worker belongs to the heir, and is in its cgroup. */
TEST_F(desert, makes_the_heir_pay)
{
	desert(_metadata, &self->owner, self->fd, 10, 600 * MS);
	EXPECT_TRUE(is_removed(OWNER));
	if (!stage_fork(_metadata, &self->heir, HEIR)) {
		if (dev_poll(self->fd, POLLIN, -1) != POLLIN)
			_exit(93);
		stage_wait(&self->heir);
	}
	stage_hear(_metadata, &self->heir);
	EXPECT_TRUE(is_in(worker_of(self->fd), HEIR));
	/* The second owner goes as the first one did. */
	stage_kill(&self->heir);
	EXPECT_TRUE(is_removed(HEIR));
	EXPECT_EQ(0, worker_of(self->fd));
	read_all(_metadata, self->fd, 10);
}

/* An instance whose owner lives does not move. */
TEST_F(desert, is_not_where_the_owner_lives)
{
	long long worker;

	owner_begin(_metadata, &self->owner, self->fd, 10, 600 * MS);
	worker = worker_of(self->fd);
	read_all(_metadata, self->fd, 10);
	EXPECT_NE(0, dev_after(self->fd, HOUR, 0));
	EXPECT_EQ(worker, worker_of(self->fd));
	stage_kill(&self->owner);
}

/*
 * Others than the user who opened the instance must not be made to pay, and learn why they
 * get no events. The user's next process adopts it.
 */
TEST_F(desert, leaves_the_instance_to_its_user)
{
	struct stat device;

	ASSERT_EQ(0, stat(DEVICE, &device));
	ASSERT_EQ(0, chmod(DEVICE, 0666));
	close(self->fd);
	ASSERT_EQ(0, syscall(SYS_setresuid, USER, USER, 0));
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_EQ(0, syscall(SYS_setresuid, 0, 0, 0));
	ASSERT_EQ(0, chmod(DEVICE, device.st_mode & 07777));
	ASSERT_LE(0, self->fd);
	if (!stage_fork(_metadata, &self->owner, OWNER)) {
		become(USER);
		if (!dev_after(self->fd, 600 * MS, 0))
			_exit(92);
		stage_wait(&self->owner);
	}
	stage_hear(_metadata, &self->owner);
	stage_kill(&self->owner);
	wait_until_deserted(self->fd);
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	EXPECT_EQ(-EPERM, dev_read(self->fd, &(struct hwtimer_event){}, 1));
	EXPECT_EQ(0, dev_after(self->fd, HOUR, 0));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(-EPERM, dev_notify(self->fd, 1, 0));
	EXPECT_EQ(0, worker_of(self->fd));
	if (!stage_fork(_metadata, &self->heir, HEIR)) {
		become(USER);
		if (dev_poll(self->fd, POLLIN, -1) != POLLIN)
			_exit(93);
		stage_wait(&self->heir);
	}
	stage_hear(_metadata, &self->heir);
	EXPECT_TRUE(is_in(worker_of(self->fd), HEIR));
	/* With a worker, others may use it, as ever. */
	read_all(_metadata, self->fd, 1);
	stage_kill(&self->heir);
}

/* ---- those who sleep when it happens ---- */

/* How a process waits for the event of timer 0, and whether it comes */
static bool waits_in_read(int fd)
{
	struct hwtimer_event event;

	fcntl(fd, F_SETFL, 0);
	return read(fd, &event, sizeof(event)) == sizeof(event);
}

static bool waits_in_poll(int fd)
{
	return dev_poll(fd, POLLIN, -1) == POLLIN;
}

static bool waits_in_select(int fd)
{
	fd_set fds;

	FD_ZERO(&fds);
	FD_SET(fd, &fds);
	return select(fd + 1, &fds, NULL, NULL, NULL) == 1;
}

static bool waits_in_epoll(int fd, __u32 flags)
{
	struct epoll_event event = { .events = EPOLLIN | flags };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	return !epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) &&
	       epoll_wait(epoll, &event, 1, -1) == 1;
}

static bool waits_in_level(int fd)
{
	return waits_in_epoll(fd, 0);
}

static bool waits_in_edge(int fd)
{
	return waits_in_epoll(fd, EPOLLET);
}

static bool waits_in_exclusive(int fd)
{
	return waits_in_epoll(fd, EPOLLEXCLUSIVE);
}

/* An epoll instance that another one watches */
static bool waits_in_nested(int fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	int inner = epoll_create1(EPOLL_CLOEXEC);

	return !epoll_ctl(inner, EPOLL_CTL_ADD, fd, &event) &&
	       waits_in_epoll(inner, 0);
}

TEST_F(desert, wakes_those_who_wait)
{
	static bool (*const waits[])(int fd) = {
		waits_in_read,	 waits_in_poll, waits_in_select,
		waits_in_level,	 waits_in_edge, waits_in_exclusive,
		waits_in_nested,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(waits); i++) {
		owner_begin(_metadata, &self->owner, self->fd, 1, SEC);
		if (!stage_fork(_metadata, &self->heir, HEIR)) {
			stage_say(&self->heir);
			_exit(waits[i](self->fd) ? 0 : 1);
		}
		stage_hear(_metadata, &self->heir);
		/* Now it probably waits. If it does not, it adopts the instance. */
		sleep_ns(100 * MS);
		stage_kill(&self->owner);
		EXPECT_EQ(0, stage_end(&self->heir));
		ASSERT_TRUE(dev_renew(&self->fd));
	}
}

/* ---- what is left for the heir ---- */

/* Events that waited before come first; then those that came due meanwhile. */
TEST_F(desert, keeps_events)
{
	struct hwtimer_event events[32];

	owner_begin(_metadata, &self->owner, self->fd, 20, 0);
	/* They all expire, and nobody reads them. */
	EXPECT_TRUE(dev_wait_ready(self->fd, 20));
	stage_kill(&self->owner);
	wait_until_deserted(self->fd);
	EXPECT_EQ(20, dev_read(self->fd, events, 32));
	/* It took no worker to read them. */
	EXPECT_EQ(0, worker_of(self->fd));
}

/* A periodic timer tells how often it would have expired. */
TEST_F(desert, counts_what_a_periodic_timer_has_missed)
{
	struct hwtimer_event event;

	if (!stage_fork(_metadata, &self->owner, OWNER)) {
		if (!dev_every(self->fd, 500 * MS, MS, 5))
			_exit(92);
		stage_wait(&self->owner);
	}
	stage_hear(_metadata, &self->owner);
	stage_kill(&self->owner);
	wait_until_deserted(self->fd);
	sleep_ns(SEC);
	ASSERT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(5, event.user_data);
	EXPECT_LE(400, event.expirations);
}

/* ---- again and again ---- */

/* What a process that keeps the machine busy does. */
static void toil(void)
{
	for (;;)
		close(open("/dev/null", O_RDONLY));
}

/*
 * Owner after owner dies while its timers expire, and two heirs are after them at once.
 * Each timer comes exactly once.
 */
TEST_F(desert, loses_nothing_in_many_rounds)
{
	unsigned int round, rounds = rounds_of(100), i;
	struct stage load[2];

	for (i = 0; i < 2; i++)
		if (!stage_fork(_metadata, &load[i], HEIR))
			toil();
	for (round = 0; round < rounds; round++) {
		struct stage heirs[2];
		unsigned int got = 0;

		/* They come due when the worker leaves. */
		owner_begin(_metadata, &self->owner, self->fd, 40, 80 * MS);
		for (i = 0; i < 2; i++) {
			struct hwtimer_event event;
			__u64 sum = 0;

			if (stage_fork(_metadata, &heirs[i], HEIR))
				continue;
			/* Timer 40 comes last, and ends both. */
			stage_say(&heirs[i]);
			for (;;) {
				if (dev_poll(self->fd, POLLIN, -1) != POLLIN)
					_exit(254);
				if (dev_read(self->fd, &event, 1) != 1)
					continue;
				if (event.deadline > now_ns())
					_exit(253);
				if (event.user_data == 40)
					_exit(sum);
				sum++;
			}
		}
		for (i = 0; i < 2; i++)
			stage_hear(_metadata, &heirs[i]);
		stage_kill(&self->owner);
		ASSERT_NE(0, dev_after(self->fd, 200 * MS, 40));
		ASSERT_NE(0, dev_after(self->fd, 200 * MS, 40));
		for (i = 0; i < 2; i++) {
			int status = stage_end(&heirs[i]);

			ASSERT_TRUE(WIFEXITED(status));
			ASSERT_GE(40, WEXITSTATUS(status));
			got += WEXITSTATUS(status);
		}
		ASSERT_EQ(40, got);
		ASSERT_FALSE(dev_poll(self->fd, 0, 0));
		ASSERT_TRUE(is_removed(OWNER));
		ASSERT_TRUE(cgroup_make(OWNER));
		if (round % 2)
			ASSERT_TRUE(dev_renew(&self->fd));
	}
	for (i = 0; i < 2; i++)
		stage_kill(&load[i]);
}

/* Instances are closed while their workers desert them. */
TEST_F(desert, meets_close)
{
	unsigned int round, rounds = rounds_of(100);

	for (round = 0; round < rounds; round++) {
		int i, fds[8];

		for (i = 0; i < 8; i++)
			fds[i] = dev_open(0);
		if (!stage_fork(_metadata, &self->owner, OWNER)) {
			for (i = 0; i < 8; i++)
				if (!dev_after(fds[i], i * MS, 0))
					_exit(92);
			stage_settle();
			stage_wait(&self->owner);
		}
		stage_hear(_metadata, &self->owner);
		stage_kill(&self->owner);
		sleep_ns(round * 5 * MS / rounds);
		for (i = 0; i < 8; i++)
			EXPECT_EQ(0, close(fds[i]));
		ASSERT_TRUE(is_removed(OWNER));
		ASSERT_TRUE(cgroup_make(OWNER));
	}
}

TEST_HARNESS_MAIN
