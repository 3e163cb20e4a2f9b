/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One measurement: N timers on an instance of their own, through all phases.
 */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include <stdbool.h>

#include "device.h"
#include "options.h"

/**
 * enum figure - what a run measures
 * @SCHEDULE: ns in SUBMIT, per timer scheduled
 * @CANCEL: ns in SUBMIT, per timer cancelled
 * @EXPIRE: ns of processor time of the worker, per timer expired
 * @READ: ns in read(), per event
 * @WALKED: entries looked at in buckets, per timer expired
 * @SETTLED: us from the last deadline until all events were ready
 * @START: us in the SUBMIT of the first timer, which allocates the wheel
 * @EMPTY: KiB of kernel memory that the instance has then
 * @BYTES: bytes of kernel memory at the peak, per timer
 * @FIGURES: their number
 */
enum figure {
	SCHEDULE,
	CANCEL,
	EXPIRE,
	READ,
	WALKED,
	SETTLED,
	START,
	EMPTY,
	BYTES,
	FIGURES,
};

/**
 * struct run - one run, or several after each other
 * @fd: its instance
 * @timers: their number
 * @left: those that are not cancelled
 * @late: some were due before they could be cancelled
 * @last: the last deadline
 * @ids: of all timers
 * @requests: one batch
 * @events: one batch
 * @figures: what came out
 */
struct run {
	int fd;
	__u32 timers;
	__u32 left;
	bool late;
	__u64 last;
	__u64 *ids;
	struct hwtimer_request *requests;
	struct hwtimer_event *events;
	double figures[FIGURES];
};

void run_init(struct run *run, __u32 timers);
void run_release(struct run *run);

/* Leaves the outcome in @run->figures. */
void run_measure(struct run *run, const struct options *options, __u32 buckets);

#endif /* BENCH_RUN_H */
