// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of hwtimer_lane.c and hwtimer_express.c: what goes through the lanes of an
 * instance does the same as without them, down to the order of timers that expire at the same
 * tick, the limits and the counters.
 *
 * The tests use the last lanes. Those are for the last processors of 16, so that on smaller
 * machines no request uses them unless a test asks for that.
 */
#include <kunit/test.h>
#include <linux/ktime.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>

#include "../hwtimer_account.h"
#include "../hwtimer_bulk.h"
#include "../hwtimer_express.h"
#include "../hwtimer_occupancy.h"
#include "../hwtimer_op.h"
#include "../hwtimer_query.h"
#include "../hwtimer_stats.h"
#include "fake.h"
#include "kinds.h"
#include "random.h"

#define HOUR FAKE_HOUR
/* So many that each lane can have slots of its own */
#define LIMIT 20000
#define LANES 3
/* So many places of its log may a lane use */
#define PLACES min(HWTIMER_LANE_LOG, HWTIMER_LANE_LOGS / LANES)

/* Number of the test's lane @i, from 0 on */
#define LANE(i) (HWTIMER_LANES_MAX - 1 - (i))
#define A LANE(0)
#define B LANE(1)

/*
 * Does the beginning of a bulk through a lane. Each call has a time of its own. Lanes that are
 * closed after a few operations pause, but these tests close them all the time.
 */
static u32 express(struct hwtimer_instance *instance, u32 nr, u32 op,
		   u64 *words, u32 count)
{
	const struct hwtimer_bulk bulk = {
		.op = op,
		.flags = op == HWTIMER_OP_SCHEDULE ? HWTIMER_ABSOLUTE : 0,
	};

	instance->lanes.useless = 0;
	instance->lanes.pause = 0;
	fake_now++;
	return hwtimer_express_run(instance, nr, &bulk, words, count);
}

/*
 * SCHEDULE through a lane, in as many calls as it takes: in one, the lane does no more than it
 * was opened for.
 */
static void express_all(struct kunit *test, struct hwtimer_instance *instance,
			u32 nr, u64 *words, u32 count)
{
	u32 done;

	for (; count; words += done, count -= done) {
		done = express(instance, nr, HWTIMER_OP_SCHEDULE, words, count);
		KUNIT_ASSERT_GT(test, done, 0);
	}
}

/* Does the rest of a bulk, as hwtimer_bulk_run() does it. Each operation has a result. */
static void slow(struct kunit *test, struct hwtimer_instance *instance, u32 op,
		 u64 *words, u32 count)
{
	const struct hwtimer_bulk bulk = {
		.op = op,
		.flags = op == HWTIMER_OP_CANCEL ? 0 : HWTIMER_ABSOLUTE,
	};

	fake_now++;
	KUNIT_ASSERT_EQ(test, hwtimer_bulk_run(instance, &bulk, words, count),
			0);
}

/* Schedules a timer through a lane, and returns its id. */
static u64 put(struct kunit *test, struct hwtimer_instance *instance, u32 nr,
	       u64 deadline, u64 user_data)
{
	u64 words[2] = { user_data, deadline };
	u32 done = express(instance, nr, HWTIMER_OP_SCHEDULE, words, 1);

	KUNIT_ASSERT_EQ(test, done, 1);
	KUNIT_ASSERT_GT(test, (s64)words[0], 0);
	return words[0];
}

/* Schedules a timer with the instance's lock, which files all that is in logs. */
static u64 put_slowly(struct kunit *test, struct hwtimer_instance *instance,
		      u64 deadline, u64 user_data)
{
	u64 words[2] = { user_data, deadline };

	slow(test, instance, HWTIMER_OP_SCHEDULE, words, 1);
	KUNIT_ASSERT_GT(test, (s64)words[0], 0);
	return words[0];
}

/* CANCEL through a lane; returns whether it was done there. */
static bool cancel(struct kunit *test, struct hwtimer_instance *instance,
		   u32 nr, u64 id)
{
	u64 word = id;
	u32 done = express(instance, nr, HWTIMER_OP_CANCEL, &word, 1);

	/* Either its result is 0, or nothing has changed. */
	KUNIT_ASSERT_EQ(test, word, done ? 0 : id);
	return done;
}

static void provide(struct kunit *test, struct hwtimer_instance *instance,
		    u32 lanes)
{
	u32 i;

	KUNIT_ASSERT_EQ(test, hwtimer_supply_start(instance), 0);
	for (i = 0; i < lanes; i++)
		hwtimer_express_provide(instance, LANE(i));
	KUNIT_ASSERT_EQ(test, instance->lanes.nr, lanes);
}

/*
 * Returns the test's instance, which has lanes, and one timer, number 0, for which the worker
 * comes soon. So timers for later than FAKE_START + a tick may go through lanes.
 */
static struct hwtimer_instance *begin(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;

	provide(test, instance, LANES);
	put_slowly(test, instance, FAKE_START + NSEC_PER_USEC, 0);
	KUNIT_ASSERT_LT(test, instance->wakeup.at, FAKE_START + NSEC_PER_SEC);
	return instance;
}

/* Takes the instance's lock, which makes the counters complete. */
static void close_lanes(struct hwtimer_instance *instance)
{
	hwtimer_instance_lock(instance);
	spin_unlock(&instance->lock);
}

static u32 logged(struct hwtimer_instance *instance)
{
	close_lanes(instance);
	return instance->lanes.unfiled;
}

static enum hwtimer_record_state
state_of(const struct hwtimer_instance *instance, u64 id)
{
	return hwtimer_table_record(&instance->table, lower_32_bits(id))->state;
}

static u64 dead(const struct hwtimer_instance *instance)
{
	return instance->wheel.entries - instance->stats.pending;
}

/*
 * Reads all events. Expects @count, in the order of their ticks, and within a tick in that of
 * their numbers, which is that of SCHEDULE.
 */
static void expect_order(struct kunit *test, struct hwtimer_instance *instance,
			 u64 count)
{
	struct hwtimer_event event;
	u64 number = 0, tick = 0;

	while (fake_read(instance, &event)) {
		u64 at =
			hwtimer_wheel_tick_of(&instance->wheel, event.deadline);

		KUNIT_ASSERT_GE(test, at, tick);
		if (at == tick)
			KUNIT_ASSERT_GT(test, event.user_data, number);
		tick = at;
		number = event.user_data;
		count--;
	}
	KUNIT_EXPECT_EQ(test, count, 0);
	fake_check_books(test, instance);
}

/* ---- the order ---- */

/* A moment within one of four ticks, which are an hour ahead */
static u64 near_deadline(struct hwtimer_instance *instance,
			 struct rnd_state *state)
{
	u64 tick = instance->settings.shape.tick;

	return FAKE_START + HOUR + random_below(state, 4) * tick +
	       random_below(state, tick);
}

/*
 * Schedules @count timers, with numbers from *@number on, through lane @nr as far as it can.
 */
static void put_some(struct kunit *test, struct hwtimer_instance *instance,
		     struct rnd_state *state, u32 nr, u32 count, u64 *number)
{
	static u64 words[2 * HWTIMER_HOLD];
	u32 i, done = 0;

	for (i = 0; i < count; i++) {
		words[2 * i] = (*number)++;
		words[2 * i + 1] = near_deadline(instance, state);
	}
	if (nr < HWTIMER_LANES_MAX)
		done = express(instance, nr, HWTIMER_OP_SCHEDULE, words, count);
	if (done < count)
		slow(test, instance, HWTIMER_OP_SCHEDULE, &words[done],
		     count - done);
	for (i = 0; i < count; i++)
		KUNIT_ASSERT_GT(test, (s64)words[i], 0);
}

/* More than one hold's timers wait in the logs of two lanes, and nowhere else. */
static void fill_logs(struct kunit *test, struct hwtimer_instance *instance,
		      u64 *number)
{
	struct rnd_state state;
	u32 i;

	hwtimer_test_seed(test, &state);
	for (i = 0; i < HWTIMER_HOLD + 4; i++) {
		put(test, instance, A, near_deadline(instance, &state),
		    (*number)++);
		put(test, instance, B, near_deadline(instance, &state),
		    (*number)++);
	}
	KUNIT_ASSERT_EQ(test, logged(instance), 2 * (HWTIMER_HOLD + 4));
}

/*
 * Has @schedule schedule timers, with numbers from *@number on, and expects that they expire in
 * order. If the worker is @late, it comes when all are due; those of the first tick are not alone
 * then.
 */
static void expect_in_order(struct kunit *test,
			    void (*schedule)(struct kunit *test,
					     struct hwtimer_instance *instance,
					     u64 *number),
			    bool late)
{
	struct hwtimer_instance *instance = begin(test);
	u64 number = 1;

	schedule(test, instance, &number);
	if (late)
		fake_now = FAKE_START + 2 * HOUR;
	fake_turn_until(instance, FAKE_START + 2 * HOUR);
	KUNIT_EXPECT_EQ(test, logged(instance), 0);
	expect_order(test, instance, number);
}

static void logged_timers_expire_in_order(struct kunit *test)
{
	expect_in_order(test, fill_logs, false);
}

static void late_worker_keeps_the_order(struct kunit *test)
{
	expect_in_order(test, fill_logs, true);
}

/* Timers come through lanes, by bulks and by single requests. */
static void mix(struct kunit *test, struct hwtimer_instance *instance,
		u64 *number)
{
	struct rnd_state state;
	u32 i;

	hwtimer_test_seed(test, &state);
	for (i = 0; i < 200; i++) {
		u32 which = random_below(&state, 10);
		u32 count = 1 + random_below(&state, HWTIMER_HOLD / 4);

		if (which < LANES + 5)
			put_some(test, instance, &state, LANE(which % LANES),
				 count, number);
		else if (which < LANES + 6)
			put_some(test, instance, &state, HWTIMER_LANES_MAX,
				 count, number);
		else
			put_slowly(test, instance,
				   near_deadline(instance, &state),
				   (*number)++);
	}
}

