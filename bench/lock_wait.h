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

/**
 * struct lock_waits - the waits of a process
 * @count: how many
 * @usual: 99 of 100 were not longer, ns
 * @longest: ns
 */
struct lock_waits {
	__u32 count;
	double usual;
	double longest;
};

/* Ends it. */
void lock_wait_end(struct lock_waits *waits);

#endif /* BENCH_LOCK_WAIT_H */
