// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the buckets of a wheel that have entries, and shows the counts; see
 * hwtimer_occupancy.h. Each level of the wheel is divided into strips, neighbouring
 * buckets that are counted together.
 *
 * Dead entries, left by timers that were cancelled or moved, count too: the wheel does
 * not know that an entry is dead before it walks it. A wheel may have a million buckets,
 * so one hold of the instance's lock covers only some of them. The counts need not have
 * been true at any one moment.
 */
#include <linux/bitmap.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/seq_file.h>

#include "hwtimer.h"
#include "hwtimer_kinds.h"
#include "hwtimer_occupancy.h"

/* Maximum number of strips of a level. An upper level has this number of buckets. */
#define HWTIMER_STRIPS_MAX 64U

/**
 * struct hwtimer_occupancy - the occupied buckets of one level of a wheel
 * @width: time that a strip covers, ns; U64_MAX if it is longer
 * @buckets: number of buckets in a strip
 * @strips: number of strips
 * @occupied: number of buckets with entries, for each strip. The first strip is the one
 *	in which the wheel stands; the others follow in the order of time
 *
 * Only one thread uses an occupancy, so no lock protects the members.
 */
struct hwtimer_occupancy {
	u64 width;
	u32 buckets;
	u32 strips;
	u32 occupied[HWTIMER_STRIPS_MAX];
};

/*
 * Maximum number of buckets of the lowest level that are checked in one hold of the lock.
 * A hierarchical wheel has a bit for each bucket, and checks a word at a time.
 */
static u32 buckets_per_hold(const struct hwtimer_wheel *wheel)
{
	return hwtimer_is_hashed(wheel) ? HWTIMER_HOLD :
					  HWTIMER_HOLD * BITS_PER_LONG;
}

/* Counts the occupied buckets among @count buckets of a hashed wheel from @first on. */
static u32 hashed_count(const struct hwtimer_wheel *wheel, u32 first, u32 count)
{
	u32 i, sum = 0;

	for (i = first; i < first + count; i++)
		sum += wheel->buckets[i].earliest != HWTIMER_TICK_NONE;
	return sum;
}

/* Counts as hashed_count(). @count is a power of two, and @first a multiple of it. */
static u32 hierarchy_count(const struct hwtimer_wheel *wheel, u32 first,
			   u32 count)
{
	const unsigned long *words =
		&wheel->hierarchy.occupied[first / BITS_PER_LONG];

	if (count >= BITS_PER_LONG)
		return bitmap_weight(words, count);
	return hweight_long(*words >> first % BITS_PER_LONG & (BIT(count) - 1));
}

/* Counts the occupied buckets among @count buckets of the lowest level from @first on. */
static u32 strip_count(struct hwtimer_instance *instance, u32 first, u32 count)
{
	const struct hwtimer_wheel *wheel = &instance->wheel;
	u32 step = min(count, buckets_per_hold(wheel));
	u32 end = first + count, sum = 0;

	for (; first < end; first += step) {
		spin_lock(&instance->lock);
		sum += hwtimer_is_hashed(wheel) ?
			       hashed_count(wheel, first, step) :
			       hierarchy_count(wheel, first, step);
		spin_unlock(&instance->lock);
		cond_resched();
	}
	return sum;
}

/* Returns the tick at which the wheel stands. */
static u64 wheel_position(struct hwtimer_instance *instance)
{
	const struct hwtimer_wheel *wheel = &instance->wheel;
	u64 tick;

	spin_lock(&instance->lock);
	tick = hwtimer_is_hashed(wheel) ? wheel->current_tick :
					  wheel->hierarchy.position;
	spin_unlock(&instance->lock);
	return tick;
}

static void occupancy_lowest(struct hwtimer_instance *instance,
			     struct hwtimer_occupancy *occupancy)
{
	u32 mask = instance->wheel.shape.buckets - 1;
	u32 i, first;

	occupancy->strips = min(mask + 1, HWTIMER_STRIPS_MAX);
	occupancy->buckets = (mask + 1) / occupancy->strips;
	occupancy->width = occupancy->buckets * instance->wheel.shape.tick;
	first = wheel_position(instance) & mask & ~(occupancy->buckets - 1);
	for (i = 0; i < occupancy->strips; i++) {
		u32 begin = first + i * occupancy->buckets;

		occupancy->occupied[i] =
			strip_count(instance, begin & mask, occupancy->buckets);
	}
}

static void occupancy_upper(struct hwtimer_instance *instance,
			    unsigned int level,
			    struct hwtimer_occupancy *occupancy)
{
	const struct hwtimer_hierarchy *hierarchy = &instance->wheel.hierarchy;
	unsigned int shift;
	u64 occupied;
	u32 i;

	spin_lock(&instance->lock);
	shift = hwtimer_hierarchy_shift(&instance->wheel, level);
	occupied = ror64(hierarchy->levels[level].occupied,
			 hierarchy->position >> shift);
	spin_unlock(&instance->lock);

	if (check_mul_overflow(instance->wheel.shape.tick, BIT_ULL(shift),
			       &occupancy->width))
		occupancy->width = U64_MAX;
	occupancy->buckets = 1;
	occupancy->strips = HWTIMER_STRIPS_MAX;
	for (i = 0; i < HWTIMER_STRIPS_MAX; i++)
		occupancy->occupied[i] = occupied >> i & 1;
}

/* Fills in the occupancy of a level; returns whether the wheel has that level. */
static bool occupancy_get(struct hwtimer_instance *instance, unsigned int level,
			  struct hwtimer_occupancy *occupancy)
{
	if (!hwtimer_instance_started(instance) ||
	    level >= hwtimer_wheel_levels(&instance->settings.shape))
		return false;
	if (level)
		occupancy_upper(instance, level, occupancy);
	else
		occupancy_lowest(instance, occupancy);
	return true;
}

static bool occupancy_empty(const struct hwtimer_occupancy *occupancy)
{
	u32 i, sum = 0;

	for (i = 0; i < occupancy->strips; i++)
		sum += occupancy->occupied[i];
	return !sum;
}

/**
 * hwtimer_occupancy_show - show which buckets have entries, in one line for each level
 * @seq: the file to write to
 * @instance: the instance; its lock is not held
 * @prefix: text in front of the number of the level, in each line
 *
 * After the number, a line has the width of a strip in ns, the number of buckets in a
 * strip, and the number of occupied buckets in each strip, beginning with the strip in
 * which the wheel stands. Upper levels without entries are left out. An instance that has
 * not started gets no line. May sleep; takes the instance's lock.
 */
void hwtimer_occupancy_show(struct seq_file *seq,
			    struct hwtimer_instance *instance,
			    const char *prefix)
{
	struct hwtimer_occupancy occupancy;
	unsigned int level;
	u32 i;

	for (level = 0; occupancy_get(instance, level, &occupancy); level++) {
		if (level && occupancy_empty(&occupancy))
			continue;
		seq_printf(seq, "%s%u:\t%llu %u", prefix, level,
			   occupancy.width, occupancy.buckets);
		for (i = 0; i < occupancy.strips; i++)
			seq_printf(seq, " %u", occupancy.occupied[i]);
		seq_putc(seq, '\n');
	}
}
