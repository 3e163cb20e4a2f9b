// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of RESCHEDULE with more than a time: HWTIMER_REARM in each state of a timer, and
 * HWTIMER_SET_*; and of CANCEL_ALL. The clock is a fake, so what must come next is known exactly.
 */
#include <kunit/test.h>
#include <linux/ktime.h>

#include "../hwtimer_notice.h"
#include "../hwtimer_op.h"
#include "../hwtimer_query.h"
#include "fake.h"
#include "kinds.h"
#include "random.h"

#define TICK NSEC_PER_MSEC
#define LIMIT 8

#define SET_ALL \
	(HWTIMER_SET_USER_DATA | HWTIMER_SET_INTERVAL | HWTIMER_SET_SLACK)

static int change_test_init(struct kunit *test)
{
	return fake_test_init(test, kind_of(test), LIMIT);
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
	if (!err && request.flags & HWTIMER_REARM)
		*id = request.id;
	else
		KUNIT_EXPECT_EQ(test, request.id, *id);
	return err;
}

static int rearm(struct kunit *test, u64 *id, u64 delay, u64 user_data)
{
	return change(test, id,
		      (struct hwtimer_request){ .flags = HWTIMER_REARM,
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

static struct hwtimer_query query(struct kunit *test, u64 id)
{
	struct hwtimer_query query = { .id = id };

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
		fake_cancel(instance, ids[count], HWTIMER_DISCARD);
	while (fake_read(instance, &event))
		;
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 0);
	KUNIT_EXPECT_EQ(test, instance->periodic, 0);
	KUNIT_EXPECT_EQ(test, instance->table.used, 0);
	fake_check_books(test, instance);
}

/* ---- HWTIMER_REARM ---- */

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

static void rearm_no_timer(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id = 0, other = ~0ULL;

	KUNIT_ASSERT_EQ(test, rearm(test, &id, 3 * TICK, 7), 0);
	KUNIT_ASSERT_EQ(test, rearm(test, &other, 4 * TICK, 8), 0);
	KUNIT_EXPECT_NE(test, id, 0);
	KUNIT_EXPECT_NE(test, id, other);
	turn_until(test, FAKE_START + 100 * TICK);
	expect_event(test, id, 7, FAKE_START + 3 * TICK);
	expect_event(test, other, 8, FAKE_START + 4 * TICK);
	KUNIT_EXPECT_EQ(test, instance->stats.scheduled, 2);
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
	KUNIT_EXPECT_EQ(test, rearm(test, &gone, TICK, 0), -ENOSPC);
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
			.flags = HWTIMER_REARM,
			.time = TICK * random_below(&state, 20),
			.user_data = i,
		};

		if (random_below(&state, 2))
			request.interval =
				TICK * (1 + random_below(&state, 20));
		if (random_below(&state, 2))
			request.slack =
				min(request.time, request.interval ?: U64_MAX);
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
	KUNIT_ASSERT_EQ(test, fake_cancel(instance, id, HWTIMER_DISCARD), 0);
	KUNIT_ASSERT_EQ(test, rearm(test, &id, TICK, 7), 0);
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
		{ .op = HWTIMER_OP_CANCEL, .flags = HWTIMER_DISCARD },
		{ .op = HWTIMER_OP_RESCHEDULE,
		  .flags = HWTIMER_REARM,
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
	struct hwtimer_request periodic = { .flags = HWTIMER_REARM,
					    .time = FAKE_HOUR,
					    .interval = FAKE_HOUR };
	u64 id = 0, other = 0;

	fake_test_exit(test);
	KUNIT_ASSERT_EQ(test, fake_test_init(test, kind_of(test), 100000), 0);
	use_records(test, 0);
	KUNIT_EXPECT_EQ(test, rearm(test, &id, FAKE_HOUR, 0), 0);
	use_records(test, 1);
	KUNIT_EXPECT_EQ(test, change(test, &other, periodic), 0);
	use_records(test, 0);
	periodic.flags = HWTIMER_SET_INTERVAL;
	KUNIT_EXPECT_EQ(test, change(test, &id, periodic), 0);
	fake_check_books(test, test->priv);
}

/* ---- HWTIMER_SET_* ---- */

/* Each combination of flags sets what it names, and nothing else. */
static void sets_what_it_names(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u32 combination, kind;

	for (kind = 0; kind < 4; kind++) {
		for (combination = 0; combination < 8; combination++) {
			bool data = combination & 1, slack = combination & 2;
			bool period = combination & 4;
			u64 interval = kind & 1 ? FAKE_HOUR : 0;
			u64 other = kind & 2 ? 2 * FAKE_HOUR : 0;
			struct hwtimer_request request = {
				.flags = (data ? HWTIMER_SET_USER_DATA : 0) |
					 (slack ? HWTIMER_SET_SLACK : 0) |
					 (period ? HWTIMER_SET_INTERVAL : 0),
				.time = FAKE_HOUR,
				.user_data = data ? 8 : 0,
				.slack = slack ? 63 * TICK : 0,
				.interval = period ? other : 0,
				.count = period && other ? 4 : 0,
			};
			struct hwtimer_query found;
			u64 id;

			if (period && other)
				request.flags |= HWTIMER_FIXED_DELAY;
			id = begin(test, (struct hwtimer_request){
						 .time = FAKE_HOUR,
						 .interval = interval,
						 .slack = 7 * TICK,
						 .user_data = 7,
						 .count = interval ? 3 : 0 });
			KUNIT_ASSERT_EQ(test, change(test, &id, request), 0);
			found = query(test, id);
			KUNIT_EXPECT_EQ(test, found.user_data, data ? 8 : 7);
			KUNIT_EXPECT_EQ(test, found.slack,
					(slack ? 63 : 7) * TICK);
			KUNIT_EXPECT_EQ(test, found.interval,
					period ? other : interval);
			KUNIT_EXPECT_EQ(test, found.count,
					period ? request.count :
						 (interval ? 3 : 0));
			KUNIT_EXPECT_EQ(test, found.flags,
					period && other ? HWTIMER_FIXED_DELAY :
							  0);
			KUNIT_EXPECT_EQ(test, instance->periodic,
					found.interval > 0);
			expect_nothing_left(test, &id, 1);
		}
	}
}

/* Half the slack, and a later deadline: the tick is an earlier one. */
static void less_slack_may_mean_an_earlier_tick(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_request none = { .flags = HWTIMER_SET_SLACK,
					.time = 101 * TICK };
	u64 id = begin(test, (struct hwtimer_request){ .time = 100 * TICK,
						       .slack = 99 * TICK });

	KUNIT_ASSERT_EQ(test, change(test, &id, none), 0);
	turn_until(test, FAKE_START + 101 * TICK);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 1);
	expect_event(test, id, 0, FAKE_START + 101 * TICK);
}

static void slack_must_not_exceed_the_interval(struct kunit *test)
{
	u64 id = begin(test, (struct hwtimer_request){ .time = FAKE_HOUR,
						       .interval = 20 * TICK,
						       .slack = 15 * TICK });
	struct hwtimer_request more = { .flags = HWTIMER_SET_SLACK,
					.time = FAKE_HOUR,
					.slack = 20 * TICK + 1 };
	struct hwtimer_request shorter = { .flags = HWTIMER_SET_INTERVAL,
					   .time = 2 * FAKE_HOUR,
					   .interval = 15 * TICK - 1 };

	KUNIT_EXPECT_EQ(test, change(test, &id, more), -EDOM);
	KUNIT_EXPECT_EQ(test, change(test, &id, shorter), -EDOM);
	KUNIT_EXPECT_EQ(test, query(test, id).interval, 20 * TICK);
	KUNIT_EXPECT_EQ(test, query(test, id).slack, 15 * TICK);
	KUNIT_EXPECT_EQ(test, query(test, id).remaining, FAKE_HOUR);
	more.slack--;
	KUNIT_EXPECT_EQ(test, change(test, &id, more), 0);
	shorter.interval++;
	KUNIT_EXPECT_EQ(test, change(test, &id, shorter), 0);
	expect_nothing_left(test, &id, 1);
}

/* At the limit of timers, each of them may still become periodic, or once only. */
static void all_timers_become_periodic(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 ids[LIMIT];
	u32 i;

	for (i = 0; i < LIMIT; i++)
		ids[i] = begin_after(test, TICK);
	for (i = 0; i < LIMIT; i++)
		KUNIT_EXPECT_EQ(test,
				change(test, &ids[i],
				       (struct hwtimer_request){
					       .flags = HWTIMER_SET_INTERVAL,
					       .time = TICK,
					       .interval = TICK }),
				0);
	KUNIT_EXPECT_EQ(test, instance->periodic, LIMIT);
	KUNIT_EXPECT_EQ(test, fake_schedule_at(instance, 0), -ENOSPC);
	for (i = 0; i < LIMIT; i += 2)
		KUNIT_EXPECT_EQ(test,
				change(test, &ids[i],
				       (struct hwtimer_request){
					       .flags = HWTIMER_SET_INTERVAL,
					       .time = TICK }),
				0);
	turn_until(test, FAKE_START + 10 * TICK);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, LIMIT);
	expect_nothing_left(test, ids, LIMIT);
}

