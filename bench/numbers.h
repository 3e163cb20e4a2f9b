/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Evaluates many figures of one kind.
 */
#ifndef BENCH_NUMBERS_H
#define BENCH_NUMBERS_H

#include <linux/types.h>

/* Sorts @values and returns a quantile: for @share 0.5 the median, for 1 the maximum. */
double quantile(double *values, __u32 count, double share);

#endif /* BENCH_NUMBERS_H */
