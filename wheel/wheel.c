// SPDX-License-Identifier: GPL-2.0
/*
 * The part of the wheel that both kinds share: buckets of entries and the walks through
 * them. The instance calls it; see wheel/wheel.h.
 *
 * Memory is slow. That is why this wheel differs from those in the literature and in user
 * space:
 *
 * - A bucket is a queue of 8-byte entries in chunks of 30, not a list of timers. An entry
 *   refers to a timer's record. A walk through a bucket fetches the records of the next
 *   chunk while it works on those of the current one.
 * - Ending a timer only changes the stamp in its record. Its entry stays in the bucket
 *   with the old stamp: it is dead. To bury a dead entry is to remove it. The worker
 *   buries dead entries at their tick (hwtimer_wheel_advance()). Before it goes to sleep,
 *   it skims: it buries those at the front of the next bucket (hwtimer_wheel_skim()). A
 *   compaction sweeps: it goes through all buckets (hwtimer_wheel_compact()).
 * - Moving a timer to a later time only writes the record. The entry moves on when its
 *   old tick comes.
 * - Most buckets that are due have nothing but timers that expire now, and dead entries. Such
 *   a bucket is emptied from the front of its queue, a chunk at a time, and needs no other
 *   state in between. Those of neighbouring ticks that have few entries are emptied in one
 *   loop. At the first entry that has to stay or to move, a walk takes over.
 *
 * A timer with slack expires at a multiple of a power of two ticks, the first one that is
 * not before its deadline. The power is the largest that has a multiple within the slack
 * wherever the deadline is. So timers with slack gather at few ticks.
 *
 * Appending an entry takes at most one chunk from the pool. hwtimer_wheel_reserve() tells
 * how many chunks the pool must hold so that it never runs dry.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/overflow.h>
#include <linux/prefetch.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "wheel/kinds.h"

static_assert(sizeof(struct hwtimer_bucket) == 32);

/* How many bytes hwtimer_wheel_init() needs. */
size_t hwtimer_wheel_memory(const struct hwtimer_shape *shape)
{
	return (size_t)hwtimer_kind_buckets(shape) *
		       sizeof(struct hwtimer_bucket) +
	       hwtimer_kind_memory(shape);
}

/**
 * hwtimer_wheel_set_tick - set how time is divided into ticks
 * @wheel: a wheel without timers
 * @tick: length of a tick, ns; at least 2
 * @base: time of tick 0, ns
 *
 * Computes the reciprocal with which hwtimer_scale_ticks() divides: 2^(64 + shift) /
 * tick, rounded up. 2^shift is the largest power of two below the tick, so the reciprocal
 * has 64 bits, the first of which is 1.
 *
 * The quotient is exact for each time up to 2^63. Rounding up makes reciprocal * tick
 * exceed 2^(64 + shift) by an error < tick <= 2^(shift + 1). So time * reciprocal /
 * 2^(64 + shift) exceeds time / tick by time * error / (2^(64 + shift) * tick), which is
 * less than 2^63 * 2^(shift + 1) / (2^(64 + shift) * tick) = 1 / tick. The fraction of
 * time / tick is at most 1 - 1 / tick, so the sum does not reach the next integer.
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
	scale->reciprocal += rest > 0;
}

/* hwtimer_scale_tick_of() for a deadline that is not after the base, or beyond 63 bits. */
u64 hwtimer_scale_tick_of_odd(const struct hwtimer_scale *scale, u64 deadline)
{
	if (deadline <= scale->base)
		return 0;
	return hwtimer_scale_ticks(scale, deadline - scale->base - 1) + 1;
}

/*
 * Lets other threads run before bucket @nr, if HWTIMER_HOLD others have come since the last
 * time. A wheel may have a million. A kernel that does not preempt itself would run nothing
 * else before the last one.
 */
static void bucket_begin(u32 nr)
{
	if (nr && nr % HWTIMER_HOLD == 0)
		cond_resched();
}

