// SPDX-License-Identifier: GPL-2.0
/*
 * Requests and events through the rings: whether they do what the ioctls and read() do,
 * what happens when there is no room, how poll() and STOP work with rings, and when the
 * worker or the consumer is woken.
 */
#include "ring_test.h"

/* Schedules @count timers that are due now; their user_data counts up from @first. */
static void schedule_now(struct __test_metadata *_metadata, int fd,
			 unsigned int first, unsigned int count)
{
	struct hwtimer_request requests[BATCH];

	ASSERT_GE(BATCH, count);
	fill_schedules(requests, count, 0, 0, first);
	schedule_all(_metadata, fd, requests, count);
}

/* Waits until the ring says that @count events wait in the kernel. */
static void wait_waiting(const struct hwtimer_ring *ring, __u32 count)
{
	while (ring_waiting(ring) != count)
		sleep_ns(100 * US);
}

TEST_F(rings, results_are_in_order)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;
	__u64 ids[64];

	ring_open(_metadata, ring, self->fd, 64, 64);
	for (unsigned int i = 0; i < 64; i++)
		ring_fill(_metadata, ring,
			  OP(SCHEDULE, .time = 5 * MS, .user_data = i));
	EXPECT_EQ(NULL, hwtimer_ring_get_slot(ring));
	ASSERT_EQ(0, hwtimer_ring_publish(ring));
	for (unsigned int i = 0; i < 64; i++) {
		ids[i] = ring_result(ring);
		ASSERT_LT(0, (__s64)ids[i]);
		ASSERT_EQ(0, hwtimer_ring_error(ids[i]));
	}
	for (unsigned int i = 0; i < 64; i++) {
		ASSERT_TRUE(ring_event(ring, &event));
		EXPECT_EQ(i, event.user_data);
		EXPECT_EQ(ids[i], event.id);
		expect_due(_metadata, &event);
	}
	EXPECT_EQ(NULL, hwtimer_ring_next_event(ring));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	EXPECT_EQ(64, stats_of(self->fd).submitted);
	EXPECT_EQ(64, stats_of(self->fd).completed);
	EXPECT_EQ(64, stats_of(self->fd).delivered);
	EXPECT_EQ(0, stats_of(self->fd).overflowed);
}

TEST_F(rings, errors_are_results)
{
	struct hwtimer_ring *ring = &self->ring;
	const struct {
		struct hwtimer_request request;
		int error;
	} cases[] = {
		{ OP(NONE, 0), EINVAL },
		{ { .op = 4 }, EINVAL },
		{ { .op = UINT_MAX }, EINVAL },
		{ OP(SCHEDULE, .flags = 1U << 31), EINVAL },
		{ OP(SCHEDULE, .id = 1), EINVAL },
		{ OP(SCHEDULE, .reserved = 1), EINVAL },
		{ OP(SCHEDULE, .count = 1), EINVAL },
		{ OP(SCHEDULE, .interval = MS - 1), ERANGE },
		{ OP(SCHEDULE, .interval = 1ULL << 63), ERANGE },
		{ OP(SCHEDULE, .time = MS, .slack = MS + 1), EDOM },
		{ OP(SCHEDULE, .time = HWTIMER_NEVER), EINVAL },
		{ OP(RESCHEDULE, .id = 12345, .time = HWTIMER_NEVER), EINVAL },
		{ OP(CANCEL, .id = 12345), ENOENT },
		{ OP(CANCEL, .id = 0), ENOENT },
		{ OP(CANCEL, .id = ~0ULL), ENOENT },
		{ OP(CANCEL, .id = 1, .time = 1), EINVAL },
		{ OP(RESCHEDULE, .id = 12345), ENOENT },
		{ OP(RESCHEDULE, .id = 1, .user_data = 1), EINVAL },
	};
	unsigned int n = ARRAY_SIZE(cases);

	ring_open(_metadata, ring, self->fd, 64, 4);
	/* A result that was left in a slot must not become the request's result. */
	for (unsigned int i = 0; i < n; i++) {
		ring_fill(_metadata, ring, cases[i].request);
		ring_fill(_metadata, ring,
			  OP(SCHEDULE, .time = HOUR, .result = -EPERM));
	}
	ASSERT_EQ(0, hwtimer_ring_publish(ring));
	for (unsigned int i = 0; i < n; i++) {
		__u64 result = ring_result(ring);

		EXPECT_EQ(-cases[i].error, hwtimer_ring_error(result));
		EXPECT_EQ(-(__s64)cases[i].error, (__s64)result);
		EXPECT_EQ(0, hwtimer_ring_error(ring_result(ring)));
	}
	EXPECT_EQ(n, stats_of(self->fd).pending);
}

/* ---- compact slots ---- */

static void compact_open(struct __test_metadata *_metadata,
			 struct hwtimer_ring *ring, int fd, __u32 submissions,
			 __u32 completions)
{
	ring_open_as(_metadata, ring, fd,
		     (struct hwtimer_setup){
			     .flags = HWTIMER_COMPACT_SLOTS,
			     .submissions = submissions,
			     .completions = completions,
		     });
}

/* Fills the next slot, which must be free. @first: user_data or id */
static void compact_fill(struct __test_metadata *_metadata,
			 struct hwtimer_ring *ring, __u32 op, __u32 flags,
			 __u64 first, __u64 time)
{
	struct hwtimer_bulk_timer *slot =
		hwtimer_ring_get_compact(ring, op, flags);

	ASSERT_NE(NULL, slot);
	slot->user_data = first;
	slot->time = time;
}

/*
 * Schedules, moves and cancels runs of timers, from one that is a request to one as long as
 * the ring, which begin anywhere in it: each operation is done once, on the right timer.
 */
TEST_F(rings, compact_slots_are_operations)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;
	struct hwtimer_query query;
	unsigned int expired = 0;
	__u64 ids[64];

	compact_open(_metadata, ring, self->fd, 64, 64);
	EXPECT_EQ(NULL, hwtimer_ring_get_slot(ring));
	for (unsigned int n = 1; n <= 64; n += 7) {
		for (unsigned int i = 0; i < n; i++)
			compact_fill(_metadata, ring, HWTIMER_OP_SCHEDULE, 0, i,
				     HOUR);
		ASSERT_EQ(0, hwtimer_ring_publish(ring));
		for (unsigned int i = 0; i < n; i++) {
			ids[i] = ring_result(ring);
			ASSERT_EQ(0, hwtimer_ring_error(ids[i]));
		}
		for (unsigned int i = 0; i < n; i++)
			compact_fill(_metadata, ring, HWTIMER_OP_RESCHEDULE,
				     HWTIMER_ABSOLUTE, ids[i], i);
		ASSERT_EQ(0, hwtimer_ring_publish(ring));
		for (unsigned int i = 0; i < n; i++)
			ASSERT_EQ(0, ring_result(ring));
		for (unsigned int i = 0; i < n; i++, expired++) {
			ASSERT_TRUE(ring_event(ring, &event));
			ASSERT_EQ(ids[event.user_data], event.id);
			ASSERT_EQ(event.user_data, event.deadline);
		}
		for (unsigned int i = 0; i < n; i++)
			compact_fill(_metadata, ring, HWTIMER_OP_SCHEDULE, 0, i,
				     HOUR);
		ASSERT_EQ(0, hwtimer_ring_publish(ring));
		for (unsigned int i = 0; i < n; i++) {
			ids[i] = ring_result(ring);
			ASSERT_EQ(0, dev_query(self->fd, ids[i], &query));
			ASSERT_EQ(i, query.user_data);
		}
		for (unsigned int i = 0; i < n; i++)
			compact_fill(_metadata, ring, HWTIMER_OP_CANCEL, 0,
				     ids[i], 0);
		ASSERT_EQ(0, hwtimer_ring_publish(ring));
		for (unsigned int i = 0; i < n; i++)
			ASSERT_EQ(0, ring_result(ring));
		EXPECT_EQ(0, stats_of(self->fd).pending);
	}
	EXPECT_EQ(expired, stats_of(self->fd).completed);
	EXPECT_EQ(expired, stats_of(self->fd).cancelled);
}

