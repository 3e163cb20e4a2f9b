// SPDX-License-Identifier: GPL-2.0
/*
 * Delivers events; see events/events.h.
 *
 * Events are copied to user memory with the instance's lock held, and page faults disabled.
 * What was copied is consumed in the same hold. Where the copy stops, the lock is released,
 * the page is faulted in, and the next hold goes on. gfs2_file_read_iter() does it so. Thus an
 * event is either waiting or delivered, whatever happens to the buffer and to the reader.
 *
 * If no event is left and timers are due, the reader turns the wheel itself, see
 * events/events.h.
 */
#include <linux/minmax.h>
#include <linux/pagemap.h>
#include <linux/prefetch.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "hwtimer.h"
#include "trace.h"

/* Number of events that are described before they are copied together */
#define READ_BATCH 16U

/**
 * struct read_batch - events that are about to be copied to user memory
 * @events: the events
 * @records: their records
 * @entries: for each event, the number of its entry; then that of the entry after the last
 *	one that was read
 * @count: number of events
 */
struct read_batch {
	struct hwtimer_event events[READ_BATCH];
	struct hwtimer_record *records[READ_BATCH];
	u32 entries[READ_BATCH + 1];
	u32 count;
};

static bool at_least_once(const struct hwtimer_instance *instance)
{
	return instance->settings.flags & HWTIMER_SETUP_AT_LEAST_ONCE;
}

