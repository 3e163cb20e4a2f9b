// SPDX-License-Identifier: GPL-2.0
/*
 * What a run is like: how often threads are switched, how often memory fails. Called by
 * main.c and fuzz.c, once for each run.
 */
#include <sys/resource.h>

#include "sim.h"

extern bool sim_traced;

static uint32_t one_of(struct sim_random *random, const uint32_t *values,
		       unsigned int count)
{
	return values[sim_random_below(random, count)];
}

#define ONE_OF(random, ...)                               \
	one_of(random, (const uint32_t[]){ __VA_ARGS__ }, \
	       sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

/**
 * sim_run_choose - choose what is not chosen in the run itself
 * @random: where the choices come from
 *
 * Sets members of sim_run.
 */
void sim_run_choose(struct sim_random *random)
{
	sim_run.fuse = ONE_OF(random, 1, 2, 3, 4, 6, 8, 12, 20, 40, 100);
	sim_run.stalls = ONE_OF(random, 0, 0, 1000, 20000);
	sim_run.alloc_fails = ONE_OF(random, 0, 0, 0, 100, 2000, 30000);
	sim_run.faults = ONE_OF(random, 0, 0, 500, 10000, 100000);
	sim_run.wakes = ONE_OF(random, 0, 0, 500, 5000);
	sim_run.pace = ONE_OF(random, 50, 300, 2000, 20000);
	sim_run.late = ONE_OF(random, 0, 1000, 1000000, 5000000);
	sim_run.calm = !sim_random_below(random, 3);
	if (!sim_random_below(random, 4))
		sim_run.alloc_nth = 1 + sim_random_below(random, 400);
	if (sim_run.calm) {
		sim_run.alloc_fails = 0;
		sim_run.alloc_nth = 0;
		sim_run.faults = 0;
	}
	sim_traced = !sim_random_below(random, 4);
	if (!sim_run.calm)
		sim_run.refusals = ONE_OF(random, 0, 0, 10000, 300000);
	sim_run.refused_row = ONE_OF(random, 1, 1, 2, 5);
	if (!sim_run.calm)
		sim_run.kills = ONE_OF(random, 0, 0, 300000);
	if (!sim_run.calm && !sim_random_below(random, 3))
		sim_run.jolts = ONE_OF(random, 300, 3000, 30000);
}

/* A run takes a second or two of a processor with sanitizers, and much less without. */
#define RUN_SECONDS 100

/**
 * sim_run_limit - have SIGXCPU end a run that hangs
 *
 * Threads that run in circles are found by counting their steps. This is for a loop in which
 * a thread takes no step. It counts the time of a processor, which does not pass while the
 * machine does something else.
 */
void sim_run_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_CPU, &limit) && limit.rlim_cur > RUN_SECONDS) {
		limit.rlim_cur = RUN_SECONDS;
		setrlimit(RLIMIT_CPU, &limit);
	}
}
