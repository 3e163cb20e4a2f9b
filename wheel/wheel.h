/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The face of the wheel, which finds the timers that are due at a tick. It is a pure data
 * structure without a lock, a clock or an allocation of its own: the caller holds the lock of
 * the instance, passes the time, brings the memory, and keeps spare chunks in the pool.
 *
 * Two kinds of wheel are behind it, of which no program chooses; see wheel/README.md.
 */
#ifndef HWTIMER_WHEEL_H
#define HWTIMER_WHEEL_H

#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include <uapi/linux/hwtimer.h>

#include "constants.h"
#include "wheel/chunk.h"
#include "wheel/ring.h"
#include "wheel/table.h"

/** HWTIMER_TICK_NONE - the tick that never comes; as a time in ns: never */
#define HWTIMER_TICK_NONE U64_MAX

#define HWTIMER_BUCKETS_MIN 8U
#define HWTIMER_BUCKETS_MAX 1048576U

/**
 * struct hwtimer_bucket - the timers whose ticks share a place in the wheel
 * @entries: the entries, in the order in which their timers were scheduled
 * @earliest: no live timer in the bucket has an earlier tick;
 *	HWTIMER_TICK_NONE: the bucket has no live timer
 */
struct hwtimer_bucket {
	struct hwtimer_queue entries;
	u64 earliest;
};

/** HWTIMER_NOWHERE - the number of no bucket */
#define HWTIMER_NOWHERE U32_MAX

/**
 * struct hwtimer_walk - a pass through the entries of one bucket
 * @source: entries not visited yet
 * @kept: visited entries that go back to the bucket
 * @earliest: the earliest tick of @kept
 * @tick: entries of this tick and before are due
 * @time: when @tick begins, ns; a timer without slack is due if its deadline is not later
 * @floor: the tick under which due entries are filed when they are moved; 0: due entries
 *	are not moved
 * @bucket: number of the bucket
 * @active: a walk is under way
 * @expires: due timers expire from this bucket
 * @cascades: entries that are not due move to a lower level if they can
 *
 * The lock is dropped between two slices of a walk. New entries for the bucket then go to
 * the end of @source. In a walk of a due bucket they gather in the bucket itself instead,
 * and follow @kept when the walk ends.
 */
struct hwtimer_walk {
	struct hwtimer_queue source;
	struct hwtimer_queue kept;
	u64 earliest;
	u64 tick;
	u64 time;
	u64 floor;
	u32 bucket;
	bool active;
	bool expires;
	bool cascades;
};

/**
 * struct hwtimer_wheel_stats - counters of what the wheel has done so far
 * @walked: entries visited
 * @refiled: visited entries of postponed timers, moved on to their new tick
 * @cascaded: visited entries moved down to a lower level
 * @removed: visited entries that were dead, and were removed
 * @compactions: passes begun by hwtimer_wheel_compact()
 */
struct hwtimer_wheel_stats {
	u64 walked;
	u64 refiled;
	u64 cascaded;
	u64 removed;
	u64 compactions;
};

/**
 * enum hwtimer_kind - the kinds of wheel
 * @HWTIMER_KIND_HIERARCHICAL: levels of buckets, each coarser than the one below: the whole wheel
 *	of an instance
 * @HWTIMER_KIND_HASHED: the bucket of a tick is the tick modulo the number of buckets: the small
 *	wheel with which an instance starts
 */
enum hwtimer_kind {
	HWTIMER_KIND_HIERARCHICAL,
	HWTIMER_KIND_HASHED,
};

/**
 * struct hwtimer_shape - tick, kind and size of a wheel
 * @tick: length of a tick, ns; at least 1,000
 * @kind: the kind
 * @buckets: number of buckets of the lowest level; a power of two from HWTIMER_BUCKETS_MIN to
 *	HWTIMER_BUCKETS_MAX, or HWTIMER_HASHED_MAX if @kind is HWTIMER_KIND_HASHED
 */
struct hwtimer_shape {
	u64 tick;
	enum hwtimer_kind kind;
	u32 buckets;
};

