// SPDX-License-Identifier: GPL-2.0
/*
 * Reserves the memory that requests need before they are carried out; see memory/memory.h.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "alloc.h"
#include "constants.h"
#include "memory/supply.h"

/* The number of chunks to be allocated to meet @demand. */
static u32 chunks_missing(const struct hwtimer_instance *instance,
			  const struct hwtimer_demand *demand)
{
	struct hwtimer_outlook outlook =
		hwtimer_demand_outlook(instance, demand);
	u32 wanted = hwtimer_wheel_reserve(&instance->wheel, &outlook);

	return wanted - min(wanted, instance->pool.spares);
}

/*
 * The number of chunks to allocate beyond those that are missing. While an instance
 * grows, each timer may need a chunk, and one call of the slab allocator for each chunk
 * would take longer than everything else.
 */
static u32 chunks_ahead(const struct hwtimer_instance *instance)
{
	return min(instance->pool.chunks / 2, HWTIMER_AHEAD_CHUNKS);
}

/*
 * Whether the table has too few free records for those timers that the instance's limit
 * allows. A timer that ends first, in the same hold, makes room for a periodic one, but may
 * have had one record where that needs two.
 */
static bool records_missing(const struct hwtimer_instance *instance,
			    const struct hwtimer_demand *demand)
{
	u32 limit = instance->settings.timers;
	u32 timers = limit - hwtimer_instance_timers(instance);
	u32 seconds = limit - instance->periodic;

	return hwtimer_table_spare(&instance->table) <
	       min(demand->timers, timers) + min(demand->periodic, seconds) +
		       demand->extensions;
}

/*
 * The maximum number of live entries that the wheel may have to hold, if @demand is met. A
 * periodic timer that is not in the wheel comes back without a demand.
 */
static u64 entries_live(const struct hwtimer_instance *instance,
			const struct hwtimer_demand *demand)
{
	return instance->stats.pending + (u64)demand->timers + demand->moves +
	       instance->periodic + demand->periodic + demand->extensions;
}

/* Whether the wheel with which the instance started has too little room to meet @demand. */
static bool wheel_crowded(const struct hwtimer_instance *instance,
			  const struct hwtimer_demand *demand)
{
	return instance->wheel.entries + demand->timers + demand->moves +
		       instance->periodic + demand->periodic +
		       demand->extensions >
	       instance->wheel_room;
}

/*
 * Whether the ring with which the instance started may fill up with @demand. Each pending timer
 * takes a place when it expires. Dropped events keep theirs, so a few timers that come and go
 * behind an old event may take many.
 */
static bool ring_crowded(const struct hwtimer_instance *instance,
			 const struct hwtimer_demand *demand)
{
	const struct hwtimer_events *events = &instance->events;

	return !hwtimer_instance_extended(instance) &&
	       events->tail - events->head + instance->stats.pending +
			       demand->timers >
		       events->bound;
}

/*
 * Whether @demand takes the whole wheel. With more timers than it started with records for,
 * the instance has the whole wheel, too. It gets that first: if the rest is refused, the
 * instance can still have as many timers as before.
 */
static bool wheel_outgrown(const struct hwtimer_instance *instance,
			   const struct hwtimer_demand *demand)
{
	return wheel_crowded(instance, demand) ||
	       ring_crowded(instance, demand) ||
	       (!hwtimer_instance_extended(instance) &&
		records_missing(instance, demand));
}

/* What the account was charged for @block. */
static u64 block_bytes(const struct hwtimer_block *block)
{
	u64 bytes = 0;

	if (block->slots)
		bytes += hwtimer_table_block_bytes(block->nr_slots);
	if (block->arrays.slots)
		bytes += hwtimer_table_bytes(&block->arrays);
	return bytes;
}

/* Charges for @count chunks, and allocates them. Returns 0 or -ENOMEM. May sleep. */
static int supply_chunks(const struct hwtimer_instance *instance,
			 struct hwtimer_supply *supply, u32 count)
{
	struct hwtimer_pool *chunks = &supply->chunks;
	u32 wanted = chunks->chunks + count;
	int err;

	if (!hwtimer_account_charge(instance->account,
				    (u64)count * HWTIMER_CHUNK_BYTES))
		return -ENOMEM;
	err = hwtimer_pool_fill(chunks, count);
	hwtimer_account_uncharge(instance->account,
				 (u64)(wanted - chunks->chunks) *
					 HWTIMER_CHUNK_BYTES);
	return err;
}

