/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a system of timers holds of memory, seen from outside.
 */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

/*
 * Bytes that this process has in memory, and those that the kernel has in slabs,
 * for whomever: only how they grow means something.
 */
double memory_bytes(void);

#endif /* BENCH_MEMORY_H */
