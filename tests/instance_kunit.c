// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of the instance and its requests. The instances are attached to
 * the module's own worker, but their timers are an hour away from it: the tests
 * turn the wheel themselves, with a time of their own.
 */
#include <kunit/test.h>
#include <linux/ktime.h>

#include "../hwtimer.h"
#include "random.h"

#define HOUR (3600ULL * NSEC_PER_SEC)
#define LIMIT 1000

static int instance_test_init(struct kunit *test)
{
	test->priv = hwtimer_instance_create(LIMIT);
	return test->priv ? 0 : -ENOMEM;
}

static void instance_test_exit(struct kunit *test)
{
	if (test->priv)
		hwtimer_instance_destroy(test->priv);
}

/* Runs one request and returns its result. */
static int run(struct hwtimer_instance *instance,
	       struct hwtimer_request *request)
{
	hwtimer_request_run(instance, request, 1);
	return request->result;
}

static int schedule_in(struct hwtimer_instance *instance, u64 delay, u64 *id)
{
	struct hwtimer_request request = { .op = HWTIMER_OP_SCHEDULE,
					   .time = delay };
	int err = run(instance, &request);

	*id = request.id;
	return err;
}

static int cancel(struct hwtimer_instance *instance, u64 id, u32 flags)
{
	struct hwtimer_request request = { .op = HWTIMER_OP_CANCEL,
					   .id = id,
					   .flags = flags };

	return run(instance, &request);
}

static int reschedule(struct hwtimer_instance *instance, u64 id, u64 delay)
{
	struct hwtimer_request request = {
		.op = HWTIMER_OP_RESCHEDULE,
		.id = id,
		.time = delay,
	};

	return run(instance, &request);
}

/* Turns the wheel as if it were @hours later. */
static void turn(struct kunit *test, struct hwtimer_instance *instance,
		 unsigned int hours)
{
	u64 now = hwtimer_instance_now(instance) + hours * HOUR;
	u32 *due = kunit_kmalloc(test, HWTIMER_HOLD * sizeof(*due), GFP_KERNEL);
	u64 before;

	KUNIT_ASSERT_NOT_NULL(test, due);
	do {
		before = instance->stats.expired;
		hwtimer_instance_turn(instance, now, due);
		KUNIT_ASSERT_LE(test, instance->stats.expired - before,
				HWTIMER_HOLD);
	} while (instance->stats.expired != before);
}

static void check_identities(struct kunit *test,
			     struct hwtimer_instance *instance)
{
	const struct hwtimer_stats *stats = &instance->stats;

	KUNIT_EXPECT_EQ(test, stats->scheduled,
			stats->pending + stats->cancelled + stats->expired +
				stats->unprocessed);
	KUNIT_EXPECT_EQ(test, stats->expired,
			stats->ready + stats->delivered + stats->discarded);
}

static void limit_refuses_and_lifts(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id, first;
	u32 i;

	KUNIT_ASSERT_EQ(test, schedule_in(instance, HOUR, &first), 0);
	for (i = 1; i < LIMIT; i++)
		KUNIT_ASSERT_EQ(test, schedule_in(instance, HOUR, &id), 0);
	KUNIT_EXPECT_EQ(test, schedule_in(instance, HOUR, &id), -ENOSPC);
	KUNIT_EXPECT_EQ(test, id, 0);
	KUNIT_EXPECT_EQ(test, cancel(instance, first, 0), 0);
	KUNIT_EXPECT_EQ(test, schedule_in(instance, HOUR, &id), 0);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, LIMIT);
	check_identities(test, instance);
}

