// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the entries in the buckets of a wheel, and shows the counts; see
 * hwtimer_occupancy.h. Each level of the wheel is divided into strips, neighbouring
 * buckets that are counted together.
 *
 * Dead entries, left by timers that were cancelled or moved, count too: the wheel does
 * not know that an entry is dead before it walks it. A bucket tells the number of its
 * entries without a walk, from the number of its chunks; so where buckets were joined, it
 * may be somewhat too large. A wheel may have a million buckets, so one hold of the
 * instance's lock covers only some of them. The counts need not have been true at any one
 * moment.
 */
#include <linux/sched.h>
#include <linux/seq_file.h>

#include "hwtimer.h"
#include "hwtimer_kinds.h"
#include "hwtimer_occupancy.h"

/* Maximum number of strips of a level */
#define HWTIMER_STRIPS_MAX 64U

/* Number of buckets of an upper level; each is a strip */
#define UPPER_STRIPS (2U << HWTIMER_LEVEL_SHIFT)

static_assert(UPPER_STRIPS <= HWTIMER_STRIPS_MAX);

/**
 * struct hwtimer_occupancy - the entries in one level of a wheel
 * @width: time that a strip covers, ns; U64_MAX if it is longer
 * @buckets: number of buckets in a strip
 * @strips: number of strips
 * @entries: number of entries in each strip. The first strip is the one in which the
 *	wheel stands; the others follow in the order of time
 *
 * Only one thread uses an occupancy, so no lock protects the members.
 */
struct hwtimer_occupancy {
	u64 width;
	u32 buckets;
	u32 strips;
	u64 entries[HWTIMER_STRIPS_MAX];
};

/* The number of entries in @count buckets from @first on, all of the lowest level */
static u64 strip_entries(struct hwtimer_instance *instance, u32 first,
			 u32 count)
{
	u32 i, step = min_t(u32, count, HWTIMER_HOLD);
	u32 end = first + count;
	u64 sum = 0;

	for (; first < end; first += step) {
		const struct hwtimer_bucket *buckets;

		spin_lock(&instance->lock);
		/* Not read earlier: the wheel may be replaced by a larger one. */
		buckets = instance->wheel.buckets;
		for (i = first; i < first + step; i++)
			sum += hwtimer_queue_entries(&buckets[i].entries);
		spin_unlock(&instance->lock);
		cond_resched();
	}
	return sum;
}

/* Returns the tick at which the wheel stands, and its number of buckets minus 1 in *@mask. */
static u64 wheel_position(struct hwtimer_instance *instance, u32 *mask)
{
	const struct hwtimer_wheel *wheel = &instance->wheel;
	u64 tick;

	spin_lock(&instance->lock);
	tick = hwtimer_is_hashed(wheel) ? wheel->current_tick :
					  wheel->hierarchy.position;
	*mask = wheel->shape.buckets - 1;
	spin_unlock(&instance->lock);
	return tick;
}

static void occupancy_lowest(struct hwtimer_instance *instance,
			     struct hwtimer_occupancy *occupancy)
{
	u32 i, first, mask;
	u64 position = wheel_position(instance, &mask);

	occupancy->strips = min(mask + 1, HWTIMER_STRIPS_MAX);
	occupancy->buckets = (mask + 1) / occupancy->strips;
	occupancy->width = occupancy->buckets * instance->settings.shape.tick;
	first = position & mask & ~(occupancy->buckets - 1);
	for (i = 0; i < occupancy->strips; i++) {
		u32 begin = first + i * occupancy->buckets;

		occupancy->entries[i] = strip_entries(instance, begin & mask,
						      occupancy->buckets);
	}
}

static void occupancy_upper(struct hwtimer_instance *instance,
			    unsigned int level,
			    struct hwtimer_occupancy *occupancy)
{
	const struct hwtimer_wheel *wheel = &instance->wheel;
	unsigned int shift;
	u64 first;
	u32 i;

	spin_lock(&instance->lock);
	/* Not before: a rewind sets it to 0 for a moment. */
	shift = hwtimer_hierarchy_shift(wheel, level);
	first = wheel->hierarchy.position >> shift;
	for (i = 0; i < UPPER_STRIPS; i++) {
		u32 nr = hwtimer_hierarchy_bucket(wheel, level, first + i);

		occupancy->entries[i] =
			hwtimer_queue_entries(&wheel->buckets[nr].entries);
	}
	spin_unlock(&instance->lock);

	/* No level is wider than the clock: see hwtimer_hierarchy_levels(). */
	occupancy->width = instance->settings.shape.tick << shift;
	occupancy->buckets = 1;
	occupancy->strips = UPPER_STRIPS;
}

/* How many levels the wheel has. It may have more when it is replaced by a larger one. */
static unsigned int wheel_levels(struct hwtimer_instance *instance)
{
	struct hwtimer_shape shape;

	spin_lock(&instance->lock);
	shape = instance->wheel.shape;
	spin_unlock(&instance->lock);
	return hwtimer_wheel_levels(&shape);
}

/* Fills in the occupancy of a level; returns whether the wheel has that level. */
static bool occupancy_get(struct hwtimer_instance *instance, unsigned int level,
			  struct hwtimer_occupancy *occupancy)
{
	if (!hwtimer_instance_started(instance) ||
	    level >= wheel_levels(instance))
		return false;
	if (level)
		occupancy_upper(instance, level, occupancy);
	else
		occupancy_lowest(instance, occupancy);
	return true;
}

static bool occupancy_empty(const struct hwtimer_occupancy *occupancy)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < occupancy->strips; i++)
		sum += occupancy->entries[i];
	return !sum;
}

/**
 * hwtimer_occupancy_show - show where the entries are, in one line for each level
 * @seq: the file to write to
 * @instance: the instance; its lock is not held
 * @prefix: text in front of the number of the level, in each line
 *
 * After the number, a line has the width of a strip in ns, the number of buckets in a
 * strip, and the number of entries in each strip, beginning with the strip in which the
 * wheel stands. Upper levels without entries are left out. An instance that has
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
			seq_printf(seq, " %llu", occupancy.entries[i]);
		seq_putc(seq, '\n');
	}
}
