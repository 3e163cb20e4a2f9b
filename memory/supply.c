// SPDX-License-Identifier: GPL-2.0
/*
 * Allocates and frees the memory of an instance; see memory/memory.h.
 *
 * Most instances have few timers, and the wheel that SETUP asks for is large: 142 KB by
 * default, and 32 KB for the ring of events. So an instance starts with a few records
 * (hwtimer_table_init_start()), a small ring, and a hashed wheel of HWTIMER_START_BUCKETS,
 * whatever wheel it is to have. Both kinds expire the same timers in the same order. With so
 * few timers, it hardly matters that a walk passes over those of later rounds. When the
 * records are used up, the next requests that add timers allocate more records, the whole
 * wheel and the whole ring, and move the timers and events there. The instance keeps the
 * memory with which it started: memory/shrink.c returns to it.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

#include "alloc.h"
#include "constants.h"
#include "hwtimer.h"

/*
 * Time after which surplus chunks that stayed unused are freed, ns. A chunk is surplus if
 * it is neither reserved nor one of HWTIMER_SPARE_CHUNKS. If timers come in bursts, the
 * next burst finds the chunks still there: allocating one costs as much as scheduling
 * several timers.
 */
#define HWTIMER_SPARE_TIME NSEC_PER_SEC

/* What an open file takes, with what security modules add, and a tenant, bytes */
#define HWTIMER_FILE_BYTES 1024

/*
 * Whether the caller must not allocate, because it is being killed. Its requests fail with
 * ENOMEM, which nobody sees.
 */
static bool supply_unwanted(void)
{
	return fatal_signal_pending(current);
}

/* The maximum number of records: each timer may be periodic, and then has two. */
static u32 records_max(const struct hwtimer_settings *settings)
{
	return 2 * settings->timers;
}

/* The wheel with which an instance starts, whatever wheel it is to have */
static struct hwtimer_shape start_shape(const struct hwtimer_settings *settings)
{
	return (struct hwtimer_shape){ .tick = settings->shape.tick,
				       .kind = HWTIMER_KIND_HASHED,
				       .buckets = HWTIMER_START_BUCKETS };
}

/* The size of a wheel of @shape and of a ring of @events, which follows it in memory */
static size_t wheel_size(const struct hwtimer_shape *shape, u32 events)
{
	return hwtimer_wheel_memory(shape) + hwtimer_events_bytes(events);
}

/* The memory that they take, bytes */
static u64 wheel_bytes(const struct hwtimer_shape *shape, u32 events)
{
	return hwtimer_memory_bytes(wheel_size(shape, events));
}

/* Has the events use the ring behind a wheel of @shape. */
static void ring_begin(struct hwtimer_instance *instance,
		       const struct hwtimer_shape *shape, void *memory,
		       u32 events)
{
	hwtimer_events_move(&instance->events,
			    memory + hwtimer_wheel_memory(shape), events);
}

/*
 * Allocates @memory for a wheel of @shape, and the table, for which the account was
 * charged. Returns 0 or -ENOMEM. May sleep.
 */
static int wheel_alloc(const struct hwtimer_settings *settings,
		       const struct hwtimer_shape *shape, void **memory,
		       struct hwtimer_table *table)
{
	int err;

	*memory =
		hwtimer_memory_get(wheel_size(shape, HWTIMER_START_EVENTS), 0);
	if (!*memory)
		return -ENOMEM;
	err = hwtimer_table_init_start(table, records_max(settings));
	if (err)
		kvfree(*memory);
	return err;
}

/*
 * Sets up @wheel, which is zeroed, as an empty wheel of the instance. May sleep.
 *
 * Tick 0 is at time 0 of the clock, because the clock may be set back to that. It also makes
 * instances with the same tick share wake-ups.
 */
static void wheel_init(struct hwtimer_instance *instance,
		       struct hwtimer_wheel *wheel,
		       const struct hwtimer_shape *shape, void *memory)
{
	wheel->table = &instance->table;
	wheel->pool = &instance->pool;
	wheel->rewinds = instance->settings.clock->settable;
	wheel->room = U64_MAX;
	hwtimer_wheel_init(wheel, shape, memory, 0,
			   hwtimer_instance_now(instance));
}