static void all_ways_to_schedule_share_an_order(struct kunit *test)
{
	expect_in_order(test, mix, false);
}

static void all_ways_share_an_order_if_the_worker_is_late(struct kunit *test)
{
	expect_in_order(test, mix, true);
}

/*
 * While timers in the logs are due, none comes to them, so that the worker gets to their end.
 */
static void no_timer_comes_to_logs_that_are_due(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	u64 words[2] = { 2, FAKE_START + 3 * HOUR };

	put(test, instance, A, FAKE_START + HOUR, 1);
	close_lanes(instance);
	fake_now = FAKE_START + 2 * HOUR;
	KUNIT_EXPECT_EQ(test,
			express(instance, A, HWTIMER_OP_SCHEDULE, words, 1), 0);
	fake_turn_until(instance, fake_now);
	put_slowly(test, instance, fake_now + NSEC_PER_USEC, 3);
	KUNIT_EXPECT_EQ(test,
			express(instance, A, HWTIMER_OP_SCHEDULE, words, 1), 1);
}

/* ---- the time ---- */

static void logged_timer_is_on_time(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	u64 deadline = FAKE_START + HOUR + 5;
	struct hwtimer_event event;

	put(test, instance, A, deadline, 1);
	fake_turn_until(instance, deadline - 1);
	KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 0);
	fake_turn_until(instance, deadline + instance->settings.shape.tick);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, event.user_data, 1);
	KUNIT_EXPECT_EQ(test, event.deadline, deadline);
	KUNIT_EXPECT_LE(test, event.lateness, instance->settings.shape.tick);
}

/* The worker is armed for a timer that is due before it would come. */
static void early_deadline_goes_the_slow_way(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 early = FAKE_START + HOUR, late = FAKE_START + 9 * HOUR;
	u64 words[6] = { 1, 0, 2, early, 3, 0 };
	struct hwtimer_event event;
	u64 from;

	provide(test, instance, 1);
	put_slowly(test, instance, late, 0);
	from = instance->wakeup.at;
	KUNIT_ASSERT_GT(test, from, early + HOUR);
	words[1] = from;
	words[5] = from;
	KUNIT_EXPECT_EQ(test,
			express(instance, A, HWTIMER_OP_SCHEDULE, words, 3), 1);
	/* What was not done is behind the results. */
	KUNIT_EXPECT_EQ(test, words[1], 2);
	KUNIT_EXPECT_EQ(test, words[2], early);
	KUNIT_EXPECT_EQ(test, words[3], 3);
	KUNIT_EXPECT_EQ(test, words[4], from);
	KUNIT_EXPECT_EQ(test, instance->wakeup.at, from);
	slow(test, instance, HWTIMER_OP_SCHEDULE, &words[1], 2);
	KUNIT_EXPECT_LE(test, instance->wakeup.at,
			early + instance->settings.shape.tick);
	fake_turn_until(instance, early + instance->settings.shape.tick);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, event.user_data, 2);
	fake_check_books(test, instance);
}

/* A nanosecond before lane->from is too early, also by a single request and by a delay. */
static void lanes_boundary_is_exact(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_request request = { .op = HWTIMER_OP_SCHEDULE,
					   .flags = HWTIMER_ABSOLUTE };
	u64 words[2] = {}, from;

	provide(test, instance, 1);
	put_slowly(test, instance, FAKE_START + HOUR, 0);
	from = instance->wakeup.at;
	words[1] = from - 1;
	KUNIT_EXPECT_EQ(test,
			express(instance, A, HWTIMER_OP_SCHEDULE, words, 1), 0);
	request.time = from - 1;
	KUNIT_EXPECT_FALSE(test,
			   hwtimer_express_request(instance, A, &request));
	request.time = from;
	KUNIT_EXPECT_TRUE(test, hwtimer_express_request(instance, A, &request));
	KUNIT_EXPECT_EQ(test, state_of(instance, request.id), HWTIMER_LOGGED);
	request.flags = 0;
	request.time = from - fake_now - 1;
	KUNIT_EXPECT_FALSE(test,
			   hwtimer_express_request(instance, A, &request));
	request.time = HWTIMER_NEVER;
	KUNIT_EXPECT_FALSE(test,
			   hwtimer_express_request(instance, A, &request));
	request.time = from - fake_now;
	KUNIT_EXPECT_TRUE(test, hwtimer_express_request(instance, A, &request));
	KUNIT_EXPECT_EQ(test, logged(instance), 2);
}

/* What is not plain is not for a lane. */
static void lanes_leave_what_is_not_plain(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	const struct hwtimer_request requests[] = {
		{ .op = HWTIMER_OP_SCHEDULE, .time = HOUR, .interval = HOUR },
		{ .op = HWTIMER_OP_SCHEDULE, .time = HOUR, .slack = 1 },
		{ .op = HWTIMER_OP_RESCHEDULE,
		  .time = HOUR,
		  .id = put(test, instance, A, FAKE_START + HOUR, 1) },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		struct hwtimer_request request = requests[i];
		bool laned;

		laned = hwtimer_express_request(instance, A, &request);
		KUNIT_EXPECT_FALSE_MSG(test, laned, "request %u", i);
	}
	KUNIT_EXPECT_EQ(test, logged(instance), 1);
}

/* ---- CANCEL ---- */

static void lane_cancels_its_own_timers(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	u64 filed = put(test, instance, A, FAKE_START + HOUR, 1);
	u64 entries, id;

	put_slowly(test, instance, FAKE_START + HOUR, 2);
	KUNIT_ASSERT_EQ(test, state_of(instance, filed), HWTIMER_PENDING);
	id = put(test, instance, A, FAKE_START + HOUR, 3);
	KUNIT_ASSERT_EQ(test, state_of(instance, id), HWTIMER_LOGGED);
	entries = instance->wheel.entries;

	KUNIT_EXPECT_TRUE(test, cancel(test, instance, A, id));
	KUNIT_EXPECT_TRUE(test, cancel(test, instance, A, filed));
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, id, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, filed, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, instance->stats.cancelled, 2);
	KUNIT_EXPECT_EQ(test, instance->wheel.entries, entries);
	KUNIT_EXPECT_EQ(test, dead(instance), 1);
	fake_check_books(test, instance);
	/* Neither expires, although the place in the log and the entry are still there. */
	fake_turn_until(instance, FAKE_START + 2 * HOUR);
	KUNIT_EXPECT_EQ(test, instance->stats.expired, 2);
	fake_check_books(test, instance);
}

/* A CANCEL goes through the lane to which the timer's slot belongs. */
static void lane_cancels_the_timers_of_others(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	u64 theirs = put(test, instance, B, FAKE_START + HOUR, 1);
	u64 ours = put(test, instance, A, FAKE_START + HOUR, 2);
	u64 both[] = { put(test, instance, A, FAKE_START + HOUR, 3),
		       put(test, instance, B, FAKE_START + HOUR, 4) };
	const struct hwtimer_bulk bulk = { .op = HWTIMER_OP_CANCEL };
	u64 before = instance->stats.expired;

	KUNIT_EXPECT_TRUE(test, cancel(test, instance, A, theirs));
	KUNIT_EXPECT_TRUE(test, cancel(test, instance, B, ours));
	KUNIT_EXPECT_EQ(test, hwtimer_express_run(instance, A, &bulk, both, 2),
			2);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, theirs, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, ours, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, logged(instance), 0);
	fake_check_books(test, instance);
	fake_turn_until(instance, FAKE_START + 2 * HOUR);
	/* begin() has left one that makes the worker come. */
	KUNIT_EXPECT_EQ(test, instance->stats.expired, before + 1);
	fake_check_books(test, instance);
}

static void lane_leaves_expired_timers(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	u64 id = put(test, instance, A, FAKE_START + HOUR, 1);
	struct hwtimer_event event;

	fake_turn_until(instance, FAKE_START + 2 * HOUR);
	put_slowly(test, instance, FAKE_START + 3 * HOUR, 5);
	put(test, instance, A, FAKE_START + 20 * HOUR, 2);
	KUNIT_EXPECT_FALSE(test, cancel(test, instance, A, id));
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, id, 0), -EALREADY);
	put(test, instance, A, FAKE_START + 20 * HOUR, 3);
	KUNIT_EXPECT_FALSE(test, cancel(test, instance, A, id));
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, id, HWTIMER_DISCARD), 0);
	KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, event.user_data, 0);
	put(test, instance, A, FAKE_START + 20 * HOUR, 4);
	KUNIT_EXPECT_FALSE(test, cancel(test, instance, A, id));
	fake_check_books(test, instance);
}

