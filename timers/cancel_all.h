/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ends all timers of an instance, and hands them back, for HWTIMER_IOC_CANCEL_ALL.
 */
#ifndef HWTIMER_CANCEL_ALL_H
#define HWTIMER_CANCEL_ALL_H

struct hwtimer_instance;
struct hwtimer_list;

long hwtimer_cancel_all(struct hwtimer_instance *instance,
			struct hwtimer_list *list);

#endif /* HWTIMER_CANCEL_ALL_H */
