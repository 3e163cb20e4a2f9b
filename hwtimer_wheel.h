/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wheel: which timers are due at a tick. A pure data structure without a
 * lock, a clock or an allocation of its own: callers hold the lock of the
 * instance, say what time it is, bring the memory, and keep spare chunks in
 * the pool. Used by the instance; the hashed wheel is in hwtimer_wheel.c.
 */
#ifndef HWTIMER_WHEEL_H
#define HWTIMER_WHEEL_H

#include <linux/log2.h>
#include <linux/math.h>
#include <linux/minmax.h>

#include "hwtimer_chunk.h"
#include "hwtimer_table.h"

/** HWTIMER_TICK_NONE - the tick that never comes, also in ns */
#define HWTIMER_TICK_NONE U64_MAX

#define HWTIMER_BUCKETS_MIN 8U
#define HWTIMER_BUCKETS_MAX 1048576U

/**
 * HWTIMER_HOLD - most timers that one hold of an instance's lock deals with
 */
#define HWTIMER_HOLD 256U

/**
 * struct hwtimer_bucket - the timers that share a tick modulo the wheel's size
 * @entries: in the order in which they were scheduled
 * @earliest: no live timer in the bucket has an earlier tick;
 *	HWTIMER_TICK_NONE if there is none
 */
struct hwtimer_bucket {
	struct hwtimer_queue entries;
	u64 earliest;
};

/**
 * struct hwtimer_walk - a bucket that is being looked through
 * @source: entries still to be looked at
 * @kept: entries that go back
 * @deadline: the earliest of @kept
 * @tick: for which the bucket is looked through
 * @bucket: whose they are
 * @active: whether there is a bucket
 *
 * While the lock is dropped between two slices, new entries gather in the
 * bucket itself; they follow @kept when the walk ends.
 */
struct hwtimer_walk {
	struct hwtimer_queue source;
	struct hwtimer_queue kept;
	u64 deadline;
	u64 tick;
	u32 bucket;
	bool active;
};

/**
 * struct hwtimer_wheel_stats - what the wheel has done so far
 * @walked: entries looked at
 * @passed_over: of those, left where they were
 * @refiled: of those, moved on to their later tick
 * @buried: of those, dead and removed
 * @compactions: passes begun by hwtimer_wheel_compact()
 */
struct hwtimer_wheel_stats {
	u64 walked;
	u64 passed_over;
	u64 refiled;
	u64 buried;
	u64 compactions;
};

#define HWTIMER_WHEEL_LEVELS 7

/**
 * struct hwtimer_wheel - a hashed timing wheel
 * @table: where the records are
 * @pool: where chunks come from and go to
 * @buckets: @mask + 1 of them
 * @levels: the tournament of the buckets' earliest ticks: an element of level
 *	0 is the minimum of 8 neighbouring buckets, one of level n + 1 that of
 *	8 elements of level n; the last level has one element
 * @nr_levels: how many there are
 * @mask: number of buckets minus 1
 * @tick: ns
 * @base: ns on the instance's clock at tick 0
 * @current_tick: all earlier ticks and this one have been turned, or are being
 * @entries: in all buckets, live and dead
 * @postponed: live entries whose timers have moved to a later tick
 * @walk: the bucket that hwtimer_wheel_advance() is in
 * @sweep: the bucket that hwtimer_wheel_compact() is in
 * @sweep_next: where the compaction goes on
 * @sweeping: whether a compaction is going on
 * @stats: counters
 */
struct hwtimer_wheel {
	const struct hwtimer_table *table;
	struct hwtimer_pool *pool;
	struct hwtimer_bucket *buckets;
	u64 *levels[HWTIMER_WHEEL_LEVELS];
	unsigned int nr_levels;
	u32 mask;
	u64 tick;
	u64 base;
	u64 current_tick;
	u64 entries;
	u64 postponed;
	struct hwtimer_walk walk;
	struct hwtimer_walk sweep;
	u32 sweep_next;
	bool sweeping;
	struct hwtimer_wheel_stats stats;
};

size_t hwtimer_wheel_memory(u32 buckets);
void hwtimer_wheel_init(struct hwtimer_wheel *wheel, void *memory, u32 buckets,
			u64 tick, u64 base);
void hwtimer_wheel_drain(struct hwtimer_wheel *wheel);

u64 hwtimer_wheel_tick_of(const struct hwtimer_wheel *wheel, u64 deadline);
u64 hwtimer_wheel_tick_at(const struct hwtimer_wheel *wheel, u64 now);
u64 hwtimer_wheel_time_of(const struct hwtimer_wheel *wheel, u64 tick);

void hwtimer_wheel_add(struct hwtimer_wheel *wheel, u32 index);
void hwtimer_wheel_remove(struct hwtimer_wheel *wheel,
			  struct hwtimer_record *record);
void hwtimer_wheel_move(struct hwtimer_wheel *wheel, u32 index, u64 deadline);
u64 hwtimer_wheel_next(const struct hwtimer_wheel *wheel);
unsigned int hwtimer_wheel_advance(struct hwtimer_wheel *wheel, u64 now,
				   u32 *due);
void hwtimer_wheel_skim(struct hwtimer_wheel *wheel, unsigned int max);
void hwtimer_wheel_compact(struct hwtimer_wheel *wheel, bool begin);
u32 hwtimer_wheel_reserve(const struct hwtimer_wheel *wheel, u32 more);

#endif /* HWTIMER_WHEEL_H */