/* Notes how far the instance's wheel may stand behind the clock, and that it does not. */
static void wheel_stride(struct hwtimer_instance *instance)
{
	instance->wakeup.follow_after =
		nsecs_to_jiffies64(hwtimer_wheel_stride(&instance->wheel)) + 1;
	hwtimer_wakeup_followed(instance);
}

/*
 * Allocates the wheel and the table for the settings, and gives the instance's job to
 * @tenant, which @id names, with the reference. Returns 0 or -ENOMEM. May sleep.
 */
static int wheel_begin(struct hwtimer_instance *instance,
		       struct hwtimer_tenant *tenant,
		       const struct hwtimer_tenant_id *id)
{
	const struct hwtimer_settings *settings = &instance->settings;
	struct hwtimer_shape shape = start_shape(settings);
	struct hwtimer_wheel wheel = {};
	u64 bytes = wheel_bytes(&shape, HWTIMER_START_EVENTS) +
		    hwtimer_table_start_bytes();
	struct hwtimer_table table = {};
	void *memory;
	int err;

	lockdep_assert_held(&instance->setup);
	if (supply_unwanted() || !hwtimer_memory_allows(bytes) ||
	    !hwtimer_account_charge(instance->account, bytes))
		return -ENOMEM;
	err = wheel_alloc(settings, &shape, &memory, &table);
	if (err) {
		hwtimer_account_uncharge(instance->account, bytes);
		return err;
	}
	wheel_init(instance, &wheel, &shape, memory);
	wheel.room = HWTIMER_START_ENTRIES;

	spin_lock(&instance->lock);
	instance->start_memory = memory;
	instance->wheel_memory = memory;
	instance->wheel = wheel;
	ring_begin(instance, &shape, memory, HWTIMER_START_EVENTS);
	instance->table = table;
	instance->charged += bytes;
	instance->tenant = *id;
	instance->job.turns.clock = settings->clock->nr;
	instance->job.turns.offset = instance->offsets[settings->clock->nr];
	hwtimer_worker_attach(&instance->job, tenant);
	wheel_stride(instance);
	/* Pairs with the smp_load_acquire() in hwtimer_instance_started(). */
	smp_store_release(&instance->started, true);
	spin_unlock(&instance->lock);
	return 0;
}

/**
 * hwtimer_supply_start - prepare for timers: get a worker, and allocate wheel and table
 * @instance: the instance, which may have started already; its lock is not held
 *
 * The worker counts the instance as one of the current process's user and cgroup from now on.
 *
 * Return: 0; -ESHUTDOWN: the instance is stopped; -EINTR: the caller is being killed; -ENOMEM.
 * May sleep; takes the mutex setup and the instance's lock.
 */
int hwtimer_supply_start(struct hwtimer_instance *instance)
{
	struct hwtimer_tenant_id id = hwtimer_workers_caller();
	struct hwtimer_tenant *tenant;
	int err = 0;

	if (hwtimer_instance_started(instance))
		return 0;
	if (READ_ONCE(instance->stopped))
		return -ESHUTDOWN;
	tenant = hwtimer_workers_tenant(&id);
	if (IS_ERR(tenant))
		return PTR_ERR(tenant);
	/* Its holder may be another tenant, who hardly gets any processor time. */
	if (mutex_lock_killable(&instance->setup)) {
		err = -EINTR;
		goto put;
	}
	/* Another thread may have started the instance. */
	if (!instance->started) {
		err = wheel_begin(instance, tenant, &id);
		if (!err)
			tenant = NULL;
	}
	mutex_unlock(&instance->setup);
put:
	hwtimer_tenant_put(tenant);
	return err;
}

/**
 * hwtimer_supply_base_bytes - compute what an instance takes before its first timer
 *
 * That is more than the instance itself, as many instances of one user are to be charged for
 * what they take: the slab allocator rounds up, and the file and the tenant are not small.
 *
 * Return: bytes of kernel memory. Any context.
 */
