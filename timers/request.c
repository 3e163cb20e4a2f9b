// SPDX-License-Identifier: GPL-2.0
/*
 * Requests: operations of mixed kinds, with all options, which struct hwtimer_request
 * describes. Single calls have one, and SUBMIT has an array.
 */
#include <linux/ktime.h>

#include "timers/hold.h"
#include "timers/op.h"
#include "timers/timers.h"

#define REQUEST_FLAGS                                                          \
	(HWTIMER_REQ_ABSTIME | HWTIMER_REQ_DISCARD | HWTIMER_REQ_FIXED_DELAY | \
	 HWTIMER_REQ_REARM | HWTIMER_REQ_CREATE | HWTIMER_REQ_SET)

/* Flags of a RESCHEDULE that gives the timer all fields of the request */
#define CHANGE_FLAGS (HWTIMER_REQ_SET | HWTIMER_REQ_REARM)

/* Whether a request may make a new timer, also if there is none yet. */
static bool request_creates(const struct hwtimer_request *request)
{
	return hwtimer_request_makes_id(request) &&
	       (request->op == HWTIMER_OP_SCHEDULE ||
		request->flags & HWTIMER_REQ_CREATE);
}

/* Whether a request gives its timer an interval and a slack, too. */
static bool request_sets(const struct hwtimer_request *request)
{
	return request->op == HWTIMER_OP_SCHEDULE ||
	       (request->op == HWTIMER_OP_RESCHEDULE &&
		request->flags & CHANGE_FLAGS);
}

/*
 * Whether a request is valid, and is the SCHEDULE of one expiration without slack, or a
 * CANCEL without flags. Most requests are. One test of all fields that must be 0 is
 * cheaper than a test of each.
 */
static __always_inline bool
request_plain(const struct hwtimer_request *request,
	      const struct hwtimer_settings *settings)
{
	u64 rest = request->reserved | (request->flags & ~HWTIMER_REQ_ABSTIME);

	if (request->op == HWTIMER_OP_SCHEDULE)
		return !(rest | request->interval | request->slack) &&
		       (request->flags || !settings->clock->settable);
	return !rest && request->op == HWTIMER_OP_CANCEL;
}

/**
 * hwtimer_request_check - check a request, without regard to the timers of an instance
 * @settings: the settings of the instance; constant, or a copy
 * @request: the request; its result is ignored
 *
 * Return: 0 or -EINVAL, as struct hwtimer_request says. Any context.
 */
int hwtimer_request_check(const struct hwtimer_settings *settings,
			  const struct hwtimer_request *request)
{
	bool sets = request_sets(request);
	u32 flags = request->flags;

	if (request->reserved || flags & ~REQUEST_FLAGS)
		return -EINVAL;
	if (request->op == HWTIMER_OP_CANCEL)
		return 0;
	if (request->op != HWTIMER_OP_SCHEDULE &&
	    request->op != HWTIMER_OP_RESCHEDULE)
		return -EINVAL;
	/* If the clock is set, nothing says what a delay would mean. */
	if (settings->clock->settable &&
	    (!(flags & HWTIMER_REQ_ABSTIME) ||
	     (sets && request->interval && flags & HWTIMER_REQ_FIXED_DELAY)))
		return -EINVAL;
	if (sets &&
	    (request->interval > KTIME_MAX || request->slack > KTIME_MAX))
		return -EINVAL;
	return 0;
}

/* Takes a free record for a timer within the limit. Returns 0 or -ENOMEM. */
static __always_inline int record_get(struct hwtimer_instance *instance,
				      bool periodic, u32 *index)
{
	/* If CANCEL made this room, the record it freed may have no generation left. */
	if (unlikely(periodic) && hwtimer_table_spare(&instance->table) < 2)
		return -ENOMEM;
	*index = hwtimer_table_get(&instance->table);
	return likely(*index != HWTIMER_NO_RECORD) ? 0 : -ENOMEM;
}

static __always_inline int request_schedule(struct hwtimer_instance *instance,
					    struct hwtimer_request *request,
					    struct hwtimer_hold *hold)
{
	struct hwtimer_record *record;
	u32 index;
	int err;

	if (unlikely(!hwtimer_op_room(instance, 1)))
		return hwtimer_op_refusal(instance);
	err = record_get(instance, request->interval, &index);
	if (unlikely(err))
		return err;
	record = hwtimer_table_record(&instance->table, index);
	hwtimer_op_fill(record,
			hwtimer_op_deadline(request->time, request->flags,
					    hold),
			request->user_data);
	if (unlikely(request->slack))
		record->align =
			hwtimer_wheel_align(&instance->wheel, request->slack);
	if (unlikely(request->interval))
		hwtimer_period_begin(instance, record, request);
	hwtimer_wheel_add(&instance->wheel, record, index);
	request->id = hwtimer_table_id(record, index);
	hwtimer_op_count_filed(instance, 1);
	trace_hwtimer_schedule(instance, index);
	return 0;
}

/* request_schedule() as a function, for the rare case. */
static noinline int request_schedule_rare(struct hwtimer_instance *instance,
					  struct hwtimer_request *request,
					  struct hwtimer_hold *hold)
{
	return request_schedule(instance, request, hold);
}

/*
 * RESCHEDULE that sets all fields. With HWTIMER_REQ_REARM, a timer that is not pending ends, and
 * the request makes a new one.
 */
