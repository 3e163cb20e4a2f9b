// SPDX-License-Identifier: GPL-2.0
/*
 * Actors that schedule, cancel and reschedule: one by one, by SUBMIT, and by BULK.
 */
#include <errno.h>
#include <string.h>

#include "world.h"

/* ---- random requests ---- */

/* A time span: mostly a few ticks, now and then many. */
static uint64_t span_random(const struct site *site)
{
	uint64_t tick = site->oracle->tick;

	switch (sim_below(16)) {
	case 0:
		return 0;
	case 1:
		return sim_below(tick);
	case 2:
		return sim_below(tick * 2000);
	case 3:
	case 4:
		return tick * sim_below(site->setup.buckets ?: 64);
	default:
		return sim_below(tick * 40);
	}
}

/* Returns the time of a request, and sets HWTIMER_REQ_ABSTIME in @flags if it is one. */
int64_t request_time(struct site *site, uint32_t *flags)
{
	const struct oracle *oracle = site->oracle;
	uint64_t span = span_random(site);
	uint64_t from = 0;

	if (oracle_settable(oracle) || sim_below(2)) {
		*flags |= HWTIMER_REQ_ABSTIME;
		from = oracle_now(oracle);
	}
	switch (sim_below(24)) {
	case 0:
		return from - span_random(site);
	case 1:
		return sim_below(4) ? -sim_below(1000) : INT64_MIN;
	case 2:
		/* HWTIMER_NEVER, and others that are as good */
		return INT64_MAX - sim_below(3);
	default:
		return from + span;
	}
}

/* A slack: mostly a few ticks, now and then anything. */
static uint64_t slack_random(const struct site *site)
{
	switch (sim_below(16)) {
	case 0:
		return INT64_MAX - sim_below(3);
	case 1:
		return sim_below(INT64_MAX);
	default:
		return sim_below(8 * site->oracle->tick);
	}
}

void request_random(struct site *site, struct hwtimer_request *request)
{
	uint64_t tick = site->oracle->tick;

	request->op = HWTIMER_OP_SCHEDULE;
	request->time = request_time(site, &request->flags);
	if (!sim_below(6)) {
		/* Now and then shorter than a tick */
		request->interval = sim_below(4) ? tick + span_random(site) :
						   sim_between(1, tick);
		request->expirations_max = sim_below(3) ? sim_between(1, 5) : 0;
		if (!oracle_settable(site->oracle) && !sim_below(3))
			request->flags |= HWTIMER_REQ_FIXED_DELAY;
	}
	if (!sim_below(6))
		request->slack = slack_random(site);
}

#define FLAGS_SET (HWTIMER_REQ_SET | HWTIMER_REQ_REARM)
#define FLAGS_RESCHEDULE (HWTIMER_REQ_CREATE | FLAGS_SET)

/* Makes the fields that SCHEDULE and HWTIMER_REQ_SET give a meaning anything. */
static void litter_sets(struct hwtimer_request *request)
{
	request->user_data = sim_below(UINT64_MAX);
	request->slack = sim_below(UINT64_MAX);
	request->interval = sim_below(UINT64_MAX);
	request->expirations_max = sim_below(UINT32_MAX);
	request->flags |= sim_below(2) ? HWTIMER_REQ_FIXED_DELAY : 0;
}

void request_litter(unsigned int op, struct hwtimer_request *request)
{
	uint32_t flags = sim_below(UINT32_MAX);
	uint32_t rearm = request->flags & HWTIMER_REQ_REARM;

	if (sim_below(4))
		return;
	request->result = flags;
	switch (op) {
	case HWTIMER_OP_SCHEDULE:
		request->id = sim_below(UINT64_MAX);
		flags &= FLAGS_RESCHEDULE | HWTIMER_REQ_DISCARD;
		if (!request->interval) {
			request->expirations_max = sim_below(UINT32_MAX);
			flags |= HWTIMER_REQ_FIXED_DELAY;
		}
		break;
	case HWTIMER_OP_CANCEL:
		litter_sets(request);
		request->time = sim_below(UINT64_MAX);
		flags &= FLAGS_RESCHEDULE | HWTIMER_REQ_ABSTIME;
		break;
	default:
		if (!(request->flags & FLAGS_SET))
			litter_sets(request);
		flags &= HWTIMER_REQ_DISCARD |
			 (rearm ? HWTIMER_REQ_SET : HWTIMER_REQ_CREATE);
		break;
	}
	request->flags |= flags;
}

