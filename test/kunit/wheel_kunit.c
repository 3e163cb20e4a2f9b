// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the wheel. They test the arithmetic of ticks and every boundary by
 * example, and everything else by random operations that the oracle checks.
 */
#include <kunit/test.h>
#include <linux/ktime.h>

#include "instance/instance.h"
#include "kinds.h"
#include "oracle.h"
#include "random.h"
#include "wheel/hashed.h"
#include "wheel/hierarchy.h"
#include "wheel/walk.h"

#define TICK 1000ULL
#define HOUR (3600ULL * NSEC_PER_SEC)
#define CENTURY (100ULL * 366 * 24 * HOUR)
#define BUCKETS 64U

/* Random operations per configuration */
#define OPERATIONS 50000

static struct oracle *create_at(struct kunit *test, u32 kind, u32 buckets,
				u64 now)
{
	struct hwtimer_shape shape = {
		.tick = TICK,
		.kind = kind,
		.buckets = buckets,
	};

	return oracle_create(test, &shape, now);
}

/* Creates a wheel of the kind that the test runs with. */
static struct oracle *create(struct kunit *test, u32 buckets, u64 now)
{
	return create_at(test, kind_of(test), buckets, now);
}

/* Creates a wheel of one kind, for a test of what only that kind does. */
static struct oracle *create_kind(struct kunit *test, u32 kind, u32 buckets)
{
	return create_at(test, kind, buckets, 0);
}

/* The number of buckets of a large wheel of the kind that the test runs with */
static u32 many_buckets(const struct kunit *test)
{
	return kind_of(test) == HWTIMER_KIND_HASHED ? HWTIMER_HASHED_MAX : 1024;
}

/* Turns the wheel at the time for which it asks, as the worker does. */
static void turn_next(struct oracle *oracle)
{
	oracle_turn(oracle,
		    oracle_time(oracle, hwtimer_wheel_next(&oracle->wheel)));
}

/* Calls turn_next() until no timer is left; returns the number of turns. */
static unsigned int turn_until_empty(struct oracle *oracle)
{
	unsigned int turns = 0;

	for (; oracle->nr_live; turns++)
		turn_next(oracle);
	return turns;
}

static void wheel_test_exit(struct kunit *test)
{
	oracle_destroy(test->priv);
}

/*
 * The arithmetic of ticks
 */

static void tick_of_rounds_up(struct kunit *test)
{
	struct hwtimer_wheel wheel = {};

	hwtimer_wheel_set_tick(&wheel, TICK);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_of(&wheel, 0), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_of(&wheel, 1), 1);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_of(&wheel, TICK), 1);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_of(&wheel, TICK + 1), 2);
}

static void tick_at_rounds_down(struct kunit *test)
{
	struct hwtimer_wheel wheel = {};

	hwtimer_wheel_set_tick(&wheel, TICK);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_at(&wheel, 0), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_at(&wheel, TICK - 1), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_at(&wheel, TICK), 1);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_at(&wheel, 2 * TICK - 1), 1);
}

static void ticks_do_not_wrap(struct kunit *test)
{
	u64 tick = 10 * NSEC_PER_USEC;
	struct hwtimer_wheel wheel = {};

	hwtimer_wheel_set_tick(&wheel, tick);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_of(&wheel, U64_MAX),
			U64_MAX / tick + 1);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_at(&wheel, U64_MAX),
			U64_MAX / tick);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_of(&wheel, CENTURY) * tick,
			CENTURY);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_time_of(&wheel, CENTURY / tick),
			CENTURY);
}

static void time_of_saturates(struct kunit *test)
{
	struct hwtimer_wheel wheel = {};

	hwtimer_wheel_set_tick(&wheel, HOUR);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_time_of(&wheel, 0), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_time_of(&wheel, U64_MAX / HOUR),
			U64_MAX / HOUR * HOUR);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_time_of(&wheel, U64_MAX / HOUR + 1),
			HWTIMER_TICK_NONE);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_time_of(&wheel, U64_MAX),
			HWTIMER_TICK_NONE);
}

/*
 * The reciprocal is rounded up by less than a tick, from which hwtimer_wheel_set_tick()
 * concludes that it divides all times up to 2^63. Checks that, and the quotients of the last
 * multiple of the tick in that range and of 1 ns less, for the shortest and the longest ticks
 * that SETUP accepts, all powers of two with their neighbours, and random ticks.
 */
static void check_reciprocal(struct kunit *test, u64 tick)
{
	u64 last = BIT_ULL(63) / tick * tick;
	struct hwtimer_wheel wheel = {};

	hwtimer_wheel_set_tick(&wheel, tick);
	/* 2^(64 + shift) is 0 modulo 2^64. */
	KUNIT_ASSERT_LT_MSG(test, wheel.scale.reciprocal * tick, tick,
			    "tick %llu", tick);
	KUNIT_ASSERT_LE(test, tick, 2ULL << wheel.scale.shift);
	KUNIT_ASSERT_EQ_MSG(test, hwtimer_scale_ticks(&wheel.scale, last),
			    last / tick, "tick %llu", tick);
	KUNIT_ASSERT_EQ_MSG(test, hwtimer_scale_ticks(&wheel.scale, last - 1),
			    last / tick - 1, "tick %llu", tick);
	KUNIT_ASSERT_EQ_MSG(test, hwtimer_wheel_tick_of(&wheel, last),
			    last / tick, "tick %llu", tick);
}

static void reciprocal_is_exact_for_63_bits(struct kunit *test)
{
	u64 range = HWTIMER_TICK_MAX - HWTIMER_TICK_MIN + 1;
	struct rnd_state state;
	unsigned int i;

	hwtimer_test_seed(test, &state);
	for (i = 0; i < 10000; i++) {
		u64 any = (u64)prandom_u32_state(&state) << 32 |
			  prandom_u32_state(&state);

		check_reciprocal(test, 2 + i);
		check_reciprocal(test, HWTIMER_TICK_MIN + i);
		check_reciprocal(test, HWTIMER_TICK_MAX - i);
		check_reciprocal(test, HWTIMER_TICK_MIN + any % range);
	}
	for (i = 2; i < 42; i++) {
		check_reciprocal(test, BIT_ULL(i) - 1);
		check_reciprocal(test, BIT_ULL(i));
		check_reciprocal(test, BIT_ULL(i) + 1);
	}
}

/*
 * Half of the times are a multiple of the tick or 1 ns less, where the reciprocal may be
 * off.
 */
static void reciprocal_divides(struct kunit *test)
{
	static const u64 ticks[] = { 1000,     1024,	     9999,     10000,
				     999983,   1000000,	     1048576,  1048577,
				     16666667, NSEC_PER_SEC, HOUR - 1, HOUR };
	struct hwtimer_wheel wheel = {};
	struct rnd_state state;
	unsigned int i, j;

	hwtimer_test_seed(test, &state);
	for (i = 0; i < ARRAY_SIZE(ticks); i++) {
		hwtimer_wheel_set_tick(&wheel, ticks[i]);
		for (j = 0; j < 20000; j++) {
			u64 any = (u64)prandom_u32_state(&state) << 32 |
				  prandom_u32_state(&state);
			u64 time = any >> random_below(&state, 64);

			if (j % 2)
				time -= time % ticks[i] +
					random_below(&state, 2);
			KUNIT_ASSERT_EQ_MSG(test,
					    hwtimer_wheel_tick_at(&wheel, time),
					    time / ticks[i],
					    "time %llu, tick %llu", time,
					    ticks[i]);
		}
	}
}

/*
 * Boundaries
 */

/*
 * A timer of @delay ticks is pending until 1 ns before it is due, and then expires. The wheel
 * begins at @now.
 */
static void check_delay(struct kunit *test, u32 buckets, u64 now, u64 delay)
{
	struct oracle *oracle = create(test, buckets, now);
	u64 due = now + max(delay, 1ULL) * TICK;

	oracle_schedule(oracle, now + delay * TICK);
	oracle_turn(oracle, due - 1);
	KUNIT_EXPECT_EQ_MSG(test, oracle->expired, 0,
			    "%u buckets, now %llu, delay %llu", buckets, now,
			    delay);
	oracle_turn(oracle, due);
	KUNIT_EXPECT_EQ_MSG(test, oracle->expired, 1,
			    "%u buckets, now %llu, delay %llu", buckets, now,
			    delay);
	oracle_destroy(oracle);
	test->priv = NULL;
}

static void delays_around_the_size_of_the_wheel(struct kunit *test)
{
	static const u32 sizes[] = { 8, 64, 512, 1024 };
	static const u64 times[] = { 0, ((1ULL << 32) - 3) * TICK,
				     ((1ULL << 48) - 3) * TICK };
	unsigned int i, j, k;

	for (i = 0; i < ARRAY_SIZE(sizes) && sizes[i] <= many_buckets(test);
	     i++) {
		u64 size = sizes[i];
		u64 delays[] = { 0,	   1,
				 size - 1, size,
				 size + 1, 2 * size - 1,
				 2 * size, 2 * size + 1,
				 7 * size, 1000 * size + 1 };

		for (j = 0; j < ARRAY_SIZE(times); j++)
			for (k = 0; k < ARRAY_SIZE(delays); k++)
				check_delay(test, sizes[i], times[j],
					    delays[k]);
	}
}

/* The tick of the wheel passes 2^31, 2^32 and 2^48. */
static void ticks_pass_powers_of_two(struct kunit *test)
{
	static const unsigned int shifts[] = { 31, 32, 48 };
	struct oracle *oracle = create(test, BUCKETS, 0);
	u64 expired = 0;
	unsigned int i;
	u64 tick;

	for (i = 0; i < ARRAY_SIZE(shifts); i++) {
		oracle_turn(oracle, ((1ULL << shifts[i]) - 100) * TICK);
		for (tick = (1ULL << shifts[i]) - 99;
		     tick < (1ULL << shifts[i]) + 99; tick++)
			oracle_schedule(oracle, tick * TICK);
		for (tick = (1ULL << shifts[i]) - 99;
		     tick < (1ULL << shifts[i]) + 99; tick++) {
			oracle_turn(oracle, tick * TICK);
			KUNIT_ASSERT_EQ(test, oracle->expired, ++expired);
		}
	}
}

