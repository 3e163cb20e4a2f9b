// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of RESCHEDULE with more than a time: HWTIMER_REQ_REARM in each state of a timer, and
 * HWTIMER_REQ_SET. The clock is a fake, so what must come next is known exactly.
 */
#include <kunit/test.h>
#include <linux/ktime.h>

#include "fake.h"
#include "random.h"
#include "show/show.h"

#define TICK NSEC_PER_MSEC
#define LIMIT 8

#define REARM_OR_CREATE (HWTIMER_REQ_REARM | HWTIMER_REQ_CREATE)

static int change_test_init(struct kunit *test)
{
	return fake_test_init(test, LIMIT);
}

/* Schedules a timer; returns its id. */
static u64 begin(struct kunit *test, struct hwtimer_request request)
{
	request.op = HWTIMER_OP_SCHEDULE;
	KUNIT_ASSERT_EQ(test, fake_run(test->priv, &request), 0);
	return request.id;
}

static u64 begin_after(struct kunit *test, u64 delay)
{
	return begin(test, (struct hwtimer_request){ .time = delay });
}

/* Reschedules timer *@id, and stores the id that it then has. Returns the result. */
static int change(struct kunit *test, u64 *id, struct hwtimer_request request)
{
	int err;

	request.op = HWTIMER_OP_RESCHEDULE;
	request.id = *id;
	err = fake_run(test->priv, &request);
	if (!err && request.flags & HWTIMER_REQ_REARM)
		*id = request.id;
	else
		KUNIT_EXPECT_EQ(test, request.id, *id);
	return err;
}

static int rearm(struct kunit *test, u64 *id, u64 delay, u64 user_data)
{
	return change(test, id,
		      (struct hwtimer_request){ .flags = HWTIMER_REQ_REARM,
						.time = delay,
						.user_data = user_data });
}

/* The same if the timer may be gone */
static int create(struct kunit *test, u64 *id, u64 delay, u64 user_data)
{
	return change(test, id,
		      (struct hwtimer_request){ .flags = REARM_OR_CREATE,
						.time = delay,
						.user_data = user_data });
}

static void turn_until(struct kunit *test, u64 time)
{
	fake_turn_until(test->priv, time);
}

/* Expects this event, and no other one. */
static void expect_event(struct kunit *test, u64 id, u64 user_data,
			 u64 deadline)
{
	struct hwtimer_event event = {};

	KUNIT_ASSERT_EQ(test, fake_read(test->priv, &event), 1);
	KUNIT_EXPECT_EQ(test, event.id, id);
	KUNIT_EXPECT_EQ(test, event.user_data, user_data);
	KUNIT_EXPECT_EQ(test, event.deadline, deadline);
}

static void expect_none(struct kunit *test)
{
	struct hwtimer_event event;

	KUNIT_EXPECT_EQ(test, fake_read(test->priv, &event), 0);
}

static struct hwtimer_timer query(struct kunit *test, u64 id)
{
	struct hwtimer_timer query = { .id = id };

	KUNIT_ASSERT_EQ(test, hwtimer_query_timer(test->priv, &query), 0);
	return query;
}

static struct hwtimer_record *record_of(struct kunit *test, u64 id)
{
	struct hwtimer_instance *instance = test->priv;

	return hwtimer_table_record(&instance->table, lower_32_bits(id));
}

/* Cancels all timers, and expects that nothing is left of them. */
static void expect_nothing_left(struct kunit *test, const u64 *ids, u32 count)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;

	while (count--)
		fake_cancel(instance, ids[count], HWTIMER_REQ_DISCARD);
	while (fake_read(instance, &event))
		;
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 0);
	KUNIT_EXPECT_EQ(test, instance->periodic, 0);
	KUNIT_EXPECT_EQ(test, instance->table.used, 0);
	fake_check_books(test, instance);
}

/* ---- HWTIMER_REQ_REARM ---- */

static void rearm_a_pending_timer(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin_after(test, 10 * TICK), before = id;

	KUNIT_ASSERT_EQ(test, rearm(test, &id, 20 * TICK, 7), 0);
	KUNIT_EXPECT_EQ(test, id, before);
	KUNIT_ASSERT_EQ(test, rearm(test, &id, 5 * TICK, 8), 0);
	KUNIT_EXPECT_EQ(test, id, before);
	turn_until(test, FAKE_START + 100 * TICK);
	expect_event(test, id, 8, FAKE_START + 5 * TICK);
	expect_none(test);
	KUNIT_EXPECT_EQ(test, instance->stats.scheduled, 1);
	KUNIT_EXPECT_EQ(test, instance->stats.rescheduled, 2);
	fake_check_books(test, instance);
}