/*
 * Charges for a block of up to @slots slots, and allocates it; a smaller one if the
 * account or the memory has no room. Returns 0 or -ENOMEM. May sleep.
 */
static int supply_block(const struct hwtimer_instance *instance,
			struct hwtimer_supply *supply, u32 slots, u32 floor)
{
	u32 count = max_t(u32, rounddown_pow_of_two(slots), HWTIMER_SLOT_UNIT);
	u64 charged;
	int err;

	for (;; count /= 2) {
		charged = hwtimer_table_block_bytes(count);
		if (hwtimer_account_charge(instance->account, charged))
			break;
		if (count == HWTIMER_SLOT_UNIT)
			return -ENOMEM;
	}
	err = hwtimer_table_alloc_block(count, floor, &supply->block);
	if (!err)
		charged -= hwtimer_table_block_bytes(supply->block.nr_slots);
	hwtimer_account_uncharge(instance->account, charged);
	return err;
}

/*
 * Charges for the arrays that a table needs with its first block, and allocates them.
 * Returns 0 or -ENOMEM. May sleep.
 */
static int supply_arrays(const struct hwtimer_instance *instance,
			 struct hwtimer_supply *supply)
{
	u32 records = hwtimer_records_max(&instance->settings);
	u64 bytes = hwtimer_table_empty_bytes(records);
	int err;

	if (!hwtimer_account_charge(instance->account, bytes))
		return -ENOMEM;
	err = hwtimer_table_init(&supply->block.arrays, records);
	if (err)
		hwtimer_account_uncharge(instance->account, bytes);
	return err;
}

/**
 * struct shortage - the memory that an instance needs and does not have
 * @chunks: number of chunks
 * @ahead: number of chunks to allocate beyond @chunks, if that is not 0 and they can be had
 * @slots: number of slots
 * @floor: the generation with which their records are to begin
 * @arrays: the table needs arrays with its first slots
 * @wheel: the instance needs the whole wheel
 */
struct shortage {
	u32 chunks;
	u32 ahead;
	u32 slots;
	u32 floor;
	bool arrays;
	bool wheel;
};

/*
 * Allocates what there is a shortage of. Returns 0 or -ENOMEM; in both cases @supply holds
 * all that was allocated, and the account is charged for it. May sleep.
 */
static int supply_get(struct hwtimer_instance *instance,
		      struct hwtimer_supply *supply,
		      const struct shortage *shortage)
{
	u32 chunks = shortage->chunks;
	int err;

	err = supply_chunks(instance, supply, chunks);
	if (!err && chunks)
		supply_chunks(instance, supply, shortage->ahead);
	if (!err && shortage->slots)
		err = supply_block(instance, supply, shortage->slots,
				   shortage->floor);
	if (!err && shortage->arrays)
		err = supply_arrays(instance, supply);
	if (!err && shortage->wheel)
		err = hwtimer_whole_get(instance, supply);
	return err;
}

/*
 * Moves the chunks and the block of @supply into the instance. What the table has no room
 * for, or cannot use any more, stays in the block, and the caller frees it. A block without
 * the arrays that a small table needs is not complete. Meanwhile, the instance may have
 * returned to the wheel with which it started, whose ring has room for a small table only.
 */
static void supply_deliver(struct hwtimer_instance *instance,
			   struct hwtimer_supply *supply)
{
	u64 charged = (u64)supply->chunks.chunks * HWTIMER_CHUNK_BYTES +
		      block_bytes(&supply->block);

	lockdep_assert_held(&instance->lock);
	instance->shrink.large = true;
	hwtimer_pool_merge(&instance->pool, &supply->chunks);
	if (supply->block.slots && hwtimer_instance_extended(instance) &&
	    (!hwtimer_table_small(&instance->table) ||
	     supply->block.arrays.slots))
		hwtimer_table_add_block(&instance->table, &supply->block);
	hwtimer_account_settle(instance, charged);
}

