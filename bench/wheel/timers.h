/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Workloads: what timers a program may have. The same seed makes the same
 * timers, on every machine and for every wheel.
 */
#ifndef BENCH_TIMERS_H
#define BENCH_TIMERS_H

#include <linux/types.h>

/* When the clock begins: in the middle of a tick and of every bucket. */
#define TIMERS_START 12345678901234ULL

/**
 * enum workload - which timers
 * @SHORT: delays random over 5 s
 * @LONG: delays random over a day
 * @MIXED: half as SHORT, 40 % over 10 minutes, 10 % as LONG
 * @BURST: delays of 10 minutes and up to a second, nothing before
 * @CANCEL: timeouts of 30 s, each cancelled 1 ms later
 * @WORKLOADS: their number
 */
enum workload {
	SHORT,
	LONG,
	MIXED,
	BURST,
	CANCEL,
	WORKLOADS,
};

extern char *const workload_names[];

/**
 * struct timer - one timer
 * @deadline: ns
 * @slack: ns
 * @id: once it is scheduled
 */
struct timer {
	u64 deadline;
	u64 slack;
	u64 id;
};

void timers_fill(struct timer *timers, u32 count, enum workload workload,
		 u32 slack_permille);
void timers_order(u32 *order, u32 count);

#endif /* BENCH_TIMERS_H */
