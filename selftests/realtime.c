// SPDX-License-Identifier: GPL-2.0
/*
 * A real-time program whose worker is real-time, too, as the parameter rt_prio makes it: all
 * that comes between the hrtimer and the program's wake-up has a real-time priority, so
 * ordinary threads cannot delay it. The kernel's trace shows who wakes whom; time decides
 * nothing. The lateness among hogs is printed beside that of a timerfd.
 */
#include "hwtimer_test.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/timerfd.h>

#define TRACING "/sys/kernel/tracing"
#define WAKING TRACING "/events/sched/sched_waking/enable"

/* The program's priority, and the worker's if rt_prio is 0; the kernel counts down from 99 */
#define PROGRAM 50
#define WORKER 7
#define KERNEL_PRIORITY(priority) (99 - (priority))

#define HOGS 4
#define ROUNDS 400
#define TRACED 50

static bool set_priority(pid_t pid, int priority)
{
	const struct sched_param param = { .sched_priority = priority };

	return !sched_setscheduler(pid, priority ? SCHED_RR : SCHED_OTHER,
				   &param);
}

/*
 * An instance with a short tick, whose worker has a priority; @expected is that priority. An
 * administrator may give it by chrt, too.
 */
FIXTURE(realtime)
{
	int fd;
	pid_t worker;
	int expected;
};

FIXTURE_SETUP(realtime)
{
	self->fd = dev_open(0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, dev_setup(self->fd, 10 * US, 0, 0));
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	self->worker = told(self->fd, "worker");
	ASSERT_LT(0, self->worker);
	self->expected = module_parameter("rt_prio") ?: WORKER;
	if (!module_parameter("rt_prio"))
		ASSERT_TRUE(set_priority(self->worker, WORKER));
	ASSERT_TRUE(set_priority(0, PROGRAM));
}

FIXTURE_TEARDOWN(realtime)
{
	EXPECT_TRUE(set_priority(0, 0));
	if (!module_parameter("rt_prio"))
		EXPECT_TRUE(set_priority(self->worker, 0));
	EXPECT_EQ(0, close(self->fd));
}

/* ---- who wakes whom ---- */

/**
 * struct waking - a line of the trace: a thread is woken
 * @waker: the thread that runs, which an interrupt may have interrupted
 * @hard: a hard interrupt wakes
 * @woken: the thread that is woken
 * @priority: its priority, as the kernel counts
 */
struct waking {
	int waker;
	bool hard;
	int woken;
	int priority;
};

/* Parses "comm-PID [CPU] FLAGS TIME: sched_waking: comm=... pid=N prio=N ..." */
static bool parse(const char *line, struct waking *waking)
{
	const char *event = strstr(line, ": sched_waking: ");
	const char *cpu = strstr(line, " ["), *pid = cpu;
	size_t flags;

	if (!event || !cpu || cpu > event)
		return false;
	while (pid > line && *pid != '-')
		pid--;
	waking->waker = atoi(pid + 1);
	/* "[000] dNh2.": only a hard interrupt has an h or H among these flags */
	flags = strcspn(cpu, "]") + 2;
	waking->hard = strcspn(cpu + flags, "hH") < strcspn(cpu + flags, " ");
	event = strstr(event, " pid=");
	return event && sscanf(event, " pid=%d prio=%d", &waking->woken,
			       &waking->priority) == 2;
}

static bool begin_tracing(void)
{
	if (access(WAKING, F_OK))
		mount("tracefs", TRACING, "tracefs", 0, NULL);
	return write_file(WAKING, "1");
}

TEST_F(realtime, no_ordinary_thread_on_the_way)
{
	unsigned int interrupts = 0, wakings = 0;
	struct hwtimer_event event;
	struct waking waking;
	char line[1024];
	FILE *trace;

	if (!begin_tracing())
		SKIP(return, "this kernel has no tracing");
	for (unsigned int i = 0; i < TRACED; i++) {
		EXPECT_NE(0, dev_after(self->fd, 5 * MS, i));
		EXPECT_EQ(1, dev_read(self->fd, &event, 1));
		EXPECT_EQ(i, event.user_data);
	}
	ASSERT_TRUE(write_file(WAKING, "0"));
	trace = fopen(TRACING "/trace", "r");
	ASSERT_NE(NULL, trace);
	while (fgets(line, sizeof(line), trace)) {
		if (!parse(line, &waking))
			continue;
		if (waking.woken == self->worker) {
			/* With PREEMPT_RT, the program may pass a lock on. */
			EXPECT_TRUE(waking.hard || waking.waker == getpid())
			{
				TH_LOG("%s", line);
			}
			EXPECT_GE(KERNEL_PRIORITY(self->expected),
				  waking.priority);
			interrupts += waking.hard;
		} else if (waking.woken == getpid()) {
			EXPECT_EQ(KERNEL_PRIORITY(PROGRAM), waking.priority);
			wakings += waking.waker == self->worker && !waking.hard;
		}
	}
	fclose(trace);
	/* Not each: a worker that is still awake when a timer becomes due is not woken. */
	EXPECT_LT(0, interrupts);
	EXPECT_LT(0, wakings);
}

/* ---- lateness ---- */

static pid_t start_hog(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (!set_priority(0, 0))
		_exit(1);
	for (;;)
		;
}

static int compare(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print(struct __test_metadata *_metadata, const char *name,
		  __u64 late[ROUNDS])
{
	qsort(late, ROUNDS, sizeof(*late), compare);
	TH_LOG("%s: median %llu us late, 99 of 100 at most %llu, worst %llu",
	       name, late[ROUNDS / 2] / US, late[ROUNDS * 99 / 100] / US,
	       late[ROUNDS - 1] / US);
}

/* Waits for a timerfd, and for a timer of ours, in turns. */
TEST_F(realtime, among_hogs)
{
	static __u64 ours[ROUNDS], theirs[ROUNDS];
	int timerfd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	struct itimerspec at = { 0 };
	struct hwtimer_event event;
	unsigned int seed = 1;
	pid_t hogs[HOGS];
	__u64 deadline, count;

	ASSERT_LE(0, timerfd);
	for (unsigned int i = 0; i < HOGS; i++)
		hogs[i] = start_hog();
	for (unsigned int i = 0; i < ROUNDS; i++) {
		deadline = now_ns() + 2 * MS + next_random(&seed) % (8 * MS);
		at.it_value.tv_sec = deadline / SEC;
		at.it_value.tv_nsec = deadline % SEC;
		ASSERT_EQ(0, timerfd_settime(timerfd, TFD_TIMER_ABSTIME, &at,
					     NULL));
		ASSERT_EQ(8, read(timerfd, &count, sizeof(count)));
		theirs[i] = now_ns() - deadline;

		deadline = now_ns() + 2 * MS + next_random(&seed) % (8 * MS);
		ASSERT_NE(0, dev_at(self->fd, deadline, i));
		ASSERT_EQ(1, dev_read(self->fd, &event, 1));
		ours[i] = now_ns() - deadline;
		EXPECT_EQ(i, event.user_data);
		EXPECT_EQ(deadline, event.deadline);
	}
	for (unsigned int i = 0; i < HOGS; i++) {
		kill(hogs[i], SIGKILL);
		EXPECT_EQ(-SIGKILL, wait_for_child(hogs[i]));
	}
	close(timerfd);
	print(_metadata, "timerfd", theirs);
	print(_metadata, "hwtimer", ours);
}

TEST_HARNESS_MAIN
