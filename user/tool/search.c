// SPDX-License-Identifier: MIT
/* Finds the instances of all processes; see search.h. */
#define _GNU_SOURCE
#include "search.h"
#include "array.h"
#include "clocks.h"
#include "device.h"
#include "sharing.h"
#include "table.h"

#include <ctype.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Share of the time that watch spends on looking for instances that it has not found */
#define SHARE_OF_HIDDEN 20

/**
 * struct listed - an instance that debugfs lists
 * @nr: number of the instance
 * @opener: process that opened it
 * @found: one of its descriptors was found, or it is not looked for: see struct hidden
 */
struct listed {
	uint64_t nr;
	pid_t opener;
	bool found;
};

/**
 * struct opener - a process that has opened instances
 * @pid: the process
 * @missing: number of its instances that were not found yet
 */
struct opener {
	pid_t pid;
	unsigned int missing;
};

/**
 * struct search - a search that is under way
 * @instances: what was found
 * @pid: process all of whose descriptors are looked at; 0: none
 * @list: all instances, in the order of their numbers; NULL: unknown
 * @count: number of instances in @list
 * @openers: the processes that have opened them, in the order of their numbers
 * @nr_openers: number of processes in @openers
 * @missing: number of instances in @list that were not found yet
 * @unnumbered: descriptors whose instances have no known number
 * @nr_unnumbered: number of descriptors in @unnumbered
 */
struct search {
	struct instances *instances;
	pid_t pid;
	struct listed *list;
	unsigned int count;
	struct opener *openers;
	unsigned int nr_openers;
	unsigned int missing;
	struct descriptor *unnumbered;
	unsigned int nr_unnumbered;
};

/**
 * struct hidden - instances to which no descriptor led when all were looked at
 * @list: their numbers, in order
 * @count: number of numbers in @list
 * @until: until when they are not looked for, ns on CLOCK_MONOTONIC
 *
 * Some have none: those that are only registered with an io_uring. Others get one: a descriptor may
 * be under way in a socket, or go from one process to another while these are looked at. To look at
 * all descriptors may take long, so it is not done each time.
 */
static struct hidden {
	uint64_t *list;
	unsigned int count;
	uint64_t until;
} hidden;

/* ---- the list in debugfs ---- */

