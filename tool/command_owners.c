// SPDX-License-Identifier: MIT
/*
 * hwtimerctl owners: shows who causes what, by user and cgroup. Reads the module's files
 * in debugfs, so only root can use it.
 */
#include "commands.h"
#include "units.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEBUGFS "/sys/kernel/debug/hwtimer/"

/* More columns than a file has */
#define COLUMNS_MAX 32

/**
 * struct table - a text file with a headline, read line by line
 * @file: the file
 * @headline: names of the columns
 * @line: the current line
 * @names: the columns' names, in @headline
 * @values: the current line's values, in @line
 * @columns: number of columns
 */
struct table {
	FILE *file;
	char *headline;
	char *line;
	const char *names[COLUMNS_MAX];
	const char *values[COLUMNS_MAX];
	unsigned int columns;
};

/**
 * struct owner - what the instances of a user in a cgroup use together
 * @user: the user, -1: the shared workers and those of the kernel, which have no owner
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

/*
 * Splits @line at its tabs into @most parts at most; returns their number. The last part
 * may contain tabs: tenants choose the names of cgroups.
 */
static unsigned int split(char *line, const char *parts[COLUMNS_MAX],
			  unsigned int most)
{
	unsigned int count = 0;

	line[strcspn(line, "\n")] = '\0';
	do {
		parts[count++] = line;
		line = count < most ? strchr(line, '\t') : NULL;
		if (line)
			*line++ = '\0';
	} while (line);
	return count;
}

static bool table_read(struct table *table, char **line)
{
	size_t size = 0;

	free(*line);
	*line = NULL;
	return getline(line, &size, table->file) >= 0;
}

static void table_open(struct table *table, const char *path)
{
	*table = (struct table){ .file = fopen(path, "r") };
	if (!table->file && (errno == EACCES || errno == EPERM))
		errx(1, "owners: only root can see all owners: use sudo");
	if (!table->file && errno == ENOENT)
		errx(1,
		     "%s does not exist: mount debugfs, or load a newer module",
		     path);
	if (!table->file)
		err(1, "%s", path);
	if (!table_read(table, &table->headline))
		errx(1, "%s is empty", path);
	table->columns = split(table->headline, table->names, COLUMNS_MAX);
}

static bool table_next(struct table *table)
{
	unsigned int i, found;

	if (!table_read(table, &table->line))
		return false;
	found = split(table->line, table->values, table->columns);
	for (i = found; i < table->columns; i++)
		table->values[i] = "";
	return true;
}

static void table_close(struct table *table)
{
	fclose(table->file);
	free(table->headline);
	free(table->line);
}

/* The current line's value in the column @name; "" if there is no such column. */
static const char *text_of(const struct table *table, const char *name)
{
	unsigned int i;

	for (i = 0; i < table->columns; i++)
		if (!strcmp(table->names[i], name))
			return table->values[i];
	return "";
}

static uint64_t number_of(const struct table *table, const char *name)
{
	return strtoull(text_of(table, name), NULL, 10);
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
	const char *duty = text_of(table, "duty");
	bool owned = strcmp(duty, "shared") && strcmp(duty, "kernel");
	unsigned int owner =
		owner_find(owned ? (int64_t)number_of(table, "user") : -1,
			   owned ? text_of(table, "cgroup") : duty);

	owners[owner].workers++;
	owners[owner].time += number_of(table, "time");
	threads = grown(threads, nr_threads, sizeof(*threads));
	threads[nr_threads++] = (struct thread){
		.pid = number_of(table, "thread"),
		.owner = owner,
	};
}

/* Adds an instance to the owner of its worker. One without a worker has used nothing. */
static void add_instance(const struct table *table)
{
	uint64_t pid = number_of(table, "thread");
	unsigned int i;

	for (i = 0; i < nr_threads && threads[i].pid != pid; i++)
		;
	if (i == nr_threads)
		return;
	owners[threads[i].owner].instances++;
	owners[threads[i].owner].timers +=
		number_of(table, "pending") + number_of(table, "ready");
	owners[threads[i].owner].bytes += number_of(table, "bytes");
}

static void read_all(void)
{
	struct table table;

	table_open(&table, DEBUGFS "workers");
	while (table_next(&table))
		add_worker(&table);
	table_close(&table);
	table_open(&table, DEBUGFS "instances");
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

	puts("[");
	for (i = 0; i < nr_owners; i++) {
		const struct owner *owner = &owners[i];

		printf("  {\"user\": %" PRId64 ", \"cgroup\": \"%s\"",
		       owner->user, printable(owner->cgroup));
		printf(", \"workers\": %" PRIu64 ", \"instances\": %" PRIu64,
		       owner->workers, owner->instances);
		printf(", \"timers\": %" PRIu64 ", \"bytes\": %" PRIu64,
		       owner->timers, owner->bytes);
		printf(", \"time\": %" PRIu64 "}%s\n", owner->time,
		       i + 1 < nr_owners ? "," : "");
	}
	puts("]");
}

int command_owners(int argc, char **argv)
{
	bool json = argc > 1 && !strcmp(argv[1], "--json");
	unsigned int i;

	if (argc > 1 + json)
		usage("owners: unexpected argument: %s", argv[1 + json]);
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
