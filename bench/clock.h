/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The time, read from the processor: in User-Mode Linux clock_gettime() is a
 * system call of 20 us, and to see interrupts one has to look every few ns.
 * Used by all of the benchmark.
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

/* Before all else: finds out how long a cycle is. Takes 50 ms. */
void clock_init(void);

double clock_ns(__u64 cycles);

/* What cycles() will be at @time, ns of CLOCK_MONOTONIC */
__u64 clock_cycles_at(__u64 time);

void clock_spin_until(__u64 time);

/**
 * struct gaps - what the processor did besides running us
 * @ns: how much
 * @last: when that ended the last time, ns of CLOCK_MONOTONIC
 */
struct gaps {
	double ns;
	double last;
};

/* Looks at the clock all the time, and adds up when it could not. */
struct gaps clock_gaps_until(__u64 time);

/*
 * The same, but not before there was no gap for half a millisecond, or for
 * @patience ns more.
 */
struct gaps clock_gaps_settled(__u64 time, __u64 patience);

#endif /* BENCH_CLOCK_H */
