// SPDX-License-Identifier: GPL-2.0
/*
 * Implements the kernel's end of a pair of rings; see hwtimer_ring.h.
 *
 * The memory consists of single pages, charged to the process that maps the rings first.
 * The kernel accesses them through its direct mapping, without vmap(): the direct mapping
 * uses large pages, so TLB misses are rare.
 */
#include <linux/align.h>
#include <linux/cache.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"
#include "hwtimer_hurry.h"
#include "hwtimer_ring.h"

static_assert(sizeof(struct hwtimer_rings) == 6 * 64);
static_assert(offsetof(struct hwtimer_rings, submission_tail) == 1 * 64);
static_assert(offsetof(struct hwtimer_rings, completion_head) == 2 * 64);
static_assert(offsetof(struct hwtimer_rings, submission_head) == 3 * 64);
static_assert(offsetof(struct hwtimer_rings, completion_tail) == 4 * 64);
static_assert(offsetof(struct hwtimer_rings, flags) == 5 * 64);

/**
 * struct ring_layout - the layout of the shared memory
 * @results: offset of the results, in bytes
 * @requests: offset of the slots of the submission ring, in bytes
 * @events: offset of the slots of the completion ring, in bytes
 * @bytes: size of the memory, whole pages
 */
struct ring_layout {
	size_t results;
	size_t requests;
	size_t events;
	size_t bytes;
};

static struct ring_layout ring_layout(u32 submissions, u32 completions,
				      bool compact)
{
	struct ring_layout layout;

	layout.results = ALIGN(sizeof(struct hwtimer_rings), 64);
	layout.requests = ALIGN(layout.results + submissions * sizeof(u64), 64);
	layout.events =
		ALIGN(layout.requests +
			      submissions * hwtimer_ring_slot_bytes(compact),
		      64);
	layout.bytes = PAGE_ALIGN(layout.events +
				  completions * sizeof(struct hwtimer_event));
	return layout;
}

/**
 * hwtimer_ring_bytes - the size of the memory that user space maps
 * @submissions: number of slots of the submission ring
 * @completions: number of slots of the completion ring
 * @compact: the slots of the submission ring are compact
 *
 * Return: bytes, whole pages.
 */
size_t hwtimer_ring_bytes(u32 submissions, u32 completions, bool compact)
{
	return ring_layout(submissions, completions, compact).bytes;
}

/**
 * hwtimer_ring_private_bytes - the size of the memory that only the kernel uses
 * @completions: number of slots of the completion ring
 *
 * Return: bytes.
 */
size_t hwtimer_ring_private_bytes(u32 completions)
{
	return PAGE_ALIGN(completions * sizeof(u32));
}

/* Frees the first @count pages. */
static void pages_free(struct hwtimer_ring *ring, unsigned long count)
{
	while (count)
		__free_page(ring->pages[--count]);
	kvfree(ring->pages);
}

/*
 * Allocates @count pages, one by one, so that the memory need not be in one piece. Returns 0 or
 * -ENOMEM. May sleep. A task that is being killed gets none, see supply_unwanted(): if the OOM
 * killer kills it, it could take the kernel's reserves.
 */
static int pages_alloc(struct hwtimer_ring *ring, unsigned long count)
{
	unsigned long i;

	ring->pages = hwtimer_hurry_get(count * sizeof(*ring->pages));
	if (!ring->pages)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		struct page *page = NULL;

		if (!fatal_signal_pending(current))
			page = hwtimer_hurry_page(HWTIMER_GFP);
		if (!page) {
			pages_free(ring, i);
			return -ENOMEM;
		}
		ring->pages[i] = page;
		cond_resched();
	}
	return 0;
}

/* Writes the layout for user space. The kernel never reads it back. */
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
 * hwtimer_ring_create - create a pair of empty rings
 * @submissions: number of slots of the submission ring: a power of two, or 0
 * @completions: number of slots of the completion ring: a power of two, or 0
 * @compact: the slots of the submission ring are compact
 *
 * Return: the rings, or NULL: no memory. May sleep.
 */
