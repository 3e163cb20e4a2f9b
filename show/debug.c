// SPDX-License-Identifier: GPL-2.0
/*
 * Shows all instances to root, in a text file of debugfs, /sys/kernel/debug/hwtimer/instances:
 * the process that created the instance, the settings of its wheel, its counters, and its tenant.
 * `hwtimerctl owners` adds them up by tenant.
 *
 * There is no directory for each instance: that would more than double the time of open().
 * On a kernel without debugfs the file is missing, and nothing else changes.
 *
 * open() and close() of an instance wait for no reader. If an instance is closed while a
 * reader shows it, a work item frees it.
 *
 * Readers go through the registry in the order of the instances' numbers. So they show
 * every instance that exists from the beginning of the reading to its end.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "hwtimer.h"
#include "show/show.h"

static const char instances_headline[] =
	"instance\topener\tclock\ttick\tbuckets\tlimit\t"
	"pending\tready\tscheduled\tcancelled\texpired\tdelivered\tbytes\t"
	"thread\tspent\tuid\tcgroup\ttenant_spent\n";

static struct dentry *hwtimer_debug_dir;

/* Returns the instance of an element; NULL if it is the headline, or if there is none. */
static struct hwtimer_instance *instance_of(void *element)
{
	return element == SEQ_START_TOKEN ? NULL : element;
}

/* A position is the number of an instance; 0 is the headline. */
static void *instances_start(struct seq_file *seq, loff_t *position)
{
	struct hwtimer_instance *instance;

	if (!*position)
		return SEQ_START_TOKEN;
	instance = hwtimer_registry_get(*position);
	if (instance)
		*position = instance->nr;
	return instance;
}

static void instances_stop(struct seq_file *seq, void *element)
{
	struct hwtimer_instance *instance = instance_of(element);

	if (instance)
		hwtimer_registry_put(instance);
}

static void *instances_next(struct seq_file *seq, void *element,
			    loff_t *position)
{
	instances_stop(seq, element);
	++*position;
	return instances_start(seq, position);
}

/*
 * Shows which thread serves the instance, and for whom. All instances that one thread serves for
 * one tenant show the same tenant_spent. That includes the time for instances that were closed.
 */
static void show_tenant(struct seq_file *seq, struct hwtimer_instance *instance)
{
	const struct hwtimer_tenant *tenant;
	struct hwtimer_tenant_id id;

	spin_lock(&instance->lock);
	id = instance->tenant;
	tenant = hwtimer_worker_tenant(&instance->job);
	spin_unlock(&instance->lock);
	seq_printf(seq, "%d\t%llu\t%u\t%llu\t%llu\n",
		   hwtimer_worker_pid(&instance->job, &init_pid_ns),
		   hwtimer_worker_spent(&instance->job),
		   from_kuid(&init_user_ns, id.uid), id.cgroup,
		   tenant ? hwtimer_tenant_spent(tenant) : 0);
}

static void show_instance(struct seq_file *seq,
			  struct hwtimer_instance *instance)
{
	struct hwtimer_settings copy;
	const struct hwtimer_settings *settings =
		hwtimer_settings_get(instance, &copy);
	struct hwtimer_stats stats;

	hwtimer_stats_get(instance, &stats);
	seq_printf(seq, "%llu\t%d\t%u\t%llu\t%u\t%u\t", instance->nr,
		   instance->opener, hwtimer_clock_number(settings->clock),
		   settings->shape.tick, settings->shape.buckets,
		   settings->timers);
	seq_printf(seq, "%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t",
		   stats.pending, stats.ready, stats.scheduled, stats.cancelled,
		   stats.expired, stats.delivered, stats.bytes);
	show_tenant(seq, instance);
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

static const struct seq_operations instances_sops = {
	.start = instances_start,
	.next = instances_next,
	.stop = instances_stop,
	.show = instances_show,
};

DEFINE_SEQ_ATTRIBUTE(instances);

/**
 * hwtimer_debug_start - create the file, at module load
 *
 * Does not fail: if the file cannot be created, it is missing. May sleep.
 */
void hwtimer_debug_start(void)
{
	struct dentry *dir = debugfs_create_dir("hwtimer", NULL);

	debugfs_create_file("instances", 0400, dir, NULL, &instances_fops);
	hwtimer_debug_dir = dir;
}

/**
 * hwtimer_debug_stop - remove the file, at module unload
 *
 * Waits for reads that are in progress. May sleep.
 */
void hwtimer_debug_stop(void)
{
	debugfs_remove(hwtimer_debug_dir);
}
