// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of worker/clock.c.
 */
#include <kunit/test.h>
#include <linux/ktime.h>

#include "worker/worker.h"

#define HOUR ((s64)3600 * NSEC_PER_SEC)

/* 2100-01-01T00:00:00Z */
#define MIDNIGHT (47482ULL * 24 * HOUR)

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

/* Each clock is found by its number in SETUP, and by no other, such as that of <time.h>. */
static void clocks_are_found(struct kunit *test)
{
	static const struct {
		enum hwtimer_clock number;
		clockid_t id;
		bool settable;
	} clocks[HWTIMER_CLOCKS] = {
		[HWTIMER_MONOTONIC] = { HWTIMER_CLOCK_MONOTONIC,
					CLOCK_MONOTONIC, false },
		[HWTIMER_BOOTTIME] = { HWTIMER_CLOCK_BOOTTIME, CLOCK_BOOTTIME,
				       false },
		[HWTIMER_REALTIME] = { HWTIMER_CLOCK_REALTIME, CLOCK_REALTIME,
				       true },
		[HWTIMER_TAI] = { HWTIMER_CLOCK_TAI, CLOCK_TAI, true },
	};
	unsigned int nr, number, found = 0;

	for (nr = 0; nr < HWTIMER_CLOCKS; nr++) {
		const struct hwtimer_clock_desc *clock = &hwtimer_clocks[nr];

		KUNIT_EXPECT_EQ(test, clock->nr, nr);
		KUNIT_EXPECT_EQ(test, clock->id, clocks[nr].id);
		KUNIT_EXPECT_EQ(test, clock->settable, clocks[nr].settable);
		KUNIT_EXPECT_EQ(test, hwtimer_clock_number(clock),
				clocks[nr].number);
		KUNIT_EXPECT_PTR_EQ(test, hwtimer_clock_find(clocks[nr].number),
				    clock);
	}
	for (number = 0; number < 2 * HWTIMER_CLOCK(0); number++)
		found += !!hwtimer_clock_find(number);
	KUNIT_EXPECT_EQ(test, found, HWTIMER_CLOCKS);
	KUNIT_EXPECT_NULL(test, hwtimer_clock_find(U32_MAX));
}

/*
 * After midnight UTC, a time is certain once the kernel has updated its clocks: only then is a
 * leap second inserted.
 */
static void midnight_waits_for_the_kernel(struct kunit *test)
{
	static const struct {
		u64 fine;
		u64 coarse;
		u64 certain;
	} cases[] = {
		{ MIDNIGHT - 1, MIDNIGHT - 1, MIDNIGHT - 1 },
		{ MIDNIGHT - 1, MIDNIGHT - 4 * NSEC_PER_MSEC, MIDNIGHT - 1 },
		{ MIDNIGHT, MIDNIGHT - 1, MIDNIGHT - 1 },
		{ MIDNIGHT + 1, MIDNIGHT - 4 * NSEC_PER_MSEC, MIDNIGHT - 1 },
		{ MIDNIGHT + 4 * NSEC_PER_MSEC, MIDNIGHT - 1, MIDNIGHT - 1 },
		{ MIDNIGHT + HOUR, MIDNIGHT - 1, MIDNIGHT - 1 },
		{ MIDNIGHT, MIDNIGHT, MIDNIGHT },
		{ MIDNIGHT + 4 * NSEC_PER_MSEC, MIDNIGHT,
		  MIDNIGHT + 4 * NSEC_PER_MSEC },
		{ MIDNIGHT + HOUR, MIDNIGHT + HOUR - 1, MIDNIGHT + HOUR },
		/* The kernel has inserted the leap second since @fine was read. */
		{ MIDNIGHT + 1, MIDNIGHT - NSEC_PER_SEC, MIDNIGHT - 1 },
		/* The clock was updated, or set, since @fine was read. */
		{ MIDNIGHT - 1, MIDNIGHT + 1, MIDNIGHT - 1 },
		{ MIDNIGHT + 1, MIDNIGHT + 24 * HOUR, MIDNIGHT + 1 },
		/* The first day */
		{ 0, 0, 0 },
		{ 1, 0, 1 },
		{ 24 * HOUR, 24 * HOUR - 1, 24 * HOUR - 1 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test,
				    hwtimer_clock_certain(cases[i].fine,
							  cases[i].coarse),
				    cases[i].certain, "case %u", i);
}

static struct kunit_case clock_test_cases[] = {
	KUNIT_CASE(times_of_a_namespace_become_the_hosts),
	KUNIT_CASE(clocks_are_found),
	KUNIT_CASE(midnight_waits_for_the_kernel),
	{}
};

static struct kunit_suite clock_test_suite = {
	.name = "hwtimer_clock",
	.test_cases = clock_test_cases,
};

kunit_test_suite(clock_test_suite);
