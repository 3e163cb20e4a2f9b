// SPDX-License-Identifier: GPL-2.0
/*
 * The hierarchical wheel has levels of buckets. A bucket of level 0, the lowest, is one
 * tick wide. From level 2 on, a bucket is 32 times as wide as one of the level below.
 *
 * This is scheme 7 of George Varghese and Tony Lauck, "Hashed and Hierarchical Timing
 * Wheels" (SOSP 1987). To cascade means to move the entries of a bucket down to lower
 * levels. The position is the tick that distances are measured from; no entry is before
 * it. The wheel has these properties:
 *
 * - From level 1 on, a level is as long as two buckets of the level above, and reaches to
 *   the end of the bucket after the position's. So one bucket can cascade while the one
 *   before it is being turned, whenever no tick is due. The lowest level, where most
 *   timers come and go, is usually as long as eight buckets of level 1, and reaches seven
 *   of them beyond the position's.
 * - A bucket knows its earliest tick, and is due at that tick on whatever level it is. A
 *   lone timer ten hours away causes one wake-up, its own. The worker moves only a heavy
 *   bucket, one with more than a chunkful, down before it is due. If a million timers
 *   moved down when the first is due, that one would be late by the time this takes.
 * - A timer whose tick is the first of its bucket expires from that bucket, without a
 *   cascade. A timer whose slack is as wide as the bucket has such a tick.
 * - The position follows the clock before timers are added, even when nothing is due.
 *   Otherwise timers added after an idle gap would be filed too high, and would have to
 *   move down.
 * - The levels reach beyond the last nanosecond of the clock. A bitmap on each level
 *   tells which of its buckets is next.
 *
 * Order. Timers of the same tick expire in the order in which they were scheduled, even
 * if some began at a higher level because they were scheduled long before. Three rules
 * make it so:
 *
 * - An entry goes to the highest bucket that may hold an older entry of its tick. If
 *   there is none, it goes to the lowest level that reaches its tick. So an older entry
 *   comes down before a younger one.
 * - Entries of the first tick of their bucket never come down. All others come down
 *   before they expire; they are called loose.
 * - Of several buckets that are due at the same tick, the highest is first.
 */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/string.h>

#include "wheel/hierarchy.h"

/* Buckets of each level above the lowest: one bit each in a word. */
#define LEVEL_BUCKETS (2U << HWTIMER_LEVEL_SHIFT)
#define LEVEL_MASK (LEVEL_BUCKETS - 1)

static_assert(LEVEL_BUCKETS <= 64);

/* log2 of the width of a bucket of @level, in ticks. */
static unsigned int shift_of(const struct hwtimer_hierarchy *hierarchy,
			     unsigned int level)
{
	return level ? hierarchy->shift + (level - 1) * HWTIMER_LEVEL_SHIFT : 0;
}

/*
 * log2 of the width of a bucket of level 1. The width is an eighth of the lowest level,
 * which then always reaches 7/8 of its length ahead. If the lowest level has fewer than
 * 64 buckets, the width is half of that level.
 */
static unsigned int first_shift(const struct hwtimer_shape *shape)
{
	return ilog2(shape->buckets) - (shape->buckets < 64 ? 1 : 3);
}

/* The length of @level in buckets of the level above. */
static unsigned int parents_of(const struct hwtimer_hierarchy *hierarchy,
			       unsigned int level)
{
	return level ? LEVEL_BUCKETS >> HWTIMER_LEVEL_SHIFT :
		       (hierarchy->mask + 1) >> hierarchy->shift;
}

/*
 * How many buckets of @level beyond the position's may come down before they are due:
 * half as many as the level below has room for, at least one. @level is not the lowest.
 */
static unsigned int ahead_of(const struct hwtimer_hierarchy *hierarchy,
			     unsigned int level)
{
	return parents_of(hierarchy, level - 1) / 2;
}