/* Frees what is left in the block of @supply, whose charge is undone. Returns whether any. */
static bool supply_free_block(struct hwtimer_instance *instance,
			      struct hwtimer_supply *supply)
	__must_hold(&instance->lock)
{
	struct hwtimer_block *block = &supply->block;

	if (!block->slots && !block->arrays.slots)
		return false;
	spin_unlock(&instance->lock);
	hwtimer_table_free_block(block);
	spin_lock(&instance->lock);
	return true;
}

/*
 * Frees what the instance has not got of the wheel of @supply, and undoes the charge. Releases the
 * lock meanwhile.
 */
static void supply_free_wheel(struct hwtimer_instance *instance,
			      struct hwtimer_supply *supply)
	__must_hold(&instance->lock)
{
	u64 bytes = hwtimer_whole_bytes(&instance->settings);

	spin_unlock(&instance->lock);
	if (supply->memory)
		hwtimer_account_uncharge(instance->account, bytes);
	kvfree(supply->memory);
	supply->memory = NULL;
	kvfree(supply->wheel);
	supply->wheel = NULL;
	spin_lock(&instance->lock);
}

/*
 * Whether it helps for long to remove the dead entries: from a crowded wheel, because the whole
 * wheel is not needed for timers that were cancelled; from another one, because it may need
 * chunks for them.
 */
static bool tidy_pays(const struct hwtimer_instance *instance,
		      const struct hwtimer_demand *demand)
{
	u64 entries = instance->wheel.entries;

	if (wheel_crowded(instance, demand))
		return entries_live(instance, demand) <=
		       instance->wheel_room / 2;
	return entries - instance->stats.pending > entries / 8;
}

/*
 * One step of what comes before the wheel is replaced, or a request is refused (@err): ends a
 * refile, and removes dead entries. Returns false if there is nothing more to do, or if that
 * would not help for long.
 */
static bool wheel_tidy(struct hwtimer_instance *instance,
		       const struct hwtimer_demand *demand, int err,
		       bool *swept)
{
	struct hwtimer_wheel *wheel = &instance->wheel;
	bool sweeps = wheel->sweeping ||
		      (!*swept && tidy_pays(instance, demand));

	lockdep_assert_held(&instance->lock);
	/* A request that is refused needs the end of a refile for the sweep only. */
	if (wheel->refile.active && (!err || sweeps)) {
		hwtimer_wheel_refile_step(wheel);
		return true;
	}
	if (!sweeps || (!err && !wheel_crowded(instance, demand)))
		return false;
	*swept = true;
	hwtimer_wheel_compact(wheel, true);
	hwtimer_shrink_trim(instance);
	return true;
}

/* The number of spare chunks that are missing before hwtimer_whole_use(). */
static u32 chunks_missing_to_grow(const struct hwtimer_instance *instance,
				  const struct hwtimer_demand *demand,
				  struct hwtimer_supply *supply)
{
	struct hwtimer_outlook outlook =
		hwtimer_demand_outlook(instance, demand);
	u32 wanted = hwtimer_wheel_reserve_growth(&instance->wheel,
						  supply->wheel, &outlook);

	return wanted - min(wanted, instance->pool.spares);
}

/*
 * Finds out what is missing to meet @demand, apart from what @supply has; if the wheel is
 * outgrown, what is missing to replace it. Returns whether anything is missing.
 */
static bool shortage_find(const struct hwtimer_instance *instance,
			  const struct hwtimer_demand *demand,
			  struct hwtimer_supply *supply,
			  struct shortage *shortage)
{
	bool records = false;

	*shortage = (struct shortage){ .ahead = chunks_ahead(instance) };
	if (!wheel_outgrown(instance, demand)) {
		records = records_missing(instance, demand);
		shortage->chunks = chunks_missing(instance, demand);
	} else if (supply->wheel) {
		shortage->chunks =
			chunks_missing_to_grow(instance, demand, supply);
	} else {
		shortage->wheel = true;
	}
	if (records) {
		shortage->slots = hwtimer_table_growth(&instance->table);
		shortage->floor = instance->table.floor;
		shortage->arrays = shortage->slots &&
				   hwtimer_table_small(&instance->table);
	}
	return records || shortage->chunks || shortage->wheel;
}

/*
 * Whether @shortage can be allocated. The table has no room for more slots if the
 * generations of many records are spent.
 */
static bool shortage_curable(const struct shortage *shortage)
{
	return shortage->chunks || shortage->slots || shortage->wheel;
}

