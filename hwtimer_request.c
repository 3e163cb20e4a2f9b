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
#define HWTIMER_AHEAD 32

/*
 * Dead entries that are let be, beyond as many as there are timers. Beyond
 * those a compaction begins; before one pass is over, at most
 * HWTIMER_DEAD_DURING more can come (see compaction_steps()).
 */
#define HWTIMER_DEAD_SPARED 32768
#define HWTIMER_DEAD_DURING 16384

/* Fields that must be 0, and flags that there are not. */
static bool fields_valid(const struct hwtimer_request *request)
{
	if (request->reserved)
		return false;
	switch (request->op) {
	case HWTIMER_OP_SCHEDULE:
		return !(request->flags &
			 ~(HWTIMER_ABSOLUTE | HWTIMER_FIXED_DELAY)) &&
		       !request->id;
	case HWTIMER_OP_RESCHEDULE:
		return !(request->flags & ~HWTIMER_ABSOLUTE) &&
		       !request->user_data && !request->interval &&
		       !request->slack && !request->count;
	case HWTIMER_OP_CANCEL:
		return !(request->flags & ~HWTIMER_DISCARD) &&
		       !request->user_data && !request->interval &&
		       !request->slack && !request->count && !request->time;
	default:
		return false;
	}
}

/* Each field may be what it is, but not all of them together. */
static bool combination_valid(const struct hwtimer_settings *settings,
			      const struct hwtimer_request *request)
{
	bool absolute = request->flags & HWTIMER_ABSOLUTE;
	bool fixed_delay = request->flags & HWTIMER_FIXED_DELAY;

	/* What a delay means when the clock is set, nobody can say. */
	if (settings->clock->nr == HWTIMER_REALTIME &&
	    (!absolute || fixed_delay))
		return false;
	if (!request->interval && (request->count || fixed_delay))
		return false;
	return !(request->interval || request->slack) || !absolute ||
	       request->time != HWTIMER_NEVER;
}

/* The longest slack that makes sense. */
static u64 slack_max(const struct hwtimer_request *request)
{
	u64 max = max_t(s64, request->time, 0);

	if (request->flags & HWTIMER_ABSOLUTE)
		max = min(max, KTIME_MAX - max);
	if (request->interval)
		max = min(max, request->interval);
	return max;
}

/*
 * Whether a request is for one expiration without slack, or to cancel: most are,
 * and nothing in them can be wrong, unless the clock takes no delays. One test of
 * all fields that must be 0 is what the many tests are not: cheap.
 */
static bool request_plain(const struct hwtimer_request *request, bool delays)
{
	u64 rest = request->interval | request->slack | request->count |
		   request->reserved | (request->flags & ~HWTIMER_ABSOLUTE);

	if (request->op == HWTIMER_OP_SCHEDULE)
		return !(rest | request->id) && (delays || request->flags);
	rest |= request->user_data | request->time | request->flags;
	return !rest && request->op == HWTIMER_OP_CANCEL;
}

/* What is wrong with a request, whatever timers there are. */
static int request_check(const struct hwtimer_settings *settings,
			 const struct hwtimer_request *request)
{
	if (!fields_valid(request))
		return -EINVAL;
	if (request->op == HWTIMER_OP_CANCEL)
		return 0;
	if (!combination_valid(settings, request))
		return -EINVAL;
	if (likely(!request->interval && !request->slack))
		return 0;
	if (request->interval && (request->interval < settings->shape.tick ||
				  request->interval > KTIME_MAX))
		return -ERANGE;
	return request->slack > slack_max(request) ? -EDOM : 0;
}

/**
 * struct moment - one hold of an instance's lock, as a point in time
 * @instance: whose
 * @now: ns on its clock; 0: nobody has asked yet
 *
 * A clock takes as long to read as a timer to schedule, and one with an absolute
 * deadline mostly needs none.
 */
struct moment {
	const struct hwtimer_instance *instance;
	u64 now;
};

static u64 moment_now(struct moment *moment)
{
	if (!moment->now)
		moment->now = hwtimer_instance_now(moment->instance);
	return moment->now;
}

/* The absolute deadline that a request means; see struct hwtimer_request. */
static u64 request_deadline(const struct hwtimer_request *request,
			    struct moment *moment)
{
	s64 time = request->time;
	u64 now;

	if (request->flags & HWTIMER_ABSOLUTE) {
		if (request->time == HWTIMER_NEVER)
			return HWTIMER_NEVER;
		return max_t(s64, time, 0);
	}
	now = moment_now(moment);
	if (time > KTIME_MAX - (s64)now)
		return HWTIMER_NEVER;
	return now + max_t(s64, time, 0);
}

static int request_schedule(struct hwtimer_instance *instance,
			    struct hwtimer_request *request,
			    struct moment *moment)
{
	struct hwtimer_record *record;
	u32 index;

