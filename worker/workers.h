/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pool of workers that all programs share, and the module parameters workers and
 * rt_prio.
 *
 * memory/supply.c asks for a tenant when an instance starts; hwtimer_main.c has the
 * parameters checked, and the workers ended.
 */
#ifndef HWTIMER_WORKERS_H
#define HWTIMER_WORKERS_H

#include <linux/types.h>

/* The highest number of workers */
#define HWTIMER_WORKERS_MAX 64

struct hwtimer_tenant;
struct hwtimer_tenant_id;

bool hwtimer_workers_parameters_valid(void);
struct hwtimer_tenant_id hwtimer_workers_caller(void);
struct hwtimer_tenant *
hwtimer_workers_tenant(const struct hwtimer_tenant_id *id);
void hwtimer_workers_stop(void);
void hwtimer_workers_free(void);

#endif /* HWTIMER_WORKERS_H */
