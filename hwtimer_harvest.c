// SPDX-License-Identifier: GPL-2.0
/*
 * How timers leave the instance: events that read() delivers, that are put into
 * the completion ring or that a client's callback gets, timers that STOP hands
 * back.
 *
 * The ring is memory of the kernel's, so an event is there at once: the record
 * is freed, or goes on, in the same hold of the lock. It never passes those that
 * wait in the queue, nor those that a reader is just taking out of its front.
 *
 * read() and STOP work in the same way. Under the lock a batch is written to a
 * page of the kernel's, and its records are marked as leaving, or returning, so
 * that nobody can cancel them. Without the lock the page is copied to user space,
 * which may sleep. Under the lock again, what has arrived is freed, and the rest
 * is what it was: a timer leaves only when user space has it. In an instance without
 * periodic timers and without a client, a timer that leaves is marked free at once,
 * which saves a second look at its record; the record is not used again before the
 * event has arrived. instance->harvest keeps a second reader from taking the same
 * batch. A client in the kernel has its functions called instead of the copy.
 */
#include <linux/prefetch.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "hwtimer.h"
#include "hwtimer_completion.h"
#include "hwtimer_harvest.h"
#include "hwtimer_notice.h"
#include "hwtimer_period.h"
#include "hwtimer_ring.h"
#include "hwtimer_trace.h"

/* The record at slot @slot of the head of the queue of events. */
static struct hwtimer_record *
ready_record(const struct hwtimer_instance *instance,
	     const struct hwtimer_chunk *chunk, unsigned int slot)
{
	return hwtimer_table_record(&instance->table, chunk->indices[slot]);
}

/* Takes the first index out of the queue of events. */
static u32 ready_take(struct hwtimer_instance *instance)
{
	struct hwtimer_queue *ready = &instance->ready;
	u32 index = ready->head->indices[ready->first];

	hwtimer_queue_take(ready, &instance->pool, 1);
	return index;
}

/**
 * hwtimer_harvest_discarded - free discarded events that have got to the front
 * @instance: its lock is not held
 *
 * Return: how many they were, HWTIMER_HOLD at the most.
 */
u32 hwtimer_harvest_discarded(struct hwtimer_instance *instance)
{
	struct hwtimer_queue *ready = &instance->ready;
	unsigned int max = HWTIMER_HOLD;
	u64 discards;
	u32 freed;

	/* Mostly there are none, and if there is a new one it can wait. */
	if (!READ_ONCE(instance->discards))
		return 0;
	spin_lock(&instance->lock);
	discards = instance->discards;
	while (instance->discards && max-- &&
	       ready_record(instance, ready->head, ready->first)->state ==
		       HWTIMER_DISCARDED) {
		hwtimer_period_free(instance, ready_take(instance));
		hwtimer_instance_add_discards(instance, -1);
	}
	hwtimer_supply_trim(instance);
	freed = discards - instance->discards;
	spin_unlock(&instance->lock);
	return freed;
}

static void event_fill(const struct hwtimer_instance *instance,
		       struct hwtimer_event *event,
		       const struct hwtimer_record *record, u32 index, u64 now)
{
	*event = (struct hwtimer_event){
		.id = hwtimer_table_id(record, index),
		.user_data = record->user_data,
		.deadline = record->deadline,
		.lateness = record->lateness,
		.expirations = 1,
	};
	if (unlikely(hwtimer_record_periodic(record))) {
		event->user_data =
			hwtimer_table_user_data(&instance->table, record);
		event->expirations =
			hwtimer_period_expirations(instance, record, now);
	}
}

/*
 * Writes the events from slot @slot of @chunk on to @events, and returns how
 * many they are: less than @max if the chunk ends or a discarded event is in
 * the way. Meanwhile the records of the next chunk come in.
 */
