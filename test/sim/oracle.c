// SPDX-License-Identifier: GPL-2.0
/*
 * Checks what programs get against what they asked for; see test/sim/oracle.h. The rules:
 *
 *   - Each timer ends once: by its last event, by CANCEL, or by CANCEL_ALL. Nothing is
 *     between two states: what was read, cancelled or handed back does not come again.
 *   - No event before its deadline, and none with another deadline than was asked for.
 *   - No event of a timer that was refused, or after its end: not after a CANCEL that
 *     returned 0 before the read began.
 *   - A periodic timer reports each of its deadlines once: the next event begins where
 *     this one ends.
 *   - CANCEL_ALL hands each pending timer back once. It hands a periodic timer back although
 *     its event still waits. That event is the last one, and ends where the timer goes on.
 *   - With HWTIMER_SETUP_AT_LEAST_ONCE, what was read and not acknowledged comes again after
 *     a rewind, in the same order, unless it was dropped; and never otherwise.
 *   - Events come in the order of their ticks, and within a tick in that of scheduling.
 *   - CANCEL finds a timer that lives, and none that has ended.
 *   - LIST shows each timer that lives all the time, and none twice.
 *   - The counters agree with all of this.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

#define NUMBER_BITS 40

static const char *const states[] = {
	[ORACLE_COMING] = "is just being scheduled",
	[ORACLE_LIVE] = "lives",
	[ORACLE_UNSURE] = "may live",
	[ORACLE_REFUSED] = "was refused",
	[ORACLE_DONE] = "has had its last event",
	[ORACLE_CANCELLED] = "was cancelled",
	[ORACLE_RETURNED] = "was handed back",
	[ORACLE_REARMED] = "was rearmed under another id",
};

/* The number of a timer in its instance, for reports */
static unsigned long long number_of(const struct oracle_timer *timer)
{
	return timer->user_data & ((1ull << NUMBER_BITS) - 1);
}

