// SPDX-License-Identifier: GPL-2.0
/*
 * Tells readers that there are events, or that the clock was set; see hwtimer_notice.h.
 * Readers are threads in read() and poll(), epoll instances, and a kernel client.
 */
#include <linux/eventfd.h>
#include <linux/ktime.h>
#include <linux/poll.h>

#include "compat.h"
#include "hwtimer.h"
#include "hwtimer_completion.h"
#include "hwtimer_notice.h"

/* Whether readers have to be told of @events that wait. */
static bool notice_due(const struct hwtimer_instance *instance, u64 events)
{
	const struct hwtimer_notice *notice = &instance->notice;
	u64 discards = READ_ONCE(instance->discards);

	if (READ_ONCE(notice->clock_set) || READ_ONCE(instance->stopped))
		return true;
	/* The settings of an instance that has not started may still change. */
	if (!events || !hwtimer_instance_started(instance))
		return false;
	return events >= READ_ONCE(notice->events) ||
	       events + discards >= instance->settings.timers ||
	       READ_ONCE(notice->overdue);
}

/**
 * hwtimer_notice_readable - whether read() has something to return
 * @instance: the instance; no lock is needed
 *
 * Events in the completion ring do not count, as read() does not deliver them.
 *
 * Return: whether read() should go on: events, a report, or the end.
 */
bool hwtimer_notice_readable(const struct hwtimer_instance *instance)
{
	return notice_due(instance, READ_ONCE(instance->stats.ready));
}

/**
 * hwtimer_notice_ready - whether a reader or a consumer of the ring has something to do
 * @instance: the instance; no lock is needed
 *
 * Return: the same as hwtimer_notice_readable(), with the events in the ring counted.
 */
bool hwtimer_notice_ready(const struct hwtimer_instance *instance)
{
	return notice_due(instance,
			  READ_ONCE(instance->stats.ready) +
				  hwtimer_completion_unread(instance));
}

/**
 * hwtimer_notice_mask - the mask that poll() returns
 * @instance: the instance; its lock is held
 *
 * Events are queued under the lock too, and the wake-up follows. So either this function
 * sees the event, or the wake-up sees the poller.
 *
 * Return: EPOLLIN | EPOLLRDNORM, EPOLLHUP, both, or 0.
 */
__poll_t hwtimer_notice_mask(const struct hwtimer_instance *instance)
{
	bool drained = hwtimer_instance_drained(instance);
	bool ready = drained ? hwtimer_completion_unread(instance) > 0 :
			       hwtimer_notice_ready(instance);

	lockdep_assert_held(&instance->lock);
	ready |= READ_ONCE(instance->notice.clock_set);
	return (drained ? EPOLLHUP : 0) | (ready ? EPOLLIN | EPOLLRDNORM : 0);
}

/**
 * hwtimer_notice_wait - wait until the instance is readable
 * @instance: the instance; its lock is not held
 *
 * Return: 0 or -ERESTARTSYS. May sleep.
 */
int hwtimer_notice_wait(struct hwtimer_instance *instance)
{
	return wait_event_interruptible(instance->readers,
					hwtimer_notice_readable(instance));
}

/**
 * hwtimer_notice_wake - wake all readers
 * @instance: the instance; its lock is not held
 * @mask: the mask that poll() will return
 *
 * Does not sleep; takes the instance's lock, and that of its wait queue.
 */
void hwtimer_notice_wake(struct hwtimer_instance *instance, __poll_t mask)
{
	if (READ_ONCE(instance->notice.eventfd)) {
		spin_lock(&instance->lock);
		if (instance->notice.eventfd)
			eventfd_signal(instance->notice.eventfd);
		spin_unlock(&instance->lock);
	}
	/* Pairs with the barrier of a reader, in prepare_to_wait() or poll_wait(). */
	if (wq_has_sleeper(&instance->readers))
		wake_up_interruptible_poll(&instance->readers, mask);
}

/* Tells all readers that no more events will come. */
void hwtimer_notice_hang_up(struct hwtimer_instance *instance)
{
	hwtimer_notice_wake(instance, EPOLLHUP);
}

/* Has the worker come when the first of the events that wait has waited long enough. */
static void notice_delay(struct hwtimer_instance *instance)
{
	struct hwtimer_notice *notice = &instance->notice;

	if (notice->events <= 1 || notice->delay == HWTIMER_NEVER ||
	    notice->overdue || notice->due != HWTIMER_TICK_NONE ||
	    instance->stopped)
		return;
	notice->due = notice->first + notice->delay;
	hwtimer_wakeup_chores(instance, notice->due);
}

/**
 * hwtimer_notice_queued - note that events were queued, or put into the ring
 * @instance: the instance; its lock is held
 *
 * Return: whether hwtimer_notice_wake() has to follow, without the lock.
 */
bool hwtimer_notice_queued(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	if (instance->notice.first == HWTIMER_TICK_NONE)
		instance->notice.first = ktime_get_ns();
	notice_delay(instance);
	return hwtimer_notice_ready(instance);
}

/**
 * hwtimer_notice_taken - note that events were read or discarded, or may have been
 * @instance: the instance; its lock is held
 *
 * As long as an event is left, the delay counts from the first one that came.
 */