TEST_F(rings, compact_errors_are_results)
{
	struct hwtimer_ring *ring = &self->ring;
	const struct {
		__u32 op, flags;
		__u64 id, time;
		int error;
	} cases[] = {
		{ HWTIMER_OP_NONE, 0, 0, 0, EINVAL },
		{ 4, 0, 0, 0, EINVAL },
		{ UINT_MAX, 0, 0, 0, EINVAL },
		{ HWTIMER_OP_SCHEDULE, 1U << 31, 0, 0, EINVAL },
		{ HWTIMER_OP_SCHEDULE, HWTIMER_DISCARD, 0, 0, EINVAL },
		{ HWTIMER_OP_SCHEDULE, HWTIMER_FIXED_DELAY, 0, 0, EINVAL },
		{ HWTIMER_OP_SCHEDULE, 0, 0, HWTIMER_NEVER, EINVAL },
		{ HWTIMER_OP_RESCHEDULE, 0, 12345, HWTIMER_NEVER, EINVAL },
		{ HWTIMER_OP_RESCHEDULE, 0, 12345, 0, ENOENT },
		{ HWTIMER_OP_CANCEL, 0, 12345, 0, ENOENT },
		{ HWTIMER_OP_CANCEL, HWTIMER_DISCARD, ~0ULL, 0, ENOENT },
		{ HWTIMER_OP_CANCEL, HWTIMER_ABSOLUTE, 1, 0, EINVAL },
		{ HWTIMER_OP_CANCEL, 0, 1, 1, EINVAL },
	};
	unsigned int pending = 0;
	__u64 id;

	compact_open(_metadata, ring, self->fd, 128, 4);
	/* In a run of @n, and each beside an operation that succeeds */
	for (unsigned int n = 1; n <= 64; n *= 4)
		for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
			for (unsigned int k = 0; k < n; k++)
				compact_fill(_metadata, ring, cases[i].op,
					     cases[i].flags, cases[i].id,
					     cases[i].time);
			compact_fill(_metadata, ring, HWTIMER_OP_SCHEDULE,
				     HWTIMER_ABSOLUTE, 0, HWTIMER_NEVER);
			ASSERT_EQ(0, hwtimer_ring_publish(ring));
			for (unsigned int k = 0; k < n; k++)
				ASSERT_EQ(-(__s64)cases[i].error,
					  (__s64)ring_result(ring));
			id = ring_result(ring);
			ASSERT_EQ(0, hwtimer_ring_error(id));
			pending++;
		}
	EXPECT_EQ(pending, stats_of(self->fd).pending);
}

/* Fills slots for @n timers that expire at once, in runs, with user_data from @first on. */
static unsigned int runs_fill(struct __test_metadata *_metadata,
			      struct hwtimer_ring *ring, __u64 first,
			      unsigned int n)
{
	unsigned int runs = 0;
	__u32 run;

	for (; n; n -= run, runs++) {
		struct hwtimer_bulk_timer *slots;

		run = n;
		slots = hwtimer_ring_get_run(ring, HWTIMER_OP_SCHEDULE,
					     HWTIMER_ABSOLUTE, &run);
		ASSERT_NE(NULL, slots);
		ASSERT_LT(0, run);
		ASSERT_GE(n, run);
		for (unsigned int i = 0; i < run; i++) {
			slots[i].user_data = first;
			slots[i].time = first++;
		}
	}
	return runs;
}

/* Waits for @n results, and takes them in runs. Returns the number of runs. */
static unsigned int runs_of_results(struct __test_metadata *_metadata,
				    struct hwtimer_ring *ring, __u64 *ids,
				    unsigned int n)
{
	unsigned int runs = 0;
	const __u64 *results;
	__u32 run;

	while (n) {
		run = n;
		results = hwtimer_ring_next_results(ring, &run);
		ASSERT_EQ(!results, !run);
		ASSERT_GE(n, run);
		for (unsigned int i = 0; i < run; i++)
			*ids++ = results[i];
		n -= run;
		runs += run > 0;
	}
	return runs;
}

/* Takes @n events, each of which has come, in runs; those are of @ids, in any order. */
static void runs_of_events(struct __test_metadata *_metadata,
			   struct hwtimer_ring *ring, const __u64 *ids,
			   __u64 first, unsigned int n)
{
	const struct hwtimer_event *events;
	__u32 run;

	while (n) {
		run = n < 20 ? n : 20;
		events = hwtimer_ring_next_events(ring, &run);
		ASSERT_EQ(!events, !run);
		ASSERT_GE(n < 20 ? n : 20, run);
		for (unsigned int i = 0; i < run; i++) {
			ASSERT_LE(first, events[i].user_data);
			ASSERT_EQ(ids[events[i].user_data - first],
				  events[i].id);
		}
		if (run)
			ASSERT_EQ(0, hwtimer_ring_consume(ring));
		n -= run;
	}
}

/*
 * Slots, results and events in runs, which end at the end of the ring: each timer is
 * scheduled and delivered once.
 */
TEST_F(rings, runs_end_where_the_ring_does)
{
	struct hwtimer_ring *ring = &self->ring;
	unsigned int splits = 0;
	__u32 run = 0;
	__u64 ids[64];

	compact_open(_metadata, ring, self->fd, 64, 64);
	EXPECT_EQ(NULL, hwtimer_ring_get_run(ring, HWTIMER_OP_CANCEL, 0, &run));
	run = 5;
	EXPECT_EQ(NULL, hwtimer_ring_next_results(ring, &run));
	EXPECT_EQ(0, run);
	for (__u64 first = 0; first < 40 * 24; first += 40) {
		unsigned int runs = runs_fill(_metadata, ring, first, 40);

		run = 64;
		ASSERT_NE(NULL, hwtimer_ring_get_run(ring, HWTIMER_OP_CANCEL, 0,
						     &run));
		ASSERT_GE(24, run);
		/* They are not published: give them back. */
		ring->tail -= run;
		ASSERT_EQ(first % 64 + 40 > 64 ? 2 : 1, runs);
		splits += runs - 1;
		ASSERT_EQ(0, hwtimer_ring_publish(ring));
		ASSERT_LE(runs, runs_of_results(_metadata, ring, ids, 40));
		runs_of_events(_metadata, ring, ids, first, 40);
	}
	EXPECT_LT(0, splits);
	/* A full ring has no room for a run. */
	runs_fill(_metadata, ring, 0, 64);
	run = 1;
	EXPECT_EQ(NULL, hwtimer_ring_get_run(ring, HWTIMER_OP_CANCEL, 0, &run));
	EXPECT_EQ(0, run);
	EXPECT_EQ(NULL, hwtimer_ring_next_events(ring, &run));
	EXPECT_EQ(40 * 24, stats_of(self->fd).completed);
}

