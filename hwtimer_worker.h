/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Workers call functions at given times. A worker is a kthread hwtimer/N with one hrtimer
 * for each clock, which wakes the worker for the earliest alarm.
 *
 * hwtimer_main.c starts and stops the workers. hwtimer_instance.c attaches the job of
 * each instance to a worker; hwtimer_instance.c and hwtimer_client.c detach it.
 * hwtimer_wakeup.c and hwtimer_client.c kick the alarms of a job when the instance has
 * something to do.
 *
 * A worker knows nothing of instances: an alarm carries the function that serves it, as a
 * work item does. One kthread serves many instances, because a thread for each would cost
 * memory, and a switch of threads for each tick.
 */
#ifndef HWTIMER_WORKER_H
#define HWTIMER_WORKER_H

#include <linux/timerqueue.h>
#include <linux/types.h>

struct hwtimer_alarm;
struct hwtimer_job;
struct hwtimer_worker;

/**
 * typedef hwtimer_serve_fn - function that serves an alarm whose time has come
 * @alarm: the alarm, which is not in its queue any more
 * @due: room for HWTIMER_HOLD indices of records; belongs to the worker
 *
 * The worker calls the function with no lock held. The function does one slice of its
 * work. It may sleep, but not for long, because other instances wait for the worker.
 */
typedef void hwtimer_serve_fn(struct hwtimer_alarm *alarm, u32 *due);

/**
 * struct hwtimer_alarm - a time at which a job needs its worker
 * @node: entry in the worker's queue, with the time; protected by the worker's lock
 * @job: the job; constant
 * @serve: function that is called when the time has come; constant
 * @clock: number of the clock of the alarm; written before the first kick
 * @offset: ns by which the times that callers pass to hwtimer_worker_kick() are ahead of
 *	that clock; written before the first kick
 */
struct hwtimer_alarm {
	struct timerqueue_node node;
	struct hwtimer_job *job;
	hwtimer_serve_fn *serve;
	unsigned int clock;
	s64 offset;
};

/**
 * struct hwtimer_job - the alarms by which a worker serves one instance
 * @worker: the worker; constant
 * @turns: the alarm for turning the wheel, on the instance's clock
 * @chores: the alarm for everything else, on the host's CLOCK_MONOTONIC. If there are
 *	several reasons, its time is the earliest
 * @wakeups: number of wake-ups of the worker after which it served this job; protected by
 *	the worker's lock
 * @served_at: number of the wake-up after which the worker last served this job;
 *	protected by the worker's lock
 * @detached: the alarms can no longer be queued; protected by the worker's lock
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
