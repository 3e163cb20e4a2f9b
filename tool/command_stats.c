// SPDX-License-Identifier: MIT
/* hwtimerctl stats: prints counters of all instances, as a table or as JSON. */
#include "commands.h"
#include "instances.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void show_table(const struct instances *instances)
{
	unsigned int i;

	printf("%7s %3s %-15s %10s %8s %12s %12s %12s %9s %9s %9s\n", "PID",
	       "FD", "COMMAND", "PENDING", "READY", "SCHEDULED", "CANCELLED",
	       "EXPIRED", "MEMORY", "LATE 50%", "LATE 99%");
	for (i = 0; i < instances->count; i++) {
		const struct instance *instance = &instances->list[i];
		char bytes[UNITS_ROOM], half[UNITS_ROOM], most[UNITS_ROOM];

		printf("%7d %3d %-15s %10" PRIu64 " %8" PRIu64 " %12" PRIu64
		       " %12" PRIu64 " %12" PRIu64 " %9s %9s %9s\n",
		       instance->pid, instance->fd, instance->comm,
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

/* @text is printable ASCII; take_comm() in instances.c sees to that. */
static void show_string(const char *text)
{
	putchar('"');
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else
			putchar(*text);
	putchar('"');
}

static void show_level(const struct level *level)
{
	unsigned int i;

	printf("{\"level\": %u, \"width\": %" PRIu64 ", \"buckets\": %" PRIu32
	       ", \"occupied\": [",
	       level->nr, level->width, level->buckets);
	for (i = 0; i < level->strips; i++)
		printf("%s%" PRIu32, i ? ", " : "", level->occupied[i]);
	fputs("]}", stdout);
}

static void show_object(const struct instance *instance, uint64_t time)
{
	unsigned int i;

	printf("  {\"pid\": %d, \"fd\": %d, \"comm\": ", instance->pid,
	       instance->fd);
	show_string(instance->comm);
	printf(", \"time\": %" PRIu64, time);
	for (i = 0; i < instance->nr_counters; i++)
		printf(", \"%s\": %" PRIu64, instance->counters[i].name,
		       instance->counters[i].value);
	fputs(", \"lateness\": [", stdout);
	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++)
		printf("%s%" PRIu64, i ? ", " : "", instance->lateness[i]);
	fputs("], \"occupancy\": [", stdout);
	for (i = 0; i < instance->nr_levels; i++) {
		fputs(i ? ", " : "", stdout);
		show_level(&instance->levels[i]);
	}
	fputs("]}", stdout);
}

static void show_json(const struct instances *instances)
{
	unsigned int i;

	puts("[");
	for (i = 0; i < instances->count; i++) {
		show_object(&instances->list[i], instances->time);
		puts(i + 1 < instances->count ? "," : "");
	}
	puts("]");
}

int command_stats(int argc, char **argv)
{
	bool json = argc > 1 && !strcmp(argv[1], "--json");
	struct instances instances;

	if (argc > 1 + json)
		usage("stats: unexpected argument: %s", argv[1 + json]);
	need_module();
	instances_find(&instances);
	if (json)
		show_json(&instances);
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