/**
 * hwtimer_wheel_init - set up an empty wheel
 * @wheel: the wheel; zeroed except for its table and its pool
 * @shape: tick, kind and size of the wheel
 * @memory: hwtimer_wheel_memory() bytes, aligned to a cache line; the caller still owns
 *	them
 * @base: time of tick 0, ns
 * @now: the time, ns; not before @base
 *
 * Takes time in proportion to the number of buckets. May sleep if these are more than
 * HWTIMER_HOLD.
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
	wheel->soonest = HWTIMER_TICK_NONE;
	for (i = 0; i < wheel->nr_buckets; i++) {
		bucket_begin(i);
		wheel->buckets[i] =
			(struct hwtimer_bucket){ .earliest =
							 HWTIMER_TICK_NONE };
	}
	hwtimer_kind_init(wheel, wheel->current_tick);
}

static void walk_drain(struct hwtimer_walk *walk)
{
	hwtimer_queue_drain(&walk->source);
	hwtimer_queue_drain(&walk->kept);
}

/*
 * Frees all chunks of the wheel, in time proportional to their number and that of the
 * buckets. May sleep.
 */
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
	for (i = 0; i < wheel->nr_buckets; i++) {
		bucket_begin(i);
		hwtimer_queue_drain(&wheel->buckets[i].entries);
	}
}

/**
 * hwtimer_wheel_tick_at - the last tick that has begun
 * @wheel: the wheel
 * @now: the time, ns
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
 * @tick: number of the tick
 *
 * Return: the time, ns; HWTIMER_TICK_NONE beyond the range of the clock.
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
 * hwtimer_wheel_align - the part of a slack that a record keeps
 * @wheel: the wheel
 * @slack: the slack, ns
 *
 * The slack lets a timer expire at any of n successive ticks. If 2^k is at most n, one of
 * them is a multiple of 2^k.
 *
 * Return: the largest such k.
 */
u8 hwtimer_wheel_align(const struct hwtimer_wheel *wheel, u64 slack)
{
	return ilog2(hwtimer_scale_ticks(&wheel->scale, slack) + 1);
}

/* The longest lateness that @align causes, ns, apart from rounding up to a tick. */
u64 hwtimer_wheel_slack(const struct hwtimer_wheel *wheel, u8 align)
{
	return (BIT_ULL(align) - 1) * wheel->shape.tick;
}

/* The tick at which a timer is to expire. */
static __always_inline u64 record_tick(const struct hwtimer_wheel *wheel,
				       const struct hwtimer_record *record)
{
	return hwtimer_tick_align(hwtimer_wheel_tick_of(wheel,
							record->deadline),
				  record->deadline, record->align);
}

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
 * While a due bucket is being walked, new entries for that bucket wait in the bucket
 * itself. Otherwise the walk might never end.
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
 * Appends an entry of @tick to bucket @nr. Usually the last chunk has room. If walk_in()
 * would find a walk, the bucket has no chunk: the walk has taken them all.
 */
static __always_inline void bucket_append(struct hwtimer_wheel *wheel, u32 nr,
					  struct hwtimer_entry entry, u64 tick)
{
	struct hwtimer_queue *entries = &wheel->buckets[nr].entries;

	if (unlikely(!hwtimer_queue_try_entry(entries, entry))) {
		bucket_append_slowly(wheel, nr, entry, tick);
		return;
	}
	hwtimer_kind_occupy(wheel, nr, tick);
}

/* The queue for entries that are added during a rewind. */
static struct hwtimer_queue *rewind_queue(struct hwtimer_wheel *wheel)
{
	/* @fresh waits until all older entries have been taken out of their buckets. */
	return wheel->rewind.walk.active ? &wheel->rewind.walk.source :
					   &wheel->rewind.fresh;
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
	u64 direct = wheel->rewind.active ? 0 : hwtimer_kind_direct(wheel);

	return (struct hwtimer_intake){
		.wheel = wheel,
		.scale = wheel->scale,
		.buckets = wheel->buckets,
		.first = first,
		.reach = max(direct, first) - first,
		.mask = wheel->shape.buckets - 1,
	};
}

