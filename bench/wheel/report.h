/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prints the medians of many runs as a table.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdio.h>

#include "arguments.h"
#include "phases.h"

/**
 * struct series - repetitions of the same run
 * @shape: shape of the wheel
 * @workload: the workload
 * @values: for each figure, its value in each run
 */
struct series {
	struct hwtimer_shape shape;
	enum workload workload;
	double values[FIGURES][REPS_MAX];
};

void report_header(const struct arguments *arguments);
void report_series(const struct arguments *arguments, struct series *series);

#endif /* BENCH_REPORT_H */