/* An id may be anything. What is wrong with one does not keep others from being cancelled. */
static void lane_leaves_garbage(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	u64 gone = put(test, instance, A, FAKE_START + HOUR, 1);
	u64 id = put(test, instance, A, FAKE_START + HOUR, 2);
	u64 end = hwtimer_table_end(&instance->table);
	const u64 garbage[] = {
		0,
		U64_MAX,
		gone,
		id + BIT_ULL(32),
		id - BIT_ULL(32),
		id ^ BIT_ULL(63),
		lower_32_bits(id),
		BIT_ULL(32) | HWTIMER_NO_RECORD,
		upper_32_bits(id) * BIT_ULL(32) | end,
		upper_32_bits(id) * BIT_ULL(32) | (end - 1),
		upper_32_bits(id) * BIT_ULL(32) | U32_MAX,
	};
	u64 words[3];
	u32 i, done;

	KUNIT_ASSERT_TRUE(test, cancel(test, instance, A, gone));
	for (i = 0; i < ARRAY_SIZE(garbage); i++) {
		KUNIT_EXPECT_FALSE_MSG(test,
				       cancel(test, instance, A, garbage[i]),
				       "id %llx", garbage[i]);
		words[0] = put(test, instance, A, FAKE_START + HOUR, 3);
		words[1] = garbage[i];
		words[2] = id;
		done = express(instance, A, HWTIMER_OP_CANCEL, words, 3);
		KUNIT_ASSERT_EQ(test, done, 1);
		KUNIT_EXPECT_EQ(test, words[0], 0);
		KUNIT_EXPECT_EQ(test, words[1], garbage[i]);
		KUNIT_EXPECT_EQ(test, words[2], id);
	}
	KUNIT_EXPECT_TRUE(test, cancel(test, instance, A, id));
	KUNIT_EXPECT_EQ(test, logged(instance), 0);
	fake_check_books(test, instance);
}

/* A record whose generations are spent is not used again. */
static void last_generation_is_not_for_lanes(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	u64 id = put(test, instance, A, FAKE_START + HOUR, 1);
	u32 retired = instance->table.retired;

	hwtimer_table_record(&instance->table, lower_32_bits(id))->generation =
		HWTIMER_GENERATION_MAX;
	id = (u64)HWTIMER_GENERATION_MAX << 32 | lower_32_bits(id);
	KUNIT_EXPECT_FALSE(test, cancel(test, instance, A, id));
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, id, 0), 0);
	KUNIT_EXPECT_EQ(test, instance->table.retired, retired + 1);
	fake_check_books(test, instance);
}

/* ---- what else may happen to a timer in a log ---- */

static void reschedule_finds_logged_timers(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	u64 at = FAKE_START + HOUR;
	u64 words[2] = { put(test, instance, A, at, 1), at + 2 * HOUR };
	u64 id = put(test, instance, B, at, 2);
	struct hwtimer_request request = {
		.op = HWTIMER_OP_RESCHEDULE,
		.flags = HWTIMER_ABSOLUTE | HWTIMER_SET_SLACK,
		.id = put(test, instance, A, at, 3),
		.time = at + 2 * HOUR,
		.slack = HOUR,
	};
	u64 stays = put(test, instance, B, at, 4);

	slow(test, instance, HWTIMER_OP_RESCHEDULE, words, 1);
	KUNIT_EXPECT_EQ(test, words[0], 0);
	KUNIT_EXPECT_EQ(test, fake_reschedule(instance, id, 3 * HOUR), 0);
	KUNIT_EXPECT_EQ(test, fake_run(instance, &request), 0);
	KUNIT_EXPECT_EQ(test, instance->stats.rescheduled, 3);
	KUNIT_EXPECT_EQ(test, state_of(instance, id), HWTIMER_PENDING);
	KUNIT_EXPECT_EQ(test, state_of(instance, request.id), HWTIMER_PENDING);
	KUNIT_EXPECT_EQ(test, logged(instance), 1);
	KUNIT_EXPECT_EQ(test, state_of(instance, stays), HWTIMER_LOGGED);
	fake_check_books(test, instance);
	fake_turn_until(instance, at + 2 * HOUR - 1);
	KUNIT_EXPECT_EQ(test, instance->stats.expired, 2);
	fake_turn_until(instance, at + 4 * HOUR);
	KUNIT_EXPECT_EQ(test, instance->stats.expired, 5);
	KUNIT_EXPECT_EQ(test, logged(instance), 0);
	fake_check_books(test, instance);
}

static void query_and_list_find_logged_timers(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	struct hwtimer_query query = {};
	struct hwtimer_listed timers[4];
	u32 listed = 0;
	u64 cursor = 0;
	bool more = true;

	fake_turn_until(instance, FAKE_START + HOUR / 2);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &(struct hwtimer_event){}),
			1);
	put_slowly(test, instance, FAKE_START + 3 * HOUR, 1);
	/* Deadlines before that of the wheel's timer would go the slow way. */
	query.id = put(test, instance, A, FAKE_START + 4 * HOUR, 2);
	KUNIT_ASSERT_EQ(test, hwtimer_query_timer(instance, &query), 0);
	KUNIT_EXPECT_EQ(test, query.state, HWTIMER_STATE_PENDING);
	KUNIT_EXPECT_EQ(test, query.deadline, FAKE_START + 4 * HOUR);
	KUNIT_EXPECT_EQ(test, query.user_data, 2);
	while (more && listed < ARRAY_SIZE(timers))
		listed += hwtimer_query_some(instance, &timers[listed], &cursor,
					     1, &more);
	KUNIT_ASSERT_EQ(test, listed, 2);
	KUNIT_EXPECT_EQ(test, timers[1].state, HWTIMER_STATE_PENDING);
	KUNIT_EXPECT_EQ(test, timers[0].user_data + timers[1].user_data, 3);
	KUNIT_EXPECT_EQ(test, logged(instance), 1);
	/* The next timer may be one in a log. */
	KUNIT_ASSERT_EQ(test,
			fake_cancel(instance,
				    timers[0].user_data == 1 ? timers[0].id :
							       timers[1].id,
				    0),
			0);
	query = (struct hwtimer_query){};
	KUNIT_ASSERT_EQ(test, hwtimer_query_timer(instance, &query), 0);
	KUNIT_EXPECT_EQ(test, query.state, HWTIMER_STATE_PENDING);
	KUNIT_EXPECT_LE(test, query.deadline,
			FAKE_START + 4 * HOUR + instance->settings.shape.tick);
}

static void cancel_all_finds_logged_timers(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	struct hwtimer_cancel_all all = {};
	u64 number = 1;

	fill_logs(test, instance, &number);
	while (hwtimer_op_cancel_some(instance, &all))
		;
	KUNIT_EXPECT_EQ(test, all.cancelled, number);
	KUNIT_EXPECT_EQ(test, logged(instance), 0);
	fake_check_books(test, instance);
	fake_turn_until(instance, FAKE_START + 2 * HOUR);
	KUNIT_EXPECT_EQ(test, instance->stats.expired, 0);
	/* The logs are as good as new. */
	put_slowly(test, instance, FAKE_START + 3 * HOUR, 0);
	put(test, instance, A, FAKE_START + 4 * HOUR, 1);
}

static void stop_hands_back_logged_timers(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	u64 words[2] = { 0, FAKE_START + HOUR };
	bool more = true, misses = true;
	u64 number = 1, came = 0;
	u64 id;

	fill_logs(test, instance, &number);
	id = put(test, instance, A, FAKE_START + HOUR, number++);
	hwtimer_instance_stop(instance);
	KUNIT_EXPECT_EQ(test,
			express(instance, A, HWTIMER_OP_SCHEDULE, words, 1), 0);
	KUNIT_EXPECT_FALSE(test, cancel(test, instance, A, id));
	fake_turn_until(instance, FAKE_START + 2 * HOUR);
	KUNIT_EXPECT_EQ(test, instance->stats.expired, 0);
	mutex_lock(&instance->harvest);
	while (more) {
		u32 taken = hwtimer_harvest_take_pending(instance, 8, &more);
		/* The first copy misses one, which comes back with the next call. */
		u32 copied = taken - (taken && misses);

		hwtimer_harvest_finish_pending(instance, taken, copied);
		came += copied;
		more |= copied < taken;
		misses &= !taken;
	}
	mutex_unlock(&instance->harvest);
	KUNIT_EXPECT_EQ(test, came, number);
	KUNIT_EXPECT_EQ(test, instance->stats.unprocessed, number);
	KUNIT_EXPECT_EQ(test, logged(instance), 0);
	fake_check_books(test, instance);
}

/* ---- limits, counters and memory ---- */

/* The limits of accounts, which lane_test_exit() sets again */
static u64 usual_limits[HWTIMER_RESOURCES];

static void set_limit(enum hwtimer_resource resource, u64 limit)
{
	u64 limits[HWTIMER_RESOURCES];

	memcpy(limits, usual_limits, sizeof(limits));
	limits[resource] = limit;
	hwtimer_account_set_limits(limits);
}

/* Schedules a timer, through a lane if that can do it. Returns whether it could. */
static bool put_somehow(struct kunit *test, struct hwtimer_instance *instance,
			u32 nr, int expected)
{
	u64 words[2] = { 0, FAKE_START + HOUR };
	bool laned = express(instance, nr, HWTIMER_OP_SCHEDULE, words, 1);

	if (!laned)
		slow(test, instance, HWTIMER_OP_SCHEDULE, words, 1);
	KUNIT_ASSERT_EQ(test, min_t(s64, words[0], 0), expected);
	return laned;
}

/*
 * All @limit timers fit, through whatever lane; one more does not. One that ends makes room.
 */
static void fill_to_the_limit(struct kunit *test,
			      struct hwtimer_instance *instance, u32 limit,
			      u32 least)
{
	u64 first, id;
	u32 i, laned = 0;

	provide(test, instance, LANES);
	first = put_slowly(test, instance, FAKE_START + NSEC_PER_USEC, 0);
	id = put_slowly(test, instance, FAKE_START + HOUR, 1);
	for (i = 2; i < limit; i++)
		laned += put_somehow(test, instance, LANE(i % LANES), 0);
	/* Otherwise the test has shown nothing. */
	KUNIT_EXPECT_GE(test, laned, least);
	for (i = 0; i < LANES; i++)
		put_somehow(test, instance, LANE(i), -ENOSPC);
	fake_check_books(test, instance);
	for (i = 0; i < 2 * LANES; i++) {
		u64 ended = i ? id : first;
		u64 words[2] = { 0, FAKE_START + HOUR };

		if (!cancel(test, instance, A, ended))
			KUNIT_ASSERT_EQ(test, fake_cancel(instance, ended, 0),
					0);
		if (!express(instance, LANE(i % LANES), HWTIMER_OP_SCHEDULE,
			     words, 1))
			slow(test, instance, HWTIMER_OP_SCHEDULE, words, 1);
		KUNIT_ASSERT_GT(test, (s64)words[0], 0);
		id = words[0];
		put_somehow(test, instance, B, -ENOSPC);
	}
	fake_check_books(test, instance);
	KUNIT_EXPECT_EQ(test, hwtimer_instance_timers(instance), limit);
}

