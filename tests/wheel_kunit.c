// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the wheel: the arithmetic of ticks, every boundary by example,
 * and everything else by random operations against the oracle.
 */
#include <kunit/test.h>
#include <linux/ktime.h>

#include "oracle.h"
#include "random.h"

#define TICK 1000ULL
#define HOUR (3600ULL * NSEC_PER_SEC)
#define BUCKETS 64U

/* In all configurations together more than 200,000. */
#define OPERATIONS 50000

static void wheel_test_exit(struct kunit *test)
{
	oracle_destroy(test->priv);
}

/*
 * The arithmetic of ticks
 */

static void tick_of_rounds_up(struct kunit *test)
{
	struct hwtimer_wheel wheel = { .tick = TICK, .base = 5 * TICK };

	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_of(&wheel, 5 * TICK), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_of(&wheel, 5 * TICK + 1), 1);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_of(&wheel, 6 * TICK), 1);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_of(&wheel, 6 * TICK + 1), 2);
}

static void tick_at_rounds_down(struct kunit *test)
{
	struct hwtimer_wheel wheel = { .tick = TICK, .base = 5 * TICK };

	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_at(&wheel, 6 * TICK - 1), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_at(&wheel, 6 * TICK), 1);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_at(&wheel, 7 * TICK - 1), 1);
}

static void ticks_before_the_base_are_zero(struct kunit *test)
{
	struct hwtimer_wheel wheel = { .tick = TICK, .base = 5 * TICK };

	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_of(&wheel, 0), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_at(&wheel, 0), 0);
}

static void ticks_do_not_wrap(struct kunit *test)
{
	struct hwtimer_wheel wheel = { .tick = 10 * NSEC_PER_USEC };
	u64 century = 100ULL * 366 * 24 * 3600 * NSEC_PER_SEC;

	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_of(&wheel, U64_MAX),
			U64_MAX / wheel.tick + 1);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_tick_at(&wheel, U64_MAX),
			U64_MAX / wheel.tick);
	KUNIT_EXPECT_EQ(test,
			hwtimer_wheel_tick_of(&wheel, century) * wheel.tick,
			century);
	KUNIT_EXPECT_EQ(test,
			hwtimer_wheel_time_of(&wheel, century / wheel.tick),
			century);
}

static void time_of_saturates(struct kunit *test)
{
	struct hwtimer_wheel wheel = { .tick = HOUR, .base = HOUR };

	KUNIT_EXPECT_EQ(test, hwtimer_wheel_time_of(&wheel, 0), HOUR);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_time_of(&wheel, U64_MAX),
			HWTIMER_TICK_NONE);
	KUNIT_EXPECT_EQ(test,
			hwtimer_wheel_time_of(&wheel, U64_MAX / wheel.tick),
			HWTIMER_TICK_NONE);
}

/*
 * Boundaries
 */

/* A timer of @delay ticks is not a nanosecond early, but then expires. */
static void check_delay(struct kunit *test, u32 buckets, u64 base, u64 delay)
{
	struct oracle *oracle = oracle_create(test, buckets, TICK, base);
	u64 due = oracle_time(oracle, max(delay, 1ULL));

	oracle_schedule(oracle, base + delay * TICK);
	oracle_turn(oracle, due - 1);
	KUNIT_EXPECT_EQ_MSG(test, oracle->expired, 0,
			    "%u buckets, base %llu, delay %llu", buckets, base,
			    delay);
	oracle_turn(oracle, due);
	KUNIT_EXPECT_EQ_MSG(test, oracle->expired, 1,
			    "%u buckets, base %llu, delay %llu", buckets, base,
			    delay);
	oracle_destroy(oracle);
	test->priv = NULL;
}

