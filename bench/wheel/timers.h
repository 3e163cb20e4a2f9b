/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Workloads: typical sets of timers. The seeds are fixed, so that the timers are the
 * same on every machine and for every wheel.
 */
#ifndef BENCH_TIMERS_H
#define BENCH_TIMERS_H

#include <linux/types.h>

/* The initial time: in the middle of a tick and of the buckets of every level */
#define TIMERS_START 12345678901234ULL

/**
 * enum workload - the kinds of workload
 * @SHORT: random delays up to 5 s
 * @LONG: random delays up to a day
 * @MIXED: 50 % as SHORT, 40 % random up to 10 minutes, 10 % as LONG
 * @BURST: random delays from 10 minutes to 10 minutes and a second
 * @CANCEL: timeouts of 30 s, each cancelled 1 ms later
 * @WORKLOADS: number of workloads
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
 * @deadline: its deadline, ns
 * @slack: its slack, ns
 * @id: its id, valid once it is scheduled
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
