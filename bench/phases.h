/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Takes a system through the phases, which are the same for all, and times each.
 */
#ifndef BENCH_PHASES_H
#define BENCH_PHASES_H

#include "system.h"

/**
 * struct run - the settings of one measurement
 * @system: the system
 * @variant: index of the variant in the system's names
 * @timers: number of timers
 * @tick: length of a tick, ns; 0: the system's own
 * @lead: factor by which the time to the first deadline exceeds the expected need
 * @unseen: work in interrupts cannot be timed here
 * @idle: time without timers before the measured round, ns
 * @cpu: the processor to run on
 * @seed: seed of the random numbers
 */
struct run {
	const struct system *system;
	unsigned int variant;
	__u32 timers;
	__u64 tick;
	double lead;
	bool unseen;
	__u64 idle;
	int cpu;
	__u64 seed;
};

/*
 * Each function ends the program unless every timer was delivered once. The exit status
 * is SYSTEM_LATE if @lead was too short.
 */

/* Runs all phases and emits their figures. */
void phases_run(const struct run *run);

/* Lets all timers expire in one tick; emits the time until the last is delivered. */
void phases_burst(const struct run *run);

/* Measures expiry and delivery at each timer's own deadline, as in a real program. */
void phases_ticks(const struct run *run);

/* Times nothing: checks that all events come and none is early. */
void phases_check(const struct run *run);

#endif /* BENCH_PHASES_H */
