// SPDX-License-Identifier: GPL-2.0
/*
 * Measures whole wheels in user space. The module's own sources of the wheel
 * run natively on this machine, and their clock jumps from one wake-up to the next. So
 * a day of timers takes a second, and no figure comes from an emulated processor.
 *
 * The figures contain no locks and no system calls. Nor do they contain the effect of
 * other programs that use the cache between two wake-ups of a real worker.
 *
 * A row of the table is a workload (timers.h) on a wheel with a number of buckets; enum
 * figure (phases.h) explains the columns. The runs of all numbers of buckets alternate, so
 * that a drift of the machine affects all of them.
 *
 * In the rows of the cancel workload, figures per expiry are per cancelled timer.
 *
 * Every run checks each expiration; see ledger.h.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include <linux/kernel.h>
#include <linux/sched.h>

#include "arguments.h"
#include "device.h"
#include "report.h"

static const u32 slacks_permille[] = { 0, 10, 125 };
#define SLACKS (sizeof(slacks_permille) / sizeof(*slacks_permille))

static void run_init(struct run *run, const struct arguments *arguments)
{
	u32 *order = allocate(arguments->timers, sizeof(*order));

	timers_order(order, arguments->timers);
	*run = (struct run){
		.timers = allocate(arguments->timers, sizeof(*run->timers)),
		.order = order,
		.count = arguments->timers,
	};
}

static void run_release(struct run *run)
{
	free(run->order);
	free(run->timers);
}

/* Sets the workload of @run, and draws its timers. */
static void run_choose(struct run *run, enum workload workload,
		       u32 slack_permille)
{
	run->workload = workload;
	if (workload != CANCEL)
		timers_fill(run->timers, run->count, workload, slack_permille);
}

/* Lists the selected shapes; returns their number. */
static u32 list_shapes(const struct arguments *arguments,
		       struct hwtimer_shape *shapes)
{
	u32 i;

	for (i = 0; i < arguments->buckets.count; i++)
		shapes[i] = (struct hwtimer_shape){
			.tick = NSEC_PER_MSEC,
			.kind = HWTIMER_KIND_HIERARCHICAL,
			.buckets = arguments->buckets.values[i],
		};
	return i;
}

static void series_run(struct series *series, struct run *run, u32 rep)
{
	u32 figure;

	run->shape = series->shape;
	run_measure(run);
	for (figure = 0; figure < FIGURES; figure++)
		series->values[figure][rep] = run->figures[figure];
}

/* Measures the workload of @run on all shapes. */
static void measure_workload(const struct arguments *arguments, struct run *run)
{
	static struct series series[BUCKETS_MAX];
	struct hwtimer_shape shapes[BUCKETS_MAX];
	u32 nr = list_shapes(arguments, shapes);
	u32 rep, i;

	for (i = 0; i < nr; i++)
		series[i] = (struct series){
			.shape = shapes[i],
			.workload = run->workload,
		};
	for (rep = 0; rep < arguments->reps; rep++)
		for (i = 0; i < nr; i++)
			series_run(&series[i], run, rep);
	for (i = 0; i < nr; i++)
		report_series(arguments, &series[i]);
}

static void measure(const struct arguments *arguments, struct run *run)
{
	u32 workload;

	run->cancelled = run->count / 2;
	report_header(arguments);
	for (workload = 0; workload < WORKLOADS; workload++)
		if (arguments->workloads[workload]) {
			run_choose(run, workload, 0);
			measure_workload(arguments, run);
		}
}

static void slack_row(struct run *run, u32 slack_permille)
{
	run_measure(run);
	printf("%4u.%u %% %7u %8.0f %10.0f %8.3f\n", slack_permille / 10,
	       slack_permille % 10, run->shape.buckets, run->figures[WAKEUPS],
	       run->figures[CASCADED] * run->count, run->figures[WALKED]);
	fflush(stdout);
}

static void slack(const struct arguments *arguments, struct run *run)
{
	struct hwtimer_shape shapes[BUCKETS_MAX];
	u32 nr = list_shapes(arguments, shapes);
	u32 s, i;

	run->thorough = true;
	printf("%u timers of the mixed workload, tick 1 ms, none cancelled\n",
	       run->count);
	printf("%8s %7s %8s %10s %8s\n", "slack", "buckets", "wake-ups",
	       "cascades", "walked");
	for (s = 0; s < SLACKS; s++) {
		run_choose(run, MIXED, slacks_permille[s]);
		for (i = 0; i < nr; i++) {
			run->shape = shapes[i];
			slack_row(run, slacks_permille[s]);
		}
	}
}

static void check_run(struct run *run, enum workload workload,
		      u32 slack_permille, bool cancels)
{
	u32 first = run->count - run->late;

	run->cancelled = cancels ? first / 2 : 0;
	run_choose(run, workload, slack_permille);
	run_measure(run);
}

/* Checks one workload on all shapes. */
static void check_workload(const struct arguments *arguments, struct run *run,
			   enum workload workload)
{
	struct hwtimer_shape shapes[BUCKETS_MAX];
	u32 nr = list_shapes(arguments, shapes);
	u32 i, s;

	for (i = 0; i < nr; i++) {
		run->shape = shapes[i];
		for (s = 0; s < SLACKS; s++) {
			check_run(run, workload, slacks_permille[s], false);
			check_run(run, workload, slacks_permille[s], true);
		}
	}
}

/* Checks that @action has yielded while it went through the @buckets of an empty wheel. */
static void check_yields(const char *action, unsigned long since, u32 buckets)
{
	if (yields - since < (buckets - 1) / HWTIMER_HOLD)
		errx(1, "%s of %u buckets yields %lu times only", action,
		     buckets, yields - since);
}

/* Checks that a large wheel is set up and freed without keeping a processor to itself. */
static void check_large(void)
{
	const struct hwtimer_shape shape = { .tick = NSEC_PER_MSEC,
					     .kind = HWTIMER_KIND_HIERARCHICAL,
					     .buckets = 1 << 20 };
	struct harness harness;
	unsigned long since;
	u32 buckets;

	since = yields;
	harness_init(&harness, &shape, 1);
	buckets = harness.wheel.nr_buckets;
	check_yields("setting up a wheel", since, buckets);
	since = yields;
	harness_destroy(&harness);
	check_yields("freeing a wheel", since, buckets);
}

/*
 * Checks the wheels. Half of the timers are scheduled while others expire, so that they
 * meet older timers, and entries of cancelled ones, in the wheel.
 */
static void check(const struct arguments *arguments, struct run *run)
{
	u32 workload;

	run->thorough = true;
	run->late = run->count / 2;
	timers_order(run->order, run->count - run->late);
	for (workload = 0; workload < WORKLOADS; workload++)
		if (arguments->workloads[workload])
			check_workload(arguments, run, workload);
	check_large();
	printf("ok\n");
}

int main(int argc, char **argv)
{
	struct arguments arguments;
	struct run run;

	arguments_parse(&arguments, argc, argv);
	run_init(&run, &arguments);
	if (arguments.check)
		check(&arguments, &run);
	else if (arguments.slack)
		slack(&arguments, &run);
	else
		measure(&arguments, &run);
	run_release(&run);
	return 0;
}
