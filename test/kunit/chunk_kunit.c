// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of wheel/chunk.c: the pool and the two kinds of queue.
 */
#include <kunit/test.h>

#include "random.h"
#include "wheel/chunk.h"

#define ENTRIES 200

static int chunk_test_init(struct kunit *test)
{
	struct hwtimer_pool *pool =
		kunit_kzalloc(test, sizeof(*pool), GFP_KERNEL);

	if (!pool || hwtimer_pool_fill(pool, ENTRIES))
		return -ENOMEM;
	test->priv = pool;
	return 0;
}

static void chunk_test_exit(struct kunit *test)
{
	if (test->priv)
		hwtimer_pool_drain(test->priv);
}

/* Appends entries with the indices @begin to @end - 1. */
static void add_entries(struct hwtimer_queue *queue, struct hwtimer_pool *pool,
			u32 begin, u32 end)
{
	struct hwtimer_entry entry = { .index = begin };

	for (; entry.index < end; entry.index++)
		hwtimer_queue_add_entry(queue, pool, entry);
}

/* Takes the first entry, as a walk does. */
static void take_entry(struct hwtimer_queue *queue, struct hwtimer_pool *pool)
{
	if (++queue->first == hwtimer_queue_end(queue, queue->head))
		hwtimer_queue_drop_head(queue, pool);
}

/* Takes all entries one by one, and expects the indices @begin to @end - 1. */
static void expect_entries(struct kunit *test, struct hwtimer_queue *queue,
			   u32 begin, u32 end)
{
	for (; begin < end; begin++) {
		KUNIT_ASSERT_FALSE(test, hwtimer_queue_empty(queue));
		KUNIT_ASSERT_EQ(test, queue->head->entries[queue->first].index,
				begin);
		take_entry(queue, test->priv);
	}
	KUNIT_EXPECT_TRUE(test, hwtimer_queue_empty(queue));
}

static void pool_counts_its_chunks(struct kunit *test)
{
	struct hwtimer_pool *pool = test->priv;
	struct hwtimer_chunk *chunk = hwtimer_pool_take(pool);

	KUNIT_EXPECT_EQ(test, pool->spares, ENTRIES - 1);
	KUNIT_EXPECT_EQ(test, pool->chunks, ENTRIES);
	hwtimer_pool_give(pool, chunk);
	KUNIT_EXPECT_EQ(test, pool->spares, ENTRIES);
	KUNIT_EXPECT_PTR_EQ(test, hwtimer_pool_take(pool), chunk);
	hwtimer_pool_give(pool, chunk);
}

static void pool_merges_all_of_another(struct kunit *test)
{
	struct hwtimer_pool *pool = test->priv;
	struct hwtimer_pool more = {};

	KUNIT_ASSERT_EQ(test, hwtimer_pool_fill(&more, 70), 0);
	hwtimer_pool_merge(pool, &more);
	KUNIT_EXPECT_EQ(test, pool->spares, ENTRIES + 70);
	KUNIT_EXPECT_EQ(test, pool->chunks, ENTRIES + 70);
	KUNIT_EXPECT_EQ(test, more.chunks, 0);

	/* Merge into an empty pool, and then merge an empty pool into that one. */
	hwtimer_pool_merge(&more, pool);
	hwtimer_pool_merge(&more, pool);
	KUNIT_EXPECT_EQ(test, more.spares, ENTRIES + 70);
	hwtimer_pool_drain(&more);
	KUNIT_EXPECT_EQ(test, more.chunks, 0);
}

static void pool_gives_up_what_is_trimmed(struct kunit *test)
{
	struct hwtimer_pool *pool = test->priv;
	struct hwtimer_pool surplus = {};

	hwtimer_pool_trim(pool, 0, &surplus);
	KUNIT_EXPECT_EQ(test, pool->spares, ENTRIES);
	hwtimer_pool_trim(pool, 20, &surplus);
	KUNIT_EXPECT_EQ(test, pool->spares, ENTRIES - 20);
	hwtimer_pool_trim(pool, 30, &surplus);
	KUNIT_EXPECT_EQ(test, pool->spares, ENTRIES - 50);
	KUNIT_EXPECT_EQ(test, pool->chunks, ENTRIES - 50);
	KUNIT_EXPECT_EQ(test, surplus.spares, 50);
	hwtimer_pool_drain(&surplus);
}

