/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measurements beside the phases. Each runs in a process of its own.
 */
#ifndef BENCH_EXTRA_H
#define BENCH_EXTRA_H

#include "phases.h"

/* The cost of one timer by one ioctl, against one timerfd_settime() */
void extra_single(const struct run *run);

/* The dead entries after run->timers pairs of schedule and cancel */
void extra_dead(const struct run *run);

/* The throughput of two threads, of one instance and with an instance each, against one */
void extra_threads(const struct run *run);

/* Bytes, turns and lateness of 64, 1,000 and 4,096 instances of 4 timers each */
void extra_instances(const struct run *run);

#endif /* BENCH_EXTRA_H */