#define TRACE(timer, format, ...)                               \
	sim_trace("timer %u.%llu " format, (timer)->oracle->nr, \
		  number_of(timer), ##__VA_ARGS__)

#define FAIL(timer, format, ...)                                               \
	sim_fail(                                                              \
		"timer %llu.%llu, id %#llx, which %s, deadline %llu to %llu, " \
		"interval %llu: " format,                                      \
		(unsigned long long)(timer)->oracle->nr, number_of(timer),     \
		(unsigned long long)(timer)->id, states[(timer)->state],       \
		(unsigned long long)(timer)->low,                              \
		(unsigned long long)(timer)->high,                             \
		(unsigned long long)(timer)->interval, ##__VA_ARGS__)

struct oracle *oracle_create(unsigned int nr, clockid_t clock, int64_t offset,
			     uint64_t tick, bool keeps)
{
	struct oracle *oracle = calloc(1, sizeof(*oracle));

	oracle->nr = nr;
	oracle->clock = clock;
	oracle->offset = offset;
	oracle->tick = tick;
	oracle->keeps = keeps;
	return oracle;
}

uint64_t oracle_now(const struct oracle *oracle)
{
	return sim_now(oracle->clock) + oracle->offset;
}

/* The latest time that the clock has shown; it may have been set back since. */
static uint64_t latest(const struct oracle *oracle)
{
	return sim_latest(oracle->clock) + oracle->offset;
}

bool oracle_settable(const struct oracle *oracle)
{
	return oracle->clock == CLOCK_REALTIME || oracle->clock == CLOCK_TAI;
}

/* Whether times that were read before may mean nothing now */
static bool clock_jumped(const struct oracle *oracle)
{
	return oracle_settable(oracle) && sim_clock_was_set();
}

struct oracle_span oracle_begin(const struct oracle *oracle)
{
	struct oracle_span span = { .from = sim_step(),
				    .since = oracle_now(oracle) };

	sim_lock();
	span.begun = oracle->reads;
	span.beside = oracle->reading;
	sim_unlock();
	return span;
}

/* ---- finding timers ---- */

static struct oracle_timer *timer_new(struct oracle *oracle)
{
	struct oracle_timer *timer = calloc(1, sizeof(*timer));

	if (oracle->nr_timers == oracle->room) {
		oracle->room = oracle->room * 2 ?: 256;
		oracle->timers =
			realloc(oracle->timers, oracle->room * sizeof(timer));
	}
	timer->oracle = oracle;
	timer->user_data = (uint64_t)oracle->nr << NUMBER_BITS |
			   oracle->nr_timers;
	oracle->timers[oracle->nr_timers++] = timer;
	return timer;
}

static struct oracle_timer *timer_find(struct oracle *oracle,
				       uint64_t user_data, uint64_t id)
{
	uint64_t number = user_data & ((1ull << NUMBER_BITS) - 1);
	struct oracle_timer *timer;

	if (user_data >> NUMBER_BITS != oracle->nr ||
	    number >= oracle->nr_timers)
		sim_fail("instance %u: user_data %#llx was never passed",
			 oracle->nr, (unsigned long long)user_data);
	timer = oracle->timers[number];
	if (!timer->id)
		timer->id = id;
	if (timer->id != id)
		FAIL(timer, "has the id %#llx", (unsigned long long)id);
	return timer;
}

static bool has_ended(const struct oracle_timer *timer)
{
	return timer->state == ORACLE_DONE ||
	       timer->state == ORACLE_CANCELLED ||
	       timer->state == ORACLE_RETURNED ||
	       timer->state == ORACLE_REARMED;
}

static void end(struct oracle_timer *timer, enum oracle_state state)
{
	if (has_ended(timer))
		return;
	timer->state = state;
	timer->ended = sim_step();
}

/* ---- deadlines ---- */

static uint64_t deadline_after(uint64_t now, int64_t delay)
{
	uint64_t deadline = now + delay;

	return deadline > INT64_MAX ? HWTIMER_NEVER : deadline;
}

/* Sets the bounds of the deadline that a request asks for; the call is not over yet. */
static void deadline_begin(struct oracle_timer *timer, int64_t time,
			   bool absolute, uint64_t since)
{
	if (time < 0)
		time = 0;
	if (absolute) {
		timer->low = time;
		timer->high = time;
		timer->delay = -1;
		return;
	}
	timer->delay = time;
	timer->low = deadline_after(since, timer->delay);
	timer->high = HWTIMER_NEVER;
}

/* The call is over, so the deadline of a delay cannot be any later. */
static void deadline_end(struct oracle_timer *timer)
{
	if (timer->delay < 0)
		return;
	timer->high = deadline_after(latest(timer->oracle), timer->delay);
}

/* ---- SCHEDULE ---- */

struct oracle_timer *oracle_schedule(struct oracle *oracle,
				     struct hwtimer_request *request)
{
	struct oracle_timer *timer;

	sim_lock();
	timer = timer_new(oracle);
	request->user_data = timer->user_data;
	timer->state = ORACLE_COMING;
	timer->interval = request->interval;
	timer->slack = request->slack;
	timer->left = timer->interval ? request->expirations_max : 0;
	timer->fixed_delay = timer->interval &&
			     request->flags & HWTIMER_REQ_FIXED_DELAY;
	timer->begun = sim_step();
	deadline_begin(timer, request->time,
		       request->flags & HWTIMER_REQ_ABSTIME,
		       oracle_now(oracle));
	sim_unlock();
	return timer;
}

/* Enters @id in the hash table; returns false if it is there already. */
static bool id_enter(struct oracle *oracle, uint64_t id)
{
	uint64_t place = (id ^ id >> 29) * 0x9e3779b97f4a7c15ull >> 20;

	while (oracle->ids[place % oracle->ids_room]) {
		if (oracle->ids[place % oracle->ids_room] == id)
			return false;
		place++;
	}
	oracle->ids[place % oracle->ids_room] = id;
	oracle->nr_ids++;
	return true;
}

/* No two timers of an instance have the same id, whatever happens to its memory. */
static void id_is_new(struct oracle_timer *timer, uint64_t id)
{
	struct oracle *oracle = timer->oracle;
	uint64_t *old = oracle->ids;
	uint64_t i, room = oracle->ids_room;

	if (2 * oracle->nr_ids >= room) {
		oracle->ids_room = room * 2 ?: 256;
		oracle->ids = calloc(oracle->ids_room, sizeof(*old));
		oracle->nr_ids = 0;
		for (i = 0; i < room; i++)
			if (old[i])
				id_enter(oracle, old[i]);
		free(old);
	}
	if (!id_enter(oracle, id))
		FAIL(timer,
		     "SCHEDULE has returned the id of another timer, %#llx",
		     (unsigned long long)id);
}

static void scheduled_well(struct oracle_timer *timer, uint64_t id)
{
	struct oracle *oracle = timer->oracle;

	oracle->scheduled++;
	/* An id is neither 0 or 1 nor an errno, also as a result of BULK. */
	if (id + 4095 <= 4096 || (timer->id && timer->id != id))
		FAIL(timer, "SCHEDULE has returned the id %#llx",
		     (unsigned long long)id);
	if (oracle->stopped && timer->begun > oracle->stopped)
		FAIL(timer, "was scheduled on a stopped instance");
	timer->id = id;
	timer->scheduled = sim_step();
	if (!timer->events)
		deadline_end(timer);
	/* Who knows the id, from LIST, may have moved it before its SCHEDULE returned. */
	timer->plain = !timer->interval && !timer->slack && !timer->moved &&
		       timer->low > latest(oracle) + oracle->tick;
	if (timer->state == ORACLE_COMING)
		timer->state = ORACLE_LIVE;
}

void oracle_scheduled(struct oracle_timer *timer, uint64_t id, int result)
{
	sim_lock();
	TRACE(timer, "SCHEDULE: %d, id %#llx", result, (unsigned long long)id);
	if (!result) {
		id_is_new(timer, id);
		scheduled_well(timer, id);
	} else if (result == -ECANCELED) {
		timer->oracle->unsure = true;
		timer->lost_ok = true;
		timer->vague = true;
		if (timer->state == ORACLE_COMING)
			timer->state = ORACLE_UNSURE;
	} else {
		if (timer->events || timer->state != ORACLE_COMING)
			FAIL(timer, "SCHEDULE has failed with %d", result);
		timer->state = ORACLE_REFUSED;
	}
	sim_unlock();
}

/* ---- CANCEL and RESCHEDULE ---- */

void oracle_change(struct oracle_timer *timer)
{
	sim_lock();
	if (!timer->changes)
		timer->begun_events = timer->events;
	timer->vague |= timer->changes++ > 0;
	sim_unlock();
}

/* Whether a call that found the timer began after another had not: that cannot be. */
static bool gone_before(const struct oracle_timer *timer,
			const struct oracle_span *span)
{
	return timer->gone && span->from > timer->gone;
}

/* The same for a LIST that did not show it */
static bool unlisted_before(const struct oracle_timer *timer,
			    const struct oracle_span *span)
{
	return timer->unlisted && span->from > timer->unlisted;
}

/* Whether a call began after a CANCEL_ALL that must have dropped the timer's event */
static bool wiped_before(const struct oracle_timer *timer,
			 const struct oracle_span *span)
{
	return timer->wiped && span->from > timer->wiped;
}

/* Whether a call began after a CANCEL_ALL after which it is not pending */
static bool passed_before(const struct oracle_timer *timer,
			  const struct oracle_span *span)
{
	return timer->passed && span->from > timer->passed;
}

/*
 * Whether the last event of a timer that was handed back may come, or waits, in a call that
 * began at @from.
 */
static bool final_waits(const struct oracle_timer *timer, uint64_t from)
{
	if (!timer->final ||
	    (timer->final_dropped && from > timer->final_dropped) ||
	    (timer->wiped && from > timer->wiped))
		return false;
	return timer->kept || !timer->final_seen || from <= timer->final_seen;
}

/*
 * CANCEL has dropped the last event of a timer that CANCEL_ALL had handed back, or did so just
 * before.
 */
static void final_dropped(struct oracle_timer *timer,
			  const struct oracle_span *span)
{
	if (timer->final_dropped || (timer->final_seen && !timer->kept &&
				     span->from > timer->final_seen))
		FAIL(timer, "CANCEL was successful after its last event");
	timer->final_dropped = sim_step();
}

/* CANCEL was successful. */
static void cancelled_well(struct oracle_timer *timer, uint32_t flags,
			   const struct oracle_span *span)
{
	timer->oracle->cancelled++;
	if (gone_before(timer, span))
		FAIL(timer,
		     "CANCEL was successful, but failed with ENOENT before");
	if (unlisted_before(timer, span))
		FAIL(timer, "CANCEL was successful, but LIST did not show it");
	if (wiped_before(timer, span) ||
	    (passed_before(timer, span) && !(flags & HWTIMER_REQ_DISCARD)))
		FAIL(timer, "CANCEL was successful after CANCEL_ALL");
	if (timer->state == ORACLE_RETURNED && timer->final) {
		final_dropped(timer, span);
		return;
	}
	/* It has dropped an event that an ACK counted meanwhile. */
	if (timer->oracle->keeps && timer->state == ORACLE_DONE &&
	    span->from <= timer->ended) {
		timer->doubtful = true;
		return;
	}
	if (has_ended(timer) || timer->state == ORACLE_REFUSED)
		FAIL(timer, "CANCEL was successful");
	if (timer->events && !timer->interval)
		FAIL(timer, "CANCEL was successful after the event");
	end(timer, ORACLE_CANCELLED);
}

/* CANCEL or RESCHEDULE found no such timer. */
static void found_nothing(struct oracle_timer *timer)
{
	if (!timer->gone)
		timer->gone = sim_step();
}

/* At most one more event comes. @events: number of its events before that one, at most */
static void event_is_last(struct oracle_timer *timer, uint64_t events)
{
	if (timer->last)
		return;
	timer->last = sim_step();
	timer->last_events = events;
	timer->last_time = latest(timer->oracle);
}

/* CANCEL came too late: the event that waits is the last one. */
static void cancelled_late(struct oracle_timer *timer,
			   const struct oracle_span *span)
{
	if (gone_before(timer, span))
		FAIL(timer,
		     "its event waits, but CANCEL failed with ENOENT before");
	if ((has_ended(timer) && span->from > timer->ended &&
	     !final_waits(timer, span->from)) ||
	    wiped_before(timer, span))
		FAIL(timer, "CANCEL says that its event waits");
	event_is_last(timer, timer->begun_events);
}

void oracle_cancelled(struct oracle_timer *timer, uint32_t flags,
		      const struct oracle_span *span, int result)
{
	sim_lock();
	TRACE(timer, "CANCEL: %d", result);
	timer->changes--;
	switch (result) {
	case 0:
		cancelled_well(timer, flags, span);
		break;
	case 1:
		if (flags & HWTIMER_REQ_DISCARD)
			FAIL(timer, "CANCEL has not dropped its event");
		cancelled_late(timer, span);
		break;
	case -ENOENT:
		found_nothing(timer);
		break;
	case -ECANCELED:
		timer->oracle->unsure = true;
		timer->lost_ok = true;
		timer->vague = true;
		break;
	default:
		break;
	}
	sim_unlock();
}

static void rescheduled_well(struct oracle_timer *timer, int64_t time,
			     bool absolute, const struct oracle_span *span)
{
	timer->oracle->rescheduled++;
	timer->moved = true;
	if (timer->state == ORACLE_REFUSED ||
	    (has_ended(timer) && span->from > timer->ended))
		FAIL(timer, "RESCHEDULE was successful");
	if (gone_before(timer, span))
		FAIL(timer,
		     "RESCHEDULE was successful, but failed with ENOENT before");
	if (wiped_before(timer, span) || passed_before(timer, span))
		FAIL(timer, "RESCHEDULE was successful after CANCEL_ALL");
	if (timer->oracle->stopped && span->from > timer->oracle->stopped)
		FAIL(timer, "was rescheduled on a stopped instance");
	timer->changed = sim_step();
	timer->changed_by = 0;
	/* An event that came meanwhile may be from before or after. */
	if (timer->vague || has_ended(timer)) {
		timer->vague = true;
		return;
	}
	deadline_begin(timer, time, absolute, span->since);
	deadline_end(timer);
}

/* A fault has hidden the result. */
static void rescheduled_perhaps(struct oracle_timer *timer)
{
	timer->oracle->unsure = true;
	timer->vague = true;
	timer->moved = true;
	timer->changed = sim_step();
	timer->changed_by = 0;
}

void oracle_rescheduled(struct oracle_timer *timer, int64_t time, bool absolute,
			const struct oracle_span *span, int result)
{
	sim_lock();
	TRACE(timer, "RESCHEDULE: %d", result);
	timer->changes--;
	timer->plain = false;
	if (!result)
		rescheduled_well(timer, time, absolute, span);
	else if (result == -ENOENT)
		found_nothing(timer);
	else if (result == -ECANCELED)
		rescheduled_perhaps(timer);
	sim_unlock();
}

/* ---- RESCHEDULE that sets all fields ---- */

struct oracle_timer *oracle_remake(struct oracle_timer *old,
				   struct oracle *oracle,
				   struct hwtimer_request *request)
{
	struct oracle_timer *timer = oracle_schedule(oracle, request);

	timer->private = true;
	if (old)
		oracle_change(old);
	return timer;
}

/* The timer was pending, and goes on with other fields. */
static void remade_pending(struct oracle_timer *old,
			   const struct oracle_span *span)
{
	if (has_ended(old) || wiped_before(old, span) ||
	    passed_before(old, span))
		FAIL(old, "RESCHEDULE has found it pending");
	end(old, ORACLE_CANCELLED);
}

/*
 * The timer was not pending, so it must have been due, or have ended. @creates: the call makes
 * a new timer in any case
 */
static void remade_other(struct oracle_timer *old, bool creates,
			 const struct oracle_span *span)
{
	if (!creates && ((has_ended(old) && span->from > old->ended &&
			  !final_waits(old, span->from)) ||
			 wiped_before(old, span)))
		FAIL(old, "RESCHEDULE has made another timer of it");
	/* It may have dropped an event that an ACK counted meanwhile. */
	if (old->state == ORACLE_DONE && old->doubtful)
		old->state = ORACLE_REARMED;
	/* Or its last one */
	if (old->state == ORACLE_RETURNED && old->final &&
	    !old->final_dropped) {
		old->final_dropped = sim_step();
		old->droppable = true;
	}
	if (has_ended(old))
		return;
	if (old->state == ORACLE_LIVE && !old->vague && !old->last &&
	    !old->oracle->wiping && !old->interval &&
	    !clock_jumped(old->oracle) && old->low > latest(old->oracle))
		FAIL(old, "RESCHEDULE has not found it pending");
	end(old, ORACLE_REARMED);
}

static void remade_well(struct oracle_timer *old, struct oracle_timer *timer,
			const struct hwtimer_request *request,
			const struct oracle_span *span)
{
	bool same = old && request->id == old->id;

	bool creates = request->flags & HWTIMER_REQ_CREATE;

	timer->oracle->rescheduled++;
	if (!old && !creates)
		FAIL(timer, "RESCHEDULE has made it of no timer");
	if (!same && old)
		remade_other(old, creates, span);
	timer->moved = same;
	if (!same)
		id_is_new(timer, request->id);
	scheduled_well(timer, request->id);
	if (!same)
		return;
	timer->oracle->scheduled--;
	remade_pending(old, span);
}

void oracle_remade(struct oracle_timer *old, struct oracle_timer *timer,
		   const struct hwtimer_request *request,
		   const struct oracle_span *span, int result)
{
	sim_lock();
	TRACE(timer, "RESCHEDULE of %llu: %d, id %#llx",
	      old ? number_of(old) : 0, result,
	      (unsigned long long)request->id);
	if (old)
		old->changes--;
	if (!result)
		remade_well(old, timer, request, span);
	else if (result == -ENOENT && old)
		found_nothing(old);
	else if (old && result == -ECANCELED)
		rescheduled_perhaps(old);
	if (old && result == -ECANCELED)
		old->lost_ok = true;
	sim_unlock();
	if (result)
		oracle_scheduled(timer, 0, result);
}

/* ---- events ---- */

static void event_expected(struct oracle_timer *timer,
			   const struct hwtimer_event *event,
			   const struct oracle_span *span)
{
	/* A read that began before the end may have taken the event before it. */
	bool after = timer->ended && span->from > timer->ended;

	if (timer->state == ORACLE_REFUSED)
		FAIL(timer, "has an event");
	if (has_ended(timer) && after && !final_waits(timer, span->from))
		FAIL(timer, "has an event, its number %llu",
		     (unsigned long long)timer->events + 1);
	if (!timer->interval && timer->events)
		FAIL(timer, "has another event");
	/* An event that was only dropped after it was read waits for no ACK. */
	if (!timer->interval && !timer->oracle->keeps &&
	    (timer->state == ORACLE_CANCELLED ||
	     timer->state == ORACLE_RETURNED))
		FAIL(timer, "has an event");
	if (gone_before(timer, span))
		FAIL(timer, "has an event, but CANCEL did not find it");
	if (unlisted_before(timer, span))
		FAIL(timer, "has an event, but LIST did not show it");
	if (wiped_before(timer, span))
		FAIL(timer, "has an event after CANCEL_ALL");
	if (event->deadline == HWTIMER_NEVER)
		FAIL(timer, "has expired, but must never");
}

static void event_timely(struct oracle_timer *timer,
			 const struct hwtimer_event *event)
{
	uint64_t queued = event->deadline + event->lateness;

	if (event->lateness != UINT32_MAX && queued > latest(timer->oracle))
		FAIL(timer, "expired at %llu, but it is %llu only: too early",
		     (unsigned long long)queued,
		     (unsigned long long)latest(timer->oracle));
	if (event->deadline > latest(timer->oracle))
		FAIL(timer, "expired before its deadline %llu",
		     (unsigned long long)event->deadline);
}

struct oracle_span oracle_read_begin(struct oracle *oracle)
{
	struct oracle_span span = oracle_begin(oracle);

	sim_lock();
	oracle->reads++;
	span.reads = oracle->reading++ ? 0 : oracle->reads;
	sim_unlock();
	return span;
}

void oracle_read_end(struct oracle *oracle)
{
	sim_lock();
	oracle->reading--;
	sim_unlock();
}

/*
 * Whether the events of a timer are reported in the order in which the kernel delivered
 * them, and in order with the RESCHEDULEs: not if another read went on meanwhile, or a
 * RESCHEDULE. One read may return several events of a timer.
 */
static bool in_order(const struct oracle_timer *timer,
		     const struct oracle_span *span)
{
	if (timer->changes || !span->reads ||
	    span->reads != timer->oracle->reads)
		return false;
	return span->from > timer->changed || span->reads == timer->changed_by;
}

/*
 * Whether a call must see @low to @high. While a RESCHEDULE runs, it may see the old
 * deadline or the new one; so may a call that began before the end of RESCHEDULE.
 */
static bool deadline_known(const struct oracle_timer *timer,
			   const struct oracle_span *span)
{
	if (timer->vague || timer->changes)
		return false;
	if (timer->interval)
		return in_order(timer, span);
	return span->from > timer->changed;
}

static void event_deadline(struct oracle_timer *timer,
			   const struct hwtimer_event *event,
			   const struct oracle_span *span)
{
	if (!deadline_known(timer, span))
		return;
	if (event->deadline < timer->low || event->deadline > timer->high)
		FAIL(timer, "has expired for the deadline %llu",
		     (unsigned long long)event->deadline);
}

/* How many deadlines the event had to report at least when it was taken */
static uint64_t expirations_least(const struct oracle_timer *timer,
				  const struct hwtimer_event *event,
				  const struct oracle_span *span)
{
	uint64_t taken = span->since;
	uint64_t least;

	/* Another thread may have got expirations that it has not reported yet. */
	if (timer->left && !in_order(timer, span))
		return 1;
	if (timer->fixed_delay || timer->last || timer->changes ||
	    timer->lost_ok || timer->final || timer->oracle->wiping ||
	    __atomic_load_n(&timer->oracle->stopping, __ATOMIC_RELAXED) ||
	    clock_jumped(timer->oracle) || taken < event->deadline)
		return 1;
	least = (taken - event->deadline) / timer->interval + 1;
	if (timer->left && least > timer->left)
		least = timer->left;
	return least > UINT32_MAX ? UINT32_MAX : least;
}

static void event_expirations(struct oracle_timer *timer,
			      const struct hwtimer_event *event,
			      const struct oracle_span *span)
{
	uint64_t n = event->expirations;
	uint64_t least;

	if (!n || (n > 1 && (!timer->interval || timer->fixed_delay)))
		FAIL(timer, "reports %llu expirations", (unsigned long long)n);
	if (!timer->interval)
		return;
	if (timer->left && n > timer->left)
		FAIL(timer, "reports %llu expirations of %llu that are left",
		     (unsigned long long)n, (unsigned long long)timer->left);
	if (event->deadline + (n - 1) * timer->interval > latest(timer->oracle))
		FAIL(timer, "reports %llu expirations, some before their time",
		     (unsigned long long)n);
	if (timer->oracle->stopped_at &&
	    event->deadline + (n - 1) * timer->interval >
		    timer->oracle->stopped_at)
		FAIL(timer, "reports %llu expirations, some after the stop",
		     (unsigned long long)n);
	if (timer->last &&
	    event->deadline + (n - 1) * timer->interval > timer->last_time)
		FAIL(timer, "reports %llu expirations, some after CANCEL",
		     (unsigned long long)n);
	least = expirations_least(timer, event, span);
	if (n < least)
		FAIL(timer, "reports %llu expirations from %llu on, not %llu",
		     (unsigned long long)n, (unsigned long long)event->deadline,
		     (unsigned long long)least);
}

/*
 * The last event of a timer that CANCEL_ALL has handed back, or one that was read before. Only
 * one read that began afterwards can return it, and it ends where the timer goes on.
 */
static void event_final(struct oracle_timer *timer, uint64_t deadline,
			uint64_t expirations, const struct oracle_span *span)
{
	uint64_t next = deadline + expirations * timer->interval;

	if (!timer->final_left != !timer->left)
		FAIL(timer,
		     "has %llu expirations left, and CANCEL_ALL said %llu",
		     (unsigned long long)timer->left,
		     (unsigned long long)timer->final_left);
	if (!timer->fixed_delay && timer->final_deadline != HWTIMER_NEVER &&
	    (next != timer->final_deadline && span->from > timer->ended))
		FAIL(timer,
		     "reports %llu expirations from %llu on, and CANCEL_ALL went on at %llu",
		     (unsigned long long)expirations,
		     (unsigned long long)deadline,
		     (unsigned long long)timer->final_deadline);
	if (timer->final_sure &&
	    (deadline != timer->low || expirations != timer->final_count))
		FAIL(timer,
		     "reports %llu expirations from %llu on, and CANCEL_ALL said %llu",
		     (unsigned long long)expirations,
		     (unsigned long long)deadline,
		     (unsigned long long)timer->final_count);
	if (span->from > timer->ended || timer->final_sure)
		timer->final_seen = sim_step();
}

/* What is expected next of a periodic timer */
static void event_next(struct oracle_timer *timer, uint64_t deadline,
		       uint64_t expirations, const struct oracle_span *span)
{
	if (timer->left) {
		timer->left -= expirations;
		if (!timer->left) {
			end(timer, ORACLE_DONE);
			return;
		}
	}
	if (has_ended(timer)) {
		timer->vague = true;
		return;
	}
	if (passed_before(timer, span) && in_order(timer, span) &&
	    !timer->last && !timer->lost_ok && !timer->oracle->wiping)
		FAIL(timer, "goes on, but CANCEL_ALL has not handed it back");
	/* Of a read that began earlier, nobody knows whether this was the last. */
	if (timer->last) {
		timer->vague = true;
		if (span->from > timer->last && in_order(timer, span))
			end(timer, ORACLE_DONE);
		return;
	}
	if (!in_order(timer, span)) {
		timer->vague = true;
		return;
	}
	timer->delay = -1;
	timer->vague = false;
	timer->changed = sim_step();
	timer->changed_by = span->reads;
	timer->low = deadline + expirations * timer->interval;
	timer->high = timer->low;
	if (timer->fixed_delay) {
		timer->low = span->since + timer->interval;
		timer->high = latest(timer->oracle) + timer->interval;
	}
}

/* An event is over: it was read, or acknowledged. */
static void event_over(struct oracle_timer *timer, uint64_t deadline,
		       uint64_t expirations, const struct oracle_span *span)
{
	timer->events++;
	timer->oracle->delivered++;
	timer->oracle->missed += expirations - 1;
	if (!timer->interval)
		end(timer, ORACLE_DONE);
	else
		event_next(timer, deadline, expirations, span);
}

/* ---- HWTIMER_SETUP_AT_LEAST_ONCE ---- */

/* Whether the event of a timer may have been dropped since it was read */
static bool may_be_dropped(const struct oracle_timer *timer)
{
	return timer->changes || timer->lost_ok || timer->oracle->wiping ||
	       timer->final_dropped || timer->wiped || timer->doubtful ||
	       timer->state == ORACLE_CANCELLED ||
	       timer->state == ORACLE_REARMED;
}

/* Whether it was dropped before a call began */
static bool dropped_before(const struct oracle_timer *timer,
			   const struct oracle_span *span)
{
	if (wiped_before(timer, span))
		return true;
	if (timer->final)
		return timer->final_dropped &&
		       timer->final_dropped < span->from;
	return (timer->state == ORACLE_CANCELLED ||
		timer->state == ORACLE_REARMED) &&
	       timer->ended < span->from;
}

/* Removes the first @count of the events from number @nr on. */
static void kept_remove(struct oracle *oracle, uint64_t nr, uint64_t count)
{
	uint64_t i;

	for (i = nr; i < nr + count; i++)
		oracle->kept[i].timer->kept = false;
	oracle->nr_kept -= count;
	memmove(&oracle->kept[nr], &oracle->kept[nr + count],
		(oracle->nr_kept - nr) * sizeof(oracle->kept[0]));
}

/* The events before this one, which were to come again, must have been dropped. */
static void kept_skip(struct oracle *oracle, const struct oracle_timer *timer)
{
	while (oracle->reread < oracle->nr_kept) {
		struct oracle_timer *next = oracle->kept[oracle->reread].timer;

		if (next == timer)
			return;
		if (!may_be_dropped(next))
			FAIL(next,
			     "its event does not come again after a rewind");
		/* The call that has dropped it may not have been reported yet. */
		next->final_seen = 0;
		kept_remove(oracle, oracle->reread, 1);
	}
}

/* An event was read, and now waits for its ACK. */
static void kept_add(struct oracle_timer *timer,
		     const struct hwtimer_event *event)
{
	struct oracle *oracle = timer->oracle;
	struct oracle_kept *kept;

	kept_skip(oracle, timer);
	kept = &oracle->kept[oracle->reread++];
	if (oracle->reread <= oracle->nr_kept) {
		if (kept->deadline != event->deadline ||
		    kept->expirations > event->expirations)
			FAIL(timer,
			     "its event has changed: it was for %llu, %u expirations",
			     (unsigned long long)kept->deadline,
			     kept->expirations);
		kept->expirations = event->expirations;
		return;
	}
	if (timer->kept)
		FAIL(timer,
		     "has another event before the last one was acknowledged");
	if (oracle->nr_kept == oracle->kept_room) {
		oracle->kept_room = oracle->kept_room * 2 ?: 256;
		oracle->kept = realloc(oracle->kept,
				       oracle->kept_room * sizeof(*kept));
	}
	oracle->kept[oracle->nr_kept++] =
		(struct oracle_kept){ timer, event->deadline,
				      event->expirations };
	timer->kept = true;
}

uint32_t oracle_reread(struct oracle *oracle)
{
	uint32_t count;

	sim_lock();
	count = oracle->reread;
	sim_unlock();
	return count;
}

void oracle_acknowledged(struct oracle *oracle, uint32_t count,
			 const struct oracle_span *span)
{
	uint32_t i;

	sim_lock();
	for (i = 0; i < count; i++) {
		struct oracle_kept *kept = &oracle->kept[i];
		struct oracle_timer *timer = kept->timer;

		TRACE(timer, "ACK");
		if (dropped_before(timer, span))
			continue;
		if (may_be_dropped(timer)) {
			timer->doubtful = true;
			timer->vague = true;
			oracle->doubts++;
		}
		if (timer->final)
			event_final(timer, kept->deadline, kept->expirations,
				    span);
		event_over(timer, kept->deadline, kept->expirations, span);
	}
	kept_remove(oracle, 0, count);
	oracle->reread -= count;
	sim_unlock();
}

void oracle_rewound(struct oracle *oracle)
{
	sim_lock();
	oracle->reread = 0;
	sim_unlock();
}

/* ---- the event itself ---- */

void oracle_event(struct oracle *oracle, const struct hwtimer_event *event,
		  const struct oracle_span *span)
{
	struct oracle_timer *timer;

	sim_lock();
	timer = timer_find(oracle, event->user_data, event->id);
	TRACE(timer, "has an event: deadline %llu, %u expirations",
	      (unsigned long long)event->deadline, event->expirations);
	event_expected(timer, event, span);
	event_timely(timer, event);
	event_deadline(timer, event, span);
	event_expirations(timer, event, span);
	if (timer->final)
		event_final(timer, event->deadline, event->expirations, span);
	if (oracle->keeps)
		kept_add(timer, event);
	else
		event_over(timer, event->deadline, event->expirations, span);
	__atomic_add_fetch(&sim_counts.events, 1, __ATOMIC_RELAXED);
	sim_unlock();
}

static uint64_t tick_of(const struct oracle *oracle, uint64_t deadline)
{
	return deadline / oracle->tick + !!(deadline % oracle->tick);
}

/*
 * Whether the order within a tick means anything. With stamps of 4 bits it does not: an
 * entry that has outlived all stamps may stand for another timer, and be before its own.
 */
static bool ordered_within_ticks(void)
{
#ifdef HWTIMER_SMALL
	return false;
#else
	return true;
#endif
}

void oracle_order(struct oracle *oracle, const struct hwtimer_event *events,
		  size_t count)
{
	const struct oracle_timer *before = NULL;
	uint64_t tick_before = 0;
	size_t i;

	sim_lock();
	for (i = 0; i < count && !clock_jumped(oracle); i++) {
		const struct oracle_timer *timer =
			timer_find(oracle, events[i].user_data, events[i].id);
		uint64_t tick = tick_of(oracle, events[i].deadline);

		if (!timer->plain || timer->changes)
			continue;
		if (before && tick_before > tick)
			FAIL(timer,
			     "comes after timer %llu, which is for a later tick",
			     number_of(before));
		if (before && tick_before == tick && ordered_within_ticks() &&
		    before->begun > timer->scheduled)
			FAIL(timer,
			     "comes after timer %llu of its tick, which was scheduled later",
			     number_of(before));
		before = timer;
		tick_before = tick;
	}
	sim_unlock();
}

/* ---- CANCEL_ALL ---- */

/* Whether events may have been read during a call. */
static bool may_be_read(const struct oracle *oracle,
			const struct oracle_span *span)
{
	return span->beside || oracle->reads != span->begun;
}

/*
 * A periodic timer was handed back. If its event waits, it is described as it will be after
 * that, so the deadline says how many expirations the event has.
 */
static void returned_periodic(struct oracle_timer *timer,
			      const struct hwtimer_timer *entry,
			      const struct oracle_span *span)
{
	uint64_t after = entry->deadline - timer->low;

	timer->final = true;
	timer->final_deadline = entry->deadline;
	timer->final_left = entry->expirations_left;
	if (timer->vague || timer->changes || timer->fixed_delay ||
	    timer->low != timer->high || span->from <= timer->changed ||
	    may_be_read(timer->oracle, span) ||
	    entry->deadline == HWTIMER_NEVER)
		return;
	if (entry->deadline < timer->low || after % timer->interval)
		FAIL(timer,
		     "CANCEL_ALL has handed it back with the deadline %llu",
		     (unsigned long long)entry->deadline);
	timer->final_count = after / timer->interval;
	timer->final_sure = timer->final_count;
	timer->final = timer->final_count;
	if (timer->left &&
	    timer->left != entry->expirations_left + timer->final_count)
		FAIL(timer,
		     "CANCEL_ALL has handed it back with %u of %llu expirations left",
		     entry->expirations_left, (unsigned long long)timer->left);
}

/*
 * Whether a timer may have ended after CANCEL_ALL had handed it back, because its last event
 * was read or dropped, or the timer was made anew, before that was reported.
 */
static bool ended_afterwards(const struct oracle_timer *timer,
			     const struct oracle_span *span)
{
	if (span->from > timer->ended)
		return false;
	if (timer->state == ORACLE_REARMED)
		return true;
	return timer->interval &&
	       (timer->state == ORACLE_CANCELLED ||
		(timer->state == ORACLE_DONE && timer->last));
}

static void returned_afterwards(struct oracle_timer *timer,
				const struct hwtimer_timer *entry)
{
	if (!timer->vague && !timer->changes && timer->low == timer->high &&
	    entry->deadline <= timer->low && timer->state == ORACLE_CANCELLED)
		FAIL(timer,
		     "CANCEL_ALL has handed it back, too, and it was pending");
	timer->final = timer->interval;
	timer->final_deadline = entry->deadline;
	timer->final_left = entry->expirations_left;
	if (timer->state == ORACLE_DONE)
		timer->final_seen = timer->ended;
	else
		timer->final_dropped = timer->ended;
	timer->droppable |= timer->state == ORACLE_REARMED;
	timer->state = ORACLE_RETURNED;
}

static void returned_well(struct oracle_timer *timer,
			  const struct hwtimer_timer *entry,
			  const struct oracle_span *span)
{
	if (has_ended(timer) || timer->state == ORACLE_REFUSED)
		FAIL(timer, "CANCEL_ALL has handed it back");
	if (timer->events && !timer->interval)
		FAIL(timer, "CANCEL_ALL has handed it back after its event");
	if (gone_before(timer, span))
		FAIL(timer,
		     "CANCEL_ALL has handed it back, but CANCEL did not find it");
	if (unlisted_before(timer, span))
		FAIL(timer,
		     "CANCEL_ALL has handed it back, but LIST did not show it");
	if (timer->last && span->from > timer->last)
		FAIL(timer,
		     "CANCEL_ALL has handed it back, but its event was the last");
	if (passed_before(timer, span))
		FAIL(timer,
		     "CANCEL_ALL has handed it back, but another one did not");
	if (deadline_known(timer, span) &&
	    (entry->deadline < timer->low || entry->deadline > timer->high) &&
	    !timer->interval)
		FAIL(timer,
		     "CANCEL_ALL has handed it back with the deadline %llu",
		     (unsigned long long)entry->deadline);
	if (timer->interval)
		returned_periodic(timer, entry, span);
	end(timer, ORACLE_RETURNED);
}

/* What is so whatever the timer's state */
static void described(const struct oracle_timer *timer,
		      const struct hwtimer_timer *entry)
{
	bool pending = entry->state == HWTIMER_STATE_PENDING;

	if (entry->interval != timer->interval || entry->slack > timer->slack ||
	    entry->flags !=
		    (timer->fixed_delay ? HWTIMER_REQ_FIXED_DELAY : 0) ||
	    entry->deadline > HWTIMER_NEVER ||
	    (entry->deadline == HWTIMER_NEVER ?
		     entry->remaining != HWTIMER_NEVER :
		     entry->remaining > entry->deadline))
		FAIL(timer,
		     "is described with interval %llu, slack %llu, flags %#x",
		     (unsigned long long)entry->interval,
		     (unsigned long long)entry->slack, entry->flags);
	if ((!pending && entry->state != HWTIMER_STATE_EXPIRED) ||
	    pending != !entry->expirations)
		FAIL(timer, "is in state %u with %u expirations", entry->state,
		     entry->expirations);
}

void oracle_returned(struct oracle *oracle, uint32_t flags,
		     const struct hwtimer_timer *entry,
		     const struct oracle_span *span)
{
	struct oracle_timer *timer;

	sim_lock();
	timer = timer_find(oracle, entry->user_data, entry->id);
	TRACE(timer, "CANCEL_ALL: deadline %llu, %u left",
	      (unsigned long long)entry->deadline, entry->expirations_left);
	described(timer, entry);
	if (entry->state != HWTIMER_STATE_PENDING)
		FAIL(timer, "CANCEL_ALL says that it is in state %u",
		     entry->state);
	if (ended_afterwards(timer, span))
		returned_afterwards(timer, entry);
	else
		returned_well(timer, entry, span);
	timer->droppable |= flags & HWTIMER_LIST_DISCARD;
	if (flags & HWTIMER_LIST_DISCARD && !timer->wiped)
		timer->wiped = sim_step();
	sim_unlock();
}

void oracle_stop_end(struct oracle *oracle)
{
	sim_lock();
	if (!oracle->stopped) {
		oracle->stopped = sim_step();
		oracle->stopped_at = latest(oracle);
	}
	sim_unlock();
}

struct oracle_span oracle_wipe(struct oracle *oracle, uint32_t flags)
{
	struct oracle_span span = oracle_begin(oracle);

	sim_lock();
	oracle->wiping++;
	if (flags & HWTIMER_LIST_STOP)
		oracle->stopping = true;
	sim_unlock();
	return span;
}

/* Without an array, or before its end, it does not say what it did to a timer. */
static void timer_wiped(struct oracle_timer *timer,
			const struct hwtimer_list *list,
			const struct oracle_span *span, bool whole)
{
	bool drops = list->flags & HWTIMER_LIST_DISCARD;
	bool sure = whole && timer->scheduled && timer->scheduled < span->from;

	if ((has_ended(timer) && !timer->final && timer->ended < span->from) ||
	    timer->state == ORACLE_REFUSED)
		return;
	timer->droppable |= drops;
	/* It may have ended, and nobody knows whether before its event or after it. */
	timer->vague |= !list->timers;
	timer->lost_ok |= !list->timers || (drops && !sure);
	if (!sure)
		return;
	if (!list->timers)
		event_is_last(timer, UINT64_MAX);
	else if (!timer->passed)
		timer->passed = sim_step();
	if (drops && !timer->wiped)
		timer->wiped = sim_step();
}

void oracle_wiped(struct oracle *oracle, const struct hwtimer_list *list,
		  uint64_t ended, const struct oracle_span *span, bool whole)
{
	uint64_t nr;

	sim_lock();
	oracle->cancelled += ended;
	oracle->wiping--;
	for (nr = 0; nr < oracle->nr_timers; nr++)
		timer_wiped(oracle->timers[nr], list, span, whole);
	sim_unlock();
}

/* ---- QUERY and LIST ---- */

void oracle_queried(struct oracle *oracle, const struct hwtimer_timer *entry,
		    const struct oracle_span *span)
{
	bool pending = entry->state == HWTIMER_STATE_PENDING;
	struct oracle_timer *timer;

	sim_lock();
	timer = timer_find(oracle, entry->user_data, entry->id);
	described(timer, entry);
	if (timer->state == ORACLE_REFUSED ||
	    (has_ended(timer) && span->from > timer->ended &&
	     !final_waits(timer, span->from)) ||
	    gone_before(timer, span) || wiped_before(timer, span) ||
	    (pending && passed_before(timer, span)))
		FAIL(timer, "the kernel describes it");
	if (deadline_known(timer, span) && !timer->interval &&
	    timer->state == ORACLE_LIVE &&
	    (entry->deadline < timer->low || entry->deadline > timer->high))
		FAIL(timer, "the kernel says that its deadline is %llu",
		     (unsigned long long)entry->deadline);
	sim_unlock();
}

/* The time at which a timer must have expired, if the machine is fast enough */
static uint64_t expires(const struct oracle_timer *timer)
{
	uint64_t late = timer->slack + 2 * timer->oracle->tick;

	return late > HWTIMER_NEVER - timer->high ? HWTIMER_NEVER :
						    timer->high + late;
}

/* Whether a timer was pending during a call, or its event waited to be read */
static bool lived(const struct oracle_timer *timer,
		  const struct oracle_span *span)
{
	return timer->state == ORACLE_LIVE && !timer->interval &&
	       timer->scheduled && timer->scheduled < span->from &&
	       timer->changed < span->from && !timer->changes &&
	       !timer->vague && !timer->lost_ok && !timer->gone &&
	       !timer->last && !timer->passed && !timer->kept &&
	       !timer->doubtful;
}

void oracle_next(struct oracle *oracle, uint64_t until,
		 const struct oracle_span *span)
{
	uint64_t nr, next = deadline_after(span->since, until);
	bool full;

	sim_lock();
	if (until > HWTIMER_NEVER)
		sim_fail("instance %u, INFO: until_next %llu", oracle->nr,
			 (unsigned long long)until);
	/* Those that wait to be acknowledged may fill the ring. */
	full = until == HWTIMER_NEVER && oracle->nr_kept;
	for (nr = 0; nr < oracle->nr_timers; nr++) {
		const struct oracle_timer *timer = oracle->timers[nr];

		if (full || oracle->wiping || oracle->stopping ||
		    clock_jumped(oracle) || may_be_read(oracle, span))
			break;
		/* One that was overdue when it was scheduled expires with the next tick. */
		if (until > timer->slack + 2 * oracle->tick &&
		    next > expires(timer) && lived(timer, span))
			FAIL(timer,
			     "INFO says that nothing expires for %llu ns",
			     (unsigned long long)until);
	}
	sim_unlock();
}

uint64_t oracle_list_begin(struct oracle *oracle)
{
	uint64_t list;

	sim_lock();
	list = ++oracle->lists;
	sim_unlock();
	return list;
}

void oracle_listed(struct oracle *oracle, uint64_t list,
		   const struct hwtimer_timer *entry,
		   const struct oracle_span *span)
{
	struct oracle_timer *timer;

	oracle_queried(oracle, entry, span);
	sim_lock();
	timer = timer_find(oracle, entry->user_data, entry->id);
	if (timer->listed == list)
		FAIL(timer, "LIST shows it twice");
	timer->listed = list;
	sim_unlock();
}

/* All pages are there: what they lack must have ended, or had not begun. */
void oracle_list_end(struct oracle *oracle, uint64_t list,
		     const struct oracle_span *span)
{
	uint64_t nr;

	sim_lock();
	for (nr = 0; nr < oracle->nr_timers; nr++) {
		struct oracle_timer *timer = oracle->timers[nr];

		if (timer->state == ORACLE_LIVE && timer->listed != list &&
		    timer->scheduled < span->from && !timer->unlisted &&
		    oracle->lists == list)
			timer->unlisted = sim_step();
	}
	sim_unlock();
}

/* ---- counters ---- */

#define EXPECT(what, left, right)                            \
	do {                                                 \
		unsigned long long l = (left), r = (right);  \
		if (l != r)                                  \
			sim_fail("instance %u, STATS: " what \
				 ": %llu, not %llu",         \
				 oracle->nr, l, r);          \
	} while (0)

void oracle_stats(struct oracle *oracle, const struct hwtimer_stats *stats)
{
	EXPECT("scheduled + rearmed",
	       stats->pending + stats->cancelled + stats->expired,
	       stats->scheduled + stats->rearmed);
	EXPECT("expired", stats->ready + stats->delivered + stats->discarded,
	       stats->expired);
	if (stats->bytes > stats->bytes_peak)
		sim_fail("instance %u, STATS: bytes %llu, bytes_peak %llu",
			 oracle->nr, (unsigned long long)stats->bytes,
			 (unsigned long long)stats->bytes_peak);
}

static uint64_t lateness_events(const struct hwtimer_stats *stats)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++)
		sum += stats->lateness[i];
	return sum;
}

