/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Results on standard output: one JSON object a line, which report.py collects.
 */
#ifndef BENCH_EMIT_H
#define BENCH_EMIT_H

#include <linux/types.h>

/*
 * Of whom the next figures are: @where the program runs, in which repetition, and
 * in which of its turns with a rival; 0: not in turns
 */
void emit_place(const char *where, __u32 rep, __u32 turn);
void emit_subject(const char *system, const char *variant, __u32 timers);

void emit(const char *phase, double value, const char *unit);
void emit_skipped(const char *reason);

#endif /* BENCH_EMIT_H */
