// SPDX-License-Identifier: GPL-2.0
/*
 * Gives a job to a worker, asks the worker to serve it, and takes it away again; see
 * worker/worker.h.
 */
#include <linux/pid.h>
#include <linux/sched.h>

#include "worker/tenant.h"

/**
 * hwtimer_worker_tenant - the tenant of a job
 * @job: the job
 *
 * Return: the tenant, which stays the job's; NULL: none yet. Any context.
 */
struct hwtimer_tenant *hwtimer_worker_tenant(const struct hwtimer_job *job)
{
	/* Pairs with the smp_store_release() in hwtimer_worker_attach(). */
	return smp_load_acquire(&job->tenant);
}

/* The worker of a job; NULL: none yet. */
static struct hwtimer_worker *job_worker(const struct hwtimer_job *job)
{
	struct hwtimer_tenant *tenant = hwtimer_worker_tenant(job);

	return likely(tenant) ? tenant->worker : NULL;
}

/**
 * hwtimer_worker_kick - make the worker serve an alarm at a given time
 * @alarm: the alarm; its job was attached
 * @time: ns on the alarm's clock, plus the alarm's offset; a time beyond the range of
 *	that clock never comes
 *
 * Nothing happens if the alarm has an earlier time already, or if the job is detached. A
 * caller that computes @time from the state of an instance holds that instance's lock.
 * Any context but an interrupt; does not sleep; takes the worker's lock.
 */
void hwtimer_worker_kick(struct hwtimer_alarm *alarm, u64 time)
{
	struct hwtimer_tenant *tenant = hwtimer_worker_tenant(alarm->job);
	ktime_t expires = hwtimer_clock_host_time(time, alarm->offset);

	if (WARN_ON_ONCE(!tenant))
		return;
	raw_spin_lock(&tenant->worker->lock);
	if (!alarm->job->detached)
		hwtimer_tenant_enter(tenant, alarm, expires);
	raw_spin_unlock(&tenant->worker->lock);
}

/* Reads one of the numbers that the worker keeps for a job. */
static u64 job_read(const struct hwtimer_job *job, const u64 *number)
{
	struct hwtimer_worker *worker = job_worker(job);
	u64 value;

	if (!worker)
		return 0;
	raw_spin_lock(&worker->lock);
	value = *number;
	raw_spin_unlock(&worker->lock);
	return value;
}

/**
 * hwtimer_worker_wakeups - number of wake-ups after which a worker served a job
 * @job: the job, which may have no worker yet
 *
 * Return: the number, without wake-ups after which the worker served only other jobs.
 * Does not sleep; takes the worker's lock.
 */
u64 hwtimer_worker_wakeups(const struct hwtimer_job *job)
{
	return job_read(job, &job->wakeups);
}

/**
 * hwtimer_worker_spent - the time that a worker has spent for a job
 * @job: the job, which may have no worker yet
 *
 * Return: the time from the beginning to the end of each of its slices, ns; that includes
 * time for which the thread had to wait for a processor. Does not sleep; takes the
 * worker's lock.
 */
u64 hwtimer_worker_spent(const struct hwtimer_job *job)
{
	return job_read(job, &job->spent);
}

/**
 * hwtimer_worker_pid - the thread of a job's worker
 * @job: the job
 * @namespace: a pid namespace
 *
 * Return: the pid of the thread in that namespace; 0: the job has no worker yet, or its thread
 * has no pid there. Does not sleep.
 */
pid_t hwtimer_worker_pid(const struct hwtimer_job *job,
			 struct pid_namespace *namespace)
{
	struct hwtimer_worker *worker = job_worker(job);

	return worker ? task_pid_nr_ns(worker->task, namespace) : 0;
}

static void job_alarm_init(struct hwtimer_alarm *alarm, struct hwtimer_job *job,
			   hwtimer_serve_fn *serve)
{
	timerqueue_init(&alarm->node);
	alarm->job = job;
	alarm->serve = serve;
	alarm->clock = HWTIMER_MONOTONIC;
}

/**
 * hwtimer_job_init - prepare a job
 * @job: the job; zeroed
 * @turn: function that serves the alarm @job->turns
 * @chores: function that serves the alarm @job->chores; NULL: it is never kicked
 *
 * The job has no worker yet. Any context.
 */
void hwtimer_job_init(struct hwtimer_job *job, hwtimer_serve_fn *turn,
		      hwtimer_serve_fn *chores)
{
	job_alarm_init(&job->turns, job, turn);
	job_alarm_init(&job->chores, job, chores);
	/* No wake-up has this number, so the job's first wake-up counts. */
	job->served_at = U64_MAX;
}

/**
 * hwtimer_worker_attach - give a job to a tenant, and so to its worker
 * @job: the job, which has no tenant
 * @tenant: the tenant; the caller's reference passes to the job, whose owner gives it up by
 *	hwtimer_tenant_put() when nobody uses the job any more
 *
 * The worker does not serve a job before one of the job's alarms is kicked. No other thread
 * attaches the job. Any context.
 */
void hwtimer_worker_attach(struct hwtimer_job *job,
			   struct hwtimer_tenant *tenant)
{
	/* Pairs with the smp_load_acquire() in hwtimer_worker_tenant(). */
	smp_store_release(&job->tenant, tenant);
}

/**
 * hwtimer_worker_leave - take a job away from its worker, without waiting
 * @job: the job, which may have no worker, and may be detached already
 * @left: called when the worker does not touch the job any more, unless it does not now
 *
 * Return: whether the worker is serving the job, and will call @left when that slice is
 * finished. If not, @left is not called. Does not sleep; takes the worker's lock.
 */
bool hwtimer_worker_leave(struct hwtimer_job *job, hwtimer_left_fn *left)
{
	struct hwtimer_worker *worker = job_worker(job);
	bool running;

	if (!worker)
		return false;
	raw_spin_lock(&worker->lock);
	job->detached = true;
	hwtimer_tenant_forget(job->tenant, &job->turns);
	hwtimer_tenant_forget(job->tenant, &job->chores);
	running = worker->running == job;
	if (running)
		job->left = left;
	raw_spin_unlock(&worker->lock);
	return running;
}
