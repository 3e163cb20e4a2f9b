// SPDX-License-Identifier: GPL-2.0
/*
 * What the kinds of wheel share; see hwtimer_wheel.h.
 *
 * Where this differs from the wheels in the literature and in user space, it is
 * because memory is slow:
 *
 * - A bucket is a queue of 8-byte entries and not a list of timers. When it is
 *   walked, the records of the next chunk are fetched while those of this one
 *   are looked at.
 * - Ending a timer only changes the stamp in its record. The entry that is left
 *   in the bucket is dead, and removed when somebody comes along: the worker at
 *   its tick (hwtimer_wheel_advance()) or before it goes to sleep
 *   (hwtimer_wheel_skim()), or a compaction (hwtimer_wheel_compact()).
 * - Moving a timer to a later time only writes the record; its entry moves on
 *   when its old tick comes.
 *
 * A timer with slack has the first tick that is a multiple of a power of two,
 * the largest that the slack is sure to contain. So those that may share a
 * wake-up do, whenever they were scheduled and whatever their slack is.
 *
 * Chunks: an append takes one at the most. How many there must be in the pool,
 * so that it never runs dry, hwtimer_wheel_reserve() tells.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/overflow.h>
#include <linux/prefetch.h>
#include <linux/string.h>

#include "hwtimer_intake.h"
#include "hwtimer_kinds.h"

static_assert(sizeof(struct hwtimer_bucket) == 32);

/* How many bytes hwtimer_wheel_init() needs. */
size_t hwtimer_wheel_memory(const struct hwtimer_shape *shape)
{
	return (size_t)hwtimer_kind_buckets(shape) *
		       sizeof(struct hwtimer_bucket) +
	       hwtimer_kind_memory(shape);
}

/* How many levels of buckets a wheel of this shape has. */
unsigned int hwtimer_wheel_levels(const struct hwtimer_shape *shape)
{
	return hwtimer_kind_levels(shape);
}

/**
 * hwtimer_wheel_set_tick - how ticks are counted
 * @wheel: without timers
 * @tick: ns, at least 2
 * @base: time of tick 0, ns
 *
 * Makes the reciprocal with which hwtimer_scale_ticks() divides: 2^(64 + shift) /
 * tick rounded down, where 2^shift is the largest power of two below the tick, so
 * that it fills 64 bits.
 */
void hwtimer_wheel_set_tick(struct hwtimer_wheel *wheel, u64 tick, u64 base)
{
	struct hwtimer_scale *scale = &wheel->scale;
	u64 rest;
	int i;

	wheel->shape.tick = tick;
	*scale = (struct hwtimer_scale){
		.base = base,
		.tick = tick,
		.shift = ilog2(tick - 1),
	};
	rest = 1ULL << scale->shift;
	for (i = 0; i < 64; i++) {
		rest *= 2;
		scale->reciprocal = scale->reciprocal << 1 | (rest >= tick);
		rest -= rest >= tick ? tick : 0;
	}
}

/**
 * hwtimer_wheel_init - an empty wheel
 * @wheel: zeroed, but for its table and its pool
 * @shape: what it is to be like
 * @memory: hwtimer_wheel_memory() bytes, aligned to a cache line; stays the
 *	caller's
 * @base: time of tick 0, ns
 * @now: ns, not before @base
 *
 * Takes as long as there are buckets: not under a lock.
 */
void hwtimer_wheel_init(struct hwtimer_wheel *wheel,
			const struct hwtimer_shape *shape, void *memory,
			u64 base, u64 now)
{
	u32 i;

	wheel->shape = *shape;
	hwtimer_wheel_set_tick(wheel, shape->tick, base);
	wheel->current_tick = hwtimer_wheel_tick_at(wheel, now);
	wheel->nr_buckets = hwtimer_kind_buckets(shape);
	wheel->buckets = memory;
	for (i = 0; i < wheel->nr_buckets; i++)
		wheel->buckets[i] =
			(struct hwtimer_bucket){ .earliest =
							 HWTIMER_TICK_NONE };
	hwtimer_kind_init(wheel, wheel->current_tick);
}

static void walk_drain(struct hwtimer_walk *walk)
{
	hwtimer_queue_drain(&walk->source);
	hwtimer_queue_drain(&walk->kept);
}

