// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of periodic timers, under a fake clock.
 */
#include <kunit/test.h>
#include <linux/ktime.h>

#include "fake.h"
#include "random.h"
#include "show/show.h"

#define TICK NSEC_PER_MSEC
#define LIMIT 1000

static int period_test_init(struct kunit *test)
{
	return fake_test_init(test, LIMIT);
}

/* Schedules a periodic timer, first due one interval from now; returns its id. */
static u64 begin(struct kunit *test, u64 interval, u32 max, u32 flags)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.flags = flags,
		.time = interval,
		.interval = interval,
		.expirations_max = max,
		.user_data = interval ^ max,
	};

	KUNIT_ASSERT_EQ(test, fake_run(test->priv, &request), 0);
	return request.id;
}

static void turn_until(struct kunit *test, u64 time)
{
	fake_turn_until(test->priv, time);
}

/* The interval is not a whole number of ticks, and the reader reads irregularly. */
static void rate_does_not_drift(struct kunit *test)
{
	const u64 interval = 7 * TICK + 333333;
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, interval, 0, 0), periods = 0;
	struct hwtimer_event event;
	struct rnd_state state;

	hwtimer_test_seed(test, &state);
	while (periods < hwtimer_test_scaled(100000)) {
		turn_until(test, instance->wakeup.at);
		/* Most events are read at once, and some are read much too late. */
		if (!random_below(&state, 10))
			turn_until(test,
				   fake_now + random_below(&state, 20 * TICK));
		if (!fake_read(instance, &event))
			continue;
		KUNIT_ASSERT_EQ(test, event.id, id);
		KUNIT_ASSERT_EQ(test, event.user_data, interval);
		KUNIT_ASSERT_EQ(test, event.deadline,
				FAKE_START + (periods + 1) * interval);
		periods += event.expirations;
		KUNIT_ASSERT_LE(test, FAKE_START + periods * interval,
				fake_now);
		KUNIT_ASSERT_GT(test, FAKE_START + (periods + 1) * interval,
				fake_now);
	}
	kunit_info(test, "%llu periods, %llu events, %llu missed\n", periods,
		   instance->stats.delivered, instance->stats.missed);
	KUNIT_EXPECT_GT(test, instance->stats.missed, 0);
	KUNIT_EXPECT_EQ(test,
			instance->stats.delivered + instance->stats.missed,
			periods);
	fake_check_books(test, instance);
}

static void missed_ones_are_counted_and_do_not_pile_up(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;
	u64 expired;

	begin(test, 10 * TICK, 0, 0);
	turn_until(test, FAKE_START + 100005 * TICK);
	expired = instance->stats.expired;
	KUNIT_EXPECT_EQ(test, expired, 1);
	KUNIT_EXPECT_EQ(test, instance->wakeup.at, HWTIMER_TICK_NONE);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, event.expirations, 10000);
	KUNIT_EXPECT_EQ(test, event.deadline, FAKE_START + 10 * TICK);
	KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 0);
	KUNIT_EXPECT_EQ(test, instance->wakeup.at, FAKE_START + 100010 * TICK);
}

static void fixed_delay_counts_from_delivery(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;
	unsigned int i;

	begin(test, 10 * TICK, 0, HWTIMER_REQ_FIXED_DELAY);
	turn_until(test, FAKE_START + 10 * TICK);
	for (i = 0; i < 100; i++) {
		u64 read_at = fake_now + i * TICK + 777;

		turn_until(test, read_at);
		KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
		KUNIT_EXPECT_EQ(test, event.expirations, 1);
		turn_until(test, read_at + 10 * TICK - 1);
		KUNIT_ASSERT_EQ(test, instance->stats.ready, 0);
		turn_until(test, read_at + 11 * TICK);
		KUNIT_ASSERT_EQ(test, instance->stats.ready, 1);
	}
	fake_check_books(test, instance);
}

/*
 * At the limit, a CANCEL makes room for a periodic timer in the same hold of the lock. What it
 * ends had one record, and the new one needs two.
 */
