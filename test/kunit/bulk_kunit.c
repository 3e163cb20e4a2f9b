// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of timers/bulk.c: a bulk does the same as single requests, down to the
 * order of timers that expire at the same tick.
 */
#include <kunit/test.h>
#include <linux/ktime.h>

#include "fake.h"
#include "random.h"

#define LIMIT 20000
#define ROUNDS 800
/* Many times as many as it takes until seen_all() */
#define ROUNDS_MAX (20 * ROUNDS)
/* Number of ids to draw from: with many more, hardly one is that of a timer whose event waits. */
#define RECENT (16 * HWTIMER_HOLD)

/* A time that the lowest level of the wheel reaches, and one beyond it, ns. */
#define NEAR (3 * NSEC_PER_SEC)
#define FAR (40 * FAKE_HOUR)

/**
 * struct twins - two instances that get the same operations
 * @test: the test that they belong to
 * @state: state of the random numbers
 * @bulk: the instance that gets bulks
 * @single: the instance that gets requests
 * @settable: their clock may be set, so every time is a deadline and not a delay
 * @flags: flags of the next operations: HWTIMER_REQ_ABSTIME or 0
 * @waiting: number of CANCELs that left an event
 * @timers: number of timers scheduled so far; each has its number as user_data
 * @ids: ids of the last RECENT timers
 * @expired: number of events that were the same for both
 * @words: words of the next bulk
 * @requests: requests that ask for the same as @words
 * @bulks: number of bulks that scheduled
 * @slackened: number of operations with a slack that succeeded
 * @slack: slack of the next operations, ns
 */
struct twins {
	struct kunit *test;
	struct rnd_state state;
	struct hwtimer_instance *bulk;
	struct hwtimer_instance *single;
	bool settable;
	u32 flags;
	u64 waiting;
	u64 timers;
	u64 ids[RECENT];
	u64 expired;
	u64 words[2 * HWTIMER_HOLD];
	struct hwtimer_request requests[HWTIMER_HOLD];
	u32 bulks;
	u64 slackened;
	u64 slack;
};

/*
 * Has an instance get its whole wheel. A bulk asks for memory before it looks at its timers, so
 * it may get there sooner than requests; and before, dead entries are swept, which changes the
 * order within a tick of timers that were moved.
 */
static void extend(struct kunit *test, struct hwtimer_instance *instance)
{
	u32 i;

	for (i = 0; i < HWTIMER_START_RECORDS; i++)
		KUNIT_ASSERT_EQ(test,
				fake_schedule_at(instance, fake_now + FAR), 0);
	KUNIT_ASSERT_TRUE(test, hwtimer_instance_extended(instance));
}

static struct twins *twins_create(struct kunit *test, bool settable)
{
	struct twins *twins = kunit_kzalloc(test, sizeof(*twins), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, twins);
	twins->test = test;
	hwtimer_test_seed(test, &twins->state);
	twins->bulk = fake_create(LIMIT);
	twins->single = fake_create(LIMIT);
	KUNIT_ASSERT_NOT_NULL(test, twins->bulk);
	KUNIT_ASSERT_NOT_NULL(test, twins->single);
	twins->settable = settable;
	if (settable) {
		fake_settable(twins->bulk);
		fake_settable(twins->single);
	}
	extend(test, twins->bulk);
	extend(test, twins->single);
	return twins;
}

static void twins_destroy(struct twins *twins)
{
	fake_check_books(twins->test, twins->bulk);
	fake_check_books(twins->test, twins->single);
	hwtimer_instance_destroy(twins->bulk);
	hwtimer_instance_destroy(twins->single);
}

/* Most deadlines are near, so that timers share ticks; a few are far, or have passed. */
static s64 random_deadline(struct twins *twins)
{
	u32 which = random_below(&twins->state, 20);
	u32 part = prandom_u32_state(&twins->state);

	if (!which)
		return fake_now - NSEC_PER_SEC;
	return fake_now + mul_u64_u32_shr(which == 1 ? FAR : NEAR, part, 32);
}

/*
 * Returns a random deadline, or the delay until then, as twins->flags says; now and then
 * HWTIMER_NEVER.
 */
static s64 random_time(struct twins *twins)
{
	s64 deadline = random_deadline(twins);

	if (!random_below(&twins->state, 50))
		return HWTIMER_NEVER;
	return twins->flags & HWTIMER_REQ_ABSTIME ? deadline :
						    deadline - fake_now;
}

static void choose_flags(struct twins *twins)
{
	twins->flags = twins->settable || random_below(&twins->state, 2) ?
			       HWTIMER_REQ_ABSTIME :
			       0;
}

/* Returns the id of a timer, which may have ended. */
static u64 random_id(struct twins *twins)
{
	u32 among = min_t(u64, twins->timers, RECENT);

	return among ? twins->ids[random_below(&twins->state, among)] : 1;
}

