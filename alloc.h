/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocates memory that grows with what programs ask for.
 */
#ifndef HWTIMER_ALLOC_H
#define HWTIMER_ALLOC_H

#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/vmalloc.h>

/*
 * HWTIMER_GFP - the flags of each allocation that a program can cause
 *
 * The memory of timers belongs to no process. With GFP_KERNEL alone, a program that
 * schedules without end would make the kernel call the OOM killer for a single page. The
 * OOM killer would find that program small and kill others instead. With
 * __GFP_RETRY_MAYFAIL, the kernel reclaims and compacts memory for as long as that makes
 * progress. Then the allocation fails, and the program gets ENOMEM. The same happens in a
 * memory cgroup at its limit: try_charge_memcg() reclaims from the cgroup, and then fails
 * without the cgroup's OOM killer.
 *
 * __GFP_NOWARN: ENOMEM is an answer to the program, so the kernel need not warn of it.
 */
#define HWTIMER_GFP (GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/*
 * For memory that is not worth reclaiming much for: what is not needed yet, and what is
 * needed while others wait.
 */
#define HWTIMER_GFP_AHEAD ((HWTIMER_GFP & ~__GFP_RETRY_MAYFAIL) | __GFP_NORETRY)

/**
 * hwtimer_memory_in_open - allocate a small zeroed object in open(), which kfree() frees
 * @size: size of the object, bytes
 *
 * The kernel holds the mutex of all misc devices. If the caller is over its memory.high,
 * try_charge_memcg() has it sleep for up to 2 s, unless the allocation must not block. So this
 * blocks only if there is no memory otherwise, and does not reclaim for long.
 *
 * Return: the object, or NULL. May sleep.
 */
static inline void *hwtimer_memory_in_open(size_t size)
{
	gfp_t gfp = HWTIMER_GFP_AHEAD | __GFP_ZERO;

	return kmalloc(size, gfp & ~__GFP_DIRECT_RECLAIM) ?: kmalloc(size, gfp);
}

/**
 * hwtimer_memory_get - allocate an array of any size, which kvfree() frees
 * @size: size of the array, bytes
 * @zero: __GFP_ZERO or 0
 *
 * This is not kvmalloc(), which with __GFP_RETRY_MAYFAIL reclaims and compacts memory to
 * get the array in one piece, although single pages are just as good.
 *
 * Return: the memory, or NULL. May sleep.
 */
static inline void *hwtimer_memory_get(size_t size, gfp_t zero)
{
	gfp_t gfp = size > PAGE_SIZE ? HWTIMER_GFP_AHEAD : HWTIMER_GFP;

	return kmalloc(size, gfp | zero) ?: __vmalloc(size, HWTIMER_GFP | zero);
}

/**
 * hwtimer_memory_bytes - compute what hwtimer_memory_get() takes
 * @size: size of the array, bytes
 *
 * Return: bytes of kernel memory. Beyond a page, kmalloc() rounds up to a power of two; what
 * the slab allocator adds to less than that does not count. Any context.
 */
static inline u64 hwtimer_memory_bytes(size_t size)
{
	if (size <= PAGE_SIZE)
		return size;
	return size <= KMALLOC_MAX_SIZE ? roundup_pow_of_two(size) :
					  PAGE_ALIGN(size);
}

#endif /* HWTIMER_ALLOC_H */