static u32 events_take_chunk(struct hwtimer_instance *instance,
			     const struct hwtimer_chunk *chunk,
			     unsigned int slot, struct hwtimer_event *events,
			     u32 max, u64 now)
{
	const struct hwtimer_queue *ready = &instance->ready;
	const struct hwtimer_chunk *next = chunk == ready->tail ? NULL :
								  chunk->next;
	u32 next_end = next ? hwtimer_queue_end(ready, next) : 0;
	u32 i, count = min(max, hwtimer_queue_end(ready, chunk) - slot);
	u8 state = instance->leaving.free ? HWTIMER_FREE : HWTIMER_LEAVING;

	if (next && next != ready->tail)
		hwtimer_chunk_prefetch(next->next);
	for (i = 0; i < count; i++, slot++) {
		struct hwtimer_record *record =
			ready_record(instance, chunk, slot);

		if (slot < next_end)
			prefetchw(ready_record(instance, next, slot));
		if (record->state == HWTIMER_DISCARDED)
			break;
		record->state = state;
		event_fill(instance, &events[i], record, chunk->indices[slot],
			   now);
	}
	return i;
}

/*
 * Writes events to the page until it is full, the queue ends, or a discarded
 * event is in the way. Their records are leaving afterwards; returns how many.
 */
static u32 events_take(struct hwtimer_instance *instance, u32 max, u64 now)
{
	const struct hwtimer_queue *ready = &instance->ready;
	const struct hwtimer_chunk *chunk = ready->head;
	struct hwtimer_event *events = instance->leaving.page;
	unsigned int slot = ready->first;
	u32 taken = 0;

	instance->leaving.free = !instance->periodic && !instance->callbacks;
	while (chunk && taken < max) {
		u32 count = events_take_chunk(instance, chunk, slot,
					      &events[taken], max - taken, now);

		taken += count;
		if (slot + count < hwtimer_queue_end(ready, chunk))
			break;
		chunk = chunk == ready->tail ? NULL : chunk->next;
		slot = chunk ? chunk->first : 0;
	}
	return taken;
}

/* The first @count events have arrived, of records that are free already. */
static void events_release(struct hwtimer_instance *instance, u32 count)
{
	const struct hwtimer_event *events = instance->leaving.page;
	u32 i;

	for (i = 0; i < count; i++)
		hwtimer_table_release(&instance->table,
				      upper_32_bits(events[i].id),
				      lower_32_bits(events[i].id));
	instance->table.used -= count;
	hwtimer_queue_drop(&instance->ready, &instance->pool, count);
	instance->stats.delivered += count;
}

/*
 * An event has arrived, and is not in the queue any more: its timer has ended,
 * or goes on.
 */
static void event_finish(struct hwtimer_instance *instance, u32 index,
			 u32 expirations, u64 now)
{
	instance->stats.delivered++;
	instance->stats.missed += expirations - 1;
	if (!hwtimer_period_rearm(instance, index, expirations, now)) {
		hwtimer_period_free(instance, index);
		return;
	}
	/* STOP may have come past it already. */
	instance->stopping.cursor =
		min_t(u64, instance->stopping.cursor, index);
}

/* Before events are finished: timers that go on may lie before the tick. */
static void rearm_begin(struct hwtimer_instance *instance)
{
	if (instance->periodic)
		hwtimer_wakeup_follow(instance, hwtimer_instance_now(instance));
}

/* Afterwards; @rearmed is what the counter was before. */
static void rearm_end(struct hwtimer_instance *instance, u64 rearmed)
{
	if (instance->stats.rearmed == rearmed)
		return;
	hwtimer_wakeup_rearm(instance);
	hwtimer_notice_watch_clock(instance);
}

/*
 * The first @copied of the @taken events have arrived; the others stay. They
 * were taken at @now.
 */
static void events_finish(struct hwtimer_instance *instance, u32 taken,
			  u32 copied, u64 now)
{
	const struct hwtimer_event *events = instance->leaving.page;
	u64 rearmed = instance->stats.rearmed;
	u32 i;

	if (trace_hwtimer_deliver_enabled())
		hwtimer_trace_deliver(instance, events, copied, false);
	if (likely(instance->leaving.free)) {
		events_release(instance, copied);
	} else {
		rearm_begin(instance);
		for (i = 0; i < copied; i++)
			event_finish(instance, ready_take(instance),
				     events[i].expirations, now);
	}
	for (i = copied; i < taken; i++)
		hwtimer_table_record(&instance->table,
				     lower_32_bits(events[i].id))
			->state = HWTIMER_EXPIRED;
	hwtimer_instance_add_ready(instance, -(s64)copied);
	hwtimer_completion_publish(instance);
	hwtimer_notice_taken(instance);
	rearm_end(instance, rearmed);
}