/* Does the bulk in twins->words and the same by requests; compares the results. */
static void do_both(struct twins *twins, u32 op, u32 count)
{
	struct hwtimer_bulk bulk = { .op = op };
	u32 i;
	int err;

	if (op != HWTIMER_OP_CANCEL)
		bulk.flags = twins->flags;
	if (op == HWTIMER_OP_SCHEDULE)
		bulk.slack = twins->slack;
	for (i = 0; i < count; i++) {
		twins->requests[i].op = op;
		twins->requests[i].flags = bulk.flags;
		twins->requests[i].slack = bulk.slack;
	}
	err = hwtimer_bulk_run(twins->bulk, &bulk, twins->words, count);
	KUNIT_ASSERT_EQ(twins->test, err, 0);
	hwtimer_request_run(twins->single, twins->requests, count);
	for (i = 0; i < count; i++) {
		s64 result = twins->requests[i].result;

		if (!result && op == HWTIMER_OP_SCHEDULE)
			result = twins->requests[i].id;
		KUNIT_ASSERT_EQ(twins->test, (s64)twins->words[i], result);
		twins->waiting += op == HWTIMER_OP_CANCEL && result == 1;
		twins->slackened += result >= 0 && bulk.slack;
	}
}

static void schedule_both(struct twins *twins, u32 count)
{
	u32 i;

	choose_flags(twins);
	/* Not at random which: a test with few bulks needs one with a slack, too. */
	twins->slack =
		twins->bulks++ % 4 ? 0 : 1 + random_below(&twins->state, NEAR);
	for (i = 0; i < count; i++) {
		s64 time = random_time(twins);

		twins->words[2 * i] = twins->timers + i;
		twins->words[2 * i + 1] = time;
		twins->requests[i] = (struct hwtimer_request){
			.user_data = twins->timers + i,
			.time = time,
		};
	}
	do_both(twins, HWTIMER_OP_SCHEDULE, count);
	for (i = 0; i < count; i++)
		twins->ids[twins->timers++ % RECENT] = twins->words[i];
}

static void cancel_both(struct twins *twins, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		twins->words[i] = random_id(twins);
		twins->requests[i] =
			(struct hwtimer_request){ .id = twins->words[i] };
	}
	do_both(twins, HWTIMER_OP_CANCEL, count);
}

static void reschedule_both(struct twins *twins, u32 count)
{
	u32 i;

	choose_flags(twins);
	for (i = 0; i < count; i++) {
		s64 time = random_time(twins);

		twins->words[2 * i] = random_id(twins);
		twins->words[2 * i + 1] = time;
		twins->requests[i] = (struct hwtimer_request){
			.id = twins->words[2 * i],
			.time = time,
		};
	}
	do_both(twins, HWTIMER_OP_RESCHEDULE, count);
}

/* Does one step of a compaction, which may end in the middle of a bucket. */
static void compact_one(struct hwtimer_instance *instance)
{
	spin_lock(&instance->lock);
	if (!hwtimer_instance_new(instance))
		hwtimer_wheel_compact(&instance->wheel, true);
	spin_unlock(&instance->lock);
}

static void turn(struct twins *twins, u64 delay)
{
	u64 begin = fake_now;

	fake_turn_until(twins->bulk, begin + delay);
	fake_now = begin;
	fake_turn_until(twins->single, begin + delay);
}

static void set_back(struct twins *twins)
{
	fake_now -= random_below(&twins->state, NSEC_PER_SEC);
	hwtimer_turn_chores(&twins->bulk->job.chores);
	hwtimer_turn_chores(&twins->single->job.chores);
}

static void compare_events(struct twins *twins)
{
	struct hwtimer_event ours, theirs;

	while (fake_read(twins->bulk, &ours)) {
		KUNIT_ASSERT_EQ(twins->test, fake_read(twins->single, &theirs),
				1);
		KUNIT_ASSERT_EQ(twins->test, ours.user_data, theirs.user_data);
		KUNIT_ASSERT_EQ(twins->test, ours.id, theirs.id);
		KUNIT_ASSERT_EQ(twins->test, ours.deadline, theirs.deadline);
		twins->expired++;
	}
	KUNIT_ASSERT_EQ(twins->test, fake_read(twins->single, &theirs), 0);
}

/*
 * Has both wheels follow the clock with the next operation, or neither. Where a timer goes whose
 * deadline has passed depends on that, and jiffies know nothing of the fake clock.
 */
static void follow_both(struct twins *twins)
{
	u64 at = random_below(&twins->state, 2) ? 0 : MAX_JIFFY_OFFSET;

	twins->bulk->wakeup.follow_at = at;
	twins->single->wakeup.follow_at = at;
}

