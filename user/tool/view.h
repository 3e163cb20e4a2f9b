/* SPDX-License-Identifier: MIT */
/*
 * Formats a frame of the live view: all instances as text that fits a screen. Used by
 * hwtimerctl watch.
 */
#ifndef VIEW_H
#define VIEW_H

#include "instances.h"
#include "terminal.h"

/**
 * struct view_order - the order of the instances
 * @column: number of the column that decides
 * @reverse: the other way round: text from Z to A, numbers from the smallest to the largest
 */
struct view_order {
	unsigned int column;
	bool reverse;
};

/* Returns the number of the column whose heading begins with this name; -1: there is none. */
int view_column(const char *name);

/* Makes another column decide: @step columns to the right, and around. */
void view_move(struct view_order *order, int step);

char *view_frame(const struct instances *now, const struct instances *before,
		 const struct screen *screen, const struct view_order *order);

#endif /* VIEW_H */
