// SPDX-License-Identifier: GPL-2.0
/*
 * Periodic timers: their second record, what their events tell, and how they
 * become pending again. Called for timers of any kind by whoever begins or ends
 * them; see struct hwtimer_request in <linux/hwtimer.h> for what they do.
 *
 * While the event of a periodic timer waits, the timer rests: it is not in the
 * wheel. So it has one event at the most, a slow reader costs nothing, and all
 * that is counted is counted when read() takes the event, from the deadlines
 * alone.
 *
 * All of this is done with the lock of the instance held.
 */
#include <linux/math64.h>
#include <linux/overflow.h>

#include "hwtimer.h"
#include "hwtimer_period.h"
#include "hwtimer_trace.h"

static struct hwtimer_record *
extension_of(const struct hwtimer_instance *instance,
	     const struct hwtimer_record *record)
{
	return hwtimer_table_record(&instance->table, record->extension);
}

/**
 * hwtimer_period_begin - make a timer periodic
 * @instance: of which; hwtimer_table_spare() of its table is not 0
 * @record: its user_data set
 * @request: with an interval
 */
void hwtimer_period_begin(struct hwtimer_instance *instance,
			  struct hwtimer_record *record,
			  const struct hwtimer_request *request)
{
	u32 index = hwtimer_table_get(&instance->table);
	struct hwtimer_record *extension =
		hwtimer_table_record(&instance->table, index);

	lockdep_assert_held(&instance->lock);
	extension->interval = request->interval;
	extension->user_data = request->user_data;
	extension->count = request->count;
	extension->state = HWTIMER_EXTENSION;
	record->extension = index;
	record->flags = HWTIMER_RECORD_PERIODIC;
	if (request->flags & HWTIMER_FIXED_DELAY)
		record->flags |= HWTIMER_RECORD_FIXED_DELAY;
	instance->periodic++;
}

/* Frees the second record of a periodic timer that ends. */
void hwtimer_period_free_extension(struct hwtimer_instance *instance,
				   const struct hwtimer_record *record)
{
	lockdep_assert_held(&instance->lock);
	hwtimer_table_put(&instance->table, record->extension);
	instance->periodic--;
}

/**
 * hwtimer_period_get - what a timer of any kind was scheduled with
 * @instance: of which
 * @record: its
 */
struct hwtimer_period
hwtimer_period_get(const struct hwtimer_instance *instance,
		   const struct hwtimer_record *record)
{
	const struct hwtimer_record *extension;

	lockdep_assert_held(&instance->lock);
	if (likely(!hwtimer_record_periodic(record)))
		return (struct hwtimer_period){ .user_data =
							record->user_data };
	extension = extension_of(instance, record);
	return (struct hwtimer_period){
		.user_data = extension->user_data,
		.interval = extension->interval,
		.count = extension->count,
		.flags = record->flags & HWTIMER_RECORD_FIXED_DELAY ?
				 HWTIMER_FIXED_DELAY :
				 0,
	};
}

/**
 * hwtimer_period_end - the event of a periodic timer that waits is its last
 * @instance: of which
 * @record: of a periodic timer that has expired
 * @now: ns on the instance's clock; what becomes due later does not count
 */
void hwtimer_period_end(struct hwtimer_instance *instance,
			struct hwtimer_record *record, u64 now)
{
	lockdep_assert_held(&instance->lock);
	extension_of(instance, record)->count =
		hwtimer_period_expirations(instance, record, now);
	record->flags |= HWTIMER_RECORD_ENDING;
	hwtimer_period_rests_no_more(instance, record);
}

/**
 * hwtimer_period_survey - count a timer in instance->stopping.resting if it belongs there
 * @instance: stopped; its lock and its harvest mutex are held
 * @record: of a timer of any kind, not counted yet
 *
 * What counts is a periodic timer whose event waits and is not its last. As nothing
 * expires after STOP, that is certain: hwtimer_period_rearm() will let such a timer
 * go on, and no other. With the harvest mutex, no event is just being read.
 */
void hwtimer_period_survey(struct hwtimer_instance *instance,
			   struct hwtimer_record *record)
{
	u32 count;

