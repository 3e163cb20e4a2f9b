/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wheel: which timers are due at a tick. A pure data structure without a
 * lock, a clock or an allocation of its own: callers hold the lock of the
 * instance, say what time it is, bring the memory, and keep spare chunks in
 * the pool. Used by the instance.
 *
 * There are two kinds behind this interface. What they share is in
 * hwtimer_wheel.c: buckets of entries, and how they are walked. Where the
 * bucket of a tick is, and which is next, is in hwtimer_hashed.c and
 * hwtimer_hierarchy.c.
 */
#ifndef HWTIMER_WHEEL_H
#define HWTIMER_WHEEL_H

#include <linux/log2.h>
#include <linux/math.h>
#include <linux/minmax.h>

#include <uapi/linux/hwtimer.h>

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
 * struct hwtimer_bucket - the timers that are looked for in the same place
 * @entries: in the order in which they were scheduled
 * @earliest: no live timer in the bucket has an earlier tick;
 *	HWTIMER_TICK_NONE if there is none
 */
struct hwtimer_bucket {
	struct hwtimer_queue entries;
	u64 earliest;
};

/** HWTIMER_NOWHERE - the number of no bucket */
#define HWTIMER_NOWHERE U32_MAX

/**
 * struct hwtimer_walk - a bucket that is being looked through
 * @source: entries still to be looked at
 * @kept: entries that go back
 * @earliest: tick of @kept
 * @tick: entries of this tick and before are due
 * @time: when that tick begins, ns: a timer without slack is due if its deadline
 *	is not later
 * @floor: the tick that due entries are taken for when they are moved; 0: they
 *	are not moved
 * @bucket: whose entries they are
 * @active: whether there is a bucket
 * @expires: what is due expires from here
 * @cascades: what is not due moves down a level if it can
 *
 * While the lock is dropped between two slices, new entries go to the end of
 * @source, or, in a walk of what is due, gather in the bucket itself and follow
 * @kept when the walk ends.
 */
struct hwtimer_walk {
	struct hwtimer_queue source;
	struct hwtimer_queue kept;
	u64 earliest;
	u64 tick;
	u64 time;
	u64 floor;
	u32 bucket;
	bool active;
	bool expires;
	bool cascades;
};

/**
 * struct hwtimer_wheel_stats - what the wheel has done so far
 * @walked: entries looked at
 * @passed_over: of those, left where they were
 * @refiled: of those, of timers that were postponed, moved on to their new tick
 * @cascaded: of those, moved down a level
 * @buried: of those, dead and removed
 * @compactions: passes begun by hwtimer_wheel_compact()
 */
struct hwtimer_wheel_stats {
	u64 walked;
	u64 passed_over;
	u64 refiled;
	u64 cascaded;
	u64 buried;
	u64 compactions;
};

/**
 * struct hwtimer_shape - what a wheel is like
 * @tick: ns, at least 1,000
 * @kind: HWTIMER_KIND_HASHED or HWTIMER_KIND_HIERARCHICAL
 * @buckets: a power of two from HWTIMER_BUCKETS_MIN to HWTIMER_BUCKETS_MAX; of
 *	the lowest level
 */
struct hwtimer_shape {
	u64 tick;
	u32 kind;
	u32 buckets;
};

/**
 * struct hwtimer_scale - how time is divided into ticks
 * @base: ns on the instance's clock at tick 0
 * @tick: ns
 * @reciprocal: of the tick, see hwtimer_wheel_set_tick()
 * @shift: belongs to it
 */
struct hwtimer_scale {
	u64 base;
	u64 tick;
	u64 reciprocal;
	u32 shift;
};

#define HWTIMER_TOURNAMENT_LEVELS 7

/**
 * struct hwtimer_hashed - what a hashed wheel has besides its buckets
 * @levels: the tournament of the buckets' earliest ticks: an element of level
 *	0 is the minimum of 8 neighbouring buckets, one of level n + 1 that of
 *	8 elements of level n; the last level has one element
 * @nr_levels: how many there are
 * @mask: number of buckets minus 1
 */
struct hwtimer_hashed {
	u64 *levels[HWTIMER_TOURNAMENT_LEVELS];
	unsigned int nr_levels;
	u32 mask;
};

