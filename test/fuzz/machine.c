// SPDX-License-Identifier: GPL-2.0
/*
 * Steps that change the process or the machine: forks, the clock, attempts to unload the
 * module. Chosen by step.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "steps.h"

/* How many of these rare steps are left out for each one that is made */
#define FORK_RARITY 4
#define CLOCK_RARITY 20
#define UNLOAD_RARITY 4

/* Signals after which a forked child ends, whatever it waits for */
#define CHILD_TICKS 20

/* See arena_shake(). */
void step_shake(struct actor *actor)
{
	arena_shake(&actor->world->arena, &actor->rng);
}

void step_garble_arguments(struct actor *actor)
{
	arena_garble(&actor->world->arena, &actor->rng);
}

static void child_tick(int signal)
{
	static int ticks;

	(void)signal;
	if (++ticks >= CHILD_TICKS)
		_exit(0);
}

/* A child that makes some steps. A signal each 5 ms ends a call that would wait. */
static void child_run(struct actor *actor)
{
	struct itimerval interval = {
		.it_interval = { .tv_usec = 5000 },
		.it_value = { .tv_usec = 5000 },
	};
	struct sigaction tick = { .sa_handler = child_tick };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	actor->is_child = true;
	/* The io_uring and the AIO context are the parent's. */
	actor->uring.fd = -1;
	actor->aio = 0;
	sigaction(SIGALRM, &tick, NULL);
	setitimer(ITIMER_REAL, &interval, NULL);
	for (unsigned int i = rng_between(&actor->rng, 1, 30); i; i--)
		step_once(actor);
	_exit(0);
}

/*
 * The kernel reaps the children, see world.c. Some are killed, at any moment. The parent
 * does not wait: instances stay in use by processes that have no thread in common.
 */
void step_fork(struct actor *actor)
{
	unsigned int delay = rng_below(&actor->rng, 3000);
	bool kill_it = rng_one_in(&actor->rng, 2);
	pid_t pid;

	if (actor->is_child || !rng_one_in(&actor->rng, FORK_RARITY))
		return;
	pid = fork();
	if (!pid)
		child_run(actor);
	step_count(CALL_FORK, step_result(pid));
	if (pid > 0 && kill_it) {
		step_sleep(delay);
		kill(pid, SIGKILL);
	}
}

/* Sets the clock forth, by seconds or hours, and back. */
void step_clock(struct actor *actor)
{
	struct rng *rng = &actor->rng;
	long shift = rng_one_in(rng, 2) ? 7200 : 3;
	struct timespec now;

	if (actor->world->plan.uid || !rng_one_in(rng, CLOCK_RARITY))
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += rng_one_in(rng, 2) ? shift : -shift;
	step_count(CALL_CLOCK,
		   step_result(clock_settime(CLOCK_REALTIME, &now)));
}

/* The neighbours use the module, so the kernel must refuse to unload it. */
void step_unload(struct actor *actor)
{
	long ret;

	if (actor->world->plan.uid || !rng_one_in(&actor->rng, UNLOAD_RARITY))
		return;
	ret = step_result(syscall(SYS_delete_module, "hwtimer", O_NONBLOCK));
	step_count(CALL_UNLOAD, ret);
	if (!ret)
		wrong(UNLOADED, "the module was unloaded while it was used");
}