/**
 * struct hwtimer_scale - how time is divided into ticks, the first of which begins at time 0
 * @tick: length of a tick, ns
 * @reciprocal: reciprocal of @tick, see hwtimer_wheel_set_tick()
 * @shift: shift that belongs to @reciprocal
 */
struct hwtimer_scale {
	u64 tick;
	u64 reciprocal;
	u32 shift;
};

/* The buckets of a hashed wheel are in groups of 8: the ticks of a group are one cache line. */
#define HWTIMER_HASHED_GROUP 8U
#define HWTIMER_HASHED_MAX (HWTIMER_HASHED_GROUP * HWTIMER_HASHED_GROUP)

/**
 * struct hwtimer_hashed - state of a hashed wheel besides its buckets, HWTIMER_HASHED_MAX at most
 * @groups: the earliest tick of the buckets of each group
 * @first: the earliest tick of all groups
 */
struct hwtimer_hashed {
	u64 groups[HWTIMER_HASHED_GROUP];
	u64 first;
};

#define HWTIMER_LEVELS_MAX 12

/**
 * struct hwtimer_level - a level of a hierarchical wheel
 * @end: the first tick that the level does not reach
 * @direct: an entry of a tick before this one goes to this level, if no lower level
 *	reaches that tick: no higher level holds an entry of it. Not beyond @end
 * @occupied: a bit for each bucket that has entries or is being walked
 * @loose: a bit for each occupied bucket with entries that will have to move down
 * @heavy: a bit for each occupied bucket whose entries should move down before the bucket
 *	is due
 */
struct hwtimer_level {
	u64 end;
	u64 direct;
	u64 occupied;
	u64 loose;
	u64 heavy;
};

/**
 * struct hwtimer_hierarchy - state of a hierarchical wheel besides its buckets
 * @occupied: a bit for each bucket of level 0 that has entries
 * @summary: a bit for each word of @occupied that is not 0
 * @mask: number of buckets of level 0 minus 1
 * @shift: log2 of the width of a bucket of level 1, in ticks
 * @nr_levels: number of levels, level 0 included
 * @nonempty: a bit for each level that has an occupied bucket
 * @position: the tick from which distances are measured; the wheel holds no entry before
 *	it. Behind the current tick only during a turn
 * @levels: the levels; of level 0, only @end and @direct are used
 */
struct hwtimer_hierarchy {
	unsigned long *occupied;
	unsigned long *summary;
	u32 mask;
	u8 shift;
	u8 nr_levels;
	u16 nonempty;
	u64 position;
	struct hwtimer_level levels[HWTIMER_LEVELS_MAX];
};

/**
 * struct hwtimer_run - buckets of successive ticks that are due, or a single one
 * @occupied: a bit for each of them whose timers expire from it; 0: those of the first one have
 *	to move down first
 * @nr: the bucket of bit 0
 * @tick: the tick of that bucket
 */
struct hwtimer_run {
	unsigned long occupied;
	u32 nr;
	u64 tick;
};

/**
 * struct hwtimer_refile - how far all entries of a wheel have been filed anew
 * @fresh: entries added while the others are being collected
 * @walk: the walk that files the entries: its source are those collected from the buckets;
 *	active once all buckets are empty
 * @first: the tick whose bucket is collected first of those of the lowest level
 * @collected: number of buckets that have been collected
 * @again: the tick to which the clock was set back meanwhile, so that it all begins again at
 *	the end; HWTIMER_TICK_NONE: it was not
 * @active: the entries are being collected or filed
 */
struct hwtimer_refile {
	struct hwtimer_queue fresh;
	struct hwtimer_walk walk;
	u64 first;
	u64 again;
	u32 collected;
	bool active;
};

