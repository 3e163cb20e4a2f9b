// SPDX-License-Identifier: GPL-2.0
/*
 * Slack: how late a timer may be, so that it shares a wake-up with others. Slack makes no
 * timer early, and changes neither deadline nor phase; the worker turns less often. It may be
 * longer than the delay and the interval.
 */
#include "hwtimer_test.h"

FIXTURE(slack)
{
	int fd;
};

FIXTURE_SETUP(slack)
{
	self->fd = dev_open(O_NONBLOCK);
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
		ASSERT_NE(0, dev_add(self->fd,
				     (struct hwtimer_request){
					     .flags = HWTIMER_REQ_ABSTIME,
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
static long long turns_with(struct __test_metadata *_metadata, __u64 slack)
{
	struct hwtimer_request requests[SHARED];
	struct hwtimer_event events[SHARED];
	int fd = dev_open(O_NONBLOCK);
	long long turns;

	ASSERT_LE(0, fd);
	fill_schedules(requests, SHARED, HWTIMER_REQ_ABSTIME, now_ns(), 0);
	for (unsigned int i = 0; i < SHARED; i++) {
		requests[i].time += 30 * MS + i * 4 * MS;
		requests[i].slack = slack;
	}
	ASSERT_EQ(SHARED, dev_submit(fd, requests, SHARED));
	ASSERT_EQ(SHARED, dev_collect(fd, events, SHARED));
	for (unsigned int i = 0; i < SHARED; i++)
		expect_due(_metadata, &events[i]);
	turns = told(fd, "turns");
	ASSERT_EQ(0, close(fd));
	return turns;
}

/*
 * The same timers, with and without slack. A machine may be too busy to turn for each
 * timer without slack; then the test tries again.
 */
TEST_F(slack, timers_share_wakeups)
{
	long long without = 0, with = 0;

	for (unsigned int i = 0; i < 10 && without < SHARED / 2; i++)
		without = turns_with(_metadata, 0);
	if (without < SHARED / 2)
		SKIP(return, "the machine is too busy to turn for each timer");
	with = turns_with(_metadata, 100 * MS);
	TH_LOG("%lld turns without, %lld with slack", without, with);
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
	struct hwtimer_timer query;
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
	struct hwtimer_timer query;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_REQ_ABSTIME,
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
	struct hwtimer_timer timer;
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

/* Expects that SCHEDULE takes each slack, and that the timer has no more than that. */
static void expect_taken(struct __test_metadata *_metadata, int fd,
			 struct hwtimer_request request)
{
	const __u64 slacks[] = { 1, SEC, HOUR, 100 * YEAR, INT64_MAX };

	for (unsigned int i = 0; i < ARRAY_SIZE(slacks); i++) {
		__u64 id;

		request.slack = slacks[i];
		id = dev_add(fd, request);
		ASSERT_NE(0, id);
		EXPECT_GE(slacks[i], slack_of(_metadata, fd, id));
		EXPECT_EQ(0, dev_cancel(fd, id, HWTIMER_REQ_DISCARD));
	}
}

/* Whatever the time and the interval are, also where the clock ends before the slack */
TEST_F(slack, may_be_longer_than_everything)
{
	const __s64 times[] = { INT64_MIN, -1,		 0,
				1,	   MS,		 INT64_MAX - 1,
				INT64_MAX, HWTIMER_NEVER };

	for (unsigned int i = 0; i < ARRAY_SIZE(times); i++) {
		struct hwtimer_request request = { .time = times[i] };

		expect_taken(_metadata, self->fd, request);
		request.flags = HWTIMER_REQ_ABSTIME;
		expect_taken(_metadata, self->fd, request);
		request.interval = MS;
		expect_taken(_metadata, self->fd, request);
		request.flags = HWTIMER_REQ_FIXED_DELAY;
		expect_taken(_metadata, self->fd, request);
	}
}

TEST_F(slack, over_int64_max_is_einval)
{
	const __u64 slacks[] = { INT64_MAX + 1ULL, UINT64_MAX };
	__u64 id = dev_after(self->fd, HOUR, 0);

	for (unsigned int i = 0; i < ARRAY_SIZE(slacks); i++) {
		struct hwtimer_request request = {
			.op = HWTIMER_OP_SCHEDULE,
			.time = HOUR,
			.slack = slacks[i],
		};
		struct hwtimer_bulk_timer timer = { .time = HOUR };
		__u64 result;
		struct hwtimer_bulk bulk = {
			.op = HWTIMER_OP_SCHEDULE,
			.timers = (uintptr_t)&timer,
			.results = (uintptr_t)&result,
			.slack = slacks[i],
			.count = 1,
		};

		EXPECT_EQ(-EINVAL, dev_try(self->fd, request));
		ASSERT_EQ(1, dev_submit(self->fd, &request, 1));
		EXPECT_EQ(-EINVAL, request.result);
		EXPECT_EQ(-EINVAL,
			  dev_ioctl(self->fd, HWTIMER_IOC_BULK, &bulk));
		request.id = id;
		request.flags = HWTIMER_REQ_SET;
		EXPECT_EQ(-EINVAL, dev_ioctl(self->fd, HWTIMER_IOC_RESCHEDULE,
					     &request));
	}
	EXPECT_EQ(1, stats_of(self->fd).scheduled);
	EXPECT_EQ(0, stats_of(self->fd).rescheduled);
}

/*
 * Slack that is longer than the delay is slack all the same: of many timers that are due soon,
 * most wait for a common moment, and each comes.
 */
TEST_F(slack, longer_than_the_delay_shares_wakeups)
{
	struct hwtimer_request requests[SHARED];
	struct hwtimer_event event;
	unsigned int late = 0;

	fill_schedules(requests, SHARED, 0, MS, 0);
	for (unsigned int i = 0; i < SHARED; i++) {
		requests[i].time += i * 4 * MS;
		requests[i].slack = SEC;
	}
	ASSERT_EQ(SHARED, dev_submit(self->fd, requests, SHARED));
	for (unsigned int i = 0; i < SHARED; i++) {
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		expect_due(_metadata, &event);
		late += event.lateness > 2 * MS;
	}
	TH_LOG("%u of %u came later than a tick", late, SHARED);
	EXPECT_LT(SHARED / 2, late);
}

/* Reads all @n expirations of a periodic timer: they are in phase, and none is early or lost. */
static void expect_phase(struct __test_metadata *_metadata, int fd,
			 __u64 interval, __u64 slack, unsigned int n)
{
	__u64 deadline = now_ns() + 2 * interval;
	unsigned int total = 0;

	ASSERT_NE(0, dev_add(fd, (struct hwtimer_request){
					 .flags = HWTIMER_REQ_ABSTIME,
					 .time = deadline,
					 .interval = interval,
					 .slack = slack,
					 .expirations_max = n,
				 }));
	while (total < n) {
		struct hwtimer_event event;

		ASSERT_EQ(1, dev_collect(fd, &event, 1));
		expect_not_early(_metadata, &event, CLOCK_MONOTONIC);
		EXPECT_EQ(deadline, event.deadline);
		deadline += event.expirations * interval;
		total += event.expirations;
	}
	EXPECT_EQ(n, total);
	EXPECT_LE(deadline - interval, now_ns());
	EXPECT_EQ(0, stats_of(fd).pending);
}

TEST_F(slack, keeps_the_phase_of_a_periodic_timer)
{
	expect_phase(_metadata, self->fd, 10 * MS, 10 * MS, 12);
}

/* An event then reports several expirations. */
TEST_F(slack, longer_than_the_interval_loses_no_expiration)
{
	expect_phase(_metadata, self->fd, 5 * MS, 100 * MS, 60);
}

/* A timer for HWTIMER_NEVER keeps its slack for the time when it is rescheduled. */
TEST_F(slack, of_what_never_comes)
{
	struct hwtimer_request request = {
		.flags = HWTIMER_REQ_ABSTIME,
		.time = HWTIMER_NEVER,
		.slack = 10 * MS,
	};
	struct hwtimer_event event;
	__u64 id, deadline;

	id = dev_add(self->fd, request);
	ASSERT_NE(0, id);
	EXPECT_EQ(0, dev_poll(self->fd, POLLIN, 50));
	deadline = now_ns() + 5 * MS;
	ASSERT_EQ(0,
		  dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME, deadline));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(deadline, event.deadline);
	expect_due(_metadata, &event);
}

/* Rescheduling keeps the slack. */
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
	ASSERT_EQ(0, dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME,
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
		ASSERT_EQ(0, dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME,
					    deadline));
	}
	deadline = now_ns() + 10 * MS;
	ASSERT_EQ(0,
		  dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME, deadline));
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

TEST_F(slack, longest_waits)
{
	struct hwtimer_event event;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_REQ_ABSTIME,
				       .time = HWTIMER_NEVER,
				       .slack = INT64_MAX,
			       });
	ASSERT_NE(0, id);
	sleep_ns(20 * MS);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, 24 * HOUR));
	ASSERT_EQ(0, dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME,
				    INT64_MAX - 1));
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, 0));
	sleep_ns(20 * MS);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	/* It does not hold up others. */
	ASSERT_NE(0, dev_after(self->fd, MS, 7));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(7, event.user_data);
	EXPECT_EQ(0, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

TEST_HARNESS_MAIN
