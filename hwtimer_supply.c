// SPDX-License-Identifier: GPL-2.0
/*
 * Allocates and frees the memory of an instance; see hwtimer_supply.h.
 */
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "hwtimer.h"
#include "hwtimer_adopt.h"
#include "hwtimer_limits.h"
#include "hwtimer_memory.h"
#include "hwtimer_owner.h"
#include "hwtimer_ring.h"

/*
 * Time after which surplus chunks that stayed unused are freed, ns. A chunk is surplus if
 * it is neither reserved nor one of HWTIMER_SPARE_CHUNKS. If timers come in bursts, the
 * next burst finds the chunks still there: allocating one costs as much as scheduling
 * several timers.
 */
#define HWTIMER_SPARE_TIME NSEC_PER_SEC

/*
 * Whether the caller must not allocate, because it is being killed, or because it does
 * an errand for an instance that is being freed. Its requests fail with ENOMEM. Only
 * another process that shares the rings can see that error, if the caller is killed
 * during a KICK.
 */
static bool supply_unwanted(const struct hwtimer_instance *instance)
{
	return fatal_signal_pending(current) ||
	       READ_ONCE(instance->exchange.closing);
}

/* The bytes of a wheel and a table without records. */
static u64 wheel_bytes(const struct hwtimer_settings *settings)
{
	/* Each timer may be periodic, and then has two records. */
	return hwtimer_wheel_memory(&settings->shape) +
	       hwtimer_table_empty_bytes(2 * settings->timers);
}

/*
 * Allocates @memory for the wheel, and the table, for which the account was charged.
 * Returns 0 or -ENOMEM. May sleep.
 */
static int wheel_alloc(const struct hwtimer_settings *settings, void **memory,
		       struct hwtimer_table *table)
{
	int err;

	*memory = hwtimer_memory_get(hwtimer_wheel_memory(&settings->shape), 0);
	if (!*memory)
		return -ENOMEM;
	err = hwtimer_table_init(table, 2 * settings->timers);
	if (err)
		kvfree(*memory);
	return err;
}

/* Allocates the wheel and the table for the settings. Returns 0 or -ENOMEM. May sleep. */
static int wheel_begin(struct hwtimer_instance *instance)
{
	const struct hwtimer_settings *settings = &instance->settings;
	bool settable = settings->clock->nr == HWTIMER_REALTIME;
	struct hwtimer_wheel wheel = { .table = &instance->table,
				       .pool = &instance->pool,
				       .rewinds = settable };
	u64 bytes = wheel_bytes(settings);
	struct hwtimer_table table = {};
	void *memory;
	int err;

	lockdep_assert_held(&instance->setup);
	if (supply_unwanted(instance) || !hwtimer_memory_allows(bytes) ||
	    !hwtimer_account_charge(instance->account, HWTIMER_BYTES, bytes))
		return -ENOMEM;
	err = wheel_alloc(settings, &memory, &table);
	if (err) {
		hwtimer_account_uncharge(instance->account, HWTIMER_BYTES,
					 bytes);
		return err;
	}
	/*
	 * Tick 0 is at time 0 of the clock, because the clock may be set back to that. It
	 * also makes instances with the same tick share wake-ups.
	 */
	hwtimer_wheel_init(&wheel, &settings->shape, memory, 0,
			   hwtimer_instance_now(instance));

	spin_lock(&instance->lock);
	instance->wheel_memory = memory;
	instance->wheel = wheel;
	instance->table = table;
	instance->charged += bytes;
	hwtimer_allowance_begin(instance);
	instance->job.turns.clock = settings->clock->nr;
	instance->job.turns.offset = instance->offsets[settings->clock->nr];
	instance->wakeup.follow_after =
		nsecs_to_jiffies64(hwtimer_wheel_stride(&wheel)) + 1;
	hwtimer_wakeup_followed(instance);
	/* Pairs with the smp_load_acquire() in hwtimer_instance_started(). */
	smp_store_release(&instance->started, true);
	/* Pairs with the smp_load_acquire() in hwtimer_instance_manned(). */
	smp_store_release(&instance->manned, !instance->deserted);
	spin_unlock(&instance->lock);
	return 0;
}

/* Gives the instance a worker, unless it has one. Returns 0 or an error. May sleep. */
static int supply_employ(struct hwtimer_instance *instance)
{
	int err = hwtimer_adopt_start(instance);

	/*
	 * If the owner is gone, a worker that does an errand ends what it has begun. The
	 * next process that uses the instance adopts it.
	 */
	return err == -EPERM && (current->flags & PF_KTHREAD) ? 0 : err;
}

