/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The choice between the two kinds of wheel: each function calls that of the wheel's kind. An
 * instance starts with a small hashed wheel, and goes on with a hierarchical one; no program
 * chooses. In a hashed wheel, each timer that is due has a walk pass over those of later rounds
 * in its bucket. memory/start.c bounds their number.
 *
 * A kind decides which bucket an entry belongs in, keeps track of the occupied
 * buckets, and finds the one that is due first. The choice is a branch on the kind,
 * which the processor predicts. A table of function pointers would cost more than the
 * work itself on processors with mitigations.
 */
#ifndef HWTIMER_KINDS_H
#define HWTIMER_KINDS_H

#include "wheel/hashed.h"
#include "wheel/hierarchy.h"

static inline bool hwtimer_shape_hashed(const struct hwtimer_shape *shape)
{
	return shape->kind == HWTIMER_KIND_HASHED;
}

static inline bool hwtimer_is_hashed(const struct hwtimer_wheel *wheel)
{
	return hwtimer_shape_hashed(&wheel->shape);
}

/* How many buckets a wheel has, on all levels together. */
static inline u32 hwtimer_kind_buckets(const struct hwtimer_shape *shape)
{
	return hwtimer_shape_hashed(shape) ? shape->buckets :
					     hwtimer_hierarchy_buckets(shape);
}

/* How many bytes a wheel needs behind its buckets. */
static inline size_t hwtimer_kind_memory(const struct hwtimer_shape *shape)
{
	return hwtimer_shape_hashed(shape) ? 0 :
					     hwtimer_hierarchy_memory(shape);
}

/* Sets up a wheel whose buckets are all empty and which has been turned to @tick. */
static inline void hwtimer_kind_init(struct hwtimer_wheel *wheel, u64 tick)
{
	if (hwtimer_is_hashed(wheel))
		hwtimer_hashed_init(wheel);
	else
		hwtimer_hierarchy_init(wheel, tick);
}

/*
 * Does what hwtimer_kind_init() does, in constant time, for a wheel whose buckets have all been
 * settled as empty.
 */
static inline void hwtimer_kind_restart(struct hwtimer_wheel *wheel, u64 tick)
{
	if (!hwtimer_is_hashed(wheel))
		hwtimer_hierarchy_restart(wheel, tick);
}

/* The bucket for a new entry of @tick, which has not been turned yet. */
static inline u32 hwtimer_kind_place(const struct hwtimer_wheel *wheel,
				     u64 tick)
{
	return hwtimer_is_hashed(wheel) ? hwtimer_hashed_place(wheel, tick) :
					  hwtimer_hierarchy_place(wheel, tick);
}

/*
 * An entry whose tick is before the tick returned here, and after the current one, goes
 * to bucket tick & (number of buckets of the lowest level - 1). New entries do not
 * change that: see hwtimer_hierarchy_occupy().
 */
static inline u64 hwtimer_kind_direct(const struct hwtimer_wheel *wheel)
{
	return hwtimer_is_hashed(wheel) ? HWTIMER_TICK_NONE :
					  wheel->hierarchy.levels[0].direct;
}

/* The bucket for an entry of @tick that @walk has found. */
static inline u32 hwtimer_kind_home(const struct hwtimer_wheel *wheel,
				    const struct hwtimer_walk *walk, u64 tick)
{
	return hwtimer_is_hashed(wheel) ?
		       hwtimer_hashed_place(wheel, tick) :
		       hwtimer_hierarchy_home(wheel, walk, tick);
}

/*
 * Bucket @nr has got an entry of @tick. Usually it holds an earlier entry, so that it
 * is known to be occupied.
 */
static inline void hwtimer_kind_occupy(struct hwtimer_wheel *wheel, u32 nr,
				       u64 tick)
{
	if (likely(wheel->buckets[nr].earliest <= tick &&
		   nr < wheel->shape.buckets))
		return;
	if (hwtimer_is_hashed(wheel))
		hwtimer_hashed_occupy(wheel, nr, tick);
	else
		hwtimer_hierarchy_occupy(wheel, nr, tick);
}

/*
 * The earliest tick in bucket @nr is @tick. HWTIMER_TICK_NONE means that the bucket is
 * empty.
 */
