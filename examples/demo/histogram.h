/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A histogram of times in rows of powers of two
 */
#ifndef DEMO_HISTOGRAM_H
#define DEMO_HISTOGRAM_H

#include <linux/types.h>

/* Row 0 is for 0 ns, row i for [2^(i-1), 2^i) ns. */
#define HISTOGRAM_ROWS 33

/**
 * struct histogram - times of 32 bits, in ns
 * @values: all times, sorted
 * @count: number of times
 * @rows: for each row, the number of its times
 */
struct histogram {
	__u32 *values;
	__u32 count;
	__u32 rows[HISTOGRAM_ROWS];
};

/* Returns the row of a time: the position of its highest bit, counted from 1. */
__u32 histogram_row(__u32 value);

/* Takes ownership of @values and sorts them. */
void histogram_init(struct histogram *h, __u32 *values, __u32 count);
void histogram_release(struct histogram *h);

/* Returns the value that @permille of 1000 values do not exceed; 0 without values. */
__u32 histogram_quantile(const struct histogram *h, __u32 permille);
void histogram_draw(const struct histogram *h);

#endif /* DEMO_HISTOGRAM_H */
