/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of hwtimer that other files use besides struct system.
 */
#ifndef BENCH_SYSTEM_HWTIMER_H
#define BENCH_SYSTEM_HWTIMER_H

#include "device.h"
#include "system.h"

/* The slack of timers that are scheduled by bulks, ns */
extern __u64 hwtimer_slack;

/* Returns a number from the line "hwtimer-@name" of fdinfo. */
__u64 hwtimer_fdinfo(int instance, const char *name);
/* Does the same for the instance that system_hwtimer has set up. */
__u64 hwtimer_counter(const char *name);

#endif /* BENCH_SYSTEM_HWTIMER_H */
