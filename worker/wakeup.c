// SPDX-License-Identifier: GPL-2.0
/*
 * Kicks the alarms of an instance, and moves the wheel to the clock; see
 * worker/worker.h.
 *
 * The worker turns the wheel only when the wheel has something to do. So while no timer
 * is pending, or only timers far ahead, the wheel falls behind the clock. A
 * hierarchical wheel that is behind would file a new timer in a higher level than
 * necessary. So the wheel is moved to the clock before timers are added.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "hwtimer.h"

/**
 * hwtimer_wakeup_chores - make the worker do an instance's chores
 * @instance: the instance; its lock is held
 * @time: latest time for that, ns on the host's CLOCK_MONOTONIC
 */
void hwtimer_wakeup_chores(struct hwtimer_instance *instance, u64 time)
{
	lockdep_assert_held(&instance->lock);
	hwtimer_worker_kick(&instance->job.chores, time);
}

/**
 * hwtimer_wakeup_next - the time at which the worker has to turn the wheel next
 * @instance: the instance; its lock is held
 *
 * No pending timer expires before. The worker may find only dead or postponed entries then, or
 * some that move down a level.
 *
 * Return: ns on the instance's clock; HWTIMER_TICK_NONE: never.
 */
u64 hwtimer_wakeup_next(const struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	if (hwtimer_instance_stopped(instance))
		return HWTIMER_TICK_NONE;
	/* Without pending timers, only what the wheel has begun has to be finished. */
	if (!instance->stats.pending && !hwtimer_wheel_busy(&instance->wheel))
		return HWTIMER_TICK_NONE;
	return hwtimer_wheel_time_of(&instance->wheel,
				     hwtimer_wheel_next(&instance->wheel));
}

/*
 * On a clock that can be set back, the alarm for turns may come too late for timers that are due.
 * For these it is kicked for the present time, or, if a timer was overdue when it was scheduled,
 * for the later tick under which that timer is filed. If the clock is set back before the worker
 * comes, the alarm comes late by as much, and the clock's time does not show that it was set. So
 * this also kicks the chores' alarm, which is on CLOCK_MONOTONIC, for a tick later.
 *
 * That is not needed if no pending timer has an earlier deadline than the time of the alarm; nor
 * while the ring is full, when no reader waits for the worker. @next: from hwtimer_wakeup_next().
 */
static void guard_due(struct hwtimer_instance *instance, u64 next, u64 now)
{
	const struct hwtimer_wheel *wheel = &instance->wheel;
	u64 delay = wheel->shape.tick;

	if (likely(!wheel->rewinds) || next == HWTIMER_TICK_NONE ||
	    instance->events.parked)
		return;
	if (next > now) {
		if (hwtimer_wheel_next(wheel) > wheel->current_tick + 1)
			return;
		/* The rest is more than a tick only if the clock was set back just now. */
		delay = min(next - now, delay);
	}
	if (instance->settings.clock->nr == HWTIMER_REALTIME &&
	    hwtimer_clock_stands())
		delay = TICK_NSEC;
	hwtimer_wakeup_chores(instance, ktime_get_ns() + delay);
}

/**
 * hwtimer_wakeup_rearm - tell the worker that the earliest timer may have become earlier
 * @instance: the instance; its lock is held
 *
 * If the earliest timer has become later, the worker finds that out when it wakes up. If
 * the worker should have come by now, it is on its way, or has queued this instance
 * behind others that are due. In both cases nothing changes.
 */
void hwtimer_wakeup_rearm(struct hwtimer_instance *instance)
{
	u64 now, next = hwtimer_wakeup_next(instance);

	lockdep_assert_held(&instance->lock);
	if (next >= instance->wakeup.at && likely(!instance->wheel.rewinds))
		return;
	now = hwtimer_instance_now(instance);
	if (next < instance->wakeup.at && instance->wakeup.at > now) {
		instance->wakeup.at = next;
		hwtimer_worker_kick(&instance->job.turns, next);
	}
	guard_due(instance, next, now);
}

/**
 * hwtimer_wakeup_requeue - after a turn, tell the worker when to turn the wheel next
 * @instance: the instance; its lock is held
 * @now: ns on the instance's clock
 */
void hwtimer_wakeup_requeue(struct hwtimer_instance *instance, u64 now)
{
	u64 next = hwtimer_wakeup_next(instance);

	lockdep_assert_held(&instance->lock);
	instance->wakeup.at = next;
	if (next == HWTIMER_TICK_NONE)
		return;
	/* If this instance is still due, the worker ranks it among all that are. */
	instance->wakeup.at = max(next, now);
	hwtimer_worker_kick(&instance->job.turns, instance->wakeup.at);
	guard_due(instance, next, now);
}

/**
 * hwtimer_wakeup_turned - the same after a turn by read(), which goes on if more is due
 * @instance: the instance; its lock is held
 * @now: ns on the instance's clock
 *
 * If more is due, the worker is not told: hwtimer_notice_unpark() does that in the end.
 */
void hwtimer_wakeup_turned(struct hwtimer_instance *instance, u64 now)
{
	lockdep_assert_held(&instance->lock);
	if (hwtimer_wakeup_next(instance) <= now)
		instance->events.parked = true;
	else
		hwtimer_wakeup_requeue(instance, now);
}

/**
 * hwtimer_wakeup_again - make the worker turn the wheel now
 * @instance: the instance, whose alarm for turns is not kicked; its lock is held
 */
void hwtimer_wakeup_again(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	if (hwtimer_instance_stopped(instance))
		return;
	instance->wakeup.at = hwtimer_instance_now(instance);
	hwtimer_worker_kick(&instance->job.turns, instance->wakeup.at);
	guard_due(instance, hwtimer_wakeup_next(instance), instance->wakeup.at);
}

/**
 * hwtimer_wakeup_followed - note that the wheel was just moved to the clock
 * @instance: the instance; its lock is held
 */
void hwtimer_wakeup_followed(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	instance->wakeup.follow_at =
		get_jiffies_64() + instance->wakeup.follow_after;
}

/**
 * hwtimer_wakeup_follow - move the wheel to the clock
 * @instance: the instance; its lock is held
 * @now: ns on the instance's clock, read under the lock
 *
 * If the clock was set back, begins to move the wheel back. If the wheel may stand far
 * behind the clock, moves it forward, unless it has to be turned first. In that case the
 * worker is on its way, or only dead entries are in the way. The worker removes those
 * when it comes for the next timer.
 */
void hwtimer_wakeup_follow(struct hwtimer_instance *instance, u64 now)
{
	struct hwtimer_wheel *wheel = &instance->wheel;

	lockdep_assert_held(&instance->lock);
	if (unlikely(wheel->rewinds) &&
	    hwtimer_wheel_tick_at(wheel, now) < wheel->current_tick)
		hwtimer_wheel_rewind(wheel, now);
	if (unlikely(hwtimer_instance_behind(instance))) {
		hwtimer_wakeup_followed(instance);
		hwtimer_wheel_forward(wheel, now);
	}
}
