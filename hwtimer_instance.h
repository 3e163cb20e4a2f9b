/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The life of an instance, from open() or hwtimer_client_create() to its end, and what can be
 * asked of it as a whole. Called by its owners, hwtimer_main.c and hwtimer_client.c, and by
 * hwtimer_ioctl.c. It stands above the parts that it puts together.
 */
#ifndef HWTIMER_INSTANCE_H
#define HWTIMER_INSTANCE_H

#include <linux/types.h>

struct hwtimer_instance;
struct hwtimer_query;

struct hwtimer_instance *hwtimer_instance_create(u32 timers);
void hwtimer_instance_destroy(struct hwtimer_instance *instance);
int hwtimer_instance_query(struct hwtimer_instance *instance,
			   struct hwtimer_query *query);
void hwtimer_instance_stop(struct hwtimer_instance *instance);

#endif /* HWTIMER_INSTANCE_H */