/* Rings whose slots are not compact have no such runs. */
TEST_F(rings, runs_are_of_compact_slots)
{
	struct hwtimer_ring *ring = &self->ring;
	__u32 run = 4;

	ring_open(_metadata, ring, self->fd, 64, 64);
	EXPECT_EQ(NULL,
		  hwtimer_ring_get_run(ring, HWTIMER_OP_SCHEDULE, 0, &run));
	EXPECT_EQ(0, run);
	EXPECT_EQ(0, ring->tail);
}

TEST_F(rings, limit_is_a_result)
{
	struct hwtimer_ring *ring = &self->ring;
	__s64 id;

	ring_open_as(_metadata, ring, self->fd,
		     (struct hwtimer_setup){
			     .timers = 2,
			     .submissions = 4,
			     .completions = 1,
		     });
	id = ring_after(_metadata, ring, HOUR, 0);
	ASSERT_LT(0, id);
	ASSERT_LT(0, ring_after(_metadata, ring, HOUR, 1));
	EXPECT_EQ(-ENOSPC, ring_after(_metadata, ring, HOUR, 2));
	EXPECT_EQ(0, ring_cancel(_metadata, ring, id, 0));
	EXPECT_LT(0, ring_after(_metadata, ring, HOUR, 3));
}

/* EALREADY means that the event waits in the kernel; events in the ring are gone. */
TEST_F(rings, too_late_for_the_ring)
{
	struct hwtimer_ring *ring = &self->ring;
	__s64 in_ring, in_kernel;

	ring_open(_metadata, ring, self->fd, 4, 1);
	in_ring = ring_after(_metadata, ring, 0, 0);
	ring_wait_bits(&ring->shared->completion_tail, 1);
	in_kernel = ring_after(_metadata, ring, 0, 1);
	wait_waiting(ring, 1);
	EXPECT_EQ(-ENOENT, ring_cancel(_metadata, ring, in_ring, 0));
	EXPECT_EQ(-ENOENT,
		  ring_cancel(_metadata, ring, in_ring, HWTIMER_DISCARD));
	EXPECT_EQ(-ENOENT, ring_reschedule(_metadata, ring, in_ring, HOUR));
	EXPECT_EQ(-EALREADY, ring_cancel(_metadata, ring, in_kernel, 0));
	EXPECT_EQ(-EALREADY, ring_reschedule(_metadata, ring, in_kernel, HOUR));
	EXPECT_EQ(0, ring_cancel(_metadata, ring, in_kernel, HWTIMER_DISCARD));
	EXPECT_EQ(-ENOENT,
		  ring_cancel(_metadata, ring, in_kernel, HWTIMER_DISCARD));
}

TEST_F(rings, ids_are_the_same_everywhere)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_query query;
	struct hwtimer_event event;
	__s64 id;

	ring_open(_metadata, ring, self->fd, 4, 4);
	id = ring_after(_metadata, ring, HOUR, 1);
	ASSERT_EQ(0, dev_query(self->fd, id, &query));
	EXPECT_EQ(1, query.user_data);
	EXPECT_EQ(0, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(-ENOENT, ring_cancel(_metadata, ring, id, 0));
	id = dev_after(self->fd, HOUR, 2);
	EXPECT_EQ(0, ring_cancel(_metadata, ring, id, 0));
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, id, 0));
	id = dev_after(self->fd, HOUR, 3);
	EXPECT_EQ(0, ring_reschedule(_metadata, ring, id, MS));
	ASSERT_TRUE(ring_event(ring, &event));
	EXPECT_EQ(id, event.id);
	id = ring_after(_metadata, ring, HOUR, 4);
	EXPECT_EQ(0, dev_reschedule(self->fd, id, 0, MS));
	ASSERT_TRUE(ring_event(ring, &event));
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(4, event.user_data);
	EXPECT_EQ(2, stats_of(self->fd).rescheduled);
}

/* Requests and events pass through many laps of small rings. */
TEST_F(rings, many_laps)
{
	unsigned int n = scaled(20000), next = 0;
	struct hwtimer_ring *ring = &self->ring;
	unsigned int submitted = 0, answered = 0;

	ring_open(_metadata, ring, self->fd, 8, 4);
	while (next < n) {
		struct hwtimer_request *slot;
		const struct hwtimer_event *event;
		__u64 result;

		while (submitted < n && (slot = hwtimer_ring_get_slot(ring))) {
			slot->op = HWTIMER_OP_SCHEDULE;
			slot->flags = HWTIMER_ABSOLUTE;
			slot->time = submitted;
			slot->user_data = submitted++;
		}
		ASSERT_EQ(0, hwtimer_ring_publish(ring));
		/* Do not wait for the worker's next poll. */
		ASSERT_LE(0, hwtimer_ring_kick(ring));
		while (hwtimer_ring_next_result(ring, &result)) {
			ASSERT_EQ(0, hwtimer_ring_error(result));
			answered++;
		}
		while ((event = hwtimer_ring_next_event(ring))) {
			ASSERT_EQ(next, event->deadline);
			ASSERT_EQ(next, event->user_data);
			next++;
			ASSERT_EQ(0, hwtimer_ring_consume(ring));
		}
	}
	EXPECT_EQ(n, answered);
	EXPECT_EQ(n, ring->shared->submission_head);
	EXPECT_EQ(n, ring->shared->completion_tail);
}

TEST_F(rings, periodic_timer)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;
	__u64 first = now_ns() + 5 * MS, periods = 0;
	__s64 id;

	ring_open(_metadata, ring, self->fd, 4, 4);
	id = ring_do(_metadata, ring,
		     OP(SCHEDULE, .flags = HWTIMER_ABSOLUTE, .time = first,
			.interval = 2 * MS, .count = 40, .user_data = 6));
	ASSERT_LT(0, id);
	while (periods < 40) {
		ASSERT_TRUE(ring_event(ring, &event));
		ASSERT_EQ(id, event.id);
		ASSERT_EQ(6, event.user_data);
		ASSERT_EQ(first + periods * 2 * MS, event.deadline);
		expect_not_early(_metadata, &event, CLOCK_MONOTONIC);
		periods += event.expirations;
	}
	EXPECT_EQ(40, periods);
	sleep_ns(20 * MS);
	EXPECT_EQ(NULL, hwtimer_ring_next_event(ring));
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

/*
 * While its event is unread, a periodic timer is paused. Its next event counts all
 * expirations since.
 */
TEST_F(rings, unread_periodic_timer)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_query query;
	struct hwtimer_event event;
	struct hwtimer_stats stats;
	__u64 deadline;
	__s64 id;

	ring_open(_metadata, ring, self->fd, 4, 4);
	id = ring_do(_metadata, ring, OP(SCHEDULE, .time = MS, .interval = MS));
	ASSERT_LT(0, id);
	wait_waiting(ring, 1);
	sleep_ns(50 * MS);
	stats = stats_of(self->fd);
	EXPECT_EQ(1, stats.expired);
	EXPECT_EQ(1, stats.pending);
	EXPECT_EQ(0, stats.overflowed);
	ASSERT_EQ(0, dev_query(self->fd, id, &query));
	EXPECT_EQ(HWTIMER_STATE_PENDING, query.state);
	EXPECT_EQ(0, query.remaining);
	ASSERT_TRUE(ring_event(ring, &event));
	deadline = event.deadline + event.expirations * MS;
	EXPECT_EQ(deadline, query.deadline);
	ASSERT_TRUE(ring_event(ring, &event));
	EXPECT_EQ(deadline, event.deadline);
	EXPECT_LT(40, event.expirations);
	expect_not_early(_metadata, &event, CLOCK_MONOTONIC);
	ASSERT_TRUE(ring_event(ring, &event));
}

