// SPDX-License-Identifier: GPL-2.0
/*
 * All instances, for root, in debugfs: /sys/kernel/debug/hwtimer/. Three files of
 * text, with a line or some for each instance:
 *
 *	instances	who opened it, its wheel, its counters
 *	occupancy	which buckets have entries, see hwtimer_occupancy_show()
 *	lateness	how many events were late by which power of two ns
 *
 * Files for each instance would make open() dearer by more than all else that it
 * does. Where a kernel has no debugfs there are no files, and all else is the same.
 *
 * Instances come and go by open() and the last close(), or with a client in the
 * kernel, which wait while some are shown: as many as fit into the reader's buffer.
 * Where one goes between two of a reader's buffers, the reader misses another.
 */
#include <linux/compiler.h>
#include <linux/debugfs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>

#include "hwtimer.h"

static const char instances_headline[] =
	"instance\topener\tkind\tclock\ttick\tbuckets\tlimit\t"
	"pending\tready\tscheduled\tcancelled\texpired\tdelivered\tbytes\n";
static const char occupancy_headline[] =
	"instance level:\twidth of a strip (ns), buckets in it, occupied ones of each strip\n";
static const char lateness_headline[] =
	"instance:\tevents that were not late; late by less than 2 ns, 4 ns, 8 ns ...\n";

static DEFINE_MUTEX(hwtimer_debug_lock);
static LIST_HEAD(hwtimer_debug_instances);
static struct dentry *hwtimer_debug_dir;

/* A new instance; afterwards it may be shown at any time. May sleep. */
void hwtimer_debug_add(struct hwtimer_instance *instance)
{
	mutex_lock(&hwtimer_debug_lock);
	list_add_tail(&instance->listed, &hwtimer_debug_instances);
	mutex_unlock(&hwtimer_debug_lock);
}

/* An instance ends; afterwards nobody here knows it. May sleep. */
void hwtimer_debug_remove(struct hwtimer_instance *instance)
{
	mutex_lock(&hwtimer_debug_lock);
	list_del(&instance->listed);
	mutex_unlock(&hwtimer_debug_lock);
}

static void *debug_start(struct seq_file *seq, loff_t *position)
{
	mutex_lock(&hwtimer_debug_lock);
	return seq_list_start_head(&hwtimer_debug_instances, *position);
}

static void *debug_next(struct seq_file *seq, void *element, loff_t *position)
{
	return seq_list_next(element, &hwtimer_debug_instances, position);
}

static void debug_stop(struct seq_file *seq, void *element)
{
	mutex_unlock(&hwtimer_debug_lock);
}

/* The instance that @element is, or NULL: that is the head, for the headline. */
static struct hwtimer_instance *instance_of(void *element)
{
	if (element == &hwtimer_debug_instances)
		return NULL;
	return list_entry(element, struct hwtimer_instance, listed);
}

static void show_instance(struct seq_file *seq,
			  struct hwtimer_instance *instance)
{
	struct hwtimer_settings copy;
	const struct hwtimer_settings *settings =
		hwtimer_instance_settings(instance, &copy);
	struct hwtimer_stats stats;

	hwtimer_stats_get(instance, &stats);
	seq_printf(seq, "%llu\t%d\t%s\t", instance->nr, instance->opener,
		   settings->shape.kind == HWTIMER_KIND_HASHED ? "hashed" :
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

/* One and the same way through the list for all files. */
#define DEBUG_FILE(name)                                   \
	static const struct seq_operations name##_sops = { \
		.start = debug_start,                      \
		.next = debug_next,                        \
		.stop = debug_stop,                        \
		.show = name##_show,                       \
	};                                                 \
	DEFINE_SEQ_ATTRIBUTE(name)

DEBUG_FILE(instances);
DEBUG_FILE(occupancy);
DEBUG_FILE(lateness);

/* At module load. What cannot be made is missing, and that is all. May sleep. */
void hwtimer_debug_start(void)
{
	struct dentry *dir = debugfs_create_dir("hwtimer", NULL);

	debugfs_create_file("instances", 0400, dir, NULL, &instances_fops);
	debugfs_create_file("occupancy", 0400, dir, NULL, &occupancy_fops);
	debugfs_create_file("lateness", 0400, dir, NULL, &lateness_fops);
	hwtimer_debug_dir = dir;
}

/* At module unload. May sleep. */
void hwtimer_debug_stop(void)
{
	debugfs_remove(hwtimer_debug_dir);
}