struct hwtimer_ring *hwtimer_ring_create(u32 submissions, u32 completions,
					 bool compact)
{
	struct ring_layout layout =
		ring_layout(submissions, completions, compact);
	size_t private = hwtimer_ring_private_bytes(completions);
	struct hwtimer_ring *ring = hwtimer_hurry_zalloc(sizeof(*ring));

	if (!ring)
		return NULL;
	if (pages_alloc(ring, (layout.bytes + private) >> PAGE_SHIFT)) {
		kfree(ring);
		return NULL;
	}
	ring->nr_pages = layout.bytes >> PAGE_SHIFT;
	ring->pauses = layout.bytes;
	ring->shared = page_address(ring->pages[0]);
	ring->results = layout.results;
	ring->requests = layout.requests;
	ring->events = layout.events;
	ring->submissions = submissions;
	ring->completions = completions;
	ring->compact = compact;
	ring_describe(ring);
	return ring;
}

/**
 * hwtimer_ring_destroy - free a pair of rings
 * @ring: the rings, which the kernel no longer uses; or NULL
 *
 * Pages that user space has mapped are freed when they are unmapped. May sleep.
 */
void hwtimer_ring_destroy(struct hwtimer_ring *ring)
{
	size_t private;

	if (!ring)
		return;
	private = hwtimer_ring_private_bytes(ring->completions);
	pages_free(ring, ring->nr_pages + (private >> PAGE_SHIFT));
	kfree(ring);
}

/**
 * hwtimer_ring_map - map the rings into user space
 * @ring: the rings
 * @vma: the mapping; mmap() has created it, and the caller has checked its size
 *
 * Return: 0 or the negative errno of vm_map_pages(). May sleep.
 */
int hwtimer_ring_map(struct hwtimer_ring *ring, struct vm_area_struct *vma)
{
	/* mprotect() must not allow later what mmap() has refused. */
	vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC);
	return vm_map_pages(vma, ring->pages, ring->nr_pages);
}

/**
 * hwtimer_ring_submitted - count the requests that can be taken
 * @ring: the rings; without exchange.drain held, the result may be out of date
 *
 * Return: the number of requests, or -EINVAL: user space's tail is impossible.
 */
int hwtimer_ring_submitted(const struct hwtimer_ring *ring)
{
	/* Pairs with the release in user space's hwtimer_ring_publish(). */
	u32 tail = smp_load_acquire(&ring->shared->submission_tail);
	/*
	 * Without exchange.drain, @taken may be newer than @tail, which gives -EINVAL.
	 * Only a caller that holds the mutex reports that error.
	 */
	u32 count = tail - READ_ONCE(ring->taken);

	return count <= ring->submissions ? (int)count : -EINVAL;
}

/*
 * Finds what belongs to request @number in an array of the shared memory, which begins at
 * offset @array and has items of @size bytes. Returns how many items, @count at most, lie
 * one after the other from there on.
 */
static u32 submission_run(const struct hwtimer_ring *ring, u32 number,
			  u32 count, size_t size, size_t array, void **item)
{
	u32 slot = number & (ring->submissions - 1);
	size_t offset = array + slot * size;

	*item = hwtimer_ring_at(ring, offset);
	return hwtimer_ring_run(offset, size, ring->submissions - slot, count);
}

/*
 * Copies a slot, and reads each of its fields only once: user space may change them at
 * any time, so the kernel has to use the values that it has checked.
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

/*
 * Finds the compact slot of request @number and the word of its result, which has its
 * operation. Returns how many of both lie one after the other, as submission_run().
 */
static u32 compact_run(const struct hwtimer_ring *ring, u32 number, u32 count,
		       const struct hwtimer_bulk_timer **slot, const u64 **op)
{
	count = submission_run(ring, number, count, sizeof(**op), ring->results,
			       (void **)op);
	return submission_run(ring, number, count, sizeof(**slot),
			      ring->requests, (void **)slot);
}

/*
 * Copies a compact slot, and reads each of its words only once, as slot_read(). If its flags
 * need more than a slot has, the request has no operation, and will be refused.
 */
