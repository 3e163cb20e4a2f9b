// SPDX-License-Identifier: MIT
/* hwtimerctl schedule: schedules a timer, and prints a line for each event. */
#include "commands.h"
#include "units.h"

#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct wish - the arguments
 * @request: the timer
 * @clock: the timer's clock
 */
struct wish {
	struct hwtimer_request request;
	enum hwtimer_clock clock;
};

static enum hwtimer_clock clock_of(const char *text)
{
	if (!strcmp(text, "monotonic"))
		return HWTIMER_CLOCK_MONOTONIC;
	if (!strcmp(text, "boottime"))
		return HWTIMER_CLOCK_BOOTTIME;
	usage("invalid --clock \"%s\": give monotonic or boottime", text);
}

static struct wish parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "repeat", required_argument, NULL, 'r' },
		{ "count", required_argument, NULL, 'n' },
		{ "slack", required_argument, NULL, 's' },
		{ "clock", required_argument, NULL, 'c' },
		OPTION_HELP,
		OPTION_END,
	};
	struct wish wish = { .clock = HWTIMER_CLOCK_DEFAULT };
	int option;

	while ((option = next_option(argc, argv, ":hr:n:s:c:", options)) != -1)
		switch (option) {
		case 'r':
			wish.request.interval =
				time_argument("--repeat", optarg);
			if (!wish.request.interval)
				usage("invalid --repeat \"%s\": it must be more than 0",
				      optarg);
			break;
		case 'n':
			wish.request.expirations_max =
				count_argument("--count", optarg);
			break;
		case 's':
			wish.request.slack = time_argument("--slack", optarg);
			break;
		case 'c':
			wish.clock = clock_of(optarg);
			break;
		}
	if (optind != argc - 1)
		usage("it takes one time, e.g. hwtimerctl schedule 1.5s");
	wish.request.time = time_argument("time", argv[optind]);
	if (wish.request.expirations_max && !wish.request.interval)
		usage("--count needs --repeat");
	return wish;
}

static void schedule(struct hwt *hwt, struct wish *wish)
{
	struct hwtimer_setup setup = { .clock = wish->clock };
	int error = -hwt_setup(hwt, &setup);

	if (error)
		errx(1, "HWTIMER_IOC_SETUP: %s", strerror(error));
	error = -hwt_schedule_request(hwt, &wish->request);
	if (error)
		errx(1, "%s", strerror(error));
}

static void show(const struct hwtimer_event *event, unsigned long long number)
{
	char late[UNITS_ROOM];

	printf("%llu.%09llu  %llu  %s%s late%s\n", event->deadline / 1000000000,
	       event->deadline % 1000000000, number,
	       event->lateness == UINT32_MAX ? ">" : "",
	       units_format_time(event->lateness, late),
	       event->expirations > 1 ? ", includes missed expirations" : "");
	/* A timer that repeats may have no end; without a reader, it ends here. */
	if (fflush(stdout))
		err(1, "standard output");
}

/* Prints events until the timer ends. */
static void follow(struct hwt *hwt, const struct hwtimer_request *request)
{
	unsigned long long number = 0, last = request->expirations_max;
	struct hwtimer_event event;

	if (!request->interval)
		last = 1;
	while (!last || number < last) {
		int ret = hwt_next(hwt, &event);

		if (ret < 0)
			errx(1, "read: %s", strerror(-ret));
		number += event.expirations;
		show(&event, number);
	}
}

int command_schedule(int argc, char **argv)
{
	struct wish wish = parse(argc, argv);
	struct hwt *hwt = open_device();

	schedule(hwt, &wish);
	follow(hwt, &wish.request);
	hwt_close(hwt);
	return 0;
}
