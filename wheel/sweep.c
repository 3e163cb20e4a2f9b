// SPDX-License-Identifier: GPL-2.0
/*
 * Removes dead entries before their ticks, and moves postponed ones: those at the front of the
 * next bucket, before the worker goes to sleep, and those of all buckets, by a compaction.
 */
#include "wheel/walk.h"

/* Whether all entries of a queue's first chunk are dead. */
static bool head_dead(const struct hwtimer_wheel *wheel,
		      const struct hwtimer_queue *queue)
{
	unsigned int i;

	for (i = queue->first; i < hwtimer_queue_end(queue, queue->head); i++) {
		struct hwtimer_entry entry = queue->head->entries[i];

		if (hwtimer_entry_alive(hwtimer_table_record(wheel->table,
							     entry.index),
					entry))
			return false;
	}
	return true;
}

/* Removes a queue's first chunk, all of it dead. Returns the number of its entries. */
static unsigned int head_remove(struct hwtimer_wheel *wheel,
				struct hwtimer_queue *queue)
{
	unsigned int dead =
		hwtimer_queue_end(queue, queue->head) - queue->first;

	hwtimer_queue_drop_head(queue, wheel->pool);
	hwtimer_wheel_removed(wheel, dead);
	wheel->stats.walked += dead;
	return dead;
}

/*
 * Whether a timer of a queue's first chunk may be due at @tick, the earliest of its bucket. Those
 * that have been moved to a later time are not, nor are those of later rounds. The queue is not
 * empty: a walk that has no more entries has ended.
 */
static bool head_due(const struct hwtimer_wheel *wheel,
		     const struct hwtimer_queue *queue, u64 tick)
{
	unsigned int i;

	for (i = queue->first; i < hwtimer_queue_end(queue, queue->head); i++) {
		struct hwtimer_entry entry = queue->head->entries[i];
		const struct hwtimer_record *record =
			hwtimer_table_record(wheel->table, entry.index);

		if (hwtimer_entry_alive(record, entry) &&
		    hwtimer_record_tick(wheel, record) <= tick)
			return true;
	}
	return false;
}

/*
 * One step of a skim in bucket @nr, whose earliest tick @tick comes next. Returns how much of the
 * budget it took; 0: a timer may be due then.
 */
static unsigned int skim_step(struct hwtimer_wheel *wheel, u32 nr, u64 tick)
{
	struct hwtimer_queue *queue = &wheel->buckets[nr].entries;
	struct hwtimer_walk *sweep = &wheel->sweep;

	/* Each entry of a chunk for which head_due() is asked is looked at twice. */
	if (sweep->active) {
		if (sweep->bucket != nr)
			return hwtimer_walk_step(wheel, sweep);
		if (head_due(wheel, &sweep->source, tick))
			return 0;
		return 2 * hwtimer_walk_step(wheel, sweep);
	}
	if (hwtimer_queue_empty(queue)) {
		hwtimer_kind_settle(wheel, nr, HWTIMER_TICK_NONE);
		return 1;
	}
	if (head_dead(wheel, queue))
		return head_remove(wheel, queue);
	if (head_due(wheel, queue, tick))
		return 0;
	hwtimer_walk_begin(wheel, sweep, nr, wheel->current_tick);
	return 2 * hwtimer_walk_step(wheel, sweep);
}

/**
 * hwtimer_wheel_skim - go on to the tick at which a timer is due
 * @wheel: the wheel
 * @max: maximum number of entries to visit
 *
 * The worker calls this before it goes to sleep, so that it seldom wakes up for timers that were
 * cancelled or moved to a later time: one wake-up deals with up to @max of them. Of dead entries,
 * only whole chunks are removed, so that no bucket is left with a chunk that has gaps in front. For
 * what is moved, and for what stays in its bucket, a walk begins, the same as of a compaction,
 * which goes on with it.
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