static void a_plain_timer_makes_room(struct kunit *test)
{
	struct hwtimer_request requests[] = {
		{ .op = HWTIMER_OP_CANCEL },
		{ .op = HWTIMER_OP_SCHEDULE, .time = TICK, .interval = TICK },
	};
	struct hwtimer_instance *instance = test->priv;
	u64 *ids = kunit_kcalloc(test, LIMIT, sizeof(*ids), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	for (i = 0; i < LIMIT; i++)
		KUNIT_ASSERT_EQ(test, fake_schedule(instance, TICK, &ids[i]),
				0);
	for (i = 0; i < LIMIT; i++) {
		requests[0].id = ids[i];
		hwtimer_request_run(instance, requests, ARRAY_SIZE(requests));
		KUNIT_ASSERT_EQ(test, requests[0].result, 0);
		KUNIT_ASSERT_EQ_MSG(test, requests[1].result, 0, "timer %u", i);
	}
	KUNIT_EXPECT_EQ(test, instance->periodic, LIMIT);
	fake_check_books(test, instance);
}

/* For any @pause of the reader, expirations add up to @max; then the timer is gone. */
static void check_max(struct kunit *test, u64 interval, u32 max, u64 pause,
		      u32 flags)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, interval, max, flags), sum = 0;
	struct hwtimer_event event;
	unsigned int i;

	for (i = 0; i < 1000 && instance->stats.pending; i++) {
		turn_until(test, instance->wakeup.at + pause);
		if (fake_read(instance, &event))
			sum += event.expirations;
	}
	KUNIT_EXPECT_EQ_MSG(test, sum, max, "pause %llu", pause);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, id, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, instance->periodic, 0);
	KUNIT_EXPECT_EQ(test, instance->table.used, 0);
}

static void maximum_is_exact(struct kunit *test)
{
	static const u64 intervals[] = { 1, TICK / 7, 3 * TICK };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(intervals); i++) {
		u64 interval = intervals[i];

		check_max(test, interval, 1, 0, 0);
		check_max(test, interval, 100, 0, 0);
		check_max(test, interval, 100, TICK, 0);
		check_max(test, interval, 100, 10 * TICK, 0);
		check_max(test, interval, 100, 100000 * TICK, 0);
		check_max(test, interval, 100, 10 * TICK,
			  HWTIMER_REQ_FIXED_DELAY);
	}
	fake_check_books(test, test->priv);
}

/* Several deadlines are in a tick. The event reports those that have passed, and no other. */
static void interval_may_be_shorter_than_a_tick(struct kunit *test)
{
	const u64 interval = TICK / 10;
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;
	u64 passed, reported = 0;
	unsigned int i;

	begin(test, interval, 0, 0);
	for (i = 0; i < 100; i++) {
		turn_until(test, fake_now + 2 * TICK + i % 13 * 54321);
		KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
		KUNIT_EXPECT_EQ(test, event.deadline,
				FAKE_START + (reported + 1) * interval);
		reported += event.expirations;
		passed = (fake_now - FAKE_START) / interval;
		KUNIT_EXPECT_EQ(test, reported, passed);
		KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 0);
	}
	KUNIT_EXPECT_EQ(test, instance->stats.missed,
			reported - instance->stats.delivered);
	fake_check_books(test, instance);
}

/* Each event is one expiration, and the next one comes with the next tick. */
static void fixed_delay_may_be_shorter_than_a_tick(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;
	unsigned int i;

	begin(test, 1, 0, HWTIMER_REQ_FIXED_DELAY);
	for (i = 0; i < 10; i++) {
		turn_until(test, fake_now + TICK);
		KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
		KUNIT_EXPECT_EQ(test, event.expirations, 1);
		KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 0);
	}
	fake_check_books(test, instance);
}

/* An event that cannot count all deadlines leaves the rest to the next one. */
static void next_event_reports_the_rest(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;

	begin(test, 1, 0, 0);
	turn_until(test, FAKE_START + 5 * NSEC_PER_SEC);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, event.expirations, U32_MAX);
	turn_until(test, fake_now + TICK);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, event.deadline, FAKE_START + 1 + U32_MAX);
	KUNIT_EXPECT_EQ(test, event.expirations,
			fake_now - FAKE_START - U32_MAX);
	fake_check_books(test, instance);
}

static void cancel_while_pending(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, 10 * TICK, 0, 0);

	KUNIT_EXPECT_EQ(test, fake_cancel(instance, id, 0), 0);
	turn_until(test, FAKE_START + 100 * TICK);
	KUNIT_EXPECT_EQ(test, instance->stats.expired, 0);
	KUNIT_EXPECT_EQ(test, instance->table.used, 0);
	fake_check_books(test, instance);
}