static void timer_for_ever_stays(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	struct oracle_timer *timer = oracle_schedule(oracle, U64_MAX);

	oracle_schedule(oracle, U64_MAX - 1);
	oracle_turn(oracle, KTIME_MAX);
	KUNIT_EXPECT_EQ(test, oracle->expired, 0);
	oracle_compact(oracle);
	KUNIT_EXPECT_EQ(test, oracle->nr_live, 2);
	/* The timer can still get an earlier deadline. */
	oracle_move(oracle, timer, KTIME_MAX + 5 * TICK);
	oracle_turn(oracle, KTIME_MAX + 6 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
}

static void past_deadline_expires_on_the_next_turn(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 100 * TICK);

	oracle_turn(oracle, 500 * TICK);
	oracle_schedule(oracle, 0);
	oracle_schedule(oracle, 100 * TICK);
	oracle_schedule(oracle, 500 * TICK);
	oracle_turn(oracle, 501 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 3);
}

static void compaction_does_not_delay_past_deadlines(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);

	oracle_turn(oracle, 500 * TICK);
	oracle_schedule(oracle, 3 * TICK);
	oracle_compact(oracle);
	oracle_turn(oracle, 501 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
}

/*
 * Which entries a turn walks, and when the wheel asks for a turn
 */

static void empty_wheel_wants_no_turn(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);

	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(&oracle->wheel),
			HWTIMER_TICK_NONE);
	oracle_schedule(oracle, 7 * TICK);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(&oracle->wheel), 7);
	oracle_turn(oracle, 7 * TICK);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(&oracle->wheel),
			HWTIMER_TICK_NONE);
}

static void later_round_is_not_walked(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);

	oracle_schedule(oracle, (5 + 1000 * BUCKETS) * TICK);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(&oracle->wheel),
			5 + 1000 * BUCKETS);
	oracle_turn(oracle, 5 * TICK);
	oracle_turn(oracle, (5 + 999 * BUCKETS) * TICK);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.walked, 0);
}

static void mixed_bucket_is_counted(struct kunit *test)
{
	struct oracle *oracle = create_kind(test, HWTIMER_KIND_HASHED, BUCKETS);

	oracle_schedule(oracle, 5 * TICK);
	oracle_schedule(oracle, (5 + BUCKETS) * TICK);
	oracle_turn(oracle, 5 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.walked, 2);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(&oracle->wheel), 5 + BUCKETS);
}

/* The turn is many rounds late. The oracle compares the order. */
static void sleeper_catches_up_in_order(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	unsigned int i;

	for (i = 0; i < 10 * BUCKETS; i++)
		oracle_schedule(oracle, (i * 7 % (10 * BUCKETS) + 1) * TICK);
	oracle_turn(oracle, 1000 * BUCKETS * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 10 * BUCKETS);
}

static void skim_goes_on_to_the_first_live_timer(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	/* All in one record, none of whose stamps comes again */
	const unsigned int dead = min(50U, HWTIMER_STAMP_MAX);
	unsigned int i;

	for (i = 1; i <= dead; i++)
		oracle_cancel(oracle, oracle_schedule(oracle, i * TICK));
	oracle_schedule(oracle, 60 * TICK);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(&oracle->wheel), 1);
	/* Each entry is a step, and so is its bucket, which is then empty. */
	hwtimer_wheel_skim(&oracle->wheel,
			   2 * dead + 2 * HWTIMER_CHUNK_ENTRIES + 1);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(&oracle->wheel), 60);
	KUNIT_EXPECT_EQ(test, oracle->wheel.entries, 1);
}

/* Enough to skim 50 buckets with two entries each, which are looked at twice */
#define SKIM_ALL (50 * 5 + 2 * HWTIMER_CHUNK_ENTRIES + 1)

static void skim_moves_postponed_timers(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	unsigned int i;

	for (i = 1; i <= 50; i++)
		oracle_move(oracle, oracle_schedule(oracle, i * TICK),
			    (1000 + i) * TICK);
	oracle_schedule(oracle, 60 * TICK);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(&oracle->wheel), 1);
	hwtimer_wheel_skim(&oracle->wheel, SKIM_ALL);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(&oracle->wheel), 60);
	KUNIT_EXPECT_EQ(test, oracle->wheel.postponed, 0);
	oracle_turn(oracle, 2000 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 51);
}

/* In a hashed wheel, they share the buckets of the dead entries. */
static void skim_passes_over_later_rounds(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	unsigned int i;

	for (i = 1; i <= 50; i++) {
		oracle_schedule(oracle, (100 * BUCKETS + i) * TICK);
		oracle_cancel(oracle, oracle_schedule(oracle, i * TICK));
	}
	oracle_schedule(oracle, 60 * TICK);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(&oracle->wheel), 1);
	hwtimer_wheel_skim(&oracle->wheel, SKIM_ALL);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(&oracle->wheel), 60);
	KUNIT_EXPECT_EQ(test, oracle->wheel.entries, 51);
	oracle_turn(oracle, 200 * BUCKETS * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 51);
}

/* Skims, and checks that it looks at no more entries than it may. Returns how many it did. */
static u64 skim_bounded(struct oracle *oracle, unsigned int max)
{
	u64 looks = hwtimer_entry_looks;

	hwtimer_wheel_skim(&oracle->wheel, max);
	looks = hwtimer_entry_looks - looks;
	KUNIT_ASSERT_LE(oracle->test, looks, max);
	return looks;
}

/*
 * Skims buckets of one chunk each, whose timers were postponed, but for the first @dead, which were
 * cancelled. Their records are used again, so only a look at each of these entries shows that it
 * is dead.
 */
static void skim_chunks(struct kunit *test, unsigned int dead)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	unsigned int i, j;

	for (i = 1; i <= 20; i++) {
		for (j = 0; j < dead; j++)
			oracle_cancel(oracle,
				      oracle_schedule(oracle, i * TICK));
		for (; j < HWTIMER_CHUNK_ENTRIES; j++)
			oracle_move(oracle, oracle_schedule(oracle, i * TICK),
				    (200 + i) * TICK);
	}
	KUNIT_EXPECT_GE(test, skim_bounded(oracle, HWTIMER_HOLD),
			HWTIMER_HOLD / 2);
}

static void skim_looks_at_few_dead_entries(struct kunit *test)
{
	skim_chunks(test, HWTIMER_CHUNK_ENTRIES - 1);
}

static void skim_looks_at_few_postponed_timers(struct kunit *test)
{
	skim_chunks(test, 0);
}

/* As the worker does: turns the wheel, and skims if nothing was due, until it may sleep. */
static void turn_and_skim(struct oracle *oracle, u64 tick)
{
	unsigned int turns = 0;

	do {
		KUNIT_ASSERT_LT(oracle->test, turns++, 1000);
		oracle_turn(oracle, tick * TICK);
		skim_bounded(oracle, HWTIMER_HOLD);
	} while (hwtimer_wheel_next(&oracle->wheel) <= tick);
}

/*
 * In a hashed wheel, the bucket's first chunks have timers of later rounds only. A walk through
 * them gains nothing, and another one would not, either.
 */
static void skim_lets_the_worker_sleep(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	unsigned int i;

	for (i = 0; i < 2 * HWTIMER_CHUNK_ENTRIES; i++)
		oracle_schedule(oracle, (5 + 3 * BUCKETS) * TICK);
	oracle_schedule(oracle, (5 + 2 * BUCKETS) * TICK);
	turn_and_skim(oracle, 1);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.walked, 0);
	oracle_turn(oracle, (5 + 3 * BUCKETS) * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 2 * HWTIMER_CHUNK_ENTRIES + 1);
}

/* How many turns it takes until the first of the timers that are due at @tick expires */
static unsigned int turns_until_due(struct oracle *oracle, u64 tick)
{
	unsigned int turns = 1;

	while (!hwtimer_wheel_advance(&oracle->wheel, tick * TICK, oracle->due))
		turns++;
	return turns;
}

/*
 * A skim moves postponed timers out of the bucket of ticks 64 to 71, more than it may look at.
 * Timers that come to that bucket then must not have to move down when its first one is due.
 */
static void skim_leaves_no_bucket_half_moved(struct kunit *test)
{
	struct oracle *oracle =
		create_kind(test, HWTIMER_KIND_HIERARCHICAL, BUCKETS);
	unsigned int i;

	for (i = 0; i < 2 * HWTIMER_HOLD; i++)
		oracle_move(oracle, oracle_schedule(oracle, 64 * TICK),
			    5000 * TICK);
	turn_and_skim(oracle, 40);
	for (i = 0; i < 1000; i++)
		oracle_schedule(oracle, (65 + i % 7) * TICK);
	for (i = 41; i < 65; i++)
		if (hwtimer_wheel_next(&oracle->wheel) <= i)
			turn_and_skim(oracle, i);
	KUNIT_EXPECT_EQ(test, turns_until_due(oracle, 65), 1);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.cascaded, 0);
}

/* The same if the bucket has a crowd already, whose first timer was cancelled. */
static void skim_leaves_a_crowd_to_move_down_ahead(struct kunit *test)
{
	struct oracle *oracle =
		create_kind(test, HWTIMER_KIND_HIERARCHICAL, BUCKETS);
	struct hwtimer_wheel *wheel = &oracle->wheel;
	struct oracle_timer *first;
	unsigned int i, expired;

	/* A turn removes these, and then has no time for the crowd. */
	for (i = 0; i < HWTIMER_HOLD - HWTIMER_CHUNK_ENTRIES; i++)
		oracle_schedule(oracle, 40 * TICK);
	while (oracle->nr_live)
		oracle_cancel(oracle, oracle->live[0]);
	first = oracle_schedule(oracle, 64 * TICK);
	for (i = 0; i < 1000; i++)
		oracle_schedule(oracle, (65 + i % 7) * TICK);
	oracle_cancel(oracle, first);
	expired = hwtimer_wheel_advance(wheel, 40 * TICK, oracle->due);
	KUNIT_ASSERT_EQ(test, expired, 0);
	hwtimer_wheel_skim(wheel, HWTIMER_HOLD);
	for (i = 40; i < 64; i++)
		if (hwtimer_wheel_next(wheel) <= i)
			turn_and_skim(oracle, i);
	KUNIT_EXPECT_EQ(test, wheel->stats.cascaded, 1000);
}

/*
 * The first timer of a crowd that is far away was cancelled. Skims do not pass over the crowd, and
 * go on with what is near.
 */
static void skim_spares_a_crowd_far_away(struct kunit *test)
{
	struct oracle *oracle =
		create_kind(test, HWTIMER_KIND_HIERARCHICAL, BUCKETS);
	struct oracle_timer *first = oracle_schedule(oracle, 100000 * TICK);
	u64 walked;
	unsigned int i;

	for (i = 0; i < 2 * HWTIMER_HOLD; i++)
		oracle_schedule(oracle, 100001 * TICK);
	oracle_cancel(oracle, first);
	walked = oracle->wheel.stats.walked;
	turn_and_skim(oracle, 40);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.walked, walked);
	oracle_cancel(oracle, oracle_schedule(oracle, 50 * TICK));
	turn_and_skim(oracle, 45);
	KUNIT_EXPECT_GT(test, hwtimer_wheel_next(&oracle->wheel), 50);
	oracle_turn(oracle, 100001 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->nr_live, 0);
}

