// SPDX-License-Identifier: GPL-2.0
/*
 * Finds instances by their numbers, and keeps them from being freed while they are shown;
 * see hwtimer_registry.h.
 *
 * open() must not wait for readers of the registry, because it is called with the mutex
 * of all misc devices held. So there is no lock around the showing of an instance, only a
 * count of its readers. The end of an instance waits for the readers that are showing
 * that instance, and for no others.
 */
#include <linux/xarray.h>

#include "hwtimer.h"
#include "hwtimer_hurry.h"

static DEFINE_XARRAY_FLAGS(hwtimer_registry, XA_FLAGS_ACCOUNT);

static int registry_store(struct hwtimer_instance *instance, gfp_t gfp)
{
	return xa_err(xa_store(&hwtimer_registry, instance->nr, instance, gfp));
}

/**
 * hwtimer_registry_add - enter a new instance
 * @instance: the instance; its number is set, and it can be shown, because readers may
 *	show it at once
 *
 * Return: 0 or -ENOMEM. May sleep; takes the registry's spinlock.
 */
int hwtimer_registry_add(struct hwtimer_instance *instance)
{
	refcount_set(&instance->listing.shown, 1);
	init_completion(&instance->listing.unshown);
	return registry_store(instance, HWTIMER_GFP_HURRY) ?
		       registry_store(instance,
				      hwtimer_hurry_gfp(HWTIMER_GFP_AHEAD)) :
		       0;
}

/**
 * hwtimer_registry_get - find an instance, and keep it from being freed
 * @nr: lowest number that the instance may have
 *
 * Return: the instance with the lowest number from @nr on; NULL if there is none. The
 * instance is not freed before hwtimer_registry_put(). Does not sleep; takes the
 * registry's spinlock.
 */
struct hwtimer_instance *hwtimer_registry_get(u64 nr)
{
	struct hwtimer_instance *instance;
	unsigned long index = nr;

	xa_lock(&hwtimer_registry);
	instance = xa_find(&hwtimer_registry, &index, ULONG_MAX, XA_PRESENT);
	/* An instance that is still found has not dropped its own count yet. */
	if (instance)
		refcount_inc(&instance->listing.shown);
	xa_unlock(&hwtimer_registry);
	return instance;
}

/**
 * hwtimer_registry_put - allow an instance to be freed again
 * @instance: the instance from hwtimer_registry_get(); must not be used afterwards
 *
 * Does not sleep.
 */
void hwtimer_registry_put(struct hwtimer_instance *instance)
{
	if (refcount_dec_and_test(&instance->listing.shown))
		complete(&instance->listing.unshown);
}

/**
 * hwtimer_registry_remove - remove an instance that is about to be freed
 * @instance: the instance; entered
 *
 * Waits until no reader shows the instance. Afterwards no reader can find it. May sleep;
 * takes the registry's spinlock.
 */
void hwtimer_registry_remove(struct hwtimer_instance *instance)
{
	xa_erase(&hwtimer_registry, instance->nr);
	hwtimer_registry_put(instance);
	wait_for_completion(&instance->listing.unshown);
}
