// SPDX-License-Identifier: GPL-2.0
/*
 * Lets timers expire, and keeps their events; see events/events.h.
 */
#include <linux/bitops.h>
#include <linux/minmax.h>

#include "hwtimer.h"
#include "trace.h"

/*
 * The index of an event in stats.lateness: see HWTIMER_LATENESS_BOUND. In units of 256 ns,
 * the two bits after the highest one choose among the four buckets of a power of two; below
 * 1,024 ns, each unit has a bucket.
 */
static unsigned int lateness_class(u64 lateness)
{
	u64 units = lateness >> 8;
	unsigned int shift = fls64(units | 4) - 3;

	return min(4 * shift + (unsigned int)(units >> shift),
		   HWTIMER_LATENESS_BUCKETS - 1U);
}

/* Puts the events of timers that have expired into the ring, and counts how late they are. */
static void events_add(struct hwtimer_instance *instance, const u32 *due,
		       unsigned int count, u64 now)
{
	struct hwtimer_events *events = &instance->events;
	struct hwtimer_stats *stats = &instance->stats;
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct hwtimer_record *record =
			hwtimer_table_record(&instance->table, due[i]);
		u64 lateness = now - record->deadline;

		trace_hwtimer_expire(instance, due[i], now);
		*hwtimer_events_id(events, events->tail + i) =
			hwtimer_table_id(record, due[i]);
		if (unlikely(hwtimer_record_periodic(record)))
			record->told = 0;
		record->lateness = min_t(u64, lateness, U32_MAX);
		stats->lateness[lateness_class(lateness)]++;
		stats->lateness_max = max(stats->lateness_max, lateness);
		stats->lateness_sum += record->lateness;
	}
	stats->pending -= count;
	stats->expired += count;
	WRITE_ONCE(stats->ready, stats->ready + count);
	WRITE_ONCE(events->tail, events->tail + count);
	WRITE_ONCE(events->unread, events->unread + count);
}

/**
 * hwtimer_events_turn - let timers expire that are due, if the ring has room
 * @instance: the instance; its lock is held
 * @now: ns on the instance's clock, read under the lock
 *
 * The caller then wakes the readers, if hwtimer_notice_readable(), and ensures that the wheel
 * is turned when there is more to do.
 *
 * Return: the number of events, HWTIMER_HOLD at most; 0 does not mean that nothing is due.
 */
unsigned int hwtimer_events_turn(struct hwtimer_instance *instance, u64 now)
{
	u32 due[HWTIMER_HOLD] __uninitialized;
	unsigned int found = 0;

	lockdep_assert_held(&instance->lock);
	if (!hwtimer_instance_stopped(instance) &&
	    !hwtimer_events_full(&instance->events)) {
		instance->events.parked = false;
		/* hwtimer_wheel_advance() goes forward; this only rewinds. */
		hwtimer_wakeup_followed(instance);
		hwtimer_wakeup_follow(instance, now);
		found = hwtimer_wheel_advance(&instance->wheel, now, due);
	}
	if (found) {
		events_add(instance, due, found, now);
		instance->turns++;
		hwtimer_shrink_trim(instance);
		hwtimer_notice_queued(instance);
	}
	trace_hwtimer_turn(instance, now, found);
	return found;
}

/**
 * hwtimer_events_taken - note that events have left the ring, or their entries have died
 * @instance: the instance; its lock is held
 * @count: number of events that were live
 *
 * The dead entries at an end of the ring go. The caller has moved its head and next.
 */
void hwtimer_events_taken(struct hwtimer_instance *instance, u32 count)
{
	struct hwtimer_events *events = &instance->events;

	lockdep_assert_held(&instance->lock);
	WRITE_ONCE(instance->stats.ready, instance->stats.ready - count);
	/* Only dead entries are left. They make room, and still count for HWTIMER_IOC_ACK. */
	if (!instance->stats.ready) {
		events->dropped = min(events->dropped + events->read,
				      HWTIMER_DROPPED_MAX);
		events->read = 0;
	}
	if (!events->unread)
		WRITE_ONCE(events->tail, events->next);
	if (!events->read)
		WRITE_ONCE(events->head, events->next);
	hwtimer_notice_taken(instance);
	hwtimer_shrink_ended(instance);
}

/**
 * hwtimer_events_drop - drop the event of an expired timer, and free the timer
 * @instance: the instance; its lock is held
 * @record: the timer's record, in state HWTIMER_EXPIRED
 * @index: index of the record
 *
 * That may make room, so the caller calls hwtimer_notice_unpark() in the same hold.
 */
void hwtimer_events_drop(struct hwtimer_instance *instance,
			 struct hwtimer_record *record, u32 index)
{
	struct hwtimer_events *events = &instance->events;

	lockdep_assert_held(&instance->lock);
	trace_hwtimer_discard(instance, index);
	if (!(record->flags & HWTIMER_RECORD_READ))
		WRITE_ONCE(events->unread, events->unread - 1);
	hwtimer_period_free(instance, index);
	instance->stats.discarded++;
	hwtimer_events_taken(instance, 1);
}