/**
 * hwtimer_supply_start - prepare for timers: get a worker, and allocate wheel and table
 * @instance: the instance, which may have started already; its lock is not held
 *
 * If the instance is deserted, the current process adopts it.
 *
 * Return: 0, -ENOMEM, or an error of hwtimer_owner_employ(). May sleep; takes the mutex
 * setup and the instance's lock.
 */
int hwtimer_supply_start(struct hwtimer_instance *instance)
{
	int err;

	if (likely(hwtimer_instance_manned(instance)))
		return 0;
	err = supply_employ(instance);
	if (err)
		return err;
	mutex_lock(&instance->setup);
	if (!instance->started)
		err = wheel_begin(instance);
	mutex_unlock(&instance->setup);
	return err;
}

/**
 * hwtimer_supply_base_bytes - compute what an instance takes before its first timer
 *
 * Return: bytes of kernel memory, without rings. Any context.
 */
u64 hwtimer_supply_base_bytes(void)
{
	return sizeof(struct hwtimer_instance) + PAGE_SIZE;
}

/**
 * hwtimer_supply_rings_bytes - compute what rings take
 * @settings: the settings; constant, or locked
 *
 * Return: bytes of kernel memory, with what only the kernel uses. Any context.
 */
u64 hwtimer_supply_rings_bytes(const struct hwtimer_settings *settings)
{
	return hwtimer_settings_ring_bytes(settings) +
	       hwtimer_ring_private_bytes(settings->completions) +
	       HWTIMER_HOLD * sizeof(struct hwtimer_request);
}

/**
 * hwtimer_supply_account - update the counters bytes and bytes_peak
 * @instance: the instance; its lock is held
 */
void hwtimer_supply_account(struct hwtimer_instance *instance)
{
	const struct hwtimer_settings *settings = &instance->settings;
	u64 bytes = hwtimer_supply_base_bytes() +
		    hwtimer_table_bytes(&instance->table) +
		    (u64)instance->pool.chunks * HWTIMER_CHUNK_BYTES;

	lockdep_assert_held(&instance->lock);
	if (instance->started)
		bytes += hwtimer_wheel_memory(&settings->shape);
	if (instance->exchange.ring)
		bytes += hwtimer_supply_rings_bytes(settings);
	instance->stats.bytes = bytes;
	instance->stats.bytes_peak = max(instance->stats.bytes_peak, bytes);
}

/* The number of spare chunks that the pool must have to meet @demand. */
static u32 chunks_wanted(const struct hwtimer_instance *instance,
			 const struct hwtimer_demand *demand)
{
	u32 periodic =
		instance->periodic + demand->periodic + demand->extensions;
	struct hwtimer_outlook outlook = {
		.adds = demand->timers,
		.moves = demand->moves,
		.resting = periodic,
		.expiring = instance->stats.pending + demand->timers + periodic,
		.queued = instance->stats.ready + instance->discards,
	};

	return hwtimer_wheel_reserve(&instance->wheel, &outlook);
}

