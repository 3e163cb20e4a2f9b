// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's end of a pair of rings; see hwtimer_ring.h.
 *
 * The memory is single pages, charged to the process that maps them first. The kernel uses
 * them where they are, and does not map them anew: there its pages are large, so
 * that it seldom has to look up an address.
 */
#include <linux/align.h>
#include <linux/cache.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"
#include "hwtimer_memory.h"
#include "hwtimer_ring.h"

static_assert(sizeof(struct hwtimer_rings) == 6 * 64);
static_assert(offsetof(struct hwtimer_rings, submission_tail) == 1 * 64);
static_assert(offsetof(struct hwtimer_rings, completion_head) == 2 * 64);
static_assert(offsetof(struct hwtimer_rings, submission_head) == 3 * 64);
static_assert(offsetof(struct hwtimer_rings, completion_tail) == 4 * 64);
static_assert(offsetof(struct hwtimer_rings, flags) == 5 * 64);

/* Where what is in the memory: offsets from its beginning, each aligned. */
struct ring_layout {
	size_t results;
	size_t requests;
	size_t events;
	size_t bytes;
};

static struct ring_layout ring_layout(u32 submissions, u32 completions)
{
	struct ring_layout layout;

	layout.results = ALIGN(sizeof(struct hwtimer_rings), 64);
	layout.requests = ALIGN(layout.results + submissions * sizeof(u64), 64);
	layout.events =
		layout.requests + submissions * sizeof(struct hwtimer_request);
	layout.bytes = PAGE_ALIGN(layout.events +
				  completions * sizeof(struct hwtimer_event));
	return layout;
}

/* How much memory user space maps. */
size_t hwtimer_ring_bytes(u32 submissions, u32 completions)
{
	return ring_layout(submissions, completions).bytes;
}

static void pages_free(struct hwtimer_ring *ring)
{
	while (ring->nr_pages)
		__free_page(ring->pages[--ring->nr_pages]);
	kvfree(ring->pages);
}

static int pages_alloc(struct hwtimer_ring *ring, unsigned long count)
{
	ring->pages =
		hwtimer_memory_get(count * sizeof(*ring->pages), __GFP_ZERO);
	if (!ring->pages)
		return -ENOMEM;
	while (ring->nr_pages < count) {
		struct page *page = alloc_page(HWTIMER_GFP | __GFP_ZERO);

		if (!page) {
			pages_free(ring);
			return -ENOMEM;
		}
		ring->pages[ring->nr_pages++] = page;
	}
	return 0;
}

/* Tells user space where what is; the kernel does not look at it again. */
static void ring_describe(struct hwtimer_ring *ring)
{
	ring->shared->submissions = ring->submissions;
	ring->shared->completions = ring->completions;
	ring->shared->results = ring->results;
	ring->shared->requests = ring->requests;
	ring->shared->events = ring->events;
	ring->shared->flags = HWTIMER_RING_NEED_KICK;
}

/**
 * hwtimer_ring_create - a pair of empty rings
 * @submissions: slots of the submission ring: a power of two, or 0
 * @completions: slots of the completion ring: a power of two, or 0
 *
 * Return: the pair, or NULL: no memory. May sleep.
 */
struct hwtimer_ring *hwtimer_ring_create(u32 submissions, u32 completions)
{
	struct ring_layout layout = ring_layout(submissions, completions);
	struct hwtimer_ring *ring = kzalloc(sizeof(*ring), HWTIMER_GFP);

	if (!ring)
		return NULL;
	if (pages_alloc(ring, layout.bytes >> PAGE_SHIFT)) {
		kfree(ring);
		return NULL;
	}
	ring->shared = page_address(ring->pages[0]);
	ring->results = layout.results;
	ring->requests = layout.requests;
	ring->events = layout.events;
	ring->submissions = submissions;
	ring->completions = completions;
	ring_describe(ring);
	return ring;
}

/**
 * hwtimer_ring_destroy - the end of a pair of rings
 * @ring: in nobody's use; NULL is fine
 *
 * What user space has mapped stays there until it is unmapped. May sleep.
 */