/* Whether the sum of all latenesses is one that events in these buckets can have */
static bool lateness_sum_fits(const struct hwtimer_stats *stats)
{
	uint64_t least = 0, most = 0;
	unsigned int i;

	for (i = 0; i < HWTIMER_LATENESS_BUCKETS; i++) {
		uint64_t low = HWTIMER_LATENESS_BOUND(i);
		uint64_t high = i + 1 < HWTIMER_LATENESS_BUCKETS ?
					HWTIMER_LATENESS_BOUND(i + 1) - 1 :
					UINT32_MAX;

		least += stats->lateness[i] *
			 (low < UINT32_MAX ? low : UINT32_MAX);
		most += stats->lateness[i] *
			(high < UINT32_MAX ? high : UINT32_MAX);
	}
	return least <= stats->lateness_sum && stats->lateness_sum <= most;
}

/*
 * Whether HWTIMER_REQ_REARM or CANCEL_ALL must have dropped the event of a timer: it expires
 * once, and has had no event.
 */
static bool must_be_dropped(const struct oracle_timer *timer)
{
	return (timer->state == ORACLE_REARMED ||
		(timer->state == ORACLE_LIVE && timer->wiped)) &&
	       !timer->interval && !timer->events && !timer->lost_ok &&
	       !timer->doubtful;
}

