// SPDX-License-Identifier: GPL-2.0
/*
 * The rare cases of doing operations in a hold of the lock, and the end of a hold; see
 * timers/hold.h.
 */
#include <linux/sched.h>

#include "timers/hold.h"

/**
 * hwtimer_hold_start - check operations, and start the instance if one of them needs that
 * @format: the format of the operations
 * @instance: the instance, which was new; its lock is not held
 * @bulk: as in hwtimer_hold_run()
 * @operations: the operations; out: the results, as struct hwtimer_format says
 * @count: number of operations
 * @demand: out: the memory that the operations need
 *
 * Until the instance is started or stopped, SETUP may change the settings, so checks again
 * afterwards.
 *
 * Return: 0; -EINVAL: no operation is to be done; 1: each has a result, because the instance
 * has no timer. May sleep.
 */
int hwtimer_hold_start(const struct hwtimer_format *format,
		       struct hwtimer_instance *instance,
		       const struct hwtimer_bulk *bulk, void *operations,
		       u32 count, struct hwtimer_demand *demand)
{
	struct hwtimer_settings copy __uninitialized;

	for (;;) {
		bool fresh = hwtimer_instance_new(instance);
		int err = format->check(hwtimer_settings_get(instance, &copy),
					bulk, operations, count, demand);
		bool creates;

		if (err || !fresh)
			return err;
		creates = format->creates(bulk, operations, count);
		if (creates)
			err = hwtimer_start_instance(instance);
		if (err || !creates) {
			format->refuse(bulk, operations, count, err, -ENOENT);
			return 1;
		}
	}
}

/**
 * hwtimer_hold_singly - do operations one by one, as memory for all at once is missing
 * @format: the format of the operations
 * @instance: the instance, which is not new; its lock is not held
 * @bulk: as in hwtimer_hold_run(). Not a CANCEL, which needs no memory
 * @operations: in: the operations; out: the results
 * @count: number of operations
 *
 * There may be memory for some of them. May sleep.
 */
void hwtimer_hold_singly(const struct hwtimer_format *format,
			 struct hwtimer_instance *instance,
			 const struct hwtimer_bulk *bulk, void *operations,
			 u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		struct hwtimer_request one;
		struct hwtimer_demand demand;
		int err;

		memcpy(&one, operations + i * format->size, format->size);
		format->check(&instance->settings, bulk, &one, 1, &demand);
		err = hwtimer_supply_reserve(instance, &demand);
		if (err) {
			hwtimer_shrink_ended(instance);
			spin_unlock(&instance->lock);
			format->refuse(bulk, &one, 1, err, err);
		} else {
			hwtimer_hold_locked(format, instance, bulk, &one, 1);
		}
		memcpy(operations + i * format->result_size, &one,
		       format->result_size);
	}
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

/* Whether operations owe steps of a compaction. */
static bool compacts(const struct hwtimer_instance *instance)
{
	return instance->wheel.sweeping || compaction_due(instance);
}

/*
 * The number of steps of a compaction that @operations operations owe. Operations make dead
 * entries, so they help to remove them, in proportion: a compaction checks all entries
 * and buckets, and is over after HWTIMER_DEAD_DURING operations.
 */
static u64 compaction_steps(const struct hwtimer_instance *instance,
			    u32 operations)
{
	u64 work = instance->wheel.entries + instance->wheel.nr_buckets;

	if (!compacts(instance))
		return 0;
	return DIV_ROUND_UP_ULL(operations * (1 + work / HWTIMER_DEAD_DURING),
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
		hwtimer_shrink_trim(instance);
		spin_unlock(&instance->lock);
		cond_resched();
	}
}

/*
 * The number of steps of a refile that @operations operations owe. While all entries of the
 * wheel are filed anew, operations may add entries, so they help. A step files more than
 * HWTIMER_HOLD / 2 entries, so at least twice as many entries are filed anew as are added.
 */
static u64 refile_steps(const struct hwtimer_instance *instance, u32 operations)
{
	return unlikely(instance->wheel.refile.active) ?
		       1 + 4 * operations / HWTIMER_HOLD :
		       0;
}

static void instance_refile(struct hwtimer_instance *instance, u64 steps)
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
static bool hold_sooner(struct hwtimer_instance *instance,
			const struct hwtimer_hold *hold)
{
	struct hwtimer_wheel *wheel = &instance->wheel;
	u64 soonest = wheel->soonest;

	wheel->soonest = HWTIMER_TICK_NONE;
	return hold->idle || unlikely(wheel->rewinds) ||
	       (soonest != HWTIMER_TICK_NONE &&
		hwtimer_wheel_time_of(wheel, soonest) < instance->wakeup.at);
}

/* The end of hwtimer_hold_end() if there is more to do than to release the lock. */
static noinline void hold_end_all(struct hwtimer_instance *instance, u32 count,
				  const struct hwtimer_hold *hold)
	__releases(&instance->lock)
{
	u64 compaction = compaction_steps(instance, count);
	u64 refile = refile_steps(instance, count);
	bool drained;

	/* If no event waited before the operations, the readers know already. */
	drained = hold->ready && hwtimer_instance_drained(instance);
	hwtimer_notice_unpark(instance);
	spin_unlock(&instance->lock);

	if (unlikely(drained))
		hwtimer_notice_wake(instance, EPOLLHUP);
	if (unlikely(refile | compaction)) {
		instance_refile(instance, refile);
		instance_compact(instance, compaction);
	}
}

/**
 * hwtimer_hold_end - release the lock after operations, and do the steps that they owe
 * @instance: the instance; its lock is held, and this function releases it
 * @count: number of operations
 * @hold: this hold of the lock, from hwtimer_hold_begin()
 *
 * Operations owe steps of a compaction or a refile: they pay for the work that they cause.
 *
 * Tells the worker if a timer is now the earliest, and the readers if no event will come
 * any more. Takes the lock again for each step, and may reschedule between two steps.
 */
void hwtimer_hold_end(struct hwtimer_instance *instance, u32 count,
		      const struct hwtimer_hold *hold)
	__releases(&instance->lock)
{
	lockdep_assert_held(&instance->lock);
	if (hold_sooner(instance, hold))
		hwtimer_wakeup_rearm(instance);
	if (unlikely(instance->settings.flags & HWTIMER_SETUP_REPORT_CLOCK_SET))
		hwtimer_notice_watch_clock(instance);
	hwtimer_shrink_ended(instance);
	/* If events waited, the last may have been dropped, or there may be room in the ring. */
	if (unlikely(compacts(instance) || instance->wheel.refile.active ||
		     hold->ready))
		hold_end_all(instance, count, hold);
	else
		spin_unlock(&instance->lock);
}
