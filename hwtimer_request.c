// SPDX-License-Identifier: GPL-2.0
/*
 * SCHEDULE, CANCEL and RESCHEDULE, one or many at a time. Requests come from
 * hwtimer_ioctl.c, which has copied them into the kernel: nothing here changes
 * behind anybody's back.
 */
#include <linux/ktime.h>
#include <linux/prefetch.h>
#include <linux/sched.h>

#include "hwtimer.h"

/* Requests between the prefetch of a record and its use. */
#define HWTIMER_AHEAD 8

/*
 * Dead entries that are let be, beyond as many as there are timers. Beyond
 * those a compaction begins; before one pass is over, at most
 * HWTIMER_DEAD_DURING more can come (see compaction_steps()).
 */
#define HWTIMER_DEAD_SPARED 32768
#define HWTIMER_DEAD_DURING 16384

static bool flags_valid(const struct hwtimer_request *request)
{
	switch (request->op) {
	case HWTIMER_OP_SCHEDULE:
	case HWTIMER_OP_RESCHEDULE:
		return !(request->flags & ~HWTIMER_ABSOLUTE);
	case HWTIMER_OP_CANCEL:
		return !(request->flags & ~HWTIMER_DISCARD);
	default:
		return false;
	}
}

static bool fields_valid(const struct hwtimer_request *request)
{
	if (request->interval || request->slack || request->count ||
	    request->reserved)
		return false;
	switch (request->op) {
	case HWTIMER_OP_SCHEDULE:
		return !request->id;
	case HWTIMER_OP_RESCHEDULE:
		return !request->user_data;
	case HWTIMER_OP_CANCEL:
		return !request->user_data && !request->time;
	default:
		return false;
	}
}

/* The absolute deadline that a request means; see struct hwtimer_request. */
static u64 request_deadline(const struct hwtimer_request *request, u64 now)
{
	s64 time = request->time;

	if (request->flags & HWTIMER_ABSOLUTE) {
		if (request->time == HWTIMER_NEVER)
			return HWTIMER_NEVER;
		return max_t(s64, time, 0);
	}
	if (time > KTIME_MAX - (s64)now)
		return HWTIMER_NEVER;
	return now + max_t(s64, time, 0);
}

static int request_schedule(struct hwtimer_instance *instance,
			    struct hwtimer_request *request, u64 now)
{
	struct hwtimer_record *record;
	u32 index;

	if (instance->stopped)
		return -ESHUTDOWN;
	if (instance->table.used >= instance->settings.timers)
		return -ENOSPC;
	/* The last one that ended may have spent its record's generations. */
	if (!hwtimer_table_spare(&instance->table))
		return -ENOMEM;
	index = hwtimer_table_get(&instance->table);
	record = hwtimer_table_record(&instance->table, index);
	record->deadline = request_deadline(request, now);
	record->user_data = request->user_data;
	record->state = HWTIMER_PENDING;
	hwtimer_wheel_add(&instance->wheel, index);
	request->id = hwtimer_table_id(record, index);
	instance->stats.scheduled++;
	instance->stats.pending++;
	return 0;
}

static int request_discard(struct hwtimer_instance *instance,
			   struct hwtimer_record *record)
{
	record->state = HWTIMER_DISCARDED;
	instance->stats.ready--;
	instance->stats.discarded++;
	instance->discards++;
	return 0;
}

static int request_cancel(struct hwtimer_instance *instance,
			  const struct hwtimer_request *request)
{
	struct hwtimer_record *record =
		hwtimer_table_find(&instance->table, request->id);

	if (!record)
		return -ENOENT;
	switch (record->state) {
	case HWTIMER_PENDING:
		hwtimer_wheel_remove(&instance->wheel, record);
		hwtimer_table_put(&instance->table, lower_32_bits(request->id));
		instance->stats.pending--;
		instance->stats.cancelled++;
		return 0;
	case HWTIMER_EXPIRED:
		if (request->flags & HWTIMER_DISCARD)
			return request_discard(instance, record);
		return -EALREADY;
	default:
		return -ENOENT;
	}
}

static int request_reschedule(struct hwtimer_instance *instance,
			      const struct hwtimer_request *request, u64 now)
{
	struct hwtimer_record *record;

	if (instance->stopped)
		return -ESHUTDOWN;
	record = hwtimer_table_find(&instance->table, request->id);
	if (!record)
		return -ENOENT;
	if (record->state == HWTIMER_EXPIRED)
		return -EALREADY;
	if (record->state != HWTIMER_PENDING)
		return -ENOENT;
	hwtimer_wheel_move(&instance->wheel, lower_32_bits(request->id),
			   request_deadline(request, now));
	instance->stats.rescheduled++;
	return 0;
}

static int request_run(struct hwtimer_instance *instance,
		       struct hwtimer_request *request, u64 now)
{
	switch (request->op) {
	case HWTIMER_OP_SCHEDULE:
		return request_schedule(instance, request, now);
	case HWTIMER_OP_CANCEL:
		return request_cancel(instance, request);
	default:
		return request_reschedule(instance, request, now);
	}
}

/* Starts to fetch the record that @request is about, if it names one. */
static void request_prefetch(const struct hwtimer_instance *instance,
			     const struct hwtimer_request *request)
{
	struct hwtimer_record *record;

	if (request->op == HWTIMER_OP_SCHEDULE || request->result)
		return;
	record = hwtimer_table_address(&instance->table, request->id);
	if (record)
		prefetchw(record);
}

