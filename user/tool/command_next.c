// SPDX-License-Identifier: MIT
/* hwtimerctl next: prints the timers of all instances that expire next. */
#define _GNU_SOURCE
#include "clocks.h"
#include "commands.h"
#include "json.h"
#include "listing.h"
#include "search.h"
#include "units.h"

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/**
 * struct upcoming - a pending timer
 * @timer: the timer; its time left is that at the beginning of the search
 * @instance: its instance
 */
struct upcoming {
	struct hwtimer_timer timer;
	const struct instance *instance;
};

/**
 * struct next - what expires next
 * @wanted: number of timers to show, at most
 * @list: timers: at least those that expire first, up to @wanted of them
 * @count: number of timers in @list
 * @room: number of timers for which @list has memory
 * @pending: number of timers that will expire
 * @unseen: number of instances that this user may not list
 */
struct next {
	size_t wanted;
	struct upcoming *list;
	size_t count;
	size_t room;
	uint64_t pending;
	unsigned int unseen;
};

/* ---- the timers ---- */

static int by_time(const void *a, const void *b)
{
	const struct hwtimer_timer *first =
		&((const struct upcoming *)a)->timer;
	const struct hwtimer_timer *other =
		&((const struct upcoming *)b)->timer;

	if (first->remaining != other->remaining)
		return first->remaining < other->remaining ? -1 : 1;
	/* Of those that are due */
	if (first->deadline != other->deadline)
		return first->deadline < other->deadline ? -1 : 1;
	return (first->id > other->id) - (first->id < other->id);
}

/* Leaves the timers that are to be shown, in their order. */
static void sort(struct next *next)
{
	if (next->count)
		qsort(next->list, next->count, sizeof(*next->list), by_time);
	if (next->count > next->wanted)
		next->count = next->wanted;
}

/* Sorts only now and then, so that a million timers take a few comparisons each. */
static void take_timer(struct next *next, const struct upcoming *upcoming)
{
	if (next->count == next->room && next->count / 2 >= next->wanted)
		sort(next);
	if (next->count == next->room) {
		next->room = 2 * next->room + 64;
		next->list = reallocarray(next->list, next->room,
					  sizeof(*next->list));
		if (!next->list)
			err(1, "no memory for more than %zu timers",
			    next->count);
	}
	next->list[next->count++] = *upcoming;
	next->pending++;
}

/* @begin: when the search began, ns on CLOCK_MONOTONIC */
static void take_timers(struct next *next, struct hwt *hwt,
			const struct instance *instance, uint64_t begin)
{
	uint64_t passed = clocks_now(HWTIMER_CLOCK_MONOTONIC) - begin;
	struct listing *listing = listing_open(hwt);
	unsigned int i, count;

	while ((count = listing_next(listing)))
		for (i = 0; i < count; i++) {
			struct upcoming upcoming = {
				.timer = listing->page[i],
				.instance = instance,
			};

			if (upcoming.timer.state != HWTIMER_STATE_PENDING ||
			    upcoming.timer.deadline == HWTIMER_NEVER)
				continue;
			/* What is due is due, whenever it has become so. */
			if (upcoming.timer.remaining)
				upcoming.timer.remaining += passed;
			take_timer(next, &upcoming);
		}
	listing_close(listing);
}

static void take_instance(struct next *next, const struct instance *instance,
			  uint64_t begin)
{
	const struct place place = { .pid = instance->pid, .fd = instance->fd };
	struct hwt *hwt;
	int error = -place_open(&place, &hwt);

	switch (error) {
	case 0:
		take_timers(next, hwt, instance, begin);
		hwt_close(hwt);
		break;
	case ESRCH:
	case EBADF:
	case ENOTTY:
		/* It was closed meanwhile. */
		break;
	case EPERM:
	case EACCES:
		next->unseen++;
		break;
	default:
		errx(1, "descriptor %d of process %d: %s", place.fd, place.pid,
		     strerror(error));
	}
}

/* ---- the table ---- */

enum column { NEXT, LEFT, PERIOD, PID, FD, COMMAND, ID, USER_DATA, COLUMNS };

struct row {
	char cells[COLUMNS][UNITS_ROOM];
};

/* The time of day, and from tomorrow on the date */
static void put_time(char *room, uint64_t realtime, uint64_t now)
{
	time_t then = realtime / 1000000000, today = now / 1000000000;
	struct tm tm, tm_now;

	localtime_r(&then, &tm);
	localtime_r(&today, &tm_now);
	if (tm.tm_year != tm_now.tm_year) {
		strftime(room, UNITS_ROOM, "%F", &tm);
	} else if (tm.tm_yday != tm_now.tm_yday) {
		strftime(room, UNITS_ROOM, "%b %d %H:%M", &tm);
	} else {
		strftime(room, UNITS_ROOM, "%T", &tm);
		snprintf(room + strlen(room), 8, ".%03" PRIu64,
			 realtime / 1000000 % 1000);
	}
}

