// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of an instance and its requests, under a fake clock.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/workqueue.h>

#include "comes.h"
#include "fake.h"
#include "random.h"
#include "show/show.h"

#define HOUR FAKE_HOUR
#define LIMIT 1000

static int instance_test_init(struct kunit *test)
{
	return fake_test_init(test, LIMIT);
}

/* Turns the wheel until @hours after FAKE_START; then resets the clock to FAKE_START. */
static void turn(struct kunit *test, struct hwtimer_instance *instance,
		 unsigned int hours)
{
	fake_turn_until(instance, FAKE_START + hours * HOUR);
	fake_now = FAKE_START;
}

/* Schedules @count timers, all for the same time. */
static void schedule_many(struct kunit *test, u32 count)
{
	u64 id;

	while (count--)
		KUNIT_ASSERT_EQ(test, fake_schedule(test->priv, HOUR, &id), 0);
}

static void limit_refuses_and_lifts(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id, first;

	KUNIT_ASSERT_EQ(test, fake_schedule(instance, HOUR, &first), 0);
	schedule_many(test, LIMIT - 1);
	KUNIT_EXPECT_EQ(test, fake_schedule(instance, HOUR, &id), -ENOSPC);
	KUNIT_EXPECT_EQ(test, id, 0);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, first, 0), 0);
	KUNIT_EXPECT_EQ(test, fake_schedule(instance, HOUR, &id), 0);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, LIMIT);
	fake_check_books(test, instance);
}

/*
 * A record that has spent all its generations cannot be used again. So no record is free,
 * although the limit allows another timer.
 */
static void spent_record_leaves_none_within_the_limit(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_settings settings = instance->settings;
	struct hwtimer_request requests[2] = {
		{ .op = HWTIMER_OP_CANCEL },
		{ .op = HWTIMER_OP_SCHEDULE, .time = HOUR },
	};
	u64 first, id;

	/* All usable records are in the first unit of slots, so the table adds no other. */
	settings.timers = HWTIMER_SLOT_UNIT * HWTIMER_SLOT_RECORDS - 1;
	KUNIT_ASSERT_EQ(test, hwtimer_settings_set(instance, &settings), 0);
	KUNIT_ASSERT_EQ(test, fake_schedule(instance, HOUR, &first), 0);
	schedule_many(test, settings.timers - 1);
	KUNIT_ASSERT_EQ(test, hwtimer_table_spare(&instance->table), 0);
	hwtimer_table_find(&instance->table, first)->generation =
		HWTIMER_GENERATION_MAX;
	requests[0].id = (u64)HWTIMER_GENERATION_MAX << 32 |
			 lower_32_bits(first);

	hwtimer_request_run(instance, requests, 2);
	KUNIT_EXPECT_EQ(test, requests[0].result, 0);
	KUNIT_EXPECT_EQ(test, requests[1].result, -ENOMEM);
	/* Memory for another slot can be brought in for the next request. */
	KUNIT_EXPECT_EQ(test, fake_schedule(instance, HOUR, &id), 0);
	KUNIT_EXPECT_EQ(test, fake_schedule(instance, HOUR, &id), -ENOSPC);
	fake_check_books(test, instance);
}

static void unread_events_count_against_the_limit(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id;

	schedule_many(test, LIMIT);
	turn(test, instance, 2);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, LIMIT);
	KUNIT_EXPECT_EQ(test, fake_schedule(instance, HOUR, &id), -ENOSPC);
}

/* From the last to the first, so that none of them is the next to be read until the end. */
static void discarded_events_make_room(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 *ids = kunit_kcalloc(test, LIMIT, sizeof(*ids), GFP_KERNEL);
	u64 id;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	for (i = 0; i < LIMIT; i++)
		KUNIT_ASSERT_EQ(test, fake_schedule(instance, HOUR, &ids[i]),
				0);
	turn(test, instance, 2);
	for (i = LIMIT; i-- > 0;) {
		const u32 discard = HWTIMER_REQ_DISCARD;

		id = ids[i];
		KUNIT_ASSERT_EQ(test, fake_cancel(instance, id, 0), 1);
		KUNIT_ASSERT_EQ(test, fake_cancel(instance, id, discard), 0);
		KUNIT_ASSERT_EQ(test, fake_cancel(instance, id, discard),
				-ENOENT);
	}
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 0);
	KUNIT_EXPECT_EQ(test, fake_schedule(instance, HOUR, &id), 0);
	fake_check_books(test, instance);
}

static void timer_ends_once(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 cancelled, expired;

	KUNIT_ASSERT_EQ(test, fake_schedule(instance, HOUR, &cancelled), 0);
	KUNIT_ASSERT_EQ(test, fake_schedule(instance, HOUR, &expired), 0);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, cancelled, 0), 0);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, cancelled, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, fake_reschedule(instance, cancelled, HOUR),
			-ENOENT);
	turn(test, instance, 2);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, expired, 0), 1);
	KUNIT_EXPECT_EQ(test, fake_reschedule(instance, expired, HOUR),
			-EALREADY);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 1);
	fake_check_books(test, instance);
}

static void rescheduled_timer_keeps_its_id(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id;

	KUNIT_ASSERT_EQ(test, fake_schedule(instance, HOUR, &id), 0);
	KUNIT_EXPECT_EQ(test, fake_reschedule(instance, id, 5 * HOUR), 0);
	turn(test, instance, 2);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 1);
	KUNIT_EXPECT_EQ(test, fake_reschedule(instance, id, 3 * HOUR), 0);
	turn(test, instance, 4);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 1);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, id, HWTIMER_REQ_DISCARD),
			0);
}

static struct hwtimer_timer query(struct kunit *test, u64 id)
{
	struct hwtimer_timer timer = { .id = id };

	KUNIT_ASSERT_EQ(test, hwtimer_query_timer(test->priv, &timer), 0);
	return timer;
}

/* Any time is allowed: one that has passed means now, and one beyond the clock means never. */
static void any_time_is_allowed(struct kunit *test)
{
	static const struct {
		s64 time;
		u32 flags;
		u64 deadline;
	} times[] = {
		{ HWTIMER_NEVER, 0, HWTIMER_NEVER },
		{ HWTIMER_NEVER, HWTIMER_REQ_ABSTIME, HWTIMER_NEVER },
		{ HWTIMER_NEVER - 1, 0, HWTIMER_NEVER },
		{ HWTIMER_NEVER - FAKE_START, 0, HWTIMER_NEVER },
		{ HWTIMER_NEVER - FAKE_START - 1, 0, HWTIMER_NEVER - 1 },
		{ HWTIMER_NEVER - 1, HWTIMER_REQ_ABSTIME, HWTIMER_NEVER - 1 },
		{ -1, 0, FAKE_START },
		{ S64_MIN, 0, FAKE_START },
		{ 0, 0, FAKE_START },
		{ -1, HWTIMER_REQ_ABSTIME, 0 },
		{ S64_MIN, HWTIMER_REQ_ABSTIME, 0 },
		{ 0, HWTIMER_REQ_ABSTIME, 0 },
	};
	struct hwtimer_instance *instance = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		struct hwtimer_request request = { .op = HWTIMER_OP_SCHEDULE,
						   .flags = times[i].flags,
						   .time = times[i].time };

		KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
		KUNIT_EXPECT_EQ_MSG(test, query(test, request.id).deadline,
				    times[i].deadline, "time %u", i);
		request.op = HWTIMER_OP_RESCHEDULE;
		KUNIT_ASSERT_EQ(test,
				fake_schedule(instance, HOUR, &request.id), 0);
		KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
		KUNIT_EXPECT_EQ_MSG(test, query(test, request.id).deadline,
				    times[i].deadline, "time %u", i);
	}
	/* Half of the times have passed. */
	fake_turn_until(instance, FAKE_START + NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, ARRAY_SIZE(times));
	fake_turn_until(instance, FAKE_START + 1000000 * HOUR);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, ARRAY_SIZE(times));
	fake_check_books(test, instance);
}

