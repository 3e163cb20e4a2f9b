// SPDX-License-Identifier: GPL-2.0
/*
 * Sets a wheel up, turns it, and tells when it has to be turned next; see wheel/wheel.h.
 *
 * Memory is slow. That is why this wheel differs from those in the literature and in user
 * space:
 *
 * - A bucket is a queue of 8-byte entries in chunks of 30, not a list of timers. An entry
 *   refers to a timer's record. The records of the next chunk are fetched while those of the
 *   current one are worked on.
 * - Ending a timer only changes the stamp in its record. Its entry stays in the bucket with the
 *   old stamp: it is dead. A turn removes the dead entries of its tick. A compaction sweeps:
 *   it goes through all buckets. See wheel/sweep.c.
 * - Moving a timer to a later time only writes the record. The entry moves on when its
 *   old tick comes.
 * - After a turn in which nothing was due, the worker skims: it removes and moves such entries
 *   of the next buckets, too, up to one that has a timer that is due. So a wake-up deals with
 *   many of them.
 *
 * A timer with slack expires at a multiple of a power of two ticks, the first one that is
 * not before its deadline. The power is the largest that has a multiple within the slack
 * wherever the deadline is. So timers with slack gather at few ticks.
 */
#include <linux/bits.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "wheel/walk.h"

static_assert(sizeof(struct hwtimer_bucket) == 32);

/**
 * hwtimer_wheel_memory - compute the memory that a wheel's buckets take
 * @shape: tick, kind and size of the wheel
 *
 * Return: the number of bytes that hwtimer_wheel_init() needs.
 */
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
void hwtimer_wheel_set_tick(struct hwtimer_wheel *wheel, u64 tick)
{
	struct hwtimer_scale *scale = &wheel->scale;
	u64 rest;
	int i;

	wheel->shape.tick = tick;
	*scale = (struct hwtimer_scale){
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

/* hwtimer_scale_tick_of() for a deadline that is 0, or beyond 63 bits. */
u64 hwtimer_scale_tick_of_odd(const struct hwtimer_scale *scale, u64 deadline)
{
	return deadline ? hwtimer_scale_ticks(scale, deadline - 1) + 1 : 0;
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
 * @now: the time, ns
 *
 * Takes time in proportion to the number of buckets. May sleep if these are more than
 * HWTIMER_HOLD.
 */
void hwtimer_wheel_init(struct hwtimer_wheel *wheel,
			const struct hwtimer_shape *shape, void *memory,
			u64 now)
{
	u32 i;

	wheel->shape = *shape;
	hwtimer_wheel_set_tick(wheel, shape->tick);
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

static void walk_take(struct hwtimer_walk *walk, struct hwtimer_queue *all)
{
	hwtimer_queue_splice(all, &walk->source);
	hwtimer_queue_splice(all, &walk->kept);
}

/**
 * hwtimer_wheel_drain - free all chunks of a wheel
 * @wheel: the wheel; zeroed, or set up
 *
 * Takes time in proportion to the number of chunks and of buckets. May sleep.
 */
void hwtimer_wheel_drain(struct hwtimer_wheel *wheel)
{
	struct hwtimer_queue all = {};
	u32 i;

	if (!wheel->buckets)
		return;
	walk_take(&wheel->walk, &all);
	walk_take(&wheel->ahead, &all);
	walk_take(&wheel->sweep, &all);
	walk_take(&wheel->refile.walk, &all);
	hwtimer_queue_splice(&all, &wheel->refile.fresh);
	for (i = 0; i < wheel->nr_buckets; i++) {
		bucket_begin(i);
		hwtimer_queue_splice(&all, &wheel->buckets[i].entries);
	}
	hwtimer_queue_drain(&all);
}

/**
 * hwtimer_wheel_tick_at - the last tick that has begun
 * @wheel: the wheel
 * @now: the time, ns
 */
u64 hwtimer_wheel_tick_at(const struct hwtimer_wheel *wheel, u64 now)
{
	return hwtimer_scale_ticks(&wheel->scale, now);
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

	if (check_mul_overflow(tick, wheel->shape.tick, &time))
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

/**
 * hwtimer_wheel_slack - the slack that is left of the one with which a timer was scheduled
 * @wheel: the wheel
 * @align: what hwtimer_wheel_align() made of the slack
 *
 * Return: the longest lateness that @align causes, ns, apart from rounding up to a tick.
 */
u64 hwtimer_wheel_slack(const struct hwtimer_wheel *wheel, u8 align)
{
	return (BIT_ULL(align) - 1) * wheel->shape.tick;
}

/**
 * hwtimer_wheel_busy - whether the wheel is in the middle of something
 * @wheel: the wheel
 *
 * Return: whether the next turn has something to go on with: a due bucket, a walk, or entries that
 * are being filed anew.
 */
bool hwtimer_wheel_busy(const struct hwtimer_wheel *wheel)
{
	return wheel->halfway || wheel->walk.active || wheel->ahead.active ||
	       wheel->refile.active;
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

/**
 * hwtimer_wheel_return - replace a wheel by a small one
 * @wheel: the wheel; without entries and not busy. Becomes the small one
 * @shape: tick, kind and size of the small wheel: HWTIMER_HOLD buckets at most
 * @memory: hwtimer_wheel_memory() bytes for it, aligned to a cache line
 *
 * The memory of the larger wheel is no longer used.
 */
void hwtimer_wheel_return(struct hwtimer_wheel *wheel,
			  const struct hwtimer_shape *shape, void *memory)
{
	u64 now = hwtimer_wheel_time_of(wheel, wheel->current_tick);

	*wheel = (struct hwtimer_wheel){
		.table = wheel->table,
		.pool = wheel->pool,
		.rewinds = wheel->rewinds,
		.stats = wheel->stats,
	};
	hwtimer_wheel_init(wheel, shape, memory, now);
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
	if (unlikely(wheel->refile.active)) {
		hwtimer_wheel_refile_step(wheel);
		return 0;
	}
	budget = hwtimer_expire_due(wheel, budget, &due_end);
	wheel->entries -= due_end - due;
	if (!wheel->walk.active)
		hwtimer_walk_ahead(wheel, budget);
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
	return wheel->shape.tick << wheel->hierarchy.shift;
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
