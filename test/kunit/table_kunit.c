// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of wheel/table.c: records, ids and generations.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/vmalloc.h>

#include "random.h"
#include "wheel/table.h"

#define LIMIT 5000
#define OPERATIONS 50000

static int table_test_init(struct kunit *test)
{
	struct hwtimer_table *table =
		kunit_kzalloc(test, sizeof(*table), GFP_KERNEL);

	if (!table || hwtimer_table_init(table, LIMIT))
		return -ENOMEM;
	test->priv = table;
	return 0;
}

static void table_test_exit(struct kunit *test)
{
	if (test->priv)
		hwtimer_table_destroy(test->priv);
}

static void grow(struct kunit *test, struct hwtimer_table *table)
{
	struct hwtimer_block block;

	KUNIT_ASSERT_EQ(test,
			hwtimer_table_alloc_block(hwtimer_table_growth(table),
						  table->floor, &block),
			0);
	KUNIT_ASSERT_TRUE(test, hwtimer_table_add_block(table, &block));
	KUNIT_ASSERT_NULL(test, block.slots);
	KUNIT_ASSERT_NULL(test, block.map);
}

/* Takes a record into use; the table grows if needed. */
static u32 get(struct kunit *test, struct hwtimer_table *table)
{
	u32 index;

	if (!hwtimer_table_spare(table))
		grow(test, table);
	index = hwtimer_table_get(table);
	hwtimer_record_become(hwtimer_table_record(table, index),
			      HWTIMER_PENDING);
	return index;
}

static u64 id_of(struct hwtimer_table *table, u32 index)
{
	return hwtimer_table_id(hwtimer_table_record(table, index), index);
}

static void grows_to_its_limit(struct kunit *test)
{
	struct hwtimer_table *table = test->priv;
	u32 i;

	for (i = 0; i < LIMIT; i++)
		get(test, table);
	while (hwtimer_table_growth(table))
		grow(test, table);
	KUNIT_EXPECT_EQ(test, table->nr_slots, table->max_slots);
	KUNIT_EXPECT_EQ(test, hwtimer_table_spare(table) + LIMIT,
			table->max_slots * HWTIMER_SLOT_RECORDS - 1);
}

static void refuses_a_block_beyond_its_limit(struct kunit *test)
{
	struct hwtimer_table *table = test->priv;
	struct hwtimer_block block;

	while (hwtimer_table_growth(table))
		grow(test, table);
	KUNIT_ASSERT_EQ(test, hwtimer_table_alloc_block(1, 0, &block), 0);
	KUNIT_EXPECT_FALSE(test, hwtimer_table_add_block(table, &block));
	KUNIT_EXPECT_NOT_NULL(test, block.slots);
	KUNIT_EXPECT_NOT_NULL(test, block.map);
	hwtimer_table_free_block(&block);
	KUNIT_EXPECT_NULL(test, block.slots);
	KUNIT_EXPECT_NULL(test, block.map);
}

/* A table allocates the memory of its slots and no more, however large a page is. */
static void units_of_slots_are_whole_pages_of_any_size(struct kunit *test)
{
	static const size_t page_sizes[] = { SZ_4K,  SZ_8K,  SZ_16K,
					     SZ_32K, SZ_64K, SZ_256K };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(page_sizes); i++) {
		size_t page_size = page_sizes[i];
		u32 unit = hwtimer_slot_unit(page_size);
		size_t bytes = unit * sizeof(struct hwtimer_slot);

		KUNIT_EXPECT_EQ(test, bytes % page_size, 0);
		/* A unit has no more slots than it needs for whole pages. */
		KUNIT_EXPECT_TRUE(test, unit == 1 || bytes == page_size);
	}
}

static void account_is_what_was_allocated(struct kunit *test)
{
	struct hwtimer_table *table = test->priv;
	u64 before = hwtimer_table_bytes(table), bytes = 0;
	u32 i = 0;

	while (hwtimer_table_growth(table))
		grow(test, table);
	while (i < table->nr_slots) {
		struct page *page;
		size_t block;

		/*
		 * The slots are mapped only if memory is scattered. The test then
		 * fails, because it cannot count them.
		 */
		KUNIT_ASSERT_FALSE(test, is_vmalloc_addr(table->slots[i]));
		page = virt_to_head_page(table->slots[i]);
		block = PAGE_SIZE << compound_order(page);
		KUNIT_ASSERT_EQ(test, block % sizeof(struct hwtimer_slot), 0);
		bytes += block;
		i += block / sizeof(struct hwtimer_slot);
	}
	KUNIT_EXPECT_EQ(test, i, table->nr_slots);
	for (i = 0; i * HWTIMER_MAP_SLOTS < table->nr_slots; i++)
		bytes += PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, hwtimer_table_bytes(table) - before, bytes);
}

