// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the rings. They first test the kernel's end of the rings by itself, and
 * then what an instance does with its rings under a fake clock. The numbers of requests
 * and events begin shortly before they wrap.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "../hwtimer_completion.h"
#include "../hwtimer_query.h"
#include "../hwtimer_ring.h"
#include "../hwtimer_submission.h"
#include "../hwtimer_owner.h"
#include "comes.h"
#include "fake.h"
#include "kinds.h"
#include "random.h"

#define TICK NSEC_PER_MSEC
#define LIMIT 500

/* Where numbers begin: 5 before they wrap to 0. */
#define BEGIN (0U - 5)

/* Lets the numbers of @ring, which is new, begin at BEGIN. */
static void begin_late(struct hwtimer_ring *ring)
{
	ring->taken = BEGIN;
	ring->put = BEGIN;
	ring->head = BEGIN;
	ring->shared->submission_head = BEGIN;
	ring->shared->submission_tail = BEGIN;
	ring->shared->completion_head = BEGIN;
	ring->shared->completion_tail = BEGIN;
}

static struct hwtimer_ring *new_ring(u32 submissions, u32 completions)
{
	struct hwtimer_ring *ring =
		hwtimer_ring_create(submissions, completions, false);

	if (ring)
		begin_late(ring);
	return ring;
}

/* ---- the ring by itself ---- */

static int ring_test_init(struct kunit *test)
{
	test->priv = new_ring(8, 4);
	return test->priv ? 0 : -ENOMEM;
}

static void ring_test_exit(struct kunit *test)
{
	hwtimer_ring_destroy(test->priv);
}

/*
 * Submits @count requests from @number on, takes them into @requests, and answers them: by
 * their numbers, which are also their user_data.
 */
static void take_and_answer(struct kunit *test, struct hwtimer_ring *ring,
			    struct hwtimer_request *requests, u32 number,
			    u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		*hwtimer_ring_request(ring, number + i) =
			(struct hwtimer_request){
				.op = HWTIMER_OP_SCHEDULE,
				.user_data = number + i,
			};
	ring->shared->submission_tail = number + count;
	KUNIT_ASSERT_EQ(test, hwtimer_ring_submitted(ring), count);
	hwtimer_ring_take(ring, requests, count);
	/* Their slots are in use until they are answered. */
	KUNIT_ASSERT_EQ(test, hwtimer_ring_submitted(ring), count);
	for (i = 0; i < count; i++) {
		KUNIT_ASSERT_EQ(test, requests[i].user_data, number + i);
		requests[i].id = number + i;
		requests[i].result = 0;
	}
	hwtimer_ring_answer(ring, requests, count);
	for (i = 0; i < count; i++)
		KUNIT_ASSERT_EQ(test, *hwtimer_ring_result(ring, number + i),
				number + i);
	KUNIT_ASSERT_EQ(test, ring->shared->submission_head, number + count);
	KUNIT_ASSERT_EQ(test, hwtimer_ring_submitted(ring), 0);
}

/* Takes up to 8 requests at a time, across the ends of the array and of the numbers. */
static void requests_are_taken_and_answered(struct kunit *test)
{
	struct hwtimer_ring *ring = test->priv;
	struct hwtimer_request requests[8];
	u32 number = BEGIN, round;

	for (round = 0; round < 100; round++) {
		u32 count = round % 9;

		take_and_answer(test, ring, requests, number, count);
		number += count;
	}
	KUNIT_EXPECT_LT(test, number, BEGIN);
}

/* The slots of a run lie in one page: the ring has several. */
static void requests_lie_in_several_pages(struct kunit *test)
{
	const u32 slots = 4 * PAGE_SIZE / sizeof(struct hwtimer_request);
	struct hwtimer_request *requests =
		kunit_kcalloc(test, slots, sizeof(*requests), GFP_KERNEL);
	struct hwtimer_ring *ring = new_ring(slots, 0);
	u32 number = BEGIN, round;
	struct rnd_state state;

	KUNIT_ASSERT_NOT_NULL(test, requests);
	KUNIT_ASSERT_NOT_NULL(test, ring);
	hwtimer_test_seed(test, &state);
	for (round = 0; round < 50; round++) {
		u32 count = prandom_u32_state(&state) % (slots + 1);

		take_and_answer(test, ring, requests, number, count);
		number += count;
	}
	hwtimer_ring_destroy(ring);
}

/*
 * Of a ring with compact slots, each take gets what was submitted: requests that are alike
 * as words, or any as requests.
 */
static void compact_slots_are_taken(struct kunit *test)
{
	const u32 slots = 2 * PAGE_SIZE / sizeof(u64);
	struct hwtimer_ring *ring = hwtimer_ring_create(slots, 0, true);
	u64 *words = kunit_kcalloc(test, 2 * slots, sizeof(u64), GFP_KERNEL);
	struct hwtimer_request request;
	struct hwtimer_bulk bulk;
	u32 number = BEGIN, done = BEGIN, round;
	struct rnd_state state;

	KUNIT_ASSERT_NOT_NULL(test, words);
	KUNIT_ASSERT_NOT_NULL(test, ring);
	begin_late(ring);
	hwtimer_test_seed(test, &state);
	for (round = 0; round < 50; round++) {
		u32 count = prandom_u32_state(&state) % slots + 1;
		u32 op = 1 + round % 3, taken, i;

		for (; number != done + count; number++) {
			*hwtimer_ring_timer(ring, number) =
				(struct hwtimer_bulk_timer){
					.user_data = number,
					.time = op == HWTIMER_OP_CANCEL ?
							0 :
							2 * (u64)number,
				};
			*hwtimer_ring_result(ring, number) =
				HWTIMER_SLOT_OP(op, round);
		}
		/* The last one is of another kind, or has what a CANCEL must not have. */
		if (round % 2)
			*hwtimer_ring_result(ring, number - 1) = 0;
		else
			hwtimer_ring_timer(ring, number - 1)->time = 1;
		ring->shared->submission_tail = number;
		taken = hwtimer_ring_take_bulk(ring, &bulk, words, count);
		if (count > 1 && (round % 2 || op == HWTIMER_OP_CANCEL))
			KUNIT_ASSERT_EQ(test, taken, count - 1);
		for (i = 0; i + 1 < count; i++) {
			KUNIT_ASSERT_EQ(test, bulk.op, op);
			KUNIT_ASSERT_EQ(test, bulk.flags, round);
			if (op == HWTIMER_OP_CANCEL) {
				KUNIT_ASSERT_EQ(test, words[i],
						(u32)(done + i));
				continue;
			}
			KUNIT_ASSERT_EQ(test, words[2 * i], (u32)(done + i));
			KUNIT_ASSERT_EQ(test, words[2 * i + 1],
					2 * (u64)(u32)(done + i));
		}
		hwtimer_ring_take(ring, &request, 1);
		/* Other flags need more than a compact slot has. */
		if (round & ~HWTIMER_COMPACT_FLAGS)
			op = HWTIMER_OP_NONE;
		KUNIT_ASSERT_EQ(test, request.op,
				count > 1 || round % 2 == 0 ? op : 0);
		for (i = 0; i < count; i++)
			words[i] = (u32)(done + i);
		hwtimer_ring_answer_bulk(ring, words, count);
		for (i = 0; i < count; i++)
			KUNIT_ASSERT_EQ(test,
					*hwtimer_ring_result(ring, done + i),
					(u32)(done + i));
		done += count;
		KUNIT_ASSERT_EQ(test, ring->shared->submission_head, done);
	}
	hwtimer_ring_destroy(ring);
}

