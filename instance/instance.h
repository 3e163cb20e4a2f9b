/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Creates an instance, stops it and destroys it. Called by hwtimer_main.c and
 * instance/ioctl.c. This layer stands above the parts of an instance, because it puts them
 * together.
 */
#ifndef HWTIMER_INSTANCE_H
#define HWTIMER_INSTANCE_H

struct hwtimer_account;
struct hwtimer_instance;

int hwtimer_instance_start(void);
void hwtimer_instance_finish(void);

struct hwtimer_instance *
hwtimer_instance_create(struct hwtimer_account *account);
void hwtimer_instance_put(struct hwtimer_instance *instance);
void hwtimer_instance_destroy(struct hwtimer_instance *instance);
void hwtimer_instance_stop(struct hwtimer_instance *instance);

#endif /* HWTIMER_INSTANCE_H */
