/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One run: a workload on a wheel of its own, and what it costs.
 */
#ifndef BENCH_PHASES_H
#define BENCH_PHASES_H

#include "ledger.h"

/**
 * enum figure - what a run measures
 * @SCHEDULE_NS: per timer scheduled
 * @CANCEL_NS: per timer cancelled, with the compaction that this brings about
 * @EXPIRE_NS: per timer expired; of CANCEL: of the worker, per timer cancelled
 * @WALKED: entries looked at, here and below per timer expired, or cancelled if
 *	the workload is CANCEL
 * @PASSED_OVER: of those, left where they were
 * @CASCADED: of those, moved down a level
 * @WAKEUPS: of the worker, in all
 * @IDLE: of those, in which nothing expired
 * @DUE_WALKED: most entries looked at in one wake-up before the last timer that
 *	was due expired; counted in slices of HWTIMER_HOLD
 * @DUE_NS: longest time from a wake-up until then
 * @WAKEUP_NS: longest wake-up, with what is moved down for later
 * @CHUNK_BYTES: most bytes of chunks, spare ones included
 * @WHEEL_BYTES: the buckets
 * @FIGURES: their number
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
 * struct best - the shortest that each wake-up took in any run of a series
 * @count: of wake-ups
 * @room: for so many
 * @due_ns: as DUE_NS
 * @ns: as WAKEUP_NS
 *
 * All runs of a series are the same but for what else the machine does. That is
 * seldom at the same wake-up in all of them.
 */
struct best {
	u32 count;
	u32 room;
	u32 *due_ns;
	u32 *ns;
};

/**
 * struct run - one run
 * @shape: of the wheel
 * @workload: of its timers
 * @timers: they; of CANCEL, as many as come in a second
 * @order: numbers of those that are scheduled first, at random
 * @count: how many there are
 * @late: so many of the last ones are scheduled later, one after each wake-up,
 *	and their deadlines with them
 * @cancelled: so many from the front of @order are cancelled before they expire
 * @thorough: look at what has expired after each wake-up, when it is certain
 *	when that was; what is timed then has no meaning
 * @best: of the series; NULL: it is none
 * @figures: out: what came of it
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
