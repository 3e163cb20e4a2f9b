// SPDX-License-Identifier: MIT
/*
 * Formats a frame of the live view; see view.h.
 *
 * Each instance has a row of numbers, of which a narrow screen has the most important ones. Below
 * the rows is the histogram of lateness of all instances, with a line for each range, as bpftrace's
 * hist() draws it, and what the columns mean. Where the screen has too few lines, these are left
 * out first, and then instances.
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

/* ---- columns ---- */

enum {
	PID,
	FD,
	COMMAND,
	PENDING,
	READY,
	SCHED,
	CANCEL,
	EXPIRE,
	DELIV,
	MEMORY,
	LATE50,
	LATE99,
	NR_VALUES,
};

/* What a column shows */
enum kind { NUMBER, TEXT, COUNT, RATE, BYTES, TIME };

static const struct column {
	const char *heading;
	int width;
	enum kind kind;
} columns[] = {
	[PID] = { "PID", 7, NUMBER },
	[FD] = { "FD", 3, NUMBER },
	[COMMAND] = { "COMMAND", 12, TEXT },
	[PENDING] = { "PENDING", 7, COUNT },
	[READY] = { "READY", 5, COUNT },
	[SCHED] = { "SCHED/s", 7, RATE },
	[CANCEL] = { "CANCEL/s", 8, RATE },
	[EXPIRE] = { "EXPIRE/s", 8, RATE },
	[DELIV] = { "DELIV/s", 7, RATE },
	[MEMORY] = { "MEMORY", 7, BYTES },
	[LATE50] = { "LATE50", 7, TIME },
	[LATE99] = { "LATE99", 7, TIME },
};

/* The most important column first. Those up to MEMORY fill 80 characters. */
static const unsigned int important[NR_VALUES] = {
	COMMAND, PID,	 PENDING, EXPIRE, LATE99, FD,
	SCHED,	 CANCEL, READY,	  MEMORY, DELIV,  LATE50,
};

/* Up to so much wider is the column with the names if there is room. */
#define COMMAND_MORE 8

int view_column(const char *name)
{
	unsigned int i;

	for (i = 0; i < NR_VALUES; i++) {
		const char *heading = columns[i].heading;
		size_t length = strcspn(heading, "/");

		if (strlen(name) == length &&
		    !strncasecmp(name, heading, length))
			return i;
	}
	return -1;
}

void view_move(struct view_order *order, int step)
{
	order->column = (order->column + NR_VALUES + step) % NR_VALUES;
}

/**
 * struct shown - an instance in the frame
 * @instance: the instance
 * @nr: its place in the sample
 * @change: what has happened to the instance since the last frame
 * @values: its numbers, by column
 */
struct shown {
	const struct instance *instance;
	unsigned int nr;
	struct change change;
	uint64_t values[NR_VALUES];
};

/**
 * struct view - a frame that is being formatted
 * @to: the text
 * @screen: the screen that the frame is for
 * @order: the order of the instances
 * @list: the instances
 * @count: number of instances in @list
 * @total: what has happened to all of them
 * @seconds: time since the last frame; 0: this is the first
 * @width: number of characters in a line
 * @widths: widths of the columns; 0: it does not fit
 * @rows: number of instances that fit
 * @doublings: powers of two in a line of the histogram of all instances; 0: it does not fit
 * @legend: whether the explanation of the columns fits
 * @spare: number of lines that are left empty
 */
struct view {
	FILE *to;
	const struct screen *screen;
	const struct view_order *order;
	struct shown *list;
	unsigned int count;
	struct change total;
	double seconds;
	int width;
	int widths[NR_VALUES];
	unsigned int rows;
	unsigned int doublings;
	bool legend;
	unsigned int spare;
};

/* ---- instances ---- */

static uint64_t rate(const struct view *view, uint64_t count)
{
	return view->seconds > 0 ? count / view->seconds : 0;
}

static void fill_values(const struct view *view, struct shown *shown)
{
	const struct change *change = &shown->change;
	uint64_t *values = shown->values;

	values[PID] = shown->instance->pid;
	values[FD] = shown->instance->fd;
	values[PENDING] = change->pending;
	values[READY] = change->ready;
	values[SCHED] = rate(view, change->scheduled);
	values[CANCEL] = rate(view, change->cancelled);
	values[EXPIRE] = rate(view, change->expired);
	values[DELIV] = rate(view, change->delivered);
	values[MEMORY] = change->bytes;
	values[LATE50] = lateness_of(change->lateness, 0.5);
	values[LATE99] = lateness_of(change->lateness, 0.99);
}