static void limit_is_exact(struct kunit *test)
{
	const u32 limit = 3 * HWTIMER_HOLD;
	struct hwtimer_instance *instance = fake_create(kind_of(test), limit);

	KUNIT_ASSERT_NOT_NULL(test, instance);
	fill_to_the_limit(test, instance, limit, limit / 4);
	hwtimer_instance_destroy(instance);
}

/*
 * What a lane may schedule is not charged twice, and not kept from the others. With so low a limit
 * of the user, an instance gets no timers in advance, so lanes have none.
 */
static void limit_of_the_account_is_exact(struct kunit *test)
{
	const u32 limit = 3 * HWTIMER_HOLD;
	struct hwtimer_instance *instance = test->priv;

	set_limit(HWTIMER_TIMERS, limit);
	fill_to_the_limit(test, instance, limit, 0);
}

/* An instance keeps at most two steps more of its account than it has timers. */
static void lanes_keep_two_steps_at_most(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 words[2];
	u32 i, step, laned = 0;

	set_limit(HWTIMER_TIMERS,
		  usual_limits[HWTIMER_INSTANCES] * 16 * HWTIMER_HOLD);
	step = hwtimer_account_step();
	KUNIT_ASSERT_EQ(test, step, min(HWTIMER_HOLD, 1024U));
	provide(test, instance, LANES);
	put_slowly(test, instance, FAKE_START + NSEC_PER_USEC, 0);
	for (i = 0; i < 100 * HWTIMER_HOLD; i++) {
		words[0] = i;
		words[1] = FAKE_START + HOUR;
		if (express(instance, LANE(i % LANES), HWTIMER_OP_SCHEDULE,
			    words, 1))
			laned++;
		else
			slow(test, instance, HWTIMER_OP_SCHEDULE, words, 1);
		if (!express(instance, LANE(i % LANES), HWTIMER_OP_CANCEL,
			     words, 1))
			slow(test, instance, HWTIMER_OP_CANCEL, words, 1);
	}
	KUNIT_EXPECT_GT(test, laned, i / 2);
	/* All that it has is one timer. */
	KUNIT_EXPECT_LE(test, instance->allowance.max, 1 + 2 * step);
}

/* Without lanes, a CANCEL owes nothing while no compaction is due. */
static void lanes_owe_nothing_while_nothing_is_due(struct kunit *test)
{
	const u32 some = HWTIMER_DEAD_SPARED / 4;
	struct hwtimer_instance *instance = begin(test);
	u64 *ids = kunit_kcalloc(test, some, sizeof(*ids), GFP_KERNEL);
	bool compacts;
	u32 laned = 0;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	for (i = 0; i < some; i++)
		ids[i] = put_slowly(test, instance,
				    FAKE_START + HOUR + i * NSEC_PER_MSEC, i);
	/* The lane gets slots that are full, although others are not. */
	put_somehow(test, instance, A, 0);
	put_somehow(test, instance, A, 0);
	for (i = 0; i < some; i++) {
		laned += cancel(test, instance, A, ids[i]);
		close_lanes(instance);
		spin_lock(&instance->lock);
		compacts = hwtimer_instance_compacts(instance);
		spin_unlock(&instance->lock);
		KUNIT_ASSERT_FALSE(test, compacts);
	}
	KUNIT_EXPECT_GT(test, laned, 0);
	KUNIT_EXPECT_EQ(test, instance->lanes.buried, 0);
}

/* Once the account has timers again, readers wait for as many as the instance may have. */
static void lanes_end_the_refusal(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 limit = 16 * usual_limits[HWTIMER_INSTANCES];

	KUNIT_ASSERT_LT(test, limit, LIMIT);
	set_limit(HWTIMER_TIMERS, limit);
	provide(test, instance, LANES);
	spin_lock(&instance->lock);
	hwtimer_allowance_grow(instance, LIMIT);
	KUNIT_EXPECT_TRUE(test, hwtimer_instance_refused(instance));
	hwtimer_allowance_settle(instance);
	hwtimer_allowance_ask(instance);
	KUNIT_EXPECT_FALSE(test, hwtimer_instance_refused(instance));
	spin_unlock(&instance->lock);
}

/* A timer in a log needs no turn but that of its tick. */
static void logged_timer_wakes_at_its_tick(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	const struct hwtimer_wheel *wheel = &instance->wheel;
	u64 deadline = FAKE_START + 5 * NSEC_PER_SEC + 1;
	u64 tick = hwtimer_wheel_tick_of(wheel, deadline);

	put(test, instance, A, deadline, 1);
	fake_turn_until(instance, FAKE_START + NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, logged(instance), 1);
	KUNIT_EXPECT_EQ(test, instance->wakeup.at,
			hwtimer_wheel_time_of(wheel, tick));
	KUNIT_EXPECT_GT(test, instance->wakeup.at, deadline);
	fake_turn_until(instance, instance->wakeup.at);
	expect_order(test, instance, 2);
}

/* An instance that gets no lane does not ask for one at each request. */
static void refused_lane_is_not_asked_for_again(struct kunit *test)
{
	struct hwtimer_instance *instance = fake_create(kind_of(test), 1);
	u64 words[2] = { 0, FAKE_START + HOUR };
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, instance);
	KUNIT_ASSERT_EQ(test, hwtimer_supply_start(instance), 0);
	hwtimer_express_provide(instance, A);
	KUNIT_EXPECT_EQ(test, instance->lanes.nr, 0);
	KUNIT_EXPECT_EQ(test, instance->lanes.pause, HWTIMER_LANE_PAUSE);
	for (i = 0; i < 2 * HWTIMER_LANE_SWITCHES; i++) {
		spin_lock(&instance->lock);
		hwtimer_lanes_switched(instance, i % 2);
		spin_unlock(&instance->lock);
	}
	KUNIT_EXPECT_FALSE(test, instance->lanes.wanted);
	slow(test, instance, HWTIMER_OP_SCHEDULE, words, 1);
	instance->lanes.pause = 0;
	for (i = 0; i < 2 * HWTIMER_LANE_SWITCHES; i++) {
		spin_lock(&instance->lock);
		hwtimer_lanes_switched(instance, i % 2);
		spin_unlock(&instance->lock);
	}
	KUNIT_EXPECT_TRUE(test, instance->lanes.wanted);
	hwtimer_instance_destroy(instance);
}

/* A request without a lane counts a pause down, and does not look for a lane. */
static void pause_ends(struct kunit *test)
{
	const struct hwtimer_bulk bulk = { .op = HWTIMER_OP_SCHEDULE,
					   .flags = HWTIMER_ABSOLUTE };
	struct hwtimer_instance *instance = begin(test);
	u64 words[2];
	u32 i, done;

	hwtimer_lanes_pause(&instance->lanes);
	for (i = 0; i < HWTIMER_LANE_PAUSE; i++) {
		KUNIT_EXPECT_EQ(test, instance->lanes.pause,
				HWTIMER_LANE_PAUSE - i);
		words[0] = i;
		words[1] = FAKE_START + HOUR;
		done = hwtimer_express_run(instance, A, &bulk, words, 1);
		KUNIT_EXPECT_EQ(test, done, 0);
		KUNIT_EXPECT_EQ(test, instance->lanes.open, 0);
		slow(test, instance, HWTIMER_OP_SCHEDULE, words, 1);
	}
	words[1] = FAKE_START + HOUR;
	done = hwtimer_express_run(instance, A, &bulk, words, 1);
	KUNIT_EXPECT_EQ(test, done, 1);
}

/* Opens a lane, schedules @n timers through it, and reschedules @moved of them. */
static void lane_round(struct kunit *test, struct hwtimer_instance *instance,
		       u32 n, u32 moved)
{
	u32 i, useless = instance->lanes.useless;
	u64 words[2 * HWTIMER_LANE_USEFUL];

	for (i = 0; i < n; i++) {
		u64 id = put(test, instance, A, FAKE_START + HOUR, i);

		if (i < moved) {
			words[2 * i] = id;
			words[2 * i + 1] = FAKE_START + 2 * HOUR;
		}
	}
	/* put() has set it to 0. */
	instance->lanes.useless = useless;
	close_lanes(instance);
	if (moved)
		slow(test, instance, HWTIMER_OP_RESCHEDULE, words, moved);
}

/* If timers are rescheduled while they are in a log, lanes are of no use. */
static void rescheduled_timers_make_lanes_pause(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	u32 i;

	lane_round(test, instance, HWTIMER_LANE_USEFUL, HWTIMER_LANE_USEFUL);
	KUNIT_EXPECT_EQ(test, instance->lanes.useless, 0);
	for (i = 1; i < HWTIMER_LANE_USELESS; i++) {
		lane_round(test, instance, HWTIMER_LANE_USEFUL,
			   HWTIMER_LANE_USEFUL);
		KUNIT_EXPECT_EQ(test, instance->lanes.useless, i);
		KUNIT_EXPECT_EQ(test, instance->lanes.pause, 0);
	}
	lane_round(test, instance, HWTIMER_LANE_USEFUL, 0);
	KUNIT_EXPECT_EQ(test, instance->lanes.pause, HWTIMER_LANE_PAUSE);
	lane_round(test, instance, HWTIMER_LANE_USEFUL, 0);
	KUNIT_EXPECT_EQ(test, instance->lanes.useless, 0);
}

