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
 * Deadlines on a clock that may be set stay, and so do those on another clock during the boot of
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
	} else if (snapshot_clock_may_be_set(header->setup.clock)) {
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

/* Fills in what brings @timer back at @deadline, with its slack. */
static void schedule(struct hwtimer_request *request,
		     const struct snapshot_timer *timer, uint64_t deadline,
		     uint32_t count)
{
	*request = (struct hwtimer_request){
		.op = HWTIMER_OP_SCHEDULE,
		.flags = HWTIMER_REQ_ABSTIME | timer->flags,
		.time = deadline,
		.interval = timer->interval,
		.slack = timer->slack,
		.user_data = timer->user_data,
		.expirations_max = count,
	};
}

/*
 * Fills in what brings one event of @timer, without slack. @interval: the timer's, if that
 * is its last event; 0: the timer goes on without it.
 */
static void schedule_event(struct hwtimer_request *request,
			   const struct snapshot_timer *timer,
			   uint64_t deadline, uint64_t interval)
{
	const struct snapshot_timer event = {
		.user_data = timer->user_data,
		.interval = interval,
		.flags = interval ? timer->flags : 0,
	};

	schedule(request, &event, deadline, interval ? 1 : 0);
}

/*
 * Whether the event of a timer that has expired would wait again. It would if the clock
 * was set back since. On a clock that has begun anew, its slack may do that: it rounds up
 * to other moments there.
 */
static bool waits_again(const struct revival *revival,
			const struct snapshot_timer *timer, int64_t deadline)
{
	int64_t last = revival->shift ? sum_of(deadline, timer->slack) :
					deadline;

	return timer->state == HWTIMER_STATE_EXPIRED &&
	       last > (int64_t)revival->now;
}

/* Returns a deadline that is due on the new clock, @deadline if possible. */
static uint64_t due_deadline(const struct revival *revival, int64_t deadline)
{
	int64_t now = revival->now;

	return not_negative(deadline < now ? deadline : now);
}

/* Brings back a timer without an interval, or with a fixed delay. */
static unsigned int schedule_single(const struct revival *revival,
				    const struct snapshot_timer *timer,
				    int64_t deadline,
				    struct hwtimer_request *request)
{
	bool expired = timer->state == HWTIMER_STATE_EXPIRED;

	if (expired && (!timer->interval || timer->count == 1))
		schedule_event(request, timer, due_deadline(revival, deadline),
			       timer->interval);
	else if (waits_again(revival, timer, deadline))
		/* So early that the slack has passed, too; 0 is never rounded up. */
		schedule(request, timer,
			 not_negative(revival->now - timer->slack),
			 timer->count);
	else
		schedule(request, timer, not_negative(deadline), timer->count);
	return 1;
}

/*
 * Brings back a timer with a fixed rate. If its next deadline cannot be one of the new
 * instance, the timer goes on at a later one of its deadlines; until then, another timer
 * stands for the expiration that is due already.
 */
static unsigned int schedule_rate(const struct revival *revival,
				  const struct snapshot_timer *timer,
				  int64_t deadline,
				  struct hwtimer_request requests[2])
{
	uint64_t steps, due = due_deadline(revival, deadline);
	int64_t next;

	if (deadline < 0) /* before the beginning of the clock */
		steps = (-(uint64_t)deadline + timer->interval - 1) /
			timer->interval;
	else
		steps = waits_again(revival, timer, deadline);
	if (timer->count && steps >= timer->count) {
		schedule_event(requests, timer, due, timer->interval);
		return 1;
	}
	/* The product may be larger than any time; the sum is not, except by one step. */
	next = deadline < 0 ? (int64_t)(deadline + steps * timer->interval) :
			      sum_of(deadline, steps * timer->interval);
	schedule(requests, timer, next,
		 timer->count ? timer->count - steps : 0);
	if (!steps || next <= (int64_t)revival->now)
		return 1;
	schedule_event(&requests[1], timer, due, 0);
	return 2;
}

/**
 * revival_timer - compute what brings a timer back
 * @revival: how times change
 * @timer: the timer
 * @requests: out: what makes the timer go on, and what brings the event that is due now if that
 *	must come from a timer of its own
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
