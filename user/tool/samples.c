// SPDX-License-Identifier: MIT
/* Takes samples of all instances; see samples.h. */
#define _GNU_SOURCE
#include "samples.h"
#include "commands.h"
#include "search.h"

#include <errno.h>
#include <time.h>

struct samples samples_open(const char *from, uint64_t interval, uint64_t count,
			    pid_t pid)
{
	struct samples samples = {
		.from = from,
		.interval = interval,
		.count = count,
		.pid = pid,
	};

	if (from)
		samples.records = records_open(from);
	else
		need_module();
	return samples;
}

static void sleep_until(uint64_t time)
{
	struct timespec ts = { .tv_sec = time / 1000000000,
			       .tv_nsec = time % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) ==
	       EINTR)
		;
}

bool samples_next(struct samples *samples, struct instances *instances)
{
	if (samples->from)
		return records_next(&samples->records, instances);
	if (samples->taken == samples->count)
		return false;
	if (samples->taken)
		sleep_until(samples->first +
			    samples->taken * samples->interval);
	search_instances(instances, samples->pid);
	if (!samples->taken++)
		samples->first = instances->time;
	return true;
}

void samples_close(struct samples *samples)
{
	if (samples->from)
		records_close(&samples->records);
}
