/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page allocator, implemented in kernel.c
 */
#ifndef BENCH_LINUX_GFP_H
#define BENCH_LINUX_GFP_H

#include <linux/types.h>

#define gfp_t unsigned int

#define __GFP_DIRECT_RECLAIM 0U
#define GFP_KERNEL 0U
#define GFP_KERNEL_ACCOUNT 0U
#define __GFP_NOWARN 0U
#define __GFP_NORETRY 0U
#define __GFP_RETRY_MAYFAIL 0U
#define GFP_ATOMIC 0U
#define __GFP_ZERO 1U
/* All pages are compound anyway. */
#define __GFP_COMP 0U

struct page;

struct page *alloc_pages(gfp_t gfp, unsigned int order);
void __free_pages(struct page *page, unsigned int order);
unsigned long get_zeroed_page(gfp_t gfp);
void free_page(unsigned long address);

#endif /* BENCH_LINUX_GFP_H */
