// SPDX-License-Identifier: MIT
/*
 * Retries with exponential backoff and full jitter: after its n-th failure a task
 * waits for a random time from 0 to base * 2^(n-1), but no longer than the cap. The
 * jitter keeps tasks that failed together from retrying together. All waits are timers
 * of one instance.
 *
 *	retry [--tasks 100] [--limit 10] [--base 100] [--cap 5000] [--port 7172]
 *
 * --limit is the number of attempts after which a task gives up; --base and --cap
 * are ms. A task is done when the server at the port (such as flaky-server) answers
 * its line with "ok". The program fails if a task gave up, or was woken too early.
 */
#include "example.h"
#include "sockets.h"

static unsigned long tasks = 100, limit = 10, port = 7172;
static unsigned long base = 100, cap = 5000;

/* A waiting task: start of the wait, its upper bound and its length, ns */
struct task {
	unsigned long failures;
	uint64_t since, most, delay;
};

static struct hwt *hwt;
static struct task *all;
static unsigned long attempts, done, given_up, early;

/* As in a real program, an attempt has a time limit. */
static bool attempt_succeeds(void)
{
	const struct timeval patience = { .tv_sec = 60 };
	char answer[16] = "";
	int fd = tcp_connect(port);

	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (send(fd, "work\n", 5, MSG_NOSIGNAL) == 5 &&
	    recv(fd, answer, sizeof(answer) - 1, 0) < 0)
		answer[0] = '\0';
	close(fd);
	return !strcmp(answer, "ok\n");
}

/* Returns the upper bound of a wait, ms. */
static unsigned long longest_wait(unsigned long failures)
{
	unsigned long wait = base;

	while (--failures && wait < cap)
		wait *= 2;
	return wait < cap ? wait : cap;
}

static void wait_for_next(struct task *task)
{
	task->most = longest_wait(task->failures) * MS;
	task->delay = random_below(task->most / 1000 + 1) * 1000;
	task->since = now_ns(CLOCK_MONOTONIC);
	must(hwt_schedule(hwt, task->delay, task - all, NULL));
}

static void attempt(struct task *task)
{
	attempts++;
	if (attempt_succeeds())
		done++;
	else if (++task->failures == limit)
		given_up++;
	else
		wait_for_next(task);
}

/* Only task 0 prints its waits; those of the other tasks are similar. */
static void on_timer(struct task *task)
{
	uint64_t waited = now_ns(CLOCK_MONOTONIC) - task->since;

	early += waited < task->delay;
	if (task == all)
		printf("retry: task 0, failure %lu: waited %llu of %llu ms, at most %llu\n",
		       task->failures, waited / MS, task->delay / MS,
		       task->most / MS);
	attempt(task);
}

int main(int argc, char **argv)
{
	const struct option options[] = {
		{ "--tasks", &tasks, 1 },
		{ "--limit", &limit, 1 },
		{ "--base", &base, 1, HOUR_MAX },
		{ "--cap", &cap, 1, HOUR_MAX },
		{ "--port", &port, 1, PORT_MAX },
		{ NULL, NULL, 0 },
	};
	struct hwtimer_event event;
	unsigned long i;

	take_options(options, argc, argv);
	hwt = open_wheel(0, CLOCK_MONOTONIC);
	all = allocate(tasks, sizeof(*all));
	for (i = 0; i < tasks; i++)
		attempt(&all[i]);
	while (done + given_up < tasks) {
		must(hwt_next(hwt, &event));
		on_timer(&all[event.user_data]);
	}
	printf("retry: tasks=%lu attempts=%lu done=%lu gave_up=%lu early=%lu\n",
	       tasks, attempts, done, given_up, early);
	return given_up || early;
}
