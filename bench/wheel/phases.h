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
 * @PASSED_OVER: entries that were walked and left in place, per timer as for @WALKED
 * @CASCADED: entries that were walked and moved down a level, per timer as for @WALKED
 * @WAKEUPS: number of the worker's wake-ups
 * @IDLE: number of wake-ups in which nothing expired
 * @DUE_WALKED: the most entries walked in one wake-up before its last due timer
 *	expired, counted in whole slices of HWTIMER_HOLD
 * @DUE_NS: the longest time from a wake-up until its last due timer expired
 * @WAKEUP_NS: the longest wake-up, including the cascade of later timers
 * @CHUNK_BYTES: the most bytes of chunks, including spare ones
 * @WHEEL_BYTES: bytes of the buckets
 * @FIGURES: number of figures
 */
enum figure {
	SCHEDULE_NS,
	CANCEL_NS,
	EXPIRE_NS,
	WALKED,
	PASSED_OVER,
	CASCADED,
	WAKEUPS,
	IDLE,
	DUE_WALKED,
	DUE_NS,
	WAKEUP_NS,
	CHUNK_BYTES,
	WHEEL_BYTES,
	FIGURES,
};

/**
 * struct best - the shortest time of each wake-up in all runs of a series
 * @count: number of wake-ups
 * @room: capacity of the arrays
 * @due_ns: for each wake-up, its time as in DUE_NS
 * @ns: for each wake-up, its time as in WAKEUP_NS
 *
 * All runs of a series do the same work. Disturbances by the rest of the machine seldom
 * hit the same wake-up in all of them, so the shortest time is free of them.
 */
struct best {
	u32 count;
	u32 room;
	u32 *due_ns;
	u32 *ns;
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
 * @best: the best times of the series; NULL: the run belongs to none
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
	struct best *best;
	double figures[FIGURES];
};

void run_measure(struct run *run);

#endif /* BENCH_PHASES_H */