/* A parked timer is pending until it is rescheduled, and the worker does not come for it. */
static void parked_timer_can_be_rescheduled(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id;

	KUNIT_ASSERT_EQ(test, fake_schedule(instance, HWTIMER_NEVER, &id), 0);
	KUNIT_EXPECT_EQ(test, hwtimer_query_until_next(instance),
			HWTIMER_NEVER);
	KUNIT_EXPECT_EQ(test, fake_turn_until(instance, FAKE_START + HOUR), 0);
	KUNIT_EXPECT_EQ(test, query(test, id).remaining, HWTIMER_NEVER);
	KUNIT_ASSERT_EQ(test, fake_reschedule(instance, id, HOUR), 0);
	KUNIT_EXPECT_LE(test, hwtimer_query_until_next(instance), HOUR);
	fake_turn_until(instance, fake_now + HOUR - 1);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 0);
	KUNIT_ASSERT_EQ(test, fake_reschedule(instance, id, HWTIMER_NEVER), 0);
	fake_turn_until(instance, fake_now + 10 * HOUR);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 0);
	KUNIT_ASSERT_EQ(test, fake_reschedule(instance, id, 0), 0);
	fake_turn_until(instance, fake_now + NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 1);
	fake_check_books(test, instance);
}

/* INFO tells how long nothing expires. */
static void time_until_the_next_event_is_told(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;
	u64 sleep, id;

	KUNIT_EXPECT_EQ(test, hwtimer_query_until_next(instance),
			HWTIMER_NEVER);
	KUNIT_ASSERT_EQ(test, fake_schedule(instance, HOUR, &id), 0);
	do {
		sleep = hwtimer_query_until_next(instance);
		KUNIT_ASSERT_GT(test, sleep, 0);
		KUNIT_ASSERT_LE(test, fake_now + sleep, FAKE_START + HOUR);
		/* Nobody has looked at the wheel yet. */
		fake_now += sleep;
		KUNIT_EXPECT_EQ(test, hwtimer_query_until_next(instance), 0);
		fake_turn_until(instance, fake_now);
	} while (instance->stats.pending);
	KUNIT_EXPECT_EQ(test, fake_now, FAKE_START + HOUR);
	KUNIT_EXPECT_EQ(test, hwtimer_query_until_next(instance), 0);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, hwtimer_query_until_next(instance),
			HWTIMER_NEVER);
}

static void bad_requests_are_refused(struct kunit *test)
{
	static const struct hwtimer_request bad[] = {
		{ .op = 0 },
		{ .op = HWTIMER_OP_RESCHEDULE + 1 },
		{ .op = U32_MAX },
		{ .op = HWTIMER_OP_SCHEDULE, .flags = 1U << 31 },
		{ .op = HWTIMER_OP_SCHEDULE, .reserved = 1 },
		{ .op = HWTIMER_OP_SCHEDULE, .interval = 1ULL << 63 },
		{ .op = HWTIMER_OP_SCHEDULE, .slack = 1ULL << 63 },
		{ .op = HWTIMER_OP_SCHEDULE,
		  .interval = HOUR,
		  .slack = U64_MAX },
		{ .op = HWTIMER_OP_CANCEL, .flags = 1U << 31 },
		{ .op = HWTIMER_OP_CANCEL, .reserved = 1 },
		{ .op = HWTIMER_OP_RESCHEDULE, .flags = 1U << 31 },
		{ .op = HWTIMER_OP_RESCHEDULE, .reserved = 1 },
		{ .op = HWTIMER_OP_RESCHEDULE,
		  .flags = HWTIMER_REQ_SET,
		  .interval = 1ULL << 63 },
		{ .op = HWTIMER_OP_RESCHEDULE,
		  .flags = HWTIMER_REQ_SET,
		  .slack = 1ULL << 63 },
		{ .op = HWTIMER_OP_RESCHEDULE,
		  .flags = HWTIMER_REQ_REARM | HWTIMER_REQ_CREATE,
		  .slack = 1ULL << 63 },
	};
	struct hwtimer_instance *instance = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct hwtimer_request request = bad[i];

		KUNIT_EXPECT_EQ_MSG(test, fake_run(instance, &request), -EINVAL,
				    "request %u", i);
	}
	/* None of the requests has started the instance. */
	KUNIT_EXPECT_TRUE(test, hwtimer_instance_new(instance));
}

#define FLAGS_OF_ALL                                                           \
	(HWTIMER_REQ_ABSTIME | HWTIMER_REQ_DISCARD | HWTIMER_REQ_FIXED_DELAY | \
	 HWTIMER_REQ_REARM | HWTIMER_REQ_CREATE | HWTIMER_REQ_SET)

/* An operation ignores what it does not use, even values that another one would refuse. */
static void what_is_not_used_is_ignored(struct kunit *test)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_SCHEDULE,
		.flags = FLAGS_OF_ALL,
		.id = 4711,
		.time = FAKE_START + HOUR,
		.user_data = 7,
		.expirations_max = 3,
	};
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_timer timer;
	u64 id;

	/* It expires once, whatever the flags and the maximum say. */
	KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
	id = request.id;
	KUNIT_EXPECT_NE(test, id, 4711);
	KUNIT_EXPECT_EQ(test, instance->periodic, 0);
	timer = query(test, id);
	KUNIT_EXPECT_EQ(test, timer.flags, 0);
	KUNIT_EXPECT_EQ(test, timer.expirations_left, 0);

	request = (struct hwtimer_request){
		.op = HWTIMER_OP_RESCHEDULE,
		.flags = HWTIMER_REQ_DISCARD | HWTIMER_REQ_FIXED_DELAY |
			 HWTIMER_REQ_CREATE,
		.id = id,
		.time = 2 * HOUR,
		.interval = U64_MAX,
		.slack = U64_MAX,
		.user_data = 8,
		.expirations_max = 9,
	};
	KUNIT_EXPECT_EQ(test, fake_run(instance, &request), 0);
	KUNIT_EXPECT_EQ(test, request.id, id);
	timer = query(test, id);
	KUNIT_EXPECT_EQ(test, timer.remaining, 2 * HOUR);
	KUNIT_EXPECT_EQ(test, timer.interval, 0);
	KUNIT_EXPECT_EQ(test, timer.slack, 0);
	KUNIT_EXPECT_EQ(test, timer.user_data, 7);
	KUNIT_EXPECT_EQ(test, timer.flags, 0);

	/* The same request, as a CANCEL */
	request.op = HWTIMER_OP_CANCEL;
	request.flags = FLAGS_OF_ALL;
	KUNIT_EXPECT_EQ(test, fake_run(instance, &request), 0);
	KUNIT_EXPECT_EQ(test, fake_run(instance, &request), -ENOENT);
	KUNIT_EXPECT_EQ(test, instance->stats.scheduled, 1);
	fake_check_books(test, instance);
}

/* CANCEL and RESCHEDULE need no instance that has started: there is no timer. */
static void only_new_timers_start_an_instance(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_request request = { .op = HWTIMER_OP_RESCHEDULE,
					   .flags = HWTIMER_REQ_REARM,
					   .id = 1,
					   .time = HOUR };

	KUNIT_EXPECT_EQ(test, fake_cancel(instance, 1, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, fake_reschedule(instance, 1, HOUR), -ENOENT);
	KUNIT_EXPECT_EQ(test, fake_run(instance, &request), -ENOENT);
	KUNIT_EXPECT_TRUE(test, hwtimer_instance_new(instance));
	request.flags |= HWTIMER_REQ_CREATE;
	KUNIT_EXPECT_EQ(test, fake_run(instance, &request), 0);
	KUNIT_EXPECT_FALSE(test, hwtimer_instance_new(instance));
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 1);
	KUNIT_EXPECT_EQ(test, instance->stats.rescheduled, 1);
	fake_check_books(test, instance);
}

