/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line of hwtimer-wheel-bench.
 */
#ifndef BENCH_ARGUMENTS_H
#define BENCH_ARGUMENTS_H

#include "../parse.h"
#include "timers.h"

#define BUCKETS_MAX 8
#define REPS_MAX 101

/**
 * struct arguments - the command line
 * @timers: number of timers
 * @buckets: numbers of buckets, at most BUCKETS_MAX
 * @workloads: for each workload, whether to run it
 * @reps: number of runs per median
 * @slack: measure what slack saves, not what timers cost
 * @check: measure nothing; only check that the wheels are right
 */
struct arguments {
	u32 timers;
	struct list buckets;
	bool workloads[WORKLOADS];
	u32 reps;
	bool slack;
	bool check;
};

/* Ends the program if the command line is wrong. */
void arguments_parse(struct arguments *arguments, int argc, char **argv);

#endif /* BENCH_ARGUMENTS_H */