static void counters_are_exact(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	u64 scheduled = 1, cancelled = 0;
	static struct hwtimer_stats stats;
	struct rnd_state state;
	u64 ids[LANES] = {};
	u32 i;

	hwtimer_test_seed(test, &state);
	for (i = 0; i < 50; i++) {
		u32 lane = random_below(&state, LANES);
		u64 id, words[2] = { i, FAKE_START + HOUR };

		/* The log may be full. */
		if (!express(instance, LANE(lane), HWTIMER_OP_SCHEDULE, words,
			     1))
			slow(test, instance, HWTIMER_OP_SCHEDULE, words, 1);
		id = words[0];
		scheduled++;
		if (random_below(&state, 2))
			cancelled += cancel(test, instance, LANE(lane), id);
		else
			swap(ids[lane], id);
		/* The older one may be filed. */
		if (!random_below(&state, 3))
			cancelled += cancel(test, instance, LANE(lane), id);
		if (!random_below(&state, 8)) {
			put_slowly(test, instance, FAKE_START + HOUR, i);
			scheduled++;
		}
		if (random_below(&state, 2))
			continue;
		hwtimer_stats_get(instance, &stats);
		KUNIT_ASSERT_EQ(test, stats.scheduled, scheduled);
		KUNIT_ASSERT_EQ(test, stats.cancelled, cancelled);
		KUNIT_ASSERT_EQ(test, stats.pending, scheduled - cancelled);
		KUNIT_ASSERT_EQ(test, stats.entries,
				stats.pending - instance->lanes.unfiled +
					stats.dead);
		KUNIT_ASSERT_EQ(test, stats.bytes, instance->charged);
		fake_check_books(test, instance);
	}
	KUNIT_EXPECT_GT(test, cancelled, 0);
}

/* Whoever reads fdinfo or debugfs asks for a strip of the wheel at a time, all the time. */
static void occupancy_leaves_lanes_open(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	struct seq_file seq = { .size = SZ_64K };

	seq.buf = kunit_kzalloc(test, seq.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seq.buf);
	put(test, instance, A, FAKE_START + HOUR, 1);
	KUNIT_ASSERT_EQ(test, instance->lanes.open, BIT(A));
	hwtimer_occupancy_show(&seq, instance, "strips-");
	KUNIT_EXPECT_GT(test, seq.count, 0);
	KUNIT_EXPECT_EQ(test, instance->lanes.open, BIT(A));
}

static u64 bytes_used(const struct hwtimer_instance *instance)
{
	return atomic64_read(&instance->account->used[HWTIMER_BYTES]);
}

static void lanes_are_charged(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	const struct hwtimer_demand demand = { .timers =
						       HWTIMER_START_ENTRIES };
	u64 before, lane = hwtimer_lane_bytes(&instance->table);
	static struct hwtimer_stats stats;

	/* What a new lane would reserve besides */
	KUNIT_ASSERT_EQ(test, hwtimer_supply_reserve(instance, &demand), 0);
	spin_unlock(&instance->lock);
	hwtimer_stats_get(instance, &stats);
	before = bytes_used(instance);
	KUNIT_EXPECT_EQ(test, before, instance->charged);
	KUNIT_EXPECT_GE(test, lane,
			sizeof(struct hwtimer_lane) + HWTIMER_LANE_LOG * 12);
	hwtimer_express_provide(instance, LANE(LANES));
	KUNIT_EXPECT_EQ(test, bytes_used(instance), before + lane);
	hwtimer_express_provide(instance, LANE(LANES));
	KUNIT_EXPECT_EQ(test, bytes_used(instance), before + lane);
	KUNIT_EXPECT_EQ(test, instance->lanes.nr, LANES + 1);
	before = stats.bytes;
	hwtimer_stats_get(instance, &stats);
	KUNIT_EXPECT_EQ(test, stats.bytes, before + lane);
	fake_check_books(test, instance);
}

/*
 * The slots with free records may all be those of another lane. Then this one gets a new one.
 */
static void lane_gets_a_slot_of_its_own(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	u32 i;

	for (i = 0; i < LANES; i++) {
		put(test, instance, LANE(i), FAKE_START + HOUR, 1);
		/* Nothing is in the logs. */
		put_slowly(test, instance, FAKE_START + HOUR, 2);
	}
}

/* So the table has never handed out a record when the first one is freed. */
static void lanes_may_come_before_the_first_timer(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id;

	provide(test, instance, LANES);
	id = put(test, instance, A, HWTIMER_NEVER, 1);
	slow(test, instance, HWTIMER_OP_CANCEL, &id, 1);
	KUNIT_EXPECT_EQ(test, id, 0);
	put_slowly(test, instance, FAKE_START + HOUR, 2);
	fake_check_books(test, instance);
}

/* Slots in which a lane would find no free record */
static void full_slots_are_not_lent(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	u32 i;

	for (i = 0; i < HWTIMER_LANE_SLOTS * HWTIMER_SLOT_RECORDS + 100; i++)
		put_slowly(test, instance, FAKE_START + HOUR, i);
	put(test, instance, A, FAKE_START + HOUR, i);
	fake_check_books(test, instance);
}

/* The table does not grow for a lane if another lane has many slots with free records. */
static void lane_of_many_slots_leaves_room(struct kunit *test)
{
	const u32 timers = (HWTIMER_HOLD + 8) * HWTIMER_SLOT_RECORDS;
	struct hwtimer_instance *instance;
	u64 *ids, words[2];
	u32 i, before;

	if (HWTIMER_HOLD > 8)
		kunit_skip(test, "takes too many timers");
	/* So that an instance gets timers in advance */
	set_limit(HWTIMER_TIMERS, U32_MAX);
	instance = fake_create(kind_of(test), 4 * timers);
	KUNIT_ASSERT_NOT_NULL(test, instance);
	ids = kvmalloc_array(timers, sizeof(*ids), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ids);
	provide(test, instance, LANES);
	/* The worker comes soon, so later timers may go through lanes. */
	put_slowly(test, instance, FAKE_START + NSEC_PER_USEC, 0);
	for (i = 0; i < timers; i++) {
		words[0] = 0;
		words[1] = HWTIMER_NEVER;
		slow(test, instance, HWTIMER_OP_SCHEDULE, words, 1);
		ids[i] = words[0];
	}
	/* Each attempt passes over some of the slots that are full. */
	for (i = 0; i < 4; i++)
		put_somehow(test, instance, A, 0);
	put(test, instance, A, HWTIMER_NEVER, 0);
	for (i = 0; i < timers; i += HWTIMER_SLOT_RECORDS / 2)
		slow(test, instance, HWTIMER_OP_CANCEL, &ids[i], 1);
	kvfree(ids);
	before = instance->table.nr_slots;
	put(test, instance, B, HWTIMER_NEVER, 0);
	KUNIT_EXPECT_EQ(test, instance->table.nr_slots, before);
	fake_check_books(test, instance);
	hwtimer_instance_destroy(instance);
}

/* The worker, which must not file all that is in the logs, leaves such requests to an errand. */
static void worker_schedules_nothing_before_logged_timers(struct kunit *test)
{
	const struct hwtimer_bulk bulk = { .op = HWTIMER_OP_SCHEDULE,
					   .flags = HWTIMER_ABSOLUTE };
	struct hwtimer_instance *instance = begin(test);
	u64 words[2] = { 1, FAKE_START + HOUR };

	KUNIT_EXPECT_EQ(test, hwtimer_bulk_try(instance, &bulk, words, 1), 0);
	put(test, instance, A, FAKE_START + HOUR, 2);
	words[0] = 3;
	words[1] = FAKE_START + HOUR;
	KUNIT_EXPECT_EQ(test, hwtimer_bulk_try(instance, &bulk, words, 1),
			-EAGAIN);
	KUNIT_EXPECT_EQ(test, words[0], 3);
	fake_check_books(test, instance);
}

/* Where a lane has used up what it borrowed in the middle of a bulk, it borrows again. */
static void bulk_goes_on_after_the_credit(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	const struct hwtimer_lane *lane;
	static u64 words[2 * HWTIMER_HOLD];
	u32 i;

	if (HWTIMER_LANE_CREDIT < 2 * HWTIMER_HOLD)
		kunit_skip(test, "a lane borrows less than a bulk");
	put(test, instance, A, FAKE_START + HOUR, 0);
	lane = hwtimer_lanes_of(&instance->lanes, A);
	while (lane->credit > 1)
		KUNIT_ASSERT_TRUE(test, cancel(test, instance, A,
					       put(test, instance, A,
						   FAKE_START + HOUR, 0)));
	for (i = 0; i < HWTIMER_HOLD; i++) {
		words[2 * i] = 0;
		words[2 * i + 1] = FAKE_START + HOUR;
	}
	KUNIT_EXPECT_EQ(test,
			express(instance, A, HWTIMER_OP_SCHEDULE, words,
				HWTIMER_HOLD),
			HWTIMER_HOLD);
	fake_check_books(test, instance);
}

