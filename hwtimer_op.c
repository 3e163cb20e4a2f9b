// SPDX-License-Identifier: GPL-2.0
/*
 * What is done before and after operations on timers, and what is rare in them;
 * see hwtimer_op.h.
 */
#include <linux/sched.h>

#include "hwtimer_completion.h"
#include "hwtimer_notice.h"
#include "hwtimer_op.h"
#include "hwtimer_period.h"

/*
 * Dead entries that are let be, beyond as many as there are timers. Beyond
 * those a compaction begins; before one pass is over, at most
 * HWTIMER_DEAD_DURING more can come (see compaction_steps()). In fact hardly more than
 * half as many come, as a step does nearly twice what is asked of it: that leaves room
 * for requests for which the worker has not paid (see hwtimer_op_end()).
 */
#define HWTIMER_DEAD_SPARED 32768
#define HWTIMER_DEAD_DURING 16384

static int event_discard(struct hwtimer_instance *instance,
			 struct hwtimer_record *record, u32 index)
{
	if (trace_hwtimer_discard_enabled())
		hwtimer_trace_discard(instance, index);
	record->state = HWTIMER_DISCARDED;
	hwtimer_period_rests_no_more(instance, record);
	hwtimer_instance_add_ready(instance, -1);
	instance->stats.discarded++;
	hwtimer_instance_add_discards(instance, 1);
	hwtimer_notice_taken(instance);
	return 0;
}

/*
 * Too late for this event. But it is the last: a periodic timer does not go on
 * after it.
 */
static int event_is_last(struct hwtimer_instance *instance,
			 struct hwtimer_record *record,
			 struct hwtimer_moment *moment)
{
	if (hwtimer_record_periodic(record))
		hwtimer_period_end(instance, record,
				   hwtimer_moment_now(moment));
	return -EALREADY;
}

/*
 * What is said of a timer that is just being handed over. A client in the kernel
 * can wait until that is done; for a program it is as good as gone.
 */
static int timer_leaves(const struct hwtimer_instance *instance)
{
	return instance->callbacks ? -EALREADY : -ENOENT;
}

static int cancel_pending(struct hwtimer_instance *instance,
			  struct hwtimer_record *record, u32 index)
{
	hwtimer_wheel_remove(&instance->wheel, record);
	hwtimer_period_free(instance, index);
	instance->stats.pending--;
	instance->stats.cancelled++;
	return 0;
}

/* CANCEL of the timer that any id names; returns 0 or the error. */
int hwtimer_op_cancel_other(struct hwtimer_instance *instance, u64 id,
			    u32 flags, struct hwtimer_moment *moment)
{
	struct hwtimer_record *record =
		hwtimer_table_find(&instance->table, id);
	u32 index = lower_32_bits(id);

	if (!record)
		return -ENOENT;
	switch (record->state) {
	case HWTIMER_PENDING:
		return cancel_pending(instance, record, index);
	case HWTIMER_EXPIRED:
		if (flags & HWTIMER_DISCARD)
			return event_discard(instance, record, index);
		return event_is_last(instance, record, moment);
	case HWTIMER_LEAVING:
		if (hwtimer_record_periodic(record))
			return event_is_last(instance, record, moment);
		return timer_leaves(instance);
	case HWTIMER_RETURNING:
		return timer_leaves(instance);
	default:
		return -ENOENT;
	}
}

/* RESCHEDULE of a timer that is not pending; returns the error. */
int hwtimer_op_reschedule_late(const struct hwtimer_instance *instance,
			       const struct hwtimer_record *record)
{
	switch (record->state) {
	case HWTIMER_EXPIRED:
		return -EALREADY;
	case HWTIMER_LEAVING:
		if (hwtimer_record_periodic(record))
			return -EALREADY;
		return timer_leaves(instance);
	default:
		return -ENOENT;
	}
}

/* CANCEL, as hwtimer_op_cancel(), and tracing is told. */
int hwtimer_op_cancel_traced(struct hwtimer_instance *instance, u64 id,
			     u32 flags, struct hwtimer_moment *moment)
{
	const struct hwtimer_record *record =
		hwtimer_table_find(&instance->table, id);

	/* It succeeds; and afterwards there is nothing to tell of. */
	if (record && record->state == HWTIMER_PENDING)
		hwtimer_trace_cancel(instance, lower_32_bits(id));
	return hwtimer_op_cancel(instance, id, flags, moment);
}

/* RESCHEDULE, as hwtimer_op_reschedule(), and tracing is told. */
int hwtimer_op_reschedule_traced(struct hwtimer_instance *instance, u64 id,
				 u64 time, u32 flags,
				 struct hwtimer_moment *moment)
{
	int err = hwtimer_op_reschedule(instance, id, time, flags, moment);

