/* SPDX-License-Identifier: MIT */
/*
 * Finds all instances, and reads the counters that each one shows in /proc/PID/fdinfo.
 * Used by stats, watch, plot and metrics.
 */
#ifndef INSTANCES_H
#define INSTANCES_H

#include <linux/hwtimer.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Of a sample in JSON; the number grows when a member gets another meaning. */
#define INSTANCES_SCHEMA "hwtimer-stats/1"

/* Messages of several commands */
#define INSTANCES_NONE "No process has an instance that this user may see."
#define INSTANCES_UNSEEN \
	"%u processes of other users could not be read: run hwtimerctl as root."

/* A counter of an instance, with its name in fdinfo */
struct counter {
	const char *name;
	uint64_t value;
};

#define COUNTERS_MAX 64

/* Room for the name of a process, which has 15 bytes at most */
#define COMM_ROOM 20

struct instance;

/**
 * struct descriptor - a descriptor of an instance
 * @pid: process that has it open
 * @fd: its number in that process
 * @comm: name of the process
 * @instance: the instance
 * @next: the next descriptor of the instance
 */
struct descriptor {
	pid_t pid;
	int fd;
	char comm[COMM_ROOM];
	struct instance *instance;
	const struct descriptor *next;
};

/**
 * struct instance - an instance, as one of its descriptors shows it
 * @nr: number of the instance; 0: unknown, because only root is told. Must be the first
 *	member: see instances_find()
 * @pid: process that has the descriptor open
 * @fd: number of the descriptor in that process
 * @comm: name of the process
 * @held: its descriptors that were found, in the order of processes and of their numbers;
 *	set by instances_finish()
 * @holders: number of these
 * @counters: counters in the order of fdinfo
 * @nr_counters: number of counters
 * @lateness: histogram of lateness
 */
struct instance {
	uint64_t nr;
	pid_t pid;
	int fd;
	char comm[COMM_ROOM];
	const struct descriptor *held;
	unsigned int holders;
	struct counter counters[COUNTERS_MAX];
	unsigned int nr_counters;
	uint64_t lateness[HWTIMER_LATENESS_BUCKETS];
};

/**
 * struct instances - a sample of all instances that this user may see, each of them once
 * @time: time of the sample, ns on CLOCK_MONOTONIC
 * @realtime: the same moment, ns on CLOCK_REALTIME
 * @host: name of the machine
 * @list: the instances
 * @count: number of instances in @list
 * @descriptors: their descriptors that were found
 * @nr_descriptors: number of descriptors in @descriptors
 * @numbers: tree of the instances whose numbers are known
 * @unseen: number of processes whose descriptors this user may not see
 */
struct instances {
	uint64_t time;
	uint64_t realtime;
	char host[65];
	struct instance **list;
	unsigned int count;
	struct descriptor *descriptors;
	unsigned int nr_descriptors;
	void *numbers;
	unsigned int unseen;
};

void instances_begin(struct instances *instances);
struct instance *instances_add(struct instances *instances,
			       const struct instance *shown);
void instances_hold(struct instances *instances, struct instance *instance,
		    const struct descriptor *descriptor);
void instances_finish(struct instances *instances);
void instances_free(struct instances *instances);
bool instance_read(struct instance *instance);
void instance_name(pid_t pid, char comm[COMM_ROOM]);
void instances_check_lack(const char *path);
const struct instance *instances_find(const struct instances *instances,
				      uint64_t nr);
const struct instance *instances_same(const struct instances *instances,
				      const struct instance *instance);

uint64_t instance_counter(const struct instance *instance, const char *name);
void instance_count(struct instance *instance, const char *name,
		    uint64_t value);
uint64_t lateness_events(const uint64_t lateness[HWTIMER_LATENESS_BUCKETS]);
uint64_t lateness_end(unsigned int bucket);
uint64_t lateness_of(const uint64_t lateness[HWTIMER_LATENESS_BUCKETS],
		     double share);

#endif /* INSTANCES_H */