/* Tracing is told what event_put() will do; that keeps its event in registers. */
static noinline void event_put_traced(const struct hwtimer_instance *instance,
				      u32 index, u64 now)
{
	struct hwtimer_event event;

	event_fill(instance, &event,
		   hwtimer_table_record(&instance->table, index), index, now);
	hwtimer_trace_deliver(instance, &event, 1, true);
}

/* Puts the event of an expired record, not in the queue, into the ring. */
static void event_put(struct hwtimer_instance *instance, u32 index, u64 now)
{
	const struct hwtimer_record *record =
		hwtimer_table_record(&instance->table, index);
	struct hwtimer_event event;

	if (trace_hwtimer_deliver_enabled())
		event_put_traced(instance, index, now);
	event_fill(instance, &event, record, index, now);
	hwtimer_ring_put(instance->exchange.ring, &event);
	instance->stats.completed++;
	event_finish(instance, index, event.expirations, now);
}

/**
 * hwtimer_harvest_at_once - deliver events through the ring as they come
 * @instance: whose; its lock is held
 * @due: records that have expired, and are not in the queue of events
 * @count: how many
 * @now: ns on the instance's clock
 *
 * hwtimer_completion_publish() is to follow, and the wheel to be looked at anew.
 *
 * Return: how many. For the others there is no room, or others come first.
 */
unsigned int hwtimer_harvest_at_once(struct hwtimer_instance *instance,
				     const u32 *due, unsigned int count,
				     u64 now)
{
	struct hwtimer_ring *ring = instance->exchange.ring;
	unsigned int done = 0;

	lockdep_assert_held(&instance->lock);
	if (!ring || !ring->completions)
		return 0;
	if (hwtimer_queue_empty(&instance->ready))
		while (done < count && hwtimer_ring_has_room(ring))
			event_put(instance, due[done++], now);
	instance->stats.overflowed += count - done;
	return done;
}

/* Moves the first of the events that wait into the ring, if it may go. */
static bool event_flush(struct hwtimer_instance *instance, u64 now)
{
	const struct hwtimer_queue *ready = &instance->ready;

	switch (ready_record(instance, ready->head, ready->first)->state) {
	case HWTIMER_DISCARDED:
		hwtimer_period_free(instance, ready_take(instance));
		hwtimer_instance_add_discards(instance, -1);
		return true;
	case HWTIMER_EXPIRED:
		if (!hwtimer_ring_has_room(instance->exchange.ring))
			return false;
		hwtimer_instance_add_ready(instance, -1);
		event_put(instance, ready_take(instance), now);
		return true;
	default:
		return false;
	}
}

/**
 * hwtimer_harvest_flush - move events that wait into the ring
 * @instance: whose; its lock is held, and it has rings
 *
 * hwtimer_completion_publish() is to follow.
 *
 * Return: how many have left the queue, HWTIMER_HOLD at the most.
 */
u32 hwtimer_harvest_flush(struct hwtimer_instance *instance)
{
	u64 now = hwtimer_instance_now(instance);
	u64 rearmed = instance->stats.rearmed;
	u32 moved = 0;

	lockdep_assert_held(&instance->lock);
	rearm_begin(instance);
	while (moved < HWTIMER_HOLD && !hwtimer_queue_empty(&instance->ready) &&
	       event_flush(instance, now))
		moved++;
	rearm_end(instance, rearmed);
	hwtimer_supply_trim(instance);
	return moved;
}

/**
 * hwtimer_harvest_take - begin to deliver events
 * @instance: whose; its harvest mutex is held, and its lock is not
 * @max: so many at the most, up to HWTIMER_BATCH
 * @now: out: when they were taken, ns on the instance's clock
 *
 * Return: how many are in instance->leaving.page, until hwtimer_harvest_finish().
 */
u32 hwtimer_harvest_take(struct hwtimer_instance *instance, u32 max, u64 *now)
{
	u32 taken;

	lockdep_assert_held(&instance->harvest);
	spin_lock(&instance->lock);
	*now = hwtimer_instance_now(instance);
	taken = events_take(instance, max, *now);
	spin_unlock(&instance->lock);
	return taken;
}

/**
 * hwtimer_harvest_finish - end what hwtimer_harvest_take() has begun
 * @instance: as there
 * @taken: what it returned
 * @copied: of those, how many have arrived; the others stay
 * @now: ns on the instance's clock, from when on those with a fixed delay wait
 */
