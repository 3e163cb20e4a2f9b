// SPDX-License-Identifier: GPL-2.0
/*
 * Delivers events and hands timers back; see hwtimer_harvest.h.
 *
 * read() and STOP work in three steps, with instance->harvest held so that no second
 * reader takes the same batch:
 *
 *   take	under instance->lock, writes a batch to instance->leaving.page. The
 *		records become LEAVING (events) or RETURNING (STOP), so CANCEL cannot free
 *		them
 *   copy	without the lock, copies the page to user space, which may sleep
 *   finish	under the lock again, frees the records that were copied. If events were
 *		copied, periodic timers become pending again instead. Records that were
 *		not copied get their former state back, so no timer is lost
 *
 * In an instance without periodic timers, take marks the records of events FREE at once,
 * so that finish need not access them. The table does not hand out such a record before
 * finish has released it.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/prefetch.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "hwtimer.h"
#include "hwtimer_harvest.h"
#include "hwtimer_limits.h"
#include "hwtimer_notice.h"
#include "hwtimer_period.h"
#include "hwtimer_trace.h"

/* Maximum number of timers from STOP in one copy to user space */
#define HWTIMER_STOP_BATCH \
	((u32)(PAGE_SIZE / sizeof(struct hwtimer_unprocessed)))

static_assert(HWTIMER_BATCH * sizeof(struct hwtimer_event) <= PAGE_SIZE);

/* The record of the event in slot @slot of @chunk, which is in the queue of events. */
static struct hwtimer_record *
ready_record(const struct hwtimer_instance *instance,
	     const struct hwtimer_chunk *chunk, unsigned int slot)
{
	return hwtimer_table_record(&instance->table, chunk->indices[slot]);
}

/* Takes the first index out of the queue of events, which is not empty. */
static u32 ready_take(struct hwtimer_instance *instance)
{
	struct hwtimer_queue *ready = &instance->ready;
	u32 index = ready->head->indices[ready->first];

	hwtimer_queue_take(ready, &instance->pool, 1);
	return index;
}

/**
 * hwtimer_harvest_discarded_one - free the first event of the queue, if it is discarded
 * @instance: the instance; its lock is held
 *
 * Return: whether an event was freed.
 */
bool hwtimer_harvest_discarded_one(struct hwtimer_instance *instance)
{
	const struct hwtimer_queue *ready = &instance->ready;

	lockdep_assert_held(&instance->lock);
	if (hwtimer_queue_empty(ready) ||
	    ready_record(instance, ready->head, ready->first)->state !=
		    HWTIMER_DISCARDED)
		return false;
	hwtimer_period_free(instance, ready_take(instance));
	hwtimer_instance_add_discards(instance, -1);
	return true;
}

/* Does hwtimer_harvest_discarded() if there are any. */
static noinline u32 discarded_free(struct hwtimer_instance *instance)
{
	unsigned int max = HWTIMER_HOLD;
	u64 discards;
	u32 freed;

	spin_lock(&instance->lock);
	discards = instance->discards;
	while (max-- && hwtimer_harvest_discarded_one(instance))
		;
	hwtimer_supply_trim(instance);
	freed = discards - instance->discards;
	spin_unlock(&instance->lock);
	return freed;
}

/**
 * hwtimer_harvest_discarded - free discarded events at the front of the queue
 * @instance: the instance; its lock is not held
 *
 * Return: the number of events freed, HWTIMER_HOLD at most. Takes the lock; does not
 * sleep.
 */
u32 hwtimer_harvest_discarded(struct hwtimer_instance *instance)
{
	/* Usually 0. An event that is being discarded can wait for the next call. */
	if (!READ_ONCE(instance->discards))
		return 0;
	return discarded_free(instance);
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
 * Writes events to @events, beginning with slot @slot of @chunk, and prefetches the
 * records of the next chunk. Returns the number of events: less than @max if the chunk
 * ends, or if a discarded event is in the way.
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
	enum hwtimer_record_state state =
		instance->leaving.free ? HWTIMER_FREE : HWTIMER_LEAVING;

	if (next && next != ready->tail)
		hwtimer_chunk_prefetch(next->next);
	for (i = 0; i < count; i++, slot++) {
		struct hwtimer_record *record =
			ready_record(instance, chunk, slot);

		if (slot < next_end)
			prefetchw(ready_record(instance, next, slot));
		if (record->state == HWTIMER_DISCARDED)
			break;
		hwtimer_record_become(record, state);
		event_fill(instance, &events[i], record, chunk->indices[slot],
			   now);
	}
	return i;
}

