// SPDX-License-Identifier: MIT
/* hwtimerctl stats: prints counters of all instances, as a table or as JSON. */
#include "commands.h"
#include "instances.h"
#include "json.h"
#include "search.h"
#include "units.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

/* A line for each descriptor */
static void show_table(const struct instances *instances)
{
	unsigned int i;

	printf("%7s %3s %-15s %10s %8s %12s %12s %12s %9s %9s %9s\n", "PID",
	       "FD", "COMMAND", "PENDING", "READY", "SCHEDULED", "CANCELLED",
	       "EXPIRED", "MEMORY", "LATE 50%", "LATE 99%");
	for (i = 0; i < instances->nr_descriptors; i++) {
		const struct descriptor *held = &instances->descriptors[i];
		const struct instance *instance = held->instance;
		char bytes[UNITS_ROOM], half[UNITS_ROOM], most[UNITS_ROOM];

		printf("%7d %3d %-15s %10" PRIu64 " %8" PRIu64 " %12" PRIu64
		       " %12" PRIu64 " %12" PRIu64 " %9s %9s %9s\n",
		       held->pid, held->fd, held->comm,
		       instance_counter(instance, "pending"),
		       instance_counter(instance, "ready"),
		       instance_counter(instance, "scheduled"),
		       instance_counter(instance, "cancelled"),
		       instance_counter(instance, "expired"),
		       units_format_bytes(instance_counter(instance, "bytes"),
					  bytes),
		       units_format_time(lateness_of(instance->lateness, 0.5),
					 half),
		       units_format_time(lateness_of(instance->lateness, 0.99),
					 most));
	}
}

static bool json_wanted(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		OPTION_HELP,
		OPTION_END,
	};
	bool json = false;

	while (next_option(argc, argv, ":hj", options) != -1)
		json = true;
	if (optind != argc)
		usage("unexpected argument: %s", argv[optind]);
	return json;
}

int command_stats(int argc, char **argv)
{
	bool json = json_wanted(argc, argv);
	struct instances instances;

	need_module();
	search_instances(&instances, 0);
	if (json)
		json_put_sample(stdout, &instances);
	else if (instances.count)
		show_table(&instances);
	else
		puts(INSTANCES_NONE);
	if (instances.unseen)
		fprintf(stderr, "hwtimerctl: " INSTANCES_UNSEEN "\n",
			instances.unseen);
	instances_free(&instances);
	return 0;
}
