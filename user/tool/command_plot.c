// SPDX-License-Identifier: MIT
/* hwtimerctl plot: samples instances, and has gnuplot draw rates and lateness. */
#define _GNU_SOURCE
#include "change.h"
#include "commands.h"
#include "drawing.h"
#include "replacement.h"
#include "samples.h"
#include "units.h"

#include <ctype.h>
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct wish - the arguments
 * @picture: name of the picture, which ends in .png or .svg
 * @from: name of a file with output of stats --json; NULL: sample now
 * @interval: time between two samples, ns
 * @samples: number of samples
 * @pid: process whose instances are sampled; 0: all processes
 * @script: print the input for gnuplot instead of running it
 */
struct wish {
	const char *picture;
	const char *from;
	uint64_t interval;
	uint64_t samples;
	pid_t pid;
	bool script;
};

/* ---- arguments ---- */

static bool ends_in(const char *name, const char *suffix)
{
	size_t length = strlen(name), wanted = strlen(suffix);

	return length > wanted && !strcmp(name + length - wanted, suffix);
}

/* Parses a number of seconds, or a time with units; 1h30 is neither, and refused. */
static uint64_t seconds_argument(const char *text)
{
	bool has_unit = text[strspn(text, "0123456789.")];
	char with_unit[32];
	uint64_t ns;

	snprintf(with_unit, sizeof(with_unit), "%ss", text);
	if (!has_unit && !units_parse_time(with_unit, &ns))
		return ns;
	return time_argument("--seconds", text);
}

static pid_t pid_argument(const char *text)
{
	uint64_t pid;

	if (!units_parse_number(text, &pid) || !pid || pid > INT32_MAX)
		usage("--pid: \"%s\" is not a process id", text);
	return pid;
}

/* The name becomes input of gnuplot, where a newline would begin a new command. */
static const char *picture_argument(const char *name)
{
	const char *c;

	for (c = name; *c; c++)
		if (iscntrl((unsigned char)*c))
			usage("the name of the picture must not contain control characters");
	if (!ends_in(name, ".png") && !ends_in(name, ".svg"))
		usage("%s does not end in .png or .svg", name);
	return name;
}

static void take_option(struct wish *wish, int option, uint64_t *duration)
{
	switch (option) {
	case 's':
		*duration = seconds_argument(optarg);
		break;
	case 'i':
		wish->interval = interval_argument(optarg);
		break;
	case 'f':
		wish->from = optarg;
		break;
	case 'p':
		wish->pid = pid_argument(optarg);
		break;
	case 'S':
		wish->script = true;
		break;
	}
}

static struct wish parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "interval", required_argument, NULL, 'i' },
		{ "from", required_argument, NULL, 'f' },
		{ "pid", required_argument, NULL, 'p' },
		{ "script", no_argument, NULL, 'S' },
		OPTION_HELP,
		OPTION_END,
	};
	struct wish wish = { .interval = 500000000 };
	uint64_t duration = 10000000000;
	int option;

	while ((option = next_option(argc, argv, ":hs:i:f:p:S", options)) != -1)
		take_option(&wish, option, &duration);
	if (optind != argc - 1)
		usage("it takes one argument, the name of a file for the picture");
	wish.picture = picture_argument(argv[optind]);
	wish.samples = 1 + duration / wish.interval;
	if (wish.samples < 2)
		usage("too short for two samples: change --seconds or --interval");
	return wish;
}

/* ---- samples ---- */

/* Returns whether the process that is sampled has the instance. */
static bool chosen(const struct wish *wish, const struct instance *instance)
{
	const struct descriptor *held = instance->held;

	while (held && wish->pid && held->pid != wish->pid)
		held = held->next;
	return held;
}

static void add_point(struct curve *curve, const struct wish *wish,
		      const struct instances *now,
		      const struct instances *before, uint64_t first)
{
	unsigned int i, count = 0;
	struct point *point;

	curve->points = realloc(curve->points,
				(curve->count + 1) * sizeof(*curve->points));
	if (!curve->points)
		err(1, "no memory");
	point = &curve->points[curve->count++];
	*point = (struct point){ .time = (now->time - first) / 1e9 };
	point->change.seconds = (now->time - before->time) / 1e9;
	for (i = 0; i < now->count; i++) {
		const struct instance *instance = now->list[i];
		struct change change;

		if (!chosen(wish, instance))
			continue;
		count++;
		change = change_of(instance, instances_same(before, instance),
				   point->change.seconds);
		change_add(&point->change, &change);
	}
	curve->seen += count;
	if (count > curve->most)
		curve->most = count;
}

static void begin_curve(struct curve *curve, const struct instances *first)
{
	curve->realtime = first->realtime;
	memcpy(curve->host, first->host, sizeof(curve->host));
}

static struct curve take_curve(const struct wish *wish, struct samples *samples)
{
	struct curve curve = { .svg = ends_in(wish->picture, ".svg") };
	struct instances now, before = { 0 };
	uint64_t first = 0;

	while (samples_next(samples, &now)) {
		if (!before.time) {
			first = now.time;
			begin_curve(&curve, &now);
		} else if (now.time < before.time) {
			/* The machine was restarted. Computed modulo 2^64. */
			first = now.time - (before.time - first);
		}
		if (before.time && now.time > before.time)
			add_point(&curve, wish, &now, &before, first);
		instances_free(&before);
		before = now;
	}
	instances_free(&before);
	return curve;
}

static void check_curve(const struct wish *wish, const struct curve *curve)
{
	if (!curve->count)
		errx(1, "%s: fewer than two records: nothing to draw",
		     wish->from ? wish->from : "plot");
	if (!curve->seen)
		errx(1,
		     "no process%s has an instance that this user may see: start one, or run hwtimerctl as root",
		     wish->pid ? " with this --pid" : "");
}

/* What would make the picture fail is tried before anything is recorded. */
int command_plot(int argc, char **argv)
{
	struct wish wish = parse(argc, argv);
	FILE *picture = NULL;
	struct samples samples;
	struct curve curve;

	if (!wish.script)
		drawing_need_gnuplot();
	samples =
		samples_open(wish.from, wish.interval, wish.samples, wish.pid);
	if (!wish.script) {
		picture = replacement_open(wish.picture);
		replacement_share();
	}
	curve = take_curve(&wish, &samples);
	samples_close(&samples);
	check_curve(&wish, &curve);
	if (wish.script)
		drawing_put_script(stdout, &curve, wish.picture);
	else if (drawing_run(&curve, picture))
		replacement_commit();
	else
		errx(1, "gnuplot failed: there is no %s", wish.picture);
	free(curve.points);
	return 0;
}