static void compact_read(struct hwtimer_request *request,
			 const struct hwtimer_bulk_timer *slot, const u64 *word)
{
	u64 op = READ_ONCE(*word);
	u64 first = READ_ONCE(slot->user_data);
	bool schedule = lower_32_bits(op) == HWTIMER_OP_SCHEDULE;
	bool fits = !(upper_32_bits(op) & ~HWTIMER_COMPACT_FLAGS);

	*request = (struct hwtimer_request){
		.op = fits ? lower_32_bits(op) : HWTIMER_OP_NONE,
		.flags = upper_32_bits(op),
		.id = schedule ? 0 : first,
		.time = READ_ONCE(slot->time),
		.user_data = schedule ? first : 0,
	};
}

static void take_compact(struct hwtimer_ring *ring,
			 struct hwtimer_request *requests, u32 count)
{
	u32 taken = ring->taken;

	while (count) {
		const struct hwtimer_bulk_timer *slot;
		const u64 *op;
		u32 run = compact_run(ring, taken, count, &slot, &op);

		taken += run;
		count -= run;
		while (run--)
			compact_read(requests++, slot++, op++);
	}
}

/**
 * hwtimer_ring_take - copy requests out of the submission ring
 * @ring: the rings; exchange.drain is held
 * @requests: out: the requests
 * @count: number of requests, at most hwtimer_ring_submitted()
 *
 * Their slots stay in use until hwtimer_ring_answer().
 */
void hwtimer_ring_take(struct hwtimer_ring *ring,
		       struct hwtimer_request *requests, u32 count)
{
	u32 taken = ring->taken;

	if (ring->compact) {
		take_compact(ring, requests, count);
		return;
	}
	while (count) {
		const struct hwtimer_request *slot;
		u32 run = submission_run(ring, taken, count, sizeof(*slot),
					 ring->requests, (void **)&slot);

		taken += run;
		count -= run;
		while (run--)
			slot_read(requests++, slot++);
	}
}

/*
 * Copies @count compact slots, which lie one after the other, to *@words, as a bulk has
 * them: for CANCEL, the ids only. Ends before a slot whose operation is not @wanted, and
 * before a CANCEL with a time, which is an error of its own. Returns the number of slots
 * copied. Reads each word once.
 */
static u32 bulk_read(u64 **words, const struct hwtimer_bulk_timer *slot,
		     const u64 *op, u64 wanted, u32 count)
{
	bool cancel = lower_32_bits(wanted) == HWTIMER_OP_CANCEL;
	u64 *word = *words;
	u32 i;

	for (i = 0; i < count; i++) {
		u64 time = READ_ONCE(slot[i].time);

		if (READ_ONCE(op[i]) != wanted || (cancel && time))
			break;
		*word++ = READ_ONCE(slot[i].user_data);
		if (!cancel)
			*word++ = time;
	}
	*words = word;
	return i;
}

/**
 * hwtimer_ring_take_bulk - copy requests of one kind out of the submission ring
 * @ring: the rings, with compact slots; exchange.drain is held
 * @bulk: out: the operation and the flags of the requests
 * @words: out: the requests, for hwtimer_bulk_run()
 * @count: number of requests, at most hwtimer_ring_submitted(), and not 0
 *
 * Takes requests as long as they have the operation and the flags of the first one. Their
 * slots stay in use until hwtimer_ring_answer_bulk(). A caller that has no use for @words
 * can still call hwtimer_ring_take().
 *
 * Return: the number of requests; 0: the first one is a CANCEL with a time, or user space has
 * just changed its operation.
 */
u32 hwtimer_ring_take_bulk(const struct hwtimer_ring *ring,
			   struct hwtimer_bulk *bulk, u64 *words, u32 count)
{
	u64 wanted = READ_ONCE(*hwtimer_ring_result(ring, ring->taken));
	u32 taken = 0, read, run;

	do {
		const struct hwtimer_bulk_timer *slot;
		const u64 *op;

		run = compact_run(ring, ring->taken + taken, count - taken,
				  &slot, &op);
		read = bulk_read(&words, slot, op, wanted, run);
		taken += read;
	} while (read == run && taken < count);
	bulk->op = lower_32_bits(wanted);
	bulk->flags = upper_32_bits(wanted);
	return taken;
}