static inline void hwtimer_kind_settle(struct hwtimer_wheel *wheel, u32 nr,
				       u64 tick)
{
	if (hwtimer_is_hashed(wheel))
		hwtimer_hashed_settle(wheel, nr, tick);
	else
		hwtimer_hierarchy_settle(wheel, nr, tick);
}

/*
 * Returns the earliest tick of all buckets, and its bucket in *@nr. Not to be called
 * during a walk of a due bucket.
 */
static inline u64 hwtimer_kind_first(const struct hwtimer_wheel *wheel, u32 *nr)
{
	return hwtimer_is_hashed(wheel) ? hwtimer_hashed_first(wheel, nr) :
					  hwtimer_hierarchy_first(wheel, nr);
}

/* The wheel no longer holds anything before @tick. */
static inline void hwtimer_kind_arrive(struct hwtimer_wheel *wheel, u64 tick)
{
	if (!hwtimer_is_hashed(wheel))
		hwtimer_hierarchy_arrive(wheel, tick);
}

/*
 * Whether the timers in bucket @nr that are due at @tick, the bucket's earliest,
 * expire from this bucket. Otherwise they have to move down first.
 */
static inline bool hwtimer_kind_expires(const struct hwtimer_wheel *wheel,
					u32 nr, u64 tick)
{
	return hwtimer_is_hashed(wheel) ||
	       hwtimer_hierarchy_expires(wheel, nr, tick);
}

/*
 * The buckets that are due next: bucket @nr, which hwtimer_kind_first() has found, and more of
 * successive ticks, if that is easy to tell.
 */
static inline struct hwtimer_run
hwtimer_kind_run(const struct hwtimer_wheel *wheel, u32 nr, u64 tick)
{
	if (hwtimer_is_hashed(wheel))
		return (struct hwtimer_run){
			.occupied = 1,
			.nr = nr,
			.tick = tick,
		};
	return hwtimer_hierarchy_run(wheel, nr, tick);
}

/*
 * Buckets of @run have become empty, at least one: the first ones, a bit of @emptied for each.
 * Their earliest ticks are HWTIMER_TICK_NONE already.
 */
static inline void hwtimer_kind_emptied(struct hwtimer_wheel *wheel,
					const struct hwtimer_run *run,
					unsigned long emptied)
{
	if (hwtimer_is_hashed(wheel))
		hwtimer_hashed_settle(wheel, run->nr, HWTIMER_TICK_NONE);
	else
		hwtimer_hierarchy_emptied(wheel, run, emptied);
}

/* Whether the entries of bucket @nr may move down a level now. */
static inline bool hwtimer_kind_cascades(const struct hwtimer_wheel *wheel,
					 u32 nr)
{
	return !hwtimer_is_hashed(wheel) &&
	       hwtimer_hierarchy_cascades(wheel, nr);
}

/* Whether it cascades, and has entries that move down: not all are of its first tick. */
static inline bool hwtimer_kind_moves(const struct hwtimer_wheel *wheel, u32 nr)
{
	return !hwtimer_is_hashed(wheel) && hwtimer_hierarchy_moves(wheel, nr);
}

/*
 * Notes whether bucket @nr, of which hwtimer_kind_cascades() is true, has entries that
 * will have to move down.
 */
static inline void hwtimer_kind_loosen(struct hwtimer_wheel *wheel, u32 nr,
				       bool loose)
{
	hwtimer_hierarchy_loosen(wheel, nr, loose);
}

/*
 * A bucket whose entries should move down before it is due, or HWTIMER_NOWHERE if
 * there is none yet.
 */
static inline u32 hwtimer_kind_ahead(const struct hwtimer_wheel *wheel)
{
	return hwtimer_is_hashed(wheel) ? HWTIMER_NOWHERE :
					  hwtimer_hierarchy_ahead(wheel);
}

/*
 * The tick from which on hwtimer_kind_ahead() finds a bucket. It may have passed.
 * HWTIMER_TICK_NONE: no bucket waits for that.
 */
static inline u64 hwtimer_kind_ahead_tick(const struct hwtimer_wheel *wheel)
{
	return hwtimer_is_hashed(wheel) ? HWTIMER_TICK_NONE :
					  hwtimer_hierarchy_ahead_tick(wheel);
}

#endif /* HWTIMER_KINDS_H */
