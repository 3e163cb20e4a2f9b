// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of memory/shrink.c, and of what it uses of the table: an idle instance gives
 * its memory back, and the ids from before find nothing.
 */
#include <kunit/test.h>
#include <linux/ktime.h>
#include <linux/slab.h>

#include "fake.h"
#include "random.h"

#define LIMIT 100000
#define HOUR FAKE_HOUR

/* More timers than one slot has records for, and than a few chunks have entries for */
#define MANY (2 * HWTIMER_SLOT_RECORDS)

/* The most that an idle instance may hold, with a page for copies as large as any */
#define SMALL_BYTES (16384 - 4096 + PAGE_SIZE)

static int shrink_test_init(struct kunit *test)
{
	return fake_test_init(test, LIMIT);
}

/* Lets the time of the next step come, and does it. Returns whether there is another one. */
static bool step(struct hwtimer_instance *instance)
{
	if (instance->shrink.at == HWTIMER_TICK_NONE)
		return false;
	instance->shrink.at = min(instance->shrink.at, ktime_get_ns());
	hwtimer_turn_chores(&instance->job.chores);
	return instance->shrink.at != HWTIMER_TICK_NONE;
}

static unsigned int shrink(struct hwtimer_instance *instance)
{
	unsigned int steps = 0;

	while (step(instance))
		steps++;
	return steps;
}

static void expect_small(struct kunit *test, struct hwtimer_instance *instance)
{
	KUNIT_EXPECT_FALSE(test, hwtimer_instance_extended(instance));
	KUNIT_EXPECT_TRUE(test, hwtimer_table_small(&instance->table));
	KUNIT_EXPECT_LE(test, instance->pool.chunks,
			HWTIMER_START_SPARE_CHUNKS);
	KUNIT_EXPECT_EQ(test, instance->wheel.entries, 0);
	KUNIT_EXPECT_EQ(test, hwtimer_table_end(&instance->shrink.outgrown), 0);
	fake_check_books(test, instance);
	KUNIT_EXPECT_LE(test, instance->stats.bytes, SMALL_BYTES);
}

/* Schedules MANY timers that spread over an hour. Their ids go to @ids. */
static void schedule_all(struct kunit *test, u64 *ids)
{
	u32 i;

	for (i = 0; i < MANY; i++)
		KUNIT_ASSERT_EQ(test,
				fake_schedule(test->priv,
					      HOUR * (i % 97 + 1) / 97,
					      &ids[i]),
				0);
}

/* The same with periodic ones, each of which has two records */
static void schedule_periodic(struct kunit *test, u64 *ids)
{
	u32 i;

	for (i = 0; i < MANY; i++) {
		struct hwtimer_request request = {
			.op = HWTIMER_OP_SCHEDULE,
			.time = HOUR,
			.interval = HOUR + i,
		};

		KUNIT_ASSERT_EQ(test, fake_run(test->priv, &request), 0);
		ids[i] = request.id;
	}
}

static void cancel_all(struct kunit *test, const u64 *ids)
{
	u32 i;

	for (i = 0; i < MANY; i++)
		KUNIT_ASSERT_EQ(test, fake_cancel(test->priv, ids[i], 0), 0);
}

/* Lets as many expire as may wait, and drops their events. */
static void discard_all(struct kunit *test, const u64 *ids)
{
	u32 i;

	fake_turn_until(test->priv, fake_now + HOUR / 2);
	for (i = 0; i < MANY; i++)
		KUNIT_ASSERT_EQ(test,
				fake_cancel(test->priv, ids[i],
					    HWTIMER_REQ_DISCARD),
				0);
}

/* CANCEL_ALL hands them back, some at a time. */
static void hand_all_back(struct kunit *test, const u64 *ids)
{
	struct hwtimer_list list = { .count = 100 };
	struct hwtimer_timer __user *memory =
		fake_user_memory(test, list.count * sizeof(*memory));
	u32 count = 0;
	long ret;

	list.timers = (uintptr_t)memory;
	do {
		ret = hwtimer_cancel_all(test->priv, &list);
		KUNIT_ASSERT_GE(test, ret, 0);
		count += ret;
	} while (ret);
	KUNIT_EXPECT_EQ(test, count, MANY);
}

