// SPDX-License-Identifier: GPL-2.0
/*
 * Expires the timers of the buckets that are due.
 *
 * Most buckets that are due have nothing but timers that expire now, and dead entries. Such
 * a bucket is emptied from the front of its queue, a chunk at a time, and needs no other
 * state in between. Those of neighbouring ticks that have few entries are emptied in one
 * loop. At the first entry that has to stay or to move, a walk takes over.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/prefetch.h>

#include "wheel/walk.h"

/*
 * Whether a timer is pending and not postponed, and so belongs to the tick of its bucket, if
 * all entries of a bucket have the same tick. In a hashed wheel, entries of later rounds share
 * the bucket, so the timer must not have slack either: its deadline does not tell its round.
 */
static __always_inline bool record_plain(const struct hwtimer_record *record,
					 bool rounds)
{
	const struct hwtimer_record all = { .state = U8_MAX,
					    .postponed = true,
					    .align = rounds ? U8_MAX : 0 };
	const struct hwtimer_record plain = { .state = HWTIMER_PENDING };

	return (record->status & all.status) == plain.status;
}

/* Whether an entry of a due bucket is alive, and its timer is due and plain. */
static __always_inline bool
entry_expires_plainly(const struct hwtimer_record *record,
		      struct hwtimer_entry entry, u64 time, bool rounds)
{
	return record->stamp == entry.stamp && record_plain(record, rounds) &&
	       record->deadline <= time;
}

/*
 * Visits those entries of @chunk whose bits are set in @live. Ends before an entry that
 * only a walk can deal with. Returns the bits of that one and those behind it. Always
 * inline: @rounds is constant, so the loop does not test it.
 */
static __always_inline u32 expire_plain(const struct hwtimer_table *table,
					const struct hwtimer_chunk *chunk,
					u32 live, u64 time, bool rounds,
					u32 **due)
{
	u32 *next = *due;

	for (; live; live &= live - 1) {
		struct hwtimer_entry entry = chunk->entries[__ffs(live)];
		struct hwtimer_record *record =
			hwtimer_table_record(table, entry.index);

		if (likely(entry_expires_plainly(record, entry, time,
						 rounds))) {
			hwtimer_record_outdate(record);
			/* As in walk_entry() */
			hwtimer_record_become(record, HWTIMER_EXPIRED);
			*next++ = entry.index;
		} else if (hwtimer_entry_alive(record, entry)) {
			break;
		}
	}
	*due = next;
	return live;
}

/* expire_plain() for the kind of @wheel. */
static u32 expire_chunk(const struct hwtimer_wheel *wheel,
			const struct hwtimer_chunk *chunk, u32 live, u64 time,
			u32 **due)
{
	if (hwtimer_is_hashed(wheel))
		return expire_plain(wheel->table, chunk, live, time, true, due);
	return expire_plain(wheel->table, chunk, live, time, false, due);
}

/*
 * Expires timers of a bucket that is due at @time, without a walk: from the front of its
 * queue, which is not empty, and at most to the end of the first chunk. Ends before an entry
 * that only a walk can deal with, and then returns true. Subtracts the number of entries
 * from *@budget.
 */
static bool queue_expire(struct hwtimer_wheel *wheel,
			 struct hwtimer_queue *queue, u64 time,
			 unsigned int *budget, u32 **due)
{
	const struct hwtimer_chunk *chunk = queue->head;
	unsigned int begin = queue->first;
	unsigned int end = hwtimer_queue_end(queue, chunk);
	u32 *before = *due;
	unsigned int dead;
	u32 rest;

	hwtimer_queue_look(wheel, queue);
	hwtimer_queue_look_ahead(wheel, queue);
	rest = expire_chunk(wheel, chunk, hwtimer_chunk_live(chunk, begin, end),
			    time, due);
	if (unlikely(rest))
		end = __ffs(rest);
	dead = end - begin - (*due - before);
	wheel->buries = dead;
	hwtimer_wheel_bury(wheel, dead);
	wheel->stats.walked += end - begin;
	*budget -= end - begin;
	if (unlikely(rest))
		queue->first = end;
	else
		hwtimer_queue_drop_head(queue, wheel->pool);
	return rest;
}

/*
 * Maximum number of entries of a bucket that expire_few() empties. With more of them, it pays
 * to find out first which records are free, and to fetch the others: see chunk_look().
 */
#define FEW (HWTIMER_CHUNK_ENTRIES / 2 + 1)

/* Whether expire_few() may empty @bucket, whose tick is @tick: nothing in it takes a walk. */
static __always_inline bool bucket_has_few(const struct hwtimer_bucket *bucket,
					   u64 tick)
{
	const struct hwtimer_queue *queue = &bucket->entries;

	return queue->head && queue->head == queue->tail &&
	       queue->last - queue->first <= FEW && bucket->earliest == tick;
}

/*
 * Expires timers of a bucket with a single chunk. Most branches on whether an entry is alive
 * would be mispredicted. So this loop has none, and writes what does not change. Ends before
 * an entry that only a walk can deal with. Returns the number of entries visited.
 */
