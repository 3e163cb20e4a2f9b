/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes timers periodic, counts their expirations, and makes them pending again after
 * each event. struct hwtimer_request in <linux/hwtimer.h> says what periodic timers do.
 *
 * Callers hold the instance's lock.
 *
 * A record has 32 bytes, too few for an interval and a count. So a periodic timer has a
 * second record, its extension.
 */
#ifndef HWTIMER_PERIOD_H
#define HWTIMER_PERIOD_H

#include "hwtimer.h"

void hwtimer_period_begin(struct hwtimer_instance *instance,
			  struct hwtimer_record *record,
			  const struct hwtimer_request *request);
void hwtimer_period_free_extension(struct hwtimer_instance *instance,
				   const struct hwtimer_record *record);
u32 hwtimer_period_spare(const struct hwtimer_instance *instance,
			 const struct hwtimer_record *record);
void hwtimer_period_change(struct hwtimer_instance *instance,
			   struct hwtimer_record *record,
			   const struct hwtimer_request *request);
void hwtimer_period_describe(const struct hwtimer_instance *instance, u32 index,
			     u64 now, struct hwtimer_timer *timer);
void hwtimer_period_end(struct hwtimer_instance *instance,
			struct hwtimer_record *record, u64 now);
bool hwtimer_period_describe_next(const struct hwtimer_instance *instance,
				  u32 index, u64 now,
				  struct hwtimer_timer *timer);
u32 hwtimer_period_expirations(const struct hwtimer_instance *instance,
			       const struct hwtimer_record *record, u64 now);
bool hwtimer_period_rearm(struct hwtimer_instance *instance, u32 index,
			  u32 expirations, u64 now);

/**
 * hwtimer_period_free - free a timer of any kind that ends
 * @instance: the instance; its lock is held
 * @index: index of the timer's record, which is neither in the wheel nor in the queue
 */
static inline void hwtimer_period_free(struct hwtimer_instance *instance,
				       u32 index)
{
	struct hwtimer_record *record =
		hwtimer_table_record(&instance->table, index);

	lockdep_assert_held(&instance->lock);
	if (unlikely(hwtimer_record_periodic(record)))
		hwtimer_period_free_extension(instance, record);
	hwtimer_table_put_record(&instance->table, record, index);
}

#endif /* HWTIMER_PERIOD_H */
