// SPDX-License-Identifier: GPL-2.0
/*
 * The benchmark's command line; see options.h.
 */
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "system_hwtimer.h"

static void usage(FILE *out)
{
	fprintf(out,
		"timer-bench [options]\n"
		"  --timers N,N...    numbers of timers (10000,100000,1000000)\n"
		"  --systems A,B...   which systems (all that can run here)\n"
		"  --variants TEXT    only variants with this in their names\n"
		"  --buckets N        hwtimer's number of buckets (the module's default)\n"
		"  --where NAME       what to call this place (host)\n"
		"  --rep N            number of the repetition; rotates the order (0)\n"
		"  --turn N           number of the turn that it takes with a rival (0: none)\n"
		"  --calls N          fewer timers where it would be more system calls (40000000)\n"
		"  --ticks            hwtimer: expiry tick by tick, too\n"
		"  --unseen           interrupts cannot be timed here: leave out what they do\n"
		"  --extras           not the phases, but: one timer against one timerfd, two\n"
		"                     producers, dead entries, a crowd that expires\n"
		"  --pairs N          for the dead entries (100000000)\n"
		"  --crowd N          how many expire (1000000)\n"
		"  --check            only whether all is delivered, once, never early\n");
}

static void parse_option(struct options *options, int option)
{
	switch (option) {
	case 't':
		parse_list(&options->timers, LIST_MAX, "timers", optarg, 2,
			   1 << 30);
		break;
	case 's':
		options->systems = optarg;
		break;
	case 'v':
		options->variants = optarg;
		break;
	case 'b':
		hwtimer_buckets = parse_one("buckets", optarg, 8, 1 << 20);
		break;
	case 'w':
		options->where = optarg;
		break;
	case 'r':
		options->rep = parse_one("rep", optarg, 0, 1000);
		break;
	case 'n':
		options->turn = parse_one("turn", optarg, 0, 1000);
		break;
	case 'l':
		options->calls = parse_one("calls", optarg, 1, 1 << 30);
		break;
	case 'k':
		options->ticks = true;
		break;
	case 'u':
		options->unseen = true;
		break;
	case 'e':
		options->extras = true;
		break;
	case 'p':
		options->pairs = parse_one("pairs", optarg, 1, 1000000000);
		break;
	case 'm':
		options->crowd = parse_one("crowd", optarg, 1, 10000000);
		break;
	case 'c':
		options->check = true;
		break;
	default:
		usage(stderr);
		exit(2);
	}
}

void options_parse(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "timers", required_argument, NULL, 't' },
		{ "systems", required_argument, NULL, 's' },
		{ "variants", required_argument, NULL, 'v' },
		{ "buckets", required_argument, NULL, 'b' },
		{ "where", required_argument, NULL, 'w' },
		{ "rep", required_argument, NULL, 'r' },
		{ "turn", required_argument, NULL, 'n' },
		{ "calls", required_argument, NULL, 'l' },
		{ "ticks", no_argument, NULL, 'k' },
		{ "unseen", no_argument, NULL, 'u' },
		{ "extras", no_argument, NULL, 'e' },
		{ "pairs", required_argument, NULL, 'p' },
		{ "crowd", required_argument, NULL, 'm' },
		{ "check", no_argument, NULL, 'c' },
		{ "help", no_argument, NULL, '?' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	*options = (struct options){
		.timers = { 3, { 10000, 100000, 1000000 } },
		.where = "host",
		.calls = 40000000,
		.pairs = 100000000,
		.crowd = 1000000,
	};
	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1)
		parse_option(options, option);
	if (optind < argc)
		errx(2, "'%s': no arguments, only options", argv[optind]);
}

/* Whether @name is one of @list, names with commas between */
static bool listed(const char *list, const char *name)
{
	size_t length = strlen(name);
	const char *place;

	for (place = strstr(list, name); place; place = strstr(place + 1, name))
		if ((place == list || place[-1] == ',') &&
		    (place[length] == ',' || !place[length]))
			return true;
	return false;
}

bool options_want_system(const struct options *options, const char *system)
{
	return !options->systems || listed(options->systems, system);
}

bool options_want(const struct options *options, const char *system,
		  const char *variant)
{
	return options_want_system(options, system) &&
	       (!options->variants || strstr(variant, options->variants));
}
