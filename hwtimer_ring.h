/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Implements the kernel's end of a pair of rings that user space maps: memory, counters
 * and barriers. struct hwtimer_rings in <linux/hwtimer.h> describes what is shared;
 * <hwtimer_ring.h> in uapi/ is user space's end.
 *
 * hwtimer_exchange.c creates, maps and destroys rings; hwtimer_submission.c takes
 * requests; hwtimer_harvest.c puts events, and hwtimer_completion.c publishes them;
 * hwtimer_period.c notes which timer is paused on which slot.
 *
 * User space may write to all of the shared memory at any time. So the kernel keeps its
 * own counters and sizes in struct hwtimer_ring. It reads only user space's counters from
 * the shared memory, and bounds them. It copies each slot into memory of its own, and checks
 * and uses only the copy: a copy of compact slots as a bulk may be given up for another one.
 *
 * It writes results and events by plain accesses, between kcsan_disable_current() and
 * kcsan_enable_current(). A program that writes to the same slot at the same time only
 * spoils what it reads there itself; KCSAN would report that as a race.
 *
 * The two rings are independent. Callers of each ring's functions hold a lock:
 * exchange.drain for the submission ring, the instance's lock for the completion ring.
 * Without it they may only call hwtimer_ring_submitted() and hwtimer_ring_unread().
 */
#ifndef HWTIMER_RING_H
#define HWTIMER_RING_H

#include <linux/kcsan-checks.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/types.h>

#include <uapi/linux/hwtimer.h>

/* Flags of operations for which a struct hwtimer_bulk_timer has room */
#define HWTIMER_COMPACT_FLAGS (HWTIMER_ABSOLUTE | HWTIMER_DISCARD)

/**
 * struct hwtimer_ring - the kernel's end of a pair of rings
 * @shared: the beginning of the shared memory
 * @results: offset of the results of requests in the shared memory, in bytes
 * @requests: offset of the slots of the submission ring, in bytes
 * @events: offset of the slots of the completion ring, in bytes
 * @submissions: number of slots of the submission ring
 * @completions: number of slots of the completion ring
 * @taken: number of requests that were answered so far, modulo 2^32; written under
 *	exchange.drain, also read without it
 * @put: number of events that were put so far, published or not, modulo 2^32; written
 *	under the instance's lock, also read without it
 * @room: number of events that may be put before user space's head has to be read again;
 *	protected by the instance's lock
 * @head: number of events, modulo 2^32, whose slots are free: user space has taken these
 *	events out, and no timer is paused on their slots. At most @completions less than
 *	@put; protected by the instance's lock
 * @pages: the pages of the shared memory, and behind them those of the pauses
 * @nr_pages: number of pages of the shared memory
 * @compact: the slots of the submission ring are compact, see HWTIMER_COMPACT_SLOTS
 * @pauses: offset of the pauses, in bytes from the beginning of the shared memory: for each
 *	slot of the completion ring, the index of the timer that is paused until user space
 *	has taken out the event there, or HWTIMER_NO_RECORD. Their content is protected by
 *	the instance's lock
 * @paused: number of timers that are paused; written under the instance's lock, also read
 *	without it
 *
 * The other members are constant. Putting an event uses only the members before
 * @nr_pages, which are 64 bytes.
 */
struct hwtimer_ring {
	struct hwtimer_rings *shared;
	size_t results;
	size_t requests;
	size_t events;
	u32 submissions;
	u32 completions;
	u32 taken;
	u32 put;
	u32 room;
	u32 head;
	struct page **pages;
	unsigned long nr_pages;
	bool compact;
	size_t pauses;
	u32 paused;
};

size_t hwtimer_ring_bytes(u32 submissions, u32 completions, bool compact);
size_t hwtimer_ring_private_bytes(u32 completions);
struct hwtimer_ring *hwtimer_ring_create(u32 submissions, u32 completions,
					 bool compact);
void hwtimer_ring_destroy(struct hwtimer_ring *ring);
int hwtimer_ring_map(struct hwtimer_ring *ring, struct vm_area_struct *vma);

int hwtimer_ring_submitted(const struct hwtimer_ring *ring);
void hwtimer_ring_take(struct hwtimer_ring *ring,
		       struct hwtimer_request *requests, u32 count);
u32 hwtimer_ring_take_bulk(const struct hwtimer_ring *ring,
			   struct hwtimer_bulk *bulk, u64 *words, u32 count);
void hwtimer_ring_answer(struct hwtimer_ring *ring,
			 const struct hwtimer_request *requests, u32 count);
void hwtimer_ring_answer_bulk(struct hwtimer_ring *ring, const u64 *results,
			      u32 count);

u32 hwtimer_ring_unread(const struct hwtimer_ring *ring);
u32 hwtimer_ring_consumed(const struct hwtimer_ring *ring);
bool hwtimer_ring_find_room(struct hwtimer_ring *ring);
void hwtimer_ring_publish(struct hwtimer_ring *ring);

/* Whether an event may be put into the ring. Usually does not read the shared memory. */
static inline bool hwtimer_ring_has_room(struct hwtimer_ring *ring)
{
	return ring->room || hwtimer_ring_find_room(ring);
}

