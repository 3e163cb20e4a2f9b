/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page allocator; see test/sim/memory.c. An allocation may fail, and may sleep if its flags
 * allow that.
 */
#ifndef SIM_LINUX_GFP_H
#define SIM_LINUX_GFP_H

#include <linux/types.h>

#define gfp_t unsigned int

#define __GFP_ZERO 1U
#define __GFP_DIRECT_RECLAIM 2U
#define __GFP_NOWARN 0U
#define __GFP_NORETRY 8U
#define __GFP_RETRY_MAYFAIL 4U
#define __GFP_COMP 0U
#define GFP_ATOMIC 0U
#define GFP_KERNEL __GFP_DIRECT_RECLAIM
#define GFP_KERNEL_ACCOUNT __GFP_DIRECT_RECLAIM

struct page;

struct page *alloc_pages(gfp_t gfp, unsigned int order);
void __free_pages(struct page *page, unsigned int order);
unsigned long get_zeroed_page(gfp_t gfp);
void free_page(unsigned long address);

#endif /* SIM_LINUX_GFP_H */