/* Otherwise threads could keep the worker from the turn by timers that are due at once. */
static void no_lane_opens_before_the_turn(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	u64 words[2] = { 0, FAKE_START + HOUR };

	instance->lanes.filing = 1;
	KUNIT_EXPECT_EQ(test,
			express(instance, A, HWTIMER_OP_SCHEDULE, words, 1), 0);
	instance->lanes.filing = 0;
	put(test, instance, A, FAKE_START + HOUR, 0);
	fake_turn_until(instance, FAKE_START + 2 * HOUR);
	KUNIT_EXPECT_EQ(test, instance->lanes.filing, 0);
	put_slowly(test, instance, fake_now + NSEC_PER_USEC, 0);
	put(test, instance, A, FAKE_START + 4 * HOUR, 0);
	fake_turn_until(instance, FAKE_START + 3 * HOUR);
	KUNIT_EXPECT_EQ(test, instance->lanes.filing, 0);
	hwtimer_instance_stop(instance);
	KUNIT_EXPECT_EQ(test, instance->lanes.filing, 0);
}

/* A slice without time left files one hold's timers. Only when all are filed, the wheel turns. */
static void turn_waits_for_logs_that_take_long(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	static struct hwtimer_slice slice = { .start = 0 };
	u64 words[2] = { 0, FAKE_START + 3 * HOUR };
	u64 number = 1;
	u32 left;

	fill_logs(test, instance, &number);
	left = logged(instance);
	fake_now = FAKE_START + 2 * HOUR;
	hwtimer_turn(&instance->job.turns, &slice);
	KUNIT_EXPECT_LT(test, instance->lanes.unfiled, left);
	KUNIT_EXPECT_GE(test, instance->lanes.unfiled, left - HWTIMER_HOLD);
	KUNIT_EXPECT_EQ(test, instance->lanes.filing, 0);
	KUNIT_EXPECT_EQ(test, instance->stats.expired, 0);
	/* The worker comes again at once. */
	KUNIT_EXPECT_EQ(test, instance->wakeup.at, fake_now);
	KUNIT_EXPECT_EQ(test,
			express(instance, A, HWTIMER_OP_SCHEDULE, words, 1), 0);
	fake_turn_until(instance, fake_now);
	KUNIT_EXPECT_EQ(test, instance->lanes.unfiled, 0);
	expect_order(test, instance, number);
}

/* Without memory, there is no lane, and all goes on without it. */
static void lane_needs_memory(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 words[2] = { 0, FAKE_START + HOUR };

	KUNIT_ASSERT_EQ(test, hwtimer_supply_start(instance), 0);
	/* An instance that is being closed gets no memory. */
	instance->exchange.closing = true;
	hwtimer_express_provide(instance, A);
	instance->exchange.closing = false;
	KUNIT_EXPECT_EQ(test, instance->lanes.nr, 0);
	fake_check_books(test, instance);
	/* Nor does one whose user has had enough. */
	provide(test, instance, 1);
	put_slowly(test, instance, FAKE_START + NSEC_PER_USEC, 0);
	close_lanes(instance);
	set_limit(HWTIMER_BYTES, bytes_used(instance) +
					 hwtimer_lane_bytes(&instance->table) -
					 1);
	hwtimer_express_provide(instance, B);
	KUNIT_EXPECT_EQ(test, instance->lanes.nr, 1);
	KUNIT_EXPECT_EQ(test,
			express(instance, B, HWTIMER_OP_SCHEDULE, words, 1), 0);
	hwtimer_account_set_limits(usual_limits);
	put_slowly(test, instance, FAKE_START + HOUR, 1);
	hwtimer_express_provide(instance, B);
	put(test, instance, B, FAKE_START + HOUR, 1);
	fake_check_books(test, instance);
}

/*
 * Makes the first allocation fail, then the second, and so on, until none is left. There are
 * hundreds, most of them of chunks, so the steps soon become longer. An array that kmalloc() has no
 * memory for comes from vmalloc(), so few of them leave no lane.
 */
static void out_of_memory_is_clean(struct kunit *test)
{
	unsigned int nth = 0, tries = 0, without = 0;
	bool failed;

	do {
		struct hwtimer_instance *instance =
			fake_create(kind_of(test), LIMIT);
		u64 words[2] = { 0, FAKE_START + HOUR };
		bool laned;

		KUNIT_ASSERT_NOT_NULL(test, instance);
		KUNIT_ASSERT_EQ(test, hwtimer_supply_start(instance), 0);
		put_slowly(test, instance, FAKE_START + NSEC_PER_USEC, 0);
		nth += 1 + (nth > 8 ? nth / 2 : 0);
		tries++;
		fake_fail_allocation(nth);
		hwtimer_express_provide(instance, A);
		laned = express(instance, A, HWTIMER_OP_SCHEDULE, words, 1);
		failed = fake_allocation_failed();
		fake_fail_allocation(0);
		without += !laned;
		KUNIT_EXPECT_TRUE(test, laned || failed);
		fake_check_books(test, instance);
		put_slowly(test, instance, FAKE_START + HOUR, 1);
		fake_turn_until(instance, FAKE_START + 2 * HOUR);
		KUNIT_EXPECT_EQ(test, instance->stats.expired, 2 + laned);
		hwtimer_instance_destroy(instance);
	} while (failed && nth < 100000);
	kunit_info(test, "%u of %u failed allocations left no lane\n", without,
		   tries - 1);
	if (nth == 1)
		kunit_skip(test, "this kernel lets no allocation fail");
	KUNIT_EXPECT_LT(test, nth, 100000);
}

/* No timer in a log, or that may be scheduled through an open lane, stays charged. */
static void destroy_forgets_logged_timers(struct kunit *test)
{
	struct hwtimer_account *account =
		hwtimer_account_get(KUIDT_INIT(FAKE_UID + 1), 0, NULL);
	struct hwtimer_instance *instance;
	u64 number = 1;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, account);
	instance = fake_create_on(kind_of(test), LIMIT, account);
	KUNIT_ASSERT_NOT_NULL(test, instance);
	provide(test, instance, LANES);
	put_slowly(test, instance, FAKE_START + NSEC_PER_USEC, 0);
	fill_logs(test, instance, &number);
	put(test, instance, A, FAKE_START + HOUR, number);
	KUNIT_EXPECT_TRUE(test, instance->lanes.open);
	hwtimer_instance_destroy(instance);
	for (i = 0; i < HWTIMER_RESOURCES; i++)
		KUNIT_EXPECT_EQ(test, atomic64_read(&account->used[i]), 0);
	hwtimer_account_put(account);
}

/* ---- the log ---- */

/* Schedules timers through lane A until it takes no more. Returns their number. */
static u32 put_until_full(struct kunit *test, struct hwtimer_instance *instance,
			  u64 *ids, u64 *number)
{
	static u64 words[2 * HWTIMER_HOLD];
	u32 i, done, count = 0;

	do {
		for (i = 0; i < HWTIMER_HOLD; i++) {
			words[2 * i] = *number + i;
			words[2 * i + 1] = FAKE_START + HOUR;
		}
		done = express(instance, A, HWTIMER_OP_SCHEDULE, words,
			       HWTIMER_HOLD);
		KUNIT_ASSERT_LE(test, count + done, HWTIMER_LANE_LOG);
		memcpy(&ids[count], words, done * sizeof(*ids));
		count += done;
		*number += done;
	} while (done);
	return count;
}

/* Cancels @count timers, with the lane as far as it can. Returns how many it could. */
static u32 cancel_somehow(struct kunit *test, struct hwtimer_instance *instance,
			  u64 *ids, u32 count)
{
	u32 i, laned = 0;

	for (i = 0; i < count; i += HWTIMER_HOLD) {
		u32 some = min(count - i, HWTIMER_HOLD);
		u32 j, done = express(instance, A, HWTIMER_OP_CANCEL, &ids[i],
				      some);

		laned += done;
		if (done < some)
			slow(test, instance, HWTIMER_OP_CANCEL, &ids[i + done],
			     some - done);
		for (j = 0; j < some; j++)
			KUNIT_ASSERT_EQ(test, ids[i + j], 0);
	}
	return laned;
}

/* Schedules @count timers through lane A, and cancels them. Returns how many. */
static u32 put_dead(struct kunit *test, struct hwtimer_instance *instance,
		    u32 count)
{
	static u64 words[2 * HWTIMER_HOLD];
	u32 i, done;

	for (i = 0; i < count; i++) {
		words[2 * i] = 0;
		words[2 * i + 1] = FAKE_START + HOUR;
	}
	done = express(instance, A, HWTIMER_OP_SCHEDULE, words, count);
	KUNIT_ASSERT_EQ(test,
			express(instance, A, HWTIMER_OP_CANCEL, words, done),
			done);
	return done;
}

/*
 * Half of the places are dead, because the free records that a lane gets at a time may be too
 * few for all of them.
 */
static void full_log_is_filed(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	u64 *ids = kunit_kcalloc(test, PLACES, sizeof(*ids), GFP_KERNEL);
	u64 number = 1;
	u32 places = 1;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	put(test, instance, A, FAKE_START + HOUR, number++);
	while (places < PLACES / 2)
		places += put_dead(test, instance, HWTIMER_HOLD / 4);
	places += put_until_full(test, instance, ids, &number);
	KUNIT_EXPECT_EQ(test, places, PLACES);
	KUNIT_EXPECT_EQ(test, logged(instance), number - 1);
	put_slowly(test, instance, FAKE_START + HOUR, number++);
	KUNIT_EXPECT_EQ(test, logged(instance), 0);
	put(test, instance, A, FAKE_START + HOUR, number++);
	fake_turn_until(instance, FAKE_START + 2 * HOUR);
	expect_order(test, instance, number);
}

