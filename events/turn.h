/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does the worker's work for an instance, one slice at a time: turns of the wheel, and
 * chores. The worker calls these two functions, which hwtimer_instance_create() hands to
 * it for each instance; so the worker need not know what an instance is.
 */
#ifndef HWTIMER_TURN_H
#define HWTIMER_TURN_H

struct hwtimer_alarm;

void hwtimer_turn(struct hwtimer_alarm *alarm);
void hwtimer_turn_chores(struct hwtimer_alarm *alarm);

#endif /* HWTIMER_TURN_H */
