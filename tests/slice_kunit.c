// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of a slice: the work that the worker does for one instance before it goes
 * to the next. They count work, and measure no time. However much work waits, one slice
 * does no more than the list in hwtimer_turn.c says.
 *
 * The test is the worker, under a fake clock. The work item of the rings does nothing by
 * itself. When the worker has handed requests to it, the test runs the work item's
 * function after the slice, so that only the worker's work counts in a slice.
 */
#include <kunit/test.h>
#include <linux/slab.h>

#include "../hwtimer_ring.h"
#include "fake.h"
#include "kinds.h"
#include "random.h"

#define TICK NSEC_PER_MSEC
#define HOUR FAKE_HOUR
#define LIMIT 100000U
#define BUCKETS 262144U
#define SUBMISSIONS 1024U
#define COMPLETIONS 4096U

/*
 * Maximum number of entries and buckets of the wheel that a slice walks: HWTIMER_HOLD
 * each in a step of a compaction or a rewind, in the turn itself, and among dead entries.
 */
#define LOOKED_MAX (3 * HWTIMER_HOLD)

/**
 * struct slice_test - an instance with rings, and how its work item is run
 * @instance: the instance
 * @handed_over: number of times that the worker left requests to the work item
 * @longest: maximum number of entries and buckets that one slice has walked
 * @requests: requests for one hold of the lock
 */
struct slice_test {
	struct hwtimer_instance *instance;
	u32 handed_over;
	u64 longest;
	struct hwtimer_request requests[HWTIMER_HOLD];
};

static int slice_test_init(struct kunit *test)
{
	struct slice_test *slice;

	slice = kunit_kzalloc(test, sizeof(*slice), GFP_KERNEL);
	if (!slice)
		return -ENOMEM;
	slice->instance = fake_create(kind_of(test), LIMIT);
	if (!slice->instance)
		return -ENOMEM;
	test->priv = slice;
	slice->instance->settings.shape.buckets = BUCKETS;
	if (!fake_add_rings(slice->instance, SUBMISSIONS, COMPLETIONS))
		return -ENOMEM;
	return 0;
}

static void slice_test_exit(struct kunit *test)
{
	struct slice_test *slice = test->priv;

	if (!slice)
		return;
	hwtimer_instance_destroy(slice->instance);
}

/*
 * Returns the number of entries and buckets that have been walked so far. This is right
 * only for a wheel that rewinds at most once.
 */
static u64 looked(const struct hwtimer_wheel *wheel)
{
	u64 compactions = wheel->stats.compactions;
	u64 passes = compactions - min(compactions, 1ULL);

	return wheel->stats.walked + passes * wheel->nr_buckets +
	       wheel->sweep_next + wheel->rewind.next;
}

/* Does the first @count of slice->requests, as SUBMIT does; none may fail. */
static void run(struct kunit *test, u32 count)
{
	struct slice_test *slice = test->priv;
	u32 i;

	hwtimer_request_run(slice->instance, slice->requests, count);
	for (i = 0; i < count; i++)
		KUNIT_ASSERT_EQ(test, slice->requests[i].result, 0);
}

/* Schedules @count timers, @apart ns apart, from @time on; puts their ids into @ids. */
static void schedule_all(struct kunit *test, u64 time, u64 apart, u32 count,
			 u64 *ids)
{
	struct slice_test *slice = test->priv;
	u32 i, some;

	for (; count; count -= some) {
		some = min(count, HWTIMER_HOLD);
		for (i = 0; i < some; i++, time += apart)
			slice->requests[i] = (struct hwtimer_request){
				.op = HWTIMER_OP_SCHEDULE,
				.flags = HWTIMER_ABSOLUTE,
				.time = time,
			};
		run(test, some);
		for (i = 0; i < some; i++)
			*ids++ = slice->requests[i].id;
	}
}

/* Cancels up to HWTIMER_HOLD timers, and does the steps of a compaction that they owe. */
static void cancel_all(struct kunit *test, const u64 *ids, u32 count)
{
	struct slice_test *slice = test->priv;
	u32 i;

	for (i = 0; i < count; i++)
		slice->requests[i] = (struct hwtimer_request){
			.op = HWTIMER_OP_CANCEL,
			.id = ids[i],
		};
	run(test, count);
}

/* Fills the ring with requests to cancel the first SUBMISSIONS timers of @ids. */
static void submit_cancels(struct slice_test *slice, const u64 *ids)
{
	u32 i;

	for (i = 0; i < SUBMISSIONS; i++) {
		struct hwtimer_request request = {
			.op = HWTIMER_OP_CANCEL,
			.id = ids[i],
		};

		fake_submit(slice->instance, request);
	}
}

/* Returns the number of requests that were submitted and are not done yet. */
static u32 unanswered(const struct slice_test *slice)
{
	struct hwtimer_rings *shared = slice->instance->exchange.ring->shared;

	return shared->submission_tail - shared->submission_head;
}

