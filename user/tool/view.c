// SPDX-License-Identifier: MIT
/*
 * Formats a frame of the live view; see view.h.
 *
 * Each instance has a line of numbers and a histogram of lateness. Both fit 80 columns. The
 * instances with most timers come first. If the screen has too few rows, the frame has only
 * the lines of numbers; if it has too few rows for those, the first ones.
 */
#define _GNU_SOURCE
#include "view.h"

#include "change.h"
#include "units.h"

#include <err.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines that do not belong to an instance */
#define TITLE_LINES 1
#define FOOT_LINES 1

/* Width of the column with the names of processes */
#define COMMAND_WIDTH 12

/**
 * struct shown - an instance in the frame
 * @instance: the instance
 * @nr: its place in the sample
 * @change: what has happened to the instance since the last frame
 */
struct shown {
	const struct instance *instance;
	unsigned int nr;
	struct change change;
};

/**
 * struct view - a frame that is being formatted
 * @to: the text
 * @screen: the screen that the frame is for
 * @list: the instances
 * @count: number of instances in @list
 * @seconds: time since the last frame; 0: this is the first
 * @late: whether all histograms of lateness fit
 */
struct view {
	FILE *to;
	const struct screen *screen;
	struct shown *list;
	unsigned int count;
	double seconds;
	bool late;
};

/*
 * Cells of the histogram, two for each power of two: one for two buckets. The last cell
 * includes all that was late by 3 s or more.
 */
#define LATENESS_CELLS 46
#define BUCKETS_PER_CELL 2

/* Each time begins above the cell that it belongs to. */
#define LATENESS_SCALE "0 1us   10us   100us 1ms    10ms  100ms  1s"

/* Width of what stands before a histogram */
#define LATE_WIDTH 12

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

/* ---- lines ---- */

static const char *number(uint64_t value, char room[UNITS_ROOM])
{
	return units_format_number(value, room);
}

/* Writes a rate, or a dash if there is no earlier frame. */
static void put_rate(const struct view *view, uint64_t count, int width)
{
	char room[UNITS_ROOM];

	fprintf(view->to, " %*s", width,
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
	fprintf(view->to, " %7s %5s",
		number(instance_counter(instance, "pending"), pending),
		number(instance_counter(instance, "ready"), ready));
	put_rate(view, shown->change.scheduled, 7);
	put_rate(view, shown->change.cancelled, 8);
	put_rate(view, shown->change.expired, 8);
	put_rate(view, shown->change.delivered, 7);
	fprintf(view->to, " %7s\n",
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

/* Writes a share of events that were late by no more, or a dash if none has expired. */
static void put_share(const struct view *view, const uint64_t *lateness,
		      double share)
{
	char room[UNITS_ROOM];

	fprintf(view->to, " %7s",
		lateness_events(lateness) ?
			units_format_time(lateness_of(lateness, share), room) :
			"-");
}

static void put_lateness(const struct view *view, const struct shown *shown)
{
	const uint64_t *lateness = shown->change.lateness;

	fprintf(view->to, "%*s |", LATE_WIDTH, "late");
	put_histogram(view, lateness);
	fputc('|', view->to);
	put_share(view, lateness, 0.5);
	put_share(view, lateness, 0.99);
	fputc('\n', view->to);
}

/* ---- what fits ---- */

/* Returns the number of lines for instances below so many headings. */
static unsigned int room(const struct view *view, unsigned int headings)
{
	unsigned int others = TITLE_LINES + headings + FOOT_LINES;

	if (!view->screen->rows)
		return UINT_MAX;
	return view->screen->rows > others ? view->screen->rows - others : 1;
}

static int by_pending(const void *a, const void *b)
{
	const struct shown *first = a, *second = b;
	uint64_t one = instance_counter(first->instance, "pending");
	uint64_t other = instance_counter(second->instance, "pending");

	if (one != other)
		return one < other ? 1 : -1;
	return first->nr < second->nr ? -1 : 1;
}

/* ---- the frame ---- */

/* Fills and sorts the list. */
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
		shown->nr = view->count;
		shown->change = change_of(instance,
					  instances_same(before, instance),
					  view->seconds);
	}
	qsort(view->list, view->count, sizeof(*view->list), by_pending);
	view->late = 2 * view->count <= room(view, 2);
}

static void put_title(const struct view *view)
{
	char text[UNITS_ROOM];
	uint64_t pending = 0;
	unsigned int i;

	for (i = 0; i < view->count; i++)
		pending += instance_counter(view->list[i].instance, "pending");
	fprintf(view->to, "%u instance%s, %s timer%s pending", view->count,
		view->count == 1 ? "" : "s", number(pending, text),
		pending == 1 ? "" : "s");
	if (view->seconds > 0)
		fprintf(view->to, ". Rates and lateness: last %s.",
			units_format_time(view->seconds * 1e9, text));
	else
		fputs(". Lateness: all events so far.", view->to);
	fputs(view->screen->rows ? "  q quits\n" : "\n", view->to);
}

static void put_headings(const struct view *view)
{
	fprintf(view->to, "%7s %3s %-*s %7s %5s %7s %8s %8s %7s %7s\n", "PID",
		"FD", COMMAND_WIDTH, "COMMAND", "PENDING", "READY", "SCHED/s",
		"CANCEL/s", "EXPIRE/s", "DELIV/s", "MEMORY");
	if (view->late)
		fprintf(view->to, "%*s  %-*s  %7s %7s\n", LATE_WIDTH, "LATE BY",
			LATENESS_CELLS, LATENESS_SCALE, "50%", "99%");
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

/* Returns how many instances have lines. */
static unsigned int put_instances(const struct view *view)
{
	unsigned int i, count = view->count;

	if (!count)
		fputs(INSTANCES_NONE "\n", view->to);
	if (!view->late && count > room(view, 1))
		count = room(view, 1);
	for (i = 0; i < count; i++) {
		put_numbers(view, &view->list[i]);
		if (view->late)
			put_lateness(view, &view->list[i]);
	}
	return count;
}

/**
 * view_frame - format a frame of the live view
 * @now: all instances now
 * @before: all instances some time ago; with a time of 0 if this is the first frame
 * @screen: the screen that the frame is for
 *
 * Return: the frame; the caller frees its text. A line may be longer than a row of the
 * screen; terminal_show() cuts it.
 */
struct frame view_frame(const struct instances *now,
			const struct instances *before,
			const struct screen *screen)
{
	struct view view = {
		.screen = screen,
		.seconds = before->time ? (now->time - before->time) / 1e9 : 0,
	};
	struct frame frame;
	size_t size;

	view.to = open_memstream(&frame.text, &size);
	if (!view.to)
		err(1, "no memory");
	take(&view, now, before);
	put_title(&view);
	put_headings(&view);
	put_foot(&view, view.count - put_instances(&view), now->unseen);
	if (fclose(view.to))
		err(1, "no memory");
	free(view.list);
	frame.headings = view.late ? 2 : 1;
	return frame;
}