/*
 * Writes events to the page, up to @max, the end of the queue, or a discarded event.
 * Their records become LEAVING or FREE. Returns the number of events.
 */
static u32 events_take(struct hwtimer_instance *instance, u32 max, u64 now)
{
	const struct hwtimer_queue *ready = &instance->ready;
	const struct hwtimer_chunk *chunk = ready->head;
	struct hwtimer_event *events = instance->leaving.page;
	unsigned int slot = ready->first;
	u32 taken = 0;

	instance->leaving.free = !instance->periodic;
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

/* Finishes the first @count events on the page, whose records are FREE already. */
static void events_release(struct hwtimer_instance *instance, u32 count)
{
	const struct hwtimer_event *events = instance->leaving.page;
	u32 i;

	for (i = 0; i < count; i++) {
		trace_hwtimer_deliver(instance, &events[i]);
		hwtimer_table_release(&instance->table,
				      upper_32_bits(events[i].id),
				      lower_32_bits(events[i].id));
	}
	instance->table.used -= count;
	hwtimer_queue_drop(&instance->ready, &instance->pool, count);
	instance->stats.delivered += count;
}

/*
 * Finishes a delivered event, which is not in the queue: its timer becomes pending again,
 * or ends. With HWTIMER_FIXED_DELAY, the interval counts from @now.
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
	/* If STOP has passed this record already, STOP has to come back to it. */
	instance->stopping.cursor =
		min_t(u64, instance->stopping.cursor, index);
}

/*
 * Called once before event_finish() for one or more events. Moves the wheel to the clock,
 * because periodic timers will be added to it.
 */
static void rearm_begin(struct hwtimer_instance *instance)
{
	if (instance->periodic)
		hwtimer_wakeup_follow(instance, hwtimer_instance_now(instance));
}

/*
 * Called once after event_finish() for one or more events. @pending is stats.pending before
 * the first of them.
 */
static void rearm_end(struct hwtimer_instance *instance, u64 pending)
{
	/* rearm_begin() may have begun a rewind, which the worker has to finish. */
	if (instance->stats.pending == pending &&
	    likely(!instance->wheel.rewinds))
		return;
	hwtimer_wakeup_rearm(instance);
	hwtimer_notice_watch_clock(instance);
}

/*
 * Finishes the first @copied of the @taken events on the page; the others stay in the
 * queue. The interval of a timer with HWTIMER_FIXED_DELAY counts from @now.
 */
static void events_finish(struct hwtimer_instance *instance, u32 taken,
			  u32 copied, u64 now)
{
	const struct hwtimer_event *events = instance->leaving.page;
	u64 pending = instance->stats.pending;
	u32 i;

	if (likely(instance->leaving.free)) {
		events_release(instance, copied);
	} else {
		rearm_begin(instance);
		for (i = 0; i < copied; i++) {
			trace_hwtimer_deliver(instance, &events[i]);
			event_finish(instance, ready_take(instance),
				     events[i].expirations, now);
		}
	}
	for (i = copied; i < taken; i++) {
		u32 index = lower_32_bits(events[i].id);

		hwtimer_record_become(hwtimer_table_record(&instance->table,
							   index),
				      HWTIMER_EXPIRED);
	}
	hwtimer_instance_add_ready(instance, -(s64)copied);
	hwtimer_notice_taken(instance);
	rearm_end(instance, pending);
}

/**
 * hwtimer_harvest_take - begin to deliver events
 * @instance: the instance; its mutex harvest is held, and its lock is not
 * @max: maximum number of events, up to HWTIMER_BATCH
 * @now: out: the time at which the events were taken, ns on the instance's clock
 *
 * Return: the number of events in instance->leaving.page. They stay there until
 * hwtimer_harvest_finish(). Takes the lock; does not sleep.
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
 * hwtimer_harvest_finish - finish the events from hwtimer_harvest_take()
 * @instance: the instance; its mutex harvest is held, and its lock is not
 * @taken: number of events that hwtimer_harvest_take() returned
 * @copied: number of these events that were delivered; the others stay in the queue
 * @now: the time that hwtimer_harvest_take() stored; the interval of a timer with
 *	HWTIMER_FIXED_DELAY counts from it
 *
 * Wakes readers if the instance is stopped and no event is left. Takes the lock; does not
 * sleep.
 */
