/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks that each timer ends once, never early, and at most its slack plus one tick
 * late. Timers without slack must expire in the order of their ticks, and within a tick
 * in the order in which they were scheduled. A violation ends the program.
 */
#ifndef BENCH_LEDGER_H
#define BENCH_LEDGER_H

#include "harness.h"

/**
 * struct ledger - the timers of a run
 * @wheel: the wheel of the timers
 * @timers: all timers
 * @ended: for each timer, whether it has ended
 * @left: number of timers that have not ended
 * @tick: tick of the last timer that expired
 * @number: number of the last timer that expired
 */
struct ledger {
	const struct hwtimer_wheel *wheel;
	const struct timer *timers;
	bool *ended;
	u32 left;
	u64 tick;
	u32 number;
};

void ledger_open(struct ledger *ledger, const struct hwtimer_wheel *wheel,
		 const struct timer *timers, u32 count);
void ledger_cancelled(struct ledger *ledger, u32 number);
void ledger_expired(struct ledger *ledger, const struct event *event, u64 now);
void ledger_close(struct ledger *ledger);

#endif /* BENCH_LEDGER_H */
