// SPDX-License-Identifier: GPL-2.0
/*
 * Adds timers and moves them: how an entry gets into its bucket.
 */
#include <linux/compiler.h>

#include "wheel/walk.h"

/* The walk in bucket @nr that expires nothing, @ahead or @sweep; NULL: none. */
static struct hwtimer_walk *walk_in(struct hwtimer_wheel *wheel, u32 nr)
{
	if (wheel->ahead.bucket == nr && wheel->ahead.active)
		return &wheel->ahead;
	if (wheel->sweep.bucket == nr && wheel->sweep.active)
		return &wheel->sweep;
	return NULL;
}

/*
 * A new entry for the bucket of @walk, which expires nothing, goes behind the entries not
 * visited yet. So older entries of its tick move down before it. The walk of a due bucket
 * may cut @walk short, so the bucket's earliest tick has to include the new entry.
 */
static void walk_append(struct hwtimer_wheel *wheel, struct hwtimer_walk *walk,
			struct hwtimer_entry entry, u64 tick)
{
	struct hwtimer_bucket *bucket = &wheel->buckets[walk->bucket];

	hwtimer_queue_add_entry(&walk->source, wheel->pool, entry);
	if (walk->cascades) {
		bucket->earliest = min(bucket->earliest, tick);
		wheel->soonest = min(wheel->soonest, tick);
	} else {
		hwtimer_kind_occupy(wheel, walk->bucket, tick);
	}
}

/*
 * Appends an entry to a bucket whose last chunk has no room. If a walk is in the bucket, it has
 * taken all chunks. While a due bucket is being walked, new entries wait in the bucket itself.
 * Otherwise the walk might never end.
 */
static noinline void bucket_append_chunk(struct hwtimer_wheel *wheel, u32 nr,
					 struct hwtimer_entry entry, u64 tick)
{
	struct hwtimer_walk *walk = walk_in(wheel, nr);

	if (unlikely(walk)) {
		walk_append(wheel, walk, entry, tick);
		return;
	}
	hwtimer_queue_add_entry(&wheel->buckets[nr].entries, wheel->pool,
				entry);
	hwtimer_kind_occupy(wheel, nr, tick);
}

/* Appends an entry of @tick to bucket @nr. Usually the last chunk has room. */
void hwtimer_bucket_append(struct hwtimer_wheel *wheel, u32 nr,
			   struct hwtimer_entry entry, u64 tick)
{
	if (likely(hwtimer_queue_try_entry(&wheel->buckets[nr].entries, entry)))
		hwtimer_kind_occupy(wheel, nr, tick);
	else
		bucket_append_chunk(wheel, nr, entry, tick);
}

/**
 * hwtimer_intake_begin - begin to add timers
 * @wheel: the wheel
 *
 * Return: what hwtimer_intake_file() needs.
 */
struct hwtimer_intake hwtimer_intake_begin(struct hwtimer_wheel *wheel)
{
	u64 first = wheel->current_tick + 1;
	u64 direct = wheel->refile.active ? 0 : hwtimer_kind_direct(wheel);

	return (struct hwtimer_intake){
		.wheel = wheel,
		.scale = wheel->scale,
		.buckets = wheel->buckets,
		.first = first,
		.reach = max(direct, first) - first,
		.mask = wheel->shape.buckets - 1,
	};
}

/**
 * hwtimer_wheel_file - enter a timer into whatever bucket it belongs in
 * @wheel: the wheel; the caller counts the entry
 * @entry: the entry of the timer's record
 * @tick: the tick at which the timer is to expire; lies ahead
 *
 * Takes at most one chunk from the pool.
 */
void hwtimer_wheel_file(struct hwtimer_wheel *wheel, struct hwtimer_entry entry,
			u64 tick)
{
	if (unlikely(wheel->refile.active))
		hwtimer_refile_add(wheel, entry);
	else
		hwtimer_bucket_append(wheel, hwtimer_kind_place(wheel, tick),
				      entry, tick);
}

/**
 * hwtimer_wheel_add - schedule a timer
 * @wheel: the wheel
 * @record: the timer's record; not in the wheel, deadline and align set
 * @index: index of the record
 *
 * A timer whose deadline has passed expires at the next turn. Takes at most one chunk
 * from the pool.
 */
void hwtimer_wheel_add(struct hwtimer_wheel *wheel,
		       const struct hwtimer_record *record, u32 index)
{
	struct hwtimer_entry entry = { .index = index, .stamp = record->stamp };
	u64 tick = hwtimer_record_tick(wheel, record);

	wheel->entries++;
	hwtimer_wheel_file(wheel, entry, max(tick, wheel->current_tick + 1));
}

/**
 * hwtimer_wheel_move - give a timer another deadline
 * @wheel: the wheel
 * @record: the timer's record; in the wheel
 * @index: index of the record
 * @deadline: the new deadline, ns
 *
 * For a later deadline, the entry moves lazily, when its old tick comes. For an earlier
 * one, a new entry is added, which takes at most one chunk from the pool.
 */
void hwtimer_wheel_move(struct hwtimer_wheel *wheel,
			struct hwtimer_record *record, u32 index, u64 deadline)
{
	if (deadline >= record->deadline) {
		wheel->postponed += !record->postponed;
		record->postponed = true;
		record->deadline = deadline;
		return;
	}
	hwtimer_wheel_remove(wheel, record);
	record->deadline = deadline;
	hwtimer_wheel_add(wheel, record, index);
}