/* Lets all timers expire, and reads their events. */
static void expire_all(struct kunit *test, const u64 *ids)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;
	u32 count = 0;

	do {
		fake_turn_until(instance, fake_now + HOUR / 97);
		while (fake_read(instance, &event))
			count++;
	} while (instance->stats.pending);
	KUNIT_EXPECT_EQ(test, count, MANY);
}

static u64 *ids_alloc(struct kunit *test)
{
	u64 *ids = kunit_kzalloc(test, MANY * sizeof(*ids), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ids);
	return ids;
}

static void expect_stale(struct kunit *test, const u64 *ids)
{
	u32 i;

	for (i = 0; i < MANY; i++)
		KUNIT_ASSERT_EQ(test, fake_cancel(test->priv, ids[i], 0),
				-ENOENT);
}

/* Whether the generations of the table allow another return. */
static bool may_shrink(const struct hwtimer_instance *instance)
{
	u32 surveyed = 0, floor = 0;

	while (surveyed < hwtimer_table_end(&instance->table))
		floor = hwtimer_table_survey(&instance->table, &surveyed,
					     floor);
	return floor <= HWTIMER_GENERATION_MAX / 2;
}

/* However its timers ended */
static void idle_instance_gets_small(struct kunit *test)
{
	static const struct {
		void (*begin)(struct kunit *test, u64 *ids);
		void (*end)(struct kunit *test, const u64 *ids);
	} lives[] = {
		{ schedule_all, expire_all },
		{ schedule_all, cancel_all },
		{ schedule_all, discard_all },
		{ schedule_all, hand_all_back },
		{ schedule_periodic, cancel_all },
	};
	struct hwtimer_instance *instance = test->priv;
	u64 *before = ids_alloc(test), *ids = ids_alloc(test);
	unsigned int round, small = 0;

	for (round = 0; round < 10 && may_shrink(instance); round++) {
		lives[round % ARRAY_SIZE(lives)].begin(test, ids);
		KUNIT_EXPECT_FALSE(test, hwtimer_table_small(&instance->table));
		KUNIT_EXPECT_TRUE(test, hwtimer_instance_extended(instance));
		/* Those of all rounds before are no others' ids. */
		if (round)
			expect_stale(test, before);
		lives[round % ARRAY_SIZE(lives)].end(test, ids);
		KUNIT_EXPECT_NE(test, instance->shrink.at, HWTIMER_TICK_NONE);
		if (!may_shrink(instance))
			break;
		shrink(instance);
		expect_small(test, instance);
		small++;
		if (!round)
			memcpy(before, ids, MANY * sizeof(*ids));
		expect_stale(test, ids);
	}
	KUNIT_EXPECT_GT(test, small, 4);
	fake_check_books(test, instance);
}

/* The step at which timers come makes no difference. All of them expire in one turn. */
static void timers_may_come_at_any_step(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	const u32 timers = HWTIMER_START_ENTRIES;
	unsigned int at, steps = 0;
	struct hwtimer_event event;
	u64 *ids = ids_alloc(test);
	bool ended = false;
	u32 i;

	for (at = 0; !ended && may_shrink(instance); at += 1 + at / 8) {
		schedule_all(test, ids);
		cancel_all(test, ids);
		for (steps = 0; steps < at && !ended; steps++)
			ended = !step(instance);
		for (i = 0; i < timers; i++)
			KUNIT_ASSERT_EQ(test,
					fake_schedule(instance, HOUR, &ids[i]),
					0);
		shrink(instance);
		KUNIT_EXPECT_EQ(test, instance->stats.pending, timers);
		fake_check_books(test, instance);
		fake_turn_until(instance, fake_now + HOUR - 1);
		KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 0);
		fake_turn_until(instance, fake_now + NSEC_PER_SEC);
		for (i = 0; i < timers; i++) {
			KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
			KUNIT_ASSERT_EQ(test, event.id, ids[i]);
		}
		expect_stale(test, ids);
	}
	KUNIT_EXPECT_GT(test, at, 10);
	if (!may_shrink(instance))
		return;
	shrink(instance);
	expect_small(test, instance);
}

