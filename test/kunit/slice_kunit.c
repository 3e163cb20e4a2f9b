// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of a slice: the work that the worker does for one instance before it goes
 * to the next. They count work, and measure no time. However much work waits, one slice
 * does no more than the list in events/turn.c says.
 *
 * The test is the worker, under a fake clock.
 */
#include <kunit/test.h>
#include <linux/slab.h>

#include "fake.h"
#include "random.h"

#define TICK NSEC_PER_MSEC
#define HOUR FAKE_HOUR
#define LIMIT 100000U
#define BUCKETS 262144U

/*
 * Maximum number of entries and buckets of the wheel that a slice walks: HWTIMER_HOLD
 * each in the turn itself, and among dead entries.
 */
#define LOOKED_MAX (2 * HWTIMER_HOLD)

/**
 * struct slice_test - an instance, and what its slices have done
 * @instance: the instance
 * @longest: maximum number of entries and buckets that one slice has walked
 * @requests: requests for one hold of the lock
 */
struct slice_test {
	struct hwtimer_instance *instance;
	u64 longest;
	struct hwtimer_request requests[HWTIMER_HOLD];
};

static int slice_test_init(struct kunit *test)
{
	struct slice_test *slice;

	slice = kunit_kzalloc(test, sizeof(*slice), GFP_KERNEL);
	if (!slice)
		return -ENOMEM;
	slice->instance = fake_create(LIMIT);
	if (!slice->instance)
		return -ENOMEM;
	test->priv = slice;
	slice->instance->settings.shape.buckets = BUCKETS;
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
	       wheel->sweep_next + wheel->refile.collected;
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
				.flags = HWTIMER_REQ_ABSTIME,
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

/* Does one slice as the worker does, and checks how much work it was. */
static void serve(struct kunit *test, bool chores)
{
	struct slice_test *slice = test->priv;
	struct hwtimer_instance *instance = slice->instance;
	struct hwtimer_stats before = instance->stats;
	u64 looked_before = looked(&instance->wheel);

	if (chores)
		hwtimer_turn_chores(&instance->job.chores);
	else
		hwtimer_turn(&instance->job.turns);
	slice->longest =
		max(slice->longest, looked(&instance->wheel) - looked_before);
	KUNIT_ASSERT_LE(test, looked(&instance->wheel) - looked_before,
			LOOKED_MAX);
	KUNIT_ASSERT_LE(test, instance->stats.expired - before.expired,
			HWTIMER_HOLD);
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
 * The longest slice has two kinds of work. Timers are due. And the wheel is full of dead
 * entries, some of them of a compaction that has begun.
 */
static void longest_slice_is_bounded(struct kunit *test)
{
	struct slice_test *slice = test->priv;
	struct hwtimer_instance *instance = slice->instance;
	struct hwtimer_wheel *wheel = &instance->wheel;
	const u32 crowd = 500, late = 1024;
	u64 *ids;
	u32 i;

	ids = kunit_kcalloc(test, late, sizeof(*ids), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ids);
	KUNIT_ASSERT_EQ(test, hwtimer_start_instance(instance), 0);
	make_dead(test);
	schedule_all(test, fake_now + 5 * TICK, 0, crowd, ids);
	schedule_all(test, FAKE_START + 2 * HOUR, TICK, late, ids);
	fake_now += 10 * TICK;
	for (i = 0; i < late; i += HWTIMER_HOLD) {
		cancel_all(test, ids + i, HWTIMER_HOLD);
		serve(test, false);
		serve(test, true);
	}
	while (instance->stats.pending)
		serve(test, false);
	fake_now += 3 * HOUR;
	while (wheel->entries)
		serve(test, false);
	kunit_info(test, "%llu entries or buckets in the longest slice\n",
		   slice->longest);
	KUNIT_EXPECT_GT(test, slice->longest, HWTIMER_HOLD / 2);
	KUNIT_EXPECT_GT(test, wheel->stats.compactions, 0);
	KUNIT_EXPECT_EQ(test, instance->stats.expired, crowd);
	fake_check_books(test, instance);
}

/* The clock was set back, and timers are cancelled meanwhile. */
static void slice_that_rewinds_is_bounded(struct kunit *test)
{
	struct slice_test *slice = test->priv;
	struct hwtimer_instance *instance = slice->instance;
	const u32 timers = 3800;
	const u32 cancelled = 4 * HWTIMER_HOLD;
	u64 *ids;
	u32 i;

	fake_settable(instance);
	ids = kunit_kcalloc(test, timers, sizeof(*ids), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ids);
	schedule_all(test, FAKE_START + HOUR, TICK, timers, ids);
	fake_now = FAKE_START - HOUR;
	for (i = 0; instance->wheel.refile.active || !i; i++) {
		serve(test, i % 2);
		if (i < 4)
			cancel_all(test, ids + i * HWTIMER_HOLD, HWTIMER_HOLD);
	}
	kunit_info(test, "%llu entries or buckets in the longest slice\n",
		   slice->longest);
	KUNIT_EXPECT_GT(test, slice->longest, HWTIMER_HOLD / 2);
	KUNIT_EXPECT_EQ(test, instance->stats.cancelled, cancelled);
	fake_turn_until(instance, FAKE_START + HOUR - TICK);
	KUNIT_EXPECT_EQ(test, instance->stats.expired, 0);
	fake_turn_until(instance, FAKE_START + 2 * HOUR);
	KUNIT_EXPECT_EQ(test, instance->stats.expired, timers - cancelled);
	fake_check_books(test, instance);
}

static struct kunit_case slice_test_cases[] = {
	KUNIT_CASE_SLOW(longest_slice_is_bounded),
	KUNIT_CASE(slice_that_rewinds_is_bounded),
	{}
};

static struct kunit_suite slice_test_suite = {
	.name = "hwtimer_slice",
	.init = slice_test_init,
	.exit = slice_test_exit,
	.test_cases = slice_test_cases,
};

kunit_test_suite(slice_test_suite);
