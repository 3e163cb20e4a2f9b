/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Takes hwtimer and the floor through the same lives, in turns.
 */
#ifndef BENCH_CORE_MEASURE_H
#define BENCH_CORE_MEASURE_H

#include <stdbool.h>
#include <linux/types.h>

enum phase { SCHEDULE, CANCEL, EXPIRE, PHASES };

extern const char *const phase_names[PHASES];

/**
 * struct row - what is measured
 * @name: name of the row
 * @variant: variant of hwtimer, see ../system_hwtimer.c
 * @aside: what its results add to @variant; NULL: nothing
 * @turns: number of its first turn in its results
 * @timers: number of timers
 * @idle: time between the end of a life and the next one, ns
 * @slack: slack of each timer, ns; only for bulks
 * @stepwise: the program reads at each tick, not once for all of them
 * @floor: the floor takes turns with hwtimer
 */
struct row {
	const char *name;
	const char *variant;
	const char *aside;
	__u32 turns;
	__u32 timers;
	__u64 idle;
	__u64 slack;
	bool stepwise;
	bool floor;
};

/**
 * struct life - what a life took
 * @each: for each phase, ns per timer that went through it
 */
struct life {
	double each[PHASES];
};

/* Schedule, half a cancel, half an expire and deliver: what a timer costs */
double life_whole(const double *each);

/**
 * measure_row - measure a row
 * @row: the row
 * @count: number of pairs
 * @ours: out: @count lives of hwtimer
 * @floors: out: @count lives of the floor; nothing without it
 *
 * Return: bytes of memory that a timer of hwtimer takes at most.
 */
double measure_row(const struct row *row, __u32 count, struct life *ours,
		   struct life *floors);

/*
 * For callgrind: takes the row through one life, after a rehearsal, and has callgrind count
 * each phase. The dumps are named after row, timers and phase, with the number of timers
 * that went through it.
 */
void measure_counts(const struct row *row);

#endif /* BENCH_CORE_MEASURE_H */
