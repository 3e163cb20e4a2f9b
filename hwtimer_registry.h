/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The registry finds all instances by their numbers. hwtimer_instance.c enters and
 * removes instances; hwtimer_debug.c looks them up to show them.
 */
#ifndef HWTIMER_REGISTRY_H
#define HWTIMER_REGISTRY_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct hwtimer_instance;

/**
 * struct hwtimer_listing - an instance's entry in the registry
 * @shown: number of readers that are showing the instance, plus 1 until it is removed
 * @unshown: completed when @shown has dropped to 0
 *
 * No lock protects the members: @shown is atomic.
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
