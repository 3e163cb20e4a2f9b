/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prints results to standard output, one JSON object per line, for report.py.
 */
#ifndef BENCH_EMIT_H
#define BENCH_EMIT_H

#include <linux/types.h>

/*
 * Sets the origin of the next results: the name of the place, the repetition, and the
 * turn with a rival; turn 0: no turns
 */
void emit_place(const char *where, __u32 rep, __u32 turn);
/* Sets the subject of the next results. */
void emit_subject(const char *system, const char *variant, __u32 timers);

/* Prints one figure. */
void emit(const char *phase, double value, const char *unit);
/* Prints that the subject cannot run here. */
void emit_skipped(const char *reason);

#endif /* BENCH_EMIT_H */
