// SPDX-License-Identifier: MIT
/* Writes JSON; see json.h. */
#include "json.h"

#include <inttypes.h>

void json_put_string(FILE *to, const char *text)
{
	fputc('"', to);
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			fprintf(to, "\\%c", *text);
		else
			fputc(*text >= ' ' && *text <= '~' ? *text : '?', to);
	fputc('"', to);
}

/* Not every program reads numbers beyond 2^63 - 1; a width that long has no end anyway. */
static uint64_t readable(uint64_t number)
{
	return number < INT64_MAX ? number : INT64_MAX;
}

static void put_level(FILE *to, const struct level *level)
{
	unsigned int i;

	fprintf(to,
		"{\"level\": %u, \"width\": %" PRIu64 ", \"buckets\": %" PRIu32
		", \"entries\": [",
		level->nr, readable(level->width), level->buckets);
	for (i = 0; i < level->strips; i++)
		fprintf(to, "%s%" PRIu64, i ? ", " : "", level->entries[i]);
	fputs("]}", to);
}

static void put_instance(FILE *to, const struct instance *instance)
{
	unsigned int i;

	fprintf(to, "{\"pid\": %d, \"fd\": %d, \"comm\": ", instance->pid,
		instance->fd);
	json_put_string(to, instance->comm);
	for (i = 0; i < instance->nr_counters; i++)
		fprintf(to, ", \"%s\": %" PRIu64, instance->counters[i].name,
			readable(instance->counters[i].value));
	fputs(", \"lateness\": [", to);
	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++)
		fprintf(to, "%s%" PRIu64, i ? ", " : "", instance->lateness[i]);
	fputs("], \"occupancy\": [", to);
	for (i = 0; i < instance->nr_levels; i++) {
		fputs(i ? ", " : "", to);
		put_level(to, &instance->levels[i]);
	}
	fputs("]}", to);
}

void json_put_sample(FILE *to, const struct instances *instances)
{
	unsigned int i;

	fprintf(to, "{\"schema\": \"%s\", \"host\": ", INSTANCES_SCHEMA);
	json_put_string(to, instances->host);
	fprintf(to, ", \"time\": %" PRIu64 ", \"realtime\": %" PRIu64,
		instances->time, instances->realtime);
	fputs(", \"instances\": [", to);
	for (i = 0; i < instances->count; i++) {
		fputs(i ? ", " : "", to);
		put_instance(to, instances->list[i]);
	}
	fputs("]}\n", to);
}
