// SPDX-License-Identifier: GPL-2.0
/*
 * Removes dead entries before their ticks, and moves postponed ones: those of the next buckets,
 * before the worker goes to sleep, and those of all buckets, by a compaction.
 */
#include "wheel/walk.h"

/*
 * Whether a walk of bucket @nr, whose earliest tick is @tick, gains anything by its first chunk:
 * none of the timers there is due at @tick, and an entry is dead, or its timer was moved to a later
 * time, or moves down now. Timers of later rounds stay where they are. If so, the dead entries are
 * marked, and *@live is the number of the others.
 */
static bool head_gains(const struct hwtimer_wheel *wheel, u32 nr, u64 tick,
		       unsigned int *live)
{
	const struct hwtimer_queue *queue = &wheel->buckets[nr].entries;
	struct hwtimer_chunk *chunk = queue->head;
	/* No chunk: its entry was left out, see hwtimer_queue_add_entry(). */
	unsigned int end = chunk ? hwtimer_queue_end(queue, chunk) : 0;
	bool gains = !chunk;
	unsigned int i;

	*live = 0;
	for (i = queue->first; i < end; i++) {
		struct hwtimer_entry entry = chunk->entries[i];
		const struct hwtimer_record *record =
			hwtimer_table_record(wheel->table, entry.index);

		if (!hwtimer_entry_alive(record, entry)) {
			chunk->dead |= BIT(i);
			gains = true;
			continue;
		}
		if (hwtimer_record_tick(wheel, record) <= tick)
			return false;
		gains |= record->postponed;
		++*live;
	}
	return gains || hwtimer_kind_moves(wheel, nr);
}

/*
 * Whether a skim leaves bucket @nr alone: a walk would take many steps, and the bucket is on a
 * level above the lowest, and none of its entries can move down yet.
 */
static bool skim_spares(const struct hwtimer_wheel *wheel, u32 nr)
{
	const struct hwtimer_queue *queue = &wheel->buckets[nr].entries;

	return nr >= wheel->shape.buckets && queue->head != queue->tail &&
	       !hwtimer_kind_moves(wheel, nr);
}

/*
 * One step of a skim in bucket @nr, whose earliest tick @tick comes next. Returns how much of the
 * budget it took; 0: the skim ends.
 */
static unsigned int skim_step(struct hwtimer_wheel *wheel, u32 nr, u64 tick)
{
	unsigned int live;

	if (skim_spares(wheel, nr))
		return 0;
	if (wheel->sweep.bucket == nr && wheel->sweep.active)
		return hwtimer_walk_step(wheel, &wheel->sweep);
	if (!head_gains(wheel, nr, tick, &live))
		return 0;
	hwtimer_walk_begin(wheel, &wheel->ahead, nr, wheel->current_tick);
	/* The walk looks at the live entries again. */
	live += hwtimer_walk_step(wheel, &wheel->ahead);
	/* A few that are cancelled must not have the worker walk through a crowd behind them. */
	if (!wheel->ahead.cascades)
		hwtimer_walk_cut(wheel, &wheel->ahead);
	return live;
}

/**
 * hwtimer_wheel_skim - go on to the tick at which a timer is due
 * @wheel: the wheel
 * @max: maximum number of entries to visit
 *
 * The worker calls this before it goes to sleep, so that it seldom wakes up for timers that were
 * cancelled or moved to a later time: one wake-up deals with up to @max of them. If a bucket that
 * moves down has more, the wheel is busy, and the next turn goes on with the walk of that bucket.
 * Otherwise new timers of the bucket would wait behind the others, until it is due.
 */
void hwtimer_wheel_skim(struct hwtimer_wheel *wheel, unsigned int max)
{
	while (max > 2 * HWTIMER_CHUNK_ENTRIES && !hwtimer_wheel_busy(wheel)) {
		unsigned int looked;
		u64 tick;
		u32 nr;

		tick = hwtimer_kind_first(wheel, &nr);
		if (tick == HWTIMER_TICK_NONE)
			return;
		looked = skim_step(wheel, nr, tick);
		if (!looked)
			return;
		max -= looked;
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
		hwtimer_walk_begin(wheel, &wheel->sweep, nr,
				   wheel->current_tick);
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

	if (wheel->refile.active)
		return;
	if (!wheel->sweeping) {
		if (!begin)
			return;
		wheel->sweeping = true;
		wheel->sweep_next = 0;
		wheel->stats.compactions++;
	}
	while (budget > HWTIMER_CHUNK_ENTRIES && sweep_seek(wheel, &budget))
		budget -= hwtimer_walk_step(wheel, &wheel->sweep);
}
