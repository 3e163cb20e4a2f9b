/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What both layouts of the floor share: the least that a timing wheel can take,
 * with no kernel, lock, copy or check around it.
 */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <stddef.h>
#include <linux/hwtimer.h>

#include "system.h"

#define FLOOR_BUCKETS 4096
#define FLOOR_CHUNK 4096

/* Zeroed, touched, and in large pages if they can be had */
void *floor_map(size_t bytes);
void floor_unmap(void *memory, size_t bytes);

#endif /* BENCH_FLOOR_H */
