/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads that schedule bulks of timers and cancel them, each on a processor of its own.
 * Throughput is counted per processor time of the threads, because other programs may use
 * the processors, too.
 */
#ifndef BENCH_PRODUCERS_H
#define BENCH_PRODUCERS_H

#include <linux/types.h>

#define PRODUCERS_MAX 2
#define PRODUCERS_BATCH_MAX 4096

/* Numbers of timers in a bulk that are measured */
#define PRODUCERS_BATCHES               \
	{                               \
		1, 4, 16, 64, 256, 4096 \
	}

/* What a thread calls first; NULL: nothing */
extern void (*producers_enter)(void);

/* The instances' clock */
extern __u64 (*producers_now)(void);

/* Opens an instance for producers. */
int producers_instance(void);

/**
 * producers_round - let threads work for a while
 * @fds: for each thread, its instance; may be the same
 * @threads: number of threads
 * @batch: number of timers in a bulk
 *
 * Return: pairs of schedule and cancel a second, of all threads together.
 */
double producers_round(const int *fds, int threads, __u32 batch);

#endif /* BENCH_PRODUCERS_H */
