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

/* Returns the longest of the shortest times. */
static u32 worst_of(const u32 *best, u32 count)
{
	u32 worst = 0;
	u32 i;

	for (i = 0; i < count; i++)
		worst = max(worst, best[i]);
	return worst;
}

void report_header(const struct arguments *arguments)
{
	static const char costs[] = "%-6s %-12s %7s %8s %8s %8s %8s %8s %8s";
	static const char wakeups[] = " %8s %7s %8s %8s %8s %8s %7s\n";

	printf("%u timers, tick 1 ms, medians of %u runs\n\n",
	       arguments->timers, arguments->reps);
	printf(costs, "", "", "", "schedule", "cancel", "expire", "walked",
	       "passed", "cascaded");
	printf(wakeups, "wake-ups", "idle", "before", "due", "wake-up",
	       "chunks", "wheel");
	printf(costs, "", "kind", "buckets", "ns", "ns", "ns", "/expiry",
	       "/expiry", "/expiry");
	printf(wakeups, "", "", "last due", "us", "us", "B/timer", "KiB");
	fflush(stdout);
}

void report_series(const struct arguments *arguments, struct series *series)
{
	const struct best *best = &series->best;
	double row[FIGURES];
	u32 figure;

	for (figure = 0; figure < FIGURES; figure++)
		row[figure] = median(series->values[figure], arguments->reps);
	printf("%-6s %-12s %7u", workload_names[series->workload],
	       kind_names[series->shape.kind - 1], series->shape.buckets);
	printf(" %8.1f %8.1f %8.1f %8.2f %8.2f %8.3f", row[SCHEDULE_NS],
	       row[CANCEL_NS], row[EXPIRE_NS], row[WALKED], row[PASSED_OVER],
	       row[CASCADED]);
	printf(" %8.0f %7.0f %8.0f %8.1f %8.1f", row[WAKEUPS], row[IDLE],
	       row[DUE_WALKED], worst_of(best->due_ns, best->count) / 1e3,
	       worst_of(best->ns, best->count) / 1e3);
	printf(" %8.2f %7.0f\n", row[CHUNK_BYTES] / arguments->timers,
	       row[WHEEL_BYTES] / 1024);
	fflush(stdout);
}