void actor_keep(struct actor *actor, struct oracle_timer *timer)
{
	if (actor->nr_timers < ACTOR_TIMERS)
		actor->timers[actor->nr_timers++] = timer;
	else
		actor->timers[sim_below(ACTOR_TIMERS)] = timer;
}

struct oracle_timer *actor_pick(struct actor *actor)
{
	struct oracle_timer *timer = NULL;

	if (!sim_below(8)) {
		struct oracle *oracle = actor->site->oracle;

		sim_lock();
		if (oracle->nr_timers)
			timer = oracle->timers[sim_below(oracle->nr_timers)];
		if (timer && (!timer->id || timer->private))
			timer = NULL;
		sim_unlock();
	} else if (actor->nr_timers) {
		timer = actor->timers[sim_below(actor->nr_timers)];
	}
	return timer;
}

bool result_excused(long result)
{
	switch (result) {
	case -ENOMEM:
	case -EINTR:
	case -ENOSPC:
	case -ESHUTDOWN:
	case -EFAULT:
		return true;
	default:
		return false;
	}
}

void expect_excused(const char *what, long result)
{
	if (!result_excused(result))
		sim_fail("%s has failed with %ld", what, result);
}

/* ---- one by one ---- */

static void schedule_one(struct actor *actor)
{
	struct hwtimer_request request = {};
	struct oracle_timer *timer;
	long ret;

	request_random(actor->site, &request);
	timer = oracle_schedule(actor->site->oracle, &request);
	request.op = sim_below(5);
	request_litter(HWTIMER_OP_SCHEDULE, &request);
	ret = sim_ioctl(actor->file, HWTIMER_IOC_SCHEDULE, &request);
	/* Nobody knows whether the request was not read, or the id was not written. */
	if (ret == -EFAULT) {
		oracle_scheduled(timer, 0, -ECANCELED);
		return;
	}
	oracle_scheduled(timer, request.id, ret);
	if (ret)
		expect_excused("SCHEDULE", ret);
	else
		actor_keep(actor, timer);
}

/* CANCEL needs neither memory nor a started instance. @ret: not of a call that faulted */
static int cancel_result(long ret)
{
	if (ret && ret != 1 && ret != -ENOENT)
		sim_fail("CANCEL has failed with %ld", ret);
	return ret;
}

static int reschedule_result(long ret)
{
	if (ret && ret != -ENOENT && ret != -EALREADY)
		expect_excused("RESCHEDULE", ret);
	return ret;
}

void actor_cancel(struct actor *actor, struct oracle_timer *timer,
		  uint32_t flags)
{
	struct oracle_span span = oracle_begin(actor->site->oracle);
	struct hwtimer_request request = {
		.op = sim_below(5),
		.flags = flags,
		.id = timer->id,
	};
	long ret;

	request_litter(HWTIMER_OP_CANCEL, &request);
	oracle_change(timer);
	ret = sim_ioctl(actor->file, HWTIMER_IOC_CANCEL, &request);
	oracle_cancelled(timer, flags, &span,
			 ret == -EFAULT ? ret : cancel_result(ret));
}

static void cancel_one(struct actor *actor)
{
	struct oracle_timer *timer = actor_pick(actor);
	uint32_t flags = sim_below(2) ? HWTIMER_REQ_DISCARD : 0;

	if (timer)
		actor_cancel(actor, timer, flags);
}

/*
 * Once the instance is stopped, discards all of its events, which nobody reads. Who waits
 * for the end has to hear of it.
 */
