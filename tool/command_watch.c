// SPDX-License-Identifier: MIT
/* hwtimerctl watch: a live view of all instances. */
#include "commands.h"
#include "view.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

/**
 * struct watch - what was asked for
 * @interval: between two frames, ns
 * @count: of frames; 0: until the user has seen enough
 */
struct watch {
	uint64_t interval;
	uint32_t count;
};

static struct watch parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "interval", required_argument, NULL, 'i' },
		{ "count", required_argument, NULL, 'n' },
		{ "once", no_argument, NULL, '1' },
		{ NULL, 0, NULL, 0 },
	};
	struct watch watch = { .interval = 1000000000 };
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (option) {
		case 'i':
			watch.interval = time_argument("--interval", optarg);
			if (watch.interval < 10000000)
				usage("--interval: 10ms is the least");
			break;
		case 'n':
			watch.count = count_argument("--count", optarg);
			break;
		case '1':
			watch.count = 1;
			break;
		default:
			usage("watch: an option is unknown, or its value is missing: %s",
			      argv[optind > 1 ? optind - 1 : 1]);
		}
	if (optind != argc)
		usage("watch takes no %s", argv[optind]);
	return watch;
}

static void show(const struct instances *now, const struct instances *before)
{
	struct screen screen = terminal_screen();
	char *frame = view_frame(now, before, &screen);

	terminal_show(frame);
	free(frame);
}

/* Shows until it is time for the next frame; returns whether there is one. */
static bool show_until(uint64_t time, const struct instances *now,
		       const struct instances *before)
{
	enum terminal_event event;

	do {
		show(now, before);
		event = terminal_wait(time);
	} while (event == TERMINAL_REDRAW);
	return event == TERMINAL_TIME;
}

int command_watch(int argc, char **argv)
{
	struct watch watch = parse(argc, argv);
	struct instances now, before = { 0 };
	bool more = true;
	uint32_t frame;

	need_module();
	if (watch.count != 1)
		terminal_open();
	for (frame = 1; more; frame++) {
		instances_find(&now);
		if (frame == watch.count) {
			/* What is shown last is to be seen. */
			terminal_close();
			show(&now, &before);
			more = false;
		} else {
			more = show_until(now.time + watch.interval, &now,
					  &before);
		}
		instances_free(&before);
		before = now;
	}
	instances_free(&before);
	terminal_close();
	return 0;
}