u64 hwtimer_supply_base_bytes(void)
{
	return roundup_pow_of_two(sizeof(struct hwtimer_instance)) +
	       HWTIMER_FILE_BYTES;
}

/**
 * hwtimer_supply_account - update the counters bytes and bytes_peak
 * @instance: the instance; its lock is held
 */
void hwtimer_supply_account(struct hwtimer_instance *instance)
{
	struct hwtimer_shape start = start_shape(&instance->settings);
	u64 bytes = hwtimer_supply_base_bytes() +
		    hwtimer_table_bytes(&instance->table) +
		    instance->shrink.outgrown_bytes +
		    (u64)instance->pool.chunks * HWTIMER_CHUNK_BYTES;

	lockdep_assert_held(&instance->lock);
	if (instance->started)
		bytes += wheel_bytes(&start, HWTIMER_START_EVENTS);
	if (hwtimer_instance_extended(instance))
		bytes += wheel_bytes(&instance->wheel.shape, HWTIMER_EVENTS);
	instance->stats.bytes = bytes;
	instance->stats.bytes_peak = max(instance->stats.bytes_peak, bytes);
}

static struct hwtimer_outlook
demand_outlook(const struct hwtimer_instance *instance,
	       const struct hwtimer_demand *demand)
{
	u32 periodic =
		instance->periodic + demand->periodic + demand->extensions;

	return (struct hwtimer_outlook){
		.adds = demand->timers,
		.moves = demand->moves,
		.resting = periodic,
		.live = instance->stats.pending + demand->timers + periodic,
	};
}

/* The number of chunks to be allocated to meet @demand. */
static u32 chunks_missing(const struct hwtimer_instance *instance,
			  const struct hwtimer_demand *demand)
{
	struct hwtimer_outlook outlook = demand_outlook(instance, demand);
	u32 spares = instance->pool.spares;
	u32 wanted;

	/* That is enough for an instance with few timers, and quickly computed. */
	if (hwtimer_outlook_chunks(&outlook) <= spares)
		return 0;
	wanted = hwtimer_wheel_reserve(&instance->wheel, &outlook);
	return wanted - min(wanted, spares);
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
 * allows.
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
	       instance->wheel.room;
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
	       (instance->wheel.room != U64_MAX &&
		records_missing(instance, demand));
}

/**
 * struct supply - memory that was allocated, and that the instance has not got yet
 * @chunks: spare chunks
 * @block: slots for the table
 * @wheel: the whole wheel, to replace the one with which the instance started; NULL: none
 * @memory: memory of @wheel and of a ring of events; NULL: none, or the instance has got it
 */
struct supply {
	struct hwtimer_pool chunks;
	struct hwtimer_block block;
	struct hwtimer_wheel *wheel;
	void *memory;
};

