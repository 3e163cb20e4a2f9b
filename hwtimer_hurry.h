/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocates memory while the caller holds a lock for which other programs wait: in open(),
 * the mutex of all misc devices.
 *
 * If a memory cgroup is above memory.high, the kernel has its tasks sleep, up to 2 s at a
 * time. It does so when they return to user space, and no lock is held. But a task that is
 * charged for more than 64 pages in one system call sleeps in the allocation itself, if the
 * flags allow that. So here the first attempt takes only what is there at once. A second
 * attempt may wait for memory, unless the task is to sleep for its cgroup.
 */
#ifndef HWTIMER_HURRY_H
#define HWTIMER_HURRY_H

#include "compat.h"
#include "hwtimer_memory.h"

/* The flags of the first attempt */
#define HWTIMER_GFP_HURRY (HWTIMER_GFP_AHEAD & ~__GFP_DIRECT_RECLAIM)

/**
 * hwtimer_hurry_gfp - the flags of the second attempt
 *
 * Return: HWTIMER_GFP_AHEAD, or HWTIMER_GFP_HURRY if the task must not wait. Any context.
 */
static inline gfp_t hwtimer_hurry_gfp(void)
{
	return hwtimer_cgroup_is_high() ? HWTIMER_GFP_HURRY : HWTIMER_GFP_AHEAD;
}

/**
 * hwtimer_hurry_zalloc - allocate an object, set to 0, which kfree() frees
 * @size: size of the object, bytes
 *
 * Return: the object, or NULL. May sleep, but does not reclaim memory for long.
 */
static inline void *hwtimer_hurry_zalloc(size_t size)
{
	return kzalloc(size, HWTIMER_GFP_HURRY) ?:
		       kzalloc(size, hwtimer_hurry_gfp());
}

/**
 * hwtimer_hurry_page - allocate a page, set to 0
 *
 * Return: the page, or NULL. May sleep.
 */
static inline struct page *hwtimer_hurry_page(void)
{
	return alloc_page(HWTIMER_GFP_HURRY | __GFP_ZERO) ?:
		       alloc_page(hwtimer_hurry_gfp() | __GFP_ZERO);
}

#endif /* HWTIMER_HURRY_H */