/* The last timer that the limit allows has spent its record's generations. */
static void spent_record_leaves_none_within_the_limit(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_settings settings = instance->settings;
	struct hwtimer_request requests[2] = {
		{ .op = HWTIMER_OP_CANCEL },
		{ .op = HWTIMER_OP_SCHEDULE, .time = HOUR },
	};
	u64 first, id;
	u32 i;

	settings.timers = HWTIMER_SLOT_USABLE;
	KUNIT_ASSERT_EQ(test, hwtimer_instance_setup(instance, &settings), 0);
	KUNIT_ASSERT_EQ(test, schedule_in(instance, HOUR, &first), 0);
	for (i = 1; i < HWTIMER_SLOT_USABLE; i++)
		KUNIT_ASSERT_EQ(test, schedule_in(instance, HOUR, &id), 0);
	KUNIT_ASSERT_EQ(test, hwtimer_table_spare(&instance->table), 0);
	hwtimer_table_find(&instance->table, first)->generation = U32_MAX;
	requests[0].id = (u64)U32_MAX << 32 | lower_32_bits(first);

	hwtimer_request_run(instance, requests, 2);
	KUNIT_EXPECT_EQ(test, requests[0].result, 0);
	KUNIT_EXPECT_EQ(test, requests[1].result, -ENOMEM);
	/* The next one can have memory brought. */
	KUNIT_EXPECT_EQ(test, schedule_in(instance, HOUR, &id), 0);
	KUNIT_EXPECT_EQ(test, schedule_in(instance, HOUR, &id), -ENOSPC);
	check_identities(test, instance);
}

static void unread_events_count_against_the_limit(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id;
	u32 i;

	for (i = 0; i < LIMIT; i++)
		KUNIT_ASSERT_EQ(test, schedule_in(instance, HOUR, &id), 0);
	turn(test, instance, 2);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, LIMIT);
	KUNIT_EXPECT_EQ(test, schedule_in(instance, HOUR, &id), -ENOSPC);
}

/* From the last to the first, so that none is at the front until the end. */
static void discarded_events_make_room(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 *ids = kunit_kcalloc(test, LIMIT, sizeof(*ids), GFP_KERNEL);
	u64 id;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	for (i = 0; i < LIMIT; i++)
		KUNIT_ASSERT_EQ(test, schedule_in(instance, HOUR, &ids[i]), 0);
	turn(test, instance, 2);
	for (i = LIMIT; i-- > 0;) {
		KUNIT_ASSERT_EQ(test, cancel(instance, ids[i], 0), -EALREADY);
		KUNIT_ASSERT_EQ(test, cancel(instance, ids[i], HWTIMER_DISCARD),
				0);
		KUNIT_ASSERT_EQ(test, cancel(instance, ids[i], HWTIMER_DISCARD),
				-ENOENT);
	}
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 0);
	KUNIT_EXPECT_EQ(test, schedule_in(instance, HOUR, &id), 0);
	check_identities(test, instance);
}

static void timer_ends_once(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 cancelled, expired;

	KUNIT_ASSERT_EQ(test, schedule_in(instance, HOUR, &cancelled), 0);
	KUNIT_ASSERT_EQ(test, schedule_in(instance, HOUR, &expired), 0);
	KUNIT_EXPECT_EQ(test, cancel(instance, cancelled, 0), 0);
	KUNIT_EXPECT_EQ(test, cancel(instance, cancelled, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, reschedule(instance, cancelled, HOUR), -ENOENT);
	turn(test, instance, 2);
	KUNIT_EXPECT_EQ(test, cancel(instance, expired, 0), -EALREADY);
	KUNIT_EXPECT_EQ(test, reschedule(instance, expired, HOUR), -EALREADY);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 1);
	check_identities(test, instance);
}

static void rescheduled_timer_keeps_its_id(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 id;

	KUNIT_ASSERT_EQ(test, schedule_in(instance, HOUR, &id), 0);
	KUNIT_EXPECT_EQ(test, reschedule(instance, id, 5 * HOUR), 0);
	turn(test, instance, 2);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 1);
	KUNIT_EXPECT_EQ(test, reschedule(instance, id, 3 * HOUR), 0);
	turn(test, instance, 4);
	KUNIT_EXPECT_EQ(test, instance->stats.ready, 1);
	KUNIT_EXPECT_EQ(test, cancel(instance, id, HWTIMER_DISCARD), 0);
}