static void results_are_ids_zeros_and_errors(struct kunit *test)
{
	const struct hwtimer_request requests[] = {
		{ .op = HWTIMER_OP_SCHEDULE, .id = 77 },
		{ .op = HWTIMER_OP_CANCEL, .id = 78 },
		{ .op = HWTIMER_OP_RESCHEDULE, .id = 79 },
		{ .op = HWTIMER_OP_SCHEDULE, .id = 80, .result = -ENOSPC },
		{ .op = HWTIMER_OP_CANCEL, .id = 81, .result = -ENOENT },
		{ .op = 99, .id = 82, .result = -EINVAL },
	};
	const u64 expected[] = { 77, 0, 0, -ENOSPC, -ENOENT, -EINVAL };
	struct hwtimer_ring *ring = test->priv;
	u32 i;

	hwtimer_ring_answer(ring, requests, ARRAY_SIZE(requests));
	for (i = 0; i < ARRAY_SIZE(requests); i++)
		KUNIT_EXPECT_EQ(test, *hwtimer_ring_result(ring, BEGIN + i),
				expected[i]);
}

static void tails_that_cannot_be_are_refused(struct kunit *test)
{
	struct hwtimer_ring *ring = test->priv;
	struct rnd_state state;
	u32 i;

	for (i = 0; i <= 8; i++) {
		ring->shared->submission_tail = BEGIN + i;
		KUNIT_EXPECT_EQ(test, hwtimer_ring_submitted(ring), i);
	}
	hwtimer_test_seed(test, &state);
	for (i = 0; i < 10000; i++) {
		u32 ahead = prandom_u32_state(&state) >> i % 32;

		ring->shared->submission_tail = BEGIN + ahead;
		KUNIT_ASSERT_EQ(test, hwtimer_ring_submitted(ring),
				ahead <= 8 ? (int)ahead : -EINVAL);
	}
	ring->shared->submission_tail = BEGIN + 9;
	KUNIT_EXPECT_EQ(test, hwtimer_ring_submitted(ring), -EINVAL);
	ring->shared->submission_tail = BEGIN - 1;
	KUNIT_EXPECT_EQ(test, hwtimer_ring_submitted(ring), -EINVAL);
}

static void put(struct hwtimer_ring *ring, u64 user_data)
{
	struct hwtimer_event event = { .user_data = user_data };

	hwtimer_ring_put(ring, &event);
	hwtimer_ring_publish(ring);
}

static void events_fill_the_ring_and_no_more(struct kunit *test)
{
	struct hwtimer_ring *ring = test->priv;
	u32 number = BEGIN, head = BEGIN, round;
	const struct hwtimer_event *event;

	for (round = 0; round < 100; round++) {
		while (hwtimer_ring_has_room(ring))
			put(ring, number++);
		KUNIT_ASSERT_EQ(test, number - head, 4);
		KUNIT_ASSERT_EQ(test, hwtimer_ring_unread(ring), 4);
		KUNIT_ASSERT_EQ(test, ring->shared->completion_tail, number);
		while (head != number && (head - BEGIN) % 3 != round % 3) {
			event = hwtimer_ring_event(ring, head);
			KUNIT_ASSERT_EQ(test, (u32)event->user_data, head);
			head++;
		}
		ring->shared->completion_head = ++head;
		KUNIT_ASSERT_EQ(test, hwtimer_ring_unread(ring), number - head);
	}
	KUNIT_EXPECT_LT(test, number, BEGIN);
}

/* Puts up to @count events in runs of slots; each has its number as its user_data. */
static void put_in_runs(struct hwtimer_ring *ring, u32 count)
{
	while (count && hwtimer_ring_has_room(ring)) {
		u32 i, run = count;
		struct hwtimer_event *slot = hwtimer_ring_put_run(ring, &run);

		for (i = 0; i < run; i++)
			slot[i].user_data = (u32)(ring->put + i);
		hwtimer_ring_have_put(ring, run);
		count -= run;
	}
	hwtimer_ring_publish(ring);
}

/*
 * Events that are put in runs are where they are read: in slots of their own, across the
 * ends of pages, of the ring and of the numbers, and never more than there is room for.
 */