	if (instance->stopped)
		return -ESHUTDOWN;
	if (hwtimer_instance_timers(instance) >= instance->settings.timers)
		return -ENOSPC;
	/* The last one that ended may have spent its record's generations. */
	if (unlikely(request->interval) &&
	    hwtimer_table_spare(&instance->table) < 2)
		return -ENOMEM;
	index = hwtimer_table_get(&instance->table);
	if (unlikely(index == HWTIMER_NO_RECORD))
		return -ENOMEM;
	record = hwtimer_table_record(&instance->table, index);
	record->deadline = request_deadline(request, moment);
	record->user_data = request->user_data;
	record->state = HWTIMER_PENDING;
	record->align = 0;
	record->flags = 0;
	if (unlikely(request->slack))
		record->align =
			hwtimer_wheel_align(&instance->wheel, request->slack);
	if (unlikely(request->interval))
		hwtimer_period_begin(instance, record, request);
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
	hwtimer_notice_taken(instance);
	return 0;
}

/*
 * Too late for this event. But it is the last: a periodic timer does not go on
 * after it.
 */
static int request_end(struct hwtimer_instance *instance,
		       struct hwtimer_record *record, struct moment *moment)
{
	if (hwtimer_record_periodic(record))
		hwtimer_period_end(instance, record, moment_now(moment));
	return -EALREADY;
}

static int request_cancel(struct hwtimer_instance *instance,
			  const struct hwtimer_request *request,
			  struct moment *moment)
{
	struct hwtimer_record *record =
		hwtimer_table_find(&instance->table, request->id);

	if (!record)
		return -ENOENT;
	switch (record->state) {
	case HWTIMER_PENDING:
		hwtimer_wheel_remove(&instance->wheel, record);
		hwtimer_period_free(instance, lower_32_bits(request->id));
		instance->stats.pending--;
		instance->stats.cancelled++;
		return 0;
	case HWTIMER_EXPIRED:
		if (request->flags & HWTIMER_DISCARD)
			return request_discard(instance, record);
		return request_end(instance, record, moment);
	case HWTIMER_LEAVING:
		if (hwtimer_record_periodic(record))
			return request_end(instance, record, moment);
		return -ENOENT;
	default:
		return -ENOENT;
	}
}

static int request_reschedule(struct hwtimer_instance *instance,
			      const struct hwtimer_request *request,
			      struct moment *moment)
{
	struct hwtimer_record *record;

	if (instance->stopped)
		return -ESHUTDOWN;
	record = hwtimer_table_find(&instance->table, request->id);
	if (!record)
		return -ENOENT;
	if (record->state == HWTIMER_EXPIRED ||
	    (record->state == HWTIMER_LEAVING &&
	     hwtimer_record_periodic(record)))
		return -EALREADY;
	if (record->state != HWTIMER_PENDING)
		return -ENOENT;
	hwtimer_wheel_move(&instance->wheel, lower_32_bits(request->id),
			   request_deadline(request, moment));
	instance->stats.rescheduled++;
	return 0;
}

static int request_run(struct hwtimer_instance *instance,
		       struct hwtimer_request *request, struct moment *moment)
{
	switch (request->op) {
	case HWTIMER_OP_SCHEDULE:
		return request_schedule(instance, request, moment);
	case HWTIMER_OP_CANCEL:
		return request_cancel(instance, request, moment);
	default:
		return request_reschedule(instance, request, moment);
	}
}

/* Starts to fetch the record that @request is about, if it names one. */
static __always_inline void
request_prefetch(const struct hwtimer_instance *instance,
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
	u64 work = instance->wheel.entries + instance->wheel.nr_buckets;

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
		hwtimer_instance_trim(instance);
		spin_unlock(&instance->lock);
		cond_resched();
	}
}

/*
 * While the wheel is filed anew, whoever may add to it helps: a slice files
 * more than half as many as HWTIMER_HOLD, so twice as many are filed as come.
 */
static void instance_rewind(struct hwtimer_instance *instance, u32 requests)
{
	u32 steps = 1 + 4 * requests / HWTIMER_HOLD;
	bool more = true;

	while (more && steps--) {
		spin_lock(&instance->lock);
		hwtimer_wheel_rewind_step(&instance->wheel);
		more = instance->wheel.rewind.active;
		spin_unlock(&instance->lock);
		cond_resched();
	}
}

