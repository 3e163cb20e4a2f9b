// SPDX-License-Identifier: GPL-2.0
/*
 * Parses the command line; see arguments.h.
 */
#include <err.h>

#include "arguments.h"
#include "wheel/wheel.h"

#define TIMERS_MEASURE 1000000
#define TIMERS_CHECK 20000
#define TIMERS_MAX 16000000

static void parse_buckets(const struct parse_option *option, char *text)
{
	const struct list *buckets = option->value;
	u32 i;

	parse_list(option, text);
	for (i = 0; i < buckets->count; i++)
		if (buckets->values[i] & (buckets->values[i] - 1))
			errx(2, "--buckets: %u is not a power of two",
			     buckets->values[i]);
}

/* The defaults of --timers and --buckets depend on --check. */
static void set_defaults(struct arguments *arguments)
{
	struct list *buckets = &arguments->buckets;

	if (!arguments->timers)
		arguments->timers = arguments->check ? TIMERS_CHECK :
						       TIMERS_MEASURE;
	if (buckets->count)
		return;
	if (arguments->check)
		buckets->values[buckets->count++] = 64;
	buckets->values[buckets->count++] = 4096;
}

void arguments_parse(struct arguments *arguments, int argc, char **argv)
{
	const struct parse_option table[] = {
		{ "timers", "N",
		  "number of timers (1000000; with --check 20000)", parse_u32,
		  &arguments->timers, 2, TIMERS_MAX },
		{ "buckets", "N,N...",
		  "numbers of buckets (4096; with --check 64,4096)",
		  parse_buckets, &arguments->buckets, HWTIMER_BUCKETS_MIN,
		  HWTIMER_BUCKETS_MAX, BUCKETS_MAX },
		{ "workloads", "W,W...",
		  "of: short,long,mixed,burst,cancel (all)", parse_names,
		  arguments->workloads, .names = workload_names },
		{ "reps", "N", "number of runs per median (5)", parse_u32,
		  &arguments->reps, 1, REPS_MAX },
		{ "slack", NULL,
		  "measure what slack saves, with the mixed workload",
		  parse_flag, &arguments->slack },
		{ "check", NULL,
		  "only check the wheels; the exit status is the result",
		  parse_flag, &arguments->check },
		{ NULL },
	};

	*arguments = (struct arguments){
		.workloads = { true, true, true, true, true },
		.reps = 5,
	};
	parse_options(table, argc, argv);
	set_defaults(arguments);
}