/*
 * A program that cancels the first timers of a crowd again and again must not have the worker walk
 * through the others each time.
 */
static u64 skim_before_crowd(struct kunit *test, u64 tick)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	struct oracle_timer *first[2 * HWTIMER_CHUNK_ENTRIES];
	unsigned int i;
	u64 walked;

	for (i = 0; i < ARRAY_SIZE(first); i++)
		first[i] = oracle_schedule(oracle, tick * TICK);
	for (i = 0; i < 4 * HWTIMER_HOLD; i++)
		oracle_schedule(oracle, tick * TICK);
	for (i = 0; i < ARRAY_SIZE(first); i++)
		if (i % 2)
			oracle_cancel(oracle, first[i]);
		else
			oracle_move(oracle, first[i], (tick + 10) * TICK);
	turn_and_skim(oracle, tick - 30);
	walked = oracle->wheel.stats.walked;
	oracle_turn(oracle, (tick + 10) * TICK);
	KUNIT_EXPECT_EQ(test, oracle->nr_live, 0);
	return walked;
}

static void skim_walks_no_crowd_for_a_few(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, skim_before_crowd(test, 40),
			2 * HWTIMER_CHUNK_ENTRIES);
}

/* The same at the first tick of a bucket that is near, but has nothing to move down */
static void skim_walks_no_crowd_that_stays(struct kunit *test)
{
	KUNIT_EXPECT_LE(test, skim_before_crowd(test, 64),
			2 * HWTIMER_CHUNK_ENTRIES);
}

static void later_deadline_writes_no_entry(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	struct oracle_timer *timer = oracle_schedule(oracle, 5 * TICK);
	unsigned int i;

	for (i = 6; i < 1000; i++)
		oracle_move(oracle, timer, i * TICK);
	KUNIT_EXPECT_EQ(test, oracle->wheel.entries, 1);
	oracle_turn(oracle, 998 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 0);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.refiled, 1);
	oracle_turn(oracle, 999 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
}

static void earlier_deadline_leaves_a_dead_entry(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	struct oracle_timer *timer = oracle_schedule(oracle, 50 * TICK);

	oracle_move(oracle, timer, 5 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->wheel.entries, 2);
	oracle_turn(oracle, 5 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
	oracle_turn(oracle, 50 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.removed, 1);
}

static void moved_timers_expire_by_tick_in_a_late_turn(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	struct oracle_timer *timer = oracle_schedule(oracle, 5 * TICK);

	oracle_schedule(oracle, 20 * TICK);
	oracle_move(oracle, timer, 30 * TICK);
	/* The oracle compares the order. */
	oracle_turn(oracle, 40 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 2);
}

/*
 * A timer is postponed by each number of ticks up to two rounds of the lowest level, once
 * while it is in the first bucket and once while it is in the last one. When its bucket is
 * due, it has to go to another one.
 */
static void postponed_timer_leaves_its_bucket(struct kunit *test)
{
	const u32 buckets = BUCKETS;
	struct oracle *oracle = create(test, buckets, 0);
	u64 tick = 0;
	u32 i;

	for (i = 1; i < 4 * buckets; i++) {
		struct oracle_timer *timer;

		tick = round_up(tick + 1, buckets) + (i & 1 ? 0 : buckets - 1);
		timer = oracle_schedule(oracle, tick * TICK);
		oracle_move(oracle, timer, (tick + i / 2 + 1) * TICK);
		oracle_turn(oracle, tick * TICK);
		tick += i / 2 + 1;
		oracle_turn(oracle, tick * TICK);
		KUNIT_EXPECT_EQ(test, oracle->expired, i);
	}
}

/*
 * All timers are in one bucket, and then are postponed to a tick of each other one. The
 * chunks that were reserved must be enough.
 */
static void postponed_crowd_scatters(struct kunit *test)
{
	const u32 others = many_buckets(test) - 1;
	struct oracle *oracle = create(test, others + 1, 0);
	u32 i;

	for (i = 0; i < ORACLE_TIMERS; i++)
		oracle_schedule(oracle, 5 * TICK);
	for (i = 0; i < ORACLE_TIMERS; i++)
		oracle_move(oracle, oracle->live[i], (6 + i % others) * TICK);
	oracle_turn(oracle, 5 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.refiled, ORACLE_TIMERS);
	oracle_turn(oracle, 2000 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, ORACLE_TIMERS);
}

/*
 * Each bucket is full, and one of its timers was postponed to a later round of the same
 * bucket. A crowd was postponed into all of these buckets. So each bucket takes a chunk
 * before it is walked, and another one while it is walked.
 */
static void postponed_timers_meet_in_full_buckets(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	struct oracle_timer **last, **crowd;
	unsigned int i, j;

	last = kunit_kcalloc(test, BUCKETS, sizeof(*last), GFP_KERNEL);
	crowd = kunit_kcalloc(test, 2 * BUCKETS, sizeof(*crowd), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, last);
	KUNIT_ASSERT_NOT_NULL(test, crowd);
	for (i = 0; i < BUCKETS; i++) {
		for (j = 1; j < HWTIMER_CHUNK_ENTRIES; j++)
			oracle_schedule(oracle, (100 * BUCKETS + i) * TICK);
		last[i] = oracle_schedule(oracle, (2 * BUCKETS + i) * TICK);
	}
	for (i = 0; i < 2 * BUCKETS; i++)
		crowd[i] = oracle_schedule(oracle, BUCKETS * TICK);
	for (i = 0; i < BUCKETS; i++)
		oracle_move(oracle, last[i], (50 * BUCKETS + i) * TICK);
	for (i = 0; i < 2 * BUCKETS; i++)
		oracle_move(oracle, crowd[i], (80 * BUCKETS + i / 2) * TICK);
	for (i = 1; i < 4 * BUCKETS; i++)
		oracle_turn(oracle, i * TICK);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.refiled, 3 * BUCKETS);
	oracle_turn(oracle, 101 * BUCKETS * TICK);
	KUNIT_EXPECT_EQ(test, oracle->nr_live, 0);
}

