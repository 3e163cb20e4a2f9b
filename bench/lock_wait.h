/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long we wait for spinlocks, by the kernel's own account: what the
 * function-graph tracer says of the function that a processor spins in.
 */
#ifndef BENCH_LOCK_WAIT_H
#define BENCH_LOCK_WAIT_H

#include <stdbool.h>
#include <linux/types.h>

/* Begins to watch this process; false: this kernel cannot, or we may not. */
bool lock_wait_begin(void);

/* Ends it. Returns the longest wait, ns, and how many there were. */
double lock_wait_end(__u32 *count);

#endif /* BENCH_LOCK_WAIT_H */
