// SPDX-License-Identifier: GPL-2.0
/*
 * Gives memory back: chunks that stay unused, and all that an idle instance does not need.
 *
 * An instance is idle if it has no timer and no event, and if that was so for
 * HWTIMER_IDLE_TIME or longer, apart from timers that have come and gone before. Then the worker's
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
#include "memory/supply.h"

/*
 * How long an instance must be idle before its memory is freed, ns: memory that is soon needed
 * again is not worth the trouble.
 */
#define HWTIMER_IDLE_TIME NSEC_PER_SEC

/*
 * How often that time doubles at most: once each time that a timer came before the steps had made
 * the instance small. With two calls, a program undoes steps that take as long as thousands.
 */
#define HWTIMER_IDLE_DOUBLINGS 10

/*
 * Time after which surplus chunks that stayed unused are freed, ns. A chunk is surplus if
 * it is neither reserved nor one of HWTIMER_SPARE_CHUNKS. If timers come in bursts, the
 * next burst finds the chunks still there: allocating one costs as much as scheduling
 * several timers.
 */
#define HWTIMER_SPARE_TIME NSEC_PER_SEC

/* ---- surplus chunks ---- */

/* The number of surplus chunks, see HWTIMER_SPARE_TIME. */
static u32 chunks_surplus(const struct hwtimer_instance *instance)
{
	static const struct hwtimer_demand nothing;
	u32 spared = hwtimer_instance_extended(instance) ?
			     HWTIMER_SPARE_CHUNKS :
			     HWTIMER_START_SPARE_CHUNKS;
	u32 spares = instance->pool.spares - min(spared, instance->pool.spares);
	struct hwtimer_outlook outlook;
	u32 wanted;

	if (!spares)
		return 0;
	outlook = hwtimer_demand_outlook(instance, &nothing);
	wanted = hwtimer_wheel_reserve(&instance->wheel, &outlook);
	return spares - min(wanted, spares);
}

/* If the instance has surplus chunks, starts to count how many of them stay unused. */
static void trim_begin(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	instance->trim.unused = chunks_surplus(instance);
	instance->trim.at = HWTIMER_TICK_NONE;
	if (!instance->trim.unused)
		return;
	instance->trim.at = ktime_get_ns() + HWTIMER_SPARE_TIME;
	hwtimer_wakeup_chores(instance, instance->trim.at);
}

/**
 * hwtimer_shrink_trim - free surplus chunks later, if they stay unused
 * @instance: the instance, which has started; its lock is held
 *
 * Follows whatever may have freed chunks. HWTIMER_SPARE_TIME after the first call, the worker
 * frees the chunks that were surplus at all calls since.
 */
void hwtimer_shrink_trim(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	if (instance->trim.at == HWTIMER_TICK_NONE)
		trim_begin(instance);
	else
		instance->trim.unused =
			min(instance->trim.unused, chunks_surplus(instance));
}

/**
 * hwtimer_shrink_trim_some - take unused chunks out of the pool, if it is time
 * @instance: the instance; its lock is held
 * @surplus: an empty pool, which gets up to HWTIMER_TRIM_CHUNKS chunks; the caller frees
 *	them by hwtimer_pool_drain() without the lock
 *
 * One of the chores. Kicks their alarm for the chunks that are left.
 */
void hwtimer_shrink_trim_some(struct hwtimer_instance *instance,
			      struct hwtimer_pool *surplus)
{
	u64 now = ktime_get_ns();
	u32 count;

	lockdep_assert_held(&instance->lock);
	if (instance->trim.at == HWTIMER_TICK_NONE)
		return;
	if (instance->trim.at <= now) {
		hwtimer_shrink_trim(instance);
		count = min(instance->trim.unused, HWTIMER_TRIM_CHUNKS);
		hwtimer_pool_trim(&instance->pool, count, surplus);
		hwtimer_account_returned(instance);
		instance->trim.unused -= count;
		if (!instance->trim.unused) {
			trim_begin(instance);
			return;
		}
		/* Others that are due by now may come before the next slice. */
		instance->trim.at = now;
	}
	hwtimer_wakeup_chores(instance, instance->trim.at);
}

/* ---- an idle instance ---- */

/* Whether a table that the instance has given up is not freed yet. Only the worker asks. */
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
	if (shrink->stepped && shrink->doublings < HWTIMER_IDLE_DOUBLINGS)
		shrink->doublings++;
	shrink->stepped = false;
	shrink->scheduled = instance->stats.scheduled;
	shrink->surveyed = 0;
	shrink->floor = 0;
	shrink_at(instance,
		  ktime_get_ns() + (HWTIMER_IDLE_TIME << shrink->doublings));
}

/**
 * hwtimer_shrink_watch - watch an instance without timers
 * @instance: the instance, which has started; its lock is held
 *
 * If the instance is watched already, the worker finds out that
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
		*memory = hwtimer_start_return(instance);
	else
		return false;
	hwtimer_account_returned(instance);
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
 * One of the chores. Kicks their alarm for the next step. The caller then calls
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
	/* All of the table that was given up is freed. */
	if (shrink->outgrown_bytes && !shrink_frees(instance)) {
		shrink->outgrown_bytes = 0;
		hwtimer_account_returned(instance);
	}
	if (shrink->at > now) {
		hwtimer_wakeup_chores(instance, shrink->at);
	} else if (shrink_frees(instance)) {
		shrink_at(instance, now);
	} else if (!shrink_idle(instance)) {
		/* The end of the last timer starts it again. */
		shrink->at = HWTIMER_TICK_NONE;
		shrink->large = true;
	} else if (instance->stats.scheduled != shrink->scheduled) {
		shrink_begin(instance);
	} else if (shrink_step(instance, surplus, &memory)) {
		shrink->stepped = true;
		/* Others that are due by now may come before the next slice. */
		shrink_at(instance, now);
	} else {
		shrink->at = HWTIMER_TICK_NONE;
		/* The table may have to stay as it is: see hwtimer_table_return(). */
		shrink->stepped = shrink_pays(instance);
		if (!shrink->stepped)
			shrink->doublings = 0;
	}
	return memory;
}

/**
 * hwtimer_shrink_free - free some of the table that hwtimer_shrink_some() has given up
 * @instance: the instance; its lock is not held
 *
 * Only the worker may call it. May reschedule; takes no lock of the instance.
 */
void hwtimer_shrink_free(struct hwtimer_instance *instance)
{
	if (shrink_frees(instance))
		hwtimer_table_free_some(&instance->shrink.outgrown,
					HWTIMER_SHRINK_BLOCKS);
}