static __always_inline unsigned int
chunk_expire(const struct hwtimer_table *table,
	     const struct hwtimer_queue *queue, u64 time, u32 **due)
{
	const struct hwtimer_entry *begin = &queue->head->entries[queue->first];
	const struct hwtimer_entry *end = &queue->head->entries[queue->last];
	const struct hwtimer_entry *entry;
	u32 *next = *due;

	for (entry = begin; entry < end; entry++) {
		struct hwtimer_record *record =
			hwtimer_table_record(table, entry->index);
		u32 alive = record->stamp == entry->stamp;
		u32 expires = alive & (u32)record_plain(record, false) &
			      (u32)(record->deadline <= time);
		u32 odd = alive ^ expires;

		/* Otherwise the compiler tests @alive and @expires, each by a branch. */
		OPTIMIZER_HIDE_VAR(odd);
		if (unlikely(odd) && hwtimer_entry_alive(record, *entry))
			break;
		hwtimer_record_expire_if(record, expires);
		*next = entry->index;
		next += expires;
	}
	*due = next;
	return entry - begin;
}

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
 * Empties the buckets of @run that have few entries. Ends before a bucket that is not empty
 * then, or if *@budget is used up. Subtracts the number of entries and buckets from *@budget.
 * Returns the bits of the buckets that are left, and the number of entries in *@visited.
 */
static __always_inline unsigned long
run_expire(struct hwtimer_wheel *wheel, const struct hwtimer_run *run,
	   unsigned int *budget, unsigned int *visited, u32 **due)
{
	struct hwtimer_bucket *buckets = &wheel->buckets[run->nr];
	u64 time = hwtimer_wheel_time_of(wheel, run->tick);
	unsigned long left = run->occupied;

	*visited = 0;
	while (left && *budget > HWTIMER_CHUNK_ENTRIES) {
		unsigned long bit = __ffs(left), others = left & (left - 1);
		struct hwtimer_queue *queue = &buckets[bit].entries;
		unsigned int count;

		bucket_fetch(buckets, others);
		if (unlikely(!bucket_has_few(&buckets[bit], run->tick + bit)))
			break;
		count = chunk_expire(wheel->table, queue,
				     time + bit * wheel->shape.tick, due);
		*visited += count;
		*budget -= count;
		queue->first += count;
		if (unlikely(queue->first != queue->last))
			break;
		hwtimer_pool_give(wheel->pool, queue->head);
		queue->head = NULL;
		buckets[bit].earliest = HWTIMER_TICK_NONE;
		--*budget;
		left = others;
	}
	return left;
}

/*
 * Empties due buckets of the lowest level of a hierarchical wheel that have few entries:
 * bucket @nr, whose earliest tick @tick is due, and its neighbours. Where few timers are in
 * many buckets, nearly all are of this kind. What is known of the buckets as a whole is
 * brought up to date once for all of them. Not inline, so that the loops have all registers
 * for themselves. Returns the rest of @budget.
 */
static noinline unsigned int expire_few(struct hwtimer_wheel *wheel, u32 nr,
					u64 tick, unsigned int budget,
					u32 **due)
{
	struct hwtimer_run run =
		hwtimer_hierarchy_run(wheel, nr, tick, wheel->current_tick);
	u32 *before = *due;
	unsigned int visited;
	unsigned long left = run_expire(wheel, &run, &budget, &visited, due);

	hwtimer_hierarchy_emptied(wheel, &run, run.occupied & ~left);
	hwtimer_wheel_bury(wheel, visited - (*due - before));
	wheel->stats.walked += visited;
	return budget;
}

/*
 * Begins to walk bucket @nr, whose earliest tick @tick is due, or what due_expire() has left
 * of it.
 */
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

/*
 * Expires timers of bucket @nr, whose earliest tick @tick is due. Most buckets get empty by
 * that. If something in the bucket takes a walk, begins that walk.
 */
static void due_expire(struct hwtimer_wheel *wheel, u32 nr, u64 tick,
		       unsigned int *budget, u32 **due)
{
	struct hwtimer_queue *queue = &wheel->buckets[nr].entries;
	u64 time = hwtimer_wheel_time_of(wheel, tick);

	if (unlikely(hwtimer_queue_empty(queue) ||
		     !hwtimer_kind_expires(wheel, nr, tick))) {
		due_begin(wheel, nr, tick);
		return;
	}
	hwtimer_kind_arrive(wheel, tick);
	while (*budget > HWTIMER_CHUNK_ENTRIES) {
		if (unlikely(queue_expire(wheel, queue, time, budget, due))) {
			due_begin(wheel, nr, tick);
			return;
		}
		if (hwtimer_queue_empty(queue)) {
			hwtimer_kind_settle(wheel, nr, HWTIMER_TICK_NONE);
			--*budget;
			return;
		}
	}
	wheel->halfway = true;
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
		/* A single bucket is not worth it. */
		if (tick < wheel->current_tick && !hwtimer_is_hashed(wheel) &&
		    bucket_has_few(&wheel->buckets[nr], tick)) {
			unsigned int rest =
				expire_few(wheel, nr, tick, budget, due);

			/* Nothing was done if the first entry takes a walk. */
			if (likely(rest != budget)) {
				budget = rest;
				continue;
			}
		}
		due_expire(wheel, nr, tick, &budget, due);
	}
	return budget;
}
