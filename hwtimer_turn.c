// SPDX-License-Identifier: GPL-2.0
/*
 * Turns the wheel of an instance, and does the instance's chores; see hwtimer_turn.h.
 *
 * The worker serves an instance in slices, because other instances wait for the worker.
 * One slice does at most the following; the rest waits for the next slice. H is
 * HWTIMER_HOLD, 256.
 *
 * A turn, hwtimer_turn():
 *
 *	wheel			H entries or buckets that are due, that move down a
 *				level, or that a rewind files anew; so at most H timers
 *				expire. If none is due, H dead entries are removed, too
 *	readers			woken once
 *
 * Chores, hwtimer_turn_chores():
 *
 *	readers			woken once if a delay of HWTIMER_IOC_NOTIFY has passed, or
 *				if the clock was set
 *	memory			128 chunks go back to the slab
 *
 * tests/slice_kunit.c checks these numbers. The cost of a single step is bounded, too:
 *
 *	an entry or a bucket	each level of the wheel is checked, 12 at most. In the
 *				lowest level of a hierarchical wheel with 2^20 buckets,
 *				a bitmap of 256 words may be searched
 *	an alarm		see hwtimer_worker.c
 *
 * The locks that the worker takes for an instance:
 *
 *	instance->lock		each holder handles H timers at most. Without PREEMPT_RT,
 *				one thread on each processor waits at most, and the
 *				spinlock is fair
 *
 * What is not bounded here is the number of waiters that a wake-up wakes, with interrupts
 * off: threads in read(), and epoll instances that watch the descriptor. The limits of
 * threads and of epoll watches bound them. A program can do the same without hwtimer: each
 * file that can be polled wakes all its waiters in one go, and a timerfd does so in hard
 * interrupt context.
 */
#include <linux/bitops.h>
#include <linux/ktime.h>
#include <linux/minmax.h>

#include "hwtimer.h"
#include "hwtimer_notice.h"
#include "hwtimer_period.h"
#include "hwtimer_trace.h"
#include "hwtimer_turn.h"

/*
 * The index of an event in stats.lateness: see HWTIMER_LATENESS_BOUND. In units of 256 ns,
 * the two bits after the highest one choose among the four buckets of a power of two; below
 * 1,024 ns, each unit has a bucket.
 */
static unsigned int lateness_class(u64 lateness)
{
	u64 units = lateness >> 8;
	unsigned int shift = fls64(units | 4) - 3;

	return min(4 * shift + (unsigned int)(units >> shift),
		   HWTIMER_LATENESS_BUCKETS - 1U);
}

/*
 * Counts how late timers are that have expired. Those that expire together often have the
 * same class of lateness. So the loop counts them in a register; in memory, each increment
 * would have to wait for the one before. The last class has no upper limit, so a lateness
 * beyond it is classified anew each time.
 */
static void expired_note(struct hwtimer_instance *instance, const u32 *due,
			 unsigned int count, u64 now)
{
	struct hwtimer_stats *stats = &instance->stats;
	unsigned int i, class = 0, alike = 0;
	/* Latenesses of @class: from @least on, fewer than @range ns more */
	u64 least = 0, range = HWTIMER_LATENESS_BOUND(1);
	u64 latest = stats->lateness_max, sum = 0;

	/* The loop below has no register left for this. */
	for (i = 0; trace_hwtimer_expire_enabled() && i < count; i++)
		trace_hwtimer_expire(instance, due[i], now);
	for (i = 0; i < count; i++) {
		struct hwtimer_record *record =
			hwtimer_table_record(&instance->table, due[i]);
		u64 lateness = now - record->deadline;

		record->lateness = min_t(u64, lateness, U32_MAX);
		sum += record->lateness;
		latest = max(latest, lateness);
		if (unlikely(lateness - least >= range)) {
			stats->lateness[class] += alike;
			class = lateness_class(lateness);
			least = HWTIMER_LATENESS_BOUND(class);
			range = HWTIMER_LATENESS_BOUND(class + 1) - least;
			alike = 0;
		}
		alike++;
	}
	stats->lateness[class] += alike;
	stats->lateness_max = latest;
	stats->lateness_sum += sum;
}

/*
 * Frees expired timers for whose events the pool had no chunk. That is a bug, because
 * chunks were reserved: see hwtimer_pool_take(). The events count as discarded.
 */
