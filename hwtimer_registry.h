/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The registry: all instances by their numbers, for hwtimer_debug.c, which shows them.
 * hwtimer_instance.c enters and removes them.
 */
#ifndef HWTIMER_REGISTRY_H
#define HWTIMER_REGISTRY_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct hwtimer_instance;

/**
 * struct hwtimer_listing - an instance's place in the registry
 * @shown: number of readers that show the instance, plus one until it is removed
 * @unshown: completed when @shown has come to 0
 */
struct hwtimer_listing {
	refcount_t shown;
	struct completion unshown;
};

int hwtimer_registry_add(struct hwtimer_instance *instance);
struct hwtimer_instance *hwtimer_registry_get(u64 nr);
void hwtimer_registry_put(struct hwtimer_instance *instance);
void hwtimer_registry_remove(struct hwtimer_instance *instance);

#endif /* HWTIMER_REGISTRY_H */
