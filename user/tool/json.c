// SPDX-License-Identifier: MIT
/* Writes JSON; see json.h. */
#include "json.h"
#include "listing.h"

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

static void put_instance(FILE *to, const struct instance *instance)
{
	unsigned int i;

	fprintf(to, "{\"pid\": %d, \"fd\": %d, \"comm\": ", instance->pid,
		instance->fd);
	json_put_string(to, instance->comm);
	for (i = 0; i < instance->nr_counters; i++)
		fprintf(to, ", \"%s\": %" PRIu64, instance->counters[i].name,
			instance->counters[i].value);
	fputs(", \"lateness\": [", to);
	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++)
		fprintf(to, "%s%" PRIu64, i ? ", " : "", instance->lateness[i]);
	fputs("]}", to);
}

void json_put_timer(FILE *to, const struct hwtimer_timer *timer)
{
	fprintf(to,
		"{\"schema\": \"hwtimer-timer/1\", \"id\": %llu, \"user_data\": %llu, \"state\": \"%s\"",
		timer->id, timer->user_data, listing_state(timer));
	if (timer->deadline == HWTIMER_NEVER)
		fputs(", \"deadline\": null, \"remaining\": null", to);
	else
		fprintf(to, ", \"deadline\": %llu, \"remaining\": %llu",
			timer->deadline, timer->remaining);
	fprintf(to,
		", \"interval\": %llu, \"slack\": %llu, \"count\": %u, \"fixed_delay\": %s, \"expirations\": %u",
		timer->interval, timer->slack, timer->expirations_left,
		timer->flags & HWTIMER_REQ_FIXED_DELAY ? "true" : "false",
		timer->expirations);
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
