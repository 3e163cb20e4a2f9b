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

/* Expects that a reader finds the instance from number @nr on; NULL: none. */
static void expect_found(struct kunit *test, u64 nr,
			 const struct hwtimer_instance *expected)
{
	struct hwtimer_instance *found = hwtimer_registry_get(nr);

	KUNIT_EXPECT_PTR_EQ(test, found, expected);
	if (found)
		hwtimer_registry_put(found);
}

/* While instances come and go */
static void a_reader_finds_each_instance_that_stays(struct kunit *test)
{
	struct hwtimer_instance *all[INSTANCES] = {};
	unsigned int i;
	u64 nr;

	for (i = 0; i < 5; i++)
		all[i] = create(test);
	nr = all[0]->nr;
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, all[i]->nr, nr + i);
	for (i = 0; i < 5; i++)
		expect_found(test, nr + i, all[i]);
	expect_found(test, nr + 5, NULL);
	/* The one that the reader has shown last ends, and the one that it would show. */
	hwtimer_instance_destroy(all[1]);
	hwtimer_instance_destroy(all[2]);
	expect_found(test, nr + 2, all[3]);
	/* The reader is at the end, and another instance comes. */
	all[5] = create(test);
	expect_found(test, nr + 5, all[5]);
	/* It was the last one; its number is not used again. */
	hwtimer_instance_destroy(all[5]);
	expect_found(test, nr + 5, NULL);
	all[6] = create(test);
	KUNIT_EXPECT_EQ(test, all[6]->nr, nr + 6);
	expect_found(test, nr + 5, all[6]);
	hwtimer_instance_destroy(all[0]);
	hwtimer_instance_destroy(all[3]);
	hwtimer_instance_destroy(all[4]);
	hwtimer_instance_destroy(all[6]);
	expect_found(test, nr, NULL);
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
	shown = hwtimer_registry_get(nr);
	KUNIT_EXPECT_PTR_EQ(test, shown, instance);

	hwtimer_instance_destroy(instance);
	expect_found(test, nr, NULL);
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
	hwtimer_account_put(account);
}

static struct kunit_case registry_test_cases[] = {
	KUNIT_CASE(a_reader_finds_each_instance_that_stays),
	KUNIT_CASE(what_is_closed_while_shown_is_freed),
	{}
};

static struct kunit_suite registry_test_suite = {
	.name = "hwtimer_registry",
	.test_cases = registry_test_cases,
};

kunit_test_suite(registry_test_suite);