/* The number of chunks to be allocated to meet @demand. */
static u32 chunks_missing(const struct hwtimer_instance *instance,
			  const struct hwtimer_demand *demand)
{
	u32 wanted = chunks_wanted(instance, demand);

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
 * allows. What the account allows is known only when they are scheduled.
 */
static bool records_missing(const struct hwtimer_instance *instance,
			    const struct hwtimer_demand *demand)
{
	u32 below_limit =
		instance->settings.timers - hwtimer_instance_timers(instance);

	return hwtimer_table_spare(&instance->table) <
	       min(demand->timers, below_limit) +
		       min(demand->periodic, below_limit) + demand->extensions;
}

/**
 * struct supply - memory that was allocated, and that the instance has not got yet
 * @chunks: spare chunks
 * @block: slots for the table
 */
struct supply {
	struct hwtimer_pool chunks;
	struct hwtimer_block block;
};

/* Undoes a charge for memory that was not allocated, or was freed. */
static void supply_uncharge(const struct hwtimer_instance *instance, u64 bytes)
{
	hwtimer_account_uncharge(instance->account, HWTIMER_BYTES, bytes);
}

/* What the account was charged for @supply. */
static u64 supply_bytes(const struct supply *supply)
{
	u64 bytes = (u64)supply->chunks.chunks * HWTIMER_CHUNK_BYTES;

	if (supply->block.slots)
		bytes += hwtimer_table_block_bytes(supply->block.nr_slots);
	return bytes;
}

/* Charges for @count chunks, and allocates them. Returns 0 or -ENOMEM. May sleep. */
static int chunks_get(const struct hwtimer_instance *instance,
		      struct hwtimer_pool *chunks, u32 count)
{
	u32 wanted = chunks->chunks + count;
	int err;

	if (!hwtimer_account_charge(instance->account, HWTIMER_BYTES,
				    (u64)count * HWTIMER_CHUNK_BYTES))
		return -ENOMEM;
	err = hwtimer_pool_fill(chunks, count);
	supply_uncharge(instance,
			(u64)(wanted - chunks->chunks) * HWTIMER_CHUNK_BYTES);
	return err;
}

/*
 * Allocates @count chunks, a few at a time; stops when supply_unwanted(). Returns 0 or
 * -ENOMEM. May sleep.
 */
static int supply_chunks(const struct hwtimer_instance *instance,
			 struct supply *supply, u32 count)
{
	int err = 0;

	while (count && !err) {
		u32 some = min(count, HWTIMER_SUPPLY_CHUNKS);

		if (supply_unwanted(instance))
			return -ENOMEM;
		err = chunks_get(instance, &supply->chunks, some);
		count -= some;
	}
	return err;
}

/*
 * Charges for a block of up to @slots slots, and allocates it; a smaller one if the
 * account or the memory has no room. Returns 0 or -ENOMEM. May sleep.
 */
static int supply_block(const struct hwtimer_instance *instance,
			struct supply *supply, u32 slots)
{
	u32 count = max_t(u32, rounddown_pow_of_two(slots), HWTIMER_SLOT_UNIT);
	u64 charged;
	int err;

	if (supply_unwanted(instance))
		return -ENOMEM;
	for (;; count /= 2) {
		charged = hwtimer_table_block_bytes(count);
		if (hwtimer_account_charge(instance->account, HWTIMER_BYTES,
					   charged))
			break;
		if (count == HWTIMER_SLOT_UNIT)
			return -ENOMEM;
	}
	err = hwtimer_table_alloc_block(count, &supply->block);
	if (!err)
		charged -= hwtimer_table_block_bytes(supply->block.nr_slots);
	supply_uncharge(instance, charged);
	return err;
}

/*
 * Allocates @chunks chunks and a block of @slots slots; if @chunks is not 0, also tries
 * to allocate @ahead more chunks. Returns 0 or -ENOMEM; in both cases @supply holds all
 * that was allocated, and the account is charged for it. May sleep.
 */
static int supply_get(const struct hwtimer_instance *instance,
		      struct supply *supply, u32 chunks, u32 ahead, u32 slots)
{
	int err;

	if (!hwtimer_memory_allows((u64)chunks * HWTIMER_CHUNK_BYTES +
				   slots * sizeof(struct hwtimer_slot)))
		return -ENOMEM;
	err = supply_chunks(instance, supply, chunks);
	if (!err && chunks)
		supply_chunks(instance, supply, ahead);
	if (err || !slots)
		return err;
	return supply_block(instance, supply, slots);
}

/*
 * Moves @supply into the instance, except for a block for which the table has no room.
 * Undoes the charge for that block, which the caller frees, and for a page of maps that
 * the table did not need.
 */
static void supply_deliver(struct hwtimer_instance *instance,
			   struct supply *supply)
{
	u64 charged = supply_bytes(supply);
	u64 gained;

	lockdep_assert_held(&instance->lock);
	hwtimer_pool_merge(&instance->pool, &supply->chunks);
	if (supply->block.slots)
		hwtimer_table_add_block(&instance->table, &supply->block);
	hwtimer_supply_account(instance);
	gained = min(instance->stats.bytes - instance->charged, charged);
	instance->charged += gained;
	supply_uncharge(instance, charged - gained);
}

/**
 * hwtimer_supply_reserve - allocate the memory for some requests, and lock the instance
 * @instance: the instance, which has started unless @demand is all 0; its lock is not
 *	held
 * @demand: what the requests in this hold of the lock may need
 *
 * After success, the instance has all memory that the timers will need until their events
 * are read.
 *
 * Return: 0 or -ENOMEM; the lock is held in both cases. May sleep.
 */
int hwtimer_supply_reserve(struct hwtimer_instance *instance,
			   const struct hwtimer_demand *demand)
	__acquires(&instance->lock)
{
	struct supply supply = {};
	int err = 0;

	for (;;) {
		u32 chunks, ahead, slots = 0;

		spin_lock(&instance->lock);
		if (!demand->timers && !demand->moves)
			return 0;
		if (unlikely(supply.chunks.spares || supply.block.slots))
			supply_deliver(instance, &supply);
		/* The table has no room: another thread has added slots meanwhile. */
		if (unlikely(supply.block.slots)) {
			spin_unlock(&instance->lock);
			hwtimer_table_free_block(&supply.block);
			continue;
		}
		chunks = chunks_missing(instance, demand);
		if (records_missing(instance, demand))
			slots = hwtimer_table_growth(&instance->table);
		else if (!chunks)
			return 0;
		/* @err counts only here: another thread may have freed memory. */
		if (err || (!chunks && !slots))
			return -ENOMEM;
		ahead = chunks_ahead(instance);
		spin_unlock(&instance->lock);

		err = supply_get(instance, &supply, chunks, ahead, slots);
	}
}

/**
 * hwtimer_supply_lock_ready - lock an instance, and check whether it has enough memory
 * @instance: the instance, which has started; its lock is not held
 * @demand: what the requests in this hold of the lock may need
 *
 * For the worker, which must not allocate.
 *
 * Return: whether no memory has to be allocated; the lock is held in both cases. Does not
 * sleep.
 */
bool hwtimer_supply_lock_ready(struct hwtimer_instance *instance,
			       const struct hwtimer_demand *demand)
	__acquires(&instance->lock)
{
	spin_lock(&instance->lock);
	return (!demand->timers && !demand->moves) ||
	       (!records_missing(instance, demand) &&
		!chunks_missing(instance, demand));
}

/* The number of surplus chunks, see HWTIMER_SPARE_TIME. */
static u32 chunks_surplus(const struct hwtimer_instance *instance)
{
	static const struct hwtimer_demand nothing;
	u32 keep = chunks_wanted(instance, &nothing) + HWTIMER_SPARE_CHUNKS;

	return instance->pool.spares - min(keep, instance->pool.spares);
}

/* If the instance has surplus chunks, begins to watch how many of them stay unused. */
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
 * hwtimer_supply_trim - have surplus chunks freed if they stay unused
 * @instance: the instance, which has started; its lock is held
 *
 * Called after anything that may have freed chunks. HWTIMER_SPARE_TIME after the first
 * call, the worker frees the chunks that were surplus at all calls since. Also calls
 * hwtimer_allowance_settle(), because timers may have ended.
 */
void hwtimer_supply_trim(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	hwtimer_allowance_settle(instance);
	if (instance->trim.at == HWTIMER_TICK_NONE)
		trim_begin(instance);
	else
		instance->trim.unused =
			min(instance->trim.unused, chunks_surplus(instance));
}

/*
 * Undoes the charge for chunks that were taken out of the pool. The caller frees them as
 * soon as it has released the lock.
 */
static void trim_uncharge(struct hwtimer_instance *instance)
{
	u64 lost;

	lockdep_assert_held(&instance->lock);
	hwtimer_supply_account(instance);
	lost = instance->charged -
	       min(instance->charged, instance->stats.bytes);
	instance->charged -= lost;
	supply_uncharge(instance, lost);
}

/**
 * hwtimer_supply_trim_some - take unused chunks out of the pool, if it is time
 * @instance: the instance; its lock is held
 * @surplus: an empty pool, which gets up to HWTIMER_TRIM_CHUNKS chunks; the caller frees
 *	them by hwtimer_pool_drain() without the lock
 *
 * For the worker's chores. Kicks their alarm for the chunks that are left.
 */
void hwtimer_supply_trim_some(struct hwtimer_instance *instance,
			      struct hwtimer_pool *surplus)
{
	u64 now = ktime_get_ns();
	u32 count;

	lockdep_assert_held(&instance->lock);
	if (instance->trim.at == HWTIMER_TICK_NONE)
		return;
	if (instance->trim.at <= now) {
		hwtimer_supply_trim(instance);
		count = min(instance->trim.unused, HWTIMER_TRIM_CHUNKS);
		hwtimer_pool_trim(&instance->pool, count, surplus);
		trim_uncharge(instance);
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

/**
 * hwtimer_supply_release - undo the charge for all memory of an instance
 * @instance: an instance that is being freed, which nobody uses any more, and whose
 *	memory is freed but for its own
 *
 * Does not sleep.
 */
void hwtimer_supply_release(struct hwtimer_instance *instance)
{
	supply_uncharge(instance, instance->charged);
}
