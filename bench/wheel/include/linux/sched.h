/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_SCHED_H
#define BENCH_LINUX_SCHED_H

/* This program has a single thread, so it has no thread to yield to. */
#define cond_resched() \
	do {           \
	} while (0)

#endif /* BENCH_LINUX_SCHED_H */
