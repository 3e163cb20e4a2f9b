// SPDX-License-Identifier: GPL-2.0
/*
 * Files all entries of a wheel anew: after the clock was set back, and when the whole wheel
 * takes the place of the small one with which an instance starts.
 *
 * First the entries are collected: they are taken out of their buckets. Then they are filed.
 * Both happen in slices, each within one hold of the lock; see hwtimer_wheel_refile_step().
 * Between the two, the wheel may be replaced. From the beginning to the end, nothing expires,
 * and new entries wait in a queue behind the collected ones. Dead entries are dropped.
 *
 * The order of entries of one tick is kept. In a hierarchical wheel, those of a lower level are
 * older: they were added first, or came down first. So the lowest level is collected first. In
 * that level, and in a hashed wheel, all entries of a tick are in one bucket, in their order.
 *
 * An overdue timer is in the bucket of a later tick than its own. So the buckets are collected in
 * the order in which they are due. Then overdue timers of one tick keep their order, too, unless
 * one turn did not get through all that were due.
 */
#include "wheel/walk.h"

/*
 * The first tick at which an entry may be filed: that of the due bucket, if one is being
 * emptied.
 */
static u64 refile_floor(const struct hwtimer_wheel *wheel)
{
	u32 nr;

	if (wheel->walk.active)
		return wheel->walk.floor;
	return min(hwtimer_kind_first(wheel, &nr), wheel->current_tick + 1);
}

/*
 * Begins to file all entries anew, in a wheel that has been turned to @tick then. @floor is
 * from refile_floor(), which reads current_tick: a caller that sets current_tick calls it before.
 */
static void refile_begin(struct hwtimer_wheel *wheel, u64 floor, u64 tick)
{
	struct hwtimer_refile *refile = &wheel->refile;

	hwtimer_walk_cut(wheel, &wheel->walk);
	hwtimer_walk_cut(wheel, &wheel->ahead);
	hwtimer_walk_cut(wheel, &wheel->sweep);
	wheel->halfway = false;
	wheel->sweeping = false;
	refile->walk = (struct hwtimer_walk){
		.floor = tick + 1,
		.bucket = HWTIMER_NOWHERE,
	};
	hwtimer_walk_set_tick(wheel, &refile->walk, tick);
	refile->first = floor;
	refile->collected = 0;
	refile->again = HWTIMER_TICK_NONE;
	refile->active = true;
}

/* The number of the bucket that is collected after @collected others. */
static u32 refile_bucket(const struct hwtimer_wheel *wheel, u32 collected)
{
	u32 lowest = wheel->shape.buckets;

	if (collected >= lowest)
		return collected;
	return (wheel->refile.first + collected) & (lowest - 1);
}

/* Collects some buckets. Returns true when all buckets are empty. */
static bool refile_collect(struct hwtimer_wheel *wheel)
{
	struct hwtimer_refile *refile = &wheel->refile;
	u32 end = min(refile->collected + HWTIMER_HOLD, wheel->nr_buckets);

	for (; refile->collected < end; refile->collected++) {
		u32 nr = refile_bucket(wheel, refile->collected);

		hwtimer_queue_splice(&refile->walk.source,
				     &wheel->buckets[nr].entries);
		hwtimer_kind_settle(wheel, nr, HWTIMER_TICK_NONE);
	}
	return refile->collected == wheel->nr_buckets;
}

/* All entries are collected: what follows fills the wheel, which is empty. */
static void refile_file_begin(struct hwtimer_wheel *wheel)
{
	struct hwtimer_refile *refile = &wheel->refile;

	hwtimer_queue_splice(&refile->walk.source, &refile->fresh);
	refile->walk.active = true;
	hwtimer_kind_restart(wheel, refile->walk.tick);
}

