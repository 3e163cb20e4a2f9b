// SPDX-License-Identifier: MIT
/* Reads a table of the module in debugfs; see table.h. */
#define _GNU_SOURCE
#include "table.h"

#include <stdlib.h>
#include <string.h>

/* Splits @line at its tabs; returns the number of parts. */
static unsigned int split(char *line, const char *parts[COLUMNS_MAX])
{
	unsigned int count = 0;

	line[strcspn(line, "\n")] = '\0';
	do {
		parts[count++] = line;
		line = count < COLUMNS_MAX ? strchr(line, '\t') : NULL;
		if (line)
			*line++ = '\0';
	} while (line);
	return count;
}

static bool read_line(struct table *table, char **line)
{
	size_t size = 0;

	free(*line);
	*line = NULL;
	return getline(line, &size, table->file) >= 0;
}

bool table_open(struct table *table, const char *path)
{
	*table = (struct table){ .file = fopen(path, "re") };
	if (!table->file)
		return false;
	if (!read_line(table, &table->headline)) {
		table_close(table);
		return false;
	}
	table->columns = split(table->headline, table->names);
	return true;
}

bool table_next(struct table *table)
{
	unsigned int i, found;

	if (!read_line(table, &table->line))
		return false;
	found = split(table->line, table->values);
	for (i = found; i < table->columns; i++)
		table->values[i] = "";
	return true;
}

void table_close(struct table *table)
{
	fclose(table->file);
	free(table->headline);
	free(table->line);
}

uint64_t table_number(const struct table *table, const char *name)
{
	unsigned int i;

	for (i = 0; i < table->columns; i++)
		if (!strcmp(table->names[i], name))
			return strtoull(table->values[i], NULL, 10);
	return 0;
}