void act_discarder(struct actor *actor)
{
	struct site *site = actor->site;
	uint64_t nr = 0;

	while (!sim_ending()) {
		struct oracle_timer *timer = NULL;

		sim_lock();
		if (nr < site->oracle->nr_timers)
			timer = site->oracle->timers[nr];
		sim_unlock();
		if (!__atomic_load_n(&site->stopped, __ATOMIC_RELAXED))
			timer = NULL;
		if (!timer) {
			nr = 0;
			sim_sleep(sim_below(100 * site->oracle->tick));
			continue;
		}
		nr++;
		if (timer->id && !timer->private)
			actor_cancel(actor, timer, HWTIMER_REQ_DISCARD);
		world_count(1);
	}
}

static void reschedule_one(struct actor *actor)
{
	struct oracle_timer *timer = actor_pick(actor);
	struct hwtimer_request request = {};
	struct oracle_span span = oracle_begin(actor->site->oracle);
	long ret;

	if (!timer)
		return;
	request.id = timer->id;
	request.time = request_time(actor->site, &request.flags);
	request_litter(HWTIMER_OP_RESCHEDULE, &request);
	oracle_change(timer);
	ret = sim_ioctl(actor->file, HWTIMER_IOC_RESCHEDULE, &request);
	oracle_rescheduled(timer, request.time,
			   request.flags & HWTIMER_REQ_ABSTIME, &span,
			   reschedule_result(ret));
}

static void query_one(struct actor *actor)
{
	struct oracle_timer *timer = actor_pick(actor);
	struct oracle_span span = oracle_begin(actor->site->oracle);
	struct hwtimer_timer query;
	long ret;

	if (!timer)
		return;
	/* All but the id is ignored. */
	memset(&query, sim_below(256), sizeof(query));
	query.id = timer->id;
	ret = sim_ioctl(actor->file, HWTIMER_IOC_QUERY, &query);
	if (!ret)
		oracle_queried(actor->site->oracle, &query, &span);
	else if (ret != -ENOENT)
		expect_excused("QUERY", ret);
}

void act_requester(struct actor *actor)
{
	while (!sim_ending()) {
		switch (sim_below(8)) {
		case 0:
		case 1:
			cancel_one(actor);
			break;
		case 2:
			reschedule_one(actor);
			break;
		case 3:
			query_one(actor);
			break;
		default:
			schedule_one(actor);
			break;
		}
		world_count(1);
		if (!sim_below(24))
			sim_sleep(sim_below(10 * actor->site->oracle->tick));
	}
}

/* ---- idle times ---- */

/*
 * The only one who schedules on an instance: a burst of timers, of which nothing is left
 * after a while. Then the instance is idle, and the ids of before must be nobody's.
 */
void act_idler(struct actor *actor)
{
	while (!sim_ending()) {
		unsigned int i, count = sim_between(1, 250);

		for (i = 0; i < count && !sim_ending(); i++) {
			schedule_one(actor);
			world_count(1);
			if (!sim_below(8))
				cancel_one(actor);
		}
		if (sim_below(4))
			site_wipe(actor->site, actor->file, wipe_flags(),
				  false);
		if (sim_below(2))
			sim_sleep(sim_below(IDLE));
		else
			sim_sleep(IDLE + sim_below(IDLE / 50));
		for (i = sim_below(8); i; i--)
			cancel_one(actor);
	}
}

/* ---- SUBMIT ---- */

#define BATCH 40

/* Maximum number of timers of a burst */
#ifdef HWTIMER_SMALL
#define BURST 100
#else
#define BURST 8000
#endif

static void batch_prepare(struct actor *actor, struct hwtimer_request *request,
			  struct oracle_timer **timer)
{
	memset(request, 0, sizeof(*request));
	*timer = NULL;
	if (!sim_below(3))
		*timer = actor_pick(actor);
	if (!*timer) {
		request_random(actor->site, request);
		*timer = oracle_schedule(actor->site->oracle, request);
		request_litter(request->op, request);
		return;
	}
	request->id = (*timer)->id;
	oracle_change(*timer);
	if (sim_below(3)) {
		request->op = HWTIMER_OP_CANCEL;
		request->flags = sim_below(2) ? HWTIMER_REQ_DISCARD : 0;
	} else {
		request->op = HWTIMER_OP_RESCHEDULE;
		request->time = request_time(actor->site, &request->flags);
	}
	request_litter(request->op, request);
}

