// SPDX-License-Identifier: GPL-2.0
/*
 * Expires the timers of the buckets that are due.
 *
 * There are two ways. Most buckets that are due have nothing but timers that expire now, and
 * dead entries. They are emptied in place, from the front of their queues, a chunk at a time;
 * those of neighbouring ticks in one loop. No state is needed in between. An entry that has to
 * stay or to move takes a walk, which goes on where that left off.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/prefetch.h>

#include "wheel/walk.h"

/*
 * The bits of record->status that must be those of HWTIMER_PENDING in a timer that expires in
 * place. Such a timer is pending and not postponed: it belongs to the tick of its bucket, if all
 * entries of the bucket have the same tick. In a hashed wheel, entries of later rounds share the
 * bucket. There, the timer must not have slack either: its deadline does not tell its round.
 */
static u32 in_place_mask(const struct hwtimer_wheel *wheel)
{
	const struct hwtimer_record all = {
		.state = U8_MAX,
		.postponed = true,
		.align = hwtimer_is_hashed(wheel) ? U8_MAX : 0,
	};

	return all.status;
}

/*
 * Expires the timers of the entries of @chunk whose bits are set in @live: those whose deadlines
 * are not after @time. Most branches on whether an entry is alive would be mispredicted, so the
 * loop has none, and writes what does not change. Ends before an entry that only a walk can deal
 * with. Returns the bits of that one and those behind it.
 */
static __always_inline u32 chunk_expire(const struct hwtimer_table *table,
					const struct hwtimer_chunk *chunk,
					u32 live, u64 time, u32 mask, u32 **due)
{
	const struct hwtimer_record plain = { .state = HWTIMER_PENDING };
	u32 *next = *due;

	for (; live; live &= live - 1) {
		struct hwtimer_entry entry = chunk->entries[__ffs(live)];
		struct hwtimer_record *record =
			hwtimer_table_record(table, entry.index);
		u32 alive = record->stamp == entry.stamp;
		u32 expires = alive &
			      (u32)((record->status & mask) == plain.status) &
			      (u32)(record->deadline <= time);
		u32 odd = alive ^ expires;

		/* Otherwise the compiler tests @alive and @expires, each by a branch. */
		OPTIMIZER_HIDE_VAR(odd);
		if (unlikely(odd) && hwtimer_entry_alive(record, entry))
			break;
		hwtimer_record_expire_if(record, expires);
		*next = entry.index;
		next += expires;
	}
	*due = next;
	return live;
}

/*
 * With at most so many entries in a bucket, it does not pay to find out first which records are
 * free, and to fetch the others.
 */
#define FEW (HWTIMER_CHUNK_ENTRIES / 2 + 1)

/* Starts to fetch the entries of the bucket of the lowest of @bits, if there is one. */
static __always_inline void bucket_fetch(const struct hwtimer_bucket *buckets,
					 unsigned long bits)
{
	const char *chunk;

	if (!bits)
		return;
	chunk = (const char *)buckets[__ffs(bits)].entries.head;
	prefetchw(chunk);
	prefetchw(chunk + HWTIMER_CACHE_LINE);
}

/*
 * Expires timers in place: empties the buckets of @run, one after the other. Ends before an entry
 * that only a walk can deal with, before a bucket whose entries a walk has taken, or if *@budget
 * is used up. Subtracts the number of entries and buckets from *@budget. Returns the bits of the
 * buckets that are left.
 */
static __always_inline unsigned long run_empty(struct hwtimer_wheel *wheel,
					       const struct hwtimer_run *run,
					       unsigned int *budget,
					       unsigned int *visited, u32 **due)
{
	struct hwtimer_bucket *buckets = &wheel->buckets[run->nr];
	u64 time = hwtimer_wheel_time_of(wheel, run->tick);
	unsigned long left = run->occupied;
	u32 mask = in_place_mask(wheel);
	bool halfway = false;

	*visited = 0;
	while (left && *budget > HWTIMER_CHUNK_ENTRIES) {
		unsigned long bit = __ffs(left), others = left & (left - 1);
		struct hwtimer_queue *queue = &buckets[bit].entries;
		struct hwtimer_chunk *chunk = queue->head;
		unsigned int begin = queue->first, end;
		u32 rest;

		if (unlikely(!chunk))
			break;
		end = hwtimer_queue_end(queue, chunk);
		if (chunk == queue->tail && end - begin <= FEW) {
			bucket_fetch(buckets, others);
		} else {
			hwtimer_queue_look(wheel, queue);
			hwtimer_queue_look_ahead(wheel, queue);
		}
		rest = chunk_expire(wheel->table, chunk,
				    hwtimer_chunk_live(chunk, begin, end),
				    time + bit * wheel->shape.tick, mask, due);
		if (unlikely(rest))
			end = __ffs(rest);
		*visited += end - begin;
		*budget -= end - begin;
		if (unlikely(rest)) {
			halfway |= end != begin;
			queue->first = end;
			break;
		}
		hwtimer_queue_drop_head(queue, wheel->pool);
		halfway = !hwtimer_queue_empty(queue);
		if (halfway)
			continue;
		buckets[bit].earliest = HWTIMER_TICK_NONE;
		--*budget;
		left = others;
	}
	wheel->halfway = halfway;
	return left;
}