/* Operations on a paused timer are those on a pending one. */
TEST_F(rings, operations_on_a_paused_timer)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;
	__s64 ids[2];

	ring_open(_metadata, ring, self->fd, 4, 4);
	for (unsigned int i = 0; i < 2; i++) {
		ids[i] = ring_do(_metadata, ring,
				 OP(SCHEDULE, .time = MS, .interval = MS,
				    .user_data = i));
		ASSERT_LT(0, ids[i]);
	}
	wait_waiting(ring, 2);
	EXPECT_EQ(0, ring_cancel(_metadata, ring, ids[0], 0));
	EXPECT_EQ(-ENOENT, ring_cancel(_metadata, ring, ids[0], 0));
	EXPECT_EQ(0, ring_reschedule(_metadata, ring, ids[1], HOUR));
	EXPECT_EQ(0, ring_waiting(ring));
	for (unsigned int i = 0; i < 2; i++)
		ASSERT_TRUE(ring_event(ring, &event));
	sleep_ns(20 * MS);
	EXPECT_EQ(NULL, hwtimer_ring_next_event(ring));
	EXPECT_EQ(1, stats_of(self->fd).pending);
	EXPECT_EQ(1, stats_of(self->fd).cancelled);
	EXPECT_EQ(1, stats_of(self->fd).rescheduled);
}

#define STOPPED_TIMERS 100

/*
 * Reads all events that are in the ring; each continues where the previous event of its
 * timer ended. Returns their number.
 */
static unsigned int read_periodic(struct __test_metadata *_metadata,
				  struct hwtimer_ring *ring, __u64 *next)
{
	const struct hwtimer_event *event;
	unsigned int count = 0;

	for (; (event = hwtimer_ring_next_event(ring)); count++) {
		ASSERT_EQ(next[event->user_data], event->deadline);
		next[event->user_data] += event->expirations * MS;
		expect_not_early(_metadata, event, CLOCK_MONOTONIC);
	}
	return count;
}

/*
 * Whether the worker does nothing for 50 ms. On a slow machine, it may only come to rest now:
 * so whether there is such a time among several. Sets *@stats to what it began with.
 */
static bool worker_rests(int fd, struct hwtimer_stats *stats)
{
	for (unsigned int i = 0; i < 5; i++) {
		struct hwtimer_stats after;

		*stats = stats_of(fd);
		sleep_ns(50 * MS);
		after = stats_of(fd);
		if (stats->turns == after.turns &&
		    stats->expired == after.expired &&
		    stats->wakeups == after.wakeups &&
		    stats->walked == after.walked)
			return true;
	}
	return false;
}

/*
 * A program that does not run causes no work, however many periodic timers it has. When
 * it runs again, it sleeps in poll() after it has read the events, and is woken.
 */
TEST_F(rings, stopped_program_causes_no_work)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_stats stats;
	__u64 next[STOPPED_TIMERS];
	unsigned int events;
	__u64 start;

	ring_open(_metadata, ring, self->fd, 4, 256);
	start = now_ns();
	for (unsigned int i = 0; i < STOPPED_TIMERS; i++) {
		next[i] = start + (i % 10) * MS;
		ASSERT_NE(0, dev_add(self->fd,
				     OP(SCHEDULE, .interval = MS,
					.flags = HWTIMER_ABSOLUTE,
					.time = next[i], .user_data = i)));
	}
	for (unsigned int round = 0; round < 5; round++) {
		wait_waiting(ring, STOPPED_TIMERS);
		ring_wait_doze(ring);
		EXPECT_TRUE(worker_rests(self->fd, &stats));
		EXPECT_EQ(STOPPED_TIMERS, ring_unread(ring));
		EXPECT_EQ((round + 1) * STOPPED_TIMERS, stats.expired);
		EXPECT_EQ((round + 1) * STOPPED_TIMERS, stats.completed);
		EXPECT_EQ(STOPPED_TIMERS, stats.pending);
		EXPECT_EQ(0, stats.ready);

		events = read_periodic(_metadata, ring, next);
		EXPECT_EQ(STOPPED_TIMERS, events);
		ASSERT_EQ(0, hwtimer_ring_consume(ring));
		EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
		EXPECT_LT(0, ring_unread(ring));
	}
	/* The events count what was due while the program slept four times. */
	for (unsigned int i = 0; i < STOPPED_TIMERS; i++)
		EXPECT_LT(start + 200 * MS, next[i]);
}

TEST_F(rings, fixed_delay_counts_from_delivery)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;
	__u64 previous = 0;

	ring_open(_metadata, ring, self->fd, 4, 4);
	ASSERT_LT(0, ring_do(_metadata, ring,
			     OP(SCHEDULE, .flags = HWTIMER_FIXED_DELAY,
				.time = MS, .interval = 3 * MS, .count = 5)));
	for (unsigned int i = 0; i < 5; i++) {
		ASSERT_TRUE(ring_event(ring, &event));
		EXPECT_EQ(1, event.expirations);
		if (i)
			EXPECT_LE(previous + 3 * MS, event.deadline);
		previous = event.deadline + event.lateness;
	}
}

TEST_F(rings, slack)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;
	__s64 id;

	ring_open(_metadata, ring, self->fd, 4, 4);
	id = ring_do(_metadata, ring,
		     OP(SCHEDULE, .time = 20 * MS, .slack = 10 * MS));
	ASSERT_LT(0, id);
	ASSERT_TRUE(ring_event(ring, &event));
	expect_due(_metadata, &event);
}

/* The same timers in two instances: the ring delivers what read() delivers. */
TEST_F(rings, events_are_those_of_read)
{
	unsigned int n = scaled(5000) + 100, seed = 1;
	struct hwtimer_request *requests = calloc(n, sizeof(*requests));
	struct hwtimer_event *events = calloc(n, sizeof(*events));
	struct hwtimer_ring *ring = &self->ring;
	int plain = dev_open(O_NONBLOCK);
	__u64 base;

	ASSERT_LE(0, plain);
	ASSERT_NE(NULL, requests);
	ASSERT_NE(NULL, events);
	ring_open(_metadata, ring, self->fd, 4, 16);
	for (unsigned int i = 0; i < n; i++)
		requests[i] = OP(SCHEDULE, .user_data = i,
				 .time = rand_r(&seed) % (50 * MS));
	base = schedule_in_time(_metadata, plain, CLOCK_MONOTONIC, requests, n,
				SEC / 2);
	ASSERT_EQ(n, dev_collect(plain, events, n));
	base = now_ns() + SEC / 2 - base;
	for (unsigned int i = 0; i < n; i++) {
		requests[i].time += base;
		requests[i].id = 0;
	}
	schedule_all(_metadata, self->fd, requests, n);
	/* The first events fill the ring, as nobody takes them yet. */
	while (!stats_of(self->fd).overflowed)
		sleep_ns(MS);
	for (unsigned int i = 0; i < n; i++) {
		struct hwtimer_event event;

		ASSERT_TRUE(ring_event(ring, &event));
		ASSERT_EQ(requests[event.user_data].id, event.id);
		ASSERT_EQ(requests[event.user_data].time, event.deadline);
		expect_due(_metadata, &event);
	}
	EXPECT_EQ(n, stats_of(self->fd).completed);
	close(plain);
	free(events);
	free(requests);
}

