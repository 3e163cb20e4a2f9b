/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What to make of many figures.
 */
#ifndef BENCH_NUMBERS_H
#define BENCH_NUMBERS_H

#include <linux/types.h>

/* Sorts @values; @share 0.5 is the median, 1 the greatest. */
double quantile(double *values, __u32 count, double share);

#endif /* BENCH_NUMBERS_H */