static void events_lie_in_several_pages(struct kunit *test)
{
	const u32 slots = 4 * PAGE_SIZE / sizeof(struct hwtimer_event);
	struct hwtimer_ring *ring = new_ring(0, slots);
	const struct hwtimer_event *event;
	u32 head = BEGIN, round;
	struct rnd_state state;

	KUNIT_ASSERT_NOT_NULL(test, ring);
	hwtimer_test_seed(test, &state);
	for (round = 0; round < 50; round++) {
		u32 unread = ring->put - head;
		u32 count = prandom_u32_state(&state) % slots;
		u32 read;

		put_in_runs(ring, count);
		KUNIT_ASSERT_EQ(test, ring->put - head,
				min(unread + count, slots));
		read = prandom_u32_state(&state) % (ring->put - head + 1);
		for (; read; read--, head++) {
			event = hwtimer_ring_event(ring, head);
			KUNIT_ASSERT_EQ(test, event->user_data, (u64)head);
		}
		ring->shared->completion_head = head;
	}
	hwtimer_ring_destroy(ring);
}

/* Whatever head the program writes, the ring never has more room than slots. */
static void heads_that_cannot_be_mean_full(struct kunit *test)
{
	struct hwtimer_ring *ring = test->priv;
	struct rnd_state state;
	u32 i;

	hwtimer_test_seed(test, &state);
	for (i = 0; i < 10000; i++) {
		u32 behind = prandom_u32_state(&state) >> i % 32;

		ring->shared->completion_head = ring->put - behind;
		KUNIT_ASSERT_EQ(test, hwtimer_ring_unread(ring),
				min(behind, 4U));
		KUNIT_ASSERT_EQ(test, hwtimer_ring_find_room(ring), behind < 4);
		KUNIT_ASSERT_EQ(test, ring->room, 4 - min(behind, 4U));
		if (ring->room)
			put(ring, i);
	}
	ring->shared->completion_head = ring->put + 1;
	KUNIT_EXPECT_FALSE(test, hwtimer_ring_find_room(ring));
}

/* What a task that is being killed makes of mmap() */
struct dying {
	struct completion done;
	struct hwtimer_ring *ring;
};

static int create_dying(void *data)
{
	struct dying *dying = data;

	allow_signal(SIGKILL);
	send_sig(SIGKILL, current, 1);
	dying->ring = hwtimer_ring_create(8, 4, false);
	complete(&dying->done);
	return 0;
}

/* Its memory would come from what the kernel keeps for emergencies. */
static void killed_task_gets_no_rings(struct kunit *test)
{
	struct dying *dying = kunit_kzalloc(test, sizeof(*dying), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, dying);
	init_completion(&dying->done);
	KUNIT_ASSERT_FALSE(test,
			   IS_ERR(kthread_run(create_dying, dying, "dying")));
	wait_for_completion(&dying->done);
	KUNIT_EXPECT_NULL(test, dying->ring);
	hwtimer_ring_destroy(dying->ring);
}

static void ring_without_slots_has_no_room(struct kunit *test)
{
	struct hwtimer_ring *ring = new_ring(8, 0);

	KUNIT_ASSERT_NOT_NULL(test, ring);
	KUNIT_EXPECT_FALSE(test, hwtimer_ring_has_room(ring));
	ring->shared->completion_head = 17;
	KUNIT_EXPECT_FALSE(test, hwtimer_ring_has_room(ring));
	hwtimer_ring_destroy(ring);
	ring = new_ring(0, 4);
	KUNIT_ASSERT_NOT_NULL(test, ring);
	KUNIT_EXPECT_EQ(test, hwtimer_ring_submitted(ring), 0);
	ring->shared->submission_tail = BEGIN + 1;
	KUNIT_EXPECT_EQ(test, hwtimer_ring_submitted(ring), -EINVAL);
	hwtimer_ring_destroy(ring);
}

static struct kunit_case ring_test_cases[] = {
	KUNIT_CASE(requests_are_taken_and_answered),
	KUNIT_CASE(requests_lie_in_several_pages),
	KUNIT_CASE(compact_slots_are_taken),
	KUNIT_CASE(results_are_ids_zeros_and_errors),
	KUNIT_CASE(tails_that_cannot_be_are_refused),
	KUNIT_CASE(events_fill_the_ring_and_no_more),
	KUNIT_CASE(events_lie_in_several_pages),
	KUNIT_CASE(heads_that_cannot_be_mean_full),
	KUNIT_CASE(ring_without_slots_has_no_room),
	KUNIT_CASE(killed_task_gets_no_rings),
	{}
};

static struct kunit_suite ring_test_suite = {
	.name = "hwtimer_ring",
	.init = ring_test_init,
	.exit = ring_test_exit,
	.test_cases = ring_test_cases,
};

/* ---- the rings of an instance ---- */

#define SUBMISSIONS 8U
#define COMPLETIONS 4U

/* Gives @instance, which is new, rings; returns whether memory was available. */
static bool add_rings(struct hwtimer_instance *instance)
{
	if (!fake_add_rings(instance, SUBMISSIONS, COMPLETIONS))
		return false;
	begin_late(instance->exchange.ring);
	return true;
}

static int exchange_test_init(struct kunit *test)
{
	int err = fake_test_init(test, kind_of(test), LIMIT);

	if (!err && !add_rings(test->priv))
		err = -ENOMEM;
	return err;
}

static struct hwtimer_ring *ring_of(struct kunit *test)
{
	return ((struct hwtimer_instance *)test->priv)->exchange.ring;
}

static void submit(struct kunit *test, struct hwtimer_request request)
{
	fake_submit(test->priv, request);
}

/* Returns the result of the latest request, which must be done. */
static s64 result(struct kunit *test)
{
	struct hwtimer_ring *ring = ring_of(test);

	KUNIT_ASSERT_EQ(test, ring->shared->submission_head,
			ring->shared->submission_tail);
	return *hwtimer_ring_result(ring, ring->shared->submission_head - 1);
}

/* Takes the next event out of the ring, and checks its user_data. */
static void expect_event(struct kunit *test, u64 user_data)
{
	struct hwtimer_ring *ring = ring_of(test);
	u32 head = ring->shared->completion_head;

	KUNIT_ASSERT_NE(test, head, ring->shared->completion_tail);
	KUNIT_EXPECT_EQ(test, hwtimer_ring_event(ring, head)->user_data,
			user_data);
	ring->shared->completion_head++;
}

