// SPDX-License-Identifier: GPL-2.0
/*
 * Finds instances by their numbers, and keeps them while they are shown; see
 * hwtimer_registry.h.
 *
 * Instances come with open() and hwtimer_client_create(), and go with the last close() and
 * hwtimer_client_destroy(). open() waits for no reader here, because it is called with the
 * mutex of all misc devices held. The end of an instance waits for readers that are showing
 * that very instance, and for no others.
 */
#include <linux/xarray.h>

#include "hwtimer.h"
#include "hwtimer_memory.h"

static DEFINE_XARRAY_FLAGS(hwtimer_registry, XA_FLAGS_ACCOUNT);

/**
 * hwtimer_registry_add - enter a new instance
 * @instance: the instance; has its number, and is complete: it may be shown at any time from
 *	now on
 *
 * Return: 0 or -ENOMEM. May sleep.
 */
int hwtimer_registry_add(struct hwtimer_instance *instance)
{
	refcount_set(&instance->listing.shown, 1);
	init_completion(&instance->listing.unshown);
	return xa_err(xa_store(&hwtimer_registry, instance->nr, instance,
			       HWTIMER_GFP));
}

/**
 * hwtimer_registry_get - find an instance, and keep it
 * @nr: the lowest number that it may have
 *
 * Return: the instance with the lowest number from @nr on, which is not freed before
 * hwtimer_registry_put(); NULL if there is none. Takes the registry's spinlock.
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
 * hwtimer_registry_put - end what hwtimer_registry_get() began
 * @instance: the instance; must not be used afterwards
 */
void hwtimer_registry_put(struct hwtimer_instance *instance)
{
	if (refcount_dec_and_test(&instance->listing.shown))
		complete(&instance->listing.unshown);
}

/**
 * hwtimer_registry_remove - remove an instance that ends
 * @instance: the instance
 *
 * Afterwards nobody finds it, and nobody shows it any more. May sleep.
 */
void hwtimer_registry_remove(struct hwtimer_instance *instance)
{
	xa_erase(&hwtimer_registry, instance->nr);
	hwtimer_registry_put(instance);
	wait_for_completion(&instance->listing.unshown);
}