/* The number of levels that reach beyond U64_MAX ns. */
unsigned int hwtimer_hierarchy_levels(const struct hwtimer_shape *shape)
{
	unsigned int bits = fls64(U64_MAX / shape->tick + 1);
	unsigned int reach = first_shift(shape) + 1;
	unsigned int levels = 1;

	for (; reach < bits; reach += HWTIMER_LEVEL_SHIFT)
		levels++;
	return levels;
}

u32 hwtimer_hierarchy_buckets(const struct hwtimer_shape *shape)
{
	return shape->buckets +
	       (hwtimer_hierarchy_levels(shape) - 1) * LEVEL_BUCKETS;
}

/* The two bitmaps of the lowest level. */
size_t hwtimer_hierarchy_memory(const struct hwtimer_shape *shape)
{
	size_t words = BITS_TO_LONGS(shape->buckets);

	return (words + BITS_TO_LONGS(words)) * sizeof(long);
}

static unsigned int level_of(const struct hwtimer_hierarchy *hierarchy, u32 nr)
{
	if (nr <= hierarchy->mask)
		return 0;
	return 1 + (nr - hierarchy->mask - 1) / LEVEL_BUCKETS;
}

/* The slot of bucket @nr within its level. */
static u32 slot_of(const struct hwtimer_hierarchy *hierarchy, u32 nr)
{
	return nr <= hierarchy->mask ? nr :
				       (nr - hierarchy->mask - 1) & LEVEL_MASK;
}

/* The slot of @tick in @level, which is not the lowest. */
static u32 slot_at(const struct hwtimer_hierarchy *hierarchy,
		   unsigned int level, u64 tick)
{
	return (tick >> shift_of(hierarchy, level)) & LEVEL_MASK;
}

static u32 mask_of(const struct hwtimer_hierarchy *hierarchy,
		   unsigned int level)
{
	return level ? LEVEL_MASK : hierarchy->mask;
}

/*
 * Where the position's bucket of the level above @level begins, counted in buckets of
 * @level.
 */
static u64 parent_begin(const struct hwtimer_hierarchy *hierarchy,
			unsigned int level)
{
	unsigned int parent = shift_of(hierarchy, level + 1);
	u64 parents = hierarchy->position >> parent;

	return parents << (parent - shift_of(hierarchy, level));
}

/* The bucket of a slot in @level, which is not the lowest. */
static u32 bucket_of(const struct hwtimer_hierarchy *hierarchy,
		     unsigned int level, u32 slot)
{
	return hierarchy->mask + 1 + (level - 1) * LEVEL_BUCKETS +
	       (slot & LEVEL_MASK);
}

static u32 bucket_at(const struct hwtimer_hierarchy *hierarchy,
		     unsigned int level, u64 tick)
{
	if (!level)
		return tick & hierarchy->mask;
	return bucket_of(hierarchy, level, slot_at(hierarchy, level, tick));
}

/*
 * The first slot of @level that may be occupied: that of the position's bucket. The buckets
 * before it, back to where the position's bucket of the level above begins, are empty. The
 * slots before those are of the level's last buckets.
 */
static u32 slot_begin(const struct hwtimer_hierarchy *hierarchy,
		      unsigned int level)
{
	return level ? slot_at(hierarchy, level, hierarchy->position) :
		       hierarchy->position & hierarchy->mask;
}

/* The first tick of bucket @nr. */
static u64 tick_begin(const struct hwtimer_hierarchy *hierarchy, u32 nr)
{
	unsigned int level = level_of(hierarchy, nr);
	u64 begin = parent_begin(hierarchy, level);
	u32 distance = slot_of(hierarchy, nr) - begin;

	return (begin + (distance & mask_of(hierarchy, level)))
	       << shift_of(hierarchy, level);
}

