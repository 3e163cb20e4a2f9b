// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that the kernel accepts, mostly; calls.c puts hostile values into
 * some of them.
 */

#include <linux/hwtimer.h>

#include "steps.h"

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
__s64 fill_time(struct actor *actor, bool absolute)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_MONOTONIC,
					    CLOCK_REALTIME, CLOCK_BOOTTIME,
					    CLOCK_TAI };
	struct rng *rng = &actor->rng;
	__s64 time = rng_below(rng, 20 * MS);

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
		if (rng_one_in(rng, 4))
			return HWTIMER_NEVER;
	}
	return absolute ? time + (__s64)clock_ns(rng_pick(rng, clocks)) : time;
}

static void fill_schedule(struct actor *actor, struct hwtimer_request *request)
{
	struct rng *rng = &actor->rng;
	bool absolute = rng_one_in(rng, 2);

	request->flags = absolute ? HWTIMER_REQ_ABSTIME : 0;
	request->time = fill_time(actor, absolute);
	/* Zero, or a number that looks like nothing else */
	request->user_data = rng_one_in(rng, 4) ?
				     0 :
				     0x0abcdef000000000 |
					     rng_below(rng, 1 << 30);
	if (rng_one_in(rng, 3)) {
		request->interval = 1 + rng_below(rng, 20 * MS);
		request->expirations_max = rng_below(rng, 8);
		if (rng_one_in(rng, 3))
			request->flags |= HWTIMER_REQ_FIXED_DELAY;
	}
	if (rng_one_in(rng, 4))
		request->slack = rng_below(rng, 20 * MS);
}

/* A RESCHEDULE that may set all fields, whatever state the timer has */
static void fill_change(struct actor *actor, struct hwtimer_request *request)
{
	struct rng *rng = &actor->rng;

	fill_schedule(actor, request);
	request->flags |=
		rng_next(rng) &
		(HWTIMER_REQ_REARM | HWTIMER_REQ_CREATE | HWTIMER_REQ_SET);
	if (rng_one_in(rng, 8))
		request->id = 0;
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
		request->flags = absolute ? HWTIMER_REQ_ABSTIME : 0;
		request->time = fill_time(actor, absolute);
	} else if (rng_one_in(rng, 3)) {
		request->flags = HWTIMER_REQ_DISCARD;
	}
}
