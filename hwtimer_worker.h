/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Workers: the kthreads hwtimer/N that turn the wheels, each with an hrtimer
 * that wakes it for the earliest of its instances. Set up and torn down by the
 * module; attached to, detached from and kicked by instances.
 */
#ifndef HWTIMER_WORKER_H
#define HWTIMER_WORKER_H

#include <linux/timerqueue.h>
#include <linux/types.h>

struct hwtimer_instance;

/**
 * struct hwtimer_alarm - a time at which an instance needs its worker
 * @node: protected by the worker's lock
 * @instance: constant
 * @clock: the number of the clock that the time is of; written before the first
 *	kick
 * @offset: how far the instance's own clock is ahead of that clock of the host's, ns;
 *	written before the first kick
 */
struct hwtimer_alarm {
	struct timerqueue_node node;
	struct hwtimer_instance *instance;
	unsigned int clock;
	s64 offset;
};

int hwtimer_workers_start(unsigned int count, unsigned int rt_prio);
void hwtimer_workers_stop(void);

void hwtimer_worker_attach(struct hwtimer_instance *instance);
void hwtimer_worker_detach(struct hwtimer_instance *instance);
void hwtimer_worker_kick(struct hwtimer_alarm *alarm, u64 time);
void hwtimer_worker_forget(struct hwtimer_instance *instance);
u64 hwtimer_worker_wakeups(const struct hwtimer_instance *instance);

#endif /* HWTIMER_WORKER_H */
