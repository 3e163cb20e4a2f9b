// SPDX-License-Identifier: GPL-2.0
/*
 * A program with timers does not change what can be done with its cgroup: the cgroup freezes,
 * gets controllers, and goes with its last process. No thread of the module is in it.
 *
 * Times are not compared with a clock. A control cgroup has the same program without timers;
 * what it can do, the other one must be able to do at the same time.
 */
#include "cgroup.h"
#include "uring.h"

#include <sys/syscall.h>

#define TIMED "hwtimer-timed"
#define CONTROL "hwtimer-control"
#define LEAF TIMED "/leaf"
#define OTHER TIMED "/other"

#define USER 4711

/* Instances of a program: more than there can be workers */
#define INSTANCES 10

/* How often a comparison with the control is made */
#define TRIES 20

FIXTURE(cgroups)
{
	struct actor timed;
	struct actor control;
};

FIXTURE_SETUP(cgroups)
{
	if (!has_cgroups())
		SKIP(return, "there is no cgroup of version 2");
	ASSERT_TRUE(device_for_all());
	ASSERT_TRUE(cgroup_make(TIMED));
	ASSERT_TRUE(cgroup_make(CONTROL));
}

FIXTURE_TEARDOWN(cgroups)
{
	device_for_root();
	cgroup_end(OTHER);
	cgroup_end(LEAF);
	cgroup_end(TIMED);
	cgroup_end(CONTROL);
}

/* Gives each of the instances periodic timers, which its program reads. */
static void use_timers(int *fds)
{
	for (unsigned int i = 0; i < INSTANCES; i++) {
		fds[i] = dev_open(O_NONBLOCK);
		if (fds[i] < 0 || dev_setup(fds[i], 100 * US, 0, 0) ||
		    !dev_every(fds[i], MS, MS, i) ||
		    !dev_every(fds[i], 2 * MS, 3 * MS, i) ||
		    !dev_after(fds[i], HOUR, i))
			_exit(93);
	}
}

/* Reads the events of all instances, one after the other, for ever. */
static void read_timers(const int *fds)
{
	struct hwtimer_event events[4];

	for (;;)
		for (unsigned int i = 0; i < INSTANCES; i++) {
			dev_poll(fds[i], POLLIN, -1);
			dev_read(fds[i], events, 4);
		}
}

/* Starts a program with timers that expire all the time. */
static void start_timed(struct __test_metadata *_metadata, struct actor *actor,
			const char *cgroup, uid_t uid)
{
	int fds[INSTANCES];

	if (!actor_start(actor, cgroup)) {
		if (uid)
			become(uid);
		use_timers(fds);
		actor_say(actor);
		read_timers(fds);
	}
	ASSERT_TRUE(actor_said(actor));
}

/* Starts a program that does something else. */
static void start_control(struct __test_metadata *_metadata,
			  struct actor *actor)
{
	if (!actor_start(actor, CONTROL)) {
		actor_say(actor);
		for (;;)
			sleep_ns(MS);
	}
	ASSERT_TRUE(actor_said(actor));
}

/* ---- the threads ---- */

TEST_F(cgroups, no_thread_of_the_module_is_in_them)
{
	pid_t pids[2];

	ASSERT_TRUE(cgroup_make(LEAF));
	start_timed(_metadata, &self->timed, TIMED, USER);
	pids[0] = self->timed.pid;
	EXPECT_EQ(0, strangers(TIMED, pids, 1));
	start_timed(_metadata, &self->control, TIMED, USER);
	pids[1] = self->control.pid;
	EXPECT_EQ(0, strangers(TIMED, pids, 2));
	/* A program that moves takes nothing along. */
	ASSERT_TRUE(cgroup_move(LEAF, pids[0]));
	ASSERT_TRUE(cgroup_move(LEAF, pids[1]));
	EXPECT_EQ(0, strangers(TIMED, pids, 0));
	EXPECT_EQ(0, strangers(LEAF, pids, 2));
	actor_kill(&self->timed);
	actor_kill(&self->control);
}

/* A user may move all tasks between cgroups that were delegated to it, but only its own. */
TEST_F(cgroups, a_delegated_user_moves_no_thread_of_the_module)
{
	static const char *const delegated[] = { TIMED, LEAF, OTHER };
	static const char *const files[] = { "", "cgroup.procs",
					     "cgroup.threads",
					     "cgroup.subtree_control" };
	pid_t pids[64];
	unsigned int count;
	char path[256];

	ASSERT_TRUE(cgroup_make(LEAF));
	ASSERT_TRUE(cgroup_make(OTHER));
	for (unsigned int i = 0; i < ARRAY_SIZE(delegated); i++) {
		for (unsigned int j = 0; j < ARRAY_SIZE(files); j++) {
			cgroup_file(path, delegated[i], files[j]);
			ASSERT_EQ(0, chown(path, USER, USER));
		}
	}
	start_timed(_metadata, &self->timed, LEAF, USER);
	count = workers(pids, 64);
	EXPECT_LT(0, count);
	if (!actor_start(&self->control, NULL)) {
		unsigned int moved = 0;

		become(USER);
		for (unsigned int i = 0; i < count; i++)
			moved += cgroup_move(OTHER, pids[i]);
		_exit(moved);
	}
	EXPECT_EQ(0, actor_ended(&self->control));
	EXPECT_EQ(0, strangers(OTHER, pids, 0));
	actor_kill(&self->timed);
	/* The workers are still there, and OTHER is empty all the same. */
	EXPECT_EQ(0, strangers(OTHER, pids, 0));
	EXPECT_TRUE(cgroup_remove(OTHER));
}