void hwtimer_harvest_finish(struct hwtimer_instance *instance, u32 taken,
			    u32 copied, u64 now)
{
	bool drained;
	u32 spares;

	lockdep_assert_held(&instance->harvest);
	spin_lock(&instance->lock);
	spares = instance->pool.spares;
	events_finish(instance, taken, copied, now);
	/* Only a chunk that has left the queue can be surplus. */
	if (instance->pool.spares != spares)
		hwtimer_supply_trim(instance);
	drained = copied && hwtimer_instance_drained(instance);
	spin_unlock(&instance->lock);
	if (drained)
		hwtimer_notice_hang_up(instance);
}

/**
 * hwtimer_harvest_leaving - find records that only seem to be free
 * @instance: the instance; its lock is held
 * @first: index of the first record that the caller is interested in
 * @leaving: out: bitmap of HWTIMER_HOLD bits: bit i is set if record @first + i is
 *	HWTIMER_FREE, but its event is just being read. If that read fails, the record is
 *	HWTIMER_EXPIRED again; until then its timer is all there
 *
 * A record that is LEAVING needs no bit.
 *
 * Return: the number of records that were checked, up to HWTIMER_BATCH + 1.
 */
u32 hwtimer_harvest_leaving(const struct hwtimer_instance *instance, u64 first,
			    unsigned long *leaving)
{
	const struct hwtimer_queue *ready = &instance->ready;
	const struct hwtimer_chunk *chunk = ready->head;
	unsigned int slot = ready->first;
	u32 checked = 0;

	lockdep_assert_held(&instance->lock);
	bitmap_zero(leaving, HWTIMER_HOLD);
	while (chunk) {
		for (; slot < hwtimer_queue_end(ready, chunk); slot++) {
			u64 offset = chunk->indices[slot] - first;

			checked++;
			/* What is being read is at the front of the queue. */
			if (ready_record(instance, chunk, slot)->state !=
			    HWTIMER_FREE)
				return checked;
			if (offset < HWTIMER_HOLD)
				__set_bit(offset, leaving);
		}
		chunk = chunk == ready->tail ? NULL : chunk->next;
		slot = chunk ? chunk->first : 0;
	}
	return checked;
}

/*
 * Takes instance->harvest for read() or STOP. Returns 0, -ERESTARTSYS or -EAGAIN.
 *
 * The holder may wait for a page of its buffer; with userfaultfd, for ever. So a reader
 * that must not wait (@nonblock) is refused. Such a reader first sets
 * instance->leaving.refused, so that harvest_unlock() wakes readers.
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
	/*
	 * Pairs with the barrier in harvest_unlock(): either harvest_unlock() sees
	 * @refused, or this thread gets the mutex.
	 */
	smp_mb();
	return mutex_trylock(&instance->harvest) ? 0 : -EAGAIN;
}

/*
 * Releases instance->harvest. A reader that was refused may now wait for a wake-up, in
 * edge-triggered epoll, although events are left. So readers are woken.
 */
static void harvest_unlock(struct hwtimer_instance *instance)
{
	mutex_unlock(&instance->harvest);
	/* Pairs with the barrier in harvest_lock(). */
	smp_mb();
	if (likely(!READ_ONCE(instance->leaving.refused)))
		return;
	WRITE_ONCE(instance->leaving.refused, false);
	if (hwtimer_notice_readable(instance))
		hwtimer_notice_wake(instance, EPOLLIN | EPOLLRDNORM);
}

/**
 * hwtimer_harvest_events - deliver events to read()
 * @instance: the instance
 * @to: the buffers in user space, with room for at least one event in all
 * @nonblock: do not wait for another reader
 *
 * An event may lie across two buffers.
 *
 * Return: the number of bytes written, in whole events; 0 if no event waits. If nothing
 * was written: -EFAULT, -ERESTARTSYS, or -EAGAIN (@nonblock, and another thread is in
 * read() or STOP). Takes the mutex harvest and the lock. May sleep, but does not wait for
 * events.
 */
ssize_t hwtimer_harvest_events(struct hwtimer_instance *instance,
			       struct iov_iter *to, bool nonblock)
{
	const size_t size = sizeof(struct hwtimer_event);
	size_t room = iov_iter_count(to) / size;
	size_t done = 0;
	int err;