/* Whether an instance did not start for want of memory; EINTR if it needed a thread. */
static bool is_start_error(s64 result)
{
	return result == -ENOMEM || result == -EINTR;
}

/* A thread that is being killed starts no instance. Only what needs one fails for that. */
static void what_cannot_start_is_a_result(struct kunit *test)
{
	const struct hwtimer_bulk bulk = { .op = HWTIMER_OP_SCHEDULE };
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_request requests[] = {
		{ .op = HWTIMER_OP_CANCEL, .id = 1 },
		{ .op = HWTIMER_OP_SCHEDULE, .time = HOUR },
		{ .op = HWTIMER_OP_RESCHEDULE, .id = 1, .time = HOUR },
		{ .op = HWTIMER_OP_RESCHEDULE,
		  .flags = HWTIMER_REQ_REARM | HWTIMER_REQ_CREATE,
		  .time = HOUR },
		{ .op = HWTIMER_OP_SCHEDULE, .flags = 1U << 31 },
	};
	u64 words[] = { 1, HOUR, 2, HOUR };
	unsigned int i;

	fake_kill();
	hwtimer_request_run(instance, requests, ARRAY_SIZE(requests));
	KUNIT_EXPECT_EQ(test, hwtimer_bulk_run(instance, &bulk, words, 2), 0);
	fake_revive();
	KUNIT_EXPECT_TRUE(test, hwtimer_instance_new(instance));
	KUNIT_EXPECT_EQ(test, requests[0].result, -ENOENT);
	KUNIT_EXPECT_TRUE(test, is_start_error(requests[1].result));
	KUNIT_EXPECT_EQ(test, requests[2].result, -ENOENT);
	KUNIT_EXPECT_EQ(test, requests[3].result, requests[1].result);
	KUNIT_EXPECT_EQ(test, requests[4].result, -EINVAL);
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_TRUE(test, is_start_error(words[i]));

	hwtimer_instance_stop(instance);
	for (i = 0; i < ARRAY_SIZE(requests); i++)
		requests[i].result = 0;
	hwtimer_request_run(instance, requests, ARRAY_SIZE(requests));
	KUNIT_EXPECT_EQ(test, requests[0].result, -ENOENT);
	KUNIT_EXPECT_EQ(test, requests[1].result, -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, requests[3].result, -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, requests[4].result, -EINVAL);
	KUNIT_EXPECT_NULL(test, instance->start_memory);
}

static void settings_are_over_with_the_first_timer(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_settings settings = instance->settings;
	u64 id;

	settings.shape.buckets = 8;
	settings.timers = 1;

	KUNIT_EXPECT_EQ(test, hwtimer_settings_set(instance, &settings), 0);
	KUNIT_EXPECT_EQ(test, fake_schedule(instance, HOUR, &id), 0);
	KUNIT_EXPECT_EQ(test, fake_schedule(instance, HOUR, &id), -ENOSPC);
	KUNIT_EXPECT_EQ(test, hwtimer_settings_set(instance, &settings),
			-EBUSY);
}

/* A stopped instance does not start. */
static void settings_are_over_with_the_stop(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_settings settings = instance->settings;
	u64 id;

	hwtimer_instance_stop(instance);
	KUNIT_EXPECT_EQ(test, hwtimer_settings_set(instance, &settings),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, fake_schedule(instance, HOUR, &id), -ESHUTDOWN);
	KUNIT_EXPECT_NULL(test, instance->start_memory);
}

static void nothing_expires_after_stop(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 first, id;

	KUNIT_ASSERT_EQ(test, fake_schedule(instance, HOUR, &first), 0);
	hwtimer_instance_stop(instance);
	turn(test, instance, 2);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 1);
	KUNIT_EXPECT_EQ(test, fake_schedule(instance, HOUR, &id), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, fake_reschedule(instance, first, HOUR),
			-ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, first, 0), 0);
	fake_check_books(test, instance);
}

/*
 * Timeouts far away are scheduled and cancelled again and again. Where this test and the
 * next one are skipped, selftests/memory.c still covers the same.
 */
static void dead_entries_are_bounded(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id, most = 0;
	/* Each timer spends a generation, of which the small constants leave few. */
	u64 rounds = min(200000ULL, LIMIT / 2 * (u64)HWTIMER_GENERATION_MAX);
	u32 i;

	hwtimer_test_skip_if_scaled(test);
	schedule_many(test, LIMIT / 2);
	for (i = 0; i < rounds; i++) {
		KUNIT_ASSERT_EQ(test,
				fake_schedule(instance,
					      HOUR + i * NSEC_PER_USEC, &id),
				0);
		KUNIT_ASSERT_EQ(test, fake_cancel(instance, id, 0), 0);
		most = max(most,
			   instance->wheel.entries - instance->stats.pending);
	}
	fake_check_books(test, instance);
	kunit_info(test, "at most %llu dead, %llu compactions, %llu bytes\n",
		   most, instance->wheel.stats.compactions,
		   instance->stats.bytes_peak);
	KUNIT_EXPECT_LT(test, most, LIMIT + 65536);
	KUNIT_EXPECT_GT(test, instance->wheel.stats.compactions, 1);
	KUNIT_EXPECT_LT(test, instance->stats.bytes_peak, 4 * 1024 * 1024);
}

static void cancelling_all_leaves_little(struct kunit *test)
{
	struct hwtimer_instance *instance;
	u64 *ids;
	u32 i;

	hwtimer_test_skip_if_scaled(test);
	instance = fake_create(200000);
	ids = kunit_kcalloc(test, 100000, sizeof(*ids), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, instance);
	KUNIT_ASSERT_NOT_NULL(test, ids);
	for (i = 0; i < 100000; i++)
		KUNIT_EXPECT_EQ(test,
				fake_schedule(instance,
					      HOUR + i * NSEC_PER_USEC,
					      &ids[i]),
				0);
	for (i = 0; i < 100000; i++) {
		KUNIT_EXPECT_EQ(test, fake_cancel(instance, ids[i], 0), 0);
		KUNIT_EXPECT_LT(test, instance->wheel.entries,
				2 * instance->stats.pending + 65536);
	}
	fake_check_books(test, instance);
	hwtimer_instance_destroy(instance);
}

/* Requests and turns come in any order, and each timer ends in exactly one way. */
static void random_requests_keep_the_books(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 *ids = kunit_kcalloc(test, LIMIT, sizeof(*ids), GFP_KERNEL);
	struct rnd_state state;
	unsigned int hours = 0, refused = 0;
	u32 i;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	hwtimer_test_seed(test, &state);
	for (i = 0; i < hwtimer_test_scaled(50000); i++) {
		u64 *id = &ids[random_below(&state, LIMIT)];
		u64 delay = (hours + 1 + random_below(&state, 5)) * HOUR;

		switch (random_below(&state, 8)) {
		case 0 ... 3:
			fake_cancel(instance, *id, HWTIMER_REQ_DISCARD);
			err = fake_schedule(instance, delay, id);
			KUNIT_ASSERT_EQ(test, err, *id ? 0 : -ENOSPC);
			refused += !!err;
			break;
		case 4 ... 5:
			fake_reschedule(instance, *id, delay);
			break;
		case 6:
			fake_cancel(instance, *id, 0);
			break;
		default:
			if (!random_below(&state, 100))
				turn(test, instance, ++hours);
		}
		KUNIT_ASSERT_EQ(test, instance->table.used,
				instance->stats.pending +
					instance->stats.ready);
		KUNIT_ASSERT_LE(test, instance->table.used, LIMIT);
	}
	kunit_info(test,
		   "%llu expired, %llu cancelled, %llu discarded, %u refused\n",
		   instance->stats.expired, instance->stats.cancelled,
		   instance->stats.discarded, refused);
	fake_check_books(test, instance);
}

