// SPDX-License-Identifier: GPL-2.0
/*
 * Walks: passes through the entries of a bucket, a chunk at a time. A walk removes dead
 * entries, expires timers or leaves them, and moves entries to other buckets.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/prefetch.h>

#include "wheel/walk.h"

#ifdef HWTIMER_CHECKED
u64 hwtimer_entry_looks;
#endif

/* Starts to fetch the records of entries @begin to @end - 1. */
static __always_inline void chunk_fetch(const struct hwtimer_wheel *wheel,
					const struct hwtimer_chunk *chunk,
					unsigned int begin, unsigned int end)
{
	for (; begin < end; begin++)
		prefetchw(hwtimer_table_record(wheel->table,
					       chunk->entries[begin].index));
}

/*
 * Marks the entries dead whose records are known to be free, and fetches the other records.
 * The processor would mispredict a branch for each entry as often as not, so the first
 * loop gathers a bit of each. It goes backwards, so that a shift puts each bit in place.
 */
static void chunk_sift(const struct hwtimer_wheel *wheel,
		       struct hwtimer_chunk *chunk, unsigned int begin,
		       unsigned int end)
{
	u32 dead = 0, live;
	unsigned int i;

	for (i = end; i-- > begin;)
		dead = dead << 1 |
		       hwtimer_table_shows_free(wheel->table,
						chunk->entries[i].index);
	chunk->dead |= dead << begin;
	for (live = hwtimer_chunk_live(chunk, begin, end); live;
	     live &= live - 1) {
		u32 index = chunk->entries[__ffs(live)].index;

		prefetchw(hwtimer_table_record(wheel->table, index));
	}
}

/*
 * Prepares a visit of entries @begin to @end - 1, unless that was done before. If most timers
 * are cancelled, most of the records are free, and it pays to find that out without
 * touching them. If none is cancelled, it does not pay.
 */
static void chunk_look(const struct hwtimer_wheel *wheel,
		       struct hwtimer_chunk *chunk, unsigned int begin,
		       unsigned int end)
{
	if (chunk->dead & HWTIMER_CHUNK_LOOKED)
		return;
	chunk->dead |= HWTIMER_CHUNK_LOOKED;
	if (wheel->finds_dead)
		chunk_sift(wheel, chunk, begin, end);
	else
		chunk_fetch(wheel, chunk, begin, end);
}

/* chunk_look() for the first chunk of a queue that is not empty. */
void hwtimer_queue_look(const struct hwtimer_wheel *wheel,
			const struct hwtimer_queue *queue)
{
	chunk_look(wheel, queue->head, queue->first,
		   hwtimer_queue_end(queue, queue->head));
}

/* chunk_look() for the second one, if there is one. Starts to fetch the third one. */
void hwtimer_queue_look_ahead(const struct hwtimer_wheel *wheel,
			      const struct hwtimer_queue *queue)
{
	struct hwtimer_chunk *next;

	if (queue->head == queue->tail)
		return;
	next = queue->head->next;
	if (next != queue->tail)
		hwtimer_chunk_prefetch(next->next);
	chunk_look(wheel, next, next->first, hwtimer_queue_end(queue, next));
}

/* From now on, entries of @tick and before are due in @walk. */
void hwtimer_walk_set_tick(const struct hwtimer_wheel *wheel,
			   struct hwtimer_walk *walk, u64 tick)
{
	walk->tick = tick;
	walk->time = hwtimer_wheel_time_of(wheel, tick);
}

/* Whether a timer's tick is not after that of @walk; usually without a division. */
static bool walk_has_reached(const struct hwtimer_wheel *wheel,
			     const struct hwtimer_walk *walk,
			     const struct hwtimer_record *record)
{
	if (likely(!record->align))
		return record->deadline <= walk->time;
	return hwtimer_record_tick(wheel, record) <= walk->tick;
}

/* Begins a walk: takes all entries of bucket @nr. Those of @tick and before are due. */
void hwtimer_walk_begin(struct hwtimer_wheel *wheel, struct hwtimer_walk *walk,
			u32 nr, u64 tick)
{
	struct hwtimer_bucket *bucket = &wheel->buckets[nr];

	*walk = (struct hwtimer_walk){
		.source = bucket->entries,
		.earliest = HWTIMER_TICK_NONE,
		.bucket = nr,
		.active = true,
		.cascades = hwtimer_kind_cascades(wheel, nr),
	};
	hwtimer_walk_set_tick(wheel, walk, tick);
	bucket->entries.head = NULL;
	if (walk->cascades)
		hwtimer_kind_loosen(wheel, nr, false);
	if (!hwtimer_queue_empty(&walk->source))
		hwtimer_queue_look(wheel, &walk->source);
}

/* Puts the kept and the unvisited entries of @walk back in front of the bucket's. */
void hwtimer_walk_put_back(struct hwtimer_wheel *wheel,
			   struct hwtimer_walk *walk)
{
	struct hwtimer_bucket *bucket = &wheel->buckets[walk->bucket];

	hwtimer_queue_splice(&walk->kept, &walk->source);
	hwtimer_queue_splice(&walk->kept, &bucket->entries);
	bucket->entries = walk->kept;
	walk->kept.head = NULL;
	walk->active = false;
}

