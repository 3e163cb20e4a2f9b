// SPDX-License-Identifier: GPL-2.0
/*
 * Shows all instances, workers and users to root, in text files of debugfs,
 * /sys/kernel/debug/hwtimer/:
 *
 *	instances	process that created the instance, settings of the wheel, counters
 *	workers		threads, whose they are, and the processor time that they used
 *	occupancy	number of entries in parts of the wheels, see hwtimer_occupancy_show()
 *	lateness	number of late events, four classes for each power of two ns
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
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "compat.h"
#include "hwtimer.h"
#include "hwtimer_account.h"
#include "hwtimer_debug.h"
#include "hwtimer_instance.h"
#include "hwtimer_occupancy.h"
#include "hwtimer_owner.h"
#include "hwtimer_stats.h"

static const char instances_headline[] =
	"instance\topener\tkind\tclock\ttick\tbuckets\tlimit\t"
	"pending\tready\tscheduled\tcancelled\texpired\tdelivered\tbytes\t"
	"thread\tspent\n";
static const char occupancy_headline[] =
	"instance level:\twidth of a strip (ns), buckets in it, entries of each strip\n";
static const char lateness_headline[] =
	"instance:\tevents by lateness, in the buckets of HWTIMER_LATENESS_BOUND\n";

static const char workers_headline[] =
	"thread\tuser\tduty\tinstances\ttime\tcgroup\n";
static const char users_headline[] =
	"uid\tcgroup\tcreator\tinstances\ttimers\tbytes\n";

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

	if (!*position) {
		hwtimer_registry_rewind(seq->private);
		return SEQ_START_TOKEN;
	}
	instance = hwtimer_registry_get(seq->private, *position);
	if (instance)
		*position = instance->nr;
	return instance;
}

static void registry_stop(struct seq_file *seq, void *element)
{
	struct hwtimer_instance *instance = instance_of(element);

	if (instance)
		hwtimer_instance_put(instance);
}

static void *registry_next(struct seq_file *seq, void *element,
			   loff_t *position)
{
	registry_stop(seq, element);
	++*position;
	return registry_start(seq, position);
}

/* Opens a file that shows all instances, by the functions that are its data. */
static int registry_open(struct inode *inode, struct file *file)
{
	struct hwtimer_listing *place =
		__seq_open_private(file, inode->i_private, sizeof(*place));

	if (!place)
		return -ENOMEM;
	INIT_LIST_HEAD(&place->entry);
	hwtimer_registry_rewind(place);
	return 0;
}

static int registry_release(struct inode *inode, struct file *file)
{
	struct seq_file *seq = file->private_data;

	hwtimer_registry_remove(seq->private);
	return seq_release_private(inode, file);
}

static const struct file_operations registry_fops = {
	.owner = THIS_MODULE,
	.open = registry_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = registry_release,
};

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
		   hwtimer_worker_spent(&instance->job) +
			   hwtimer_worker_spent(&instance->exchange.errand));
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

/* A position is the number of a worker; 0 is the headline. */
static void *workers_start(struct seq_file *seq, loff_t *position)
{
	struct hwtimer_staff_info *info = seq->private;

	if (!*position)
		return SEQ_START_TOKEN;
	info->nr = *position;
	if (!hwtimer_owner_describe(info))
		return NULL;
	*position = info->nr;
	return info;
}

static void workers_stop(struct seq_file *seq, void *element)
{
	struct hwtimer_staff_info *info = seq->private;

	if (element == info)
		put_task_struct(info->task);
}

static void *workers_next(struct seq_file *seq, void *element, loff_t *position)
{
	workers_stop(seq, element);
	++*position;
	return workers_start(seq, position);
}

/* Shows the path of a task's cgroup as the reader sees it, "-" if it has none. */
static void show_cgroup(struct seq_file *seq, struct task_struct *task)
{
	char *path;
	size_t size = seq_get_buf(seq, &path);
	int length = hwtimer_cgroup_path(task, path, size);

	if (length >= 0 || length == -E2BIG)
		/* If the path is too long for the buffer, seq_file enlarges it. */
		seq_commit(seq, length < 0 || length >= size ? -1 : length);
	else
		seq_putc(seq, '-');
}

static void show_worker(struct seq_file *seq,
			const struct hwtimer_staff_info *info)
{
	static const char *const duties[] = {
		[HWTIMER_DUTY_TURN] = "turns",
		[HWTIMER_DUTY_ERRAND] = "errands",
	};
	u64 time;

	/*
	 * The scheduler writes it by plain writes, with a lock that we cannot take. The
	 * value of a moment ago is as good.
	 */
	time = data_race(READ_ONCE(info->task->se.sum_exec_runtime));
	seq_printf(seq, "%d\t%u\t%s\t%u\t%llu\t", task_pid_nr(info->task),
		   __kuid_val(info->uid),
		   info->fixed ? "shared" : duties[info->duty], info->jobs,
		   time);
	show_cgroup(seq, info->task);
	seq_putc(seq, '\n');
}

static int workers_show(struct seq_file *seq, void *element)
{
	if (element == SEQ_START_TOKEN)
		seq_puts(seq, workers_headline);
	else
		show_worker(seq, element);
	return 0;
}

static const struct seq_operations workers_sops = {
	.start = workers_start,
	.next = workers_next,
	.stop = workers_stop,
	.show = workers_show,
};

static int workers_open(struct inode *inode, struct file *file)
{
	return seq_open_private(file, &workers_sops,
				sizeof(struct hwtimer_staff_info));
}

static const struct file_operations workers_fops = {
	.owner = THIS_MODULE,
	.open = workers_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = seq_release_private,
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

/*
 * Defines NAME_sops for the file NAME. NAME_show() shows one element, ELEMENTS_start() and
 * its like find it.
 */
#define DEBUG_SOPS(name, elements)                         \
	static const struct seq_operations name##_sops = { \
		.start = elements##_start,                 \
		.next = elements##_next,                   \
		.stop = elements##_stop,                   \
		.show = name##_show,                       \
	}

DEBUG_SOPS(instances, registry);
DEBUG_SOPS(occupancy, registry);
DEBUG_SOPS(lateness, registry);
DEBUG_SOPS(users, accounts);
DEFINE_SEQ_ATTRIBUTE(users);

static void create_registry_file(const char *name, struct dentry *dir,
				 const struct seq_operations *sops)
{
	debugfs_create_file(name, 0400, dir, (void *)sops, &registry_fops);
}

/**
 * hwtimer_debug_start - create the files, at module load
 *
 * Does not fail: a file that cannot be created is missing. May sleep.
 */
void hwtimer_debug_start(void)
{
	struct dentry *dir = debugfs_create_dir("hwtimer", NULL);

	create_registry_file("instances", dir, &instances_sops);
	debugfs_create_file("workers", 0400, dir, NULL, &workers_fops);
	create_registry_file("occupancy", dir, &occupancy_sops);
	create_registry_file("lateness", dir, &lateness_sops);
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
