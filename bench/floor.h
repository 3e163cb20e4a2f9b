/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts that both layouts of the floor share. The floor is the least that a timing
 * wheel can cost: without kernel, locks, copies and checks.
 */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <stddef.h>
#include <linux/hwtimer.h>

#include "system.h"

#define FLOOR_BUCKETS 4096
#define FLOOR_CHUNK 4096

/* Returns zeroed memory, already touched, in large pages if the kernel has some. */
void *floor_map(size_t bytes);
void floor_unmap(void *memory, size_t bytes);

#endif /* BENCH_FLOOR_H */
