/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared code of the selftests of the rings: the fixture "rings", functions that send
 * a request through the rings and wait for its result, and functions that wait for
 * events and flags.
 */
#ifndef RING_TEST_H
#define RING_TEST_H

#include "hwtimer_test.h"

#include <stdatomic.h>

#include <hwtimer_ring.h>

static inline int ring_setup(int fd, __u32 submissions, __u32 completions)
{
	return dev_setup_as(fd, (struct hwtimer_setup){
					.clock = CLOCK_MONOTONIC,
					.submissions = submissions,
					.completions = completions,
				});
}

static inline int ring_kick(int fd)
{
	return dev_ioctl(fd, HWTIMER_IOC_KICK, NULL);
}

static inline __u64 rings_bytes(int fd)
{
	struct hwtimer_info info;

	if (dev_info(fd, &info))
		abort();
	return info.rings_bytes;
}

/* A request whose op is HWTIMER_OP_@which. */
#define OP(which, ...) \
	((struct hwtimer_request){ .op = HWTIMER_OP_##which, __VA_ARGS__ })

/* Sets up an instance with rings, and maps them. The clock is CLOCK_MONOTONIC. */
static inline void ring_open_as(struct __test_metadata *_metadata,
				struct hwtimer_ring *ring, int fd,
				struct hwtimer_setup setup)
{
	setup.clock = CLOCK_MONOTONIC;
	ASSERT_EQ(0, dev_setup_as(fd, setup));
	ASSERT_EQ(0, hwtimer_ring_map(ring, fd));
}

/* Sets up rings of these sizes and maps them. */
static inline void ring_open(struct __test_metadata *_metadata,
			     struct hwtimer_ring *ring, int fd,
			     __u32 submissions, __u32 completions)
{
	ASSERT_EQ(0, ring_setup(fd, submissions, completions));
	ASSERT_EQ(0, hwtimer_ring_map(ring, fd));
}

/* Fills the next slot, which must be free. */
static inline void ring_fill(struct __test_metadata *_metadata,
			     struct hwtimer_ring *ring,
			     struct hwtimer_request request)
{
	struct hwtimer_request *slot = hwtimer_ring_get_slot(ring);

	ASSERT_NE(NULL, slot);
	*slot = request;
}

/* Returns the next result, which must come. */
static inline __u64 ring_result(struct hwtimer_ring *ring)
{
	__u64 result;

	while (!hwtimer_ring_next_result(ring, &result))
		sleep_ns(100 * US);
	return result;
}

/* Sends one request and returns its result: an id, 0, or -errno. */
static inline __s64 ring_do(struct __test_metadata *_metadata,
			    struct hwtimer_ring *ring,
			    struct hwtimer_request request)
{
	ring_fill(_metadata, ring, request);
	ASSERT_EQ(0, hwtimer_ring_publish(ring));
	return ring_result(ring);
}

static inline __s64 ring_after(struct __test_metadata *_metadata,
			       struct hwtimer_ring *ring, __u64 delay,
			       __u64 user_data)
{
	return ring_do(_metadata, ring,
		       OP(SCHEDULE, .time = delay, .user_data = user_data));
}

static inline __s64 ring_cancel(struct __test_metadata *_metadata,
				struct hwtimer_ring *ring, __u64 id,
				__u32 flags)
{
	return ring_do(_metadata, ring, OP(CANCEL, .flags = flags, .id = id));
}

static inline __s64 ring_reschedule(struct __test_metadata *_metadata,
				    struct hwtimer_ring *ring, __u64 id,
				    __u64 delay)
{
	return ring_do(_metadata, ring,
		       OP(RESCHEDULE, .id = id, .time = delay));
}

/* Takes the next event, which must come, and frees its slot; returns whether that succeeded. */
static inline bool ring_event(struct hwtimer_ring *ring,
			      struct hwtimer_event *event)
{
	const struct hwtimer_event *next;

	while (!(next = hwtimer_ring_next_event(ring)))
		sleep_ns(100 * US);
	*event = *next;
	return !hwtimer_ring_consume(ring);
}

static inline __u32 ring_waiting(const struct hwtimer_ring *ring)
{
	return hwtimer_ring_load(&ring->shared->waiting);
}

/* Returns the number of events in the ring, by its head and tail. */
static inline __u32 ring_unread(const struct hwtimer_ring *ring)
{
	return hwtimer_ring_load(&ring->shared->completion_tail) -
	       hwtimer_ring_load(&ring->shared->completion_head);
}

/* Waits until all of @bits are set in @word, which the kernel writes. */
static inline void ring_wait_bits(const __u32 *word, __u32 bits)
{
	while ((hwtimer_ring_load(word) & bits) != bits)
		sleep_ns(MS);
}

/* Waits until the worker is idle: from then on, requests need a KICK. */
static inline void ring_wait_doze(const struct hwtimer_ring *ring)
{
	ring_wait_bits(&ring->shared->flags, HWTIMER_RING_NEED_KICK);
}

/* Not every program that includes this file has tests with the fixture. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"

/* An instance whose test sets up the rings, and whose counters balance at the end. */
FIXTURE(rings)
{
	int fd;
	struct hwtimer_ring ring;
};

FIXTURE_SETUP(rings)
{
	memset(&self->ring, 0, sizeof(self->ring));
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(rings)
{
	if (self->fd >= 0) /* otherwise the test closed it */
		expect_close(_metadata, self->fd);
	if (self->ring.shared)
		hwtimer_ring_unmap(&self->ring);
}

#pragma GCC diagnostic pop

#endif /* RING_TEST_H */