/*
 * Where memory is scattered, the slots of a table are mapped from single pages. The exit
 * function of the test frees them.
 */
static void slots_may_be_mapped_from_single_pages(struct kunit *test)
{
	struct hwtimer_table *table = test->priv;
	const size_t bytes = HWTIMER_SLOT_UNIT * sizeof(struct hwtimer_slot);
	u32 round, index;
	u64 id;

	for (round = 0; round < 2; round++) {
		struct hwtimer_block block = {
			.slots = __vmalloc(bytes, GFP_KERNEL | __GFP_ZERO),
			.map = (void *)get_zeroed_page(GFP_KERNEL),
			.nr_slots = HWTIMER_SLOT_UNIT,
		};

		KUNIT_ASSERT_NOT_NULL(test, block.slots);
		KUNIT_ASSERT_NOT_NULL(test, block.map);
		KUNIT_ASSERT_TRUE(test, hwtimer_table_add_block(table, &block));
		grow(test, table);
	}
	KUNIT_EXPECT_EQ(test, table->nr_slots, 4 * HWTIMER_SLOT_UNIT);
	while (hwtimer_table_spare(table)) {
		index = get(test, table);
		id = id_of(table, index);
		KUNIT_ASSERT_PTR_EQ(test, hwtimer_table_find(table, id),
				    hwtimer_table_record(table, index));
	}
	KUNIT_EXPECT_EQ(test, table->used + 1,
			table->nr_slots * HWTIMER_SLOT_RECORDS);
}

static void lowest_free_record_comes_first(struct kunit *test)
{
	struct hwtimer_table *table = test->priv;
	u32 index[100], i;

	for (i = 0; i < 100; i++)
		index[i] = get(test, table);
	hwtimer_table_put(table, index[70]);
	hwtimer_table_put(table, index[3]);
	hwtimer_table_put(table, index[41]);
	KUNIT_EXPECT_EQ(test, get(test, table), index[3]);
	KUNIT_EXPECT_EQ(test, get(test, table), index[41]);
	KUNIT_EXPECT_EQ(test, get(test, table), index[70]);
	KUNIT_EXPECT_GT(test, get(test, table), index[99]);
}

/*
 * The lowest free record may be one of those that the table has in its window, outside its map,
 * or one that the table has put back into the map.
 */
static void lowest_free_record_comes_first_wherever_it_is(struct kunit *test)
{
	struct hwtimer_table *table = test->priv;
	u32 index[300], i;

	for (i = 0; i < 300; i++)
		index[i] = get(test, table);
	hwtimer_table_put(table, index[290]);
	hwtimer_table_put(table, index[150]);
	hwtimer_table_put(table, index[140]);
	KUNIT_EXPECT_EQ(test, get(test, table), index[140]);
	hwtimer_table_put(table, index[10]);
	hwtimer_table_put(table, index[141]);
	KUNIT_EXPECT_EQ(test, get(test, table), index[10]);
	KUNIT_EXPECT_EQ(test, get(test, table), index[141]);
	KUNIT_EXPECT_EQ(test, get(test, table), index[150]);
	KUNIT_EXPECT_EQ(test, get(test, table), index[290]);
}

static void empty_table_tells_so(struct kunit *test)
{
	struct hwtimer_table *table = test->priv;
	u32 index = HWTIMER_NO_RECORD;

	KUNIT_EXPECT_EQ(test, hwtimer_table_get(table), HWTIMER_NO_RECORD);
	grow(test, table);
	while (hwtimer_table_spare(table))
		index = get(test, table);
	KUNIT_EXPECT_EQ(test, hwtimer_table_get(table), HWTIMER_NO_RECORD);
	KUNIT_EXPECT_EQ(test, table->used,
			HWTIMER_SLOT_UNIT * HWTIMER_SLOT_RECORDS - 1);
	hwtimer_table_put(table, index);
	KUNIT_EXPECT_EQ(test, hwtimer_table_get(table), index);
	KUNIT_EXPECT_EQ(test, hwtimer_table_get(table), HWTIMER_NO_RECORD);
}