/* Lets @count timers expire, a tick apart, with user_data from @first on. */
static void expire(struct kunit *test, u64 first, u32 count)
{
	struct hwtimer_instance *instance = test->priv;
	u32 i;

	for (i = 0; i < count; i++) {
		struct hwtimer_request request = {
			.op = HWTIMER_OP_SCHEDULE,
			.time = i * TICK,
			.user_data = first + i,
		};

		KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
	}
	fake_turn_until(instance, fake_now + (count + 1) * TICK);
}

static void events_are_delivered_at_once(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u32 i;

	for (i = 0; i < 20; i++) {
		expire(test, i, 1);
		KUNIT_EXPECT_EQ(test, instance->stats.ready, 0);
		KUNIT_EXPECT_EQ(test, hwtimer_completion_unread(instance), 1);
		expect_event(test, i);
	}
	KUNIT_EXPECT_EQ(test, instance->stats.completed, 20);
	KUNIT_EXPECT_EQ(test, instance->stats.overflowed, 0);
	fake_check_books(test, instance);
}

static void those_without_room_follow_in_order(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u32 i;

	expire(test, 0, 20);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 20 - COMPLETIONS);
	KUNIT_EXPECT_EQ(test, ring_of(test)->shared->waiting, 16);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_serve(instance), 0);
	for (i = 0; i < 20; i++) {
		expect_event(test, i);
		if (i % 3 == 2)
			KUNIT_EXPECT_EQ(test, hwtimer_exchange_serve(instance),
					min(3, 19 - (int)i - 1));
	}
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 0);
	KUNIT_EXPECT_EQ(test, ring_of(test)->shared->waiting, 0);
	fake_check_books(test, instance);
}

/* While a reader holds the front of the queue, no later event passes it. */
static void nobody_passes_a_reader(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u32 i, taken;
	u64 now;

	expire(test, 0, COMPLETIONS + 3);
	mutex_lock(&instance->harvest);
	taken = hwtimer_harvest_take(instance, 1, &now);
	KUNIT_EXPECT_EQ(test, taken, 1);
	for (i = 0; i < COMPLETIONS; i++)
		expect_event(test, i);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_serve(instance), 0);
	expire(test, COMPLETIONS + 3, 1);
	KUNIT_EXPECT_EQ(test, hwtimer_completion_unread(instance), 0);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 4);
	/* The reader fails, so its event is at the front of the queue again. */
	hwtimer_harvest_finish(instance, taken, 0, now);
	mutex_unlock(&instance->harvest);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_serve(instance), 4);
	for (i = 0; i < 4; i++)
		expect_event(test, COMPLETIONS + i);
	fake_check_books(test, instance);
}

static void discarded_ones_make_room_in_the_queue(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 ids[10];
	u32 i;

	for (i = 0; i < 10; i++)
		KUNIT_ASSERT_EQ(test,
				fake_schedule(instance, i * TICK, &ids[i]), 0);
	fake_turn_until(instance, fake_now + 20 * TICK);
	for (i = COMPLETIONS; i < 10; i++)
		KUNIT_ASSERT_EQ(test,
				fake_cancel(instance, ids[i], HWTIMER_DISCARD),
				0);
	KUNIT_EXPECT_EQ(test, ring_of(test)->shared->waiting, 0);
	for (i = 0; i < COMPLETIONS; i++)
		expect_event(test, 0);
	expire(test, 7, 1);
	hwtimer_exchange_serve(instance);
	expect_event(test, 7);
	fake_check_books(test, instance);
}

static void periodic_timer_goes_on_at_once(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.time = TICK,
		.interval = 10 * TICK,
		.user_data = 3,
	};
	u32 i;

	KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
	for (i = 0; i < 50; i++) {
		fake_turn_until(instance, FAKE_START + (2 + 10 * i) * TICK);
		expect_event(test, 3);
		KUNIT_EXPECT_EQ(test, instance->stats.pending, 1);
	}
	KUNIT_EXPECT_EQ(test, instance->stats.missed, 0);
	fake_check_books(test, instance);
}

/* Without room for its first event, it rests in the queue, as if read() were to come. */
static void periodic_timer_without_room_rests(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.time = 10 * TICK,
		.interval = 10 * TICK,
		.user_data = 7,
	};
	u32 i;

	expire(test, 0, COMPLETIONS);
	KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
	fake_turn_until(instance, fake_now + 10000 * TICK);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 0);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 1);
	KUNIT_EXPECT_EQ(test, instance->wakeup.at, HWTIMER_TICK_NONE);
	expect_event(test, 0);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_serve(instance), 1);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 1);
	KUNIT_EXPECT_EQ(test, instance->stats.missed, 999);
	for (i = 1; i < COMPLETIONS; i++)
		expect_event(test, i);
	expect_event(test, 7);
	fake_check_books(test, instance);
}

/* The worker leaves requests that need memory to an errand, and none is lost. */
static void requests_that_need_memory_are_done(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_exchange *exchange = &instance->exchange;
	struct hwtimer_request request = { .op = HWTIMER_OP_SCHEDULE,
					   .time = FAKE_HOUR };
	u32 i;

	/* The first request allocates the wheel. */
	submit(test, request);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_serve(instance), 0);
	fake_do_errand(instance);
	KUNIT_EXPECT_GT(test, result(test), 0);
	KUNIT_EXPECT_TRUE(test, instance->started);
	KUNIT_EXPECT_EQ(test, exchange->held, 0);
	for (i = 1; i < LIMIT; i++) {
		request.time = i * FAKE_HOUR;
		submit(test, request);
		if (!hwtimer_exchange_serve(instance))
			fake_do_errand(instance);
		KUNIT_ASSERT_GT(test, result(test), 0);
	}
	submit(test, request);
	if (!hwtimer_exchange_serve(instance))
		fake_do_errand(instance);
	KUNIT_EXPECT_EQ(test, result(test), -ENOSPC);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, LIMIT);
	KUNIT_EXPECT_EQ(test, instance->stats.submitted, LIMIT + 1);
}

