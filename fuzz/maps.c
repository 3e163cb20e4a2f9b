// SPDX-License-Identifier: GPL-2.0
/*
 * Steps with mappings of rings: map, unmap, protect and move them, use them, and write
 * garbage into them while other actors, other worlds and the worker use them. Chosen by
 * step.c.
 *
 * A mapping may go at any moment. A step that then touches it ends by SIGSEGV or SIGBUS,
 * see step_once().
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <linux/hwtimer.h>

#include "steps.h"

#define PAGE 4096UL

/* A window with a mapping, as this actor sees it now */
struct window {
	char *memory;
	size_t bytes;
	atomic_size_t *kept; /* where the world keeps the length */
	struct slot *slot; /* the instance, mostly; see step_map() */
};

static char *window_memory(struct world *world, unsigned int nr)
{
	return world->zone + nr * WINDOW_BYTES;
}

/* Chooses a window; returns whether there is a mapping in it. */
static bool choose(struct actor *actor, struct window *window)
{
	unsigned int nr = rng_below(&actor->rng, WORLD_WINDOWS);

	window->memory = window_memory(actor->world, nr);
	window->kept = &actor->world->window_bytes[nr];
	window->bytes = *window->kept;
	window->slot = &actor->world->slots[nr];
	return window->bytes;
}

static size_t length_of(int fd)
{
	struct hwtimer_info info = { .size = sizeof(info) };

	return ioctl(fd, HWTIMER_IOC_INFO, &info) ? 0 : info.rings_bytes;
}

/* Gives an instance without rings some, if it is not too late; otherwise this fails. */
static void give_rings(int fd, struct rng *rng)
{
	static const __u32 slots[] = { 1, 8, 64, 64, 512 };
	struct hwtimer_setup setup = {
		.size = sizeof(setup),
		.submissions = rng_pick(rng, slots),
		.completions = rng_pick(rng, slots),
		.flags = rng_one_in(rng, 2) ? HWTIMER_COMPACT_SLOTS : 0,
	};

	ioctl(fd, HWTIMER_IOC_SETUP, &setup);
}

void step_map(struct actor *actor)
{
	static const int protections[] = { PROT_READ | PROT_WRITE,
					   PROT_READ | PROT_WRITE, PROT_READ,
					   PROT_NONE };
	struct rng *rng = &actor->rng;
	int flags = rng_one_in(rng, 8) ? MAP_PRIVATE : MAP_SHARED;
	unsigned long offset = rng_one_in(rng, 8) ? PAGE : 0;
	struct window window;
	size_t bytes;
	void *memory;
	int fd;

	choose(actor, &window);
	fd = window.slot->fd;
	if (fd < 0 || rng_one_in(rng, 4))
		if (!step_slot(actor, &fd))
			return;
	bytes = length_of(fd);
	if (!bytes) {
		give_rings(fd, rng);
		bytes = length_of(fd);
	}
	if (rng_one_in(rng, 8))
		bytes += rng_one_in(rng, 2) ? PAGE : -PAGE;
	if (!bytes || bytes > WINDOW_BYTES)
		bytes = PAGE;
	*window.kept = 0;
	memory = mmap(window.memory, bytes, rng_pick(rng, protections),
		      flags | MAP_FIXED, fd, offset);
	step_count(actor, CALL_MMAP, memory == MAP_FAILED ? -errno : 0);
	if (memory != MAP_FAILED)
		*window.kept = bytes;
}

/* A part of a window: from some page on, some pages, or all of it */
static void *some_part(struct rng *rng, const struct window *window,
		       size_t *bytes)
{
	size_t pages = (window->bytes + PAGE - 1) / PAGE;
	size_t first = rng_one_in(rng, 3) ? 0 : rng_below(rng, pages);

	*bytes = rng_one_in(rng, 3) ? (pages - first) * PAGE :
				      PAGE * rng_between(rng, 1, pages - first);
	return window->memory + first * PAGE;
}

void step_unmap(struct actor *actor)
{
	struct window window;
	size_t bytes;
	void *part;

	if (!choose(actor, &window))
		return;
	part = some_part(&actor->rng, &window, &bytes);
	if (part == window.memory)
		*window.kept = 0;
	step_count(actor, CALL_MUNMAP, step_result(munmap(part, bytes)));
}

