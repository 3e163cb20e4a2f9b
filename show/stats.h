/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the counters of an instance, and shows them as text. Called by instance/ioctl.c
 * (STATS), hwtimer_main.c (fdinfo) and show/debug.c.
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

#endif /* HWTIMER_STATS_H */