/* A KICK does the requests that the worker has taken before it does later ones. */
static void kick_finishes_what_was_begun(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u32 i;

	for (i = 0; i < SUBMISSIONS; i++)
		submit(test,
		       (struct hwtimer_request){ .op = HWTIMER_OP_SCHEDULE,
						 .time = FAKE_HOUR });
	hwtimer_exchange_serve(instance);
	fake_do_errand(instance);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_kick(instance), 0);
	for (i = 0; i < SUBMISSIONS; i++)
		submit(test,
		       (struct hwtimer_request){
			       .op = HWTIMER_OP_CANCEL,
			       .id = *hwtimer_ring_result(ring_of(test), i),
		       });
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_kick(instance), SUBMISSIONS);
	KUNIT_EXPECT_EQ(test, result(test), 0);
	KUNIT_EXPECT_EQ(test, instance->stats.cancelled, SUBMISSIONS);
}

/* So does a worker that does the last errand: what is left in the ring follows. */
static void last_errand_finishes_what_was_begun(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u32 i;

	for (i = 0; i < SUBMISSIONS; i++) {
		submit(test,
		       (struct hwtimer_request){ .op = HWTIMER_OP_SCHEDULE,
						 .time = FAKE_HOUR });
		/* The first one is taken out alone: it needs memory. */
		if (!i)
			hwtimer_exchange_serve(instance);
	}
	KUNIT_EXPECT_EQ(test, instance->exchange.held, 1);
	hwtimer_submission_finish(instance);
	KUNIT_EXPECT_EQ(test, instance->stats.submitted, SUBMISSIONS);
	KUNIT_EXPECT_GT(test, result(test), 0);
}

/* What a thread that leaves an instance and its test tell each other */
static DECLARE_COMPLETION(leaver_left);

/* Time after which a thread that has not left is taken to wait */
#define LEAVER_WAITS (HZ / 10)

static int leave(void *instance)
{
	hwtimer_exchange_leave(instance);
	kthread_complete_and_exit(&leaver_left, 0);
}

/*
 * A program submits a request, and a worker leaves, while another thread still drains the
 * ring: a KICK, or the other worker. That thread may have looked for requests before this
 * one came. Nobody comes after the worker, so the worker has to wait for that thread, and
 * then look once more.
 */
static void leaving_worker_waits_for_who_drains(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_exchange *exchange = &instance->exchange;
	struct hwtimer_request request = { .op = HWTIMER_OP_SCHEDULE,
					   .time = FAKE_HOUR };
	struct task_struct *leaver;
	bool left;

	reinit_completion(&leaver_left);
	mutex_lock(&exchange->drain);
	KUNIT_EXPECT_EQ(test, hwtimer_ring_submitted(exchange->ring), 0);
	submit(test, request);
	leaver = kthread_run(leave, instance, "leaver");
	KUNIT_EXPECT_FALSE(test, IS_ERR(leaver));
	left = IS_ERR(leaver) ||
	       wait_for_completion_timeout(&leaver_left, LEAVER_WAITS);
	mutex_unlock(&exchange->drain);
	if (!left)
		wait_for_completion(&leaver_left);
	KUNIT_EXPECT_EQ(test, instance->stats.submitted, 1);
	KUNIT_EXPECT_GT(test, result(test), 0);
}

static void garbage_is_refused(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_rings *shared = ring_of(test)->shared;

	expire(test, 0, 1);
	shared->submission_tail += SUBMISSIONS + 1;
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_kick(instance), -EINVAL);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_serve(instance), 0);
	shared->submission_tail -= SUBMISSIONS + 1;
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_kick(instance), 0);
	/* With a wrong head, the ring counts as full until the head is right again. */
	shared->completion_head += 100;
	expire(test, 1, COMPLETIONS);
	shared->completion_head -= 100;
	hwtimer_exchange_serve(instance);
	expect_event(test, 0);
	expect_event(test, 1);
}

/*
 * Polls the rings as the worker does, which planned this poll for @time. After several
 * polls in vain, the worker becomes idle: it stops polling, and tells the program so
 * with HWTIMER_RING_NEED_KICK.
 */
static void poll_rings(struct hwtimer_instance *instance, u64 time)
{
	instance->exchange.poll_at = time;
	hwtimer_exchange_poll(instance);
}

/*
 * If the worker comes for something else and polls before the planned time, this does not
 * count as a poll in vain.
 */
static void early_polls_do_not_count(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u32 i;

	KUNIT_EXPECT_EQ(test, hwtimer_exchange_kick(instance), 0);
	for (i = 0; i < 1000; i++)
		poll_rings(instance, ktime_get_ns() + NSEC_PER_SEC * 3600);
	KUNIT_EXPECT_EQ(test, ring_of(test)->shared->flags, 0);
}

static void worker_stops_polling_and_is_woken(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_rings *shared = ring_of(test)->shared;
	u32 polls, most = 0, i;

	KUNIT_EXPECT_EQ(test, shared->flags, HWTIMER_RING_NEED_KICK);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_kick(instance), 0);
	KUNIT_EXPECT_EQ(test, shared->flags, 0);
	for (polls = 0; !shared->flags && polls < 1000; polls++)
		poll_rings(instance, 0);
	KUNIT_EXPECT_EQ(test, shared->flags, HWTIMER_RING_NEED_KICK);
	KUNIT_EXPECT_GT(test, polls, 1);
	KUNIT_EXPECT_LT(test, polls, 100);
	most = polls;

	/* Any request that it finds, even at the last poll, makes it go on polling. */
	expire(test, 0, 1);
	hwtimer_exchange_kick(instance);
	for (i = 0; i < 10; i++) {
		for (polls = 1; polls < most; polls++)
			poll_rings(instance, 0);
		KUNIT_EXPECT_EQ(test, shared->flags, 0);
		submit(test, (struct hwtimer_request){ .op = 99 });
		if (i % 2)
			hwtimer_exchange_serve(instance);
		else
			poll_rings(instance, 0);
		KUNIT_EXPECT_EQ(test, result(test), -EINVAL);
	}
	/* If it finds nothing, it becomes idle after as many polls as before. */
	for (polls = 0; polls < most; polls++)
		poll_rings(instance, 0);
	KUNIT_EXPECT_EQ(test, shared->flags, HWTIMER_RING_NEED_KICK);
}

