// SPDX-License-Identifier: GPL-2.0
/*
 * How readers are told: when poll() is ready, who is woken up, the eventfd, and
 * the report that somebody has set the clock. Called by whoever queues events
 * or takes them, and by the worker for what has to be done at a time. The reader
 * of a kernel client's events is the client.
 */
#include <linux/eventfd.h>
#include <linux/ktime.h>
#include <linux/poll.h>

#include "compat.h"
#include "hwtimer.h"

/* Whether somebody should come for @events that wait. */
static bool notice_due(const struct hwtimer_instance *instance, u64 events)
{
	const struct hwtimer_notice *notice = &instance->notice;
	u64 discards = READ_ONCE(instance->discards);

	if (READ_ONCE(notice->clock_set) || READ_ONCE(instance->stopped))
		return true;
	if (!events)
		return false;
	/* An instance that has events has started: its settings are constant. */
	return events >= READ_ONCE(notice->events) ||
	       events + discards >= instance->settings.timers ||
	       READ_ONCE(notice->overdue);
}

/**
 * hwtimer_notice_readable - whether a reader should come
 * @instance: its lock need not be held
 *
 * What is in the completion ring is not for read().
 */
bool hwtimer_notice_readable(const struct hwtimer_instance *instance)
{
	return notice_due(instance, READ_ONCE(instance->stats.ready));
}

/**
 * hwtimer_notice_ready - whether a reader, or a consumer of the ring, should
 * @instance: its lock need not be held
 */
bool hwtimer_notice_ready(const struct hwtimer_instance *instance)
{
	return notice_due(instance, READ_ONCE(instance->stats.ready) +
					    hwtimer_exchange_unread(instance));
}

/**
 * hwtimer_notice_mask - what poll() says
 * @instance: its lock is held
 *
 * Under the lock, as events are queued under it and the wake-up follows: either
 * this sees the event, or the wake-up sees the poller.
 */
__poll_t hwtimer_notice_mask(const struct hwtimer_instance *instance)
{
	bool drained = hwtimer_instance_drained(instance);
	bool ready = drained ? hwtimer_exchange_unread(instance) > 0 :
			       hwtimer_notice_ready(instance);

	lockdep_assert_held(&instance->lock);
	ready |= READ_ONCE(instance->notice.clock_set);
	return (drained ? EPOLLHUP : 0) | (ready ? EPOLLIN | EPOLLRDNORM : 0);
}

/**
 * hwtimer_notice_wait - wait until a reader should come
 * @instance: for which
 *
 * Return: 0 or -ERESTARTSYS. May sleep.
 */
int hwtimer_notice_wait(struct hwtimer_instance *instance)
{
	return wait_event_interruptible(instance->readers,
					hwtimer_notice_readable(instance));
}

/**
 * hwtimer_notice_wake - wake up whoever waits
 * @instance: its lock is not held
 * @mask: what poll() will say
 */
void hwtimer_notice_wake(struct hwtimer_instance *instance, __poll_t mask)
{
	if (unlikely(instance->client)) {
		hwtimer_client_wake(instance->client);
		return;
	}
	if (READ_ONCE(instance->notice.eventfd)) {
		spin_lock(&instance->lock);
		if (instance->notice.eventfd)
			eventfd_signal(instance->notice.eventfd);
		spin_unlock(&instance->lock);
	}
	/* Pairs with the barrier of whoever waits, in prepare_to_wait(). */
	if (wq_has_sleeper(&instance->readers))
		wake_up_interruptible_poll(&instance->readers, mask);
}

/* Tells whoever waits that no event will come any more. */
void hwtimer_notice_hang_up(struct hwtimer_instance *instance)
{
	hwtimer_notice_wake(instance, EPOLLHUP);
}

/* Has the worker come for what is to be done by @time on CLOCK_MONOTONIC. */
static void chores_by(struct hwtimer_instance *instance, u64 time)
{
	lockdep_assert_held(&instance->lock);
	hwtimer_worker_kick(&instance->chores, time);
}

/* Events wait: some time after the first of them, a reader should come. */
static void notice_delay(struct hwtimer_instance *instance)
{
	struct hwtimer_notice *notice = &instance->notice;

	if (notice->events <= 1 || notice->delay == HWTIMER_NEVER ||
	    notice->overdue || notice->due != HWTIMER_TICK_NONE ||
	    instance->stopped)
		return;
	notice->due = notice->first + notice->delay;
	chores_by(instance, notice->due);
}