/*
 * CANCEL_ALL that cannot write to the program's memory ends nothing, wherever in the table the
 * timers are, in several holds of the lock.
 */
static void cancel_all_that_faults_ends_nothing(struct kunit *test)
{
	struct hwtimer_request request = { .op = HWTIMER_OP_SCHEDULE,
					   .time = HOUR,
					   .interval = HOUR };
	/* A kernel thread has no memory of a program. */
	struct hwtimer_list nowhere = { .timers = -PAGE_SIZE, .count = 1 };
	struct hwtimer_instance *instance = test->priv;

	schedule_many(test, LIMIT - 1);
	KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
	KUNIT_ASSERT_GT(test, hwtimer_table_end(&instance->table),
			HWTIMER_HOLD);
	turn(test, instance, 2);
	KUNIT_EXPECT_EQ(test, hwtimer_cancel_all(instance, &nowhere), -EFAULT);
	KUNIT_EXPECT_EQ(test, nowhere.cursor, lower_32_bits(request.id));
	KUNIT_EXPECT_EQ(test, instance->stats.cancelled, 0);
	KUNIT_EXPECT_EQ(test, query(test, request.id).expirations_left, 0);
	nowhere.cursor = 0;
	hwtimer_instance_stop(instance);
	KUNIT_EXPECT_EQ(test, hwtimer_cancel_all(instance, &nowhere), -EFAULT);
	KUNIT_EXPECT_EQ(test, instance->stats.cancelled, 0);
	fake_check_books(test, instance);
}

/* As in Kafka's timing wheel, a timer far away costs one wake-up, its own. */
static void far_timers_wake_the_worker_once_each(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	unsigned int wakeups;
	u64 id;

	KUNIT_ASSERT_EQ(test, fake_schedule(instance, 10 * NSEC_PER_SEC, &id),
			0);
	KUNIT_ASSERT_EQ(test, fake_schedule(instance, 10 * HOUR, &id), 0);
	wakeups = fake_turn_until(instance, FAKE_START + 20 * HOUR);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 2);
	kunit_info(test, "%u wake-ups, %llu entries walked\n", wakeups,
		   instance->wheel.stats.walked);
	KUNIT_EXPECT_EQ(test, wakeups, 2);
}

/* Schedules @count timers, each @round ns after the one before, the first at @first. */
static void schedule_rounds(struct kunit *test, u64 first, u64 round, u32 count)
{
	u64 id;

	for (; count--; first += round)
		KUNIT_ASSERT_EQ(test, fake_schedule(test->priv, first, &id), 0);
}

/*
 * Timers of one bucket, each a round of the lowest level after the one before, expire, and nobody
 * reads. In the start wheel, which has few, a walk passes over the others. In the whole one it does
 * not.
 */
static void timers_of_one_bucket_are_seldom_walked(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	const u64 round = instance->settings.shape.buckets * NSEC_PER_MSEC;
	const u32 few = HWTIMER_START_RECORDS - 1, many = 500;
	u64 walked, id;
	u32 i;

	schedule_rounds(test, round, round, few);
	for (i = few; i < HWTIMER_START_ENTRIES; i++) {
		KUNIT_ASSERT_EQ(test, fake_schedule(instance, round, &id), 0);
		KUNIT_ASSERT_EQ(test, fake_cancel(instance, id, 0), 0);
	}
	fake_turn_until(instance, fake_now + (few + 1) * round);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, few);
	walked = instance->wheel.stats.walked;
	KUNIT_EXPECT_LE(test, walked,
			HWTIMER_START_ENTRIES +
				HWTIMER_START_RECORDS * HWTIMER_START_RECORDS);

	schedule_rounds(test, round, round, many);
	fake_turn_until(instance, fake_now + (many + 1) * round);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, few + many);
	KUNIT_EXPECT_LE(test, instance->wheel.stats.walked - walked,
			many * HWTIMER_LEVELS_MAX);
}

/* A program that does nothing more is not served at the old time of each timer. */
static void postponed_timers_share_wakeups(struct kunit *test)
{
	const unsigned int n = 200;
	struct hwtimer_instance *instance = test->priv;
	unsigned int i, wakeups;
	u64 id;

	for (i = 1; i <= n; i++) {
		KUNIT_ASSERT_EQ(test,
				fake_schedule(instance, i * NSEC_PER_MSEC, &id),
				0);
		KUNIT_ASSERT_EQ(test, fake_reschedule(instance, id, HOUR), 0);
	}
	wakeups = fake_turn_until(instance, FAKE_START + HOUR / 2);
	KUNIT_EXPECT_LE(test, wakeups,
			1 + 2 * n / (HWTIMER_HOLD - HWTIMER_CHUNK_ENTRIES));
	KUNIT_EXPECT_EQ(test, instance->wheel.stats.refiled, n);
	fake_turn_until(instance, FAKE_START + 2 * HOUR);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, n);
}

/* Lets @gap ns pass on both clocks, the instance's and jiffies, without any request. */
static void idle(struct hwtimer_instance *instance, u64 gap)
{
	fake_turn_until(instance, fake_now + gap);
	/* As far as the instance can tell, it has waited long enough. */
	instance->wakeup.follow_at = get_jiffies_64();
}

/* Schedules timers of 1 to 1,981 ms singly and in a bulk; all expire, none moves down. */
static void check_burst(struct kunit *test, struct hwtimer_instance *instance,
			u32 flags)
{
	u64 base = flags & HWTIMER_REQ_ABSTIME ? fake_now : 0;
	u64 cascaded = instance->wheel.stats.cascaded;
	u64 expired = instance->stats.expired;
	static u64 words[2 * 100];
	struct hwtimer_event event;
	unsigned int i;

	for (i = 0; i < 100; i++) {
		struct hwtimer_request request = {
			.op = HWTIMER_OP_SCHEDULE,
			.flags = flags,
			.time = base + (1 + 20 * i) * NSEC_PER_MSEC,
		};

		KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
		words[2 * i] = i;
		words[2 * i + 1] = request.time;
	}
	KUNIT_ASSERT_EQ(test,
			hwtimer_bulk_run(instance,
					 &(struct hwtimer_bulk){
						 .op = HWTIMER_OP_SCHEDULE,
						 .flags = flags,
					 },
					 words, 100),
			0);
	fake_turn_until(instance, fake_now + 2 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, instance->stats.expired, expired + 200);
	KUNIT_EXPECT_EQ(test, instance->wheel.stats.cascaded, cascaded);
	while (fake_read(instance, &event))
		;
}

static void bursts_after_gaps(struct kunit *test,
			      struct hwtimer_instance *instance)
{
	idle(instance, 60 * NSEC_PER_SEC);
	check_burst(test, instance, HWTIMER_REQ_ABSTIME);
	idle(instance, 5 * NSEC_PER_SEC);
	check_burst(test, instance, 0);
	idle(instance, 3600 * NSEC_PER_SEC);
	check_burst(test, instance, HWTIMER_REQ_ABSTIME);
}

/*
 * After a gap, the lowest level does not reach the next 2 s of timers unless the wheel
 * has followed the clock.
 */