/* Does hwtimer_intake_open() in all cases. */
static noinline void intake_ask(struct hwtimer_wheel *wheel,
				struct hwtimer_entry entry, u64 tick, bool near)
{
	if (unlikely(wheel->rewind.active))
		hwtimer_queue_add_entry(rewind_queue(wheel), wheel->pool,
					entry);
	else if (near || !hwtimer_kind_try_above(wheel, entry, tick))
		bucket_append(wheel, hwtimer_kind_place(wheel, tick), entry,
			      tick);
}

/**
 * hwtimer_intake_open - do what is left of hwtimer_intake_file()
 * @wheel: the wheel
 * @entry: the entry of the timer's record
 * @tick: the tick at which the timer is to expire; lies ahead
 * @near: @tick is within the reach of the intake, so its bucket is in the lowest level
 *
 * Where few timers are in many buckets, most of them are the first of their bucket. So that
 * case is short, and comes first. In the lowest level, the only walk that expires nothing is
 * the sweep.
 */
void hwtimer_intake_open(struct hwtimer_wheel *wheel,
			 struct hwtimer_entry entry, u64 tick, bool near)
{
	struct hwtimer_bucket *bucket;
	u32 nr;

	if (unlikely(!near)) {
		intake_ask(wheel, entry, tick, false);
		return;
	}
	nr = tick & (wheel->shape.buckets - 1);
	bucket = &wheel->buckets[nr];
	if (unlikely(!hwtimer_queue_empty(&bucket->entries) ||
		     wheel->sweep.bucket == nr || !wheel->pool->top)) {
		intake_ask(wheel, entry, tick, true);
		return;
	}
	hwtimer_queue_begin_entry(&bucket->entries, wheel->pool, entry);
	hwtimer_kind_occupy(wheel, nr, tick);
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
	struct hwtimer_intake intake = hwtimer_intake_begin(wheel);

