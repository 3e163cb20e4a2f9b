// SPDX-License-Identifier: MIT
/*
 * Tests the frames of hwtimerctl watch without the module: whether they fit screens of all
 * sizes, and are in the order that was asked for. Built with sanitizers and run by
 * test/vm/userland.sh. Prints what is wrong; the exit status is 0 if nothing is.
 */
#define _GNU_SOURCE
#include "../view.h"
#include "expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000ULL

/* Adds an instance, @events of which were late by what is bucket @late. */
static void add(struct instances *instances, const char *comm, uint64_t pending,
		uint64_t events, unsigned int late)
{
	struct instance shown = { .pid = 1000 + instances->count, .fd = 3 };

	snprintf(shown.comm, sizeof(shown.comm), "%s", comm);
	instance_count(&shown, "instance", 1 + instances->count);
	instance_count(&shown, "pending", pending);
	instance_count(&shown, "expired", events);
	shown.lateness[late] = events;
	instances_add(instances, &shown);
}

/* A sample at that time, of so many instances; each has fewer timers than the one before. */
static struct instances sample(uint64_t time, unsigned int count)
{
	struct instances instances;
	unsigned int i;

	instances_begin(&instances);
	instances.time = time;
	for (i = 0; i < count; i++)
		add(&instances, i % 2 ? "even" : "odd", 1000000 - i,
		    time / SECOND * 1000 * i, 7 * i % HWTIMER_LATENESS_BUCKETS);
	instances_finish(&instances);
	return instances;
}

/* Returns the number of characters in the line at *@text, and moves *@text behind it. */
static unsigned int take_line(const char **text, unsigned int *escapes)
{
	unsigned int columns = 0;

	for (; **text != '\n'; ++*text) {
		if (**text == '\033') {
			*text += strcspn(*text, "m");
			++*escapes;
		} else if ((**text & 0xc0) != 0x80) {
			columns++;
		}
	}
	++*text;
	return columns;
}

/*
 * Rows fill the screen and are never cut: what is no row of an instance may be too long for a
 * narrow screen.
 */
static void check_frame(const char *text, const struct screen *screen)
{
	unsigned int columns, lines = 0, escapes = 0;
	const char *line;

	while (*text) {
		line = text;
		columns = take_line(&text, &escapes);
		lines++;
		if (screen->columns >= 80 ||
		    (screen->columns >= 12 && lines > 1 &&
		     strstr(line, "odd ") < text && strstr(line, "odd ")))
			EXPECT(columns <= screen->columns);
	}
	if (screen->rows > 3)
		EXPECT(lines == screen->rows);
	EXPECT(screen->rows || !escapes);
}

static void fits_all_screens(void)
{
	static const unsigned int counts[] = { 0, 1, 3, 17, 300 };
	struct view_order order = { .column = view_column("pending") };
	unsigned int i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct instances before = sample(SECOND, counts[i]);
		struct instances now = sample(3 * SECOND, counts[i]);
		struct screen screen = { 0 };

		for (screen.rows = 0; screen.rows < 60;
		     screen.rows += 1 + screen.rows / 16)
			for (screen.columns = 1; screen.columns < 230;
			     screen.columns += 1 + screen.rows % 13) {
				char *text;

				screen.utf8 = screen.columns % 2;
				screen.colour = screen.rows && screen.rows % 3;
				text = view_frame(&now, &before, &screen,
						  &order);
				check_frame(text, &screen);
				free(text);
			}
		instances_free(&before);
		instances_free(&now);
	}
}

/* Returns the place of @word in the frame; dies of none. */
static size_t place(const char *text, const char *word)
{
	const char *found = strstr(text, word);

	EXPECT(found);
	return found ? found - text : 0;
}

static void sorts(void)
{
	struct instances before = { 0 }, now;
	const struct screen screen = { 0 };
	struct view_order order = { .column = view_column("pending") };
	char *text;

	instances_begin(&now);
	add(&now, "bee", 10, 30, 20);
	add(&now, "ant", 30, 20, 4);
	add(&now, "cat", 20, 10, 90);
	instances_finish(&now);
	text = view_frame(&now, &before, &screen, &order);
	EXPECT(place(text, "ant") < place(text, "cat"));
	EXPECT(place(text, "cat") < place(text, "bee"));
	free(text);
	order.reverse = true;
	text = view_frame(&now, &before, &screen, &order);
	EXPECT(place(text, "bee") < place(text, "cat"));
	EXPECT(place(text, "cat") < place(text, "ant"));
	free(text);
	order = (struct view_order){ .column = view_column("command") };
	text = view_frame(&now, &before, &screen, &order);
	EXPECT(place(text, "ant") < place(text, "bee"));
	EXPECT(place(text, "bee") < place(text, "cat"));
	free(text);
	order.column = view_column("late99");
	text = view_frame(&now, &before, &screen, &order);
	EXPECT(place(text, "cat") < place(text, "bee"));
	EXPECT(place(text, "bee") < place(text, "ant"));
	free(text);
	order.column = view_column("PID");
	text = view_frame(&now, &before, &screen, &order);
	EXPECT(place(text, "bee") < place(text, "ant"));
	EXPECT(place(text, "ant") < place(text, "cat"));
	free(text);
	instances_free(&now);
}

/* The columns are a circle, and each is known by its name. */
static void knows_columns(void)
{
	static const char *const names[] = { "pid",	"fd",	  "command",
					     "pending", "ready",  "sched",
					     "cancel",	"expire", "deliv",
					     "memory",	"late50", "late99" };
	struct view_order order = { .column = view_column("pid") };
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		EXPECT(view_column(names[i]) == (int)order.column);
		view_move(&order, 1);
	}
	EXPECT(view_column("pid") == (int)order.column);
	view_move(&order, -1);
	EXPECT(view_column("late99") == (int)order.column);
	EXPECT(view_column("") < 0);
	EXPECT(view_column("late") < 0);
	EXPECT(view_column("sched/s") < 0);
}

int main(void)
{
	fits_all_screens();
	sorts();
	knows_columns();
	return failures != 0;
}