static void cancel_while_the_event_waits(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, 10 * TICK, 0, 0);
	struct hwtimer_event event;

	turn_until(test, FAKE_START + 10 * TICK);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, id, 0), 1);
	KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, id, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, instance->table.used, 0);
	fake_check_books(test, instance);
}

static void discard_while_the_event_waits(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, 10 * TICK, 0, 0);
	struct hwtimer_event event;

	turn_until(test, FAKE_START + 10 * TICK);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, id, HWTIMER_REQ_DISCARD),
			0);
	KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 0);
	KUNIT_EXPECT_EQ(test, instance->table.used, 0);
	KUNIT_EXPECT_EQ(test, instance->periodic, 0);
	fake_check_books(test, instance);
}

static void reschedule_moves_the_phase(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, 10 * TICK, 0, 0);
	struct hwtimer_event event;

	KUNIT_EXPECT_EQ(test, fake_reschedule(instance, id, 3 * TICK), 0);
	turn_until(test, FAKE_START + 3 * TICK);
	KUNIT_EXPECT_EQ(test, fake_reschedule(instance, id, TICK), -EALREADY);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, event.deadline, FAKE_START + 3 * TICK);
	turn_until(test, FAKE_START + 13 * TICK);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, event.deadline, FAKE_START + 13 * TICK);
	/* With a later deadline, the entry does not move before its old tick. */
	KUNIT_EXPECT_EQ(test, fake_reschedule(instance, id, 50 * TICK), 0);
	turn_until(test, FAKE_START + 62 * TICK);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 0);
	turn_until(test, FAKE_START + 63 * TICK);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 1);
}

static void phase_survives_a_clock_that_is_set_back(struct kunit *test)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.flags = HWTIMER_REQ_ABSTIME,
		.time = FAKE_START + 10 * TICK,
		.interval = 10 * TICK,
	};
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;

	fake_settable(instance);
	KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
	KUNIT_ASSERT_EQ(test,
			fake_schedule_at(instance, FAKE_START + 500 * TICK), 0);
	/* The other timer makes the wheel pass the next deadline of the periodic one. */
	turn_until(test, FAKE_START + 600 * TICK);
	fake_now = FAKE_START - FAKE_HOUR;
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, event.expirations, 1);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	turn_until(test, FAKE_START + 20 * TICK - 1);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 0);
	turn_until(test, FAKE_START + 20 * TICK);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 1);
}

static void nothing_is_counted_after_the_end(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, 10 * TICK, 0, 0);
	struct hwtimer_event event;

	turn_until(test, FAKE_START + 35 * TICK);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, id, 0), 1);
	turn_until(test, FAKE_START + 1000 * TICK);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, event.expirations, 3);
}

static void nothing_is_counted_after_stop(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;

	begin(test, 10 * TICK, 50, 0);
	turn_until(test, FAKE_START + 35 * TICK);
	hwtimer_instance_stop(instance);
	turn_until(test, FAKE_START + 1000 * TICK);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, event.expirations, 3);
	/* The rest of the timer is left for CANCEL_ALL to hand back. */
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 1);
}

/* What has passed before the stop counts, also when the clock is set back afterwards. */
static void stop_is_final_though_the_clock_is_set_back(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.flags = HWTIMER_REQ_ABSTIME,
		.time = FAKE_START + 10 * TICK,
		.interval = 10 * TICK,
		.expirations_max = 3,
	};
	struct hwtimer_event event;

	fake_settable(instance);
	KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
	turn_until(test, FAKE_START + 35 * TICK);
	hwtimer_instance_stop(instance);
	fake_now = FAKE_START + 12 * TICK;
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, event.expirations, 3);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 0);
	KUNIT_EXPECT_EQ(test, instance->table.used, 0);
}

static void limit_counts_a_periodic_timer_once(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id;
	u32 i;

	for (i = 0; i < LIMIT; i++)
		begin(test, 10 * TICK, 0, 0);
	KUNIT_EXPECT_EQ(test, fake_schedule(instance, TICK, &id), -ENOSPC);
	KUNIT_EXPECT_EQ(test, instance->table.used, 2 * LIMIT);
	turn_until(test, FAKE_START + 20 * TICK);
	KUNIT_EXPECT_EQ(test, fake_schedule(instance, TICK, &id), -ENOSPC);
	fake_check_books(test, instance);
}

