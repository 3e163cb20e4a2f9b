// SPDX-License-Identifier: GPL-2.0
/*
 * Goes through the timers of an instance, for LIST and CANCEL_ALL, and copies them to the
 * program's array.
 *
 * A timer has the same record from SCHEDULE to its end, wherever it is meanwhile: in the wheel,
 * or in the ring of events. So the scan through the table finds each timer once, its cursor is
 * an index, and nothing needs to be remembered between two calls.
 *
 * As read(), copies to user memory with the lock held and without page faults. So what becomes
 * of a timer is decided in the hold in which it was copied, or could not be.
 */
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/pagemap.h>
#include <linux/uaccess.h>

#include "timers/hold.h"
#include "timers/timers.h"

/**
 * hwtimer_scan_copy - copy a timer to the program's array
 * @scan: the scan; the instance's lock is held
 * @timer: the timer
 *
 * Return: 0, or -EFAULT: the memory may have to be faulted in.
 */
int hwtimer_scan_copy(const struct hwtimer_scan *scan,
		      const struct hwtimer_timer *timer)
{
	struct hwtimer_timer __user *to = u64_to_user_ptr(scan->list->timers);

	lockdep_assert_held(&scan->instance->lock);
	return copy_to_user_nofault(&to[scan->done], timer, sizeof(*timer)) ?
		       -EFAULT :
		       0;
}

/*
 * Visits the next timers; checks HWTIMER_HOLD records at most. Returns 1 if there may be more,
 * 0 if there is none, or -EFAULT.
 */
static int scan_some(struct hwtimer_scan *scan)
{
	const struct hwtimer_table *table = &scan->instance->table;
	struct hwtimer_list *list = scan->list;
	u64 end = hwtimer_table_end(table);
	struct hwtimer_record *record;
	u64 last;
	int ret;

	if (list->cursor >= end)
		return 0;
	list->cursor = array_index_nospec(list->cursor, end);
	last = min(list->cursor + HWTIMER_HOLD, end);
	for (; scan->done < list->count && list->cursor < last;
	     list->cursor++) {
		record = hwtimer_table_next(table, &list->cursor,
					    last - list->cursor);
		if (!record)
			break;
		ret = scan->visit(scan, record, list->cursor);
		if (ret < 0)
			return ret;
		scan->done += ret;
	}
	return scan->done < list->count && list->cursor < end;
}

/*
 * One hold of the lock. A scan that ends timers helps with a compaction as requests do.
 */
static int scan_hold(struct hwtimer_scan *scan)
{
	struct hwtimer_instance *instance = scan->instance;
	struct hwtimer_hold hold = { .instance = instance };
	int ret;

	spin_lock(&instance->lock);
	if (scan->ends)
		hwtimer_hold_begin(instance, &hold);
	scan->now = hwtimer_hold_now(&hold);
	ret = scan_some(scan);
	if (scan->ends)
		hwtimer_hold_end(instance, HWTIMER_HOLD, &hold);
	else
		spin_unlock(&instance->lock);
	return ret;
}

/*
 * Faults memory in for a copy that takes no page faults. @tries is the number of such calls
 * without a copy between them. Returns 1: copy again; -EFAULT; -EINTR: a signal came. May sleep,
 * and for ever; no lock is held.
 */
static int scan_fault_in(const struct hwtimer_scan *scan, unsigned int *tries)
{
	struct hwtimer_timer __user *to = u64_to_user_ptr(scan->list->timers);

	if (++*tries > HWTIMER_FAULTS ||
	    fault_in_writeable((char __user *)&to[scan->done], sizeof(*to)))
		return -EFAULT;
	return hwtimer_interrupted(scan->done) ? -EINTR : 1;
}

/**
 * hwtimer_scan_run - go through timers
 * @scan: the scan; the instance's lock is not held. Out, also after an error: the cursor
 *
 * Return: the number of timers that count, see struct hwtimer_scan; 0: the end. If there was
 * none, also -EFAULT or -EINTR. Takes the lock; may sleep.
 */
long hwtimer_scan_run(struct hwtimer_scan *scan)
{
	unsigned int tries = 0;
	int ret;

	do {
		u32 before = scan->done;

		ret = scan_hold(scan);
		if (scan->done != before)
			tries = 0;
		if (ret == -EFAULT)
			ret = scan_fault_in(scan, &tries);
		else if (ret && hwtimer_interrupted(scan->done))
			ret = -EINTR;
		cond_resched();
	} while (ret > 0);
	return scan->done ? (long)scan->done : ret;
}