/*
 * Expires timers in place, in the bucket @nr, whose earliest tick @tick is due, and in the buckets
 * that are due next to it. What is known of the buckets as a whole is brought up to date once
 * for all of them. Not inline, so that the loops have all registers for themselves. Returns the
 * rest of @budget, which is the same if bucket @nr takes a walk.
 */
static noinline unsigned int run_expire(struct hwtimer_wheel *wheel, u32 nr,
					u64 tick, unsigned int budget,
					u32 **due)
{
	struct hwtimer_run run = hwtimer_kind_run(wheel, nr, tick);
	u32 *before = *due;
	unsigned int visited, dead;
	unsigned long left = run_empty(wheel, &run, &budget, &visited, due);

	if (run.occupied & ~left)
		hwtimer_kind_emptied(wheel, &run, run.occupied & ~left);
	dead = visited - (*due - before);
	if (visited)
		wheel->finds_dead = dead;
	hwtimer_wheel_removed(wheel, dead);
	wheel->stats.walked += visited;
	return budget;
}

/* Begins to walk bucket @nr, whose earliest tick @tick is due, or what is left of it. */
static void due_begin(struct hwtimer_wheel *wheel, u32 nr, u64 tick)
{
	struct hwtimer_walk *walk = &wheel->walk;

	if (wheel->ahead.bucket == nr)
		hwtimer_walk_cut(wheel, &wheel->ahead);
	if (wheel->sweep.bucket == nr)
		hwtimer_walk_cut(wheel, &wheel->sweep);
	hwtimer_kind_arrive(wheel, tick);
	hwtimer_walk_begin(wheel, walk, nr, tick);
	walk->floor = tick;
	walk->expires = hwtimer_kind_expires(wheel, nr, tick);
	/* From now on, @earliest is that of the entries that come during the walk. */
	wheel->buckets[nr].earliest = HWTIMER_TICK_NONE;
}

static void due_end(struct hwtimer_wheel *wheel)
{
	struct hwtimer_walk *walk = &wheel->walk;
	struct hwtimer_bucket *bucket = &wheel->buckets[walk->bucket];

	hwtimer_walk_put_back(wheel, walk);
	hwtimer_kind_settle(wheel, walk->bucket,
			    min(walk->earliest, bucket->earliest));
}

/* Continues the walk of the due bucket. */
static void due_walk(struct hwtimer_wheel *wheel, unsigned int *budget,
		     u32 **due)
{
	if (!hwtimer_queue_empty(&wheel->walk.source))
		*budget -= hwtimer_walk_chunk(wheel, &wheel->walk, due);
	if (hwtimer_queue_empty(&wheel->walk.source)) {
		due_end(wheel);
		--*budget;
	}
}

/* Deals with the due buckets, one by one. Returns the rest of @budget. */
unsigned int hwtimer_expire_due(struct hwtimer_wheel *wheel,
				unsigned int budget, u32 **due)
{
	wheel->halfway = false;
	while (budget > HWTIMER_CHUNK_ENTRIES) {
		unsigned int before = budget;
		u64 tick;
		u32 nr;

		if (unlikely(wheel->walk.active)) {
			due_walk(wheel, &budget, due);
			continue;
		}
		tick = hwtimer_kind_first(wheel, &nr);
		if (tick > wheel->current_tick) {
			hwtimer_kind_arrive(wheel, wheel->current_tick);
			break;
		}
		budget = run_expire(wheel, nr, tick, budget, due);
		if (unlikely(budget == before))
			due_begin(wheel, nr, tick);
	}
	return budget;
}