/* The same of periodic timers, too, of which nobody knows. CANCEL has told what it dropped. */
static bool can_be_dropped(const struct oracle_timer *timer)
{
	if (timer->state == ORACLE_REFUSED ||
	    timer->state == ORACLE_CANCELLED ||
	    (timer->state == ORACLE_RETURNED && !timer->interval))
		return false;
	return (timer->state == ORACLE_REARMED || timer->droppable) &&
	       (timer->interval || !timer->events || timer->doubtful);
}

static uint64_t count_timers(const struct oracle *oracle,
			     bool (*which)(const struct oracle_timer *timer))
{
	uint64_t nr, count = 0;

	for (nr = 0; nr < oracle->nr_timers; nr++)
		count += which(oracle->timers[nr]);
	return count;
}

void oracle_stats_at_rest(struct oracle *oracle,
			  const struct hwtimer_stats *stats)
{
	uint64_t dropped, least, most;

	EXPECT("lateness, events", lateness_events(stats), stats->expired);
	EXPECT("lateness_sum fits the buckets", lateness_sum_fits(stats), true);
	if (!oracle->doubts) {
		EXPECT("delivered", stats->delivered, oracle->delivered);
		EXPECT("missed", stats->missed, oracle->missed);
	}
	EXPECT("delivered, at most",
	       stats->delivered <= oracle->delivered &&
		       stats->delivered + oracle->doubts >= oracle->delivered,
	       true);
	if (oracle->unsure)
		return;
	EXPECT("scheduled", stats->scheduled, oracle->scheduled);
	dropped = stats->cancelled + stats->discarded - oracle->cancelled;
	least = count_timers(oracle, must_be_dropped);
	most = count_timers(oracle, can_be_dropped);
	if (dropped < least || dropped > most)
		sim_fail(
			"instance %u, STATS: cancelled + discarded: %llu, CANCEL ended %llu, other calls dropped %llu to %llu events",
			oracle->nr,
			(unsigned long long)(stats->cancelled +
					     stats->discarded),
			(unsigned long long)oracle->cancelled,
			(unsigned long long)least, (unsigned long long)most);
	EXPECT("rescheduled", stats->rescheduled, oracle->rescheduled);
}