/* Names from A to Z, numbers of processes and descriptors upwards, others downwards */
static int by_order(const void *a, const void *b, void *data)
{
	const struct shown *first = a, *other = b;
	const struct view_order *order = data;
	uint64_t one = first->values[order->column],
		 two = other->values[order->column];
	int ret = (one < two) - (one > two);

	if (order->column == COMMAND)
		ret = strcmp(first->instance->comm, other->instance->comm);
	else if (columns[order->column].kind == NUMBER)
		ret = -ret;
	if (ret)
		return order->reverse ? -ret : ret;
	return first->nr < other->nr ? -1 : 1;
}

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
		change_add(&view->total, &shown->change);
		fill_values(view, shown);
	}
	qsort_r(view->list, view->count, sizeof(*view->list), by_order,
		(void *)view->order);
}

/* ---- what fits ---- */

static void fit_columns(struct view *view)
{
	int spare, with, used = -1;
	unsigned int i;

	view->width = view->screen->columns ? view->screen->columns : 80;
	for (i = 0; i < NR_VALUES; i++) {
		unsigned int column = important[i];

		with = used + 1 + columns[column].width;
		if (i && with > view->width)
			continue;
		view->widths[column] = columns[column].width;
		used = with;
	}
	spare = view->width - used;
	if (spare > 0)
		view->widths[COMMAND] += spare < COMMAND_MORE ? spare :
								COMMAND_MORE;
}

/* Powers of two in the histogram of lateness, with one for all that is less than 1,024 ns */
#define POWERS (HWTIMER_LATENESS_BUCKETS / 4)

/* Returns the number of lines of the histogram of all instances. */
static unsigned int ranges(unsigned int doublings)
{
	return 1 + (POWERS - 1 + doublings - 1) / doublings;
}

/* What stands below the rows, from the most lines to the fewest */
static const struct {
	bool legend;
	unsigned int doublings;
} below[] = { { true, 1 }, { true, 2 }, { true, 3 }, { false, 3 } };

static void fit_lines(struct view *view, unsigned int unseen)
{
	/* A title, headings, keys, and what could not be seen */
	unsigned int i, left, lines, others = 3 + !!unseen;

	if (!view->screen->rows) {
		view->rows = view->count;
		view->doublings = 2;
		return;
	}
	left = view->screen->rows > others ? view->screen->rows - others : 1;
	view->rows = view->count < left ? view->count : left;
	left -= view->rows ? view->rows : 1;
	for (i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		/* With an empty line in front of each, and headings */
		lines = 2 + ranges(below[i].doublings) + 3 * below[i].legend;
		if (left < lines)
			continue;
		view->doublings = below[i].doublings;
		view->legend = below[i].legend;
		left -= lines;
		break;
	}
	view->spare = left;
}

/* ---- colours ---- */

#define ORDINARY "\033[m"
#define REVERSE "\033[7m"
/* Of the column that decides the order */
#define REVERSE_BOLD "\033[1m"
#define REVERSE_CYAN "\033[36m"

/* Green up to 4 ms, red from 67 ms on: with a tick of 1 ms, a wheel that is idle shows green. */
static void put_shade(const struct view *view, uint64_t lateness)
{
	if (view->screen->colour)
		fputs(!lateness		  ? ORDINARY :
		      lateness <= 1 << 22 ? "\033[32m" :
		      lateness <= 1 << 26 ? "\033[33m" :
					    "\033[31m",
		      view->to);
}

/* A line in reverse video, with @length characters from @begin marked */
static void put_heading(const struct view *view, const char *text, int begin,
			int length)
{
	int rest = view->width - (int)strlen(text);

	if (!view->screen->rows) {
		fprintf(view->to, "%s\n", text);
		return;
	}
	fprintf(view->to,
		REVERSE "%.*s%s%.*s" ORDINARY REVERSE "%s%*s" ORDINARY "\n",
		begin, text,
		!length		     ? "" :
		view->screen->colour ? REVERSE_CYAN :
				       REVERSE_BOLD,
		length, text + begin, text + begin + length,
		rest > 0 ? rest : 0, "");
}

/* ---- rows ---- */

/*
 * Writes the name of the process, and the number of other descriptors if there are any. The name
 * is cut, not the number: half a number is another number.
 */
