/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's end of a pair of rings that user space maps: memory, numbers and
 * barriers; see struct hwtimer_rings. Used by hwtimer_exchange.c, and for events
 * by hwtimer_harvest.c.
 *
 * User space may write to all of the memory at any time. So the kernel keeps
 * its own numbers and sizes here, reads of the shared ones only what user space
 * has to say, and bounds it; and it reads each slot once, into memory of its
 * own.
 *
 * Submission and completion have nothing to do with each other. Callers see to
 * it that there is one at a time for each.
 */
#ifndef HWTIMER_RING_H
#define HWTIMER_RING_H

#include <linux/mm.h>
#include <linux/types.h>

#include <uapi/linux/hwtimer.h>

struct vm_area_struct;

/**
 * struct hwtimer_ring - a pair of rings
 * @shared: the beginning of the mapped memory
 * @results: where the results of submissions are in it, in bytes
 * @requests: where the slots of the submission ring are
 * @events: where the slots of the completion ring are
 * @submissions: how many slots the submission ring has
 * @completions: how many slots the completion ring has
 * @taken: requests that were taken so far; written by the one that takes them
 * @put: events that were put in so far, or are about to be published; written by the
 *	one that puts them in
 * @room: events that may be put in before user space's head is looked at again
 * @pages: of the memory
 * @nr_pages: how many
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
	struct page **pages;
	unsigned long nr_pages;
};

size_t hwtimer_ring_bytes(u32 submissions, u32 completions);
struct hwtimer_ring *hwtimer_ring_create(u32 submissions, u32 completions);
void hwtimer_ring_destroy(struct hwtimer_ring *ring);
int hwtimer_ring_map(struct hwtimer_ring *ring, struct vm_area_struct *vma);

int hwtimer_ring_submitted(const struct hwtimer_ring *ring);
void hwtimer_ring_take(struct hwtimer_ring *ring,
		       struct hwtimer_request *requests, u32 count);
void hwtimer_ring_answer(struct hwtimer_ring *ring,
			 const struct hwtimer_request *requests, u32 count);

u32 hwtimer_ring_unread(const struct hwtimer_ring *ring);
bool hwtimer_ring_find_room(struct hwtimer_ring *ring);
void hwtimer_ring_publish(struct hwtimer_ring *ring);

/* Whether an event may be put in; mostly without a look at shared memory. */
static inline bool hwtimer_ring_has_room(struct hwtimer_ring *ring)
{
	return ring->room || hwtimer_ring_find_room(ring);
}

/* What is @offset bytes from the beginning; no slot is in two pages. */
static inline void *hwtimer_ring_at(const struct hwtimer_ring *ring,
				    size_t offset)
{
	return (char *)page_address(ring->pages[offset >> PAGE_SHIFT]) +
	       offset_in_page(offset);
}

/* The slots by their numbers, which count on for ever. */
static inline struct hwtimer_request *
hwtimer_ring_request(const struct hwtimer_ring *ring, u32 number)
{
	size_t slot = number & (ring->submissions - 1);
	size_t offset = slot * sizeof(struct hwtimer_request);

	return hwtimer_ring_at(ring, ring->requests + offset);
}

static inline u64 *hwtimer_ring_result(const struct hwtimer_ring *ring,
				       u32 number)
{
	size_t slot = number & (ring->submissions - 1);
	size_t offset = slot * sizeof(u64);

	return hwtimer_ring_at(ring, ring->results + offset);
}

static inline struct hwtimer_event *
hwtimer_ring_event(const struct hwtimer_ring *ring, u32 number)
{
	size_t slot = number & (ring->completions - 1);
	size_t offset = slot * sizeof(struct hwtimer_event);

	return hwtimer_ring_at(ring, ring->events + offset);
}

/* There is room; hwtimer_ring_publish() follows. */
static inline void hwtimer_ring_put(struct hwtimer_ring *ring,
				    const struct hwtimer_event *event)
{
	*hwtimer_ring_event(ring, ring->put) = *event;
	/* hwtimer_ring_unread() reads it with no lock held. */
	WRITE_ONCE(ring->put, ring->put + 1);
	ring->room--;
}

#endif /* HWTIMER_RING_H */
