// SPDX-License-Identifier: GPL-2.0
/*
 * The hashed wheel puts a timer into bucket tick modulo number of buckets.
 *
 * This is scheme 6 of George Varghese and Tony Lauck, "Hashed and Hierarchical Timing
 * Wheels" (SOSP 1987). Netty's HashedWheelTimer is one, too, and counts down the rounds
 * of each timer. This one has no rounds to count down: a tournament, a tree of minima
 * over the earliest tick of each bucket, tells which bucket is next, however many rounds
 * away. Buckets that are not due are not touched.
 */
#include <linux/bits.h>
#include <linux/string.h>

#include "wheel/hashed.h"

/* Children of an element of the tournament: 8 ticks are one cache line. */
#define HWTIMER_FAN_SHIFT 3
#define HWTIMER_FAN 8U

static_assert(HWTIMER_FAN == 1U << HWTIMER_FAN_SHIFT);
static_assert(HWTIMER_BUCKETS_MAX <=
	      1U << (HWTIMER_FAN_SHIFT * HWTIMER_TOURNAMENT_LEVELS));

/* Number of elements of level @level, rounded up to whole groups of 8. */
static size_t level_length(u32 buckets, unsigned int level)
{
	u32 elements = max(buckets >> (HWTIMER_FAN_SHIFT * (level + 1)), 1U);

	return ALIGN(elements, HWTIMER_FAN);
}

static unsigned int level_count(u32 buckets)
{
	return DIV_ROUND_UP(ilog2(buckets), HWTIMER_FAN_SHIFT);
}

size_t hwtimer_hashed_memory(const struct hwtimer_shape *shape)
{
	size_t bytes = 0;
	unsigned int level;

	for (level = 0; level < level_count(shape->buckets); level++)
		bytes += level_length(shape->buckets, level) * sizeof(u64);
	return bytes;
}

/* The memory of the tournament follows the buckets. */
void hwtimer_hashed_init(struct hwtimer_wheel *wheel)
{
	u64 *memory = (u64 *)&wheel->buckets[wheel->nr_buckets];
	struct hwtimer_hashed *hashed = &wheel->hashed;
	unsigned int level;

	hashed->mask = wheel->nr_buckets - 1;
	hashed->nr_levels = level_count(wheel->nr_buckets);
	for (level = 0; level < hashed->nr_levels; level++) {
		size_t length = level_length(wheel->nr_buckets, level);

		/* Every byte of HWTIMER_TICK_NONE is 0xff. */
		memset(memory, 0xff, length * sizeof(u64));
		hashed->levels[level] = memory;
		memory += length;
	}
}

/* The earliest tick of the 8 buckets below element @nr of level 0. */
static u64 min_of_buckets(const struct hwtimer_wheel *wheel, u32 nr)
{
	const struct hwtimer_bucket *bucket =
		&wheel->buckets[nr << HWTIMER_FAN_SHIFT];
	u64 earliest = HWTIMER_TICK_NONE;
	unsigned int i;

	for (i = 0; i < HWTIMER_FAN; i++)
		earliest = min(earliest, bucket[i].earliest);
	return earliest;
}

/* The earliest tick of the 8 elements below element @nr of level @level. */
static u64 min_of_level(const struct hwtimer_hashed *hashed, unsigned int level,
			u32 nr)
{
	const u64 *element =
		&hashed->levels[level - 1][nr << HWTIMER_FAN_SHIFT];
	u64 earliest = HWTIMER_TICK_NONE;
	unsigned int i;

	for (i = 0; i < HWTIMER_FAN; i++)
		earliest = min(earliest, element[i]);
	return earliest;
}

void hwtimer_hashed_occupy(struct hwtimer_wheel *wheel, u32 nr, u64 tick)
{
	struct hwtimer_hashed *hashed = &wheel->hashed;
	unsigned int level;

	if (wheel->buckets[nr].earliest <= tick)
		return;
	wheel->buckets[nr].earliest = tick;
	wheel->soonest = min(wheel->soonest, tick);
	for (level = 0; level < hashed->nr_levels; level++) {
		nr >>= HWTIMER_FAN_SHIFT;
		if (hashed->levels[level][nr] <= tick)
			return;
		hashed->levels[level][nr] = tick;
	}
}

void hwtimer_hashed_settle(struct hwtimer_wheel *wheel, u32 nr, u64 tick)
{
	struct hwtimer_hashed *hashed = &wheel->hashed;
	unsigned int level;

	wheel->buckets[nr].earliest = tick;
	for (level = 0; level < hashed->nr_levels; level++) {
		u64 earliest;

		nr >>= HWTIMER_FAN_SHIFT;
		earliest = level ? min_of_level(hashed, level, nr) :
				   min_of_buckets(wheel, nr);
		if (hashed->levels[level][nr] == earliest)
			return;
		hashed->levels[level][nr] = earliest;
	}
}

/* The first of the 8 children of element @nr of level @level whose tick is @tick. */
static u32 earliest_child(const struct hwtimer_wheel *wheel, unsigned int level,
			  u32 nr, u64 tick)
{
	u32 child = nr << HWTIMER_FAN_SHIFT;

	if (level)
		while (wheel->hashed.levels[level - 1][child] != tick)
			child++;
	else
		while (wheel->buckets[child].earliest != tick)
			child++;
	return child;
}

/*
 * The earliest tick is nearly always in the bucket where it belongs. The exception is an
 * entry that has outlived 2^32 stamps of its record and now stands for a timer that
 * belongs elsewhere.
 */
u64 hwtimer_hashed_first(const struct hwtimer_wheel *wheel, u32 *nr)
{
	const struct hwtimer_hashed *hashed = &wheel->hashed;
	unsigned int level = hashed->nr_levels;
	u64 tick = hashed->levels[level - 1][0];

	*nr = hwtimer_hashed_place(wheel, tick);
	if (likely(wheel->buckets[*nr].earliest == tick))
		return tick;
	*nr = 0;
	while (level--)
		*nr = earliest_child(wheel, level, *nr, tick);
	return tick;
}