static void stale_id_finds_nothing(struct kunit *test)
{
	struct hwtimer_table *table = test->priv;
	u32 index = get(test, table);
	u64 id = id_of(table, index);

	KUNIT_EXPECT_PTR_EQ(test, hwtimer_table_find(table, id),
			    hwtimer_table_record(table, index));
	hwtimer_table_put(table, index);
	KUNIT_EXPECT_NULL(test, hwtimer_table_find(table, id));
	KUNIT_EXPECT_EQ(test, get(test, table), index);
	KUNIT_EXPECT_NULL(test, hwtimer_table_find(table, id));
}

static void forged_id_finds_nothing(struct kunit *test)
{
	struct hwtimer_table *table = test->priv;
	u64 id;

	KUNIT_EXPECT_NULL(test, hwtimer_table_find(table, 0));
	id = id_of(table, get(test, table));
	KUNIT_EXPECT_NE(test, id, 0);
	KUNIT_EXPECT_NULL(test, hwtimer_table_find(table, id + (1ULL << 32)));
	KUNIT_EXPECT_NULL(test, hwtimer_table_find(table, id + 1));
	KUNIT_EXPECT_NULL(test, hwtimer_table_find(table, U64_MAX));
}

/* Each record has its own bit, whichever page of maps the bit is in. */
static void all_records_are_used_but_none(struct kunit *test)
{
	struct hwtimer_table *table = test->priv;
	u32 i, all;

	hwtimer_table_destroy(table);
	KUNIT_ASSERT_EQ(test,
			hwtimer_table_init(table, 2 * HWTIMER_MAP_SLOTS *
							  HWTIMER_SLOT_RECORDS),
			0);
	while (hwtimer_table_growth(table))
		grow(test, table);
	all = hwtimer_table_end(table);
	KUNIT_ASSERT_GT(test, all,
			2 * HWTIMER_MAP_SLOTS * HWTIMER_SLOT_RECORDS);
	for (i = 1; i < all; i++)
		KUNIT_ASSERT_EQ(test, get(test, table), i);
	KUNIT_EXPECT_EQ(test, hwtimer_table_get(table), HWTIMER_NO_RECORD);
	KUNIT_EXPECT_NULL(test, hwtimer_table_find(table, HWTIMER_NO_RECORD));
	for (i = all - 1; i; i--)
		hwtimer_table_put(table, i);
	for (i = 1; i < all; i++)
		KUNIT_ASSERT_EQ(test, get(test, table), i);
}

static void spent_generation_is_never_used_again(struct kunit *test)
{
	struct hwtimer_table *table = test->priv;
	u32 index = get(test, table);
	u64 id;

	hwtimer_table_put(table, index);
	hwtimer_table_record(table, index)->generation =
		HWTIMER_GENERATION_MAX - 1;
	KUNIT_ASSERT_EQ(test, get(test, table), index);
	id = id_of(table, index);
	KUNIT_EXPECT_EQ(test, upper_32_bits(id), HWTIMER_GENERATION_MAX);
	hwtimer_table_put(table, index);
	/* This record, and HWTIMER_NO_RECORD. */
	KUNIT_EXPECT_EQ(test, table->retired, 2);
	KUNIT_EXPECT_NE(test, get(test, table), index);
	KUNIT_EXPECT_NULL(test, hwtimer_table_find(table, id));
}

static void next_steps_through_all_in_use(struct kunit *test)
{
	struct hwtimer_table *table = test->priv;
	u64 cursor = 0, steps = 0;
	u32 i, seen = 0;

	for (i = 0; i < 3000; i++) {
		u32 index = get(test, table);

		if (i % 3)
			hwtimer_table_put(table, index);
	}
	while (cursor < hwtimer_table_end(table)) {
		u64 before = cursor;

		if (hwtimer_table_next(table, &cursor, 100)) {
			seen++;
			cursor++;
		}
		KUNIT_ASSERT_LE(test, cursor - before, 100);
		KUNIT_ASSERT_LT(test, steps++, 10000);
	}
	KUNIT_EXPECT_EQ(test, seen, table->used);
}

