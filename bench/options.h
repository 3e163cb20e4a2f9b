/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line of timer-bench.
 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>
#include <linux/types.h>

#include "parse.h"

/**
 * struct options - the command line
 * @timers: the numbers of timers to measure
 * @systems: names of the systems, with commas between them; NULL: all
 * @variants: a part of the names of the variants; NULL: all variants
 * @where: the name of the place where this runs, for the results
 * @rep: number of this repetition, which determines the order of the systems
 * @turn: number of this turn with a rival, in which only the phases are measured,
 *	without the burst and the ticks; 0: no turns
 * @calls: the most system calls of a measurement, which has fewer timers if they would
 *	take more
 * @ticks: also measure expiry tick by tick
 * @unseen: work in interrupts cannot be timed here
 * @extras: measure what extra.h lists instead of the phases
 * @pairs: number of pairs for extra_dead()
 * @crowd: number of timers for extra_crowd() and extra_rings()
 * @check: measure nothing; only check that all timers are delivered
 */
struct options {
	struct list timers;
	const char *systems;
	const char *variants;
	const char *where;
	__u32 rep;
	__u32 turn;
	__u32 calls;
	bool ticks;
	bool unseen;
	bool extras;
	__u32 pairs;
	__u32 crowd;
	bool check;
};

/* Ends the program if the command line is wrong. */
void options_parse(struct options *options, int argc, char **argv);

/* Whether the command line selects a system, and a variant of it */
bool options_want_system(const struct options *options, const char *system);
bool options_want(const struct options *options, const char *system,
		  const char *variant);

#endif /* BENCH_OPTIONS_H */
