// SPDX-License-Identifier: GPL-2.0
/*
 * Tells readers that events wait, or that the clock was set; see events/events.h.
 * Readers are threads in read() and poll(), and epoll instances.
 */
#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/wait.h>

#include "hwtimer.h"

/**
 * hwtimer_notice_enough - check whether as many events wait as readers want
 * @instance: the instance; no lock is needed
 *
 * When the ring is full, or the events reach the limit of timers, no more can come. Then
 * readers are woken whatever the threshold is.
 *
 * Return: whether readers have to be woken for events.
 */
bool hwtimer_notice_enough(const struct hwtimer_instance *instance)
{
	const struct hwtimer_notice *notice = &instance->notice;
	const struct hwtimer_events *events = &instance->events;
	/*
	 * Pairs with spin_unlock(), before which hwtimer_notice_chores() sets @overdue: whoever
	 * sees what a reader has left since sees that, too.
	 */
	u32 unread = smp_load_acquire(&events->unread);

	/* Without the lock, events may be seen before the start, which makes settings constant. */
	if (!unread || hwtimer_instance_new(instance))
		return false;
	return unread >= READ_ONCE(notice->events) ||
	       READ_ONCE(notice->overdue) || hwtimer_events_full(events) ||
	       READ_ONCE(instance->stats.ready) >= instance->settings.timers;
}

/**
 * hwtimer_notice_readable - check whether read() has to stop waiting
 * @instance: the instance; no lock is needed
 *
 * Return: whether enough events or a report wait, or the instance is stopped.
 */
bool hwtimer_notice_readable(const struct hwtimer_instance *instance)
{
	return READ_ONCE(instance->notice.clock_set) ||
	       hwtimer_instance_stopped(instance) ||
	       hwtimer_notice_enough(instance);
}

/**
 * hwtimer_notice_mask - compute the mask that poll() returns
 * @instance: the instance; no lock is needed
 *
 * poll() has entered the wait queue before, and a wake-up follows each event. Both take the
 * queue's lock. So either this function sees the event, or the wake-up finds the poller.
 *
 * Return: EPOLLIN | EPOLLRDNORM, EPOLLHUP, both, or 0.
 */
__poll_t hwtimer_notice_mask(const struct hwtimer_instance *instance)
{
	bool readable = hwtimer_notice_readable(instance);
	/* Looked at last, lest the last event be read meanwhile: then there is nothing to read. */
	bool drained = hwtimer_instance_drained(instance);
	bool ready = (readable && !drained) ||
		     READ_ONCE(instance->notice.clock_set);

	return (drained ? EPOLLHUP : 0) | (ready ? EPOLLIN | EPOLLRDNORM : 0);
}

/**
 * hwtimer_notice_wait - wait until hwtimer_notice_readable()
 * @instance: the instance; its lock is not held
 *
 * Return: 0, or -ERESTARTSYS: a signal came. May sleep.
 */
int hwtimer_notice_wait(struct hwtimer_instance *instance)
{
	return wait_event_interruptible(instance->readers,
					hwtimer_notice_readable(instance));
}

/**
 * hwtimer_notice_wake - wake the readers
 * @instance: the instance; its lock is not held
 * @mask: the mask that poll() will return; EPOLLHUP: no event is left, and none will come
 *
 * Takes the lock of the wait queue. Does not sleep.
 */
void hwtimer_notice_wake(struct hwtimer_instance *instance, __poll_t mask)
{
	lockdep_assert_not_held(&instance->lock);
	/* Nothing comes after the end that would wake the next exclusive waiter. */
	if (mask & EPOLLHUP)
		wake_up_all(&instance->readers);
	else
		wake_up_poll(&instance->readers, mask);
}

/* If a delay is set for few events, kicks the alarm at which it has passed. */
static void notice_delay(struct hwtimer_instance *instance)
{
	struct hwtimer_notice *notice = &instance->notice;

	if (notice->events <= 1 || notice->delay == HWTIMER_NEVER ||
	    notice->overdue || notice->due != HWTIMER_TICK_NONE ||
	    hwtimer_instance_stopped(instance))
		return;
	notice->due = notice->first + notice->delay;
	hwtimer_wakeup_chores(instance, notice->due);
}

/**
 * hwtimer_notice_unpark - make the worker turn the wheel again, unless a reader will
 * @instance: the instance; its lock is held
 *
 * After events were taken or dropped, or the threshold was raised, timers may be due for which
 * neither the worker nor a reader turns the wheel.
 */
void hwtimer_notice_unpark(struct hwtimer_instance *instance)
{
	struct hwtimer_events *events = &instance->events;

	lockdep_assert_held(&instance->lock);
	/* The report that the clock was set goes without a hold of the lock. */
	if (likely(!events->parked) || hwtimer_events_full(events) ||
	    hwtimer_notice_enough(instance))
		return;
	events->parked = false;
	hwtimer_wakeup_again(instance);
}

/**
 * hwtimer_notice_queued - note that events were queued
 * @instance: the instance; its lock is held
 *
 * If hwtimer_notice_readable() then, the caller has to call hwtimer_notice_wake() without the
 * lock.
 */
void hwtimer_notice_queued(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	if (instance->notice.first == HWTIMER_TICK_NONE)
		instance->notice.first = ktime_get_ns();
	notice_delay(instance);
}

/**
 * hwtimer_notice_taken - note that events were read or discarded
 * @instance: the instance; its lock is held
 *
 * As long as any event is left, the delay still counts from the time at which events
 * began to wait.
 */