	if (!err)
		hwtimer_trace_reschedule(instance, lower_32_bits(id));
	return err;
}

static u64 instance_dead(const struct hwtimer_instance *instance)
{
	return instance->wheel.entries - instance->stats.pending;
}

static bool compaction_due(const struct hwtimer_instance *instance)
{
	return instance_dead(instance) >
	       instance->stats.pending + HWTIMER_DEAD_SPARED;
}

/*
 * How many steps of a compaction are due after @requests requests. Whoever
 * makes dead entries helps to remove them, in proportion: a pass looks at all
 * entries and buckets, so it is over after HWTIMER_DEAD_DURING requests.
 */
static u64 compaction_steps(const struct hwtimer_instance *instance,
			    u32 requests)
{
	u64 work = instance->wheel.entries + instance->wheel.nr_buckets;

	if (!instance->wheel.sweeping && !compaction_due(instance))
		return 0;
	return DIV_ROUND_UP_ULL(requests * (1 + work / HWTIMER_DEAD_DURING),
				HWTIMER_HOLD / 2);
}

static void instance_compact(struct hwtimer_instance *instance, u64 steps)
{
	bool more = true;

	while (more && steps--) {
		spin_lock(&instance->lock);
		hwtimer_wheel_compact(&instance->wheel,
				      compaction_due(instance));
		more = instance->wheel.sweeping;
		hwtimer_supply_trim(instance);
		spin_unlock(&instance->lock);
		cond_resched();
	}
}

/*
 * While the wheel is filed anew, whoever may add to it helps: a slice files
 * more than half as many as HWTIMER_HOLD, so twice as many are filed as come.
 */
static u64 rewind_steps(const struct hwtimer_instance *instance, u32 requests)
{
	return unlikely(instance->wheel.rewind.active) ?
		       1 + 4 * requests / HWTIMER_HOLD :
		       0;
}

static void instance_rewind(struct hwtimer_instance *instance, u64 steps)
{
	bool more = true;

	while (more && steps--) {
		spin_lock(&instance->lock);
		hwtimer_wheel_rewind_step(&instance->wheel);
		more = instance->wheel.rewind.active;
		spin_unlock(&instance->lock);
		cond_resched();
	}
}

/**
 * hwtimer_op_fits_slice - whether requests owe no more than a slice of the worker does
 * @instance: the instance; its lock is held
 * @count: number of requests
 *
 * That is one step of a compaction or of a rewind. The steps that requests owe grow
 * with the wheel. A thread of the program, or a work item, does them all; but other
 * instances wait for the worker.
 *
 * Return: whether the worker may do the requests, and call hwtimer_op_end() with
 * %HWTIMER_STEPS_SLICE.
 */
bool hwtimer_op_fits_slice(const struct hwtimer_instance *instance, u32 count)
{
	lockdep_assert_held(&instance->lock);
	return rewind_steps(instance, count) +
		       compaction_steps(instance, count) <=
	       HWTIMER_STEPS_SLICE;
}

/* Before requests are done in a hold of the lock, the time of which is @moment. */
void hwtimer_op_begin(struct hwtimer_instance *instance,
		      struct hwtimer_moment *moment)
{
	lockdep_assert_held(&instance->lock);
	if (unlikely(instance->wheel.rewinds ||
		     hwtimer_instance_behind(instance)))
		hwtimer_wakeup_follow(instance, hwtimer_moment_now(moment));
}

/**
 * hwtimer_op_end - after requests: unlock, and do what they owe
 * @instance: the instance; its lock is held, and released
 * @count: number of requests
 * @ready: number of events that were waiting before them
 * @most: HWTIMER_STEPS_OWED; HWTIMER_STEPS_SLICE for the worker, after
 *	hwtimer_op_fits_slice(). The requests with which a compaction or a
 *	rewind begins may owe more than @most; the rest is never done. These are
 *	HWTIMER_HOLD requests at the most: later ones do not fit into a slice
 */
void hwtimer_op_end(struct hwtimer_instance *instance, u32 count, u64 ready,
		    u64 most) __releases(&instance->lock)
{
	u64 compaction, rewind;
	bool drained;

	lockdep_assert_held(&instance->lock);
	if (ready != instance->stats.ready)
		hwtimer_completion_publish(instance);
	hwtimer_wakeup_rearm(instance);
	hwtimer_notice_watch_clock(instance);
	compaction = compaction_steps(instance, count);
	rewind = rewind_steps(instance, count);
	/* If it was so before, everybody knows. */
	drained = ready && hwtimer_instance_drained(instance);
	spin_unlock(&instance->lock);

	if (drained)
		hwtimer_notice_hang_up(instance);
	if (unlikely(rewind))
		instance_rewind(instance, min(rewind, most));
	instance_compact(instance, min(compaction, most));
}
