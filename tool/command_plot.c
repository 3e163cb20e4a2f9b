// SPDX-License-Identifier: MIT
/* hwtimerctl plot: samples instances, and has gnuplot draw rates and lateness. */
#define _GNU_SOURCE
#include "change.h"
#include "commands.h"
#include "records.h"
#include "units.h"

#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

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

/**
 * struct point - what happened between two samples
 * @time: time of the second sample, s after the first of all. If the machine was
 *	restarted between two samples, the time between them is unknown, and left out
 * @change: change of all instances together
 */
struct point {
	double time;
	struct change change;
};

/**
 * struct curve - the data of the picture
 * @points: points in the order of time
 * @count: number of points
 * @seen: number of instances in all samples together
 */
struct curve {
	struct point *points;
	unsigned int count;
	unsigned int seen;
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
	if (!has_unit && units_parse_time(with_unit, &ns))
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
			usage("plot: the name of the picture must not contain control characters");
	if (!ends_in(name, ".png") && !ends_in(name, ".svg"))
		usage("plot: %s does not end in .png or .svg", name);
	return name;
}

static struct wish parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "count", required_argument, NULL, 'n' },
		{ "interval", required_argument, NULL, 'i' },
		{ "from", required_argument, NULL, 'f' },
		{ "pid", required_argument, NULL, 'p' },
		{ "script", no_argument, NULL, 't' },
		{ NULL, 0, NULL, 0 },
	};
	struct wish wish = { .interval = 500000000 };
	uint64_t duration = 10000000000;
	int option;

	while ((option = next_option(argc, argv, options)) != -1)
		switch (option) {
		case 's':
			duration = seconds_argument(optarg);
			break;
		case 'n':
			wish.samples = count_argument("--count", optarg);
			break;
		case 'i':
			wish.interval = interval_argument(optarg);
			break;
		case 'f':
			wish.from = optarg;
			break;
		case 'p':
			wish.pid = pid_argument(optarg);
			break;
		case 't':
			wish.script = true;
			break;
		}
	if (optind != argc - 1)
		usage("plot takes one argument, the name of a file for the picture");
	wish.picture = picture_argument(argv[optind]);
	if (!wish.samples)
		wish.samples = 1 + duration / wish.interval;
	if (wish.samples < 2)
		usage("plot: too short for two samples: change --seconds or --interval");
	return wish;
}

/* ---- samples ---- */

static void sleep_until(uint64_t time)
{
	struct timespec ts = { .tv_sec = time / 1000000000,
			       .tv_nsec = time % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) ==
	       EINTR)
		;
}

static bool chosen(const struct wish *wish, const struct instance *instance)
{
	return !wish->pid || instance->pid == wish->pid;
}

static bool wanted(const struct wish *wish, const struct instances *now,
		   unsigned int i)
{
	const struct instance *instance = &now->list[i];
	unsigned int j;

	if (!chosen(wish, instance))
		return false;
	/* An instance that several descriptors share counts once. */
	for (j = 0; j < i; j++)
		if (chosen(wish, &now->list[j]) &&
		    instances_shared(&now->list[j], instance))
			return false;
	return true;
}

static void add_point(struct curve *curve, const struct wish *wish,
		      const struct instances *now,
		      const struct instances *before, uint64_t first)
{
	struct point *point;
	unsigned int i;

	curve->points = realloc(curve->points,
				(curve->count + 1) * sizeof(*curve->points));
	if (!curve->points)
		err(1, "no memory");
	point = &curve->points[curve->count++];
	*point = (struct point){ .time = (now->time - first) / 1e9 };
	point->change.seconds = (now->time - before->time) / 1e9;
	for (i = 0; i < now->count; i++) {
		const struct instance *instance = &now->list[i];
		struct change change;

		if (!wanted(wish, now, i))
			continue;
		curve->seen++;
		change = change_of(instance, instances_same(before, instance),
				   point->change.seconds);
		change_add(&point->change, &change);
	}
}

/* Takes the next sample; returns false if there are no more. */
static bool sample(const struct wish *wish, FILE *file, uint64_t number,
		   uint64_t first, struct instances *now)
{
	if (file)
		return records_next(file, wish->from, now);
	if (number == wish->samples)
		return false;
	if (number)
		sleep_until(first + number * wish->interval);
	instances_find(now);
	return true;
}

static FILE *open_records(const struct wish *wish)
{
	FILE *file = NULL;

	if (wish->from)
		file = fopen(wish->from, "r");
	if (wish->from && !file)
		err(1, "%s", wish->from);
	return file;
}

static struct curve take_curve(const struct wish *wish)
{
	struct instances now, before = { 0 };
	FILE *file = open_records(wish);
	struct curve curve = { 0 };
	uint64_t number, first = 0;

	for (number = 0; sample(wish, file, number, first, &now); number++) {
		/* A record without instances has no time. */
		if (!now.time) {
			instances_free(&now);
			continue;
		}
		if (!before.time)
			first = now.time;
		else if (now.time < before.time)
			/* The machine was restarted. Computed modulo 2^64. */
			first = now.time - (before.time - first);
		if (before.time && now.time > before.time)
			add_point(&curve, wish, &now, &before, first);
		instances_free(&before);
		before = now;
	}
	instances_free(&before);
	if (file)
		fclose(file);
	return curve;
}

