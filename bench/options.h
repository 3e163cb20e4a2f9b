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
 * @variants: text that the name of a variant must contain; NULL: all variants
 * @where: the name of the place where this runs, for the results
 * @rep: number of this repetition, which determines the order of the systems
 * @turn: number of this turn with a rival, in which only the phases are measured,
 *	without the burst and the ticks; 0: no turns
 * @calls: limit of the system calls of a measurement; lowers the number of its timers
 * @ticks: also measure expiry tick by tick
 * @unseen: work in interrupts cannot be timed here
 * @idle: time without timers before the measured round, s; only the phases are measured
 * @extras: measure what extra.h lists instead of the phases
 * @extra: name of the only extra that is wanted; NULL: all
 * @pairs: number of pairs for extra_dead()
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
	__u32 idle;
	bool extras;
	const char *extra;
	__u32 pairs;
	bool check;
};

/* Ends the program if the command line is wrong. */
void options_parse(struct options *options, int argc, char **argv);

/* Returns whether the command line selects a system. */
bool options_want_system(const struct options *options, const char *system);

/* Returns whether the command line selects a variant of a system. */
bool options_want(const struct options *options, const char *system,
		  const char *variant);

#endif /* BENCH_OPTIONS_H */