static noinline int request_change(struct hwtimer_instance *instance,
				   struct hwtimer_request *request,
				   struct hwtimer_hold *hold)
{
	int err = hwtimer_change_pending(instance, request, hold);

	if (!(request->flags & HWTIMER_REQ_REARM) ||
	    (err != -ENOENT && err != -EALREADY))
		return err;
	err = hwtimer_change_end(instance, request);
	if (!err)
		err = request_schedule_rare(instance, request, hold);
	if (!err)
		instance->stats.rescheduled++;
	return err;
}

static __always_inline int request_do(struct hwtimer_instance *instance,
				      struct hwtimer_request *request,
				      struct hwtimer_hold *hold)
{
	switch (request->op) {
	case HWTIMER_OP_SCHEDULE:
		return request_schedule(instance, request, hold);
	case HWTIMER_OP_CANCEL:
		return hwtimer_op_cancel(instance, request->id, request->flags,
					 hold);
	default:
		if (unlikely(request->flags & CHANGE_FLAGS))
			return request_change(instance, request, hold);
		return hwtimer_op_reschedule(instance, request->id,
					     request->time, request->flags,
					     hold);
	}
}

static __always_inline void
request_prefetch(const struct hwtimer_instance *instance,
		 const struct hwtimer_request *request)
{
	if (request->op != HWTIMER_OP_SCHEDULE && !request->result)
		hwtimer_table_prefetch(&instance->table, request->id);
}

/* Does the requests whose result is 0. Always inline: a single request needs no loop. */
static __always_inline void requests_run(struct hwtimer_instance *instance,
					 const struct hwtimer_bulk *bulk,
					 void *operations, u32 count,
					 struct hwtimer_hold *hold)
{
	struct hwtimer_request *requests = operations;
	/* A single request uses its record at once, so a prefetch would gain nothing. */
	u32 ahead = count > 1 ? min_t(u32, count, HWTIMER_AHEAD) : 0;
	u32 i;

	for (i = 0; i < ahead; i++)
		request_prefetch(instance, &requests[i]);
	for (i = 0; i < count; i++) {
		if (i + HWTIMER_AHEAD < count)
			request_prefetch(instance,
					 &requests[i + HWTIMER_AHEAD]);
		if (!requests[i].result)
			requests[i].result =
				request_do(instance, &requests[i], hold);
	}
}

/* Adds the memory that a valid request may need. */
static void request_demand(struct hwtimer_demand *demand,
			   const struct hwtimer_request *request)
{
	bool adds = hwtimer_request_makes_id(request);

	demand->timers += adds;
	demand->periodic += adds && request->interval;
	demand->moves += request->op == HWTIMER_OP_RESCHEDULE;
	demand->extensions += request->op == HWTIMER_OP_RESCHEDULE &&
			      request_sets(request) && request->interval;
}

/*
 * Sets each result, 0 if the request is valid. Adds up what the valid requests need. Always returns
 * 0: requests are refused one by one. Only a bulk can be refused as a whole.
 */
static __always_inline int
requests_check(const struct hwtimer_settings *settings,
	       const struct hwtimer_bulk *bulk, void *operations, u32 count,
	       struct hwtimer_demand *demand)
{
	struct hwtimer_request *request = operations;
	u32 schedules = 0;

	*demand = (struct hwtimer_demand){};
	for (; count; count--, request++) {
		if (likely(request_plain(request, settings))) {
			request->result = 0;
			schedules += request->op == HWTIMER_OP_SCHEDULE;
			continue;
		}
		request->result = hwtimer_request_check(settings, request);
		if (!request->result)
			request_demand(demand, request);
	}
	demand->timers += schedules;
	return 0;
}

static bool requests_creates(const struct hwtimer_bulk *bulk,
			     const void *operations, u32 count)
{
	const struct hwtimer_request *request = operations;

	for (; count; count--, request++)
		if (!request->result && request_creates(request))
			return true;
	return false;
}

static void requests_refuse(const struct hwtimer_bulk *bulk, void *operations,
			    u32 count, int err, int other)
{
	struct hwtimer_request *request = operations;

	for (; count; count--, request++)
		if (!request->result)
			request->result = request_creates(request) ? err :
								     other;
}

static const struct hwtimer_format requests_format = {
	.size = sizeof(struct hwtimer_request),
	.result_size = sizeof(struct hwtimer_request),
	.check = requests_check,
	.creates = requests_creates,
	.refuse = requests_refuse,
	.run = requests_run,
};

/**
 * hwtimer_request_run - do requests, in their order
 * @instance: the instance; neither its mutex setup nor its lock is held
 * @requests: in: the requests, unchecked; out: their results, and the ids of new timers
 * @count: number of requests, at most HWTIMER_HOLD
 *
 * May sleep.
 */
void hwtimer_request_run(struct hwtimer_instance *instance,
			 struct hwtimer_request *requests, u32 count)
{
	hwtimer_hold_run(&requests_format, instance, NULL, requests, count);
}

/**
 * hwtimer_request_run_one - do a request, as hwtimer_request_run() does
 * @instance: the instance; neither its mutex setup nor its lock is held
 * @request: in: the request, unchecked; out: its result, and the id of a new timer
 *
 * May sleep.
 */
void hwtimer_request_run_one(struct hwtimer_instance *instance,
			     struct hwtimer_request *request)
{
	hwtimer_hold_run(&requests_format, instance, NULL, request, 1);
}
