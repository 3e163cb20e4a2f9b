/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an instance and a worker do with a wheel (hwtimer_request.c,
 * hwtimer_instance.c), but for locks, system calls and sleep: the clock is
 * wherever the caller has put it, or where the next wake-up is.
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include "hwtimer_wheel.h"
#include "timers.h"

/**
 * struct harness - an instance
 * @wheel: that is measured
 * @table: its records; the user_data of each is the number of the timer
 * @pool: its chunks
 * @ready: what has expired
 * @now: the time, ns
 * @wake: when the worker comes next, ns; HWTIMER_TICK_NONE: not at all
 * @pending: timers
 * @events: in @ready
 * @wakeups: of the worker
 * @idle: of those, in which nothing expired
 * @chunks_peak: most chunks that there were, spare ones included
 * @memory: of the wheel
 * @due: a slice of what is due
 */
struct harness {
	struct hwtimer_wheel wheel;
	struct hwtimer_table table;
	struct hwtimer_pool pool;
	struct hwtimer_queue ready;
	u64 now;
	u64 wake;
	u64 pending;
	u64 events;
	u64 wakeups;
	u64 idle;
	u32 chunks_peak;
	void *memory;
	u32 due[HWTIMER_HOLD];
};

/**
 * struct wakeup - one wake-up of the worker
 * @walked: entries looked at until the last timer had expired, in slices
 * @due_ns: how long it took until then
 * @ns: how long all of it took, with what is moved down for later
 * @spans: how often the clock of this machine was read to find that out
 */
struct wakeup {
	u64 walked;
	u64 due_ns;
	u64 ns;
	u32 spans;
};

/**
 * struct event - a timer that has expired
 * @number: of the timer
 * @deadline: ns
 * @lateness: ns, at most U32_MAX
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
void harness_wake_up(struct harness *harness, struct wakeup *wakeup);
bool harness_read(struct harness *harness, struct event *event);

#endif /* BENCH_HARNESS_H */
