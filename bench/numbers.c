// SPDX-License-Identifier: GPL-2.0
/*
 * Evaluates figures; see numbers.h.
 */
#include <stdlib.h>

#include "numbers.h"

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

double quantile(double *values, __u32 count, double share)
{
	qsort(values, count, sizeof(*values), compare);
	return values[(__u32)((count - 1) * share)];
}