/**
 * struct hwtimer_wheel - a timing wheel
 * @table: the records
 * @pool: the pool of spare chunks
 * @shape: tick, kind and size
 * @buckets: array of @nr_buckets buckets
 * @nr_buckets: number of buckets on all levels
 * @scale: how time is divided into ticks
 * @current_tick: this tick and all before it have been turned, or are being turned, or
 *	there was nothing to turn
 * @entries: number of entries in all buckets, live and dead
 * @soonest: the entries since the caller last set this to HWTIMER_TICK_NONE have not made
 *	hwtimer_wheel_next() earlier than this tick
 * @postponed: number of live entries whose timers have moved to a later tick
 * @walk: the walk of the due bucket
 * @ahead: the walk of a bucket before it is due: it moves down, or a skim has begun it
 * @sweep: the walk of a compaction
 * @sweep_next: the bucket at which the compaction goes on
 * @sweeping: a compaction is under way
 * @finds_dead: the last chunk that was walked had a dead entry
 * @halfway: hwtimer_wheel_advance() has left a due bucket that it has not finished
 * @rewinds: hwtimer_wheel_rewind() may be called
 * @refile: progress of filing all entries anew
 * @hashed: state of a hashed wheel
 * @hierarchy: state of a hierarchical wheel
 * @stats: counters
 */
struct hwtimer_wheel {
	const struct hwtimer_table *table;
	struct hwtimer_pool *pool;
	struct hwtimer_shape shape;
	struct hwtimer_bucket *buckets;
	u32 nr_buckets;
	struct hwtimer_scale scale;
	u64 current_tick;
	u64 entries;
	u64 soonest;
	u64 postponed;
	struct hwtimer_walk walk;
	struct hwtimer_walk ahead;
	struct hwtimer_walk sweep;
	u32 sweep_next;
	bool sweeping;
	bool finds_dead;
	bool halfway;
	bool rewinds;
	struct hwtimer_refile refile;
	union {
		struct hwtimer_hashed hashed;
		struct hwtimer_hierarchy hierarchy;
	};
	struct hwtimer_wheel_stats stats;
};

/**
 * struct hwtimer_outlook - what may happen to the timers of a wheel
 * @adds: number of timers that are about to be added
 * @moves: number of timers that are about to be moved
 * @resting: number of timers that may be added later without being announced again
 * @live: number of timers that the wheel may hold
 */
struct hwtimer_outlook {
	u32 adds;
	u32 moves;
	u32 resting;
	u64 live;
};

/*
 * The maximum number of chunks that the walks have begun, or left when they were cut. A wheel has
 * three walks, and that of a refile. Each may have the chunk that it visits, the last one that it
 * has not visited, and one that it left.
 */
#define HWTIMER_WALKS_CHUNKS (4 * 3ULL)

/**
 * hwtimer_outlook_chunks - a number of spare chunks that is enough for any wheel
 * @outlook: what may happen to the timers
 *
 * An instance that schedules and cancels has many more dead entries than timers. A walk
 * removes dead entries and moves only the others. So beyond the chunks in use, the wheel
 * takes one for each timer at most, and those of the walks. A timer that is cancelled leaves
 * a dead entry in its chunk, but does not move any more.
 *
 * Return: a number of chunks, which may be far more than hwtimer_wheel_reserve() returns.
 */
static inline u64 hwtimer_outlook_chunks(const struct hwtimer_outlook *outlook)
{
	return outlook->live + outlook->moves + HWTIMER_WALKS_CHUNKS;
}

/**
 * hwtimer_wheel_chunks - the maximum number of chunks that entries can take
 * @wheel: the wheel
 * @entries: number of entries, live and dead
 *
 * No chunk is without an entry. All chunks of a bucket are full except two: the last one of the
 * entries that a walk kept, and the last one of those that came later. Each walk may have begun
 * one more chunk, and may have left one when it was cut. A rewind takes chunks out of their
 * buckets without filling them up.
 *
 * Return: the number of chunks, whatever happens to the entries.
 */
static inline u64 hwtimer_wheel_chunks(const struct hwtimer_wheel *wheel,
				       u64 entries)
{
	unsigned int partial = wheel->rewinds ? 3 : 2;

	return HWTIMER_WALKS_CHUNKS +
	       min(entries, entries / HWTIMER_CHUNK_ENTRIES +
				    partial * (u64)wheel->nr_buckets);
}