/*
 * Whether there is all memory that @demand needs, but for records. An operation finds out itself
 * that there is none; to reschedule a pending timer needs none.
 */
static bool only_records_missing(const struct hwtimer_instance *instance,
				 const struct hwtimer_demand *demand)
{
	return !wheel_crowded(instance, demand) &&
	       !ring_crowded(instance, demand) &&
	       !chunks_missing(instance, demand);
}

/*
 * hwtimer_supply_reserve() for an instance that has too little memory. Called with the lock
 * held; releases it to allocate, after each wheel_tidy(), and after what moves timers, so
 * that no hold does more than one of these.
 */
static noinline int supply_reserve_slowly(struct hwtimer_instance *instance,
					  const struct hwtimer_demand *demand)
	__must_hold(&instance->lock)
{
	struct hwtimer_supply supply = {};
	struct shortage shortage;
	bool swept = false;
	int err = 0;

	/* It takes no timers, and there is no wheel if it never started. */
	if (hwtimer_instance_stopped(instance))
		return 0;
	for (;;) {
		bool outgrown = wheel_outgrown(instance, demand);

		if (supply_free_block(instance, &supply))
			continue;
		/* A program that is being killed ends soon. */
		if ((outgrown || (err && !fatal_signal_pending(current))) &&
		    wheel_tidy(instance, demand, err, &swept)) {
			/* Less may be missing when the dead entries are gone. */
			if (swept && !instance->wheel.sweeping)
				err = 0;
			spin_unlock(&instance->lock);
			cond_resched();
			spin_lock(&instance->lock);
			continue;
		}
		/* Another thread has replaced the wheel, or timers have ended. */
		if (!outgrown && supply.memory) {
			supply_free_wheel(instance, &supply);
			continue;
		}
		if (!shortage_find(instance, demand, &supply, &shortage)) {
			if (!outgrown)
				return 0;
			hwtimer_whole_use(instance, &supply);
			supply_free_wheel(instance, &supply);
			continue;
		}
		/* @err counts only here: another thread may have freed memory. */
		if (err || !shortage_curable(&shortage))
			break;
		spin_unlock(&instance->lock);
		err = supply_get(instance, &supply, &shortage);
		spin_lock(&instance->lock);
		supply_deliver(instance, &supply);
	}
	if (supply.memory)
		supply_free_wheel(instance, &supply);
	/* The chunks that could be had are of no use to the requests that are refused. */
	hwtimer_shrink_trim(instance);
	return only_records_missing(instance, demand) ? 0 : -ENOMEM;
}

/*
 * Whether the instance has so much memory that nothing is missing, as a few comparisons show.
 * Each of them uses the sum of all that the demand may add, although a part would be enough.
 */
static __always_inline bool
supply_ample(const struct hwtimer_instance *instance,
	     const struct hwtimer_demand *demand)
{
	u64 most = (u64)demand->timers + demand->moves + demand->periodic +
		   demand->extensions + instance->periodic;
	u64 entries = instance->wheel.entries + most;
	const struct hwtimer_outlook outlook = {
		.live = instance->stats.pending + most,
	};

	return most <= hwtimer_table_spare(&instance->table) &&
	       entries <= instance->wheel_room &&
	       !ring_crowded(instance, demand) &&
	       (hwtimer_outlook_chunks(&outlook) <= instance->pool.spares ||
		hwtimer_wheel_chunks(&instance->wheel, entries) <=
			instance->pool.chunks);
}

/**
 * hwtimer_supply_reserve - allocate the memory for some requests, and lock the instance
 * @instance: the instance, which is not new unless @demand is all 0; its lock is not
 *	held
 * @demand: what the requests in this hold of the lock may need
 *
 * After success, the instance has all memory that the timers will need until their events
 * are read, but for records: an operation that needs one checks itself that there is one. After a
 * failure, it may have got some of it, so the caller uses hwtimer_shrink_ended().
 *
 * Return: 0 or -ENOMEM; the lock is held in both cases. May sleep.
 */
int hwtimer_supply_reserve(struct hwtimer_instance *instance,
			   const struct hwtimer_demand *demand)
	__acquires(&instance->lock)
{
	spin_lock(&instance->lock);
	if ((!demand->timers && !demand->moves) ||
	    likely(supply_ample(instance, demand)))
		return 0;
	return supply_reserve_slowly(instance, demand);
}