/* Undoes a charge for memory that was not allocated, or was freed. */
static void supply_uncharge(const struct hwtimer_instance *instance, u64 bytes)
{
	hwtimer_account_uncharge(instance->account, bytes);
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
static int chunks_get(const struct hwtimer_instance *instance,
		      struct hwtimer_pool *chunks, u32 count)
{
	u32 wanted = chunks->chunks + count;
	int err;

	if (!hwtimer_account_charge(instance->account,
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

		if (supply_unwanted())
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
			struct supply *supply, u32 slots, u32 floor)
{
	u32 count = max_t(u32, rounddown_pow_of_two(slots), HWTIMER_SLOT_UNIT);
	u64 charged;
	int err;

	if (supply_unwanted())
		return -ENOMEM;
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
	supply_uncharge(instance, charged);
	return err;
}

/*
 * Charges for the arrays that a table needs with its first block, and allocates them.
 * Returns 0 or -ENOMEM. May sleep.
 */
static int supply_arrays(const struct hwtimer_instance *instance,
			 struct supply *supply)
{
	u32 records = records_max(&instance->settings);
	u64 bytes = hwtimer_table_empty_bytes(records);
	int err;

	if (!hwtimer_memory_allows(bytes) ||
	    !hwtimer_account_charge(instance->account, bytes))
		return -ENOMEM;
	err = hwtimer_table_init(&supply->block.arrays, records);
	if (err)
		supply_uncharge(instance, bytes);
	return err;
}

/*
 * Charges for the whole wheel, allocates it, and sets it up. Returns 0 or -ENOMEM. May
 * sleep.
 */
static int supply_wheel(struct hwtimer_instance *instance,
			struct supply *supply)
{
	const struct hwtimer_shape *shape = &instance->settings.shape;
	u64 bytes = wheel_bytes(shape, HWTIMER_EVENTS);
	size_t size = wheel_size(shape, HWTIMER_EVENTS);

	if (supply_unwanted() || !hwtimer_memory_allows(bytes) ||
	    !hwtimer_account_charge(instance->account, bytes))
		return -ENOMEM;
	supply->wheel = hwtimer_memory_get(sizeof(*supply->wheel), __GFP_ZERO);
	if (supply->wheel)
		supply->memory = hwtimer_memory_get(size, 0);
	if (!supply->memory) {
		kvfree(supply->wheel);
		supply->wheel = NULL;
		supply_uncharge(instance, bytes);
		return -ENOMEM;
	}
	wheel_init(instance, supply->wheel, shape, supply->memory);
	return 0;
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
static int supply_get(struct hwtimer_instance *instance, struct supply *supply,
		      const struct shortage *shortage)
{
	u32 chunks = shortage->chunks;
	int err;

	if (!hwtimer_memory_allows((u64)chunks * HWTIMER_CHUNK_BYTES +
				   shortage->slots *
					   sizeof(struct hwtimer_slot)))
		return -ENOMEM;
	err = supply_chunks(instance, supply, chunks);
	if (!err && chunks)
		supply_chunks(instance, supply, shortage->ahead);
	if (!err && shortage->slots)
		err = supply_block(instance, supply, shortage->slots,
				   shortage->floor);
	if (!err && shortage->arrays)
		err = supply_arrays(instance, supply);
	if (!err && shortage->wheel)
		err = supply_wheel(instance, supply);
	return err;
}

/*
 * The instance has got memory for which the account was charged @charged. Undoes the charge
 * for what the instance has not got; the caller frees that.
 */
static void supply_settle(struct hwtimer_instance *instance, u64 charged)
{
	u64 gained;

	lockdep_assert_held(&instance->lock);
	hwtimer_supply_account(instance);
	gained = min(instance->stats.bytes - instance->charged, charged);
	instance->charged += gained;
	supply_uncharge(instance, charged - gained);
}

/*
 * Moves the chunks and the block of @supply into the instance. What the table has no room
 * for, or cannot use any more, stays in the block, and the caller frees it. A block without
 * the arrays that a small table needs is not complete. Meanwhile, the instance may have
 * returned to the wheel with which it started, whose ring has room for a small table only.
 */
static void supply_deliver(struct hwtimer_instance *instance,
			   struct supply *supply)
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
	supply_settle(instance, charged);
}

/* Frees what is left in the block of @supply, whose charge is undone. Returns whether any. */
static bool supply_free_block(struct hwtimer_instance *instance,
			      struct supply *supply)
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
 * Frees the wheel of @supply. @charged: the account is charged for it, as the instance has
 * not got it. Releases the lock meanwhile.
 */
static void supply_free_wheel(struct hwtimer_instance *instance,
			      struct supply *supply, bool charged)
	__must_hold(&instance->lock)
{
	spin_unlock(&instance->lock);
	kvfree(supply->memory);
	supply->memory = NULL;
	if (charged)
		supply_uncharge(instance, wheel_bytes(&supply->wheel->shape,
						      HWTIMER_EVENTS));
	kvfree(supply->wheel);
	supply->wheel = NULL;
	spin_lock(&instance->lock);
}

/*
 * One step of what comes before the wheel is replaced: ends a rewind, and removes dead
 * entries from a crowded wheel, because the whole wheel is not needed for timers that were
 * cancelled. Returns false if there is nothing more to do, or if there are so many timers
 * that it would not help for long.
 */
static bool wheel_tidy(struct hwtimer_instance *instance,
		       const struct hwtimer_demand *demand, bool *swept)
{
	struct hwtimer_wheel *wheel = &instance->wheel;

	lockdep_assert_held(&instance->lock);
	if (wheel->refile.active) {
		hwtimer_wheel_refile_step(wheel);
		return true;
	}
	if (!wheel_crowded(instance, demand))
		return false;
	if (!wheel->sweeping &&
	    (*swept || entries_live(instance, demand) > wheel->room / 2))
		return false;
	*swept = true;
	hwtimer_wheel_compact(wheel, true);
	hwtimer_supply_trim(instance);
	return true;
}

/* Replaces the wheel with which the instance started by the one of @supply. */
static void wheel_extend(struct hwtimer_instance *instance,
			 struct supply *supply)
{
	const struct hwtimer_shape *shape = &supply->wheel->shape;
	u64 charged = wheel_bytes(shape, HWTIMER_EVENTS);

	lockdep_assert_held(&instance->lock);
	instance->shrink.large = true;
	hwtimer_wheel_forward(&instance->wheel, hwtimer_instance_now(instance));
	hwtimer_wheel_grow(&instance->wheel, supply->wheel);
	instance->wheel_memory = supply->memory;
	ring_begin(instance, shape, supply->memory, HWTIMER_EVENTS);
	supply->memory = NULL;
	supply_settle(instance, charged);
	wheel_stride(instance);
	/* The whole wheel may have to move timers down before they are due. */
	hwtimer_wakeup_rearm(instance);
	/* The ring is not full any more. */
	if (instance->events.parked) {
		instance->events.parked = false;
		hwtimer_wakeup_again(instance);
	}
}

/* The number of spare chunks that are missing before wheel_extend(). */
static u32 chunks_missing_to_extend(const struct hwtimer_instance *instance,
				    const struct hwtimer_demand *demand,
				    struct supply *supply)
{
	struct hwtimer_outlook outlook = demand_outlook(instance, demand);
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
			  struct supply *supply, struct shortage *shortage)
{
	bool records = false;

	*shortage = (struct shortage){ .ahead = chunks_ahead(instance) };
	if (!wheel_outgrown(instance, demand)) {
		records = records_missing(instance, demand);
		shortage->chunks = chunks_missing(instance, demand);
	} else if (supply->wheel) {
		shortage->chunks =
			chunks_missing_to_extend(instance, demand, supply);
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
 * hwtimer_supply_reserve() for an instance that has too little memory. Called with the lock
 * held; releases it to allocate, after each wheel_tidy(), and after what moves timers, so
 * that no hold does more than one of these.
 */
static noinline int supply_reserve_slowly(struct hwtimer_instance *instance,
					  const struct hwtimer_demand *demand)
	__must_hold(&instance->lock)
{
	struct supply supply = {};
	struct shortage shortage;
	bool swept = false;
	int err = 0;

	for (;;) {
		bool outgrown = wheel_outgrown(instance, demand);

		if (supply_free_block(instance, &supply))
			continue;
		if (outgrown && wheel_tidy(instance, demand, &swept)) {
			spin_unlock(&instance->lock);
			cond_resched();
			spin_lock(&instance->lock);
			continue;
		}
		/* Another thread has replaced the wheel, or timers have ended. */
		if (!outgrown && supply.memory) {
			supply_free_wheel(instance, &supply, true);
			continue;
		}
		if (!shortage_find(instance, demand, &supply, &shortage)) {
			if (!outgrown)
				return 0;
			wheel_extend(instance, &supply);
			supply_free_wheel(instance, &supply, false);
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
		supply_free_wheel(instance, &supply, true);
	/* The chunks that could be had are of no use to the requests that are refused. */
	hwtimer_supply_trim(instance);
	return -ENOMEM;
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
	const struct hwtimer_outlook outlook = {
		.live = instance->stats.pending + most,
	};

	return most <= hwtimer_table_spare(&instance->table) &&
	       instance->wheel.entries + most <= instance->wheel.room &&
	       hwtimer_outlook_chunks(&outlook) <= instance->pool.spares;
}

/* Whether nothing is missing to meet @demand, computed in full. */
static noinline bool supply_enough(const struct hwtimer_instance *instance,
				   const struct hwtimer_demand *demand)
{
	return !records_missing(instance, demand) &&
	       !wheel_crowded(instance, demand) &&
	       !chunks_missing(instance, demand);
}

/*
 * Locks the instance. Returns whether it has the memory to meet @demand. Inline, because
 * hwtimer_supply_reserve() usually does nothing else.
 */
static __always_inline bool lock_ready(struct hwtimer_instance *instance,
				       const struct hwtimer_demand *demand)
	__acquires(&instance->lock)
{
	spin_lock(&instance->lock);
	return (!demand->timers && !demand->moves) ||
	       likely(supply_ample(instance, demand)) ||
	       supply_enough(instance, demand);
}

/**
 * hwtimer_supply_reserve - allocate the memory for some requests, and lock the instance
 * @instance: the instance, which has started unless @demand is all 0; its lock is not
 *	held
 * @demand: what the requests in this hold of the lock may need
 *
 * After success, the instance has all memory that the timers will need until their events
 * are read. After a failure, it may have got some of it, so the caller uses
 * hwtimer_shrink_ended().
 *
 * Return: 0 or -ENOMEM; the lock is held in both cases. May sleep.
 */
int hwtimer_supply_reserve(struct hwtimer_instance *instance,
			   const struct hwtimer_demand *demand)
	__acquires(&instance->lock)
{
	if (likely(lock_ready(instance, demand)))
		return 0;
	return supply_reserve_slowly(instance, demand);
}

/* The number of surplus chunks, see HWTIMER_SPARE_TIME. */
static u32 chunks_surplus(const struct hwtimer_instance *instance)
{
	static const struct hwtimer_demand nothing;
	u32 spared = instance->wheel.room == U64_MAX ?
			     HWTIMER_SPARE_CHUNKS :
			     HWTIMER_START_SPARE_CHUNKS;
	u32 spares = instance->pool.spares - min(spared, instance->pool.spares);
	struct hwtimer_outlook outlook;
	u32 wanted;

	if (!spares)
		return 0;
	outlook = demand_outlook(instance, &nothing);
	wanted = hwtimer_wheel_reserve(&instance->wheel, &outlook);
	return spares - min(wanted, spares);
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
 * call, the worker frees the chunks that were surplus at all calls since.
 */
void hwtimer_supply_trim(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	if (instance->trim.at == HWTIMER_TICK_NONE)
		trim_begin(instance);
	else
		instance->trim.unused =
			min(instance->trim.unused, chunks_surplus(instance));
}

/**
 * hwtimer_supply_gave - undo the charge for memory that the instance has given up
 * @instance: the instance; its lock is held
 *
 * The caller frees the memory as soon as it has released the lock.
 */
void hwtimer_supply_gave(struct hwtimer_instance *instance)
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
		hwtimer_supply_gave(instance);
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
 * hwtimer_supply_return - go back to the wheel with which the instance started
 * @instance: the instance, which hwtimer_instance_extended(); its lock is held. Its wheel
 *	has no entries, and is not busy; its ring of events is empty
 *
 * Return: the memory of the whole wheel, which the caller frees by kvfree().
 */
void *hwtimer_supply_return(struct hwtimer_instance *instance)
{
	struct hwtimer_shape start = start_shape(&instance->settings);
	void *memory = instance->wheel_memory;

	lockdep_assert_held(&instance->lock);
	hwtimer_wheel_return(&instance->wheel, &start, instance->start_memory,
			     HWTIMER_START_ENTRIES);
	ring_begin(instance, &start, instance->start_memory,
		   HWTIMER_START_EVENTS);
	instance->wheel_memory = instance->start_memory;
	wheel_stride(instance);
	return memory;
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
