// SPDX-License-Identifier: GPL-2.0
/*
 * The hierarchical wheel: levels of buckets, each 32 times as coarse as the one
 * below. See hwtimer_kinds.h for who calls this.
 *
 * Varghese and Lauck's scheme 7, with these properties:
 *
 * - Level n + 1 has buckets as wide as half of level n. Each level reaches from
 *   the position to the end of the next bucket of the level above, so that one
 *   is moved down, or cascades, while the one before it is being turned, in the
 *   time that the worker has left; when a tick is due that time is over. But of
 *   the lowest level, where most timers come and go, an eighth is enough for
 *   that: it reaches seven buckets of level 1 beyond the position's.
 * - A bucket knows its earliest tick, and is due at that, wherever in the
 *   hierarchy it is: a lone timer ten hours away is found by its own wake-up
 *   and no other. Only for a heavy bucket, of more than a chunkful, the worker
 *   comes before it is due, so that the first of a million is not late by the
 *   time that moving down all of them takes.
 * - A timer whose tick is the very first of its bucket expires from there,
 *   without a cascade: such are those whose slack is as wide as the bucket.
 * - The position follows the clock when nothing is due, too, before timers are added:
 *   otherwise each would be filed too high after an idle gap, and have to move down.
 * - The levels reach beyond the last nanosecond of the clock, and tell by a
 *   bitmap each which of their buckets is next.
 *
 * Order. Timers of the same tick expire in the order in which they were
 * scheduled, although those that were scheduled long ago begin at a higher
 * level, because of three rules. An entry goes to the highest bucket in which an
 * older one of its tick may be, and only if there is none to the lowest that
 * reaches so far: what may have to come down goes down first. Entries of the
 * first tick of their bucket never come down, all others do before they expire.
 * And of the buckets that are due at the same tick the highest is first.
 *
 * Those that will have to come down are called loose.
 */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/string.h>

#include "hwtimer_kinds.h"

/* Buckets of a level but the lowest: one bit each of a word. */
#define LEVEL_BUCKETS 64U
#define LEVEL_MASK (LEVEL_BUCKETS - 1)

/* How much coarser a level is than the one below: half of its buckets. */
#define LEVEL_SHIFT 5

static_assert(LEVEL_BUCKETS == 2U << LEVEL_SHIFT);

/* log2 of the width of a bucket of @level, in ticks. */
static unsigned int shift_of(const struct hwtimer_hierarchy *hierarchy,
			     unsigned int level)
{
	return level ? hierarchy->shift + (level - 1) * LEVEL_SHIFT : 0;
}

/* The same, for those who look at the wheel. */
unsigned int hwtimer_hierarchy_shift(const struct hwtimer_wheel *wheel,
				     unsigned int level)
{
	return shift_of(&wheel->hierarchy, level);
}

/*
 * The lowest level is eight times as long as a bucket of the next one is wide,
 * so that it always reaches 7/8 of its length; twice if it is very short.
 */
static unsigned int first_shift(const struct hwtimer_shape *shape)
{
	return ilog2(shape->buckets) - (shape->buckets < 64 ? 1 : 3);
}

/* How many buckets of the level above @level is as long as. */
static unsigned int parents_of(const struct hwtimer_hierarchy *hierarchy,
			       unsigned int level)
{
	return level ? LEVEL_BUCKETS >> LEVEL_SHIFT :
		       (hierarchy->mask + 1) >> hierarchy->shift;
}

/*
 * How many buckets of @level, which is not the lowest, come down ahead of the
 * position's: half of those that there is room for, and at least one.
 */
static unsigned int ahead_of(const struct hwtimer_hierarchy *hierarchy,
			     unsigned int level)
{
	return parents_of(hierarchy, level - 1) / 2;
}

/* So many that the last one reaches beyond the last tick of a u64 of ns. */
unsigned int hwtimer_hierarchy_levels(const struct hwtimer_shape *shape)
{
	unsigned int bits = fls64(U64_MAX / shape->tick + 1);
	unsigned int reach = first_shift(shape) + 1;
	unsigned int levels = 1;

	for (; reach < bits; reach += LEVEL_SHIFT)
		levels++;
	return levels;
}

u32 hwtimer_hierarchy_buckets(const struct hwtimer_shape *shape)
{
	return shape->buckets +
	       (hwtimer_hierarchy_levels(shape) - 1) * LEVEL_BUCKETS;
}