void hwtimer_ring_destroy(struct hwtimer_ring *ring)
{
	if (!ring)
		return;
	pages_free(ring);
	kfree(ring);
}

/**
 * hwtimer_ring_map - map the memory into user space
 * @ring: which
 * @vma: as mmap() made it
 *
 * Return: 0 or a negative errno. May sleep.
 */
int hwtimer_ring_map(struct hwtimer_ring *ring, struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	return vm_map_pages(vma, ring->pages, ring->nr_pages);
}

/**
 * hwtimer_ring_submitted - how many requests can be taken
 * @ring: the rings; the caller need not be the one that takes requests, but what it
 *	gets then may be out of date
 *
 * Return: the number, or -EINVAL: what user space says cannot be.
 */
int hwtimer_ring_submitted(const struct hwtimer_ring *ring)
{
	/* Pairs with the release of the tail in hwtimer_ring_publish() there. */
	u32 tail = smp_load_acquire(&ring->shared->submission_tail);
	/* Without the lock, @taken may be of later than @tail: -EINVAL, as for none. */
	u32 count = tail - READ_ONCE(ring->taken);

	return count <= ring->submissions ? (int)count : -EINVAL;
}

/*
 * Reads a slot, each field of it once: user space may write to it at the same time, so
 * what has been checked must not be read there again.
 */
static void slot_read(struct hwtimer_request *request,
		      const struct hwtimer_request *slot)
{
	*request = (struct hwtimer_request){
		.op = READ_ONCE(slot->op),
		.flags = READ_ONCE(slot->flags),
		.id = READ_ONCE(slot->id),
		.time = READ_ONCE(slot->time),
		.interval = READ_ONCE(slot->interval),
		.slack = READ_ONCE(slot->slack),
		.user_data = READ_ONCE(slot->user_data),
		.count = READ_ONCE(slot->count),
		.reserved = READ_ONCE(slot->reserved),
	};
}

/**
 * hwtimer_ring_take - read requests
 * @ring: from which
 * @requests: where to
 * @count: at most hwtimer_ring_submitted()
 *
 * Their slots stay in use until hwtimer_ring_answer().
 */
void hwtimer_ring_take(struct hwtimer_ring *ring,
		       struct hwtimer_request *requests, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		slot_read(&requests[i],
			  hwtimer_ring_request(ring, ring->taken + i));
}

static u64 request_result(const struct hwtimer_request *request)
{
	if (request->result)
		return (u64)(s64)request->result;
	return request->op == HWTIMER_OP_SCHEDULE ? request->id : 0;
}

/**
 * hwtimer_ring_answer - requests are done
 * @ring: of which
 * @requests: as taken, with their results
 * @count: how many
 */
void hwtimer_ring_answer(struct hwtimer_ring *ring,
			 const struct hwtimer_request *requests, u32 count)
{
	u32 taken = ring->taken;
	u32 i;

	for (i = 0; i < count; i++)
		*hwtimer_ring_result(ring, taken++) =
			request_result(&requests[i]);
	/* hwtimer_ring_submitted() reads it with no lock held. */
	WRITE_ONCE(ring->taken, taken);
	/* Pairs with the acquire of the head in hwtimer_ring_next_result(). */
	smp_store_release(&ring->shared->submission_head, taken);
}

/**
 * hwtimer_ring_unread - how many events user space has not taken out yet
 * @ring: of which
 *
 * If user space says what cannot be, the ring is full.
 */
u32 hwtimer_ring_unread(const struct hwtimer_ring *ring)
{
	/* Pairs with the release in hwtimer_ring_consume(). */
	u32 head = smp_load_acquire(&ring->shared->completion_head);

	return min(READ_ONCE(ring->put) - head, ring->completions);
}

/* Reads how much room user space has made by now; returns whether there is any. */
bool hwtimer_ring_find_room(struct hwtimer_ring *ring)
{
	ring->room = ring->completions - hwtimer_ring_unread(ring);
	return ring->room;
}

/* Lets user space see the events that were put in. */
void hwtimer_ring_publish(struct hwtimer_ring *ring)
{
	/* Pairs with the acquire in hwtimer_ring_next_event(). */
	smp_store_release(&ring->shared->completion_tail, ring->put);
}
