/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The phases that every system goes through, and how each is timed.
 */
#ifndef BENCH_PHASES_H
#define BENCH_PHASES_H

#include "system.h"

/**
 * struct run - one measurement
 * @system: of what
 * @variant: of that
 * @timers: how many
 * @tick: ns; 0: the system's own
 * @lead: how much longer than expected it is until the first deadline
 * @unseen: what happens in interrupts cannot be timed here
 * @cpu: the processor it is bound to
 * @seed: of all that is random
 */
struct run {
	const struct system *system;
	unsigned int variant;
	__u32 timers;
	__u64 tick;
	double lead;
	bool unseen;
	int cpu;
	__u64 seed;
};

/*
 * Each ends the program unless every timer was delivered once; with SYSTEM_LATE
 * if @lead was too short.
 */

/* All phases; emits the figures. */
void phases_run(const struct run *run);

/* All in one tick: what it costs, and how late the last is */
void phases_burst(const struct run *run);

/* Expiry as it is in life: whenever something is due */
void phases_ticks(const struct run *run);

/* Nothing is timed: events are awaited, and none may be early. */
void phases_check(const struct run *run);

#endif /* BENCH_PHASES_H */