/* Compares with an array of ids: no record is handed out twice, each id finds its own. */
static void random_operations_match_the_oracle(struct kunit *test)
{
	struct hwtimer_table *table = test->priv;
	u64 *ids = kunit_kcalloc(test, LIMIT, sizeof(*ids), GFP_KERNEL);
	struct rnd_state state;
	u32 used = 0, i;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	hwtimer_test_seed(test, &state);
	for (i = 0; i < hwtimer_test_scaled(OPERATIONS); i++) {
		/* The table fills for 5,000 operations, then empties for 5,000. */
		bool more = random_below(&state, 100) <
			    (i / 5000 % 2 ? 30 : 70);
		u32 victim;
		u64 id;

		if (used < LIMIT && (more || !used)) {
			u32 index = get(test, table);

			hwtimer_table_record(table, index)->user_data = used;
			ids[used++] = id_of(table, index);
		} else {
			victim = random_below(&state, used--);
			id = ids[victim];
			hwtimer_table_put(table, lower_32_bits(id));
			KUNIT_ASSERT_NULL(test, hwtimer_table_find(table, id));
			ids[victim] = ids[used];
			if (victim < used)
				hwtimer_table_find(table, ids[victim])
					->user_data = victim;
		}
		KUNIT_ASSERT_EQ(test, table->used, used);
	}
	for (i = 0; i < used; i++) {
		struct hwtimer_record *record =
			hwtimer_table_find(table, ids[i]);

		KUNIT_ASSERT_NOT_NULL(test, record);
		KUNIT_ASSERT_EQ(test, record->user_data, i);
	}
}

/* No search for a free record looks at a slot that has none: there may be very many. */
static void full_slots_are_not_vacant(struct kunit *test)
{
	struct hwtimer_table *table = test->priv;
	u32 nr, last;

	while (hwtimer_table_growth(table))
		grow(test, table);
	while (hwtimer_table_spare(table))
		get(test, table);
	for (nr = table->nr_slots; nr--;) {
		last = nr * HWTIMER_SLOT_RECORDS + HWTIMER_SLOT_RECORDS - 1;
		hwtimer_table_put(table, last);
		KUNIT_ASSERT_EQ(test, get(test, table), last);
		KUNIT_EXPECT_FALSE(test, test_bit(nr, table->vacant));
	}
	/* A slot is vacant as long as it has another free record. */
	last = 2 * HWTIMER_SLOT_RECORDS - 1;
	hwtimer_table_put(table, HWTIMER_SLOT_RECORDS);
	hwtimer_table_put(table, last);
	KUNIT_ASSERT_EQ(test, get(test, table), HWTIMER_SLOT_RECORDS);
	KUNIT_EXPECT_TRUE(test, test_bit(1, table->vacant));
	KUNIT_ASSERT_EQ(test, get(test, table), last);
	KUNIT_EXPECT_FALSE(test, test_bit(1, table->vacant));
}

/* Makes @table, which is empty, one with which an instance starts. */
static void start(struct kunit *test, struct hwtimer_table *table)
{
	hwtimer_table_destroy(table);
	KUNIT_ASSERT_EQ(test, hwtimer_table_init_start(table, LIMIT), 0);
}

/* Adds the first block to a table that start() has made. */
static void leave_start(struct kunit *test, struct hwtimer_table *table)
{
	struct hwtimer_block block;

	KUNIT_ASSERT_EQ(test,
			hwtimer_table_alloc_block(hwtimer_table_growth(table),
						  table->floor, &block),
			0);
	KUNIT_ASSERT_EQ(test, hwtimer_table_init(&block.arrays, LIMIT), 0);
	KUNIT_ASSERT_TRUE(test, hwtimer_table_add_block(table, &block));
	KUNIT_EXPECT_FALSE(test, hwtimer_table_small(table));
	KUNIT_EXPECT_NULL(test, block.arrays.slots);
	hwtimer_table_free_block(&block);
}

static void start_has_few_records(struct kunit *test)
{
	struct hwtimer_table *table = test->priv;
	u64 id;
	u32 i;

	start(test, table);
	KUNIT_EXPECT_EQ(test, hwtimer_table_spare(table),
			HWTIMER_START_RECORDS - 1);
	KUNIT_EXPECT_LE(test, hwtimer_table_bytes(table), 2048);
	for (i = 1; i < HWTIMER_START_RECORDS; i++)
		KUNIT_ASSERT_EQ(test, get(test, table), i);
	KUNIT_EXPECT_EQ(test, hwtimer_table_spare(table), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_table_get(table), HWTIMER_NO_RECORD);
	/* Ids of records that a slot would have */
	for (i = HWTIMER_START_RECORDS; i < HWTIMER_SLOT_RECORDS; i++) {
		KUNIT_ASSERT_NULL(test, hwtimer_table_find(table, i));
		id = 7ULL << 32 | i;
		KUNIT_ASSERT_PTR_EQ(test, hwtimer_table_fetch(table, &id),
				    hwtimer_table_record(table,
							 HWTIMER_NO_RECORD));
		KUNIT_ASSERT_EQ(test, id, 7ULL << 32 | HWTIMER_NO_RECORD);
	}
}