void hwtimer_notice_taken(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	if (instance->events.unread)
		return;
	instance->notice.first = HWTIMER_TICK_NONE;
	instance->notice.due = HWTIMER_TICK_NONE;
	WRITE_ONCE(instance->notice.overdue, false);
}

/**
 * hwtimer_notice_set - HWTIMER_IOC_NOTIFY: choose when readers are woken
 * @instance: the instance; its lock is not held
 * @events: number of events that make poll() ready
 * @delay: time after the first event at which poll() becomes ready anyway, ns;
 *	HWTIMER_NEVER: it does not
 *
 * Does not sleep. Takes the lock.
 */
void hwtimer_notice_set(struct hwtimer_instance *instance, u32 events,
			u64 delay)
{
	struct hwtimer_notice *notice = &instance->notice;
	bool ready;

	spin_lock(&instance->lock);
	WRITE_ONCE(notice->events, events);
	notice->delay = delay;
	notice->due = HWTIMER_TICK_NONE;
	WRITE_ONCE(notice->overdue, false);
	if (instance->events.unread)
		notice_delay(instance);
	ready = hwtimer_notice_readable(instance);
	hwtimer_notice_unpark(instance);
	spin_unlock(&instance->lock);

	if (ready)
		hwtimer_notice_wake(instance, EPOLLIN | EPOLLRDNORM);
}

/**
 * hwtimer_notice_init - initialize the notice of a new instance
 * @notice: the notice, zeroed
 */
void hwtimer_notice_init(struct hwtimer_notice *notice)
{
	notice->first = HWTIMER_TICK_NONE;
	notice->due = HWTIMER_TICK_NONE;
}

/*
 * The time to check the clock next: the next full second, so that all instances of a
 * worker share the wake-up.
 */
static u64 next_check(u64 now)
{
	return now - now % NSEC_PER_SEC + NSEC_PER_SEC;
}

/* Whether setting the clock affects a timer: a pending one, or one that rests. */
static bool watched(const struct hwtimer_instance *instance)
{
	return (instance->stats.pending || instance->periodic) &&
	       !hwtimer_instance_stopped(instance);
}

/**
 * hwtimer_notice_watch_clock - if timers need it, begin to check whether the clock is set
 * @instance: the instance; its lock is held
 *
 * Has to follow whatever may have made a timer pending.
 */
void hwtimer_notice_watch_clock(struct hwtimer_instance *instance)
{
	struct hwtimer_notice *notice = &instance->notice;

	lockdep_assert_held(&instance->lock);
	if (likely(!(instance->settings.flags &
		     HWTIMER_SETUP_REPORT_CLOCK_SET)) ||
	    notice->watching || !watched(instance))
		return;
	notice->watching = true;
	notice->offset = hwtimer_clock_offset(instance->settings.clock);
	hwtimer_wakeup_chores(instance, next_check(ktime_get_ns()));
}

/**
 * hwtimer_notice_check_clock - check whether the clock was set
 * @instance: the instance; its lock is held
 *
 * Return: whether the caller has to call hwtimer_notice_wake() without the lock.
 */
bool hwtimer_notice_check_clock(struct hwtimer_instance *instance)
{
	struct hwtimer_notice *notice = &instance->notice;
	s64 offset;

	lockdep_assert_held(&instance->lock);
	if (likely(!notice->watching) || hwtimer_instance_stopped(instance))
		return false;
	offset = hwtimer_clock_offset(instance->settings.clock);
	if (notice->offset == offset)
		return false;
	notice->offset = offset;
	instance->stats.clock_sets++;
	WRITE_ONCE(notice->clock_set, 1);
	return true;
}

/**
 * hwtimer_notice_take_report - take the report that the clock was set
 * @instance: the instance; no lock is needed
 *
 * Return: whether the caller got it. Of several readers, one does.
 */
bool hwtimer_notice_take_report(struct hwtimer_instance *instance)
{
	/* Orders nothing: only one reader gets the report. */
	return READ_ONCE(instance->notice.clock_set) &&
	       xchg(&instance->notice.clock_set, 0);
}

/**
 * hwtimer_notice_chores - wake readers if a delay has passed or the clock was set
 * @instance: the instance; its lock is not held
 *
 * One of the chores. Takes the lock; does not sleep.
 */
void hwtimer_notice_chores(struct hwtimer_instance *instance)
{
	struct hwtimer_notice *notice = &instance->notice;
	u64 now = ktime_get_ns();
	bool tell;

	spin_lock(&instance->lock);
	tell = hwtimer_notice_check_clock(instance);
	if (notice->due <= now) {
		/*
		 * Readers were told when the threshold was reached. A full ring or the limit of
		 * timers does not count: poll(), without the lock, may look before and after it.
		 */
		tell |= instance->events.unread < notice->events;
		notice->due = HWTIMER_TICK_NONE;
		WRITE_ONCE(notice->overdue, true);
	} else if (notice->due != HWTIMER_TICK_NONE &&
		   !hwtimer_instance_stopped(instance)) {
		hwtimer_wakeup_chores(instance, notice->due);
	}
	notice->watching = notice->watching && watched(instance);
	if (notice->watching)
		hwtimer_wakeup_chores(instance, next_check(now));
	spin_unlock(&instance->lock);

	if (tell)
		hwtimer_notice_wake(instance, EPOLLIN | EPOLLRDNORM);
}