void hwtimer_harvest_finish(struct hwtimer_instance *instance, u32 taken,
			    u32 copied, u64 now)
{
	bool drained;

	lockdep_assert_held(&instance->harvest);
	spin_lock(&instance->lock);
	events_finish(instance, taken, copied, now);
	hwtimer_supply_trim(instance);
	drained = copied && hwtimer_instance_drained(instance);
	spin_unlock(&instance->lock);
	if (drained)
		hwtimer_notice_hang_up(instance);
}

/*
 * Takes instance->harvest for read(). The holder may wait for a page of its buffer; with
 * userfaultfd, for ever. So a reader that must not wait is refused. It sets
 * instance->leaving.refused first, so that harvest_unlock() wakes it.
 */
static int harvest_lock(struct hwtimer_instance *instance, bool nonblock)
{
	if (!nonblock)
		return mutex_lock_interruptible(&instance->harvest) ?
			       -ERESTARTSYS :
			       0;
	if (likely(mutex_trylock(&instance->harvest)))
		return 0;
	WRITE_ONCE(instance->leaving.refused, true);
	/* Pairs with that in harvest_unlock(): it sees this, or we find it free. */
	smp_mb();
	return mutex_trylock(&instance->harvest) ? 0 : -EAGAIN;
}

/*
 * A reader that was refused may have been told of events that are left now, and may
 * not look again before it is told again.
 */
static void harvest_unlock(struct hwtimer_instance *instance)
{
	mutex_unlock(&instance->harvest);
	/* Pairs with that in harvest_lock(). */
	smp_mb();
	if (likely(!READ_ONCE(instance->leaving.refused)))
		return;
	WRITE_ONCE(instance->leaving.refused, false);
	if (hwtimer_notice_readable(instance))
		hwtimer_notice_wake(instance, EPOLLIN | EPOLLRDNORM);
}

/**
 * hwtimer_harvest_events - deliver events
 * @instance: whose
 * @buffer: in user space
 * @count: bytes, enough for one event
 * @nonblock: do not wait for another reader
 *
 * Return: bytes written, whole events; 0 if there is none; -EFAULT,
 * -ERESTARTSYS; -EAGAIN: another reader is at it, or STOP. May sleep, but does not
 * wait for events.
 */
ssize_t hwtimer_harvest_events(struct hwtimer_instance *instance,
			       char __user *buffer, size_t count, bool nonblock)
{
	const struct hwtimer_event *event;
	size_t room = count / sizeof(*event);
	size_t done = 0;
	int err = harvest_lock(instance, nonblock);

	if (err)
		return err;
	while (done < room && !err) {
		u32 max = min_t(size_t, room - done, HWTIMER_BATCH);
		u32 taken, copied;
		size_t left;
		u64 now;

		hwtimer_harvest_discarded(instance);
		taken = hwtimer_harvest_take(instance, max, &now);
		/* None, but some are ready: discarded ones are in front. */
		if (!taken && !READ_ONCE(instance->stats.ready))
			break;

		left = copy_to_user(buffer + done * sizeof(*event),
				    instance->leaving.page,
				    taken * sizeof(*event));
		copied = taken - DIV_ROUND_UP(left, sizeof(*event));
		hwtimer_harvest_finish(instance, taken, copied, now);

		done += copied;
		if (copied < taken)
			err = -EFAULT;
		else if (signal_pending(current))
			err = -ERESTARTSYS;
		cond_resched();
	}
	harvest_unlock(instance);
	return done ? (ssize_t)(done * sizeof(*event)) : err;
}

static void unprocessed_fill(const struct hwtimer_instance *instance,
			     struct hwtimer_unprocessed *timer,
			     const struct hwtimer_record *record, u32 index,
			     u64 now)
{
	struct hwtimer_period period = hwtimer_period_get(instance, record);

	*timer = (struct hwtimer_unprocessed){
		.id = hwtimer_table_id(record, index),
		.user_data = period.user_data,
		.deadline = record->deadline,
		.remaining = record->deadline - min(record->deadline, now),
		.interval = period.interval,
		.slack = hwtimer_wheel_slack(&instance->wheel, record->align),
		.count = period.count,
		.flags = period.flags,
	};
}