static void stamp_wraps(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	struct oracle_timer *timer = oracle_schedule(oracle, 5 * TICK);
	u32 index = timer->index;

	oracle_cancel(oracle, timer);
	hwtimer_table_record(&oracle->table, index)->stamp = HWTIMER_STAMP_MAX;
	timer = oracle_schedule(oracle, 9 * TICK);
	KUNIT_ASSERT_EQ(test, timer->index, index);
	oracle_cancel(oracle, timer);
	KUNIT_EXPECT_EQ(test,
			hwtimer_table_record(&oracle->table, index)->stamp, 0);
	oracle_schedule(oracle, 15 * TICK);
	oracle_turn(oracle, 14 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 0);
	oracle_turn(oracle, 15 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
}

/*
 * Leaves the dead entry of a cancelled timer at tick 5, and revives it: the record gets
 * the stamp of the entry again, as if the entry had outlived 2^32 stamps.
 */
static void leave_revived_entry(struct oracle *oracle)
{
	struct oracle_timer *timer = oracle_schedule(oracle, 5 * TICK);
	struct hwtimer_record *record = oracle_record(oracle, timer);
	u32 stamp = record->stamp;

	oracle_cancel(oracle, timer);
	record->stamp = stamp;
}

/* The wheel mistakes the revived entry for the entry of the record's next timer. */
static void revived_entry_does_no_harm(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);

	leave_revived_entry(oracle);
	oracle_schedule(oracle, 9 * TICK);
	oracle_turn(oracle, 8 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 0);
	oracle_turn(oracle, 1000 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
}

/* One turn walks the revived entry and the new one, but the timer expires once. */
static void revived_twins_expire_once(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);

	leave_revived_entry(oracle);
	oracle_schedule(oracle, 5 * TICK);
	oracle_turn(oracle, 5 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
	KUNIT_EXPECT_EQ(test, oracle->wheel.entries, 0);
}

/* No entry that a record has left behind matches the record's next timer. */
static void expired_timer_leaves_no_entry_alive(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	struct oracle_timer *timer = oracle_schedule(oracle, 5 * TICK);
	struct hwtimer_record *record = oracle_record(oracle, timer);
	u32 stamp = record->stamp;

	oracle_turn(oracle, 5 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
	KUNIT_EXPECT_NE(test, record->stamp, stamp);
}

/*
 * Another entry of the record has the stamp that comes next, as if it had outlived one
 * stamp less than 2^32. When the timer expires, its record gets that stamp.
 */
static void revived_successor_stays_dead(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	struct oracle_timer *timer = oracle_schedule(oracle, 5 * TICK);
	struct hwtimer_record *record = oracle_record(oracle, timer);
	u32 stamp = record->stamp;

	oracle_cancel(oracle, timer);
	oracle_cancel(oracle, oracle_schedule(oracle, 5 * TICK));
	record->stamp = stamp;
	oracle_schedule(oracle, 5 * TICK);
	oracle_turn(oracle, 5 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
	KUNIT_EXPECT_EQ(test, oracle->wheel.entries, 0);
}

static void revived_entry_of_a_free_record_stays_dead(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);

	leave_revived_entry(oracle);
	oracle_turn(oracle, 1000 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 0);
	KUNIT_EXPECT_EQ(test, oracle->wheel.entries, 0);
}

/*
 * The hashed wheel finds the earliest tick wherever it is, also in a bucket that is not its
 * own. Otherwise a fault elsewhere would have the worker run in circles.
 */
static void earliest_tick_is_found_in_any_bucket(struct kunit *test)
{
	struct oracle *oracle =
		create_kind(test, HWTIMER_KIND_HASHED, HWTIMER_HASHED_MAX);
	struct hwtimer_wheel *wheel = &oracle->wheel;
	const u64 tick = 1000;
	u32 nr, found;

	for (nr = 0; nr < wheel->nr_buckets; nr++) {
		hwtimer_hashed_occupy(wheel, nr, tick);
		KUNIT_EXPECT_EQ(test, hwtimer_hashed_first(wheel, &found),
				tick);
		KUNIT_EXPECT_EQ(test, found, nr);
		hwtimer_hashed_settle(wheel, nr, HWTIMER_TICK_NONE);
	}
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(wheel), HWTIMER_TICK_NONE);
}

static void compaction_removes_the_dead(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	u32 i;

	for (i = 0; i < 20000; i++) {
		struct oracle_timer *timer =
			oracle_schedule(oracle, (1000 + i) * TICK);

		if (i % 10)
			oracle_cancel(oracle, timer);
	}
	KUNIT_EXPECT_EQ(test, oracle->wheel.entries, 20000);
	oracle_compact(oracle);
	oracle_turn(oracle, 30000 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 2000);
}

/*
 * Slack
 */

static void slack_is_kept(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	u64 tick, slack;

	for (slack = 0; slack < 70; slack++)
		for (tick = 1; tick < 40; tick++)
			oracle_schedule_slack(oracle, tick * TICK,
					      slack * TICK);
	/* The oracle knows by when each timer must have expired. */
	for (tick = 1; tick < 120; tick++)
		oracle_turn(oracle, tick * TICK);
	KUNIT_EXPECT_EQ(test, oracle->nr_live, 0);
}

static void slack_lets_timers_meet(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	unsigned int i;

	/* The slacks overlap, so the 16 timers meet at two ticks at most. */
	for (i = 0; i < 16; i++)
		oracle_schedule_slack(oracle, (100 + i) * TICK, 15 * TICK);
	KUNIT_EXPECT_LE(test, turn_until_empty(oracle), 2);
}

static void slack_of_several_rounds_is_used(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);

	/* In a hashed wheel, both are in the same bucket. */
	oracle_schedule_slack(oracle, TICK, 4 * BUCKETS * TICK);
	oracle_schedule(oracle, BUCKETS * TICK);
	oracle_turn(oracle, BUCKETS * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
	oracle_turn(oracle, 4 * BUCKETS * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 2);
}

static void slack_of_a_postponed_timer_is_kept(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	struct oracle_timer *timer =
		oracle_schedule_slack(oracle, 64 * TICK, 3 * TICK);
	unsigned int i;

	oracle_move(oracle, timer, 301 * TICK);
	for (i = 60; i < 310; i++)
		oracle_turn(oracle, i * TICK);
	KUNIT_EXPECT_EQ(test, oracle->nr_live, 0);
}

/*
 * The clock is set back
 */

static void timers_wait_when_the_clock_is_set_back(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	unsigned int i;

	oracle_may_be_set_back(oracle);
	oracle_turn(oracle, 100000 * TICK);
	for (i = 1; i <= 3000; i++)
		oracle_schedule(oracle, (100000 + i % 1000) * TICK);
	oracle_set_back(oracle, 1000 * TICK);
	oracle_schedule(oracle, 2000 * TICK);
	oracle_schedule(oracle, 100500 * TICK);
	oracle_turn(oracle, 1999 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 0);
	oracle_turn(oracle, 2000 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
	oracle_turn(oracle, 99999 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
	for (i = 0; i < 1000; i++)
		oracle_turn(oracle, (100000 + i) * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 3002);
}

/* The deadline has passed already, but lies ahead once the clock is set back. */
static void overdue_timer_waits_when_the_clock_is_set_back(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);

	oracle_may_be_set_back(oracle);
	oracle_turn(oracle, 5000 * TICK);
	oracle_schedule(oracle, 3000 * TICK);
	oracle_set_back(oracle, 1000 * TICK);
	oracle_turn(oracle, 2999 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 0);
	oracle_turn(oracle, 3000 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
}

/*
 * The first timers of a crowd in one bucket stay, and the others are cancelled. When the
 * bucket moves down, each of the timers that stay takes a chunk in a bucket of its own, while
 * the chunks of the others are still there. The chunks that were reserved, far fewer than the
 * dead entries, must be enough.
 */
static void few_timers_before_many_dead_entries_scatter(struct kunit *test)
{
	const u32 few = 120,
		  many = 3000; /* a bucket above the lowest level has 128 ticks */
	const u64 first = 1ULL << 20;
	struct oracle *oracle = create(test, many_buckets(test), 0);
	u32 i;

	for (i = 0; i < few; i++)
		oracle_schedule(oracle, (first + i) * TICK);
	for (i = 0; i < many; i++)
		oracle_schedule(oracle, first * TICK);
	for (i = 0; i < many; i++)
		oracle_cancel(oracle, oracle->live[oracle->nr_live - 1]);
	oracle_schedule(oracle, 3 * TICK);
	KUNIT_EXPECT_LT(test, oracle->pool.spares, 2 * few);
	oracle_turn(oracle, (first + few) * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, few + 1);
}

/*
 * All timers are overdue, so one bucket holds them in full chunks. When the clock is set
 * back, they belong to 1,024 different ticks. The chunks that were reserved must be
 * enough.
 */
static void
overdue_crowd_scatters_when_the_clock_is_set_back(struct kunit *test)
{
	struct oracle *oracle = create(test, many_buckets(test), 0);
	u32 i;

	oracle_may_be_set_back(oracle);
	oracle_turn(oracle, 5000 * TICK);
	for (i = 0; i < ORACLE_TIMERS; i++)
		oracle_schedule(oracle, (2000 + i % 1024) * TICK);
	oracle_set_back(oracle, 1000 * TICK);
	oracle_turn(oracle, 1999 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 0);
	oracle_turn(oracle, 4000 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, ORACLE_TIMERS);
}

/* Sets the clock back again and again, before the wheel has finished rewinding. */
static void set_back_between(struct oracle *oracle)
{
	static unsigned int calls;

	if (++calls % 3 == 0 && oracle->sequence < ORACLE_TIMERS - 10) {
		oracle_set_back(oracle, oracle->now - 10 * TICK);
		oracle_schedule(oracle, oracle->now + 5000 * TICK);
	}
}

static void clock_is_set_back_again_meanwhile(struct kunit *test)
{
	struct oracle *oracle = create(test, 64, 0);
	u32 i;

	oracle_may_be_set_back(oracle);
	oracle_turn(oracle, 5000 * TICK);
	/* Spread the timers over the buckets, and put some of them far away. */
	for (i = 0; i < ORACLE_TIMERS - 100; i++)
		oracle_schedule(oracle, (5001 + (i << i % 13)) * TICK);
	oracle->between = set_back_between;
	oracle_set_back(oracle, 4000 * TICK);
	oracle_turn(oracle, 4001 * TICK);
	oracle->between = NULL;
	oracle_turn(oracle, oracle->now);
	KUNIT_EXPECT_EQ(test, oracle->expired, 0);
	oracle_turn(oracle, (5001 + (5000ULL << 13)) * TICK);
	KUNIT_EXPECT_EQ(test, oracle->nr_live, 0);
}

/* It is scheduled after the second time, while the wheel still goes back to the first. */
static void
timer_comes_in_time_when_the_clock_was_set_back_twice(struct kunit *test)
{
	struct oracle *oracle = create(test, 64, 0);
	u32 i;

	oracle_may_be_set_back(oracle);
	oracle_turn(oracle, 5000 * TICK);
	for (i = 0; i < 1000; i++)
		oracle_schedule(oracle, (6000 + i) * TICK);
	oracle_set_back(oracle, 4000 * TICK);
	oracle_set_back(oracle, 3000 * TICK);
	oracle_schedule(oracle, 3500 * TICK);
	oracle_turn(oracle, 3499 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 0);
	oracle_turn(oracle, 3500 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
}

/* A timer that becomes due while the wheel is filed anew does not expire late. */
static void rewinding_delays_nothing(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	unsigned int i;

	oracle_may_be_set_back(oracle);
	oracle_turn(oracle, 5000 * TICK);
	for (i = 0; i < 1000; i++)
		oracle_schedule(oracle, (6000 + i) * TICK);
	oracle_set_back(oracle, 1000 * TICK);
	/* The oracle knows which timers must have expired after one turn. */
	oracle_turn(oracle, 6500 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 501);
}

/*
 * Returns the number of words in use beside the buckets. In these words, a hierarchical wheel
 * notes which buckets are occupied.
 */
static u32 words_in_use(const struct hwtimer_wheel *wheel)
{
	const u64 *words = (const u64 *)&wheel->buckets[wheel->nr_buckets];
	const u64 *end = (const u64 *)((const char *)wheel->buckets +
				       hwtimer_wheel_memory(&wheel->shape));
	u32 count = 0;

	while (words < end)
		count += *words++ != 0;
	return count;
}

/*
 * When the clock is set back, a wheel of any size is emptied in pieces, because each step
 * is one hold of the lock. The words beside the buckets are cleared in pieces, too.
 */
static void rewinding_clears_in_pieces(struct kunit *test)
{
	struct oracle *oracle =
		create_kind(test, HWTIMER_KIND_HIERARCHICAL, 262144);
	struct hwtimer_wheel *wheel = &oracle->wheel;
	u32 i, before, after, most = 0;

	oracle_may_be_set_back(oracle);
	oracle_turn(oracle, 5000 * TICK);
	for (i = 0; i < ORACLE_TIMERS; i++)
		oracle_schedule(oracle, (6000 + 50 * i) * TICK);
	KUNIT_ASSERT_GT(test, words_in_use(wheel), 2000);
	oracle_set_back(oracle, 1000 * TICK);
	for (i = 0; !wheel->refile.walk.active; i++) {
		before = words_in_use(wheel);
		hwtimer_wheel_refile_step(wheel);
		after = words_in_use(wheel);
		most = max(most, before - min(before, after));
		KUNIT_ASSERT_LE(test, i, wheel->nr_buckets / HWTIMER_HOLD);
	}
	kunit_info(test, "%u steps, at most %u words cleared in one\n", i,
		   most);
	KUNIT_EXPECT_LE(test, most, HWTIMER_HOLD);
	KUNIT_EXPECT_EQ(test, words_in_use(wheel), 0);
	oracle_turn(oracle, 300000 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, ORACLE_TIMERS);
}

/* An instance may be freed while its wheel rewinds, with chunks that no bucket has. */
static void drain_finds_all_chunks(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	struct hwtimer_wheel *wheel = &oracle->wheel;
	u32 i;

	oracle_may_be_set_back(oracle);
	oracle_turn(oracle, 5000 * TICK);
	for (i = 0; i < ORACLE_TIMERS; i++)
		oracle_schedule(oracle, 6000 * TICK);
	oracle_set_back(oracle, 1000 * TICK);
	for (i = 0; hwtimer_queue_empty(&wheel->refile.walk.source); i++) {
		KUNIT_ASSERT_LE(test, i, wheel->nr_buckets);
		hwtimer_wheel_refile_step(wheel);
	}
	hwtimer_wheel_drain(wheel);
	KUNIT_EXPECT_TRUE(test,
			  hwtimer_queue_empty(&wheel->refile.walk.source));
	KUNIT_EXPECT_TRUE(test, hwtimer_queue_empty(&wheel->refile.walk.kept));
	KUNIT_EXPECT_TRUE(test, hwtimer_queue_empty(&wheel->refile.fresh));
}

/*
 * Levels, crowds and idle gaps
 */

/* The levels reach the last tick that the clock has, and the last one is needed for that. */
static void levels_are_as_many_as_it_takes(struct kunit *test)
{
	u64 last = U64_MAX / TICK;
	u32 buckets;

	for (buckets = HWTIMER_BUCKETS_MIN; buckets <= HWTIMER_BUCKETS_MAX;
	     buckets *= 2) {
		struct hwtimer_shape shape = {
			.tick = TICK,
			.kind = HWTIMER_KIND_HIERARCHICAL,
			.buckets = buckets,
		};
		unsigned int levels = hwtimer_hierarchy_levels(&shape);
		/* An eighth of the lowest level, or half of it if that is short */
		unsigned int shift = ilog2(buckets) - (buckets < 64 ? 1 : 3);
		/* A level is as long as two buckets of the one above. */
		unsigned int reach =
			shift + (levels - 1) * HWTIMER_LEVEL_SHIFT + 1;
		unsigned int less = reach - HWTIMER_LEVEL_SHIFT;

		KUNIT_EXPECT_EQ(test, last >> reach, 0);
		KUNIT_EXPECT_NE(test, (last + 1) >> less, 0);
	}
}

static void lone_timer_wakes_up_once(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);

	oracle_schedule(oracle, CENTURY);
	KUNIT_EXPECT_EQ(test, turn_until_empty(oracle), 1);
	KUNIT_EXPECT_LE(test, oracle->wheel.stats.walked, 2);
}

/* There are 8 turns for each halving of the distance, so each level gets some. */
static void far_timer_is_touched_once_a_level(struct kunit *test)
{
	struct oracle *oracle =
		create_kind(test, HWTIMER_KIND_HIERARCHICAL, BUCKETS);
	u64 year = 366ULL * 24 * HOUR / TICK;
	unsigned int i, j;

	/* Only a bucket with more than a chunkful is moved down ahead of time. */
	for (i = 0; i < 100; i++)
		oracle_schedule(oracle, (year + 77 + i) * TICK);
	for (i = 1; i < 45; i++)
		for (j = 16; j > 8; j--)
			oracle_turn(oracle,
				    (year - (j * year >> (i + 4))) * TICK);
	oracle_turn(oracle, (year + 1000) * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 100);
	kunit_info(test, "%llu entries walked, %llu moved down, %u levels\n",
		   oracle->wheel.stats.walked, oracle->wheel.stats.cascaded,
		   oracle->wheel.hierarchy.nr_levels);
	KUNIT_EXPECT_LE(test, oracle->wheel.stats.walked,
			100 * oracle->wheel.hierarchy.nr_levels);
	KUNIT_EXPECT_GE(test, oracle->wheel.stats.cascaded, 200);
}

/* Timers of the same ticks, scheduled from ever nearer, begin at ever lower levels. */
static void order_holds_across_levels(struct kunit *test)
{
	struct oracle *oracle = create(test, 8, 0);
	u64 tick = 1000003;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		oracle_turn(oracle, (tick - (tick >> i)) * TICK);
		oracle_schedule(oracle, tick * TICK);
		oracle_schedule(oracle, (tick + 1) * TICK);
		oracle_schedule(oracle, (tick & ~15ULL) * TICK);
	}
	/* The oracle compares the order. */
	oracle_turn(oracle, (tick + 1) * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 60);
}

/* A delay of 7/8 of the lowest level stays on that level, wherever the position is. */
static void near_timers_never_move_down(struct kunit *test)
{
	struct oracle *oracle =
		create_kind(test, HWTIMER_KIND_HIERARCHICAL, BUCKETS);
	unsigned int tick;

	for (tick = 0; tick < 3 * BUCKETS; tick++) {
		oracle_schedule(oracle, (tick + BUCKETS * 7 / 8) * TICK);
		oracle_turn(oracle, tick * TICK);
	}
	oracle_turn(oracle, 5 * BUCKETS * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 3 * BUCKETS);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.cascaded, 0);
}

/* Schedules a timer for each tick that the lowest level surely reaches; turns to each. */
static void check_near_timers(struct kunit *test, struct oracle *oracle)
{
	u64 begin = hwtimer_wheel_tick_at(&oracle->wheel, oracle->now);
	u64 cascaded = oracle->wheel.stats.cascaded;
	u64 expired = oracle->expired;
	unsigned int i, near = BUCKETS * 3 / 4;

	for (i = 1; i <= near; i++)
		oracle_schedule(oracle, (begin + i) * TICK);
	for (i = 1; i <= near; i++)
		oracle_turn(oracle, (begin + i) * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, expired + near);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.cascaded, cascaded);
}