/* Files some entries. After the last one, the wheel is as usual. */
static void refile_file(struct hwtimer_wheel *wheel)
{
	struct hwtimer_refile *refile = &wheel->refile;
	unsigned int budget = HWTIMER_HOLD;

	while (budget > HWTIMER_CHUNK_ENTRIES &&
	       !hwtimer_queue_empty(&refile->walk.source))
		budget -= hwtimer_walk_chunk(wheel, &refile->walk, NULL);
	if (!hwtimer_queue_empty(&refile->walk.source))
		return;
	refile->walk.active = false;
	refile->active = false;
	if (refile->again != HWTIMER_TICK_NONE)
		refile_begin(wheel, refile_floor(wheel), refile->again);
}

/**
 * hwtimer_wheel_refile_step - do one slice of filing all entries anew
 * @wheel: the wheel; nothing happens unless its @refile is active
 *
 * Collects HWTIMER_HOLD buckets, or files more than half as many entries. Expires nothing.
 * The worker calls this. So does each thread that adds timers meanwhile, in proportion to their
 * number: otherwise more might come than are filed.
 */
void hwtimer_wheel_refile_step(struct hwtimer_wheel *wheel)
{
	if (!wheel->refile.active)
		return;
	if (wheel->refile.walk.active)
		refile_file(wheel);
	else if (refile_collect(wheel))
		refile_file_begin(wheel);
}

/* Adds an entry while the others are filed anew: behind all that are older. */
void hwtimer_refile_add(struct hwtimer_wheel *wheel, struct hwtimer_entry entry)
{
	struct hwtimer_refile *refile = &wheel->refile;

	hwtimer_queue_add_entry(refile->walk.active ? &refile->walk.source :
						      &refile->fresh,
				wheel->pool, entry);
}

/**
 * hwtimer_wheel_rewind - go back to an earlier tick because the clock was set back
 * @wheel: the wheel, whose @rewinds is true; all timers stay, with their deadlines
 * @now: the new time, ns
 *
 * Begins to file all entries anew; hwtimer_wheel_advance() does that in slices. A
 * hierarchical wheel can hold nothing before its position, and nothing beyond the reach of
 * its levels from there. In a wheel of either kind, a timer that was overdue when scheduled
 * is filed under a later tick than its own, which the clock may now take long to reach.
 *
 * If a refile is under way, it finishes first, and then another begins. Beginning again halfway
 * would take up more and more chunks.
 */
void hwtimer_wheel_rewind(struct hwtimer_wheel *wheel, u64 now)
{
	u64 tick = hwtimer_wheel_tick_at(wheel, now);

	if (wheel->refile.active)
		wheel->refile.again = tick;
	else
		refile_begin(wheel, refile_floor(wheel), tick);
	wheel->current_tick = tick;
}

/**
 * hwtimer_wheel_grow - move all timers to a larger wheel
 * @wheel: the wheel with which an instance starts, whose entries are not being filed anew;
 *	becomes the larger one
 * @larger: a wheel without timers, of the same table, pool and tick; the caller has set its
 *	@rewinds
 *
 * Files all entries anew, in this hold of the lock: the smaller wheel has no more than
 * HWTIMER_START_BUCKETS buckets, and HWTIMER_START_ENTRIES entries. The pool has the chunks
 * of hwtimer_wheel_reserve_growth(). The memory of the smaller wheel is no longer used.
 *
 * The smaller wheel may be in the middle of a turn. Then the larger one begins at the tick
 * of that turn, and the next hwtimer_wheel_advance() goes on with it. An entry of an earlier
 * tick is one of a timer that was overdue when it was scheduled. If nothing is due, it is
 * filed under the tick after the current one, under which it was before.
 */
void hwtimer_wheel_grow(struct hwtimer_wheel *wheel,
			struct hwtimer_wheel *larger)
{
	u64 floor = refile_floor(wheel);

	refile_begin(wheel, floor, floor - 1);
	while (!refile_collect(wheel))
		;
	larger->current_tick = wheel->current_tick;
	larger->entries = wheel->entries;
	larger->postponed = wheel->postponed;
	larger->refile = wheel->refile;
	larger->stats = wheel->stats;
	*wheel = *larger;
	refile_file_begin(wheel);
	while (wheel->refile.active)
		refile_file(wheel);
}
