/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does bulks: the same operation on many timers. Called by timers/run.c.
 */
#ifndef HWTIMER_BULK_H
#define HWTIMER_BULK_H

#include <linux/types.h>

#include <uapi/linux/hwtimer.h>

struct hwtimer_instance;

int hwtimer_bulk_check(struct hwtimer_instance *instance,
		       const struct hwtimer_bulk *bulk);
int hwtimer_bulk_run(struct hwtimer_instance *instance,
		     const struct hwtimer_bulk *bulk, u64 *words, u32 count);

#endif /* HWTIMER_BULK_H */
