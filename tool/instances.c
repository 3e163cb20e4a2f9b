// SPDX-License-Identifier: MIT
/* Finds all instances and reads their counters; see instances.h. */
#define _GNU_SOURCE
#include "instances.h"

#include <ctype.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/kcmp.h>

#define MISC_MAJOR 10
#define PREFIX "hwtimer-"
#define LEVEL "occupancy-"

/* Returns a copy of a counter's name that stays for ever; equal names share one. */
static const char *name_of(const char *name)
{
	static const char *names[2 * COUNTERS_MAX];
	static unsigned int count;
	unsigned int i;

	for (i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return names[i];
	if (count == sizeof(names) / sizeof(names[0]))
		return NULL;
	names[count] = strdup(name);
	if (!names[count])
		err(1, "no memory");
	return names[count++];
}

static void take_lateness(struct instance *instance, char *text)
{
	unsigned int i;

	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++)
		instance->lateness[i] = strtoull(text, &text, 10);
}

/* @text: WIDTH BUCKETS OCCUPIED OCCUPIED ... */
static void take_level(struct instance *instance, unsigned int nr, char *text)
{
	struct level *level;
	char *end;

	if (instance->nr_levels == LEVELS_MAX)
		return;
	level = &instance->levels[instance->nr_levels++];
	*level = (struct level){ .nr = nr };
	level->width = strtoull(text, &text, 10);
	level->buckets = strtoul(text, &text, 10);
	while (level->strips < STRIPS_MAX) {
		uint32_t occupied = strtoul(text, &end, 10);

		if (end == text)
			break;
		level->occupied[level->strips++] = occupied;
		text = end;
	}
}

/* Adds a counter; @name is copied. */
void instance_count(struct instance *instance, const char *name, uint64_t value)
{
	struct counter *counter;

	if (!strcmp(name, "instance"))
		instance->nr = value;
	name = name_of(name);
	if (!name || instance->nr_counters == COUNTERS_MAX)
		return;
	counter = &instance->counters[instance->nr_counters++];
	counter->name = name;
	counter->value = value;
}

/* Reads a line of fdinfo: hwtimer-NAME:<tab>VALUE */
static void take_line(struct instance *instance, char *line)
{
	char *colon = strchr(line, ':');

	if (strncmp(line, PREFIX, strlen(PREFIX)) || !colon)
		return;
	*colon = '\0';
	line += strlen(PREFIX);
	if (!strcmp(line, "lateness")) {
		take_lateness(instance, colon + 1);
		return;
	}
	if (!strncmp(line, LEVEL, strlen(LEVEL)))
		take_level(instance, atoi(line + strlen(LEVEL)), colon + 1);
	else
		instance_count(instance, line, strtoull(colon + 1, NULL, 10));
}

/*
 * Reads the name of the process. A process may give itself any name, and the kernel may
 * cut it anywhere. A question mark replaces each byte that is not printable ASCII, so
 * that the name cannot control a terminal, and is valid JSON.
 */
static void take_comm(struct instance *instance)
{
	char path[64], *c;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", instance->pid);
	file = fopen(path, "r");
	if (!file)
		return;
	if (fgets(instance->comm, sizeof(instance->comm), file))
		instance->comm[strcspn(instance->comm, "\n")] = '\0';
	fclose(file);
	for (c = instance->comm; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

/* Adds an instance that is all 0; the pointer is valid until the next one is added. */
struct instance *instances_add(struct instances *instances)
{
	size_t size = sizeof(*instances->list);

	instances->list =
		realloc(instances->list, (instances->count + 1) * size);
	if (!instances->list)
		err(1, "no memory");
	return memset(&instances->list[instances->count++], 0, size);
}

/* Adds the instance of a descriptor if its fdinfo can be read. */
static void take_instance(struct instances *instances, pid_t pid, int fd)
{
	struct instance instance = { .pid = pid, .fd = fd };
	char path[64], line[2048];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd);
	file = fopen(path, "r");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file))
		take_line(&instance, line);
	fclose(file);
	if (!instance.nr_counters)
		return;
	take_comm(&instance);
	*instances_add(instances) = instance;
}

/*
 * Returns whether a descriptor may be of /dev/hwtimer: whether it is a misc device, under
 * whatever name it was opened. Its fdinfo then shows which device. The file may be on a
 * server that does not answer, so statx() must not ask the server.
 */
static bool is_device(pid_t pid, const char *fd)
{
	struct statx st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%.20s", pid, fd);
	return !statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
		      STATX_TYPE, &st) &&
	       S_ISCHR(st.stx_mode) && st.stx_rdev_major == MISC_MAJOR;
}

/* Adds the instances that a process has open. */
static void take_process(struct instances *instances, pid_t pid)
{
	struct dirent *entry;
	char path[64];
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	fds = opendir(path);
	if (!fds) {
		instances->unseen += errno == EACCES;
		return;
	}
	while ((entry = readdir(fds)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    is_device(pid, entry->d_name))
			take_instance(instances, pid, atoi(entry->d_name));
	closedir(fds);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/**
 * instances_find - find all instances of processes that this user may see
 * @instances: out: the sample; the caller frees it with instances_free()
 *
 * An instance that several processes or descriptors share is listed for each.
 */
void instances_find(struct instances *instances)
{
	struct dirent *entry;
	DIR *proc = opendir("/proc");

	*instances = (struct instances){ .time = now() };
	if (!proc)
		err(1, "/proc");
	while ((entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]))
			take_process(instances, atoi(entry->d_name));
	closedir(proc);
}

void instances_free(struct instances *instances)
{
	free(instances->list);
	*instances = (struct instances){ 0 };
}

/*
 * Returns whether two descriptors of one sample are of the same instance. Where the
 * kernel shows no number, kcmp() tells; without it, the descriptors count as different.
 */
bool instances_shared(const struct instance *one, const struct instance *other)
{
	if (one->nr && other->nr)
		return one->nr == other->nr;
	return !syscall(SYS_kcmp, one->pid, other->pid, KCMP_FILE, one->fd,
			other->fd);
}

/* Finds @instance in @instances, a sample of another time; NULL: it is not there. */
const struct instance *instances_same(const struct instances *instances,
				      const struct instance *instance)
{
	unsigned int i;

	for (i = 0; i < instances->count; i++) {
		const struct instance *other = &instances->list[i];

		if (instance->nr ? other->nr == instance->nr :
				   other->pid == instance->pid &&
					   other->fd == instance->fd)
			return other;
	}
	return NULL;
}

/*
 * Returns the lateness that a @share (0 to 1) of the events did not exceed: the end of
 * that bucket of the histogram, ns. 0: there were no events, or they were not late.
 */
uint64_t lateness_of(const uint64_t lateness[HWTIMER_LATENESS_BUCKETS],
		     double share)
{
	uint64_t sum = 0, seen = 0;
	unsigned int i;

	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++)
		sum += lateness[i];
	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++) {
		seen += lateness[i];
		if (sum && seen >= sum * share)
			return i ? 1ULL << i : 0;
	}
	return 0;
}

/* Returns the value of a counter; 0 if this module does not have it. */
uint64_t instance_counter(const struct instance *instance, const char *name)
{
	unsigned int i;

	for (i = 0; i < instance->nr_counters; i++)
		if (!strcmp(instance->counters[i].name, name))
			return instance->counters[i].value;
	return 0;
}
