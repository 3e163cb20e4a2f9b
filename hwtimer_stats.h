/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an instance tells about itself: HWTIMER_IOC_STATS, fdinfo, debugfs and the counters
 * of a kernel client. The counters are kept in instance->stats by the code that does what
 * they count.
 */
#ifndef HWTIMER_STATS_H
#define HWTIMER_STATS_H

struct hwtimer_instance;
struct hwtimer_stats;
struct seq_file;

void hwtimer_stats_get(struct hwtimer_instance *instance,
		       struct hwtimer_stats *stats);
void hwtimer_stats_show(struct seq_file *seq,
			struct hwtimer_instance *instance);
void hwtimer_stats_show_lateness(struct seq_file *seq,
				 const struct hwtimer_stats *stats);

#endif /* HWTIMER_STATS_H */