/* A timer that came and went is a reason to wait once more. */
static void instance_that_was_busy_is_watched_anew(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 *ids = ids_alloc(test);
	u64 id, now;

	schedule_all(test, ids);
	cancel_all(test, ids);
	KUNIT_ASSERT_EQ(test, fake_schedule(instance, HOUR, &id), 0);
	KUNIT_ASSERT_EQ(test, fake_cancel(instance, id, 0), 0);
	now = ktime_get_ns();
	KUNIT_EXPECT_TRUE(test, step(instance));
	KUNIT_EXPECT_GE(test, instance->shrink.at, now + NSEC_PER_SEC);
	KUNIT_EXPECT_TRUE(test, hwtimer_instance_extended(instance));
	shrink(instance);
	expect_small(test, instance);
}

/* Expects that the watch, which began at @since or later, and has begun by now, takes @wait ns. */
static void expect_watch(struct kunit *test, u64 since, u64 wait)
{
	struct hwtimer_instance *instance = test->priv;

	KUNIT_ASSERT_GE(test, instance->shrink.at, since + wait);
	KUNIT_ASSERT_LE(test, instance->shrink.at, ktime_get_ns() + wait);
}

/*
 * A program that schedules a timer whenever the steps have begun must not keep the worker busy for
 * ever, at two calls a second.
 */
static void interrupted_surveys_come_later_and_later(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 *ids = ids_alloc(test);
	u64 id, now, wait = NSEC_PER_SEC;
	unsigned int i;

	now = ktime_get_ns();
	schedule_all(test, ids);
	cancel_all(test, ids);
	for (i = 0; i < 20; i++) {
		expect_watch(test, now, wait);
		/* At once, or in the middle of the survey */
		while (!(i % 2 ? instance->shrink.surveyed :
				 instance->shrink.stepped))
			KUNIT_ASSERT_TRUE(test, step(instance));
		KUNIT_ASSERT_EQ(test, fake_schedule(instance, HOUR, &id), 0);
		KUNIT_ASSERT_EQ(test, fake_cancel(instance, id, 0), 0);
		now = ktime_get_ns();
		KUNIT_ASSERT_TRUE(test, step(instance));
		wait = min(2 * wait, 1024 * NSEC_PER_SEC);
	}
	if (!may_shrink(instance))
		return;
	shrink(instance);
	expect_small(test, instance);
	now = ktime_get_ns();
	schedule_all(test, ids);
	cancel_all(test, ids);
	expect_watch(test, now, NSEC_PER_SEC);
}

static void pending_timer_keeps_the_memory(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 *ids = ids_alloc(test);
	u32 i;

	schedule_all(test, ids);
	for (i = 1; i < MANY; i++)
		KUNIT_ASSERT_EQ(test, fake_cancel(instance, ids[i], 0), 0);
	KUNIT_EXPECT_EQ(test, instance->shrink.at, HWTIMER_TICK_NONE);
	KUNIT_EXPECT_TRUE(test, hwtimer_instance_extended(instance));
	KUNIT_ASSERT_EQ(test, fake_cancel(instance, ids[0], 0), 0);
	shrink(instance);
	expect_small(test, instance);
}

/* An instance that never had more than it begins with causes no wake-up. */
static void small_instance_is_left_alone(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id;

	if (!HWTIMER_START_SPARE_CHUNKS)
		kunit_skip(test, "an instance keeps no chunks");
	KUNIT_ASSERT_EQ(test, fake_schedule(instance, HOUR, &id), 0);
	KUNIT_ASSERT_EQ(test, fake_cancel(instance, id, 0), 0);
	KUNIT_EXPECT_EQ(test, instance->shrink.at, HWTIMER_TICK_NONE);
}

