/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the wheel has to do, and whether it does it. A violation ends the program, after
 * explore.c has printed how to get there.
 */
#ifndef STATES_DUTIES_H
#define STATES_DUTIES_H

#include "world.h"

void duty_added(u32 index, u64 tick);
void duty_cancelled(u32 index);
void duty_moved(u32 index, u64 tick, bool later);
void duty_rewound(u64 tick);

void duty_advance(u64 tick, unsigned int hold);
void duties_check(void);
void duties_settle(void);

__printf(1, 2) __noreturn void fail(const char *what, ...);

#endif /* STATES_DUTIES_H */