/**
 * hwtimer_ring_holds - whether an event may be unread in the completion ring
 * @ring: the rings; the instance's lock is held
 * @number: number of an event that was put
 *
 * Does not read the shared memory. 2^32 events later, the answer for the same number may
 * be wrong.
 *
 * Return: false if user space has taken the event out, and the kernel has seen that.
 */
static inline bool hwtimer_ring_holds(const struct hwtimer_ring *ring,
				      u32 number)
{
	return number - ring->head < ring->put - ring->head;
}

/* The shared memory at @offset bytes. No slot crosses the boundary of a page. */
static inline void *hwtimer_ring_at(const struct hwtimer_ring *ring,
				    size_t offset)
{
	return (char *)page_address(ring->pages[offset >> PAGE_SHIFT]) +
	       offset_in_page(offset);
}

/* The timer that is paused on the slot of event @number. */
static inline u32 *hwtimer_ring_pause(const struct hwtimer_ring *ring,
				      u32 number)
{
	size_t slot = number & (ring->completions - 1);

	return hwtimer_ring_at(ring, ring->pauses + slot * sizeof(u32));
}

/* Bytes of a slot of the submission ring */
static inline size_t hwtimer_ring_slot_bytes(bool compact)
{
	return compact ? sizeof(struct hwtimer_bulk_timer) :
			 sizeof(struct hwtimer_request);
}

/*
 * The slot of request @number, in a ring without compact slots. Numbers count up for ever,
 * modulo 2^32.
 */
static inline struct hwtimer_request *
hwtimer_ring_request(const struct hwtimer_ring *ring, u32 number)
{
	size_t slot = number & (ring->submissions - 1);
	size_t offset = slot * sizeof(struct hwtimer_request);

	return hwtimer_ring_at(ring, ring->requests + offset);
}

/* The same in a ring with compact slots */
static inline struct hwtimer_bulk_timer *
hwtimer_ring_timer(const struct hwtimer_ring *ring, u32 number)
{
	size_t slot = number & (ring->submissions - 1);
	size_t offset = slot * sizeof(struct hwtimer_bulk_timer);

	return hwtimer_ring_at(ring, ring->requests + offset);
}

/* The result of request @number. */
static inline u64 *hwtimer_ring_result(const struct hwtimer_ring *ring,
				       u32 number)
{
	size_t slot = number & (ring->submissions - 1);
	size_t offset = slot * sizeof(u64);

	return hwtimer_ring_at(ring, ring->results + offset);
}

/* The slot of event @number. */
static inline struct hwtimer_event *
hwtimer_ring_event(const struct hwtimer_ring *ring, u32 number)
{
	size_t slot = number & (ring->completions - 1);
	size_t offset = slot * sizeof(struct hwtimer_event);

	return hwtimer_ring_at(ring, ring->events + offset);
}

/**
 * hwtimer_ring_run - how many slots lie one after the other
 * @offset: offset of the first one in the shared memory, in bytes
 * @size: size of a slot, bytes
 * @slots: slots from the first one to the end of the ring
 * @count: number of slots that are wanted
 *
 * A ring's memory consists of single pages. So a loop takes the slots of one page at a
 * time, and need not compute the address of each slot.
 *
 * Return: a number of slots, @count at most, and at least 1.
 */
static inline u32 hwtimer_ring_run(size_t offset, size_t size, u32 slots,
				   u32 count)
{
	u32 in_page = (PAGE_SIZE - offset_in_page(offset)) / size;

	return min3(in_page, slots, count);
}

/**
 * hwtimer_ring_put_run - get the slots of the next events that lie one after the other
 * @ring: the rings; hwtimer_ring_has_room() has returned true
 * @count: in: number of events to put; out: how many of them the slots are for
 *
 * The caller fills the slots, and then calls hwtimer_ring_have_put(). Nobody reads them
 * before that.
 *
 * Return: the first slot.
 */
static inline struct hwtimer_event *
hwtimer_ring_put_run(const struct hwtimer_ring *ring, u32 *count)
{
	u32 slot = ring->put & (ring->completions - 1);
	size_t offset = ring->events + slot * sizeof(struct hwtimer_event);

	*count = hwtimer_ring_run(offset, sizeof(struct hwtimer_event),
				  ring->completions - slot,
				  min(*count, ring->room));
	return hwtimer_ring_at(ring, offset);
}

/**
 * hwtimer_ring_have_put - count events that were put into their slots
 * @ring: the rings
 * @count: number of events
 *
 * User space sees the events after hwtimer_ring_publish().
 */
static inline void hwtimer_ring_have_put(struct hwtimer_ring *ring, u32 count)
{
	/* hwtimer_ring_unread() reads @put without the lock. */
	WRITE_ONCE(ring->put, ring->put + count);
	ring->room -= count;
}

/* Puts one event, as hwtimer_ring_have_put(). */
static inline void hwtimer_ring_put(struct hwtimer_ring *ring,
				    const struct hwtimer_event *event)
{
	kcsan_disable_current();
	*hwtimer_ring_event(ring, ring->put) = *event;
	kcsan_enable_current();
	hwtimer_ring_have_put(ring, 1);
}

#endif /* HWTIMER_RING_H */
