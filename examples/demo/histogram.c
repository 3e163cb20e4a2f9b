// SPDX-License-Identifier: GPL-2.0
/*
 * Draws a histogram of times in rows of powers of two:
 *
 *	 524 us - 1.05 ms  ########################      251,807  44.8%  p50
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "format.h"
#include "histogram.h"

#define BAR_LENGTH 24

static int compare_u32(const void *a, const void *b)
{
	__u32 x = *(const __u32 *)a;
	__u32 y = *(const __u32 *)b;

	return (x > y) - (x < y);
}

__u32 histogram_row(__u32 value)
{
	return value ? 32 - __builtin_clz(value) : 0;
}

void histogram_init(struct histogram *h, __u32 *values, __u32 count)
{
	__u32 i;

	*h = (struct histogram){ .values = values, .count = count };
	qsort(values, count, sizeof(*values), compare_u32);
	for (i = 0; i < count; i++)
		h->rows[histogram_row(values[i])]++;
}

void histogram_release(struct histogram *h)
{
	free(h->values);
}

__u32 histogram_quantile(const struct histogram *h, __u32 permille)
{
	__u64 rank = ((__u64)h->count * permille + 999) / 1000;

	return h->count ? h->values[rank ? rank - 1 : 0] : 0;
}

static __u32 highest_row(const struct histogram *h)
{
	__u32 highest = 0;
	__u32 row;

	for (row = 0; row < HISTOGRAM_ROWS; row++)
		if (h->rows[row] > highest)
			highest = h->rows[row];
	return highest;
}

static void draw_range(__u32 row)
{
	struct text low, high;

	printf("  %8s - %-8s", format_ns(&low, row ? 1ULL << (row - 1) : 0),
	       format_ns(&high, 1ULL << row));
}

static void draw_bar(__u32 count, __u32 highest)
{
	static const char bar[] = "########################";
	int length = (__u64)count * BAR_LENGTH / highest;

	static_assert(sizeof(bar) == BAR_LENGTH + 1, "the full bar");
	if (count && !length)
		length = 1;
	printf(" |%-*.*s", BAR_LENGTH, length, bar);
}

/* Prints the names of the quantiles that lie in a row. */
static void draw_marks(const struct histogram *h, __u32 row)
{
	static const struct {
		__u32 permille;
		const char *name;
	} marks[] = { { 500, "p50" }, { 990, "p99" }, { 999, "p99.9" } };
	size_t i;

	for (i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (histogram_row(histogram_quantile(h, marks[i].permille)) ==
		    row)
			printf(" %s", marks[i].name);
}

static void draw_row(const struct histogram *h, __u32 row)
{
	struct text count;

	draw_range(row);
	draw_bar(h->rows[row], highest_row(h));
	printf(" %9s %5.1f%%", format_count(&count, h->rows[row]),
	       100.0 * h->rows[row] / h->count);
	draw_marks(h, row);
	printf("\n");
}

void histogram_draw(const struct histogram *h)
{
	__u32 row;

	if (!h->count)
		return;
	for (row = histogram_row(h->values[0]);
	     row <= histogram_row(h->values[h->count - 1]); row++)
		draw_row(h, row);
}
