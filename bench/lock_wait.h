/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measures how long this process waits for spinlocks. The figures are those of the
 * kernel's function-graph tracer, for the function in which a processor spins.
 */
#ifndef BENCH_LOCK_WAIT_H
#define BENCH_LOCK_WAIT_H

#include <stdbool.h>
#include <linux/types.h>

/* Starts tracing this process; false: the kernel lacks the tracer, or forbids it. */
bool lock_wait_begin(void);

/**
 * struct lock_waits - the waits of a process
 * @count: number of waits
 * @usual: 99th percentile, ns
 * @longest: the longest wait, ns
 */
struct lock_waits {
	__u32 count;
	double usual;
	double longest;
};

/* Ends the tracing and evaluates it. */
void lock_wait_end(struct lock_waits *waits);

#endif /* BENCH_LOCK_WAIT_H */