/*
 * Events come by tick, and within a tick as scheduled, whether or not the ring is full.
 */
TEST_F(rings, order)
{
	unsigned int n = scaled(5000) + 100, seed = 2;
	struct hwtimer_request *requests = calloc(n, sizeof(*requests));
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event, last = { 0 };
	__u64 base;

	ASSERT_NE(NULL, requests);
	/* Timers due when they are scheduled have no defined order: then try again. */
	for (__u64 lead = SEC / 2;; lead *= 3) {
		base = now_ns() + lead;
		ring_open(_metadata, ring, self->fd, 4, 32);
		for (unsigned int i = 0; i < n; i++)
			requests[i] =
				OP(SCHEDULE, .flags = HWTIMER_ABSOLUTE,
				   .user_data = i,
				   .time = base + rand_r(&seed) % (30 * MS));
		schedule_all(_metadata, self->fd, requests, n);
		if (now_ns() < base)
			break;
		hwtimer_ring_unmap(ring);
		ASSERT_TRUE(dev_renew(&self->fd));
	}
	for (unsigned int i = 0; i < n; i++) {
		__u64 tick, last_tick = (last.deadline + MS - 1) / MS;

		ASSERT_TRUE(ring_event(ring, &event));
		tick = (event.deadline + MS - 1) / MS;
		ASSERT_LE(last_tick, tick);
		if (i && last_tick == tick)
			ASSERT_LT(last.user_data, event.user_data);
		last = event;
	}
	free(requests);
}

/*
 * The kernel keeps further events, reports their number, and read() gets them in order.
 */
TEST_F(rings, full_ring)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event events[100];
	const struct hwtimer_event *event;

	ring_open(_metadata, ring, self->fd, 4, 8);
	schedule_now(_metadata, self->fd, 0, 100);
	wait_waiting(ring, 92);
	EXPECT_EQ(92, stats_of(self->fd).ready);
	EXPECT_EQ(92, stats_of(self->fd).overflowed);
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	ASSERT_EQ(50, dev_read(self->fd, events, 50));
	for (unsigned int i = 0; i < 50; i++)
		EXPECT_EQ(8 + i, events[i].user_data);
	EXPECT_EQ(42, ring_waiting(ring));
	for (unsigned int i = 0; i < 8; i++) {
		event = hwtimer_ring_next_event(ring);
		ASSERT_NE(NULL, event);
		EXPECT_EQ(i, event->user_data);
	}
	/* The slots are not free yet. */
	EXPECT_EQ(NULL, hwtimer_ring_next_event(ring));
	EXPECT_EQ(42, ring_waiting(ring));
	ASSERT_EQ(0, hwtimer_ring_consume(ring));
	for (unsigned int i = 0; i < 42; i++) {
		ASSERT_TRUE(ring_event(ring, &events[0]));
		EXPECT_EQ(58 + i, events[0].user_data);
	}
	wait_waiting(ring, 0);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, events, 1));
}

/* New events queue behind those that wait. */
TEST_F(rings, nobody_passes_those_that_wait)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;

	ring_open(_metadata, ring, self->fd, 4, 2);
	for (unsigned int i = 0; i < 40; i++) {
		schedule_now(_metadata, self->fd, i, 1);
		sleep_ns(2 * MS);
		if (i % 4 == 3) {
			ASSERT_TRUE(ring_event(ring, &event));
			EXPECT_EQ(i / 4, event.user_data);
		}
	}
	for (unsigned int i = 10; i < 40; i++) {
		ASSERT_TRUE(ring_event(ring, &event));
		EXPECT_EQ(i, event.user_data);
	}
}

/* After it has found work, the worker stays awake for at least this long. */
#define AWAKE (7 * MS)

/*
 * Returns whether the worker is idle; if so, it went idle before *@seen. The worker first
 * sets the flag, and clears it if it finds a reason to stay awake, both under the lock
 * that STATS takes.
 */
static bool worker_dozes(int fd, const struct hwtimer_ring *ring, __u64 *seen)
{
	if (!hwtimer_ring_load(&ring->shared->flags))
		return false;
	*seen = now_ns();
	stats_of(fd);
	return hwtimer_ring_load(&ring->shared->flags);
}

/*
 * While the worker is awake it sees room without a kick. It found room when the last
 * event but one was taken. So it goes idle only if this program was held up since then.
 */
TEST_F(rings, awake_worker_sees_room)
{
	struct hwtimer_ring *ring = &self->ring;
	__u64 before_last = 0, last = 0;
	unsigned int next = 0, kicks = 0;

	ring_open(_metadata, ring, self->fd, 4, 1);
	schedule_now(_metadata, self->fd, 0, 100);
	wait_waiting(ring, 99);
	while (next < 100) {
		const struct hwtimer_event *event;

		while (!(event = hwtimer_ring_next_event(ring))) {
			__u64 seen;

			if (worker_dozes(self->fd, ring, &seen)) {
				EXPECT_LE(before_last + AWAKE, seen);
				ASSERT_EQ(0, ring_kick(self->fd));
				kicks++;
			}
		}
		EXPECT_EQ(next, event->user_data);
		next++;
		before_last = last;
		last = now_ns();
		hwtimer_ring_store(&ring->shared->completion_head, ring->head);
		atomic_thread_fence(memory_order_seq_cst);
	}
	TH_LOG("%u calls", kicks);
}

/*
 * How a consumer of the completion ring waits for events, if it is woken only when they
 * come: by epoll with EPOLLET, or by an eventfd.
 */
struct edges {
	int epoll;
	int tell; /* an eventfd; -1: epoll waits for the instance itself */
};

static struct edges edges_open(struct __test_metadata *_metadata, int fd,
			       bool tell)
{
	struct edges edges = { .tell = tell ? make_eventfd() : -1 };

	if (tell) {
		ASSERT_LE(0, edges.tell);
		ASSERT_EQ(0, dev_notify(fd, 1, 0, edges.tell));
	}
	edges.epoll = epoll_watch(tell ? edges.tell : fd, EPOLLIN | EPOLLET);
	ASSERT_LE(0, edges.epoll);
	return edges;
}

static void edges_close(const struct edges *edges)
{
	close(edges->epoll);
	if (edges->tell >= 0)
		close(edges->tell);
}

static bool edges_wait(const struct edges *edges)
{
	struct epoll_event event;

	return epoll_wait(edges->epoll, &event, 1, -1) == 1;
}

/* Makes room, and kicks the worker only if it is idle while events wait. */
static void make_room(struct hwtimer_ring *ring)
{
	hwtimer_ring_store(&ring->shared->completion_head, ring->head);
	atomic_thread_fence(memory_order_seq_cst);
	if (ring_waiting(ring))
		hwtimer_ring_kick_if_needed(ring);
}

static void make_room_and_kick(struct hwtimer_ring *ring)
{
	hwtimer_ring_store(&ring->shared->completion_head, ring->head);
	hwtimer_ring_kick(ring);
}

static void consume(struct hwtimer_ring *ring)
{
	hwtimer_ring_consume(ring);
}

typedef void (*give_back_fn)(struct hwtimer_ring *ring);

