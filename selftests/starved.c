// SPDX-License-Identifier: GPL-2.0
/*
 * Two logins share an instance, and the second one hardly runs, or waits for a page, while it
 * is in the middle of a call. Nobody waits for it: neither the first one, who goes, nor the
 * module's threads, nor those who have other instances.
 *
 * Time does not count. Whoever is not held up gets hundreds of events, one after the other,
 * while the second login makes a few steps or none. If somebody waits for it, the test does
 * not end, and the kernel reports a hung task.
 */
#include "cgroup.h"
#include "missing.h"

#include <linux/sched.h>
#include <sched.h>

#define FIRST "hwtimer-first"
#define SECOND "hwtimer-second"
#define THIRD "hwtimer-third"

#define FIRST_UID 4711
#define SECOND_UID 4712
#define THIRD_UID 4713

/* Events that the third login gets on each of its instances */
#define EVENTS 200

/* Timers of one step of the second login */
#define STEP 4096

/* Programs that leave no time to one with SCHED_IDLE, for each processor */
#define SPINNERS 4

/* ---- what the logins share ---- */

/**
 * struct shared - memory of all logins
 * @steps: number of steps that the second login has made
 */
struct shared {
	unsigned int steps;
};

FIXTURE(starved)
{
	struct shared *shared;
	struct actor first;
	struct actor second;
	struct actor third;
	int to_second[2]; /* sockets that descriptors go through */
	int to_third[2];
};

FIXTURE_SETUP(starved)
{
	if (!has_cgroups())
		SKIP(return, "there is no cgroup of version 2");
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, self->to_second));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, self->to_third));
	ASSERT_TRUE(device_for_all());
	ASSERT_TRUE(cgroup_make(FIRST));
	ASSERT_TRUE(cgroup_make(SECOND));
	ASSERT_TRUE(cgroup_make(THIRD));
}

FIXTURE_TEARDOWN(starved)
{
	device_for_root();
	cgroup_end(FIRST);
	cgroup_end(SECOND);
	cgroup_end(THIRD);
}

/*
 * Starts the first login. It starts two instances, passes one to the second and one to the
 * third login, and goes when it is told to.
 */
static void start_first(struct __test_metadata *_metadata, struct actor *actor,
			int to_second, int to_third)
{
	if (!actor_start(actor, FIRST)) {
		int shared, other, own;

		become(FIRST_UID);
		shared = dev_open(O_NONBLOCK);
		other = dev_open(0);
		own = dev_open(0);
		if (shared < 0 || other < 0 || own < 0 ||
		    !dev_after(other, HOUR, 0) || !dev_every(own, 0, MS, 0) ||
		    dev_schedule_many(shared, 1000, 0, HOUR, NULL) != 1000 ||
		    dev_schedule_many(shared, STEP, 0, 0, NULL) != STEP ||
		    send_descriptor(to_second, shared) != 1 ||
		    send_descriptor(to_third, other) != 1)
			_exit(1);
		actor_say(actor);
		actor_hear(actor);
		close(shared);
		_exit(0);
	}
	ASSERT_TRUE(actor_said(actor));
}

/* Gets EVENTS events on each of the two, one after the other. */
static int use_in_turns(int fd, int other)
{
	struct hwtimer_event event;

	for (unsigned int i = 0; i < EVENTS; i++) {
		if (!dev_after(fd, MS, i) || !dev_after(other, MS, i))
			return 1;
		if (dev_read(fd, &event, 1) != 1 || event.user_data != i)
			return 2;
		if (dev_read(other, &event, 1) != 1 || event.user_data != i)
			return 3;
	}
	return 0;
}

/* Starts the third login, which uses an instance of its own and one of the first one's. */
static void start_third(struct actor *actor, int from_first)
{
	int fd, other;

	if (actor_start(actor, THIRD))
		return;
	become(THIRD_UID);
	other = receive_descriptor(from_first);
	fd = dev_open(0);
	if (fd < 0 || other < 0)
		_exit(4);
	_exit(use_in_turns(fd, other));
}

/* A newcomer of the first login: it opens an instance, and gets events. */
static int newcomer(void)
{
	struct actor actor;

	if (!actor_start(&actor, FIRST)) {
		int fd, other;

		become(FIRST_UID);
		fd = dev_open(0);
		other = dev_open(0);
		_exit(fd < 0 || other < 0 ? 4 : use_in_turns(fd, other));
	}
	return actor_ended(&actor);
}

/*
 * The first login goes, the third one gets its events, and so does a newcomer; then nothing
 * is left in the first one's cgroup.
 */
