/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who has ended, and whether that was right: each timer once, none early, none
 * later than its slack and one tick, and without slack in the order of their
 * ticks, and within a tick in that in which they were scheduled. What is not
 * right is the end of the program.
 */
#ifndef BENCH_LEDGER_H
#define BENCH_LEDGER_H

#include "harness.h"

/**
 * struct ledger - the timers of a run
 * @wheel: that they are in
 * @timers: all
 * @ended: of each, whether it has
 * @left: those that have not
 * @tick: of the last one that expired
 * @number: of that one
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
