/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A histogram of times in rows of powers of two, and its drawing.
 */
#ifndef DEMO_HISTOGRAM_H
#define DEMO_HISTOGRAM_H

#include <linux/types.h>

/* Row 0 is for 0 ns, row i for [2^(i-1), 2^i) ns, as in hwtimer_stats. */
#define HISTOGRAM_ROWS 33

/**
 * struct histogram - times of 32 bits, in ns
 * @values: all of them, in order
 * @count: their number
 * @rows: how many fall in each row
 */
struct histogram {
	__u32 *values;
	__u32 count;
	__u32 rows[HISTOGRAM_ROWS];
};

/* The row of a time: the position of its highest bit, from 1 */
__u32 histogram_row(__u32 value);

/* Takes @values over and sorts them. */
void histogram_init(struct histogram *h, __u32 *values, __u32 count);
void histogram_release(struct histogram *h);

/* The value that @permille of 1000 do not exceed; 0 if there is none. */
__u32 histogram_quantile(const struct histogram *h, __u32 permille);
void histogram_draw(const struct histogram *h);

#endif /* DEMO_HISTOGRAM_H */