static void burst_after_a_gap_moves_down_no_level(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id;

	check_burst(test, instance, 0);
	/* By default an eighth of the lowest level's 4,096 ms, in jiffies. */
	KUNIT_EXPECT_EQ(test, instance->wakeup.follow_after,
			nsecs_to_jiffies64(512 * NSEC_PER_MSEC) + 1);
	bursts_after_gaps(test, instance);
	/* The same while timers are pending that are far away. */
	KUNIT_ASSERT_EQ(test, fake_schedule(instance, 10 * HOUR, &id), 0);
	KUNIT_ASSERT_EQ(test, fake_schedule(instance, S64_MAX, &id), 0);
	bursts_after_gaps(test, instance);
	fake_check_books(test, instance);
}

/*
 * The worker wakes up once for the entries of cancelled timers. It does not wake up again
 * while no timer is pending, but it does for the next timer.
 */
static void cancelled_timers_do_not_hold_the_wheel_back(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 *ids = kunit_kcalloc(test, LIMIT, sizeof(*ids), GFP_KERNEL);
	unsigned int i;
	u64 id;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	for (i = 0; i < LIMIT; i++)
		KUNIT_ASSERT_EQ(test,
				fake_schedule(instance,
					      (1 + 3 * i) * NSEC_PER_MSEC,
					      &ids[i]),
				0);
	for (i = 0; i < LIMIT; i++)
		KUNIT_ASSERT_EQ(test, fake_cancel(instance, ids[i], 0), 0);
	idle(instance, 60 * NSEC_PER_SEC);
	KUNIT_EXPECT_GT(test, instance->wheel.entries, 0);
	KUNIT_EXPECT_EQ(test, instance->wakeup.at, HWTIMER_TICK_NONE);
	KUNIT_ASSERT_EQ(test, fake_schedule(instance, 10 * HOUR, &id), 0);
	fake_turn_until(instance, fake_now);
	check_burst(test, instance, HWTIMER_REQ_ABSTIME);
	KUNIT_EXPECT_EQ(test, instance->wheel.entries, 1);
}

/* A periodic timer rests while its event waits, and goes on when the event is read. */
static void resting_timer_goes_on_after_a_gap(struct kunit *test)
{
	struct hwtimer_request request = { .op = HWTIMER_OP_SCHEDULE,
					   .time = NSEC_PER_SEC,
					   .interval = NSEC_PER_SEC };
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;

	KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
	idle(instance, 60 * NSEC_PER_SEC);
	KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
	fake_turn_until(instance, fake_now + 2 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, instance->stats.expired, 2);
	KUNIT_EXPECT_EQ(test, instance->wheel.stats.cascaded, 0);
}

/* The clock is set back after the wheel has followed it forward. */
static void wheel_follows_both_ways(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;

	fake_settable(instance);
	KUNIT_ASSERT_EQ(test,
			fake_schedule_at(instance, FAKE_START + 10 * HOUR), 0);
	idle(instance, HOUR);
	KUNIT_ASSERT_EQ(test, fake_schedule_at(instance, FAKE_START + 2 * HOUR),
			0);
	fake_now = FAKE_START - HOUR;
	KUNIT_ASSERT_EQ(test, fake_schedule_at(instance, FAKE_START - HOUR / 2),
			0);
	fake_turn_until(instance, FAKE_START - HOUR / 2 - 1);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 0);
	fake_turn_until(instance, FAKE_START - HOUR / 2);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 1);
	idle(instance, HOUR);
	check_burst(test, instance, HWTIMER_REQ_ABSTIME);
	fake_turn_until(instance, FAKE_START + 10 * HOUR);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 0);
	fake_check_books(test, instance);
}

/* A process that reads fdinfo */
struct teller {
	struct work_struct work;
	struct completion done;
	struct hwtimer_instance *instance;
	struct seq_file seq;
	struct file file;
};

static void tell(struct work_struct *work)
{
	struct teller *teller = container_of(work, struct teller, work);

	teller->file.f_cred = current_cred();
	hwtimer_stats_show(&teller->seq, teller->instance);
	complete(&teller->done);
}

/*
 * A thread of the owner may hold the mutex setup for as long as it gets no processor time.
 * The administrator who reads its fdinfo does not wait for it.
 */
static void reader_of_fdinfo_waits_for_no_owner(struct kunit *test)
{
	struct teller *teller =
		kunit_kzalloc(test, sizeof(*teller), GFP_KERNEL);
	struct hwtimer_instance *instance = test->priv;
	bool told;

	KUNIT_ASSERT_NOT_NULL(test, teller);
	teller->seq.buf = kunit_kzalloc(test, SZ_64K, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, teller->seq.buf);
	teller->seq.size = SZ_64K;
	teller->seq.file = &teller->file;
	teller->instance = instance;
	init_completion(&teller->done);
	INIT_WORK(&teller->work, tell);

	mutex_lock(&instance->setup);
	schedule_work(&teller->work);
	told = comes(&teller->done);
	mutex_unlock(&instance->setup);
	flush_work(&teller->work);
	KUNIT_EXPECT_TRUE(test, told);
	KUNIT_EXPECT_NOT_NULL(test, strstr(teller->seq.buf, "hwtimer-tick:\t"));
}

/* A thread that calls @call, and is killed meanwhile */
struct victim {
	struct hwtimer_instance *instance;
	int (*call)(struct hwtimer_instance *instance);
	struct completion begun;
	struct completion done;
	int err;
};

static int be_killed(void *data)
{
	struct victim *victim = data;

	allow_signal(SIGKILL);
	complete(&victim->begun);
	victim->err = victim->call(victim->instance);
	complete(&victim->done);
	return 0;
}

static int wait_in_setup(struct hwtimer_instance *instance)
{
	const struct hwtimer_settings settings = hwtimer_settings_default();

	return hwtimer_settings_set(instance, &settings);
}

static void expect_killed(struct kunit *test,
			  int (*call)(struct hwtimer_instance *instance))
{
	struct victim *victim =
		kunit_kzalloc(test, sizeof(*victim), GFP_KERNEL);
	struct hwtimer_instance *instance = test->priv;
	struct task_struct *thread;
	bool died;

	KUNIT_ASSERT_NOT_NULL(test, victim);
	victim->instance = instance;
	victim->call = call;
	init_completion(&victim->begun);
	init_completion(&victim->done);
	thread = kthread_create(be_killed, victim, "victim");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	get_task_struct(thread);
	mutex_lock(&instance->setup);
	wake_up_process(thread);
	wait_for_completion(&victim->begun);
	/* Now it probably waits. If it does not, it does not begin to. */
	msleep(100);
	send_sig(SIGKILL, thread, 1);
	died = comes(&victim->done);
	mutex_unlock(&instance->setup);
	if (!died)
		wait_for_completion(&victim->done);
	put_task_struct(thread);
	KUNIT_EXPECT_TRUE(test, died);
	KUNIT_EXPECT_EQ(test, victim->err, -EINTR);
}

/*
 * A thread of another tenant, who shares the instance, may hold the mutex setup for as long
 * as it gets no processor time. Who waits for it can be killed.
 */
static void who_waits_for_setup_can_be_killed(struct kunit *test)
{
	expect_killed(test, wait_in_setup);
	expect_killed(test, hwtimer_start_instance);
}

/*
 * SETUP waits for nobody once hwtimer_ioctl_waits() says so, although a thread that was to start
 * the instance may still hold the mutex. This one is being killed, so it would not wait for ever.
 */
static void setup_after_stop_waits_for_nobody(struct kunit *test)
{
	const struct hwtimer_settings settings = hwtimer_settings_default();
	struct hwtimer_instance *instance = test->priv;

	mutex_lock(&instance->setup);
	hwtimer_instance_stop(instance);
	KUNIT_EXPECT_FALSE(test,
			   hwtimer_ioctl_waits(instance, HWTIMER_IOC_SETUP));
	fake_kill();
	KUNIT_EXPECT_EQ(test, hwtimer_settings_set(instance, &settings),
			-EBUSY);
	fake_revive();
	mutex_unlock(&instance->setup);
}