	/* If an event comes after this, it wakes the readers. */
	if (!READ_ONCE(instance->stats.ready))
		return 0;
	err = harvest_lock(instance, nonblock);
	if (err)
		return err;
	do {
		u32 max = min_t(size_t, room - done, HWTIMER_BATCH);
		u32 taken, copied;
		u64 now;

		hwtimer_harvest_discarded(instance);
		taken = hwtimer_harvest_take(instance, max, &now);
		/* Ready but none taken: discarded ones are still in front. Try again. */
		if (!taken && !READ_ONCE(instance->stats.ready))
			break;

		copied =
			copy_to_iter(instance->leaving.page, taken * size, to) /
			size;
		hwtimer_harvest_finish(instance, taken, copied, now);

		done += copied;
		if (copied < taken)
			err = -EFAULT;
		else if (signal_pending(current))
			err = -ERESTARTSYS;
		cond_resched();
	} while (done < room && !err && READ_ONCE(instance->stats.ready));
	harvest_unlock(instance);
	return done ? (ssize_t)(done * size) : err;
}

/*
 * Writes up to @max pending timers to the page. Checks up to
 * HWTIMER_HOLD records, from record *@cursor on. The timers' records become RETURNING.
 * Returns the number of timers.
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
			hwtimer_record_become(record, HWTIMER_RETURNING);
			hwtimer_period_describe(instance, *cursor, now,
						&timers[taken++]);
		}
		++*cursor;
	}
	return taken;
}

/* Frees the first @copied of the @taken timers on the page; the others stay pending. */
static void unprocessed_finish(struct hwtimer_instance *instance, u32 taken,
			       u32 copied)
{
	const struct hwtimer_unprocessed *timers = instance->leaving.page;
	u32 i;

	for (i = 0; i < taken; i++) {
		u32 index = lower_32_bits(timers[i].id);
		struct hwtimer_record *record =
			hwtimer_table_record(&instance->table, index);

		if (i < copied) {
			trace_hwtimer_unprocessed(instance, index);
			hwtimer_wheel_remove(&instance->wheel, record);
			hwtimer_period_free(instance, index);
		} else {
			hwtimer_record_become(record, HWTIMER_PENDING);
		}
	}
	instance->stats.pending -= copied;
	instance->stats.unprocessed += copied;
	/* event_finish() may have moved the cursor even lower meanwhile. */
	if (copied < taken)
		instance->stopping.cursor =
			min_t(u64, instance->stopping.cursor,
			      lower_32_bits(timers[copied].id));
}

/**
 * hwtimer_harvest_take_pending - begin to hand back pending timers
 * @instance: the instance, which is stopped; its mutex harvest is held, its lock is not
 * @max: maximum number of timers, up to HWTIMER_STOP_BATCH
 * @more: out: whether more timers may be pending
 *
 * Return: the number of timers in instance->leaving.page. They stay there until
 * hwtimer_harvest_finish_pending(). Takes the lock; does not sleep.
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

/**
 * hwtimer_harvest_finish_pending - free the timers that were handed back
 * @instance: the instance; its mutex harvest is held, and its lock is not
 * @taken: number of timers that hwtimer_harvest_take_pending() returned
 * @copied: number of these timers that were handed back; the others are pending again
 *
 * Takes the lock; does not sleep.
 */
void hwtimer_harvest_finish_pending(struct hwtimer_instance *instance,
				    u32 taken, u32 copied)
{
	lockdep_assert_held(&instance->harvest);
	spin_lock(&instance->lock);
	unprocessed_finish(instance, taken, copied);
	spin_unlock(&instance->lock);
}

/*
 * Counts in instance->stopping.resting the timers that rest, see hwtimer_period.c. Checks
 * each record once, HWTIMER_HOLD records per hold of the lock; none if no timer is
 * periodic. Returns 0, or -EINTR: the next call goes on. May sleep.
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
 * Sets *@left to the number of timers still to be handed back. Returns whether timers are
 * left, and all of them rest.
 */
static bool timers_left(struct hwtimer_instance *instance, u64 *left)
{
	bool all_rest;
	u64 pending;

	spin_lock(&instance->lock);
	pending = instance->stats.pending;
	*left = pending + instance->stopping.resting;
	all_rest = instance->stopping.resting && !pending;
	spin_unlock(&instance->lock);
	return all_rest;
}

/**
 * hwtimer_harvest_unprocessed - hand back pending timers to STOP
 * @instance: the instance, which is stopped
 * @timers: an array in user space
 * @count: number of elements of @timers
 * @left: out: number of timers still to be handed back, including those that rest
 *
 * Each timer is handed back once, by the call that has room for it.
 *
 * Return: the number of timers written. If none was written: -EAGAIN (all timers that are
 * left rest), -EFAULT, -EINTR, -ERESTARTSYS (@left is not set). Takes the mutex harvest
 * and the lock. May sleep.
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
