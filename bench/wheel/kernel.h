/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel, as far as the module's wheel asks for it, in user space.
 *
 * include/linux/ has headers of the same names as the kernel's, with just what
 * hwtimer_wheel.c, hwtimer_hashed.c, hwtimer_hierarchy.c, hwtimer_table.c and
 * hwtimer_chunk.c use of them: whoever changes these may have to add to those.
 * What is not in the headers is in kernel.c: memory and a search.
 *
 * All memory comes from one arena of large pages, as the kernel's does: so a
 * block of records does not cost more address translations here than there.
 */
#ifndef BENCH_KERNEL_H
#define BENCH_KERNEL_H

#include <linux/types.h>

void *arena_alloc(size_t size, size_t align);
void arena_reset(void);

#endif /* BENCH_KERNEL_H */