static u64 instance_dead(const struct hwtimer_instance *instance)
{
	return instance->wheel.entries - instance->stats.pending;
}

static bool compaction_due(const struct hwtimer_instance *instance)
{
	return instance_dead(instance) >
	       instance->stats.pending + HWTIMER_DEAD_SPARED;
}

/*
 * How many steps of a compaction are due after @requests requests. Whoever
 * makes dead entries helps to remove them, in proportion: a pass looks at all
 * entries and buckets, so it is over after HWTIMER_DEAD_DURING requests.
 */
static u64 compaction_steps(const struct hwtimer_instance *instance,
			    u32 requests)
{
	u64 work = instance->wheel.entries + instance->wheel.mask;

	if (!instance->wheel.sweeping && !compaction_due(instance))
		return 0;
	return DIV_ROUND_UP_ULL(requests * (1 + work / HWTIMER_DEAD_DURING),
				HWTIMER_HOLD / 2);
}

static void instance_compact(struct hwtimer_instance *instance, u64 steps)
{
	bool more = true;

	while (more && steps--) {
		spin_lock(&instance->lock);
		hwtimer_wheel_compact(&instance->wheel,
				      compaction_due(instance));
		more = instance->wheel.sweeping;
		spin_unlock(&instance->lock);
		hwtimer_instance_trim(instance);
		cond_resched();
	}
}

/* Runs those of @requests whose result is 0. The lock is held, and let go. */
static void requests_run_locked(struct hwtimer_instance *instance,
				struct hwtimer_request *requests, u32 count)
	__releases(&instance->lock)
{
	u64 now = hwtimer_instance_now(instance);
	u64 steps;
	bool drained;
	u32 i;

	lockdep_assert_held(&instance->lock);
	for (i = 0; i < min_t(u32, count, HWTIMER_AHEAD); i++)
		request_prefetch(instance, &requests[i]);
	for (i = 0; i < count; i++) {
		if (i + HWTIMER_AHEAD < count)
			request_prefetch(instance,
					 &requests[i + HWTIMER_AHEAD]);
		if (!requests[i].result)
			requests[i].result =
				request_run(instance, &requests[i], now);
	}
	hwtimer_instance_rearm(instance, now);
	steps = compaction_steps(instance, count);
	drained = hwtimer_instance_drained(instance);
	spin_unlock(&instance->lock);

	if (drained)
		hwtimer_instance_hang_up(instance);
	instance_compact(instance, steps);
}

/* Without the memory for all requests at once, there may be enough for some. */
static void requests_run_singly(struct hwtimer_instance *instance,
				struct hwtimer_request *requests, u32 count)
{
	u32 i, timers, moves;

	for (i = 0; i < count; i++) {
		struct hwtimer_request *request = &requests[i];

		if (request->result)
			continue;
		timers = request->op == HWTIMER_OP_SCHEDULE;
		moves = request->op == HWTIMER_OP_RESCHEDULE;
		request->result =
			hwtimer_instance_reserve(instance, timers, moves);
		requests_run_locked(instance, request, 1);
	}
}

/**
 * hwtimer_request_run - do what requests ask for, in their order
 * @instance: for which
 * @requests: in: all but the results; out: results, and ids of new timers
 * @count: at most HWTIMER_HOLD
 *
 * May sleep.
 */
void hwtimer_request_run(struct hwtimer_instance *instance,
			 struct hwtimer_request *requests, u32 count)
{
	u32 i, timers = 0, moves = 0;
	int err = 0;

	hwtimer_harvest_discarded(instance);
	for (i = 0; i < count; i++) {
		struct hwtimer_request *request = &requests[i];

		request->result =
			flags_valid(request) && fields_valid(request) ? 0 :
									-EINVAL;
		timers += !request->result &&
			  request->op == HWTIMER_OP_SCHEDULE;
		moves += !request->result &&
			 request->op == HWTIMER_OP_RESCHEDULE;
	}
	if (timers || moves)
		err = hwtimer_instance_start(instance,
					     hwtimer_instance_now(instance));
	if (err) {
		/* No wheel yet, so there is nothing to cancel or move either. */
		for (i = 0; i < count; i++)
			requests[i].result = requests[i].result ?: err;
		return;
	}
	err = hwtimer_instance_reserve(instance, timers, moves);
	if (!err) {
		requests_run_locked(instance, requests, count);
	} else {
		spin_unlock(&instance->lock);
		requests_run_singly(instance, requests, count);
	}
}

/**
 * hwtimer_request_undo - take back timers of which user space did not hear
 * @instance: for which
 * @requests: that hwtimer_request_run() has run
 * @count: at most HWTIMER_HOLD
 */
void hwtimer_request_undo(struct hwtimer_instance *instance,
			  struct hwtimer_request *requests, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		struct hwtimer_request *request = &requests[i];

		if (request->op != HWTIMER_OP_SCHEDULE || request->result)
			request->result = -ECANCELED;
		request->op = HWTIMER_OP_CANCEL;
		request->flags = HWTIMER_DISCARD;
	}
	spin_lock(&instance->lock);
	requests_run_locked(instance, requests, count);
}
