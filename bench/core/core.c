// SPDX-License-Identifier: GPL-2.0
/*
 * The module's hot path as a program, beside the floor of ../system_floor.c, in turns. All
 * sources of the module are compiled for user space, on the shims of test/sim/include. What is
 * left out is the entry into the kernel, whose cost is the machine's own; and time passes
 * only when the program says so. So it can be measured on each machine, without the module,
 * and its instructions can be counted: see counts.sh.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../clock.h"
#include "../emit.h"
#include "../numbers.h"
#include "../parse.h"
#include "../processor.h"
#include "core.h"
#include "measure.h"
#include "threads.h"

#define PAIRS_MAX 1000
/*
 * Time between two lives: as long as it takes for some buckets of a second level, but less than
 * the second after which an idle instance gives its memory back
 */
#define PAUSE (900 * NSEC_PER_MSEC)
/* More than a revolution of the lowest level of the wheel; the memory has been given back */
#define LONG_PAUSE (5000 * NSEC_PER_MSEC)
/* More timers than this go through the main way only, unless --only is the name of another. */
#define MANY 1000000

/**
 * struct options - the command line
 * @timers: numbers of timers
 * @pairs: number of pairs of each row
 * @only: part of the names of the rows that are wanted; NULL: all
 * @counts: have callgrind count instructions
 * @json: print results for report.py instead of the table
 * @rep: number of this repetition, for report.py
 */
struct options {
	struct list timers;
	__u32 pairs;
	const char *only;
	bool counts;
	bool json;
	__u32 rep;
};

#define MAIN "bulks"

static const struct row rows[] = {
	{ MAIN, "bulks of 4096", .idle = PAUSE, .floor = true },
	{ "SUBMIT", "batches of 4096", .idle = PAUSE, .floor = true },
	{ "bulks of 256", "bulks of 256", .idle = PAUSE, .floor = true },
	{ "bulks of 64", "bulks of 64", .idle = PAUSE, .floor = true },
	{ "bulks of 16", "bulks of 16", .idle = PAUSE, .floor = true },
	{ "bulks of 4", "bulks of 4", .idle = PAUSE, .floor = true },
	{ "bulks of 1", "bulks of 1", .idle = PAUSE, .floor = true },
	{ "single calls", "one by one", .idle = PAUSE, .floor = true },
	{ "bulks, each tick", "bulks of 4096", .idle = PAUSE,
	  .aside = ", each tick", .stepwise = true, .floor = true },
	{ "bulks, after 5 s", "bulks of 4096", .idle = LONG_PAUSE,
	  .aside = ", after 5 s", .floor = true },
	{ "bulks, slack", "bulks of 4096", .idle = PAUSE,
	  .aside = ", slack of 4 ticks", .slack = 4 * NSEC_PER_MSEC,
	  .floor = true },
};

