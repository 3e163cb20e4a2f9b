// SPDX-License-Identifier: GPL-2.0
/*
 * The hashed timing wheel; see hwtimer_wheel.h.
 *
 * George Varghese and Tony Lauck, "Hashed and Hierarchical Timing Wheels"
 * (SOSP 1987), scheme 6, as Netty's HashedWheelTimer has it: a timer goes to
 * the bucket of its tick modulo the number of buckets. It differs from Netty
 * where memory is slow:
 *
 * - A bucket is a queue of 8-byte entries and not a list of timers. When it is
 *   walked, the records of the next chunk are fetched while those of this one
 *   are looked at.
 * - Ending a timer only changes the stamp in its record. The entry that is left
 *   in the bucket is dead, and removed when somebody comes along: the worker at
 *   its tick (hwtimer_wheel_advance()) or before it goes to sleep
 *   (hwtimer_wheel_skim()), or a compaction (hwtimer_wheel_compact()).
 * - There are no rounds to count down: an entry is due by its deadline. A
 *   tournament of the earliest tick of each bucket tells which bucket is next,
 *   however many rounds away, so buckets that are not due are not touched.
 * - Moving a timer to a later time only writes the record; its entry moves on
 *   when its old tick comes.
 *
 * Chunks: an append takes one at the most. What hwtimer_wheel_add() and
 * hwtimer_wheel_move() may take, their caller provides; what later turns may
 * take, hwtimer_wheel_reserve() tells.
 */
#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/overflow.h>
#include <linux/prefetch.h>
#include <linux/string.h>

#include "hwtimer_wheel.h"

/* 8 ticks are one cache line. */
#define HWTIMER_FAN_SHIFT 3
#define HWTIMER_FAN 8U

static_assert(sizeof(struct hwtimer_bucket) == 32);
static_assert(HWTIMER_FAN == 1U << HWTIMER_FAN_SHIFT);
static_assert(HWTIMER_BUCKETS_MAX <=
	      1U << (HWTIMER_FAN_SHIFT * HWTIMER_WHEEL_LEVELS));

/* Elements of level @level, a whole number of nodes. */
static size_t level_length(u32 buckets, unsigned int level)
{
	u32 elements = max(buckets >> (HWTIMER_FAN_SHIFT * (level + 1)), 1U);

	return ALIGN(elements, HWTIMER_FAN);
}

static unsigned int level_count(u32 buckets)
{
	return DIV_ROUND_UP(ilog2(buckets), HWTIMER_FAN_SHIFT);
}

/**
 * hwtimer_wheel_memory - how many bytes hwtimer_wheel_init() wants
 * @buckets: a power of two from HWTIMER_BUCKETS_MIN to HWTIMER_BUCKETS_MAX
 */
size_t hwtimer_wheel_memory(u32 buckets)
{
	size_t bytes = buckets * sizeof(struct hwtimer_bucket);
	unsigned int level;

	for (level = 0; level < level_count(buckets); level++)
		bytes += level_length(buckets, level) * sizeof(u64);
	return bytes;
}

/**
 * hwtimer_wheel_init - an empty wheel
 * @wheel: zeroed, but for its table and its pool
 * @memory: hwtimer_wheel_memory() bytes, aligned to a cache line; stays the
 *	caller's
 * @buckets: as for hwtimer_wheel_memory()
 * @tick: ns, not 0
 * @base: time of tick 0, ns
 *
 * Takes as long as there are buckets: not under a lock.
 */
void hwtimer_wheel_init(struct hwtimer_wheel *wheel, void *memory, u32 buckets,
			u64 tick, u64 base)
{
	u64 *level_memory;
	unsigned int level;
	u32 i;

	wheel->mask = buckets - 1;
	wheel->tick = tick;
	wheel->base = base;
	wheel->buckets = memory;
	for (i = 0; i < buckets; i++)
		wheel->buckets[i] =
			(struct hwtimer_bucket){ .earliest =
							 HWTIMER_TICK_NONE };

	level_memory = (u64 *)&wheel->buckets[buckets];
	wheel->nr_levels = level_count(buckets);
	for (level = 0; level < wheel->nr_levels; level++) {
		size_t length = level_length(buckets, level);

		/* Every byte of HWTIMER_TICK_NONE is 0xff. */
		memset(level_memory, 0xff, length * sizeof(u64));
		wheel->levels[level] = level_memory;
		level_memory += length;
	}
}

