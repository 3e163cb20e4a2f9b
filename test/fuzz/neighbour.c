// SPDX-License-Identifier: GPL-2.0
/*
 * The neighbours; see neighbour.h.
 */
#include "neighbour.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "durations.h"
#include "worker.h"

/* Delays of those who wait for one timer after another */
#define DELAY_MAX (60 * MS)

/* A timer for which they wait longer is lost. */
#define PATIENCE (120 * SEC)

/**
 * struct pacer - a process that waits for one timer after another
 * @name: its name
 * @open: returns a descriptor, or -1
 * @arm: sets a timer; returns whether it could
 */
struct pacer {
	const char *name;
	int (*open)(void);
	bool (*arm)(int fd, __u64 deadline);
};

static bool is_over(void)
{
	return atomic_load(&board->over);
}

/* One instance after another */
static int run_worker(void)
{
	static struct seat seat;

	/* No event of an instance of the last load of the module is one of these. */
	seat.life = atomic_load(&board->dones[STARTED]);
	while (!is_over()) {
		worker_reset(&seat);
		/* The fuzzer sets the clock and does not announce it. It needs memory itself. */
		seat.mild = true;
		worker_run(&seat);
		sleep_ns(MS);
	}
	return 0;
}

static int open_hwtimer(void)
{
	struct hwtimer_setup setup = { .clock = HWTIMER_CLOCK_MONOTONIC };
	int fd = open("/dev/hwtimer", O_RDWR | O_CLOEXEC);

	return fd < 0 || ioctl(fd, HWTIMER_IOC_SETUP, &setup) ? -1 : fd;
}

static bool arm_hwtimer(int fd, __u64 deadline)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.flags = HWTIMER_REQ_ABSTIME,
		.time = deadline,
	};

	return !ioctl(fd, HWTIMER_IOC_SCHEDULE, &request);
}

static int open_timerfd(void)
{
	return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
}

static bool arm_timerfd(int fd, __u64 deadline)
{
	struct itimerspec when = {
		.it_value = { .tv_sec = deadline / SEC,
			      .tv_nsec = deadline % SEC },
	};

	return !timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static const struct pacer pacers[] = {
	{ "neighbour", open_hwtimer, arm_hwtimer },
	{ "timerfd", open_timerfd, arm_timerfd },
};

#define PACERS (sizeof(pacers) / sizeof(*pacers))
#define NEIGHBOURS (1 + PACERS)

/* How late the pacers were; shared */
static struct durations *latenesses;

static pid_t pids[NEIGHBOURS];

static int run_pacer(unsigned int nr, __u64 seed)
{
	struct rng rng = rng_of(seed, 't', nr, 0);
	struct pollfd pfd = { .fd = pacers[nr].open(), .events = POLLIN };

	if (pfd.fd < 0)
		return 1;
	while (!is_over()) {
		__u64 deadline = clock_ns(CLOCK_MONOTONIC) + 1 +
				 rng_below(&rng, DELAY_MAX);
		char event[sizeof(struct hwtimer_event)];

		/* There may be no memory for a moment. */
		if (!pacers[nr].arm(pfd.fd, deadline)) {
			sleep_ns(MS);
			continue;
		}
		log_begin(&latenesses[nr], deadline);
		if (poll(&pfd, 1, PATIENCE / MS) != 1 ||
		    read(pfd.fd, event, sizeof(event)) <= 0)
			return 1;
		if (clock_ns(CLOCK_MONOTONIC) < deadline)
			wrong(EARLY, "%s", pacers[nr].name);
		log_end(&latenesses[nr], clock_ns(CLOCK_MONOTONIC));
	}
	return 0;
}

/**
 * neighbours_start - start all neighbours
 * @seed: of their choices
 *
 * Return: whether they were started; a neighbour that cannot begin ends with status 1.
 */
bool neighbours_start(__u64 seed)
{
	if (!latenesses)
		latenesses = board_share(PACERS * sizeof(*latenesses));
	atomic_store(&board->over, 0);
	for (unsigned int i = 0; i < NEIGHBOURS; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			_exit(i < PACERS ? run_pacer(i, seed) : run_worker());
		}
		if (pids[i] < 0)
			return false;
	}
	return latenesses;
}

/**
 * neighbours_end - have the neighbours finish, and settle their accounts
 *
 * Return: whether all of them ended well.
 */
bool neighbours_end(void)
{
	bool good = true;

	atomic_store(&board->over, 1);
	for (unsigned int i = 0; i < NEIGHBOURS; i++) {
		int status;

		if (waitpid(pids[i], &status, 0) != pids[i] || status)
			good = false;
	}
	return good;
}

/* Returns a percentile of a pacer's lateness, us. */
static double late_us(unsigned int nr, unsigned int percent)
{
	return (double)log_percentile(&latenesses[nr], 0, 0, percent) / US;
}

/* Prints how late the pacers were, and what the worker has done. */
void neighbours_tell(void)
{
	for (unsigned int i = 0; i < PACERS; i++)
		printf("# %s: %u events; late by %.0f us at most, half by %.0f, 99%% by %.0f\n",
		       pacers[i].name, latenesses[i].count, late_us(i, 100),
		       late_us(i, 50), late_us(i, 99));
	board_tell("neighbour");
}