#define HWTIMER_LEVELS_MAX 12

/**
 * struct hwtimer_level - a level of a hierarchical wheel
 * @end: the first tick that the level does not reach
 * @direct: entries before this tick that no lower level reaches go to this one:
 *	above it there is nothing of such a tick. Not beyond @end
 * @occupied: a bit for each bucket that has entries, or is being walked
 * @loose: a bit for each of those that has entries which will have to move down
 * @heavy: a bit for each of those that had better do so before it is due
 */
struct hwtimer_level {
	u64 end;
	u64 direct;
	u64 occupied;
	u64 loose;
	u64 heavy;
};

/**
 * struct hwtimer_hierarchy - what a hierarchical wheel has besides its buckets
 * @occupied: a bit for each bucket of level 0 that has entries
 * @summary: a bit for each word of @occupied that is not 0
 * @mask: number of buckets of level 0 minus 1
 * @shift: log2 of the width of a bucket of level 1, in ticks
 * @nr_levels: how many there are, level 0 included
 * @nonempty: a bit for each level that has an occupied bucket
 * @position: the tick from which distances are measured: nothing before it is
 *	in the wheel. Behind the current tick only during a turn
 * @levels: of level 0, only @end and @direct are used
 */
struct hwtimer_hierarchy {
	unsigned long *occupied;
	unsigned long *summary;
	u32 mask;
	u8 shift;
	u8 nr_levels;
	u16 nonempty;
	u64 position;
	struct hwtimer_level levels[HWTIMER_LEVELS_MAX];
};

/**
 * struct hwtimer_rewind - a wheel that goes back to an earlier tick
 * @fresh: entries that have come while others are being taken out
 * @walk: its source are the entries that have been taken out of their buckets;
 *	active when these are filed anew
 * @tick: the one to which the wheel goes back
 * @next: the bucket to be emptied next
 * @active: whether this is going on
 * @again: to be done once more when it is over
 */
struct hwtimer_rewind {
	struct hwtimer_queue fresh;
	struct hwtimer_walk walk;
	u64 tick;
	u32 next;
	bool active;
	bool again;
};

/**
 * struct hwtimer_wheel - a timing wheel
 * @table: where the records are
 * @pool: where chunks come from and go to
 * @shape: what it is like
 * @buckets: @nr_buckets of them
 * @nr_buckets: of all levels
 * @scale: how ticks are counted
 * @current_tick: all earlier ticks and this one have been turned, or are being, or
 *	there was nothing to turn
 * @entries: in all buckets, live and dead
 * @postponed: live entries whose timers have moved to a later tick
 * @walk: the bucket that is due
 * @ahead: the bucket that is moved down a level before it is due
 * @sweep: the bucket that hwtimer_wheel_compact() is in
 * @sweep_next: where the compaction goes on
 * @sweeping: whether a compaction is going on
 * @buries: there was a dead entry in the last chunk that was walked
 * @rewinds: hwtimer_wheel_rewind() may come
 * @rewind: how that goes on
 * @hashed: if it is of that kind
 * @hierarchy: if it is of that kind
 * @stats: counters
 */
struct hwtimer_wheel {
	const struct hwtimer_table *table;
	struct hwtimer_pool *pool;
	struct hwtimer_shape shape;
	struct hwtimer_bucket *buckets;
	u32 nr_buckets;
	struct hwtimer_scale scale;
	u64 current_tick;
	u64 entries;
	u64 postponed;
	struct hwtimer_walk walk;
	struct hwtimer_walk ahead;
	struct hwtimer_walk sweep;
	u32 sweep_next;
	bool sweeping;
	bool buries;
	bool rewinds;
	struct hwtimer_rewind rewind;
	union {
		struct hwtimer_hashed hashed;
		struct hwtimer_hierarchy hierarchy;
	};
	struct hwtimer_wheel_stats stats;
};

/**
 * struct hwtimer_outlook - what may become of the timers of a wheel
 * @adds: timers that are about to be added
 * @moves: timers that are about to be moved
 * @resting: timers that may be added later, without having been announced again
 * @expiring: timers that may expire, as often as they may without being announced
 * @queued: those that have expired, and wait in a queue from the wheel's pool
 */