static void event_fill(const struct hwtimer_instance *instance,
		       struct hwtimer_event *event,
		       const struct hwtimer_record *record, u64 id, u64 now)
{
	*event = (struct hwtimer_event){
		.id = id,
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

/* Starts to fetch the record of entry @nr, if there is one. */
static void entry_prefetch(const struct hwtimer_instance *instance, u32 nr)
{
	const struct hwtimer_events *events = &instance->events;
	u32 index;

	if ((s32)(events->tail - nr) <= 0)
		return;
	index = lower_32_bits(*hwtimer_events_id(events, nr));
	prefetchw(hwtimer_table_record(&instance->table, index));
}

/*
 * Describes the next events, @max at most. Reads @budget entries at most. Entries that are dead
 * become 0: no ACK counts them.
 */
static void batch_fill(struct hwtimer_instance *instance,
		       struct read_batch *batch, u32 max, u32 budget, u64 now)
{
	const struct hwtimer_events *events = &instance->events;
	u32 nr = events->next;
	u32 end = nr + min(budget, events->tail - nr);

	batch->count = 0;
	for (; nr != end && batch->count < max; nr++) {
		u64 id = *hwtimer_events_id(events, nr);
		struct hwtimer_record *record =
			hwtimer_table_expired(&instance->table, id);

		entry_prefetch(instance, nr + READ_BATCH);
		if (unlikely(!record)) {
			*hwtimer_events_id(events, nr) = 0;
			continue;
		}
		event_fill(instance, &batch->events[batch->count], record, id,
			   now);
		batch->records[batch->count] = record;
		batch->entries[batch->count++] = nr;
	}
	batch->entries[batch->count] = nr;
}

/* Ends the event of a periodic timer that was delivered: the timer is pending again, or ends. */
static noinline void event_finish_periodic(struct hwtimer_instance *instance,
					   u32 index, u32 expirations, u64 now)
{
	instance->stats.missed += expirations - 1;
	if (!hwtimer_period_rearm(instance, index, expirations, now))
		hwtimer_period_free(instance, index);
}

/*
 * Ends an event that was delivered. With HWTIMER_REQ_FIXED_DELAY, the interval counts from @now.
 */
static __always_inline void event_finish(struct hwtimer_instance *instance,
					 struct hwtimer_record *record,
					 u32 index, u32 expirations, u64 now)
{
	if (unlikely(hwtimer_record_periodic(record)))
		event_finish_periodic(instance, index, expirations, now);
	else
		hwtimer_table_put_record(&instance->table, record, index);
}

/*
 * After event_finish() for @count events. @rearmed: what stats.rearmed was before. If a timer is
 * pending again, it may be the earliest, or may have begun a rewind, which the worker has to
 * finish.
 */
static void finish_end(struct hwtimer_instance *instance, u32 count,
		       u64 rearmed)
{
	instance->stats.delivered += count;
	hwtimer_events_taken(instance, count);
	if (likely(instance->stats.rearmed == rearmed))
		return;
	hwtimer_wakeup_rearm(instance);
	hwtimer_notice_watch_clock(instance);
}

/* Marks an event as read, for HWTIMER_SETUP_AT_LEAST_ONCE. */
static void event_keep(struct hwtimer_instance *instance,
		       struct hwtimer_record *record,
		       const struct hwtimer_event *event)
{
	instance->events.read++;
	record->flags |= HWTIMER_RECORD_READ;
	if (hwtimer_record_periodic(record))
		record->told = event->expirations;
}

/* Ends the first @copied events of a batch, or keeps them until they are acknowledged. */
static void batch_end(struct hwtimer_instance *instance,
		      const struct read_batch *batch, u32 copied, u64 now)
{
	struct hwtimer_events *events = &instance->events;
	bool keep = at_least_once(instance);
	u32 i;

	for (i = 0; i < copied; i++) {
		const struct hwtimer_event *event = &batch->events[i];
		struct hwtimer_record *record = batch->records[i];

		trace_hwtimer_deliver(instance, event);
		if (unlikely(keep))
			event_keep(instance, record, event);
		else
			event_finish(instance, record, lower_32_bits(event->id),
				     event->expirations, now);
	}
	events->next = batch->entries[copied];
	WRITE_ONCE(events->unread, events->unread - copied);
}

/*
 * Copies the first events of a batch to user memory, without page faults. Returns the number
 * of events that were copied whole.
 */
static u32 batch_copy(const struct read_batch *batch, struct iov_iter *to)
{
	const size_t size = sizeof(struct hwtimer_event);
	size_t bytes;

	pagefault_disable();
	bytes = copy_to_iter(batch->events, batch->count * size, to);
	pagefault_enable();
	/* What was copied of the next event does not count. */
	iov_iter_revert(to, bytes % size);
	return bytes / size;
}

/*
 * Delivers events, in one hold of the lock: as many as there are, as there is room for, and
 * HWTIMER_HOLD at most. Sets *@faults if user memory has to be faulted in. Returns the number
 * of events.
 */
static u32 read_some(struct hwtimer_instance *instance, struct iov_iter *to,
		     u64 now, bool *faults)
{
	const struct hwtimer_events *events = &instance->events;
	struct read_batch batch __uninitialized;
	u32 copied, done = 0, budget = HWTIMER_HOLD;
	u64 rearmed = instance->stats.rearmed;

	while (budget && events->next != events->tail && !*faults) {
		u32 first = events->next;
		size_t room = iov_iter_count(to) / sizeof(struct hwtimer_event);

		if (!room)
			break;
		batch_fill(instance, &batch, min_t(size_t, room, READ_BATCH),
			   budget, now);
		copied = batch_copy(&batch, to);
		*faults = copied < batch.count;
		budget -= batch.entries[copied] - first;
		batch_end(instance, &batch, copied, now);
		done += copied;
	}
	finish_end(instance, at_least_once(instance) ? 0 : done, rearmed);
	return done;
}

/* Whether the reader has to turn the wheel. */
static bool read_turns(const struct hwtimer_instance *instance, u64 now)
{
	return !instance->events.unread && instance->wakeup.at <= now &&
	       !hwtimer_instance_stopped(instance) &&
	       !hwtimer_events_full(&instance->events);
}

/* What a reader has to do without the lock after a hold of it */
enum read_after { READ_ON, READ_FAULTS, READ_SIGNAL, READ_ENDS };

/**
 * struct reader - a call of read()
 * @to: the buffers in user space
 * @done: number of events delivered so far
 * @turned: this reader has let timers expire, and has not woken other readers for them yet
 */
struct reader {
	struct iov_iter *to;
	size_t done;
	bool turned;
};

/*
 * Whether a reader that leaves events has to wake the next exclusive waiter: while the worker
 * is parked, no other event comes to wake it.
 */
static bool read_passes_on(struct hwtimer_instance *instance)
{
	if (likely(!instance->events.parked))
		return false;
	/* A thread that is not in the wait queue yet checks for events afterwards. */
	return waitqueue_active(&instance->readers);
}

/* One hold of the lock for a reader. */
static enum read_after read_hold(struct hwtimer_instance *instance,
				 struct reader *reader)
{
	enum read_after after = READ_ON;
	bool faults = false, tell = false, drained = false;
	u32 done = 0;
	u64 now;

	spin_lock(&instance->lock);
	now = hwtimer_instance_now(instance);
	if (read_turns(instance, now)) {
		reader->turned |= hwtimer_events_turn(instance, now) > 0;
		hwtimer_wakeup_turned(instance, now);
	} else {
		done = read_some(instance, reader->to, now, &faults);
	}
	reader->done += done;
	if (faults)
		after = READ_FAULTS;
	else if (iov_iter_count(reader->to) < sizeof(struct hwtimer_event) ||
		 (!instance->events.unread && !read_turns(instance, now)))
		after = READ_ENDS;
	else if (hwtimer_interrupted(reader->done))
		after = READ_SIGNAL;
	/* Before a fault, too, as it may take for ever. */
	if (after != READ_ON) {
		hwtimer_notice_unpark(instance);
		tell = (reader->turned || read_passes_on(instance)) &&
		       hwtimer_notice_enough(instance);
		reader->turned = false;
	}
	drained = done && hwtimer_instance_drained(instance);
	spin_unlock(&instance->lock);

	if (drained)
		hwtimer_notice_wake(instance, EPOLLHUP);
	else if (tell)
		hwtimer_notice_wake(instance, EPOLLIN | EPOLLRDNORM);
	return after;
}

/**
 * hwtimer_read_events - deliver events to read()
 * @instance: the instance; its lock is not held
 * @to: the buffers in user space, with room for at least one event in all
 *
 * An event may lie across two buffers.
 *
 * Return: the number of bytes written, in whole events; 0 if no event waits. If nothing
 * was written: -EFAULT or -ERESTARTSYS. Takes the lock. May sleep, but does not wait for
 * events.
 */
ssize_t hwtimer_read_events(struct hwtimer_instance *instance,
			    struct iov_iter *to)
{
	const size_t size = sizeof(struct hwtimer_event);
	struct reader reader = { .to = to };
	unsigned int tries = 0;
	size_t before;
	int err = 0;

	while (!err) {
		enum read_after after;

		before = reader.done;
		after = read_hold(instance, &reader);
		if (after == READ_ENDS)
			break;
		if (after == READ_SIGNAL)
			err = -ERESTARTSYS;
		if (after == READ_FAULTS) {
			tries = reader.done == before ? tries + 1 : 0;
			if (tries == HWTIMER_FAULTS ||
			    fault_in_iov_iter_writeable(to, size))
				err = -EFAULT;
			/* A large buffer may have very many such pages. */
			else if (reader.done && hwtimer_interrupted(true))
				err = -ERESTARTSYS;
		}
		cond_resched();
	}
	/* A program may take a short count for the end, and wait for the next edge. */
	if (reader.done && err && hwtimer_notice_readable(instance))
		hwtimer_notice_wake(instance, EPOLLIN | EPOLLRDNORM);
	return reader.done ? (ssize_t)(reader.done * size) : err;
}

/*
 * Ends the oldest events that were read, *@count at most, in one hold of the lock. Returns
 * whether there are more. The caller has checked that there are as many.
 */
static bool ack_some(struct hwtimer_instance *instance, u32 *count)
{
	struct hwtimer_events *events = &instance->events;
	u32 budget = HWTIMER_HOLD, ended = 0;
	u32 dropped = min(*count, events->dropped);
	u64 now = hwtimer_instance_now(instance);
	u64 rearmed = instance->stats.rearmed;

	lockdep_assert_held(&instance->lock);
	events->dropped -= dropped;
	*count -= dropped;
	while (budget-- && *count && events->head != events->next) {
		u32 nr = events->head;
		u64 id = *hwtimer_events_id(events, nr);
		struct hwtimer_record *record;

		WRITE_ONCE(events->head, nr + 1);
		if (!id)
			continue;
		--*count;
		events->read--;
		record = hwtimer_table_expired(&instance->table, id);
		/* The event was dropped after it had been read. */
		if (!record)
			continue;
		record->flags &= ~HWTIMER_RECORD_READ;
		event_finish(instance, record, lower_32_bits(id),
			     hwtimer_record_periodic(record) ? record->told : 1,
			     now);
		ended++;
	}
	finish_end(instance, ended, rearmed);
	hwtimer_notice_unpark(instance);
	return *count && (events->dropped || events->head != events->next);
}

/**
 * hwtimer_read_ack - HWTIMER_IOC_ACK: end the oldest events that were read
 * @instance: the instance; its lock is not held
 * @count: number of events
 *
 * Return: the number of events, which is @count unless another thread has acknowledged some,
 * or has called hwtimer_read_rewind(), meanwhile; -EINVAL: the instance has no
 * HWTIMER_SETUP_AT_LEAST_ONCE, or fewer than @count events were read. May reschedule; takes the
 * lock.
 */
long hwtimer_read_ack(struct hwtimer_instance *instance, u32 count)
{
	u32 left = count;
	bool more;

	spin_lock(&instance->lock);
	if (!at_least_once(instance) ||
	    count > instance->events.read + instance->events.dropped) {
		spin_unlock(&instance->lock);
		return -EINVAL;
	}
	for (;;) {
		more = ack_some(instance, &left);
		spin_unlock(&instance->lock);
		if (!more)
			return count - left;
		cond_resched();
		spin_lock(&instance->lock);
	}
}

/* Makes up to HWTIMER_HOLD events unread again, the newest of those that were read. */
static void rewind_some(struct hwtimer_instance *instance)
{
	struct hwtimer_events *events = &instance->events;
	u32 budget = HWTIMER_HOLD;

	lockdep_assert_held(&instance->lock);
	for (; budget-- && events->next != events->head; events->next--) {
		u64 id = *hwtimer_events_id(events, events->next - 1);
		struct hwtimer_record *record;

		if (!id)
			continue;
		events->read--;
		record = hwtimer_table_expired(&instance->table, id);
		if (!record)
			continue;
		record->flags &= ~HWTIMER_RECORD_READ;
		WRITE_ONCE(events->unread, events->unread + 1);
	}
	hwtimer_events_taken(instance, 0);
	/* Those that were dropped meanwhile do not come again either, so no ACK may count them. */
	events->dropped = 0;
	/* Dead entries at the end of the ring have left it. */
	hwtimer_notice_unpark(instance);
}

/**
 * hwtimer_read_rewind - HWTIMER_ACK_REWIND: make all events unread again
 * @instance: an instance with HWTIMER_SETUP_AT_LEAST_ONCE; its lock is not held
 *
 * May reschedule; takes the lock, and wakes readers without it.
 */
void hwtimer_read_rewind(struct hwtimer_instance *instance)
{
	/* Others may read on meanwhile. */
	u32 holds = HWTIMER_EVENTS / HWTIMER_HOLD;
	bool more = true, tell = false;

	while (more && holds--) {
		spin_lock(&instance->lock);
		rewind_some(instance);
		more = instance->events.next != instance->events.head;
		if (instance->events.unread)
			hwtimer_notice_queued(instance);
		tell = instance->events.unread &&
		       hwtimer_notice_readable(instance);
		spin_unlock(&instance->lock);
		cond_resched();
	}
	if (tell)
		hwtimer_notice_wake(instance, EPOLLIN | EPOLLRDNORM);
}
