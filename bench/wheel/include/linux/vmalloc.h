/* SPDX-License-Identifier: GPL-2.0 */
/* vmalloc() never succeeds here: all memory comes from the arena. */
#ifndef BENCH_LINUX_VMALLOC_H
#define BENCH_LINUX_VMALLOC_H

#include <linux/gfp.h>

static inline bool is_vmalloc_addr(const void *address)
{
	return false;
}

static inline void *__vmalloc(unsigned long size, gfp_t gfp)
{
	return NULL;
}

static inline void vfree(const void *address)
{
}

#endif /* BENCH_LINUX_VMALLOC_H */
