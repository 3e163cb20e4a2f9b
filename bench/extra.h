/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Questions that the phases do not answer. Each runs in a process of its own.
 */
#ifndef BENCH_EXTRA_H
#define BENCH_EXTRA_H

#include "phases.h"

/* One timer by one ioctl, against one timerfd_settime() */
void extra_single(const struct run *run);

/* How many dead entries run->timers pairs of schedule and cancel leave behind */
void extra_dead(const struct run *run);

/* How long a SCHEDULE waits while run->timers expire in one tick */
void extra_crowd(const struct run *run);

/* What a program itself spends on run->timers through the rings */
void extra_rings(const struct run *run);

/* What two processes do on two processors, against one */
void extra_producers(const struct run *run);

#endif /* BENCH_EXTRA_H */
