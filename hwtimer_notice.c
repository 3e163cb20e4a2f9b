// SPDX-License-Identifier: GPL-2.0
/*
 * Tells readers that events wait, or that the clock was set; see hwtimer_notice.h.
 * Readers are threads in read() and poll(), and epoll instances.
 */
#include <linux/eventfd.h>
#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/wait.h>

#include "compat.h"
#include "hwtimer.h"
#include "hwtimer_completion.h"
#include "hwtimer_notice.h"

/*
 * Whether readers have to be told, if @events events wait. When the events in the queue,
 * discarded ones included, reach the limit of timers, or the user's limit has left room
 * for no other timer, no more can come. Then readers are told whatever the threshold is.
 * Unread events in the ring, which do not use up the limit, may make this true earlier.
 */
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
	       events + discards >= READ_ONCE(instance->allowance.bound) ||
	       READ_ONCE(notice->overdue);
}

/**
 * hwtimer_notice_readable - check whether read() has to stop waiting
 * @instance: the instance; no lock is needed
 *
 * Events in the completion ring do not count, because read() does not deliver them.
 *
 * Return: whether enough events or a report wait, or the instance is stopped.
 */
bool hwtimer_notice_readable(const struct hwtimer_instance *instance)
{
	return notice_due(instance, READ_ONCE(instance->stats.ready));
}

/**
 * hwtimer_notice_stuck - check whether the events that poll() waits for may never come
 * @instance: the instance; its lock is held
 *
 * A paused timer puts no event before the program has taken out an event. A program that
 * waits for a number of events, however long that takes, would wait for ever.
 *
 * Return: whether a timer is paused, and a consumer of the completion ring has to be told
 * for that reason.
 */
bool hwtimer_notice_stuck(const struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	return unlikely(instance->notice.delay == HWTIMER_NEVER) &&
	       hwtimer_completion_paused(instance) &&
	       hwtimer_completion_unread(instance);
}

/*
 * Whether readers, or a consumer of the completion ring, have to be told: as
 * hwtimer_notice_readable(), but the events in the ring count, too. The instance's lock
 * is held.
 */
static bool notice_ready(const struct hwtimer_instance *instance)
{
	return notice_due(instance,
			  READ_ONCE(instance->stats.ready) +
				  hwtimer_completion_unread(instance)) ||
	       hwtimer_notice_stuck(instance);
}

/**
 * hwtimer_notice_mask - compute the mask that poll() returns
 * @instance: the instance; its lock is held
 *
 * Events are queued under the lock, too, and the wake-up follows. So either this function
 * sees the event, or the wake-up finds the poller.
 *
 * Return: EPOLLIN | EPOLLRDNORM, EPOLLHUP, both, or 0.
 */
__poll_t hwtimer_notice_mask(const struct hwtimer_instance *instance)
{
	bool drained = hwtimer_instance_drained(instance);
	bool ready = drained ? hwtimer_completion_unread(instance) > 0 :
			       notice_ready(instance);

	lockdep_assert_held(&instance->lock);
	ready |= READ_ONCE(instance->notice.clock_set);
	return (drained ? EPOLLHUP : 0) | (ready ? EPOLLIN | EPOLLRDNORM : 0);
}

/**
 * hwtimer_notice_wait - wait until hwtimer_notice_readable(), or until it is deserted
 * @instance: the instance; its lock is not held
 *
 * Return: 0, or -ERESTARTSYS: a signal came. May sleep.
 */
int hwtimer_notice_wait(struct hwtimer_instance *instance)
{
	return wait_event_interruptible(instance->readers,
					hwtimer_notice_readable(instance) ||
						READ_ONCE(instance->deserted));
}

/**
 * hwtimer_notice_wake - wake all readers, and signal the eventfd
 * @instance: the instance; its lock is not held
 * @mask: the mask that poll() will return
 *
 * Takes the instance's lock if there is an eventfd, releases it, and then takes the lock
 * of the wait queue. Does not sleep.
 */
void hwtimer_notice_wake(struct hwtimer_instance *instance, __poll_t mask)
{
	lockdep_assert_not_held(&instance->lock);
	if (READ_ONCE(instance->notice.eventfd)) {
		spin_lock(&instance->lock);
		if (instance->notice.eventfd)
			eventfd_signal(instance->notice.eventfd);
		spin_unlock(&instance->lock);
	}
	/* Nothing comes after the end that would wake the next exclusive waiter. */
	if (mask & EPOLLHUP)
		wake_up_all(&instance->readers);
	else
		wake_up_poll(&instance->readers, mask);
}

/**
 * hwtimer_notice_hang_up - tell all readers that no event is left and none will come
 * @instance: the instance; its lock is not held
 *
 * Does not sleep.
 */
void hwtimer_notice_hang_up(struct hwtimer_instance *instance)
{
	hwtimer_notice_wake(instance, EPOLLHUP);
}

/* If few events are to be announced after a delay, has the worker come then. */
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
 * Return: whether the caller has to call hwtimer_notice_wake() without the lock.
 */
bool hwtimer_notice_queued(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	if (instance->notice.first == HWTIMER_TICK_NONE)
		instance->notice.first = ktime_get_ns();
	notice_delay(instance);
	return notice_ready(instance);
}

/**
 * hwtimer_notice_taken - note that events were read or discarded, or may have been
 * @instance: the instance; its lock is held
 *
 * As long as any event is left, the delay still counts from the time at which events
 * began to wait.
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
 * @delay: time after the first event at which poll() becomes ready anyway, ns;
 *	HWTIMER_NEVER: it does not
 * @eventfd: an eventfd, whose reference passes to the instance; NULL: none
 *
 * May sleep: it puts the former eventfd. Takes the lock.
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
	ready = notice_ready(instance);
	spin_unlock(&instance->lock);

	if (ready)
		hwtimer_notice_wake(instance, EPOLLIN | EPOLLRDNORM);
	if (before)
		eventfd_ctx_put(before);
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

/**
 * hwtimer_notice_release - put the eventfd of an instance that is being freed
 * @notice: the notice, which nobody else uses any more
 *
 * May sleep.
 */
void hwtimer_notice_release(struct hwtimer_notice *notice)
{
	if (notice->eventfd)
		eventfd_ctx_put(notice->eventfd);
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
	       !instance->stopped;
}

/**
 * hwtimer_notice_watch_clock - if timers need it, begin to check whether the clock is set
 * @instance: the instance; its lock is held
 *
 * Called after a timer may have become pending.
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
 * Return: whether the caller has to call hwtimer_notice_wake() without the lock.
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
 * hwtimer_notice_chores - tell readers if a delay has passed or the clock was set
 * @instance: the instance; its lock is not held
 *
 * For the worker's chores. Takes the lock; does not sleep.
 */
void hwtimer_notice_chores(struct hwtimer_instance *instance)
{
	struct hwtimer_notice *notice = &instance->notice;
	u64 now = ktime_get_ns();
	bool tell;

	spin_lock(&instance->lock);
	tell = hwtimer_notice_check_clock(instance);
	/* User space takes events out of the ring without a call, so check it now. */
	hwtimer_notice_taken(instance);
	if (notice->due <= now) {
		/*
		 * If enough events waited before, readers were told already; but read()
		 * does not count those in the ring.
		 */
		tell |= !notice_ready(instance) ||
			(instance->stats.ready &&
			 !hwtimer_notice_readable(instance));
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