struct hwtimer_outlook {
	u32 adds;
	u32 moves;
	u32 resting;
	u64 expiring;
	u64 queued;
};

size_t hwtimer_wheel_memory(const struct hwtimer_shape *shape);
unsigned int hwtimer_wheel_levels(const struct hwtimer_shape *shape);
void hwtimer_wheel_set_tick(struct hwtimer_wheel *wheel, u64 tick, u64 base);
void hwtimer_wheel_init(struct hwtimer_wheel *wheel,
			const struct hwtimer_shape *shape, void *memory,
			u64 base, u64 now);
void hwtimer_wheel_drain(struct hwtimer_wheel *wheel);

u64 hwtimer_wheel_tick_at(const struct hwtimer_wheel *wheel, u64 now);
u64 hwtimer_wheel_time_of(const struct hwtimer_wheel *wheel, u64 tick);
u8 hwtimer_wheel_align(const struct hwtimer_wheel *wheel, u64 slack);
u64 hwtimer_wheel_slack(const struct hwtimer_wheel *wheel, u8 align);

void hwtimer_wheel_add(struct hwtimer_wheel *wheel,
		       const struct hwtimer_record *record, u32 index);
void hwtimer_wheel_move(struct hwtimer_wheel *wheel,
			struct hwtimer_record *record, u32 index, u64 deadline);
u64 hwtimer_wheel_next(const struct hwtimer_wheel *wheel);
bool hwtimer_wheel_busy(const struct hwtimer_wheel *wheel);
unsigned int hwtimer_wheel_advance(struct hwtimer_wheel *wheel, u64 now,
				   u32 *due);
u64 hwtimer_wheel_stride(const struct hwtimer_wheel *wheel);
bool hwtimer_wheel_forward(struct hwtimer_wheel *wheel, u64 now);
void hwtimer_wheel_rewind(struct hwtimer_wheel *wheel, u64 now);
void hwtimer_wheel_rewind_step(struct hwtimer_wheel *wheel);
void hwtimer_wheel_skim(struct hwtimer_wheel *wheel, unsigned int max);
void hwtimer_wheel_compact(struct hwtimer_wheel *wheel, bool begin);
u64 hwtimer_wheel_reserve(const struct hwtimer_wheel *wheel,
			  const struct hwtimer_outlook *outlook);

/*
 * The high half of a product. mul_u64_u64_shr() takes four multiplications for it
 * where the architecture does not say that its compiler has 128-bit numbers; that
 * of a 64-bit kernel has.
 */
static inline u64 hwtimer_mul_high(u64 a, u64 b)
{
	return ((__uint128_t)a * b) >> 64;
}

/*
 * @time in whole ticks. The quotient by the reciprocal is never too large, and
 * by less than 2 too small.
 */
static inline u64 hwtimer_scale_ticks(const struct hwtimer_scale *scale,
				      u64 time)
{
	u64 ticks = hwtimer_mul_high(time, scale->reciprocal) >> scale->shift;

	return ticks + (time - ticks * scale->tick >= scale->tick);
}

/**
 * hwtimer_scale_tick_of - the tick at which a deadline has passed
 * @scale: of a wheel
 * @deadline: ns
 *
 * Rounds up, so that nothing is early. A deadline before the base is tick 0.
 */
static inline u64 hwtimer_scale_tick_of(const struct hwtimer_scale *scale,
					u64 deadline)
{
	if (unlikely(deadline <= scale->base))
		return 0;
	return hwtimer_scale_ticks(scale, deadline - scale->base - 1) + 1;
}

/* The same for @wheel. */
static inline u64 hwtimer_wheel_tick_of(const struct hwtimer_wheel *wheel,
					u64 deadline)
{
	return hwtimer_scale_tick_of(&wheel->scale, deadline);
}

/**
 * hwtimer_wheel_remove - a timer ends
 * @wheel: the wheel
 * @record: in the wheel
 *
 * Touches nothing but the record.
 */
static inline void hwtimer_wheel_remove(struct hwtimer_wheel *wheel,
					struct hwtimer_record *record)
{
	record->stamp++;
	if (unlikely(record->postponed)) {
		record->postponed = false;
		wheel->postponed--;
	}
}

#endif /* HWTIMER_WHEEL_H */