/* first_of_lowest() if the word of slot @begin has no bit from that slot on. */
static noinline u32 first_of_words(const struct hwtimer_hierarchy *hierarchy,
				   u32 begin)
{
	u32 words = BITS_TO_LONGS(hierarchy->mask + 1);
	u32 word = find_next_bit(hierarchy->summary, words,
				 begin / BITS_PER_LONG + 1);

	if (word >= words)
		word = find_first_bit(hierarchy->summary, words);
	return word * BITS_PER_LONG + __ffs(hierarchy->occupied[word]);
}

/* The first occupied bucket of level 0 from slot @begin on. There must be one. */
static u32 first_of_lowest(const struct hwtimer_hierarchy *hierarchy, u32 begin)
{
	unsigned long bits = hierarchy->occupied[begin / BITS_PER_LONG] >>
			     begin % BITS_PER_LONG;

	if (unlikely(!bits))
		return first_of_words(hierarchy, begin);
	return begin + __ffs(bits);
}

/* The first occupied bucket of a level. There must be one. */
static u32 first_of_level(const struct hwtimer_hierarchy *hierarchy,
			  unsigned int level)
{
	u32 begin = slot_begin(hierarchy, level);
	u64 occupied;

	if (!level)
		return first_of_lowest(hierarchy, begin);
	occupied = ror64(hierarchy->levels[level].occupied, begin);
	return bucket_of(hierarchy, level, begin + __ffs64(occupied));
}

/* The first tick beyond @level, which ends where a bucket of the level above ends. */
static u64 reach_of(const struct hwtimer_hierarchy *hierarchy,
		    unsigned int level)
{
	unsigned int parent = shift_of(hierarchy, level + 1);

	if (level + 1U == hierarchy->nr_levels)
		return HWTIMER_TICK_NONE;
	return ((hierarchy->position >> parent) + parents_of(hierarchy, level))
	       << parent;
}

/* Sets @end and @direct of all levels. */
static void find_direct(struct hwtimer_hierarchy *hierarchy)
{
	unsigned int level = hierarchy->nr_levels;
	u64 occupied = HWTIMER_TICK_NONE;

	while (level--) {
		struct hwtimer_level *here = &hierarchy->levels[level];

		here->end = reach_of(hierarchy, level);
		here->direct = min(here->end, occupied);
		if (level && here->occupied) {
			u32 first = first_of_level(hierarchy, level);

			occupied = min(occupied, tick_begin(hierarchy, first));
		}
	}
}

void hwtimer_hierarchy_restart(struct hwtimer_wheel *wheel, u64 tick)
{
	struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	const struct hwtimer_shape *shape = &wheel->shape;

	memset(hierarchy, 0, sizeof(*hierarchy));
	hierarchy->occupied = (void *)&wheel->buckets[wheel->nr_buckets];
	hierarchy->summary =
		hierarchy->occupied + BITS_TO_LONGS(shape->buckets);
	hierarchy->mask = shape->buckets - 1;
	hierarchy->shift = first_shift(shape);
	hierarchy->nr_levels = hwtimer_hierarchy_levels(shape);
	hierarchy->position = tick;
	find_direct(hierarchy);
}

/* The memory of the bitmaps follows the buckets. */
void hwtimer_hierarchy_init(struct hwtimer_wheel *wheel, u64 tick)
{
	memset(&wheel->buckets[wheel->nr_buckets], 0,
	       hwtimer_hierarchy_memory(&wheel->shape));
	hwtimer_hierarchy_restart(wheel, tick);
}

/* Whether @tick is not the first of its bucket in @level. */
static bool is_loose(const struct hwtimer_hierarchy *hierarchy,
		     unsigned int level, u64 tick)
{
	return tick & (BIT_ULL(shift_of(hierarchy, level)) - 1);
}

/* Whether @walk moves the entries of bucket @nr down. */
static bool walk_cascades(const struct hwtimer_walk *walk, u32 nr)
{
	return walk->active && walk->cascades && walk->bucket == nr;
}