/* As many timers as a lane gets free records for, and more */
static void lane_without_records_leaves_the_rest(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	u64 *ids = kunit_kcalloc(test, PLACES, sizeof(*ids), GFP_KERNEL);
	u64 number = 1;
	u32 i, count;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	for (i = 0; i < 3; i++) {
		count = put_until_full(test, instance, ids, &number);
		KUNIT_EXPECT_GT(test, count, PLACES / 2);
		/* The one that has opened the lane is there, too. */
		KUNIT_EXPECT_EQ(test, logged(instance), count + !!i);
		put_slowly(test, instance, FAKE_START + HOUR, number++);
		/* What is in the wheel is cancelled by the lane and by the instance. */
		put(test, instance, A, FAKE_START + HOUR, number++);
		KUNIT_EXPECT_GT(test,
				cancel_somehow(test, instance, ids, count), 0);
		fake_check_books(test, instance);
	}
	fake_turn_until(instance, FAKE_START + 2 * HOUR);
	expect_order(test, instance, 1 + 2 * i);
}

/* Nothing is scheduled where a timer is still in the log: dead places behind it stay. */
static void log_of_dead_timers_is_filed(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	u64 first = put(test, instance, A, FAKE_START + HOUR, 1);
	u32 done, places = 1;

	do {
		done = put_dead(test, instance, HWTIMER_HOLD);
		places += done;
	} while (done);
	KUNIT_EXPECT_EQ(test, places, PLACES);
	KUNIT_EXPECT_EQ(test, logged(instance), 1);
	KUNIT_EXPECT_EQ(test, state_of(instance, first), HWTIMER_LOGGED);
	put_slowly(test, instance, FAKE_START + HOUR, 2);
	put(test, instance, A, FAKE_START + HOUR, 3);
	fake_turn_until(instance, FAKE_START + 2 * HOUR);
	expect_order(test, instance, 4);
}

/*
 * Timers that are cancelled while they are in the log never touch the wheel, and the lane
 * needs nothing else for them.
 */
static void pairs_stay_in_the_lane(struct kunit *test)
{
	struct hwtimer_instance *instance = begin(test);
	u64 entries = instance->wheel.entries;
	static u64 words[2 * HWTIMER_HOLD];
	u32 i, n;

	for (n = 0; n < 4 * HWTIMER_LANE_LOG; n += HWTIMER_HOLD) {
		for (i = 0; i < HWTIMER_HOLD; i++) {
			words[2 * i] = 0;
			words[2 * i + 1] = FAKE_START + HOUR;
		}
		express_all(test, instance, A, words, HWTIMER_HOLD);
		KUNIT_ASSERT_EQ(test,
				express(instance, A, HWTIMER_OP_CANCEL, words,
					HWTIMER_HOLD),
				HWTIMER_HOLD);
	}
	KUNIT_EXPECT_EQ(test, logged(instance), 0);
	KUNIT_EXPECT_EQ(test, instance->wheel.entries, entries);
	KUNIT_EXPECT_EQ(test, instance->stats.cancelled, n);
	fake_check_books(test, instance);
}

/* Entries that lanes make dead are removed as those are that requests make dead. */
static void dead_entries_are_bounded(struct kunit *test)
{
	const u64 bound = HWTIMER_DEAD_SPARED + HWTIMER_DEAD_DURING;
	struct hwtimer_instance *instance = begin(test);
	static u64 words[2 * HWTIMER_HOLD];
	u64 most = 0, surplus;
	u32 i, n, done, laned = 0;

	for (n = 0; n < 3 * bound; n += HWTIMER_HOLD) {
		for (i = 0; i < HWTIMER_HOLD; i++) {
			words[2 * i] = 0;
			words[2 * i + 1] =
				FAKE_START + HOUR + (n + i) * NSEC_PER_MSEC;
		}
		done = express(instance, A, HWTIMER_OP_SCHEDULE, words,
			       HWTIMER_HOLD);
		/* While the wheel is compacted, lanes may stay closed. */
		slow(test, instance, HWTIMER_OP_SCHEDULE, words + done,
		     HWTIMER_HOLD - done);
		KUNIT_ASSERT_EQ(test,
				fake_cancel(instance,
					    put_slowly(test, instance,
						       FAKE_START + HOUR, 0),
					    0),
				0);
		KUNIT_ASSERT_EQ(test, logged(instance), 0);
		laned += cancel_somehow(test, instance, words, HWTIMER_HOLD);
		close_lanes(instance);
		surplus = dead(instance) -
			  min(dead(instance), instance->stats.pending);
		most = max(most, surplus);
	}
	KUNIT_EXPECT_GT(test, laned, n / 8);
	/* Without enough of them, the test has shown nothing. */
	KUNIT_EXPECT_GT(test, most, HWTIMER_DEAD_SPARED);
	KUNIT_EXPECT_LE(test, most, bound);
	fake_check_books(test, instance);
}

/* ---- twins ---- */

/* Few timers, so that there is no room for some; and ids that are remembered */
#define TWIN_FEW (2 * HWTIMER_HOLD)
#define TWIN_IDS 512
#define TWIN_TIMERS 200000
#define TWIN_ROUNDS 3000

/* A time that the lowest level of either kind of wheel reaches, and one beyond it, ns. */
#define NEAR (3 * NSEC_PER_SEC)
#define FAR (40 * FAKE_HOUR)

/**
 * struct pair - two instances that get the same operations
 * @test: the test that they belong to
 * @state: state of the random numbers
 * @laned: the instance with lanes
 * @plain: the instance without
 * @timers: number of timers scheduled so far; each has its number as user_data
 * @laned_ids: ids of the last TWIN_IDS timers of @laned
 * @plain_ids: those of @plain
 * @lanes: the lanes through which those were scheduled
 * @lane: the lane that was used last
 * @numbers: the numbers of those timers
 * @moved: a bit for each timer that was rescheduled; its place in the order is not defined
 * @moved_balance: number of their events that were read of @laned, less those of @plain
 * @moved_sum: the sum of their numbers, less that of those of @plain
 * @words: words of the next bulk for @laned
 * @plain_words: for @plain
 * @scheduled: number of timers that lanes scheduled
 * @cancelled: number of timers that lanes cancelled
 * @refused: number of timers for which there was no room
 * @expired: number of events that were the same for both
 */
struct pair {
	struct kunit *test;
	struct rnd_state state;
	struct hwtimer_instance *laned;
	struct hwtimer_instance *plain;
	u64 timers;
	u64 laned_ids[TWIN_IDS];
	u64 plain_ids[TWIN_IDS];
	u32 lanes[TWIN_IDS];
	u32 lane;
	u64 numbers[TWIN_IDS];
	DECLARE_BITMAP(moved, TWIN_TIMERS);
	s64 moved_balance;
	u64 moved_sum;
	u64 words[2 * HWTIMER_HOLD];
	u64 plain_words[2 * HWTIMER_HOLD];
	u64 scheduled;
	u64 cancelled;
	u64 refused;
	u64 expired;
};

static u64 pair_deadline(struct pair *pair)
{
	u32 which = random_below(&pair->state, 400);
	u32 part = prandom_u32_state(&pair->state);

	/* The order of timers that are overdue is not defined. */
	if (!which)
		return fake_now + NSEC_PER_USEC;
	return fake_now + NSEC_PER_USEC +
	       mul_u64_u32_shr(which < 20 ? FAR : NEAR, part, 32);
}

/*
 * Does @count operations with both. The lane begins; now and then it does not. The clock shows
 * the same for both. Compares the results, but for ids.
 */
static void pair_do(struct pair *pair, u32 op, u32 count)
{
	u32 i, done = 0;
	u64 now;

	if (random_below(&pair->state, 12))
		done = express(pair->laned, pair->lane, op, pair->words, count);
	if (op == HWTIMER_OP_SCHEDULE)
		pair->scheduled += done;
	else
		pair->cancelled += done;
	now = fake_now;
	if (done < count)
		slow(pair->test, pair->laned, op, &pair->words[done],
		     count - done);
	fake_now = now;
	slow(pair->test, pair->plain, op, pair->plain_words, count);
	for (i = 0; i < count; i++) {
		KUNIT_ASSERT_EQ(pair->test, min_t(s64, pair->words[i], 0),
				min_t(s64, pair->plain_words[i], 0));
		pair->refused += (s64)pair->words[i] == -ENOSPC;
	}
}

static void pair_schedule(struct pair *pair, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		pair->words[2 * i] = pair->timers + i;
		pair->words[2 * i + 1] = pair_deadline(pair);
	}
	memcpy(pair->plain_words, pair->words, sizeof(pair->words));
	pair_do(pair, HWTIMER_OP_SCHEDULE, count);
	for (i = 0; i < count; i++, pair->timers++) {
		pair->laned_ids[pair->timers % TWIN_IDS] = pair->words[i];
		pair->plain_ids[pair->timers % TWIN_IDS] = pair->plain_words[i];
		pair->lanes[pair->timers % TWIN_IDS] = pair->lane;
		pair->numbers[pair->timers % TWIN_IDS] = pair->timers;
	}
}

/* A random timer, which may have ended; mostly one of the lane */
static u32 pair_pick(struct pair *pair, u32 among)
{
	u32 which, tries = random_below(&pair->state, 16);

	do
		which = random_below(&pair->state, among);
	while (tries-- && pair->lanes[which] != pair->lane);
	return which;
}

/* CANCEL or RESCHEDULE of random timers */
static void pair_change(struct pair *pair, u32 op, u32 count)
{
	u32 among = min_t(u64, pair->timers, TWIN_IDS);
	u32 step = op == HWTIMER_OP_CANCEL ? 1 : 2;
	u32 i;

	for (i = 0; among && i < count; i++) {
		u32 which = pair_pick(pair, among);

		pair->words[step * i] = pair->laned_ids[which];
		pair->plain_words[step * i] = pair->plain_ids[which];
		if (step == 1)
			continue;
		__set_bit(pair->numbers[which], pair->moved);
		pair->words[2 * i + 1] = pair_deadline(pair);
		pair->plain_words[2 * i + 1] = pair->words[2 * i + 1];
	}
	if (among)
		pair_do(pair, op, count);
}

