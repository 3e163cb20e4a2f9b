// SPDX-License-Identifier: GPL-2.0
/*
 * Gives a deserted instance workers again; see hwtimer_adopt.h.
 *
 * While an instance is deserted, nobody turns its wheel: the time for that would be
 * nobody's. All its state stays as it is, and kicks of its alarms are dropped. So the
 * adoption kicks all of its alarms at once. Serving them finds out what has come due
 * meanwhile, and when there is more to do.
 *
 * An instance becomes deserted with its lock held, and is adopted with its lock held. So
 * its members manned and deserted agree with the worker of its job.
 */
#include <linux/ktime.h>
#include <linux/sched.h>

#include "hwtimer.h"
#include "hwtimer_adopt.h"
#include "hwtimer_owner.h"

/* Whether a worker has given up a job, and it has no other one. */
static bool job_is_deserted(const struct hwtimer_job *job)
{
	return READ_ONCE(job->deserted) && !hwtimer_worker_of(job);
}

/* hwtimer_owner_employ() or hwtimer_owner_try() */
typedef int employ_fn(struct hwtimer_job *job);

/* Gives a job a worker of the current process, if a worker has given it up. */
static int employ_again(struct hwtimer_job *job, employ_fn *employ)
{
	return job_is_deserted(job) ? employ(job) : 0;
}

/* Has the worker do all that was left undone. */
static void adopt_resume(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	if (instance->started)
		hwtimer_wakeup_again(instance);
	hwtimer_wakeup_chores(instance, ktime_get_ns());
}

/* Returns whether the instance has a worker. */
static bool adopt_finish(struct hwtimer_instance *instance)
{
	bool done;

	spin_lock(&instance->lock);
	done = !job_is_deserted(&instance->job);
	/* Of several threads that adopt the instance, one does this. */
	if (instance->deserted)
		adopt_resume(instance);
	if (done && instance->deserted) {
		WRITE_ONCE(instance->deserted, false);
		/* Pairs with the smp_load_acquire() in hwtimer_instance_manned(). */
		smp_store_release(&instance->manned, instance->started);
	}
	spin_unlock(&instance->lock);
	return done;
}

static int adopt(struct hwtimer_instance *instance, employ_fn *employ)
{
	bool done;
	int err;

	/* If a worker has left the instance just now, there is one more round. */
	do {
		err = employ_again(&instance->job, employ);
		done = adopt_finish(instance);
	} while (!err && !done);
	return err;
}

/**
 * hwtimer_adopt - if an instance is deserted, make the current process its owner
 * @instance: the instance; none of its locks is held
 *
 * Its timers that have come due meanwhile expire soon after that.
 *
 * Return: 0 (adopted, or not deserted), or an error of hwtimer_owner_employ(). May sleep;
 * takes the instance's lock. The caller holds no lock.
 */
int hwtimer_adopt(struct hwtimer_instance *instance)
{
	if (likely(!READ_ONCE(instance->deserted)))
		return 0;
	return adopt(instance, hwtimer_owner_employ);
}

/* Whether a worker has left the instance, although its job had one a moment ago. */
static bool start_again(struct hwtimer_instance *instance)
{
	bool again;

	spin_lock(&instance->lock);
	again = instance->deserted;
	spin_unlock(&instance->lock);
	return again;
}

/**
 * hwtimer_adopt_start - give an instance a worker that turns its wheel, unless it has one
 * @instance: the instance; none of its locks is held
 *
 * If the instance is deserted, or just comes to be, the current process adopts it: a job
 * that has got a new worker without that would have none of its alarms kicked.
 *
 * Return: 0 or an error of hwtimer_owner_employ(). May sleep; takes the instance's lock.
 * The caller holds no lock.
 */
int hwtimer_adopt_start(struct hwtimer_instance *instance)
{
	int err;

	do {
		err = hwtimer_adopt(instance) ?:
			      hwtimer_owner_employ(&instance->job);
	} while (!err && start_again(instance));
	return err;
}

/**
 * hwtimer_adopt_try - the same, unless that waits for other workers
 * @instance: the instance; none of its locks is held
 *
 * For poll(): epoll may hold a mutex for which other programs wait.
 *
 * Return: as hwtimer_adopt(), or -EBUSY. May sleep; takes the instance's lock. The caller
 * may hold the locks of epoll.
 */
int hwtimer_adopt_try(struct hwtimer_instance *instance)
{
	if (likely(!READ_ONCE(instance->deserted)))
		return 0;
	return adopt(instance, hwtimer_owner_try);
}