/*
 * Tests hwtimer_pool_alloc(), which hwtimer_pool_take() calls for an empty pool.
 * hwtimer_pool_take() itself would also warn, and the warning would end the test.
 */
static void empty_pool_has_chunks_made(struct kunit *test)
{
	struct hwtimer_chunk *chunks[3];
	struct hwtimer_pool pool = {};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(chunks); i++) {
		chunks[i] = hwtimer_pool_alloc(&pool);
		KUNIT_ASSERT_NOT_NULL(test, chunks[i]);
		KUNIT_EXPECT_NULL(test, chunks[i]->next);
		KUNIT_EXPECT_EQ(test, chunks[i]->first, 0);
		KUNIT_EXPECT_EQ(test, chunks[i]->used, 0);
		KUNIT_EXPECT_EQ(test, chunks[i]->dead, 0);
		KUNIT_EXPECT_EQ(test, pool.chunks, i + 1);
		KUNIT_EXPECT_EQ(test, pool.spares, 0);
	}
	while (i--)
		hwtimer_pool_give(&pool, chunks[i]);
	KUNIT_EXPECT_EQ(test, pool.spares, ARRAY_SIZE(chunks));
	KUNIT_EXPECT_PTR_EQ(test, hwtimer_pool_take(&pool), chunks[0]);
	hwtimer_pool_give(&pool, chunks[0]);
	hwtimer_pool_drain(&pool);
	KUNIT_EXPECT_EQ(test, pool.chunks, 0);
}

static void queue_is_first_in_first_out(struct kunit *test)
{
	struct hwtimer_queue queue = {};
	u32 length;

	for (length = 0; length <= 2 * HWTIMER_CHUNK_ENTRIES + 1; length++) {
		add_entries(&queue, test->priv, 0, length);
		expect_entries(test, &queue, 0, length);
	}
}

static void splice_keeps_the_order(struct kunit *test)
{
	static const u32 lengths[] = { 0, 1, 29, 30, 31, 61 };
	struct hwtimer_pool *pool = test->priv;
	unsigned int i, j, taken;

	/* Try all pairs of lengths, after some entries were taken from both queues. */
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		for (j = 0; j < ARRAY_SIZE(lengths); j++) {
			for (taken = 0; taken <= min(lengths[i], lengths[j]);
			     taken += 7) {
				struct hwtimer_queue queue = {}, more = {};
				u32 end = lengths[i] + lengths[j] - taken;
				u32 t;

				add_entries(&queue, pool, 0, lengths[i]);
				add_entries(&more, pool, lengths[i] - taken,
					    end);
				for (t = 0; t < taken; t++) {
					take_entry(&queue, pool);
					take_entry(&more, pool);
				}
				hwtimer_queue_splice(&queue, &more);
				KUNIT_EXPECT_TRUE(test,
						  hwtimer_queue_empty(&more));
				add_entries(&queue, pool, end, end + 40);
				expect_entries(test, &queue, taken, end + 40);
			}
		}
	}
	KUNIT_EXPECT_EQ(test, pool->spares, ENTRIES);
}

static void drain_frees_a_whole_queue(struct kunit *test)
{
	struct hwtimer_pool *pool = test->priv;
	struct hwtimer_queue queue = {};

	add_entries(&queue, pool, 0, 100);
	pool->chunks -= ENTRIES - pool->spares;
	hwtimer_queue_drain(&queue);
	KUNIT_EXPECT_TRUE(test, hwtimer_queue_empty(&queue));
}

static struct kunit_case chunk_test_cases[] = {
	KUNIT_CASE(pool_counts_its_chunks),
	KUNIT_CASE(pool_merges_all_of_another),
	KUNIT_CASE(pool_gives_up_what_is_trimmed),
	KUNIT_CASE(empty_pool_has_chunks_made),
	KUNIT_CASE(queue_is_first_in_first_out),
	KUNIT_CASE(splice_keeps_the_order),
	KUNIT_CASE(drain_frees_a_whole_queue),
	{}
};

static struct kunit_suite chunk_test_suite = {
	.name = "hwtimer_chunk",
	.init = chunk_test_init,
	.exit = chunk_test_exit,
	.test_cases = chunk_test_cases,
};

kunit_test_suite(chunk_test_suite);