void hwtimer_notice_taken(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	if (instance->stats.ready || hwtimer_completion_unread(instance))
		return;
	instance->notice.first = HWTIMER_TICK_NONE;
	instance->notice.due = HWTIMER_TICK_NONE;
	WRITE_ONCE(instance->notice.overdue, false);
}

/**
 * hwtimer_notice_set - HWTIMER_IOC_NOTIFY: choose when and how readers are told
 * @instance: the instance; its lock is not held
 * @events: number of events that make poll() ready
 * @delay: ns after the first event at which poll() is ready anyway; HWTIMER_NEVER: never
 * @eventfd: an eventfd that becomes the instance's; NULL: none
 *
 * May sleep, to put the eventfd that was there before.
 */
void hwtimer_notice_set(struct hwtimer_instance *instance, u32 events,
			u64 delay, struct eventfd_ctx *eventfd)
{
	struct hwtimer_notice *notice = &instance->notice;
	struct eventfd_ctx *before;
	bool ready;

	spin_lock(&instance->lock);
	before = notice->eventfd;
	WRITE_ONCE(notice->eventfd, eventfd);
	WRITE_ONCE(notice->events, events);
	notice->delay = delay;
	notice->due = HWTIMER_TICK_NONE;
	WRITE_ONCE(notice->overdue, false);
	if (instance->stats.ready || hwtimer_completion_unread(instance))
		notice_delay(instance);
	ready = hwtimer_notice_ready(instance);
	spin_unlock(&instance->lock);

	if (ready)
		hwtimer_notice_wake(instance, EPOLLIN | EPOLLRDNORM);
	if (before)
		eventfd_ctx_put(before);
}

/* For a new instance. */
void hwtimer_notice_init(struct hwtimer_notice *notice)
{
	notice->first = HWTIMER_TICK_NONE;
	notice->due = HWTIMER_TICK_NONE;
}

/* For an instance that ends. */
void hwtimer_notice_release(struct hwtimer_notice *notice)
{
	if (notice->eventfd)
		eventfd_ctx_put(notice->eventfd);
}

/* When to check the clock next. All instances do so at the same time. */
static u64 next_check(u64 now)
{
	return now - now % NSEC_PER_SEC + NSEC_PER_SEC;
}

/* Whether a timer goes by the clock: a pending one, or one that rests. */
static bool watched(const struct hwtimer_instance *instance)
{
	return (instance->stats.pending || instance->periodic) &&
	       !instance->stopped;
}

/**
 * hwtimer_notice_watch_clock - begin to check whether the clock is set, if timers need it
 * @instance: the instance; its lock is held, and a timer may have become pending
 */
void hwtimer_notice_watch_clock(struct hwtimer_instance *instance)
{
	struct hwtimer_notice *notice = &instance->notice;

	lockdep_assert_held(&instance->lock);
	if (likely(!(instance->settings.flags & HWTIMER_REPORT_CLOCK_SET)) ||
	    notice->watching || !watched(instance))
		return;
	notice->watching = true;
	notice->offset = hwtimer_clock_offset();
	hwtimer_wakeup_chores(instance, next_check(ktime_get_ns()));
}

/**
 * hwtimer_notice_check_clock - check whether the clock was set
 * @instance: the instance; its lock is held
 *
 * Return: whether hwtimer_notice_wake() has to follow, without the lock.
 */
bool hwtimer_notice_check_clock(struct hwtimer_instance *instance)
{
	struct hwtimer_notice *notice = &instance->notice;
	s64 offset;

	lockdep_assert_held(&instance->lock);
	if (likely(!notice->watching) || instance->stopped)
		return false;
	offset = hwtimer_clock_offset();
	if (notice->offset == offset)
		return false;
	notice->offset = offset;
	instance->stats.clock_sets++;
	WRITE_ONCE(notice->clock_set, 1);
	return true;
}

/* Takes the report that the clock was set; returns whether there was one. No lock needed. */
bool hwtimer_notice_take_report(struct hwtimer_instance *instance)
{
	return READ_ONCE(instance->notice.clock_set) &&
	       xchg(&instance->notice.clock_set, 0);
}

/**
 * hwtimer_notice_chores - tell readers what is due by now
 * @instance: the instance; its lock is not held
 *
 * For the worker's chores. Does not sleep.
 */
void hwtimer_notice_chores(struct hwtimer_instance *instance)
{
	struct hwtimer_notice *notice = &instance->notice;
	u64 now = ktime_get_ns();
	bool tell;

	spin_lock(&instance->lock);
	tell = hwtimer_notice_check_clock(instance);
	/* User space empties the ring without a call, so look at it now. */
	hwtimer_notice_taken(instance);
	if (notice->due <= now) {
		/* If there were enough events before, readers know of them. */
		tell |= !hwtimer_notice_ready(instance);
		notice->due = HWTIMER_TICK_NONE;
		WRITE_ONCE(notice->overdue, true);
	} else if (notice->due != HWTIMER_TICK_NONE && !instance->stopped) {
		hwtimer_wakeup_chores(instance, notice->due);
	}
	notice->watching = notice->watching && watched(instance);
	if (notice->watching)
		hwtimer_wakeup_chores(instance, next_check(now));
	spin_unlock(&instance->lock);

	if (tell)
		hwtimer_notice_wake(instance, EPOLLIN | EPOLLRDNORM);
}
