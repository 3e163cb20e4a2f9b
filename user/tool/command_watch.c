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
 * @order: the order of the instances, which the user may change
 */
struct watch {
	uint64_t interval;
	uint32_t count;
	struct view_order order;
};

static unsigned int column_argument(const char *text)
{
	int column = view_column(text);

	if (column < 0)
		usage("invalid --sort \"%s\": there is no such column", text);
	return column;
}

static struct watch parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "interval", required_argument, NULL, 'i' },
		{ "count", required_argument, NULL, 'n' },
		{ "sort", required_argument, NULL, 's' },
		OPTION_HELP,
		OPTION_END,
	};
	struct watch watch = {
		.interval = 1000000000,
		.order.column = view_column("pending"),
	};
	int option;

	while ((option = next_option(argc, argv, ":hi:n:s:", options)) != -1)
		switch (option) {
		case 'i':
			watch.interval = interval_argument(optarg);
			break;
		case 'n':
			watch.count = count_argument("--count", optarg);
			break;
		case 's':
			watch.order.column = column_argument(optarg);
			break;
		}
	no_operands(argc, argv);
	return watch;
}

static void show(const struct watch *watch, const struct instances *now,
		 const struct instances *before)
{
	struct screen screen = terminal_screen();
	char *text = view_frame(now, before, &screen, &watch->order);

	terminal_show(text);
	free(text);
}

/* Shows a frame until it is time for the next; returns false if the user has quit. */
static bool show_until(struct watch *watch, const struct instances *now,
		       const struct instances *before)
{
	int key;

	do {
		show(watch, now, before);
		key = terminal_wait(now->time + watch->interval);
		if (key == 's')
			view_move(&watch->order, 1);
		else if (key == 'S')
			view_move(&watch->order, -1);
		else if (key == 'r')
			watch->order.reverse = !watch->order.reverse;
	} while (key != TERMINAL_TIME && key != 'q' && key != 'Q');
	return key == TERMINAL_TIME;
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
			show(&watch, &now, &before);
			more = false;
		} else {
			more = show_until(&watch, &now, &before);
		}
		instances_free(&before);
		before = now;
	}
	instances_free(&before);
	terminal_close();
	return 0;
}
