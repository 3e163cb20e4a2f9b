// SPDX-License-Identifier: MIT
/* Finds the instances of all processes; see search.h. */
#define _GNU_SOURCE
#include "search.h"
#include "table.h"

#include <ctype.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MISC_MAJOR 10

/**
 * struct listed - an instance that debugfs lists
 * @nr: number of the instance
 * @opener: process that opened it
 * @found: one of its descriptors was found, or none can be: see give_up()
 */
struct listed {
	uint64_t nr;
	pid_t opener;
	bool found;
};

/**
 * struct search - a search that is under way
 * @instances: what was found
 * @list: all instances; NULL: unknown
 * @count: number of instances in @list
 */
struct search {
	struct instances *instances;
	struct listed *list;
	unsigned int count;
};

/*
 * The last instance that no descriptor led to, and those before it. Some have none: those
 * of kernel clients, and those that processes have only mapped. They are not looked for
 * again, as that takes a look at every descriptor.
 */
static uint64_t *hidden;
static unsigned int nr_hidden;

static void *grown(void *array, size_t count, size_t size)
{
	array = realloc(array, (count + 1) * size);
	if (!array)
		err(1, "no memory");
	return array;
}

static bool is_hidden(uint64_t nr)
{
	unsigned int i;

	for (i = 0; i < nr_hidden; i++)
		if (hidden[i] == nr)
			return true;
	return false;
}

static void give_up(struct search *search)
{
	unsigned int i;

	for (i = 0; i < search->count; i++)
		if (!search->list[i].found) {
			hidden = grown(hidden, nr_hidden, sizeof(*hidden));
			hidden[nr_hidden++] = search->list[i].nr;
		}
}

/* Reads the list in debugfs, if this user may. */
static void read_list(struct search *search)
{
	struct table table;
	struct listed *listed;

	if (!table_open(&table, TABLE_DIRECTORY "instances"))
		return;
	do {
		search->list = grown(search->list, search->count,
				     sizeof(*search->list));
		if (!table_next(&table))
			break;
		listed = &search->list[search->count++];
		listed->nr = table_number(&table, "instance");
		listed->opener = table_number(&table, "opener");
		listed->found = is_hidden(listed->nr);
	} while (true);
	table_close(&table);
}

/*
 * Returns whether an instance belongs into the sample. If all instances are known, one
 * descriptor of each does; an instance may be newer than the list.
 */
static bool is_wanted(struct search *search, uint64_t nr)
{
	const struct instances *instances = search->instances;
	unsigned int i;

	if (!search->list || !nr)
		return true;
	for (i = 0; i < instances->count; i++)
		if (instances->list[i].nr == nr)
			return false;
	for (i = 0; i < search->count; i++)
		if (search->list[i].nr == nr)
			search->list[i].found = true;
	return true;
}

/*
 * Returns whether a descriptor may be of /dev/hwtimer: whether it is a misc device, under
 * whatever name it was opened. Its fdinfo then shows which device. The file may be on a
 * server that does not answer, so statx() must not ask the server.
 */
static bool is_device(DIR *fds, const char *fd)
{
	struct statx st;

	return !statx(dirfd(fds), fd, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
		      STATX_TYPE, &st) &&
	       S_ISCHR(st.stx_mode) && st.stx_rdev_major == MISC_MAJOR;
}

static void take_descriptor(struct search *search, pid_t pid, int fd)
{
	struct instance instance = { .pid = pid, .fd = fd };

	if (instance_read(&instance) && is_wanted(search, instance.nr))
		*instances_add(search->instances) = instance;
}

/* Returns whether an instance is missing that a process has opened; 0: any process. */
static bool has_missing(const struct search *search, pid_t opener)
{
	unsigned int i;

	if (!search->list)
		return true;
	for (i = 0; i < search->count; i++)
		if (!search->list[i].found &&
		    (!opener || search->list[i].opener == opener))
			return true;
	return false;
}

/*
 * Adds the instances that a process has open, as long as one of @opener is missing. The
 * kernel lists the lowest descriptors first, where an instance mostly is.
 */
static void take_process(struct search *search, pid_t pid, pid_t opener)
{
	bool more = has_missing(search, opener);
	struct dirent *entry;
	char path[64];
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	fds = opendir(path);
	if (!fds) {
		search->instances->unseen += errno == EACCES;
		return;
	}
	while (more && (entry = readdir(fds))) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !is_device(fds, entry->d_name))
			continue;
		take_descriptor(search, pid, atoi(entry->d_name));
		more = has_missing(search, opener);
	}
	closedir(fds);
}

static void take_openers(struct search *search)
{
	unsigned int i;

	for (i = 0; i < search->count; i++)
		if (!search->list[i].found)
			take_process(search, search->list[i].opener,
				     search->list[i].opener);
}

static void take_all_processes(struct search *search)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");

	if (!proc)
		err(1, "/proc");
	while (has_missing(search, 0) && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]))
			take_process(search, atoi(entry->d_name), 0);
	closedir(proc);
}

static int by_process(const void *a, const void *b)
{
	const struct instance *one = a, *other = b;

	if (one->pid != other->pid)
		return one->pid < other->pid ? -1 : 1;
	return one->fd - other->fd;
}

/**
 * search_instances - find all instances of processes that this user may see
 * @instances: out: the sample; the caller frees it with instances_free()
 *
 * root gets each instance once. Others get it for each descriptor that it has in a process
 * that they may see.
 */
void search_instances(struct instances *instances)
{
	struct search search = { .instances = instances };

	instances_begin(instances);
	read_list(&search);
	take_openers(&search);
	if (has_missing(&search, 0)) {
		take_all_processes(&search);
		give_up(&search);
	}
	free(search.list);
	if (instances->count)
		qsort(instances->list, instances->count,
		      sizeof(*instances->list), by_process);
}
