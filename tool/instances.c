// SPDX-License-Identifier: MIT
/* Reads the counters of instances; see instances.h. */
#define _GNU_SOURCE
#include "instances.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/kcmp.h>

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

/* @text: WIDTH BUCKETS ENTRIES ENTRIES ... */
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
		uint64_t entries = strtoull(text, &end, 10);

		if (end == text)
			break;
		level->entries[level->strips++] = entries;
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

/*
 * Reads the counters of the instance whose process and descriptor are set; returns
 * whether it is one.
 */
bool instance_read(struct instance *instance)
{
	char path[64], line[8192];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", instance->pid,
		 instance->fd);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file))
		take_line(instance, line);
	fclose(file);
	if (!instance->nr_counters)
		return false;
	take_comm(instance);
	return true;
}

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* Makes an empty sample of this moment; the caller frees it with instances_free(). */
void instances_begin(struct instances *instances)
{
	*instances = (struct instances){
		.time = now(CLOCK_MONOTONIC),
		.realtime = now(CLOCK_REALTIME),
	};
	gethostname(instances->host, sizeof(instances->host) - 1);
}

void instances_free(struct instances *instances)
{
	free(instances->list);
	*instances = (struct instances){ 0 };
}

/*
 * Returns whether two descriptors of one sample are of the same instance. Where the
 * kernel shows no number, kcmp() tells; without it, the descriptors count as different. Of
 * a sample from a file, kcmp() would tell about other processes: those of now, here.
 */
bool instances_shared(const struct instance *one, const struct instance *other)
{
	if (one->nr && other->nr)
		return one->nr == other->nr;
	if (one->recorded || other->recorded)
		return false;
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

/* Returns the number of events in a histogram. */
uint64_t lateness_events(const uint64_t lateness[HWTIMER_LATENESS_BUCKETS])
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++)
		sum += lateness[i];
	return sum;
}

/*
 * Returns the end of a bucket of the histogram, ns: its events were late by less. The last
 * bucket has no end; for that, this returns where it begins.
 */
uint64_t lateness_end(unsigned int bucket)
{
	if (bucket + 1 < HWTIMER_LATENESS_BUCKETS)
		bucket++;
	return HWTIMER_LATENESS_BOUND(bucket);
}

/*
 * Returns the lateness that a @share (0 to 1) of the events did not exceed: the end of
 * that bucket of the histogram, ns. 0: there were no events.
 */
uint64_t lateness_of(const uint64_t lateness[HWTIMER_LATENESS_BUCKETS],
		     double share)
{
	uint64_t sum = lateness_events(lateness), seen = 0;
	unsigned int i;

	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++) {
		seen += lateness[i];
		if (sum && seen >= sum * share)
			return lateness_end(i);
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
