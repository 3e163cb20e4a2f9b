// SPDX-License-Identifier: MIT
/* hwtimerctl list: prints the timers of an instance, as a table or as JSON. */
#include "commands.h"
#include "json.h"
#include "listing.h"
#include "units.h"

#include <err.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct list - the arguments
 * @place: the instance
 * @json: print JSON, not a table
 * @sort: print the timers in the order of their deadlines
 */
struct list {
	struct place place;
	bool json;
	bool sort;
};

/* Prints a timer; @first: it is the first one */
typedef void (*show_fn)(const struct hwtimer_timer *timer, bool first);

static struct list parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "fd", required_argument, NULL, 'f' },
		{ "json", no_argument, NULL, 'j' },
		{ "sort", no_argument, NULL, 's' },
		OPTION_HELP,
		OPTION_END,
	};
	const char *inherited = NULL;
	struct list list = { 0 };
	int option;

	while ((option = next_option(argc, argv, ":hf:js", options)) != -1)
		switch (option) {
		case 'f':
			inherited = optarg;
			break;
		case 'j':
			list.json = true;
			break;
		case 's':
			list.sort = true;
			break;
		}
	list.place = place_arguments(argc - optind, argv + optind, inherited);
	return list;
}

/* ---- the table ---- */

static const char *type_name(const struct hwtimer_timer *timer)
{
	if (!timer->interval)
		return "once";
	return timer->flags & HWTIMER_REQ_FIXED_DELAY ? "delay" : "rate";
}

static const char *due(const struct hwtimer_timer *timer, char room[UNITS_ROOM])
{
	if (timer->state == HWTIMER_STATE_EXPIRED)
		return "-";
	if (timer->deadline == HWTIMER_NEVER)
		return "never";
	return units_format_time(timer->remaining, room);
}

static const char *left(const struct hwtimer_timer *timer,
			char room[UNITS_ROOM])
{
	if (!timer->interval)
		return "1";
	if (!timer->expirations_left)
		return "unlimited";
	snprintf(room, UNITS_ROOM, "%u", timer->expirations_left);
	return room;
}

/* Of 80 characters, unless the id or user_data has more than 12 digits */
static void show_row(const struct hwtimer_timer *timer, bool first)
{
	char time[UNITS_ROOM], interval[UNITS_ROOM], slack[UNITS_ROOM],
		count[UNITS_ROOM];

	if (first)
		printf("%12s %-7s %9s %-5s %9s %10s %9s %12s\n", "ID", "STATE",
		       "DUE IN", "TYPE", "INTERVAL", "COUNT", "SLACK",
		       "USER DATA");
	printf("%12llu %-7s %9s %-5s %9s %10s %9s %12llu\n", timer->id,
	       listing_state(timer), due(timer, time), type_name(timer),
	       timer->interval ? units_format_time(timer->interval, interval) :
				 "-",
	       left(timer, count),
	       timer->slack ? units_format_time(timer->slack, slack) : "-",
	       timer->user_data);
}

/* An object for each timer, on a line of its own, so that a reader needs no memory */
static void show_object(const struct hwtimer_timer *timer, bool first)
{
	(void)first;
	json_put_timer(stdout, timer);
	puts("}");
}

/* ---- all timers ---- */

/* Shows each page as it comes, so that millions of timers take no memory. */
static uint64_t show_pages(struct listing *listing, show_fn show)
{
	uint64_t shown = 0;
	unsigned int i, count;

	while ((count = listing_next(listing)))
		for (i = 0; i < count; i++)
			show(&listing->page[i], !shown++);
	return shown;
}

/* By deadline; timers of the same deadline by id, so that the order is defined. */
static int compare(const void *a, const void *b)
{
	const struct hwtimer_timer *first = a, *second = b;

	if (first->deadline != second->deadline)
		return first->deadline < second->deadline ? -1 : 1;
	return (first->id > second->id) - (first->id < second->id);
}

static uint64_t show_sorted(struct listing *listing, show_fn show)
{
	struct hwtimer_timer *all = NULL;
	size_t i, room = 0, total = 0;
	unsigned int count;

	while ((count = listing_next(listing))) {
		if (total + count > room) {
			room = 2 * room + count;
			all = reallocarray(all, room, sizeof(*all));
			if (!all)
				err(1, "no memory to sort more than %zu timers",
				    total);
		}
		memcpy(all + total, listing->page, count * sizeof(*all));
		total += count;
	}
	if (total)
		qsort(all, total, sizeof(*all), compare);
	for (i = 0; i < total; i++)
		show(&all[i], !i);
	free(all);
	return total;
}

int command_list(int argc, char **argv)
{
	struct list list = parse(argc, argv);
	show_fn show = list.json ? show_object : show_row;
	struct hwt *hwt = place_need(&list.place);
	struct listing *listing = listing_open(hwt);
	uint64_t shown;

	shown = list.sort ? show_sorted(listing, show) :
			    show_pages(listing, show);
	if (!list.json && !shown)
		puts("The instance has no timers.");
	listing_close(listing);
	hwt_close(hwt);
	return 0;
}
