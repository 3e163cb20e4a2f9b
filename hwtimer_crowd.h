/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A wait queue that is woken in pieces, because a program may have a hundred thousand
 * epoll instances that wait for one descriptor. wake_up() would wake all of them in one
 * go, with interrupts off.
 *
 * hwtimer_notice.c calls this: it wakes the first waiters at once, and has the worker
 * wake the others in the chores of the instance. hwtimer_main.c adds waiters to the
 * queue in the usual ways.
 */
#ifndef HWTIMER_CROWD_H
#define HWTIMER_CROWD_H

#include <linux/types.h>
#include <linux/wait.h>

/* Maximum number of waiters that are woken in one hold of the queue's lock */
#define HWTIMER_WAITERS 64U

/**
 * struct hwtimer_crowd - a wait queue, and how far its waiters have been woken
 * @queue: the wait queue; only hwtimer_crowd.c may wake it
 * @mark: entry in @queue before the first waiter that the present round has yet to wake;
 *	in no list: there is no round
 * @mask: the mask that the round passes to waiters
 * @again: the mask of wake-ups that want another round afterwards; 0: there are none
 * @left: there is a round, or another one is due; also read without the lock
 *
 * The lock of @queue protects the other members.
 */
struct hwtimer_crowd {
	wait_queue_head_t queue;
	struct wait_queue_entry mark;
	__poll_t mask;
	__poll_t again;
	bool left;
};

void hwtimer_crowd_init(struct hwtimer_crowd *crowd);
bool hwtimer_crowd_wake(struct hwtimer_crowd *crowd, __poll_t mask);
bool hwtimer_crowd_go_on(struct hwtimer_crowd *crowd);

#endif /* HWTIMER_CROWD_H */
