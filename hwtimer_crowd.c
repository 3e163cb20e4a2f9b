// SPDX-License-Identifier: GPL-2.0
/*
 * Wakes the waiters of a wait queue in pieces; see hwtimer_crowd.h.
 *
 * A wake-up wakes the first HWTIMER_WAITERS waiters at once. That is all of them in
 * nearly every program. If more wait, a round begins: a mark is put into the queue before
 * the first of the others, and each call of hwtimer_crowd_go_on() wakes some waiters
 * behind the mark and moves the mark behind them.
 *
 * A waiter that is in the queue at the time of a wake-up is woken after it:
 *
 *	among the first		by the wake-up itself
 *	behind the mark		by the round
 *	anywhere else		by another round, for which the wake-up asks
 *
 * A waiter that enters the queue later need not be woken. It has taken the queue's lock
 * after the waker, and then checks what it waits for. So it sees what the waker has
 * written before. That is the rule of every wait queue; see wq_has_sleeper().
 *
 * Another round begins only after the present one. Otherwise frequent wake-ups would
 * wake the first waiters again and again, and never the last ones.
 *
 * A waiter may be woken more often than once, as in any wait queue; it checks then. It
 * may be woken with the mask of several wake-ups. poll() and epoll compare the mask with
 * what they want, and then ask the descriptor.
 *
 * Exclusive waiters, which EPOLLEXCLUSIVE makes, stand at the end of the queue. As in
 * wake_up(), the first of them that accepts ends the wake-up, or the round. Wake-ups that
 * share a round may wake one of them together, as if the events had come at once.
 */
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include "hwtimer_crowd.h"

/**
 * hwtimer_crowd_init - initialize the wait queue of a new instance
 * @crowd: the crowd, zeroed
 *
 * There is nothing to release. When an instance is freed, no waiter is left: threads in
 * read() and poll() hold the file, and the kernel takes the file out of all epoll
 * instances before it calls release().
 */
void hwtimer_crowd_init(struct hwtimer_crowd *crowd)
{
	init_waitqueue_head(&crowd->queue);
	/* No function: it is never woken, as no other code wakes the queue. */
	INIT_LIST_HEAD(&crowd->mark.entry);
}

static bool crowd_has_round(const struct hwtimer_crowd *crowd)
{
	lockdep_assert_held(&crowd->queue.lock);
	return !list_empty(&crowd->mark.entry);
}

static struct wait_queue_entry *crowd_first(struct hwtimer_crowd *crowd)
{
	return list_first_entry(&crowd->queue.head, struct wait_queue_entry,
				entry);
}

/*
 * Wakes waiters from @waiter on, HWTIMER_WAITERS at most. Returns the one to wake next;
 * NULL: the wake-up has come to its end, or to the mark. Does what __wake_up_common()
 * does, which knows no limit.
 */
static struct wait_queue_entry *wake_some(struct hwtimer_crowd *crowd,
					  struct wait_queue_entry *waiter,
					  __poll_t mask)
{
	struct wait_queue_entry *next;
	unsigned int count = 0;

	lockdep_assert_held(&crowd->queue.lock);
	list_for_each_entry_safe_from(waiter, next, &crowd->queue.head, entry) {
		/* Once the function has been called, the waiter may be gone. */
		bool exclusive = waiter->flags & WQ_FLAG_EXCLUSIVE;
		int ret;

		if (waiter == &crowd->mark)
			break;
		if (count++ == HWTIMER_WAITERS)
			return waiter;
		ret = waiter->func(waiter, TASK_INTERRUPTIBLE, 0,
				   poll_to_key(mask));
		if (ret < 0 || (ret && exclusive))
			break;
	}
	return NULL;
}

/* Has the round go on at @next, if that is not NULL. */
static void set_mark(struct hwtimer_crowd *crowd, struct wait_queue_entry *next,
		     __poll_t mask)
{
	lockdep_assert_held(&crowd->queue.lock);
	if (!next)
		return;
	list_add_tail(&crowd->mark.entry, &next->entry);
	crowd->mask = mask;
}

static void note_left(struct hwtimer_crowd *crowd)
{
	WRITE_ONCE(crowd->left, crowd_has_round(crowd) || crowd->again);
}

/* Wakes the first waiters, and leaves the others to a round. */
static void wake_first(struct hwtimer_crowd *crowd, __poll_t mask)
{
	struct wait_queue_entry *next =
		wake_some(crowd, crowd_first(crowd), mask);

	if (!crowd_has_round(crowd)) {
		set_mark(crowd, next, mask);
		return;
	}
	crowd->mask |= mask;
	if (next)
		crowd->again |= mask;
}

/* Goes on with the round, or else begins another one, which is due. */
static void wake_left(struct hwtimer_crowd *crowd)
{
	struct wait_queue_entry *from = list_next_entry(&crowd->mark, entry);
	__poll_t mask = crowd->again;

	if (!crowd_has_round(crowd)) {
		crowd->again = 0;
		wake_first(crowd, mask);
		return;
	}
	list_del_init(&crowd->mark.entry);
	set_mark(crowd, wake_some(crowd, from, crowd->mask), crowd->mask);
}

/**
 * hwtimer_crowd_wake - wake the waiters
 * @crowd: the crowd
 * @mask: the events that poll() reports, for the waiters; not 0
 *
 * Wakes the first HWTIMER_WAITERS waiters. Calls their functions with interrupts off.
 *
 * Return: whether waiters are left, so that the caller has to see to it that
 * hwtimer_crowd_go_on() is called; true, too, if that was so before. Any context but an
 * interrupt; does not sleep; takes the queue's lock.
 */
bool hwtimer_crowd_wake(struct hwtimer_crowd *crowd, __poll_t mask)
{
	unsigned long flags;
	bool left;

	/*
	 * Pairs with the barrier in prepare_to_wait(). poll() needs none: it reads the
	 * state under the instance's lock after it has added its entry.
	 */
	if (!wq_has_sleeper(&crowd->queue))
		return false;
	spin_lock_irqsave(&crowd->queue.lock, flags);
	wake_first(crowd, mask);
	note_left(crowd);
	left = crowd->left;
	spin_unlock_irqrestore(&crowd->queue.lock, flags);
	return left;
}

/**
 * hwtimer_crowd_go_on - wake some of the waiters that are left
 * @crowd: the crowd
 *
 * For the worker's chores, and for a waker where there is no worker. Wakes
 * HWTIMER_WAITERS waiters at most. Calls their functions with interrupts off.
 *
 * Return: whether waiters are left, and the caller has to call this again. Any context
 * but an interrupt; does not sleep; takes the queue's lock if waiters are left.
 */
bool hwtimer_crowd_go_on(struct hwtimer_crowd *crowd)
{
	unsigned long flags;
	bool left;

	/* A waker that leaves waiters calls the worker after it has set @left. */
	if (likely(!READ_ONCE(crowd->left)))
		return false;
	spin_lock_irqsave(&crowd->queue.lock, flags);
	/* Another caller may have come first. */
	if (crowd->left)
		wake_left(crowd);
	note_left(crowd);
	left = crowd->left;
	spin_unlock_irqrestore(&crowd->queue.lock, flags);
	return left;
}