/* A stopped instance may have been left in the middle of a bucket. */
static void stopped_instance_gets_small(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;
	const u32 timers = 4 * HWTIMER_HOLD;
	u64 *ids = kunit_kcalloc(test, timers, sizeof(*ids), GFP_KERNEL);
	u32 i, left = timers;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	for (i = 0; i < timers; i++)
		KUNIT_ASSERT_EQ(test, fake_schedule(instance, HOUR, &ids[i]),
				0);
	fake_now += HOUR + NSEC_PER_SEC;
	while (!hwtimer_wheel_busy(&instance->wheel))
		hwtimer_turn(&instance->job.turns);
	hwtimer_instance_stop(instance);
	KUNIT_EXPECT_TRUE(test, hwtimer_wheel_busy(&instance->wheel));
	while (fake_read(instance, &event))
		left--;
	for (i = 0; i < timers; i++)
		left -= !fake_cancel(instance, ids[i], 0);
	KUNIT_EXPECT_EQ(test, left, 0);
	shrink(instance);
	expect_small(test, instance);
}

/* So may one whose clock was set back. */
static void instance_that_goes_back_gets_small(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 *ids = ids_alloc(test);
	u64 id;
	u32 i;

	fake_settable(instance);
	for (i = 0; i < MANY; i++)
		KUNIT_ASSERT_EQ(test, fake_schedule_at(instance, fake_now + i),
				0);
	fake_now -= HOUR;
	for (i = 0; i < MANY; i++) {
		id = (u64)1 << 32 | (i + 1);
		KUNIT_ASSERT_EQ(test, fake_cancel(instance, id, 0), 0);
	}
	shrink(instance);
	expect_small(test, instance);
	KUNIT_ASSERT_EQ(test, fake_schedule_at(instance, fake_now + HOUR), 0);
	fake_turn_until(instance, fake_now + HOUR - 1);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 0);
	fake_turn_until(instance, fake_now + NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 1);
	kunit_kfree(test, ids);
}

/* Close finds the memory of each step. */
static void closed_at_any_step(struct kunit *test)
{
	u64 *ids = ids_alloc(test);
	unsigned int at, steps;
	bool ended = false;

	for (at = 0; !ended; at += 1 + at / 4) {
		hwtimer_instance_destroy(test->priv);
		KUNIT_ASSERT_EQ(test, shrink_test_init(test), 0);
		schedule_all(test, ids);
		cancel_all(test, ids);
		for (steps = 0; steps < at && !ended; steps++)
			ended = !step(test->priv);
	}
	KUNIT_EXPECT_GT(test, at, 4);
}

