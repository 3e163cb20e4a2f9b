/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The hashed kind of wheel: the small one with which an instance starts. wheel/kinds.h says what
 * each function is for.
 */
#ifndef HWTIMER_HASHED_H
#define HWTIMER_HASHED_H

#include "wheel/wheel.h"

void hwtimer_hashed_init(struct hwtimer_wheel *wheel);
void hwtimer_hashed_occupy(struct hwtimer_wheel *wheel, u32 nr, u64 tick);
void hwtimer_hashed_settle(struct hwtimer_wheel *wheel, u32 nr, u64 tick);
u64 hwtimer_hashed_first(const struct hwtimer_wheel *wheel, u32 *nr);

/* The bucket for an entry of @tick. */
static inline u32 hwtimer_hashed_place(const struct hwtimer_wheel *wheel,
				       u64 tick)
{
	return tick & (wheel->nr_buckets - 1);
}

#endif /* HWTIMER_HASHED_H */
