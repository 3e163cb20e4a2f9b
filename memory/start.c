// SPDX-License-Identifier: GPL-2.0
/*
 * The two wheels of an instance: the small one with which it starts, and the whole one.
 *
 * Most instances have few timers, and the whole wheel is large: 142 KB by default, and 32 KB
 * for the ring of events. So an instance starts with a few records
 * (hwtimer_table_init_start()), a small ring, and a hashed wheel of HWTIMER_START_BUCKETS. Both
 * kinds expire the same timers in the same order. A walk of the hashed one passes over those of
 * later rounds: over HWTIMER_START_RECORDS at most, as there are no more, and removes what is
 * dead of HWTIMER_START_ENTRIES. In a large wheel that would have no bound. When the records
 * are used up, or the ring may fill up, the next requests that add timers allocate more
 * records, the whole wheel and the whole ring, and move the timers and events there. The
 * instance keeps the memory with which it started, and returns to it when it is idle.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/mm.h>

#include "alloc.h"
#include "constants.h"
#include "memory/supply.h"

/* The wheel with which an instance starts */
static struct hwtimer_shape start_shape(const struct hwtimer_settings *settings)
{
	return (struct hwtimer_shape){ .tick = settings->shape.tick,
				       .kind = HWTIMER_KIND_HASHED,
				       .buckets = HWTIMER_START_BUCKETS };
}

/* The size of a wheel of @shape and of a ring of @events, which follows it in memory */
static size_t wheel_size(const struct hwtimer_shape *shape, u32 events)
{
	return hwtimer_wheel_memory(shape) + events * sizeof(u64);
}

/* The memory of the wheel and of the ring with which an instance starts, bytes */
u64 hwtimer_start_bytes(const struct hwtimer_settings *settings)
{
	struct hwtimer_shape start = start_shape(settings);

	return hwtimer_memory_bytes(wheel_size(&start, HWTIMER_START_EVENTS));
}

/* The memory of the whole wheel and of the whole ring, bytes */
u64 hwtimer_whole_bytes(const struct hwtimer_settings *settings)
{
	size_t size = wheel_size(&settings->shape, HWTIMER_EVENTS);

	return hwtimer_memory_bytes(size);
}

/* Moves the events to the ring behind a wheel of @shape. */
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
	err = hwtimer_table_init_start(table, hwtimer_records_max(settings));
	if (err)
		kvfree(*memory);
	return err;
}

/*
 * Sets up @wheel, which is zeroed, as an empty wheel of the instance. May sleep.
 *
 * Tick 0 is at time 0 of the clock, so instances with the same tick share wake-ups.
 */
static void wheel_prepare(struct hwtimer_instance *instance,
			  struct hwtimer_wheel *wheel,
			  const struct hwtimer_shape *shape, void *memory)
{
	wheel->table = &instance->table;
	wheel->pool = &instance->pool;
	wheel->rewinds = instance->settings.clock->settable;
	hwtimer_wheel_init(wheel, shape, memory,
			   hwtimer_instance_now(instance));
}

/* Sets after which time the wheel has to follow the clock; now it is there. */
static void follow_begin(struct hwtimer_instance *instance)
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
	u64 bytes = hwtimer_start_bytes(settings) + hwtimer_table_start_bytes();
	struct hwtimer_table table = {};
	void *memory;
	int err;

	lockdep_assert_held(&instance->setup);
	if (!hwtimer_account_charge(instance->account, bytes))
		return -ENOMEM;
	err = wheel_alloc(settings, &shape, &memory, &table);
	if (err) {
		hwtimer_account_uncharge(instance->account, bytes);
		return err;
	}
	wheel_prepare(instance, &wheel, &shape, memory);

	spin_lock(&instance->lock);
	WRITE_ONCE(instance->start_memory, memory);
	instance->wheel_memory = memory;
	instance->wheel_room = HWTIMER_START_ENTRIES;
	instance->wheel = wheel;
	ring_begin(instance, &shape, memory, HWTIMER_START_EVENTS);
	instance->table = table;
	hwtimer_account_settle(instance, bytes);
	instance->tenant = *id;
	instance->job.turns.clock = settings->clock->nr;
	instance->job.turns.offset = instance->offsets[settings->clock->nr];
	hwtimer_worker_attach(&instance->job, tenant);
	follow_begin(instance);
	/* If it was stopped meanwhile, it stays so. */
	if (!hwtimer_instance_stopped(instance)) {
		/* Pairs with the smp_load_acquire() in hwtimer_instance_new(). */
		smp_store_release(&instance->life, HWTIMER_STARTED);
	}
	spin_unlock(&instance->lock);
	return 0;
}

