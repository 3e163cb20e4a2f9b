// SPDX-License-Identifier: GPL-2.0
/*
 * All instances, by their numbers.
 *
 * open() and close() wait for the lock, so each hold of it is short, however many instances there
 * are: each is a search in a tree. While a reader of debugfs shows an instance, it holds a
 * reference and no lock.
 */
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "hwtimer.h"
#include "show/show.h"

/* Frees instances that were closed while another than their file used them */
static struct workqueue_struct *hwtimer_free_queue;

static DEFINE_RAW_SPINLOCK(hwtimer_registry_lock);
static struct rb_root hwtimer_registry = RB_ROOT;
/* The number of the last instance that was opened */
static u64 hwtimer_registry_nr;

static struct hwtimer_instance *instance_of(const struct rb_node *node)
{
	return rb_entry(node, struct hwtimer_instance, registered);
}

static int registry_order(struct rb_node *node, const struct rb_node *other)
{
	return instance_of(node)->nr < instance_of(other)->nr ? -1 : 1;
}

/* For rb_find_first(): 0, "found", if the instance has the number at @key or a higher one */
static int registry_from(const void *key, const struct rb_node *node)
{
	return *(const u64 *)key > instance_of(node)->nr;
}

/**
 * hwtimer_registry_add - give a new instance its number, and add it
 * @instance: the instance; readers may show it at once
 *
 * Does not sleep; takes the registry's lock.
 */
void hwtimer_registry_add(struct hwtimer_instance *instance)
{
	raw_spin_lock(&hwtimer_registry_lock);
	instance->nr = ++hwtimer_registry_nr;
	rb_find_add(&instance->registered, &hwtimer_registry, registry_order);
	raw_spin_unlock(&hwtimer_registry_lock);
}

/**
 * hwtimer_registry_remove - remove an instance that is closed
 * @instance: the instance
 *
 * No reader finds it any more. Does not sleep; takes the registry's lock.
 */
void hwtimer_registry_remove(struct hwtimer_instance *instance)
{
	raw_spin_lock(&hwtimer_registry_lock);
	rb_erase(&instance->registered, &hwtimer_registry);
	raw_spin_unlock(&hwtimer_registry_lock);
}

/**
 * hwtimer_registry_get - find an instance
 * @nr: lowest number that the instance may have
 *
 * Return: the first such instance, with a reference for hwtimer_registry_put(); NULL: there
 * is none. Does not sleep; takes the registry's lock.
 */
struct hwtimer_instance *hwtimer_registry_get(u64 nr)
{
	struct hwtimer_instance *instance = NULL;
	struct rb_node *node;

	raw_spin_lock(&hwtimer_registry_lock);
	node = rb_find_first(&nr, &hwtimer_registry, registry_from);
	if (node) {
		instance = instance_of(node);
		/* Not 0: the file removes the instance before it gives up its own. */
		refcount_inc(&instance->users);
	}
	raw_spin_unlock(&hwtimer_registry_lock);
	return instance;
}

/**
 * hwtimer_registry_put - give up a reference that is not the file's
 * @instance: the instance; must not be used afterwards
 *
 * If it was closed, and nobody else uses it, a work item frees it: that takes time in proportion
 * to the number of timers, for which neither a worker nor a reader should wait. Any context.
 */
void hwtimer_registry_put(struct hwtimer_instance *instance)
{
	if (refcount_dec_and_test(&instance->users))
		queue_work(hwtimer_free_queue, &instance->free_work);
}

/**
 * hwtimer_registry_start - create the workqueue that frees instances, at module load
 *
 * Return: 0 or -ENOMEM. May sleep.
 */
int hwtimer_registry_start(void)
{
	hwtimer_free_queue = alloc_workqueue("hwtimer_free", WQ_UNBOUND, 0);
	return hwtimer_free_queue ? 0 : -ENOMEM;
}

/**
 * hwtimer_registry_finish - wait until all instances are freed, at module unload
 *
 * Called when no file is open, and after the workers have ended. May sleep.
 */
void hwtimer_registry_finish(void)
{
	destroy_workqueue(hwtimer_free_queue);
}