/* ---- freezing, as `docker pause` and `systemctl freeze` do it ---- */

static void set_frozen(struct __test_metadata *_metadata, const char *cgroup,
		       bool freezes)
{
	ASSERT_TRUE(cgroup_write(cgroup, "cgroup.freeze", freezes ? "1" : "0"));
}

static bool is_frozen(const char *cgroup)
{
	return cgroup_number(cgroup, "cgroup.events", "frozen ") == 1;
}

/*
 * Freezes the cgroup of a program with timers. Until it is frozen, the control freezes and
 * thaws, again and again.
 */
TEST_F(cgroups, freeze_at_once)
{
	unsigned int tries;

	start_timed(_metadata, &self->timed, TIMED, USER);
	start_control(_metadata, &self->control);
	for (unsigned int round = 0; round < 5; round++) {
		set_frozen(_metadata, TIMED, true);
		for (tries = 0; tries < TRIES && !is_frozen(TIMED); tries++) {
			set_frozen(_metadata, CONTROL, true);
			cgroup_wait(CONTROL, "frozen ", 1);
			set_frozen(_metadata, CONTROL, false);
			cgroup_wait(CONTROL, "frozen ", 0);
		}
		TH_LOG("frozen after the control was frozen %u times", tries);
		EXPECT_TRUE(is_frozen(TIMED));
		set_frozen(_metadata, TIMED, false);
		cgroup_wait(TIMED, "frozen ", 0);
	}
	actor_kill(&self->timed);
	actor_kill(&self->control);
}

/* The timers of a frozen program expire, as far as their events fit, and are there later. */
TEST_F(cgroups, a_frozen_program_finds_its_events)
{
	int fd = dev_open(O_NONBLOCK);
	struct hwtimer_event events[8];

	ASSERT_LE(0, fd);
	if (!actor_start(&self->timed, TIMED)) {
		actor_say(&self->timed);
		actor_hear(&self->timed);
		if (dev_poll(fd, POLLIN, -1) != POLLIN)
			_exit(1);
		_exit(dev_read(fd, events, 8) == 5 ? 0 : 2);
	}
	ASSERT_TRUE(actor_said(&self->timed));
	start_control(_metadata, &self->control);
	set_frozen(_metadata, TIMED, true);
	set_frozen(_metadata, CONTROL, true);
	cgroup_wait(CONTROL, "frozen ", 1);
	ASSERT_EQ(5, dev_schedule_many(fd, 5, 0, MS, NULL));
	EXPECT_TRUE(dev_wait_ready(fd, 5));
	set_frozen(_metadata, TIMED, false);
	ASSERT_TRUE(actor_tell(&self->timed));
	EXPECT_EQ(0, actor_ended(&self->timed));
	EXPECT_EQ(0, close(fd));
	actor_kill(&self->control);
}

/* ---- removing ---- */

/*
 * Others hold the instances of a program that has died. The cgroup is empty no later than
 * that of the control, which dies afterwards. Now and then, the processor that has to finish
 * the program's end does something else meanwhile.
 */
TEST_F(cgroups, are_empty_when_the_last_process_has_ended)
{
	unsigned int empty = 0;

	for (unsigned int i = 0; i < TRIES; i++) {
		struct hwtimer_event event;
		int fds[INSTANCES];

		ASSERT_TRUE(cgroup_make(TIMED));
		for (unsigned int j = 0; j < INSTANCES; j++)
			fds[j] = dev_open(O_NONBLOCK);
		if (!actor_start(&self->timed, TIMED)) {
			for (unsigned int j = 0; j < INSTANCES; j++)
				if (!dev_every(fds[j], MS, MS, j))
					_exit(93);
			actor_wait(&self->timed);
		}
		ASSERT_TRUE(actor_said(&self->timed));
		start_control(_metadata, &self->control);
		actor_kill(&self->timed);
		actor_kill(&self->control);
		cgroup_wait(CONTROL, "populated ", 0);
		empty += cgroup_remove(TIMED);
		/* The timers expire as if nothing had happened. */
		for (unsigned int j = 0; j < INSTANCES; j++) {
			for (unsigned int k = 0; k < 3; k++) {
				ASSERT_EQ(POLLIN, dev_poll(fds[j], POLLIN, -1));
				ASSERT_EQ(1, dev_read(fds[j], &event, 1));
			}
			ASSERT_EQ(0, close(fds[j]));
		}
	}
	TH_LOG("%u of %u cgroups were empty before the control's", empty,
	       TRIES);
	EXPECT_LE(TRIES * 3 / 4, empty);
}

