/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Executes the ioctls that describe timers and change nothing, QUERY and LIST. Called by
 * hwtimer_ioctl.c.
 */
#ifndef HWTIMER_QUERY_H
#define HWTIMER_QUERY_H

#include <linux/types.h>

struct hwtimer_instance;
struct hwtimer_list;
struct hwtimer_listed;
struct hwtimer_query;

int hwtimer_query_timer(struct hwtimer_instance *instance,
			struct hwtimer_query *query);
long hwtimer_query_list(struct hwtimer_instance *instance,
			struct hwtimer_list *list);

#endif /* HWTIMER_QUERY_H */