/* Timers with the widest slack do not hide nearer timers, whatever their own deadlines are. */
static void huge_slack_hides_nothing(struct kunit *test)
{
	static const struct {
		u32 flags;
		s64 time;
	} times[] = {
		{ 0, NSEC_PER_SEC },
		{ 0, HOUR },
		{ 0, S64_MAX / 2 },
		{ 0, HWTIMER_NEVER - FAKE_START - 1 },
		{ 0, HWTIMER_NEVER },
		{ HWTIMER_REQ_ABSTIME, FAKE_START + NSEC_PER_SEC },
		{ HWTIMER_REQ_ABSTIME, S64_MAX / 2 },
		{ HWTIMER_REQ_ABSTIME, HWTIMER_NEVER - 1 },
		{ HWTIMER_REQ_ABSTIME, HWTIMER_NEVER },
	};
	struct hwtimer_instance *instance = test->priv;
	u64 id, slack;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		struct hwtimer_request request = { .op = HWTIMER_OP_SCHEDULE,
						   .flags = times[i].flags,
						   .time = times[i].time,
						   .slack = S64_MAX };

		KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
		slack = query(test, request.id).slack;
		KUNIT_EXPECT_LE(test, slack, S64_MAX);
		KUNIT_EXPECT_GT(test, slack, S64_MAX / 4);
	}
	KUNIT_EXPECT_LE(test, hwtimer_query_until_next(instance),
			HWTIMER_NEVER);
	KUNIT_ASSERT_EQ(test, fake_schedule(instance, HOUR, &id), 0);
	KUNIT_EXPECT_EQ(test, fake_turn_until(instance, FAKE_START + 2 * HOUR),
			1);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 1);
	KUNIT_EXPECT_EQ(test, query(test, id).state, HWTIMER_STATE_EXPIRED);
	fake_check_books(test, instance);
}

/* The slack may be longer than the delay; a timer is late by no more than that, and a tick. */
static void slack_may_exceed_the_delay(struct kunit *test)
{
	struct hwtimer_request request = { .op = HWTIMER_OP_SCHEDULE,
					   .time = NSEC_PER_MSEC,
					   .slack = 100 * NSEC_PER_MSEC };
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;
	unsigned int i, late = 0;

	for (i = 0; i < 100; i++) {
		KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
		KUNIT_EXPECT_EQ(test, query(test, request.id).slack,
				63 * NSEC_PER_MSEC);
		fake_turn_until(instance, fake_now + 102 * NSEC_PER_MSEC);
		KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
		KUNIT_EXPECT_LE(test, event.lateness, 64 * NSEC_PER_MSEC);
		late += event.lateness > NSEC_PER_MSEC;
	}
	KUNIT_EXPECT_GT(test, late, 0);
}

static void timers_follow_a_clock_that_is_set_back(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 deadline = FAKE_START + HOUR;
	u32 i;

	fake_settable(instance);
	for (i = 0; i < LIMIT / 2; i++, deadline += NSEC_PER_SEC)
		KUNIT_ASSERT_EQ(test, fake_schedule_at(instance, deadline), 0);
	fake_turn_until(instance, FAKE_START + HOUR / 2);
	fake_now = FAKE_START - 10 * HOUR;
	/* The module notices the new time with the next request. */
	KUNIT_ASSERT_EQ(test, fake_schedule_at(instance, FAKE_START - 9 * HOUR),
			0);
	KUNIT_EXPECT_LE(test, instance->wakeup.at, fake_now);
	fake_turn_until(instance, FAKE_START - 9 * HOUR - 1);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 0);
	fake_turn_until(instance, FAKE_START - 9 * HOUR);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 1);
	fake_turn_until(instance, FAKE_START + HOUR - 1);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 1);
	fake_turn_until(instance, FAKE_START + 2 * HOUR);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, LIMIT / 2 + 1);
	fake_check_books(test, instance);
}

/*
 * A timer that was overdue when it was scheduled is filed under a later tick than its own. If
 * the clock is set back, it may expire before that tick, and INFO knows that even before the
 * worker has noticed the new time.
 */
static void next_event_follows_a_clock_that_is_set_back(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 deadline = FAKE_START - HOUR;

	fake_settable(instance);
	KUNIT_ASSERT_EQ(test, fake_schedule_at(instance, deadline), 0);
	fake_now = FAKE_START - 2 * HOUR;
	KUNIT_EXPECT_LE(test, hwtimer_query_until_next(instance),
			deadline - fake_now);
	/* The worker finishes what INFO has begun. */
	KUNIT_EXPECT_LE(test, instance->wakeup.at, fake_now);
	fake_turn_until(instance, deadline - 1);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 0);
	fake_turn_until(instance, deadline + NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 1);
	fake_check_books(test, instance);
}

/*
 * A thread that is being killed gets no memory: nobody would see the results of its requests,
 * and it may be killed because there is no memory.
 */
static void killed_caller_gets_no_memory(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id, first, bytes;
	u32 i;
	int err = 0;

	fake_kill();
	/* EINTR if its first timer brings a thread */
	KUNIT_EXPECT_NE(test, fake_schedule(instance, HOUR, &id), 0);
	KUNIT_EXPECT_TRUE(test, hwtimer_instance_new(instance));
	fake_revive();
	KUNIT_ASSERT_EQ(test, fake_schedule(instance, HOUR, &first), 0);

	/* Each timer is in a bucket of its own, so each needs a chunk. */
	fake_kill();
	bytes = instance->stats.bytes;
	for (i = 1; i < LIMIT && !err; i++)
		err = fake_schedule(instance, i * NSEC_PER_MSEC, &id);
	KUNIT_EXPECT_EQ(test, err, -ENOMEM);
	KUNIT_EXPECT_EQ(test, instance->stats.bytes, bytes);
	/* A request that needs no memory is done. */
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, first, 0), 0);
	fake_revive();
	KUNIT_EXPECT_EQ(test, fake_schedule(instance, HOUR, &id), 0);
	fake_check_books(test, instance);
}

/* The stop wakes readers, once, and so does the read that leaves no event after it. */
static void readers_are_told_of_the_end(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct wait_queue_entry sleeper;
	struct hwtimer_event event;

	schedule_many(test, 2);
	turn(test, instance, 2);
	fake_fall_asleep(instance, &sleeper);
	hwtimer_instance_stop(instance);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 1);
	hwtimer_instance_stop(instance);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 1);
	KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 1);
	KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 2);
	remove_wait_queue(&instance->readers, &sleeper);
}

static void
readers_are_told_when_the_last_event_is_discarded(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct wait_queue_entry sleeper;
	u64 id;

	KUNIT_ASSERT_EQ(test, fake_schedule(instance, HOUR, &id), 0);
	turn(test, instance, 2);
	hwtimer_instance_stop(instance);
	fake_fall_asleep(instance, &sleeper);
	KUNIT_EXPECT_EQ(test, fake_cancel(instance, id, HWTIMER_REQ_DISCARD),
			0);
	KUNIT_EXPECT_EQ(test, fake_nr_woken, 1);
	remove_wait_queue(&instance->readers, &sleeper);
}

/* What an instance takes, where STATS counts bytes and the slab allocator has size classes. */
static u64 bytes_with_slack(const struct hwtimer_instance *instance)
{
	u64 start = hwtimer_table_start_bytes();
	u64 wheel = hwtimer_wheel_memory(&instance->wheel.shape);

	return instance->stats.bytes - sizeof(*instance) - start - wheel +
	       kmalloc_size_roundup(sizeof(*instance)) +
	       kmalloc_size_roundup(start) + kmalloc_size_roundup(wheel);
}