/* @result: of the entry; -ECANCELED: not known */
static void batch_result(struct actor *actor,
			 const struct hwtimer_request *request, uint64_t id,
			 struct oracle_timer *timer, int result,
			 const struct oracle_span *span)
{
	switch (request->op) {
	case HWTIMER_OP_SCHEDULE:
		oracle_scheduled(timer, id, result);
		if (!result)
			actor_keep(actor, timer);
		else if (result != -ECANCELED)
			expect_excused("SCHEDULE of a batch", result);
		break;
	case HWTIMER_OP_CANCEL:
		oracle_cancelled(timer, request->flags, span,
				 result == -ECANCELED ? result :
							cancel_result(result));
		break;
	default:
		oracle_rescheduled(timer, request->time,
				   request->flags & HWTIMER_REQ_ABSTIME, span,
				   result == -ECANCELED ?
					   result :
					   reschedule_result(result));
		break;
	}
}

void act_batcher(struct actor *actor)
{
	struct hwtimer_request requests[BATCH];
	struct oracle_timer *timers[BATCH];

	while (!sim_ending()) {
		unsigned int i, count = sim_between(1, BATCH);
		struct oracle_span span = oracle_begin(actor->site->oracle);
		struct hwtimer_submit submit = {
			.requests = (uintptr_t)requests,
			.count = count,
		};
		long ret;

		for (i = 0; i < count; i++)
			batch_prepare(actor, &requests[i], &timers[i]);
		ret = sim_ioctl(actor->file, HWTIMER_IOC_SUBMIT, &submit);
		if (ret < 0)
			expect_excused("SUBMIT", ret);
		for (i = 0; i < count; i++)
			batch_result(
				actor, &requests[i], requests[i].id, timers[i],
				(long)i < ret ? requests[i].result : -ECANCELED,
				&span);
		world_count(count);
		if (!sim_below(4))
			sim_sleep(sim_below(20 * actor->site->oracle->tick));
	}
}

/* ---- BULK ---- */

/* Returns the result as SUBMIT would give it. */
static int bulk_result(unsigned int op, uint64_t result)
{
	int64_t value = result;

	if (op == HWTIMER_OP_SCHEDULE && (value > 0 || value < -4095))
		return 0;
	if (value != (int)value)
		sim_fail("a result of BULK is %#llx",
			 (unsigned long long)result);
	return value;
}

/* The flags of operations that are done together */
static uint32_t alike_flags(struct actor *actor, unsigned int op)
{
	uint32_t flags = 0;

	if (op == HWTIMER_OP_CANCEL)
		return sim_below(2) ? HWTIMER_REQ_DISCARD : 0;
	request_time(actor->site, &flags);
	return flags;
}

/*
 * Makes a request with this operation, these flags and this slack. @timer: the timer; NULL:
 * SCHEDULE, of a new one. Returns the timer.
 */
static struct oracle_timer *alike_prepare(struct actor *actor, unsigned int op,
					  uint32_t flags, uint64_t slack,
					  struct oracle_timer *timer,
					  struct hwtimer_request *request)
{
	uint32_t drawn;

	*request = (struct hwtimer_request){
		.op = op,
		.flags = flags,
		.slack = slack,
	};
	if (op != HWTIMER_OP_CANCEL)
		do {
			drawn = 0;
			request->time = request_time(actor->site, &drawn);
		} while (drawn != flags);
	if (op == HWTIMER_OP_SCHEDULE)
		return oracle_schedule(actor->site->oracle, request);
	request->id = timer->id;
	oracle_change(timer);
	return timer;
}

static const unsigned int alike_ops[] = {
	HWTIMER_OP_SCHEDULE,
	HWTIMER_OP_SCHEDULE,
	HWTIMER_OP_CANCEL,
	HWTIMER_OP_RESCHEDULE,
};