/* Each time that events come into an empty ring, its consumer is woken. */
static void take_by_edges(struct __test_metadata *_metadata, bool tell,
			  give_back_fn give_back)
{
	int fd = dev_open(O_NONBLOCK);
	struct hwtimer_ring ring;
	unsigned int next = 0;
	struct edges edges;

	ASSERT_LE(0, fd);
	ring_open(_metadata, &ring, fd, 4, 8);
	edges = edges_open(_metadata, fd, tell);
	/* From now on the worker is awake, unless it is held up. */
	ASSERT_EQ(0, ring_kick(fd));
	schedule_now(_metadata, fd, 0, 100);
	while (next < 100) {
		const struct hwtimer_event *event;

		ASSERT_TRUE(edges_wait(&edges))
		{
			TH_LOG("%u events came, %u are in the ring, poll() says %d",
			       next, ring_unread(&ring),
			       dev_poll(fd, POLLIN, 0));
		}
		while ((event = hwtimer_ring_next_event(&ring)))
			ASSERT_EQ(next++, event->user_data);
		give_back(&ring);
	}
	EXPECT_EQ(100, stats_of(fd).completed);
	edges_close(&edges);
	hwtimer_ring_unmap(&ring);
	close(fd);
}

TEST(epollet_hears_of_what_the_worker_moves)
{
	take_by_edges(_metadata, false, make_room);
}

TEST(eventfd_hears_of_what_the_worker_moves)
{
	take_by_edges(_metadata, true, make_room);
}

TEST(epollet_hears_of_what_a_kick_moves)
{
	take_by_edges(_metadata, false, make_room_and_kick);
}

TEST(eventfd_hears_of_what_a_kick_moves)
{
	take_by_edges(_metadata, true, make_room_and_kick);
}

TEST(epollet_hears_of_what_consume_asks_for)
{
	take_by_edges(_metadata, false, consume);
}

TEST(eventfd_hears_of_what_consume_asks_for)
{
	take_by_edges(_metadata, true, consume);
}

/* When events move into the ring, the consumer is woken only at the watermark. */
TEST_F(rings, watermark_holds_for_what_moves)
{
	int tell = make_eventfd();
	struct hwtimer_ring *ring = &self->ring;
	struct pollfd told = { .fd = tell, .events = POLLIN };

	ASSERT_LE(0, tell);
	ring_open(_metadata, ring, self->fd, 4, 8);
	ASSERT_EQ(0, dev_notify(self->fd, 50, HWTIMER_NEVER, tell));
	schedule_now(_metadata, self->fd, 0, 100);
	for (unsigned int left = 100; left > 0;) {
		/* More events may come than make up the watermark. */
		wait_waiting(ring, left > 8 ? left - 8 : 0);
		if (left >= 50) {
			ASSERT_EQ(1, poll(&told, 1, -1));
			while (eventfd_take(tell))
				;
		}
		EXPECT_EQ(left >= 50, dev_poll(self->fd, POLLIN, 0) == POLLIN);
		while (hwtimer_ring_next_event(ring))
			left--;
		make_room_and_kick(ring);
	}
	EXPECT_EQ(0, eventfd_take(tell));
	close(tell);
}

/*
 * read() takes only what waits in the kernel. So it waits for the delay, although poll()
 * has enough events with those in the ring.
 */
TEST_F(rings, read_hears_of_the_delay_beside_a_ring_full_of_events)
{
	struct hwtimer_event events[12];

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	ring_open(_metadata, &self->ring, self->fd, 4, 8);
	ASSERT_EQ(0, dev_notify(self->fd, 10, 200 * MS, -1));
	schedule_now(_metadata, self->fd, 0, 12);
	EXPECT_EQ(4 * sizeof(*events), read(self->fd, events, sizeof(events)));
}

/* Events from before the mapping move into the ring, and its consumer is woken. */
TEST_F(rings, events_from_before_the_mapping_follow)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;
	struct edges edges;

	ASSERT_EQ(0, ring_setup(self->fd, 4, 8));
	edges = edges_open(_metadata, self->fd, false);
	schedule_now(_metadata, self->fd, 0, 20);
	ASSERT_TRUE(edges_wait(&edges));
	while (stats_of(self->fd).ready < 20)
		sleep_ns(MS);
	while (epoll_wait(edges.epoll, &(struct epoll_event){}, 1, 0))
		;
	ASSERT_EQ(0, hwtimer_ring_map(ring, self->fd));
	ASSERT_TRUE(edges_wait(&edges));
	for (unsigned int i = 0; i < 20; i++) {
		ASSERT_TRUE(ring_event(ring, &event));
		EXPECT_EQ(i, event.user_data);
	}
	edges_close(&edges);
}

/* A consumer that takes all events gets the next ones at once, without the worker. */
TEST_F(rings, consume_asks_for_more)
{
	struct hwtimer_ring *ring = &self->ring;
	const struct hwtimer_event *event;

	ring_open(_metadata, ring, self->fd, 4, 1);
	schedule_now(_metadata, self->fd, 0, 1000);
	wait_waiting(ring, 999);
	/* The worker is awake, so that only the waiting events need a kick. */
	ASSERT_EQ(0, ring_kick(self->fd));
	for (unsigned int i = 0; i < 1000; i++) {
		event = hwtimer_ring_next_event(ring);
		ASSERT_NE(NULL, event);
		ASSERT_EQ(i, event->user_data);
		ASSERT_EQ(0, hwtimer_ring_consume(ring));
	}
	EXPECT_EQ(NULL, hwtimer_ring_next_event(ring));
}

/* A program that calls STOP again and again still gets its events. */
TEST_F(rings, repeated_stops_hold_nothing_up)
{
	struct hwtimer_ring *ring = &self->ring;
	const struct hwtimer_event *event;
	unsigned int taken = 0, stops;

	ring_open(_metadata, ring, self->fd, 64, 1);
	for (unsigned int i = 0; i < 40; i++)
		ASSERT_LT(0,
			  ring_do(_metadata, ring,
				  OP(SCHEDULE, .time = MS, .interval = HOUR)));
	wait_waiting(ring, 39);
	/* The worker is awake, so that no kick is needed. */
	ASSERT_EQ(0, ring_kick(self->fd));
	for (stops = 0; taken < 40; stops++) {
		ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
		while ((event = hwtimer_ring_next_event(ring))) {
			taken++;
			make_room(ring);
		}
	}
	TH_LOG("%u calls of STOP", stops);
	EXPECT_EQ(40, stats_of(self->fd).pending);
}

TEST_F(rings, discard_of_those_that_wait)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;
	__s64 ids[40];

	ring_open(_metadata, ring, self->fd, 4, 4);
	for (unsigned int i = 0; i < 40; i++)
		ids[i] = ring_after(_metadata, ring, 0, i);
	wait_waiting(ring, 36);
	/* Discard in front, in the middle and at the end; by ring and by ioctl. */
	for (unsigned int i = 4; i < 40; i += i == 10 ? 20 : 1) {
		int ret = i % 2 ? ring_cancel(_metadata, ring, ids[i],
					      HWTIMER_DISCARD) :
				  dev_cancel(self->fd, ids[i], HWTIMER_DISCARD);

		ASSERT_EQ(0, ret);
	}
	EXPECT_EQ(19, ring_waiting(ring));
	for (unsigned int i = 0; i < 30; i += i == 3 ? 8 : 1) {
		ASSERT_TRUE(ring_event(ring, &event));
		EXPECT_EQ(i, event.user_data);
	}
	sleep_ns(20 * MS);
	EXPECT_EQ(NULL, hwtimer_ring_next_event(ring));
	EXPECT_EQ(17, stats_of(self->fd).discarded);
}

