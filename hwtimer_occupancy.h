/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which buckets of a wheel have entries, as text for fdinfo (hwtimer_stats.c) and debugfs
 * (hwtimer_debug.c).
 */
#ifndef HWTIMER_OCCUPANCY_H
#define HWTIMER_OCCUPANCY_H

struct hwtimer_instance;
struct seq_file;

void hwtimer_occupancy_show(struct seq_file *seq,
			    struct hwtimer_instance *instance,
			    const char *prefix);

#endif /* HWTIMER_OCCUPANCY_H */
