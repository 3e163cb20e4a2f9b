/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Brings memory to an instance, and returns what it does not need any more: the wheel and
 * the table before the first timer, records and chunks before each timer that may need
 * one. Called by everyone who is about to schedule, and, to trim, by everyone who may
 * have freed something.
 *
 * All memory is brought when a timer is scheduled, which can fail. So nothing that a timer
 * needs later, until its event is read, can fail.
 */
#ifndef HWTIMER_SUPPLY_H
#define HWTIMER_SUPPLY_H

#include <linux/compiler.h>
#include <linux/types.h>

struct hwtimer_instance;
struct hwtimer_pool;

/**
 * struct hwtimer_demand - what requests may need
 * @timers: number of timers that may be added, if the limit allows it
 * @periodic: number of those that are periodic
 * @moves: number of timers that may get a new deadline
 */
struct hwtimer_demand {
	u32 timers;
	u32 periodic;
	u32 moves;
};

/**
 * struct hwtimer_trim - spare chunks on trial; protected by the instance's lock
 * @at: when chunks that stayed unused are freed, on CLOCK_MONOTONIC; HWTIMER_TICK_NONE:
 *	there are none
 * @unused: number of spare chunks that have stayed unused so far
 */
struct hwtimer_trim {
	u64 at;
	u32 unused;
};

int hwtimer_supply_start(struct hwtimer_instance *instance);
int hwtimer_supply_reserve(struct hwtimer_instance *instance,
			   const struct hwtimer_demand *demand)
	__acquires(&instance->lock);
bool hwtimer_supply_lock_ready(struct hwtimer_instance *instance,
			       const struct hwtimer_demand *demand)
	__acquires(&instance->lock);
void hwtimer_supply_trim(struct hwtimer_instance *instance);
void hwtimer_supply_trim_some(struct hwtimer_instance *instance,
			      struct hwtimer_pool *surplus);
void hwtimer_supply_account(struct hwtimer_instance *instance);

#endif /* HWTIMER_SUPPLY_H */