static struct row row_of(const struct upcoming *upcoming, uint64_t now)
{
	const struct hwtimer_timer *timer = &upcoming->timer;
	const struct instance *instance = upcoming->instance;
	struct row row = { .cells = { [LEFT] = "due", [PERIOD] = "-" } };

	put_time(row.cells[NEXT], now + timer->remaining, now);
	if (timer->remaining)
		units_format_time(timer->remaining, row.cells[LEFT]);
	if (timer->interval)
		units_format_time(timer->interval, row.cells[PERIOD]);
	snprintf(row.cells[PID], UNITS_ROOM, "%d", instance->pid);
	snprintf(row.cells[FD], UNITS_ROOM, "%d", instance->fd);
	snprintf(row.cells[COMMAND], UNITS_ROOM, "%s", instance->comm);
	snprintf(row.cells[ID], UNITS_ROOM, "%llu", timer->id);
	snprintf(row.cells[USER_DATA], UNITS_ROOM, "%llu", timer->user_data);
	return row;
}

/* Each column is as wide as it has to be: ids may have 20 digits, and mostly have few. */
static void show_table(const struct next *next, uint64_t now)
{
	struct row *rows = calloc(1 + next->count, sizeof(*rows));
	int length, widths[COLUMNS] = { 0 };
	size_t i, column;

	if (!rows)
		err(1, "no memory");
	rows[0] = (struct row){ { "NEXT", "LEFT", "PERIOD", "PID", "FD",
				  "COMMAND", "ID", "USER DATA" } };
	for (i = 0; i < next->count; i++)
		rows[1 + i] = row_of(&next->list[i], now);
	for (i = 0; i <= next->count; i++)
		for (column = 0; column < COLUMNS; column++) {
			length = strlen(rows[i].cells[column]);
			if (length > widths[column])
				widths[column] = length;
		}
	widths[COMMAND] = -widths[COMMAND];
	for (i = 0; i <= next->count; i++)
		for (column = 0; column < COLUMNS; column++)
			printf("%*s%c", widths[column], rows[i].cells[column],
			       column + 1 < COLUMNS ? ' ' : '\n');
	free(rows);
	if (next->pending > next->count)
		printf("The first %zu of %" PRIu64
		       " timers; --count shows more.\n",
		       next->count, next->pending);
}

static void show_objects(const struct next *next, uint64_t now)
{
	size_t i;

	for (i = 0; i < next->count; i++) {
		const struct upcoming *upcoming = &next->list[i];
		const struct instance *instance = upcoming->instance;

		json_put_timer(stdout, &upcoming->timer);
		printf(", \"realtime\": %" PRIu64
		       ", \"pid\": %d, \"fd\": %d, \"comm\": ",
		       now + (uint64_t)upcoming->timer.remaining, instance->pid,
		       instance->fd);
		json_put_string(stdout, instance->comm);
		puts("}");
	}
}

/* ---- the command ---- */

static bool parse(int argc, char **argv, struct next *next)
{
	static const struct option options[] = {
		{ "count", required_argument, NULL, 'n' },
		{ "json", no_argument, NULL, 'j' },
		OPTION_HELP,
		OPTION_END,
	};
	bool json = false;
	int option;

	while ((option = next_option(argc, argv, ":hn:j", options)) != -1)
		if (option == 'n')
			next->wanted = count_argument("--count", optarg);
		else
			json = true;
	no_operands(argc, argv);
	return json;
}

int command_next(int argc, char **argv)
{
	struct next next = { .wanted = 10 };
	bool json = parse(argc, argv, &next);
	struct instances instances;
	unsigned int i;

	need_module();
	search_instances(&instances, 0);
	for (i = 0; i < instances.count; i++)
		take_instance(&next, instances.list[i], instances.time);
	sort(&next);
	if (json)
		show_objects(&next, instances.realtime);
	else if (next.count)
		show_table(&next, instances.realtime);
	else
		puts(instances.count ? "No timer is pending." : INSTANCES_NONE);
	if (next.unseen)
		fprintf(stderr,
			"hwtimerctl: %u instance%s of other processes could not be listed: run hwtimerctl as root.\n",
			next.unseen, next.unseen == 1 ? "" : "s");
	if (instances.unseen)
		fprintf(stderr, "hwtimerctl: " INSTANCES_UNSEEN "\n",
			instances.unseen);
	free(next.list);
	instances_free(&instances);
	return 0;
}