static void do_something(struct twins *twins, bool settable)
{
	u32 count = 1 + random_below(&twins->state, HWTIMER_HOLD);

	follow_both(twins);
	switch (random_below(&twins->state, 10)) {
	case 0 ... 3:
		schedule_both(twins, count);
		break;
	case 4:
		cancel_both(twins, count);
		break;
	case 5:
		reschedule_both(twins, count);
		break;
	case 6:
		compact_one(twins->bulk);
		compact_one(twins->single);
		break;
	case 7:
		if (settable)
			set_back(twins);
		break;
	default:
		turn(twins, random_below(&twins->state, NSEC_PER_SEC));
		/* Sometimes events wait when timers are cancelled. */
		if (random_below(&twins->state, 3))
			compare_events(twins);
	}
}

/*
 * Whether all kinds of results have come that random operations lead to, and so many events that
 * they show something.
 */
static bool seen_all(const struct twins *twins)
{
	return twins->slackened && twins->waiting &&
	       twins->expired > twins->timers / 4;
}

static void do_much(struct kunit *test, bool settable)
{
	struct twins *twins = twins_create(test, settable);
	u32 i, least = hwtimer_test_scaled(ROUNDS);

	/* A few operations may miss what many do not. */
	for (i = 0; i < least || (i < ROUNDS_MAX && !seen_all(twins)); i++)
		do_something(twins, settable);
	turn(twins, 2 * FAR);
	compare_events(twins);
	KUNIT_EXPECT_TRUE(test, seen_all(twins));
	twins_destroy(twins);
}

static void bulks_do_what_requests_do(struct kunit *test)
{
	do_much(test, false);
}

static void bulks_do_so_while_the_clock_is_set_back(struct kunit *test)
{
	do_much(test, true);
}

/* Schedules timers with a slack and any time. Each has the result @result; 0: it has begun. */
static void expect_slack_results(struct kunit *test,
				 struct hwtimer_instance *instance, int result)
{
	static const s64 times[] = { S64_MIN, -1, 0, 1, FAKE_HOUR, S64_MAX };
	static const u64 slacks[] = { 1, FAKE_HOUR, S64_MAX };
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		for (j = 0; j < ARRAY_SIZE(slacks); j++) {
			const struct hwtimer_bulk bulk = {
				.op = HWTIMER_OP_SCHEDULE,
				.slack = slacks[j],
			};
			u64 words[2] = { 0, times[i] };
			int err = hwtimer_bulk_run(instance, &bulk, words, 1);

			KUNIT_ASSERT_EQ(test, err, 0);
			KUNIT_EXPECT_EQ_MSG(test, min_t(s64, words[0], 0),
					    result, "time %lld, slack %llu",
					    times[i], slacks[j]);
		}
	}
}

/* Any slack goes with any time; only the instance can refuse it. */
static void only_the_instance_refuses_a_slack(struct kunit *test)
{
	struct hwtimer_instance *instance = fake_create(LIMIT);

	KUNIT_ASSERT_NOT_NULL(test, instance);
	KUNIT_ASSERT_EQ(test, hwtimer_start_instance(instance), 0);
	/* A thread that is being killed gets no memory. */
	fake_kill();
	expect_slack_results(test, instance, -ENOMEM);
	fake_revive();
	expect_slack_results(test, instance, 0);
	hwtimer_instance_stop(instance);
	expect_slack_results(test, instance, -ESHUTDOWN);
	hwtimer_instance_destroy(instance);
}