/* @used records are in use, and some of them free again, when the table grows. */
static void move_records(struct kunit *test, struct hwtimer_table *table,
			 u32 used)
{
	u64 ids[HWTIMER_START_RECORDS] = {};
	u32 i, spare, next;

	start(test, table);
	for (i = 1; i <= used; i++) {
		get(test, table);
		ids[i] = id_of(table, i);
		hwtimer_table_find(table, ids[i])->user_data = 1000 + i;
	}
	for (i = 3; i <= used; i += 4)
		hwtimer_table_put(table, i);
	spare = hwtimer_table_spare(table);
	leave_start(test, table);

	KUNIT_EXPECT_EQ(test, hwtimer_table_spare(table),
			spare + table->nr_slots * HWTIMER_SLOT_RECORDS -
				HWTIMER_START_RECORDS);
	for (i = 1; i <= used; i++) {
		struct hwtimer_record *record =
			hwtimer_table_find(table, ids[i]);

		if (i % 4 == 3) {
			KUNIT_ASSERT_NULL(test, record);
			continue;
		}
		KUNIT_ASSERT_NOT_NULL(test, record);
		KUNIT_EXPECT_EQ(test, record->user_data, 1000 + i);
	}
	/* Free records come in order: those that were freed, unused ones, new ones. */
	for (i = 3; i <= used; i += 4) {
		KUNIT_EXPECT_EQ(test, get(test, table), i);
		KUNIT_EXPECT_EQ(test, id_of(table, i), ids[i] + BIT_ULL(32));
	}
	for (next = used + 1; next < HWTIMER_SLOT_RECORDS; next++)
		KUNIT_ASSERT_EQ(test, get(test, table), next);
	KUNIT_EXPECT_EQ(test, hwtimer_table_spare(table),
			(table->nr_slots - 1) * HWTIMER_SLOT_RECORDS);
}

static void records_move_with_the_first_block(struct kunit *test)
{
	u32 used;

	for (used = 0; used < HWTIMER_START_RECORDS; used++)
		move_records(test, test->priv, used);
}

static void spent_record_stays_spent_when_the_table_grows(struct kunit *test)
{
	struct hwtimer_table *table = test->priv;
	u32 index;

	start(test, table);
	index = get(test, table);
	hwtimer_table_record(table, index)->generation = HWTIMER_GENERATION_MAX;
	hwtimer_table_put(table, index);
	leave_start(test, table);
	KUNIT_EXPECT_EQ(test, table->retired, 2);
	while (hwtimer_table_spare(table))
		KUNIT_ASSERT_NE(test, get(test, table), index);
}

static struct kunit_case table_test_cases[] = {
	KUNIT_CASE(grows_to_its_limit),
	KUNIT_CASE(refuses_a_block_beyond_its_limit),
	KUNIT_CASE(units_of_slots_are_whole_pages_of_any_size),
	KUNIT_CASE(account_is_what_was_allocated),
	KUNIT_CASE(slots_may_be_mapped_from_single_pages),
	KUNIT_CASE(lowest_free_record_comes_first),
	KUNIT_CASE(lowest_free_record_comes_first_wherever_it_is),
	KUNIT_CASE(empty_table_tells_so),
	KUNIT_CASE(stale_id_finds_nothing),
	KUNIT_CASE(forged_id_finds_nothing),
	KUNIT_CASE(all_records_are_used_but_none),
	KUNIT_CASE(spent_generation_is_never_used_again),
	KUNIT_CASE(start_has_few_records),
	KUNIT_CASE(records_move_with_the_first_block),
	KUNIT_CASE(spent_record_stays_spent_when_the_table_grows),
	KUNIT_CASE(next_steps_through_all_in_use),
	KUNIT_CASE(full_slots_are_not_vacant),
	KUNIT_CASE(random_operations_match_the_oracle),
	{}
};

static struct kunit_suite table_test_suite = {
	.name = "hwtimer_table",
	.init = table_test_init,
	.exit = table_test_exit,
	.test_cases = table_test_cases,
};

kunit_test_suite(table_test_suite);