	hwtimer_intake_file(&intake, entry, record_tick(wheel, record));
	hwtimer_intake_end(&intake, 1);
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

/* Whether the next turn has something to go on with: a bucket, a walk or a rewind. */
bool hwtimer_wheel_busy(const struct hwtimer_wheel *wheel)
{
	return wheel->halfway || wheel->walk.active || wheel->ahead.active ||
	       wheel->rewind.active;
}

/**
 * hwtimer_wheel_next - the next tick at which there may be something to do
 * @wheel: the wheel
 *
 * Return: a tick; HWTIMER_TICK_NONE if the wheel is empty. Never later than the tick of
 * the earliest timer. It is earlier if dead or postponed entries come before that timer.
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
 * An entry is alive if its record still has the timer that the entry was made for. After
 * 2^32 changes of the stamp, an old entry matches again, so the state is checked, too.
 */
static bool entry_alive(const struct hwtimer_record *record,
			struct hwtimer_entry entry)
{
	return record->stamp == entry.stamp && record->state == HWTIMER_PENDING;
}

/* A bit for each of the entries @begin to @end - 1 that is not known to be dead. */
static u32 chunk_live(const struct hwtimer_chunk *chunk, unsigned int begin,
		      unsigned int end)
{
	return GENMASK(end - 1, begin) & ~chunk->dead;
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
	for (live = chunk_live(chunk, begin, end); live; live &= live - 1) {
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
	if (wheel->buries)
		chunk_sift(wheel, chunk, begin, end);
	else
		chunk_fetch(wheel, chunk, begin, end);
}

/* chunk_look() for the first chunk of a queue that is not empty. */
static void queue_look(const struct hwtimer_wheel *wheel,
		       const struct hwtimer_queue *queue)
{
	chunk_look(wheel, queue->head, queue->first,
		   hwtimer_queue_end(queue, queue->head));
}

/* chunk_look() for the second one, if there is one. Starts to fetch the third one. */
static void queue_look_ahead(const struct hwtimer_wheel *wheel,
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
static void walk_set_tick(const struct hwtimer_wheel *wheel,
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
	return record_tick(wheel, record) <= walk->tick;
}

/* Begins a walk: takes all entries of bucket @nr. Those of @tick and before are due. */
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
	if (!hwtimer_queue_empty(&walk->source))
		queue_look(wheel, &walk->source);
}

/* Puts the kept and the unvisited entries of @walk back in front of the bucket's. */
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

/* @walk has visited all entries, so it knows the earliest tick of its bucket. */
static void walk_end(struct hwtimer_wheel *wheel, struct hwtimer_walk *walk)
{
	walk_put_back(wheel, walk);
	hwtimer_kind_settle(wheel, walk->bucket, walk->earliest);
}

/* Ends @walk early, if it is active. Another walk will visit the rest. */
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
		bucket_append(wheel, nr, entry, tick);
}

/* Accounts for @count dead entries that have been removed. */
static void bury(struct hwtimer_wheel *wheel, unsigned int count)
{
	wheel->entries -= count;
	wheel->stats.buried += count;
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
	if (!entry_alive(record, entry)) {
		bury(wheel, 1);
		return;
	}
	if (!walk_has_reached(wheel, walk, record)) {
		walk_file(wheel, walk, entry, record,
			  record_tick(wheel, record));
	} else if (walk->expires && record->state == HWTIMER_PENDING) {
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
static unsigned int walk_chunk(struct hwtimer_wheel *wheel,
			       struct hwtimer_walk *walk, u32 **due)
{
	const struct hwtimer_chunk *chunk = walk->source.head;
	unsigned int begin = walk->source.first;
	unsigned int end = hwtimer_queue_end(&walk->source, chunk);
	u32 live = chunk_live(chunk, begin, end);
	u64 buried = wheel->stats.buried;

	queue_look_ahead(wheel, &walk->source);
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
		} else if (entry_alive(record, entry)) {
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

	queue_look(wheel, queue);
	queue_look_ahead(wheel, queue);
	rest = expire_chunk(wheel, chunk, chunk_live(chunk, begin, end), time,
			    due);
	if (unlikely(rest))
		end = __ffs(rest);
	dead = end - begin - (*due - before);
	wheel->buries = dead;
	bury(wheel, dead);
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
		if (unlikely(odd) && entry_alive(record, *entry))
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
	bury(wheel, visited - (*due - before));
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
		walk_cut(wheel, &wheel->ahead);
	if (wheel->sweep.bucket == nr)
		walk_cut(wheel, &wheel->sweep);
	hwtimer_kind_arrive(wheel, tick);
	walk_begin(wheel, walk, nr, tick);
	walk->floor = tick;
	walk->expires = hwtimer_kind_expires(wheel, nr, tick);
	/* From now on, @earliest is that of the entries that come during the walk. */
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
		*budget -= walk_chunk(wheel, &wheel->walk, due);
	if (hwtimer_queue_empty(&wheel->walk.source)) {
		due_end(wheel);
		--*budget;
	}
}

/* Deals with the due buckets, one by one. Returns the rest of @budget. */
static unsigned int advance_due(struct hwtimer_wheel *wheel,
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

/* One step of @ahead or @sweep. Returns how much of the budget it took. */
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

/* Moves heavy buckets down before they are due. Called when nothing is due. */
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
	wheel->halfway = false;
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

/* Takes entries out of their buckets. Returns true when all buckets are empty. */
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

/* Files the entries anew, a slice per call. */
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
 * hwtimer_wheel_rewind_step - do one slice of a rewind
 * @wheel: the wheel; nothing happens if it is not being rewound
 *
 * Expires nothing. The worker calls this. So does each thread that adds timers during a
 * rewind, in proportion to their number: otherwise more might come than are filed.
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
 * hwtimer_wheel_rewind - go back to an earlier tick because the clock was set back
 * @wheel: the wheel, whose @rewinds is true; all timers stay, with their deadlines
 * @now: the new time, ns
 *
 * All entries are filed anew. A hierarchical wheel can hold nothing before its position,
 * and nothing beyond the reach of its levels from there. In a wheel of either kind, a
 * timer that was overdue when scheduled is filed under a later tick than its own, which
 * the clock may now take long to reach. hwtimer_wheel_advance() does the work in slices.
 * Until all is filed, nothing expires.
 *
 * If the clock is set back during a rewind, that rewind is finished, and another one
 * follows. Beginning again halfway would take up more and more chunks.
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

/* The first tick at which an entry may be filed when the wheel is replaced by another. */
static u64 growth_floor(const struct hwtimer_wheel *wheel)
{
	u32 nr;

	/* During a walk of a due bucket, nothing is filed before the tick of that bucket. */
	if (wheel->walk.active)
		return wheel->walk.floor;
	return min(hwtimer_kind_first(wheel, &nr), wheel->current_tick + 1);
}

/**
 * hwtimer_wheel_grow - move all timers to a larger wheel
 * @wheel: the wheel, which is not being rewound; becomes the larger one
 * @larger: a wheel without timers, of the same table, pool and tick; the caller has set its
 *	@room and @rewinds
 *
 * Files all entries anew: the buckets of the smaller, hashed wheel in the order in which they
 * are due, so entries of the same tick keep their order. The pool has the chunks of
 * hwtimer_wheel_reserve_growth(). The memory of the smaller wheel is no longer used.
 *
 * The smaller wheel may be in the middle of a turn. Then the larger one begins at the tick
 * of that turn, and the next hwtimer_wheel_advance() goes on with it. An entry of an earlier
 * tick is one of a timer that was overdue when it was scheduled. If nothing is due, it is
 * filed under the tick after the current one, under which it was before.
 */
void hwtimer_wheel_grow(struct hwtimer_wheel *wheel,
			struct hwtimer_wheel *larger)
{
	u64 floor = growth_floor(wheel);
	struct hwtimer_walk walk = { .floor = floor,
				     .bucket = HWTIMER_NOWHERE };
	u32 i;

	walk_cut(wheel, &wheel->walk);
	walk_cut(wheel, &wheel->ahead);
	walk_cut(wheel, &wheel->sweep);
	for (i = 0; i < wheel->nr_buckets; i++) {
		u32 nr = hwtimer_kind_place(wheel, floor + i);

		hwtimer_queue_splice(&walk.source, &wheel->buckets[nr].entries);
	}

	larger->current_tick = wheel->current_tick;
	larger->entries = wheel->entries;
	larger->postponed = wheel->postponed;
	larger->stats = wheel->stats;
	*wheel = *larger;
	hwtimer_kind_restart(wheel, floor - 1);
	walk_set_tick(wheel, &walk, floor);
	while (!hwtimer_queue_empty(&walk.source))
		walk_chunk(wheel, &walk, NULL);
}

/**
 * hwtimer_wheel_return - replace a wheel by a small one
 * @wheel: the wheel; without entries and not busy. Becomes the small one
 * @shape: tick, kind and size of the small wheel: HWTIMER_HOLD buckets at most
 * @memory: hwtimer_wheel_memory() bytes for it, aligned to a cache line
 * @room: its @room
 *
 * The memory of the larger wheel is no longer used.
 */
void hwtimer_wheel_return(struct hwtimer_wheel *wheel,
			  const struct hwtimer_shape *shape, void *memory,
			  u64 room)
{
	struct hwtimer_wheel_stats stats = wheel->stats;
	const struct hwtimer_table *table = wheel->table;
	struct hwtimer_pool *pool = wheel->pool;
	u64 tick = wheel->current_tick, base = wheel->scale.base;
	bool rewinds = wheel->rewinds;

	memset(wheel, 0, sizeof(*wheel));
	wheel->table = table;
	wheel->pool = pool;
	wheel->rewinds = rewinds;
	wheel->room = room;
	wheel->stats = stats;
	hwtimer_wheel_init(wheel, shape, memory, base, base);
	wheel->current_tick = tick;
	hwtimer_kind_restart(wheel, tick);
}

/**
 * hwtimer_wheel_advance - turn the wheel
 * @wheel: the wheel
 * @now: the time, ns
 * @due: out: indices of records that are due, removed from the wheel and EXPIRED; in the
 *	order of their ticks, and within a tick as they were scheduled; room for HWTIMER_HOLD
 *
 * Visits at most HWTIMER_HOLD entries or buckets. If more is left to do,
 * hwtimer_wheel_next() is then not later than the tick of @now.
 *
 * Return: the number of records in @due.
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
 * A hierarchical wheel measures from its position. If the position is far behind the
 * clock, a new timer is filed on too high a level, and has to move down. That is rare if
 * the distance is at most one bucket of level 1, usually an eighth of the lowest level. A
 * hashed wheel may be behind by any distance.
 *
 * Return: the distance, ns; HWTIMER_TICK_NONE: any distance.
 */
u64 hwtimer_wheel_stride(const struct hwtimer_wheel *wheel)
{
	if (hwtimer_is_hashed(wheel))
		return HWTIMER_TICK_NONE;
	return wheel->shape.tick << hwtimer_hierarchy_shift(wheel, 1);
}

/**
 * hwtimer_wheel_forward - let an idle wheel follow the clock
 * @wheel: the wheel
 * @now: the time, ns
 *
 * If nothing is due and nothing is under way, does what hwtimer_wheel_advance() would do,
 * but stops one tick before the tick of @now. So a timer that is overdue when it is
 * scheduled can expire at the tick of @now and need not wait for the next one.
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

/* Removes a queue's first chunk, all of it dead. Returns the number of its entries. */
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
 * hwtimer_wheel_skim - remove the dead entries that come next
 * @wheel: the wheel
 * @max: maximum number of entries to visit
 *
 * The worker calls this before it goes to sleep, so that it seldom wakes up for cancelled
 * timers: one wake-up removes up to @max of them. Only whole chunks are removed, so that
 * no bucket is left with a chunk that has gaps in front.
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

/* Begins a walk unless one is active; false: no bucket or no budget is left. */
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
 * @begin: begin a new pass if none is under way
 *
 * Visits at most HWTIMER_HOLD entries or buckets. The next call goes on from there.
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
 * The maximum number of chunks that @entries entries can take, whatever happens to them.
 * No chunk is without an entry. All chunks of a bucket are full except two: the last one
 * of the entries that a walk kept, and the last one of those that came later. Each walk
 * may have begun one more chunk, and may have left one when it was cut.
 */
static u64 chunks_at_most(const struct hwtimer_wheel *wheel, u64 entries)
{
	/* A rewind takes chunks out of their buckets without filling them up. */
	unsigned int partial = wheel->rewinds ? 3 : 2;

	return HWTIMER_WALKS_CHUNKS +
	       min(entries, entries / HWTIMER_CHUNK_ENTRIES +
				    partial * (u64)wheel->nr_buckets);
}

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
 * rewinds or has resting timers. Any other wheel scatters only the postponed entries. If
 * these are many, they take a chunk for each chunkful and, in each bucket, two partly
 * filled chunks: one of entries that came before the bucket was walked, and one of
 * entries that came during the walk. What a walk keeps takes at most one chunk more than
 * the walk has emptied: the chunk that it is in. A wheel has three walks.
 */
static u64 reserve_entries(const struct hwtimer_wheel *wheel,
			   const struct hwtimer_outlook *outlook)
{
	u64 news = (u64)outlook->adds + outlook->moves;
	u64 postponed = wheel->postponed + outlook->moves;
	u64 most =
		chunks_at_most(wheel, wheel->entries + news + outlook->resting);
	u64 few = 3 + news +
		  min(postponed, 2 * (u64)wheel->nr_buckets + 4 +
					 postponed / HWTIMER_CHUNK_ENTRIES);

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
 * @larger: the wheel that is to replace it
 * @outlook: what may happen to the timers afterwards
 *
 * At worst, each entry gets into a bucket of its own, with a chunk for each. A chunk of the
 * smaller wheel is free again when its last entry is filed. What reserve_entries() wants
 * for chunks_at_most() takes account of the chunks in use, so it stays valid; what it
 * wants for a hashed wheel does not, and must be left when all is filed.
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
	if (hwtimer_is_hashed(larger))
		return reserve + wheel->entries;
	return max(reserve, wheel->entries + 1);
}