/* Takes all events out of the ring, as a program does. */
static void consume(struct slice_test *slice)
{
	struct hwtimer_rings *shared = slice->instance->exchange.ring->shared;

	shared->completion_head = shared->completion_tail;
}

/* Does one slice as the worker does, and checks how much work it was. */
static void serve(struct kunit *test, bool chores)
{
	struct slice_test *slice = test->priv;
	struct hwtimer_instance *instance = slice->instance;
	struct hwtimer_exchange *exchange = &instance->exchange;
	struct hwtimer_stats before = instance->stats;
	u64 looked_before = looked(&instance->wheel);
	static struct hwtimer_slice idle;

	if (chores)
		hwtimer_turn_chores(&instance->job.chores, NULL);
	else
		hwtimer_turn(&instance->job.turns, fake_slice(&idle));
	slice->longest =
		max(slice->longest, looked(&instance->wheel) - looked_before);
	KUNIT_ASSERT_LE(test, looked(&instance->wheel) - looked_before,
			LOOKED_MAX);
	KUNIT_ASSERT_LE(test, instance->stats.submitted - before.submitted,
			HWTIMER_HOLD);
	KUNIT_ASSERT_LE(test, instance->stats.expired - before.expired,
			HWTIMER_HOLD);
	/* Events that waited for room, and events of timers that have just expired. */
	KUNIT_ASSERT_LE(test, instance->stats.completed - before.completed,
			2 * HWTIMER_HOLD);

	if (exchange->held) {
		slice->handed_over++;
		fake_do_errand(instance);
		KUNIT_ASSERT_EQ(test, exchange->held, 0);
	}
}

/* Leaves so many dead entries that a compaction is about to begin. */
static void make_dead(struct kunit *test)
{
	struct slice_test *slice = test->priv;
	struct hwtimer_wheel *wheel = &slice->instance->wheel;
	const u32 dead = HWTIMER_DEAD_SPARED - HWTIMER_HOLD / 4;
	u64 *ids = kunit_kcalloc(test, HWTIMER_HOLD, sizeof(*ids), GFP_KERNEL);
	u64 time = FAKE_START + HOUR;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	while (wheel->entries < dead) {
		u32 some = min(dead - (u32)wheel->entries, HWTIMER_HOLD);

		schedule_all(test, time, TICK, some, ids);
		cancel_all(test, ids, some);
		time += some * TICK;
	}
	KUNIT_ASSERT_EQ(test, wheel->stats.compactions, 0);
}

/*
 * The longest slice has three kinds of work. The submission ring is full of requests that
 * make entries dead, so that a compaction of the whole wheel begins. Events wait for room
 * in the completion ring. And a crowd of timers is due.
 */
static void longest_slice_is_bounded(struct kunit *test)
{
	struct slice_test *slice = test->priv;
	struct hwtimer_instance *instance = slice->instance;
	const u32 waiting = 1000, crowd = 500;
	struct hwtimer_wheel *wheel = &instance->wheel;
	u64 *ids;

	ids = kunit_kcalloc(test, COMPLETIONS + waiting, sizeof(*ids),
			    GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ids);
	schedule_all(test, FAKE_START, 0, COMPLETIONS + waiting, ids);
	fake_turn_until(instance, FAKE_START + 2 * TICK);
	KUNIT_ASSERT_EQ(test, instance->stats.ready, waiting);
	consume(slice);

	make_dead(test);
	schedule_all(test, fake_now + 5 * TICK, 0, crowd, ids);
	schedule_all(test, FAKE_START + 2 * HOUR, TICK, SUBMISSIONS, ids);
	fake_now += 10 * TICK;
	submit_cancels(slice, ids);

	while (unanswered(slice) || instance->stats.pending ||
	       wheel->sweeping) {
		serve(test, false);
		serve(test, true);
		consume(slice);
		/* Without requests, the worker does not go on with a compaction. */
		if (!unanswered(slice))
			hwtimer_wheel_compact(wheel, false);
	}
	kunit_info(test, "%llu entries or buckets in the longest slice\n",
		   slice->longest);
	KUNIT_EXPECT_GT(test, slice->longest, HWTIMER_HOLD / 2);
	KUNIT_EXPECT_GT(test, wheel->stats.compactions, 0);
	KUNIT_EXPECT_EQ(test, instance->stats.submitted, SUBMISSIONS);
	KUNIT_EXPECT_EQ(test, instance->stats.expired,
			COMPLETIONS + waiting + crowd);
	fake_check_books(test, instance);
}