/* Bytes besides the buckets. */
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

/* The slot of @tick in a level but the lowest. */
static u32 slot_at(const struct hwtimer_hierarchy *hierarchy,
		   unsigned int level, u64 tick)
{
	return (tick >> shift_of(hierarchy, level)) & LEVEL_MASK;
}

static u32 bucket_at(const struct hwtimer_hierarchy *hierarchy,
		     unsigned int level, u64 tick)
{
	if (!level)
		return tick & hierarchy->mask;
	return hierarchy->mask + 1 + (level - 1) * LEVEL_BUCKETS +
	       slot_at(hierarchy, level, tick);
}

/* The first slot that a level may have occupied: where its parent begins. */
static u32 slot_begin(const struct hwtimer_hierarchy *hierarchy,
		      unsigned int level)
{
	unsigned int parent = shift_of(hierarchy, level + 1);
	u64 begin = hierarchy->position >>
		    parent << (parent - shift_of(hierarchy, level));

	return begin & (level ? LEVEL_MASK : hierarchy->mask);
}

/* The first tick of bucket @nr. */
static u64 tick_begin(const struct hwtimer_hierarchy *hierarchy, u32 nr)
{
	unsigned int level = level_of(hierarchy, nr);
	unsigned int shift = shift_of(hierarchy, level);
	unsigned int parent = shift_of(hierarchy, level + 1);
	u32 mask = level ? LEVEL_MASK : hierarchy->mask;
	u64 begin = hierarchy->position >> parent << (parent - shift);

	return (begin + ((slot_of(hierarchy, nr) - begin) & mask)) << shift;
}

/* The first occupied bucket of level 0 from slot @begin on; there is one. */
static u32 first_of_lowest(const struct hwtimer_hierarchy *hierarchy, u32 begin)
{
	u32 words = BITS_TO_LONGS(hierarchy->mask + 1);
	u32 word = begin / BITS_PER_LONG;
	unsigned long bits = hierarchy->occupied[word] &
			     BITMAP_FIRST_WORD_MASK(begin);

	if (!bits) {
		word = find_next_bit(hierarchy->summary, words, word + 1);
		if (word >= words)
			word = find_first_bit(hierarchy->summary, words);
		bits = hierarchy->occupied[word];
	}
	return word * BITS_PER_LONG + __ffs(bits);
}

/* The first occupied bucket of a level; there is one. */
static u32 first_of_level(const struct hwtimer_hierarchy *hierarchy,
			  unsigned int level)
{
	u32 begin = slot_begin(hierarchy, level);
	u64 occupied;

	if (!level)
		return first_of_lowest(hierarchy, begin);
	occupied = ror64(hierarchy->levels[level].occupied, begin);
	return hierarchy->mask + 1 + (level - 1) * LEVEL_BUCKETS +
	       ((begin + __ffs64(occupied)) & LEVEL_MASK);
}

/* The first tick that @level does not reach: it ends with a parent's bucket. */
static u64 reach_of(const struct hwtimer_hierarchy *hierarchy,
		    unsigned int level)
{
	unsigned int parent = shift_of(hierarchy, level + 1);

	if (level + 1U == hierarchy->nr_levels)
		return HWTIMER_TICK_NONE;
	return ((hierarchy->position >> parent) + parents_of(hierarchy, level))
	       << parent;
}

/* Has each level know how far entries go there without a look at the others. */
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

/* All buckets are empty, the bitmaps are clear, and @tick has been turned. */
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

/* The memory follows the buckets. */
void hwtimer_hierarchy_init(struct hwtimer_wheel *wheel, u64 tick)
{
	memset(&wheel->buckets[wheel->nr_buckets], 0,
	       hwtimer_hierarchy_memory(&wheel->shape));
	hwtimer_hierarchy_restart(wheel, tick);
}

/*
 * Buckets @first to @end - 1 are empty. So will be all others, and
 * hwtimer_hierarchy_restart() called, before anybody asks.
 */
void hwtimer_hierarchy_clear(struct hwtimer_wheel *wheel, u32 first, u32 end)
{
	struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	u32 words = BITS_TO_LONGS(hierarchy->mask + 1);
	u32 word = first / BITS_PER_LONG;

	for (; word < min_t(u32, BITS_TO_LONGS(end), words); word++) {
		hierarchy->occupied[word] = 0;
		__clear_bit(word, hierarchy->summary);
	}
}