static void near_timers_never_move_down_after_a_gap(struct kunit *test)
{
	static const unsigned int gaps[] = { 1, BUCKETS - 1, BUCKETS,
					     3 * BUCKETS + 5, 1000000 };
	struct oracle *oracle =
		create_kind(test, HWTIMER_KIND_HIERARCHICAL, BUCKETS);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(gaps); i++) {
		KUNIT_EXPECT_TRUE(test,
				  oracle_idle(oracle,
					      oracle->now + gaps[i] * TICK));
		check_near_timers(test, oracle);
	}
	/* The same while timers are pending on many levels. */
	for (i = 10; i < 30; i++)
		oracle_schedule(oracle, oracle->now + (5ULL << i) * TICK);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_TRUE(test,
				  oracle_idle(oracle,
					      oracle->now + gaps[i] * TICK));
		check_near_timers(test, oracle);
	}
	oracle_turn(oracle, oracle->now + (5ULL << 30) * TICK);
	KUNIT_EXPECT_EQ(test, oracle->nr_live, 0);
}

/* The wheel does not pass a timer that is due or should move down. */
static void wheel_does_not_follow_past_what_is_to_do(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	u64 next;
	u32 i;

	oracle_schedule(oracle, 500 * TICK);
	KUNIT_EXPECT_TRUE(test, oracle_idle(oracle, 500 * TICK));
	KUNIT_EXPECT_EQ(test, oracle->wheel.current_tick, 499);
	KUNIT_EXPECT_FALSE(test, oracle_idle(oracle, 501 * TICK));
	KUNIT_EXPECT_EQ(test, oracle->wheel.current_tick, 499);
	oracle_turn(oracle, 501 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);

	for (i = 0; i < 1000; i++)
		oracle_schedule(oracle, 100001 * TICK);
	next = hwtimer_wheel_next(&oracle->wheel);
	KUNIT_EXPECT_TRUE(test, oracle_idle(oracle, next * TICK));
	KUNIT_EXPECT_FALSE(test, oracle_idle(oracle, (next + 1) * TICK));
	oracle_turn(oracle, 100001 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1001);
}

/* A timer that is overdue when it is scheduled expires with the tick that has begun. */
static void following_does_not_delay_past_deadlines(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);

	KUNIT_EXPECT_TRUE(test, oracle_idle(oracle, 500 * TICK + 1));
	oracle_schedule(oracle, 3 * TICK);
	oracle_turn(oracle, 500 * TICK + 1);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
}

/*
 * Timers of the same ticks are scheduled again as these ticks come nearer, so the first
 * timers are levels above the last ones. The oracle compares the order.
 */
static void order_holds_across_gaps(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	static const u64 ticks[] = { 100000, 100001, 99999, 99968 };
	unsigned int i, gap;
	bool followed;

	for (gap = 1 << 16; gap; gap /= 16) {
		for (i = 0; i < ARRAY_SIZE(ticks); i++)
			oracle_schedule(oracle, ticks[i] * TICK);
		followed = oracle_idle(oracle, (99960 - gap) * TICK);
		/* They move down ahead of time only if they fill a chunk. */
		if (ARRAY_SIZE(ticks) < HWTIMER_CHUNK_ENTRIES)
			KUNIT_EXPECT_TRUE(test, followed);
	}
	oracle_turn(oracle, 99990 * TICK);
	oracle_turn(oracle, 100100 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->nr_live, 0);
}

static void crowd_moves_down_ahead(struct kunit *test)
{
	struct oracle *oracle =
		create_kind(test, HWTIMER_KIND_HIERARCHICAL, BUCKETS);
	unsigned int i;

	/*
	 * A bucket of level 1 is 8 ticks wide; this one holds ticks 96 to 103. It
	 * moves down once the position is at most 4 buckets before it.
	 */
	for (i = 0; i < 1000; i++)
		oracle_schedule(oracle, (97 + i % 7) * TICK);
	oracle_turn(oracle, 40 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.cascaded, 0);
	oracle_turn(oracle, 70 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.cascaded, 1000);
	oracle_turn(oracle, 200 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1000);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.cascaded, 1000);
}

/*
 * A timer for the first tick of its bucket need not move down, so the second chunk, which it
 * begins, makes no crowd. The next timer does, although that chunk has room for it.
 */
static void crowd_behind_a_first_tick_moves_down_ahead(struct kunit *test)
{
	struct oracle *oracle =
		create_kind(test, HWTIMER_KIND_HIERARCHICAL, BUCKETS);
	unsigned int i;

	for (i = 0; i < HWTIMER_CHUNK_ENTRIES; i++)
		oracle_schedule(oracle, 97 * TICK);
	oracle_schedule(oracle, 96 * TICK);
	oracle_schedule(oracle, 97 * TICK);
	oracle_turn(oracle, 40 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.cascaded, 0);
	oracle_turn(oracle, 70 * TICK);
	/* The timer for the first tick stays. */
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.cascaded,
			HWTIMER_CHUNK_ENTRIES + 1);
	oracle_turn(oracle, 200 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->nr_live, 0);
}

/*
 * Nothing else wakes the worker, so the wheel must ask for the turns that move the crowd
 * down.
 */
static void lonely_crowd_moves_down_ahead(struct kunit *test)
{
	struct oracle *oracle =
		create_kind(test, HWTIMER_KIND_HIERARCHICAL, BUCKETS);
	u64 walked;
	unsigned int i;

	for (i = 0; i < 3000; i++)
		oracle_schedule(oracle, (100000 + i % 500) * TICK);
	while (hwtimer_wheel_next(&oracle->wheel) < 100000)
		turn_next(oracle);
	walked = oracle->wheel.stats.walked;
	oracle_turn(oracle, 100000 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 6);
	KUNIT_EXPECT_LE(test, oracle->wheel.stats.walked - walked, 300);
	KUNIT_EXPECT_LT(test, turn_until_empty(oracle), 520);
}

