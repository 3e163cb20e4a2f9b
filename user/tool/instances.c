// SPDX-License-Identifier: MIT
/* Reads the counters of instances; see instances.h. */
#define _GNU_SOURCE
#include "instances.h"
#include "array.h"

#include <err.h>
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "hwtimer-"

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
	instance_count(instance, line, strtoull(colon + 1, NULL, 10));
}

/*
 * Ends the program if @path could not be opened because this program lacks something, and not
 * because the process is gone or another user's.
 */
void instances_check_lack(const char *path)
{
	if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
		err(1, "%s", path);
}

/*
 * Reads the name of a process; "": it is gone. A process may give itself any name, and the
 * kernel may cut it anywhere. A question mark replaces each byte that is not printable ASCII,
 * so that the name cannot control a terminal, and is valid JSON.
 */
void instance_name(pid_t pid, char comm[COMM_ROOM])
{
	char path[64], *c;
	FILE *file;

	*comm = '\0';
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file) {
		instances_check_lack(path);
		return;
	}
	if (fgets(comm, COMM_ROOM, file))
		comm[strcspn(comm, "\n")] = '\0';
	fclose(file);
	for (c = comm; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

/*
 * Reads the counters of the instance whose process and descriptor are set; returns
 * whether it is one.
 */
bool instance_read(struct instance *instance)
{
	/* Most often one read() does. */
	static char buffer[65536];
	char path[64], line[8192];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", instance->pid,
		 instance->fd);
	file = fopen(path, "re");
	if (!file) {
		instances_check_lack(path);
		return false;
	}
	setvbuf(file, buffer, _IOFBF, sizeof(buffer));
	while (fgets(line, sizeof(line), file))
		take_line(instance, line);
	fclose(file);
	return instance->nr_counters;
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

static int by_number(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

/* By process, then by number of the descriptor */
static int by_place(const void *a, const void *b)
{
	const struct descriptor *one = a, *other = b;

	if (one->pid != other->pid)
		return one->pid < other->pid ? -1 : 1;
	return (one->fd > other->fd) - (one->fd < other->fd);
}

static int by_descriptor(const void *a, const void *b)
{
	const struct instance *const *one = a, *const *other = b;
	const struct descriptor place = { .pid = (*one)->pid,
					  .fd = (*one)->fd };
	const struct descriptor place_of_other = { .pid = (*other)->pid,
						   .fd = (*other)->fd };

	return by_place(&place, &place_of_other);
}

/* Returns the instance with this number; NULL: it is not in the sample. */
const struct instance *instances_find(const struct instances *instances,
				      uint64_t nr)
{
	/* Elements begin with their number, so it stands for one. */
	const struct instance *const *found =
		tfind(&nr, &instances->numbers, by_number);

	return found ? *found : NULL;
}

/* Adds an instance that is not in the sample yet. */
static struct instance *add_new(struct instances *instances,
				const struct instance *shown)
{
	struct instance *instance = malloc(sizeof(*instance));

	if (!instance)
		err(1, "no memory");
	*instance = *shown;
	instances->list = array_grow(instances->list, instances->count,
				     sizeof(*instances->list));
	instances->list[instances->count++] = instance;
	if (instance->nr && !tsearch(instance, &instances->numbers, by_number))
		err(1, "no memory");
	return instance;
}

/* Adds a descriptor of an instance to the sample. */
void instances_hold(struct instances *instances, struct instance *instance,
		    const struct descriptor *descriptor)
{
	struct descriptor *held;

	instances->descriptors = array_grow(instances->descriptors,
					    instances->nr_descriptors,
					    sizeof(*instances->descriptors));
	held = &instances->descriptors[instances->nr_descriptors++];
	*held = *descriptor;
	held->instance = instance;
	instance->holders++;
}

/**
 * instances_add - add a descriptor, and its instance if that is new
 * @instances: the sample
 * @shown: the instance as the descriptor shows it; copied. If its number is unknown, it counts
 *	as new
 *
 * Return: the instance in the sample.
 */
struct instance *instances_add(struct instances *instances,
			       const struct instance *shown)
{
	struct descriptor descriptor = { .pid = shown->pid, .fd = shown->fd };
	struct instance *instance = NULL;

	if (shown->nr)
		instance =
			(struct instance *)instances_find(instances, shown->nr);
	if (!instance)
		instance = add_new(instances, shown);
	memcpy(descriptor.comm, shown->comm, sizeof(descriptor.comm));
	instances_hold(instances, instance, &descriptor);
	return instance;
}

/* Completes a sample to which all has been added. */
void instances_finish(struct instances *instances)
{
	unsigned int i;

	if (!instances->count)
		return;
	qsort(instances->list, instances->count, sizeof(*instances->list),
	      by_descriptor);
	qsort(instances->descriptors, instances->nr_descriptors,
	      sizeof(*instances->descriptors), by_place);
	for (i = instances->nr_descriptors; i--;) {
		struct descriptor *held = &instances->descriptors[i];

		held->next = held->instance->held;
		held->instance->held = held;
	}
}

static void keep(void *instance)
{
	(void)instance;
}

void instances_free(struct instances *instances)
{
	unsigned int i;

	tdestroy(instances->numbers, keep);
	for (i = 0; i < instances->count; i++)
		free(instances->list[i]);
	free(instances->list);
	free(instances->descriptors);
	*instances = (struct instances){ 0 };
}

/*
 * Finds @instance in @instances, a sample of another time: by its number, or else by one of its
 * descriptors. NULL: it is not there.
 */
const struct instance *instances_same(const struct instances *instances,
				      const struct instance *instance)
{
	const struct descriptor *held, *found;

	if (instance->nr)
		return instances_find(instances, instance->nr);
	if (!instances->count)
		return NULL;
	for (held = instance->held; held; held = held->next) {
		found = bsearch(held, instances->descriptors,
				instances->nr_descriptors, sizeof(*found),
				by_place);
		if (found)
			return found->instance;
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
