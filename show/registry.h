/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The registry is the list of all instances. instance/instance.c adds and removes
 * instances; show/debug.c goes through the list to show them.
 */
#ifndef HWTIMER_REGISTRY_H
#define HWTIMER_REGISTRY_H

#include <linux/list.h>
#include <linux/types.h>

struct hwtimer_instance;

/**
 * struct hwtimer_listing - an entry of the registry: an instance, or a reader's place
 * @entry: entry in the list, or in none; protected by the registry's lock
 * @instance: the instance; NULL: this is a reader's place. Constant
 */
struct hwtimer_listing {
	struct list_head entry;
	struct hwtimer_instance *instance;
};

void hwtimer_registry_add(struct hwtimer_instance *instance);
void hwtimer_registry_remove(struct hwtimer_listing *listing);

void hwtimer_registry_rewind(struct hwtimer_listing *place);
struct hwtimer_instance *hwtimer_registry_get(struct hwtimer_listing *place,
					      u64 nr);

#endif /* HWTIMER_REGISTRY_H */
