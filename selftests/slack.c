// SPDX-License-Identifier: GPL-2.0
/*
 * Slack: how late a timer may be, so that it shares a wake-up with others. Slack makes no
 * timer early, and changes neither deadline nor phase; the worker turns less often; slack
 * that makes no sense is refused.
 */
#include "hwtimer_test.h"

FIXTURE(slack)
{
	int fd;
};

FIXTURE_VARIANT(slack)
{
	__u32 kind;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(slack, hashed)
{
	.kind = HWTIMER_KIND_HASHED,
};

FIXTURE_VARIANT_ADD(slack, hierarchical)
{
	.kind = HWTIMER_KIND_HIERARCHICAL,
};

/* clang-format on */

/* Opens an instance with a wheel of this kind; returns the descriptor or -errno. */
static int open_kind(__u32 kind)
{
	struct hwtimer_setup setup = {
		.kind = kind,
		.clock = CLOCK_MONOTONIC,
	};
	int fd = dev_open(O_NONBLOCK);

	return fd < 0 ? fd : dev_setup_as(fd, setup) ?: fd;
}

FIXTURE_SETUP(slack)
{
	self->fd = open_kind(variant->kind);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(slack)
{
	expect_close(_metadata, self->fd);
}

TEST_F(slack, comes_with_its_own_deadline_and_never_early)
{
	__u64 deadlines[50], base = now_ns() + 50 * MS;
	bool came[50] = { false };

	for (unsigned int i = 0; i < 50; i++) {
		deadlines[i] = base + i * 37 % 50 * (3 * MS + 7);
		ASSERT_NE(0,
			  dev_add(self->fd, (struct hwtimer_request){
						    .flags = HWTIMER_ABSOLUTE,
						    .time = deadlines[i],
						    .slack = i * MS,
						    .user_data = i,
					    }));
	}
	for (unsigned int i = 0; i < 50; i++) {
		struct hwtimer_event event;

		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		expect_due(_metadata, &event);
		ASSERT_GT(50, event.user_data);
		EXPECT_FALSE(came[event.user_data]);
		came[event.user_data] = true;
		EXPECT_EQ(deadlines[event.user_data], event.deadline);
	}
}

#define SHARED 50

/* Returns how often the worker turns for timers that are 4 ms apart. */
static __u64 turns_with(struct __test_metadata *_metadata, __u32 kind,
			__u64 slack)
{
	struct hwtimer_request requests[SHARED];
	struct hwtimer_event events[SHARED];
	int fd = open_kind(kind);
	__u64 turns;

	ASSERT_LE(0, fd);
	fill_schedules(requests, SHARED, HWTIMER_ABSOLUTE, now_ns(), 0);
	for (unsigned int i = 0; i < SHARED; i++) {
		requests[i].time += 30 * MS + i * 4 * MS;
		requests[i].slack = slack;
	}
	ASSERT_EQ(SHARED, dev_submit(fd, requests, SHARED));
	ASSERT_EQ(SHARED, dev_collect(fd, events, SHARED));
	for (unsigned int i = 0; i < SHARED; i++)
		expect_due(_metadata, &events[i]);
	turns = stats_of(fd).turns;
	ASSERT_EQ(0, close(fd));
	return turns;
}

/*
 * The same timers, with and without slack. A machine may be too busy to turn for each
 * timer without slack; then the test tries again.
 */
TEST_F(slack, timers_share_wakeups)
{
	__u64 without = 0, with = 0;

	for (unsigned int i = 0; i < 10 && without < SHARED / 2; i++)
		without = turns_with(_metadata, variant->kind, 0);
	if (without < SHARED / 2)
		SKIP(return, "the machine is too busy to turn for each timer");
	with = turns_with(_metadata, variant->kind, 100 * MS);
	TH_LOG("%llu turns without, %llu with slack", without, with);
	EXPECT_LT(0, with);
	EXPECT_LT(with, without / 2);
}

TEST_F(slack, without_it_beside_those_that_have_it)
{
	struct hwtimer_event event;
	unsigned int strict = 0;

	/* Timers with slack may wait, and do not delay the others. */
	for (unsigned int i = 0; i < 20; i++) {
		ASSERT_NE(0, dev_add(self->fd, (struct hwtimer_request){
						       .time = HOUR,
						       .slack = HOUR,
						       .user_data = 1,
					       }));
		ASSERT_NE(0, dev_after(self->fd, i * MS, 0));
	}
	while (strict < 20) {
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		EXPECT_EQ(0, event.user_data);
		strict++;
	}
	EXPECT_EQ(20, stats_of(self->fd).pending);
}

/* Returns a timer's slack as QUERY reports it. */
static __u64 slack_of(struct __test_metadata *_metadata, int fd, __u64 id)
{
	return query_of(_metadata, fd, id).slack;
}

TEST_F(slack, query_tells_no_more_than_was_scheduled)
{
	const __u64 slacks[] = { 0,	   1,	   999 * US, MS,  MS + 1,
				 2 * MS,   7 * MS, 100 * MS, SEC, MS << 20,
				 HOUR - 1, HOUR,   24 * HOUR };

	for (unsigned int i = 0; i < ARRAY_SIZE(slacks); i++) {
		__u64 id = dev_add(self->fd, (struct hwtimer_request){
						     .time = 24 * HOUR,
						     .slack = slacks[i],
					     });

		ASSERT_NE(0, id);
		EXPECT_GE(slacks[i], slack_of(_metadata, self->fd, id))
		{
			TH_LOG("slack %llu", slacks[i]);
		}
	}
}

TEST_F(slack, query_after_expiration)
{
	struct hwtimer_query query;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .time = 20 * MS,
				       .slack = 20 * MS,
			       });
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, dev_query(self->fd, id, &query));
	EXPECT_EQ(HWTIMER_STATE_EXPIRED, query.state);
	EXPECT_GE(20 * MS, query.slack);
	EXPECT_EQ(0, query.remaining);
}