/* A KICK moves events without waiting for another thread that drains requests. */
static void kick_moves_events_while_others_drain(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u32 i;

	expire(test, 0, COMPLETIONS + 2);
	for (i = 0; i < COMPLETIONS; i++)
		expect_event(test, i);
	mutex_lock(&instance->exchange.drain);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_kick(instance), 0);
	mutex_unlock(&instance->exchange.drain);
	expect_event(test, COMPLETIONS);
	expect_event(test, COMPLETIONS + 1);
}

/* Polls in vain until one more poll in vain would make the worker idle. */
static void poll_till_the_last(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;

	KUNIT_ASSERT_EQ(test, hwtimer_exchange_kick(instance), 0);
	while (instance->exchange.polls > 1)
		poll_rings(instance, 0);
	KUNIT_ASSERT_EQ(test, ring_of(test)->shared->flags, 0);
}

/* A request that an errand does shows the worker that the program is busy. */
static void errands_keep_the_worker_polling(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_exchange *exchange = &instance->exchange;
	struct hwtimer_request first = { .op = HWTIMER_OP_SCHEDULE,
					 .time = FAKE_HOUR };

	poll_till_the_last(test);
	exchange->polls++;
	/* The first timer needs a wheel, so the worker leaves it to an errand. */
	submit(test, first);
	poll_rings(instance, 0);
	fake_do_errand(instance);
	KUNIT_EXPECT_GT(test, result(test), 0);
	poll_rings(instance, 0);
	KUNIT_EXPECT_EQ(test, ring_of(test)->shared->flags, 0);
}

/*
 * A request that another thread is still draining also keeps the worker polling, however
 * long that thread takes.
 */
static void unfinished_requests_keep_the_worker_polling(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_exchange *exchange = &instance->exchange;
	u32 i, flags = 0;

	expire(test, 0, 1);
	poll_till_the_last(test);
	submit(test, (struct hwtimer_request){ .op = 99 });
	mutex_lock(&exchange->drain);
	for (i = 0; i < 100; i++) {
		poll_rings(instance, 0);
		flags |= ring_of(test)->shared->flags;
	}
	mutex_unlock(&exchange->drain);
	KUNIT_EXPECT_EQ(test, flags, 0);
	poll_rings(instance, 0);
	KUNIT_EXPECT_EQ(test, result(test), -EINVAL);
	KUNIT_EXPECT_EQ(test, ring_of(test)->shared->flags, 0);
}

/* Lets the worker become idle; returns the flags that the program then finds. */
static u32 flags_after_polling(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;

	spin_lock(&instance->lock);
	hwtimer_exchange_stop_polling(instance);
	spin_unlock(&instance->lock);
	KUNIT_EXPECT_EQ(test, instance->exchange.polling,
			!ring_of(test)->shared->flags);
	return ring_of(test)->shared->flags;
}

/*
 * A program that submits or makes room just before the flag is set does not see the flag,
 * and does not KICK. So the worker has to see what the program did.
 */
static void worker_sees_what_comes_as_it_stops_polling(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;

	expire(test, 0, 1);
	expect_event(test, 0);
	poll_till_the_last(test);
	submit(test, (struct hwtimer_request){ .op = 99 });
	KUNIT_EXPECT_EQ(test, flags_after_polling(test), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_serve(instance), 1);
	KUNIT_EXPECT_EQ(test, flags_after_polling(test),
			HWTIMER_RING_NEED_KICK);

	/* Events that find no room do not keep the worker polling. */
	expire(test, 0, COMPLETIONS + 1);
	poll_till_the_last(test);
	KUNIT_EXPECT_EQ(test, flags_after_polling(test),
			HWTIMER_RING_NEED_KICK);
	poll_till_the_last(test);
	expect_event(test, 0);
	KUNIT_EXPECT_EQ(test, flags_after_polling(test), 0);
}

/* Readers are woken for an event that comes into the ring, not for those that wait. */
static void readers_are_woken_when_events_move(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct wait_queue_entry sleeper;

	expire(test, 0, COMPLETIONS + 2);
	fake_fall_asleep(instance, &sleeper);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_serve(instance), 0);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 0);
	expect_event(test, 0);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_serve(instance), 1);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 1);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_serve(instance), 0);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 1);
	remove_wait_queue(&instance->readers, &sleeper);
}

/* A program that takes all events out of the ring as soon as it is woken */
static struct hwtimer_rings *taken_from;

static int take_at_once(struct wait_queue_entry *entry, unsigned int mode,
			int flags, void *key)
{
	taken_from->completion_head = taken_from->completion_tail;
	return 0;
}

/* A KICK moves about as many events as the ring has room for, however fast they leave. */
static void kick_ends_though_events_leave(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct wait_queue_entry sleeper;

	taken_from = ring_of(test)->shared;
	init_waitqueue_func_entry(&sleeper, take_at_once);
	expire(test, 0, 10 * COMPLETIONS);
	add_wait_queue(&instance->readers, &sleeper);
	take_at_once(NULL, 0, 0, NULL);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_kick(instance), 0);
	remove_wait_queue(&instance->readers, &sleeper);
	KUNIT_EXPECT_LT(test, instance->stats.ready, 9 * COMPLETIONS);
	KUNIT_EXPECT_GT(test, instance->stats.ready, 0);
}

/* Whether KICK has the caller's memory cgroup pay for errands; forgets it again */
static bool kicker_pays(struct hwtimer_instance *instance)
{
	struct mem_cgroup *memcg = instance->exchange.memcg;

	instance->exchange.memcg = NULL;
	mem_cgroup_put(memcg);
	return memcg;
}