/* Runs those of @requests whose result is 0. The lock is held, and let go. */
static void requests_run_locked(struct hwtimer_instance *instance,
				struct hwtimer_request *requests, u32 count)
	__releases(&instance->lock)
{
	struct moment moment = { .instance = instance };
	u64 ready = instance->stats.ready;
	u64 steps;
	bool drained, rewinding;
	u32 i;

	lockdep_assert_held(&instance->lock);
	if (unlikely(instance->wheel.rewinds))
		hwtimer_instance_follow(instance, moment_now(&moment));
	for (i = 0; i < min_t(u32, count, HWTIMER_AHEAD); i++)
		request_prefetch(instance, &requests[i]);
	for (i = 0; i < count; i++) {
		if (i + HWTIMER_AHEAD < count)
			request_prefetch(instance,
					 &requests[i + HWTIMER_AHEAD]);
		if (!requests[i].result)
			requests[i].result =
				request_run(instance, &requests[i], &moment);
	}
	if (ready != instance->stats.ready)
		hwtimer_exchange_told(instance);
	hwtimer_instance_rearm(instance);
	hwtimer_notice_watch(instance);
	steps = compaction_steps(instance, count);
	/* If it was so before, everybody knows. */
	drained = ready && hwtimer_instance_drained(instance);
	rewinding = instance->wheel.rewind.active;
	spin_unlock(&instance->lock);

	if (drained)
		hwtimer_notice_hang_up(instance);
	if (unlikely(rewinding))
		instance_rewind(instance, count);
	instance_compact(instance, steps);
}

/* Adds what @request will need, if it is valid. */
static void request_demand(struct hwtimer_demand *demand,
			   const struct hwtimer_request *request)
{
	if (request->result)
		return;
	demand->timers += request->op == HWTIMER_OP_SCHEDULE;
	demand->periodic += request->op == HWTIMER_OP_SCHEDULE &&
			    request->interval;
	demand->moves += request->op == HWTIMER_OP_RESCHEDULE;
}

/* Sets the results of those that are not valid, and adds up the demand. */
static void requests_check(struct hwtimer_instance *instance,
			   struct hwtimer_request *requests, u32 count,
			   struct hwtimer_demand *demand)
{
	const struct hwtimer_settings *settings = &instance->settings;
	bool delays = settings->clock->nr != HWTIMER_REALTIME;
	u32 schedules = 0;
	u32 i;

	*demand = (struct hwtimer_demand){};
	for (i = 0; i < count; i++) {
		struct hwtimer_request *request = &requests[i];

		if (likely(request_plain(request, delays))) {
			request->result = 0;
			schedules += request->op == HWTIMER_OP_SCHEDULE;
			continue;
		}
		request->result = request_check(settings, request);
		request_demand(demand, request);
	}
	demand->timers += schedules;
}

/*
 * Checks the requests, and lets the instance start if it has to. Until then the
 * settings may become others, so what was checked before is checked again.
 */
static int requests_prepare(struct hwtimer_instance *instance,
			    struct hwtimer_request *requests, u32 count,
			    struct hwtimer_demand *demand)
{
	for (;;) {
		/* Pairs with the smp_store_release() in instance_begin(). */
		bool started = smp_load_acquire(&instance->started);
		int err;

		requests_check(instance, requests, count, demand);
		if (started || !(demand->timers || demand->moves))
			return 0;
		err = hwtimer_instance_start(instance);
		if (err)
			return err;
	}
}

/* Without the memory for all requests at once, there may be enough for some. */
static void requests_run_singly(struct hwtimer_instance *instance,
				struct hwtimer_request *requests, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		struct hwtimer_demand demand = {};

		if (requests[i].result)
			continue;
		request_demand(&demand, &requests[i]);
		requests[i].result =
			hwtimer_instance_reserve(instance, &demand);
		requests_run_locked(instance, &requests[i], 1);
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
	struct hwtimer_demand demand;
	int err;
	u32 i;

	hwtimer_harvest_discarded(instance);
	err = requests_prepare(instance, requests, count, &demand);
	if (err) {
		/* No wheel yet, so there is nothing to cancel or move either. */
		for (i = 0; i < count; i++)
			requests[i].result = requests[i].result ?: err;
		return;
	}
	err = hwtimer_instance_reserve(instance, &demand);
	if (!err) {
		requests_run_locked(instance, requests, count);
	} else {
		spin_unlock(&instance->lock);
		requests_run_singly(instance, requests, count);
	}
}

/**
 * hwtimer_request_try - do the same if no memory has to be brought for it
 * @instance: as there
 * @requests: as there
 * @count: as there
 *
 * Return: whether it was done; otherwise nothing was. Does not sleep.
 */
bool hwtimer_request_try(struct hwtimer_instance *instance,
			 struct hwtimer_request *requests, u32 count)
{
	struct hwtimer_demand demand;

	/* Pairs with the smp_store_release() in instance_begin(). */
	if (!smp_load_acquire(&instance->started))
		return false;
	hwtimer_harvest_discarded(instance);
	requests_check(instance, requests, count, &demand);
	if (!hwtimer_instance_lock_ready(instance, &demand)) {
		spin_unlock(&instance->lock);
		return false;
	}
	requests_run_locked(instance, requests, count);
	return true;
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