/* @walk has visited all entries, so it knows the earliest tick of its bucket. */
static void walk_end(struct hwtimer_wheel *wheel, struct hwtimer_walk *walk)
{
	hwtimer_walk_put_back(wheel, walk);
	hwtimer_kind_settle(wheel, walk->bucket, walk->earliest);
}

/* Ends @walk early, if it is active. Another walk will visit the rest. */
void hwtimer_walk_cut(struct hwtimer_wheel *wheel, struct hwtimer_walk *walk)
{
	if (!walk->active)
		return;
	hwtimer_walk_put_back(wheel, walk);
	if (walk->cascades)
		hwtimer_kind_loosen(wheel, walk->bucket, true);
}

static void walk_keep(struct hwtimer_wheel *wheel, struct hwtimer_walk *walk,
		      struct hwtimer_entry entry, u64 tick)
{
	walk->earliest = min(walk->earliest, tick);
	hwtimer_queue_add_entry(&walk->kept, wheel->pool, entry);
}

/* Files a live entry that does not expire now. Its timer is to expire at @tick. */
static void walk_file(struct hwtimer_wheel *wheel, struct hwtimer_walk *walk,
		      struct hwtimer_entry entry, struct hwtimer_record *record,
		      u64 tick)
{
	u32 nr = hwtimer_kind_home(wheel, walk, tick);

	if (record->postponed) {
		record->postponed = false;
		wheel->postponed--;
		wheel->stats.refiled++;
	} else if (nr != walk->bucket && walk->cascades) {
		wheel->stats.cascaded++;
	}
	if (nr == walk->bucket)
		walk_keep(wheel, walk, entry, tick);
	else
		hwtimer_bucket_append(wheel, nr, entry, tick);
}

/*
 * Visits one entry. If its timer expires, the record becomes EXPIRED, and the index goes to
 * *@due, which is advanced; the caller subtracts the entry from wheel->entries.
 */
static noinline void walk_entry(struct hwtimer_wheel *wheel,
				struct hwtimer_walk *walk,
				struct hwtimer_entry entry,
				struct hwtimer_record *record, u32 **due)
{
	if (!hwtimer_entry_alive(record, entry)) {
		hwtimer_wheel_removed(wheel, 1);
		return;
	}
	if (!walk_has_reached(wheel, walk, record)) {
		walk_file(wheel, walk, entry, record,
			  hwtimer_record_tick(wheel, record));
	} else if (walk->expires) {
		hwtimer_wheel_remove(wheel, record);
		/* Another old entry may have the stamp that the record has now. */
		hwtimer_record_become(record, HWTIMER_EXPIRED);
		*(*due)++ = entry.index;
	} else if (walk->floor) {
		walk_file(wheel, walk, entry, record, walk->floor);
	} else {
		/* This walk does not expire it, though it is due: it waits in its bucket. */
		if (walk->cascades)
			hwtimer_kind_loosen(wheel, walk->bucket, true);
		walk_keep(wheel, walk, entry,
			  wheel->buckets[walk->bucket].earliest);
	}
}

/* Visits the entries of @walk's head chunk, drops the chunk, returns their number. */
unsigned int hwtimer_walk_chunk(struct hwtimer_wheel *wheel,
				struct hwtimer_walk *walk, u32 **due)
{
	const struct hwtimer_chunk *chunk = walk->source.head;
	unsigned int begin = walk->source.first;
	unsigned int end = hwtimer_queue_end(&walk->source, chunk);
	u32 live = hwtimer_chunk_live(chunk, begin, end);
	u64 removed = wheel->stats.removed;

	hwtimer_queue_look_ahead(wheel, &walk->source);
	hwtimer_wheel_removed(wheel, end - begin - hweight32(live));
	for (; live; live &= live - 1) {
		struct hwtimer_entry entry = chunk->entries[__ffs(live)];

		walk_entry(wheel, walk, entry,
			   hwtimer_table_record(wheel->table, entry.index),
			   due);
	}
	wheel->finds_dead = wheel->stats.removed != removed;
	wheel->stats.walked += end - begin;
	hwtimer_queue_drop_head(&walk->source, wheel->pool);
	return end - begin;
}

/* One step of @ahead or @sweep. Returns how much of the budget it took. */
unsigned int hwtimer_walk_step(struct hwtimer_wheel *wheel,
			       struct hwtimer_walk *walk)
{
	unsigned int looked = 1;

	hwtimer_walk_set_tick(wheel, walk, wheel->current_tick);
	if (!hwtimer_queue_empty(&walk->source))
		looked = hwtimer_walk_chunk(wheel, walk, NULL);
	if (hwtimer_queue_empty(&walk->source))
		walk_end(wheel, walk);
	return looked;
}

static bool ahead_next(struct hwtimer_wheel *wheel)
{
	u32 nr;

	if (wheel->ahead.active)
		return true;
	nr = hwtimer_kind_ahead(wheel);
	if (nr == HWTIMER_NOWHERE)
		return false;
	if (wheel->sweep.bucket == nr)
		hwtimer_walk_cut(wheel, &wheel->sweep);
	hwtimer_walk_begin(wheel, &wheel->ahead, nr, wheel->current_tick);
	return true;
}

/* Moves heavy buckets down before they are due. Called when nothing is due. */
void hwtimer_walk_ahead(struct hwtimer_wheel *wheel, unsigned int budget)
{
	while (budget > HWTIMER_CHUNK_ENTRIES && ahead_next(wheel))
		budget -= hwtimer_walk_step(wheel, &wheel->ahead);
}
