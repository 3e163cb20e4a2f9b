// SPDX-License-Identifier: GPL-2.0
/*
 * What RESCHEDULE does beyond another deadline: changes any property of a pending timer, and
 * ends the timer that HWTIMER_REQ_REARM makes anew.
 *
 * A pending timer keeps its record, whatever changes. A timer that is not pending ends, and
 * the caller then makes another one, with another id.
 *
 * All checks come before the first change, so that a refused request changes nothing.
 */
#include "timers/op.h"

/* Gives a pending timer what the request says, and files it anew if its tick may change. */
static void change(struct hwtimer_instance *instance,
		   struct hwtimer_record *record,
		   const struct hwtimer_request *request,
		   struct hwtimer_hold *hold)
{
	u64 deadline = hwtimer_op_deadline(request->time, request->flags, hold);
	u8 align = hwtimer_wheel_align(&instance->wheel, request->slack);
	u32 index = lower_32_bits(request->id);

	hwtimer_period_change(instance, record, request);
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

/**
 * hwtimer_change_pending - RESCHEDULE a timer and set all its fields, if it is pending
 * @instance: the instance; its lock is held, and memory for the request is reserved
 * @request: the request; valid
 * @hold: this hold of the instance's lock
 *
 * Return: 0, -ESHUTDOWN, -ENOENT, -EALREADY or -ENOMEM, as struct hwtimer_request says.
 */
int hwtimer_change_pending(struct hwtimer_instance *instance,
			   const struct hwtimer_request *request,
			   struct hwtimer_hold *hold)
{
	struct hwtimer_record *record;
	int err = hwtimer_op_find_pending(instance, request->id, &record);

	lockdep_assert_held(&instance->lock);
	if (err)
		return err;
	if (request->interval && !hwtimer_record_periodic(record) &&
	    !hwtimer_table_spare(&instance->table))
		return -ENOMEM;
	change(instance, record, request, hold);
	trace_hwtimer_reschedule(instance, lower_32_bits(request->id));
	instance->stats.rescheduled++;
	return 0;
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
 * @request: the request, with HWTIMER_REQ_REARM; valid
 *
 * Drops the timer's event.
 *
 * Return: 0: to schedule the new timer now succeeds; -ENOENT, -ENOSPC, -ENOMEM: nothing has
 * changed.
 */
int hwtimer_change_end(struct hwtimer_instance *instance,
		       const struct hwtimer_request *request)
{
	struct hwtimer_record *record =
		hwtimer_table_find(&instance->table, request->id);
	int err;

	lockdep_assert_held(&instance->lock);
	if (!record && !(request->flags & HWTIMER_REQ_CREATE))
		return -ENOENT;
	err = room_for(instance, request, record);
	if (!err && record)
		hwtimer_events_drop(instance, record,
				    lower_32_bits(request->id));
	return err;
}