/* ---- the end ---- */

static bool overdue(const struct oracle_timer *timer)
{
	const struct oracle *oracle = timer->oracle;
	uint64_t now = oracle_now(oracle);

	if (timer->vague)
		return false;
	/* If there are too many for the machine, the next one is always due. */
	if (timer->interval && timer->events > timer->settled_events)
		return false;
	return now > expires(timer);
}

void oracle_settle(struct oracle *oracle)
{
	uint64_t nr;

	sim_lock();
	for (nr = 0; nr < oracle->nr_timers; nr++)
		oracle->timers[nr]->settled_events = oracle->timers[nr]->events;
	sim_unlock();
}

/*
 * Whether the last event of a periodic timer has come, or may have: CANCEL said that it
 * waits.
 */
static bool last_may_be_over(const struct oracle_timer *timer)
{
	return timer->interval && timer->last &&
	       timer->events != timer->last_events;
}

/* Whether CANCEL_ALL has dropped the event of a timer, or may have: it was the last one. */
static bool may_be_wiped(const struct oracle_timer *timer)
{
	return timer->wiped && (!timer->interval || timer->left || timer->last);
}

/* Whether a timer has ended, or may have without anybody hearing of it */
static bool may_be_over(const struct oracle_timer *timer)
{
	return timer->state != ORACLE_LIVE || timer->lost_ok ||
	       last_may_be_over(timer) || may_be_wiped(timer);
}