/* After its deadline a timer with slack may still be pending; its remaining time is 0. */
TEST_F(slack, query_between_deadline_and_expiration)
{
	struct hwtimer_query query;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_ABSOLUTE,
				       .time = now_ns() - MS,
				       .slack = 10 * MS,
			       });
	ASSERT_NE(0, id);
	ASSERT_EQ(0, dev_query(self->fd, id, &query));
	EXPECT_EQ(0, query.remaining);
	ASSERT_EQ(1, dev_discard_events(self->fd, 1));
}

TEST_F(slack, stop_tells_the_same_as_query)
{
	struct hwtimer_unprocessed timer;
	__u64 id, slack;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .time = HOUR,
				       .interval = HOUR,
				       .slack = SEC,
			       });
	ASSERT_NE(0, id);
	slack = slack_of(_metadata, self->fd, id);
	EXPECT_GE(SEC, slack);
	ASSERT_EQ(1, dev_stop(self->fd, &timer, 1, NULL));
	EXPECT_EQ(slack, timer.slack);
	EXPECT_EQ(HOUR, timer.interval);
}

TEST_F(slack, no_longer_than_the_delay)
{
	struct hwtimer_request request = { .time = 10 * MS };

	request.slack = 10 * MS;
	EXPECT_EQ(0, dev_try(self->fd, request));
	request.slack = 10 * MS + 1;
	EXPECT_EQ(-EDOM, dev_try(self->fd, request));
	request.slack = INT64_MAX;
	EXPECT_EQ(-EDOM, dev_try(self->fd, request));
	request.slack = UINT64_MAX;
	EXPECT_EQ(-EDOM, dev_try(self->fd, request));
	request.time = INT64_MAX;
	EXPECT_EQ(-EDOM, dev_try(self->fd, request));
	request.slack = INT64_MAX + 1ULL;
	EXPECT_EQ(-EDOM, dev_try(self->fd, request));
	EXPECT_EQ(1, stats_of(self->fd).scheduled);
}

TEST_F(slack, there_is_none_in_no_delay)
{
	const __u64 times[] = { 0, -2ULL, -HOUR, 1ULL << 63 };

	for (unsigned int i = 0; i < ARRAY_SIZE(times); i++) {
		struct hwtimer_request request = {
			.time = times[i],
			.slack = 1,
		};

		EXPECT_EQ(-EDOM, dev_try(self->fd, request));
		request.slack = 0;
		EXPECT_EQ(0, dev_try(self->fd, request));
	}
	EXPECT_EQ(ARRAY_SIZE(times),
		  dev_discard_events(self->fd, ARRAY_SIZE(times)));
}

