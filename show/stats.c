// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the counters of an instance, and shows them as text.
 *
 * The counters of STATS are in instance->stats, where the code that does the counted work
 * updates them under the instance's lock. The wheel and the worker keep some of their own,
 * which only fdinfo shows.
 */
#include <linux/capability.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/user_namespace.h>

#include "hwtimer.h"
#include "show/show.h"

/**
 * hwtimer_stats_get - read the counters of STATS
 * @instance: the instance; its lock is not held
 * @stats: out: the counters
 *
 * Does not sleep; takes the instance's lock.
 */
void hwtimer_stats_get(struct hwtimer_instance *instance,
		       struct hwtimer_stats *stats)
{
	spin_lock(&instance->lock);
	*stats = instance->stats;
	spin_unlock(&instance->lock);
}

/*
 * Whether the process that opened the file may see the numbers of instances. The numbers
 * count all instances of the machine, so they would tell a program how many others are
 * opened. Only tracing and debugfs need them, so a process that may trace may see them. That is a
 * matter of the whole machine: the capabilities of a container's root do not suffice.
 */
static bool numbers_allowed(const struct seq_file *seq)
{
	return file_ns_capable(seq->file, &init_user_ns, CAP_PERFMON) ||
	       file_ns_capable(seq->file, &init_user_ns, CAP_SYS_ADMIN);
}

/*
 * Does not take the mutex setup: a thread of a tenant that gets no processor time may hold
 * it, and the reader may be the administrator.
 */
static void show_settings(struct seq_file *seq,
			  struct hwtimer_instance *instance)
{
	struct hwtimer_settings copy;
	const struct hwtimer_settings *settings =
		hwtimer_settings_get(instance, &copy);

	if (numbers_allowed(seq))
		seq_printf(seq, "hwtimer-instance:\t%llu\n", instance->nr);
	seq_printf(seq, "hwtimer-tick:\t%llu\n", settings->shape.tick);
	seq_printf(seq, "hwtimer-buckets:\t%u\n", settings->shape.buckets);
}

/*
 * Shows the thread that turns the wheel, as its pid in the reader's pid namespace; 0: the
 * instance has not started, or the thread is not in that namespace.
 */
static void show_worker(struct seq_file *seq,
			const struct hwtimer_instance *instance)
{
	seq_printf(seq, "hwtimer-worker:\t%d\n",
		   hwtimer_worker_pid(&instance->job,
				      task_active_pid_ns(current)));
}

/* Shows the histogram of lateness. */
static void show_lateness(struct seq_file *seq,
			  const struct hwtimer_stats *stats)
{
	unsigned int i;

	seq_puts(seq, "hwtimer-lateness:\t");
	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++)
		seq_printf(seq, "%s%llu", i ? " " : "", stats->lateness[i]);
	seq_putc(seq, '\n');
}

static void show_number(struct seq_file *seq, const char *name, u64 number)
{
	seq_printf(seq, "hwtimer-%s:\t%llu\n", name, number);
}

/* Shows the counters that STATS has, under the names of its fields. */
static void show_counters(struct seq_file *seq,
			  const struct hwtimer_stats *stats)
{
	show_number(seq, "pending", stats->pending);
	show_number(seq, "ready", stats->ready);
	show_number(seq, "scheduled", stats->scheduled);
	show_number(seq, "rearmed", stats->rearmed);
	show_number(seq, "rescheduled", stats->rescheduled);
	show_number(seq, "cancelled", stats->cancelled);
	show_number(seq, "expired", stats->expired);
	show_number(seq, "delivered", stats->delivered);
	show_number(seq, "discarded", stats->discarded);
	show_number(seq, "missed", stats->missed);
	show_number(seq, "clock_sets", stats->clock_sets);
	show_number(seq, "bytes", stats->bytes);
	show_number(seq, "bytes_peak", stats->bytes_peak);
	show_number(seq, "lateness_max", stats->lateness_max);
	show_number(seq, "lateness_sum", stats->lateness_sum);
	show_lateness(seq, stats);
}

/* Shows what the wheel and the worker have counted. */
static void show_work(struct seq_file *seq, struct hwtimer_instance *instance)
{
	const struct hwtimer_wheel *wheel = &instance->wheel;
	struct hwtimer_wheel_stats stats;
	u64 entries, dead, turns;

	spin_lock(&instance->lock);
	stats = wheel->stats;
	entries = wheel->entries;
	dead = entries - instance->stats.pending;
	turns = instance->turns;
	spin_unlock(&instance->lock);
	show_number(seq, "entries", entries);
	show_number(seq, "dead", dead);
	show_number(seq, "walked", stats.walked);
	show_number(seq, "refiled", stats.refiled);
	show_number(seq, "cascaded", stats.cascaded);
	show_number(seq, "removed", stats.removed);
	show_number(seq, "compactions", stats.compactions);
	show_number(seq, "turns", turns);
	show_number(seq, "wakeups", hwtimer_worker_wakeups(&instance->job));
}

/**
 * hwtimer_stats_show - show the counters as text, for fdinfo
 * @seq: the file to write to
 * @instance: the instance; none of its locks is held
 *
 * Also shows the settings of the instance's wheel, and the thread of its worker; and the
 * number of the instance, which tracing uses, if the process that opened the file may trace.
 * May sleep; takes the instance's lock and the worker's lock, one after the other.
 */
void hwtimer_stats_show(struct seq_file *seq, struct hwtimer_instance *instance)
{
	struct hwtimer_stats stats;

	show_settings(seq, instance);
	show_worker(seq, instance);
	hwtimer_stats_get(instance, &stats);
	show_counters(seq, &stats);
	show_work(seq, instance);
}