/* Each element begins with its number. */
static int by_number(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

/* Each element begins with its process. */
static int by_process(const void *a, const void *b)
{
	const pid_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

static void *find(const void *key, void *array, size_t count, size_t size,
		  int (*compare)(const void *a, const void *b))
{
	return count ? bsearch(key, array, count, size, compare) : NULL;
}

static struct opener *find_opener(const struct search *search, pid_t pid)
{
	return find(&pid, search->openers, search->nr_openers,
		    sizeof(*search->openers), by_process);
}

static bool is_hidden(const struct search *search, uint64_t nr)
{
	return search->instances->time < hidden.until &&
	       find(&nr, hidden.list, hidden.count, sizeof(nr), by_number);
}

/* Fills in the processes that have opened instances, with what is missing of each. */
static void count_missing(struct search *search)
{
	struct opener *openers = calloc(search->count + 1, sizeof(*openers));
	unsigned int i, last = 0;

	if (!openers)
		err(1, "no memory");
	for (i = 0; i < search->count; i++)
		openers[i].pid = search->list[i].opener;
	qsort(openers, search->count, sizeof(*openers), by_process);
	/* Each process once */
	for (i = 1; i < search->count; i++)
		if (openers[i].pid != openers[last].pid)
			openers[++last].pid = openers[i].pid;
	search->openers = openers;
	search->nr_openers = search->count ? last + 1 : 0;
	for (i = 0; i < search->count; i++)
		if (!search->list[i].found) {
			search->missing++;
			find_opener(search, search->list[i].opener)->missing++;
		}
}

/* An incomplete list is of no use, and any if descriptors do not show their numbers. */
static void forget_list(struct search *search)
{
	free(search->list);
	search->list = NULL;
	search->count = 0;
	search->nr_openers = 0;
}

/* Reads the list in debugfs, if this user may. */
static void read_list(struct search *search)
{
	struct table table;
	struct listed *listed;

	if (!table_open(&table, TABLE_DIRECTORY "instances"))
		return;
	do {
		search->list = array_grow(search->list, search->count,
					  sizeof(*search->list));
		if (!table_next(&table))
			break;
		listed = &search->list[search->count++];
		listed->nr = table_number(&table, "instance");
		listed->opener = table_number(&table, "opener");
		listed->found = is_hidden(search, listed->nr);
	} while (true);
	if (ferror(table.file))
		forget_list(search);
	table_close(&table);
	if (!search->list)
		return;
	qsort(search->list, search->count, sizeof(*search->list), by_number);
	count_missing(search);
}

static void note_found(struct search *search, uint64_t nr)
{
	struct listed *listed = find(&nr, search->list, search->count,
				     sizeof(*listed), by_number);

	/* It may be newer than the list. */
	if (!listed || listed->found)
		return;
	listed->found = true;
	search->missing--;
	find_opener(search, listed->opener)->missing--;
}

/* Returns whether nothing is missing that a process has opened; 0: any process. */
static bool is_complete(const struct search *search, pid_t opener)
{
	const struct opener *found;

	if (!search->list)
		return false;
	if (!opener)
		return !search->missing;
	found = find_opener(search, opener);
	return !found || !found->missing;
}

/* Notes what was not found, although all descriptors were looked at. */
static void give_up(struct search *search)
{
	uint64_t begin = search->instances->time,
		 end = clocks_now(HWTIMER_CLOCK_MONOTONIC);
	unsigned int i;

	hidden.count = 0;
	for (i = 0; i < search->count; i++) {
		uint64_t nr = search->list[i].nr;

		if (instances_find(search->instances, nr))
			continue;
		hidden.list = array_grow(hidden.list, hidden.count, sizeof(nr));
		hidden.list[hidden.count++] = nr;
	}
	hidden.until = end + (end - begin) * (SHARE_OF_HIDDEN - 1);
}

/* ---- descriptors ---- */

static void take_unnumbered(struct search *search,
			    const struct instance *instance)
{
	struct descriptor *descriptor;

	search->unnumbered = array_grow(search->unnumbered,
					search->nr_unnumbered,
					sizeof(*search->unnumbered));
	descriptor = &search->unnumbered[search->nr_unnumbered++];
	*descriptor =
		(struct descriptor){ .pid = instance->pid, .fd = instance->fd };
	memcpy(descriptor->comm, instance->comm, sizeof(descriptor->comm));
	forget_list(search);
}

/* @comm: the name of the process; "": it was not read yet */
static void take_descriptor(struct search *search, pid_t pid, int fd,
			    char comm[COMM_ROOM])
{
	struct instance instance = { .pid = pid, .fd = fd };

	if (!instance_read(&instance))
		return;
	if (!*comm)
		instance_name(pid, comm);
	memcpy(instance.comm, comm, sizeof(instance.comm));
	if (!instance.nr) {
		take_unnumbered(search, &instance);
		return;
	}
	/* If all instances are known, one descriptor of each does. */
	if (search->list && pid != search->pid &&
	    instances_find(search->instances, instance.nr))
		return;
	instances_add(search->instances, &instance);
	note_found(search, instance.nr);
}

/* Returns false if the process is gone, or may not be looked at. */
static bool open_descriptors(struct search *search, pid_t pid, DIR **fds)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	*fds = opendir(path);
	if (*fds)
		return true;
	instances_check_lack(path);
	search->instances->unseen += errno == EACCES;
	return false;
}

/*
 * Adds the instances that a process has open, as long as one of @opener is missing. The
 * kernel lists the lowest descriptors first, where an instance mostly is.
 */
static void take_process(struct search *search, pid_t pid, pid_t opener)
{
	char comm[COMM_ROOM] = "";
	struct dirent *entry;
	DIR *fds;

	if (!open_descriptors(search, pid, &fds))
		return;
	while ((pid == search->pid || !is_complete(search, opener)) &&
	       (entry = readdir(fds)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    device_possible(dirfd(fds), entry->d_name) > 0)
			take_descriptor(search, pid, atoi(entry->d_name), comm);
	closedir(fds);
}

/* ---- processes ---- */

/* Takes what the list promises. */
static void take_listed(struct search *search)
{
	unsigned int i;

	if (search->list && search->pid)
		take_process(search, search->pid, search->pid);
	for (i = 0; i < search->nr_openers; i++) {
		pid_t pid = search->openers[i].pid;

		if (search->openers[i].missing && pid != search->pid)
			take_process(search, pid, pid);
	}
}

static void take_all_processes(struct search *search)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");

	if (!proc)
		err(1, "/proc");
	/* What take_listed() has seen counts again. */
	search->instances->unseen = 0;
	search->nr_unnumbered = 0;
	while (!is_complete(search, 0) && (entry = readdir(proc))) {
		pid_t pid = atoi(entry->d_name);

		/* With a list, all of that process was taken before. */
		if (pid > 0 && !(search->list && pid == search->pid))
			take_process(search, pid, 0);
	}
	closedir(proc);
}

/* Reads the instances whose numbers are unknown, each from one of its descriptors. */
static void read_unnumbered(struct search *search)
{
	struct descriptor *all = search->unnumbered;
	unsigned int i, *first = sharing_find(all, search->nr_unnumbered);

	for (i = 0; i < search->nr_unnumbered; i++) {
		struct instance **instance = &all[first[i]].instance;
		struct instance shown = { .pid = all[i].pid, .fd = all[i].fd };

		memcpy(shown.comm, all[i].comm, sizeof(shown.comm));
		if (*instance)
			instances_hold(search->instances, *instance, &all[i]);
		else if (instance_read(&shown))
			*instance = instances_add(search->instances, &shown);
	}
	free(first);
}

/**
 * search_instances - find all instances of processes that this user may see
 * @instances: out: the sample; the caller frees it with instances_free()
 * @pid: process all of whose descriptors are to be found; 0: none
 *
 * With the list in debugfs, one descriptor of each instance is in the sample, and all of @pid;
 * otherwise all descriptors that this user may see.
 */
void search_instances(struct instances *instances, pid_t pid)
{
	struct search search = { .instances = instances, .pid = pid };

	instances_begin(instances);
	read_list(&search);
	take_listed(&search);
	if (!is_complete(&search, 0)) {
		take_all_processes(&search);
		if (search.list)
			give_up(&search);
	}
	read_unnumbered(&search);
	instances_finish(instances);
	free(search.list);
	free(search.openers);
	free(search.unnumbered);
}