/*
 * A late turn moves part of a crowd down a level. Then a compaction walks the entries
 * that have moved, which are due already. The rest of the crowd, still on the level
 * above, must not expire before them.
 */
static void order_holds_when_a_compaction_meets_what_is_due(struct kunit *test)
{
	struct oracle *oracle = create_kind(test, HWTIMER_KIND_HIERARCHICAL, 8);
	unsigned int i, n;

	for (i = 0; i < 900; i++)
		oracle_schedule(oracle, 257 * TICK);
	oracle->now = 400 * TICK;
	n = hwtimer_wheel_advance(&oracle->wheel, 128 * TICK, oracle->due);
	n += hwtimer_wheel_advance(&oracle->wheel, 400 * TICK, oracle->due);
	for (i = 0; i < 3; i++)
		hwtimer_wheel_compact(&oracle->wheel, true);
	KUNIT_ASSERT_EQ(test, n, 0);
	oracle_turn(oracle, 400 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 900);
}

/*
 * A compaction is in the middle of a bucket, and has removed its earliest entry, a dead
 * one. Then an entry is added that is earlier than the rest of the bucket.
 */
static void compaction_sees_who_comes_meanwhile(struct kunit *test)
{
	struct oracle *oracle = create_kind(test, HWTIMER_KIND_HASHED, 8);
	struct oracle_timer *first = oracle_schedule(oracle, 100 * TICK);
	unsigned int i;

	for (i = 0; i < 3 * HWTIMER_HOLD; i++)
		oracle_schedule(oracle, 116 * TICK);
	oracle_cancel(oracle, first);
	hwtimer_wheel_compact(&oracle->wheel, true);
	KUNIT_ASSERT_TRUE(test, oracle->wheel.sweep.active);
	oracle_schedule(oracle, 108 * TICK);
	/* Finish this pass only: a new pass would see the entry anyway. */
	while (oracle->wheel.sweeping)
		hwtimer_wheel_compact(&oracle->wheel, false);
	oracle_turn(oracle, 108 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
}

/* A bucket that is due is finished in the end, however many timers are added to it. */
static void newcomers_do_not_hold_up_what_is_due(struct kunit *test)
{
	struct oracle *oracle =
		create_kind(test, HWTIMER_KIND_HIERARCHICAL, BUCKETS);
	struct hwtimer_wheel *wheel = &oracle->wheel;
	unsigned int turns = 2816 / HWTIMER_HOLD;
	unsigned int i, j, expired = 0;

	for (i = 0; i < 500; i++)
		oracle_schedule(oracle, (2500 + i) * TICK);
	for (i = 0; i < turns && expired < 101; i++) {
		expired +=
			hwtimer_wheel_advance(wheel, 2600 * TICK, oracle->due);
		/* More than a turn can walk */
		for (j = 0; j < HWTIMER_HOLD * 9 / 8; j++)
			oracle_schedule(oracle, (2700 + j) * TICK);
	}
	KUNIT_EXPECT_EQ(test, expired, 101);
}

/* Schedules a timer while a crowd moves down; the timer must stay behind the crowd. */
static void schedule_between(struct oracle *oracle)
{
	if (oracle->nr_live < ORACLE_TIMERS - 40)
		oracle_schedule(oracle, (97 + oracle->nr_live % 31) * TICK);
}

static void order_holds_while_a_crowd_moves_down(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	unsigned int i;

	for (i = 0; i < 3000; i++)
		oracle_schedule(oracle, (96 + i % 32) * TICK);
	oracle->between = schedule_between;
	oracle_turn(oracle, 70 * TICK);
	oracle_turn(oracle, 71 * TICK);
	oracle_turn(oracle, 95 * TICK);
	oracle_turn(oracle, 110 * TICK);
	oracle->between = NULL;
	oracle_turn(oracle, 200 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->nr_live, 0);
}

static void slack_as_wide_as_the_bucket_needs_no_cascade(struct kunit *test)
{
	struct oracle *oracle =
		create_kind(test, HWTIMER_KIND_HIERARCHICAL, BUCKETS);
	unsigned int i;

	for (i = 0; i < 1000; i++)
		oracle_schedule_slack(oracle, (5000 + i) * TICK, 1100 * TICK);
	for (i = 1; i < 200; i++)
		oracle_turn(oracle, i * 40 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1000);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.cascaded, 0);
}

static void one_tick_and_a_century_in_one_wheel(struct kunit *test)
{
	struct oracle *oracle = create(test, BUCKETS, 0);
	u64 delay;

	for (delay = TICK; delay < CENTURY; delay *= 2)
		oracle_schedule(oracle, delay);
	oracle_schedule(oracle, CENTURY);
	turn_until_empty(oracle);
	KUNIT_EXPECT_EQ(test, oracle->now, CENTURY);
}

/*
 * Random operations
 */

/**
 * struct wheel_config - a wheel for random operations
 * @shape: the shape of the wheel
 * @begin: the time at which it begins, ns
 */
struct wheel_config {
	struct hwtimer_shape shape;
	u64 begin;
};

#define HASHED HWTIMER_KIND_HASHED
#define HIERARCHICAL HWTIMER_KIND_HIERARCHICAL

/* Soon after these times, the number of the tick takes more than 32 and 48 bits. */
#define BEGIN_32(tick) (((1ULL << 32) - 5000) * (tick))
#define BEGIN_48(tick) (((1ULL << 48) - 5000) * (tick))

static const struct wheel_config start_configs[] = {
	{ { 1000, HASHED, 8 }, 0 },
	{ { 10000, HASHED, 16 }, BEGIN_32(10000) },
	{ { 1000, HASHED, 32 }, BEGIN_48(1000) },
	{ { 1000000, HASHED, 64 }, 123456789 },
};

static const struct wheel_config whole_configs[] = {
	{ { 1000, HIERARCHICAL, 8 }, 0 },
	{ { 1000000, HIERARCHICAL, 64 }, 123456789 },
	{ { 10000, HIERARCHICAL, 256 }, BEGIN_32(10000) },
	{ { 1000, HIERARCHICAL, 512 }, BEGIN_48(1000) },
	{ { 1000, HIERARCHICAL, 4096 }, 0 },
};

static void wheel_config_name(const struct wheel_config *config, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE,
		 "kind %u, %u buckets, tick %llu, begin %llu",
		 config->shape.kind, config->shape.buckets, config->shape.tick,
		 config->begin);
}

KUNIT_ARRAY_PARAM(start_config, start_configs, wheel_config_name);
KUNIT_ARRAY_PARAM(whole_config, whole_configs, wheel_config_name);

static struct rnd_state random_state;

/* Returns a deadline in the past, now, in this round, rounds away, or never. */
static u64 random_deadline(struct oracle *oracle)
{
	u64 tick = oracle->wheel.shape.tick;
	u64 round = tick * oracle->wheel.shape.buckets;
	u32 within_tick = random_below(&random_state, tick);

	switch (random_below(&random_state, 20)) {
	case 0:
		return oracle->now - min(oracle->now, 10 * tick + within_tick);
	case 1:
		return oracle->now;
	case 2:
		return random_below(&random_state, 20) ? oracle->now + round :
							 U64_MAX;
	case 3 ... 5:
		return oracle->now + random_below(&random_state, 5) * tick +
		       within_tick;
	case 6:
		/* Each level of a hierarchy is equally likely. */
		return oracle->now +
		       ((tick << random_below(&random_state, 30)) / 7) *
			       (1 + random_below(&random_state, 7));
	case 7 ... 9:
		return oracle->now + random_below(&random_state, 7) * round +
		       within_tick;
	default:
		return oracle->now +
		       random_below(&random_state,
				    oracle->wheel.shape.buckets) *
			       tick +
		       within_tick;
	}
}

/* Returns a slack, ns; 0 in four of five cases. */
static u64 random_slack(struct oracle *oracle)
{
	if (random_below(&random_state, 5))
		return 0;
	return (oracle->wheel.shape.tick << random_below(&random_state, 12)) +
	       random_below(&random_state, 1000);
}

static struct oracle_timer *random_timer(struct oracle *oracle)
{
	return oracle->live[random_below(&random_state, oracle->nr_live)];
}

static void random_move(struct oracle *oracle)
{
	struct oracle_timer *timer = random_timer(oracle);
	u64 old = oracle_record(oracle, timer)->deadline;
	u64 new = random_deadline(oracle);

	/* Otherwise far timers would hardly ever move to a later deadline. */
	if (random_below(&random_state, 2) && new < old && old != U64_MAX)
		new = old + (old - new) % (3 * oracle->wheel.shape.tick *
					   oracle->wheel.shape.buckets);
	oracle_move(oracle, timer, new);
}

/* Lets time go on without a turn, seldom past the next deadline. */
static void random_idle(struct oracle *oracle)
{
	u64 round = oracle->wheel.shape.tick * oracle->wheel.shape.buckets;
	u64 gap = round >> random_below(&random_state, 12);

	oracle_idle(oracle, oracle->now + gap * random_below(&random_state, 4));
}

/*
 * Schedules timers that share few chunks, and will scatter: for neighbouring ticks far ahead, or
 * (@moved) for one tick, and then moved to later ones. Then others for these ticks, which it
 * cancels. The last call for which chunks are reserved is that for a lone timer.
 */
static void schedule_crowd(struct oracle *oracle, u32 few, u32 dead, bool moved)
{
	const u64 tick = oracle->wheel.shape.tick;
	const u64 first =
		oracle->now + (tick << (3 + random_below(&random_state, 20)));
	const u64 stride = tick * (1 + random_below(&random_state, 3));
	u32 i, near = 1 + random_below(&random_state, few);

	for (i = 0; i < few; i++)
		oracle_schedule(oracle, moved ? first : first + i * stride);
	for (i = 0; i < dead; i++)
		oracle_schedule(oracle, first + i % near * stride);
	for (i = 0; moved && i < few; i++)
		oracle_move(oracle, oracle->live[i], first + i * stride + tick);
	while (oracle->nr_live > few)
		oracle_cancel(oracle, oracle->live[oracle->nr_live - 1]);
	oracle_schedule(oracle, oracle->now + 3 * tick);
}

/*
 * Crowds scatter, while timers are cancelled, events are read and dead entries are removed, but
 * no chunk is reserved any more.
 */
