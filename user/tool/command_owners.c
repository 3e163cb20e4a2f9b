// SPDX-License-Identifier: MIT
/*
 * hwtimerctl owners: shows what the instances of each user and cgroup use together. Reads
 * `instances` in debugfs, so only root can use it.
 */
#define _GNU_SOURCE
#include "array.h"
#include "commands.h"
#include "json.h"
#include "table.h"
#include "units.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CGROUPS "/sys/fs/cgroup"
#define INSTANCES TABLE_DIRECTORY "instances"

/* The type of a file handle that names a cgroup by its id; <linux/exportfs.h> has it. */
#define FILEID_KERNFS 0xfe

/**
 * struct owner - what the instances of a user in a cgroup use together
 * @user: the user
 * @cgroup: the id of the cgroup
 * @thread: while the instances are added up: their worker
 * @instances: number of instances
 * @timers: pending timers
 * @bytes: memory of the instances
 * @time: time that the workers have spent for them, ns
 */
struct owner {
	uint64_t user;
	uint64_t cgroup;
	uint64_t thread;
	uint64_t instances;
	uint64_t timers;
	uint64_t bytes;
	uint64_t time;
};

static struct owner *owners;
static unsigned int nr_owners;

static void open_table(struct table *table)
{
	if (table_open(table, INSTANCES))
		return;
	if (errno == EACCES || errno == EPERM)
		errx(1, "only root can see all owners: use sudo");
	if (errno == ENOENT)
		errx(1, "%s does not exist: load the module, and mount debugfs",
		     INSTANCES);
	err(1, "%s", INSTANCES);
}

/* Reads a line for each instance. */
static void read_all(void)
{
	struct table table;

	open_table(&table);
	while (table_next(&table)) {
		owners = array_grow(owners, nr_owners, sizeof(*owners));
		owners[nr_owners++] = (struct owner){
			.user = table_number(&table, "uid"),
			.cgroup = table_number(&table, "cgroup"),
			.thread = table_number(&table, "thread"),
			.instances = 1,
			.timers = table_number(&table, "pending"),
			.bytes = table_number(&table, "bytes"),
			.time = table_number(&table, "tenant_spent"),
		};
	}
	if (ferror(table.file))
		err(1, "%s", INSTANCES);
	table_close(&table);
}

static int by_owner(const void *a, const void *b)
{
	const struct owner *first = a, *second = b;

	if (first->user != second->user)
		return first->user < second->user ? -1 : 1;
	if (first->cgroup != second->cgroup)
		return first->cgroup < second->cgroup ? -1 : 1;
	return (first->thread > second->thread) -
	       (first->thread < second->thread);
}

/* Makes an owner of all instances of a user in a cgroup. What a worker has spent counts once. */
static void add_up(void)
{
	unsigned int i, last = 0;

	qsort(owners, nr_owners, sizeof(*owners), by_owner);
	for (i = 1; i < nr_owners; i++) {
		struct owner *owner = &owners[last], *next = &owners[i];

		if (owner->user != next->user ||
		    owner->cgroup != next->cgroup) {
			owners[++last] = *next;
			continue;
		}
		owner->instances++;
		owner->timers += next->timers;
		owner->bytes += next->bytes;
		if (owner->thread != next->thread)
			owner->time += next->time;
		owner->thread = next->thread;
	}
	if (nr_owners)
		nr_owners = last + 1;
}

/* Most time first */
static int compare(const void *a, const void *b)
{
	const struct owner *first = a, *second = b;

	return (first->time < second->time) - (first->time > second->time);
}

/* Opens the directory of a cgroup. Returns -1: it is gone, or in no directory here. */
static int cgroup_open(uint64_t id)
{
	struct {
		struct file_handle handle;
		uint64_t id;
	} name = { .handle = { .handle_bytes = sizeof(id),
			       .handle_type = FILEID_KERNFS } };
	int top = open(CGROUPS, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;

	memcpy(name.handle.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(top, &name.handle, O_PATH | O_CLOEXEC);
	close(top);
	return fd;
}

/* The path of a cgroup, below CGROUPS; its id, if that is not known */
static const char *cgroup_path(uint64_t id, char room[PATH_MAX])
{
	char link[64], path[PATH_MAX];
	int fd = cgroup_open(id);
	ssize_t length = -1;

	snprintf(room, PATH_MAX, "%" PRIu64, id);
	if (fd < 0)
		return room;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	close(fd);
	if (length < 0)
		return room;
	path[length] = '\0';
	if (!strcmp(path, CGROUPS))
		snprintf(room, PATH_MAX, "/");
	else if (!strncmp(path, CGROUPS "/", strlen(CGROUPS "/")))
		snprintf(room, PATH_MAX, "%s", path + strlen(CGROUPS));
	return room;
}

/* A cgroup's name may have any characters; a terminal must not obey them. */
static const char *printable(char *text)
{
	char *at;

	for (at = text; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	return text;
}

static void show_table(void)
{
	unsigned int i;

	printf("%10s %9s %10s %9s %9s  %s\n", "UID", "INSTANCES", "TIMERS",
	       "MEMORY", "TIME", "CGROUP");
	for (i = 0; i < nr_owners; i++) {
		const struct owner *owner = &owners[i];
		char timers[UNITS_ROOM], bytes[UNITS_ROOM], time[UNITS_ROOM];
		char path[PATH_MAX];

		cgroup_path(owner->cgroup, path);
		printf("%10" PRIu64 " %9" PRIu64 " %10s %9s %9s  %s\n",
		       owner->user, owner->instances,
		       units_format_number(owner->timers, timers),
		       units_format_bytes(owner->bytes, bytes),
		       units_format_time(owner->time, time), printable(path));
	}
}

static void show_json(void)
{
	unsigned int i;

	fputs("{\"schema\": \"hwtimer-owners/1\", \"owners\": [", stdout);
	for (i = 0; i < nr_owners; i++) {
		const struct owner *owner = &owners[i];
		char path[PATH_MAX];

		printf("%s{\"user\": %" PRIu64 ", \"cgroup\": ", i ? ", " : "",
		       owner->user);
		json_put_string(stdout, cgroup_path(owner->cgroup, path));
		printf(", \"instances\": %" PRIu64 ", \"timers\": %" PRIu64,
		       owner->instances, owner->timers);
		printf(", \"bytes\": %" PRIu64 ", \"time\": %" PRIu64 "}",
		       owner->bytes, owner->time);
	}
	puts("]}");
}

int command_owners(int argc, char **argv)
{
	bool json = json_argument(argc, argv);

	read_all();
	add_up();
	qsort(owners, nr_owners, sizeof(*owners), compare);
	if (json)
		show_json();
	else
		show_table();
	free(owners);
	return 0;
}