/* Without HWTIMER_REQ_CREATE, a timer that is gone stays so. */
static void rearm_no_timer(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = 0, other = ~0ULL;

	KUNIT_ASSERT_EQ(test, create(test, &id, 3 * TICK, 7), 0);
	KUNIT_EXPECT_EQ(test, rearm(test, &other, 4 * TICK, 8), -ENOENT);
	KUNIT_ASSERT_EQ(test, create(test, &other, 4 * TICK, 8), 0);
	KUNIT_EXPECT_NE(test, id, 0);
	KUNIT_EXPECT_NE(test, id, other);
	turn_until(test, FAKE_START + 100 * TICK);
	expect_event(test, id, 7, FAKE_START + 3 * TICK);
	expect_event(test, other, 8, FAKE_START + 4 * TICK);
	KUNIT_EXPECT_EQ(test, rearm(test, &id, TICK, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, instance->stats.scheduled, 2);
	KUNIT_EXPECT_EQ(test, instance->stats.rescheduled, 2);
	fake_check_books(test, instance);
}

/* The only event, the first, one in the middle, and the last of three. */
static void rearm_drops_the_event(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 ids[3];
	u32 i, place;

	for (place = 0; place < 3; place++) {
		u64 start = fake_now, before;

		for (i = 0; i < 3; i++)
			ids[i] = begin_after(test, (i + 1) * TICK);
		turn_until(test, start + 10 * TICK);
		before = ids[place];
		KUNIT_ASSERT_EQ(test, rearm(test, &ids[place], 10 * TICK, 7),
				0);
		KUNIT_EXPECT_NE(test, ids[place], before);
		KUNIT_EXPECT_EQ(test, instance->stats.ready, 2);
		KUNIT_EXPECT_EQ(test, instance->stats.pending, 1);
		KUNIT_EXPECT_EQ(test, fake_cancel(instance, before, 0),
				-ENOENT);
		for (i = 0; i < 3; i++)
			if (i != place)
				expect_event(test, ids[i], 0,
					     start + (i + 1) * TICK);
		expect_none(test);
		turn_until(test, start + 100 * TICK);
		expect_event(test, ids[place], 7, start + 20 * TICK);
		expect_none(test);
		fake_check_books(test, instance);
	}
}

/* A program whose limit leaves room for no other timer can rearm each that has expired. */
static void rearm_needs_no_room_for_an_event(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 ids[LIMIT];
	u32 i;

	for (i = 0; i < LIMIT; i++)
		ids[i] = begin_after(test, (i + 1) * TICK);
	KUNIT_ASSERT_EQ(test, fake_schedule_at(instance, 0), -ENOSPC);
	turn_until(test, FAKE_START + 50 * TICK);
	for (i = LIMIT; i-- > 0;)
		KUNIT_EXPECT_EQ(test, rearm(test, &ids[i], TICK, i), 0);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 0);
	turn_until(test, FAKE_START + 100 * TICK);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, LIMIT);
	expect_nothing_left(test, ids, LIMIT);
}

static void rearm_without_room_changes_nothing(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 ids[LIMIT], gone = 0;
	u32 i;

	for (i = 0; i < LIMIT; i++)
		ids[i] = begin_after(test, (i + 1) * TICK);
	turn_until(test, FAKE_START + 50 * TICK);
	KUNIT_EXPECT_EQ(test, create(test, &gone, TICK, 0), -ENOSPC);
	for (i = 0; i < LIMIT; i++)
		expect_event(test, ids[i], 0, FAKE_START + (i + 1) * TICK);
	expect_none(test);
	fake_check_books(test, instance);
}

/* Records whose generations are spent are not used again. */
static void rearm_with_spent_generations(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_record *record;
	u64 id = begin_after(test, TICK), before;

	record = record_of(test, id);
	record->generation = HWTIMER_GENERATION_MAX;
	id = hwtimer_table_id(record, lower_32_bits(id));
	before = id;
	turn_until(test, FAKE_START + 2 * TICK);
	/* As if the table had no other free record */
	instance->table.retired += hwtimer_table_spare(&instance->table);
	spin_lock(&instance->lock);
	instance->settings.timers = 1;
	spin_unlock(&instance->lock);
	KUNIT_EXPECT_EQ(test, rearm(test, &id, TICK, 0), -ENOMEM);
	expect_event(test, before, 0, FAKE_START + TICK);
	instance->settings.timers = LIMIT;
}