static void crowds_scatter_with_what_is_reserved(struct kunit *test)
{
	struct oracle *oracle = create(test, many_buckets(test), 0);
	u32 rounds = hwtimer_test_scaled(30);

	hwtimer_test_seed(test, &random_state);
	while (rounds--) {
		schedule_crowd(oracle, 5 + random_below(&random_state, 600),
			       random_below(&random_state, 3000),
			       random_below(&random_state, 2));
		while (oracle->nr_live) {
			turn_next(oracle);
			if (!random_below(&random_state, 8))
				hwtimer_wheel_compact(&oracle->wheel, true);
			if (oracle->nr_live && !random_below(&random_state, 8))
				oracle_cancel(oracle, random_timer(oracle));
		}
		oracle_read(oracle);
	}
}

/* Does what callers may do at any time, even between two slices of a turn. */
static void random_request(struct oracle *oracle)
{
	switch (random_below(&random_state, 10)) {
	case 0 ... 4:
		if (oracle->nr_live < ORACLE_TIMERS)
			oracle_schedule_slack(oracle, random_deadline(oracle),
					      random_slack(oracle));
		break;
	case 5 ... 6:
		if (oracle->nr_live)
			oracle_cancel(oracle, random_timer(oracle));
		break;
	case 7 ... 8:
		if (oracle->nr_live)
			random_move(oracle);
		break;
	default:
		if (!random_below(&random_state, 20))
			random_idle(oracle);
		else if (random_below(&random_state, 2))
			hwtimer_wheel_compact(&oracle->wheel, true);
		else
			skim_bounded(oracle,
				     1 + random_below(&random_state, 100));
	}
}

static void random_requests(struct oracle *oracle)
{
	u32 count = random_below(&random_state, 4);

	while (count--)
		random_request(oracle);
}

/* Sets the clock back, in one of ten calls, but never to before the wheel began. */
static void random_set_back(struct oracle *oracle)
{
	const struct wheel_config *config = oracle->test->param_value;
	u64 since = oracle->now - config->begin;

	if (!oracle->wheel.rewinds || random_below(&random_state, 10))
		return;
	oracle_set_back(oracle,
			oracle->now -
				(since >> random_below(&random_state, 16)));
}

static void random_turn(struct oracle *oracle)
{
	u64 tick = oracle->wheel.shape.tick;
	u64 round = tick * oracle->wheel.shape.buckets;
	u64 ahead;

	switch (random_below(&random_state, 50)) {
	case 0:
		ahead = random_below(&random_state, 5) * round;
		break;
	case 49:
		random_set_back(oracle);
		ahead = 0;
		break;
	case 1 ... 3:
		ahead = random_below(&random_state,
				     oracle->wheel.shape.buckets) *
			tick;
		break;
	default:
		ahead = random_below(&random_state, 3) * tick;
	}
	oracle_turn(oracle,
		    oracle->now + ahead + random_below(&random_state, tick));
}

/* Whether there were some compactions. With the small constants, each takes 10,000 operations. */
static bool compacted(const struct hwtimer_wheel_stats *stats)
{
	return stats->compactions > 2;
}

static void random_operations_match_the_oracle(struct kunit *test)
{
	const struct wheel_config *config = test->param_value;
	struct oracle *oracle =
		oracle_create(test, &config->shape, config->begin);
	const struct hwtimer_wheel_stats *stats = &oracle->wheel.stats;
	u32 i, least = hwtimer_test_scaled(OPERATIONS);
	/* Fewer operations reach fewer of the rare cases. */
	u32 often = min(least / 100, 100);

	hwtimer_test_seed(test, &random_state);
	if (random_below(&random_state, 2))
		oracle_may_be_set_back(oracle);
	oracle->repeats = random_below(&random_state, 2);
	oracle->between = random_requests;
	for (i = 0; i < least || (i < OPERATIONS && !compacted(stats)); i++) {
		/* In every second 2,000 operations no turn comes; the wheel fills. */
		if (i / 2000 % 2 || random_below(&random_state, 10))
			random_request(oracle);
		else
			random_turn(oracle);
	}
	kunit_info(test, "%u operations: %llu expired, %llu refiled\n", i,
		   oracle->expired, stats->refiled);
	kunit_info(test, "%llu removed, %llu cascaded\n", stats->removed,
		   stats->cascaded);
	/* An operation that never happened was not tested. */
	KUNIT_EXPECT_GT(test, oracle->expired, often);
	KUNIT_EXPECT_GT(test, stats->refiled, often);
	KUNIT_EXPECT_GT(test, stats->removed, often);
	KUNIT_EXPECT_TRUE(test, compacted(stats));
	if (config->shape.kind == HWTIMER_KIND_HIERARCHICAL)
		KUNIT_EXPECT_GT(test, stats->cascaded, often);

	oracle->between = NULL;
	oracle->repeats = false;
	oracle_turn(oracle, oracle->now + 100 * config->shape.tick *
						  config->shape.buckets);
	while (oracle->nr_live)
		oracle_cancel(oracle, oracle->live[0]);
	oracle_compact(oracle);
	KUNIT_EXPECT_EQ(test, oracle->wheel.postponed, 0);
	oracle_read(oracle);
	KUNIT_EXPECT_EQ(test, oracle->pool.spares, oracle->pool.chunks);
}

static void random_operations_match_with_a_start_wheel(struct kunit *test)
{
	random_operations_match_the_oracle(test);
}

/*
 * The wheel with which an instance starts, and its growth
 */

/* The wheel with which an instance starts */
static struct oracle *create_start(struct kunit *test)
{
	return create_kind(test, HWTIMER_KIND_HASHED, HWTIMER_START_BUCKETS);
}

static void grow(struct oracle *oracle, u32 buckets)
{
	const struct hwtimer_shape shape = {
		.tick = oracle->wheel.shape.tick,
		.kind = HWTIMER_KIND_HIERARCHICAL,
		.buckets = buckets,
	};

	oracle_grow(oracle, &shape);
}

static void empty_wheel_grows(struct kunit *test)
{
	struct oracle *oracle = create_start(test);

	grow(oracle, 256);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(&oracle->wheel),
			HWTIMER_TICK_NONE);
	oracle_schedule(oracle, oracle->now + 5 * TICK);
	turn_until_empty(oracle);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
}

/* Timers of near and far ticks, several of each, expire in order after the growth. */
static void order_holds_when_the_wheel_grows(struct kunit *test)
{
	struct oracle *oracle = create_start(test);
	u32 i;

	for (i = 0; i < HWTIMER_START_ENTRIES; i++)
		oracle_schedule(oracle,
				oracle->now + (TICK << i % 7 * 4) + i % 3);
	grow(oracle, 256);
	for (i = 0; i < 100; i++)
		oracle_schedule(oracle,
				oracle->now + (TICK << i % 7 * 4) + i % 3);
	turn_until_empty(oracle);
	KUNIT_EXPECT_EQ(test, oracle->expired, HWTIMER_START_ENTRIES + 100);
}

/* Has the wheel grow in the middle of a turn. */
static void grow_between(struct oracle *oracle)
{
	oracle->between = NULL;
	KUNIT_EXPECT_TRUE(oracle->test, hwtimer_wheel_busy(&oracle->wheel));
	grow(oracle, 256);
}

/*
 * A slice ends in the middle of a bucket: without a walk if all of the bucket is due, and in
 * a walk if timers of a later round are there, too.
 */
static void wheel_grows_in_the_middle_of_a_turn(struct kunit *test)
{
	struct oracle *oracle = create_start(test);
	u64 round = HWTIMER_START_BUCKETS * TICK;
	u32 walks, i;

	for (walks = 0; walks < 2; walks++) {
		for (i = 0; i < 2 * HWTIMER_HOLD; i++) {
			oracle_schedule(oracle, oracle->now + 3 * TICK);
			if (walks)
				oracle_schedule(oracle,
						oracle->now + 3 * TICK + round);
		}
		oracle_schedule(oracle, oracle->now + 4 * TICK);
		oracle->between = grow_between;
		oracle_turn(oracle, oracle->now + 4 * TICK);
		KUNIT_EXPECT_PTR_EQ(test, oracle->between, NULL);
		turn_until_empty(oracle);
		oracle_read(oracle);
		oracle_destroy(oracle);
		oracle = create_start(test);
	}
}

/* Each entry of the start wheel gets into a bucket of its own, and takes a chunk there. */
static void entries_scatter_when_the_wheel_grows(struct kunit *test)
{
	struct oracle *oracle = create_start(test);
	u32 i;

	for (i = 1; i <= HWTIMER_START_ENTRIES; i++)
		oracle_schedule(oracle, oracle->now + i * TICK);
	grow(oracle, 256);
	turn_until_empty(oracle);
	KUNIT_EXPECT_EQ(test, oracle->expired, HWTIMER_START_ENTRIES);
}

/* The same for entries of one bucket, so that hardly any chunk becomes free for them. */
static void bucket_scatters_when_the_wheel_grows(struct kunit *test)
{
	struct oracle *oracle = create_start(test);
	u64 round = HWTIMER_START_BUCKETS * TICK;
	u32 i;

	for (i = 1; i <= HWTIMER_START_ENTRIES / 2; i++)
		oracle_schedule(oracle, oracle->now + i * round);
	grow(oracle, HWTIMER_START_BUCKETS * HWTIMER_START_ENTRIES);
	turn_until_empty(oracle);
	KUNIT_EXPECT_EQ(test, oracle->expired, HWTIMER_START_ENTRIES / 2);
}

/*
 * The same for so few entries that all chunks in use might be the queue's. oracle_grow() checks
 * that enough chunks are left.
 */
static void few_entries_scatter_when_the_wheel_grows(struct kunit *test)
{
	struct oracle *oracle = create_start(test);
	u64 round = HWTIMER_START_BUCKETS * TICK;
	u32 i;

	for (i = 1; i <= 3; i++)
		oracle_schedule(oracle, oracle->now + i * round);
	grow(oracle, HWTIMER_START_BUCKETS * 4);
	turn_until_empty(oracle);
	KUNIT_EXPECT_EQ(test, oracle->expired, 3);
}

/* Another timer of the same deadline, which has passed for long, comes; the wheel grows. */
static void add_overdue_and_grow(struct oracle *oracle)
{
	oracle->between = NULL;
	KUNIT_EXPECT_TRUE(oracle->test, hwtimer_wheel_busy(&oracle->wheel));
	oracle_schedule(oracle, 3 * TICK)->unordered = false;
	grow(oracle, 256);
}

/*
 * Timers that were overdue when they were scheduled keep their order, too: the second one is
 * in a bucket with a lower number than the first one's.
 */
