// SPDX-License-Identifier: MIT
/* hwtimerctl stats: prints counters of all instances, as a table or as JSON. */
#include "commands.h"
#include "instances.h"
#include "json.h"
#include "search.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>

/* Exact, if @width characters are enough for that */
static void put_count(const struct instance *instance, const char *name,
		      int width)
{
	uint64_t count = instance_counter(instance, name);
	char room[UNITS_ROOM];

	if (snprintf(room, sizeof(room), "%" PRIu64, count) > width)
		units_format_number(count, room);
	printf(" %*s", width, room);
}

static void put_lateness(const struct instance *instance, double share)
{
	uint64_t lateness = lateness_of(instance->lateness, share);
	char room[UNITS_ROOM];

	printf(" %6s", lateness ? units_format_time(lateness, room) : "-");
}

/* A line of 80 characters for each descriptor */
static void show_table(const struct instances *instances)
{
	unsigned int i;

	puts("    PID  FD COMMAND      PENDING READY SCHED CANCEL EXPIRE  MEMORY LATE50 LATE99");
	for (i = 0; i < instances->nr_descriptors; i++) {
		const struct descriptor *held = &instances->descriptors[i];
		const struct instance *instance = held->instance;
		char room[UNITS_ROOM];

		printf("%7d %3d %-12.12s", held->pid, held->fd, held->comm);
		put_count(instance, "pending", 7);
		put_count(instance, "ready", 5);
		put_count(instance, "scheduled", 5);
		put_count(instance, "cancelled", 6);
		put_count(instance, "expired", 6);
		printf(" %7s",
		       units_format_bytes(instance_counter(instance, "bytes"),
					  room));
		put_lateness(instance, 0.5);
		put_lateness(instance, 0.99);
		putchar('\n');
	}
}

int command_stats(int argc, char **argv)
{
	bool json = json_argument(argc, argv);
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
