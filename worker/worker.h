/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Workers call functions at given times. A worker is a kthread with one hrtimer for each
 * clock, which wakes the worker for the earliest alarm.
 *
 * worker/workers.c creates and ends workers, and finds tenants. memory/supply.c attaches
 * an instance's job to its tenant when the instance starts. instance/instance.c takes the
 * job away. worker/wakeup.c kicks the alarms of a job when there is something to do.
 *
 * A worker knows nothing of instances: an alarm carries the function that serves it, as a
 * work item does. One kthread serves several instances, because a thread for each would
 * cost memory, and a switch of threads for each tick.
 */
#ifndef HWTIMER_WORKER_H
#define HWTIMER_WORKER_H

#include <linux/timerqueue.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#include "wheel/wheel.h"

struct hwtimer_alarm;
struct hwtimer_job;
struct hwtimer_tenant;
struct hwtimer_worker;
struct pid_namespace;

/**
 * typedef hwtimer_serve_fn - function that serves an alarm whose time has come
 * @alarm: the alarm, which is not in its queue any more
 *
 * The worker calls the function with no lock held. The function does one slice of its
 * work. It may sleep, but not for long, because other instances wait for the worker.
 */
typedef void hwtimer_serve_fn(struct hwtimer_alarm *alarm);

/**
 * typedef hwtimer_left_fn - function that is called when a worker has left a job
 * @job: the job, which the worker does not touch any more; the function may free it
 *
 * No lock is held. May sleep.
 */
typedef void hwtimer_left_fn(struct hwtimer_job *job);

/**
 * struct hwtimer_alarm - a time at which a job needs its worker
 * @node: entry in a queue of the tenant, with the time; protected by the worker's lock
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
 * @tenant: the tenant, and so the worker, to which the job belongs; NULL: none yet. Set
 *	once, by hwtimer_worker_attach()
 * @turns: the alarm for turning the wheel, on the instance's clock
 * @chores: the alarm for everything else, on the host's CLOCK_MONOTONIC. If there are
 *	several reasons, its time is the earliest
 * @wakeups: number of wake-ups of the worker after which it served this job
 * @served_at: number of the wake-up after which the worker last served this job
 * @rank: the job's place among those of its tenant that are due: the lowest is served
 *	first. Grows by the time that the job's slices take
 * @spent: time that the worker has spent in this job's slices, ns
 * @left: called when the worker has ended the slice of this job that is running; NULL: the
 *	job was not detached, or no slice ran then
 * @detached: the alarms can no longer be queued
 *
 * The worker's lock protects all members from @wakeups on.
 */
struct hwtimer_job {
	struct hwtimer_tenant *tenant;
	struct hwtimer_alarm turns;
	struct hwtimer_alarm chores;
	u64 wakeups;
	u64 served_at;
	u64 rank;
	u64 spent;
	hwtimer_left_fn *left;
	bool detached;
};

/**
 * struct hwtimer_tenant_id - by whom tenants are told apart
 * @uid: the user
 * @cgroup: the id of the cgroup in the version 2 hierarchy
 */
struct hwtimer_tenant_id {
	kuid_t uid;
	u64 cgroup;
};

struct hwtimer_worker *hwtimer_worker_create(unsigned int nr,
					     unsigned int priority);
void hwtimer_worker_stop(struct hwtimer_worker *worker);
void hwtimer_worker_free(struct hwtimer_worker *worker);

struct hwtimer_tenant *hwtimer_tenant_get(struct hwtimer_worker *worker,
					  const struct hwtimer_tenant_id *id);
void hwtimer_tenant_put(struct hwtimer_tenant *tenant);
u64 hwtimer_tenant_spent(struct hwtimer_tenant *tenant, unsigned int *nr);

void hwtimer_job_init(struct hwtimer_job *job, hwtimer_serve_fn *turn,
		      hwtimer_serve_fn *chores);
struct hwtimer_tenant *hwtimer_worker_tenant(const struct hwtimer_job *job);
void hwtimer_worker_attach(struct hwtimer_job *job,
			   struct hwtimer_tenant *tenant);
bool hwtimer_worker_leave(struct hwtimer_job *job, hwtimer_left_fn *left);
void hwtimer_worker_kick(struct hwtimer_alarm *alarm, u64 time);
void hwtimer_worker_forget(struct hwtimer_job *job);
u64 hwtimer_worker_wakeups(const struct hwtimer_job *job);
u64 hwtimer_worker_spent(const struct hwtimer_job *job);
pid_t hwtimer_worker_pid(const struct hwtimer_job *job,
			 struct pid_namespace *namespace);

#endif /* HWTIMER_WORKER_H */
