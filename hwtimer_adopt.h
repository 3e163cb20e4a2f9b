/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gives a deserted instance workers again: those of a process that uses it.
 *
 * hwtimer_instance.c marks an instance as deserted when its workers have left it, because
 * no process of its owner was left. hwtimer_supply.c (requests), hwtimer_exchange.c (KICK)
 * hwtimer_ioctl.c (NOTIFY) and hwtimer_main.c (read, poll) then have it adopted.
 */
#ifndef HWTIMER_ADOPT_H
#define HWTIMER_ADOPT_H

struct hwtimer_instance;

int hwtimer_adopt(struct hwtimer_instance *instance);
int hwtimer_adopt_try(struct hwtimer_instance *instance);

#endif /* HWTIMER_ADOPT_H */