void step_protect(struct actor *actor)
{
	static const int protections[] = { PROT_NONE, PROT_READ,
					   PROT_READ | PROT_WRITE,
					   PROT_READ | PROT_WRITE | PROT_EXEC };
	struct window window;
	size_t bytes;
	void *part;

	if (!choose(actor, &window))
		return;
	part = some_part(&actor->rng, &window, &bytes);
	step_count(actor, CALL_MPROTECT,
		   step_result(mprotect(part, bytes,
					rng_pick(&actor->rng, protections))));
}

/* Shrinks, grows or moves a mapping, or maps it a second time. */
void step_remap(struct actor *actor)
{
	static const int modes[] = { 0, MREMAP_MAYMOVE,
				     MREMAP_MAYMOVE | MREMAP_FIXED,
				     MREMAP_MAYMOVE | MREMAP_FIXED |
					     MREMAP_DONTUNMAP };
	struct rng *rng = &actor->rng;
	int mode = rng_pick(rng, modes);
	struct window from, to;
	size_t old, new;
	void *memory;

	choose(actor, &to);
	if (!choose(actor, &from))
		return;
	old = from.bytes;
	new = rng_between(rng, 1, 16) * PAGE;
	if (rng_one_in(rng, 2))
		new = old;
	/* An old length of 0 maps the same pages once more. */
	if (rng_one_in(rng, 4))
		old = 0;
	*to.kept = 0;
	memory = mremap(from.memory, old, new, mode, to.memory);
	step_count(actor, CALL_MREMAP, memory == MAP_FAILED ? (long)-errno : 0);
	if (memory == to.memory) {
		*to.kept = new;
	} else if (memory == from.memory) {
		*from.kept = new;
	} else if (memory != MAP_FAILED) {
		/* Where the kernel chose: nobody would find it. */
		*from.kept = 0;
		munmap(memory, new);
	}
}

void step_advise(struct actor *actor)
{
	static const int advices[] = {
		MADV_DONTNEED,	    MADV_DONTNEED,	 MADV_REMOVE,
		MADV_DONTFORK,	    MADV_DOFORK,	 MADV_COLD,
		MADV_PAGEOUT,	    MADV_WILLNEED,	 MADV_FREE,
		MADV_MERGEABLE,	    MADV_HUGEPAGE,	 MADV_WIPEONFORK,
		MADV_POPULATE_READ, MADV_POPULATE_WRITE,
	};
	struct window window;
	size_t bytes;
	void *part;

	if (!choose(actor, &window))
		return;
	part = some_part(&actor->rng, &window, &bytes);
	step_count(actor, CALL_MADVISE,
		   step_result(madvise(part, bytes,
				       rng_pick(&actor->rng, advices))));
}

/* ---- contents ---- */

/* The words of struct hwtimer_rings that user space writes */
static const size_t user_words[] = {
	offsetof(struct hwtimer_rings, submission_tail),
	offsetof(struct hwtimer_rings, completion_head),
};

static atomic_uint *word_at(const struct window *window, size_t offset)
{
	return (void *)(window->memory + offset);
}

/* Garbles a word: a hostile value, or one near to what it was. */
static void garble_word(struct rng *rng, atomic_uint *word)
{
	__u32 old = *word;

	switch (rng_below(rng, 4)) {
	case 0:
		*word = rng_hostile(rng);
		break;
	case 1:
		*word = old + rng_below(rng, 8) - 4;
		break;
	case 2:
		*word = old + rng_hostile(rng);
		break;
	default:
		/* There and back, while the kernel may look */
		*word = rng_hostile(rng);
		*word = old;
	}
}

/*
 * Garbles the heads and tails mostly, then the rest of the header, then anything. After
 * that, the rings can mostly not be used any more; so this is done in a few windows only.
 */
void step_garble(struct actor *actor)
{
	struct rng *rng = &actor->rng;
	struct window window;

	if (!choose(actor, &window) || window.bytes < PAGE)
		return;
	for (unsigned int i = rng_between(rng, 1, 40); i; i--) {
		size_t offset;

		switch (rng_below(rng, 4)) {
		case 0:
			offset =
				4 * rng_below(rng,
					      sizeof(struct hwtimer_rings) / 4);
			break;
		case 1:
			offset = 4 * rng_below(rng, window.bytes / 4);
			break;
		default:
			offset = rng_pick(rng, user_words);
		}
		garble_word(rng, word_at(&window, offset));
	}
}