/* Whether @tick is not the first of its bucket in @level. */
static bool is_loose(const struct hwtimer_hierarchy *hierarchy,
		     unsigned int level, u64 tick)
{
	return tick & (BIT_ULL(shift_of(hierarchy, level)) - 1);
}

/* Whether there may be an entry of @tick in @level, which reaches so far. */
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
	       hwtimer_walk_cascades(&wheel->walk, nr) ||
	       hwtimer_walk_cascades(&wheel->ahead, nr) ||
	       hwtimer_walk_cascades(&wheel->sweep, nr);
}

/* The bucket for an entry of @tick in one of the levels below @top. */
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
 * An entry belongs elsewhere if its timer was postponed, or if it has outlived
 * 2^32 stamps of its record and stands for another timer than it was made for.
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

static void occupy_lowest(struct hwtimer_hierarchy *hierarchy, u32 nr)
{
	__set_bit(nr, hierarchy->occupied);
	__set_bit(nr / BITS_PER_LONG, hierarchy->summary);
	hierarchy->nonempty |= BIT(0);
}

void hwtimer_hierarchy_occupy(struct hwtimer_wheel *wheel, u32 nr, u64 tick)
{
	struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	struct hwtimer_bucket *bucket = &wheel->buckets[nr];
	unsigned int level = level_of(hierarchy, nr);
	struct hwtimer_level *here = &hierarchy->levels[level];
	u64 bit;

	bucket->earliest = min(bucket->earliest, tick);
	if (!level) {
		occupy_lowest(hierarchy, nr);
		return;
	}
	/*
	 * The levels below keep their @direct: an entry goes to an empty bucket up here
	 * only because no lower level reaches its tick, and a level ends where a bucket
	 * of the next one begins. So this bucket begins at or after the @end, and thus
	 * the @direct, of each level below.
	 */
	bit = 1ULL << slot_of(hierarchy, nr);
	here->occupied |= bit;
	hierarchy->nonempty |= BIT(level);
	if (is_loose(hierarchy, level, tick)) {
		here->loose |= bit;
		/* What is less is moved down in no time when it is due. */
		if (bucket->entries.head != bucket->entries.tail)
			here->heavy |= bit;
	}
}

static void vacate_lowest(struct hwtimer_hierarchy *hierarchy, u32 nr)
{
	u32 word = nr / BITS_PER_LONG;
	u32 words = BITS_TO_LONGS(hierarchy->mask + 1);

	__clear_bit(nr, hierarchy->occupied);
	if (hierarchy->occupied[word])
		return;
	__clear_bit(word, hierarchy->summary);
	if (bitmap_empty(hierarchy->summary, words))
		hierarchy->nonempty &= ~BIT(0);
}

static void vacate(struct hwtimer_hierarchy *hierarchy, u32 nr)
{
	unsigned int level = level_of(hierarchy, nr);
	u64 bit = 1ULL << (slot_of(hierarchy, nr) & LEVEL_MASK);

	if (!level) {
		vacate_lowest(hierarchy, nr);
		return;
	}
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
 * The buckets of a level lie one after the other in time, so its first occupied
 * one has its earliest tick. If two levels have the same, the higher is first.
 */
u64 hwtimer_hierarchy_first(const struct hwtimer_wheel *wheel, u32 *nr)
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
	return tick_begin(&wheel->hierarchy, nr) == tick ||
	       nr <= wheel->hierarchy.mask;
}

void hwtimer_hierarchy_loosen(struct hwtimer_wheel *wheel, u32 nr, bool loose)
{
	struct hwtimer_hierarchy *hierarchy = &wheel->hierarchy;
	unsigned int level = level_of(hierarchy, nr);
	u64 bit = 1ULL << (slot_of(hierarchy, nr) & LEVEL_MASK);

	/* Not heavy: what waits here for its turn must not be come for again. */
	if (loose) {
		hierarchy->levels[level].loose |= bit;
	} else {
		hierarchy->levels[level].loose &= ~bit;
		hierarchy->levels[level].heavy &= ~bit;
	}
}

/* The bucket that the position is in, and those that come down ahead. */
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
			return hierarchy->mask + 1 +
			       (level - 1) * LEVEL_BUCKETS +
			       ((here + __ffs64(near)) & LEVEL_MASK);
	}
	return HWTIMER_NOWHERE;
}

/* When hwtimer_hierarchy_ahead() will find something; may have passed. */
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