static noinline void expired_drop(struct hwtimer_instance *instance,
				  const u32 *due, unsigned int count)
{
	lockdep_assert_held(&instance->lock);
	instance->stats.discarded += count;
	while (count--) {
		u32 index = *due++;

		hwtimer_period_free(instance, index);
	}
}

/* Makes due timers expire: puts their events into the queue. */
static void turn_expire(struct hwtimer_instance *instance, const u32 *due,
			unsigned int count, u64 now)
{
	unsigned int queued;

	expired_note(instance, due, count, now);
	instance->stats.pending -= count;
	instance->stats.expired += count;
	queued = hwtimer_queue_add_indices(&instance->ready, &instance->pool,
					   due, count);
	hwtimer_instance_add_ready(instance, queued);
	if (unlikely(queued < count))
		expired_drop(instance, due + queued, count - queued);
}

/* Lets due timers expire, HWTIMER_HOLD at most. Returns their number. */
static unsigned int turn_advance(struct hwtimer_instance *instance, u64 now,
				 u32 *due)
{
	unsigned int found;

	lockdep_assert_held(&instance->lock);
	if (instance->stopped)
		return 0;
	hwtimer_wakeup_followed(instance);
	hwtimer_wakeup_follow(instance, now);
	found = hwtimer_wheel_advance(&instance->wheel, now, due);
	turn_expire(instance, due, found, now);
	instance->stats.turns += found > 0;
	return found;
}

/*
 * Called when no timer was due: usually the worker woke up for timers that were
 * cancelled. Removes their entries and the next dead ones, so that the worker need not
 * wake up for those.
 */
static void turn_skim(struct hwtimer_instance *instance)
{
	u64 now;

	spin_lock(&instance->lock);
	/* The clock may have been set since hwtimer_turn() read it. */
	now = hwtimer_instance_now(instance);
	if (!instance->stopped) {
		hwtimer_wakeup_follow(instance, now);
		hwtimer_wheel_skim(&instance->wheel, HWTIMER_HOLD);
		/* Without the dead entries the wheel may be able to go forward. */
		hwtimer_wheel_forward(&instance->wheel, now);
	}
	hwtimer_supply_trim(instance);
	hwtimer_wakeup_requeue(instance, now);
	spin_unlock(&instance->lock);
}

/**
 * hwtimer_turn - turn the wheel, for one slice
 * @alarm: the alarm job.turns of an instance
 * @slice: the slice; its room for indices is scratch space
 *
 * Called by the worker with no lock held. Kicks the alarm for the next turn, if any.
 * Takes the lock; may reschedule, but waits for no mutex and no memory.
 */
void hwtimer_turn(struct hwtimer_alarm *alarm, struct hwtimer_slice *slice)
{
	struct hwtimer_instance *instance =
		container_of(alarm, struct hwtimer_instance, job.turns);
	unsigned int found;
	bool tell;
	u64 now;

	spin_lock(&instance->lock);
	now = hwtimer_instance_now(instance);
	tell = hwtimer_notice_check_clock(instance);
	found = turn_advance(instance, now, slice->due);
	trace_hwtimer_turn(instance, now, found);
	if (found) {
		tell |= hwtimer_notice_queued(instance);
		hwtimer_supply_trim(instance);
		hwtimer_wakeup_requeue(instance, now);
	}
	spin_unlock(&instance->lock);

	if (tell)
		hwtimer_notice_wake(instance, EPOLLIN | EPOLLRDNORM);
	if (!found)
		turn_skim(instance);
}

/**
 * hwtimer_turn_chores - do one slice of an instance's chores
 * @alarm: the alarm job.chores of an instance, on the host's clock
 * @slice: not used
 *
 * Called by the worker with no lock held. All chores share the alarm. So each chore
 * checks whether its time has come, and kicks the alarm for its next time. Takes the
 * lock; may reschedule, but waits for no mutex and no memory.
 */
void hwtimer_turn_chores(struct hwtimer_alarm *alarm,
			 struct hwtimer_slice *slice)
{
	struct hwtimer_instance *instance =
		container_of(alarm, struct hwtimer_instance, job.chores);
	struct hwtimer_pool surplus = {};
	u64 now;

	hwtimer_notice_chores(instance);
	spin_lock(&instance->lock);
	now = hwtimer_instance_now(instance);
	hwtimer_wakeup_follow(instance, now);
	hwtimer_wakeup_rearm(instance);
	hwtimer_supply_trim_some(instance, &surplus);
	spin_unlock(&instance->lock);
	hwtimer_pool_drain(&surplus);
}
