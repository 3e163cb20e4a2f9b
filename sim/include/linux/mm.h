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

#define VM_EXEC 0x4UL
#define VM_MAYEXEC 0x40UL
#define VM_MAYSHARE 0x80UL
#define VM_DONTEXPAND 0x40000UL
#define VM_DONTDUMP 0x4000000UL

struct mm_struct;

/**
 * struct vm_area_struct - a mapping that mmap() is making
 * @vm_start: where it begins; the memory is reserved
 * @vm_end: where it ends
 * @vm_pgoff: offset in the file, in pages
 * @vm_flags: VM_*
 */
struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_pgoff;
	unsigned long vm_flags;
};

static inline void vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}

int vm_map_pages(struct vm_area_struct *vma, struct page **pages,
		 unsigned long count);

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
