// SPDX-License-Identifier: GPL-2.0
/*
 * Measures memory; see memory.h.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"

/* Returns the size in a line like "Slab:   123 kB", in bytes. */
static double field(const char *path, const char *name)
{
	char line[256];
	double value = -1;
	FILE *file = fopen(path, "r");

	if (!file)
		err(1, "%s", path);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name), "%lf", &value);
	fclose(file);
	if (value < 0)
		errx(1, "%s has no %s", path, name);
	return value * 1024;
}

double memory_bytes(void)
{
	return field("/proc/self/status", "VmRSS:") +
	       field("/proc/meminfo", "Slab:");
}