/* Close frees what is left of a table of which some blocks are freed. */
static void closed_while_its_table_is_being_freed(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	const struct hwtimer_table *outgrown = &instance->shrink.outgrown;
	const u32 timers = (HWTIMER_SHRINK_BLOCKS + 1) * HWTIMER_SLOT_RECORDS;
	u64 *ids = kunit_kcalloc(test, timers, sizeof(*ids), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	for (i = 0; i < timers; i++)
		KUNIT_ASSERT_EQ(test, fake_schedule(instance, HOUR, &ids[i]),
				0);
	for (i = 0; i < timers; i++)
		KUNIT_ASSERT_EQ(test, fake_cancel(instance, ids[i], 0), 0);
	while (!outgrown->lowest)
		KUNIT_ASSERT_TRUE(test, step(instance));
	KUNIT_EXPECT_LT(test, outgrown->lowest, outgrown->nr_slots);
	/* Until all of it is freed, the instance is charged for all of it. */
	fake_check_books(test, instance);
	KUNIT_EXPECT_GT(test, instance->stats.bytes,
			timers * sizeof(struct hwtimer_record));
	hwtimer_instance_destroy(instance);
	KUNIT_ASSERT_EQ(test, shrink_test_init(test), 0);
}

/* ---- the table ---- */

static void table_grow(struct kunit *test, struct hwtimer_table *table)
{
	struct hwtimer_block block;

	KUNIT_ASSERT_EQ(test,
			hwtimer_table_alloc_block(hwtimer_table_growth(table),
						  table->floor, &block),
			0);
	if (hwtimer_table_small(table))
		KUNIT_ASSERT_EQ(test, hwtimer_table_init(&block.arrays, LIMIT),
				0);
	KUNIT_ASSERT_TRUE(test, hwtimer_table_add_block(table, &block));
	hwtimer_table_free_block(&block);
}

static void table_new(struct kunit *test, struct hwtimer_table *table)
{
	*table = (struct hwtimer_table){};
	KUNIT_ASSERT_EQ(test, hwtimer_table_init_start(table, LIMIT), 0);
	table_grow(test, table);
}

/* Surveys @table and has it return. */
static bool table_return(struct kunit *test, struct hwtimer_table *table)
{
	struct hwtimer_table outgrown = {};
	u32 surveyed = 0, floor = 0;
	bool ret;

	while (surveyed < hwtimer_table_end(table)) {
		u32 before = surveyed;

		floor = hwtimer_table_survey(table, &surveyed, floor);
		KUNIT_ASSERT_LE(test, surveyed - before, HWTIMER_HOLD);
	}
	ret = hwtimer_table_return(table, floor, &outgrown);
	KUNIT_EXPECT_EQ(test, ret, hwtimer_table_small(table));
	while (hwtimer_table_end(&outgrown))
		hwtimer_table_free_some(&outgrown, 1);
	return ret;
}

/* Uses record @index @times times. */
static void table_use(struct hwtimer_table *table, u32 index, u32 times)
{
	hwtimer_table_record(table, index)->generation += times;
}

/* Takes all records into use, and looks at their ids. @least: the lowest generation */
static void table_take_all(struct kunit *test, struct hwtimer_table *table,
			   u32 first, u32 least)
{
	const struct hwtimer_record *record;
	u32 index;

	while (hwtimer_table_spare(table)) {
		index = hwtimer_table_get(table);
		record = hwtimer_table_record(table, index);
		if (index >= first)
			KUNIT_ASSERT_GE(test, record->generation, least);
	}
}

/* The highest generation of those that go is where new records begin, wherever it is. */
static void new_records_begin_above_all_that_went(struct kunit *test)
{
	const u32 places[] = { HWTIMER_START_RECORDS, HWTIMER_SLOT_RECORDS / 2,
			       HWTIMER_SLOT_RECORDS - 1 };
	struct hwtimer_table table;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		table_new(test, &table);
		table_use(&table, places[i], 7);
		KUNIT_ASSERT_TRUE(test, table_return(test, &table));
		table_grow(test, &table);
		table_take_all(test, &table, HWTIMER_START_RECORDS, 8);
		hwtimer_table_destroy(&table);
	}
}

/* Records that stay keep their own generations, and are no reason for others to begin high. */
static void records_that_stay_keep_their_generations(struct kunit *test)
{
	const u32 most = HWTIMER_GENERATION_MAX - 1;
	struct hwtimer_table table;
	u32 i;

	table_new(test, &table);
	for (i = 1; i < HWTIMER_START_RECORDS; i++)
		table_use(&table, i, most - i);
	KUNIT_ASSERT_TRUE(test, table_return(test, &table));
	KUNIT_EXPECT_EQ(test, table.floor, 0);
	KUNIT_EXPECT_EQ(test, hwtimer_table_spare(&table),
			HWTIMER_START_RECORDS - 1);
	for (i = 1; i < HWTIMER_START_RECORDS; i++)
		KUNIT_EXPECT_EQ(test,
				hwtimer_table_record(&table, i)->generation,
				most - i);
	hwtimer_table_destroy(&table);
}

