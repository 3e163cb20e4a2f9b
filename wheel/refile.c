// SPDX-License-Identifier: GPL-2.0
/*
 * Files all entries of a wheel anew: when the clock was set back, and when a larger wheel
 * replaces the one with which an instance starts.
 */
#include "wheel/walk.h"

/* The queue for entries that are added during a rewind. */
struct hwtimer_queue *hwtimer_rewind_queue(struct hwtimer_wheel *wheel)
{
	/* @fresh waits until all older entries have been taken out of their buckets. */
	return wheel->rewind.walk.active ? &wheel->rewind.walk.source :
					   &wheel->rewind.fresh;
}

static void rewind_begin(struct hwtimer_wheel *wheel)
{
	struct hwtimer_rewind *rewind = &wheel->rewind;

	hwtimer_walk_cut(wheel, &wheel->walk);
	hwtimer_walk_cut(wheel, &wheel->ahead);
	hwtimer_walk_cut(wheel, &wheel->sweep);
	wheel->halfway = false;
	wheel->sweeping = false;
	rewind->walk = (struct hwtimer_walk){
		.floor = rewind->tick + 1,
		.bucket = HWTIMER_NOWHERE,
	};
	hwtimer_walk_set_tick(wheel, &rewind->walk, rewind->tick);
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
		budget -= hwtimer_walk_chunk(wheel, &rewind->walk, NULL);
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

	hwtimer_walk_cut(wheel, &wheel->walk);
	hwtimer_walk_cut(wheel, &wheel->ahead);
	hwtimer_walk_cut(wheel, &wheel->sweep);
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
	hwtimer_walk_set_tick(wheel, &walk, floor);
	while (!hwtimer_queue_empty(&walk.source))
		hwtimer_walk_chunk(wheel, &walk, NULL);
}
