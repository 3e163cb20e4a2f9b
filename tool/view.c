// SPDX-License-Identifier: MIT
/*
 * Formats a frame of the live view; see view.h.
 *
 * Each instance has a line of numbers, the histogram of lateness, and a strip for each
 * level of its wheel. All but the memory fits 80 columns. If the screen has too few
 * rows, the frame has only the lines of numbers; if it has too few rows for those, the
 * lines of the instances with most timers.
 */
#define _GNU_SOURCE
#include "view.h"

#include "change.h"
#include "units.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines that do not belong to an instance; the rulers are there if all instances fit. */
#define HEAD_LINES 2
#define RULER_LINES 2
#define FOOT_LINES 1

/* Width of the column with the names of processes */
#define COMMAND_WIDTH 12

/**
 * struct shown - an instance in the frame
 * @instance: the instance
 * @change: what has happened to the instance since the last frame
 */
struct shown {
	const struct instance *instance;
	struct change change;
};

/**
 * struct view - a frame that is being formatted
 * @to: the text
 * @screen: the screen that the frame is for
 * @list: the instances
 * @count: number of instances in @list
 * @seconds: time since the last frame; 0: this is the first
 */
struct view {
	FILE *to;
	const struct screen *screen;
	struct shown *list;
	unsigned int count;
	double seconds;
};

/*
 * Cells of the histogram, two for each power of two: one for two buckets. The last cell
 * includes all that was late by 3 s or more.
 */
#define LATENESS_CELLS 46
#define BUCKETS_PER_CELL 2

/* ---- cells: one character each, darker for more ---- */

static const char *const bars[] = {
	" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"
};

static const char *const ascii_bars[] = { " ", ".", ":", "-", "=",
					  "+", "*", "#", "@" };
#define NR_BARS 9

/* Returns the index of the cell for @value of @max; only 0 has the first cell. */
static unsigned int darkness(uint64_t value, uint64_t max, unsigned int cells)
{
	unsigned int cell;

	if (!value)
		return 0;
	cell = 1 + (double)value / max * (cells - 1);
	return cell < cells ? cell : cells - 1;
}

static void put_bar(const struct view *view, uint64_t value, uint64_t max)
{
	unsigned int cell = darkness(value, max, NR_BARS);

	fputs(view->screen->utf8 ? bars[cell] : ascii_bars[cell], view->to);
}

/*
 * Writes a number of timers as its number of digits, so that strips with 11,000 and with
 * 245,000 timers differ, in one wheel or in two.
 */
static void put_digits(const struct view *view, uint64_t value)
{
	unsigned int digits = 0;

	for (; value && digits < NR_BARS - 1; value /= 10)
		digits++;
	if (view->screen->utf8)
		fputs(digits ? bars[digits] : "·", view->to);
	else
		fputc(digits ? '0' + digits : '.', view->to);
}

/* ---- lines ---- */

static const char *number(uint64_t value, char room[UNITS_ROOM])
{
	return units_format_number(value, room);
}

/* Writes a rate, or a dash if there is no earlier frame. */
static void put_rate(const struct view *view, uint64_t count)
{
	char room[UNITS_ROOM];

	fprintf(view->to, " %8s",
		view->seconds > 0 ? number(count / view->seconds, room) : "-");
}

/*
 * Writes the name of the process, and the number of other descriptors if there are any. The name
 * is cut, not the number: half a number is another number.
 */
static void put_holder(const struct view *view, const struct instance *instance)
{
	char others[UNITS_ROOM] = "", count[UNITS_ROOM];
	char comm[COMM_ROOM + UNITS_ROOM];
	int width = COMMAND_WIDTH;

	if (instance->holders > 1)
		width -= snprintf(others, sizeof(others), " +%s",
				  number(instance->holders - 1, count));
	snprintf(comm, sizeof(comm), "%.*s%s", width, instance->comm, others);
	fprintf(view->to, "%7d %3d %-*s", instance->pid, instance->fd,
		COMMAND_WIDTH, comm);
}

