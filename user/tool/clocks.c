// SPDX-License-Identifier: MIT
/* Reads clocks; see clocks.h. */
#include "clocks.h"

#include <err.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

uint64_t clocks_now(uint32_t clock)
{
	struct timespec time;

	if (clock_gettime(HWTIMER_CLOCKID(clock), &time))
		err(1, "clock %s", snapshot_clock_name(clock));
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

static void read_boot_id(char boot_id[SNAPSHOT_BOOT_ID])
{
	static const char path[] = "/proc/sys/kernel/random/boot_id";
	FILE *file = fopen(path, "r");

	if (!file || !fgets(boot_id, SNAPSHOT_BOOT_ID, file))
		err(1, "%s", path);
	fclose(file);
}

/* Returns how far @clock is ahead in this time namespace; 0: there are no namespaces. */
static int64_t read_offset(uint32_t clock)
{
	long long seconds, nanoseconds;
	int64_t offset = 0;
	char name[16];
	FILE *file;

	file = fopen("/proc/self/timens_offsets", "r");
	if (!file)
		return 0;
	/* Clocks that may be set have no line. */
	while (fscanf(file, "%15s %lld %lld", name, &seconds, &nanoseconds) ==
	       3)
		if (!strcmp(name, snapshot_clock_name(clock)))
			offset = seconds * 1000000000 + nanoseconds;
	fclose(file);
	return offset;
}

/* Returns the present. */
struct moment clocks_moment(uint32_t clock)
{
	struct moment moment = { .clock_offset = read_offset(clock) };

	read_boot_id(moment.boot_id);
	moment.real_before = clocks_now(HWTIMER_CLOCK_REALTIME);
	moment.clock_now = clocks_now(clock);
	moment.real_after = clocks_now(HWTIMER_CLOCK_REALTIME);
	return moment;
}
