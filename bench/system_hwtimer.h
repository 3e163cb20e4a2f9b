/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is to be known of hwtimer besides what every system has.
 */
#ifndef BENCH_SYSTEM_HWTIMER_H
#define BENCH_SYSTEM_HWTIMER_H

#include "system.h"

/* What SETUP asks for; 0: the module's default */
extern __u32 hwtimer_buckets;

/* The kthread; ends the program unless there is exactly one. */
int hwtimer_worker_pid(void);

#endif /* BENCH_SYSTEM_HWTIMER_H */
