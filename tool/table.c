// SPDX-License-Identifier: MIT
/* Reads the module's tables in debugfs; see table.h. */
#define _GNU_SOURCE
#include "table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Splits @line at its tabs into @most parts at most; returns their number. The last part
 * may contain tabs: tenants choose the names of cgroups.
 */
static unsigned int split(char *line, const char *parts[COLUMNS_MAX],
			  unsigned int most)
{
	unsigned int count = 0;

	line[strcspn(line, "\n")] = '\0';
	do {
		parts[count++] = line;
		line = count < most ? strchr(line, '\t') : NULL;
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
		errno = EIO;
		return false;
	}
	table->columns = split(table->headline, table->names, COLUMNS_MAX);
	return true;
}

bool table_next(struct table *table)
{
	unsigned int i, found;

	if (!read_line(table, &table->line))
		return false;
	found = split(table->line, table->values, table->columns);
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

const char *table_text(const struct table *table, const char *name)
{
	unsigned int i;

	for (i = 0; i < table->columns; i++)
		if (!strcmp(table->names[i], name))
			return table->values[i];
	return "";
}

uint64_t table_number(const struct table *table, const char *name)
{
	return strtoull(table_text(table, name), NULL, 10);
}