static void put_holder(const struct view *view, const struct instance *instance)
{
	char others[UNITS_ROOM] = "", count[UNITS_ROOM];
	char comm[COMM_ROOM + UNITS_ROOM];
	int width = view->widths[COMMAND];

	if (instance->holders > 1)
		width -= snprintf(others, sizeof(others), " +%s",
				  units_format_number(instance->holders - 1,
						      count));
	snprintf(comm, sizeof(comm), "%.*s%s", width, instance->comm, others);
	fprintf(view->to, "%-*s", view->widths[COMMAND], comm);
}

/* Returns what a column shows of an instance; "-": there is nothing to compare with, or none. */
static const char *cell(const struct view *view, const struct shown *shown,
			unsigned int column, char room[UNITS_ROOM])
{
	uint64_t value = shown->values[column];

	switch (columns[column].kind) {
	case RATE:
		if (view->seconds <= 0)
			return "-";
		return units_format_number(value, room);
	case COUNT:
		return units_format_number(value, room);
	case BYTES:
		return units_format_bytes(value, room);
	case TIME:
		return value ? units_format_time(value, room) : "-";
	default:
		snprintf(room, UNITS_ROOM, "%" PRIu64, value);
		return room;
	}
}

static void put_row(const struct view *view, const struct shown *shown)
{
	const char *space = "";
	char room[UNITS_ROOM];
	unsigned int i;

	for (i = 0; i < NR_VALUES; i++) {
		if (!view->widths[i])
			continue;
		fputs(space, view->to);
		space = " ";
		if (i == COMMAND) {
			put_holder(view, shown->instance);
			continue;
		}
		if (columns[i].kind == TIME)
			put_shade(view, shown->values[i]);
		fprintf(view->to, "%*s", view->widths[i],
			cell(view, shown, i, room));
		if (columns[i].kind == TIME)
			put_shade(view, 0);
	}
	fputc('\n', view->to);
}

static void put_headings(const struct view *view)
{
	int begin = 0, marked = 0, at = 0, width;
	char text[512];
	unsigned int i;

	for (i = 0; i < NR_VALUES; i++) {
		if (!view->widths[i])
			continue;
		if (at)
			text[at++] = ' ';
		width = i == COMMAND ? -view->widths[i] : view->widths[i];
		if (i == view->order->column) {
			begin = at;
			marked = abs(width);
		}
		at += sprintf(text + at, "%*s", width, columns[i].heading);
	}
	put_heading(view, text, begin, marked);
}

/* ---- the histogram of all instances ---- */

/* Width of what stands before the bars */
#define RANGE_WIDTH 26

/* A cell of which so many eighths are filled */
static const char *const widths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };

static void put_bar(const struct view *view, uint64_t value, uint64_t max,
		    uint64_t lateness)
{
	int width = view->width - RANGE_WIDTH - 1, cells, i;
	unsigned int eighths;

	if (width < 1)
		return;
	eighths = value ? (double)value / max * width * 8 : 0;
	if (value && !eighths)
		eighths = 1;
	cells = eighths / 8;
	put_shade(view, lateness);
	for (i = 0; i < cells; i++)
		fputs(view->screen->utf8 ? "█" : "@", view->to);
	if (eighths % 8) {
		fputs(view->screen->utf8 ? widths[eighths % 8] : ".", view->to);
		cells++;
	}
	put_shade(view, 0);
	fprintf(view->to, "%*s", width - cells, "");
}

static void put_range(const struct view *view, unsigned int first,
		      unsigned int end, uint64_t count, uint64_t max)
{
	char from[UNITS_ROOM], to[UNITS_ROOM], events[UNITS_ROOM], range[80];

	units_format_time(HWTIMER_LATENESS_BOUND(first), from);
	units_format_time(HWTIMER_LATENESS_BOUND(end), to);
	if (!first)
		snprintf(range, sizeof(range), "less than %s", to);
	else if (end == HWTIMER_LATENESS_BUCKETS)
		snprintf(range, sizeof(range), "%s or more", from);
	else
		snprintf(range, sizeof(range), "%s - %s", from, to);
	fprintf(view->to, "%-17s %6s |", range,
		units_format_number(count, events));
	put_bar(view, count, max, HWTIMER_LATENESS_BOUND(end));
	fputs("|\n", view->to);
}

/* Returns the first bucket of a line. */
static unsigned int bucket_of(const struct view *view, unsigned int line)
{
	unsigned int bucket = line ? 4 + 4 * view->doublings * (line - 1) : 0;

	return bucket < HWTIMER_LATENESS_BUCKETS ? bucket :
						   HWTIMER_LATENESS_BUCKETS;
}