/**
 * hwtimer_notice_queued - events were queued
 * @instance: its lock is held
 *
 * Return: whether hwtimer_notice_wake() should follow, without the lock.
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
 * hwtimer_notice_taken - events were read or discarded, or may have been
 * @instance: its lock is held
 *
 * As long as one is left, the delay of the first one counts.
 */
void hwtimer_notice_taken(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	if (instance->stats.ready || hwtimer_exchange_unread(instance))
		return;
	instance->notice.first = HWTIMER_TICK_NONE;
	instance->notice.due = HWTIMER_TICK_NONE;
	WRITE_ONCE(instance->notice.overdue, false);
}

/**
 * hwtimer_notice_set - choose when and how readers are told
 * @instance: of which
 * @events: watermark
 * @delay: ns; HWTIMER_NEVER
 * @eventfd: becomes the instance's; NULL: none
 *
 * May sleep.
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
	if (instance->stats.ready || hwtimer_exchange_unread(instance))
		notice_delay(instance);
	ready = hwtimer_notice_ready(instance);
	spin_unlock(&instance->lock);

	if (ready)
		hwtimer_notice_wake(instance, EPOLLIN | EPOLLRDNORM);
	if (before)
		eventfd_ctx_put(before);
}

/* At the end of an instance. */
void hwtimer_notice_release(struct hwtimer_instance *instance)
{
	if (instance->notice.eventfd)
		eventfd_ctx_put(instance->notice.eventfd);
}

/* When to look at the clock next: all instances at the same time. */
static u64 next_look(u64 now)
{
	return now - now % NSEC_PER_SEC + NSEC_PER_SEC;
}

/* Whether there is a timer that goes by the clock, be it that it rests. */
static bool watched(const struct hwtimer_instance *instance)
{
	return (instance->stats.pending || instance->periodic) &&
	       !instance->stopped;
}

/**
 * hwtimer_notice_watch - a timer is pending: see whether the clock is set
 * @instance: its lock is held
 */
void hwtimer_notice_watch(struct hwtimer_instance *instance)
{
	struct hwtimer_notice *notice = &instance->notice;

	lockdep_assert_held(&instance->lock);
	if (likely(!(instance->settings.flags & HWTIMER_REPORT_CLOCK_SET)) ||
	    notice->watching || !watched(instance))
		return;
	notice->watching = true;
	notice->offset = hwtimer_clock_offset();
	chores_by(instance, next_look(ktime_get_ns()));
}

/**
 * hwtimer_notice_look - see whether the clock was set
 * @instance: its lock is held
 *
 * Return: whether hwtimer_notice_wake() should follow, without the lock.
 */
bool hwtimer_notice_look(struct hwtimer_instance *instance)
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

/* Whether there is a report that the clock was set; there is none afterwards. */
bool hwtimer_notice_take_report(struct hwtimer_instance *instance)
{
	return READ_ONCE(instance->notice.clock_set) &&
	       xchg(&instance->notice.clock_set, 0);
}

/**
 * hwtimer_notice_chores - what has to be done by now
 * @instance: of which
 *
 * Called by the worker, when CLOCK_MONOTONIC has come to the time of
 * @instance->chores.
 */
void hwtimer_notice_chores(struct hwtimer_instance *instance)
{
	struct hwtimer_notice *notice = &instance->notice;
	u64 now = ktime_get_ns();
	bool tell;

	spin_lock(&instance->lock);
	tell = hwtimer_notice_look(instance);
	/* Nobody has said that the ring is empty by now. */
	hwtimer_notice_taken(instance);
	if (notice->due <= now) {
		/* If there are enough, the last of them has said so. */
		tell |= !hwtimer_notice_ready(instance);
		notice->due = HWTIMER_TICK_NONE;
		WRITE_ONCE(notice->overdue, true);
	} else if (notice->due != HWTIMER_TICK_NONE && !instance->stopped) {
		chores_by(instance, notice->due);
	}
	notice->watching = notice->watching && watched(instance);
	if (notice->watching)
		chores_by(instance, next_look(now));
	spin_unlock(&instance->lock);

	if (tell)
		hwtimer_notice_wake(instance, EPOLLIN | EPOLLRDNORM);
}
