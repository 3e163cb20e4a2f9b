/* SPDX-License-Identifier: GPL-2.0 */
/* Access to the memory of programs, which may fault, and may sleep; see test/sim/memory.c */
#ifndef SIM_LINUX_UACCESS_H
#define SIM_LINUX_UACCESS_H

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/sched.h>

/* Return the number of bytes that were not copied. */
unsigned long copy_from_user(void *to, const void __user *from,
			     unsigned long count);
unsigned long copy_to_user(void __user *to, const void *from,
			   unsigned long count);
unsigned long clear_user(void __user *to, unsigned long count);
/* Returns 0 or -EFAULT; does not wait for memory. */
long copy_to_user_nofault(void __user *to, const void *from, size_t size);
int copy_struct_from_user(void *to, size_t size, const void __user *from,
			  size_t user_size);

#ifdef SIM_PLAIN
/* Nothing faults. As the kernel's, they call no function that copies. */
#define get_user(to, from) ((to) = __atomic_load_n((from), __ATOMIC_RELAXED), 0)
#define put_user(value, to) \
	(__atomic_store_n((to), (value), __ATOMIC_RELAXED), 0)
#else
#define get_user(to, from) \
	(copy_from_user(&(to), (from), sizeof(to)) ? -EFAULT : 0)
#define put_user(value, to)                                                   \
	({                                                                    \
		typeof(*(to)) put_value = (value);                            \
		copy_to_user((to), &put_value, sizeof(put_value)) ? -EFAULT : \
								    0;        \
	})
#endif
static inline void pagefault_disable(void)
{
	current->nofaults++;
}

static inline void pagefault_enable(void)
{
	current->nofaults--;
}

#define __put_user(value, to) put_user(value, to)
#define u64_to_user_ptr(address) ((void __user *)(uintptr_t)(address))

#endif /* SIM_LINUX_UACCESS_H */