/* Frees all chunks of the wheel. Takes as long as there are. May sleep. */
void hwtimer_wheel_drain(struct hwtimer_wheel *wheel)
{
	u32 i;

	if (!wheel->buckets)
		return;
	hwtimer_queue_drain(&wheel->walk.source);
	hwtimer_queue_drain(&wheel->walk.kept);
	hwtimer_queue_drain(&wheel->sweep.source);
	hwtimer_queue_drain(&wheel->sweep.kept);
	for (i = 0; i <= wheel->mask; i++)
		hwtimer_queue_drain(&wheel->buckets[i].entries);
}

/**
 * hwtimer_wheel_tick_of - the tick at which a deadline has passed
 * @wheel: the wheel
 * @deadline: ns
 *
 * Rounds up, so that nothing is early. A deadline before the base is tick 0.
 */
u64 hwtimer_wheel_tick_of(const struct hwtimer_wheel *wheel, u64 deadline)
{
	if (deadline <= wheel->base)
		return 0;
	return div64_u64(deadline - wheel->base - 1, wheel->tick) + 1;
}

/**
 * hwtimer_wheel_tick_at - the last tick that has begun
 * @wheel: the wheel
 * @now: ns
 */
u64 hwtimer_wheel_tick_at(const struct hwtimer_wheel *wheel, u64 now)
{
	if (now <= wheel->base)
		return 0;
	return div64_u64(now - wheel->base, wheel->tick);
}

/**
 * hwtimer_wheel_time_of - when a tick begins
 * @wheel: the wheel
 * @tick: its number
 *
 * Return: ns; HWTIMER_TICK_NONE beyond the range of the clock.
 */
u64 hwtimer_wheel_time_of(const struct hwtimer_wheel *wheel, u64 tick)
{
	u64 time;

	if (check_mul_overflow(tick, wheel->tick, &time) ||
	    check_add_overflow(time, wheel->base, &time))
		return HWTIMER_TICK_NONE;
	return time;
}

/* The earliest tick of the 8 buckets beneath element @nr of level 0. */
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

/* The earliest tick of the 8 elements beneath element @nr of level @level. */
static u64 min_of_level(const struct hwtimer_wheel *wheel, unsigned int level,
			u32 nr)
{
	const u64 *element = &wheel->levels[level - 1][nr << HWTIMER_FAN_SHIFT];
	u64 earliest = HWTIMER_TICK_NONE;
	unsigned int i;

	for (i = 0; i < HWTIMER_FAN; i++)
		earliest = min(earliest, element[i]);
	return earliest;
}

/* Lets a bucket's earliest tick become an earlier one. */
static void earliest_lower(struct hwtimer_wheel *wheel, u32 bucket, u64 tick)
{
	unsigned int level;
	u32 nr = bucket;

	wheel->buckets[bucket].earliest = tick;
	for (level = 0; level < wheel->nr_levels; level++) {
		nr >>= HWTIMER_FAN_SHIFT;
		if (wheel->levels[level][nr] <= tick)
			return;
		wheel->levels[level][nr] = tick;
	}
}

/* Lets a bucket's earliest tick become any other. */
static void earliest_set(struct hwtimer_wheel *wheel, u32 bucket, u64 tick)
{
	unsigned int level;
	u32 nr = bucket;

	wheel->buckets[bucket].earliest = tick;
	for (level = 0; level < wheel->nr_levels; level++) {
		u64 earliest;

		nr >>= HWTIMER_FAN_SHIFT;
		earliest = level ? min_of_level(wheel, level, nr) :
				   min_of_buckets(wheel, nr);
		if (wheel->levels[level][nr] == earliest)
			return;
		wheel->levels[level][nr] = earliest;
	}
}

/* The earliest tick of all buckets. */
static u64 earliest_of_all(const struct hwtimer_wheel *wheel)
{
	return wheel->levels[wheel->nr_levels - 1][0];
}

