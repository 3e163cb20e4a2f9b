// SPDX-License-Identifier: GPL-2.0
/*
 * Makes timers periodic, and makes them pending again; see events/events.h.
 *
 * While the event of a periodic timer waits, the timer rests: it is not in the wheel. So
 * it never has more than one event, and a slow reader costs nothing. The number of
 * expirations is computed from the deadlines when the event is delivered.
 *
 * Callers of all these functions hold the instance's lock.
 */
#include <linux/math64.h>
#include <linux/overflow.h>

#include "hwtimer.h"
#include "trace.h"

/* The second record of a periodic timer. */
static struct hwtimer_record *
extension_of(const struct hwtimer_instance *instance,
	     const struct hwtimer_record *record)
{
	return hwtimer_table_record(&instance->table, record->extension);
}

static void extension_fill(const struct hwtimer_instance *instance,
			   struct hwtimer_record *record,
			   const struct hwtimer_request *request)
{
	struct hwtimer_record *extension = extension_of(instance, record);

	extension->interval = request->interval;
	extension->user_data = request->user_data;
	extension->count = request->expirations_max;
	record->flags = HWTIMER_RECORD_PERIODIC;
	if (request->flags & HWTIMER_REQ_FIXED_DELAY)
		record->flags |= HWTIMER_RECORD_FIXED_DELAY;
}

/**
 * hwtimer_period_begin - make a timer periodic
 * @instance: the instance; its lock is held, and its table has a spare record
 * @record: the timer's record
 * @request: the request that schedules the timer, with an interval
 *
 * Takes a second record, and moves the user_data there.
 */
void hwtimer_period_begin(struct hwtimer_instance *instance,
			  struct hwtimer_record *record,
			  const struct hwtimer_request *request)
{
	u32 index = hwtimer_table_get(&instance->table);
	struct hwtimer_record *extension =
		hwtimer_table_record(&instance->table, index);

	lockdep_assert_held(&instance->lock);
	hwtimer_record_become(extension, HWTIMER_EXTENSION);
	record->extension = index;
	extension_fill(instance, record, request);
	instance->periodic++;
}

static void extension_free(struct hwtimer_instance *instance,
			   const struct hwtimer_record *record)
{
	hwtimer_table_put(&instance->table, record->extension);
	instance->periodic--;
	/* The chunks that were reserved for the timer are not needed any more. */
	hwtimer_shrink_trim(instance);
}

/**
 * hwtimer_period_free - free a timer of any kind that ends
 * @instance: the instance; its lock is held
 * @index: index of the timer's record, which is neither in the wheel nor in the queue
 */
void hwtimer_period_free(struct hwtimer_instance *instance, u32 index)
{
	struct hwtimer_record *record =
		hwtimer_table_record(&instance->table, index);

	lockdep_assert_held(&instance->lock);
	if (unlikely(hwtimer_record_periodic(record)))
		extension_free(instance, record);
	hwtimer_table_put_record(&instance->table, record, index);
}

/**
 * hwtimer_period_spare - count the records that the end of a timer makes free
 * @instance: the instance; its lock is held
 * @record: the record of a timer of any kind
 *
 * Return: the number of records, without those whose generations are spent.
 */
u32 hwtimer_period_spare(const struct hwtimer_instance *instance,
			 const struct hwtimer_record *record)
{
	u32 spare = record->generation != HWTIMER_GENERATION_MAX;

	lockdep_assert_held(&instance->lock);
	if (hwtimer_record_periodic(record))
		spare += extension_of(instance, record)->generation !=
			 HWTIMER_GENERATION_MAX;
	return spare;
}

/**
 * hwtimer_period_change - give a pending timer another interval and user_data
 * @instance: the instance; its lock is held, and its table has a spare record if the timer
 *	becomes periodic
 * @record: the timer's record, in state HWTIMER_PENDING
 * @request: the new interval, expirations_max, user_data and HWTIMER_REQ_FIXED_DELAY
 */