TEST_F(slack, no_longer_than_the_deadline)
{
	struct hwtimer_request request = { .flags = HWTIMER_ABSOLUTE };

	request.time = 1000;
	request.slack = 1000;
	EXPECT_EQ(0, dev_try(self->fd, request));
	request.slack = 1001;
	EXPECT_EQ(-EDOM, dev_try(self->fd, request));
	request.time = now_ns() + HOUR;
	request.slack = request.time + 1;
	EXPECT_EQ(-EDOM, dev_try(self->fd, request));
	request.slack = request.time;
	EXPECT_EQ(0, dev_try(self->fd, request));
	request.time = INT64_MAX;
	request.slack = UINT64_MAX;
	EXPECT_EQ(-EDOM, dev_try(self->fd, request));
	EXPECT_EQ(2, stats_of(self->fd).scheduled);
}

TEST_F(slack, there_is_none_before_the_beginning)
{
	const __u64 times[] = { 0, -2ULL, 1ULL << 63 };

	for (unsigned int i = 0; i < ARRAY_SIZE(times); i++) {
		struct hwtimer_request request = {
			.flags = HWTIMER_ABSOLUTE,
			.time = times[i],
			.slack = 1,
		};

		EXPECT_EQ(-EDOM, dev_try(self->fd, request));
	}
	EXPECT_EQ(0, stats_of(self->fd).scheduled);
}

TEST_F(slack, no_longer_than_the_interval)
{
	struct hwtimer_request request = { .time = HOUR, .interval = SEC };

	request.slack = SEC;
	EXPECT_EQ(0, dev_try(self->fd, request));
	request.slack = SEC + 1;
	EXPECT_EQ(-EDOM, dev_try(self->fd, request));
	request.flags = HWTIMER_FIXED_DELAY;
	EXPECT_EQ(-EDOM, dev_try(self->fd, request));
	request.slack = SEC;
	EXPECT_EQ(0, dev_try(self->fd, request));
	request.flags = HWTIMER_ABSOLUTE;
	request.time = now_ns() + HOUR;
	request.slack = SEC + 1;
	EXPECT_EQ(-EDOM, dev_try(self->fd, request));
	/* Nor longer than the first delay, if that is shorter than the interval. */
	request = (struct hwtimer_request){
		.time = MS,
		.interval = SEC,
		.slack = MS + 1,
	};
	EXPECT_EQ(-EDOM, dev_try(self->fd, request));
	EXPECT_EQ(2, stats_of(self->fd).scheduled);
}

/*
 * A timer for HWTIMER_NEVER may have any slack, up to its interval if it has one, and can
 * be rescheduled.
 */
TEST_F(slack, of_what_never_comes)
{
	struct hwtimer_request request = {
		.flags = HWTIMER_ABSOLUTE,
		.time = HWTIMER_NEVER,
		.slack = LLONG_MAX,
	};
	struct hwtimer_event event;
	__u64 id, deadline;

	EXPECT_EQ(0, dev_try(self->fd, request));
	request.slack++;
	EXPECT_EQ(-EDOM, dev_try(self->fd, request));
	request.interval = HOUR;
	EXPECT_EQ(-EDOM, dev_try(self->fd, request));
	request.slack = HOUR;
	EXPECT_EQ(0, dev_try(self->fd, request));
	request.slack = 10 * MS;
	id = dev_add(self->fd, request);
	ASSERT_NE(0, id);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 50));
	deadline = now_ns() + 5 * MS;
	ASSERT_EQ(0, dev_reschedule(self->fd, id, HWTIMER_ABSOLUTE, deadline));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(deadline, event.deadline);
	expect_due(_metadata, &event);
}

TEST_F(slack, submit_refuses_what_schedule_refuses)
{
	struct hwtimer_request requests[4];
	struct hwtimer_stats stats;

	fill_schedules(requests, 4, 0, HOUR, 0);
	requests[0].slack = HOUR;
	requests[1].slack = HOUR + 1;
	requests[3].interval = SEC;
	requests[3].slack = SEC + 1;
	ASSERT_EQ(4, dev_submit(self->fd, requests, 4));
	EXPECT_EQ(0, requests[0].result);
	EXPECT_EQ(-EDOM, requests[1].result);
	EXPECT_EQ(0, requests[2].result);
	EXPECT_EQ(-EDOM, requests[3].result);
	stats = stats_of(self->fd);
	EXPECT_EQ(2, stats.pending);
}