/* The most that an instance with 4 timers may take, where a page has 4 KB */
#define FEW 4
#define FEW_BYTES (24 * 1024)

/* With the small constants, FEW periodic timers are more than an instance starts with. */
static void skip_if_few_are_many(struct kunit *test)
{
	if (2 * FEW >= HWTIMER_START_RECORDS)
		kunit_skip(test, "an instance starts with too few records");
}

static void expect_few_bytes(struct kunit *test,
			     struct hwtimer_instance *instance)
{
	KUNIT_EXPECT_LE(test, bytes_with_slack(instance) - PAGE_SIZE,
			FEW_BYTES - 4096);
	KUNIT_EXPECT_LE(test, instance->stats.bytes_peak - PAGE_SIZE,
			FEW_BYTES - 4096);
	fake_check_books(test, instance);
}

/* Schedules the timers of a small program: near, far, with slack, and periodic ones. */
static void schedule_few(struct kunit *test, struct hwtimer_instance *instance,
			 u32 periodic)
{
	u32 i;

	for (i = 0; i < FEW; i++) {
		struct hwtimer_request request = {
			.op = HWTIMER_OP_SCHEDULE,
			.flags = HWTIMER_REQ_ABSTIME,
			.time = fake_now + (NSEC_PER_MSEC << i * 6) + i,
			.interval = i < periodic ? 7 * NSEC_PER_MSEC : 0,
			.slack = i == 2 ? 6 * NSEC_PER_MSEC : 0,
		};

		KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
	}
}

/* On a clock that can be set back, too, the wheel reserves more. */
static void few_timers_take_little(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_event event;
	u32 i, settable, periodic;

	skip_if_few_are_many(test);
	for (settable = 0; settable < 2; settable++)
		for (periodic = 0; periodic <= FEW; periodic++) {
			hwtimer_instance_destroy(instance);
			test->priv = NULL;
			instance = fake_create(LIMIT);
			KUNIT_ASSERT_NOT_NULL(test, instance);
			test->priv = instance;
			if (settable)
				fake_settable(instance);
			schedule_few(test, instance, periodic);
			expect_few_bytes(test, instance);
			for (i = 0; i < 100; i++) {
				fake_turn_until(instance,
						fake_now + 7 * NSEC_PER_MSEC);
				while (fake_read(instance, &event))
					;
			}
			expect_few_bytes(test, instance);
		}
}

/* A program that pushes a timeout out by CANCEL and SCHEDULE leaves many dead entries. */
static void cancelled_timers_take_no_whole_wheel(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 ids[FEW] = {};
	u32 i;

	skip_if_few_are_many(test);
	for (i = 0; i < 10000; i++) {
		u64 *id = &ids[i % FEW];

		if (*id)
			KUNIT_ASSERT_EQ(test, fake_cancel(instance, *id, 0), 0);
		KUNIT_ASSERT_EQ(test,
				fake_schedule(instance,
					      HOUR + i * NSEC_PER_MSEC, id),
				0);
		KUNIT_ASSERT_LE(test, instance->wheel.entries,
				HWTIMER_START_ENTRIES);
	}
	KUNIT_EXPECT_EQ(test, instance->wheel.shape.buckets,
			HWTIMER_START_BUCKETS);
	KUNIT_EXPECT_GT(test, instance->wheel.stats.compactions, 1);
	fake_check_books(test, instance);
}

/* With one timer more than it starts with room for, an instance has the whole wheel. */
static void more_timers_get_the_whole_wheel(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	const struct hwtimer_shape *shape = &instance->wheel.shape;
	struct hwtimer_event event;
	u32 i, early = HWTIMER_START_RECORDS - 1, late = early + 100;
	u64 before = 0, last = FAKE_START + HOUR;

	for (i = 0; i < early; i++)
		KUNIT_ASSERT_EQ(test,
				fake_schedule_at(instance, last - i * 12345678),
				0);
	KUNIT_EXPECT_EQ(test, shape->buckets, HWTIMER_START_BUCKETS);
	KUNIT_EXPECT_TRUE(test, hwtimer_table_small(&instance->table));
	for (; i < late; i++)
		KUNIT_ASSERT_EQ(test,
				fake_schedule_at(instance, last - i * 12345678),
				0);
	KUNIT_EXPECT_EQ(test, shape->buckets, instance->settings.shape.buckets);
	KUNIT_EXPECT_EQ(test, shape->kind, instance->settings.shape.kind);
	KUNIT_EXPECT_FALSE(test, hwtimer_table_small(&instance->table));
	fake_check_books(test, instance);

	fake_turn_until(instance, FAKE_START + 2 * HOUR);
	for (i = 0; i < late; i++) {
		KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
		KUNIT_ASSERT_GE(test, event.deadline, before);
		before = event.deadline;
	}
	KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 0);
	fake_check_books(test, instance);
}

/*
 * The clock is set back, and the wheel is on its way back, when one timer more than the
 * instance has records for takes the whole wheel.
 */
static void
the_whole_wheel_follows_a_clock_that_was_set_back(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u32 i, early = HWTIMER_START_RECORDS - 1;
	u64 deadline, first = FAKE_START + HOUR;
	struct hwtimer_event event;

	fake_settable(instance);
	for (i = 0; i < early; i++)
		KUNIT_ASSERT_EQ(test, fake_schedule_at(instance, first + i), 0);
	fake_turn_until(instance, FAKE_START + HOUR / 2);
	fake_now = FAKE_START - 10 * HOUR;
	KUNIT_ASSERT_EQ(test, fake_cancel(instance, 0, 0), -ENOENT);
	KUNIT_EXPECT_TRUE(test, instance->wheel.refile.active);
	KUNIT_ASSERT_EQ(test, fake_schedule_at(instance, FAKE_START - 9 * HOUR),
			0);
	KUNIT_EXPECT_EQ(test, instance->wheel.shape.buckets,
			instance->settings.shape.buckets);

	fake_turn_until(instance, FAKE_START - 9 * HOUR);
	KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 1);
	KUNIT_EXPECT_EQ(test, event.deadline, FAKE_START - 9 * HOUR);
	KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 0);
	fake_turn_until(instance, FAKE_START + 2 * HOUR);
	for (deadline = first; early--; deadline++) {
		KUNIT_ASSERT_EQ(test, fake_read(instance, &event), 1);
		KUNIT_ASSERT_EQ(test, event.deadline, deadline);
	}
	KUNIT_EXPECT_EQ(test, fake_read(instance, &event), 0);
	fake_check_books(test, instance);
}

/* After a long idle time, the whole wheel begins at the present. */
static void the_whole_wheel_begins_at_the_present(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id;
	u32 i;

	KUNIT_ASSERT_EQ(test, fake_schedule(instance, 100 * HOUR, &id), 0);
	fake_now += 50 * HOUR;
	for (i = 0; i < LIMIT - 1; i++)
		KUNIT_ASSERT_EQ(test,
				fake_schedule(instance, NSEC_PER_SEC, &id), 0);
	fake_turn_until(instance, FAKE_START + 51 * HOUR);
	KUNIT_EXPECT_EQ(test, instance->stats.expired, LIMIT - 1);
	KUNIT_EXPECT_EQ(test, instance->wheel.stats.cascaded, 0);
	fake_check_books(test, instance);
}

