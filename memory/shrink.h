/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gives the memory of an idle instance back, whatever it had: the chunks, the whole wheel and
 * the table go, and the instance is as small as after its first timer.
 *
 * hwtimer_shrink_ended() is called when timers have ended. The worker does the steps, among
 * its chores.
 */
#ifndef HWTIMER_SHRINK_H
#define HWTIMER_SHRINK_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "wheel/table.h"

struct hwtimer_instance;
struct hwtimer_pool;

/**
 * struct hwtimer_shrink - the way of an idle instance back to the memory it started with
 * @large: the instance has got memory, and nobody has looked since whether it is idle
 * @at: time of the next step, ns on CLOCK_MONOTONIC; HWTIMER_TICK_NONE: there is none
 * @scheduled: stats.scheduled at the time from which on the instance is watched: it stays
 *	the same as long as the instance is idle
 * @surveyed: number of records that were checked for their generations
 * @floor: the highest of these generations
 * @outgrown: the table that the instance has given up, and that is being freed. Used by the
 *	worker only; by nobody else before the worker has left
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
	struct hwtimer_table outgrown;
	u64 outgrown_bytes;
};

void hwtimer_shrink_watch(struct hwtimer_instance *instance);
void *hwtimer_shrink_some(struct hwtimer_instance *instance,
			  struct hwtimer_pool *surplus);
void hwtimer_shrink_free(struct hwtimer_instance *instance);

#endif /* HWTIMER_SHRINK_H */
