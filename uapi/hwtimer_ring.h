/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Functions for the rings of /dev/hwtimer (struct hwtimer_rings in
 * <linux/hwtimer.h>). Programs call them instead of writing the barriers
 * themselves. Needs C11 or C++11, and a compiler with GCC's atomic builtins.
 *
 *	hwtimer_ring_map(&ring, fd);		after SETUP with slots for both
 *
 *	request = hwtimer_ring_get_slot(&ring);	NULL: take results first
 *	request->op = HWTIMER_OP_SCHEDULE; ...	all other fields are 0
 *
 *	timer = hwtimer_ring_get_compact(&ring,	instead, with HWTIMER_COMPACT_SLOTS
 *		HWTIMER_OP_SCHEDULE, HWTIMER_ABSOLUTE);
 *	timer->user_data = ...; timer->time = ...
 *
 *	timers = hwtimer_ring_get_run(&ring,	or several at once
 *		HWTIMER_OP_SCHEDULE, HWTIMER_ABSOLUTE, &count);
 *
 *	hwtimer_ring_publish(&ring);		once for any number of slots
 *
 *	hwtimer_ring_next_result(&ring, &id);	in the order of the slots
 *	ids = hwtimer_ring_next_results(&ring, &count);
 *
 *	event = hwtimer_ring_next_event(&ring);	NULL: none, poll() the descriptor
 *	events = hwtimer_ring_next_events(&ring, &count);
 *	hwtimer_ring_consume(&ring);		once for any number of events
 *
 * Errors are negative errnos, as those of libhwtimer: what a function returns, and what
 * hwtimer_ring_error() says of a result. A function that fails leaves its errno in errno, too.
 *
 * One thread at a time may use the submission ring (get_slot, get_compact, get_run,
 * publish, next_result, next_results), and one thread at a time the completion ring
 * (next_event, next_events, consume).
 */
#ifndef HWTIMER_RING_USER_H
#define HWTIMER_RING_USER_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <linux/hwtimer.h>

/**
 * struct hwtimer_ring - a program's end of a pair of rings
 * @fd: the instance's descriptor
 * @bytes: length of the mapping
 * @shared: the mapping
 * @results: array in the mapping
 * @requests: array in the mapping; NULL with HWTIMER_COMPACT_SLOTS
 * @timers: array in the mapping, with HWTIMER_COMPACT_SLOTS; otherwise NULL
 * @events: array in the mapping
 * @submissions: number of slots of the submission ring
 * @completions: number of slots of the completion ring
 * @tail: slots that hwtimer_ring_get_slot() and the like have returned so far
 * @done: of @tail, requests that the kernel is known to have done
 * @reaped: of @done, requests whose results the program has taken
 * @head: events that the program has taken
 * @arrived: events that are known to have arrived so far
 *
 * Only the functions below use the fields.
 */
struct hwtimer_ring {
	int fd;
	size_t bytes;
	struct hwtimer_rings *shared;
	__u64 *results;
	struct hwtimer_request *requests;
	struct hwtimer_bulk_timer *timers;
	const struct hwtimer_event *events;
	__u32 submissions;
	__u32 completions;
	__u32 tail;
	__u32 done;
	__u32 reaped;
	__u32 head;
	__u32 arrived;
};

/*
 * The kernel reads and writes the same words, so the program accesses them atomically. The
 * builtins are the same in C and in C++, and take plain memory.
 */