/* For user space, the second record of a periodic timer is not a timer. */
static void extension_has_no_id(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, 10 * TICK, 0, 0);
	u32 other = hwtimer_table_find(&instance->table, id)->extension;
	struct hwtimer_record *extension =
		hwtimer_table_record(&instance->table, other);
	struct hwtimer_timer query = {
		.id = hwtimer_table_id(extension, other),
	};

	KUNIT_EXPECT_EQ(test, fake_cancel(instance, query.id, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test,
			fake_cancel(instance, query.id, HWTIMER_REQ_DISCARD),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, fake_reschedule(instance, query.id, TICK),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, hwtimer_query_timer(instance, &query), -ENOENT);
}

static void query_tells_all(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_timer query = {
		.id = begin(test, 10 * TICK, 5, HWTIMER_REQ_FIXED_DELAY),
	};

	KUNIT_ASSERT_EQ(test, hwtimer_query_timer(instance, &query), 0);
	KUNIT_EXPECT_EQ(test, query.interval, 10 * TICK);
	KUNIT_EXPECT_EQ(test, query.state, HWTIMER_STATE_PENDING);
	KUNIT_EXPECT_EQ(test, query.deadline, FAKE_START + 10 * TICK);
	KUNIT_EXPECT_EQ(test, query.remaining, 10 * TICK);
	KUNIT_EXPECT_EQ(test, query.expirations_left, 5);
	KUNIT_EXPECT_EQ(test, query.expirations, 0);
	KUNIT_EXPECT_EQ(test, query.flags, HWTIMER_REQ_FIXED_DELAY);
	KUNIT_EXPECT_EQ(test, query.user_data, (10 * TICK) ^ 5);
	turn_until(test, FAKE_START + 10 * TICK);
	KUNIT_ASSERT_EQ(test, hwtimer_query_timer(instance, &query), 0);
	KUNIT_EXPECT_EQ(test, query.state, HWTIMER_STATE_EXPIRED);
	KUNIT_EXPECT_EQ(test, query.remaining, 0);
	KUNIT_EXPECT_EQ(test, query.expirations_left, 5);
	KUNIT_EXPECT_EQ(test, query.expirations, 1);
}

/* QUERY uses only the id, and tells what the event would report if it was read now. */
static void query_counts_expirations(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin(test, 10 * TICK, 4, 0);
	struct hwtimer_timer query;

	turn_until(test, FAKE_START + 35 * TICK);
	memset(&query, 0xff, sizeof(query));
	query.id = id;
	KUNIT_ASSERT_EQ(test, hwtimer_query_timer(instance, &query), 0);
	KUNIT_EXPECT_EQ(test, query.id, id);
	KUNIT_EXPECT_EQ(test, query.state, HWTIMER_STATE_EXPIRED);
	KUNIT_EXPECT_EQ(test, query.flags, 0);
	KUNIT_EXPECT_EQ(test, query.expirations_left, 4);
	KUNIT_EXPECT_EQ(test, query.expirations, 3);
	/* Then the event is the last one. */
	turn_until(test, FAKE_START + 1000 * TICK);
	KUNIT_ASSERT_EQ(test, hwtimer_query_timer(instance, &query), 0);
	KUNIT_EXPECT_EQ(test, query.expirations, 4);
	KUNIT_EXPECT_EQ(test, query.expirations_left, 4);
	query.id = 0;
	KUNIT_EXPECT_EQ(test, hwtimer_query_timer(instance, &query), -ENOENT);
}

static void interval_without_end_waits_for_ever(struct kunit *test)
{
	struct hwtimer_request request = { .op = HWTIMER_OP_SCHEDULE,
					   .time = TICK,
					   .interval = KTIME_MAX };
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;
	struct hwtimer_timer query = {};

	KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
	turn_until(test, FAKE_START + TICK);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	query.id = request.id;
	KUNIT_ASSERT_EQ(test, hwtimer_query_timer(instance, &query), 0);
	KUNIT_EXPECT_EQ(test, query.deadline, HWTIMER_NEVER);
	KUNIT_EXPECT_EQ(test, query.remaining, HWTIMER_NEVER);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, request.id, 0), 0);
}