static void pair_turn(struct pair *pair, u64 delay, bool late)
{
	u64 begin = fake_now, end = begin + delay;

	fake_now = late ? end : begin;
	fake_turn_until(pair->laned, end);
	fake_now = late ? end : begin;
	fake_turn_until(pair->plain, end);
}

/* Reads events until one has a place in the order. Returns whether there is one. */
static bool pair_next(struct pair *pair, struct hwtimer_instance *instance,
		      struct hwtimer_event *event)
{
	bool laned = instance == pair->laned;

	while (fake_read(instance, event)) {
		if (!test_bit(event->user_data, pair->moved))
			return true;
		pair->moved_balance += laned ? 1 : -1;
		pair->moved_sum += laned ? event->user_data : -event->user_data;
	}
	return false;
}

static void pair_read(struct pair *pair)
{
	struct hwtimer_event ours, theirs;

	while (pair_next(pair, pair->laned, &ours)) {
		KUNIT_ASSERT_TRUE(pair->test,
				  pair_next(pair, pair->plain, &theirs));
		KUNIT_ASSERT_EQ(pair->test, ours.user_data, theirs.user_data);
		KUNIT_ASSERT_EQ(pair->test, ours.deadline, theirs.deadline);
		pair->expired++;
	}
	KUNIT_ASSERT_FALSE(pair->test, pair_next(pair, pair->plain, &theirs));
	KUNIT_ASSERT_EQ(pair->test, pair->moved_balance, 0);
	KUNIT_ASSERT_EQ(pair->test, pair->moved_sum, 0);
}

static void pair_compare_counters(struct pair *pair)
{
	static struct hwtimer_stats ours, theirs;

	hwtimer_stats_get(pair->laned, &ours);
	hwtimer_stats_get(pair->plain, &theirs);
	KUNIT_ASSERT_EQ(pair->test, ours.pending, theirs.pending);
	KUNIT_ASSERT_EQ(pair->test, ours.scheduled, theirs.scheduled);
	KUNIT_ASSERT_EQ(pair->test, ours.rescheduled, theirs.rescheduled);
	KUNIT_ASSERT_EQ(pair->test, ours.cancelled, theirs.cancelled);
	KUNIT_ASSERT_EQ(pair->test, ours.expired, theirs.expired);
	KUNIT_ASSERT_EQ(pair->test, ours.ready, theirs.ready);
	fake_check_books(pair->test, pair->laned);
}

static void pair_do_something(struct pair *pair)
{
	u32 max = random_below(&pair->state, 4) ? 4 : HWTIMER_HOLD / 4;
	u32 count = 1 + random_below(&pair->state, max);

	if (!random_below(&pair->state, 3))
		pair->lane = LANE(random_below(&pair->state, LANES));
	switch (random_below(&pair->state, 24)) {
	case 0 ... 10:
		pair_schedule(pair, count);
		break;
	case 11 ... 18:
		pair_change(pair, HWTIMER_OP_CANCEL, count);
		break;
	case 19:
		pair_change(pair, HWTIMER_OP_RESCHEDULE, count);
		break;
	case 20:
		pair_compare_counters(pair);
		break;
	case 21 ... 22:
		pair_read(pair);
		break;
	default:
		pair_turn(pair, random_below(&pair->state, NSEC_PER_SEC),
			  random_below(&pair->state, 2));
	}
}

/*
 * RESCHEDULE is no operation of lanes, and hwtimer_express_run() refuses it. Whatever lanes
 * do, all results, all counters and the order of events are as without them.
 */
static void pair_do_much(struct kunit *test, u32 limit)
{
	struct pair *pair = kunit_kzalloc(test, sizeof(*pair), GFP_KERNEL);
	u32 i, rounds = hwtimer_test_scaled(TWIN_ROUNDS);

	KUNIT_ASSERT_NOT_NULL(test, pair);
	pair->test = test;
	hwtimer_test_seed(test, &pair->state);
	pair->lane = A;
	pair->laned = fake_create(kind_of(test), limit);
	pair->plain = fake_create(kind_of(test), limit);
	KUNIT_ASSERT_NOT_NULL(test, pair->laned);
	KUNIT_ASSERT_NOT_NULL(test, pair->plain);
	provide(test, pair->laned, LANES);
	for (i = 0; i < rounds && pair->timers + 8 * HWTIMER_HOLD < TWIN_TIMERS;
	     i++)
		pair_do_something(pair);
	/* Whatever has happened so far, these are more than the limit allows. */
	for (i = 0; limit == TWIN_FEW && i * HWTIMER_HOLD <= TWIN_FEW; i++)
		pair_schedule(pair, HWTIMER_HOLD);
	pair_turn(pair, 2 * FAR, true);
	pair_read(pair);
	pair_compare_counters(pair);
	kunit_info(test, "%llu of %llu timers were scheduled through lanes\n",
		   pair->scheduled, pair->timers);
	kunit_info(test, "%llu cancelled through lanes, %llu expired\n",
		   pair->cancelled, pair->expired);
	/* With fewer of them, the test has shown nothing. */
	KUNIT_EXPECT_GT(test, pair->scheduled,
			pair->timers / (limit == TWIN_FEW ? 256 : 8));
	KUNIT_EXPECT_GT(test, pair->cancelled, 0);
	KUNIT_EXPECT_EQ(test, pair->refused > 0, limit == TWIN_FEW);
	KUNIT_EXPECT_GT(test, pair->expired, 0);
	hwtimer_instance_destroy(pair->laned);
	hwtimer_instance_destroy(pair->plain);
}

static void lanes_do_what_the_instance_does(struct kunit *test)
{
	pair_do_much(test, LIMIT);
}

static void lanes_refuse_what_the_instance_refuses(struct kunit *test)
{
	pair_do_much(test, TWIN_FEW);
}

static int lane_test_init(struct kunit *test)
{
	u32 i;

	for (i = 0; i < HWTIMER_RESOURCES; i++)
		usual_limits[i] = hwtimer_account_limit(i);
	return fake_test_init(test, kind_of(test), LIMIT);
}

static void lane_test_exit(struct kunit *test)
{
	fake_test_exit(test);
	hwtimer_account_set_limits(usual_limits);
}

static struct kunit_case lane_test_cases[] = {
	KIND_CASE(logged_timers_expire_in_order),
	KIND_CASE(late_worker_keeps_the_order),
	KIND_CASE(all_ways_to_schedule_share_an_order),
	KIND_CASE(all_ways_share_an_order_if_the_worker_is_late),
	KIND_CASE(no_timer_comes_to_logs_that_are_due),
	KIND_CASE(logged_timer_is_on_time),
	KIND_CASE(early_deadline_goes_the_slow_way),
	KIND_CASE(lanes_boundary_is_exact),
	KIND_CASE(lanes_leave_what_is_not_plain),
	KIND_CASE(lane_cancels_its_own_timers),
	KIND_CASE(lane_cancels_the_timers_of_others),
	KIND_CASE(lane_leaves_expired_timers),
	KIND_CASE(lane_leaves_garbage),
	KIND_CASE(last_generation_is_not_for_lanes),
	KIND_CASE(reschedule_finds_logged_timers),
	KIND_CASE(query_and_list_find_logged_timers),
	KIND_CASE(cancel_all_finds_logged_timers),
	KIND_CASE(stop_hands_back_logged_timers),
	KIND_CASE(limit_is_exact),
	KIND_CASE(limit_of_the_account_is_exact),
	KIND_CASE(lanes_keep_two_steps_at_most),
	KIND_CASE(lanes_owe_nothing_while_nothing_is_due),
	KIND_CASE(lanes_end_the_refusal),
	KIND_CASE(logged_timer_wakes_at_its_tick),
	KIND_CASE(refused_lane_is_not_asked_for_again),
	KIND_CASE(pause_ends),
	KIND_CASE(rescheduled_timers_make_lanes_pause),
	KIND_CASE(counters_are_exact),
	KIND_CASE(occupancy_leaves_lanes_open),
	KIND_CASE(lanes_are_charged),
	KIND_CASE(lane_gets_a_slot_of_its_own),
	KIND_CASE(lanes_may_come_before_the_first_timer),
	KIND_CASE(full_slots_are_not_lent),
	KIND_CASE(lane_of_many_slots_leaves_room),
	KIND_CASE(worker_schedules_nothing_before_logged_timers),
	KIND_CASE(bulk_goes_on_after_the_credit),
	KIND_CASE(no_lane_opens_before_the_turn),
	KIND_CASE(turn_waits_for_logs_that_take_long),
	KIND_CASE(lane_needs_memory),
	KIND_CASE_SLOW(out_of_memory_is_clean),
	KIND_CASE(destroy_forgets_logged_timers),
	KIND_CASE(full_log_is_filed),
	KIND_CASE(lane_without_records_leaves_the_rest),
	KIND_CASE(log_of_dead_timers_is_filed),
	KIND_CASE(pairs_stay_in_the_lane),
	KIND_CASE(dead_entries_are_bounded),
	KIND_CASE_SLOW(lanes_do_what_the_instance_does),
	KIND_CASE_SLOW(lanes_refuse_what_the_instance_refuses),
	{}
};

static struct kunit_suite lane_test_suite = {
	.name = "hwtimer_lane",
	.init = lane_test_init,
	.exit = lane_test_exit,
	.test_cases = lane_test_cases,
};

kunit_test_suite(lane_test_suite);
