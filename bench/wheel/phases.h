/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measures one run: the costs of a workload on a wheel of its own.
 */
#ifndef BENCH_PHASES_H
#define BENCH_PHASES_H

#include "ledger.h"

/**
 * enum figure - the figures that a run measures
 * @SCHEDULE_NS: time per scheduled timer
 * @CANCEL_NS: time per cancelled timer, including the compaction that cancels cause
 * @EXPIRE_NS: time per expired timer; in CANCEL the worker's time per cancelled timer
 * @WALKED: entries walked per expired timer; in CANCEL per cancelled timer
 * @CASCADED: entries that were walked and moved down a level, per timer as for @WALKED
 * @WAKEUPS: number of the worker's wake-ups
 * @FIGURES: number of figures
 */
enum figure {
	SCHEDULE_NS,
	CANCEL_NS,
	EXPIRE_NS,
	WALKED,
	CASCADED,
	WAKEUPS,
	FIGURES,
};

/**
 * struct run - one run
 * @shape: shape of the wheel
 * @workload: the workload
 * @timers: the timers; in CANCEL those of one second
 * @order: numbers of the timers that are scheduled first, in random order
 * @count: number of timers
 * @late: number of timers, from the end of @timers, that are scheduled late: one after
 *	each wake-up, from which its delay then counts
 * @cancelled: number of timers, from the front of @order, that are cancelled before they
 *	expire
 * @thorough: check the expired timers after each wake-up, when the time of their expiry
 *	is certain; the timings then have no meaning
 * @figures: out: the figures
 */
struct run {
	struct hwtimer_shape shape;
	enum workload workload;
	struct timer *timers;
	u32 *order;
	u32 count;
	u32 late;
	u32 cancelled;
	bool thorough;
	double figures[FIGURES];
};

void run_measure(struct run *run);

#endif /* BENCH_PHASES_H */
