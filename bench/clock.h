/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the time from the processor's cycle counter, for the whole benchmark. In
 * User-Mode Linux clock_gettime() is a system call of 20 us, and interrupts show
 * only in readings that are a few ns apart.
 */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <linux/types.h>

#include "device.h"

#ifdef __x86_64__
#include <x86intrin.h>

static inline __u64 cycles(void)
{
	return __rdtsc();
}
#else
static inline __u64 cycles(void)
{
	return now_ns();
}
#endif

/* Measures the length of a cycle, in 50 ms. Call this first. */
void clock_init(void);

/* Converts cycles to ns. */
double clock_ns(__u64 cycles);

/**
 * struct gaps - the times in which the processor did not run this program
 * @ns: their sum
 * @last: the end of the last one, ns of CLOCK_MONOTONIC
 */
struct gaps {
	double ns;
	double last;
};

/* Reads the clock without pause until @time, and adds up the gaps in between. */
struct gaps clock_gaps_until(__u64 time);

/*
 * As clock_gaps_until(), but goes on until half a millisecond has passed without a
 * gap, though at most for @patience ns after @time.
 */
struct gaps clock_gaps_settled(__u64 time, __u64 patience);

#endif /* BENCH_CLOCK_H */