static void sums_saturate(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_request request = { .op = HWTIMER_OP_SCHEDULE,
					   .time = S64_MAX };
	struct hwtimer_query query = {};

	KUNIT_ASSERT_EQ(test, run(instance, &request), 0);
	query.id = request.id;
	KUNIT_ASSERT_EQ(test, hwtimer_instance_query(instance, &query), 0);
	KUNIT_EXPECT_EQ(test, query.deadline, HWTIMER_NEVER);

	request = (struct hwtimer_request){
		.op = HWTIMER_OP_SCHEDULE,
		.flags = HWTIMER_ABSOLUTE,
		.time = HWTIMER_NEVER,
	};
	KUNIT_ASSERT_EQ(test, run(instance, &request), 0);
	turn(test, instance, 1000000);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 2);
}

static void bad_requests_are_refused(struct kunit *test)
{
	static const struct hwtimer_request bad[] = {
		{ .op = HWTIMER_OP_NONE },
		{ .op = HWTIMER_OP_RESCHEDULE + 1 },
		{ .op = U32_MAX },
		{ .op = HWTIMER_OP_SCHEDULE, .flags = HWTIMER_DISCARD },
		{ .op = HWTIMER_OP_SCHEDULE, .flags = 1U << 31 },
		{ .op = HWTIMER_OP_SCHEDULE, .id = 1 },
		{ .op = HWTIMER_OP_SCHEDULE, .interval = 1 },
		{ .op = HWTIMER_OP_SCHEDULE, .slack = 1 },
		{ .op = HWTIMER_OP_SCHEDULE, .count = 1 },
		{ .op = HWTIMER_OP_SCHEDULE, .reserved = 1 },
		{ .op = HWTIMER_OP_CANCEL, .flags = HWTIMER_ABSOLUTE },
		{ .op = HWTIMER_OP_CANCEL, .time = 1 },
		{ .op = HWTIMER_OP_CANCEL, .user_data = 1 },
		{ .op = HWTIMER_OP_RESCHEDULE, .flags = HWTIMER_DISCARD },
		{ .op = HWTIMER_OP_RESCHEDULE, .user_data = 1 },
	};
	struct hwtimer_instance *instance = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct hwtimer_request request = bad[i];

		KUNIT_EXPECT_EQ_MSG(test, run(instance, &request), -EINVAL,
				    "request %u", i);
	}
	/* Nothing of it made the instance start. */
	KUNIT_EXPECT_FALSE(test, instance->started);
}

static void settings_are_over_with_the_first_timer(struct kunit *test)
{
	struct hwtimer_settings settings = { .tick = NSEC_PER_MSEC,
					     .buckets = 8,
					     .timers = 1 };
	struct hwtimer_instance *instance = test->priv;
	u64 id;

	KUNIT_EXPECT_EQ(test, hwtimer_instance_setup(instance, &settings), 0);
	KUNIT_EXPECT_EQ(test, schedule_in(instance, HOUR, &id), 0);
	KUNIT_EXPECT_EQ(test, schedule_in(instance, HOUR, &id), -ENOSPC);
	KUNIT_EXPECT_EQ(test, hwtimer_instance_setup(instance, &settings),
			-EBUSY);
	hwtimer_instance_stop(instance);
	KUNIT_EXPECT_EQ(test, hwtimer_instance_setup(instance, &settings),
			-ESHUTDOWN);
}

static void nothing_expires_after_stop(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	u64 first, id;

	KUNIT_ASSERT_EQ(test, schedule_in(instance, HOUR, &first), 0);
	hwtimer_instance_stop(instance);
	turn(test, instance, 2);
	KUNIT_EXPECT_EQ(test, instance->stats.pending, 1);
	KUNIT_EXPECT_EQ(test, schedule_in(instance, HOUR, &id), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, reschedule(instance, first, HOUR), -ESHUTDOWN);
	KUNIT_EXPECT_EQ(test, cancel(instance, first, 0), 0);
	check_identities(test, instance);
}