/* Whether @level, which reaches @tick, may hold an entry of that tick. */
static bool level_may_hold(const struct hwtimer_wheel *wheel,
			   unsigned int level, u64 tick)
{
	const struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	u64 bit = 1ULL << slot_at(hierarchy, level, tick);
	u32 nr = bucket_at(hierarchy, level, tick);

	if (!(hierarchy->levels[level].occupied & bit))
		return false;
	return !is_loose(hierarchy, level, tick) ||
	       hierarchy->levels[level].loose & bit ||
	       walk_cascades(&wheel->walk, nr) ||
	       walk_cascades(&wheel->ahead, nr) ||
	       walk_cascades(&wheel->sweep, nr);
}

/* The bucket for an entry of @tick on one of the levels below @top. */
static u32 place_below(const struct hwtimer_wheel *wheel, unsigned int top,
		       u64 tick)
{
	const struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	unsigned int level = 0;
	u32 higher;

	while (tick >= hierarchy->levels[level].end)
		level++;
	higher = hierarchy->nonempty & (BIT(top) - 1) & ~(BIT(level + 1) - 1);
	while (higher) {
		unsigned int other = __fls(higher);

		if (level_may_hold(wheel, other, tick))
			return bucket_at(hierarchy, other, tick);
		higher &= ~BIT(other);
	}
	return bucket_at(hierarchy, level, tick);
}

u32 hwtimer_hierarchy_place_above(const struct hwtimer_wheel *wheel, u64 tick)
{
	const struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	unsigned int level = 0;

	while (tick >= hierarchy->levels[level].end)
		level++;
	if (likely(tick < hierarchy->levels[level].direct))
		return bucket_at(hierarchy, level, tick);
	return place_below(wheel, wheel->hierarchy.nr_levels, tick);
}

/*
 * An entry no longer belongs in the bucket of @walk if its timer was postponed. The same
 * is true if its record has had 2^32 stamps since, and the entry matches another timer.
 */
u32 hwtimer_hierarchy_home(const struct hwtimer_wheel *wheel,
			   const struct hwtimer_walk *walk, u64 tick)
{
	const struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	unsigned int level;
	u64 begin;

	if (walk->bucket == HWTIMER_NOWHERE)
		return hwtimer_hierarchy_place(wheel, tick);
	level = level_of(hierarchy, walk->bucket);
	begin = tick_begin(hierarchy, walk->bucket);
	if ((tick ^ begin) >> shift_of(hierarchy, level))
		return hwtimer_hierarchy_place(wheel, tick);
	if (!level || !walk->cascades || (tick == begin && !walk->floor))
		return walk->bucket;
	return place_below(wheel, level, tick);
}

void hwtimer_hierarchy_occupy_above(struct hwtimer_wheel *wheel, u32 nr,
				    u64 tick)
{
	struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	const struct hwtimer_bucket *bucket = &wheel->buckets[nr];
	unsigned int level = level_of(hierarchy, nr);
	struct hwtimer_level *here = &hierarchy->levels[level];
	u64 bit;

	/*
	 * The levels below keep their @direct. An entry goes to an empty bucket above the
	 * lowest level only if no lower level reaches its tick. A level ends where a
	 * bucket of the next one begins. So this bucket begins at or after the @end of
	 * each level below, and @direct is never beyond @end.
	 */
	bit = 1ULL << slot_of(hierarchy, nr);
	here->occupied |= bit;
	hierarchy->nonempty |= BIT(level);
	if (is_loose(hierarchy, level, tick)) {
		here->loose |= bit;
		/* A single chunk need not move down early: that takes no time. */
		if (bucket->entries.head != bucket->entries.tail &&
		    !(here->heavy & bit)) {
			here->heavy |= bit;
			/* hwtimer_hierarchy_ahead_tick() may come before @tick. */
			wheel->soonest = 0;
		}
	}
}

