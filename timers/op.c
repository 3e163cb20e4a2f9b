// SPDX-License-Identifier: GPL-2.0
/*
 * Does the rare cases of operations on timers, and the work before and after operations;
 * see timers/op.h.
 */
#include <linux/sched.h>

#include "timers/op.h"

/* hwtimer_op_deadline() for the deadlines that it does not return as they are. */
u64 hwtimer_op_deadline_odd(s64 time)
{
	return time < 0 ? 0 : HWTIMER_TICK_NONE;
}

/**
 * hwtimer_op_cancel_pending - end a pending timer of any kind
 * @instance: the instance; its lock is held
 * @record: the timer's record
 * @index: index of the record
 *
 * Counts the timer, too.
 */
void hwtimer_op_cancel_pending(struct hwtimer_instance *instance,
			       struct hwtimer_record *record, u32 index)
{
	lockdep_assert_held(&instance->lock);
	trace_hwtimer_cancel(instance, index);
	hwtimer_wheel_remove(&instance->wheel, record);
	hwtimer_period_free(instance, index);
	instance->stats.pending--;
	instance->stats.cancelled++;
}

/**
 * hwtimer_op_cancel_other - CANCEL a timer that hwtimer_op_cancel_plain() does not cancel
 * @instance: the instance; its lock is held
 * @id: id of the timer; any number
 * @flags: HWTIMER_REQ_DISCARD or 0
 * @moment: this hold of the instance's lock
 *
 * Counts the timer, too.
 *
 * Return: 0, 1 or -ENOENT, as struct hwtimer_request says.
 */
int hwtimer_op_cancel_other(struct hwtimer_instance *instance, u64 id,
			    u32 flags, struct hwtimer_moment *moment)
{
	struct hwtimer_record *record =
		hwtimer_table_find(&instance->table, id);
	u32 index = lower_32_bits(id);

	if (!record)
		return -ENOENT;
	if (record->state == HWTIMER_PENDING) {
		hwtimer_op_cancel_pending(instance, record, index);
		return 0;
	}
	if (flags & HWTIMER_REQ_DISCARD) {
		hwtimer_events_drop(instance, record, index);
		return 0;
	}
	if (hwtimer_record_periodic(record))
		hwtimer_period_end(instance, record,
				   hwtimer_moment_now(moment));
	return 1;
}

/*
 * A compaction begins when the dead entries outnumber the pending timers by more than
 * HWTIMER_DEAD_SPARED. Before it has gone through the wheel, at most HWTIMER_DEAD_DURING
 * more can come, see compaction_steps(). In fact hardly more than half as many come,
 * because a step does nearly twice the work that is asked of it.
 */
static bool compaction_due(const struct hwtimer_instance *instance)
{
	u64 dead = instance->wheel.entries - instance->stats.pending;

	return dead > instance->stats.pending + HWTIMER_DEAD_SPARED;
}

/* Whether requests owe steps of a compaction. */
static bool compacts(const struct hwtimer_instance *instance)
{
	return instance->wheel.sweeping || compaction_due(instance);
}

/*
 * The number of steps of a compaction that @requests requests owe. Requests make dead
 * entries, so they help to remove them, in proportion: a compaction checks all entries
 * and buckets, and is over after HWTIMER_DEAD_DURING requests.
 */
static u64 compaction_steps(const struct hwtimer_instance *instance,
			    u32 requests)
{
	u64 work = instance->wheel.entries + instance->wheel.nr_buckets;

	if (!compacts(instance))
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
 * The number of steps of a rewind that @requests requests owe. While a rewind files all
 * entries of the wheel anew, requests may add entries, so they help. A step files more
 * than HWTIMER_HOLD / 2 entries, so at least twice as many entries are filed anew as are
 * added.
 */
static u64 rewind_steps(const struct hwtimer_instance *instance, u32 requests)
{
	return unlikely(instance->wheel.refile.active) ?
		       1 + 4 * requests / HWTIMER_HOLD :
		       0;
}

static void instance_rewind(struct hwtimer_instance *instance, u64 steps)
{
	bool more = true;

	while (more && steps--) {
		spin_lock(&instance->lock);
		hwtimer_wheel_refile_step(&instance->wheel);
		more = instance->wheel.refile.active;
		spin_unlock(&instance->lock);
		cond_resched();
	}
}

/*
 * Whether the worker may have to come earlier than it plans to. Without a timer, the worker
 * does not care about dead entries, and a timer that shares a bucket with them does not make
 * the wheel's next tick earlier. A rewind can make the worker come earlier without a new entry.
 */
static bool op_sooner(struct hwtimer_instance *instance,
		      const struct hwtimer_moment *moment)
{
	struct hwtimer_wheel *wheel = &instance->wheel;
	u64 soonest = wheel->soonest;

	wheel->soonest = HWTIMER_TICK_NONE;
	return moment->idle || unlikely(wheel->rewinds) ||
	       (soonest != HWTIMER_TICK_NONE &&
		hwtimer_wheel_time_of(wheel, soonest) < instance->wakeup.at);
}

/* The end of hwtimer_op_end() if there is more to do than to release the lock. */
static noinline void op_end_all(struct hwtimer_instance *instance, u32 count,
				const struct hwtimer_moment *moment)
	__releases(&instance->lock)
{
	u64 compaction = compaction_steps(instance, count);
	u64 rewind = rewind_steps(instance, count);
	bool drained;

	/* If no event waited before the requests, the readers know already. */
	drained = moment->ready && hwtimer_instance_drained(instance);
	hwtimer_notice_unpark(instance);
	spin_unlock(&instance->lock);

	if (unlikely(drained))
		hwtimer_notice_hang_up(instance);
	if (unlikely(rewind | compaction)) {
		instance_rewind(instance, rewind);
		instance_compact(instance, compaction);
	}
}

/**
 * hwtimer_op_end - release the lock after requests, and do the steps that they owe
 * @instance: the instance; its lock is held, and this function releases it
 * @count: number of requests
 * @moment: this hold of the lock, from hwtimer_op_begin()
 *
 * Requests owe steps of a compaction or a rewind: they pay for the work that they cause.
 *
 * Tells the worker if a timer is now the earliest, and the readers if no event will come
 * any more. Takes the lock again for each step, and may reschedule between two steps.
 */
void hwtimer_op_end(struct hwtimer_instance *instance, u32 count,
		    const struct hwtimer_moment *moment)
	__releases(&instance->lock)
{
	lockdep_assert_held(&instance->lock);
	if (op_sooner(instance, moment))
		hwtimer_wakeup_rearm(instance);
	if (unlikely(instance->settings.flags & HWTIMER_SETUP_REPORT_CLOCK_SET))
		hwtimer_notice_watch_clock(instance);
	hwtimer_shrink_ended(instance);
	if (unlikely(compacts(instance) || instance->wheel.refile.active ||
		     moment->ready))
		op_end_all(instance, count, moment);
	else
		spin_unlock(&instance->lock);
}
