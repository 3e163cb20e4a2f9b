/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The submission ring: takes the requests that user space has submitted, has them done, and
 * answers them. Called by hwtimer_exchange.c for a KICK and for the worker; what the worker
 * cannot do runs in a work item.
 */
#ifndef HWTIMER_SUBMISSION_H
#define HWTIMER_SUBMISSION_H

#include <linux/types.h>

struct hwtimer_exchange;
struct hwtimer_instance;
struct work_struct;

int hwtimer_submission_start(void);
void hwtimer_submission_stop(void);

int hwtimer_submission_drain(struct hwtimer_instance *instance);
u32 hwtimer_submission_try(struct hwtimer_instance *instance);
void hwtimer_submission_work(struct work_struct *work);
void hwtimer_submission_charge_caller(struct hwtimer_exchange *exchange);

#endif /* HWTIMER_SUBMISSION_H */
