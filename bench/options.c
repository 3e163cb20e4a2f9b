// SPDX-License-Identifier: GPL-2.0
/*
 * The benchmark's command line.
 */
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/hwtimer.h>

#include "device.h"
#include "options.h"

static void usage(FILE *out)
{
	fprintf(out,
		"hwtimer-bench [options]\n"
		"  --timers N,N...    numbers of timers (10000,100000,1000000)\n"
		"  --buckets N,N...   numbers of buckets (64,256,...,65536)\n"
		"  --kind KIND        hashed or hierarchical (the module's default)\n"
		"  --horizon-ms MS    spread of the deadlines, 0: all at once (1000)\n"
		"  --tick-us US       tick (the module's default)\n"
		"  --reps N           runs that medians are taken of (5)\n");
}

static __u32 parse_number(const char *name, const char *text, char **end,
			  __u32 min, __u32 max)
{
	unsigned long long value;

	errno = 0;
	value = strtoull(text, end, 10);
	if (errno || !isdigit(*text) || value < min || value > max)
		errx(2, "--%s: from %u to %u, not '%s'", name, min, max, text);
	return value;
}

static __u32 parse_one(const char *name, const char *text, __u32 min, __u32 max)
{
	char *end;
	__u32 value = parse_number(name, text, &end, min, max);

	if (*end)
		errx(2, "--%s: one number, not '%s'", name, text);
	return value;
}

static void parse_list(struct list *list, const char *name, char *text,
		       __u32 min, __u32 max)
{
	list->count = 0;
	for (; list->count < LIST_MAX; text++) {
		list->values[list->count++] =
			parse_number(name, text, &text, min, max);
		if (*text != ',')
			break;
	}
	if (*text)
		errx(2,
		     "--%s: up to %u numbers, with commas between, not '...%s'",
		     name, LIST_MAX, text);
}

static __u32 parse_kind(const char *text)
{
	if (!strcmp(text, "hashed"))
		return HWTIMER_KIND_HASHED;
	if (!strcmp(text, "hierarchical"))
		return HWTIMER_KIND_HIERARCHICAL;
	errx(2, "--kind: hashed or hierarchical, not '%s'", text);
}

void options_parse(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "timers", required_argument, NULL, 't' },
		{ "buckets", required_argument, NULL, 'b' },
		{ "kind", required_argument, NULL, 'k' },
		{ "horizon-ms", required_argument, NULL, 'h' },
		{ "tick-us", required_argument, NULL, 'u' },
		{ "reps", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, '?' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (option) {
		case 't':
			parse_list(&options->timers, "timers", optarg, 2,
				   1 << 30);
			break;
		case 'b':
			parse_list(&options->buckets, "buckets", optarg, 8,
				   1 << 20);
			break;
		case 'k':
			options->kind = parse_kind(optarg);
			break;
		case 'h':
			options->horizon =
				parse_one("horizon-ms", optarg, 0, 3600000) *
				NSEC_PER_MSEC;
			break;
		case 'u':
			options->tick =
				parse_one("tick-us", optarg, 10, 3600000000U) *
				1000ULL;
			break;
		case 'r':
			options->reps = parse_one("reps", optarg, 1, REPS_MAX);
			break;
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (optind < argc)
		errx(2, "'%s': no arguments, only options", argv[optind]);
}