	lockdep_assert_held(&instance->lock);
	lockdep_assert_held(&instance->harvest);
	if (record->state != HWTIMER_EXPIRED ||
	    !hwtimer_record_periodic(record) ||
	    record->flags & HWTIMER_RECORD_ENDING)
		return;
	count = extension_of(instance, record)->count;
	if (count && count == hwtimer_period_expirations(instance, record,
							 instance->stopping.at))
		return;
	record->flags |= HWTIMER_RECORD_RESTING;
	instance->stopping.resting++;
}

/**
 * hwtimer_period_rests_no_more - an event was taken, dropped, or has become the last
 * @instance: of which; its lock is held
 * @record: of a timer of any kind, which may rest
 */
void hwtimer_period_rests_no_more(struct hwtimer_instance *instance,
				  struct hwtimer_record *record)
{
	lockdep_assert_held(&instance->lock);
	if (!(record->flags & HWTIMER_RECORD_RESTING))
		return;
	record->flags &= ~HWTIMER_RECORD_RESTING;
	instance->stopping.resting--;
}

/**
 * hwtimer_period_expirations - how many deadlines of a timer have passed
 * @instance: of which
 * @record: of a periodic timer that has expired
 * @now: ns on the instance's clock
 *
 * Return: at least 1, at most what is left of its count.
 */
u32 hwtimer_period_expirations(const struct hwtimer_instance *instance,
			       const struct hwtimer_record *record, u64 now)
{
	const struct hwtimer_record *extension = extension_of(instance, record);
	u64 expirations = 1;

	lockdep_assert_held(&instance->lock);
	/*
	 * Nothing expires after STOP, as often as it may be periodic; and what was due
	 * by then stays so, whatever the clock is set to later.
	 */
	if (instance->stopped)
		now = instance->stopping.at;
	/* A clock may have been set back since it expired. */
	if (!(record->flags & HWTIMER_RECORD_FIXED_DELAY) &&
	    now > record->deadline)
		expirations +=
			div64_u64(now - record->deadline, extension->interval);
	return min_t(u64, expirations, extension->count ?: U32_MAX);
}

/* The deadline after @expirations of a timer; saturates. */
static u64 next_deadline(const struct hwtimer_record *record, u64 interval,
			 u32 expirations, u64 now)
{
	u64 from = record->deadline;
	u64 deadline;

	if (record->flags & HWTIMER_RECORD_FIXED_DELAY)
		from = now;
	if (check_mul_overflow(interval, (u64)expirations, &deadline) ||
	    check_add_overflow(deadline, from, &deadline) ||
	    deadline > KTIME_MAX)
		return HWTIMER_NEVER;
	return deadline;
}

/**
 * hwtimer_period_rearm - let a periodic timer go on
 * @instance: of which
 * @index: of its record; its event was taken, and is out of the queue
 * @expirations: that the event told of
 * @now: when it was taken, ns on the instance's clock
 *
 * Memory for its entry is reserved as long as there are periodic timers. In a
 * stopped instance it becomes pending, too, so that STOP can hand it back.
 *
 * Return: false if that was its last event: it has to be freed.
 */
bool hwtimer_period_rearm(struct hwtimer_instance *instance, u32 index,
			  u32 expirations, u64 now)
{
	struct hwtimer_record *record =
		hwtimer_table_record(&instance->table, index);
	struct hwtimer_record *extension;

	lockdep_assert_held(&instance->lock);
	if (!hwtimer_record_periodic(record) ||
	    record->flags & HWTIMER_RECORD_ENDING)
		return false;
	hwtimer_period_rests_no_more(instance, record);
	extension = extension_of(instance, record);
	if (extension->count) {
		extension->count -= expirations;
		if (!extension->count)
			return false;
	}
	record->deadline =
		next_deadline(record, extension->interval, expirations, now);
	record->state = HWTIMER_PENDING;
	hwtimer_wheel_add(&instance->wheel, record, index);
	instance->stats.pending++;
	instance->stats.rearmed++;
	if (trace_hwtimer_rearm_enabled())
		hwtimer_trace_rearm(instance, index);
	return true;
}
