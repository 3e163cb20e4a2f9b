// SPDX-License-Identifier: GPL-2.0
/*
 * The list of all instances, in the order of their numbers.
 *
 * open() and close() wait for the lock, so each hold of it is short, however many
 * instances there are. A reader of debugfs has a cursor, an entry of its own in the
 * list, and finds the next instance behind it. While it shows an instance, it holds a
 * reference and no lock.
 */
#include <linux/lockdep.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "hwtimer.h"
#include "show/show.h"

/* Frees instances that were closed while another than their file used them */
static struct workqueue_struct *hwtimer_free_queue;

static DEFINE_RAW_SPINLOCK(hwtimer_registry_lock);
static LIST_HEAD(hwtimer_registry);
/* The number of the last instance in the list, or of one that was behind it */
static u64 hwtimer_registry_nr;

/**
 * hwtimer_registry_add - give a new instance its number, and add it
 * @instance: the instance; readers may show it at once
 *
 * Does not sleep; takes the registry's lock.
 */
void hwtimer_registry_add(struct hwtimer_instance *instance)
{
	instance->listing.instance = instance;
	raw_spin_lock(&hwtimer_registry_lock);
	instance->nr = ++hwtimer_registry_nr;
	list_add_tail(&instance->listing.entry, &hwtimer_registry);
	raw_spin_unlock(&hwtimer_registry_lock);
}

/**
 * hwtimer_registry_remove - remove an instance that is closed, or a reader's cursor
 * @listing: its entry
 *
 * No reader finds the instance any more. Does not sleep; takes the registry's lock.
 */
void hwtimer_registry_remove(struct hwtimer_listing *listing)
{
	raw_spin_lock(&hwtimer_registry_lock);
	list_del(&listing->entry);
	raw_spin_unlock(&hwtimer_registry_lock);
}

/**
 * hwtimer_registry_rewind - move a reader's cursor before all instances
 * @cursor: the cursor; its entry is in the registry, or initialized
 *
 * Does not sleep; takes the registry's lock.
 */
void hwtimer_registry_rewind(struct hwtimer_listing *cursor)
{
	raw_spin_lock(&hwtimer_registry_lock);
	list_move(&cursor->entry, &hwtimer_registry);
	raw_spin_unlock(&hwtimer_registry_lock);
}

/*
 * Passes over other readers' cursors, and over the instance that the reader has shown last:
 * its cursor is right before that one.
 */
static struct hwtimer_listing *registry_find(struct hwtimer_listing *cursor,
					     u64 nr)
{
	struct hwtimer_listing *listing = cursor;

	lockdep_assert_held(&hwtimer_registry_lock);
	list_for_each_entry_continue(listing, &hwtimer_registry, entry)
		if (listing->instance && listing->instance->nr >= nr)
			return listing;
	return NULL;
}

/**
 * hwtimer_registry_get - find an instance behind a reader's cursor
 * @cursor: the cursor; moved right before the instance
 * @nr: lowest number that the instance may have: 1 after hwtimer_registry_rewind(), then
 *	that of the last instance to get it again, or one more
 *
 * Return: the first such instance, with a reference for hwtimer_registry_put(); NULL: there
 * is none. Does not sleep; takes the registry's lock.
 */
struct hwtimer_instance *hwtimer_registry_get(struct hwtimer_listing *cursor,
					      u64 nr)
{
	struct hwtimer_instance *instance = NULL;
	struct hwtimer_listing *listing;

	raw_spin_lock(&hwtimer_registry_lock);
	listing = registry_find(cursor, nr);
	if (listing) {
		list_move_tail(&cursor->entry, &listing->entry);
		instance = listing->instance;
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
