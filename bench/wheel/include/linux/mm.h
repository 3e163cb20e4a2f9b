/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_MM_H
#define BENCH_LINUX_MM_H

#include <linux/bits.h>
#include <linux/gfp.h>

#ifndef PAGE_SHIFT
#define PAGE_SHIFT 12
#endif
#define PAGE_SIZE BIT(PAGE_SHIFT)
#define PAGE_ALIGN(size) ALIGN(size, PAGE_SIZE)

static inline int get_order(unsigned long size)
{
	int order = 0;

	while (PAGE_SIZE << order < size)
		order++;
	return order;
}

/* In pages: more than the wheel ever allocates */
static inline unsigned long totalram_pages(void)
{
	return 1UL << 30;
}

static inline long si_mem_available(void)
{
	return totalram_pages();
}

void *page_address(const struct page *page);
unsigned int compound_order(const struct page *page);

/* @address: the start of an allocation */
struct page *virt_to_page(const void *address);
#define virt_to_head_page(address) virt_to_page(address)

#endif /* BENCH_LINUX_MM_H */