/* Makes timers of all kinds in turn of one, whatever its state. */
static void rearm_changes_the_kind(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;
	struct rnd_state state;
	u64 id = 0, i, count = 0;

	hwtimer_test_seed(test, &state);
	for (i = 0; i < hwtimer_test_scaled(20000); i++) {
		struct hwtimer_request request = {
			.flags = REARM_OR_CREATE,
			.time = TICK * random_below(&state, 20),
			.user_data = i,
		};

		if (random_below(&state, 2))
			request.interval =
				TICK * (1 + random_below(&state, 20));
		if (random_below(&state, 2))
			request.slack = TICK * random_below(&state, 20);
		KUNIT_ASSERT_EQ(test, change(test, &id, request), 0);
		KUNIT_ASSERT_EQ(test, query(test, id).interval,
				request.interval);
		KUNIT_ASSERT_EQ(test, query(test, id).user_data, i);
		KUNIT_ASSERT_EQ(test, instance->stats.ready, 0);
		KUNIT_ASSERT_EQ(test, instance->stats.pending, 1);
		turn_until(test, fake_now + TICK * random_below(&state, 60));
		if (!random_below(&state, 3) && fake_read(instance, &event)) {
			count++;
			KUNIT_ASSERT_EQ(test, event.user_data, i);
			KUNIT_ASSERT_EQ(test, event.id, id);
		}
	}
	KUNIT_EXPECT_GT(test, count, 0);
	expect_nothing_left(test, &id, 1);
}

static void rearm_after_a_discard(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 first = begin_after(test, TICK), id = begin_after(test, 2 * TICK);
	u64 before = id;

	turn_until(test, FAKE_START + 5 * TICK);
	KUNIT_ASSERT_EQ(test, fake_cancel(instance, id, HWTIMER_REQ_DISCARD),
			0);
	KUNIT_EXPECT_EQ(test, rearm(test, &id, TICK, 7), -ENOENT);
	KUNIT_ASSERT_EQ(test, create(test, &id, TICK, 7), 0);
	KUNIT_EXPECT_NE(test, id, before);
	KUNIT_EXPECT_EQ(test, instance->stats.discarded, 1);
	expect_event(test, first, 0, FAKE_START + TICK);
	expect_nothing_left(test, &id, 1);
}

/* In one SUBMIT, an event is dropped, and another timer is rearmed. */
static void rearm_behind_a_discard_in_one_submit(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_request requests[] = {
		{ .op = HWTIMER_OP_CANCEL, .flags = HWTIMER_REQ_DISCARD },
		{ .op = HWTIMER_OP_RESCHEDULE,
		  .flags = HWTIMER_REQ_REARM,
		  .time = TICK,
		  .interval = TICK },
	};
	u64 ids[LIMIT];
	u32 i;

	for (i = 0; i < LIMIT; i++)
		ids[i] = begin_after(test, (i + 1) * TICK);
	turn_until(test, FAKE_START + 50 * TICK);
	requests[0].id = ids[0];
	requests[1].id = ids[1];
	hwtimer_request_run(instance, requests, ARRAY_SIZE(requests));
	KUNIT_EXPECT_EQ(test, requests[0].result, 0);
	KUNIT_EXPECT_EQ(test, requests[1].result, 0);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, LIMIT - 2);
	KUNIT_EXPECT_EQ(test, instance->stats.discarded, 2);
	ids[1] = requests[1].id;
	for (i = 2; i < LIMIT; i++)
		expect_event(test, ids[i], 0, FAKE_START + (i + 1) * TICK);
	expect_nothing_left(test, ids, 2);
}

static void rearm_when_stopped(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 pending = begin_after(test, 10 * TICK),
	    id = begin_after(test, TICK);
	u64 ids[] = { pending, id }, gone = 0;

	turn_until(test, FAKE_START + 5 * TICK);
	hwtimer_instance_stop(instance);
	KUNIT_EXPECT_EQ(test, rearm(test, &pending, TICK, 0), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, rearm(test, &id, TICK, 0), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, rearm(test, &gone, TICK, 0), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, create(test, &gone, TICK, 0), -ESHUTDOWN);
	expect_event(test, id, 0, FAKE_START + TICK);
	expect_nothing_left(test, ids, 2);
}

