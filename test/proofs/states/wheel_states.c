// SPDX-License-Identifier: GPL-2.0
/*
 * Explores all states of small wheels; see explore.c. test/vm/proofs.sh runs this program.
 *
 *	usage: wheel-states KIND BUCKETS TIMERS DEAD TIMES [OPTION...]
 *
 * KIND is hashed or hierarchical. BUCKETS is the number of buckets of the lowest level.
 * There are up to TIMERS timers and DEAD dead entries. TIMES is the last tick, or a list
 * of ticks, at which the clock stands and timers are due. The options allow more moves:
 * moves, rewinds, compacts and slack; shift=N sets the length of a tick to 2^N ns.
 *
 * Prints the numbers of states and transitions. The exit status is 1 if a property does
 * not hold; then the way to that state is printed.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uapi/linux/hwtimer.h>

#include "explore.h"
#include "world.h"

static void parse_times(const char *text)
{
	u64 last = strtoull(text, NULL, 0);
	char *end = (char *)text;
	u64 tick;

	if (strchr(text, ',')) {
		while (*end && config.nr_times < TIMES_MAX) {
			config.times[config.nr_times++] =
				strtoull(end, &end, 0);
			end += *end == ',';
		}
		return;
	}
	if (last >= TIMES_MAX)
		errx(2, "at most %u ticks", TIMES_MAX);
	for (tick = 0; tick <= last; tick++)
		config.times[config.nr_times++] = tick;
}

static void parse_option(const char *option)
{
	if (!strcmp(option, "moves"))
		config.moves = true;
	else if (!strcmp(option, "rewinds"))
		config.rewinds = true;
	else if (!strcmp(option, "compacts"))
		config.compacts = true;
	else if (!strcmp(option, "slack"))
		config.slack = true;
	else if (!strncmp(option, "shift=", 6))
		config.tick_shift = atoi(option + 6);
	else if (!strncmp(option, "limit=", 6))
		config.limit = strtoull(option + 6, NULL, 0);
	else
		errx(2, "unknown option %s", option);
}

static void parse(int argc, char **argv)
{
	int i;

	if (argc < 6)
		errx(2,
		     "usage: wheel-states KIND BUCKETS TIMERS DEAD TIMES [OPTION...]");
	config.kind = !strcmp(argv[1], "hashed") ? HWTIMER_KIND_HASHED :
						   HWTIMER_KIND_HIERARCHICAL;
	config.buckets = atoi(argv[2]);
	config.timers = atoi(argv[3]);
	config.dead = atoi(argv[4]);
	config.tick_shift = 59;
	parse_times(argv[5]);
	for (i = 6; i < argc; i++)
		parse_option(argv[i]);
	if (config.timers > TIMERS_MAX ||
	    config.timers + config.dead > ENTRIES_MAX)
		errx(2, "too many timers");
}

int main(int argc, char **argv)
{
	struct found found;

	parse(argc, argv);
	explore(&found);
	printf("%llu states, %llu transitions\n", found.worlds,
	       found.transitions);
	return 0;
}
