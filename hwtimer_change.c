// SPDX-License-Identifier: GPL-2.0
/*
 * Changes timers, and ends those that HWTIMER_REARM makes anew; see hwtimer_change.h.
 *
 * A pending timer keeps its record, whatever changes. A timer that is not pending ends, and
 * the caller then makes another one, with another id.
 *
 * All checks come before the first change, so that a refused request changes nothing.
 */
#include "hwtimer_change.h"
#include "hwtimer_op.h"
#include "hwtimer_period.h"

/* Whether a timer would have more slack than interval: its new ones, or those it has. */
static bool slack_too_long(const struct hwtimer_instance *instance,
			   const struct hwtimer_record *record,
			   const struct hwtimer_request *request, u32 sets)
{
	u64 interval = hwtimer_period_interval(instance, record);
	u64 slack = hwtimer_wheel_slack(&instance->wheel, record->align);

	if (sets & HWTIMER_SET_INTERVAL)
		interval = request->interval;
	if (sets & HWTIMER_SET_SLACK)
		slack = request->slack;
	return interval && slack > interval;
}

/* Gives a pending timer what the request says, and files it anew if its tick may change. */
static void change(struct hwtimer_instance *instance,
		   struct hwtimer_record *record,
		   const struct hwtimer_request *request, u32 sets,
		   struct hwtimer_moment *moment)
{
	u64 deadline =
		hwtimer_op_deadline(request->time, request->flags, moment);
	u32 index = lower_32_bits(request->id);
	u8 align = record->align;

	if (sets & HWTIMER_SET_SLACK)
		align = hwtimer_wheel_align(&instance->wheel, request->slack);
	hwtimer_period_change(instance, record, request, sets);
	if (align == record->align) {
		hwtimer_wheel_move(&instance->wheel, record, index, deadline);
		return;
	}
	/* With less slack, a later deadline may mean an earlier tick. */
	hwtimer_wheel_remove(&instance->wheel, record);
	record->align = align;
	record->deadline = deadline;
	hwtimer_wheel_add(&instance->wheel, record, index);
}

static int change_checked(struct hwtimer_instance *instance,
			  struct hwtimer_record *record,
			  const struct hwtimer_request *request,
			  struct hwtimer_moment *moment)
{
	u32 sets = hwtimer_change_sets(request->flags);

	if (sets & (HWTIMER_SET_INTERVAL | HWTIMER_SET_SLACK) &&
	    slack_too_long(instance, record, request, sets))
		return -EDOM;
	if (request->interval && !hwtimer_record_periodic(record) &&
	    !hwtimer_table_spare(&instance->table))
		return -ENOMEM;
	change(instance, record, request, sets, moment);
	trace_hwtimer_reschedule(instance, lower_32_bits(request->id));
	instance->stats.rescheduled++;
	return 0;
}

/**
 * hwtimer_change_pending - RESCHEDULE a timer and set its fields, if it is pending
 * @instance: the instance; its lock is held, and memory for the request is reserved
 * @request: the request; valid
 * @moment: this hold of the instance's lock
 * @result: out, if this returns true: 0, -ESHUTDOWN, -EDOM or -ENOMEM, as struct
 *	hwtimer_request says
 *
 * Return: false if the timer is not pending, and nothing has changed.
 */
bool hwtimer_change_pending(struct hwtimer_instance *instance,
			    const struct hwtimer_request *request,
			    struct hwtimer_moment *moment, int *result)
{
	struct hwtimer_record *record;

	lockdep_assert_held(&instance->lock);
	*result = -ESHUTDOWN;
	if (instance->stopped)
		return true;
	record = hwtimer_table_find(&instance->table, request->id);
	if (!record || record->state != HWTIMER_PENDING)
		return false;
	*result = change_checked(instance, record, request, moment);
	return true;
}

/*
 * Whether there is room for the timer that the request makes. @ended: the record of the
 * timer that it ends; NULL: none. Returns 0 or an error.
 */
static int room_for(struct hwtimer_instance *instance,
		    const struct hwtimer_request *request,
		    const struct hwtimer_record *ended)
{
	u32 spare = hwtimer_table_spare(&instance->table);
	u32 needed = request->interval ? 2 : 1;

	if (ended)
		spare += hwtimer_period_spare(instance, ended);
	else if (!hwtimer_op_room(instance, 1))
		return hwtimer_op_refusal(instance);
	return spare < needed ? -ENOMEM : 0;
}

/**
 * hwtimer_change_end - end a timer that is not pending, before it is made anew
 * @instance: the instance, which is not stopped; its lock is held, and memory for the new
 *	timer is reserved
 * @request: the request, with HWTIMER_REARM; valid
 * @moment: this hold of the instance's lock
 *
 * Drops the timer's event.
 *
 * Return: 0: to schedule the new timer now succeeds; -ENOSPC, -ENOMEM: nothing has changed.
 */
int hwtimer_change_end(struct hwtimer_instance *instance,
		       const struct hwtimer_request *request)
{
	struct hwtimer_record *record =
		hwtimer_table_find(&instance->table, request->id);
	int err = room_for(instance, request, record);

	lockdep_assert_held(&instance->lock);
	if (!err && record)
		hwtimer_events_drop(instance, record,
				    lower_32_bits(request->id));
	return err;
}
