// SPDX-License-Identifier: GPL-2.0
/*
 * What a timer costs, by number of timers and of buckets: the measurement
 * behind the default number of buckets.
 *
 * A run opens an instance and takes N timers through these phases, each
 * finished before the next begins:
 *
 *	start      one timer, which makes the instance allocate its wheel
 *	schedule   N timers by SUBMIT, in random order of their deadlines
 *	cancel     a random half of them by SUBMIT, in random order
 *	expire     the other half, while user space sleeps
 *	read       the events
 *
 * For schedule, cancel and read the time around the system calls is measured.
 * Expiry happens in the worker, so the processor time of the kthreads named
 * hwtimer/N is measured, from SETUP until all events are ready: what the
 * worker does besides is a cost of timers, too. The deadlines begin so late
 * that nothing is due before the cancels are done; a run in which that failed
 * is repeated with more time.
 *
 * Beside them: walked, the entries that the worker looked at for each timer that
 * expired (2 is what the cancelled half makes of it, more are timers of later
 * rounds); settled, how long after the last deadline all events were ready;
 * start; empty, the kernel memory of an instance with one timer; peak, with
 * all.
 *
 * With --horizon-ms 0 all timers are due at once, and settled is how long the
 * worker took for all of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "run.h"

#define NULL_CALLS 200000

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, __u32 count)
{
	qsort(values, count, sizeof(*values), compare_double);
	return count % 2 ? values[count / 2] :
			   (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void print_header(void)
{
	static const char format[] =
		"%8s %7s  %-15s %-15s %-15s %-15s %7s %9s %7s %7s %7s\n";

	printf("\n");
	printf(format, "timers", "buckets", "schedule", "cancel", "expire",
	       "read", "walked", "settled", "start", "empty", "peak");
	printf(format, "", "", "ns/timer", "ns/timer", "ns/timer, CPU",
	       "ns/timer", "/expiry", "us", "us", "KiB", "B/timer");
}

/* A figure that could not be measured is 0. */
static void print_phase(double value, double first)
{
	if (value > 0)
		printf(" %7.1f x%-6.2f", value, value / first);
	else
		printf(" %7s %7s", "-", "");
}

static void print_row(__u32 timers, __u32 buckets, const double *row,
		      const double *first)
{
	int i;

	printf("%8u %7u ", timers, buckets);
	for (i = SCHEDULE; i <= READ; i++)
		print_phase(row[i], first[i]);
	printf(" %7.2f %9.0f %7.0f %7.0f %7.1f\n", row[WALKED], row[SETTLED],
	       row[START], row[EMPTY], row[BYTES]);
}

/* @values: of each number of buckets each figure in each run */
static void print_rows(const struct options *options, __u32 timers,
		       double values[][FIGURES][REPS_MAX])
{
	double first[FIGURES], row[FIGURES];
	__u32 i, figure;

	for (i = 0; i < options->buckets.count; i++) {
		for (figure = 0; figure < FIGURES; figure++)
			row[figure] = median(values[i][figure], options->reps);
		if (i == 0)
			memcpy(first, row, sizeof(first));
		print_row(timers, options->buckets.values[i], row, first);
	}
	fflush(stdout);
}

/* All numbers of buckets in turns, so that what drifts, drifts for all. */
static void measure_rows(const struct options *options, struct run *run,
			 double values[][FIGURES][REPS_MAX])
{
	const struct list *buckets = &options->buckets;
	__u32 rep, i, figure;

	for (rep = 0; rep < options->reps; rep++)
		for (i = 0; i < buckets->count; i++) {
			run_measure(run, options, buckets->values[i]);
			for (figure = 0; figure < FIGURES; figure++)
				values[i][figure][rep] = run->figures[figure];
		}
}

static void measure_timers(const struct options *options, __u32 timers)
{
	static double values[LIST_MAX][FIGURES][REPS_MAX];
	struct run run;

	run_init(&run, timers);
	/* The first run warms up and does not count. */
	run_measure(&run, options, options->buckets.values[0]);
	measure_rows(options, &run, values);
	print_rows(options, timers, values);
	run_release(&run);
}

static double null_call_ns(void)
{
	__u64 start = now_ns();
	int i;

	for (i = 0; i < NULL_CALLS; i++)
		syscall(SYS_getppid);
	return (double)(now_ns() - start) / NULL_CALLS;
}

static void print_intro(const struct options *options)
{
	struct hwtimer_info info;
	struct utsname name;
	int fd = device_open();

	device_setup(fd, options->kind, options->tick, 0, 0);
	device_info(fd, &info);
	close(fd);
	uname(&name);
	printf("Linux %s, %s wheel, tick %llu ns, default %u buckets\n",
	       name.release,
	       info.kind == HWTIMER_KIND_HASHED ? "hashed" : "hierarchical",
	       info.tick, info.buckets);
	printf("deadlines random over %llu ticks\n",
	       options->horizon / info.tick);
	printf("medians of %u runs; ns per timer of each phase, and its ratio to the first row\n",
	       options->reps);
	printf("null system call: %.0f ns\n", null_call_ns());
}

int main(int argc, char **argv)
{
	struct options options = {
		.timers = { 3, { 10000, 100000, 1000000 } },
		.buckets = { 6, { 64, 256, 1024, 4096, 16384, 65536 } },
		.horizon = 1000 * NSEC_PER_MSEC,
		.reps = 5,
	};
	__u32 i;

	options_parse(&options, argc, argv);
	print_intro(&options);
	print_header();
	fflush(stdout);
	for (i = 0; i < options.timers.count; i++)
		measure_timers(&options, options.timers.values[i]);
	printf("\nnull system call: %.0f ns\n", null_call_ns());
	return 0;
}
