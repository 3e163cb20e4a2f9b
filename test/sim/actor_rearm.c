// SPDX-License-Identifier: GPL-2.0
/*
 * An actor that has a few timers of its own, and makes them anew again and again, whatever
 * their state, as uv_timer_start() does: RESCHEDULE with HWTIMER_REQ_REARM, alone and by SUBMIT,
 * mostly with HWTIMER_REQ_CREATE, and RESCHEDULE that sets all fields of a pending timer. Now
 * and then it ends all timers.
 */
#include <errno.h>

#include "world.h"

#define OWN 8

/**
 * struct remake - one request
 * @own: the place of the timer
 * @old: the timer that was there; NULL: none
 * @timer: the timer that the request makes of it
 */
struct remake {
	struct oracle_timer **own;
	struct oracle_timer *old;
	struct oracle_timer *timer;
};

static void remake_prepare(struct actor *actor, struct oracle_timer **own,
			   struct remake *remake,
			   struct hwtimer_request *request)
{
	*request = (struct hwtimer_request){};
	request_random(actor->site, request);
	request->op = HWTIMER_OP_RESCHEDULE;
	remake->own = own;
	remake->old = *own;
	if (remake->old && !sim_below(4))
		request->flags |= HWTIMER_REQ_SET;
	else
		request->flags |= HWTIMER_REQ_REARM |
				  (sim_below(4) ? HWTIMER_REQ_CREATE : 0);
	request->id = remake->old ? remake->old->id : 0;
	remake->timer =
		oracle_remake(remake->old, actor->site->oracle, request);
	request_litter(HWTIMER_OP_RESCHEDULE, request);
}

/* @result: as for oracle_remade() */
static void remake_result(struct remake *remake,
			  const struct hwtimer_request *request,
			  const struct oracle_span *span, int result)
{
	bool rearm = request->flags & HWTIMER_REQ_REARM;
	bool creates = rearm && request->flags & HWTIMER_REQ_CREATE;

	if (!result)
		*remake->own = remake->timer;
	else if (result == -ECANCELED || (!creates && result == -ENOENT) ||
		 (!rearm && result == -EALREADY))
		*remake->own = NULL;
	else
		expect_excused("RESCHEDULE that sets all", result);
	oracle_remade(remake->old, remake->timer, request, span, result);
}

static void remake_one(struct actor *actor, struct oracle_timer **own)
{
	struct oracle_span span = oracle_begin(actor->site->oracle);
	struct hwtimer_request request;
	struct remake remake;
	long ret;

	remake_prepare(actor, own, &remake, &request);
	ret = sim_ioctl(actor->file, HWTIMER_IOC_RESCHEDULE, &request);
	/* Nobody knows whether the request was not read, or the id was not written. */
	if (ret == -EFAULT)
		ret = -ECANCELED;
	remake_result(&remake, &request, &span, ret);
	world_count(1);
}

static void remake_many(struct actor *actor, struct oracle_timer **own,
			unsigned int count)
{
	struct oracle_span span = oracle_begin(actor->site->oracle);
	struct hwtimer_request requests[OWN];
	struct remake remakes[OWN];
	struct hwtimer_submit submit = {
		.requests = (uintptr_t)requests,
		.count = count,
	};
	unsigned int i;
	long ret;

	for (i = 0; i < count; i++)
		remake_prepare(actor, &own[i], &remakes[i], &requests[i]);
	ret = sim_ioctl(actor->file, HWTIMER_IOC_SUBMIT, &submit);
	if (ret < 0)
		expect_excused("SUBMIT", ret);
	for (i = 0; i < count; i++)
		remake_result(&remakes[i], &requests[i], &span,
			      (long)i < ret ? requests[i].result : -ECANCELED);
	world_count(count);
}

static void own_cancel(struct actor *actor, struct oracle_timer *timer)
{
	actor_cancel(actor, timer, sim_below(2) ? HWTIMER_REQ_DISCARD : 0);
	world_count(1);
}

void act_rearmer(struct actor *actor)
{
	struct oracle_timer *own[OWN] = {};

	while (!sim_ending()) {
		unsigned int first = sim_below(OWN);

		if (!sim_below(100))
			site_wipe(actor->site, actor->file, wipe_flags(),
				  false);
		switch (sim_below(8)) {
		case 0:
			if (own[first])
				own_cancel(actor, own[first]);
			break;
		case 1:
		case 2:
			remake_many(actor, &own[first],
				    sim_between(1, OWN - first));
			break;
		default:
			remake_one(actor, &own[first]);
			break;
		}
		if (!sim_below(3))
			sim_sleep(sim_below(30 * actor->site->oracle->tick));
	}
}
