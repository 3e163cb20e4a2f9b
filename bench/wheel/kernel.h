/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Provides in user space those parts of the kernel that the module's wheel uses.
 *
 * include/linux/ has headers with the names of the kernel's headers. They contain only
 * the functions that wheel/wheel.c, wheel/hashed.c, wheel/hierarchy.c,
 * wheel/table.c and wheel/chunk.c use; a change to those files may need more of
 * them. kernel.c has the functions that are too long for a header: the allocators and a
 * search for a bit.
 *
 * All memory comes from one arena of large pages, like the kernel's own memory. So a
 * block of records takes as few address translations here as in the kernel.
 */
#ifndef BENCH_KERNEL_H
#define BENCH_KERNEL_H

#include <linux/types.h>

void *arena_alloc(size_t size, size_t align);
void arena_reset(void);

#endif /* BENCH_KERNEL_H */
