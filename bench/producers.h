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
 * @batch: number of timers in a bulk; 0: calls that do nothing, a pair of which counts as one
 *
 * Return: pairs of schedule and cancel a second, of all threads together.
 */
double producers_round(const int *fds, int threads, __u32 batch);

/*
 * Of the last round: the part of it in which each thread had its processor, at least. With
 * less than 1, the threads disturbed each other less than they can.
 */
extern double producers_ran;

/* Returns how long a cache line takes from one processor to the other, ns. */
double producers_hop(void);

#endif /* BENCH_PRODUCERS_H */
