/* SPDX-License-Identifier: MIT */
/*
 * Reads a table of the module in debugfs: a headline with the names of the columns, and a
 * line for each element, with tabs between the values. Used to find instances.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TABLE_DIRECTORY "/sys/kernel/debug/hwtimer/"

/* More columns than a file has */
#define COLUMNS_MAX 32

/**
 * struct table - a text file with a headline, read line by line
 * @file: the file
 * @headline: names of the columns
 * @line: the current line
 * @names: the columns' names, in @headline
 * @values: the current line's values, in @line
 * @columns: number of columns
 */
struct table {
	FILE *file;
	char *headline;
	char *line;
	const char *names[COLUMNS_MAX];
	const char *values[COLUMNS_MAX];
	unsigned int columns;
};

/* Returns false if the file cannot be read. */
bool table_open(struct table *table, const char *path);
/* Takes the next line; returns false at the end. */
bool table_next(struct table *table);
void table_close(struct table *table);

/* The current line's value in a column: 0 if there is no such column */
uint64_t table_number(const struct table *table, const char *name);

#endif /* TABLE_H */