/* Frees all chunks of the wheel. Takes as long as there are. May sleep. */
void hwtimer_wheel_drain(struct hwtimer_wheel *wheel)
{
	u32 i;

	if (!wheel->buckets)
		return;
	walk_drain(&wheel->walk);
	walk_drain(&wheel->ahead);
	walk_drain(&wheel->sweep);
	walk_drain(&wheel->rewind.walk);
	hwtimer_queue_drain(&wheel->rewind.fresh);
	for (i = 0; i < wheel->nr_buckets; i++)
		hwtimer_queue_drain(&wheel->buckets[i].entries);
}

/**
 * hwtimer_wheel_tick_at - the last tick that has begun
 * @wheel: the wheel
 * @now: ns
 */
u64 hwtimer_wheel_tick_at(const struct hwtimer_wheel *wheel, u64 now)
{
	if (now <= wheel->scale.base)
		return 0;
	return hwtimer_scale_ticks(&wheel->scale, now - wheel->scale.base);
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

	if (check_mul_overflow(tick, wheel->shape.tick, &time) ||
	    check_add_overflow(time, wheel->scale.base, &time))
		return HWTIMER_TICK_NONE;
	return time;
}

/**
 * hwtimer_wheel_align - what a record keeps of a slack
 * @wheel: the wheel
 * @slack: ns
 *
 * Return: log2 of a number of ticks: any so many neighbouring ones that the
 * slack allows have a multiple of it among them.
 */
u8 hwtimer_wheel_align(const struct hwtimer_wheel *wheel, u64 slack)
{
	return ilog2(hwtimer_scale_ticks(&wheel->scale, slack) + 1);
}

/* The longest lateness that @align leads to, without that of a tick; ns. */
u64 hwtimer_wheel_slack(const struct hwtimer_wheel *wheel, u8 align)
{
	return (BIT_ULL(align) - 1) * wheel->shape.tick;
}

/* The tick at which a timer is to expire. */
static __always_inline u64 record_tick(const struct hwtimer_wheel *wheel,
				       const struct hwtimer_record *record)
{
	u64 tick = hwtimer_wheel_tick_of(wheel, record->deadline);
	u64 mask;

	/* What never comes need not share a wake-up, and must not go beyond. */
	if (likely(!record->align) || record->deadline > KTIME_MAX)
		return tick;
	mask = BIT_ULL(record->align) - 1;
	return (tick + mask) & ~mask;
}

/* The walk without expirations that is in bucket @nr, if there is one. */
static struct hwtimer_walk *walk_in(struct hwtimer_wheel *wheel, u32 nr)
{
	if (wheel->ahead.bucket == nr && wheel->ahead.active)
		return &wheel->ahead;
	if (wheel->sweep.bucket == nr && wheel->sweep.active)
		return &wheel->sweep;
	return NULL;
}

/*
 * An entry for a bucket that is being walked goes to the end of what is still
 * to be looked at: its elders have moved down before it. The walk may be left
 * for one that is due, so the bucket has to know of it.
 */
static void walk_append(struct hwtimer_wheel *wheel, struct hwtimer_walk *walk,
			struct hwtimer_entry entry, u64 tick)
{
	struct hwtimer_bucket *bucket = &wheel->buckets[walk->bucket];

	hwtimer_queue_add_entry(&walk->source, wheel->pool, entry);
	if (walk->cascades)
		bucket->earliest = min(bucket->earliest, tick);
	else
		hwtimer_kind_occupy(wheel, walk->bucket, tick);
}

/*
 * A due walk has to come to its end, however many entries come for its bucket:
 * they wait in the bucket itself.
 */
static noinline void bucket_append_slowly(struct hwtimer_wheel *wheel, u32 nr,
					  struct hwtimer_entry entry, u64 tick)
{
	struct hwtimer_walk *walk = walk_in(wheel, nr);

	if (walk) {
		walk_append(wheel, walk, entry, tick);
		return;
	}
	hwtimer_queue_add_entry(&wheel->buckets[nr].entries, wheel->pool,
				entry);
	hwtimer_kind_occupy(wheel, nr, tick);
}

/*
 * The same; mostly the last chunk has room. It has none where a walk without
 * expirations is, as that has taken all of the bucket.
 */
static __always_inline void bucket_append(struct hwtimer_wheel *wheel, u32 nr,
					  struct hwtimer_entry entry, u64 tick)
{
	struct hwtimer_queue *entries = &wheel->buckets[nr].entries;

