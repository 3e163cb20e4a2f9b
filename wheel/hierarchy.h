/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hierarchical kind of wheel. wheel/kinds.h says what each function is for.
 */
#ifndef HWTIMER_HIERARCHY_H
#define HWTIMER_HIERARCHY_H

#include "wheel/wheel.h"

/*
 * log2 of how much coarser a level above level 1 is than the one below. test/proofs/states/ makes
 * it smaller.
 */
#ifndef HWTIMER_LEVEL_SHIFT
#define HWTIMER_LEVEL_SHIFT 5
#endif

unsigned int hwtimer_hierarchy_levels(const struct hwtimer_shape *shape);
u32 hwtimer_hierarchy_buckets(const struct hwtimer_shape *shape);
size_t hwtimer_hierarchy_memory(const struct hwtimer_shape *shape);
void hwtimer_hierarchy_init(struct hwtimer_wheel *wheel, u64 tick);
void hwtimer_hierarchy_restart(struct hwtimer_wheel *wheel, u64 tick);
u32 hwtimer_hierarchy_place_above(const struct hwtimer_wheel *wheel, u64 tick);
u32 hwtimer_hierarchy_home(const struct hwtimer_wheel *wheel,
			   const struct hwtimer_walk *walk, u64 tick);
void hwtimer_hierarchy_occupy_above(struct hwtimer_wheel *wheel, u32 nr,
				    u64 tick);
void hwtimer_hierarchy_settle(struct hwtimer_wheel *wheel, u32 nr, u64 tick);
u64 hwtimer_hierarchy_first(const struct hwtimer_wheel *wheel, u32 *nr);
struct hwtimer_run hwtimer_hierarchy_run(const struct hwtimer_wheel *wheel,
					 u32 nr, u64 tick);
void hwtimer_hierarchy_emptied(struct hwtimer_wheel *wheel,
			       const struct hwtimer_run *run,
			       unsigned long emptied);
void hwtimer_hierarchy_arrive(struct hwtimer_wheel *wheel, u64 tick);
bool hwtimer_hierarchy_expires(const struct hwtimer_wheel *wheel, u32 nr,
			       u64 tick);
bool hwtimer_hierarchy_cascades(const struct hwtimer_wheel *wheel, u32 nr);
bool hwtimer_hierarchy_moves(const struct hwtimer_wheel *wheel, u32 nr);
void hwtimer_hierarchy_loosen(struct hwtimer_wheel *wheel, u32 nr, bool loose);
u64 hwtimer_hierarchy_ahead_tick(const struct hwtimer_wheel *wheel);
u32 hwtimer_hierarchy_ahead(const struct hwtimer_wheel *wheel);

/* The bucket for an entry of @tick, which is not before the position. */
static inline u32 hwtimer_hierarchy_place(const struct hwtimer_wheel *wheel,
					  u64 tick)
{
	if (likely(tick < wheel->hierarchy.levels[0].direct))
		return tick & wheel->hierarchy.mask;
	return hwtimer_hierarchy_place_above(wheel, tick);
}

/* Bucket @nr has got an entry of @tick. Most are in the lowest level. */
static __always_inline void
hwtimer_hierarchy_occupy(struct hwtimer_wheel *wheel, u32 nr, u64 tick)
{
	struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	struct hwtimer_bucket *bucket = &wheel->buckets[nr];
	u32 word = nr / BITS_PER_LONG;

	if (tick < bucket->earliest) {
		bucket->earliest = tick;
		wheel->soonest = min(wheel->soonest, tick);
	}
	if (unlikely(nr > hierarchy->mask)) {
		hwtimer_hierarchy_occupy_above(wheel, nr, tick);
		return;
	}
	/* Not __set_bit(), which is slow on x86 */
	hierarchy->occupied[word] |= BIT(nr % BITS_PER_LONG);
	hierarchy->summary[word / BITS_PER_LONG] |= BIT(word % BITS_PER_LONG);
	hierarchy->nonempty |= BIT(0);
}

#endif /* HWTIMER_HIERARCHY_H */