/* Those whose instructions are counted, and how often the guard wants to know them */
static const struct {
	const char *row;
	__u32 timers_max;
} counted[] = {
	{ MAIN, 100000 },
	{ "SUBMIT", 100000 },
	{ "single calls", 10000 },
	{ "bulks of 4", 1000 },
	{ "bulks, each tick", 10000 },
	{ "bulks, after 5 s", 10000 },
	{ "bulks, slack", 10000 },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void parse(struct options *options, int argc, char **argv)
{
	const struct parse_option table[] = {
		{ "timers", "N,...", "numbers of timers", parse_list,
		  &options->timers, 1, 20000000, 8 },
		{ "pairs", "N",
		  "pairs of each row; 9 times as many up to 10,000 timers (11)",
		  parse_u32, &options->pairs, 1, PAIRS_MAX },
		{ "only", "TEXT", "only rows whose names contain this",
		  parse_text, &options->only },
		{ "counts", NULL, "one life, for callgrind; see counts.sh",
		  parse_flag, &options->counts },
		{ "json", NULL, "print results for report.py, not the table",
		  parse_flag, &options->json },
		{ "rep", "N", "number of this repetition, for report.py (0)",
		  parse_u32, &options->rep, 0, 1000 },
		{ NULL },
	};

	*options = (struct options){
		.timers = { 5, { 1000, 10000, 100000, 1000000, 10000000 } },
		.pairs = 11,
	};
	parse_options(table, argc, argv);
}

static bool wanted(const struct options *options, const char *name)
{
	return !options->only || strstr(name, options->only);
}

/* ---- the table ---- */

static double median_of(const struct life *lives, __u32 count, size_t what)
{
	double values[PAIRS_MAX];
	__u32 i;

	for (i = 0; i < count; i++)
		values[i] = *(const double *)((const char *)&lives[i] + what);
	return quantile(values, count, 0.5);
}

static double median_whole(const struct life *lives, __u32 count)
{
	double values[PAIRS_MAX];
	__u32 i;

	for (i = 0; i < count; i++)
		values[i] = life_whole(lives[i].each);
	return quantile(values, count, 0.5);
}

static void print_ratio(const struct life *ours, const struct life *floors,
			__u32 count)
{
	double values[PAIRS_MAX];
	__u32 i;

	for (i = 0; i < count; i++)
		values[i] =
			life_whole(ours[i].each) / life_whole(floors[i].each);
	printf(" %6.2f (%.2f-%.2f)", quantile(values, count, 0.5),
	       quantile(values, count, 0), quantile(values, count, 1));
}

static void print_heading(void)
{
	printf("ns a timer, medians; floor: a wheel in the program, in turns with hwtimer\n");
	printf("%9s  %-18s %9s %7s %9s %8s %7s  %-18s %s\n", "timers", "way",
	       "schedule", "cancel", "exp+del", "life", "floor",
	       "/ floor (min-max)", "bytes");
}

static void print_row(const struct row *row, __u32 count,
		      const struct life *ours, const struct life *floors,
		      double bytes)
{
	enum phase phase;

	printf("%9u  %-18s", row->timers, row->name);
	for (phase = 0; phase < PHASES; phase++)
		printf(" %*.1f", phase == CANCEL ? 7 : 9,
		       median_of(ours, count,
				 offsetof(struct life, each[phase])));
	printf(" %8.1f %7.1f", median_whole(ours, count),
	       median_whole(floors, count));
	print_ratio(ours, floors, count);
	printf("  %.0f", bytes);
	putchar('\n');
}

/* ---- results for report.py ---- */

static void emit_life(const struct life *life)
{
	enum phase phase;

	for (phase = 0; phase < PHASES; phase++)
		emit(phase_names[phase], life->each[phase], "ns/timer");
}

/*
 * The turns of a row have numbers of their own, so that each life of hwtimer finds the
 * floor's life that it took turns with.
 */
static void emit_row(const struct row *row, __u32 rep, __u32 count,
		     const struct life *ours, const struct life *floors,
		     double bytes)
{
	char variant[80];
	__u32 i;

	snprintf(variant, sizeof(variant), "%s%s", row->variant,
		 row->aside ? row->aside : "");
	for (i = 0; i < count; i++) {
		emit_place("core", rep, row->turns + i);
		emit_subject("hwtimer", variant, row->timers);
		emit_life(&ours[i]);
		if (!i)
			emit("peak", bytes, "bytes/timer");
		emit_subject("floor", "vectors", row->timers);
		emit_life(&floors[i]);
	}
}

/* Lives of few timers are short. */
static __u32 pairs_for(const struct options *options, __u32 timers)
{
	if (timers <= 10000 && options->pairs <= PAIRS_MAX / 9)
		return options->pairs * 9;
	return options->pairs;
}

/* ---- rows, each in a process of its own ---- */

static void in_child(void (*what)(const struct options *options,
				  const struct row *row),
		     const struct options *options, const struct row *row)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		core_load();
		what(options, row);
		fflush(stdout);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		errx(1, "%s, %u timers: failed", row->name, row->timers);
}

static void measure(const struct options *options, const struct row *row)
{
	static struct life ours[PAIRS_MAX], floors[PAIRS_MAX];
	__u32 count = pairs_for(options, row->timers);
	double bytes;

	processor_pin(0, processor_last());
	bytes = measure_row(row, count, ours, floors);
	if (options->json)
		emit_row(row, options->rep, count, ours, floors, bytes);
	else
		print_row(row, count, ours, floors, bytes);
}

static void each_row(const struct options *options, __u32 timers)
{
	struct row row;
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		row = rows[i];
		row.timers = timers;
		row.turns = 1 + i * PAIRS_MAX;
		if (!wanted(options, row.name) ||
		    (timers > MANY && strcmp(row.name, MAIN) &&
		     (!options->only || strcmp(row.name, options->only))))
			continue;
		in_child(measure, options, &row);
	}
}

static void print_machine(void)
{
	struct utsname name;
	char line[200] = "";
	FILE *file = fopen("/proc/cpuinfo", "r");

	while (file && fgets(line, sizeof(line), file) &&
	       strncmp(line, "model name", 10))
		;
	if (file)
		fclose(file);
	line[strcspn(line, "\n")] = 0;
	uname(&name);
	printf("machine: %s, %d processors, %s %s %s, gcc %s\n",
	       strchr(line, ':') ? strchr(line, ':') + 2 : "?",
	       processor_last() + 1, name.sysname, name.release, name.machine,
	       __VERSION__);
}

static void measure_all(const struct options *options)
{
	__u32 i;

	if (!options->json) {
		print_machine();
		print_heading();
	}
	for (i = 0; i < options->timers.count; i++)
		each_row(options, options->timers.values[i]);
	threads_measure(options->only, options->pairs,
			options->json ? (int)options->rep : -1);
}

/* ---- counts ---- */

static const struct row *row_named(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(rows); i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	errx(1, "no row '%s'", name);
}

static void count(const struct options *options, const struct row *row)
{
	(void)options;
	measure_counts(row);
}

/* The floor is counted once for each number of timers. */
static void count_all(const struct options *options)
{
	struct row row;
	size_t i;
	__u32 k;

	for (i = 0; i < COUNT(counted); i++)
		for (k = 0; k < options->timers.count; k++) {
			row = *row_named(counted[i].row);
			row.timers = options->timers.values[k];
			row.floor = !strcmp(row.name, MAIN);
			if (row.timers <= counted[i].timers_max &&
			    wanted(options, row.name))
				in_child(count, options, &row);
		}
}

int main(int argc, char **argv)
{
	struct options options;

	parse(&options, argc, argv);
	clock_init();
	if (options.counts)
		count_all(&options);
	else
		measure_all(&options);
	return 0;
}