/* NOTIFY's delay counts from an event that waits, not from one that was dropped. */
static void rearm_ends_the_delay(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_notice *notice = &instance->notice;
	u64 id = begin_after(test, TICK);

	hwtimer_notice_set(instance, 2, FAKE_HOUR);
	turn_until(test, FAKE_START + 2 * TICK);
	KUNIT_EXPECT_NE(test, notice->first, HWTIMER_TICK_NONE);
	KUNIT_EXPECT_NE(test, notice->due, HWTIMER_TICK_NONE);
	KUNIT_ASSERT_EQ(test, rearm(test, &id, TICK, 0), 0);
	KUNIT_EXPECT_EQ(test, notice->first, HWTIMER_TICK_NONE);
	KUNIT_EXPECT_EQ(test, notice->due, HWTIMER_TICK_NONE);
	expect_nothing_left(test, &id, 1);
}

/* Schedules timers until the table has no more than @spare free records. */
static void use_records(struct kunit *test, u32 spare)
{
	struct hwtimer_instance *instance = test->priv;

	do {
		begin_after(test, FAKE_HOUR);
	} while (hwtimer_table_spare(&instance->table) > spare);
	KUNIT_ASSERT_EQ(test, hwtimer_table_spare(&instance->table), spare);
}

/* The table grows for each request that makes a timer, or makes one periodic. */
static void changes_get_records(struct kunit *test)
{
	struct hwtimer_request periodic = { .flags = REARM_OR_CREATE,
					    .time = FAKE_HOUR,
					    .interval = FAKE_HOUR };
	u64 id = 0, other = 0;

	fake_test_exit(test);
	KUNIT_ASSERT_EQ(test, fake_test_init(test, 100000), 0);
	use_records(test, 0);
	KUNIT_EXPECT_EQ(test, create(test, &id, FAKE_HOUR, 0), 0);
	use_records(test, 1);
	KUNIT_EXPECT_EQ(test, change(test, &other, periodic), 0);
	use_records(test, 0);
	periodic.flags = HWTIMER_REQ_SET;
	KUNIT_EXPECT_EQ(test, change(test, &id, periodic), 0);
	fake_check_books(test, test->priv);
}

/* ---- HWTIMER_REQ_SET ---- */

/* Reschedules timer @id; expects that it has all fields of the request, or only its deadline. */
static void expect_set(struct kunit *test, u64 id, u64 interval, bool set)
{
	const struct hwtimer_timer before = query(test, id);
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_timer after;
	struct hwtimer_request request = {
		.flags = HWTIMER_REQ_FIXED_DELAY | (set ? HWTIMER_REQ_SET : 0),
		.time = 3 * FAKE_HOUR,
		.user_data = 8,
		.slack = 63 * TICK,
		.interval = interval,
		.expirations_max = 4,
	};

	KUNIT_ASSERT_EQ(test, change(test, &id, request), 0);
	after = query(test, id);
	KUNIT_EXPECT_EQ(test, after.remaining, 3 * FAKE_HOUR);
	KUNIT_EXPECT_EQ(test, after.user_data, set ? 8 : before.user_data);
	KUNIT_EXPECT_EQ(test, after.slack, set ? 63 * TICK : before.slack);
	KUNIT_EXPECT_EQ(test, after.interval, set ? interval : before.interval);
	KUNIT_EXPECT_EQ(test, after.expirations_left,
			!set	 ? before.expirations_left :
			interval ? 4 :
				   0);
	KUNIT_EXPECT_EQ(test, after.flags,
			set && interval ? HWTIMER_REQ_FIXED_DELAY : 0);
	KUNIT_EXPECT_EQ(test, instance->periodic, after.interval > 0);
}

static void sets_all_or_the_deadline(struct kunit *test)
{
	u32 kind;

	for (kind = 0; kind < 8; kind++) {
		u64 id = begin(test,
			       (struct hwtimer_request){
				       .time = FAKE_HOUR,
				       .interval = kind & 1 ? FAKE_HOUR : 0,
				       .slack = 7 * TICK,
				       .user_data = 7,
				       .expirations_max = 3 });

		expect_set(test, id, kind & 2 ? 2 * FAKE_HOUR : 0, kind & 4);
		expect_nothing_left(test, &id, 1);
	}
}

/* Half the slack, and a later deadline: the tick is an earlier one. */
static void less_slack_may_mean_an_earlier_tick(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_request none = { .flags = HWTIMER_REQ_SET,
					.time = 101 * TICK };
	u64 id = begin(test, (struct hwtimer_request){ .time = 100 * TICK,
						       .slack = 99 * TICK });

	KUNIT_ASSERT_EQ(test, change(test, &id, none), 0);
	turn_until(test, FAKE_START + 101 * TICK);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 1);
	expect_event(test, id, 0, FAKE_START + 101 * TICK);
}

