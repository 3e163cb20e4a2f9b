/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks of what the kernel gave out: memory that it has not written, counters that do not
 * add up. Called by the actors.
 */
#ifndef FUZZ_OUTPUT_H
#define FUZZ_OUTPUT_H

#include <stddef.h>

#include <linux/hwtimer.h>

#include "tally.h"

void output_search(enum call call, const void *memory, size_t size);
void output_balance(const struct hwtimer_stats *stats);
void output_timer(enum call call, const struct hwtimer_timer *timer);
void output_events(const struct hwtimer_event *events, long bytes);

#endif /* FUZZ_OUTPUT_H */