/* An expired timer, out of the queue, becomes one that was never processed. */
static void expired_return(struct hwtimer_instance *instance, u32 index)
{
	struct hwtimer_unprocessed *timer = instance->leaving.page;
	struct hwtimer_record *record =
		hwtimer_table_record(&instance->table, index);

	if (trace_hwtimer_discard_enabled())
		hwtimer_trace_discard(instance, index);
	record->state = HWTIMER_RETURNING;
	/* Nothing remains, whatever the clock was set to since it has expired. */
	unprocessed_fill(instance, timer, record, index, record->deadline);
	hwtimer_instance_add_ready(instance, -1);
	instance->stats.discarded++;
}

/*
 * Writes the first timer whose event waits to the page, as what was never processed,
 * unless HWTIMER_HOLD discarded ones come first. Its record is returning afterwards,
 * and not in the queue any more; returns how many: 1 or 0.
 */
static u32 expired_take(struct hwtimer_instance *instance)
{
	unsigned int max = HWTIMER_HOLD;

	while (max-- && !hwtimer_queue_empty(&instance->ready)) {
		u32 index = ready_take(instance);

		if (hwtimer_table_record(&instance->table, index)->state !=
		    HWTIMER_DISCARDED) {
			expired_return(instance, index);
			return 1;
		}
		hwtimer_period_free(instance, index);
		hwtimer_instance_add_discards(instance, -1);
	}
	return 0;
}

/**
 * hwtimer_harvest_take_expired - begin to hand back a timer whose event waits
 * @instance: stopped; its harvest mutex is held, and its lock is not
 * @more: out: whether there may be others
 *
 * Return: how many are in instance->leaving.page, 1 or 0, until
 * hwtimer_harvest_finish_expired().
 */
u32 hwtimer_harvest_take_expired(struct hwtimer_instance *instance, bool *more)
{
	u32 taken;

	lockdep_assert_held(&instance->harvest);
	spin_lock(&instance->lock);
	taken = expired_take(instance);
	*more = !hwtimer_queue_empty(&instance->ready);
	spin_unlock(&instance->lock);
	return taken;
}

/* It has arrived. */
void hwtimer_harvest_finish_expired(struct hwtimer_instance *instance)
{
	const struct hwtimer_unprocessed *timer = instance->leaving.page;

	lockdep_assert_held(&instance->harvest);
	spin_lock(&instance->lock);
	hwtimer_period_free(instance, lower_32_bits(timer->id));
	spin_unlock(&instance->lock);
}

/*
 * Writes pending timers to the page, from record *@cursor on, until it is full
 * or HWTIMER_HOLD records have been looked at. Those are returning afterwards;
 * returns how many.
 */
static u32 unprocessed_take(struct hwtimer_instance *instance, u64 *cursor,
			    u32 max)
{
	u64 now = hwtimer_instance_now(instance);
	struct hwtimer_unprocessed *timers = instance->leaving.page;
	u64 end = *cursor + HWTIMER_HOLD;
	u32 taken = 0;

	while (taken < max && *cursor < end) {
		struct hwtimer_record *record;

		record = hwtimer_table_next(&instance->table, cursor,
					    end - *cursor);
		if (!record)
			break;
		if (record->state == HWTIMER_PENDING) {
			record->state = HWTIMER_RETURNING;
			unprocessed_fill(instance, &timers[taken++], record,
					 *cursor, now);
		}
		++*cursor;
	}
	return taken;
}

/* The first @copied of the @taken timers have arrived; the others stay. */
static void unprocessed_finish(struct hwtimer_instance *instance, u32 taken,
			       u32 copied)
{
	const struct hwtimer_unprocessed *timers = instance->leaving.page;
	u32 i;

	if (trace_hwtimer_unprocessed_enabled())
		hwtimer_trace_unprocessed(instance, timers, copied);
	for (i = 0; i < taken; i++) {
		u32 index = lower_32_bits(timers[i].id);
		struct hwtimer_record *record =
			hwtimer_table_record(&instance->table, index);

		if (i < copied) {
			hwtimer_wheel_remove(&instance->wheel, record);
			hwtimer_period_free(instance, index);
		} else {
			record->state = HWTIMER_PENDING;
		}
	}
	instance->stats.pending -= copied;
	instance->stats.unprocessed += copied;
	/* A periodic timer before it may have become pending meanwhile. */
	if (copied < taken)
		instance->stopping.cursor =
			min_t(u64, instance->stopping.cursor,
			      lower_32_bits(timers[copied].id));
}

