// SPDX-License-Identifier: MIT
/*
 * hwtimerctl owners: shows who causes what, by user and cgroup. Reads the module's files
 * in debugfs, so only root can use it.
 */
#include "commands.h"
#include "json.h"
#include "table.h"
#include "units.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct owner - what the instances of a user in a cgroup use together
 * @user: the user, -1: the shared workers, which have no owner
 * @cgroup: the cgroup
 * @workers: number of threads
 * @instances: number of instances that have started
 * @timers: pending timers and unread events
 * @bytes: memory of the instances
 * @time: processor time of the threads, ns
 */
struct owner {
	int64_t user;
	char *cgroup;
	uint64_t workers;
	uint64_t instances;
	uint64_t timers;
	uint64_t bytes;
	uint64_t time;
};

/* A worker's thread, and the index of its owner */
struct thread {
	uint64_t pid;
	unsigned int owner;
};

static struct owner *owners;
static unsigned int nr_owners;
static struct thread *threads;
static unsigned int nr_threads;

/* Returns @array with room for one more element after @count ones. */
static void *grown(void *array, unsigned int count, size_t size)
{
	void *more = realloc(array, (count + 1) * size);

	if (!more)
		err(1, "out of memory");
	return more;
}

static void open_table(struct table *table, const char *path)
{
	if (table_open(table, path))
		return;
	if (errno == EACCES || errno == EPERM)
		errx(1, "owners: only root can see all owners: use sudo");
	if (errno == ENOENT)
		errx(1,
		     "%s does not exist: mount debugfs, or load a newer module",
		     path);
	err(1, "%s", path);
}

/* Returns the index of an owner, which is added if it is new. */
static unsigned int owner_find(int64_t user, const char *cgroup)
{
	unsigned int i;

	for (i = 0; i < nr_owners; i++)
		if (owners[i].user == user && !strcmp(owners[i].cgroup, cgroup))
			return i;
	owners = grown(owners, nr_owners, sizeof(*owners));
	owners[i] = (struct owner){ .user = user, .cgroup = strdup(cgroup) };
	if (!owners[i].cgroup)
		err(1, "out of memory");
	return nr_owners++;
}

static void add_worker(const struct table *table)
{
	const char *duty = table_text(table, "duty");
	bool owned = strcmp(duty, "shared");
	unsigned int owner =
		owner_find(owned ? (int64_t)table_number(table, "user") : -1,
			   owned ? table_text(table, "cgroup") : duty);

	owners[owner].workers++;
	owners[owner].time += table_number(table, "time");
	threads = grown(threads, nr_threads, sizeof(*threads));
	threads[nr_threads++] = (struct thread){
		.pid = table_number(table, "thread"),
		.owner = owner,
	};
}

/* Adds an instance to the owner of its worker. One without a worker has used nothing. */
static void add_instance(const struct table *table)
{
	uint64_t pid = table_number(table, "thread");
	unsigned int i;

	for (i = 0; i < nr_threads && threads[i].pid != pid; i++)
		;
	if (i == nr_threads)
		return;
	owners[threads[i].owner].instances++;
	owners[threads[i].owner].timers +=
		table_number(table, "pending") + table_number(table, "ready");
	owners[threads[i].owner].bytes += table_number(table, "bytes");
}

static void read_all(void)
{
	struct table table;

	open_table(&table, TABLE_DIRECTORY "workers");
	while (table_next(&table))
		add_worker(&table);
	table_close(&table);
	open_table(&table, TABLE_DIRECTORY "instances");
	while (table_next(&table))
		add_instance(&table);
	table_close(&table);
}

/* Most processor time first */
static int compare(const void *a, const void *b)
{
	const struct owner *first = a, *second = b;

	return (first->time < second->time) - (first->time > second->time);
}

/* A cgroup's name may have any characters; a terminal must not obey them. */
static char *printable(char *text)
{
	char *at;

	for (at = text; *at; at++)
		if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\')
			*at = '?';
	return text;
}

static const char *user_text(int64_t user, char room[UNITS_ROOM])
{
	if (user < 0)
		return "-";
	snprintf(room, UNITS_ROOM, "%" PRId64, user);
	return room;
}

static void show_table(void)
{
	unsigned int i;

	printf("%10s %8s %9s %10s %9s %9s  %s\n", "UID", "WORKERS", "INSTANCES",
	       "TIMERS", "MEMORY", "TIME", "CGROUP");
	for (i = 0; i < nr_owners; i++) {
		const struct owner *owner = &owners[i];
		char user[UNITS_ROOM], bytes[UNITS_ROOM], time[UNITS_ROOM];

		printf("%10s %8" PRIu64 " %9" PRIu64 " %10" PRIu64
		       " %9s %9s  %s\n",
		       user_text(owner->user, user), owner->workers,
		       owner->instances, owner->timers,
		       units_format_bytes(owner->bytes, bytes),
		       units_format_time(owner->time, time),
		       printable(owner->cgroup));
	}
}

static void show_json(void)
{
	unsigned int i;

	fputs("{\"schema\": \"hwtimer-owners/1\", \"owners\": [", stdout);
	for (i = 0; i < nr_owners; i++) {
		const struct owner *owner = &owners[i];

		printf("%s{\"user\": %" PRId64 ", \"cgroup\": ", i ? ", " : "",
		       owner->user);
		json_put_string(stdout, owner->cgroup);
		printf(", \"workers\": %" PRIu64 ", \"instances\": %" PRIu64,
		       owner->workers, owner->instances);
		printf(", \"timers\": %" PRIu64 ", \"bytes\": %" PRIu64,
		       owner->timers, owner->bytes);
		printf(", \"time\": %" PRIu64 "}", owner->time);
	}
	puts("]}");
}

int command_owners(int argc, char **argv)
{
	bool json = json_argument(argc, argv);
	unsigned int i;

	need_module();
	read_all();
	qsort(owners, nr_owners, sizeof(*owners), compare);
	if (json)
		show_json();
	else if (nr_owners)
		show_table();
	else
		puts("No instance has started.");
	for (i = 0; i < nr_owners; i++)
		free(owners[i].cgroup);
	free(owners);
	free(threads);
	return 0;
}
