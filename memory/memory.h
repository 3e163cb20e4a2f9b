/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reserves memory before anything is promised, and counts whose it is.
 *
 * All memory that a timer needs until its event is read is allocated when the timer is
 * scheduled or rescheduled, which can fail. So no later step can fail. An idle instance becomes
 * as small again as after its first timer.
 *
 * An account counts the memory that the instances of one user have together, and refuses what is
 * beyond the user's limit, the module parameter max_memory_user. An account of NULL has no limit:
 * all functions accept it, and count nothing.
 */
#ifndef HWTIMER_MEMORY_H
#define HWTIMER_MEMORY_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/rbtree.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "wheel/wheel.h"

struct hwtimer_instance;
struct hwtimer_pool;

/* ---- account.c ---- */

/**
 * struct hwtimer_account - what one user's instances have together
 * @users: number of references; protected by the lock in memory/account.c
 * @uid: the user; constant
 * @bytes: kernel memory that is charged, bytes
 * @node: entry in the tree of accounts; protected by the lock in memory/account.c
 */
struct hwtimer_account {
	unsigned int users;
	kuid_t uid;
	atomic64_t bytes;
	struct rb_node node;
};

extern u64 hwtimer_account_limit;

void hwtimer_account_start(void);

int hwtimer_account_of_caller(struct hwtimer_account **account);
struct hwtimer_account *hwtimer_account_get(kuid_t uid);
void hwtimer_account_put(struct hwtimer_account *account);

bool hwtimer_account_charge(struct hwtimer_account *account, u64 bytes);
void hwtimer_account_uncharge(struct hwtimer_account *account, u64 bytes);

u64 hwtimer_account_base_bytes(void);

/* ---- start.c ---- */

int hwtimer_start_instance(struct hwtimer_instance *instance);

/* ---- supply.c ---- */

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

int hwtimer_supply_reserve(struct hwtimer_instance *instance,
			   const struct hwtimer_demand *demand)
	__acquires(&instance->lock);

/* ---- shrink.c ---- */

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

/**
 * struct hwtimer_shrink - the way of an idle instance back to the memory it started with
 * @large: the instance has got memory, and it was not checked since whether it is idle
 * @at: time of the next step, ns on CLOCK_MONOTONIC; HWTIMER_TICK_NONE: there is none
 * @scheduled: stats.scheduled at the time from which on the instance is watched: it stays
 *	the same as long as the instance is idle
 * @surveyed: number of records that were checked for their generations
 * @floor: the highest of these generations
 * @stepped: a step was done that did not make the instance small
 * @doublings: how often the time for which the instance is watched has been doubled
 * @outgrown: the table that the instance has given up, and that is being freed. Only the worker
 *	uses it, until it has left the instance
 * @outgrown_bytes: what the account is charged for it, until all of it is freed
 *
 * Protected by the instance's lock, except for @outgrown.
 */
struct hwtimer_shrink {
	bool large;
	u64 at;
	u64 scheduled;
	u32 surveyed;
	u32 floor;
	u32 doublings;
	bool stepped;
	struct hwtimer_table outgrown;
	u64 outgrown_bytes;
};

void hwtimer_shrink_trim(struct hwtimer_instance *instance);
void hwtimer_shrink_trim_some(struct hwtimer_instance *instance,
			      struct hwtimer_pool *surplus);
void hwtimer_shrink_watch(struct hwtimer_instance *instance);
void *hwtimer_shrink_some(struct hwtimer_instance *instance,
			  struct hwtimer_pool *surplus);
void hwtimer_shrink_free(struct hwtimer_instance *instance);

#endif /* HWTIMER_MEMORY_H */