/**
 * hwtimer_start_instance - prepare for timers: get a worker, and allocate wheel and table
 * @instance: the instance, which may have started already; its lock is not held
 *
 * The worker counts the instance as one of the current process's user and cgroup from now on.
 *
 * Return: 0: the instance has started, or it is stopped; -EINTR: the caller is being killed;
 * -ENOMEM. May sleep; takes the mutex setup and the instance's lock.
 */
int hwtimer_start_instance(struct hwtimer_instance *instance)
{
	struct hwtimer_tenant_id id = hwtimer_workers_caller();
	struct hwtimer_tenant *tenant;
	int err = 0;

	if (!hwtimer_instance_new(instance))
		return 0;
	tenant = hwtimer_workers_tenant(&id);
	if (IS_ERR(tenant))
		return PTR_ERR(tenant);
	/* Its holder may be another tenant, who hardly gets any processor time. */
	if (mutex_lock_killable(&instance->setup)) {
		err = -EINTR;
		goto put;
	}
	/* Another thread may have started or stopped the instance. */
	if (hwtimer_instance_new(instance)) {
		err = wheel_begin(instance, tenant, &id);
		if (!err)
			tenant = NULL;
	}
	mutex_unlock(&instance->setup);
put:
	hwtimer_tenant_put(tenant);
	return err;
}

/*
 * Charges for the whole wheel, allocates it, and sets it up. Returns 0 or -ENOMEM. May
 * sleep.
 */
int hwtimer_whole_get(struct hwtimer_instance *instance,
		      struct hwtimer_supply *supply)
{
	const struct hwtimer_shape *shape = &instance->settings.shape;
	u64 bytes = hwtimer_whole_bytes(&instance->settings);
	size_t size = wheel_size(shape, HWTIMER_EVENTS);

	if (!hwtimer_account_charge(instance->account, bytes))
		return -ENOMEM;
	supply->wheel = hwtimer_memory_get(sizeof(*supply->wheel), __GFP_ZERO);
	if (supply->wheel)
		supply->memory = hwtimer_memory_get(size, 0);
	if (!supply->memory) {
		kvfree(supply->wheel);
		supply->wheel = NULL;
		hwtimer_account_uncharge(instance->account, bytes);
		return -ENOMEM;
	}
	wheel_prepare(instance, supply->wheel, shape, supply->memory);
	return 0;
}

/* Replaces the wheel with which the instance started by the one of @supply. */
void hwtimer_whole_use(struct hwtimer_instance *instance,
		       struct hwtimer_supply *supply)
{
	const struct hwtimer_shape *shape = &supply->wheel->shape;

	lockdep_assert_held(&instance->lock);
	instance->shrink.large = true;
	hwtimer_wheel_forward(&instance->wheel, hwtimer_instance_now(instance));
	hwtimer_wheel_grow(&instance->wheel, supply->wheel);
	instance->wheel_memory = supply->memory;
	instance->wheel_room = U64_MAX;
	ring_begin(instance, shape, supply->memory, HWTIMER_EVENTS);
	supply->memory = NULL;
	hwtimer_account_settle(instance,
			       hwtimer_whole_bytes(&instance->settings));
	follow_begin(instance);
	/* The whole wheel may have to move timers down before they are due. */
	hwtimer_wakeup_rearm(instance);
}

/**
 * hwtimer_start_return - go back to the wheel with which the instance started
 * @instance: the instance, which hwtimer_instance_extended(); its lock is held. Its wheel
 *	has no entries, and is not busy; its ring of events is empty
 *
 * Return: the memory of the whole wheel, which the caller frees by kvfree().
 */
void *hwtimer_start_return(struct hwtimer_instance *instance)
{
	struct hwtimer_shape start = start_shape(&instance->settings);
	void *memory = instance->wheel_memory;

	lockdep_assert_held(&instance->lock);
	hwtimer_wheel_return(&instance->wheel, &start, instance->start_memory);
	ring_begin(instance, &start, instance->start_memory,
		   HWTIMER_START_EVENTS);
	instance->wheel_memory = instance->start_memory;
	instance->wheel_room = HWTIMER_START_ENTRIES;
	follow_begin(instance);
	return memory;
}