/* The buckets of @bits, which are in word @word of the map of level 0, have become empty. */
static void vacate_lowest(struct hwtimer_hierarchy *hierarchy, u32 word,
			  unsigned long bits)
{
	u32 words = BITS_TO_LONGS(hierarchy->mask + 1);

	hierarchy->occupied[word] &= ~bits;
	if (hierarchy->occupied[word])
		return;
	__clear_bit(word, hierarchy->summary);
	if (bitmap_empty(hierarchy->summary, words))
		hierarchy->nonempty &= ~BIT(0);
}

static void vacate(struct hwtimer_hierarchy *hierarchy, u32 nr)
{
	unsigned int level = level_of(hierarchy, nr);
	u32 word = nr / BITS_PER_LONG;
	u64 bit;

	if (!level) {
		/* A refile empties all buckets, and most of them are empty already. */
		if (hierarchy->occupied[word] & BIT(nr % BITS_PER_LONG))
			vacate_lowest(hierarchy, word, BIT(nr % BITS_PER_LONG));
		return;
	}
	bit = 1ULL << slot_of(hierarchy, nr);
	hierarchy->levels[level].occupied &= ~bit;
	hierarchy->levels[level].loose &= ~bit;
	hierarchy->levels[level].heavy &= ~bit;
	if (!hierarchy->levels[level].occupied)
		hierarchy->nonempty &= ~BIT(level);
	find_direct(hierarchy);
}

void hwtimer_hierarchy_settle(struct hwtimer_wheel *wheel, u32 nr, u64 tick)
{
	wheel->buckets[nr].earliest = tick;
	if (tick == HWTIMER_TICK_NONE)
		vacate(&wheel->hierarchy, nr);
}

/*
 * The buckets of a level follow each other in time. So the first occupied bucket of a
 * level holds the level's earliest tick. If several levels have the same earliest tick,
 * the highest is first.
 */
static noinline u64 first_of_all(const struct hwtimer_wheel *wheel, u32 *nr)
{
	const struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	u64 earliest = HWTIMER_TICK_NONE;
	u32 levels = hierarchy->nonempty;

	*nr = 0;
	while (levels) {
		unsigned int level = __ffs(levels);
		u32 first = first_of_level(hierarchy, level);

		if (wheel->buckets[first].earliest <= earliest) {
			earliest = wheel->buckets[first].earliest;
			*nr = first;
		}
		levels &= levels - 1;
	}
	return earliest;
}

/*
 * Usually the lowest level has an entry, of a tick at which no higher level has any and
 * before which none has.
 */
u64 hwtimer_hierarchy_first(const struct hwtimer_wheel *wheel, u32 *nr)
{
	const struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	u32 first;

	if (unlikely(!(hierarchy->nonempty & BIT(0))))
		return first_of_all(wheel, nr);
	first = first_of_lowest(hierarchy, slot_begin(hierarchy, 0));
	if (unlikely(wheel->buckets[first].earliest >=
		     hierarchy->levels[0].direct))
		return first_of_all(wheel, nr);
	*nr = first;
	return wheel->buckets[first].earliest;
}

/*
 * No higher level has an entry of a tick before levels[0].direct. So nothing else is due at the
 * ticks up to there, as far as the bits of their buckets are in one word.
 */
struct hwtimer_run hwtimer_hierarchy_run(const struct hwtimer_wheel *wheel,
					 u32 nr, u64 tick)
{
	const struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	u64 end = min(wheel->current_tick + 1, hierarchy->levels[0].direct);
	struct hwtimer_run run = { .nr = nr, .tick = tick };

	if (unlikely(nr > hierarchy->mask || tick >= end)) {
		run.occupied = hwtimer_hierarchy_expires(wheel, nr, tick);
		return run;
	}
	run.occupied = hierarchy->occupied[nr / BITS_PER_LONG] >>
		       nr % BITS_PER_LONG;
	if (end - tick < BITS_PER_LONG)
		run.occupied &= BIT(end - tick) - 1;
	return run;
}

