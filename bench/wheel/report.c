// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the results of many runs; see report.h.
 */
#include <stdlib.h>

#include <linux/kernel.h>

#include "report.h"

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts @values and returns their median. */
static double median(double *values, u32 count)
{
	qsort(values, count, sizeof(*values), compare_double);
	return count % 2 ? values[count / 2] :
			   (values[count / 2 - 1] + values[count / 2]) / 2;
}

void report_header(const struct arguments *arguments)
{
	static const char row[] = "%-6s %7s %8s %8s %8s %8s %8s %8s\n";

	printf("%u timers, tick 1 ms, medians of %u runs\n\n",
	       arguments->timers, arguments->reps);
	printf(row, "", "", "schedule", "cancel", "expire", "walked",
	       "cascaded", "");
	printf(row, "", "buckets", "ns", "ns", "ns", "/expiry", "/expiry",
	       "wake-ups");
	fflush(stdout);
}

void report_series(const struct arguments *arguments, struct series *series)
{
	double row[FIGURES];
	u32 figure;

	for (figure = 0; figure < FIGURES; figure++)
		row[figure] = median(series->values[figure], arguments->reps);
	printf("%-6s %7u", workload_names[series->workload],
	       series->shape.buckets);
	printf(" %8.1f %8.1f %8.1f %8.2f %8.3f %8.0f\n", row[SCHEDULE_NS],
	       row[CANCEL_NS], row[EXPIRE_NS], row[WALKED], row[CASCADED],
	       row[WAKEUPS]);
	fflush(stdout);
}