static void spent_records_stay_spent(struct kunit *test)
{
	struct hwtimer_table table;

	table_new(test, &table);
	while (hwtimer_table_get(&table) != 2)
		;
	table_use(&table, 2, HWTIMER_GENERATION_MAX - 1);
	hwtimer_table_release(&table, HWTIMER_GENERATION_MAX, 2);
	hwtimer_table_offer(&table, 1);
	table.used = 0;
	KUNIT_ASSERT_TRUE(test, table_return(test, &table));
	KUNIT_EXPECT_EQ(test, table.retired, 2);
	KUNIT_EXPECT_EQ(test, hwtimer_table_spare(&table),
			HWTIMER_START_RECORDS - 2);
	while (hwtimer_table_spare(&table))
		KUNIT_ASSERT_NE(test, hwtimer_table_get(&table), 2);
	hwtimer_table_destroy(&table);
}

/* With half of the generations spent, the table stays as it is. */
static void half_of_the_generations_are_left(struct kunit *test)
{
	const u32 half = HWTIMER_GENERATION_MAX / 2;
	struct hwtimer_table table;

	table_new(test, &table);
	table_use(&table, HWTIMER_SLOT_RECORDS - 1, half);
	KUNIT_ASSERT_TRUE(test, table_return(test, &table));
	KUNIT_EXPECT_EQ(test, table.floor, half);
	table_grow(test, &table);
	table_use(&table, HWTIMER_SLOT_RECORDS - 1, 1);
	KUNIT_EXPECT_FALSE(test, table_return(test, &table));
	KUNIT_EXPECT_EQ(test, hwtimer_table_spare(&table),
			hwtimer_table_end(&table) - 1);
	hwtimer_table_destroy(&table);
}

/* A block that was allocated before the table returned does not know where to begin. */
static void block_from_before_is_refused(struct kunit *test)
{
	struct hwtimer_table table;
	struct hwtimer_block block;

	table_new(test, &table);
	KUNIT_ASSERT_EQ(test, hwtimer_table_alloc_block(1, table.floor, &block),
			0);
	KUNIT_ASSERT_EQ(test, hwtimer_table_init(&block.arrays, LIMIT), 0);
	table_use(&table, HWTIMER_START_RECORDS, 1);
	KUNIT_ASSERT_TRUE(test, table_return(test, &table));
	KUNIT_EXPECT_FALSE(test, hwtimer_table_add_block(&table, &block));
	KUNIT_EXPECT_TRUE(test, hwtimer_table_small(&table));
	hwtimer_table_free_block(&block);
	hwtimer_table_destroy(&table);
}

static struct kunit_case shrink_test_cases[] = {
	KUNIT_CASE(idle_instance_gets_small),
	KUNIT_CASE(timers_may_come_at_any_step),
	KUNIT_CASE(instance_that_was_busy_is_watched_anew),
	KUNIT_CASE(interrupted_surveys_come_later_and_later),
	KUNIT_CASE(pending_timer_keeps_the_memory),
	KUNIT_CASE(small_instance_is_left_alone),
	KUNIT_CASE(stopped_instance_gets_small),
	KUNIT_CASE(instance_that_goes_back_gets_small),
	KUNIT_CASE(closed_at_any_step),
	KUNIT_CASE(closed_while_its_table_is_being_freed),
	KUNIT_CASE(new_records_begin_above_all_that_went),
	KUNIT_CASE(records_that_stay_keep_their_generations),
	KUNIT_CASE(spent_records_stay_spent),
	KUNIT_CASE(half_of_the_generations_are_left),
	KUNIT_CASE(block_from_before_is_refused),
	{}
};

static struct kunit_suite shrink_test_suite = {
	.name = "hwtimer_shrink",
	.init = shrink_test_init,
	.exit = fake_test_exit,
	.test_cases = shrink_test_cases,
};

kunit_test_suite(shrink_test_suite);
