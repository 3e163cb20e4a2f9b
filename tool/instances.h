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

#define COUNTERS_MAX 64

/* The most that a wheel has */
#define LEVELS_MAX 12
#define STRIPS_MAX 64

/**
 * struct level - where in a level of a wheel there are timers
 * @nr: which, 0 is the lowest
 * @strips: how many there are
 * @width: of a strip, ns
 * @buckets: in a strip
 * @occupied: of each strip, how many of its buckets are; from now on
 */
struct level {
	unsigned int nr;
	unsigned int strips;
	uint64_t width;
	uint32_t buckets;
	uint32_t occupied[STRIPS_MAX];
};

/**
 * struct instance - a descriptor that is one
 * @pid: of a process that has it
 * @fd: there
 * @comm: its name
 * @counters: as fdinfo lists them
 * @nr_counters: how many there are
 * @nr: its number; 0: the module is too old to tell
 * @lateness: the histogram
 * @levels: of its wheel, those in which there are timers, and the lowest; none before
 *	the first timer
 * @nr_levels: how many there are
 */
struct instance {
	pid_t pid;
	int fd;
	char comm[20];
	struct counter counters[COUNTERS_MAX];
	unsigned int nr_counters;
	uint64_t nr;
	uint64_t lateness[HWTIMER_LATENESS_BUCKETS];
	struct level levels[LEVELS_MAX];
	unsigned int nr_levels;
};

/**
 * struct instances - all that can be seen
 * @time: when, ns on CLOCK_MONOTONIC
 * @list: they
 * @count: how many
 * @unseen: processes whose descriptors we may not look at
 */
struct instances {
	uint64_t time;
	struct instance *list;
	unsigned int count;
	unsigned int unseen;
};

void instances_find(struct instances *instances);
void instances_free(struct instances *instances);
struct instance *instances_add(struct instances *instances);
const struct instance *instances_same(const struct instances *instances,
				      const struct instance *instance);

uint64_t instance_counter(const struct instance *instance, const char *name);
void instance_count(struct instance *instance, const char *name,
		    uint64_t value);
uint64_t lateness_of(const uint64_t lateness[HWTIMER_LATENESS_BUCKETS],
		     double share);

#endif /* INSTANCES_H */