/* A timer that shares wake-ups with others for longer than its interval misses no deadline. */
static void slack_may_exceed_the_interval(struct kunit *test)
{
	struct hwtimer_request more = { .flags = HWTIMER_REQ_SET,
					.time = 20 * TICK,
					.slack = 63 * TICK,
					.interval = 10 * TICK };
	struct hwtimer_instance *instance = test->priv;
	const struct hwtimer_request first = {
		.time = FAKE_HOUR,
		.interval = 20 * TICK,
		.slack = 15 * TICK,
	};
	struct hwtimer_event event;
	u32 i, reported = 0;
	u64 id;

	id = begin(test, first);
	KUNIT_EXPECT_EQ(test, change(test, &id, more), 0);
	KUNIT_EXPECT_EQ(test, query(test, id).interval, 10 * TICK);
	KUNIT_EXPECT_EQ(test, query(test, id).slack, 63 * TICK);
	for (i = 0; i < 10; i++) {
		turn_until(test, fake_now + 80 * TICK);
		KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
		KUNIT_EXPECT_EQ(test, event.deadline,
				FAKE_START + (20 + 10 * reported) * TICK);
		KUNIT_EXPECT_LE(test, event.lateness, 64 * TICK);
		reported += event.expirations;
	}
	KUNIT_EXPECT_GT(test, reported, 10);
	expect_nothing_left(test, &id, 1);
}

/* At the limit of timers, each of them may still become periodic, or once only. */
static void all_timers_become_periodic(struct kunit *test)
{
	struct hwtimer_request request = { .flags = HWTIMER_REQ_SET,
					   .time = TICK,
					   .interval = TICK };
	struct hwtimer_instance *instance = test->priv;
	u64 ids[LIMIT];
	u32 i;

	for (i = 0; i < LIMIT; i++)
		ids[i] = begin_after(test, TICK);
	for (i = 0; i < LIMIT; i++)
		KUNIT_EXPECT_EQ(test, change(test, &ids[i], request), 0);
	KUNIT_EXPECT_EQ(test, instance->periodic, LIMIT);
	KUNIT_EXPECT_EQ(test, fake_schedule_at(instance, 0), -ENOSPC);
	request.interval = 0;
	for (i = 0; i < LIMIT; i += 2)
		KUNIT_EXPECT_EQ(test, change(test, &ids[i], request), 0);
	turn_until(test, FAKE_START + 10 * TICK);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, LIMIT);
	expect_nothing_left(test, ids, LIMIT);
}

static void only_pending_timers_are_set(struct kunit *test)
{
	struct hwtimer_request request = { .flags = HWTIMER_REQ_SET,
					   .time = TICK };
	struct hwtimer_instance *instance = test->priv;
	u64 id = begin_after(test, TICK), gone = 0;

	turn_until(test, FAKE_START + 2 * TICK);
	KUNIT_EXPECT_EQ(test, change(test, &id, request), -EALREADY);
	KUNIT_EXPECT_EQ(test, change(test, &gone, request), -ENOENT);
	expect_event(test, id, 0, FAKE_START + TICK);
	KUNIT_EXPECT_EQ(test, change(test, &id, request), -ENOENT);
	hwtimer_instance_stop(instance);
	KUNIT_EXPECT_EQ(test, change(test, &id, request), -ESHUTDOWN);
}

static struct kunit_case change_test_cases[] = {
	KUNIT_CASE(rearm_a_pending_timer),
	KUNIT_CASE(rearm_no_timer),
	KUNIT_CASE(rearm_drops_the_event),
	KUNIT_CASE(rearm_needs_no_room_for_an_event),
	KUNIT_CASE(rearm_without_room_changes_nothing),
	KUNIT_CASE(rearm_with_spent_generations),
	KUNIT_CASE(rearm_changes_the_kind),
	KUNIT_CASE(rearm_after_a_discard),
	KUNIT_CASE(rearm_behind_a_discard_in_one_submit),
	KUNIT_CASE(rearm_when_stopped),
	KUNIT_CASE(rearm_ends_the_delay),
	KUNIT_CASE(changes_get_records),
	KUNIT_CASE(sets_all_or_the_deadline),
	KUNIT_CASE(less_slack_may_mean_an_earlier_tick),
	KUNIT_CASE(slack_may_exceed_the_interval),
	KUNIT_CASE(all_timers_become_periodic),
	KUNIT_CASE(only_pending_timers_are_set),
	{}
};

static struct kunit_suite change_test_suite = {
	.name = "hwtimer_change",
	.init = change_test_init,
	.exit = fake_test_exit,
	.test_cases = change_test_cases,
};

kunit_test_suite(change_test_suite);
