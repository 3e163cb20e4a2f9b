/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kinds of wheel differ in. Used by hwtimer_wheel.c, and by nobody
 * else; the kinds are hwtimer_hashed.c and hwtimer_hierarchy.c.
 *
 * A kind says in which bucket an entry belongs, keeps account of which buckets
 * are occupied, and finds the one that is due first. It is asked by a branch on
 * wheel->shape.kind that the processor predicts, not through a table of
 * functions, which on processors with mitigations costs more than the work.
 */
#ifndef HWTIMER_KINDS_H
#define HWTIMER_KINDS_H

#include "hwtimer_wheel.h"

size_t hwtimer_hashed_memory(const struct hwtimer_shape *shape);
void hwtimer_hashed_init(struct hwtimer_wheel *wheel);
void hwtimer_hashed_clear(struct hwtimer_wheel *wheel, u32 first, u32 end);
void hwtimer_hashed_occupy(struct hwtimer_wheel *wheel, u32 nr, u64 tick);
void hwtimer_hashed_settle(struct hwtimer_wheel *wheel, u32 nr, u64 tick);
u64 hwtimer_hashed_first(const struct hwtimer_wheel *wheel, u32 *nr);

unsigned int hwtimer_hierarchy_levels(const struct hwtimer_shape *shape);
u32 hwtimer_hierarchy_buckets(const struct hwtimer_shape *shape);
unsigned int hwtimer_hierarchy_shift(const struct hwtimer_wheel *wheel,
				     unsigned int level);
size_t hwtimer_hierarchy_memory(const struct hwtimer_shape *shape);
void hwtimer_hierarchy_init(struct hwtimer_wheel *wheel, u64 tick);
void hwtimer_hierarchy_restart(struct hwtimer_wheel *wheel, u64 tick);
void hwtimer_hierarchy_clear(struct hwtimer_wheel *wheel, u32 first, u32 end);
u32 hwtimer_hierarchy_place_above(const struct hwtimer_wheel *wheel, u64 tick);
u32 hwtimer_hierarchy_home(const struct hwtimer_wheel *wheel,
			   const struct hwtimer_walk *walk, u64 tick);
void hwtimer_hierarchy_occupy(struct hwtimer_wheel *wheel, u32 nr, u64 tick);
void hwtimer_hierarchy_settle(struct hwtimer_wheel *wheel, u32 nr, u64 tick);
u64 hwtimer_hierarchy_first(const struct hwtimer_wheel *wheel, u32 *nr);
void hwtimer_hierarchy_arrive(struct hwtimer_wheel *wheel, u64 tick);
bool hwtimer_hierarchy_expires(const struct hwtimer_wheel *wheel, u32 nr,
			       u64 tick);
bool hwtimer_hierarchy_cascades(const struct hwtimer_wheel *wheel, u32 nr);
void hwtimer_hierarchy_loosen(struct hwtimer_wheel *wheel, u32 nr, bool loose);
u64 hwtimer_hierarchy_ahead_tick(const struct hwtimer_wheel *wheel);
u32 hwtimer_hierarchy_ahead(const struct hwtimer_wheel *wheel);

static inline bool hwtimer_is_hashed(const struct hwtimer_wheel *wheel)
{
	return wheel->shape.kind == HWTIMER_KIND_HASHED;
}

/* Whether @walk moves the entries of bucket @nr down. */
static inline bool hwtimer_walk_cascades(const struct hwtimer_walk *walk,
					 u32 nr)
{
	return walk->active && walk->cascades && walk->bucket == nr;
}

/* The bucket for an entry of @tick, which is not before the position. */
static inline u32 hwtimer_hierarchy_place(const struct hwtimer_wheel *wheel,
					  u64 tick)
{
	if (likely(tick < wheel->hierarchy.levels[0].direct))
		return tick & wheel->hierarchy.mask;
	return hwtimer_hierarchy_place_above(wheel, tick);
}

