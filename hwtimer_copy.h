/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies to user memory with the instance's lock held, for STOP and LIST, which copy one
 * structure after the other; hwtimer_read.c does the same for read().
 */
#ifndef HWTIMER_COPY_H
#define HWTIMER_COPY_H

#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

/*
 * Number of times in a row that a page is faulted in, and the copy stops there all the same.
 * Others may take the page away again; but memory may also be protected within a page, on
 * arm64 with MTE, and then it would go on for ever.
 */
#define HWTIMER_FAULTS 100

/**
 * hwtimer_copy_fault_in - have memory ready for a copy that takes no page faults
 * @to: the address in user space where a copy has stopped
 * @size: number of bytes that are to be copied there
 * @tries: number of such calls without a copy between them; the caller sets it to 0
 *
 * Return: 0: copy again; -EFAULT; -EINTR: a signal came. May sleep, and for ever; no lock is
 * held.
 */
static inline int hwtimer_copy_fault_in(void __user *to, size_t size,
					unsigned int *tries)
{
	if (++*tries > HWTIMER_FAULTS || fault_in_writeable(to, size))
		return -EFAULT;
	return signal_pending(current) ? -EINTR : 0;
}

#endif /* HWTIMER_COPY_H */
