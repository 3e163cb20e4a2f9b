// SPDX-License-Identifier: GPL-2.0
/*
 * How many spare chunks the pool must hold so that it never runs dry. SCHEDULE reserves them, and
 * nothing later can fail: appending an entry takes at most one chunk, without a check.
 */
#include "wheel/kinds.h"

/* The number of the pool's chunks that are in the wheel's buckets. */
static u64 chunks_in_use(const struct hwtimer_wheel *wheel)
{
	return wheel->pool->chunks - wheel->pool->spares;
}

/*
 * The chunks that the pool must hold for all entries of the wheel, dead or alive.
 *
 * To scatter entries means to move them to other buckets, at worst with a chunk for each.
 * A hierarchical wheel may have to scatter all of its entries, and so may a wheel that
 * rewinds or has resting timers. Any other wheel scatters only the postponed entries. What a
 * walk keeps takes at most one chunk more than the walk has emptied: the chunk that it is in.
 * A wheel has three walks.
 */
static u64 reserve_entries(const struct hwtimer_wheel *wheel,
			   const struct hwtimer_outlook *outlook)
{
	u64 news = (u64)outlook->adds + outlook->moves;
	u64 postponed = wheel->postponed + outlook->moves;
	u64 most = hwtimer_wheel_chunks(wheel, wheel->entries + news +
						       outlook->resting);
	u64 few = 3 + news + postponed;

	most -= min(most, chunks_in_use(wheel));
	if (hwtimer_is_hashed(wheel) && !wheel->rewinds && !outlook->resting)
		most = min(most, few);
	return most;
}

/**
 * hwtimer_wheel_reserve - how many spare chunks the pool must hold
 * @wheel: the wheel
 * @outlook: what may happen to the timers
 *
 * Return: a number of chunks, not above hwtimer_outlook_chunks().
 */
u64 hwtimer_wheel_reserve(const struct hwtimer_wheel *wheel,
			  const struct hwtimer_outlook *outlook)
{
	return min(reserve_entries(wheel, outlook),
		   hwtimer_outlook_chunks(outlook));
}

/**
 * hwtimer_wheel_reserve_growth - hwtimer_wheel_reserve() before hwtimer_wheel_grow()
 * @wheel: the wheel
 * @larger: the hierarchical wheel that is to replace it
 * @outlook: what may happen to the timers afterwards
 *
 * At worst, each entry gets into a bucket of its own, with a chunk for each. A chunk of the
 * smaller wheel is free again when its last entry is filed. For a hierarchical wheel,
 * reserve_entries() counts the chunks in use, so its number covers what filing takes.
 *
 * Return: the number of spare chunks that the pool must hold.
 */
u64 hwtimer_wheel_reserve_growth(const struct hwtimer_wheel *wheel,
				 struct hwtimer_wheel *larger,
				 const struct hwtimer_outlook *outlook)
{
	u64 reserve;

	larger->entries = wheel->entries;
	larger->postponed = wheel->postponed;
	reserve = reserve_entries(larger, outlook);
	return max(reserve, wheel->entries + 1);
}