static void expect_nobody_waits(struct __test_metadata *_metadata,
				struct actor *first, struct actor *third,
				int from_first)
{
	EXPECT_TRUE(actor_tell(first));
	EXPECT_EQ(0, actor_ended(first));
	start_third(third, from_first);
	EXPECT_EQ(0, actor_ended(third));
	EXPECT_EQ(0, newcomer());
	cgroup_wait(FIRST, "populated ", 0);
	EXPECT_TRUE(cgroup_remove(FIRST));
}

/* ---- a call that waits for a page ---- */

/* The calls in which the second login is when it waits; the structures are in the page. */
static void *call_read(void *arg)
{
	struct taker *taker = arg;

	dev_read(taker->fd, (void *)taker->missing.page, 10);
	return NULL;
}

static void *call_stop(void *arg)
{
	struct taker *taker = arg;

	dev_stop(taker->fd, (void *)taker->missing.page, 10, NULL);
	return NULL;
}

static void *call_list(void *arg)
{
	struct taker *taker = arg;
	__u64 cursor = 0;

	dev_list(taker->fd, (void *)taker->missing.page, 10, &cursor);
	return NULL;
}

static void *call_submit(void *arg)
{
	struct taker *taker = arg;

	dev_submit(taker->fd, (void *)taker->missing.page, 10);
	return NULL;
}

/* The results go to the page. */
static void *call_bulk(void *arg)
{
	struct hwtimer_bulk_timer timers[10] = { { { 0 }, HOUR } };
	struct taker *taker = arg;

	dev_bulk(taker->fd, HWTIMER_OP_SCHEDULE, 0, timers,
		 (void *)taker->missing.page, 10);
	return NULL;
}

static void *call_setup(void *arg)
{
	struct taker *taker = arg;

	dev_ioctl(taker->fd, HWTIMER_IOC_SETUP, taker->missing.page);
	return NULL;
}

static void *call_schedule(void *arg)
{
	struct taker *taker = arg;

	dev_ioctl(taker->fd, HWTIMER_IOC_SCHEDULE, taker->missing.page);
	return NULL;
}

static void *call_cancel_all(void *arg)
{
	struct taker *taker = arg;

	dev_ioctl(taker->fd, HWTIMER_IOC_CANCEL_ALL, taker->missing.page);
	return NULL;
}

static void *(*const calls[])(void *) = {
	call_read,  call_list,	   call_submit,	    call_bulk,
	call_setup, call_schedule, call_cancel_all, call_stop,
};

#define CALLS ARRAY_SIZE(calls)

/*
 * In the second login: a thread for each call, which waits for a page that never comes. The
 * one that stops the instance comes last, as nothing could be scheduled after it.
 */
static void wait_in_calls(struct actor *actor, int fd)
{
	static struct taker takers[CALLS];
	pthread_t thread;

	for (unsigned int i = 0; i < CALLS; i++) {
		takers[i].fd = fd;
		if (!missing_make(&takers[i].missing))
			_exit(5);
		start_threads(&thread, 1, calls[i], &takers[i], 0);
		if (!missing_wanted(&takers[i].missing))
			_exit(6);
	}
	actor_wait(actor);
}

static bool has_userfaultfd(void)
{
	struct missing missing;
	bool has = missing_make(&missing);

	if (has)
		close(missing.fd);
	return has;
}

TEST_F(starved, a_login_in_the_middle_of_each_call)
{
	if (!has_userfaultfd())
		SKIP(return, "this kernel has no userfaultfd");
	start_first(_metadata, &self->first, self->to_second[0],
		    self->to_third[0]);
	if (!actor_start(&self->second, SECOND)) {
		int fd = receive_descriptor(self->to_second[1]);

		/* It is root: an ordinary user may have no userfaultfd. */
		wait_in_calls(&self->second, fd);
	}
	ASSERT_TRUE(actor_said(&self->second));
	expect_nobody_waits(_metadata, &self->first, &self->third,
			    self->to_third[1]);
	/* It is still there, and can be killed. */
	EXPECT_EQ(0, waitpid(self->second.pid, NULL, WNOHANG));
	EXPECT_EQ(-SIGKILL, actor_kill(&self->second));
}

/* ---- a login that hardly runs ---- */

/* One step: each call, on the shared instance, and a stop of one of its own */
static void step(int fd)
{
	static struct hwtimer_bulk_timer timers[STEP];
	static struct hwtimer_request requests[STEP];
	static struct hwtimer_event events[STEP];
	static struct hwtimer_timer listed[STEP];
	static struct hwtimer_timer handed[STEP];
	static __u64 ids[STEP];
	__u64 cursor = 0;
	int own;

	for (unsigned int i = 0; i < STEP; i++)
		timers[i].time = i % 2 ? 10 * US * i : HOUR;
	dev_setup(fd, 0, 0, 0);
	dev_bulk(fd, HWTIMER_OP_SCHEDULE, 0, timers, ids, STEP);
	fill_schedules(requests, STEP, 0, 0, 0);
	dev_submit(fd, requests, STEP);
	dev_list(fd, listed, STEP, &cursor);
	dev_read(fd, events, STEP);
	dev_cancel_all(fd, HWTIMER_LIST_DISCARD);
	own = dev_open(O_NONBLOCK);
	dev_bulk(own, HWTIMER_OP_SCHEDULE, 0, timers, ids, STEP);
	dev_stop(own, handed, STEP, NULL);
	close(own);
}