void hwtimer_period_change(struct hwtimer_instance *instance,
			   struct hwtimer_record *record,
			   const struct hwtimer_request *request)
{
	bool periodic = hwtimer_record_periodic(record);

	lockdep_assert_held(&instance->lock);
	if (request->interval) {
		if (periodic)
			extension_fill(instance, record, request);
		else
			hwtimer_period_begin(instance, record, request);
		return;
	}
	if (periodic)
		extension_free(instance, record);
	record->flags = 0;
	record->user_data = request->user_data;
}

static void describe_deadline(struct hwtimer_timer *timer, u64 deadline,
			      u64 now)
{
	timer->deadline = min_t(u64, deadline, HWTIMER_NEVER);
	timer->remaining = timer->deadline == HWTIMER_NEVER ?
				   HWTIMER_NEVER :
				   timer->deadline - min(timer->deadline, now);
}

/**
 * hwtimer_period_describe - say what a timer of any kind is
 * @instance: the instance; its lock is held
 * @index: index of the timer's record, which is pending or has expired
 * @now: the time from which the remaining time counts, ns on the instance's clock
 * @timer: out: the timer
 */
void hwtimer_period_describe(const struct hwtimer_instance *instance, u32 index,
			     u64 now, struct hwtimer_timer *timer)
{
	const struct hwtimer_record *record =
		hwtimer_table_record(&instance->table, index);
	bool expired = record->state == HWTIMER_EXPIRED;
	const struct hwtimer_record *extension;

	lockdep_assert_held(&instance->lock);
	*timer = (struct hwtimer_timer){
		.id = hwtimer_table_id(record, index),
		.user_data = record->user_data,
		.slack = hwtimer_wheel_slack(&instance->wheel, record->align),
		.state = expired ? HWTIMER_STATE_EXPIRED :
				   HWTIMER_STATE_PENDING,
		.expirations = expired,
	};
	describe_deadline(timer, record->deadline, now);
	if (likely(!hwtimer_record_periodic(record)))
		return;
	extension = extension_of(instance, record);
	timer->user_data = extension->user_data;
	timer->interval = extension->interval;
	timer->expirations_left = extension->count;
	if (record->flags & HWTIMER_RECORD_FIXED_DELAY)
		timer->flags = HWTIMER_REQ_FIXED_DELAY;
	if (expired)
		timer->expirations =
			hwtimer_period_expirations(instance, record, now);
}

/**
 * hwtimer_period_end - make the event of a periodic timer its last
 * @instance: the instance; its lock is held
 * @record: the record of a periodic timer whose event waits
 * @now: the time, ns on the instance's clock; deadlines after it do not count as
 *	expirations
 *
 * The event reports as many expirations as now, even if the clock is set back before it is
 * read: those after them may have been handed back.
 */
void hwtimer_period_end(struct hwtimer_instance *instance,
			struct hwtimer_record *record, u64 now)
{
	u32 expirations = hwtimer_period_expirations(instance, record, now);

	lockdep_assert_held(&instance->lock);
	extension_of(instance, record)->count = expirations;
	record->told = expirations;
	record->flags |= HWTIMER_RECORD_ENDING;
}

/**
 * hwtimer_period_expirations - count the deadlines of a timer that have passed
 * @instance: the instance; its lock is held
 * @record: the record of a periodic timer that has expired
 * @now: the time, ns on the instance's clock
 *
 * Return: the number of deadlines: at least 1, at most the expirations that the timer has
 * left. It is 1 with HWTIMER_REQ_FIXED_DELAY. If the event was read already, what it said; after a
 * rewind, at least that.
 */
