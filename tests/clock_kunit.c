// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of hwtimer_clock.c.
 */
#include <kunit/test.h>
#include <linux/ktime.h>

#include "../hwtimer_clock.h"

#define HOUR ((s64)3600 * NSEC_PER_SEC)

/* The alarm of an instance in a time namespace is armed for the host's time. */
static void times_of_a_namespace_become_the_hosts(struct kunit *test)
{
	static const struct {
		u64 time;
		s64 offset;
		u64 host;
	} cases[] = {
		{ HOUR, 0, HOUR },
		{ HOUR, HOUR - 1, 1 },
		{ HOUR, HOUR, 0 },
		{ 0, 1, 0 },
		{ 0, S64_MAX, 0 },
		{ 0, -HOUR, HOUR },
		{ HOUR, -HOUR, 2 * HOUR },
		{ KTIME_MAX - HOUR, -HOUR, KTIME_MAX },
		{ KTIME_MAX - HOUR, -HOUR - 1, KTIME_MAX },
		{ KTIME_MAX - 1, S64_MIN, KTIME_MAX },
		{ KTIME_MAX - 1, HOUR, KTIME_MAX - 1 - HOUR },
		/* KTIME_MAX means never, so no offset may change it. */
		{ KTIME_MAX, HOUR, KTIME_MAX },
		{ KTIME_MAX + 1ULL, HOUR, KTIME_MAX },
		{ U64_MAX, S64_MAX, KTIME_MAX },
		{ U64_MAX, S64_MIN, KTIME_MAX },
		{ U64_MAX, 0, KTIME_MAX },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    hwtimer_clock_host_time(cases[i].time,
							    cases[i].offset),
				    cases[i].host, "case %u", i);
}

/* Each clock is found by its number in SETUP, and by no other. */
static void clocks_are_found(struct kunit *test)
{
	unsigned int nr;

	for (nr = 0; nr < HWTIMER_CLOCKS; nr++) {
		const struct hwtimer_clock_desc *clock = &hwtimer_clocks[nr];

		KUNIT_EXPECT_EQ(test, clock->nr, nr);
		KUNIT_EXPECT_PTR_EQ(test, hwtimer_clock_find(clock->number),
				    clock);
	}
	KUNIT_EXPECT_NULL(test, hwtimer_clock_find(HWTIMER_CLOCK_DEFAULT));
	KUNIT_EXPECT_NULL(test, hwtimer_clock_find(U32_MAX));
}

static struct kunit_case clock_test_cases[] = {
	KUNIT_CASE(times_of_a_namespace_become_the_hosts),
	KUNIT_CASE(clocks_are_found),
	{}
};

static struct kunit_suite clock_test_suite = {
	.name = "hwtimer_clock",
	.test_cases = clock_test_cases,
};

kunit_test_suite(clock_test_suite);
