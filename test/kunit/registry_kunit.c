// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of show/registry.c: a reader meets each instance that stays, in the order of
 * their numbers; and close() waits for no reader.
 */
#include <kunit/test.h>

#include "comes.h"
#include "fake.h"
#include "show/show.h"

#define LIMIT 1000
#define INSTANCES 7

static struct hwtimer_instance *create(struct kunit *test)
{
	struct hwtimer_instance *instance = hwtimer_instance_create(NULL);

	KUNIT_ASSERT_NOT_NULL(test, instance);
	return instance;
}

static void reader_begin(struct hwtimer_listing *place)
{
	*place = (struct hwtimer_listing){};
	INIT_LIST_HEAD(&place->entry);
	hwtimer_registry_rewind(place);
}

/* Expects that the reader finds the instance; NULL: none. */
static void expect_found(struct kunit *test, struct hwtimer_listing *place,
			 u64 nr, const struct hwtimer_instance *expected)
{
	struct hwtimer_instance *found = hwtimer_registry_get(place, nr);

	KUNIT_EXPECT_PTR_EQ(test, found, expected);
	if (found)
		hwtimer_registry_put(found);
}

/* Two readers, while instances come and go */
static void readers_find_each_instance_that_stays(struct kunit *test)
{
	struct hwtimer_instance *all[INSTANCES] = {};
	struct hwtimer_listing a, b;
	unsigned int i;
	u64 nr;

	for (i = 0; i < 5; i++)
		all[i] = create(test);
	nr = all[0]->nr;
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, all[i]->nr, nr + i);
	reader_begin(&a);
	reader_begin(&b);
	expect_found(test, &a, nr, all[0]);
	expect_found(test, &a, nr + 1, all[1]);
	expect_found(test, &b, nr, all[0]);
	expect_found(test, &b, nr + 1, all[1]);
	/* The one that both readers have shown last ends. */
	hwtimer_instance_destroy(all[1]);
	expect_found(test, &a, nr + 2, all[2]);
	expect_found(test, &b, nr + 2, all[2]);
	/* It did not fit into the reader's buffer, and ends before the reader comes again. */
	expect_found(test, &b, nr + 2, all[2]);
	hwtimer_instance_destroy(all[2]);
	expect_found(test, &b, nr + 2, all[3]);
	expect_found(test, &a, nr + 3, all[3]);
	/* The reader is at the end, and another instance comes. */
	expect_found(test, &a, nr + 4, all[4]);
	expect_found(test, &a, nr + 5, NULL);
	all[5] = create(test);
	expect_found(test, &a, nr + 5, all[5]);
	/* It was the last one; its number is not used again. */
	hwtimer_instance_destroy(all[5]);
	all[6] = create(test);
	KUNIT_EXPECT_EQ(test, all[6]->nr, nr + 6);
	expect_found(test, &a, nr + 6, all[6]);
	hwtimer_registry_rewind(&a);
	expect_found(test, &a, nr, all[0]);
	expect_found(test, &a, nr + 1, all[3]);

	hwtimer_registry_remove(&a);
	expect_found(test, &b, nr + 4, all[4]);
	hwtimer_registry_remove(&b);
	hwtimer_instance_destroy(all[0]);
	hwtimer_instance_destroy(all[3]);
	hwtimer_instance_destroy(all[4]);
	hwtimer_instance_destroy(all[6]);
}

static u64 bytes_used(const struct hwtimer_account *account)
{
	return atomic64_read(&account->bytes);
}

/* An instance is closed while a reader shows it: close() returns, and a work item frees it. */
static void what_is_closed_while_shown_is_freed(struct kunit *test)
{
	struct hwtimer_account *account = hwtimer_account_get(KUIDT_INIT(1000));
	struct hwtimer_instance *instance, *shown;
	struct hwtimer_listing place;
	struct hwtimer_stats stats;
	unsigned int looks;
	u64 id, nr, bytes;

	KUNIT_ASSERT_NOT_NULL(test, account);
	instance = fake_create_on(LIMIT, account);
	KUNIT_ASSERT_NOT_NULL(test, instance);
	KUNIT_ASSERT_EQ(test, fake_schedule(instance, FAKE_HOUR, &id), 0);
	nr = instance->nr;
	bytes = bytes_used(account);
	KUNIT_EXPECT_GT(test, bytes, 0);
	reader_begin(&place);
	shown = hwtimer_registry_get(&place, nr);
	KUNIT_EXPECT_PTR_EQ(test, shown, instance);

	hwtimer_instance_destroy(instance);
	expect_found(test, &place, nr, NULL);
	KUNIT_EXPECT_EQ(test, bytes_used(account), bytes);
	/* Otherwise it was freed. */
	if (bytes_used(account)) {
		hwtimer_stats_get(shown, &stats);
		KUNIT_EXPECT_EQ(test, shown->nr, nr);
		KUNIT_EXPECT_EQ(test, stats.pending, 1);
		hwtimer_registry_put(shown);
	}
	for (looks = 0; bytes_used(account) && looks < COMES_LOOKS; looks++)
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ(test, bytes_used(account), 0);
	hwtimer_registry_remove(&place);
	hwtimer_account_put(account);
}

static struct kunit_case registry_test_cases[] = {
	KUNIT_CASE(readers_find_each_instance_that_stays),
	KUNIT_CASE(what_is_closed_while_shown_is_freed),
	{}
};

static struct kunit_suite registry_test_suite = {
	.name = "hwtimer_registry",
	.test_cases = registry_test_cases,
};

kunit_test_suite(registry_test_suite);
