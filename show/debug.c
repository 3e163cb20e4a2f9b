// SPDX-License-Identifier: GPL-2.0
/*
 * Shows all instances and users to root, in text files of debugfs,
 * /sys/kernel/debug/hwtimer/:
 *
 *	instances	process that created the instance, settings of the wheel, counters
 *	users		what the instances of each user and cgroup have together
 *
 * There is no directory for each instance: that would more than double the time of open().
 * On a kernel without debugfs the files are missing, and nothing else changes.
 *
 * open() and close() of an instance wait for no reader. If an instance is closed while a
 * reader shows it, a work item frees it.
 *
 * Readers go through the registry in the order of the instances' numbers. So they show
 * every instance that exists from the beginning of the reading to its end.
 */
#include <linux/debugfs.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "hwtimer.h"
#include "show/show.h"

static const char instances_headline[] =
	"instance\topener\tkind\tclock\ttick\tbuckets\tlimit\t"
	"pending\tready\tscheduled\tcancelled\texpired\tdelivered\tbytes\t"
	"thread\tspent\n";
static const char users_headline[] =
	"uid\tcgroup\tinstances\tpending\tbytes\tspent\n";

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
		hwtimer_registry_put(instance);
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
	seq_printf(seq, "%u\t%llu\t%u\t%u\t",
		   hwtimer_clock_number(settings->clock), settings->shape.tick,
		   settings->shape.buckets, settings->timers);
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
	struct hwtimer_listing *cursor =
		__seq_open_private(file, &instances_sops, sizeof(*cursor));

	if (!cursor)
		return -ENOMEM;
	INIT_LIST_HEAD(&cursor->entry);
	hwtimer_registry_rewind(cursor);
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

/**
 * struct row - what the instances of one user and cgroup have together
 * @entry: entry in the list of all rows
 * @bucket: entry in the table of rows
 * @id: the user and the cgroup
 * @instances: number of instances
 * @pending: number of pending timers
 * @bytes: kernel memory, bytes
 * @spent: time that each worker has spent for them, ns
 */
struct row {
	struct list_head entry;
	struct hlist_node bucket;
	struct hwtimer_tenant_id id;
	u64 instances;
	u64 pending;
	u64 bytes;
	u64 spent[HWTIMER_WORKERS_MAX];
};

/**
 * struct rows - a snapshot of all users and cgroups that have an instance
 * @list: the rows, in the order of their first instances
 * @table: the rows, by user and cgroup
 */
struct rows {
	struct list_head list;
	DECLARE_HASHTABLE(table, 10);
};

/* Finds the row of a user and a cgroup, or adds one; returns NULL: no memory. */
static struct row *row_get(struct rows *rows,
			   const struct hwtimer_tenant_id *id)
{
	u64 key = __kuid_val(id->uid) ^ id->cgroup;
	struct row *row;

	hash_for_each_possible(rows->table, row, bucket, key)
		if (uid_eq(row->id.uid, id->uid) &&
		    row->id.cgroup == id->cgroup)
			return row;
	row = kzalloc(sizeof(*row), GFP_KERNEL);
	if (!row)
		return NULL;
	row->id = *id;
	list_add_tail(&row->entry, &rows->list);
	hash_add(rows->table, &row->bucket, key);
	return row;
}

static int rows_count(struct rows *rows, struct hwtimer_instance *instance)
{
	struct hwtimer_tenant_id id;
	struct hwtimer_tenant *tenant;
	struct hwtimer_stats stats;
	struct row *row;
	unsigned int nr;
	u64 spent;

	hwtimer_stats_get(instance, &stats);
	spin_lock(&instance->lock);
	id = instance->tenant;
	tenant = hwtimer_worker_tenant(&instance->job);
	spin_unlock(&instance->lock);
	row = row_get(rows, &id);
	if (!row)
		return -ENOMEM;
	row->instances++;
	row->pending += stats.pending;
	row->bytes += stats.bytes;
	if (tenant) {
		/* The same for all instances of the tenant */
		spent = hwtimer_tenant_spent(tenant, &nr);
		row->spent[nr] = spent;
	}
	return 0;
}

/* Goes through the registry, one short hold of its lock for each instance. */
static int rows_fill(struct rows *rows)
{
	struct hwtimer_listing cursor = {};
	struct hwtimer_instance *instance;
	u64 nr = 0;
	int err = 0;

	INIT_LIST_HEAD(&cursor.entry);
	hwtimer_registry_rewind(&cursor);
	while (!err && (instance = hwtimer_registry_get(&cursor, nr + 1))) {
		nr = instance->nr;
		err = rows_count(rows, instance);
		hwtimer_registry_put(instance);
		cond_resched();
		if (signal_pending(current))
			err = -EINTR;
	}
	hwtimer_registry_remove(&cursor);
	return err;
}

static void rows_free(struct rows *rows)
{
	struct row *row, *next;

	list_for_each_entry_safe(row, next, &rows->list, entry)
		kfree(row);
}

static void *users_start(struct seq_file *seq, loff_t *position)
{
	struct rows *rows = seq->private;

	return seq_list_start_head(&rows->list, *position);
}

static void *users_next(struct seq_file *seq, void *element, loff_t *position)
{
	struct rows *rows = seq->private;

	return seq_list_next(element, &rows->list, position);
}

static void users_stop(struct seq_file *seq, void *element)
{
}

/* Shows a row, with the user's number in the initial user namespace. */
static int users_show(struct seq_file *seq, void *element)
{
	struct rows *rows = seq->private;
	const struct row *row = list_entry(element, struct row, entry);
	u64 spent = 0;
	unsigned int nr;

	if (element == &rows->list) {
		seq_puts(seq, users_headline);
		return 0;
	}
	for (nr = 0; nr < HWTIMER_WORKERS_MAX; nr++)
		spent += row->spent[nr];
	seq_printf(seq, "%u\t%llu\t%llu\t%llu\t%llu\t%llu\n",
		   from_kuid(&init_user_ns, row->id.uid), row->id.cgroup,
		   row->instances, row->pending, row->bytes, spent);
	return 0;
}

static const struct seq_operations users_sops = {
	.start = users_start,
	.next = users_next,
	.stop = users_stop,
	.show = users_show,
};

/* Shows what was so when the file was opened. */
static int users_open(struct inode *inode, struct file *file)
{
	struct rows *rows =
		__seq_open_private(file, &users_sops, sizeof(*rows));
	int err;

	if (!rows)
		return -ENOMEM;
	INIT_LIST_HEAD(&rows->list);
	hash_init(rows->table);
	err = rows_fill(rows);
	if (err) {
		rows_free(rows);
		seq_release_private(inode, file);
	}
	return err;
}

static int users_release(struct inode *inode, struct file *file)
{
	struct seq_file *seq = file->private_data;

	rows_free(seq->private);
	return seq_release_private(inode, file);
}

static const struct file_operations users_fops = {
	.owner = THIS_MODULE,
	.open = users_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = users_release,
};

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