/* Which of the 8 beneath element @nr of level @level has the tick @tick. */
static u32 earliest_child(const struct hwtimer_wheel *wheel, unsigned int level,
			  u32 nr, u64 tick)
{
	u32 child = nr << HWTIMER_FAN_SHIFT;

	if (level)
		while (wheel->levels[level - 1][child] != tick)
			child++;
	else
		while (wheel->buckets[child].earliest != tick)
			child++;
	return child;
}

/*
 * The bucket whose earliest tick is @tick, that of all. It is the one where
 * @tick belongs, but for an entry that has outlived 2^32 stamps of its record,
 * and stands for a timer that belongs elsewhere.
 */
static u32 earliest_bucket(const struct hwtimer_wheel *wheel, u64 tick)
{
	unsigned int level = wheel->nr_levels;
	u32 nr = tick & wheel->mask;

	if (likely(wheel->buckets[nr].earliest == tick))
		return nr;
	nr = 0;
	while (level--)
		nr = earliest_child(wheel, level, nr, tick);
	return nr;
}

static void bucket_append(struct hwtimer_wheel *wheel, u32 nr,
			  struct hwtimer_entry entry, u64 tick)
{
	struct hwtimer_bucket *bucket = &wheel->buckets[nr];

	hwtimer_queue_add_entry(&bucket->entries, wheel->pool, entry);
	if (tick < bucket->earliest)
		earliest_lower(wheel, nr, tick);
}

/**
 * hwtimer_wheel_add - schedule a timer
 * @wheel: the wheel
 * @index: of a record that is not in the wheel, its deadline set
 *
 * A deadline that has passed goes to the next turn. Takes one chunk at the
 * most from the pool.
 */
void hwtimer_wheel_add(struct hwtimer_wheel *wheel, u32 index)
{
	struct hwtimer_record *record =
		hwtimer_table_record(wheel->table, index);
	u64 tick = hwtimer_wheel_tick_of(wheel, record->deadline);
	struct hwtimer_entry entry = { .index = index, .stamp = record->stamp };

	tick = max(tick, wheel->current_tick + 1);
	bucket_append(wheel, tick & wheel->mask, entry, tick);
	wheel->entries++;
}

/**
 * hwtimer_wheel_remove - a timer ends
 * @wheel: the wheel
 * @record: in the wheel
 *
 * Touches nothing but the record.
 */
void hwtimer_wheel_remove(struct hwtimer_wheel *wheel,
			  struct hwtimer_record *record)
{
	record->stamp++;
	wheel->postponed -= record->postponed;
	record->postponed = false;
}

/**
 * hwtimer_wheel_move - a timer gets another deadline
 * @wheel: the wheel
 * @index: of a record in the wheel
 * @deadline: the new one
 *
 * To a later one the entry moves lazily, when its tick comes; to an earlier one
 * goes a new entry, which takes one chunk at the most from the pool.
 */
void hwtimer_wheel_move(struct hwtimer_wheel *wheel, u32 index, u64 deadline)
{
	struct hwtimer_record *record =
		hwtimer_table_record(wheel->table, index);

	if (deadline >= record->deadline) {
		wheel->postponed += !record->postponed;
		record->postponed = true;
		record->deadline = deadline;
		return;
	}
	hwtimer_wheel_remove(wheel, record);
	record->deadline = deadline;
	hwtimer_wheel_add(wheel, index);
}

/**
 * hwtimer_wheel_next - the next tick at which there may be something to do
 * @wheel: the wheel
 *
 * Return: a tick; HWTIMER_TICK_NONE if the wheel is empty. Not later than the
 * earliest timer, but earlier if that one's predecessors are dead or postponed.
 */
u64 hwtimer_wheel_next(const struct hwtimer_wheel *wheel)
{
	return wheel->walk.active ? wheel->current_tick :
				    earliest_of_all(wheel);
}

/*
 * The state is asked too, for the sake of an entry that has outlived 2^32
 * stamps of its record. A timer that STOP hands back is leaving, but may stay.
 */
