// SPDX-License-Identifier: GPL-2.0
/*
 * Binds processes to processors and sets priorities; see processor.h.
 */
#include <err.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "processor.h"

void processor_pin(int pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(pid, sizeof(set), &set))
		err(1, "process %d cannot be bound to processor %d", pid, cpu);
}

int processor_last(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) - 1;
}

double processor_time(int pid)
{
	char path[64];
	double ns = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%lf", &ns) != 1)
		ns = 0;
	fclose(file);
	return ns;
}

static void schedule_as(int pid, int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (sched_setscheduler(pid, policy, &param))
		err(1, "another scheduling policy needs root");
}

void processor_hold(void)
{
	schedule_as(0, SCHED_FIFO, 1);
}

void processor_share(void)
{
	schedule_as(0, SCHED_OTHER, 0);
}
