// SPDX-License-Identifier: GPL-2.0
/*
 * Creates an instance, stops it, and frees it.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "alloc.h"
#include "hwtimer.h"
#include "instance/instance.h"
#include "show/show.h"
#include "trace.h"

/*
 * Allocates an instance, and charges for it. Returns NULL: no memory. May sleep, but does not
 * reclaim memory for long: open() holds the mutex of all misc devices.
 */
static struct hwtimer_instance *instance_alloc(struct hwtimer_account *account)
{
	struct hwtimer_instance *instance;
	u64 bytes = hwtimer_account_base_bytes();

	if (!hwtimer_account_charge(account, bytes))
		return NULL;
	instance = hwtimer_memory_in_open(sizeof(*instance));
	if (!instance) {
		hwtimer_account_uncharge(account, bytes);
		return NULL;
	}
	instance->account = account;
	instance->stats.bytes = bytes;
	instance->stats.bytes_peak = bytes;
	return instance;
}

/* Frees an instance that nobody uses. May sleep. */
static void instance_free(struct hwtimer_instance *instance)
{
	struct hwtimer_account *account = instance->account;

	trace_hwtimer_close(instance);
	hwtimer_tenant_put(hwtimer_worker_tenant(&instance->job));
	hwtimer_wheel_drain(&instance->wheel);
	hwtimer_pool_drain(&instance->pool);
	hwtimer_table_destroy(&instance->table);
	/* Some of it may have been freed before. */
	hwtimer_table_free_some(&instance->shrink.outgrown, U32_MAX);
	if (hwtimer_instance_extended(instance))
		kvfree(instance->wheel_memory);
	kvfree(instance->start_memory);
	hwtimer_account_uncharge(account, instance->stats.bytes);
	kfree(instance);
	hwtimer_account_put(account);
}

static void instance_free_work(struct work_struct *work)
{
	instance_free(container_of(work, struct hwtimer_instance, free_work));
}

/* The worker has left the instance. */
static void instance_job_left(struct hwtimer_job *job)
{
	struct hwtimer_instance *instance =
		container_of(job, struct hwtimer_instance, job);

	hwtimer_registry_put(instance);
}

/**
 * hwtimer_instance_create - create an instance with the default settings
 * @account: the account from hwtimer_account_of_caller(), or NULL. After success, the
 *	reference is the instance's
 *
 * Return: the instance, entered in the registry; NULL: no memory, or the account has no
 * room for it. It has no worker until it starts. May sleep.
 */
struct hwtimer_instance *
hwtimer_instance_create(struct hwtimer_account *account)
{
	struct hwtimer_instance *instance = instance_alloc(account);

	if (!instance)
		return NULL;
	instance->opener = task_tgid_nr(current);
	instance->tenant = hwtimer_workers_caller();
	mutex_init(&instance->setup);
	spin_lock_init(&instance->lock);
	init_waitqueue_head(&instance->readers);
	instance->settings = hwtimer_settings_default();
	hwtimer_notice_init(&instance->notice);
	instance->trim.at = HWTIMER_TICK_NONE;
	instance->shrink.at = HWTIMER_TICK_NONE;
	instance->wakeup.at = HWTIMER_TICK_NONE;
	/* hwtimer_instance_behind() is false until there is a wheel. */
	instance->wakeup.follow_at = MAX_JIFFY_OFFSET;
	hwtimer_job_init(&instance->job, hwtimer_turn, hwtimer_turn_chores);
	/* The caller and the worker */
	refcount_set(&instance->users, 2);
	INIT_WORK(&instance->free_work, instance_free_work);
	hwtimer_registry_add(instance);
	trace_hwtimer_open(instance);
	return instance;
}

/**
 * hwtimer_instance_destroy - close an instance
 * @instance: the instance; nothing but its worker and readers of debugfs still uses it
 *
 * Waits for none of these. If the worker is just serving the instance, or a reader is showing it,
 * a work item frees it afterwards. Otherwise this function does, in time that grows with the
 * number of timers. May sleep; no lock of the instance is held.
 */
void hwtimer_instance_destroy(struct hwtimer_instance *instance)
{
	hwtimer_registry_remove(instance);
	/* A worker that does not serve the instance now is no user. */
	if (!hwtimer_worker_leave(&instance->job, instance_job_left))
		refcount_dec(&instance->users);
	if (refcount_dec_and_test(&instance->users))
		instance_free(instance);
}

/* Stops an instance that is not stopped yet. */
static void stop_first(struct hwtimer_instance *instance)
{
	lockdep_assert_held(&instance->lock);
	instance->stopped_at = hwtimer_instance_now(instance);
	/*
	 * Pairs with the smp_load_acquire() in hwtimer_instance_drained() and in
	 * hwtimer_instance_new().
	 */
	smp_store_release(&instance->life, HWTIMER_STOPPED);
}

/**
 * hwtimer_instance_stop - stop an instance for good
 * @instance: the instance; its lock is not held. May be stopped already
 *
 * From now on no timer expires, none can be scheduled, and readers are told so. The worker comes
 * once more for each alarm. Does not sleep; takes the instance's lock, and wakes readers without
 * it.
 */
void hwtimer_instance_stop(struct hwtimer_instance *instance)
{
	__poll_t mask = 0;

	spin_lock(&instance->lock);
	if (!hwtimer_instance_stopped(instance)) {
		stop_first(instance);
		mask = hwtimer_notice_mask(instance);
	}
	spin_unlock(&instance->lock);
	if (mask)
		hwtimer_notice_wake(instance, mask);
}