static void only_pending_timers_are_set(struct kunit *test)
{
	struct hwtimer_request request = { .flags = SET_ALL, .time = TICK };
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

/* ---- CANCEL_ALL ---- */

/* One hold of the lock checks HWTIMER_HOLD records, however few of them are in use. */
static void cancel_all_in_bounded_holds(struct kunit *test)
{
	struct hwtimer_request soon = { .time = TICK, .interval = TICK };
	struct hwtimer_request late = { .time = FAKE_HOUR,
					.interval = FAKE_HOUR };
	struct hwtimer_cancel_all all = { .flags = HWTIMER_DISCARD };
	struct hwtimer_instance *instance = test->priv;
	u64 records, holds = 1;

	begin_after(test, TICK);
	begin(test, soon);
	turn_until(test, FAKE_START + 2 * TICK);
	begin_after(test, FAKE_HOUR);
	begin(test, late);
	records = hwtimer_table_end(&instance->table);
	while (hwtimer_op_cancel_some(instance, &all))
		KUNIT_ASSERT_EQ(test, all.cursor, holds++ * HWTIMER_HOLD);
	KUNIT_EXPECT_EQ(test, all.cursor, records);
	KUNIT_EXPECT_EQ(test, all.cancelled, 2);
	KUNIT_EXPECT_EQ(test, all.discarded, 2);
	expect_none(test);
	expect_nothing_left(test, NULL, 0);
}

/* It adds to what the call before has counted, and goes on where that ended. */
static void cancel_all_goes_on(struct kunit *test)
{
	struct hwtimer_cancel_all all = { .cancelled = 5, .discarded = 6 };
	struct hwtimer_instance *instance = test->priv;
	u64 ids[LIMIT];
	u32 i;

	for (i = 0; i < LIMIT; i++)
		ids[i] = begin_after(test, FAKE_HOUR);
	all.cursor = lower_32_bits(ids[3]);
	hwtimer_op_cancel_some(instance, &all);
	KUNIT_EXPECT_EQ(test, all.cancelled, 5 + LIMIT - 3);
	KUNIT_EXPECT_EQ(test, all.discarded, 6);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 3);
	all.cursor = U64_MAX;
	KUNIT_EXPECT_FALSE(test, hwtimer_op_cancel_some(instance, &all));
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 3);
	expect_nothing_left(test, ids, LIMIT);
}