/* Whether @instance has the memory for @demand, computed without any short cut. */
static bool has_memory(const struct hwtimer_instance *instance,
		       const struct hwtimer_demand *demand)
{
	u64 places = instance->events.tail - instance->events.head +
		     instance->stats.pending;
	u32 periodic =
		instance->periodic + demand->periodic + demand->extensions;
	const struct hwtimer_outlook outlook = {
		.adds = demand->timers,
		.moves = demand->moves,
		.resting = periodic,
		.live = instance->stats.pending + demand->timers + periodic,
	};

	/* Operations check themselves whether there are records. */
	return (hwtimer_instance_extended(instance) ||
		places + demand->timers <= HWTIMER_START_EVENTS / 2) &&
	       instance->wheel.entries + demand->timers + demand->moves +
			       periodic <=
		       instance->wheel_room &&
	       hwtimer_wheel_reserve(&instance->wheel, &outlook) <=
		       instance->pool.spares;
}

static void check_memory(struct kunit *test, struct hwtimer_instance *instance,
			 const struct hwtimer_demand *demand)
{
	bool ready = !hwtimer_supply_reserve(instance, demand);

	KUNIT_EXPECT_EQ(test, ready, has_memory(instance, demand));
	spin_unlock(&instance->lock);
}

/* Has the pool, the start wheel and the table miss more or less of what @demand takes. */
static void check_shortages(struct kunit *test,
			    struct hwtimer_instance *instance,
			    const struct hwtimer_demand *demand)
{
	u32 spare = hwtimer_table_spare(&instance->table);
	u32 spares = instance->pool.spares;
	u64 room = instance->wheel_room;
	u32 few;

	/* A killed thread gets no memory, so hwtimer_supply_reserve() only looks at the numbers. */
	fake_kill();
	for (few = 0; few < 4 * HWTIMER_HOLD; few++) {
		instance->pool.spares = few;
		check_memory(test, instance, demand);
	}
	instance->pool.spares = U32_MAX;
	for (few = 0; few < 4 * HWTIMER_HOLD; few++) {
		instance->wheel_room = instance->wheel.entries + few;
		check_memory(test, instance, demand);
	}
	instance->wheel_room = U64_MAX;
	for (few = 0; few < spare; few++) {
		instance->table.retired += few;
		check_memory(test, instance, demand);
		instance->table.retired -= few;
	}
	fake_revive();
	instance->wheel_room = room;
	instance->pool.spares = spares;
}

static void missing_memory_is_noticed(struct kunit *test)
{
	static const struct hwtimer_demand demands[] = {
		{ .timers = 1 },
		{ .timers = HWTIMER_HOLD },
		{ .moves = 1 },
		{ .timers = 2, .periodic = 1 },
		{ .timers = 3, .periodic = 3, .moves = 2, .extensions = 1 },
		{ .moves = HWTIMER_HOLD, .extensions = HWTIMER_HOLD },
	};
	struct hwtimer_instance *instance = test->priv;
	unsigned int i, j;

	for (i = 0; i < 4; i++) {
		struct hwtimer_request request = {
			.op = HWTIMER_OP_SCHEDULE,
			.time = HOUR,
			.interval = i & 1 ? HOUR : 0,
		};

		for (j = 0; j <= 3 * i; j++) {
			request.time += HOUR;
			KUNIT_ASSERT_EQ(test, fake_run(instance, &request), 0);
			request.id = 0;
		}
		for (j = 0; j < ARRAY_SIZE(demands); j++)
			check_shortages(test, instance, &demands[j]);
	}
	fake_check_books(test, instance);
}

/*
 * Creates an instance, and schedules its first timer. Makes the first allocation fail, then
 * the second, and so on, until none is left.
 */
static void out_of_memory_is_clean(struct kunit *test)
{
	unsigned int nth = 0, refused = 0;
	bool failed;

	do {
		struct hwtimer_instance *instance;
		int err = -ENOMEM;
		u64 id;

		fake_fail_allocation(++nth);
		instance = fake_create(LIMIT);
		if (instance)
			err = fake_schedule(instance, HOUR, &id);
		failed = fake_allocation_failed();
		fake_fail_allocation(0);
		if (instance)
			hwtimer_instance_destroy(instance);
		KUNIT_EXPECT_TRUE(test, !err || (failed && err == -ENOMEM));
		refused += !!err;
	} while (failed && nth < 1000);
	/* Most have a second way, as vmalloc() after kmalloc(); on some kernels, all. */
	kunit_info(test, "%u of %u failed allocations made a call fail\n",
		   refused, nth - 1);
	if (nth == 1)
		kunit_skip(test, "this kernel lets no allocation fail");
	KUNIT_EXPECT_LT(test, nth, 1000);
}

static struct kunit_case instance_test_cases[] = {
	KUNIT_CASE(readers_are_told_of_the_end),
	KUNIT_CASE(readers_are_told_when_the_last_event_is_discarded),
	KUNIT_CASE(limit_refuses_and_lifts),
	KUNIT_CASE(spent_record_leaves_none_within_the_limit),
	KUNIT_CASE(unread_events_count_against_the_limit),
	KUNIT_CASE(discarded_events_make_room),
	KUNIT_CASE(timer_ends_once),
	KUNIT_CASE(rescheduled_timer_keeps_its_id),
	KUNIT_CASE(any_time_is_allowed),
	KUNIT_CASE(parked_timer_can_be_rescheduled),
	KUNIT_CASE(time_until_the_next_event_is_told),
	KUNIT_CASE(bad_requests_are_refused),
	KUNIT_CASE(what_is_not_used_is_ignored),
	KUNIT_CASE(only_new_timers_start_an_instance),
	KUNIT_CASE(what_cannot_start_is_a_result),
	KUNIT_CASE(settings_are_over_with_the_first_timer),
	KUNIT_CASE(settings_are_over_with_the_stop),
	KUNIT_CASE(nothing_expires_after_stop),
	KUNIT_CASE(cancel_all_that_faults_ends_nothing),
	KUNIT_CASE(far_timers_wake_the_worker_once_each),
	KUNIT_CASE(timers_of_one_bucket_are_seldom_walked),
	KUNIT_CASE(postponed_timers_share_wakeups),
	KUNIT_CASE(burst_after_a_gap_moves_down_no_level),
	KUNIT_CASE(cancelled_timers_do_not_hold_the_wheel_back),
	KUNIT_CASE(resting_timer_goes_on_after_a_gap),
	KUNIT_CASE(wheel_follows_both_ways),
	KUNIT_CASE(reader_of_fdinfo_waits_for_no_owner),
	KUNIT_CASE(who_waits_for_setup_can_be_killed),
	KUNIT_CASE(setup_after_stop_waits_for_nobody),
	KUNIT_CASE(huge_slack_hides_nothing),
	KUNIT_CASE(slack_may_exceed_the_delay),
	KUNIT_CASE(timers_follow_a_clock_that_is_set_back),
	KUNIT_CASE(next_event_follows_a_clock_that_is_set_back),
	KUNIT_CASE_SLOW(dead_entries_are_bounded),
	KUNIT_CASE_SLOW(cancelling_all_leaves_little),
	KUNIT_CASE(killed_caller_gets_no_memory),
	KUNIT_CASE(few_timers_take_little),
	KUNIT_CASE(cancelled_timers_take_no_whole_wheel),
	KUNIT_CASE(more_timers_get_the_whole_wheel),
	KUNIT_CASE(the_whole_wheel_follows_a_clock_that_was_set_back),
	KUNIT_CASE(the_whole_wheel_begins_at_the_present),
	KUNIT_CASE(missing_memory_is_noticed),
	KUNIT_CASE(random_requests_keep_the_books),
	KUNIT_CASE(out_of_memory_is_clean),
	{}
};

static struct kunit_suite instance_test_suite = {
	.name = "hwtimer_instance",
	.init = instance_test_init,
	.exit = fake_test_exit,
	.test_cases = instance_test_cases,
};

kunit_test_suite(instance_test_suite);