size_t hwtimer_wheel_memory(const struct hwtimer_shape *shape);
void hwtimer_wheel_set_tick(struct hwtimer_wheel *wheel, u64 tick);
void hwtimer_wheel_init(struct hwtimer_wheel *wheel,
			const struct hwtimer_shape *shape, void *memory,
			u64 now);
void hwtimer_wheel_grow(struct hwtimer_wheel *wheel,
			struct hwtimer_wheel *larger);
void hwtimer_wheel_return(struct hwtimer_wheel *wheel,
			  const struct hwtimer_shape *shape, void *memory);
void hwtimer_wheel_drain(struct hwtimer_wheel *wheel);

u64 hwtimer_wheel_tick_at(const struct hwtimer_wheel *wheel, u64 now);
u64 hwtimer_wheel_time_of(const struct hwtimer_wheel *wheel, u64 tick);
u8 hwtimer_wheel_align(const struct hwtimer_wheel *wheel, u64 slack);
u64 hwtimer_wheel_slack(const struct hwtimer_wheel *wheel, u8 align);

void hwtimer_wheel_file(struct hwtimer_wheel *wheel, struct hwtimer_entry entry,
			u64 tick);
void hwtimer_wheel_add(struct hwtimer_wheel *wheel,
		       const struct hwtimer_record *record, u32 index);
void hwtimer_wheel_move(struct hwtimer_wheel *wheel,
			struct hwtimer_record *record, u32 index, u64 deadline);
u64 hwtimer_wheel_next(const struct hwtimer_wheel *wheel);
bool hwtimer_wheel_busy(const struct hwtimer_wheel *wheel);
unsigned int hwtimer_wheel_advance(struct hwtimer_wheel *wheel, u64 now,
				   u32 *due);
u64 hwtimer_wheel_stride(const struct hwtimer_wheel *wheel);
bool hwtimer_wheel_forward(struct hwtimer_wheel *wheel, u64 now);
void hwtimer_wheel_rewind(struct hwtimer_wheel *wheel, u64 now);
void hwtimer_wheel_refile_step(struct hwtimer_wheel *wheel);
void hwtimer_wheel_skim(struct hwtimer_wheel *wheel, unsigned int max);
void hwtimer_wheel_compact(struct hwtimer_wheel *wheel, bool begin);
u64 hwtimer_wheel_reserve(const struct hwtimer_wheel *wheel,
			  const struct hwtimer_outlook *outlook);
u64 hwtimer_wheel_reserve_growth(const struct hwtimer_wheel *wheel,
				 struct hwtimer_wheel *larger,
				 const struct hwtimer_outlook *outlook);

/*
 * The high half of a product. mul_u64_u64_shr() needs four multiplications for it on
 * architectures that do not declare 128-bit numbers. The compiler of a 64-bit kernel
 * has them.
 */
static inline u64 hwtimer_mul_high(u64 a, u64 b)
{
	return ((__uint128_t)a * b) >> 64;
}

/*
 * @time in whole ticks; exact for each @time up to 2^63, see hwtimer_wheel_set_tick(). Times
 * beyond are rare: HWTIMER_TICK_NONE, and what tests make up.
 */
static inline u64 hwtimer_scale_ticks(const struct hwtimer_scale *scale,
				      u64 time)
{
	if (unlikely(time > S64_MAX))
		return div64_u64(time, scale->tick);
	return hwtimer_mul_high(time, scale->reciprocal) >> scale->shift;
}

u64 hwtimer_scale_tick_of_odd(const struct hwtimer_scale *scale, u64 deadline);

/**
 * hwtimer_scale_tick_of - the first tick at which a deadline has passed
 * @scale: the wheel's scale
 * @deadline: the deadline, ns
 *
 * Rounds up, so that no timer is early.
 */
static inline u64 hwtimer_scale_tick_of(const struct hwtimer_scale *scale,
					u64 deadline)
{
	u64 time = deadline - 1;

	/* One test finds 0, and deadlines too late to be multiplied. */
	if (unlikely(time > S64_MAX))
		return hwtimer_scale_tick_of_odd(scale, deadline);
	return (hwtimer_mul_high(time, scale->reciprocal) >> scale->shift) + 1;
}