/* ---- controllers ---- */

/* No process may be in a cgroup whose children get controllers, and no kernel thread. */
TEST_F(cgroups, get_controllers)
{
	static const struct {
		const char *
			file; /* that the cgroup has if its parent gives it the controller */
		const char *plus;
	} controllers[] = {
		{ "cpu.max", "+cpu" },
		{ "memory.max", "+memory" },
		{ "pids.max", "+pids" },
	};

	ASSERT_TRUE(cgroup_make(LEAF));
	start_timed(_metadata, &self->timed, TIMED, USER);
	ASSERT_TRUE(cgroup_move(LEAF, self->timed.pid));
	for (unsigned int i = 0; i < ARRAY_SIZE(controllers); i++) {
		if (!cgroup_has_file(TIMED, controllers[i].file))
			continue;
		EXPECT_TRUE(cgroup_write(TIMED, "cgroup.subtree_control",
					 controllers[i].plus))
		{
			TH_LOG("%s", controllers[i].plus);
		}
	}
	actor_kill(&self->timed);
	cgroup_end(LEAF);
}

/* The program's threads count against its own pids.max, and the module has none there. */
TEST_F(cgroups, a_limit_of_threads_counts_the_programs_own)
{
	if (!cgroup_has_file(TIMED, "pids.max"))
		SKIP(return, "no pids controller in cgroup v2");
	ASSERT_TRUE(cgroup_write(TIMED, "pids.max", "1"));
	start_timed(_metadata, &self->timed, TIMED, USER);
	EXPECT_EQ(1, cgroup_number(TIMED, "pids.current", ""));
	actor_kill(&self->timed);
}

/* ---- a limit of memory ---- */

/* Memory of a program that is over its memory.high */
#define HOARD (16 << 20)

/* Instances that it opens in one system call, more than the kernel charges for at a time */
#define OPENS 200

/* Opens many instances by a ring, once the test has set the limit. */
static void open_many(struct actor *actor)
{
	char *hoard = malloc(HOARD);
	struct ring ring;

	if (!hoard || ring_begin(&ring, OPENS, 0))
		_exit(94);
	memset(hoard, 1, HOARD);
	for (unsigned int i = 0; i < OPENS; i++) {
		struct io_uring_sqe *sqe = ring_sqe(&ring);

		sqe->opcode = IORING_OP_OPENAT;
		sqe->fd = AT_FDCWD;
		sqe->addr = (uintptr_t)DEVICE;
		sqe->open_flags = O_RDWR;
	}
	actor_say(actor);
	actor_hear(actor);
	if (ring_submit(&ring) != OPENS)
		_exit(95);
	for (unsigned int i = 0; i < OPENS; i++)
		if (ring_wait(&ring).res < 0)
			_exit(96);
	_exit(0);
}

static bool has_ended(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
	       info.si_pid;
}

/* Whether the process sleeps for its memory.high while it opens a misc device */
static bool sleeps_in_open(pid_t pid)
{
	char path[64], stack[4096] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stack", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, stack, sizeof(stack) - 1) < 0)
		stack[0] = 0;
	close(fd);
	return strstr(stack, "misc_open") && strstr(stack, "handle_over_high");
}

/*
 * The kernel has a program that is over its memory.high sleep for seconds. It must not do so
 * while the program holds the mutex of all misc devices.
 */
TEST_F(cgroups, over_a_limit_of_memory_it_does_not_sleep_in_open)
{
	unsigned int sleeps = 0;

	write_file(CGROUPS "cgroup.subtree_control", "+memory");
	if (!cgroup_has_file(TIMED, "memory.high"))
		SKIP(return, "no memory controller in cgroup v2");
	if (!actor_start(&self->timed, TIMED))
		open_many(&self->timed);
	if (!actor_said(&self->timed)) {
		actor_ended(&self->timed);
		SKIP(return, "no io_uring");
	}
	ASSERT_TRUE(cgroup_write(TIMED, "memory.high", "1048576"));
	ASSERT_TRUE(actor_tell(&self->timed));
	while (!has_ended(self->timed.pid)) {
		sleeps += sleeps_in_open(self->timed.pid);
		sleep_ns(MS);
	}
	EXPECT_EQ(0, sleeps);
	EXPECT_EQ(0, actor_ended(&self->timed));
}

TEST_HARNESS_MAIN