	if (unlikely(!hwtimer_queue_try_entry(entries, entry))) {
		bucket_append_slowly(wheel, nr, entry, tick);
		return;
	}
	hwtimer_queue_prefetch(entries);
	hwtimer_kind_occupy(wheel, nr, tick);
}

/* Where an entry goes that comes while the wheel is being rewound. */
static struct hwtimer_queue *rewind_queue(struct hwtimer_wheel *wheel)
{
	/* Behind those that are still being taken out of their buckets. */
	return wheel->rewind.walk.active ? &wheel->rewind.walk.source :
					   &wheel->rewind.fresh;
}

/* Before the first of some timers is added. */
struct hwtimer_intake hwtimer_intake_begin(struct hwtimer_wheel *wheel)
{
	return (struct hwtimer_intake){
		.wheel = wheel,
		.scale = wheel->scale,
		.buckets = wheel->buckets,
		.first = wheel->current_tick + 1,
		.direct = wheel->rewind.active ? 0 : hwtimer_kind_direct(wheel),
		.mask = wheel->shape.buckets - 1,
	};
}

/* Enters a timer where it is not plain where that is; @tick has not come. */
void hwtimer_intake_ask(struct hwtimer_wheel *wheel, struct hwtimer_entry entry,
			u64 tick)
{
	if (unlikely(wheel->rewind.active))
		hwtimer_queue_add_entry(rewind_queue(wheel), wheel->pool,
					entry);
	else
		bucket_append(wheel, hwtimer_kind_place(wheel, tick), entry,
			      tick);
}

/**
 * hwtimer_wheel_add - schedule a timer
 * @wheel: the wheel
 * @record: not in the wheel, its deadline and align set
 * @index: its
 *
 * A deadline that has passed goes to the next turn. Takes one chunk at the
 * most from the pool.
 */
void hwtimer_wheel_add(struct hwtimer_wheel *wheel,
		       const struct hwtimer_record *record, u32 index)
{
	struct hwtimer_entry entry = { .index = index, .stamp = record->stamp };
	struct hwtimer_intake intake = hwtimer_intake_begin(wheel);

	hwtimer_intake_file(&intake, entry, record_tick(wheel, record));
	hwtimer_intake_end(&intake, 1);
}

/**
 * hwtimer_wheel_move - a timer gets another deadline
 * @wheel: the wheel
 * @record: in the wheel
 * @index: its
 * @deadline: the new one
 *
 * To a later one the entry moves lazily, when its tick comes; to an earlier one
 * goes a new entry, which takes one chunk at the most from the pool.
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

/* Whether something has been begun that the next turn should go on with. */
bool hwtimer_wheel_busy(const struct hwtimer_wheel *wheel)
{
	return wheel->walk.active || wheel->ahead.active ||
	       wheel->rewind.active;
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
	u64 first;
	u32 nr;

	if (hwtimer_wheel_busy(wheel))
		return wheel->current_tick;
	first = hwtimer_kind_first(wheel, &nr);
	return min(first, hwtimer_kind_ahead_tick(wheel));
}

/*
 * The state is asked too, for the sake of an entry that has outlived 2^32
 * stamps of its record. A timer that STOP hands back may stay.
 */
static bool entry_alive(const struct hwtimer_record *record,
			struct hwtimer_entry entry)
{
	return record->stamp == entry.stamp &&
	       (record->state == HWTIMER_PENDING ||
		record->state == HWTIMER_RETURNING);
}

/* Starts to fetch the records of entries @begin to @end - 1. */
static __always_inline void chunk_fetch(const struct hwtimer_wheel *wheel,
					const struct hwtimer_chunk *chunk,
					unsigned int begin, unsigned int end)
{
	for (; begin < end; begin++)
		prefetchw(hwtimer_table_record(wheel->table,
					       chunk->entries[begin].index));
}

/* The same, but for those that are free: their entries are dead. */
static __always_inline void chunk_sift(const struct hwtimer_wheel *wheel,
				       struct hwtimer_chunk *chunk,
				       unsigned int begin, unsigned int end)
{
	u32 dead = 0;

	for (; begin < end; begin++) {
		u32 index = chunk->entries[begin].index;

		dead |= hwtimer_table_prefetch_used(wheel->table, index)
			<< begin;
	}
	chunk->dead |= dead;
}

