/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is to be known of hwtimer besides what every system has.
 */
#ifndef BENCH_SYSTEM_HWTIMER_H
#define BENCH_SYSTEM_HWTIMER_H

#include "device.h"
#include "hwtimer_ring.h"
#include "system.h"

/* What SETUP asks for; 0: the module's default */
extern __u32 hwtimer_buckets;

/* Of the instance that system_hwtimer has set up */
void hwtimer_stats(struct hwtimer_stats *stats);

/* Delivers up to @most events to @to; returns their number. */
__u32 hwtimer_take_events(struct hwtimer_ring *from, struct workload *to,
			  __u32 most);

/* The kthread; ends the program unless there is exactly one. */
int hwtimer_worker_pid(void);

#endif /* BENCH_SYSTEM_HWTIMER_H */