/* Who kicks pays from then on, whether there are requests or not. */
static void errands_are_charged_to_who_kicks(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;

	if (mem_cgroup_disabled())
		kunit_skip(test, "this kernel has no memory cgroups");
	KUNIT_EXPECT_FALSE(test, kicker_pays(instance));
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_kick(instance), 0);
	KUNIT_EXPECT_TRUE(test, kicker_pays(instance));
	submit(test, (struct hwtimer_request){ .op = 99 });
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_kick(instance), 1);
	KUNIT_EXPECT_TRUE(test, kicker_pays(instance));
}

/* A program that repeats STOP does not keep the worker from polling the rings. */
static void only_the_first_stop_puts_off_a_poll(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 poll_at, i;

	expire(test, 0, COMPLETIONS + 2);
	hwtimer_instance_stop(instance);
	poll_at = instance->exchange.poll_at;
	for (i = 0; i < 10; i++)
		hwtimer_instance_stop(instance);
	KUNIT_EXPECT_EQ(test, instance->exchange.poll_at, poll_at);
}

static void stopped_instance_empties_its_queue(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u32 i;

	expire(test, 0, COMPLETIONS + 2);
	hwtimer_instance_stop(instance);
	submit(test, (struct hwtimer_request){ .op = HWTIMER_OP_SCHEDULE });
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_serve(instance), 1);
	KUNIT_EXPECT_EQ(test, result(test), -ESHUTDOWN);
	KUNIT_EXPECT_FALSE(test, hwtimer_instance_drained(instance));
	for (i = 0; i < COMPLETIONS; i++)
		expect_event(test, i);
	KUNIT_EXPECT_EQ(test, hwtimer_exchange_serve(instance), 2);
	KUNIT_EXPECT_TRUE(test, hwtimer_instance_drained(instance));
	expect_event(test, COMPLETIONS);
	expect_event(test, COMPLETIONS + 1);
	fake_check_books(test, instance);
}

static struct kunit_case exchange_test_cases[] = {
	KIND_CASE(events_are_delivered_at_once),
	KIND_CASE(those_without_room_follow_in_order),
	KIND_CASE(nobody_passes_a_reader),
	KIND_CASE(discarded_ones_make_room_in_the_queue),
	KIND_CASE(periodic_timer_goes_on_at_once),
	KIND_CASE(periodic_timer_without_room_rests),
	KIND_CASE(requests_that_need_memory_are_done),
	KIND_CASE(kick_finishes_what_was_begun),
	KIND_CASE(last_errand_finishes_what_was_begun),
	KIND_CASE(leaving_worker_waits_for_who_drains),
	KIND_CASE(garbage_is_refused),
	KIND_CASE(early_polls_do_not_count),
	KIND_CASE(worker_stops_polling_and_is_woken),
	KIND_CASE(kick_moves_events_while_others_drain),
	KIND_CASE(errands_keep_the_worker_polling),
	KIND_CASE(unfinished_requests_keep_the_worker_polling),
	KIND_CASE(worker_sees_what_comes_as_it_stops_polling),
	KIND_CASE(errands_are_charged_to_who_kicks),
	KIND_CASE(readers_are_woken_when_events_move),
	KIND_CASE(kick_ends_though_events_leave),
	KIND_CASE(only_the_first_stop_puts_off_a_poll),
	KIND_CASE(stopped_instance_empties_its_queue),
	{}
};

static struct kunit_suite exchange_test_suite = {
	.name = "hwtimer_exchange",
	.init = exchange_test_init,
	.exit = fake_test_exit,
	.test_cases = exchange_test_cases,
};

/* ---- compact slots of an instance ---- */

#define COMPACT 256U

static int compact_test_init(struct kunit *test)
{
	struct hwtimer_instance *instance;
	int err = fake_test_init(test, kind_of(test), LIMIT);

	if (err)
		return err;
	instance = test->priv;
	instance->settings.flags = HWTIMER_COMPACT_SLOTS;
	if (!fake_add_rings(instance, COMPACT, 0))
		return -ENOMEM;
	begin_late(instance->exchange.ring);
	return 0;
}

static void submit_compact(struct kunit *test, u32 op, u64 user_data, u64 time)
{
	struct hwtimer_ring *ring = ring_of(test);
	u32 number = ring->shared->submission_tail++;

	*hwtimer_ring_result(ring, number) = HWTIMER_SLOT_OP(op, 0);
	*hwtimer_ring_timer(ring, number) = (struct hwtimer_bulk_timer){
		.user_data = user_data,
		.time = time,
	};
}

/*
 * Fills the ring with requests of two kinds, as many of each in a row as the kernel runs as
 * a bulk. So each batch is small.
 */
static void submit_runs(struct kunit *test)
{
	u32 i;

	for (i = 0; i < COMPACT; i++)
		if (i / 16 % 2)
			submit_compact(test, HWTIMER_OP_CANCEL, ~i, 0);
		else
			submit_compact(test, HWTIMER_OP_SCHEDULE, i, FAKE_HOUR);
}

/* Checks that the requests of submit_runs() are done, and in their order. */
static void expect_runs(struct kunit *test)
{
	struct hwtimer_ring *ring = ring_of(test);
	struct hwtimer_query query;
	u32 first = ring->shared->submission_head - COMPACT, i;

	KUNIT_ASSERT_EQ(test, ring->shared->submission_head,
			ring->shared->submission_tail);
	for (i = 0; i < COMPACT; i++) {
		u64 done = *hwtimer_ring_result(ring, first + i);

		if (i / 16 % 2) {
			KUNIT_EXPECT_EQ(test, (s64)done, -ENOENT);
			continue;
		}
		query = (struct hwtimer_query){ .id = done };
		KUNIT_EXPECT_EQ(test, hwtimer_query_timer(test->priv, &query),
				0);
		KUNIT_EXPECT_EQ(test, query.user_data, i);
	}
}