static bool entry_alive(const struct hwtimer_record *record,
			struct hwtimer_entry entry)
{
	return record->stamp == entry.stamp &&
	       (record->state == HWTIMER_PENDING ||
		record->state == HWTIMER_LEAVING);
}

/* Where the next bucket's worth of cache misses begins. */
static void prefetch_chunk(const struct hwtimer_chunk *chunk)
{
	unsigned int i;

	for (i = 0; i < sizeof(*chunk); i += 64)
		prefetch((const char *)chunk + i);
}

static void prefetch_record(const struct hwtimer_wheel *wheel,
			    struct hwtimer_entry entry)
{
	prefetchw(hwtimer_table_record(wheel->table, entry.index));
}

static void prefetch_records(const struct hwtimer_wheel *wheel,
			     const struct hwtimer_queue *queue)
{
	unsigned int i;

	for (i = queue->first; i < hwtimer_queue_end(queue, queue->head); i++)
		prefetch_record(wheel, queue->head->entries[i]);
}

/* Takes all entries of bucket @nr, which is looked at for @tick, into @walk. */
static void walk_begin(struct hwtimer_wheel *wheel, struct hwtimer_walk *walk,
		       u32 nr, u64 tick)
{
	struct hwtimer_bucket *bucket = &wheel->buckets[nr];

	walk->source = bucket->entries;
	bucket->entries.head = NULL;
	walk->deadline = HWTIMER_TICK_NONE;
	walk->tick = tick;
	walk->bucket = nr;
	walk->active = true;
	if (!hwtimer_queue_empty(&walk->source))
		prefetch_records(wheel, &walk->source);
}

/* Puts back what @walk kept, in front of what has come since. */
static void walk_end(struct hwtimer_wheel *wheel, struct hwtimer_walk *walk)
{
	struct hwtimer_bucket *bucket = &wheel->buckets[walk->bucket];

	hwtimer_queue_splice(&walk->kept, &walk->source);
	hwtimer_queue_splice(&walk->kept, &bucket->entries);
	bucket->entries = walk->kept;
	walk->kept.head = NULL;
	walk->active = false;
}

/*
 * Moves a live entry whose timer was postponed to where it belongs now, unless
 * that is here. It may be due in this very turn, but after others.
 */
static bool walk_refile(struct hwtimer_wheel *wheel,
			const struct hwtimer_walk *walk,
			struct hwtimer_entry entry,
			struct hwtimer_record *record)
{
	u64 tick = hwtimer_wheel_tick_of(wheel, record->deadline);

	if (tick <= walk->tick)
		return false;
	record->postponed = false;
	wheel->postponed--;
	wheel->stats.refiled++;
	bucket_append(wheel, tick & wheel->mask, entry, tick);
	return true;
}

static void walk_keep(struct hwtimer_wheel *wheel, struct hwtimer_walk *walk,
		      struct hwtimer_entry entry,
		      const struct hwtimer_record *record)
{
	walk->deadline = min(walk->deadline, record->deadline);
	wheel->stats.passed_over++;
	hwtimer_queue_add_entry(&walk->kept, wheel->pool, entry);
}

/*
 * Looks at the entries of the head chunk of @walk, and drops that chunk. What
 * is due at @horizon (ns) goes to *@due, which moves on, or stays if @due is
 * NULL. Returns at how many it looked.
 */
