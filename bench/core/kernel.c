// SPDX-License-Identifier: GPL-2.0
/*
 * What bench/wheel/kernel.c does not provide of the kernel's memory, because the wheel alone
 * does not use it: access to the memory of programs. Nothing fails.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/vmalloc.h>

#include "sim.h"

void sim_calm(void)
{
}

bool sim_short(void)
{
	return false;
}

void kfree(const void *memory)
{
	kvfree(memory);
}

/* All memory comes from the arena, which has no holes. */
void *__vmalloc(unsigned long size, gfp_t gfp)
{
	return NULL;
}

bool is_vmalloc_addr(const void *address)
{
	return false;
}

unsigned long totalram_pages(void)
{
	return 1UL << 30;
}

long si_mem_available(void)
{
	return totalram_pages();
}

/* ---- memory of programs ---- */

/*
 * Copies as the kernel does: what is short word by word, the rest by a string instruction.
 * memcpy() would be another function on another processor. Sizes are multiples of 4, and
 * mostly of 8.
 */
static void copy(void *to, const void *from, unsigned long count)
{
	if (count % 8) {
		*(u32 *)to = *(const u32 *)from;
		to = (u32 *)to + 1;
		from = (const u32 *)from + 1;
	}
	count /= 8;
#ifdef __x86_64__
	if (count >= 8) {
		__asm__ __volatile__("rep movsq"
				     : "+D"(to), "+S"(from), "+c"(count)
				     :
				     : "memory");
		return;
	}
#endif
	while (count--) {
		*(u64 *)to = *(const u64 *)from;
		to = (u64 *)to + 1;
		from = (const u64 *)from + 1;
		barrier();
	}
}

unsigned long copy_from_user(void *to, const void __user *from,
			     unsigned long count)
{
	copy(to, from, count);
	return 0;
}

unsigned long copy_to_user(void __user *to, const void *from,
			   unsigned long count)
{
	copy(to, from, count);
	return 0;
}

unsigned long clear_user(void __user *to, unsigned long count)
{
	memset(to, 0, count);
	return 0;
}

long copy_to_user_nofault(void __user *to, const void *from, size_t size)
{
	copy(to, from, size);
	return 0;
}

size_t copy_to_iter(const void *from, size_t size, struct iov_iter *to)
{
	copy(to->buffer, from, size);
	to->buffer += size;
	to->count -= size;
	return size;
}

size_t fault_in_writeable(char __user *to, size_t size)
{
	return 0;
}

int copy_struct_from_user(void *to, size_t size, const void __user *from,
			  size_t user_size)
{
	size_t both = min(size, user_size);

	memset((char *)to + both, 0, size - both);
	copy(to, from, both);
	return 0;
}
