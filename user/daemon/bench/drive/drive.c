// SPDX-License-Identifier: GPL-2.0
/*
 * redis-drive: schedules timers in Redis, takes what fires, and prints figures, one JSON
 * object per line. Documentation/benchmark.md says what the figures mean.
 */
#include <err.h>
#include <string.h>

#include "emit.h"
#include "measure.h"
#include "parse.h"

static const struct {
	char *name;
	void (*measure)(const struct plan *plan);
} measures[] = {
	{ "schedule", measure_schedule }, { "memory", measure_memory },
	{ "idle", measure_idle },	  { "monitor", measure_monitor },
	{ "burst", measure_burst },	  { "lateness", measure_lateness },
	{ "check", measure_check },
};

static const struct system *const systems[] = { &system_hwtimerd,
						&system_poller,
						&system_stream_poller };

static const char *system_name = "hwtimerd", *measure_name = "check";
static const char *where = "host", *variant = "";
static __u32 rep = 1;

static struct plan plan = {
	.timers = 100000,
	.batch = 100,
	.rate = 10000,
	.lead = 5000,
	.seconds = 10,
};

static const struct parse_option options[] = {
	{ "port", "NUMBER", "port of a server without timers", parse_u32,
	  &plan.port, .min = 1, .max = 65535 },
	{ "system", "NAME",
	  "hwtimerd, poller or stream-poller; to monitor: any name", parse_text,
	  &system_name },
	{ "measure", "NAME",
	  "schedule, memory, idle, monitor, burst, lateness or check",
	  parse_text, &measure_name },
	{ "timers", "NUMBER", "how many", parse_u32, &plan.timers, .min = 1,
	  .max = 10000000 },
	{ "batch", "NUMBER", "timers per call", parse_u32, &plan.batch,
	  .min = 1, .max = 1000 },
	{ "rate", "NUMBER", "timers due per second", parse_u32, &plan.rate,
	  .min = 1, .max = 10000000 },
	{ "lead", "MS", "time until the first deadline", parse_u32, &plan.lead,
	  .min = 1, .max = 3600000 },
	{ "seconds", "NUMBER", "how long to watch an idle server", parse_u32,
	  &plan.seconds, .min = 1, .max = 3600 },
	{ "period", "MS", "how often the pollers poll", parse_u32,
	  &poller_period, .min = 1, .max = 60000 },
	{ "where", "NAME", "the place, for results", parse_text, &where },
	{ "variant", "NAME", "the variant, for results", parse_text, &variant },
	{ "rep", "NUMBER", "the repetition, for results", parse_u32, &rep,
	  .min = 1, .max = 1000 },
	{}
};

/* Returns NULL for a system that only other programs can drive. */
static const struct system *find_system(void)
{
	size_t i;

	for (i = 0; i < sizeof(systems) / sizeof(*systems); i++)
		if (!strcmp(systems[i]->name, system_name))
			return systems[i];
	return NULL;
}

static void run_measure(void)
{
	size_t i;

	for (i = 0; i < sizeof(measures) / sizeof(*measures); i++)
		if (!strcmp(measures[i].name, measure_name)) {
			if (!plan.system &&
			    measures[i].measure != measure_monitor)
				errx(2, "no such system: %s", system_name);
			measures[i].measure(&plan);
			return;
		}
	errx(2, "no such measure: %s", measure_name);
}

int main(int argc, char **argv)
{
	parse_options(options, argc, argv);
	plan.system = find_system();
	emit_place(where, rep, 0);
	emit_subject(system_name, variant, plan.timers);
	run_measure();
	return 0;
}
