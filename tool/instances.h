/* SPDX-License-Identifier: MIT */
/*
 * All instances that there are, by /proc/PID/fdinfo: what each tells of itself. Used
 * by the commands that look.
 */
#ifndef INSTANCES_H
#define INSTANCES_H

#include <linux/hwtimer.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Counters of an instance: what fdinfo has, with these names */
struct counter {
	const char *name;
	uint64_t value;
};

#define COUNTERS_MAX 40

/**
 * struct instance - a descriptor that is one
 * @pid: of a process that has it
 * @fd: there
 * @comm: its name
 * @counters: as fdinfo lists them
 * @nr_counters: how many there are
 * @lateness: the histogram
 */
struct instance {
	pid_t pid;
	int fd;
	char comm[20];
	struct counter counters[COUNTERS_MAX];
	unsigned int nr_counters;
	uint64_t lateness[HWTIMER_LATENESS_BUCKETS];
};

/**
 * struct instances - all that can be seen
 * @list: they
 * @count: how many
 * @unseen: processes whose descriptors we may not look at
 */
struct instances {
	struct instance *list;
	unsigned int count;
	unsigned int unseen;
};

void instances_find(struct instances *instances);
void instances_free(struct instances *instances);
uint64_t instance_counter(const struct instance *instance, const char *name);

#endif /* INSTANCES_H */
