// SPDX-License-Identifier: GPL-2.0
/*
 * Turns the wheel of an instance, and does the instance's chores; see events/events.h.
 *
 * The worker serves an instance in slices, because other instances wait for the worker.
 * One slice does at most the following; the rest waits for the next slice. H is
 * HWTIMER_HOLD, 256.
 *
 * A turn, hwtimer_turn():
 *
 *	wheel			H entries or buckets that are due, that move down a
 *				level, or that a rewind files anew; so at most H timers
 *				expire, and none if the ring of events is full. If none is
 *				due, H entries that come next are visited, too
 *	readers			woken once
 *
 * Chores, hwtimer_turn_chores():
 *
 *	readers			woken once if a delay of HWTIMER_IOC_NOTIFY has passed, or
 *				if the clock was set
 *	memory			128 chunks go back to the slab. Of an idle instance, also H
 *				dead entries go, or H records are surveyed, or 16 blocks
 *				of the table are freed, or the wheel is, in one piece
 *
 * test/kunit/slice_kunit.c checks these numbers. The cost of a single step is bounded, too:
 *
 *	an entry or a bucket	each level of the wheel is checked, 12 at most. In the
 *				lowest level of a hierarchical wheel with 2^20 buckets,
 *				a bitmap of 256 words may be searched
 *	an alarm		see worker/tenant.c
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
#include <linux/ktime.h>

#include "hwtimer.h"

/*
 * Removes and moves entries that come next. If no timer was due, the worker usually woke up for
 * timers that were cancelled or postponed; it need not wake up for the next ones.
 */
static void turn_skim(struct hwtimer_instance *instance)
{
	u64 now;

	spin_lock(&instance->lock);
	/* The clock may have been set since hwtimer_turn() read it. */
	now = hwtimer_instance_now(instance);
	if (!hwtimer_instance_stopped(instance)) {
		hwtimer_wakeup_follow(instance, now);
		hwtimer_wheel_skim(&instance->wheel, HWTIMER_HOLD);
		/* Without the dead entries the wheel may be able to go forward. */
		hwtimer_wheel_forward(&instance->wheel, now);
	}
	hwtimer_shrink_trim(instance);
	hwtimer_wakeup_requeue(instance, now);
	spin_unlock(&instance->lock);
}

/**
 * hwtimer_turn - turn the wheel, for one slice
 * @alarm: the alarm job.turns of an instance
 *
 * No lock is held. Kicks the alarm for the next turn, if any. Takes the lock; may
 * reschedule, but waits for no mutex and no memory.
 */
void hwtimer_turn(struct hwtimer_alarm *alarm)
{
	struct hwtimer_instance *instance =
		container_of(alarm, struct hwtimer_instance, job.turns);
	unsigned int found;
	bool tell, full;
	u64 now;

	spin_lock(&instance->lock);
	now = hwtimer_instance_now(instance);
	tell = hwtimer_notice_check_clock(instance);
	found = hwtimer_events_turn(instance, now);
	tell |= found && hwtimer_notice_readable(instance);
	/* The readers know of a full ring. The thread that makes room in it kicks the alarm. */
	full = hwtimer_events_full(&instance->events);
	instance->events.parked = full;
	if (found && !full)
		hwtimer_wakeup_requeue(instance, now);
	spin_unlock(&instance->lock);

	if (tell)
		hwtimer_notice_wake(instance, EPOLLIN | EPOLLRDNORM);
	if (!found && !full)
		turn_skim(instance);
}

/**
 * hwtimer_turn_chores - do one slice of an instance's chores
 * @alarm: the alarm job.chores of an instance, on the host's clock
 *
 * No lock is held. All chores share the alarm. So each chore checks whether its time has
 * come, and kicks the alarm for its next time. Takes the lock; may reschedule, but waits for
 * no mutex and no memory.
 */
void hwtimer_turn_chores(struct hwtimer_alarm *alarm)
{
	struct hwtimer_instance *instance =
		container_of(alarm, struct hwtimer_instance, job.chores);
	struct hwtimer_pool surplus = {};
	void *wheel;
	u64 now;

	hwtimer_notice_chores(instance);
	spin_lock(&instance->lock);
	now = hwtimer_instance_now(instance);
	/* guard_due() has the chores come in case the clock was set back. */
	hwtimer_wakeup_follow(instance, now);
	hwtimer_wakeup_rearm(instance);
	hwtimer_shrink_trim_some(instance, &surplus);
	wheel = hwtimer_shrink_some(instance, &surplus);
	spin_unlock(&instance->lock);
	hwtimer_pool_drain(&surplus);
	kvfree(wheel);
	hwtimer_shrink_free(instance);
}
