/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the worker does for an instance in one slice: a turn of the wheel, or chores. An
 * instance hands these functions to its worker when it is created.
 */
#ifndef HWTIMER_TURN_H
#define HWTIMER_TURN_H

#include "hwtimer_worker.h"

/**
 * struct hwtimer_chore - something else that the worker does at each of its chores
 * @run: does it; called by the worker with no lock held
 *
 * The owner of an instance may register one, see struct hwtimer_instance.
 */
struct hwtimer_chore {
	void (*run)(struct hwtimer_chore *chore);
};

void hwtimer_turn(struct hwtimer_alarm *alarm, u32 *due);
void hwtimer_turn_chores(struct hwtimer_alarm *alarm, u32 *due);

#endif /* HWTIMER_TURN_H */