static unsigned int walk_chunk(struct hwtimer_wheel *wheel,
			       struct hwtimer_walk *walk, u64 horizon,
			       u32 **due)
{
	const struct hwtimer_chunk *chunk = walk->source.head;
	const struct hwtimer_chunk *next =
		chunk == walk->source.tail ? NULL : chunk->next;
	unsigned int begin = walk->source.first;
	unsigned int end = hwtimer_queue_end(&walk->source, chunk);
	unsigned int next_end = next ? hwtimer_queue_end(&walk->source, next) :
				       0;
	unsigned int i;

	if (next && next != walk->source.tail)
		prefetch_chunk(next->next);
	for (i = begin; i < end; i++) {
		struct hwtimer_entry entry = chunk->entries[i];
		struct hwtimer_record *record =
			hwtimer_table_record(wheel->table, entry.index);

		if (i < next_end)
			prefetch_record(wheel, next->entries[i]);
		if (!entry_alive(record, entry)) {
			wheel->entries--;
			wheel->stats.buried++;
			continue;
		}
		if (unlikely(record->postponed) &&
		    walk_refile(wheel, walk, entry, record))
			continue;
		if (due && record->deadline <= horizon &&
		    record->state == HWTIMER_PENDING) {
			hwtimer_wheel_remove(wheel, record);
			wheel->entries--;
			*(*due)++ = entry.index;
		} else {
			walk_keep(wheel, walk, entry, record);
		}
	}
	wheel->stats.walked += end - begin;
	hwtimer_queue_drop_head(&walk->source, wheel->pool);
	return end - begin;
}

/* Begins to walk the bucket of @tick, which is due. */
static void advance_begin(struct hwtimer_wheel *wheel, u64 tick)
{
	u32 nr = earliest_bucket(wheel, tick);

	if (wheel->sweep.active && wheel->sweep.bucket == nr)
		walk_end(wheel, &wheel->sweep);
	walk_begin(wheel, &wheel->walk, nr, tick);
	earliest_set(wheel, nr, HWTIMER_TICK_NONE);
}

/* The earliest tick of what @walk has kept. */
static u64 walk_earliest(const struct hwtimer_wheel *wheel,
			 const struct hwtimer_walk *walk)
{
	if (hwtimer_queue_empty(&walk->kept))
		return HWTIMER_TICK_NONE;
	return hwtimer_wheel_tick_of(wheel, walk->deadline);
}

/* What has come during the walk has set the earliest tick already. */
static void advance_end(struct hwtimer_wheel *wheel)
{
	u64 tick = walk_earliest(wheel, &wheel->walk);
	u32 nr = wheel->walk.bucket;

	walk_end(wheel, &wheel->walk);
	if (tick < wheel->buckets[nr].earliest)
		earliest_lower(wheel, nr, tick);
}

/**
 * hwtimer_wheel_advance - turn the wheel
 * @wheel: the wheel
 * @now: the time, ns
 * @due: out: records that are due, removed from the wheel, by tick and within a
 *	tick as they were scheduled; room for HWTIMER_HOLD
 *
 * Looks at HWTIMER_HOLD entries or buckets at the most; then there may be more
 * to do, and hwtimer_wheel_next() is not later than the tick of @now. When a
 * round of the wheel or more has passed since the last turn, what is due in a
 * bucket comes together, as no bucket is walked twice.
 *
 * Return: how many are in @due.
 */
unsigned int hwtimer_wheel_advance(struct hwtimer_wheel *wheel, u64 now,
				   u32 *due)
{
	struct hwtimer_walk *walk = &wheel->walk;
	unsigned int budget = HWTIMER_HOLD;
	u32 *due_end = due;
	u64 horizon;

	wheel->current_tick =
		max(wheel->current_tick, hwtimer_wheel_tick_at(wheel, now));
	horizon = hwtimer_wheel_time_of(wheel, wheel->current_tick);

	while (budget > HWTIMER_CHUNK_ENTRIES) {
		if (!walk->active) {
			u64 tick = earliest_of_all(wheel);

			if (tick > wheel->current_tick)
				break;
			advance_begin(wheel, tick);
			budget--;
		}
		if (!hwtimer_queue_empty(&walk->source))
			budget -= walk_chunk(wheel, walk, horizon, &due_end);
		if (hwtimer_queue_empty(&walk->source))
			advance_end(wheel);
	}
	return due_end - due;
}

/**
 * hwtimer_wheel_skim - remove dead entries from where the wheel is next
 * @wheel: the wheel
 * @max: look at so many entries at the most
 *
 * Called before the worker goes to sleep, so that it seldom wakes up for timers
 * that are no more: of cancelled timeouts, one wake-up removes @max.
 */