/* Bulks as a whole, and single requests with the same flags. @delays: the clock takes delays */
static void expect_validity(struct kunit *test,
			    struct hwtimer_instance *instance, bool delays)
{
	struct hwtimer_request single = { .op = HWTIMER_OP_SCHEDULE,
					  .time = FAKE_HOUR };
	const int delay = delays ? 0 : -EINVAL;
	const struct {
		struct hwtimer_bulk bulk;
		int err;
	} some[] = {
		{ { .op = HWTIMER_OP_CANCEL }, 0 },
		{ { .op = HWTIMER_OP_CANCEL, .flags = HWTIMER_REQ_DISCARD },
		  0 },
		{ { .op = HWTIMER_OP_CANCEL, .flags = HWTIMER_REQ_ABSTIME },
		  0 },
		{ { .op = HWTIMER_OP_CANCEL, .slack = 1 }, 0 },
		{ { .op = HWTIMER_OP_CANCEL, .flags = HWTIMER_REQ_SET },
		  -EINVAL },
		{ { .op = HWTIMER_OP_SCHEDULE, .flags = HWTIMER_REQ_ABSTIME },
		  0 },
		{ { .op = HWTIMER_OP_SCHEDULE,
		    .flags = HWTIMER_REQ_ABSTIME | HWTIMER_REQ_DISCARD },
		  0 },
		{ { .op = HWTIMER_OP_SCHEDULE,
		    .flags = HWTIMER_REQ_ABSTIME | HWTIMER_REQ_FIXED_DELAY },
		  -EINVAL },
		{ { .op = HWTIMER_OP_SCHEDULE }, delay },
		{ { .op = HWTIMER_OP_SCHEDULE, .flags = HWTIMER_REQ_DISCARD },
		  delay },
		{ { .op = HWTIMER_OP_SCHEDULE,
		    .flags = HWTIMER_REQ_ABSTIME,
		    .slack = S64_MAX },
		  0 },
		{ { .op = HWTIMER_OP_SCHEDULE,
		    .flags = HWTIMER_REQ_ABSTIME,
		    .slack = 1ULL << 63 },
		  -EINVAL },
		{ { .op = HWTIMER_OP_RESCHEDULE, .flags = HWTIMER_REQ_ABSTIME },
		  0 },
		{ { .op = HWTIMER_OP_RESCHEDULE,
		    .flags = HWTIMER_REQ_ABSTIME | HWTIMER_REQ_DISCARD },
		  0 },
		{ { .op = HWTIMER_OP_RESCHEDULE,
		    .flags = HWTIMER_REQ_ABSTIME,
		    .slack = 1 },
		  0 },
		{ { .op = HWTIMER_OP_RESCHEDULE,
		    .flags = HWTIMER_REQ_SET,
		    .slack = 1 },
		  -EINVAL },
		{ { .op = HWTIMER_OP_RESCHEDULE,
		    .flags = HWTIMER_REQ_ABSTIME | HWTIMER_REQ_REARM },
		  -EINVAL },
		{ { .op = HWTIMER_OP_RESCHEDULE }, delay },
		{ { .op = 0 }, -EINVAL },
		{ { .op = 0, .flags = HWTIMER_REQ_ABSTIME }, -EINVAL },
		{ { .op = HWTIMER_OP_RESCHEDULE + 1,
		    .flags = HWTIMER_REQ_ABSTIME },
		  -EINVAL },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(some); i++) {
		const struct hwtimer_bulk *bulk = &some[i].bulk;
		u64 words[2] = { 0, FAKE_START + FAKE_HOUR };

		KUNIT_EXPECT_EQ_MSG(test, hwtimer_bulk_check(instance, bulk),
				    some[i].err, "bulk %u", i);
		KUNIT_EXPECT_EQ_MSG(test,
				    hwtimer_bulk_run(instance, bulk, words, 1),
				    some[i].err, "bulk %u", i);
	}
	KUNIT_EXPECT_EQ(test, fake_run(instance, &single), delay);
}

/* What needs a timer finds none, and does not start the instance. */
static void expect_no_timer(struct kunit *test,
			    struct hwtimer_instance *instance, u32 op)
{
	const struct hwtimer_bulk bulk = { .op = op };
	u64 words[] = { 0, 1, 1ULL << 32 | 1, U64_MAX };
	u32 i, count = ARRAY_SIZE(words) / (op == HWTIMER_OP_CANCEL ? 1 : 2);

	KUNIT_EXPECT_EQ(test, hwtimer_bulk_run(instance, &bulk, words, count),
			0);
	for (i = 0; i < count; i++)
		KUNIT_EXPECT_EQ(test, (s64)words[i], -ENOENT);
	KUNIT_EXPECT_TRUE(test, hwtimer_instance_new(instance));
}

static void bulks_find_no_timer(struct kunit *test)
{
	struct hwtimer_instance *instance = fake_create(LIMIT);

	KUNIT_ASSERT_NOT_NULL(test, instance);
	expect_no_timer(test, instance, HWTIMER_OP_CANCEL);
	expect_no_timer(test, instance, HWTIMER_OP_RESCHEDULE);
	hwtimer_instance_destroy(instance);
}

static void bulks_are_valid_or_refused(struct kunit *test)
{
	struct hwtimer_instance *instance = fake_create(LIMIT);

	KUNIT_ASSERT_NOT_NULL(test, instance);
	expect_validity(test, instance, true);
	KUNIT_ASSERT_FALSE(test, hwtimer_instance_new(instance));
	expect_validity(test, instance, true);
	fake_settable(instance);
	expect_validity(test, instance, false);
	hwtimer_instance_destroy(instance);
}

static struct kunit_case bulk_test_cases[] = {
	KUNIT_CASE(bulks_do_what_requests_do),
	KUNIT_CASE(bulks_do_so_while_the_clock_is_set_back),
	KUNIT_CASE(only_the_instance_refuses_a_slack),
	KUNIT_CASE(bulks_find_no_timer),
	KUNIT_CASE(bulks_are_valid_or_refused),
	{}
};

static struct kunit_suite bulk_test_suite = {
	.name = "hwtimer_bulk",
	.test_cases = bulk_test_cases,
};

kunit_test_suite(bulk_test_suite);
