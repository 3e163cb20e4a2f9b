// SPDX-License-Identifier: GPL-2.0
/*
 * Shows all instances to root, in three text files of debugfs,
 * /sys/kernel/debug/hwtimer/:
 *
 *	instances	process that created the instance, settings of the wheel, counters
 *	occupancy	number of buckets with entries, see hwtimer_occupancy_show()
 *	lateness	number of late events, by powers of two ns
 *
 * hwtimer_main.c creates and removes the files, and seq_file calls the functions that
 * show them. Not a directory for each instance: that would more than double the time of
 * open(). On a kernel without debugfs the files are missing, and nothing else changes.
 *
 * Readers go through the registry in the order of the instances' numbers. So they show
 * every instance that exists from the beginning of the reading to its end.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "hwtimer.h"
#include "hwtimer_debug.h"
#include "hwtimer_occupancy.h"
#include "hwtimer_stats.h"

static const char instances_headline[] =
	"instance\topener\tkind\tclock\ttick\tbuckets\tlimit\t"
	"pending\tready\tscheduled\tcancelled\texpired\tdelivered\tbytes\n";
static const char occupancy_headline[] =
	"instance level:\twidth of a strip (ns), buckets in it, occupied ones of each strip\n";
static const char lateness_headline[] =
	"instance:\tevents that were not late; late by less than 2 ns, 4 ns, 8 ns ...\n";

static struct dentry *hwtimer_debug_dir;

/* Returns the instance of an element; NULL if it is the headline, or if there is none. */
static struct hwtimer_instance *instance_of(void *element)
{
	return element == SEQ_START_TOKEN ? NULL : element;
}

/* A position is the number of an instance; 0 is the headline. */
static void *registry_start(struct seq_file *seq, loff_t *position)
{
	struct hwtimer_instance *instance;

	if (!*position)
		return SEQ_START_TOKEN;
	instance = hwtimer_registry_get(*position);
	if (instance)
		*position = instance->nr;
	return instance;
}

static void registry_stop(struct seq_file *seq, void *element)
{
	struct hwtimer_instance *instance = instance_of(element);

	if (instance)
		hwtimer_registry_put(instance);
}

static void *registry_next(struct seq_file *seq, void *element,
			   loff_t *position)
{
	registry_stop(seq, element);
	++*position;
	return registry_start(seq, position);
}

static void show_instance(struct seq_file *seq,
			  struct hwtimer_instance *instance)
{
	struct hwtimer_settings copy;
	const struct hwtimer_settings *settings =
		hwtimer_settings_get(instance, &copy);
	struct hwtimer_stats stats;

	hwtimer_stats_get(instance, &stats);
	seq_printf(seq, "%llu\t%d\t%s\t", instance->nr, instance->opener,
		   settings->shape.kind == HWTIMER_KIND_HASHED ?
			   "hashed" :
			   "hierarchical");
	seq_printf(seq, "%d\t%llu\t%u\t%u\t", settings->clock->id,
		   settings->shape.tick, settings->shape.buckets,
		   settings->timers);
	seq_printf(seq, "%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\n",
		   stats.pending, stats.ready, stats.scheduled, stats.cancelled,
		   stats.expired, stats.delivered, stats.bytes);
}

static int instances_show(struct seq_file *seq, void *element)
{
	struct hwtimer_instance *instance = instance_of(element);

	if (instance)
		show_instance(seq, instance);
	else
		seq_puts(seq, instances_headline);
	return 0;
}

static int occupancy_show(struct seq_file *seq, void *element)
{
	struct hwtimer_instance *instance = instance_of(element);
	char prefix[32];

	if (!instance) {
		seq_puts(seq, occupancy_headline);
		return 0;
	}
	snprintf(prefix, sizeof(prefix), "%llu ", instance->nr);
	hwtimer_occupancy_show(seq, instance, prefix);
	return 0;
}

static int lateness_show(struct seq_file *seq, void *element)
{
	struct hwtimer_instance *instance = instance_of(element);
	struct hwtimer_stats stats;

	if (!instance) {
		seq_puts(seq, lateness_headline);
		return 0;
	}
	hwtimer_stats_get(instance, &stats);
	seq_printf(seq, "%llu:\t", instance->nr);
	hwtimer_stats_show_lateness(seq, &stats);
	return 0;
}

/* Defines NAME_fops for the file NAME. NAME_show() shows one instance. */
#define DEBUG_FILE(name)                                   \
	static const struct seq_operations name##_sops = { \
		.start = registry_start,                   \
		.next = registry_next,                     \
		.stop = registry_stop,                     \
		.show = name##_show,                       \
	};                                                 \
	DEFINE_SEQ_ATTRIBUTE(name)

DEBUG_FILE(instances);
DEBUG_FILE(occupancy);
DEBUG_FILE(lateness);

/**
 * hwtimer_debug_start - create the files, at module load
 *
 * Does not fail: a file that cannot be created is missing. May sleep.
 */
void hwtimer_debug_start(void)
{
	struct dentry *dir = debugfs_create_dir("hwtimer", NULL);

	debugfs_create_file("instances", 0400, dir, NULL, &instances_fops);
	debugfs_create_file("occupancy", 0400, dir, NULL, &occupancy_fops);
	debugfs_create_file("lateness", 0400, dir, NULL, &lateness_fops);
	hwtimer_debug_dir = dir;
}

/**
 * hwtimer_debug_stop - remove the files, at module unload
 *
 * Waits for reads that are in progress. May sleep.
 */
void hwtimer_debug_stop(void)
{
	debugfs_remove(hwtimer_debug_dir);
}