void hwtimer_wheel_skim(struct hwtimer_wheel *wheel, unsigned int max)
{
	while (max-- && !wheel->walk.active &&
	       earliest_of_all(wheel) != HWTIMER_TICK_NONE) {
		u32 nr = earliest_bucket(wheel, earliest_of_all(wheel));
		struct hwtimer_queue *queue = &wheel->buckets[nr].entries;
		struct hwtimer_entry entry;

		if (wheel->sweep.active && wheel->sweep.bucket == nr)
			return;
		if (hwtimer_queue_empty(queue)) {
			earliest_set(wheel, nr, HWTIMER_TICK_NONE);
			continue;
		}
		entry = queue->head->entries[queue->first];
		wheel->stats.walked++;
		if (entry_alive(hwtimer_table_record(wheel->table, entry.index),
				entry))
			return;
		hwtimer_queue_take(queue, wheel->pool, 1);
		wheel->entries--;
		wheel->stats.buried++;
	}
}

/*
 * The earliest tick of the bucket is known exactly, unless entries came during
 * the sweep or wait for the worker: then the old one is still a bound.
 */
static void sweep_end(struct hwtimer_wheel *wheel)
{
	u64 tick = walk_earliest(wheel, &wheel->sweep);
	u32 nr = wheel->sweep.bucket;
	bool fresh = !hwtimer_queue_empty(&wheel->buckets[nr].entries);

	walk_end(wheel, &wheel->sweep);
	if (!fresh && tick > wheel->current_tick)
		earliest_set(wheel, nr, tick);
}

/* Goes to the next bucket that has entries; false after the last one. */
static bool sweep_begin(struct hwtimer_wheel *wheel, unsigned int *budget)
{
	while (wheel->sweep_next <= wheel->mask &&
	       *budget > HWTIMER_CHUNK_ENTRIES) {
		u32 nr = wheel->sweep_next++;

		--*budget;
		if (wheel->walk.active && wheel->walk.bucket == nr)
			continue;
		if (hwtimer_queue_empty(&wheel->buckets[nr].entries))
			continue;
		walk_begin(wheel, &wheel->sweep, nr, wheel->current_tick);
		return true;
	}
	if (wheel->sweep_next > wheel->mask)
		wheel->sweeping = false;
	return false;
}

/**
 * hwtimer_wheel_compact - remove dead entries from all buckets, step by step
 * @wheel: the wheel
 * @begin: begin a new pass if none is going on
 *
 * Looks at HWTIMER_HOLD entries or buckets at the most, and goes on from there
 * in the next call.
 */
void hwtimer_wheel_compact(struct hwtimer_wheel *wheel, bool begin)
{
	u64 horizon = hwtimer_wheel_time_of(wheel, wheel->current_tick);
	unsigned int budget = HWTIMER_HOLD;

	if (!wheel->sweeping) {
		if (!begin)
			return;
		wheel->sweeping = true;
		wheel->sweep_next = 0;
		wheel->stats.compactions++;
	}
	while (budget >= HWTIMER_CHUNK_ENTRIES) {
		if (!wheel->sweep.active && !sweep_begin(wheel, &budget))
			return;
		budget -= walk_chunk(wheel, &wheel->sweep, horizon, NULL);
		if (hwtimer_queue_empty(&wheel->sweep.source))
			sweep_end(wheel);
	}
}

/**
 * hwtimer_wheel_reserve - how many spare chunks the wheel must find in its pool
 * @wheel: the wheel
 * @more: timers that may be postponed in addition
 *
 * A walk keeps what it keeps in no more chunks than it has emptied, but for the
 * one it is in; there are two walks. Moving a postponed entry on takes one
 * chunk at the most. Moving many takes, in each bucket, one for each chunkful
 * that came before the bucket was walked, one for each that came during the
 * walk, and a broken one for either.
 *
 * Return: chunks, beyond those that hwtimer_wheel_add() and
 * hwtimer_wheel_move() take.
 */
u32 hwtimer_wheel_reserve(const struct hwtimer_wheel *wheel, u32 more)
{
	u64 postponed = wheel->postponed + more;
	u64 buckets = (u64)wheel->mask + 1;

	return 2 + min(postponed,
		       2 * buckets + 4 + postponed / HWTIMER_CHUNK_ENTRIES);
}
