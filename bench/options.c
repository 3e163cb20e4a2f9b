// SPDX-License-Identifier: GPL-2.0
/*
 * Parses the benchmark's command line; see options.h.
 */
#include <string.h>

#include "options.h"

void options_parse(struct options *options, int argc, char **argv)
{
	const struct parse_option table[] = {
		{ "timers", "N,N...",
		  "numbers of timers (10000,100000,1000000)", parse_list,
		  &options->timers, 2, 1 << 30, LIST_MAX },
		{ "systems", "A,B...", "systems to run (all that can run here)",
		  parse_text, &options->systems },
		{ "variants", "TEXT", "only variants with TEXT in their names",
		  parse_text, &options->variants },
		{ "where", "NAME", "name of this place in the results (host)",
		  parse_text, &options->where },
		{ "rep", "N",
		  "number of this repetition; rotates the order of the systems (0)",
		  parse_u32, &options->rep, 0, 1000 },
		{ "turn", "N",
		  "number of this turn with a rival; 0: no turns (0)",
		  parse_u32, &options->turn, 0, 1000 },
		{ "calls", "N",
		  "limit of system calls; lowers the number of timers (40000000)",
		  parse_u32, &options->calls, 1, 1 << 30 },
		{ "ticks", NULL, "hwtimer: also measure expiry tick by tick",
		  parse_flag, &options->ticks },
		{ "unseen", NULL,
		  "interrupts cannot be timed here: leave their cost out",
		  parse_flag, &options->unseen },
		{ "idle", "S",
		  "seconds without timers before the measured round (0)",
		  parse_u32, &options->idle, 0, 1000 },
		{ "extras", NULL,
		  "instead of the phases: two threads, one timer against one timerfd,\n"
		  "                     many instances, dead entries",
		  parse_flag, &options->extras },
		{ "extra", "NAME",
		  "with --extras: only threads, single, instances or dead",
		  parse_text, &options->extra },
		{ "pairs", "N", "pairs that make dead entries (100000000)",
		  parse_u32, &options->pairs, 1, 1000000000 },
		{ "check", NULL,
		  "only check that each timer is delivered once and never early",
		  parse_flag, &options->check },
		{ NULL },
	};

	*options = (struct options){
		.timers = { 3, { 10000, 100000, 1000000 } },
		.where = "host",
		.calls = 40000000,
		.pairs = 100000000,
	};
	parse_options(table, argc, argv);
}

/* Returns whether @name is in @list, which holds names with commas between them. */
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
