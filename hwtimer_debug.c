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
 * Instances come and go by open() and the last close(), or with a client in the kernel.
 * open() waits for no reader here, as it is called with the mutex of all misc devices held.
 * The end of an instance waits for readers that are just showing that instance, and for no
 * others. Readers go by the numbers of the instances, and miss none that stays.
 */
#include <linux/compiler.h>
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/refcount.h>
#include <linux/seq_file.h>
#include <linux/xarray.h>

#include "hwtimer.h"
#include "hwtimer_memory.h"

static const char instances_headline[] =
	"instance\topener\tkind\tclock\ttick\tbuckets\tlimit\t"
	"pending\tready\tscheduled\tcancelled\texpired\tdelivered\tbytes\n";
static const char occupancy_headline[] =
	"instance level:\twidth of a strip (ns), buckets in it, occupied ones of each strip\n";
static const char lateness_headline[] =
	"instance:\tevents that were not late; late by less than 2 ns, 4 ns, 8 ns ...\n";

/* By their numbers */
static DEFINE_XARRAY_FLAGS(hwtimer_debug_instances, XA_FLAGS_ACCOUNT);
static struct dentry *hwtimer_debug_dir;

/**
 * hwtimer_debug_add - a new instance
 * @instance: has its number; afterwards it may be shown at any time
 *
 * Return: 0 or -ENOMEM. May sleep.
 */
int hwtimer_debug_add(struct hwtimer_instance *instance)
{
	refcount_set(&instance->shown, 1);
	init_completion(&instance->unshown);
	return xa_err(xa_store(&hwtimer_debug_instances, instance->nr, instance,
			       HWTIMER_GFP));
}

/**
 * hwtimer_debug_get - an instance that is to be shown
 * @nr: the lowest number that it may have
 *
 * Return: the one with the lowest number from @nr on, which stays until
 * hwtimer_debug_put(); NULL: there is none.
 */
struct hwtimer_instance *hwtimer_debug_get(u64 nr)
{
	struct hwtimer_instance *instance;
	unsigned long index = nr;

	xa_lock(&hwtimer_debug_instances);
	instance = xa_find(&hwtimer_debug_instances, &index, ULONG_MAX,
			   XA_PRESENT);
	/* What is found has not been removed, and is not at its end yet. */
	if (instance)
		refcount_inc(&instance->shown);
	xa_unlock(&hwtimer_debug_instances);
	return instance;
}

/* An instance from hwtimer_debug_get() need not stay any more. */
void hwtimer_debug_put(struct hwtimer_instance *instance)
{
	if (refcount_dec_and_test(&instance->shown))
		complete(&instance->unshown);
}

/* An instance ends; afterwards nobody here knows it. May sleep. */
void hwtimer_debug_remove(struct hwtimer_instance *instance)
{
	xa_erase(&hwtimer_debug_instances, instance->nr);
	hwtimer_debug_put(instance);
	wait_for_completion(&instance->unshown);
}

/* The instance that @element is, or NULL: the headline, or nothing. */
static struct hwtimer_instance *instance_of(void *element)
{
	return element == SEQ_START_TOKEN ? NULL : element;
}

/* A position is the number of an instance; 0: the headline. */
static void *debug_start(struct seq_file *seq, loff_t *position)
{
	struct hwtimer_instance *instance;

	if (!*position)
		return SEQ_START_TOKEN;
	instance = hwtimer_debug_get(*position);
	if (instance)
		*position = instance->nr;
	return instance;
}

static void debug_stop(struct seq_file *seq, void *element)
{
	struct hwtimer_instance *instance = instance_of(element);

	if (instance)
		hwtimer_debug_put(instance);
}

static void *debug_next(struct seq_file *seq, void *element, loff_t *position)
{
	debug_stop(seq, element);
	++*position;
	return debug_start(seq, position);
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
