// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that the kernel accepts, mostly. Called by calls.c, which puts hostile values into
 * some of them.
 */
#include <time.h>

#include <linux/hwtimer.h>

#include "steps.h"

#define US 1000ULL
#define MS (1000 * US)
#define SEC (1000 * MS)

static __u64 clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

/**
 * fill_time - a delay, or a deadline on some clock
 * @actor: the actor
 * @absolute: a deadline
 *
 * Most timers expire soon; some are far off, so that high levels of the wheel are used,
 * and some are parked.
 *
 * Return: ns.
 */
__u64 fill_time(struct actor *actor, bool absolute)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_MONOTONIC,
					    CLOCK_REALTIME, CLOCK_BOOTTIME };
	struct rng *rng = &actor->rng;
	__u64 time = rng_below(rng, 20 * MS);

	switch (rng_below(rng, 8)) {
	case 0:
		time = 0;
		break;
	case 1:
		time = rng_next(rng) >> rng_between(rng, 8, 60);
		break;
	case 2 ... 3:
		time *= 1000;
		break;
	case 4:
		if (absolute && rng_one_in(rng, 4))
			return HWTIMER_NEVER;
	}
	if (!absolute)
		return time;
	time += clock_ns(rng_pick(rng, clocks));
	return time > INT64_MAX ? INT64_MAX : time;
}

static void fill_schedule(struct actor *actor, struct hwtimer_request *request)
{
	struct rng *rng = &actor->rng;
	bool absolute = rng_one_in(rng, 2);

	request->flags = absolute ? HWTIMER_ABSOLUTE : 0;
	request->time = fill_time(actor, absolute);
	/* Zero, or a number that looks like nothing else */
	request->user_data = rng_one_in(rng, 4) ?
				     0 :
				     0x0abcdef000000000 |
					     rng_below(rng, 1 << 30);
	if (rng_one_in(rng, 3)) {
		request->interval = MS + rng_below(rng, 20 * MS);
		request->count = rng_below(rng, 8);
		if (rng_one_in(rng, 3))
			request->flags |= HWTIMER_FIXED_DELAY;
	}
	if (rng_one_in(rng, 4)) {
		__u64 limit = request->interval ? request->interval : 5 * MS;

		request->slack = rng_below(rng, limit);
		if (request->slack > request->time)
			request->slack = request->time;
	}
}

/*
 * A RESCHEDULE that changes more than the deadline: all, whatever state the timer has, or
 * some of it. What no flag names must be zero.
 */
static void fill_change(struct actor *actor, struct hwtimer_request *request)
{
	struct rng *rng = &actor->rng;

	fill_schedule(actor, request);
	if (rng_one_in(rng, 2)) {
		request->flags |= HWTIMER_REARM;
		if (rng_one_in(rng, 4))
			request->id = 0;
		return;
	}
	if (rng_one_in(rng, 2))
		request->flags |= HWTIMER_SET_USER_DATA;
	else
		request->user_data = 0;
	if (rng_one_in(rng, 2)) {
		request->flags |= HWTIMER_SET_INTERVAL;
	} else {
		request->interval = 0;
		request->count = 0;
		request->flags &= ~HWTIMER_FIXED_DELAY;
	}
	if (rng_one_in(rng, 2))
		request->flags |= HWTIMER_SET_SLACK;
	else
		request->slack = 0;
}

/**
 * fill_request - a request that the kernel accepts, mostly
 * @actor: the actor
 * @slot: the instance
 * @request: out: the request, with @op and all fields that it needs
 * @op: the operation
 */
void fill_request(struct actor *actor, struct slot *slot,
		  struct hwtimer_request *request, __u32 op)
{
	struct rng *rng = &actor->rng;

	*request = (struct hwtimer_request){ .op = op };
	if (op == HWTIMER_OP_SCHEDULE) {
		fill_schedule(actor, request);
		return;
	}
	request->id = slot->ids[rng_below(rng, WORLD_IDS)];
	if (op == HWTIMER_OP_RESCHEDULE) {
		bool absolute = rng_one_in(rng, 2);

		if (rng_one_in(rng, 3)) {
			fill_change(actor, request);
			return;
		}
		request->flags = absolute ? HWTIMER_ABSOLUTE : 0;
		request->time = fill_time(actor, absolute);
	} else if (rng_one_in(rng, 3)) {
		request->flags = HWTIMER_DISCARD;
	}
}
