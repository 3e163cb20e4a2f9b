// SPDX-License-Identifier: GPL-2.0
/*
 * Measures many instances of a few timers each: what each takes of the machine's memory, and
 * how many turns a second, and how late, the one worker of their process makes for them.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "emit.h"
#include "extra.h"
#include "numbers.h"
#include "processor.h"
#include "system_hwtimer.h"

#define INSTANCES_MAX 4096
/* Each instance has this many timers, one after the other within the time SPAN. */
#define TIMERS 4
#define SPAN NSEC_PER_SEC
/* Time for opening all instances and scheduling all timers */
#define LEAD (4 * NSEC_PER_SEC)
#define AFTER (NSEC_PER_SEC / 2)

static int files[INSTANCES_MAX];

/* Returns the machine's free memory, bytes. */
static double memory_free(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	unsigned long long kib = 0;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemFree: %llu kB", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib * 1024.0;
}

/* Lets this process have @count files more than it has. */
static void allow_files(int count)
{
	struct rlimit limit = { count + 64, count + 64 };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		err(1, "setrlimit");
}

/* The timers of all instances are spread over SPAN evenly. */
static void fill(int count, __u64 start)
{
	int i, k;

	for (i = 0; i < count; i++)
		for (k = 0; k < TIMERS; k++)
			device_schedule(files[i],
					start + SPAN / TIMERS * k +
						SPAN / TIMERS / count * i);
}

/* Sums up what STATS says of all instances. */
static struct hwtimer_stats sum(int count)
{
	struct hwtimer_stats all = { 0 };
	int i;

	for (i = 0; i < count; i++) {
		struct hwtimer_stats stats;

		device_stats(files[i], &stats);
		all.bytes += stats.bytes;
		all.expired += stats.expired;
		all.lateness_sum += stats.lateness_sum;
		if (stats.lateness_max > all.lateness_max)
			all.lateness_max = stats.lateness_max;
	}
	return all;
}

static __u64 sum_of_turns(int count)
{
	__u64 turns = 0;
	int i;

	for (i = 0; i < count; i++)
		turns += hwtimer_fdinfo(files[i], "turns");
	return turns;
}

static void emit_of(int count, const char *what, double value, const char *unit)
{
	char phase[80];

	snprintf(phase, sizeof(phase), "%d instances, %s", count, what);
	emit(phase, value, unit);
}

/* Returns the mean lateness, ns. */
static double measure_instances(int count)
{
	struct hwtimer_stats all;
	double before, taken, mean;
	__u64 start;
	int i;

	allow_files(count);
	before = memory_free();
	for (i = 0; i < count; i++)
		files[i] = device_open();
	start = now_ns() + LEAD;
	fill(count, start);
	taken = before - memory_free();
	if (now_ns() >= start)
		warnx("%d instances: the first timers were due too early",
		      count);
	emit_of(count, "bytes each by STATS", (double)sum(count).bytes / count,
		"bytes");
	emit_of(count, "machine's memory each", taken / count, "bytes");
	while (now_ns() < start + SPAN + AFTER)
		usleep(100000);
	all = sum(count);
	if (all.expired != (__u64)count * TIMERS)
		errx(1, "%d instances: %llu of %d timers expired", count,
		     (unsigned long long)all.expired, count * TIMERS);
	mean = (double)all.lateness_sum / all.expired;
	emit_of(count, "turns a second", sum_of_turns(count) / (SPAN / 1e9),
		"per second");
	emit_of(count, "lateness, mean", mean, "ns");
	emit_of(count, "lateness, longest", all.lateness_max, "ns");
	for (i = 0; i < count; i++)
		close(files[i]);
	return mean;
}

void extra_instances(const struct run *run)
{
	double few, many;

	(void)run;
	few = measure_instances(64);
	many = measure_instances(1000);
	emit_of(1000, "lateness to that of 64", many / few, "ratio");
	many = measure_instances(INSTANCES_MAX);
	emit_of(INSTANCES_MAX, "lateness to that of 64", many / few, "ratio");
}
