// SPDX-License-Identifier: GPL-2.0
/*
 * CANCEL_ALL: ends all timers of an instance, and hands them back. A timer ends in the hold of
 * the lock in which it is copied, so each is handed back once, whatever happens to the array
 * and the caller.
 */
#include "timers/op.h"
#include "timers/timers.h"

static int end_pending(struct hwtimer_scan *scan, struct hwtimer_record *record,
		       u32 index)
{
	struct hwtimer_timer timer;

	if (scan->list->timers) {
		hwtimer_period_describe(scan->instance, index, scan->now,
					&timer);
		if (hwtimer_scan_copy(scan, &timer))
			return -EFAULT;
	}
	hwtimer_op_cancel_pending(scan->instance, record, index);
	return 1;
}

/*
 * A periodic timer whose event waits, and is not its last, is handed back as it will be after
 * that event, which becomes its last one.
 */
static int end_resting(struct hwtimer_scan *scan, struct hwtimer_record *record,
		       u32 index)
{
	struct hwtimer_instance *instance = scan->instance;
	struct hwtimer_timer timer;
	bool back = hwtimer_period_describe_next(instance, index, scan->now,
						 &timer);

	if (back && scan->list->timers && hwtimer_scan_copy(scan, &timer))
		return -EFAULT;
	/* If it is not handed back, too: the clock may be set back before the event is read. */
	hwtimer_period_end(instance, record, scan->now);
	if (back) {
		/* As if it was pending again */
		instance->stats.rearmed++;
		instance->stats.cancelled++;
	}
	return back;
}

static int cancel_visit(struct hwtimer_scan *scan,
			struct hwtimer_record *record, u32 index)
{
	int ret = 0;

	if (record->state == HWTIMER_PENDING)
		return end_pending(scan, record, index);
	if (record->state != HWTIMER_EXPIRED)
		return 0;
	if (hwtimer_record_periodic(record) &&
	    !(record->flags & HWTIMER_RECORD_ENDING))
		ret = end_resting(scan, record, index);
	if (ret >= 0 && scan->list->flags & HWTIMER_LIST_DISCARD)
		hwtimer_events_drop(scan->instance, record, index);
	return ret;
}

/**
 * hwtimer_cancel_all - HWTIMER_IOC_CANCEL_ALL: end all timers, and hand them back
 * @instance: the instance, which may be stopped; its lock is not held
 * @list: argument of the ioctl; its flags and its count are valid, the rest is unchecked. Out,
 *	also after an error: the cursor
 *
 * Return: the number of timers that have ended and, if there is an array, were written to it;
 * 0: the end. If there was none, also -EFAULT or -EINTR. Takes the lock; may sleep.
 */
long hwtimer_cancel_all(struct hwtimer_instance *instance,
			struct hwtimer_list *list)
{
	struct hwtimer_scan scan = {
		.instance = instance,
		.list = list,
		.visit = cancel_visit,
		.ends = true,
	};

	return hwtimer_scan_run(&scan);
}