/*
 * Of timeouts most are cancelled, and their records free: then it pays to find that
 * out without a look at them. Where nobody cancels it does not.
 */
static void chunk_look(const struct hwtimer_wheel *wheel,
		       struct hwtimer_chunk *chunk, unsigned int begin,
		       unsigned int end)
{
	if (wheel->buries)
		chunk_sift(wheel, chunk, begin, end);
	else
		chunk_fetch(wheel, chunk, begin, end);
}

/* The same for the first chunk of @queue. */
static void queue_look(const struct hwtimer_wheel *wheel,
		       const struct hwtimer_queue *queue)
{
	if (!hwtimer_queue_empty(queue))
		chunk_look(wheel, queue->head, queue->first,
			   hwtimer_queue_end(queue, queue->head));
}

/* Entries of @tick and before are due in @walk. */
static void walk_set_tick(const struct hwtimer_wheel *wheel,
			  struct hwtimer_walk *walk, u64 tick)
{
	walk->tick = tick;
	walk->time = hwtimer_wheel_time_of(wheel, tick);
}

/* Whether a timer's tick is not after @walk's; mostly without a division. */
static bool walk_has_reached(const struct hwtimer_wheel *wheel,
			     const struct hwtimer_walk *walk,
			     const struct hwtimer_record *record)
{
	if (likely(!record->align))
		return record->deadline <= walk->time;
	return record_tick(wheel, record) <= walk->tick;
}

/* Takes all entries of bucket @nr, which is looked at for @tick, into @walk. */
static void walk_begin(struct hwtimer_wheel *wheel, struct hwtimer_walk *walk,
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
	walk_set_tick(wheel, walk, tick);
	bucket->entries.head = NULL;
	if (walk->cascades)
		hwtimer_kind_loosen(wheel, nr, false);
	queue_look(wheel, &walk->source);
}

/* Puts back what @walk kept, and what it has not looked at, before the rest. */
static void walk_put_back(struct hwtimer_wheel *wheel,
			  struct hwtimer_walk *walk)
{
	struct hwtimer_bucket *bucket = &wheel->buckets[walk->bucket];

	hwtimer_queue_splice(&walk->kept, &walk->source);
	hwtimer_queue_splice(&walk->kept, &bucket->entries);
	bucket->entries = walk->kept;
	walk->kept.head = NULL;
	walk->active = false;
}

/* @walk has looked at all: the earliest tick of its bucket is known. */
static void walk_end(struct hwtimer_wheel *wheel, struct hwtimer_walk *walk)
{
	walk_put_back(wheel, walk);
	hwtimer_kind_settle(wheel, walk->bucket, walk->earliest);
}

/* Leaves the rest of @walk, if it is active, for another one. */
static void walk_cut(struct hwtimer_wheel *wheel, struct hwtimer_walk *walk)
{
	if (!walk->active)
		return;
	walk_put_back(wheel, walk);
	if (walk->cascades)
		hwtimer_kind_loosen(wheel, walk->bucket, true);
}

static void walk_keep(struct hwtimer_wheel *wheel, struct hwtimer_walk *walk,
		      struct hwtimer_entry entry, u64 tick)
{
	walk->earliest = min(walk->earliest, tick);
	wheel->stats.passed_over++;
	hwtimer_queue_add_entry(&walk->kept, wheel->pool, entry);
}

/* A live entry that does not expire, whose timer is to do so at @tick. */
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
		bucket_append(wheel, nr, entry, tick);
}

/* Removes dead entries. */
static void bury(struct hwtimer_wheel *wheel, unsigned int count)
{
	wheel->entries -= count;
	wheel->stats.buried += count;
}

/*
 * Looks at one entry; if its timer expires it goes to *@due, which moves on, and is
 * still to be counted out.
 */
static void walk_entry(struct hwtimer_wheel *wheel, struct hwtimer_walk *walk,
		       struct hwtimer_entry entry,
		       struct hwtimer_record *record, u32 **due)
{
	if (!entry_alive(record, entry)) {
		bury(wheel, 1);
		return;
	}
	if (!walk_has_reached(wheel, walk, record)) {
		walk_file(wheel, walk, entry, record,
			  record_tick(wheel, record));
	} else if (walk->expires && record->state == HWTIMER_PENDING) {
		hwtimer_wheel_remove(wheel, record);
		*(*due)++ = entry.index;
	} else if (walk->floor) {
		walk_file(wheel, walk, entry, record, walk->floor);
	} else {
		/* It is due, and waits for its turn where it is. */
		if (walk->cascades)
			hwtimer_kind_loosen(wheel, walk->bucket, true);
		walk_keep(wheel, walk, entry,
			  wheel->buckets[walk->bucket].earliest);
	}
}

