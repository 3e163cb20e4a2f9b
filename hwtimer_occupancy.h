/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shows as text how many entries the buckets of a wheel have. Called by hwtimer_stats.c for
 * fdinfo, and by hwtimer_debug.c.
 */
#ifndef HWTIMER_OCCUPANCY_H
#define HWTIMER_OCCUPANCY_H

struct hwtimer_instance;
struct seq_file;

void hwtimer_occupancy_show(struct seq_file *seq,
			    struct hwtimer_instance *instance,
			    const char *prefix);

#endif /* HWTIMER_OCCUPANCY_H */
