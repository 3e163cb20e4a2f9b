/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ring of an instance's events: the ids of timers that have expired, in the order in which
 * they did. A data structure only. It is in this room because memory/ and worker/, which are below
 * events/, use it, too.
 */
#ifndef HWTIMER_RING_H
#define HWTIMER_RING_H

#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "constants.h"

/* ACK says how many events it has ended, in an int; those in the ring count, too. */
#define HWTIMER_DROPPED_MAX ((u32)INT_MAX - HWTIMER_EVENTS)

/**
 * struct hwtimer_events - the events of an instance
 * @ring: @mask + 1 ids, a power of two; NULL until the instance has started
 * @mask: number of entries minus 1
 * @bound: timers may expire while no more entries than this are in use
 * @head: number of the oldest entry; the numbers of entries count on for ever, and those of
 *	the ring are their remainders
 * @next: number of the entry that is read next; @head without HWTIMER_SETUP_AT_LEAST_ONCE
 * @tail: one past the number of the newest entry
 * @unread: number of live entries from @next on; if it is 0, @tail is @next
 * @read: number of entries before @next that were read, live or not; if it is 0, @head is
 *	@next
 * @dropped: number of events older than @head that were read and then dropped, and are still to
 *	be acknowledged, at most HWTIMER_DROPPED_MAX
 * @parked: timers are due, and the worker does not come for them of itself
 *
 * Protected by the instance's lock. @bound, @head, @tail and @unread are also read without it.
 */
struct hwtimer_events {
	u64 *ring;
	u32 mask;
	u32 bound;
	u32 head;
	u32 next;
	u32 tail;
	u32 unread;
	u32 read;
	u32 dropped;
	bool parked;
};

/**
 * hwtimer_events_full - whether the ring may have no room for what a turn lets expire
 * @events: the events; no lock is needed
 *
 * Return: whether no timer may expire until events are taken. Any context.
 */
static inline bool hwtimer_events_full(const struct hwtimer_events *events)
{
	u32 used = READ_ONCE(events->tail) - READ_ONCE(events->head);

	/* Without the lock, the head may be newer than the tail. */
	return (int)used > (int)READ_ONCE(events->bound);
}

/* The id in entry @nr. */
static inline u64 *hwtimer_events_id(const struct hwtimer_events *events,
				     u32 nr)
{
	return &events->ring[nr & events->mask];
}

/**
 * hwtimer_events_move - move the events to another ring
 * @events: the events; the instance's lock is held
 * @ring: memory of the other ring
 * @entries: its number of entries; a power of two, with room for all that are in use
 *
 * A turn lets up to HWTIMER_HOLD timers expire. The ring with which an instance starts is never
 * full: its events and pending timers are not more than half of its entries, see memory/supply.c.
 * The caller frees the memory of the old ring.
 */
static inline void hwtimer_events_move(struct hwtimer_events *events, u64 *ring,
				       u32 entries)
{
	u32 nr;

	for (nr = events->head; nr != events->tail; nr++)
		ring[nr & (entries - 1)] = *hwtimer_events_id(events, nr);
	events->ring = ring;
	events->mask = entries - 1;
	WRITE_ONCE(events->bound, entries - min(entries / 2, HWTIMER_HOLD));
}

#endif /* HWTIMER_RING_H */