/*
 * Looks at the entries of the head chunk of @walk, and drops that chunk.
 * Returns at how many it looked.
 */
static unsigned int walk_chunk(struct hwtimer_wheel *wheel,
			       struct hwtimer_walk *walk, u32 **due)
{
	struct hwtimer_chunk *chunk = walk->source.head;
	struct hwtimer_chunk *next = chunk == walk->source.tail ? NULL :
								  chunk->next;
	unsigned int begin = walk->source.first;
	unsigned int end = hwtimer_queue_end(&walk->source, chunk);
	u32 live = GENMASK(end - 1, begin) & ~chunk->dead;
	u64 buried = wheel->stats.buried;

	if (next && next != walk->source.tail)
		hwtimer_chunk_prefetch(next->next);
	if (next)
		chunk_look(wheel, next, next->first,
			   hwtimer_queue_end(&walk->source, next));
	bury(wheel, end - begin - hweight32(live));
	for (; live; live &= live - 1) {
		struct hwtimer_entry entry = chunk->entries[__ffs(live)];

		walk_entry(wheel, walk, entry,
			   hwtimer_table_record(wheel->table, entry.index),
			   due);
	}
	wheel->buries = wheel->stats.buried != buried;
	wheel->stats.walked += end - begin;
	hwtimer_queue_drop_head(&walk->source, wheel->pool);
	return end - begin;
}

/* Begins to walk bucket @nr, whose earliest tick @tick is due. */
static void due_begin(struct hwtimer_wheel *wheel, u32 nr, u64 tick)
{
	struct hwtimer_walk *walk = &wheel->walk;

	if (wheel->ahead.bucket == nr)
		walk_cut(wheel, &wheel->ahead);
	if (wheel->sweep.bucket == nr)
		walk_cut(wheel, &wheel->sweep);
	hwtimer_kind_arrive(wheel, tick);
	walk_begin(wheel, walk, nr, tick);
	walk->floor = tick;
	walk->expires = hwtimer_kind_expires(wheel, nr, tick);
	/* From now on it is that of what comes during the walk. */
	wheel->buckets[nr].earliest = HWTIMER_TICK_NONE;
}

static void due_end(struct hwtimer_wheel *wheel)
{
	struct hwtimer_walk *walk = &wheel->walk;
	struct hwtimer_bucket *bucket = &wheel->buckets[walk->bucket];

	walk_put_back(wheel, walk);
	hwtimer_kind_settle(wheel, walk->bucket,
			    min(walk->earliest, bucket->earliest));
}

/* Goes on with the bucket that is due, or begins with the next; false: none. */
static bool due_next(struct hwtimer_wheel *wheel)
{
	u64 tick;
	u32 nr;

	if (wheel->walk.active)
		return true;
	tick = hwtimer_kind_first(wheel, &nr);
	if (tick > wheel->current_tick) {
		hwtimer_kind_arrive(wheel, wheel->current_tick);
		return false;
	}
	due_begin(wheel, nr, tick);
	return true;
}

/* What is due, bucket by bucket; returns what is left of @budget. */
static unsigned int advance_due(struct hwtimer_wheel *wheel,
				unsigned int budget, u32 **due)
{
	while (budget > HWTIMER_CHUNK_ENTRIES && due_next(wheel)) {
		if (!hwtimer_queue_empty(&wheel->walk.source))
			budget -= walk_chunk(wheel, &wheel->walk, due);
		if (hwtimer_queue_empty(&wheel->walk.source)) {
			due_end(wheel);
			budget--;
		}
	}
	return budget;
}

/* One step of a walk without expirations. */
static unsigned int walk_step(struct hwtimer_wheel *wheel,
			      struct hwtimer_walk *walk)
{
	unsigned int looked = 1;

	walk_set_tick(wheel, walk, wheel->current_tick);
	if (!hwtimer_queue_empty(&walk->source))
		looked = walk_chunk(wheel, walk, NULL);
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
		walk_cut(wheel, &wheel->sweep);
	walk_begin(wheel, &wheel->ahead, nr, wheel->current_tick);
	return true;
}

