/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measures the memory of a system of timers from outside.
 */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

/*
 * Returns the bytes that this process has in memory, plus those of all the kernel's
 * slabs. The slabs serve all processes, so only the growth has a meaning.
 */
double memory_bytes(void);

#endif /* BENCH_MEMORY_H */
