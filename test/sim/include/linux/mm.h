/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_MM_H
#define SIM_LINUX_MM_H

#include <linux/bits.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/slab.h>

#define PAGE_SHIFT 12
#define PAGE_SIZE BIT(PAGE_SHIFT)
#define PAGE_ALIGN(size) ALIGN(size, PAGE_SIZE)
#define offset_in_page(p) ((unsigned long)(p) & (PAGE_SIZE - 1))

static inline int get_order(unsigned long size)
{
	int order = 0;

	while (PAGE_SIZE << order < size)
		order++;
	return order;
}

unsigned long totalram_pages(void);
long si_mem_available(void);

void *page_address(const struct page *page);
unsigned int compound_order(const struct page *page);

/* @address: the start of an allocation */
struct page *virt_to_page(const void *address);
#define virt_to_head_page(address) virt_to_page(address)

#endif /* SIM_LINUX_MM_H */
