// SPDX-License-Identifier: MIT
/*
 * hwtimerctl metrics: prints the counters of all instances for a monitoring system, in the
 * text format of Prometheus, 0.0.4.
 */
#include "commands.h"
#include "json.h"
#include "replacement.h"
#include "samples.h"

#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct wish - the arguments
 * @output: name of the file; NULL: standard output
 * @from: name of a file with output of stats --json; NULL: sample now
 */
struct wish {
	const char *output;
	const char *from;
};

/* A counter of an instance, and how a monitoring system names it */
struct family {
	const char *counter;
	const char *name;
	const char *help;
};

static const struct family gauges[] = {
	{ "pending", "hwtimer_pending",
	  "Timers that wait for their deadline." },
	{ "ready", "hwtimer_ready",
	  "Events that wait to be read or acknowledged." },
	{ "bytes", "hwtimer_memory_bytes",
	  "Kernel memory that the instance holds." },
	{ "dead", "hwtimer_dead_entries",
	  "Entries of cancelled or moved timers that are still in the wheel." },
};

static const struct family counters[] = {
	{ "scheduled", "hwtimer_scheduled", "Timers scheduled." },
	{ "rearmed", "hwtimer_rearmed",
	  "Times that a periodic timer became pending again." },
	{ "cancelled", "hwtimer_cancelled",
	  "Timers cancelled before they expired." },
	{ "rescheduled", "hwtimer_rescheduled", "Timers rescheduled." },
	{ "expired", "hwtimer_expired", "Events queued." },
	{ "delivered", "hwtimer_delivered", "Events that were read." },
	{ "discarded", "hwtimer_discarded", "Events that were never read." },
	{ "missed", "hwtimer_missed",
	  "Expirations of periodic timers that shared an event with another." },
	{ "wakeups", "hwtimer_wakeups", "Times that the worker woke up." },
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static struct wish parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "from", required_argument, NULL, 'f' },
		OPTION_HELP,
		OPTION_END,
	};
	struct wish wish = { 0 };
	int option;

	while ((option = next_option(argc, argv, ":ho:f:", options)) != -1)
		switch (option) {
		case 'o':
			wish.output = optarg;
			break;
		case 'f':
			wish.from = optarg;
			break;
		}
	no_operands(argc, argv);
	return wish;
}

/* Takes a sample now, or the last one of the file. */
static struct instances take(const char *from)
{
	struct samples samples = samples_open(from, 0, 1, 0);
	struct instances instances = { 0 }, next;
	bool any = false;

	while (samples_next(&samples, &next)) {
		instances_free(&instances);
		instances = next;
		any = true;
	}
	samples_close(&samples);
	if (!any)
		errx(1, "%s has no record", from);
	return instances;
}

/* ---- the format ---- */

static void put_type(FILE *to, const struct family *family, const char *type,
		     const char *suffix)
{
	fprintf(to, "# HELP %s%s %s\n", family->name, suffix, family->help);
	fprintf(to, "# TYPE %s%s %s\n", family->name, suffix, type);
}

/* Begins a sample, up to its labels, without the bracket that ends them. */
static void put_sample(FILE *to, const char *name, const char *suffix,
		       const struct instance *instance)
{
	fprintf(to, "%s%s{pid=\"%d\",fd=\"%d\",comm=", name, suffix,
		instance->pid, instance->fd);
	/* What is special in the string is what is special in JSON. */
	json_put_string(to, instance->comm);
}

static void put_family(FILE *to, const struct instances *instances,
		       const struct family *family, bool counter)
{
	const char *suffix = counter ? "_total" : "";
	unsigned int i;

	put_type(to, family, counter ? "counter" : "gauge", suffix);
	for (i = 0; i < instances->count; i++) {
		const struct instance *instance = instances->list[i];

		put_sample(to, family->name, suffix, instance);
		fprintf(to, "} %" PRIu64 "\n",
			instance_counter(instance, family->counter));
	}
}

/* A sum of ns as seconds: exact, where a double would lose the last digits. */
static void put_seconds(FILE *to, uint64_t ns)
{
	fprintf(to, "%" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000,
		ns % 1000000000);
}

static void put_longest(FILE *to, const struct instances *instances)
{
	static const struct family family = {
		.name = "hwtimer_lateness_max_seconds",
		.help = "The longest lateness so far.",
	};
	unsigned int i;

	put_type(to, &family, "gauge", "");
	for (i = 0; i < instances->count; i++) {
		put_sample(to, family.name, "", instances->list[i]);
		fputs("} ", to);
		put_seconds(to, instance_counter(instances->list[i],
						 "lateness_max"));
	}
}

static void put_histogram(FILE *to, const struct family *family,
			  const struct instance *instance)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++) {
		sum += instance->lateness[i];
		put_sample(to, family->name, "_bucket", instance);
		if (i + 1 < HWTIMER_LATENESS_BUCKETS)
			/* An upper bound is inclusive, and ours is a whole number. */
			fprintf(to, ",le=\"%.10g\"} %" PRIu64 "\n",
				(lateness_end(i) - 1) / 1e9, sum);
		else
			fprintf(to, ",le=\"+Inf\"} %" PRIu64 "\n", sum);
	}
	put_sample(to, family->name, "_sum", instance);
	fputs("} ", to);
	put_seconds(to, instance_counter(instance, "lateness_sum"));
	put_sample(to, family->name, "_count", instance);
	fprintf(to, "} %" PRIu64 "\n", sum);
}

static void put_lateness(FILE *to, const struct instances *instances)
{
	static const struct family family = {
		.name = "hwtimer_lateness_seconds",
		.help = "How late events were queued.",
	};
	unsigned int i;

	put_type(to, &family, "histogram", "");
	for (i = 0; i < instances->count; i++)
		put_histogram(to, &family, instances->list[i]);
}

static void put_all(FILE *to, const struct instances *instances)
{
	static const struct family number = {
		.name = "hwtimer_instances",
		.help = "Instances that hwtimerctl may see.",
	};
	unsigned int i;

	put_type(to, &number, "gauge", "");
	fprintf(to, "%s %u\n", number.name, instances->count);
	for (i = 0; i < NR(gauges); i++)
		put_family(to, instances, &gauges[i], false);
	for (i = 0; i < NR(counters); i++)
		put_family(to, instances, &counters[i], true);
	put_longest(to, instances);
	put_lateness(to, instances);
}

int command_metrics(int argc, char **argv)
{
	struct wish wish = parse(argc, argv);
	struct instances instances = take(wish.from);
	FILE *to = stdout;

	if (wish.output) {
		to = replacement_open(wish.output);
		replacement_share();
	}
	put_all(to, &instances);
	if (wish.output)
		replacement_commit();
	instances_free(&instances);
	return 0;
}