static void delays_around_the_size_of_the_wheel(struct kunit *test)
{
	static const u32 sizes[] = { 8, 64, 512, 1024 };
	static const u64 bases[] = { 0, ((1ULL << 32) - 3) * TICK,
				     ((1ULL << 48) - 3) * TICK };
	unsigned int i, j, k;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		u64 size = sizes[i];
		u64 delays[] = { 0,	   1,
				 size - 1, size,
				 size + 1, 2 * size - 1,
				 2 * size, 2 * size + 1,
				 7 * size, 1000 * size + 1 };

		for (j = 0; j < ARRAY_SIZE(bases); j++)
			for (k = 0; k < ARRAY_SIZE(delays); k++)
				check_delay(test, sizes[i], bases[j],
					    delays[k]);
	}
}

/* Not the base but the wheel itself goes past 2^32 and 2^48 ticks. */
static void ticks_pass_powers_of_two(struct kunit *test)
{
	static const unsigned int shifts[] = { 31, 32, 48 };
	struct oracle *oracle = oracle_create(test, BUCKETS, TICK, 0);
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
	struct oracle *oracle = oracle_create(test, BUCKETS, TICK, 0);
	struct oracle_timer *timer = oracle_schedule(oracle, U64_MAX);

	oracle_schedule(oracle, U64_MAX - 1);
	oracle_turn(oracle, KTIME_MAX);
	KUNIT_EXPECT_EQ(test, oracle->expired, 0);
	oracle_compact(oracle);
	KUNIT_EXPECT_EQ(test, oracle->nr_live, 2);
	/* It can still be given a nearer deadline. */
	oracle_move(oracle, timer, KTIME_MAX + 5 * TICK);
	oracle_turn(oracle, KTIME_MAX + 6 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
}

static void past_deadline_expires_on_the_next_turn(struct kunit *test)
{
	struct oracle *oracle = oracle_create(test, BUCKETS, TICK, 100 * TICK);

	oracle_turn(oracle, 500 * TICK);
	oracle_schedule(oracle, 0);
	oracle_schedule(oracle, 100 * TICK);
	oracle_schedule(oracle, 500 * TICK);
	oracle_turn(oracle, 501 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 3);
}

static void compaction_does_not_delay_past_deadlines(struct kunit *test)
{
	struct oracle *oracle = oracle_create(test, BUCKETS, TICK, 0);

	oracle_turn(oracle, 500 * TICK);
	oracle_schedule(oracle, 3 * TICK);
	oracle_compact(oracle);
	oracle_turn(oracle, 501 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
}

/*
 * What is walked, and when the wheel wants to be turned
 */

static void empty_wheel_wants_no_turn(struct kunit *test)
{
	struct oracle *oracle = oracle_create(test, BUCKETS, TICK, 0);

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
	struct oracle *oracle = oracle_create(test, BUCKETS, TICK, 0);

	oracle_schedule(oracle, (5 + 1000 * BUCKETS) * TICK);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(&oracle->wheel),
			5 + 1000 * BUCKETS);
	oracle_turn(oracle, 5 * TICK);
	oracle_turn(oracle, (5 + 999 * BUCKETS) * TICK);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.walked, 0);
}

static void mixed_bucket_is_counted(struct kunit *test)
{
	struct oracle *oracle = oracle_create(test, BUCKETS, TICK, 0);

	oracle_schedule(oracle, 5 * TICK);
	oracle_schedule(oracle, (5 + BUCKETS) * TICK);
	oracle_turn(oracle, 5 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.walked, 2);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.passed_over, 1);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(&oracle->wheel), 5 + BUCKETS);
}

static void sleeper_visits_each_bucket_once(struct kunit *test)
{
	struct oracle *oracle = oracle_create(test, BUCKETS, TICK, 0);
	unsigned int i;

	for (i = 0; i < 10 * BUCKETS; i++)
		oracle_schedule(oracle, (i + 1) * TICK);
	oracle_turn(oracle, 1000 * BUCKETS * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 10 * BUCKETS);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.walked, 10 * BUCKETS);
}

