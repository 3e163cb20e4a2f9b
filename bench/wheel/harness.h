/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The work of an instance and its worker on a wheel (timers/request.c, memory/supply.c,
 * worker/wakeup.c and events/turn.c), without locks, system calls and sleep. The caller
 * sets the clock, and each wake-up moves it to the time of that wake-up.
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include "wheel/wheel.h"
#include "timers.h"

/**
 * struct harness - an instance
 * @wheel: the wheel to measure
 * @table: its records; the user_data of each is the number of the timer
 * @pool: its chunks
 * @ready: a ring of the indices of expired timers
 * @room: its size
 * @first: number of indices taken out of it so far
 * @last: number of indices put into it so far
 * @now: the time, ns
 * @wake: the time of the worker's next wake-up, ns; HWTIMER_TICK_NONE: no wake-up
 * @pending: number of pending timers
 * @wakeups: number of the worker's wake-ups
 * @memory: memory of the wheel
 * @due: a slice of the due timers
 */
struct harness {
	struct hwtimer_wheel wheel;
	struct hwtimer_table table;
	struct hwtimer_pool pool;
	u32 *ready;
	u32 room;
	u64 first;
	u64 last;
	u64 now;
	u64 wake;
	u64 pending;
	u64 wakeups;
	void *memory;
	u32 due[HWTIMER_HOLD];
};

/**
 * struct event - the event of an expired timer
 * @number: number of the timer
 * @deadline: its deadline, ns
 * @lateness: its lateness, ns, at most U32_MAX
 */
struct event {
	u32 number;
	u64 deadline;
	u32 lateness;
};

void harness_init(struct harness *harness, const struct hwtimer_shape *shape,
		  u32 timers);
void harness_destroy(struct harness *harness);

void harness_reserve(struct harness *harness, u32 timers);
void harness_schedule(struct harness *harness, struct timer *timers, u32 first,
		      u32 count);
void harness_cancel(struct harness *harness, const u64 *ids, u32 count);
u64 harness_compaction_steps(const struct harness *harness, u32 requests);
bool harness_compact(struct harness *harness);
void harness_wake_up(struct harness *harness);
bool harness_read(struct harness *harness, struct event *event);

#endif /* BENCH_HARNESS_H */
