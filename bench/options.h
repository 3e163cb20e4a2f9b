/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The benchmark's command line.
 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>
#include <linux/types.h>

#include "parse.h"

/**
 * struct options - the command line
 * @timers: numbers of timers
 * @systems: which, as names with commas between; NULL: all
 * @variants: of those, the ones whose names contain this; NULL: all
 * @where: a name for where this runs, for the results
 * @rep: the number of this repetition; the order of the systems goes by it
 * @turn: the number of the turn that it takes with a rival, of which only the
 *	phases are measured; 0: it takes none
 * @calls: system calls that a measurement may make; it has fewer timers
 *	otherwise
 * @ticks: measure expiry tick by tick, too
 * @unseen: what happens in interrupts cannot be timed here
 * @extras: answer the other questions, not the phases
 * @pairs: of that about dead entries
 * @crowd: of that about a crowd that expires
 * @check: measure nothing, but find out whether all is delivered
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

bool options_want_system(const struct options *options, const char *system);
bool options_want(const struct options *options, const char *system,
		  const char *variant);

#endif /* BENCH_OPTIONS_H */
