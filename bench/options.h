/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The benchmark's command line.
 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <linux/types.h>

#define LIST_MAX 32
#define REPS_MAX 101

/**
 * struct list - numbers of an option: 1000,2000,3000
 * @count: how many
 * @values: they
 */
struct list {
	__u32 count;
	__u32 values[LIST_MAX];
};

/**
 * struct options - the command line
 * @timers: numbers of timers
 * @buckets: numbers of buckets
 * @kind: of wheel, enum hwtimer_kind
 * @horizon: over how long the deadlines are spread, ns
 * @tick: ns, 0 for the default
 * @reps: runs that the medians are taken of
 */
struct options {
	struct list timers;
	struct list buckets;
	__u32 kind;
	__u64 horizon;
	__u64 tick;
	__u32 reps;
};

/* Overwrites what the command line says, and ends the program if it is wrong. */
void options_parse(struct options *options, int argc, char **argv);

#endif /* BENCH_OPTIONS_H */