/**
 * hwtimer_harvest_take_pending - begin to hand back pending timers
 * @instance: stopped; its harvest mutex is held, and its lock is not
 * @max: so many at the most, up to HWTIMER_STOP_BATCH
 * @more: out: whether there may be others
 *
 * Return: how many are in instance->leaving.page, until
 * hwtimer_harvest_finish_pending().
 */
u32 hwtimer_harvest_take_pending(struct hwtimer_instance *instance, u32 max,
				 bool *more)
{
	u32 taken;

	lockdep_assert_held(&instance->harvest);
	spin_lock(&instance->lock);
	taken = unprocessed_take(instance, &instance->stopping.cursor, max);
	*more = instance->stopping.cursor < hwtimer_table_end(&instance->table);
	spin_unlock(&instance->lock);
	return taken;
}

/* The first @copied of the @taken timers have arrived; the others stay. */
void hwtimer_harvest_finish_pending(struct hwtimer_instance *instance,
				    u32 taken, u32 copied)
{
	lockdep_assert_held(&instance->harvest);
	spin_lock(&instance->lock);
	unprocessed_finish(instance, taken, copied);
	spin_unlock(&instance->lock);
}

/*
 * Counts the periodic timers that rest, once, HWTIMER_HOLD records at a time; an
 * instance without any is not looked at. Returns 0 or -EINTR: to be continued.
 */
static int survey_resting(struct hwtimer_instance *instance)
{
	const struct hwtimer_table *table = &instance->table;
	u64 *cursor = &instance->stopping.surveyed;
	bool more;

	lockdep_assert_held(&instance->harvest);
	do {
		u64 end = *cursor + HWTIMER_HOLD;
		struct hwtimer_record *record;

		spin_lock(&instance->lock);
		while (instance->periodic && *cursor < end) {
			record = hwtimer_table_next(table, cursor,
						    end - *cursor);
			if (!record)
				break;
			hwtimer_period_survey(instance, record);
			++*cursor;
		}
		more = instance->periodic && *cursor < hwtimer_table_end(table);
		spin_unlock(&instance->lock);
		if (more && signal_pending(current))
			return -EINTR;
		cond_resched();
	} while (more);
	return 0;
}

/*
 * How many timers are still to be handed back. Returns whether there are some, and
 * all of them rest.
 */
static bool timers_left(struct hwtimer_instance *instance, u64 *left)
{
	bool all_rest;

	spin_lock(&instance->lock);
	*left = instance->stats.pending + instance->stopping.resting;
	all_rest = instance->stopping.resting && !instance->stats.pending;
	spin_unlock(&instance->lock);
	return all_rest;
}

/**
 * hwtimer_harvest_unprocessed - hand back pending timers
 * @instance: stopped
 * @timers: in user space
 * @count: length of @timers
 * @left: out: how many are still to be handed back, those that rest included
 *
 * Each timer is handed back once, in whichever call has room for it.
 *
 * Return: how many were written; -EAGAIN (all that are left rest), -EFAULT, -EINTR,
 * -ERESTARTSYS (@left is not written). May sleep.
 */
ssize_t hwtimer_harvest_unprocessed(struct hwtimer_instance *instance,
				    struct hwtimer_unprocessed __user *timers,
				    u32 count, u64 *left)
{
	u32 done = 0;
	int err = harvest_lock(instance, false);

	if (err)
		return err;
	err = survey_resting(instance);
	while (done < count && !err) {
		u32 max = min(count - done, HWTIMER_STOP_BATCH);
		u32 taken, copied;
		size_t left;
		bool more;

		taken = hwtimer_harvest_take_pending(instance, max, &more);
		left = copy_to_user(timers + done, instance->leaving.page,
				    taken * sizeof(*timers));
		copied = taken - DIV_ROUND_UP(left, sizeof(*timers));
		hwtimer_harvest_finish_pending(instance, taken, copied);

		done += copied;
		if (copied < taken)
			err = -EFAULT;
		else if (!more)
			break;
		else if (signal_pending(current))
			err = -EINTR;
		cond_resched();
	}
	if (timers_left(instance, left) && !err && !done && count)
		err = -EAGAIN;
	harvest_unlock(instance);
	return done ? (ssize_t)done : err;
}
