// SPDX-License-Identifier: GPL-2.0
/*
 * Prints what the demo will do, and its results.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"
#include "format.h"
#include "histogram.h"

void report_intro(const struct demo *demo)
{
	const struct options *options = &demo->options;
	struct hwtimer_info info;
	struct text timers, tick, buckets;

	device_info(demo->fd, &info);
	printf("hwtimer demo: %s timers, deadlines random over %u s, seed %llu\n",
	       format_count(&timers, options->timers), options->seconds,
	       options->seed);
	printf("wheel: tick %s, %s buckets\n\n", format_ns(&tick, info.tick),
	       format_count(&buckets, info.buckets));
}

static void row(const char *name, __u64 count)
{
	struct text text;

	printf("  %-28s %11s", name, format_count(&text, count));
}

static void report_timers(const struct demo *demo)
{
	const struct submitted *submitted = &demo->submitted;
	struct text time;

	printf("\ntimers\n");
	row("scheduled", atomic_load(&demo->scheduled));
	printf("   in %s, %u per SUBMIT\n",
	       format_ns(&time, submitted->schedule_ns), demo->options.batch);
	row("asked to cancel", submitted->attempts);
	printf("   a random half, while they ran\n");
	row("  cancelled in time", atomic_load(&demo->cancelled));
	printf("\n");
	row("  too late, event unread", submitted->unread);
	printf("   result 1: delivered\n");
	row("  too late, event read", submitted->gone);
	printf("   ENOENT: delivered\n");
	row("delivered", atomic_load(&demo->delivered));
	printf("   in %u reads\n", demo->harvested.reads);
}

static void report_costs(const struct demo *demo,
			 const struct hwtimer_stats *stats)
{
	__u64 peak = demo->submitted.peak;
	struct text text;

	printf("\nkernel\n");
	row("bytes at the peak", stats->bytes_peak);
	if (peak)
		printf("   %.1f per timer, with %s timers",
		       (double)stats->bytes_peak / peak,
		       format_count(&text, peak));
	printf("\n");
}

static void collect(const struct demo *demo, struct histogram *lateness)
{
	__u32 *values = allocate(demo->options.timers, sizeof(*values));
	__u32 count = 0;
	__u32 i;

	for (i = 0; i < demo->options.timers; i++)
		if (demo->sightings[i].times)
			values[count++] = demo->sightings[i].lateness;
	histogram_init(lateness, values, count);
}

/* Returns whether QEMU emulates this processor; its name tells. */
static bool is_emulated(void)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	bool emulated = false;
	char line[4096];

	if (!file)
		return false;
	while (!emulated && fgets(line, sizeof(line), file))
		emulated = strstr(line, "QEMU TCG CPU");
	fclose(file);
	return emulated;
}

static void quantile(const struct histogram *h, const char *name,
		     __u32 permille)
{
	struct text text;

	printf("  %s %s", name,
	       format_lateness(&text, histogram_quantile(h, permille)));
}

/* If half of the timers are late by more than a tick, it is the machine that was late. */
static void report_overload(const struct demo *demo,
			    const struct histogram *lateness)
{
	struct hwtimer_info info;
	struct text time;

	device_info(demo->fd, &info);
	if (histogram_quantile(lateness, 500) > info.tick)
		printf("  (this machine could not keep up: it needed %s to schedule what was due within %u s)\n",
		       format_ns(&time, demo->submitted.schedule_ns),
		       demo->options.seconds);
}

static void report_lateness(const struct demo *demo)
{
	struct histogram lateness;

	collect(demo, &lateness);
	printf("\n");
	printf("lateness: from deadline to queued event; up to a tick by design\n");
	if (is_emulated())
		printf("  (this processor is emulated: its times are not those of a real one)\n");
	report_overload(demo, &lateness);
	quantile(&lateness, "p50", 500);
	quantile(&lateness, "p99", 990);
	quantile(&lateness, "p99.9", 999);
	quantile(&lateness, "max", 1000);
	printf("\n\n");
	histogram_draw(&lateness);
	printf("\n");
	histogram_release(&lateness);
}

void report_result(const struct demo *demo, const struct hwtimer_stats *stats)
{
	report_timers(demo);
	report_costs(demo, stats);
	report_lateness(demo);
}