static struct kunit_case change_test_cases[] = {
	KIND_CASE(rearm_a_pending_timer),
	KIND_CASE(rearm_no_timer),
	KIND_CASE(rearm_drops_the_event),
	KIND_CASE(rearm_needs_no_room_for_an_event),
	KIND_CASE(rearm_without_room_changes_nothing),
	KIND_CASE(rearm_with_spent_generations),
	KIND_CASE(rearm_changes_the_kind),
	KIND_CASE(rearm_after_a_discard),
	KIND_CASE(rearm_behind_a_discard_in_one_submit),
	KIND_CASE(rearm_when_stopped),
	KIND_CASE(rearm_ends_the_delay),
	KIND_CASE(changes_get_records),
	KIND_CASE(sets_what_it_names),
	KIND_CASE(less_slack_may_mean_an_earlier_tick),
	KIND_CASE(slack_must_not_exceed_the_interval),
	KIND_CASE(all_timers_become_periodic),
	KIND_CASE(only_pending_timers_are_set),
	KIND_CASE(cancel_all_in_bounded_holds),
	KIND_CASE(cancel_all_goes_on),
	{}
};

static struct kunit_suite change_test_suite = {
	.name = "hwtimer_change",
	.init = change_test_init,
	.exit = fake_test_exit,
	.test_cases = change_test_cases,
};

kunit_test_suite(change_test_suite);