static void skim_goes_on_to_the_first_live_timer(struct kunit *test)
{
	struct oracle *oracle = oracle_create(test, BUCKETS, TICK, 0);
	unsigned int i;

	for (i = 1; i <= 50; i++)
		oracle_cancel(oracle, oracle_schedule(oracle, i * TICK));
	oracle_schedule(oracle, 60 * TICK);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(&oracle->wheel), 1);
	hwtimer_wheel_skim(&oracle->wheel, HWTIMER_HOLD);
	KUNIT_EXPECT_EQ(test, hwtimer_wheel_next(&oracle->wheel), 60);
	KUNIT_EXPECT_EQ(test, oracle->wheel.entries, 1);
}

static void later_deadline_writes_no_entry(struct kunit *test)
{
	struct oracle *oracle = oracle_create(test, BUCKETS, TICK, 0);
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
	struct oracle *oracle = oracle_create(test, BUCKETS, TICK, 0);
	struct oracle_timer *timer = oracle_schedule(oracle, 50 * TICK);

	oracle_move(oracle, timer, 5 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->wheel.entries, 2);
	oracle_turn(oracle, 5 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
	oracle_turn(oracle, 50 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.buried, 1);
}

static void moved_timers_expire_by_tick_in_a_late_turn(struct kunit *test)
{
	struct oracle *oracle = oracle_create(test, BUCKETS, TICK, 0);
	struct oracle_timer *timer = oracle_schedule(oracle, 5 * TICK);

	oracle_schedule(oracle, 20 * TICK);
	oracle_move(oracle, timer, 30 * TICK);
	/* The oracle compares the order. */
	oracle_turn(oracle, 40 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 2);
}

/* All in one bucket, then each to a bucket of its own: the chunks must do. */
static void postponed_crowd_scatters(struct kunit *test)
{
	struct oracle *oracle = oracle_create(test, 1024, TICK, 0);
	u32 i;

	for (i = 0; i < ORACLE_TIMERS; i++)
		oracle_schedule(oracle, 5 * TICK);
	for (i = 0; i < ORACLE_TIMERS; i++)
		oracle_move(oracle, oracle->live[i], (6 + i % 1023) * TICK);
	oracle_turn(oracle, 5 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->wheel.stats.refiled, ORACLE_TIMERS);
	oracle_turn(oracle, 2000 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, ORACLE_TIMERS);
}

/*
 * Full buckets whose timers were postponed to a later round of the same bucket,
 * and a crowd that was postponed into all of them: each bucket then takes a
 * chunk before it is walked, and another one while it is.
 */
static void postponed_timers_meet_in_full_buckets(struct kunit *test)
{
	struct oracle *oracle = oracle_create(test, BUCKETS, TICK, 0);
	struct oracle_timer *last[BUCKETS], *crowd[2 * BUCKETS];
	unsigned int i, j;

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
	struct oracle *oracle = oracle_create(test, BUCKETS, TICK, 0);
	struct oracle_timer *timer = oracle_schedule(oracle, 5 * TICK);
	u32 index = timer->index;

	oracle_cancel(oracle, timer);
	hwtimer_table_record(&oracle->table, index)->stamp = U32_MAX;
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

/* An entry that outlived 2^32 stamps is taken for another one of its record. */
static void revived_entry_does_no_harm(struct kunit *test)
{
	struct oracle *oracle = oracle_create(test, BUCKETS, TICK, 0);
	struct oracle_timer *timer = oracle_schedule(oracle, 5 * TICK);
	struct hwtimer_record *record = oracle_record(oracle, timer);
	u32 stamp = record->stamp;

	oracle_cancel(oracle, timer);
	record->stamp = stamp;
	oracle_schedule(oracle, 9 * TICK);
	oracle_turn(oracle, 8 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 0);
	oracle_turn(oracle, 1000 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 1);
}

static void revived_entry_of_a_free_record_stays_dead(struct kunit *test)
{
	struct oracle *oracle = oracle_create(test, BUCKETS, TICK, 0);
	struct oracle_timer *timer = oracle_schedule(oracle, 5 * TICK);
	struct hwtimer_record *record = oracle_record(oracle, timer);
	u32 stamp = record->stamp;

	oracle_cancel(oracle, timer);
	record->stamp = stamp;
	oracle_turn(oracle, 1000 * TICK);
	KUNIT_EXPECT_EQ(test, oracle->expired, 0);
	KUNIT_EXPECT_EQ(test, oracle->wheel.entries, 0);
}

static void compaction_removes_the_dead(struct kunit *test)
{
	struct oracle *oracle = oracle_create(test, BUCKETS, TICK, 0);
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
 * Random operations
 */

/**
 * struct wheel_config - a wheel to play with
 * @buckets: a power of two
 * @tick: ns
 * @base: ns
 */
struct wheel_config {
	u32 buckets;
	u64 tick;
	u64 base;
};

static const struct wheel_config wheel_configs[] = {
	{ 8, 1000, 0 },
	{ 64, 1000000, 123456789 },
	{ 256, 10000, ((1ULL << 32) - 5000) * 10000 },
	{ 512, 1000, ((1ULL << 48) - 5000) * 1000 },
	{ 4096, 1000, 0 },
};

static void wheel_config_name(const struct wheel_config *config, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE,
		 "%u buckets, tick %llu, base %llu", config->buckets,
		 config->tick, config->base);
}

KUNIT_ARRAY_PARAM(wheel_config, wheel_configs, wheel_config_name);

static struct rnd_state random_state;

/* Deadlines of all kinds: past, now, in this round, rounds away, never. */
static u64 random_deadline(struct oracle *oracle)
{
	u64 tick = oracle->wheel.tick;
	u64 round = tick * (oracle->wheel.mask + 1);
	u32 within_tick = random_below(&random_state, tick);

	switch (random_below(&random_state, 20)) {
	case 0:
		return oracle->now - min(oracle->now, 10 * tick + within_tick);
	case 1:
		return oracle->now;
	case 2:
		return random_below(&random_state, 20) ? oracle->now + round :
							 U64_MAX;
	case 3 ... 6:
		return oracle->now + random_below(&random_state, 5) * tick +
		       within_tick;
	case 7 ... 9:
		return oracle->now + random_below(&random_state, 7) * round +
		       within_tick;
	default:
		return oracle->now +
		       random_below(&random_state, oracle->wheel.mask + 1) *
			       tick +
		       within_tick;
	}
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

	/* Later as often as earlier, whatever the old one was. */
	if (random_below(&random_state, 2) && new < old && old != U64_MAX)
		new = old + (old - new) % (3 * oracle->wheel.tick *
					   (oracle->wheel.mask + 1));
	oracle_move(oracle, timer, new);
}

/* What callers may do at any time, between two slices of a turn too. */
static void random_request(struct oracle *oracle)
{
	switch (random_below(&random_state, 10)) {
	case 0 ... 4:
		if (oracle->nr_live < ORACLE_TIMERS)
			oracle_schedule(oracle, random_deadline(oracle));
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
		if (random_below(&random_state, 2))
			hwtimer_wheel_compact(&oracle->wheel, true);
		else
			hwtimer_wheel_skim(&oracle->wheel,
					   1 + random_below(&random_state, 50));
	}
}

static void random_requests(struct oracle *oracle)
{
	u32 count = random_below(&random_state, 4);

	while (count--)
		random_request(oracle);
}

static void random_turn(struct oracle *oracle)
{
	u64 tick = oracle->wheel.tick;
	u64 round = tick * (oracle->wheel.mask + 1);
	u64 ahead;

	switch (random_below(&random_state, 50)) {
	case 0:
		ahead = random_below(&random_state, 5) * round;
		break;
	case 1 ... 3:
		ahead = random_below(&random_state, oracle->wheel.mask + 1) *
			tick;
		break;
	default:
		ahead = random_below(&random_state, 3) * tick;
	}
	oracle_turn(oracle,
		    oracle->now + ahead + random_below(&random_state, tick));
}

static void random_operations_match_the_oracle(struct kunit *test)
{
	const struct wheel_config *config = test->param_value;
	struct oracle *oracle = oracle_create(test, config->buckets,
					      config->tick, config->base);
	const struct hwtimer_wheel_stats *stats = &oracle->wheel.stats;
	u32 i;

	hwtimer_test_seed(test, &random_state);
	oracle->between = random_requests;
	for (i = 0; i < OPERATIONS; i++) {
		/* Now and then nobody turns the wheel, and it fills. */
		if (i / 2000 % 2 || random_below(&random_state, 10))
			random_request(oracle);
		else
			random_turn(oracle);
	}
	kunit_info(test, "%u operations: %llu expired, %llu refiled\n",
		   OPERATIONS, oracle->expired, stats->refiled);
	kunit_info(test, "%llu buried, %llu passed over\n", stats->buried,
		   stats->passed_over);
	/* What did not happen was not tested. */
	KUNIT_EXPECT_GT(test, oracle->expired, 100);
	KUNIT_EXPECT_GT(test, stats->refiled, 100);
	KUNIT_EXPECT_GT(test, stats->buried, 100);
	KUNIT_EXPECT_GT(test, stats->compactions, 10);

	oracle->between = NULL;
	oracle_turn(oracle, oracle->now + 100 * config->tick * config->buckets);
	while (oracle->nr_live)
		oracle_cancel(oracle, oracle->live[0]);
	oracle_compact(oracle);
	KUNIT_EXPECT_EQ(test, oracle->wheel.postponed, 0);
	KUNIT_EXPECT_EQ(test, oracle->pool.spares, oracle->pool.chunks);
}

static struct kunit_case wheel_test_cases[] = {
	KUNIT_CASE(tick_of_rounds_up),
	KUNIT_CASE(tick_at_rounds_down),
	KUNIT_CASE(ticks_before_the_base_are_zero),
	KUNIT_CASE(ticks_do_not_wrap),
	KUNIT_CASE(time_of_saturates),
	KUNIT_CASE(delays_around_the_size_of_the_wheel),
	KUNIT_CASE(ticks_pass_powers_of_two),
	KUNIT_CASE(timer_for_ever_stays),
	KUNIT_CASE(past_deadline_expires_on_the_next_turn),
	KUNIT_CASE(compaction_does_not_delay_past_deadlines),
	KUNIT_CASE(empty_wheel_wants_no_turn),
	KUNIT_CASE(later_round_is_not_walked),
	KUNIT_CASE(mixed_bucket_is_counted),
	KUNIT_CASE(sleeper_visits_each_bucket_once),
	KUNIT_CASE(skim_goes_on_to_the_first_live_timer),
	KUNIT_CASE(later_deadline_writes_no_entry),
	KUNIT_CASE(earlier_deadline_leaves_a_dead_entry),
	KUNIT_CASE(moved_timers_expire_by_tick_in_a_late_turn),
	KUNIT_CASE(postponed_crowd_scatters),
	KUNIT_CASE(postponed_timers_meet_in_full_buckets),
	KUNIT_CASE(stamp_wraps),
	KUNIT_CASE(revived_entry_does_no_harm),
	KUNIT_CASE(revived_entry_of_a_free_record_stays_dead),
	KUNIT_CASE(compaction_removes_the_dead),
	KUNIT_CASE_PARAM_ATTR(random_operations_match_the_oracle,
			      wheel_config_gen_params,
			      { .speed = KUNIT_SPEED_SLOW }),
	{}
};

static struct kunit_suite wheel_test_suite = {
	.name = "hwtimer_wheel",
	.exit = wheel_test_exit,
	.test_cases = wheel_test_cases,
};

kunit_test_suite(wheel_test_suite);
