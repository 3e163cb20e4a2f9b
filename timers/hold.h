/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does operations of either format in one hold of the instance's lock: checks them, starts the
 * instance if it is new, reserves memory, does them, and does the work that they owe.
 *
 * A program hands operations over in two formats: requests, which have all options and are of
 * mixed kinds (timers/request.c), and bulks, which are of one kind (timers/bulk.c). What the
 * formats do in their own way is in a constant struct hwtimer_format. hwtimer_hold_run() is
 * inline, so that the compiler calls or inlines these functions directly.
 */
#ifndef HWTIMER_HOLD_H
#define HWTIMER_HOLD_H

#include "hwtimer.h"

/**
 * struct hwtimer_hold - one hold of an instance's lock in which operations are done
 * @instance: the instance
 * @now: time on the instance's clock, ns; 0: the clock has not been read yet
 * @ready: number of events that waited before the operations
 * @idle: no timer was in the wheel before the operations
 *
 * hwtimer_hold_begin() sets all members. Protected by the instance's lock.
 *
 * Reading the clock takes as long as scheduling a timer, and absolute deadlines mostly
 * need no clock. So it is read when it is first needed, and at most once in each hold.
 */
struct hwtimer_hold {
	const struct hwtimer_instance *instance;
	u64 now;
	u64 ready;
	bool idle;
};

/**
 * hwtimer_hold_now - read the clock, once for each hold of the lock
 * @hold: the hold
 *
 * Return: ns on the instance's clock.
 */
static inline u64 hwtimer_hold_now(struct hwtimer_hold *hold)
{
	if (!hold->now)
		hold->now = hwtimer_instance_now(hold->instance);
	return hold->now;
}

/**
 * hwtimer_hold_begin - move the wheel to the clock before operations are done
 * @instance: the instance; its lock is held
 * @hold: out: this hold of the lock
 */
static __always_inline void
hwtimer_hold_begin(struct hwtimer_instance *instance, struct hwtimer_hold *hold)
{
	lockdep_assert_held(&instance->lock);
	*hold = (struct hwtimer_hold){
		.instance = instance,
		.ready = instance->stats.ready,
		.idle = !instance->stats.pending,
	};
	if (unlikely(instance->wheel.rewinds ||
		     hwtimer_instance_behind(instance)))
		hwtimer_wakeup_follow(instance, hwtimer_hold_now(hold));
}

void hwtimer_hold_end(struct hwtimer_instance *instance, u32 count,
		      const struct hwtimer_hold *hold)
	__releases(&instance->lock);

/**
 * struct hwtimer_format - how a program hands operations over
 * @size: size of an operation, bytes
 * @result_size: size of its result, bytes. The results overwrite the array of operations from
 *	its front on
 * @check: check @count operations, and set @demand to the memory that they need. An operation
 *	that is refused by itself gets its result. Returns 0; -EINVAL: none is to be done
 * @creates: whether one of the operations needs an instance that has started
 * @refuse: give each operation without a result one: @err if it creates a timer, @other if
 *	it needs an existing one
 * @run: do the operations that have no result, with the lock held
 *
 * @bulk is what all operations of a bulk have in common; NULL for requests.
 */
struct hwtimer_format {
	size_t size;
	size_t result_size;
	int (*check)(const struct hwtimer_settings *settings,
		     const struct hwtimer_bulk *bulk, void *operations,
		     u32 count, struct hwtimer_demand *demand);
	bool (*creates)(const struct hwtimer_bulk *bulk, const void *operations,
			u32 count);
	void (*refuse)(const struct hwtimer_bulk *bulk, void *operations,
		       u32 count, int err, int other);
	void (*run)(struct hwtimer_instance *instance,
		    const struct hwtimer_bulk *bulk, void *operations,
		    u32 count, struct hwtimer_hold *hold);
};

int hwtimer_hold_start(const struct hwtimer_format *format,
		       struct hwtimer_instance *instance,
		       const struct hwtimer_bulk *bulk, void *operations,
		       u32 count, struct hwtimer_demand *demand);
void hwtimer_hold_singly(const struct hwtimer_format *format,
			 struct hwtimer_instance *instance,
			 const struct hwtimer_bulk *bulk, void *operations,
			 u32 count);

/**
 * hwtimer_hold_locked - do operations whose memory is reserved
 * @format: the format of the operations
 * @instance: the instance; its lock is held, and this function releases it
 * @bulk: as in hwtimer_hold_run()
 * @operations: in: the operations, which were checked; out: their results
 * @count: number of operations
 */
static __always_inline void
hwtimer_hold_locked(const struct hwtimer_format *format,
		    struct hwtimer_instance *instance,
		    const struct hwtimer_bulk *bulk, void *operations,
		    u32 count) __releases(&instance->lock)
{
	struct hwtimer_hold hold;

	hwtimer_hold_begin(instance, &hold);
	format->run(instance, bulk, operations, count, &hold);
	hwtimer_hold_end(instance, count, &hold);
}

/**
 * hwtimer_hold_run - do operations, in their order
 * @format: the format of the operations, a constant
 * @instance: the instance; neither its mutex setup nor its lock is held
 * @bulk: what the operations have in common; NULL: they are requests
 * @operations: in: the operations, unchecked; out: their results
 * @count: number of operations, at most HWTIMER_HOLD
 *
 * Return: 0: each operation has a result; -EINVAL: no operation was done. May sleep.
 */
static __always_inline int hwtimer_hold_run(const struct hwtimer_format *format,
					    struct hwtimer_instance *instance,
					    const struct hwtimer_bulk *bulk,
					    void *operations, u32 count)
{
	struct hwtimer_demand demand __uninitialized;
	int ret;

	if (unlikely(hwtimer_instance_new(instance)))
		ret = hwtimer_hold_start(format, instance, bulk, operations,
					 count, &demand);
	else
		ret = format->check(&instance->settings, bulk, operations,
				    count, &demand);
	if (unlikely(ret))
		return min(ret, 0);
	if (likely(!hwtimer_supply_reserve(instance, &demand))) {
		hwtimer_hold_locked(format, instance, bulk, operations, count);
	} else {
		spin_unlock(&instance->lock);
		hwtimer_hold_singly(format, instance, bulk, operations, count);
	}
	return 0;
}

#endif /* HWTIMER_HOLD_H */