/* When nothing is due: what will be, and is still far up. */
static void advance_ahead(struct hwtimer_wheel *wheel, unsigned int budget)
{
	while (budget > HWTIMER_CHUNK_ENTRIES && ahead_next(wheel))
		budget -= walk_step(wheel, &wheel->ahead);
}

static void rewind_begin(struct hwtimer_wheel *wheel)
{
	struct hwtimer_rewind *rewind = &wheel->rewind;

	walk_cut(wheel, &wheel->walk);
	walk_cut(wheel, &wheel->ahead);
	walk_cut(wheel, &wheel->sweep);
	wheel->sweeping = false;
	rewind->walk = (struct hwtimer_walk){
		.floor = rewind->tick + 1,
		.bucket = HWTIMER_NOWHERE,
	};
	walk_set_tick(wheel, &rewind->walk, rewind->tick);
	rewind->next = 0;
	rewind->again = false;
	rewind->active = true;
}

/* Takes the entries out of their buckets; true when this is done. */
static bool rewind_collect(struct hwtimer_wheel *wheel)
{
	struct hwtimer_rewind *rewind = &wheel->rewind;
	u32 end = min(rewind->next + HWTIMER_HOLD, wheel->nr_buckets);

	hwtimer_kind_clear(wheel, rewind->next, end);
	for (; rewind->next < end; rewind->next++) {
		struct hwtimer_bucket *bucket = &wheel->buckets[rewind->next];

		hwtimer_queue_splice(&rewind->walk.source, &bucket->entries);
		bucket->earliest = HWTIMER_TICK_NONE;
	}
	return rewind->next == wheel->nr_buckets;
}

static void rewind_file_begin(struct hwtimer_wheel *wheel)
{
	struct hwtimer_rewind *rewind = &wheel->rewind;

	hwtimer_queue_splice(&rewind->walk.source, &rewind->fresh);
	rewind->walk.active = true;
	hwtimer_kind_restart(wheel, rewind->walk.tick);
}

/* Files the entries anew, from the earlier tick on. */
static void rewind_file(struct hwtimer_wheel *wheel)
{
	struct hwtimer_rewind *rewind = &wheel->rewind;
	unsigned int budget = HWTIMER_HOLD;

	while (budget > HWTIMER_CHUNK_ENTRIES &&
	       !hwtimer_queue_empty(&rewind->walk.source))
		budget -= walk_chunk(wheel, &rewind->walk, NULL);
	if (!hwtimer_queue_empty(&rewind->walk.source))
		return;
	rewind->walk.active = false;
	rewind->active = false;
	if (rewind->again)
		rewind_begin(wheel);
}

/**
 * hwtimer_wheel_rewind_step - one slice of filing all timers anew
 * @wheel: of which hwtimer_wheel_rewind() was asked
 *
 * Expires nothing. Besides the worker, whoever adds timers meanwhile does it,
 * in proportion: otherwise more might come than are filed.
 */
void hwtimer_wheel_rewind_step(struct hwtimer_wheel *wheel)
{
	if (!wheel->rewind.active)
		return;
	if (wheel->rewind.walk.active)
		rewind_file(wheel);
	else if (rewind_collect(wheel))
		rewind_file_begin(wheel);
}

/**
 * hwtimer_wheel_rewind - the clock was set back
 * @wheel: of which all timers stay, with their deadlines; its @rewinds is true
 * @now: ns
 *
 * A hierarchical wheel holds nothing that lies before its position, nor more
 * than its levels reach from there; and in either kind a timer that was overdue
 * is filed under a tick that now lies ahead. So all are filed anew. This is
 * done by hwtimer_wheel_advance(), in slices; until then nothing expires.
 *
 * If the clock is set back while that goes on, it is done to its end and then
 * once more: what is half filed would take up more and more chunks.
 */
void hwtimer_wheel_rewind(struct hwtimer_wheel *wheel, u64 now)
{
	wheel->current_tick = hwtimer_wheel_tick_at(wheel, now);
	wheel->rewind.tick = wheel->current_tick;
	if (wheel->rewind.active)
		wheel->rewind.again = true;
	else
		rewind_begin(wheel);
}

