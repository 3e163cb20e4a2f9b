/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_MM_H
#define BENCH_LINUX_MM_H

#include <linux/gfp.h>

#define PAGE_SHIFT 12
#define PAGE_SIZE 4096UL

void *page_address(const struct page *page);
unsigned int compound_order(const struct page *page);

/* @address: where an allocation begins */
struct page *virt_to_page(const void *address);
#define virt_to_head_page(address) virt_to_page(address)

#endif /* BENCH_LINUX_MM_H */