/* What user space gets as the result: an id, 0, or a negative errno. */
static u64 request_result(const struct hwtimer_request *request)
{
	if (request->result)
		return (u64)(s64)request->result;
	return request->op == HWTIMER_OP_SCHEDULE ||
			       request->flags & HWTIMER_REARM ?
		       request->id :
		       0;
}

/* Lets user space see results up to request @taken, and use their slots again. */
static void results_publish(struct hwtimer_ring *ring, u32 taken)
{
	/* hwtimer_ring_submitted() reads @taken without the mutex. */
	WRITE_ONCE(ring->taken, taken);
	/* Pairs with the acquire in user space's hwtimer_ring_has_result(). */
	smp_store_release(&ring->shared->submission_head, taken);
}

/**
 * hwtimer_ring_answer - give user space the results of requests, and their slots
 * @ring: the rings; exchange.drain is held
 * @requests: the requests from hwtimer_ring_take(), with their results
 * @count: number of requests
 */
void hwtimer_ring_answer(struct hwtimer_ring *ring,
			 const struct hwtimer_request *requests, u32 count)
{
	u32 taken = ring->taken;

	while (count) {
		u64 *result;
		u32 run = submission_run(ring, taken, count, sizeof(*result),
					 ring->results, (void **)&result);

		taken += run;
		count -= run;
		kcsan_disable_current();
		while (run--)
			*result++ = request_result(requests++);
		kcsan_enable_current();
	}
	results_publish(ring, taken);
}

/**
 * hwtimer_ring_answer_bulk - give user space the results of a bulk, and its slots
 * @ring: the rings; exchange.drain is held
 * @results: the results of the requests from hwtimer_ring_take_bulk()
 * @count: number of requests
 */
void hwtimer_ring_answer_bulk(struct hwtimer_ring *ring, const u64 *results,
			      u32 count)
{
	u32 taken = ring->taken;

	while (count) {
		void *place;
		u32 run = submission_run(ring, taken, count, sizeof(*results),
					 ring->results, &place);

		kcsan_disable_current();
		memcpy(place, results, run * sizeof(*results));
		kcsan_enable_current();
		results += run;
		taken += run;
		count -= run;
	}
	results_publish(ring, taken);
}

/**
 * hwtimer_ring_unread - count the events that user space has not taken out yet
 * @ring: the rings; without the instance's lock held, the result may be out of date
 *
 * Return: the number of events. If user space's head is impossible, the ring counts as
 * full.
 */
u32 hwtimer_ring_unread(const struct hwtimer_ring *ring)
{
	/* Pairs with the release in user space's hwtimer_ring_consume(). */
	u32 head = smp_load_acquire(&ring->shared->completion_head);

	return min(READ_ONCE(ring->put) - head, ring->completions);
}

/**
 * hwtimer_ring_consumed - count the events that user space has taken out since @head
 * @ring: the rings; the instance's lock is held
 *
 * Return: the number of events; 0 if user space's head is impossible or went back.
 */
u32 hwtimer_ring_consumed(const struct hwtimer_ring *ring)
{
	u32 unread = hwtimer_ring_unread(ring);
	u32 before = ring->put - ring->head;

	return before - min(before, unread);
}

/**
 * hwtimer_ring_find_room - read how much room user space has made
 * @ring: the rings; the instance's lock is held
 *
 * If timers are paused, ring->head does not change: a slot is not used again before the
 * caller of hwtimer_ring_consumed() has gone past it. So the timer that is paused there
 * cannot be missed, and there is at most one.
 *
 * Return: whether there is room for an event.
 */
bool hwtimer_ring_find_room(struct hwtimer_ring *ring)
{
	u32 unread = hwtimer_ring_unread(ring);

	if (!ring->paused)
		ring->head = ring->put - unread;
	ring->room = ring->completions - max(unread, ring->put - ring->head);
	return ring->room;
}

/**
 * hwtimer_ring_publish - let user space see the events that were put
 * @ring: the rings; the instance's lock is held
 */
void hwtimer_ring_publish(struct hwtimer_ring *ring)
{
	/* Pairs with the acquire in user space's hwtimer_ring_has_event(). */
	smp_store_release(&ring->shared->completion_tail, ring->put);
}