static void put_ranges(const struct view *view)
{
	unsigned int line, i, lines = ranges(view->doublings), from = lines,
			      to = 0;
	uint64_t counts[POWERS] = { 0 }, max = 0;

	for (line = 0; line < lines; line++) {
		for (i = bucket_of(view, line); i < bucket_of(view, line + 1);
		     i++)
			counts[line] += view->total.lateness[i];
		if (counts[line] > max)
			max = counts[line];
		if (counts[line] && from > line)
			from = line;
		if (counts[line])
			to = line + 1;
	}
	/* On a screen, each range stays in its place. */
	if (view->screen->rows) {
		from = 0;
		to = lines;
	}
	for (line = from; line < to; line++)
		put_range(view, bucket_of(view, line),
			  bucket_of(view, line + 1), counts[line], max);
}

static void put_histogram(const struct view *view)
{
	const uint64_t *lateness = view->total.lateness;
	char half[UNITS_ROOM], most[UNITS_ROOM], text[256];
	uint64_t events = lateness_events(lateness);
	int length;

	if (!view->doublings || (!events && !view->screen->rows))
		return;
	units_format_time(lateness_of(lateness, 0.5), half);
	units_format_time(lateness_of(lateness, 0.99), most);
	length = snprintf(text, sizeof(text), "%-17s %6s", "LATE BY", "EVENTS");
	if (events)
		snprintf(text + length, sizeof(text) - length,
			 "  half below %s, 99%% below %s", half, most);
	fputc('\n', view->to);
	put_heading(view, text, 0, 0);
	put_ranges(view);
}

/* ---- the frame ---- */

static void put_title(const struct view *view)
{
	char text[UNITS_ROOM];
	uint64_t pending = view->total.pending;

	fprintf(view->to, "%u instance%s, %s timer%s pending", view->count,
		view->count == 1 ? "" : "s", units_format_number(pending, text),
		pending == 1 ? "" : "s");
	if (view->seconds > 0)
		fprintf(view->to, ". Rates and lateness: last %s.\n",
			units_format_time(view->seconds * 1e9, text));
	else
		fputs(". Lateness: all events so far.\n", view->to);
}

static void put_instances(const struct view *view)
{
	unsigned int i;

	if (!view->count)
		fputs(INSTANCES_NONE "\n", view->to);
	for (i = 0; i < view->rows; i++)
		put_row(view, &view->list[i]);
}

static const char legend[] =
	"\nPENDING: not due yet. READY: events not read yet. /s: each second.\n"
	"LATE99: of 100 events, 99 were late by less than this.\n";

static void put_foot(const struct view *view, unsigned int unseen)
{
	unsigned int i;

	if (view->legend)
		fputs(legend, view->to);
	for (i = 0; i < view->spare; i++)
		fputc('\n', view->to);
	if (unseen)
		fprintf(view->to, INSTANCES_UNSEEN "\n", unseen);
	if (!view->screen->rows)
		return;
	fprintf(view->to,
		"q quits. Sorted by %s: s next, S previous, r reverse.",
		columns[view->order->column].heading);
	if (view->count > view->rows)
		fprintf(view->to, " %u more instances.",
			view->count - view->rows);
	fputc('\n', view->to);
}

/**
 * view_frame - format a frame of the live view
 * @now: all instances now
 * @before: all instances some time ago; with a time of 0 if this is the first frame
 * @screen: the screen that the frame is for
 * @order: the order of the instances
 *
 * Return: the frame, in lines; the caller frees it. A line may be longer than a row of the
 * screen; terminal_show() cuts it.
 */
char *view_frame(const struct instances *now, const struct instances *before,
		 const struct screen *screen, const struct view_order *order)
{
	struct view view = {
		.screen = screen,
		.order = order,
		.seconds = before->time ? (now->time - before->time) / 1e9 : 0,
	};
	size_t size;
	char *text;

	view.to = open_memstream(&text, &size);
	if (!view.to)
		err(1, "no memory");
	take(&view, now, before);
	fit_columns(&view);
	fit_lines(&view, now->unseen);
	put_title(&view);
	put_headings(&view);
	put_instances(&view);
	put_histogram(&view);
	put_foot(&view, now->unseen);
	if (fclose(view.to))
		err(1, "no memory");
	free(view.list);
	return text;
}
