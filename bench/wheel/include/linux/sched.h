/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_SCHED_H
#define BENCH_LINUX_SCHED_H

/*
 * These programs have a single thread, so it has no thread to yield to. This is how often it
 * would have yielded.
 */
extern unsigned long yields;

#define cond_resched() ((void)yields++)

#endif /* BENCH_LINUX_SCHED_H */
