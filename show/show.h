/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shows what there is, and changes nothing: QUERY and LIST, the counters, and debugfs, which
 * goes through the registry of all instances.
 */
#ifndef HWTIMER_SHOW_H
#define HWTIMER_SHOW_H

#include <linux/types.h>

struct hwtimer_instance;
struct hwtimer_list;
struct hwtimer_stats;
struct hwtimer_timer;
struct seq_file;

/* ---- registry.c ---- */

void hwtimer_registry_add(struct hwtimer_instance *instance);
void hwtimer_registry_remove(struct hwtimer_instance *instance);

struct hwtimer_instance *hwtimer_registry_get(u64 nr);
void hwtimer_registry_put(struct hwtimer_instance *instance);

int hwtimer_registry_start(void);
void hwtimer_registry_finish(void);

/* ---- query.c ---- */

u64 hwtimer_query_until_next(struct hwtimer_instance *instance);
int hwtimer_query_timer(struct hwtimer_instance *instance,
			struct hwtimer_timer *timer);
long hwtimer_query_list(struct hwtimer_instance *instance,
			struct hwtimer_list *list);

/* ---- stats.c ---- */

void hwtimer_stats_get(struct hwtimer_instance *instance,
		       struct hwtimer_stats *stats);
void hwtimer_stats_show(struct seq_file *seq,
			struct hwtimer_instance *instance);

/* ---- debug.c ---- */

void hwtimer_debug_start(void);
void hwtimer_debug_stop(void);

#endif /* HWTIMER_SHOW_H */
