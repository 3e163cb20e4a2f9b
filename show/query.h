/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Describes timers and changes nothing, for the ioctls QUERY, LIST and INFO.
 */
#ifndef HWTIMER_QUERY_H
#define HWTIMER_QUERY_H

#include <linux/types.h>

struct hwtimer_instance;
struct hwtimer_list;
struct hwtimer_timer;

u64 hwtimer_query_until_next(struct hwtimer_instance *instance);
int hwtimer_query_timer(struct hwtimer_instance *instance,
			struct hwtimer_timer *timer);
long hwtimer_query_list(struct hwtimer_instance *instance,
			struct hwtimer_list *list);

#endif /* HWTIMER_QUERY_H */
