// SPDX-License-Identifier: GPL-2.0
/*
 * Demonstrates and tests /dev/hwtimer. The program schedules a million timers, tries to
 * cancel a random half of them while they run, harvests the others by epoll and read(),
 * and shows how late they were. It keeps account of every timer in user space. The last
 * line and the exit status tell whether each timer ended exactly once.
 *
 * This file parses the command line and runs the parts in order. submitter.c schedules
 * and cancels in a thread of its own. harvester.c reads the events. progress.c shows the
 * progress. audit.c compares the requests with the events. report.c prints the result,
 * with histogram.c and format.c. device.c calls /dev/hwtimer.
 */
#include <err.h>
#include <programs.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "demo.h"
#include "parse.h"

static void options_parse(struct options *options, int argc, char **argv)
{
	const struct parse_option table[] = {
		{ "timers", "N", "number of timers (1000000)", parse_u32,
		  &options->timers, 1, 1U << 30 },
		{ "seconds", "S",
		  "time over which their deadlines are spread (5)", parse_u32,
		  &options->seconds, 1, 86400 },
		{ "seed", "N", "seed of the random numbers (2015)", parse_u64,
		  &options->seed, 0, ~0ULL },
		{ "batch", "N", "requests in one SUBMIT (4096)", parse_u32,
		  &options->batch, 1, 1U << 20 },
		{ "plain", NULL, "progress in lines, even on a terminal",
		  parse_flag, &options->plain },
		{ NULL },
	};

	*options = (struct options){
		.timers = 1000000,
		.seconds = 5,
		.batch = 4096,
		.seed = 2015,
	};
	parse_options(table, argc, argv);
}

static void demo_init(struct demo *demo, const struct options *options)
{
	*demo = (struct demo){ .options = *options };
	demo->fd = device_open();
	device_setup(demo->fd, 0, 0, options->timers);
	demo->timers = allocate(options->timers, sizeof(*demo->timers));
	demo->sightings = allocate(options->timers, sizeof(*demo->sightings));
}

static void demo_release(struct demo *demo)
{
	close(demo->fd);
	free(demo->timers);
	free(demo->sightings);
}

/* A submitter that is stuck is not joined, because that would never end. */
static void demo_run(struct demo *demo)
{
	pthread_t submitter;
	int error;

	demo->start = now_ns();
	error = pthread_create(&submitter, NULL, submitter_run, demo);
	if (error)
		errx(1, "pthread_create: %s", strerror(error));
	harvester_run(demo);
	if (atomic_load(&demo->submitter_done))
		pthread_join(submitter, NULL);
}

/* Prints the last line, from which scripts read the result. */
static bool verdict(const struct demo *demo, const struct audit *audit)
{
	printf("demo: scheduled=%u cancelled=%u delivered=%u early=%u lost=%u duplicate=%u\n",
	       audit->scheduled, audit->cancelled, audit->delivered,
	       audit->early, audit->lost, audit->duplicate);
	return !audit->problems && audit->scheduled == demo->options.timers &&
	       audit->cancelled + audit->delivered == audit->scheduled;
}

int main(int argc, char **argv)
{
	struct options options;
	struct demo demo;
	struct hwtimer_stats stats;
	struct audit audit;
	bool right;

	options_parse(&options, argc, argv);
	demo_init(&demo, &options);
	report_intro(&demo);
	demo_run(&demo);
	device_stats(demo.fd, &stats);
	report_result(&demo, &stats);
	audit_run(&demo, &stats, &audit);
	right = verdict(&demo, &audit);
	if (atomic_load(&demo.submitter_done))
		demo_release(&demo);
	/* A result that nobody has seen is none. */
	return finish(right ? 0 : 1);
}