/* One BULK of the operation @op for @count timers; timers[i] is NULL for a new one. */
static void bulk_run(struct actor *actor, unsigned int op, unsigned int count)
{
	struct hwtimer_bulk_timer entries[BATCH];
	struct oracle_timer *timers[BATCH];
	uint64_t ids[BATCH], results[BATCH];
	struct hwtimer_request request[BATCH];
	struct oracle_span span = oracle_begin(actor->site->oracle);
	struct hwtimer_bulk bulk = {
		.op = op,
		/* All have the same flags, and the same slack. */
		.flags = alike_flags(actor, op),
		.timers = (uintptr_t)entries,
		.results = (uintptr_t)results,
	};
	unsigned int i;
	long ret;

	if (op == HWTIMER_OP_SCHEDULE && !sim_below(3))
		bulk.slack = slack_random(actor->site);
	for (i = 0; i < count; i++) {
		timers[i] = NULL;
		if (op != HWTIMER_OP_SCHEDULE) {
			timers[i] = actor_pick(actor);
			if (!timers[i])
				break;
		}
		timers[i] = alike_prepare(actor, op, bulk.flags, bulk.slack,
					  timers[i], &request[i]);
		ids[i] = request[i].id;
		entries[i] = (struct hwtimer_bulk_timer){
			.user_data = request[i].user_data | request[i].id,
			.time = request[i].time,
		};
	}
	if (op == HWTIMER_OP_CANCEL)
		bulk.timers = (uintptr_t)ids;
	count = i;
	bulk.count = count;
	/* Flags of other operations are ignored. */
	if (!sim_below(4))
		bulk.flags |= op == HWTIMER_OP_CANCEL ? HWTIMER_REQ_ABSTIME :
							HWTIMER_REQ_DISCARD;
	ret = sim_ioctl(actor->file, HWTIMER_IOC_BULK, &bulk);
	if (ret < 0)
		expect_excused("BULK", ret);
	for (i = 0; i < count; i++)
		batch_result(actor, &request[i], results[i], timers[i],
			     (long)i < ret ? bulk_result(op, results[i]) :
					     -ECANCELED,
			     &span);
	world_count(count);
}

void act_bulker(struct actor *actor)
{
	while (!sim_ending()) {
		bulk_run(actor, alike_ops[sim_below(4)], sim_between(1, BATCH));
		if (!sim_below(4))
			sim_sleep(sim_below(20 * actor->site->oracle->tick));
	}
}

/* ---- many at once ---- */

/* Schedules up to BATCH timers for one time. */
static void burst_some(struct actor *actor, uint64_t time, unsigned int count)
{
	struct hwtimer_bulk_timer entries[BATCH];
	struct oracle_timer *timers[BATCH];
	uint64_t results[BATCH];
	struct hwtimer_request request[BATCH];
	struct oracle_span span = oracle_begin(actor->site->oracle);
	struct hwtimer_bulk bulk = {
		.op = HWTIMER_OP_SCHEDULE,
		.flags = HWTIMER_REQ_ABSTIME,
		.count = count,
		.timers = (uintptr_t)entries,
		.results = (uintptr_t)results,
	};
	unsigned int i;
	long ret;

	for (i = 0; i < count; i++) {
		request[i] = (struct hwtimer_request){
			.op = bulk.op,
			.flags = bulk.flags,
			.time = time,
		};
		timers[i] = oracle_schedule(actor->site->oracle, &request[i]);
		entries[i] = (struct hwtimer_bulk_timer){
			.user_data = request[i].user_data,
			.time = time,
		};
	}
	ret = sim_ioctl(actor->file, HWTIMER_IOC_BULK, &bulk);
	if (ret < 0)
		expect_excused("BULK", ret);
	for (i = 0; i < count; i++)
		batch_result(actor, &request[i], results[i], timers[i],
			     (long)i < ret ? bulk_result(bulk.op, results[i]) :
					     -ECANCELED,
			     &span);
	world_count(count);
}

/* More timers for one tick than there may be events, and then a pause */
void act_burster(struct actor *actor)
{
	const struct oracle *oracle = actor->site->oracle;

	while (!sim_ending()) {
		uint64_t time =
			oracle_now(oracle) + sim_below(40) * oracle->tick;
		unsigned int left = sim_between(1, BURST);

		while (left && !sim_ending()) {
			unsigned int count = left < BATCH ? left : BATCH;

			burst_some(actor, time, count);
			left -= count;
		}
		sim_sleep(sim_below(400 * oracle->tick));
	}
}