static void
overdue_timers_keep_their_order_when_the_wheel_grows(struct kunit *test)
{
	struct oracle *oracle = create_start(test);
	u64 last = HWTIMER_START_BUCKETS - 1;
	u32 i;

	oracle_turn(oracle, (last - 1) * TICK);
	for (i = 0; i < 2 * HWTIMER_HOLD; i++)
		oracle_schedule(oracle, last * TICK);
	oracle_schedule(oracle, 3 * TICK)->unordered = false;
	oracle->between = add_overdue_and_grow;
	oracle_turn(oracle, (last + 2) * TICK);
	KUNIT_EXPECT_PTR_EQ(test, oracle->between, NULL);
	turn_until_empty(oracle);
	KUNIT_EXPECT_EQ(test, oracle->expired, 2 * HWTIMER_HOLD + 2);
}

/* An overdue timer is due at the next tick, before and after the growth. */
static void overdue_timer_stays_due_when_the_wheel_grows(struct kunit *test)
{
	struct oracle *oracle = create_start(test);

	oracle_turn(oracle, 1000 * TICK);
	oracle_schedule(oracle, 3 * TICK);
	oracle_schedule(oracle, 1001 * TICK);
	grow(oracle, 256);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(&oracle->wheel), 1001);
	oracle_turn(oracle, 1001 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 2);
}

static void
postponed_timer_is_filed_anew_when_the_wheel_grows(struct kunit *test)
{
	struct oracle *oracle = create_start(test);
	struct oracle_timer *timer =
		oracle_schedule(oracle, oracle->now + 5 * TICK);

	oracle_move(oracle, timer, oracle->now + 500 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->wheel.postponed, 1);
	grow(oracle, 256);
	KUNIT_EXPECT_EQ(test, oracle->wheel.postponed, 0);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(&oracle->wheel), 500);
	turn_until_empty(oracle);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
}

/* Until it has grown, an instance lets no more entries than this into the wheel. */
static void random_request_of_a_start(struct oracle *oracle)
{
	if (oracle->wheel.entries + oracle->repeating < HWTIMER_START_ENTRIES)
		random_request(oracle);
}

static u32 growth_in;

/* Now and then, the wheel grows between two slices of a turn. */
static void random_growth(struct oracle *oracle)
{
	random_request_of_a_start(oracle);
	if (growth_in && !--growth_in) {
		const struct wheel_config *config = oracle->test->param_value;

		oracle_grow(oracle, &config->shape);
		oracle->between = random_requests;
	}
}

static void random_operations_match_while_the_wheel_grows(struct kunit *test)
{
	const struct wheel_config *config = test->param_value;
	const struct hwtimer_shape start = {
		.tick = config->shape.tick,
		.kind = HWTIMER_KIND_HASHED,
		.buckets = HWTIMER_START_BUCKETS,
	};
	u32 round, i, rounds = hwtimer_test_scaled(OPERATIONS) / 1000;

	hwtimer_test_seed(test, &random_state);
	for (round = 0; round < rounds; round++) {
		struct oracle *oracle =
			oracle_create(test, &start, config->begin);

		if (random_below(&random_state, 2))
			oracle_may_be_set_back(oracle);
		oracle->repeats = random_below(&random_state, 2);
		oracle->between = random_growth;
		growth_in = 1 + random_below(&random_state, 300);
		while (growth_in) {
			if (random_below(&random_state, 10))
				random_growth(oracle);
			else
				random_turn(oracle);
		}
		KUNIT_ASSERT_EQ(test, oracle->wheel.shape.buckets,
				config->shape.buckets);
		for (i = 0; i < 200; i++) {
			if (random_below(&random_state, 10))
				random_request(oracle);
			else
				random_turn(oracle);
		}
		oracle->between = NULL;
		oracle->repeats = false;
		oracle_turn(oracle,
			    oracle->now + 100 * config->shape.tick *
						  config->shape.buckets);
		while (oracle->nr_live)
			oracle_cancel(oracle, oracle->live[0]);
		oracle_compact(oracle);
		KUNIT_EXPECT_EQ(test, oracle->wheel.postponed, 0);
		oracle_read(oracle);
		KUNIT_EXPECT_EQ(test, oracle->pool.spares, oracle->pool.chunks);
		test->priv = NULL;
		oracle_destroy(oracle);
	}
}

static struct kunit_case wheel_test_cases[] = {
	KUNIT_CASE(tick_of_rounds_up),
	KUNIT_CASE(tick_at_rounds_down),
	KUNIT_CASE(ticks_do_not_wrap),
	KUNIT_CASE(time_of_saturates),
	KUNIT_CASE(reciprocal_is_exact_for_63_bits),
	KUNIT_CASE(reciprocal_divides),
	KIND_CASE(delays_around_the_size_of_the_wheel),
	KIND_CASE(ticks_pass_powers_of_two),
	KIND_CASE(timer_for_ever_stays),
	KIND_CASE(past_deadline_expires_on_the_next_turn),
	KIND_CASE(compaction_does_not_delay_past_deadlines),
	KIND_CASE(empty_wheel_wants_no_turn),
	KIND_CASE(later_round_is_not_walked),
	KUNIT_CASE(mixed_bucket_is_counted),
	KIND_CASE(sleeper_catches_up_in_order),
	KIND_CASE(skim_goes_on_to_the_first_live_timer),
	KIND_CASE(skim_moves_postponed_timers),
	KIND_CASE(skim_passes_over_later_rounds),
	KIND_CASE(skim_lets_the_worker_sleep),
	KIND_CASE(skim_looks_at_few_dead_entries),
	KIND_CASE(skim_looks_at_few_postponed_timers),
	KUNIT_CASE(skim_leaves_no_bucket_half_moved),
	KUNIT_CASE(skim_leaves_a_crowd_to_move_down_ahead),
	KUNIT_CASE(skim_spares_a_crowd_far_away),
	KIND_CASE(skim_walks_no_crowd_for_a_few),
	KIND_CASE(skim_walks_no_crowd_that_stays),
	KIND_CASE(later_deadline_writes_no_entry),
	KIND_CASE(earlier_deadline_leaves_a_dead_entry),
	KIND_CASE(moved_timers_expire_by_tick_in_a_late_turn),
	KIND_CASE(postponed_timer_leaves_its_bucket),
	KIND_CASE(postponed_crowd_scatters),
	KIND_CASE(postponed_timers_meet_in_full_buckets),
	KIND_CASE(stamp_wraps),
	KIND_CASE(revived_entry_does_no_harm),
	KIND_CASE(revived_twins_expire_once),
	KIND_CASE(expired_timer_leaves_no_entry_alive),
	KIND_CASE(revived_successor_stays_dead),
	KIND_CASE(revived_entry_of_a_free_record_stays_dead),
	KUNIT_CASE(earliest_tick_is_found_in_any_bucket),
	KIND_CASE(compaction_removes_the_dead),
	KIND_CASE(slack_is_kept),
	KIND_CASE(slack_lets_timers_meet),
	KIND_CASE(slack_of_several_rounds_is_used),
	KIND_CASE(slack_of_a_postponed_timer_is_kept),
	KIND_CASE(timers_wait_when_the_clock_is_set_back),
	KIND_CASE(overdue_timer_waits_when_the_clock_is_set_back),
	KIND_CASE(overdue_crowd_scatters_when_the_clock_is_set_back),
	KIND_CASE(few_timers_before_many_dead_entries_scatter),
	KIND_CASE(crowds_scatter_with_what_is_reserved),
	KIND_CASE(clock_is_set_back_again_meanwhile),
	KIND_CASE(timer_comes_in_time_when_the_clock_was_set_back_twice),
	KIND_CASE(rewinding_delays_nothing),
	KUNIT_CASE(rewinding_clears_in_pieces),
	KIND_CASE(drain_finds_all_chunks),
	KUNIT_CASE(levels_are_as_many_as_it_takes),
	KIND_CASE(lone_timer_wakes_up_once),
	KIND_CASE(order_holds_across_levels),
	KUNIT_CASE(order_holds_when_a_compaction_meets_what_is_due),
	KUNIT_CASE(compaction_sees_who_comes_meanwhile),
	KUNIT_CASE(newcomers_do_not_hold_up_what_is_due),
	KIND_CASE(order_holds_while_a_crowd_moves_down),
	KIND_CASE(one_tick_and_a_century_in_one_wheel),
	KUNIT_CASE(far_timer_is_touched_once_a_level),
	KUNIT_CASE(near_timers_never_move_down),
	KUNIT_CASE(near_timers_never_move_down_after_a_gap),
	KIND_CASE(wheel_does_not_follow_past_what_is_to_do),
	KIND_CASE(following_does_not_delay_past_deadlines),
	KIND_CASE(order_holds_across_gaps),
	KUNIT_CASE(crowd_moves_down_ahead),
	KUNIT_CASE(crowd_behind_a_first_tick_moves_down_ahead),
	KUNIT_CASE(lonely_crowd_moves_down_ahead),
	KUNIT_CASE(slack_as_wide_as_the_bucket_needs_no_cascade),
	KUNIT_CASE(empty_wheel_grows),
	KUNIT_CASE(order_holds_when_the_wheel_grows),
	KUNIT_CASE(wheel_grows_in_the_middle_of_a_turn),
	KUNIT_CASE(entries_scatter_when_the_wheel_grows),
	KUNIT_CASE(bucket_scatters_when_the_wheel_grows),
	KUNIT_CASE(few_entries_scatter_when_the_wheel_grows),
	KUNIT_CASE(overdue_timers_keep_their_order_when_the_wheel_grows),
	KUNIT_CASE(overdue_timer_stays_due_when_the_wheel_grows),
	KUNIT_CASE(postponed_timer_is_filed_anew_when_the_wheel_grows),
	KUNIT_CASE_PARAM_ATTR(random_operations_match_while_the_wheel_grows,
			      whole_config_gen_params,
			      { .speed = KUNIT_SPEED_SLOW }),
	KUNIT_CASE_PARAM_ATTR(random_operations_match_with_a_start_wheel,
			      start_config_gen_params,
			      { .speed = KUNIT_SPEED_SLOW }),
	KUNIT_CASE_PARAM_ATTR(random_operations_match_the_oracle,
			      whole_config_gen_params,
			      { .speed = KUNIT_SPEED_SLOW }),
	{}
};

static struct kunit_suite wheel_test_suite = {
	.name = "hwtimer_wheel",
	.exit = wheel_test_exit,
	.test_cases = wheel_test_cases,
};

kunit_test_suite(wheel_test_suite);