/**
 * hwtimer_wheel_advance - turn the wheel
 * @wheel: the wheel
 * @now: the time, ns
 * @due: out: records that are due, removed from the wheel, by tick and within a
 *	tick as they were scheduled; room for HWTIMER_HOLD
 *
 * Looks at HWTIMER_HOLD entries or buckets at the most; then there may be more
 * to do, and hwtimer_wheel_next() is not later than the tick of @now.
 *
 * Return: how many are in @due.
 */
unsigned int hwtimer_wheel_advance(struct hwtimer_wheel *wheel, u64 now,
				   u32 *due)
{
	unsigned int budget = HWTIMER_HOLD;
	u32 *due_end = due;

	wheel->current_tick =
		max(wheel->current_tick, hwtimer_wheel_tick_at(wheel, now));
	if (unlikely(wheel->rewind.active)) {
		hwtimer_wheel_rewind_step(wheel);
		return 0;
	}
	budget = advance_due(wheel, budget, &due_end);
	wheel->entries -= due_end - due;
	if (!wheel->walk.active)
		advance_ahead(wheel, budget);
	return due_end - due;
}

/**
 * hwtimer_wheel_stride - how far a wheel may stand behind the clock
 * @wheel: the wheel
 *
 * A hierarchical wheel measures from its position: the further that is behind, the
 * higher it files a new timer, which then has to move down. By a bucket of level 1,
 * an eighth of the lowest level, that is seldom. A hashed wheel does not mind.
 *
 * Return: ns; HWTIMER_TICK_NONE: for ever.
 */
u64 hwtimer_wheel_stride(const struct hwtimer_wheel *wheel)
{
	if (hwtimer_is_hashed(wheel))
		return HWTIMER_TICK_NONE;
	return wheel->shape.tick << hwtimer_hierarchy_shift(wheel, 1);
}

/**
 * hwtimer_wheel_forward - follow the clock while there is nothing to turn
 * @wheel: the wheel
 * @now: ns
 *
 * Comes to where hwtimer_wheel_advance() would come if nothing is due and nothing
 * has been begun, but for the tick of @now itself: so a timer that is overdue when
 * it is scheduled need not wait for the next one.
 *
 * Return: false if hwtimer_wheel_advance() has something to do first.
 */
bool hwtimer_wheel_forward(struct hwtimer_wheel *wheel, u64 now)
{
	u64 tick = hwtimer_wheel_tick_at(wheel, now);

	tick = max(tick, wheel->current_tick + 1) - 1;
	if (hwtimer_wheel_next(wheel) <= tick)
		return false;
	wheel->current_tick = tick;
	hwtimer_kind_arrive(wheel, tick);
	return true;
}

/* Whether all entries of a queue's first chunk are dead. */
static bool head_dead(const struct hwtimer_wheel *wheel,
		      const struct hwtimer_queue *queue)
{
	unsigned int i;

	for (i = queue->first; i < hwtimer_queue_end(queue, queue->head); i++) {
		struct hwtimer_entry entry = queue->head->entries[i];

		if (entry_alive(hwtimer_table_record(wheel->table, entry.index),
				entry))
			return false;
	}
	return true;
}

/* Removes the first chunk of a queue, all dead; returns how many they were. */
static unsigned int head_bury(struct hwtimer_wheel *wheel,
			      struct hwtimer_queue *queue)
{
	unsigned int dead =
		hwtimer_queue_end(queue, queue->head) - queue->first;

	hwtimer_queue_drop_head(queue, wheel->pool);
	bury(wheel, dead);
	wheel->stats.walked += dead;
	return dead;
}

/**
 * hwtimer_wheel_skim - remove dead entries from where the wheel is next
 * @wheel: the wheel
 * @max: look at so many entries at the most
 *
 * Called before the worker goes to sleep, so that it seldom wakes up for timers
 * that are no more: of cancelled timeouts, one wake-up removes @max. Whole
 * chunks only, so that no bucket is left with one that has gaps in front.
 */
void hwtimer_wheel_skim(struct hwtimer_wheel *wheel, unsigned int max)
{
	while (max > HWTIMER_CHUNK_ENTRIES && !hwtimer_wheel_busy(wheel)) {
		struct hwtimer_queue *queue;
		u32 nr;

		if (hwtimer_kind_first(wheel, &nr) == HWTIMER_TICK_NONE)
			return;
		if (wheel->sweep.active && wheel->sweep.bucket == nr)
			return;
		queue = &wheel->buckets[nr].entries;
		if (hwtimer_queue_empty(queue)) {
			hwtimer_kind_settle(wheel, nr, HWTIMER_TICK_NONE);
			max--;
		} else if (head_dead(wheel, queue)) {
			max -= head_bury(wheel, queue);
		} else {
			return;
		}
	}
}

