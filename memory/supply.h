/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocates the memory of an instance, and frees what the instance no longer needs. The
 * wheel and the table are allocated before the first timer; records and chunks, before
 * each request that may need them.
 *
 * All memory that a timer needs until its event is read is allocated when the timer is
 * scheduled or rescheduled, which can fail. So no later step can fail.
 */
#ifndef HWTIMER_SUPPLY_H
#define HWTIMER_SUPPLY_H

#include <linux/compiler.h>
#include <linux/types.h>

struct hwtimer_instance;
struct hwtimer_pool;

/**
 * struct hwtimer_demand - upper bounds of what requests need memory for
 * @timers: number of timers to be added; those beyond the limit of timers need no memory
 * @periodic: number of @timers that are periodic
 * @moves: number of timers to be rescheduled
 * @extensions: number of @moves after which a timer is periodic that may not be so before
 */
struct hwtimer_demand {
	u32 timers;
	u32 periodic;
	u32 moves;
	u32 extensions;
};

/**
 * struct hwtimer_trim - spare chunks that will be freed if they stay unused
 * @at: time at which they are freed, ns on CLOCK_MONOTONIC; HWTIMER_TICK_NONE: no
 *	chunks are watched
 * @unused: number of surplus chunks that have stayed unused so far
 *
 * Protected by the instance's lock.
 */
struct hwtimer_trim {
	u64 at;
	u32 unused;
};

int hwtimer_supply_start(struct hwtimer_instance *instance);
int hwtimer_supply_reserve(struct hwtimer_instance *instance,
			   const struct hwtimer_demand *demand)
	__acquires(&instance->lock);
void hwtimer_supply_trim(struct hwtimer_instance *instance);
void hwtimer_supply_trim_some(struct hwtimer_instance *instance,
			      struct hwtimer_pool *surplus);
void hwtimer_supply_gave(struct hwtimer_instance *instance);
void *hwtimer_supply_return(struct hwtimer_instance *instance);
void hwtimer_supply_account(struct hwtimer_instance *instance);
u64 hwtimer_supply_base_bytes(void);
void hwtimer_supply_release(struct hwtimer_instance *instance);

#endif /* HWTIMER_SUPPLY_H */
