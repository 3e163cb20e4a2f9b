/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Workers: the kthreads hwtimer/N, each with an hrtimer for every clock, which wakes it
 * for the earliest alarm. hwtimer_main.c starts and stops them; hwtimer_instance.c
 * attaches and detaches the job of each instance; whoever finds that an instance has
 * something to do kicks one of its alarms.
 *
 * A worker knows of no instance: an alarm carries the function that serves it, as a work
 * item does. One kthread serves many instances, as a thread for each would cost memory and
 * a switch of threads for each tick.
 */
#ifndef HWTIMER_WORKER_H
#define HWTIMER_WORKER_H

#include <linux/timerqueue.h>
#include <linux/types.h>

struct hwtimer_alarm;
struct hwtimer_job;
struct hwtimer_worker;

/**
 * typedef hwtimer_serve_fn - serves an alarm whose time has come
 * @alarm: the alarm, which is not in its queue any more
 * @due: room for HWTIMER_HOLD indices of records; the worker's own
 *
 * The worker calls it with no lock held, for one slice. Should not sleep for long: other
 * instances wait for the worker.
 */
typedef void hwtimer_serve_fn(struct hwtimer_alarm *alarm, u32 *due);

/**
 * struct hwtimer_alarm - a time at which a job needs its worker
 * @node: the place in the worker's queue; protected by the worker's lock
 * @job: the job; constant
 * @serve: called when the time has come; constant
 * @clock: number of the clock that the time is of; written before the first kick
 * @offset: how far the times that kicks give are ahead of that clock, ns; written before
 *	the first kick
 */
struct hwtimer_alarm {
	struct timerqueue_node node;
	struct hwtimer_job *job;
	hwtimer_serve_fn *serve;
	unsigned int clock;
	s64 offset;
};

/**
 * struct hwtimer_job - what a worker does for one instance
 * @worker: the worker; constant
 * @turns: the alarm for turning the wheel, on the instance's clock
 * @chores: the alarm for all other reasons, on the host's CLOCK_MONOTONIC; if there are
 *	several, for the earliest
 * @wakeups: number of wake-ups of the worker after which it served this job; protected by
 *	the worker's lock, as are the members below
 * @served_at: number of the wake-up after which the worker last served this job
 * @detached: the alarms are not queued any more
 */
struct hwtimer_job {
	struct hwtimer_worker *worker;
	struct hwtimer_alarm turns;
	struct hwtimer_alarm chores;
	u64 wakeups;
	u64 served_at;
	bool detached;
};

int hwtimer_workers_start(unsigned int count, unsigned int rt_prio);
void hwtimer_workers_stop(void);

void hwtimer_worker_attach(struct hwtimer_job *job, hwtimer_serve_fn *turn,
			   hwtimer_serve_fn *chores);
void hwtimer_worker_detach(struct hwtimer_job *job);
void hwtimer_worker_kick(struct hwtimer_alarm *alarm, u64 time);
void hwtimer_worker_forget(struct hwtimer_job *job);
u64 hwtimer_worker_wakeups(const struct hwtimer_job *job);

#endif /* HWTIMER_WORKER_H */