/*
 * Random operations. At times the events of all timers are unread, at other times all
 * timers are in buckets of their own. The pool must never run dry, and the books must
 * balance.
 */
static void random_life(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 *ids = kunit_kcalloc(test, LIMIT, sizeof(*ids), GFP_KERNEL);
	struct hwtimer_event event;
	struct rnd_state state;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	hwtimer_test_seed(test, &state);
	for (i = 0; i < hwtimer_test_scaled(50000); i++) {
		u64 *id = &ids[random_below(&state, LIMIT)];
		struct hwtimer_request request = {
			.op = HWTIMER_OP_SCHEDULE,
			.time = TICK << random_below(&state, 14),
			.interval = random_below(&state, 3) ?
					    TICK << random_below(&state, 14) :
					    0,
			.user_data = i,
		};

		if (request.interval && random_below(&state, 2))
			request.expirations_max = 1 + random_below(&state, 5);
		if (request.interval && !random_below(&state, 3))
			request.flags = HWTIMER_REQ_FIXED_DELAY;
		if (!random_below(&state, 5))
			request.slack = TICK << random_below(&state, 14);
		switch (random_below(&state, 10)) {
		case 0 ... 3:
			fake_cancel(instance, *id, HWTIMER_REQ_DISCARD);
			fake_run(instance, &request);
			*id = request.id;
			break;
		case 4:
			fake_cancel(instance, *id, 0);
			break;
		case 5 ... 6:
			fake_reschedule(instance, *id,
					TICK << random_below(&state, 14));
			break;
		case 7:
			turn_until(test,
				   fake_now +
					   (TICK << random_below(&state, 10)));
			break;
		default:
			while (random_below(&state, 20) &&
			       fake_read(instance, &event))
				;
		}
		if (i % 1000 == 0)
			fake_check_books(test, instance);
	}
	kunit_info(test, "%llu delivered, %llu rearmed, %llu cancelled\n",
		   instance->stats.delivered, instance->stats.rearmed,
		   instance->stats.cancelled);
	KUNIT_EXPECT_GT(test, instance->stats.rearmed, 1000);
	for (i = 0; i < LIMIT; i++)
		fake_cancel(instance, ids[i], HWTIMER_REQ_DISCARD);
	KUNIT_EXPECT_EQ(test, instance->periodic, 0);
	KUNIT_EXPECT_EQ(test, instance->table.used, 0);
}

static struct kunit_case period_test_cases[] = {
	KUNIT_CASE_SLOW(rate_does_not_drift),
	KUNIT_CASE(missed_ones_are_counted_and_do_not_pile_up),
	KUNIT_CASE(fixed_delay_counts_from_delivery),
	KUNIT_CASE(maximum_is_exact),
	KUNIT_CASE(interval_may_be_shorter_than_a_tick),
	KUNIT_CASE(fixed_delay_may_be_shorter_than_a_tick),
	KUNIT_CASE(next_event_reports_the_rest),
	KUNIT_CASE(cancel_while_pending),
	KUNIT_CASE(cancel_while_the_event_waits),
	KUNIT_CASE(discard_while_the_event_waits),
	KUNIT_CASE(reschedule_moves_the_phase),
	KUNIT_CASE(phase_survives_a_clock_that_is_set_back),
	KUNIT_CASE(nothing_is_counted_after_the_end),
	KUNIT_CASE(nothing_is_counted_after_stop),
	KUNIT_CASE(stop_is_final_though_the_clock_is_set_back),
	KUNIT_CASE(limit_counts_a_periodic_timer_once),
	KUNIT_CASE(a_plain_timer_makes_room),
	KUNIT_CASE(extension_has_no_id),
	KUNIT_CASE(query_tells_all),
	KUNIT_CASE(query_counts_expirations),
	KUNIT_CASE(interval_without_end_waits_for_ever),
	KUNIT_CASE_SLOW(random_life),
	{}
};

static struct kunit_suite period_test_suite = {
	.name = "hwtimer_period",
	.init = period_test_init,
	.exit = fake_test_exit,
	.test_cases = period_test_cases,
};

kunit_test_suite(period_test_suite);
