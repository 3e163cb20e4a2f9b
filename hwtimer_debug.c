// SPDX-License-Identifier: GPL-2.0
/*
 * Shows all instances and users to root, in text files of debugfs,
 * /sys/kernel/debug/hwtimer/:
 *
 *	instances	process that created the instance, settings of the wheel, counters
 *	users		what each user's instances have together, see hwtimer_account.h
 *
 * hwtimer_main.c creates and removes the files, and seq_file calls the functions that
 * show them. Not a directory for each instance: that would more than double the time of
 * open(). On a kernel without debugfs the files are missing, and nothing else changes.
 *
 * open() and close() of an instance wait for no reader. If an instance is closed while a
 * reader shows it, the reader frees it.
 *
 * Readers go through the registry in the order of the instances' numbers. So they show
 * every instance that exists from the beginning of the reading to its end. The accounts
 * of users have no numbers, only places in a list: if one before the reader's place goes
 * between two calls of read(), the reader misses one.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "hwtimer.h"
#include "hwtimer_account.h"
#include "hwtimer_debug.h"
#include "hwtimer_instance.h"
#include "hwtimer_stats.h"

static const char instances_headline[] =
	"instance\topener\tkind\tclock\ttick\tbuckets\tlimit\t"
	"pending\tready\tscheduled\tcancelled\texpired\tdelivered\tbytes\t"
	"thread\tspent\n";
static const char users_headline[] =
	"uid\tcgroup\tcreator\tinstances\ttimers\tbytes\n";

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

	if (!*position) {
		hwtimer_registry_rewind(seq->private);
		return SEQ_START_TOKEN;
	}
	instance = hwtimer_registry_get(seq->private, *position);
	if (instance)
		*position = instance->nr;
	return instance;
}

static void instances_stop(struct seq_file *seq, void *element)
{
	struct hwtimer_instance *instance = instance_of(element);

	if (instance)
		hwtimer_instance_put(instance);
}

static void *instances_next(struct seq_file *seq, void *element,
			    loff_t *position)
{
	instances_stop(seq, element);
	++*position;
	return instances_start(seq, position);
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
	seq_printf(seq, "%u\t%llu\t%u\t%u\t", settings->clock->number,
		   settings->shape.tick, settings->shape.buckets,
		   settings->timers);
	seq_printf(seq, "%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t",
		   stats.pending, stats.ready, stats.scheduled, stats.cancelled,
		   stats.expired, stats.delivered, stats.bytes);
	seq_printf(seq, "%d\t%llu\n",
		   hwtimer_worker_pid(&instance->job, &init_pid_ns),
		   hwtimer_worker_spent(&instance->job));
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

static int instances_open(struct inode *inode, struct file *file)
{
	struct hwtimer_listing *place =
		__seq_open_private(file, &instances_sops, sizeof(*place));

	if (!place)
		return -ENOMEM;
	INIT_LIST_HEAD(&place->entry);
	hwtimer_registry_rewind(place);
	return 0;
}

static int instances_release(struct inode *inode, struct file *file)
{
	struct seq_file *seq = file->private_data;

	hwtimer_registry_remove(seq->private);
	return seq_release_private(inode, file);
}

static const struct file_operations instances_fops = {
	.owner = THIS_MODULE,
	.open = instances_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = instances_release,
};

/* A position is the number of accounts before the element, plus 1; 0 is the headline. */
static void *accounts_start(struct seq_file *seq, loff_t *position)
{
	return *position ? hwtimer_account_at(*position - 1) : SEQ_START_TOKEN;
}

static void accounts_stop(struct seq_file *seq, void *element)
{
	if (element != SEQ_START_TOKEN)
		hwtimer_account_put(element);
}

static void *accounts_next(struct seq_file *seq, void *element,
			   loff_t *position)
{
	++*position;
	return element == SEQ_START_TOKEN ? hwtimer_account_at(0) :
					    hwtimer_account_after(element);
}

/* Shows a user's number, as in the initial user namespace. */
static void show_uid(struct seq_file *seq, kuid_t uid)
{
	seq_printf(seq, "%u\t", from_kuid(&init_user_ns, uid));
}

static int users_show(struct seq_file *seq, void *element)
{
	const struct hwtimer_account *account = element;

	if (element == SEQ_START_TOKEN) {
		seq_puts(seq, users_headline);
		return 0;
	}
	show_uid(seq, account->uid);
	seq_printf(seq, "%llu\t", account->cgroup);
	if (account->parent)
		show_uid(seq, account->parent->uid);
	else
		seq_puts(seq, "-\t");
	seq_printf(seq, "%lld\t%lld\t%lld\n",
		   atomic64_read(&account->used[HWTIMER_INSTANCES]),
		   atomic64_read(&account->used[HWTIMER_TIMERS]),
		   atomic64_read(&account->used[HWTIMER_BYTES]));
	return 0;
}

static const struct seq_operations users_sops = {
	.start = accounts_start,
	.next = accounts_next,
	.stop = accounts_stop,
	.show = users_show,
};
DEFINE_SEQ_ATTRIBUTE(users);

/**
 * hwtimer_debug_start - create the files, at module load
 *
 * Does not fail: a file that cannot be created is missing. May sleep.
 */
void hwtimer_debug_start(void)
{
	struct dentry *dir = debugfs_create_dir("hwtimer", NULL);

	debugfs_create_file("instances", 0400, dir, NULL, &instances_fops);
	debugfs_create_file("users", 0400, dir, NULL, &users_fops);
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
