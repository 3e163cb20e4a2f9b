// SPDX-License-Identifier: GPL-2.0
/*
 * Copies to user memory with the instance's lock held, for LIST and CANCEL_ALL, which copy one
 * structure after the other; events/read.c does the same for read().
 */
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "hwtimer.h"

/*
 * Faults memory in, for a copy that takes no page faults. @tries is the number of such calls
 * without a copy between them. Returns 0: copy again; -EFAULT; -EINTR: a signal came. May sleep,
 * and for ever; no lock is held.
 */
static int copy_fault_in(void __user *to, size_t size, unsigned int *tries)
{
	if (++*tries > HWTIMER_FAULTS || fault_in_writeable(to, size))
		return -EFAULT;
	return signal_pending(current) ? -EINTR : 0;
}

/**
 * hwtimer_copy_list - go through timers, and copy them to the array of a struct hwtimer_list
 * @instance: the instance; its lock is not held
 * @list: argument of the ioctl. Out, also after an error: the cursor
 * @some: goes on in one hold of the lock. Adds the number of timers to *@done; returns 1 if there
 *	may be more, 0 if there is none, or -EFAULT where the copy to user memory stops
 *
 * Return: the number of timers; 0: the end. If there was none, also -EFAULT or -EINTR. May
 * sleep.
 */
long hwtimer_copy_list(struct hwtimer_instance *instance,
		       struct hwtimer_list *list,
		       int (*some)(struct hwtimer_instance *instance,
				   struct hwtimer_list *list, u32 *done))
{
	struct hwtimer_timer __user *to = u64_to_user_ptr(list->timers);
	unsigned int tries = 0;
	u32 done = 0, before;
	int ret;

	do {
		before = done;
		ret = some(instance, list, &done);
		if (done != before)
			tries = 0;
		if (ret == -EFAULT)
			ret = copy_fault_in(&to[done], sizeof(*to), &tries) ?:
									      1;
		else if (ret && signal_pending(current))
			ret = -EINTR;
		cond_resched();
	} while (ret > 0);
	return done ? (long)done : ret;
}