/* A program makes nothing but dead entries, all of them through its ring. */
static void dead_entries_from_the_ring_are_bounded(struct kunit *test)
{
	struct slice_test *slice = test->priv;
	struct hwtimer_instance *instance = slice->instance;
	struct hwtimer_ring *ring = instance->exchange.ring;
	u32 first = 0, round, i;
	s64 most = 0;

	hwtimer_test_skip_if_scaled(test);
	KUNIT_ASSERT_EQ(test, hwtimer_supply_start(instance), 0);
	for (round = 0; round < 400; round++) {
		for (i = 0; i < SUBMISSIONS; i++) {
			struct hwtimer_request request = {
				.op = HWTIMER_OP_SCHEDULE,
				.time = HOUR + (round * SUBMISSIONS + i) * TICK,
			};

			if (round % 2)
				request = (struct hwtimer_request){
					.op = HWTIMER_OP_CANCEL,
					.id = *hwtimer_ring_result(ring,
								   first + i),
				};
			fake_submit(slice->instance, request);
		}
		first = ring->shared->submission_head;
		while (unanswered(slice)) {
			serve(test, true);
			most = max_t(s64, most,
				     instance->wheel.entries -
					     2 * instance->stats.pending);
		}
	}
	kunit_info(test, "%lld more dead entries than live, %u handovers\n",
		   most, slice->handed_over);
	KUNIT_EXPECT_GT(test, most, 0);
	KUNIT_EXPECT_LE(test, most,
			HWTIMER_DEAD_SPARED + 2 * HWTIMER_DEAD_DURING);
	KUNIT_EXPECT_EQ(test, instance->stats.cancelled, 200 * SUBMISSIONS);
	KUNIT_EXPECT_GT(test, instance->wheel.stats.compactions, 2);
	fake_check_books(test, instance);
}

/* The clock was set back, and the ring is full of requests. */
static void slice_that_rewinds_is_bounded(struct kunit *test)
{
	struct slice_test *slice = test->priv;
	struct hwtimer_instance *instance = slice->instance;
	const u32 timers = 10000;
	u64 *ids;
	u32 i;

	fake_settable(instance);
	ids = kunit_kcalloc(test, timers, sizeof(*ids), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ids);
	schedule_all(test, FAKE_START + HOUR, TICK, timers, ids);
	fake_now = FAKE_START - HOUR;
	submit_cancels(slice, ids);
	for (i = 0; unanswered(slice) || instance->wheel.rewind.active; i++)
		serve(test, i % 2);
	kunit_info(test, "%llu entries or buckets in the longest slice\n",
		   slice->longest);
	KUNIT_EXPECT_GT(test, slice->longest, HWTIMER_HOLD / 2);
	KUNIT_EXPECT_EQ(test, instance->stats.cancelled, SUBMISSIONS);
	fake_turn_until(instance, FAKE_START + HOUR - TICK);
	KUNIT_EXPECT_EQ(test, instance->stats.expired, 0);
	fake_turn_until(instance, FAKE_START + 2 * HOUR);
	KUNIT_EXPECT_EQ(test, instance->stats.expired, timers - SUBMISSIONS);
	fake_check_books(test, instance);
}

/*
 * Rings that take all the time of a slice do not keep the wheel from turning: it turns in
 * the next slice, before the rings.
 */
static void rings_and_wheel_take_turns(struct kunit *test)
{
	/* A slice that began when the machine was booted has no time left. */
	static struct hwtimer_slice over;
	struct slice_test *slice = test->priv;
	struct hwtimer_instance *instance = slice->instance;
	const struct hwtimer_stats *stats = &instance->stats;
	u64 *ids =
		kunit_kcalloc(test, 2 * SUBMISSIONS, sizeof(*ids), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ids);
	schedule_all(test, FAKE_START + HOUR, TICK, 2 * SUBMISSIONS, ids);
	schedule_all(test, FAKE_START + TICK, 0, 1, &slice->requests[0].id);
	fake_now = FAKE_START + 2 * TICK;
	submit_cancels(slice, ids);

	hwtimer_turn(&instance->job.turns, &over);
	KUNIT_EXPECT_EQ(test, stats->submitted, HWTIMER_HOLD);
	KUNIT_EXPECT_EQ(test, stats->expired, 0);
	/* The worker is to come again at once. */
	KUNIT_EXPECT_EQ(test, instance->wakeup.at, fake_now);
	hwtimer_turn(&instance->job.turns, &over);
	KUNIT_EXPECT_EQ(test, stats->submitted, HWTIMER_HOLD);
	KUNIT_EXPECT_EQ(test, stats->expired, 1);
	hwtimer_turn(&instance->job.turns, &over);
	KUNIT_EXPECT_EQ(test, stats->submitted, 2 * HWTIMER_HOLD);
}

static struct kunit_case slice_test_cases[] = {
	KIND_CASE_SLOW(longest_slice_is_bounded),
	KIND_CASE_SLOW(dead_entries_from_the_ring_are_bounded),
	KIND_CASE(slice_that_rewinds_is_bounded),
	KIND_CASE(rings_and_wheel_take_turns),
	{}
};

static struct kunit_suite slice_test_suite = {
	.name = "hwtimer_slice",
	.init = slice_test_init,
	.exit = slice_test_exit,
	.test_cases = slice_test_cases,
};

kunit_test_suite(slice_test_suite);
