// SPDX-License-Identifier: MIT
/* Computes what to schedule for a snapshot; see revival.h. */
#include "revival.h"

#include <string.h>
#include <time.h>

/* Adds times; a sum beyond the range of a time becomes the end of that range. */
static int64_t sum_of(int64_t time, int64_t other)
{
	int64_t sum;

	if (__builtin_add_overflow(time, other, &sum))
		return time < 0 ? -INT64_MAX : INT64_MAX;
	return sum;
}

static uint64_t not_negative(int64_t time)
{
	return time < 0 ? 0 : time;
}

/**
 * revival_of - compute how the times of a snapshot become times of a new instance
 * @header: the snapshot
 * @now: the present, on the snapshot's clock
 * @paused: give each timer the time that it had left at the save
 *
 * Deadlines on CLOCK_REALTIME stay, and so do those on another clock during the boot of
 * the save, except that this process may be in another time namespace. After another
 * boot, the clock has begun anew; then CLOCK_REALTIME tells how much time has passed.
 */
struct revival revival_of(const struct snapshot_header *header,
			  const struct moment *now, bool paused)
{
	/* None of these is negative, so the differences are in range. */
	int64_t forward = now->clock_now - header->clock_now;
	int64_t passed = now->real_before - header->real_now;
	struct revival revival = {
		.now = now->clock_now,
		.same_boot = !strcmp(header->boot_id, now->boot_id),
	};

	if (paused) {
		revival.shift = forward;
	} else if (header->setup.clock == CLOCK_REALTIME) {
		revival.passed = not_negative(passed);
	} else if (revival.same_boot) {
		revival.shift =
			sum_of(now->clock_offset, -header->clock_offset);
		revival.passed = not_negative(sum_of(forward, -revival.shift));
	} else {
		revival.set_back = passed < 0;
		revival.passed = not_negative(passed);
		revival.shift = sum_of(forward, -(int64_t)revival.passed);
	}
	return revival;
}

/* Returns the slack, as far as SCHEDULE takes it with this deadline. */
static uint64_t new_slack(const struct snapshot_timer *timer, uint64_t deadline)
{
	uint64_t most = deadline;

	/* The event of a timer that expires once is due at once. */
	if (timer->state == HWTIMER_STATE_EXPIRED && !timer->interval)
		return 0;
	if (deadline == HWTIMER_NEVER)
		return timer->slack;
	if (most > INT64_MAX - deadline)
		most = INT64_MAX - deadline;
	return timer->slack < most ? timer->slack : most;
}

/* Fills in a SCHEDULE for @deadline, which is not negative. */
static void schedule(struct hwtimer_request *request,
		     const struct snapshot_timer *timer, uint64_t deadline,
		     uint32_t count)
{
	*request = (struct hwtimer_request){
		.op = HWTIMER_OP_SCHEDULE,
		.flags = HWTIMER_ABSOLUTE | timer->flags,
		.time = deadline,
		.interval = timer->interval,
		.slack = new_slack(timer, deadline),
		.user_data = timer->user_data,
		.count = count,
	};
}

/* Fills in the SCHEDULE of a timer whose next expiration is all that matters now. */
static unsigned int schedule_single(const struct revival *revival,
				    const struct snapshot_timer *timer,
				    int64_t deadline,
				    struct hwtimer_request *request)
{
	bool waits = timer->state == HWTIMER_STATE_EXPIRED;

	/* An event that waited waits again, even if the clock was set back since. */
	if (waits && deadline > (int64_t)revival->now)
		deadline = revival->now;
	schedule(request, timer, not_negative(deadline), timer->count);
	return 1;
}

/*
 * Fills in the SCHEDULEs of a timer with a fixed rate. If its next deadline cannot be one
 * of the new instance, the timer goes on at a later one of its deadlines; until then,
 * another timer stands for the expiration that is due already.
 */
static unsigned int schedule_rate(const struct revival *revival,
				  const struct snapshot_timer *timer,
				  int64_t deadline,
				  struct hwtimer_request requests[2])
{
	int64_t now = revival->now;
	uint64_t steps;

	if (deadline < 0) /* before the beginning of the clock */
		steps = (-(uint64_t)deadline + timer->interval - 1) /
			timer->interval;
	else if (timer->state == HWTIMER_STATE_EXPIRED && deadline > now)
		steps = 1; /* it has expired, and then the clock was set back */
	else
		steps = 0;
	if (timer->count && steps >= timer->count) {
		schedule(requests, timer, 0, 1);
		return 1;
	}
	/* The product may be larger than any time; the sum is not, except by one step. */
	deadline = deadline < 0 ?
			   (int64_t)(deadline + steps * timer->interval) :
			   sum_of(deadline, steps * timer->interval);
	schedule(requests, timer, deadline,
		 timer->count ? timer->count - steps : 0);
	if (!steps || deadline <= now)
		return 1;
	requests[1] = (struct hwtimer_request){
		.op = HWTIMER_OP_SCHEDULE,
		.flags = HWTIMER_ABSOLUTE,
		.user_data = timer->user_data,
	};
	return 2;
}

/**
 * revival_timer - compute what to schedule for a timer
 * @revival: how times change
 * @timer: the timer
 * @requests: out: the SCHEDULE that makes the timer go on, and another one if the event
 *	that is due now must come from a timer of its own
 *
 * Return: number of @requests, 1 or 2.
 */
unsigned int revival_timer(const struct revival *revival,
			   const struct snapshot_timer *timer,
			   struct hwtimer_request requests[2])
{
	int64_t deadline;

	if (timer->deadline == HWTIMER_NEVER) {
		schedule(requests, timer, HWTIMER_NEVER, timer->count);
		return 1;
	}
	deadline = sum_of(timer->deadline, revival->shift);
	if (timer->interval && !timer->flags)
		return schedule_rate(revival, timer, deadline, requests);
	return schedule_single(revival, timer, deadline, requests);
}

/* Returns a timer that brings an event, whose own timer has ended, once more. */
struct snapshot_timer revival_event(const struct snapshot_event *event)
{
	return (struct snapshot_timer){
		.id = event->id,
		.user_data = event->user_data,
		.deadline = event->deadline,
		.state = HWTIMER_STATE_EXPIRED,
	};
}

/**
 * revival_merge - take the event of a timer back into the timer
 * @timer: the timer; the event comes from it once more
 * @event: an event of this timer that was in the completion ring
 *
 * Return: whether the timer brings the event. It does not if it goes on at another time
 * than its interval after the event, because it was rescheduled or has a fixed delay.
 */
bool revival_merge(struct snapshot_timer *timer,
		   const struct snapshot_event *event)
{
	uint64_t count = (uint64_t)timer->count + event->expirations;
	uint64_t since = timer->deadline - event->deadline;

	/* The timer was listed before it expired, so the event is still to come. */
	if (!timer->interval || timer->deadline <= event->deadline)
		return true;
	if (timer->flags & HWTIMER_FIXED_DELAY ||
	    timer->deadline == HWTIMER_NEVER || since % timer->interval ||
	    since / timer->interval != event->expirations)
		return false;
	timer->deadline = event->deadline;
	timer->state = HWTIMER_STATE_EXPIRED;
	if (timer->count)
		timer->count = count < UINT32_MAX ? count : UINT32_MAX;
	return true;
}
