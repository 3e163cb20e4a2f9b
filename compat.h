/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between the kernels that hwtimer builds on, and nowhere else.
 * Included by the file that needs the thing; the rest of the module is written
 * against the newest kernel.
 */
#ifndef HWTIMER_COMPAT_H
#define HWTIMER_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/version.h>

/* hrtimer_setup() came with 6.13; hrtimer_init() went with 6.16. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *),
	      clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

/* Without a count since 6.8; hwtimer always adds 1. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#define eventfd_signal(context) eventfd_signal(context, 1)
#endif

/* Came with 6.3. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}
#endif

#endif /* HWTIMER_COMPAT_H */
