// SPDX-License-Identifier: MIT
/* Copies the events in a completion ring; see ring_events.h. */
#include "ring_events.h"

#include <hwtimer_ring.h>

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Returns whether events have ever been in the completion ring. The ring must not be
 * mapped otherwise: mmap() would create it, and events would no longer go to read().
 */
static bool ring_was_used(struct hwt *hwt)
{
	struct hwtimer_stats stats;
	int error = -hwt_stats(hwt, &stats);

	if (error)
		errx(1, "HWTIMER_IOC_STATS: %s", strerror(error));
	return stats.completed;
}

static struct hwtimer_event *room_for(unsigned int count)
{
	struct hwtimer_event *list = calloc(count + 1, sizeof(*list));

	if (!list)
		err(1, "no memory for %u events", count);
	return list;
}

static void __attribute__((noreturn)) damaged(void)
{
	errx(1, "the program has damaged its completion ring");
}

/*
 * Returns how many events after @head are to be copied. Meanwhile the program takes events
 * out, and the kernel puts others in. Those that come after the tail was read are not
 * needed: their timers were pending when they were listed. So the tail is read first;
 * then, if the head is beyond it, all are taken out. A head that is beyond the tail even
 * now, or too far behind, was not written by a program that keeps to the rules.
 */
static __u32 count_unread(const struct hwtimer_ring *ring, __u32 *head)
{
	const struct hwtimer_rings *shared = ring->shared;
	__u32 count, tail = hwtimer_ring_load(&shared->completion_tail);

	*head = hwtimer_ring_load(&shared->completion_head);
	if ((__s32)(hwtimer_ring_load(&shared->completion_tail) - *head) < 0)
		damaged();
	count = tail - *head;
	if ((__s32)count < 0)
		return 0;
	if (count > ring->completions)
		damaged();
	return count;
}

/*
 * Copies the events. Meanwhile the program may take some out, and the kernel may write
 * others into their slots. So those that are still in the ring after the copy were in it
 * all the while, and their copies are good.
 */
static struct ring_events copy(const struct hwtimer_ring *ring)
{
	struct ring_events events = { 0 };
	__u32 i, taken, head, count = count_unread(ring, &head);

	events.list = room_for(count);
	for (i = 0; i < count; i++)
		events.list[i] =
			ring->events[(head + i) & (ring->completions - 1)];
	/* The events are read before the head is read again. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	taken = hwtimer_ring_load(&ring->shared->completion_head) - head;
	if (taken > count)
		taken = count;
	events.count = count - taken;
	memmove(events.list, events.list + taken,
		events.count * sizeof(*events.list));
	return events;
}

/**
 * ring_events_copy - copy the events that the program has not taken out of its ring
 * @hwt: the instance, which does not change
 *
 * Return: the events, for ring_events_free(). Ends the program on failure.
 */
struct ring_events ring_events_copy(struct hwt *hwt)
{
	struct ring_events events = { 0 };
	struct hwtimer_ring ring;

	if (!ring_was_used(hwt))
		return events;
	if (hwtimer_ring_map(&ring, hwt_fd(hwt))) {
		if (errno == EPROTO)
			damaged();
		err(1, "cannot map the rings");
	}
	events = copy(&ring);
	hwtimer_ring_unmap(&ring);
	return events;
}

void ring_events_free(struct ring_events *events)
{
	free(events->list);
	*events = (struct ring_events){ 0 };
}
