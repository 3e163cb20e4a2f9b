/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chooses the worker that serves an instance, so that the time of the worker is the time
 * of the instance's owner. Has the module parameters workers and rt_prio.
 *
 * hwtimer_settings.c and hwtimer_supply.c ask for a worker before an instance has
 * anything to do. hwtimer_instance.c gives the worker back. hwtimer_main.c starts and stops
 * this.
 */
#ifndef HWTIMER_OWNER_H
#define HWTIMER_OWNER_H

#include <linux/types.h>

struct hwtimer_job;

bool hwtimer_owner_parameters_valid(void);
int hwtimer_owner_start(void);
void hwtimer_owner_stop(void);

void hwtimer_owner_init(struct hwtimer_job *job);
int hwtimer_owner_employ(struct hwtimer_job *job);
int hwtimer_owner_try(struct hwtimer_job *job);
void hwtimer_owner_dismiss(struct hwtimer_job *job);
void hwtimer_owner_suspect(const struct hwtimer_job *job);

#endif /* HWTIMER_OWNER_H */
