// SPDX-License-Identifier: GPL-2.0
/*
 * Gives the memory of an idle instance back; see memory/memory.h.
 *
 * An instance is idle if it has no timer and no event, and if that was so for
 * HWTIMER_IDLE_TIME, apart from timers that have come and gone before. Then the worker's
 * chores do one step after the other, until the instance is small or a timer comes:
 *
 *	dead entries	are removed from the wheel by a compaction, so that it is empty
 *	chunks		go back to the slab
 *	table		the generations of all records are surveyed, and the instance returns
 *			to the few records with which it started; those that it gives up are
 *			freed a few blocks at a time, even if timers have come
 *	wheel		the instance returns to the one with which it started, and to the ring
 *			of events, which has room for few records only
 *
 * A request reserves memory and uses it in the same hold of the lock (memory/supply.c), so no
 * step comes in between. An instance that has become small allocates again when it needs
 * more, and that may fail.
 */
#include <linux/ktime.h>

#include "constants.h"
#include "hwtimer.h"

/*
 * How long an instance must be idle before its memory is freed, ns: memory that is soon needed
 * again is not worth the trouble.
 */
#define HWTIMER_IDLE_TIME NSEC_PER_SEC

/* Whether a table that the instance has given up is not freed yet. Called by the worker. */
static bool shrink_frees(const struct hwtimer_instance *instance)
{
	return hwtimer_table_end(&instance->shrink.outgrown);
}

/* Whether an idle instance has more memory than it should keep. */
static bool shrink_pays(const struct hwtimer_instance *instance)
{
	return hwtimer_instance_extended(instance) ||
	       !hwtimer_table_small(&instance->table) ||
	       instance->pool.chunks > HWTIMER_START_SPARE_CHUNKS;
}

static void shrink_at(struct hwtimer_instance *instance, u64 at)
{
	lockdep_assert_held(&instance->lock);
	instance->shrink.at = at;
	hwtimer_wakeup_chores(instance, at);
}

/* Begins to watch an instance without timers, if it has something to give back. */
static void shrink_begin(struct hwtimer_instance *instance)
{
	struct hwtimer_shrink *shrink = &instance->shrink;

	shrink->at = HWTIMER_TICK_NONE;
	if (!shrink_pays(instance))
		return;
	shrink->scheduled = instance->stats.scheduled;
	shrink->surveyed = 0;
	shrink->floor = 0;
	shrink_at(instance, ktime_get_ns() + HWTIMER_IDLE_TIME);
}

/**
 * hwtimer_shrink_watch - watch an instance without timers
 * @instance: the instance, which has started; its lock is held
 *
 * For hwtimer_shrink_ended(). If the instance is watched already, the worker finds out that
 * timers have come and gone.
 */
noinline void hwtimer_shrink_watch(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	instance->shrink.large = false;
	if (instance->shrink.at == HWTIMER_TICK_NONE)
		shrink_begin(instance);
}

/* Whether shrink_table() has done all that it can. */
static bool shrink_surveyed(const struct hwtimer_instance *instance)
{
	const struct hwtimer_table *table = &instance->table;

	return hwtimer_table_small(table) ||
	       instance->shrink.surveyed == hwtimer_table_end(table);
}

/* Surveys some records; after the last one, gives the table up, if that is possible. */
static void shrink_table(struct hwtimer_instance *instance)
{
	struct hwtimer_shrink *shrink = &instance->shrink;

	shrink->floor = hwtimer_table_survey(&instance->table,
					     &shrink->surveyed, shrink->floor);
	if (shrink->surveyed == hwtimer_table_end(&instance->table) &&
	    hwtimer_table_return(&instance->table, shrink->floor,
				 &shrink->outgrown))
		shrink->outgrown_bytes = hwtimer_table_bytes(&shrink->outgrown);
}

/* Notes that all of that table is freed. */
static void shrink_freed(struct hwtimer_instance *instance)
{
	instance->shrink.outgrown_bytes = 0;
	hwtimer_supply_gave(instance);
}

/*
 * Does a step for an instance without timers and events. Sets *@memory to what the
 * caller frees. Returns false: nothing is left to do.
 */
static bool shrink_step(struct hwtimer_instance *instance,
			struct hwtimer_pool *surplus, void **memory)
{
	struct hwtimer_wheel *wheel = &instance->wheel;
	struct hwtimer_pool *pool = &instance->pool;
	u32 none;

	/* Nothing expires. A stopped instance may have been left in the middle of a turn. */
	if (hwtimer_wheel_busy(wheel))
		hwtimer_wheel_advance(wheel, hwtimer_instance_now(instance),
				      &none);
	else if (wheel->entries)
		hwtimer_wheel_compact(wheel, true);
	else if (pool->spares)
		hwtimer_pool_trim(pool, min(pool->spares, HWTIMER_TRIM_CHUNKS),
				  surplus);
	else if (!shrink_surveyed(instance))
		shrink_table(instance);
	else if (hwtimer_table_small(&instance->table) &&
		 hwtimer_instance_extended(instance))
		*memory = hwtimer_supply_return(instance);
	else
		return false;
	hwtimer_supply_gave(instance);
	return true;
}

/* Whether no timer is left, and no trace of one but dead entries in the wheel. */
static bool shrink_idle(const struct hwtimer_instance *instance)
{
	return !instance->table.used &&
	       instance->events.head == instance->events.tail;
}

/**
 * hwtimer_shrink_some - do a step of making an idle instance small, if it is time
 * @instance: the instance; its lock is held
 * @surplus: a pool, which gets up to HWTIMER_TRIM_CHUNKS chunks; the caller frees them by
 *	hwtimer_pool_drain() without the lock
 *
 * For the worker's chores. Kicks their alarm for the next step. The caller then calls
 * hwtimer_shrink_free() without the lock.
 *
 * Return: memory that the caller frees by kvfree() without the lock; NULL: none.
 */
void *hwtimer_shrink_some(struct hwtimer_instance *instance,
			  struct hwtimer_pool *surplus)
{
	struct hwtimer_shrink *shrink = &instance->shrink;
	u64 now = ktime_get_ns();
	void *memory = NULL;

	lockdep_assert_held(&instance->lock);
	if (shrink->at == HWTIMER_TICK_NONE)
		return NULL;
	if (shrink->outgrown_bytes && !shrink_frees(instance))
		shrink_freed(instance);
	if (shrink->at > now) {
		hwtimer_wakeup_chores(instance, shrink->at);
	} else if (shrink_frees(instance)) {
		shrink_at(instance, now);
	} else if (!shrink_idle(instance)) {
		/* Whoever ends the last timer begins anew. */
		shrink->at = HWTIMER_TICK_NONE;
		shrink->large = true;
	} else if (instance->stats.scheduled != shrink->scheduled) {
		shrink_begin(instance);
	} else if (shrink_step(instance, surplus, &memory)) {
		/* Others that are due by now may come before the next slice. */
		shrink_at(instance, now);
	} else {
		shrink->at = HWTIMER_TICK_NONE;
	}
	return memory;
}

/**
 * hwtimer_shrink_free - free some of the table that hwtimer_shrink_some() has given up
 * @instance: the instance; its lock is not held
 *
 * Called by the worker. May reschedule; takes no lock of the instance.
 */
void hwtimer_shrink_free(struct hwtimer_instance *instance)
{
	if (shrink_frees(instance))
		hwtimer_table_free_some(&instance->shrink.outgrown,
					HWTIMER_SHRINK_BLOCKS);
}
