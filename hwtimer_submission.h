/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Drains the submission ring: takes requests that user space has submitted, runs them,
 * and writes their results. hwtimer_exchange.c calls it for KICK, and for the worker when
 * it serves the rings; hwtimer_instance.c, when it creates an instance. Another worker of
 * the same owner does errands: it runs the requests that the first one must not run,
 * because they may sleep or take long.
 */
#ifndef HWTIMER_SUBMISSION_H
#define HWTIMER_SUBMISSION_H

#include <linux/types.h>

struct hwtimer_exchange;
struct hwtimer_instance;

void hwtimer_submission_init(struct hwtimer_exchange *exchange);
int hwtimer_submission_drain(struct hwtimer_instance *instance);
u32 hwtimer_submission_room(const struct hwtimer_exchange *exchange);
void hwtimer_submission_finish(struct hwtimer_instance *instance);
void hwtimer_submission_await(struct hwtimer_exchange *exchange);
u32 hwtimer_submission_try(struct hwtimer_instance *instance, bool *more);
void hwtimer_submission_charge_caller(struct hwtimer_exchange *exchange);

#endif /* HWTIMER_SUBMISSION_H */
