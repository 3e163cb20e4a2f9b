// SPDX-License-Identifier: GPL-2.0
/*
 * The command line; see arguments.h.
 */
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "hwtimer_wheel.h"

#define TIMERS_MEASURE 1000000
#define TIMERS_CHECK 20000
#define TIMERS_MAX 16000000

char *const kind_names[] = { "hashed", "hierarchical", NULL };

static void usage(FILE *out)
{
	fprintf(out,
		"hwtimer-wheel-bench [options]\n"
		"  --timers N         how many timers (1000000; with --check 20000)\n"
		"  --buckets N,N...   numbers of buckets (4096; with --check 64,4096)\n"
		"  --kinds K,K        of: hashed,hierarchical (both)\n"
		"  --workloads W,W... of: short,long,mixed,burst,cancel (all)\n"
		"  --reps N           runs that medians are taken of (5)\n"
		"  --json FILE        write medians, minima and maxima to FILE\n"
		"  --slack            what slack saves, with the mixed workload\n"
		"  --check            only look whether all is right; tells by its status\n");
}

static void parse_buckets(struct list *buckets, char *text)
{
	u32 i;

	parse_list(buckets, BUCKETS_MAX, "buckets", text, HWTIMER_BUCKETS_MIN,
		   HWTIMER_BUCKETS_MAX);
	for (i = 0; i < buckets->count; i++)
		if (buckets->values[i] & (buckets->values[i] - 1))
			errx(2, "--buckets: %u is not a power of two",
			     buckets->values[i]);
}

/* @chosen: out: of each of the names, whether it is in @text */
static void parse_names(const char *name, char *text, char *const *names,
			bool *chosen)
{
	char *value;
	int nr;

	for (nr = 0; names[nr]; nr++)
		chosen[nr] = false;
	while (*text) {
		nr = getsubopt(&text, names, &value);
		if (nr < 0)
			errx(2, "--%s: not '%s'", name, value);
		chosen[nr] = true;
	}
}

static void parse_option(struct arguments *arguments, int option)
{
	switch (option) {
	case 't':
		arguments->timers = parse_one("timers", optarg, 2, TIMERS_MAX);
		break;
	case 'b':
		parse_buckets(&arguments->buckets, optarg);
		break;
	case 'k':
		parse_names("kinds", optarg, kind_names, arguments->kinds);
		break;
	case 'w':
		parse_names("workloads", optarg, workload_names,
			    arguments->workloads);
		break;
	case 'r':
		arguments->reps = parse_one("reps", optarg, 1, REPS_MAX);
		break;
	case 'j':
		arguments->json = optarg;
		break;
	case 's':
		arguments->mode = SLACK;
		break;
	case 'c':
		arguments->mode = CHECK;
		break;
	default:
		usage(stderr);
		exit(2);
	}
}

/* What is not said depends on the mode. */
static void set_defaults(struct arguments *arguments)
{
	bool check = arguments->mode == CHECK;
	struct list *buckets = &arguments->buckets;

	if (!arguments->timers)
		arguments->timers = check ? TIMERS_CHECK : TIMERS_MEASURE;
	if (buckets->count)
		return;
	if (check)
		buckets->values[buckets->count++] = 64;
	buckets->values[buckets->count++] = 4096;
}

void arguments_parse(struct arguments *arguments, int argc, char **argv)
{
	static const struct option names[] = {
		{ "timers", required_argument, NULL, 't' },
		{ "buckets", required_argument, NULL, 'b' },
		{ "kinds", required_argument, NULL, 'k' },
		{ "workloads", required_argument, NULL, 'w' },
		{ "reps", required_argument, NULL, 'r' },
		{ "json", required_argument, NULL, 'j' },
		{ "slack", no_argument, NULL, 's' },
		{ "check", no_argument, NULL, 'c' },
		{ "help", no_argument, NULL, '?' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	*arguments = (struct arguments){
		.kinds = { true, true },
		.workloads = { true, true, true, true, true },
		.reps = 5,
	};
	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1)
		parse_option(arguments, option);
	if (optind < argc)
		errx(2, "'%s': no arguments, only options", argv[optind]);
	set_defaults(arguments);
}
