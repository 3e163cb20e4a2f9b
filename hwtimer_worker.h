/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Workers call functions at given times. A worker is a kthread with one hrtimer for each
 * clock, which wakes the worker for the earliest alarm.
 *
 * hwtimer_owner.c creates and ends workers, and gives them jobs: each instance is one job.
 * hwtimer_instance.c takes the jobs away. hwtimer_wakeup.c kicks the alarms of a job when
 * there is something to do.
 *
 * A worker knows nothing of instances: an alarm carries the function that serves it, as a
 * work item does. One kthread serves several instances, because a thread for each would
 * cost memory, and a switch of threads for each tick.
 */
#ifndef HWTIMER_WORKER_H
#define HWTIMER_WORKER_H

#include <linux/list.h>
#include <linux/time64.h>
#include <linux/timerqueue.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "hwtimer_wheel.h"

/*
 * Time after which a slice begins nothing more, ns. What it has begun by then, one hold
 * of HWTIMER_HOLD timers, it ends.
 */
#define HWTIMER_SLICE_TIME (100ULL * NSEC_PER_USEC)

struct hwtimer_alarm;
struct hwtimer_job;
struct hwtimer_worker;
struct pid_namespace;
struct task_struct;

/**
 * struct hwtimer_slice - what the worker lends to the function that serves an alarm
 * @start: time at which the slice began, ns on CLOCK_MONOTONIC
 * @due: room for indices of records
 */
struct hwtimer_slice {
	u64 start;
	u32 due[HWTIMER_HOLD];
};

/**
 * typedef hwtimer_serve_fn - function that serves an alarm whose time has come
 * @alarm: the alarm, which is not in its queue any more
 * @slice: the slice; belongs to the worker
 *
 * The worker calls the function with no lock held. The function does one slice of its
 * work. It may sleep, but not for long, because other instances wait for the worker.
 */
typedef void hwtimer_serve_fn(struct hwtimer_alarm *alarm,
			      struct hwtimer_slice *slice);

/**
 * typedef hwtimer_left_fn - function that is called when a worker has left a job
 * @job: the job, which the worker does not touch any more; the function may free it
 *
 * No lock is held. May sleep.
 */
typedef void hwtimer_left_fn(struct hwtimer_job *job);

/**
 * typedef hwtimer_desert_fn - function that is called when a worker gives up a job
 * @job: the job
 *
 * The worker calls the function with no lock held. The function must call
 * hwtimer_worker_release(), unless the job is detached. May sleep.
 */
typedef void hwtimer_desert_fn(struct hwtimer_job *job);

/**
 * typedef hwtimer_ended_fn - function that is called when a worker's thread exits
 * @context: what hwtimer_worker_create() was given
 *
 * The thread calls it with no lock held. May sleep.
 */
typedef void hwtimer_ended_fn(void *context);

/**
 * struct hwtimer_alarm - a time at which a job needs its worker
 * @node: entry in the worker's queue, with the time; protected by the worker's lock
 * @job: the job; constant
 * @serve: function that is called when the time has come; constant
 * @clock: number of the clock of the alarm; written before the first kick
 * @ready: the entry is in the queue of alarms that are due; protected by the worker's lock
 * @offset: ns by which the times that callers pass to hwtimer_worker_kick() are ahead of
 *	that clock; written before the first kick
 */
struct hwtimer_alarm {
	struct timerqueue_node node;
	struct hwtimer_job *job;
	hwtimer_serve_fn *serve;
	unsigned int clock;
	bool ready;
	s64 offset;
};

/**
 * struct hwtimer_job - the alarms by which a worker serves one instance
 * @worker: the worker; NULL: none yet, or none any more. Written with the lock of that
 *	worker held. A reader without the lock holds the RCU read lock, see job_lock()
 * @starter: the user who may give the job a worker; INVALID_UID: every user. Constant
 * @starter_cgroup: if @starter is 0, the cgroup in which that is; otherwise 0. Constant
 * @turns: the alarm for turning the wheel, on the instance's clock
 * @chores: the alarm for everything else, on the host's CLOCK_MONOTONIC. If there are
 *	several reasons, its time is the earliest
 * @desert: called when the worker gives up the job; NULL: the worker never does that.
 *	Constant
 * @deserted: a worker has given up the job, some time; also read without the lock
 * @entry: entry in the worker's list of the jobs that it could give up
 * @wakeups: number of wake-ups of the worker after which it served this job
 * @served_at: number of the wake-up after which the worker last served this job
 * @spent: time that the worker has spent in this job's slices, ns
 * @rank: the job's place among those that are due: the lowest is served first. Grows by
 *	the time that the job's slices take
 * @left: called when the worker has ended the slice of this job that is running; NULL: the
 *	job was not detached, or no slice ran then
 * @detached: the alarms can no longer be queued
 *
 * The worker's lock protects all members from @deserted on. Without a worker, only who
 * frees the job writes them.
 */
struct hwtimer_job {
	struct hwtimer_worker *worker;
	kuid_t starter;
	u64 starter_cgroup;
	struct hwtimer_alarm turns;
	struct hwtimer_alarm chores;
	hwtimer_desert_fn *desert;
	bool deserted;
	struct list_head entry;
	u64 wakeups;
	u64 served_at;
	u64 spent;
	u64 rank;
	hwtimer_left_fn *left;
	bool detached;
};

struct hwtimer_worker *
hwtimer_worker_create(const char *name, hwtimer_ended_fn *ended, void *context);
void hwtimer_worker_end(struct hwtimer_worker *worker);
void hwtimer_workers_await_end(void);
struct task_struct *hwtimer_worker_task(const struct hwtimer_worker *worker);
void *hwtimer_worker_context(const struct hwtimer_worker *worker);
pid_t hwtimer_worker_pid(const struct hwtimer_job *job,
			 struct pid_namespace *namespace);

void hwtimer_job_init(struct hwtimer_job *job, hwtimer_serve_fn *turn,
		      hwtimer_serve_fn *chores);
bool hwtimer_worker_attach(struct hwtimer_job *job,
			   struct hwtimer_worker *worker);
struct hwtimer_worker *hwtimer_worker_of(const struct hwtimer_job *job);
bool hwtimer_worker_leave(struct hwtimer_job *job, hwtimer_left_fn *left);
unsigned int hwtimer_worker_desert(struct hwtimer_worker *worker);
bool hwtimer_worker_release(struct hwtimer_job *job);
void hwtimer_worker_kick(struct hwtimer_alarm *alarm, u64 time);
void hwtimer_worker_forget(struct hwtimer_job *job);
u64 hwtimer_worker_wakeups(const struct hwtimer_job *job);
u64 hwtimer_worker_spent(const struct hwtimer_job *job);

#endif /* HWTIMER_WORKER_H */
