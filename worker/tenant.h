/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The worker and its tenants, as the files of this room see them; see worker/tenant.c.
 */
#ifndef HWTIMER_TENANT_H
#define HWTIMER_TENANT_H

#include <linux/hrtimer.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>

#include "worker/worker.h"

/**
 * struct hwtimer_tenant_queue - a tenant's alarms on one clock
 * @alarms: the alarms in the order of their times
 * @node: entry in the worker's queue of tenants on this clock, with the time of the first
 *	alarm
 * @tenant: the tenant; constant
 * @common: the worker's queue of tenants on this clock; constant
 *
 * Protected by the worker's lock.
 */
struct hwtimer_tenant_queue {
	struct timerqueue_head alarms;
	struct timerqueue_node node;
	struct hwtimer_tenant *tenant;
	struct hwtimer_worker_queue *common;
};

/**
 * struct hwtimer_tenant - all jobs of a worker with the same user and the same cgroup
 * @worker: the worker; constant
 * @id: the user and the cgroup; constant
 * @node: entry in the worker's tree of tenants
 * @users: number of references; see hwtimer_tenant_get()
 * @queues: the alarms, by the number of their clock
 * @clocks: the clocks whose queue is not empty, one bit for each
 * @ready: alarms that are due, by the rank of their jobs, which stands in their times
 * @job_rank: the rank of the job that was picked last, or a higher one that was picked before
 * @rank: the tenant's place among those that are due: the lowest is served first; 0: it was
 *	not due yet
 * @place: entry in the worker's queue of tenants that are due, by @rank
 * @spent: time that the worker has spent for the tenant, ns
 *
 * The worker's lock protects all members from @node on.
 */
struct hwtimer_tenant {
	struct hwtimer_worker *worker;
	struct hwtimer_tenant_id id;
	struct rb_node node;
	unsigned int users;
	struct hwtimer_tenant_queue queues[HWTIMER_CLOCKS];
	unsigned long clocks;
	struct timerqueue_head ready;
	u64 job_rank;
	u64 rank;
	struct timerqueue_node place;
	u64 spent;
};

/**
 * struct hwtimer_worker_queue - the tenants that have an alarm on one clock
 * @tenants: those that rest, in the order of their first alarms; protected by the worker's
 *	lock
 * @timer: hrtimer that wakes the worker for the first alarm; armed with the worker's lock
 *	held, while the worker sleeps
 * @bit: the bit of the clock in sets of clocks; constant
 * @worker: the worker; constant
 */
struct hwtimer_worker_queue {
	struct timerqueue_head tenants;
	struct hrtimer timer;
	unsigned long bit;
	struct hwtimer_worker *worker;
};

/**
 * struct hwtimer_worker - one kthread
 * @task: the kthread; constant
 * @lock: raw spinlock; protects all members below, up to @wakeups. Taken inside an
 *	instance's lock
 * @tenants: all tenants, in the order of their users, and then of their cgroups
 * @queues: the tenants that rest, by the number of the clock
 * @clocks: the clocks whose queue is not empty
 * @ready: tenants that have an alarm that is due, by their rank
 * @rank: the rank of the tenant that was picked last, or a higher one that was picked before
 * @running: the job that is being served; NULL: none
 * @sleeping: the worker found no due alarm and armed the hrtimers; a kick that changes
 *	the first alarm of a queue arms that queue's hrtimer anew
 * @wakeups: number of times the worker woke up
 * @slice_start: time at which the slice began, ns on CLOCK_MONOTONIC; used by the kthread
 *	only
 */
struct hwtimer_worker {
	struct task_struct *task;

	raw_spinlock_t lock; /* see above */
	struct rb_root tenants;
	struct hwtimer_worker_queue queues[HWTIMER_CLOCKS];
	unsigned long clocks;
	struct timerqueue_head ready;
	u64 rank;
	const struct hwtimer_job *running;
	bool sleeping;
	u64 wakeups;

	u64 slice_start;
};

/* ---- tenant.c ---- */

void hwtimer_tenant_enter(struct hwtimer_tenant *tenant,
			  struct hwtimer_alarm *alarm, ktime_t expires);
void hwtimer_tenant_forget(struct hwtimer_tenant *tenant,
			   struct hwtimer_alarm *alarm);
struct hwtimer_tenant *hwtimer_tenant_next(struct hwtimer_worker *worker,
					   u64 now);
struct hwtimer_alarm *hwtimer_tenant_pick(struct hwtimer_tenant *tenant,
					  u64 now);
void hwtimer_tenant_charge(struct hwtimer_worker *worker,
			   struct hwtimer_job *job);
void hwtimer_tenant_return(struct hwtimer_tenant *tenant);

/* ---- worker.c ---- */

void hwtimer_worker_arm(struct hwtimer_worker_queue *queue);

#endif /* HWTIMER_TENANT_H */
