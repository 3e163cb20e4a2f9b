/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Gives a deserted instance workers again: those of a process that uses it.
 *
 * hwtimer_instance.c marks an instance as deserted when its workers have left it, because
 * no process of its owner was left. hwtimer_supply.c, hwtimer_request.c and hwtimer_bulk.c
 * (requests), hwtimer_ioctl.c (SETUP, NOTIFY) and hwtimer_main.c (read, poll) then have it
 * adopted.
 */
#ifndef HWTIMER_ADOPT_H
#define HWTIMER_ADOPT_H

#include "hwtimer.h"

int hwtimer_adopt(struct hwtimer_instance *instance);
int hwtimer_adopt_start(struct hwtimer_instance *instance);
int hwtimer_adopt_try(struct hwtimer_instance *instance);

/**
 * hwtimer_adopt_if_left - adopt an instance that workers have left during a call
 * @instance: the instance; none of its locks is held
 *
 * For a call that has taken the lock of the instance, and so sees what a worker did before.
 * It is done, and does not fail any more: if the current process cannot adopt the
 * instance, its next call finds that out. May sleep.
 */
static inline void hwtimer_adopt_if_left(struct hwtimer_instance *instance)
{
	if (unlikely(READ_ONCE(instance->deserted)))
		hwtimer_adopt(instance);
}

#endif /* HWTIMER_ADOPT_H */
