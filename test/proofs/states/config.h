/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an exploration explores; the command line of the program says it.
 */
#ifndef STATES_CONFIG_H
#define STATES_CONFIG_H

#include <linux/types.h>

#define TIMES_MAX 64

/**
 * struct config - an exploration
 * @kind: the kind of wheel
 * @buckets: number of buckets of the lowest level
 * @tick_shift: log2 of the length of a tick, ns. Long ticks make few levels
 * @timers: number of timers
 * @dead: maximum number of dead entries; no operation makes more of them
 * @times: the ticks to which the clock is set and at which timers are due, in ascending
 *	order
 * @nr_times: number of elements of @times
 * @moves: timers are rescheduled
 * @rewinds: the clock is set back
 * @compacts: compactions remove dead entries
 * @slack: timers may have slack
 * @quiet: print no progress
 * @limit: number of states after which the exploration is given up; 0: none
 */
struct config {
	u32 kind;
	u32 buckets;
	u32 tick_shift;
	u32 timers;
	u32 dead;
	u64 times[TIMES_MAX];
	u32 nr_times;
	bool moves;
	bool rewinds;
	bool compacts;
	bool slack;
	bool quiet;
	u64 limit;
};

extern struct config config;

#endif /* STATES_CONFIG_H */