/* The bucket for a new entry of @tick, which has not been turned yet. */
static inline u32 hwtimer_kind_place(const struct hwtimer_wheel *wheel,
				     u64 tick)
{
	return hwtimer_is_hashed(wheel) ? tick & wheel->hashed.mask :
					  hwtimer_hierarchy_place(wheel, tick);
}

/*
 * Entries before this tick, and after the current one, go to bucket tick & (the
 * number of buckets of the lowest level - 1). No entry changes that: in the first
 * one of an upper bucket, none is before the end of the level below.
 */
static inline u64 hwtimer_kind_direct(const struct hwtimer_wheel *wheel)
{
	return hwtimer_is_hashed(wheel) ? HWTIMER_TICK_NONE :
					  wheel->hierarchy.levels[0].direct;
}

/* The bucket for an entry of @tick that @walk has come upon. */
static inline u32 hwtimer_kind_home(const struct hwtimer_wheel *wheel,
				    const struct hwtimer_walk *walk, u64 tick)
{
	return hwtimer_is_hashed(wheel) ?
		       tick & wheel->hashed.mask :
		       hwtimer_hierarchy_home(wheel, walk, tick);
}

/*
 * Bucket @nr has got an entry of @tick. Mostly it has an earlier one, and is
 * known to be occupied.
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

/* The earliest tick in bucket @nr is @tick; HWTIMER_TICK_NONE: it is empty. */
static inline void hwtimer_kind_settle(struct hwtimer_wheel *wheel, u32 nr,
				       u64 tick)
{
	if (hwtimer_is_hashed(wheel))
		hwtimer_hashed_settle(wheel, nr, tick);
	else
		hwtimer_hierarchy_settle(wheel, nr, tick);
}

/* The earliest tick of all buckets, and whose it is; not during a due walk. */
static inline u64 hwtimer_kind_first(const struct hwtimer_wheel *wheel, u32 *nr)
{
	return hwtimer_is_hashed(wheel) ? hwtimer_hashed_first(wheel, nr) :
					  hwtimer_hierarchy_first(wheel, nr);
}

/* Nothing before @tick is in the wheel any more. */
static inline void hwtimer_kind_arrive(struct hwtimer_wheel *wheel, u64 tick)
{
	if (!hwtimer_is_hashed(wheel))
		hwtimer_hierarchy_arrive(wheel, tick);
}

/* What is due at @tick, the earliest of bucket @nr, expires from there. */
static inline bool hwtimer_kind_expires(const struct hwtimer_wheel *wheel,
					u32 nr, u64 tick)
{
	return hwtimer_is_hashed(wheel) ||
	       hwtimer_hierarchy_expires(wheel, nr, tick);
}

/* What is in bucket @nr may move down a level now. */
static inline bool hwtimer_kind_cascades(const struct hwtimer_wheel *wheel,
					 u32 nr)
{
	return !hwtimer_is_hashed(wheel) &&
	       hwtimer_hierarchy_cascades(wheel, nr);
}

/* Bucket @nr, which cascades, has entries that will have to move down. */
static inline void hwtimer_kind_loosen(struct hwtimer_wheel *wheel, u32 nr,
				       bool loose)
{
	hwtimer_hierarchy_loosen(wheel, nr, loose);
}

/* A bucket that had better move down before it is due, or HWTIMER_NOWHERE. */
static inline u32 hwtimer_kind_ahead(const struct hwtimer_wheel *wheel)
{
	return hwtimer_is_hashed(wheel) ? HWTIMER_NOWHERE :
					  hwtimer_hierarchy_ahead(wheel);
}

/* The tick from which on hwtimer_kind_ahead() finds one; may have passed. */
static inline u64 hwtimer_kind_ahead_tick(const struct hwtimer_wheel *wheel)
{
	return hwtimer_is_hashed(wheel) ? HWTIMER_TICK_NONE :
					  hwtimer_hierarchy_ahead_tick(wheel);
}

#endif /* HWTIMER_KINDS_H */
