// SPDX-License-Identifier: GPL-2.0
/*
 * The processor time of the module's workers, from /proc: the only way to see
 * from user space what expiry costs.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "worker_time.h"

/* The first field of schedstat: ns on a processor; 0 if it cannot be read. */
static __u64 thread_ns(const char *pid)
{
	char path[64];
	unsigned long long ns = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/schedstat", pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%llu", &ns) != 1)
		ns = 0;
	fclose(file);
	return ns;
}

static bool is_worker(const char *pid)
{
	char path[64], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	return !strncmp(name, "hwtimer/", 8);
}

__u64 workers_ns(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	__u64 sum = 0;

	if (!proc)
		return 0;
	while ((entry = readdir(proc)))
		if (isdigit(entry->d_name[0]) && is_worker(entry->d_name))
			sum += thread_ns(entry->d_name);
	closedir(proc);
	return sum;
}
