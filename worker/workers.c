// SPDX-License-Identifier: GPL-2.0
/*
 * Creates workers, and chooses one for each instance; see worker/worker.h.
 *
 * A worker is created when the first instance is given to it. It then stays until the
 * module is unloaded, so that few programs wait for a thread to be created. An instance
 * keeps its worker. The processor on which an instance starts chooses the worker: programs
 * that run on different processors then mostly have different workers, and the worker's
 * lock mostly is in the cache of the processor that kicks.
 *
 * No lock is held while a worker is created: the caller may be a program that hardly gets
 * any processor time, and others would wait for it. If two create the same worker, one of
 * them ends its own.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "compat.h"
#include "worker/worker.h"

/* The number of workers by default, if the machine has as many processors */
#define HWTIMER_WORKERS_DEFAULT 8

static unsigned int nr_workers;
module_param_named(workers, nr_workers, uint, 0444);
MODULE_PARM_DESC(workers,
		 "Number of kthreads; 0: as many as processors, up to 8");

/*
 * On PREEMPT_RT, a thread that holds a lock can be preempted, and throttled by its cgroup.
 * A worker that waits for the lock lends it its priority, if that is a real-time one.
 */
static unsigned int worker_rt_prio = IS_ENABLED(CONFIG_PREEMPT_RT);
module_param_named(rt_prio, worker_rt_prio, uint, 0444);
MODULE_PARM_DESC(rt_prio, "SCHED_RR priority of the kthreads; 0: none");

/* The workers that were created, by their numbers; an entry is written once */
static struct hwtimer_worker *hwtimer_workers[HWTIMER_WORKERS_MAX];

/* Whether a module parameter is valid; if it is not, the log gives the range. */
static bool parameter_valid(const char *name, unsigned int value,
			    unsigned int min, unsigned int max)
{
	if (value >= min && value <= max)
		return true;
	pr_err("%s=%u is out of range: %u to %u\n", name, value, min, max);
	return false;
}

/**
 * hwtimer_workers_parameters_valid - check the module parameters of this file, at module load
 *
 * Replaces a parameter that is 0 by its default, so that sysfs shows the number.
 *
 * Return: whether all are in range; the log names the first that is not. Any context.
 */
bool hwtimer_workers_parameters_valid(void)
{
	nr_workers = nr_workers ?:
				  min_t(unsigned int, num_possible_cpus(),
					HWTIMER_WORKERS_DEFAULT);
	return parameter_valid("workers", nr_workers, 1, HWTIMER_WORKERS_MAX) &&
	       parameter_valid("rt_prio", worker_rt_prio, 0, MAX_RT_PRIO - 1);
}

/* Creates the worker @nr, unless another thread is faster. Returns it or an ERR_PTR(). */
static struct hwtimer_worker *worker_add(unsigned int nr)
{
	struct hwtimer_worker *worker =
		hwtimer_worker_create(nr, worker_rt_prio);
	struct hwtimer_worker *other;

	if (IS_ERR(worker))
		return worker;
	/* Pairs with the smp_load_acquire() in worker_get(). */
	other = cmpxchg(&hwtimer_workers[nr], NULL, worker);
	if (!other)
		return worker;
	hwtimer_worker_stop(worker);
	hwtimer_worker_free(worker);
	return other;
}

/* The worker of the current processor, or ERR_PTR(). */
static struct hwtimer_worker *worker_get(void)
{
	unsigned int nr = raw_smp_processor_id() % nr_workers;
	/* Pairs with the cmpxchg() in worker_add(). */
	struct hwtimer_worker *worker = smp_load_acquire(&hwtimer_workers[nr]);

	return worker ?: worker_add(nr);
}

/**
 * hwtimer_workers_caller - the user and the cgroup of the current process
 *
 * Return: these. Any context of a process.
 */
struct hwtimer_tenant_id hwtimer_workers_caller(void)
{
	return (struct hwtimer_tenant_id){
		.uid = current_uid(),
		.cgroup = hwtimer_cgroup_of_caller(),
	};
}

/**
 * hwtimer_workers_tenant - find or create a tenant, with a worker
 * @id: the user and the cgroup
 *
 * Return: the tenant, with a reference, of the worker of the current processor; ERR_PTR():
 * -ENOMEM, -EINTR (the caller is being killed). May sleep; waits for no other program.
 */
struct hwtimer_tenant *
hwtimer_workers_tenant(const struct hwtimer_tenant_id *id)
{
	struct hwtimer_worker *worker = worker_get();
	struct hwtimer_tenant *tenant;

	if (IS_ERR(worker))
		return ERR_CAST(worker);
	tenant = hwtimer_tenant_get(worker, id);
	return tenant ?: ERR_PTR(-ENOMEM);
}

/**
 * hwtimer_workers_stop - end the threads of all workers, at module unload
 *
 * No file is open. A work item may still free an instance that a worker served
 * when it was closed. May sleep.
 */
void hwtimer_workers_stop(void)
{
	unsigned int nr;

	for (nr = 0; nr < nr_workers; nr++)
		if (hwtimer_workers[nr])
			hwtimer_worker_stop(hwtimer_workers[nr]);
}

/**
 * hwtimer_workers_free - free all workers, at module unload
 *
 * hwtimer_workers_stop() was called before, and all instances are freed.
 */
void hwtimer_workers_free(void)
{
	unsigned int nr;

	for (nr = 0; nr < nr_workers; nr++)
		if (hwtimer_workers[nr])
			hwtimer_worker_free(hwtimer_workers[nr]);
}