/* The ring must not report waiting events that do not exist. */
TEST_F(rings, none_waits_when_all_are_discarded)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;
	__s64 ids[6];

	ring_open(_metadata, ring, self->fd, 4, 2);
	for (unsigned int i = 0; i < 6; i++)
		ids[i] = ring_after(_metadata, ring, 0, i);
	wait_waiting(ring, 4);
	for (unsigned int i = 2; i < 6; i++)
		ASSERT_EQ(0, dev_cancel(self->fd, ids[i], HWTIMER_DISCARD));
	EXPECT_EQ(0, ring_waiting(ring));
	ASSERT_TRUE(ring_event(ring, &event));
	ASSERT_TRUE(ring_event(ring, &event));
	EXPECT_EQ(0, ring_kick(self->fd));
	EXPECT_EQ(0, ring_waiting(ring));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
	ASSERT_LT(0, ring_after(_metadata, ring, 0, 7));
	ASSERT_TRUE(ring_event(ring, &event));
	EXPECT_EQ(7, event.user_data);
}

TEST_F(rings, poll_looks_into_the_ring)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;

	ring_open(_metadata, ring, self->fd, 4, 4);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
	ASSERT_LT(0, ring_after(_metadata, ring, 20 * MS, 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	ASSERT_TRUE(ring_event(ring, &event));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
}

TEST_F(rings, watermark_counts_ring_and_kernel)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;

	ring_open(_metadata, ring, self->fd, 4, 4);
	ASSERT_EQ(0, dev_notify(self->fd, 7, HWTIMER_NEVER, -1));
	schedule_now(_metadata, self->fd, 0, 6);
	wait_waiting(ring, 2);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
	schedule_now(_metadata, self->fd, 6, 1);
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	ASSERT_TRUE(ring_event(ring, &event));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
}

TEST_F(rings, delay_of_the_first_in_the_ring)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;
	__u64 start = now_ns();

	ring_open(_metadata, ring, self->fd, 4, 4);
	ASSERT_EQ(0, dev_notify(self->fd, 100, 30 * MS, -1));
	ASSERT_LT(0, ring_after(_metadata, ring, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	EXPECT_LE(start + 30 * MS, now_ns());
	ASSERT_TRUE(ring_event(ring, &event));
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 0));
}

TEST_F(rings, eventfd_tells_of_the_ring)
{
	int tell = make_eventfd();
	struct hwtimer_ring *ring = &self->ring;
	struct pollfd told = { .fd = tell, .events = POLLIN };
	struct hwtimer_event event;

	ASSERT_LE(0, tell);
	ring_open(_metadata, ring, self->fd, 4, 4);
	ASSERT_EQ(0, dev_notify(self->fd, 1, 0, tell));
	for (unsigned int i = 0; i < 10; i++) {
		ASSERT_EQ(0, eventfd_take(tell));
		ASSERT_LT(0, ring_after(_metadata, ring, 0, 0));
		ASSERT_EQ(1, poll(&told, 1, -1));
		EXPECT_EQ(1, eventfd_take(tell));
		ASSERT_TRUE(ring_event(ring, &event));
	}
	close(tell);
}

/*
 * An event that was taken out of the ring before the delay ends is not signalled again.
 */
TEST_F(rings, no_reminder_of_what_was_consumed)
{
	int tell = make_eventfd();
	struct pollfd told = { .fd = tell, .events = POLLIN };
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;
	bool in_time = false;
	__u64 start, delay;

	ASSERT_LE(0, tell);
	ring_open(_metadata, ring, self->fd, 4, 4);
	/* If this program was held up, the signal is right: then try again. */
	for (delay = 300 * MS; !in_time; delay *= 3) {
		ASSERT_EQ(0, dev_notify(self->fd, 10, delay, tell));
		start = now_ns();
		ASSERT_LT(0, ring_after(_metadata, ring, 0, 0));
		ASSERT_TRUE(ring_event(ring, &event));
		in_time = now_ns() < start + delay;
		sleep_ns(2 * delay);
		EXPECT_TRUE(!eventfd_take(tell) || !in_time);
	}
	/* With the next event the delay starts again. */
	start = now_ns();
	ASSERT_LT(0, ring_after(_metadata, ring, 0, 0));
	ASSERT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	EXPECT_LE(start + delay / 3, now_ns());
	ASSERT_EQ(1, poll(&told, 1, -1));
	EXPECT_EQ(1, eventfd_take(tell));
	close(tell);
}

TEST(blocking_read_gets_what_finds_no_room)
{
	struct reader reader = { .fd = dev_open(0), .result = -EBADE };
	struct hwtimer_event event;
	struct hwtimer_ring ring;
	pthread_t thread;

	ASSERT_LE(0, reader.fd);
	ring_open(_metadata, &ring, reader.fd, 4, 4);
	start_threads(&thread, 1, read_one, &reader, sizeof(reader));
	sleep_ns(10 * MS);
	schedule_now(_metadata, reader.fd, 0, 4);
	ring_wait_bits(&ring.shared->completion_tail, 4);
	sleep_ns(20 * MS);
	EXPECT_EQ(-EBADE, __atomic_load_n(&reader.result, __ATOMIC_RELAXED));
	schedule_now(_metadata, reader.fd, 4, 1);
	join_threads(&thread, 1);
	EXPECT_EQ(1, reader.result);
	EXPECT_EQ(4, reader.event.user_data);
	for (unsigned int i = 0; i < 4; i++) {
		ASSERT_TRUE(ring_event(&ring, &event));
		EXPECT_EQ(i, event.user_data);
	}
	hwtimer_ring_unmap(&ring);
	close(reader.fd);
}

TEST_F(rings, stop)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_unprocessed timers[8];
	struct hwtimer_event event;
	__s64 ids[4];
	__u64 left;

	ring_open(_metadata, ring, self->fd, 8, 2);
	for (unsigned int i = 0; i < 4; i++)
		ids[i] = ring_after(_metadata, ring, HOUR, 100 + i);
	schedule_now(_metadata, self->fd, 0, 5);
	wait_waiting(ring, 3);
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, &left));
	EXPECT_EQ(4, left);
	EXPECT_EQ(-ESHUTDOWN, ring_after(_metadata, ring, 0, 0));
	EXPECT_EQ(-ESHUTDOWN, ring_reschedule(_metadata, ring, ids[0], 0));
	EXPECT_EQ(0, ring_cancel(_metadata, ring, ids[0], 0));
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	for (unsigned int i = 0; i < 5; i++) {
		ASSERT_TRUE(ring_event(ring, &event));
		EXPECT_EQ(i, event.user_data);
	}
	EXPECT_EQ(POLLHUP, dev_poll(self->fd, POLLIN, 0));
	EXPECT_EQ(0, dev_read(self->fd, &event, 1));
	ASSERT_EQ(3, dev_stop(self->fd, timers, 8, &left));
	EXPECT_EQ(0, left);
	EXPECT_EQ(0, ring_kick(self->fd));
}