static inline __u32 hwtimer_ring_load(const __u32 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void hwtimer_ring_store(__u32 *word, __u32 value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/*
 * Returns an array of @length bytes in the mapping, or NULL if it would not be inside.
 * All who have the mapping can write to it at any time, so its offset is read once.
 */
static inline char *hwtimer_ring_array(const struct hwtimer_ring *ring,
				       const __u64 *where, __u64 length)
{
	__u64 offset = *(const volatile __u64 *)where;

	if (offset % sizeof(__u64) || offset > ring->bytes ||
	    length > ring->bytes - offset)
		return NULL;
	return (char *)ring->shared + offset;
}

/* Finds the arrays in the mapping. Returns false if they are not all inside. */
static inline bool hwtimer_ring_find_arrays(struct hwtimer_ring *ring,
					    bool compact)
{
	size_t slot = compact ? sizeof(*ring->timers) : sizeof(*ring->requests);
	__u64 submissions = ring->submissions, completions = ring->completions;
	const struct hwtimer_rings *shared = ring->shared;
	char *results, *requests, *events;

	if (ring->bytes < sizeof(*shared))
		return false;
	results = hwtimer_ring_array(ring, &shared->results,
				     submissions * sizeof(*ring->results));
	requests =
		hwtimer_ring_array(ring, &shared->requests, submissions * slot);
	events = hwtimer_ring_array(ring, &shared->events,
				    completions * sizeof(*ring->events));
	ring->results = (__u64 *)results;
	if (compact)
		ring->timers = (struct hwtimer_bulk_timer *)requests;
	else
		ring->requests = (struct hwtimer_request *)requests;
	ring->events = (const struct hwtimer_event *)events;
	return results && requests && events;
}

/**
 * hwtimer_ring_unmap - unmap the rings
 * @ring: the rings, which need not be mapped; the instance and its timers go on
 *
 * After that, as after a failure of hwtimer_ring_map(), there are no slots.
 */
static inline void hwtimer_ring_unmap(struct hwtimer_ring *ring)
{
	/* Address 0 and the bytes after it may be the program's. */
	if (ring->shared)
		munmap(ring->shared, ring->bytes);
	ring->shared = NULL;
	/* Something else may be mapped there now. */
	ring->requests = NULL;
	ring->timers = NULL;
}

/**
 * hwtimer_ring_map - map the rings of an instance
 * @ring: out: the rings
 * @fd: the instance's descriptor; SETUP has chosen the sizes of its rings
 *
 * If another process or thread has used the rings, @ring continues at their present
 * state: it gets the results of requests that the kernel has not done yet.
 *
 * Everybody who has the descriptor or the mapping can write anything into the rings. The
 * functions here then return wrong requests and events, but do not leave the mapping. So
 * take a descriptor only from those whom you trust with your timers, and check user_data
 * before it is an index.
 *
 * Return: 0, or a negative errno, as mmap(); -ENOTTY: @fd is not an instance; -EPROTO: what is
 * mapped cannot be rings, because somebody has written into it.
 */
static inline int hwtimer_ring_map(struct hwtimer_ring *ring, int fd)
{
	struct hwtimer_info info;
	void *memory;

	memset(ring, 0, sizeof(*ring));
	memset(&info, 0, sizeof(info));
	info.size = sizeof(info);
	if (ioctl(fd, HWTIMER_IOC_INFO, &info))
		return -errno;
	ring->fd = fd;
	ring->bytes = info.rings_bytes;
	ring->submissions = info.submissions;
	ring->completions = info.completions;
	memory = mmap(NULL, ring->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      0);
	if (memory == MAP_FAILED)
		return -errno;
	ring->shared = (struct hwtimer_rings *)memory;
	if (!hwtimer_ring_find_arrays(ring,
				      info.flags & HWTIMER_COMPACT_SLOTS)) {
		hwtimer_ring_unmap(ring);
		errno = EPROTO;
		return -EPROTO;
	}
	ring->tail = hwtimer_ring_load(&ring->shared->submission_tail);
	ring->done = hwtimer_ring_load(&ring->shared->submission_head);
	ring->reaped = ring->done;
	ring->head = hwtimer_ring_load(&ring->shared->completion_head);
	ring->arrived = ring->head;
	return 0;
}

/**
 * hwtimer_ring_kick - make the kernel serve both rings now
 * @ring: the rings
 *
 * Return: number of requests that the kernel did, or a negative errno (as
 * HWTIMER_IOC_KICK).
 */
static inline int hwtimer_ring_kick(struct hwtimer_ring *ring)
{
	int done = ioctl(ring->fd, HWTIMER_IOC_KICK);

	return done < 0 ? -errno : done;
}

/* As hwtimer_ring_kick(), but returns 0 instead of the number. */
static inline int hwtimer_ring_tell(struct hwtimer_ring *ring)
{
	int done = hwtimer_ring_kick(ring);

	return done < 0 ? done : 0;
}

/* Kicks if the worker does not poll the rings. Returns 0, or a negative errno. */
static inline int hwtimer_ring_kick_if_needed(struct hwtimer_ring *ring)
{
	__u32 flags = hwtimer_ring_load(&ring->shared->flags);

	if (!(flags & HWTIMER_RING_NEED_KICK))
		return 0;
	return hwtimer_ring_tell(ring);
}

/*
 * The number of free slots of the submission ring. The tail and the head that
 * hwtimer_ring_map() found may be anything.
 */
static inline __u32 hwtimer_ring_room(const struct hwtimer_ring *ring)
{
	__u32 used = ring->tail - ring->reaped;

	return used < ring->submissions ? ring->submissions - used : 0;
}

/* Slots that lie one after the other: no more than wanted, than there are, than to the end. */
static inline __u32 hwtimer_ring_run(__u32 wanted, __u32 there, __u32 to_end)
{
	__u32 run = there < to_end ? there : to_end;

	return wanted < run ? wanted : run;
}

/**
 * hwtimer_ring_get_slot - get a slot for one more request
 * @ring: the rings
 *
 * Not with HWTIMER_COMPACT_SLOTS: then use hwtimer_ring_get_compact().
 *
 * Return: a request with all fields 0, to be filled in before
 * hwtimer_ring_publish(); NULL: all slots are in use, take results first.
 */
static inline struct hwtimer_request *
hwtimer_ring_get_slot(struct hwtimer_ring *ring)
{
	struct hwtimer_request *request;

	if (!ring->requests || !hwtimer_ring_room(ring))
		return NULL;
	request = &ring->requests[ring->tail++ & (ring->submissions - 1)];
	memset(request, 0, sizeof(*request));
	return request;
}

/**
 * hwtimer_ring_get_compact - get a compact slot for one more operation
 * @ring: the rings, of an instance with HWTIMER_COMPACT_SLOTS
 * @op: HWTIMER_OP_SCHEDULE, HWTIMER_OP_CANCEL or HWTIMER_OP_RESCHEDULE
 * @flags: flags of the operation, as for struct hwtimer_bulk
 *
 * The kernel does operations in a row that have the same @op and @flags together.
 *
 * Return: a timer, both of whose fields the program fills in before
 * hwtimer_ring_publish(); for CANCEL, 0 as the time. NULL: all slots are in use, take
 * results first; or the slots are not compact.
 */
static inline struct hwtimer_bulk_timer *
hwtimer_ring_get_compact(struct hwtimer_ring *ring, __u32 op, __u32 flags)
{
	__u32 slot = ring->tail & (ring->submissions - 1);

	if (!ring->timers || !hwtimer_ring_room(ring))
		return NULL;
	ring->tail++;
	ring->results[slot] = HWTIMER_SLOT_OP(op, flags);
	return &ring->timers[slot];
}

/**
 * hwtimer_ring_get_run - get compact slots for several operations
 * @ring: the rings, of an instance with HWTIMER_COMPACT_SLOTS
 * @op: as for hwtimer_ring_get_compact(), the same for all
 * @flags: as for hwtimer_ring_get_compact(), the same for all
 * @count: in: the most that are wanted; out: the number of slots. There may be more: call
 *	again
 *
 * Return: an array of @count timers, which the program fills in as one from
 * hwtimer_ring_get_compact(); NULL: as there, or none is wanted.
 */
static inline struct hwtimer_bulk_timer *
hwtimer_ring_get_run(struct hwtimer_ring *ring, __u32 op, __u32 flags,
		     __u32 *count)
{
	__u32 slot = ring->tail & (ring->submissions - 1);
	__u64 *results = ring->results + slot;
	__u32 i, run;

	if (!ring->timers)
		*count = 0;
	run = hwtimer_ring_run(*count, hwtimer_ring_room(ring),
			       ring->submissions - slot);
	for (i = 0; i < run; i++)
		results[i] = HWTIMER_SLOT_OP(op, flags);
	ring->tail += run;
	*count = run;
	return run ? &ring->timers[slot] : NULL;
}

/**
 * hwtimer_ring_publish - pass all slots from hwtimer_ring_get_slot() and the like to the kernel
 * @ring: the rings
 *
 * The kernel does the requests within 1 ms; hwtimer_ring_kick() makes it do them
 * at once.
 *
 * Return: 0, or a negative errno: the requests are published, but the kernel was
 * not told (-EINTR: kick again).
 */
static inline int hwtimer_ring_publish(struct hwtimer_ring *ring)
{
	hwtimer_ring_store(&ring->shared->submission_tail, ring->tail);
	/*
	 * Pairs with the smp_mb() in the kernel's hwtimer_exchange_stop_polling() and
	 * hwtimer_exchange_leave().
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return hwtimer_ring_kick_if_needed(ring);
}

/* Whether there is a result that the program has not taken. */
static inline bool hwtimer_ring_has_result(struct hwtimer_ring *ring)
{
	if (ring->reaped != ring->done)
		return true;
	ring->done = hwtimer_ring_load(&ring->shared->submission_head);
	/* A number that is impossible is not the kernel's. */
	if (ring->done - ring->reaped > ring->submissions)
		ring->done = ring->reaped;
	return ring->reaped != ring->done;
}

/* hwtimer_ring_next_result() for unsigned long long */
static inline bool hwtimer_ring_next_long_long(struct hwtimer_ring *ring,
					       unsigned long long *result)
{
	if (!hwtimer_ring_has_result(ring))
		return false;
	*result = ring->results[ring->reaped++ & (ring->submissions - 1)];
	return true;
}

/* hwtimer_ring_next_result() for unsigned long; used only if a long has 64 bits. */
static inline bool hwtimer_ring_next_long(struct hwtimer_ring *ring,
					  unsigned long *result)
{
	unsigned long long number;

	if (!hwtimer_ring_next_long_long(ring, &number))
		return false;
	*result = (unsigned long)number;
	return true;
}

/**
 * hwtimer_ring_next_result - get the result of the next request
 * @ring: the rings
 * @result: out: the id if the request was a SCHEDULE, 0 for other requests; or a
 *	negative errno, see hwtimer_ring_error(). A pointer to __u64 or to
 *	uint64_t, which are different types where one is long and the other
 *	long long
 *
 * Results come in the order of the slots.
 *
 * Return: true if there was a result.
 */
#ifdef __cplusplus
static inline bool hwtimer_ring_next_result(struct hwtimer_ring *ring,
					    unsigned long long *result)
{
	return hwtimer_ring_next_long_long(ring, result);
}

#if ULONG_MAX == ULLONG_MAX
static inline bool hwtimer_ring_next_result(struct hwtimer_ring *ring,
					    unsigned long *result)
{
	return hwtimer_ring_next_long(ring, result);
}
#endif
#elif ULONG_MAX == ULLONG_MAX
#define hwtimer_ring_next_result(ring, result) \
	_Generic((result), unsigned long *: hwtimer_ring_next_long, \
		 unsigned long long *: hwtimer_ring_next_long_long)(ring, result)
#else
#define hwtimer_ring_next_result(ring, result) \
	_Generic((result),                                              \
		 unsigned long long *: hwtimer_ring_next_long_long)(ring, \
								    result)
#endif

/**
 * hwtimer_ring_next_results - get the results of the next requests
 * @ring: the rings
 * @count: in: the most that are wanted; out: the number of results. There may be more: call
 *	again
 *
 * Return: an array of @count results, as hwtimer_ring_next_result() returns them, valid until
 * the next hwtimer_ring_get_slot() or the like; NULL: there is none.
 */
static inline const __u64 *hwtimer_ring_next_results(struct hwtimer_ring *ring,
						     __u32 *count)
{
	__u32 slot = ring->reaped & (ring->submissions - 1);

	if (!hwtimer_ring_has_result(ring))
		*count = 0;
	*count = hwtimer_ring_run(*count, ring->done - ring->reaped,
				  ring->submissions - slot);
	ring->reaped += *count;
	return *count ? &ring->results[slot] : NULL;
}

/* The negative errno of a result; 0 if the result is no error. */
static inline int hwtimer_ring_error(__u64 result)
{
	return result >= (__u64)-4095LL ? (int)(__s64)result : 0;
}

/* Whether there is an event that the program has not taken. */
static inline bool hwtimer_ring_has_event(struct hwtimer_ring *ring)
{
	if (ring->head != ring->arrived)
		return true;
	ring->arrived = hwtimer_ring_load(&ring->shared->completion_tail);
	/* A number that is impossible is not the kernel's. */
	if (ring->arrived - ring->head > ring->completions)
		ring->arrived = ring->head;
	return ring->head != ring->arrived;
}

/**
 * hwtimer_ring_next_event - get the next event
 * @ring: the rings
 *
 * Return: the event, valid until hwtimer_ring_consume(); NULL: there is none.
 */
static inline const struct hwtimer_event *
hwtimer_ring_next_event(struct hwtimer_ring *ring)
{
	if (!hwtimer_ring_has_event(ring))
		return NULL;
	return &ring->events[ring->head++ & (ring->completions - 1)];
}

/**
 * hwtimer_ring_next_events - get the next events
 * @ring: the rings
 * @count: in: the most that are wanted; out: the number of events. There may be more: call
 *	again
 *
 * Return: an array of @count events, valid until hwtimer_ring_consume(); NULL: there is none.
 */
static inline const struct hwtimer_event *
hwtimer_ring_next_events(struct hwtimer_ring *ring, __u32 *count)
{
	__u32 slot = ring->head & (ring->completions - 1);

	if (!hwtimer_ring_has_event(ring))
		*count = 0;
	*count = hwtimer_ring_run(*count, ring->arrived - ring->head,
				  ring->completions - slot);
	ring->head += *count;
	return *count ? &ring->events[slot] : NULL;
}

/**
 * hwtimer_ring_consume - free the slots of all events that the program has taken
 * @ring: the rings
 *
 * If events wait in the kernel and none is left in the ring, the kernel moves as many of
 * them as fit into the ring before this returns. If periodic timers are paused for events
 * that were in the ring, the kernel lets them go on. Either takes one HWTIMER_IOC_KICK
 * each time, which also does the requests in the submission ring.
 *
 * Return: 0, or a negative errno: the slots are free, but the kernel was not told so, and
 * the events or timers still wait (-EINTR: kick).
 */
static inline int hwtimer_ring_consume(struct hwtimer_ring *ring)
{
	hwtimer_ring_store(&ring->shared->completion_head, ring->head);
	/*
	 * Pairs with the smp_mb() in the kernel's hwtimer_completion_publish(),
	 * hwtimer_exchange_stop_polling() and hwtimer_exchange_leave().
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!hwtimer_ring_load(&ring->shared->waiting))
		return 0;
	if (hwtimer_ring_load(&ring->shared->completion_tail) == ring->head)
		return hwtimer_ring_tell(ring);
	return hwtimer_ring_kick_if_needed(ring);
}

#endif /* HWTIMER_RING_USER_H */
