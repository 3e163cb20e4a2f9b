// SPDX-License-Identifier: GPL-2.0
/*
 * What an instance tells of itself: STATS and /proc/PID/fdinfo. The counters
 * are kept in instance->stats by whoever changes what they count.
 */
#include <linux/seq_file.h>

#include "hwtimer.h"
#include "hwtimer_occupancy.h"
#include "hwtimer_stats.h"

/**
 * hwtimer_stats_get - what the counters say now
 * @instance: of which
 * @stats: out, but for its size
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

static void show_settings(struct seq_file *seq,
			  struct hwtimer_instance *instance)
{
	const struct hwtimer_settings *settings = &instance->settings;

	mutex_lock(&instance->setup);
	seq_printf(seq, "hwtimer-instance:\t%llu\n", instance->nr);
	seq_printf(seq, "hwtimer-kind:\t%u\n", settings->shape.kind);
	seq_printf(seq, "hwtimer-tick:\t%llu\n", settings->shape.tick);
	seq_printf(seq, "hwtimer-buckets:\t%u\n", settings->shape.buckets);
	mutex_unlock(&instance->setup);
}

/* The histogram, up to the end of the line. */
void hwtimer_stats_show_lateness(struct seq_file *seq,
				 const struct hwtimer_stats *stats)
{
	unsigned int i;

	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++)
		seq_printf(seq, "%s%llu", i ? " " : "", stats->lateness[i]);
	seq_putc(seq, '\n');
}

/**
 * hwtimer_stats_show - the same as text, for fdinfo
 * @seq: where to
 * @instance: of which
 *
 * And by which number tracing knows the instance, what its wheel is like, and where in
 * it there are entries. May sleep.
 */
void hwtimer_stats_show(struct seq_file *seq, struct hwtimer_instance *instance)
{
	static const struct {
		const char *name;
		size_t offset;
	} fields[] = {
#define FIELD(name) { #name, offsetof(struct hwtimer_stats, name) }
		FIELD(pending),	    FIELD(ready),	FIELD(scheduled),
		FIELD(cancelled),   FIELD(rescheduled), FIELD(expired),
		FIELD(delivered),   FIELD(discarded),	FIELD(unprocessed),
		FIELD(entries),	    FIELD(dead),	FIELD(walked),
		FIELD(passed_over), FIELD(refiled),	FIELD(buried),
		FIELD(compactions), FIELD(turns),	FIELD(wakeups),
		FIELD(bytes),	    FIELD(bytes_peak),	FIELD(lateness_max),
		FIELD(rearmed),	    FIELD(missed),	FIELD(cascaded),
		FIELD(clock_sets),  FIELD(submitted),	FIELD(completed),
		FIELD(overflowed),
#undef FIELD
	};
	struct hwtimer_stats stats;
	unsigned int i;

	show_settings(seq, instance);
	hwtimer_stats_get(instance, &stats);
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		seq_printf(seq, "hwtimer-%s:\t%llu\n", fields[i].name,
			   *(const u64 *)((const char *)&stats +
					  fields[i].offset));
	seq_puts(seq, "hwtimer-lateness:\t");
	hwtimer_stats_show_lateness(seq, &stats);
	hwtimer_occupancy_show(seq, instance, "hwtimer-occupancy-");
}