/* A timeout far away, cancelled at once, again and again. */
static void dead_entries_are_bounded(struct kunit *test)
{
	struct hwtimer_instance *instance = test->priv;
	struct hwtimer_stats stats;
	u64 id, most = 0;
	u32 i;

	for (i = 0; i < LIMIT / 2; i++)
		KUNIT_ASSERT_EQ(test, schedule_in(instance, HOUR, &id), 0);
	for (i = 0; i < 200000; i++) {
		KUNIT_ASSERT_EQ(test,
				schedule_in(instance, HOUR + i * NSEC_PER_USEC,
					    &id),
				0);
		KUNIT_ASSERT_EQ(test, cancel(instance, id, 0), 0);
		most = max(most,
			   instance->wheel.entries - instance->stats.pending);
	}
	hwtimer_stats_get(instance, &stats);
	kunit_info(test, "at most %llu dead, %llu compactions, %llu bytes\n",
		   most, stats.compactions, stats.bytes_peak);
	KUNIT_EXPECT_LT(test, most, LIMIT + 65536);
	KUNIT_EXPECT_GT(test, stats.compactions, 1);
	KUNIT_EXPECT_LT(test, stats.bytes_peak, 2 * 1024 * 1024);
	check_identities(test, instance);
}

static void cancelling_all_leaves_little(struct kunit *test)
{
	struct hwtimer_instance *instance = hwtimer_instance_create(200000);
	u64 *ids = kunit_kcalloc(test, 100000, sizeof(*ids), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, instance);
	KUNIT_ASSERT_NOT_NULL(test, ids);
	for (i = 0; i < 100000; i++)
		KUNIT_EXPECT_EQ(test,
				schedule_in(instance, HOUR + i * NSEC_PER_USEC,
					    &ids[i]),
				0);
	for (i = 0; i < 100000; i++) {
		KUNIT_EXPECT_EQ(test, cancel(instance, ids[i], 0), 0);
		KUNIT_EXPECT_LT(test, instance->wheel.entries,
				2 * instance->stats.pending + 65536);
	}
	check_identities(test, instance);
	hwtimer_instance_destroy(instance);
}

/* Requests and turns in any order: each timer ends in exactly one way. */
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
	for (i = 0; i < 50000; i++) {
		u64 *id = &ids[random_below(&state, LIMIT)];
		u64 delay = (hours + 1 + random_below(&state, 5)) * HOUR;

		switch (random_below(&state, 8)) {
		case 0 ... 3:
			cancel(instance, *id, HWTIMER_DISCARD);
			err = schedule_in(instance, delay, id);
			/* Discarded events behind an unread one still count. */
			KUNIT_ASSERT_EQ(test, err,
					instance->discards && !*id ? -ENOSPC :
								     0);
			refused += !!err;
			break;
		case 4 ... 5:
			reschedule(instance, *id, delay);
			break;
		case 6:
			cancel(instance, *id, 0);
			break;
		default:
			if (!random_below(&state, 100))
				turn(test, instance, ++hours);
		}
		KUNIT_ASSERT_EQ(test, instance->table.used,
				instance->stats.pending +
					instance->stats.ready +
					instance->discards);
		KUNIT_ASSERT_LE(test, instance->table.used, LIMIT);
	}
	kunit_info(test,
		   "%llu expired, %llu cancelled, %llu discarded, %u refused\n",
		   instance->stats.expired, instance->stats.cancelled,
		   instance->stats.discarded, refused);
	check_identities(test, instance);
}

static struct kunit_case instance_test_cases[] = {
	KUNIT_CASE(limit_refuses_and_lifts),
	KUNIT_CASE(spent_record_leaves_none_within_the_limit),
	KUNIT_CASE(unread_events_count_against_the_limit),
	KUNIT_CASE(discarded_events_make_room),
	KUNIT_CASE(timer_ends_once),
	KUNIT_CASE(rescheduled_timer_keeps_its_id),
	KUNIT_CASE(sums_saturate),
	KUNIT_CASE(bad_requests_are_refused),
	KUNIT_CASE(settings_are_over_with_the_first_timer),
	KUNIT_CASE(nothing_expires_after_stop),
	KUNIT_CASE_SLOW(dead_entries_are_bounded),
	KUNIT_CASE_SLOW(cancelling_all_leaves_little),
	KUNIT_CASE(random_requests_keep_the_books),
	{}
};

static struct kunit_suite instance_test_suite = {
	.name = "hwtimer_instance",
	.init = instance_test_init,
	.exit = instance_test_exit,
	.test_cases = instance_test_cases,
};

kunit_test_suite(instance_test_suite);