static __u32 load(const __u32 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void store(__u32 *word, __u32 value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/*
 * As submit(), with compact slots, if the ring seems to have them: their operations are in
 * the words of the results. Mostly one is as the one before.
 */
static void submit_compact(struct actor *actor, const struct window *window,
			   struct hwtimer_rings *rings)
{
	struct rng *rng = &actor->rng;
	__u32 slots = rings->submissions, tail = load(&rings->submission_tail);
	unsigned int count = rng_between(rng, 1, rng_one_in(rng, 4) ? 300 : 8);
	__u64 requests = rings->requests, results = rings->results;
	__u64 op = HWTIMER_SLOT_OP(HWTIMER_OP_SCHEDULE, 0);

	while (slots && count-- &&
	       tail - load(&rings->submission_head) < slots) {
		struct hwtimer_bulk_timer timer = {
			.time = rng_below(rng, 20000000),
		};
		__u32 flags = rng_one_in(rng, 2) ? 0 : rng_below(rng, 8);
		__u64 at = requests + (tail % slots) * sizeof(timer);
		__u64 word = results + (tail % slots) * sizeof(op);

		if (at > window->bytes - sizeof(timer) ||
		    word > window->bytes - sizeof(op))
			return;
		if (rng_one_in(rng, 24))
			op = HWTIMER_SLOT_OP(rng_below(rng, 5), flags);
		if ((__u32)op != HWTIMER_OP_SCHEDULE)
			timer.id = window->slot->ids[rng_below(rng, WORLD_IDS)];
		if ((__u32)op == HWTIMER_OP_CANCEL && !rng_one_in(rng, 16))
			timer.time = 0;
		memcpy(window->memory + at, &timer, sizeof(timer));
		memcpy(window->memory + word, &op, sizeof(op));
		tail++;
	}
	store(&rings->submission_tail, tail);
}

/* Fills slots of the submission ring, wherever it seems to be, and publishes them. */
static void submit(struct actor *actor, const struct window *window,
		   struct hwtimer_rings *rings)
{
	static const __u32 ops[] = { HWTIMER_OP_SCHEDULE, HWTIMER_OP_SCHEDULE,
				     HWTIMER_OP_CANCEL, HWTIMER_OP_RESCHEDULE };
	struct rng *rng = &actor->rng;
	__u32 slots = rings->submissions, tail = load(&rings->submission_tail);
	unsigned int count = rng_between(rng, 1, rng_one_in(rng, 8) ? 300 : 8);
	__u64 requests = rings->requests;

	if (rings->events - requests < slots * sizeof(struct hwtimer_request)) {
		submit_compact(actor, window, rings);
		return;
	}
	while (slots && count-- &&
	       tail - load(&rings->submission_head) < slots) {
		struct hwtimer_request request;
		__u64 at = requests + (tail % slots) * sizeof(request);

		if (at > window->bytes - sizeof(request))
			return;
		fill_request(actor, window->slot, &request, rng_pick(rng, ops));
		if (rng_one_in(rng, 16))
			rng_mutate(rng, &request, sizeof(request));
		memcpy(window->memory + at, &request, sizeof(request));
		tail++;
	}
	store(&rings->submission_tail, tail);
}

/* Remembers results that seem to be ids. */
static void take_results(struct actor *actor, const struct window *window,
			 struct hwtimer_rings *rings)
{
	__u32 slots = rings->submissions;
	__u64 results = rings->results, result;

	for (unsigned int i = 0; slots && i < 4; i++) {
		__u64 at = results + 8 * (__u64)rng_below(&actor->rng, slots);

		if (at > window->bytes - 8)
			return;
		memcpy(&result, window->memory + at, 8);
		if ((__s64)result > 0)
			window->slot->ids[rng_below(&actor->rng, WORLD_IDS)] =
				result;
	}
}

/* Takes some or all events out. */
static void consume(struct rng *rng, struct hwtimer_rings *rings)
{
	__u32 head = load(&rings->completion_head);
	__u32 unread = load(&rings->completion_tail) - head;

	if (unread)
		store(&rings->completion_head,
		      rng_one_in(rng, 2) ? head + unread :
					   head + rng_below(rng, unread));
}

void step_use_ring(struct actor *actor)
{
	struct rng *rng = &actor->rng;
	struct hwtimer_rings *rings;
	struct window window;

	if (!choose(actor, &window) || window.bytes < PAGE)
		return;
	rings = (struct hwtimer_rings *)window.memory;
	switch (rng_below(rng, 4)) {
	case 0:
		consume(rng, rings);
		break;
	case 1:
		take_results(actor, &window, rings);
		break;
	default:
		submit(actor, &window, rings);
	}
}