void hwtimer_hierarchy_emptied(struct hwtimer_wheel *wheel,
			       const struct hwtimer_run *run,
			       unsigned long emptied)
{
	if (likely(run->nr <= wheel->hierarchy.mask))
		vacate_lowest(&wheel->hierarchy, run->nr / BITS_PER_LONG,
			      emptied << run->nr % BITS_PER_LONG);
	else
		vacate(&wheel->hierarchy, run->nr);
	hwtimer_hierarchy_arrive(wheel, run->tick + __fls(emptied));
}

void hwtimer_hierarchy_arrive(struct hwtimer_wheel *wheel, u64 tick)
{
	struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	u64 before = hierarchy->position;

	if (tick <= before)
		return;
	hierarchy->position = tick;
	if ((before ^ tick) >> hierarchy->shift)
		find_direct(hierarchy);
}

bool hwtimer_hierarchy_expires(const struct hwtimer_wheel *wheel, u32 nr,
			       u64 tick)
{
	return nr <= wheel->hierarchy.mask ||
	       tick_begin(&wheel->hierarchy, nr) == tick;
}

void hwtimer_hierarchy_loosen(struct hwtimer_wheel *wheel, u32 nr, bool loose)
{
	struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	unsigned int level = level_of(hierarchy, nr);
	u64 bit = 1ULL << slot_of(hierarchy, nr);

	/*
	 * The bucket does not become heavy: entries that wait in it until they are due
	 * must not make hwtimer_hierarchy_ahead() find it again.
	 */
	if (loose) {
		hierarchy->levels[level].loose |= bit;
	} else {
		hierarchy->levels[level].loose &= ~bit;
		hierarchy->levels[level].heavy &= ~bit;
	}
}

/* True of the position's bucket and of those that ahead_of() counts. */
bool hwtimer_hierarchy_cascades(const struct hwtimer_wheel *wheel, u32 nr)
{
	const struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	unsigned int level = level_of(hierarchy, nr);
	u32 here;

	if (!level)
		return false;
	here = slot_at(hierarchy, level, hierarchy->position);
	return ((slot_of(hierarchy, nr) - here) & LEVEL_MASK) <=
	       ahead_of(hierarchy, level);
}

bool hwtimer_hierarchy_moves(const struct hwtimer_wheel *wheel, u32 nr)
{
	const struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	u64 bit = 1ULL << slot_of(hierarchy, nr);

	return hwtimer_hierarchy_cascades(wheel, nr) &&
	       hierarchy->levels[level_of(hierarchy, nr)].loose & bit;
}

u32 hwtimer_hierarchy_ahead(const struct hwtimer_wheel *wheel)
{
	const struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	u32 levels = hierarchy->nonempty & ~BIT(0);

	for (; levels; levels &= levels - 1) {
		unsigned int level = __ffs(levels);
		u32 here = slot_at(hierarchy, level, hierarchy->position);
		u64 near = ror64(hierarchy->levels[level].heavy, here) &
			   ((2ULL << ahead_of(hierarchy, level)) - 1);

		if (near)
			return bucket_of(hierarchy, level,
					 here + __ffs64(near));
	}
	return HWTIMER_NOWHERE;
}

u64 hwtimer_hierarchy_ahead_tick(const struct hwtimer_wheel *wheel)
{
	const struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	u32 levels = hierarchy->nonempty & ~BIT(0);
	u64 earliest = HWTIMER_TICK_NONE;

	for (; levels; levels &= levels - 1) {
		unsigned int level = __ffs(levels);
		unsigned int shift = shift_of(hierarchy, level);
		u64 here = hierarchy->position >> shift;
		u64 heavy = hierarchy->levels[level].heavy;
		unsigned int distance;

		if (!heavy)
			continue;
		distance = __ffs64(ror64(heavy, here & LEVEL_MASK));
		distance -= min(distance, ahead_of(hierarchy, level));
		earliest = min(earliest, (here + distance) << shift);
	}
	return earliest;
}
