/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How the module allocates memory that grows with what user space asks for.
 */
#ifndef HWTIMER_MEMORY_H
#define HWTIMER_MEMORY_H

#include <linux/gfp.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/vmalloc.h>

/*
 * HWTIMER_GFP - the flags of each allocation that a program can cause
 *
 * The memory of timers belongs to no process. With GFP_KERNEL alone, a program that
 * schedules without end would have the OOM killer called for a single page, and the OOM
 * killer would find that program small and end others instead. __GFP_RETRY_MAYFAIL still
 * reclaims and compacts memory for as long as that makes progress, and then fails: the
 * program is told ENOMEM. A memory cgroup at its limit behaves alike:
 * try_charge_memcg() reclaims from the cgroup, and then fails without its OOM killer.
 *
 * ENOMEM is an answer, so the kernel need not warn of it: __GFP_NOWARN.
 */
#define HWTIMER_GFP (GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* The same for more than is needed now: not worth reclaiming much for. */
#define HWTIMER_GFP_AHEAD ((HWTIMER_GFP & ~__GFP_RETRY_MAYFAIL) | __GFP_NORETRY)

/**
 * hwtimer_memory_get - an array of any size, which kvfree() frees
 * @size: bytes
 * @zero: __GFP_ZERO, or 0
 *
 * Not kvmalloc(): with __GFP_RETRY_MAYFAIL it reclaims and compacts memory to have the
 * array in one piece, although single pages do as well.
 *
 * Return: the memory, or NULL. May sleep.
 */
static inline void *hwtimer_memory_get(size_t size, gfp_t zero)
{
	gfp_t gfp = size > PAGE_SIZE ? HWTIMER_GFP_AHEAD : HWTIMER_GFP;

	return kmalloc(size, gfp | zero) ?: __vmalloc(size, HWTIMER_GFP | zero);
}

/* What is left to all others: a 64th of the machine's memory, and this at the most. */
#define HWTIMER_MEMORY_LEFT_MAX (64ULL << 20)

/**
 * hwtimer_memory_allows - whether a program may take some of the machine's memory
 * @bytes: how much
 *
 * HWTIMER_GFP keeps our own allocations from calling the OOM killer. But a program that
 * goes on until they fail leaves nothing to anybody, and then the page fault of any other
 * calls it. So timers are refused while there is still memory for others. The number is
 * an estimate, and others allocate meanwhile; it need not be exact.
 *
 * Return: whether enough is left for others afterwards.
 */
static inline bool hwtimer_memory_allows(u64 bytes)
{
	u64 left = min_t(u64, (u64)totalram_pages() * PAGE_SIZE / 64,
			 HWTIMER_MEMORY_LEFT_MAX);
	long available = si_mem_available();

	return (u64)max(available, 0L) * PAGE_SIZE >= left + bytes;
}

#endif /* HWTIMER_MEMORY_H */