/* Goes to the next bucket that has entries; false after the last one. */
static bool sweep_seek(struct hwtimer_wheel *wheel, unsigned int *budget)
{
	if (wheel->sweep.active)
		return true;
	while (*budget > HWTIMER_CHUNK_ENTRIES &&
	       wheel->sweep_next != wheel->nr_buckets) {
		u32 nr = wheel->sweep_next++;

		--*budget;
		if ((wheel->walk.active && wheel->walk.bucket == nr) ||
		    (wheel->ahead.active && wheel->ahead.bucket == nr) ||
		    hwtimer_queue_empty(&wheel->buckets[nr].entries))
			continue;
		walk_begin(wheel, &wheel->sweep, nr, wheel->current_tick);
		return true;
	}
	if (wheel->sweep_next == wheel->nr_buckets)
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
	unsigned int budget = HWTIMER_HOLD;

	if (wheel->rewind.active)
		return;
	if (!wheel->sweeping) {
		if (!begin)
			return;
		wheel->sweeping = true;
		wheel->sweep_next = 0;
		wheel->stats.compactions++;
	}
	while (budget > HWTIMER_CHUNK_ENTRIES && sweep_seek(wheel, &budget))
		budget -= walk_step(wheel, &wheel->sweep);
}

/*
 * Chunks that the wheel has at the most, whatever happens to @entries entries:
 * none is without an entry; a bucket's are full but for the last one that was
 * kept in a walk and the last one that has come since; each walk may have begun
 * another one, and left one when it was cut.
 */
static u64 chunks_at_most(const struct hwtimer_wheel *wheel, u64 entries)
{
	/* Being taken out of their buckets, they are not filled up either. */
	unsigned int partial = wheel->rewinds ? 3 : 2;

	return 12 + min(entries, entries / HWTIMER_CHUNK_ENTRIES +
					 partial * (u64)wheel->nr_buckets);
}

/* Chunks of the wheel's pool that are in its buckets, at least. */
static u64 chunks_in_use(const struct hwtimer_wheel *wheel, u64 queued)
{
	u64 in_use = wheel->pool->chunks - wheel->pool->spares;

	return in_use - min(in_use, queued / HWTIMER_CHUNK_INDICES + 2);
}

/**
 * hwtimer_wheel_reserve - how many spare chunks there must be in the pool
 * @wheel: the wheel
 * @outlook: for what; also for the queue of those that expire
 *
 * A hierarchical wheel may have to scatter all of its entries, and so may one
 * that rewinds. A hashed one may have to scatter those of @resting, but of the
 * others only the postponed: moving many of them takes, in each bucket, one
 * chunk for each chunkful that came before the bucket was walked, one for each
 * that came during the walk, and a broken one for either. A walk keeps what it
 * keeps in no more chunks than it has emptied, but for the one it is in; there
 * are three walks.
 *
 * Where there are enough for all entries, however scattered, there are enough for
 * the queue, too: a timer that expires takes a 60th of a chunk there, and leaves at
 * least a 30th of those that the other entries may need from then on. (Which they do
 * not exceed at any time: a full chunk keeps its entries until all of it is walked.)
 * What is counted out for a hashed wheel is less, and of that it need not leave
 * anything.
 */
u64 hwtimer_wheel_reserve(const struct hwtimer_wheel *wheel,
			  const struct hwtimer_outlook *outlook)
{
	u64 news = (u64)outlook->adds + outlook->moves;
	u64 postponed = wheel->postponed + outlook->moves;
	u64 most =
		chunks_at_most(wheel, wheel->entries + news + outlook->resting);
	u64 few = 3 + news + outlook->expiring / HWTIMER_CHUNK_INDICES +
		  min(postponed, 2 * (u64)wheel->nr_buckets + 4 +
					 postponed / HWTIMER_CHUNK_ENTRIES);

	most -= min(most, chunks_in_use(wheel, outlook->queued));
	if (hwtimer_is_hashed(wheel) && !wheel->rewinds && !outlook->resting)
		most = min(most, few);
	/* The queue's first and last chunk, and one for all that is rounded. */
	return most + 3;
}