u32 hwtimer_period_expirations(const struct hwtimer_instance *instance,
			       const struct hwtimer_record *record, u64 now)
{
	const struct hwtimer_record *extension = extension_of(instance, record);
	u64 expirations = 1;

	lockdep_assert_held(&instance->lock);
	if (record->flags & HWTIMER_RECORD_READ)
		return record->told;
	/*
	 * Deadlines after the stop do not count. Those that had passed before it do, even
	 * if the clock is set back later.
	 */
	if (hwtimer_instance_stopped(instance))
		now = instance->stopped_at;
	/* The deadline is later than @now if the clock was set back since. */
	if (!(record->flags & HWTIMER_RECORD_FIXED_DELAY) &&
	    now > record->deadline)
		expirations +=
			div64_u64(now - record->deadline, extension->interval);
	/* An event does not take back what it has said, or what CANCEL_ALL relies on. */
	expirations = max_t(u64, expirations, record->told);
	return min_t(u64, expirations, extension->count ?: U32_MAX);
}

/*
 * The deadline of a timer after @expirations expirations; HWTIMER_TICK_NONE if it is beyond
 * the clock's range.
 */
static u64 next_deadline(const struct hwtimer_record *record, u64 interval,
			 u32 expirations, u64 now)
{
	u64 from = record->deadline;
	u64 deadline;

	if (record->flags & HWTIMER_RECORD_FIXED_DELAY)
		from = now;
	if (check_mul_overflow(interval, (u64)expirations, &deadline) ||
	    check_add_overflow(deadline, from, &deadline) ||
	    deadline >= HWTIMER_NEVER)
		return HWTIMER_TICK_NONE;
	return deadline;
}

/**
 * hwtimer_period_describe_next - say what a periodic timer will be after its event
 * @instance: the instance; its lock is held
 * @index: index of the record of a periodic timer that has expired
 * @now: the time from which the remaining time counts, and the interval with
 *	HWTIMER_REQ_FIXED_DELAY, ns on the instance's clock
 * @timer: out: the timer
 *
 * Return: false if the event is the timer's last.
 */
bool hwtimer_period_describe_next(const struct hwtimer_instance *instance,
				  u32 index, u64 now,
				  struct hwtimer_timer *timer)
{
	const struct hwtimer_record *record =
		hwtimer_table_record(&instance->table, index);

	lockdep_assert_held(&instance->lock);
	hwtimer_period_describe(instance, index, now, timer);
	if (timer->expirations_left == timer->expirations)
		return false;
	if (timer->expirations_left)
		timer->expirations_left -= timer->expirations;
	describe_deadline(timer,
			  next_deadline(record, timer->interval,
					timer->expirations, now),
			  now);
	timer->state = HWTIMER_STATE_PENDING;
	timer->expirations = 0;
	return true;
}

/**
 * hwtimer_period_rearm - make a periodic timer pending again
 * @instance: the instance; its lock is held
 * @index: index of the record of a periodic timer whose event was delivered
 * @expirations: number of expirations in the event
 * @now: the time from which the interval counts with HWTIMER_REQ_FIXED_DELAY, ns on the
 *	instance's clock
 *
 * Moves the wheel to the clock if the timer is pending again. Needs no new memory:
 * hwtimer_supply_reserve() keeps chunks for all periodic timers. In a stopped instance the timer
 * becomes pending, too, so that CANCEL_ALL can hand it back.
 *
 * Return: false if this was the timer's last event; then the caller frees it.
 */
bool hwtimer_period_rearm(struct hwtimer_instance *instance, u32 index,
			  u32 expirations, u64 now)
{
	struct hwtimer_record *record =
		hwtimer_table_record(&instance->table, index);
	struct hwtimer_record *extension;

	lockdep_assert_held(&instance->lock);
	if (record->flags & HWTIMER_RECORD_ENDING)
		return false;
	extension = extension_of(instance, record);
	if (extension->count) {
		extension->count -= expirations;
		if (!extension->count)
			return false;
	}
	record->deadline =
		next_deadline(record, extension->interval, expirations, now);
	hwtimer_record_become(record, HWTIMER_PENDING);
	if (unlikely(instance->wheel.rewinds ||
		     hwtimer_instance_behind(instance)))
		hwtimer_wakeup_follow(instance, now);
	hwtimer_wheel_add(&instance->wheel, record, index);
	instance->stats.pending++;
	instance->stats.rearmed++;
	trace_hwtimer_rearm(instance, index);
	return true;
}