/* Rescheduling keeps the slack, which may then be longer than the rest of the delay. */
TEST_F(slack, stays_when_rescheduled)
{
	struct hwtimer_event event;
	__u64 id, slack;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .time = HOUR,
				       .slack = 20 * MS,
				       .user_data = 7,
			       });
	ASSERT_NE(0, id);
	slack = slack_of(_metadata, self->fd, id);
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, 2 * HOUR));
	EXPECT_EQ(slack, slack_of(_metadata, self->fd, id));
	ASSERT_EQ(0, dev_reschedule(self->fd, id, HWTIMER_ABSOLUTE,
				    HWTIMER_NEVER));
	EXPECT_EQ(slack, slack_of(_metadata, self->fd, id));
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, 5 * MS));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	expect_due(_metadata, &event);
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(7, event.user_data);
}

TEST_F(slack, rescheduled_to_and_fro_comes_once)
{
	struct hwtimer_event event;
	__u64 id, deadline = 0;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .time = HOUR,
				       .slack = 10 * MS,
			       });
	for (unsigned int i = 0; i < 200; i++) {
		deadline = now_ns() + HOUR + i * 7919 % 200 * MS;
		ASSERT_EQ(0, dev_reschedule(self->fd, id, HWTIMER_ABSOLUTE,
					    deadline));
	}
	deadline = now_ns() + 10 * MS;
	ASSERT_EQ(0, dev_reschedule(self->fd, id, HWTIMER_ABSOLUTE, deadline));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	expect_due(_metadata, &event);
	EXPECT_EQ(deadline, event.deadline);
	sleep_ns(30 * MS);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
}

/* Until they expire, timers with slack can be cancelled; each is cancelled or comes. */
TEST_F(slack, cancelled_between_deadline_and_expiration)
{
	unsigned int n = 0, came = 0;
	struct hwtimer_event event;
	__u64 ids[50];

	for (; n < 50; n++) {
		ids[n] = dev_add(self->fd, (struct hwtimer_request){
						   .time = 20 * MS,
						   .slack = 20 * MS,
						   .user_data = n,
					   });
		ASSERT_NE(0, ids[n]);
	}
	sleep_ns(20 * MS);
	came = 50 - dev_cancel_many(self->fd, 50, ids);
	EXPECT_EQ(came, dev_discard_events(self->fd, came));
	sleep_ns(50 * MS);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

TEST_F(slack, keeps_the_phase_of_a_periodic_timer)
{
	__u64 deadline = now_ns() + 20 * MS, interval = 10 * MS;
	unsigned int total = 0;

	ASSERT_NE(0, dev_add(self->fd, (struct hwtimer_request){
					       .flags = HWTIMER_ABSOLUTE,
					       .time = deadline,
					       .interval = interval,
					       .slack = interval,
					       .count = 12,
				       }));
	while (total < 12) {
		struct hwtimer_event event;

		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		expect_not_early(_metadata, &event, CLOCK_MONOTONIC);
		EXPECT_EQ(deadline, event.deadline);
		deadline += event.expirations * interval;
		total += event.expirations;
	}
	EXPECT_EQ(12, total);
	EXPECT_LE(deadline - interval, now_ns());
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

TEST_F(slack, longest_waits)
{
	struct hwtimer_event event;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_ABSOLUTE,
				       .time = HWTIMER_NEVER,
				       .slack = INT64_MAX,
			       });
	ASSERT_NE(0, id);
	sleep_ns(20 * MS);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, 24 * HOUR));
	ASSERT_EQ(0, dev_reschedule(self->fd, id, HWTIMER_ABSOLUTE, INT64_MAX));
	sleep_ns(20 * MS);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	EXPECT_EQ(0, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

/* The end of the clock limits the slack of a delay and of a deadline. */
TEST_F(slack, no_longer_than_the_clock)
{
	struct hwtimer_request request = { .flags = 0 };

	for (unsigned int i = 0; i < 2; i++) {
		request.flags = i ? HWTIMER_ABSOLUTE : 0;
		request.time = INT64_MAX;
		request.slack = 1;
		EXPECT_EQ(-EDOM, dev_try(self->fd, request));
		request.time = INT64_MAX - HOUR;
		request.slack = HOUR + 1;
		EXPECT_EQ(-EDOM, dev_try(self->fd, request));
		request.slack = HOUR;
		EXPECT_EQ(0, dev_try(self->fd, request));
	}
	EXPECT_EQ(2, stats_of(self->fd).pending);
}

TEST_HARNESS_MAIN
