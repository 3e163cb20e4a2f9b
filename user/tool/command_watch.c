// SPDX-License-Identifier: MIT
/* hwtimerctl watch: shows a live view of all instances. */
#include "commands.h"
#include "search.h"
#include "view.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

/**
 * struct watch - the arguments
 * @interval: time between two frames, ns
 * @count: number of frames; 0: until the user quits
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
		OPTION_HELP,
		OPTION_END,
	};
	struct watch watch = { .interval = 1000000000 };
	int option;

	while ((option = next_option(argc, argv, ":hi:n:1", options)) != -1)
		switch (option) {
		case 'i':
			watch.interval = interval_argument(optarg);
			break;
		case 'n':
			watch.count = count_argument("--count", optarg);
			break;
		case '1':
			watch.count = 1;
			break;
		}
	if (optind != argc)
		usage("unexpected argument: %s", argv[optind]);
	return watch;
}

static void show(const struct instances *now, const struct instances *before)
{
	struct screen screen = terminal_screen();
	struct frame frame = view_frame(now, before, &screen);

	terminal_show(&frame);
	free(frame.text);
}

/* Shows a frame until @time; returns false if the user has quit. */
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
		search_instances(&now, 0);
		if (frame == watch.count) {
			/* The last frame stays visible on the ordinary screen. */
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