/* Periodic timers are returned once their events have left the ring. */
TEST_F(rings, stop_of_periodic_timers_without_room)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_unprocessed timers[8];
	unsigned int events = 0, back = 0;
	struct hwtimer_event event;
	__u64 left;
	int ret;

	ring_open(_metadata, ring, self->fd, 4, 1);
	for (unsigned int i = 0; i < 6; i++)
		ASSERT_NE(0, dev_every(self->fd, 0, HOUR, i));
	wait_waiting(ring, 5);
	/* The timer whose event is in the ring is pending again. */
	EXPECT_EQ(0, dev_stop(self->fd, NULL, 0, &left));
	EXPECT_EQ(6, left);
	ASSERT_EQ(1, dev_stop(self->fd, timers, 8, &left));
	EXPECT_EQ(5, left);
	EXPECT_EQ(-EAGAIN, dev_stop(self->fd, timers, 8, &left));
	EXPECT_EQ(5, left);
	back = 1;
	while (left) {
		ret = dev_stop(self->fd, timers, 8, &left);
		if (ret == -EAGAIN) {
			ASSERT_TRUE(ring_event(ring, &event));
			events++;
			ASSERT_LE(0, ring_kick(self->fd));
			continue;
		}
		ASSERT_LE(0, ret);
		back += ret;
		ASSERT_EQ(6, back + left);
	}
	EXPECT_EQ(6, back);
	while (ring_unread(ring)) {
		ASSERT_TRUE(ring_event(ring, &event));
		events++;
	}
	EXPECT_EQ(6, events);
	EXPECT_EQ(0, dev_stop(self->fd, timers, 8, &left));
}

struct hangup {
	int fd;
	short result;
};

static void *wait_for_hangup(void *arg)
{
	struct hangup *hangup = arg;

	/* No timeout: at its end, poll() would check again and hide a lost wake-up. */
	hangup->result = dev_poll(hangup->fd, 0, -1);
	return NULL;
}

/*
 * The last event goes to the ring, not to a reader; the hangup is signalled all the same.
 */
TEST_F(rings, hangup_is_told_when_the_ring_has_all)
{
	int tell = make_eventfd();
	struct pollfd told = { .fd = tell, .events = POLLIN };
	struct hangup hangup = { .fd = self->fd };
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;
	pthread_t thread;

	ASSERT_LE(0, tell);
	ring_open(_metadata, ring, self->fd, 8, 2);
	ASSERT_EQ(0, dev_notify(self->fd, 1, 0, tell));
	schedule_now(_metadata, self->fd, 0, 3);
	wait_waiting(ring, 1);
	ASSERT_EQ(1, poll(&told, 1, -1));
	EXPECT_EQ(1, eventfd_take(tell));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(1, eventfd_take(tell));
	start_threads(&thread, 1, wait_for_hangup, &hangup, sizeof(hangup));
	sleep_ns(20 * MS);
	ASSERT_TRUE(ring_event(ring, &event));
	wait_waiting(ring, 0);
	join_threads(&thread, 1);
	EXPECT_EQ(POLLHUP, hangup.result);
	ASSERT_EQ(1, poll(&told, 1, -1));
	EXPECT_EQ(1, eventfd_take(tell));
	/* The events in the ring are still there. */
	EXPECT_EQ(POLLIN | POLLHUP, dev_poll(self->fd, POLLIN, 0));
	ASSERT_TRUE(ring_event(ring, &event));
	ASSERT_TRUE(ring_event(ring, &event));
	EXPECT_EQ(2, event.user_data);
	EXPECT_EQ(POLLHUP, dev_poll(self->fd, POLLIN, 0));
	close(tell);
}

/* STOP while requests are under way: each is scheduled or refused. */
TEST_F(rings, stop_with_submissions_under_way)
{
	struct hwtimer_ring *ring = &self->ring;
	unsigned int scheduled = 0, refused = 0;
	struct hwtimer_unprocessed timers[256];

	ring_open(_metadata, ring, self->fd, 256, 16);
	ASSERT_LT(0, ring_after(_metadata, ring, HOUR, 0));
	for (unsigned int i = 0; i < 255; i++)
		ring_fill(_metadata, ring, OP(SCHEDULE, .time = HOUR));
	ASSERT_EQ(0, hwtimer_ring_publish(ring));
	ASSERT_LE(0, dev_stop(self->fd, NULL, 0, NULL));
	for (unsigned int i = 0; i < 255; i++) {
		__s64 result = ring_result(ring);

		scheduled += result > 0;
		refused += result == -ESHUTDOWN;
	}
	EXPECT_EQ(255, scheduled + refused);
	EXPECT_EQ(scheduled + 1, dev_stop(self->fd, timers, 256, NULL));
}

TEST_F(rings, idle_worker_sleeps)
{
	struct hwtimer_ring *ring = &self->ring;
	struct hwtimer_event event;
	__u64 before;

	ring_open(_metadata, ring, self->fd, 8, 8);
	ring_wait_doze(ring);
	ASSERT_LT(0, ring_after(_metadata, ring, HOUR, 0));
	ASSERT_LT(0, ring_after(_metadata, ring, 0, 0));
	ASSERT_TRUE(ring_event(ring, &event));
	ring_wait_doze(ring);
	dev_wait_rest(self->fd);
	before = stats_of(self->fd).wakeups;
	sleep_ns(SEC);
	EXPECT_EQ(before, stats_of(self->fd).wakeups);
}

/* Events that nobody takes cost no wake-ups either. */
TEST_F(rings, full_ring_wakes_nobody)
{
	struct hwtimer_ring *ring = &self->ring;
	__u64 before;

	ring_open(_metadata, ring, self->fd, 8, 8);
	schedule_now(_metadata, self->fd, 0, 20);
	wait_waiting(ring, 12);
	ASSERT_EQ(0, ring_kick(self->fd));
	ring_wait_doze(ring);
	dev_wait_rest(self->fd);
	before = stats_of(self->fd).wakeups;
	sleep_ns(300 * MS);
	EXPECT_EQ(before, stats_of(self->fd).wakeups);
}

/*
 * A program that submits all the time hardly ever needs a kick; all requests are handled.
 */
TEST_F(rings, busy_program_makes_no_call)
{
	unsigned int rounds = scaled(500) + 100, kicks = 0, answered = 0;
	struct hwtimer_ring *ring = &self->ring;
	__u64 result, next = now_ns(), before, seen, last = 0;

	ring_open(_metadata, ring, self->fd, 1024, 1024);
	for (unsigned int i = 0; i < rounds; i++) {
		ring_fill(_metadata, ring,
			  OP(SCHEDULE, .time = MS * (1 + i % 3)));
		before = now_ns();
		hwtimer_ring_store(&ring->shared->submission_tail, ring->tail);
		atomic_thread_fence(memory_order_seq_cst);
		if (worker_dozes(self->fd, ring, &seen)) {
			/*
			 * This program was held up since it submitted the last request.
			 */
			EXPECT_LE(last + AWAKE, seen);
			kicks++;
			ASSERT_LE(0, ring_kick(self->fd));
		}
		last = before;
		while (hwtimer_ring_next_result(ring, &result)) {
			ASSERT_EQ(0, hwtimer_ring_error(result));
			answered++;
		}
		while (hwtimer_ring_next_event(ring))
			hwtimer_ring_store(&ring->shared->completion_head,
					   ring->head);
		next += MS;
		sleep_until(next);
	}
	for (; answered < rounds; answered++)
		ring_result(ring);
	TH_LOG("%u calls for %u requests", kicks, rounds);
}

TEST_HARNESS_MAIN