/* A timer whose event should be there by now; NULL: none */
static const struct oracle_timer *missing(const struct oracle *oracle)
{
	uint64_t nr;

	for (nr = 0; nr < oracle->nr_timers; nr++) {
		const struct oracle_timer *timer = oracle->timers[nr];

		if (may_be_over(timer))
			continue;
		if (timer->gone || timer->last || timer->passed ||
		    overdue(timer))
			return timer;
	}
	return NULL;
}

bool oracle_settled(struct oracle *oracle)
{
	bool settled;

	sim_lock();
	settled = !missing(oracle);
	sim_unlock();
	return settled;
}

void oracle_unsettled(struct oracle *oracle)
{
	const struct oracle_timer *timer = missing(oracle);

	if (timer)
		FAIL(timer, "is lost: it is %llu%s",
		     (unsigned long long)oracle_now(oracle),
		     timer->gone ? ", and the kernel does not know it" : "");
}

void oracle_stopped(struct oracle *oracle)
{
	uint64_t nr;

	sim_lock();
	for (nr = 0; nr < oracle->nr_timers; nr++) {
		const struct oracle_timer *timer = oracle->timers[nr];

		if (!may_be_over(timer))
			FAIL(timer, "is lost: CANCEL_ALL did not hand it back");
		if (timer->lost_ok || timer->final_dropped || timer->wiped)
			continue;
		if (timer->final_sure && !timer->final_seen)
			FAIL(timer,
			     "was handed back, and its last event did not come");
		if (timer->state == ORACLE_RETURNED && !timer->doubtful &&
		    timer->left != timer->final_left)
			FAIL(timer,
			     "has %llu expirations left, but CANCEL_ALL said %llu",
			     (unsigned long long)timer->left,
			     (unsigned long long)timer->final_left);
	}
	kept_skip(oracle, NULL);
	if (oracle->nr_kept)
		sim_fail("instance %u: %llu events are not acknowledged",
			 oracle->nr, (unsigned long long)oracle->nr_kept);
	sim_unlock();
}