/* ---- drawing ---- */

/*
 * Writes a file name in gnuplot's single quotes. gnuplot runs a name that begins with |
 * as a command, and looks up one that begins with ~ in a home directory. So a relative
 * name gets ./ in front.
 */
static void put_name(FILE *to, const char *name)
{
	fputs(*name == '/' ? "'" : "'./", to);
	for (; *name; name++) {
		if (*name == '\'')
			fputc('\'', to);
		fputc(*name, to);
	}
	fputc('\'', to);
}

static void put_rates(FILE *to, const struct curve *curve)
{
	unsigned int i;

	fputs("$rates << EOD\n", to);
	for (i = 0; i < curve->count; i++) {
		const struct point *point = &curve->points[i];
		double seconds = point->change.seconds;

		fprintf(to, "%.3f %.3f %.3f %.3f %.3f\n", point->time,
			point->change.scheduled / seconds,
			point->change.cancelled / seconds,
			point->change.expired / seconds,
			point->change.delivered / seconds);
	}
	fputs("EOD\n", to);
}

/* Writes the histogram from its first to its last bucket that is not empty. */
static void put_lateness(FILE *to, const struct curve *curve)
{
	struct change sum = { 0 };
	unsigned int i, first = 0, last = HWTIMER_LATENESS_BUCKETS - 1;

	for (i = 0; i < curve->count; i++)
		change_add(&sum, &curve->points[i].change);
	while (first < last && !sum.lateness[first])
		first++;
	while (last > first && !sum.lateness[last])
		last--;
	fputs("$lateness << EOD\n", to);
	for (i = first; i <= last; i++) {
		char text[UNITS_ROOM];

		fprintf(to, "\"%s\" %" PRIu64 "\n",
			units_format_time(i ? 1ULL << i : 0, text),
			sum.lateness[i]);
	}
	fputs("EOD\n", to);
}

static void put_script(FILE *to, const struct wish *wish,
		       const struct curve *curve)
{
	fprintf(to, "set terminal %s size 1000,800 background '#ffffff'\n",
		ends_in(wish->picture, ".svg") ? "svg" : "pngcairo");
	fputs("set output ", to);
	put_name(to, wish->picture);
	fputc('\n', to);
	put_rates(to, curve);
	put_lateness(to, curve);
	fputs("set multiplot layout 2,1\n"
	      "set key outside top horizontal\n"
	      "set grid\n"
	      "set yrange [0:*]\n"
	      "set xlabel 'seconds'\n"
	      "set ylabel 'timers per second'\n"
	      "plot $rates using 1:2 with linespoints title 'scheduled', \\\n"
	      "     $rates using 1:3 with linespoints title 'cancelled', \\\n"
	      "     $rates using 1:4 with linespoints title 'expired', \\\n"
	      "     $rates using 1:5 with linespoints title 'delivered'\n"
	      "set xlabel 'late by less than'\n"
	      "set ylabel 'events'\n"
	      "set xtics rotate by -45\n"
	      "set style fill solid 0.6\n"
	      "set boxwidth 0.9\n"
	      "plot $lateness using 0:2:xtic(1) with boxes notitle\n"
	      "unset multiplot\n",
	      to);
}

/* Starts gnuplot; returns the pipe to its input, and stores its process id in *@pid. */
static FILE *start_gnuplot(pid_t *pid)
{
	char *const arguments[] = { "gnuplot", NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], error;
	FILE *file;

	if (pipe2(ends, O_CLOEXEC))
		err(1, "pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	error = posix_spawnp(pid, "gnuplot", &actions, NULL, arguments,
			     environ);
	if (error == ENOENT)
		errx(1,
		     "gnuplot is not installed: sudo apt install gnuplot-nox (or use --script)");
	if (error)
		errx(1, "gnuplot: %s", strerror(error));
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	file = fdopen(ends[1], "w");
	if (!file)
		err(1, "gnuplot");
	return file;
}

static void draw(const struct wish *wish, const struct curve *curve)
{
	FILE *to;
	int status;
	pid_t pid;

	/* If gnuplot ends early, its own message is better than a SIGPIPE. */
	signal(SIGPIPE, SIG_IGN);
	to = start_gnuplot(&pid);
	put_script(to, wish, curve);
	fclose(to);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		errx(1, "gnuplot failed: %s is missing or incomplete",
		     wish->picture);
}

int command_plot(int argc, char **argv)
{
	struct wish wish = parse(argc, argv);
	struct curve curve;

	if (!wish.from)
		need_module();
	curve = take_curve(&wish);
	if (!curve.count)
		errx(1,
		     "%s: fewer than two records with instances: nothing to draw",
		     wish.from ? wish.from : "plot");
	if (!curve.seen)
		errx(1,
		     "no process%s has an instance that this user may see: start one, or run hwtimerctl as root",
		     wish.pid ? " with this --pid" : "");
	if (wish.script)
		put_script(stdout, &wish, &curve);
	else
		draw(&wish, &curve);
	free(curve.points);
	return 0;
}
