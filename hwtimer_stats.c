// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the counters of an instance, and shows them as text; see hwtimer_stats.h.
 *
 * Most counters are in instance->stats, where the code that does the counted work updates
 * them under the instance's lock. The wheel and the worker keep some of their own,
 * because they do not know the instance.
 */
#include <linux/capability.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/user_namespace.h>

#include "hwtimer.h"
#include "hwtimer_stats.h"

/**
 * hwtimer_stats_get - read all counters
 * @instance: the instance; its lock is not held
 * @stats: out: the counters; the caller sets the member size afterwards
 *
 * Does not sleep; takes the instance's lock, then the worker's lock.
 */
void hwtimer_stats_get(struct hwtimer_instance *instance,
		       struct hwtimer_stats *stats)
{
	const struct hwtimer_wheel *wheel = &instance->wheel;

	spin_lock(&instance->lock);
	hwtimer_supply_account(instance);
	*stats = instance->stats;
	stats->entries = wheel->entries;
	stats->dead = wheel->entries - stats->pending;
	stats->walked = wheel->stats.walked;
	stats->passed_over = wheel->stats.passed_over;
	stats->refiled = wheel->stats.refiled;
	stats->buried = wheel->stats.buried;
	stats->compactions = wheel->stats.compactions;
	stats->cascaded = wheel->stats.cascaded;
	spin_unlock(&instance->lock);
	stats->wakeups = hwtimer_worker_wakeups(&instance->job);
}

/*
 * Whether the process that opened the file may see the numbers of instances. The numbers
 * count all instances of the machine, so they would tell a program how many others are
 * opened. Only tracing and debugfs need them; so who may trace may see them. That is a
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
	seq_printf(seq, "hwtimer-kind:\t%u\n", settings->shape.kind);
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
	static const struct {
		const char *name;
		size_t offset;
	} fields[] = {
#define FIELD(name) { #name, offsetof(struct hwtimer_stats, name) }
		FIELD(pending),	     FIELD(ready),	 FIELD(scheduled),
		FIELD(cancelled),    FIELD(rescheduled), FIELD(expired),
		FIELD(delivered),    FIELD(discarded),	 FIELD(unprocessed),
		FIELD(entries),	     FIELD(dead),	 FIELD(walked),
		FIELD(passed_over),  FIELD(refiled),	 FIELD(buried),
		FIELD(compactions),  FIELD(turns),	 FIELD(wakeups),
		FIELD(bytes),	     FIELD(bytes_peak),	 FIELD(lateness_max),
		FIELD(lateness_sum), FIELD(rearmed),	 FIELD(missed),
		FIELD(cascaded),     FIELD(clock_sets),
#undef FIELD
	};
	struct hwtimer_stats stats;
	unsigned int i;

	show_settings(seq, instance);
	show_worker(seq, instance);
	hwtimer_stats_get(instance, &stats);
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		seq_printf(seq, "hwtimer-%s:\t%llu\n", fields[i].name,
			   *(const u64 *)((const char *)&stats +
					  fields[i].offset));
	show_lateness(seq, &stats);
}