/* A worker that has run a batch does not let the next kind wait for the next poll. */
static void next_kind_is_done_at_once(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_exchange *exchange = &instance->exchange;
	u32 polls = 0;

	expire(test, 0, 1);
	KUNIT_ASSERT_EQ(test, hwtimer_exchange_kick(instance), 0);
	submit_runs(test);
	while (hwtimer_ring_submitted(exchange->ring)) {
		poll_rings(instance, 0);
		/* A batch that needs memory is an errand. */
		if (exchange->held) {
			fake_do_errand(instance);
			continue;
		}
		polls++;
		if (hwtimer_ring_submitted(exchange->ring))
			KUNIT_ASSERT_LE(test, exchange->poll_at,
					ktime_get_ns());
	}
	KUNIT_EXPECT_GT(test, polls, 1);
	expect_runs(test);
	fake_check_books(test, instance);
}

/* A worker that gives the instance up does all of them, however small the batches are. */
static void leaving_worker_does_each_kind(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;

	expire(test, 0, 1);
	submit_runs(test);
	hwtimer_exchange_leave(instance);
	expect_runs(test);
	fake_check_books(test, instance);
}

/* So does a worker that does the last errand. */
static void last_errand_does_each_kind(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;

	submit_runs(test);
	hwtimer_submission_finish(instance);
	expect_runs(test);
	fake_check_books(test, instance);
}

static struct kunit_case compact_test_cases[] = {
	KIND_CASE(next_kind_is_done_at_once),
	KIND_CASE(leaving_worker_does_each_kind),
	KIND_CASE(last_errand_does_each_kind),
	{}
};

static struct kunit_suite compact_test_suite = {
	.name = "hwtimer_compact",
	.init = compact_test_init,
	.exit = fake_test_exit,
	.test_cases = compact_test_cases,
};

/* ---- errands ---- */

/* What a stuck errand and its test tell each other */
static DECLARE_COMPLETION(memory_there);
static DECLARE_COMPLETION(errand_begun);
static DECLARE_COMPLETION(errand_left);
static hwtimer_left_fn *usual_left;

/* Stands in for an errand that waits for memory. */
static void wait_for_memory(struct hwtimer_alarm *alarm,
			    struct hwtimer_slice *slice)
{
	complete(&errand_begun);
	wait_for_completion(&memory_there);
}

/* Creates an instance whose first request has become an errand that is stuck, or NULL. */
static struct hwtimer_instance *new_stuck(void)
{
	struct hwtimer_instance *instance = hwtimer_instance_create(NULL);
	struct hwtimer_job *errand;

	if (!instance)
		return NULL;
	errand = &instance->exchange.errand;
	if (!add_rings(instance) ||
	    hwtimer_owner_employ(&instance->job, HWTIMER_DUTY_TURN) ||
	    hwtimer_owner_employ(errand, HWTIMER_DUTY_ERRAND)) {
		hwtimer_instance_destroy(instance);
		return NULL;
	}
	errand->turns.serve = wait_for_memory;
	fake_submit(instance,
		    (struct hwtimer_request){ .op = HWTIMER_OP_SCHEDULE });
	hwtimer_exchange_serve(instance);
	return instance;
}

/* An errand that waits for memory keeps nobody from turning wheels. */
static void errands_are_not_for_the_worker_that_turns(struct kunit *test)
{
	struct hwtimer_instance *instance = new_stuck();

	KUNIT_ASSERT_NOT_NULL(test, instance);
	KUNIT_EXPECT_TRUE(test, comes(&errand_begun));
	KUNIT_EXPECT_NOT_NULL(test, instance->job.worker);
	KUNIT_EXPECT_PTR_NE(test, instance->job.worker,
			    instance->exchange.errand.worker);
	complete(&memory_there);
	hwtimer_instance_destroy(instance);
}

static void note_left(struct hwtimer_job *job)
{
	usual_left(job);
	complete(&errand_left);
}

/* close() waits for no worker: the worker frees an instance that it is serving. */
static void destroy_waits_for_no_errand(struct kunit *test)
{
	struct hwtimer_instance *instance = new_stuck();
	struct hwtimer_job *errand;

	KUNIT_ASSERT_NOT_NULL(test, instance);
	errand = &instance->exchange.errand;
	KUNIT_EXPECT_TRUE(test, comes(&errand_begun));
	hwtimer_instance_destroy(instance);
	/* The instance still exists, because its errand is stuck. */
	KUNIT_EXPECT_TRUE(test, errand->detached);
	KUNIT_EXPECT_NOT_NULL(test, errand->left);
	usual_left = errand->left;
	errand->left = note_left;
	complete(&memory_there);
	KUNIT_EXPECT_TRUE(test, comes(&errand_left));
}

/* As leaving_worker_waits_for_who_drains(), while there is a worker for the errand. */
static void leaving_worker_waits_if_there_are_errands(struct kunit *test)
{
	struct hwtimer_instance *instance = new_stuck();
	struct task_struct *leaver;
	bool left;

	KUNIT_ASSERT_NOT_NULL(test, instance);
	KUNIT_EXPECT_TRUE(test, comes(&errand_begun));
	reinit_completion(&leaver_left);
	mutex_lock(&instance->exchange.drain);
	leaver = kthread_run(leave, instance, "leaver");
	KUNIT_EXPECT_FALSE(test, IS_ERR(leaver));
	left = IS_ERR(leaver) ||
	       wait_for_completion_timeout(&leaver_left, LEAVER_WAITS);
	mutex_unlock(&instance->exchange.drain);
	KUNIT_EXPECT_FALSE(test, left);
	if (!left)
		wait_for_completion(&leaver_left);
	/* The leaver may have sent the errand once more. */
	complete_all(&memory_there);
	hwtimer_instance_destroy(instance);
}

static struct kunit_case errand_test_cases[] = {
	KUNIT_CASE(errands_are_not_for_the_worker_that_turns),
	KUNIT_CASE(destroy_waits_for_no_errand),
	/* The last one: it lets all errands pass. */
	KUNIT_CASE(leaving_worker_waits_if_there_are_errands),
	{}
};

static struct kunit_suite errand_test_suite = {
	.name = "hwtimer_errand",
	.test_cases = errand_test_cases,
};

kunit_test_suites(&ring_test_suite, &exchange_test_suite, &compact_test_suite,
		  &errand_test_suite);
