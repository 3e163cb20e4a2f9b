// SPDX-License-Identifier: GPL-2.0
/*
 * Removes dead entries before their ticks: those at the front of the next bucket, before
 * the worker goes to sleep, and those of all buckets, by a compaction.
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
			max -= head_remove(wheel, queue);
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
