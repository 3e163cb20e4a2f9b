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

#include <linux/types.h>

#include <uapi/linux/hwtimer.h>

struct page;
struct vm_area_struct;

/**
 * struct hwtimer_ring - a pair of rings
 * @shared: the beginning of the mapped memory, and so of what follows
 * @results: of submissions
 * @requests: slots of the submission ring
 * @events: slots of the completion ring
 * @submissions: how many slots the submission ring has
 * @completions: how many slots the completion ring has
 * @taken: requests that were taken so far
 * @put: events that were put in so far, or are about to be published
 * @room: events that may be put in before user space's head is looked at again
 * @pages: of the memory
 * @nr_pages: how many
 */
struct hwtimer_ring {
	struct hwtimer_rings *shared;
	u64 *results;
	struct hwtimer_request *requests;
	struct hwtimer_event *events;
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
bool hwtimer_ring_look_for_room(struct hwtimer_ring *ring);
void hwtimer_ring_publish(struct hwtimer_ring *ring);

/* Whether an event may be put in; mostly without a look at shared memory. */
static inline bool hwtimer_ring_has_room(struct hwtimer_ring *ring)
{
	return ring->room || hwtimer_ring_look_for_room(ring);
}

/* There is room; hwtimer_ring_publish() follows. */
static inline void hwtimer_ring_put(struct hwtimer_ring *ring,
				    const struct hwtimer_event *event)
{
	ring->events[ring->put++ & (ring->completions - 1)] = *event;
	ring->room--;
}

#endif /* HWTIMER_RING_H */