static void start_second(struct __test_metadata *_metadata, struct actor *actor,
			 int from_first, struct shared *shared)
{
	if (!actor_start(actor, SECOND)) {
		int fd = receive_descriptor(from_first);
		const struct sched_param none = {};

		/* This matters only while there are spinners in the cgroup. */
		if (sched_setscheduler(0, SCHED_IDLE, &none))
			_exit(7);
		become(SECOND_UID);
		for (;;) {
			step(fd);
			if (!__atomic_fetch_add(&shared->steps, 1,
						__ATOMIC_RELAXED))
				actor_say(actor);
		}
	}
	ASSERT_TRUE(actor_said(actor));
}

static unsigned int steps_of(struct shared *shared)
{
	return __atomic_load_n(&shared->steps, __ATOMIC_RELAXED);
}

/* Expects that nobody waits while the second login starves, and ends it. */
static void check_starving(struct __test_metadata *_metadata,
			   struct shared *shared, struct actor *first,
			   struct actor *second, struct actor *third,
			   int from_first)
{
	unsigned int steps = steps_of(shared);

	expect_nobody_waits(_metadata, first, third, from_first);
	steps = steps_of(shared) - steps;
	TH_LOG("%u steps of the second login during %u events of others", steps,
	       4 * EVENTS);
	/* Whoever waits for a step gets an event for each step, and no more. */
	EXPECT_GE(EVENTS / 4, steps);
	cgroup_write(SECOND, "cpu.max", "max");
	cgroup_write(SECOND, "memory.high", "max");
	EXPECT_EQ(-SIGKILL, actor_kill(second));
}

TEST_F(starved, a_login_that_is_throttled)
{
	if (!cgroup_has_file(SECOND, "cpu.max"))
		SKIP(return, "no cpu controller in cgroup v2");
	start_first(_metadata, &self->first, self->to_second[0],
		    self->to_third[0]);
	start_second(_metadata, &self->second, self->to_second[1],
		     self->shared);
	ASSERT_TRUE(cgroup_write(SECOND, "cpu.max", "1000 100000"));
	check_starving(_metadata, self->shared, &self->first, &self->second,
		       &self->third, self->to_third[1]);
}

TEST_F(starved, a_login_without_memory)
{
	if (!cgroup_has_file(SECOND, "memory.high"))
		SKIP(return, "no memory controller in cgroup v2");
	start_first(_metadata, &self->first, self->to_second[0],
		    self->to_third[0]);
	start_second(_metadata, &self->second, self->to_second[1],
		     self->shared);
	ASSERT_TRUE(cgroup_write(SECOND, "memory.high", "4096"));
	check_starving(_metadata, self->shared, &self->first, &self->second,
		       &self->third, self->to_third[1]);
}

static void start_spinner(struct actor *actor)
{
	if (actor_start(actor, SECOND))
		return;
	for (;;)
		__asm__ volatile("");
}

/* Others of its cgroup leave the second login no time. */
TEST_F(starved, a_login_beside_spinners)
{
	unsigned int n = SPINNERS * sysconf(_SC_NPROCESSORS_ONLN);
	struct actor *spinners = calloc(n, sizeof(*spinners));

	ASSERT_NE(NULL, spinners);
	start_first(_metadata, &self->first, self->to_second[0],
		    self->to_third[0]);
	start_second(_metadata, &self->second, self->to_second[1],
		     self->shared);
	for (unsigned int i = 0; i < n; i++)
		start_spinner(&spinners[i]);
	check_starving(_metadata, self->shared, &self->first, &self->second,
		       &self->third, self->to_third[1]);
	for (unsigned int i = 0; i < n; i++)
		actor_kill(&spinners[i]);
	free(spinners);
}

/* The second login is stopped: its instance holds up nobody, and has it do no work. */
TEST_F(starved, a_login_that_is_stopped)
{
	int status;

	start_first(_metadata, &self->first, self->to_second[0],
		    self->to_third[0]);
	start_second(_metadata, &self->second, self->to_second[1],
		     self->shared);
	ASSERT_EQ(0, kill(self->second.pid, SIGSTOP));
	ASSERT_EQ(self->second.pid,
		  waitpid(self->second.pid, &status, WUNTRACED));
	check_starving(_metadata, self->shared, &self->first, &self->second,
		       &self->third, self->to_third[1]);
}

TEST_HARNESS_MAIN