static void put_numbers(const struct view *view, const struct shown *shown)
{
	const struct instance *instance = shown->instance;
	char pending[UNITS_ROOM], ready[UNITS_ROOM], bytes[UNITS_ROOM];

	put_holder(view, instance);
	fprintf(view->to, " %8s %7s",
		number(instance_counter(instance, "pending"), pending),
		number(instance_counter(instance, "ready"), ready));
	put_rate(view, shown->change.scheduled);
	put_rate(view, shown->change.cancelled);
	put_rate(view, shown->change.expired);
	put_rate(view, shown->change.delivered);
	fprintf(view->to, " %9s\n",
		units_format_bytes(instance_counter(instance, "bytes"), bytes));
}

static void put_histogram(const struct view *view, const uint64_t *lateness)
{
	uint64_t cells[LATENESS_CELLS] = { 0 }, max = 0;
	unsigned int i;

	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++) {
		unsigned int nr = i / BUCKETS_PER_CELL;
		uint64_t *cell =
			&cells[nr < LATENESS_CELLS ? nr : LATENESS_CELLS - 1];

		*cell += lateness[i];
		if (*cell > max)
			max = *cell;
	}
	for (i = 0; i < LATENESS_CELLS; i++)
		put_bar(view, cells[i], max);
}

static void put_lateness(const struct view *view, const struct shown *shown)
{
	const uint64_t *lateness = shown->change.lateness;
	char half[UNITS_ROOM], most[UNITS_ROOM];

	fputs("   late |", view->to);
	put_histogram(view, lateness);
	if (lateness_events(lateness))
		fprintf(view->to, "| 50%%<%s 99%%<%s\n",
			units_format_time(lateness_of(lateness, 0.5), half),
			units_format_time(lateness_of(lateness, 0.99), most));
	else
		fputs("| none expired\n", view->to);
}

/* Writes the width of a strip, and a cell for each strip; the first is that of now. */
static void put_level(const struct view *view, const struct level *level)
{
	char width[UNITS_ROOM];
	unsigned int i;

	fprintf(view->to, "%7s |", units_format_time(level->width, width));
	for (i = 0; i < level->strips; i++)
		put_digits(view, level->entries[i]);
	fputs("|\n", view->to);
}

static void put_wheel(const struct view *view, const struct instance *instance)
{
	unsigned int i;

	if (!instance->nr_levels)
		fputs("  wheel  no timer yet\n", view->to);
	for (i = 0; i < instance->nr_levels; i++)
		put_level(view, &instance->levels[i]);
}

/* ---- what fits ---- */

static unsigned int lines_of(const struct shown *shown)
{
	unsigned int levels = shown->instance->nr_levels;

	return 2 + (levels ? levels : 1);
}

/* Returns the number of lines for instances, and for rulers; 0: no limit. */
static unsigned int room(const struct view *view)
{
	unsigned int others = HEAD_LINES + FOOT_LINES;

	if (!view->screen->rows)
		return 0;
	return view->screen->rows > others ? view->screen->rows - others : 1;
}

static bool all_fit(const struct view *view)
{
	unsigned int i, lines = RULER_LINES;

	for (i = 0; i < view->count; i++)
		lines += lines_of(&view->list[i]);
	return !room(view) || lines <= room(view);
}

static int by_pending(const void *a, const void *b)
{
	const struct shown *first = a, *second = b;
	uint64_t one = instance_counter(first->instance, "pending");
	uint64_t other = instance_counter(second->instance, "pending");

	return (one < other) - (one > other);
}

/* ---- the frame ---- */