/**
 * hwtimer_tick_align - the tick at which a timer is to expire
 * @tick: the first tick at which the timer's deadline has passed
 * @deadline: the deadline, ns
 * @align: what hwtimer_wheel_align() made of the timer's slack
 *
 * Return: a tick, not before @tick.
 */
static __always_inline u64 hwtimer_tick_align(u64 tick, u64 deadline, u8 align)
{
	u64 mask = BIT_ULL(align) - 1;

	/* A timer that never expires shares no wake-up, and aligning it might overflow. */
	if (likely(!align) || deadline > KTIME_MAX)
		return tick;
	return (tick + mask) & ~mask;
}

/* hwtimer_scale_tick_of() for @wheel. */
static inline u64 hwtimer_wheel_tick_of(const struct hwtimer_wheel *wheel,
					u64 deadline)
{
	return hwtimer_scale_tick_of(&wheel->scale, deadline);
}

/* Makes the entry of a timer dead. */
static inline void hwtimer_record_outdate(struct hwtimer_record *record)
{
	record->stamp = (record->stamp + 1) & HWTIMER_STAMP_MAX;
}

/**
 * hwtimer_wheel_remove - take a timer out of the wheel
 * @wheel: the wheel
 * @record: the timer's record
 *
 * Touches no memory but the record and, of a postponed timer, the wheel itself: the entry
 * stays in its bucket, dead.
 */
static inline void hwtimer_wheel_remove(struct hwtimer_wheel *wheel,
					struct hwtimer_record *record)
{
	hwtimer_record_outdate(record);
	if (unlikely(record->postponed)) {
		record->postponed = false;
		wheel->postponed--;
	}
}

/*
 * Adding is inline for speed. A loop that adds timers copies the few facts that it needs of the
 * wheel once, and the compiler keeps them in registers. Read from the wheel itself, they would
 * have to be loaded again after each store to a bucket or a record. hwtimer_wheel_file() files
 * the timers for which these facts are not enough.
 */

/**
 * struct hwtimer_intake - a wheel that timers are being added to
 * @wheel: the wheel; the caller does nothing else to it meanwhile
 * @scale: copy of the wheel's
 * @buckets: copy of the wheel's
 * @first: the earliest tick for a new timer
 * @reach: an entry of one of the @reach ticks from @first on goes to bucket tick & @mask;
 *	for all others, hwtimer_wheel_file() asks the wheel
 * @mask: number of buckets of the lowest level minus 1
 */
struct hwtimer_intake {
	struct hwtimer_wheel *wheel;
	struct hwtimer_scale scale;
	struct hwtimer_bucket *buckets;
	u64 first;
	u64 reach;
	u32 mask;
};

struct hwtimer_intake hwtimer_intake_begin(struct hwtimer_wheel *wheel);

/**
 * hwtimer_intake_file - enter a timer into a bucket
 * @intake: from hwtimer_intake_begin(); stays valid, whatever is filed
 * @entry: the entry of the timer's record
 * @tick: the tick at which the timer is to expire; if it has passed, the timer expires
 *	at the next turn
 *
 * Takes at most one chunk from the pool.
 */
static __always_inline void
hwtimer_intake_file(const struct hwtimer_intake *intake,
		    struct hwtimer_entry entry, u64 tick)
{
	struct hwtimer_bucket *bucket = &intake->buckets[tick & intake->mask];
	bool near = tick - intake->first < intake->reach;

	/*
	 * Usually the bucket holds an earlier entry and its last chunk has room. Then no
	 * walk without expirations is in this bucket, because such a walk takes all
	 * chunks out of it.
	 */
	if (unlikely(!near || bucket->earliest > tick ||
		     !hwtimer_queue_try_entry(&bucket->entries, entry)))
		hwtimer_wheel_file(intake->wheel, entry,
				   max(tick, intake->first));
}

/* To be called after hwtimer_intake_file() has filed @count entries. */
static inline void hwtimer_intake_end(const struct hwtimer_intake *intake,
				      u32 count)
{
	intake->wheel->entries += count;
}

#endif /* HWTIMER_WHEEL_H */
