/* SPDX-License-Identifier: GPL-2.0 */
/* The few things of an xarray that the registry needs; see sim/registry.c */
#ifndef SIM_LINUX_XARRAY_H
#define SIM_LINUX_XARRAY_H

#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/spinlock.h>

#define XA_FLAGS_ACCOUNT 0
#define XA_PRESENT 0

struct xa_entry;

struct xarray {
	spinlock_t lock;
	struct xa_entry *first;
};

#define DEFINE_XARRAY_FLAGS(name, flags) \
	struct xarray name = { .lock = SPINLOCK_INIT }
#define xa_lock(array) spin_lock(&(array)->lock)
#define xa_unlock(array) spin_unlock(&(array)->lock)

/* Returns NULL, or an error for xa_err(). */
void *xa_store(struct xarray *array, unsigned long index, void *entry,
	       gfp_t gfp);
int xa_err(void *result);
void *xa_erase(struct xarray *array, unsigned long index);
/* Called with the array's lock held */
void *xa_find(struct xarray *array, unsigned long *index, unsigned long max,
	      int filter);

#endif /* SIM_LINUX_XARRAY_H */