/* Fills the list. */
static void take(struct view *view, const struct instances *now,
		 const struct instances *before)
{
	view->list = calloc(now->count + 1, sizeof(*view->list));
	if (!view->list)
		err(1, "no memory");
	for (; view->count < now->count; view->count++) {
		const struct instance *instance = now->list[view->count];
		struct shown *shown = &view->list[view->count];

		shown->instance = instance;
		shown->change = change_of(instance,
					  instances_same(before, instance),
					  view->seconds);
	}
}

static void put_head(const struct view *view)
{
	char text[UNITS_ROOM];
	uint64_t pending = 0;
	unsigned int i;

	for (i = 0; i < view->count; i++)
		pending += instance_counter(view->list[i].instance, "pending");
	fprintf(view->to, "%u instance%s, %s timers pending", view->count,
		view->count == 1 ? "" : "s", number(pending, text));
	if (view->seconds > 0)
		fprintf(view->to, "; rates and lateness of the last %s",
			units_format_time(view->seconds * 1e9, text));
	else
		fputs("; lateness of all events so far", view->to);
	fputs(view->screen->rows ? "; q quits\n" : "\n", view->to);
	if (view->count)
		fprintf(view->to, "%7s %3s %-*s %8s %7s %8s %8s %8s %8s %9s\n",
			"PID", "FD", COMMAND_WIDTH, "COMMAND", "PENDING",
			"READY", "SCHED/s", "CANCEL/s", "EXPIRE/s", "DELIV/s",
			"MEMORY");
	else
		fputs(INSTANCES_NONE "\n", view->to);
}

/* Writes the scale of the histograms, and what the cells of the wheels mean. */
static void put_ruler(const struct view *view)
{
	unsigned int i, least = 1;
	char text[UNITS_ROOM];

	fputs("   late  0 1us                 1ms                 1s\n",
	      view->to);
	if (!view->screen->utf8) {
		fputs("  wheel  . no timer  1 to 8: timers, as the number's digits: 5 is 10k+\n",
		      view->to);
		return;
	}
	fputs("  wheel  · no timer", view->to);
	for (i = 1; i < NR_BARS - 1; i++, least *= 10)
		fprintf(view->to, "  %s %s+", bars[i],
			units_format_number(least, text));
	fputc('\n', view->to);
}

static void put_foot(const struct view *view, unsigned int missing,
		     unsigned int unseen)
{
	if (missing)
		fprintf(view->to, "%u more instances are not shown. ", missing);
	if (unseen)
		fprintf(view->to, INSTANCES_UNSEEN, unseen);
	if (missing || unseen)
		fputc('\n', view->to);
}

static unsigned int put_instances(const struct view *view)
{
	bool all = all_fit(view);
	unsigned int i, count = view->count;

	if (all && count)
		put_ruler(view);
	if (!all) {
		qsort(view->list, count, sizeof(*view->list), by_pending);
		if (count > room(view))
			count = room(view);
	}
	for (i = 0; i < count; i++) {
		put_numbers(view, &view->list[i]);
		if (!all)
			continue;
		put_lateness(view, &view->list[i]);
		put_wheel(view, view->list[i].instance);
	}
	return count;
}

/**
 * view_frame - format a frame of the live view
 * @now: all instances now
 * @before: all instances some time ago; with a time of 0 if this is the first frame
 * @screen: the screen that the frame is for
 *
 * Return: the lines of the frame; the caller frees them. A line may be longer than a row
 * of the screen; terminal_show() cuts it.
 */
char *view_frame(const struct instances *now, const struct instances *before,
		 const struct screen *screen)
{
	struct view view = {
		.screen = screen,
		.seconds = before->time ? (now->time - before->time) / 1e9 : 0,
	};
	size_t size;
	char *frame;

	view.to = open_memstream(&frame, &size);
	if (!view.to)
		err(1, "no memory");
	take(&view, now, before);
	put_head(&view);
	put_foot(&view, view.count - put_instances(&view), now->unseen);
	if (fclose(view.to))
		err(1, "no memory");
	free(view.list);
	return frame;
}
