// SPDX-License-Identifier: GPL-2.0
/*
 * Periodic timers. At a fixed rate no expiration is lost and no phase drifts, however
 * slowly the events are read. With a fixed delay the next period counts from the read. A
 * limited count is exact. The tests also check what every call does with a periodic timer
 * that is pending, expired with its event unread, or ended.
 */
#include "hwtimer_test.h"

#define INTERVAL (5 * MS)

/* Returns how many deadlines, @interval apart from @first on, have passed at @time. */
static __u64 due_at(__u64 time, __u64 first, __u64 interval)
{
	return time < first ? 0 : (time - first) / interval + 1;
}

/* Expects that the events report each deadline once, without a gap, and none early. */
static void expect_chain(struct __test_metadata *_metadata,
			 const struct hwtimer_event *events, unsigned int n,
			 __u64 first, __u64 interval)
{
	__u64 deadline = first, now = now_ns();

	for (unsigned int i = 0; i < n; i++) {
		EXPECT_EQ(deadline, events[i].deadline);
		EXPECT_LE(1, events[i].expirations);
		deadline += events[i].expirations * interval;
	}
	EXPECT_LE(deadline - interval, now);
}

/* Reads a ready event and expects a plausible number of expirations. */
static struct hwtimer_event read_event(struct __test_metadata *_metadata,
				       int fd, __u64 interval)
{
	__u64 before = now_ns(), after;
	struct hwtimer_event event;

	ASSERT_EQ(1, dev_read(fd, &event, 1));
	after = now_ns();
	EXPECT_LE(due_at(before, event.deadline, interval), event.expirations);
	EXPECT_GE(due_at(after, event.deadline, interval), event.expirations);
	return event;
}

/* Expects that no call finds the timer any more. */
static void expect_ended(struct __test_metadata *_metadata, int fd, __u64 id)
{
	struct hwtimer_timer query;
	struct hwtimer_stats stats = stats_of(fd);

	EXPECT_EQ(0, stats.pending);
	EXPECT_EQ(0, stats.ready);
	EXPECT_EQ(-ENOENT, dev_query(fd, id, &query));
	EXPECT_EQ(-ENOENT, dev_cancel(fd, id, 0));
	EXPECT_EQ(-ENOENT, dev_cancel(fd, id, HWTIMER_REQ_DISCARD));
}

TEST_F(hwtimer, comes_again_and_again_with_the_same_id)
{
	__u64 id = dev_every(self->fd, INTERVAL, INTERVAL, 42);
	struct hwtimer_event events[10];

	ASSERT_NE(0, id);
	for (unsigned int i = 0; i < 10; i++) {
		ASSERT_EQ(1, dev_collect(self->fd, &events[i], 1));
		expect_not_early(_metadata, &events[i], CLOCK_MONOTONIC);
		EXPECT_EQ(id, events[i].id);
		EXPECT_EQ(42, events[i].user_data);
	}
	expect_chain(_metadata, events, 10, events[0].deadline, INTERVAL);
}

TEST_F(hwtimer, first_deadline_and_interval_differ)
{
	__u64 first = now_ns() + 30 * MS + 123457, interval = 7 * MS + 11;
	struct hwtimer_event events[5];

	ASSERT_NE(0, dev_add(self->fd, (struct hwtimer_request){
					       .flags = HWTIMER_REQ_ABSTIME,
					       .time = first,
					       .interval = interval,
				       }));
	for (unsigned int i = 0; i < 5; i++)
		ASSERT_EQ(1, dev_collect(self->fd, &events[i], 1));
	expect_chain(_metadata, events, 5, first, interval);
}

TEST_F(hwtimer, interval_need_not_be_whole_ticks)
{
	__u64 first = now_ns() + 10 * MS, interval = 10 * MS + 1;
	struct hwtimer_event events[6];

	ASSERT_EQ(0, dev_setup(self->fd, 10 * MS, 8, 0));
	ASSERT_NE(0, dev_add(self->fd, (struct hwtimer_request){
					       .flags = HWTIMER_REQ_ABSTIME,
					       .time = first,
					       .interval = interval,
				       }));
	for (unsigned int i = 0; i < 6; i++) {
		ASSERT_EQ(1, dev_collect(self->fd, &events[i], 1));
		expect_not_early(_metadata, &events[i], CLOCK_MONOTONIC);
	}
	expect_chain(_metadata, events, 6, first, interval);
}

TEST_F(hwtimer, finest_tick_and_shortest_interval)
{
	struct hwtimer_event events[300];

	ASSERT_EQ(0, dev_setup(self->fd, 10 * US, 64, 0));
	ASSERT_NE(0, dev_every(self->fd, MS, 10 * US, 0));
	for (unsigned int i = 0; i < 300; i++)
		ASSERT_EQ(1, dev_collect(self->fd, &events[i], 1));
	expect_chain(_metadata, events, 300, events[0].deadline, 10 * US);
}

TEST_F(hwtimer, counters_follow_a_periodic_timer)
{
	struct hwtimer_event event;
	struct hwtimer_stats stats;
	__u64 missed = 0;

	ASSERT_NE(0, dev_every(self->fd, 0, HOUR, 0));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	stats = stats_of(self->fd);
	EXPECT_EQ(1, stats.scheduled);
	EXPECT_EQ(1, stats.expired);
	EXPECT_EQ(1, stats.delivered);
	EXPECT_EQ(1, stats.rearmed);
	EXPECT_EQ(1, stats.pending);
	EXPECT_EQ(0, stats.missed);
	ASSERT_NE(0, dev_every(self->fd, 0, INTERVAL, 0));
	for (unsigned int i = 0; i < 5; i++) {
		ASSERT_TRUE(dev_wait_ready(self->fd, 1));
		sleep_ns(i * INTERVAL);
		event = read_event(_metadata, self->fd, INTERVAL);
		missed += event.expirations - 1;
	}
	stats = stats_of(self->fd);
	EXPECT_EQ(2, stats.scheduled);
	EXPECT_EQ(6, stats.delivered);
	EXPECT_EQ(6, stats.rearmed);
	EXPECT_EQ(missed, stats.missed);
	EXPECT_LE(1 + 2 + 3 + 4, missed);
}

TEST_F(hwtimer, slow_reader_is_told_of_all_expirations_at_once)
{
	__u64 id = dev_every(self->fd, 0, INTERVAL, 0);
	struct hwtimer_event event;

	ASSERT_NE(0, id);
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	sleep_ns(12 * INTERVAL);
	event = read_event(_metadata, self->fd, INTERVAL);
	EXPECT_LE(13, event.expirations);
	EXPECT_EQ(event.deadline + event.expirations * INTERVAL,
		  query_of(_metadata, self->fd, id).deadline);
}

TEST_F(hwtimer, slow_reader_finds_one_event)
{
	struct hwtimer_event event;
	struct hwtimer_stats stats;

	ASSERT_NE(0, dev_every(self->fd, 0, MS, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	sleep_ns(50 * MS);
	stats = stats_of(self->fd);
	EXPECT_EQ(1, stats.ready);
	EXPECT_EQ(1, stats.expired);
	EXPECT_EQ(0, stats.pending);
	EXPECT_EQ(0, stats.rearmed);
	/*
	 * Read one: with room for more, the timer might expire again before read() ends.
	 */
	EXPECT_EQ(1, dev_read(self->fd, &event, 1));
}

TEST_F(hwtimer, deadlines_that_had_passed_are_counted)
{
	__u64 first = now_ns() - 100 * MS, interval = 10 * MS;
	struct hwtimer_event event;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_REQ_ABSTIME,
				       .time = first,
				       .interval = interval,
			       });
	ASSERT_NE(0, id);
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	event = read_event(_metadata, self->fd, interval);
	EXPECT_EQ(first, event.deadline);
	EXPECT_LE(11, event.expirations);
	EXPECT_EQ(first + event.expirations * interval,
		  query_of(_metadata, self->fd, id).deadline);
}

TEST_F(hwtimer, negative_first_deadline_is_0)
{
	const __u64 times[] = { 0, -5ULL, 1ULL << 63 };

	for (unsigned int i = 0; i < ARRAY_SIZE(times); i++) {
		struct hwtimer_event event;
		__u64 id;

		id = dev_add(self->fd, (struct hwtimer_request){
					       .flags = HWTIMER_REQ_ABSTIME,
					       .time = times[i],
					       .interval = SEC,
				       });
		ASSERT_NE(0, id);
		ASSERT_TRUE(dev_wait_ready(self->fd, 1));
		event = read_event(_metadata, self->fd, SEC);
		EXPECT_EQ(0, event.deadline);
		EXPECT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
	}
}

TEST_F(hwtimer, negative_delay_begins_now)
{
	struct hwtimer_event event;
	__u64 before, after;

	before = now_ns();
	ASSERT_NE(0, dev_every(self->fd, -HOUR, HOUR, 0));
	after = now_ns();
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(1, event.expirations);
	EXPECT_LE(before, event.deadline);
	EXPECT_GE(after, event.deadline);
}

TEST_F(hwtimer, longest_interval_waits)
{
	__u64 id = dev_every(self->fd, 0, INT64_MAX, 0);
	struct hwtimer_event event;
	struct hwtimer_timer query;

	ASSERT_NE(0, id);
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(1, event.expirations);
	query = query_of(_metadata, self->fd, id);
	EXPECT_EQ(HWTIMER_STATE_PENDING, query.state);
	EXPECT_EQ(HWTIMER_NEVER, query.remaining);
	EXPECT_EQ(INT64_MAX, query.interval);
	sleep_ns(20 * MS);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	EXPECT_EQ(0, dev_cancel(self->fd, id, 0));
}

TEST_F(hwtimer, interval_over_int64_max_is_einval)
{
	const __u64 intervals[] = { INT64_MAX + 1ULL, UINT64_MAX };

	for (unsigned int i = 0; i < ARRAY_SIZE(intervals); i++) {
		struct hwtimer_request request = {
			.time = HOUR,
			.interval = intervals[i],
		};

		EXPECT_EQ(-EINVAL, dev_try(self->fd, request));
		request.flags = HWTIMER_REQ_FIXED_DELAY;
		EXPECT_EQ(-EINVAL, dev_try(self->fd, request));
		request.expirations_max = 3;
		EXPECT_EQ(-EINVAL, dev_try(self->fd, request));
		request.flags = HWTIMER_REQ_ABSTIME;
		EXPECT_EQ(-EINVAL, dev_try(self->fd, request));
	}
	EXPECT_EQ(0, stats_of(self->fd).scheduled);
}

#define COARSE (10 * MS)

/* Two events are a tick apart, or more, so they report all deadlines of that time. */
TEST_F(hwtimer, interval_shorter_than_a_tick_reports_several_expirations)
{
	const __u64 intervals[] = { 1, 7 * US + 1, COARSE / 10, COARSE - 1 };
	struct hwtimer_event events[10];

	ASSERT_EQ(0, dev_setup(self->fd, COARSE, 0, 0));
	for (unsigned int i = 0; i < ARRAY_SIZE(intervals); i++) {
		__u64 id = dev_every(self->fd, 0, intervals[i], 0), total = 0;

		ASSERT_NE(0, id);
		for (unsigned int j = 0; j < 10; j++) {
			ASSERT_EQ(1, dev_collect(self->fd, &events[j], 1));
			total += events[j].expirations;
		}
		expect_chain(_metadata, events, 10, events[0].deadline,
			     intervals[i]);
		EXPECT_LE(8 * COARSE / intervals[i], total);
		EXPECT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
	}
}

TEST_F(hwtimer, interval_shorter_than_a_tick_with_a_limit)
{
	unsigned int total = 0, n = 0;
	struct hwtimer_event event;
	__u64 id;

	ASSERT_EQ(0, dev_setup(self->fd, COARSE, 0, 0));
	id = dev_add(self->fd, (struct hwtimer_request){
				       .interval = MS,
				       .expirations_max = 45,
			       });
	ASSERT_NE(0, id);
	for (; total < 45; n++) {
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		total += event.expirations;
	}
	EXPECT_EQ(45, total);
	EXPECT_GE(6, n);
	expect_ended(_metadata, self->fd, id);
}

/* With a fixed delay, an event is one expiration, and the next is a tick later, or more. */
TEST_F(hwtimer, fixed_delay_shorter_than_a_tick)
{
	struct hwtimer_event event;
	__u64 begin = now_ns();

	ASSERT_EQ(0, dev_setup(self->fd, COARSE, 0, 0));
	ASSERT_NE(0, dev_add(self->fd, (struct hwtimer_request){
					       .flags = HWTIMER_REQ_FIXED_DELAY,
					       .interval = 1,
				       }));
	for (unsigned int i = 0; i < 6; i++) {
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		EXPECT_EQ(1, event.expirations);
	}
	EXPECT_LE(begin + 4 * COARSE, now_ns());
}

TEST_F(hwtimer, limited_timer_read_at_once_comes_so_many_times)
{
	struct hwtimer_event events[7];
	unsigned int total = 0, n = 0;
	struct hwtimer_stats stats;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .time = MS,
				       .interval = 2 * MS,
				       .expirations_max = 7,
			       });
	ASSERT_NE(0, id);
	while (total < 7) {
		ASSERT_EQ(1, dev_collect(self->fd, &events[n], 1));
		total += events[n++].expirations;
		ASSERT_LE(n, total);
	}
	EXPECT_EQ(7, total);
	expect_chain(_metadata, events, n, events[0].deadline, 2 * MS);
	EXPECT_EQ(-ENOENT, dev_reschedule(self->fd, id, 0, 0));
	expect_ended(_metadata, self->fd, id);
	stats = stats_of(self->fd);
	EXPECT_EQ(n, stats.delivered);
	EXPECT_EQ(n - 1, stats.rearmed);
	EXPECT_EQ(7 - n, stats.missed);
}

TEST_F(hwtimer, limited_timer_read_late_comes_so_many_times)
{
	struct hwtimer_event event;
	struct hwtimer_timer query;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .interval = 2 * MS,
				       .expirations_max = 7,
			       });
	ASSERT_NE(0, id);
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	sleep_ns(30 * MS);
	/* QUERY tells that the event is the last. */
	query = query_of(_metadata, self->fd, id);
	EXPECT_EQ(7, query.expirations);
	EXPECT_EQ(7, query.expirations_left);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(7, event.expirations);
	expect_ended(_metadata, self->fd, id);
	EXPECT_EQ(6, stats_of(self->fd).missed);
	EXPECT_EQ(0, stats_of(self->fd).rearmed);
}

TEST_F(hwtimer, limited_timer_ends_in_the_past)
{
	struct hwtimer_event event;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_REQ_ABSTIME,
				       .time = 1,
				       .interval = MS,
				       .expirations_max = 3,
			       });
	ASSERT_NE(0, id);
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(1, event.deadline);
	EXPECT_EQ(3, event.expirations);
	expect_ended(_metadata, self->fd, id);
}

TEST_F(hwtimer, count_of_1_is_for_once)
{
	struct hwtimer_event event;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .interval = MS,
				       .expirations_max = 1,
			       });
	ASSERT_NE(0, id);
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	sleep_ns(5 * MS);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(1, event.expirations);
	expect_ended(_metadata, self->fd, id);
}

TEST_F(hwtimer, largest_count_counts_down)
{
	struct hwtimer_event event;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .interval = HOUR,
				       .expirations_max = UINT_MAX,
			       });
	ASSERT_NE(0, id);
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(UINT_MAX, query_of(_metadata, self->fd, id).expirations_left);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(UINT_MAX - 1,
		  query_of(_metadata, self->fd, id).expirations_left);
}

TEST_F(hwtimer, query_of_a_pending_timer)
{
	__u64 first = now_ns() + HOUR, id;
	struct hwtimer_timer query;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_REQ_ABSTIME |
						HWTIMER_REQ_FIXED_DELAY,
				       .time = first,
				       .interval = SEC,
				       .user_data = 9,
				       .expirations_max = 5,
			       });
	query = query_of(_metadata, self->fd, id);
	EXPECT_EQ(HWTIMER_STATE_PENDING, query.state);
	EXPECT_EQ(9, query.user_data);
	EXPECT_EQ(first, query.deadline);
	EXPECT_LT(0, query.remaining);
	EXPECT_GE(HOUR, query.remaining);
	EXPECT_EQ(SEC, query.interval);
	EXPECT_EQ(0, query.slack);
	EXPECT_EQ(5, query.expirations_left);
	EXPECT_EQ(0, query.expirations);
	EXPECT_EQ(HWTIMER_REQ_FIXED_DELAY, query.flags);
}

TEST_F(hwtimer, query_while_the_event_waits)
{
	__u64 first = now_ns() - MS, id;
	struct hwtimer_timer query;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_REQ_ABSTIME,
				       .time = first,
				       .interval = INTERVAL,
				       .user_data = 9,
				       .expirations_max = 1000,
			       });
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	sleep_ns(5 * INTERVAL);
	query = query_of(_metadata, self->fd, id);
	EXPECT_EQ(HWTIMER_STATE_EXPIRED, query.state);
	EXPECT_EQ(9, query.user_data);
	EXPECT_EQ(first, query.deadline);
	EXPECT_EQ(0, query.remaining);
	EXPECT_EQ(INTERVAL, query.interval);
	EXPECT_EQ(1000, query.expirations_left);
	EXPECT_LE(6, query.expirations);
	EXPECT_EQ(0, query.flags);
}

TEST_F(hwtimer, query_after_the_event_was_read)
{
	struct hwtimer_timer query;
	struct hwtimer_event event;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .interval = HOUR,
				       .user_data = 9,
				       .expirations_max = 3,
			       });
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	query = query_of(_metadata, self->fd, id);
	EXPECT_EQ(HWTIMER_STATE_PENDING, query.state);
	EXPECT_EQ(9, query.user_data);
	EXPECT_EQ(event.deadline + HOUR, query.deadline);
	EXPECT_EQ(2, query.expirations_left);
}

TEST_F(hwtimer, cancel_before_the_first_expiration)
{
	__u64 id = dev_every(self->fd, HOUR, INTERVAL, 0);

	ASSERT_NE(0, id);
	EXPECT_EQ(0, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(-ENOENT, dev_reschedule(self->fd, id, 0, 0));
	expect_ended(_metadata, self->fd, id);
	EXPECT_EQ(1, stats_of(self->fd).cancelled);
}

TEST_F(hwtimer, cancel_between_two_expirations)
{
	__u64 id = dev_every(self->fd, 0, HOUR, 0);
	struct hwtimer_event event;

	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(0, dev_cancel(self->fd, id, 0));
	expect_ended(_metadata, self->fd, id);
	EXPECT_EQ(1, stats_of(self->fd).cancelled);
}

TEST_F(hwtimer, cancelled_timer_does_not_come_again)
{
	__u64 id = dev_every(self->fd, 0, 50 * MS, 0);
	struct hwtimer_event event;
	int ret;

	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	ret = dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD);
	ASSERT_EQ(0, ret);
	sleep_ns(120 * MS);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	expect_ended(_metadata, self->fd, id);
}

TEST_F(hwtimer, event_that_waits_when_cancelled_is_the_last)
{
	__u64 id = dev_every(self->fd, 0, INTERVAL, 7);
	struct hwtimer_event event;
	struct hwtimer_stats stats;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(1, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(1, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(-EALREADY, dev_reschedule(self->fd, id, 0, HOUR));
	EXPECT_EQ(HWTIMER_STATE_EXPIRED,
		  query_of(_metadata, self->fd, id).state);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(7, event.user_data);
	EXPECT_LE(1, event.expirations);
	expect_ended(_metadata, self->fd, id);
	sleep_ns(4 * INTERVAL);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	stats = stats_of(self->fd);
	EXPECT_EQ(0, stats.rearmed);
	EXPECT_EQ(0, stats.cancelled);
	EXPECT_EQ(1, stats.delivered);
}

TEST_F(hwtimer, fixed_delay_event_that_waits_when_cancelled_is_the_last)
{
	struct hwtimer_event event;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_REQ_FIXED_DELAY,
				       .interval = MS,
			       });
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(1, dev_cancel(self->fd, id, 0));
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(1, event.expirations);
	expect_ended(_metadata, self->fd, id);
}

TEST_F(hwtimer, discard_of_the_event_that_waits_ends_the_timer)
{
	__u64 id = dev_every(self->fd, 0, INTERVAL, 0);
	struct hwtimer_event event;
	struct hwtimer_stats stats;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
	expect_ended(_metadata, self->fd, id);
	sleep_ns(4 * INTERVAL);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	stats = stats_of(self->fd);
	EXPECT_EQ(1, stats.discarded);
	EXPECT_EQ(0, stats.cancelled);
	EXPECT_EQ(0, stats.rearmed);
}

TEST_F(hwtimer, discard_after_cancel_drops_the_last_event)
{
	__u64 id = dev_every(self->fd, 0, INTERVAL, 0);
	struct hwtimer_event event;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(1, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
	expect_ended(_metadata, self->fd, id);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	EXPECT_EQ(1, stats_of(self->fd).discarded);
}

TEST_F(hwtimer, id_of_an_ended_timer_does_not_reach_the_next)
{
	__u64 stale = dev_every(self->fd, HOUR, HOUR, 1), id;

	ASSERT_EQ(0, dev_cancel(self->fd, stale, 0));
	id = dev_every(self->fd, HOUR, HOUR, 2);
	EXPECT_NE(stale, id);
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, stale, HWTIMER_REQ_DISCARD));
	EXPECT_EQ(2, query_of(_metadata, self->fd, id).user_data);
}

TEST_F(hwtimer, rescheduled_timer_counts_from_its_new_deadline)
{
	__u64 id = dev_every(self->fd, HOUR, INTERVAL, 0), deadline;
	struct hwtimer_event events[4];

	ASSERT_NE(0, id);
	deadline = now_ns() + 20 * MS + 17;
	ASSERT_EQ(0,
		  dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME, deadline));
	for (unsigned int i = 0; i < 4; i++)
		ASSERT_EQ(1, dev_collect(self->fd, &events[i], 1));
	expect_chain(_metadata, events, 4, deadline, INTERVAL);
}

TEST_F(hwtimer, rescheduled_between_two_expirations)
{
	__u64 id = dev_every(self->fd, 0, HOUR, 0), deadline;
	struct hwtimer_event event;

	for (unsigned int i = 0; i < 3; i++) {
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		EXPECT_EQ(1, event.expirations);
		EXPECT_EQ(event.deadline + HOUR,
			  query_of(_metadata, self->fd, id).deadline);
		deadline = now_ns() + 2 * HOUR;
		ASSERT_EQ(0, dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME,
					    deadline));
		EXPECT_EQ(deadline, query_of(_metadata, self->fd, id).deadline);
		ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, 5 * MS));
	}
}

TEST_F(hwtimer, reschedule_keeps_the_rest)
{
	struct hwtimer_timer query;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_REQ_FIXED_DELAY,
				       .time = HOUR,
				       .interval = 7 * SEC,
				       .user_data = 9,
				       .expirations_max = 5,
			       });
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, 2 * HOUR));
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, HOUR / 2));
	query = query_of(_metadata, self->fd, id);
	EXPECT_EQ(9, query.user_data);
	EXPECT_EQ(7 * SEC, query.interval);
	EXPECT_EQ(5, query.expirations_left);
	EXPECT_EQ(HWTIMER_REQ_FIXED_DELAY, query.flags);
	EXPECT_EQ(2, stats_of(self->fd).rescheduled);
}

TEST_F(hwtimer, reschedule_while_the_event_waits_is_ealready_and_no_more)
{
	__u64 id = dev_every(self->fd, 0, INTERVAL, 0);
	struct hwtimer_event events[4];

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(-EALREADY, dev_reschedule(self->fd, id, 0, HOUR));
	EXPECT_EQ(-EALREADY, dev_reschedule(self->fd, id, 0, 0));
	for (unsigned int i = 0; i < 4; i++)
		ASSERT_EQ(1, dev_collect(self->fd, &events[i], 1));
	expect_chain(_metadata, events, 4, events[0].deadline, INTERVAL);
	EXPECT_EQ(0, stats_of(self->fd).rescheduled);
}

TEST_F(hwtimer, rescheduled_to_never_and_back)
{
	__u64 id = dev_every(self->fd, 0, INTERVAL, 0), deadline;
	struct hwtimer_event events[3];
	int ret;

	ASSERT_NE(0, id);
	/* The timer is pending only between the read and its next expiration. */
	do {
		ASSERT_EQ(1, dev_collect(self->fd, events, 1));
		ret = dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME,
				     HWTIMER_NEVER);
	} while (ret == -EALREADY);
	ASSERT_EQ(0, ret);
	sleep_ns(4 * INTERVAL);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, events, 1));
	EXPECT_EQ(HWTIMER_NEVER, query_of(_metadata, self->fd, id).deadline);
	deadline = now_ns() + INTERVAL;
	ASSERT_EQ(0,
		  dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME, deadline));
	for (unsigned int i = 0; i < 3; i++)
		ASSERT_EQ(1, dev_collect(self->fd, &events[i], 1));
	expect_chain(_metadata, events, 3, deadline, INTERVAL);
}

TEST_F(hwtimer, rescheduling_a_limited_timer_costs_no_expiration)
{
	struct hwtimer_event event;
	unsigned int total = 0;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .interval = HOUR,
				       .expirations_max = 5,
			       });
	ASSERT_NE(0, id);
	while (total < 5) {
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		EXPECT_EQ(1, event.expirations);
		if (++total == 5)
			break;
		EXPECT_EQ(5 - total,
			  query_of(_metadata, self->fd, id).expirations_left);
		ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, total * MS));
	}
	expect_ended(_metadata, self->fd, id);
}

TEST_F(hwtimer, fixed_delay_counts_from_the_read)
{
	struct hwtimer_event event;
	__u64 id, before, after;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_REQ_FIXED_DELAY,
				       .interval = INTERVAL,
			       });
	ASSERT_NE(0, id);
	for (unsigned int i = 0; i < 4; i++) {
		__u64 deadline;

		ASSERT_TRUE(dev_wait_ready(self->fd, 1));
		sleep_ns(i * INTERVAL);
		before = now_ns();
		ASSERT_EQ(1, dev_read(self->fd, &event, 1));
		after = now_ns();
		expect_due(_metadata, &event);
		deadline = query_of(_metadata, self->fd, id).deadline;
		EXPECT_LE(before + INTERVAL, deadline);
		EXPECT_GE(after + INTERVAL, deadline);
	}
	EXPECT_EQ(0, stats_of(self->fd).missed);
	EXPECT_EQ(4, stats_of(self->fd).rearmed);
}

TEST_F(hwtimer, fixed_delay_that_nobody_reads_expires_once)
{
	struct hwtimer_event event;

	ASSERT_NE(0, dev_add(self->fd, (struct hwtimer_request){
					       .flags = HWTIMER_REQ_FIXED_DELAY,
					       .interval = MS,
				       }));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	sleep_ns(20 * MS);
	EXPECT_EQ(1, stats_of(self->fd).expired);
	/* Read one: on a slow machine the next is due before the call returns. */
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(1, event.expirations);
}

TEST_F(hwtimer, fixed_delay_with_a_limited_count)
{
	struct hwtimer_event event;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_REQ_FIXED_DELAY,
				       .interval = MS,
				       .expirations_max = 4,
			       });
	for (unsigned int i = 0; i < 4; i++) {
		EXPECT_EQ(4 - i,
			  query_of(_metadata, self->fd, id).expirations_left);
		ASSERT_TRUE(dev_wait_ready(self->fd, 1));
		sleep_ns(5 * MS);
		ASSERT_EQ(1, dev_read(self->fd, &event, 1));
		EXPECT_EQ(1, event.expirations);
	}
	expect_ended(_metadata, self->fd, id);
}

TEST_F(hwtimer, longest_fixed_delay_waits)
{
	struct hwtimer_event event;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_REQ_FIXED_DELAY,
				       .interval = INT64_MAX,
			       });
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(HWTIMER_NEVER, query_of(_metadata, self->fd, id).remaining);
	EXPECT_EQ(0, dev_cancel(self->fd, id, 0));
}

TEST_F(hwtimer, submit_of_periodic_timers)
{
	struct hwtimer_request requests[] = {
		{ .op = HWTIMER_OP_SCHEDULE, .interval = INTERVAL },
		{ .op = HWTIMER_OP_SCHEDULE,
		  .interval = HOUR,
		  .expirations_max = 2 },
		{ .op = HWTIMER_OP_SCHEDULE, .interval = INT64_MAX + 1ULL },
		{ .op = HWTIMER_OP_SCHEDULE,
		  .interval = HOUR,
		  .slack = INT64_MAX + 1ULL },
		{ .op = HWTIMER_OP_SCHEDULE,
		  .flags = HWTIMER_REQ_FIXED_DELAY,
		  .interval = HOUR },
	};
	const int results[] = { 0, 0, -EINVAL, -EINVAL, 0 };
	struct hwtimer_request cancels[3] = { 0 };
	__u64 expirations = 0;

	ASSERT_EQ(5, dev_submit(self->fd, requests, 5));
	for (unsigned int i = 0; i < 5; i++) {
		EXPECT_EQ(results[i], requests[i].result)
		{
			TH_LOG("requests[%u]", i);
		}
		EXPECT_EQ(!results[i], requests[i].id != 0);
	}
	while (expirations < 10) {
		struct hwtimer_event event;

		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		if (event.id == requests[0].id)
			expirations += event.expirations;
	}
	cancels[0].id = requests[0].id;
	cancels[1].id = requests[1].id;
	cancels[2].id = requests[4].id;
	for (unsigned int i = 0; i < 3; i++) {
		cancels[i].op = HWTIMER_OP_CANCEL;
		cancels[i].flags = HWTIMER_REQ_DISCARD;
	}
	ASSERT_EQ(3, dev_submit(self->fd, cancels, 3));
	for (unsigned int i = 0; i < 3; i++) {
		EXPECT_EQ(0, cancels[i].result);
		expect_ended(_metadata, self->fd, cancels[i].id);
	}
}

TEST_F(hwtimer, stop_hands_back_what_is_pending)
{
	__u64 first = now_ns() + HOUR, id;
	struct hwtimer_timer timers[2];

	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_REQ_ABSTIME |
						HWTIMER_REQ_FIXED_DELAY,
				       .time = first,
				       .interval = 7 * SEC,
				       .user_data = 9,
				       .expirations_max = 5,
			       });
	ASSERT_NE(0, id);
	ASSERT_EQ(1, dev_stop(self->fd, timers, 2, NULL));
	EXPECT_EQ(id, timers[0].id);
	EXPECT_EQ(9, timers[0].user_data);
	EXPECT_EQ(first, timers[0].deadline);
	EXPECT_GE(HOUR, timers[0].remaining);
	EXPECT_EQ(7 * SEC, timers[0].interval);
	EXPECT_EQ(0, timers[0].slack);
	EXPECT_EQ(5, timers[0].expirations_left);
	EXPECT_EQ(HWTIMER_REQ_FIXED_DELAY, timers[0].flags);
	expect_ended(_metadata, self->fd, id);
}

TEST_F(hwtimer, stop_hands_back_what_was_read_before)
{
	struct hwtimer_timer timers[2];
	struct hwtimer_event event;

	ASSERT_NE(0, dev_add(self->fd, (struct hwtimer_request){
					       .interval = HOUR,
					       .expirations_max = 3,
				       }));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	ASSERT_EQ(1, dev_stop(self->fd, timers, 2, NULL));
	EXPECT_EQ(event.id, timers[0].id);
	EXPECT_EQ(event.deadline + HOUR, timers[0].deadline);
	EXPECT_EQ(2, timers[0].expirations_left);
	EXPECT_EQ(0, timers[0].flags);
}

/* In a stopped instance, expects one unread event and then the end; returns the event. */
static struct hwtimer_event read_last(struct __test_metadata *_metadata, int fd)
{
	struct hwtimer_event event, none;

	EXPECT_EQ(POLLIN, dev_poll(fd, POLLIN, 0));
	ASSERT_EQ(1, dev_read(fd, &event, 1));
	EXPECT_EQ(0, dev_read(fd, &none, 1));
	EXPECT_EQ(POLLHUP, dev_poll(fd, POLLIN, 0));
	return event;
}

TEST_F(hwtimer, stop_hands_back_a_timer_whose_event_waits)
{
	__u64 id = dev_every(self->fd, 0, INTERVAL, 9);
	struct hwtimer_timer timers[2];
	struct hwtimer_event event;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	sleep_ns(2 * INTERVAL);
	ASSERT_EQ(1, dev_stop(self->fd, timers, 2, NULL));
	EXPECT_EQ(id, timers[0].id);
	EXPECT_EQ(9, timers[0].user_data);
	EXPECT_EQ(HWTIMER_STATE_PENDING, timers[0].state);
	EXPECT_EQ(0, timers[0].expirations);
	EXPECT_EQ(INTERVAL, timers[0].interval);
	EXPECT_EQ(0, timers[0].expirations_left);
	EXPECT_EQ(0, dev_stop(self->fd, timers, 2, NULL));
	/* The event stays, and tells nothing of what was handed back. */
	EXPECT_EQ(1, dev_cancel(self->fd, id, 0));
	event = read_last(_metadata, self->fd);
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(event.deadline + event.expirations * INTERVAL,
		  timers[0].deadline);
	expect_ended(_metadata, self->fd, id);
	EXPECT_EQ(0, dev_stop(self->fd, timers, 2, NULL));
	EXPECT_EQ(1, stats_of(self->fd).rearmed);
	EXPECT_EQ(1, stats_of(self->fd).cancelled);
}

/* A timer that was handed back may be dropped, event and all. */
TEST_F(hwtimer, stop_hands_back_and_the_event_is_discarded)
{
	__u64 id = dev_every(self->fd, 0, HOUR, 0);
	struct hwtimer_timer timers[2];
	struct hwtimer_event event;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(1, dev_stop(self->fd, timers, 2, NULL));
	EXPECT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
	EXPECT_EQ(0, dev_read(self->fd, &event, 1));
	expect_ended(_metadata, self->fd, id);
}

TEST_F(hwtimer, stop_and_the_events_of_limited_timers_that_wait)
{
	struct hwtimer_timer timers[4];
	struct hwtimer_event events[2];
	__u64 last, other;

	last = dev_add(self->fd, (struct hwtimer_request){
					 .interval = HOUR,
					 .expirations_max = 1,
				 });
	ASSERT_NE(0, last);
	other = dev_add(self->fd, (struct hwtimer_request){
					  .interval = HOUR,
					  .expirations_max = 3,
				  });
	ASSERT_NE(0, other);
	ASSERT_TRUE(dev_wait_ready(self->fd, 2));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	ASSERT_EQ(1, dev_stop(self->fd, timers, 4, NULL));
	EXPECT_EQ(other, timers[0].id);
	EXPECT_EQ(2, timers[0].expirations_left);
	ASSERT_EQ(2, dev_read(self->fd, events, 2));
	expect_ended(_metadata, self->fd, last);
	expect_ended(_metadata, self->fd, other);
}

TEST_F(hwtimer, stop_does_not_hand_back_what_was_cancelled_as_its_event_waited)
{
	__u64 id = dev_every(self->fd, 0, HOUR, 0);
	struct hwtimer_timer timers[2];

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(1, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(0, dev_stop(self->fd, timers, 2, NULL));
	EXPECT_EQ(1, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(id, read_last(_metadata, self->fd).id);
	EXPECT_EQ(0, dev_stop(self->fd, timers, 2, NULL));
	expect_ended(_metadata, self->fd, id);
}

TEST_F(hwtimer, stop_does_not_hand_back_what_was_discarded)
{
	__u64 id = dev_every(self->fd, 0, HOUR, 0);
	struct hwtimer_timer timers[2];
	struct hwtimer_event event;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
	EXPECT_EQ(0, dev_stop(self->fd, timers, 2, NULL));
	EXPECT_EQ(0, dev_read(self->fd, &event, 1));
	expect_ended(_metadata, self->fd, id);
}

/* The interval counts from the call that hands the timer back. */
TEST_F(hwtimer, stop_and_a_fixed_delay_whose_event_waits)
{
	struct hwtimer_timer timers[2];
	__u64 before, after;

	ASSERT_NE(0, dev_add(self->fd, (struct hwtimer_request){
					       .flags = HWTIMER_REQ_FIXED_DELAY,
					       .interval = HOUR,
				       }));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	before = now_ns();
	ASSERT_EQ(1, dev_stop(self->fd, timers, 2, NULL));
	after = now_ns();
	EXPECT_LE(before + HOUR, timers[0].deadline);
	EXPECT_GE(after + HOUR, timers[0].deadline);
	EXPECT_EQ(HWTIMER_REQ_FIXED_DELAY, timers[0].flags);
	read_last(_metadata, self->fd);
}

/* Schedules @n timers as @request says. */
static void add_many(struct __test_metadata *_metadata, int fd, unsigned int n,
		     struct hwtimer_request request)
{
	for (unsigned int i = 0; i < n; i++)
		ASSERT_NE(0, dev_add(fd, request));
}

/* A program that reads no event gets all timers back that go on after their events. */
TEST_F(hwtimer, stop_hands_back_in_parts_what_goes_on)
{
	/* So many that the call walks the records in more than one part. */
	const unsigned int n = 300, expect = 3 * n;
	struct hwtimer_timer timers[64];
	struct hwtimer_event event;
	unsigned int calls = 0, back = 0, events = 0;
	__u64 cursor = 0, id;
	int ret;

	for (unsigned int i = 0; i < n; i += 50) {
		/* Pending: one-shot and periodic timers. */
		add_many(_metadata, self->fd, 50,
			 (struct hwtimer_request){ .time = HOUR });
		add_many(_metadata, self->fd, 50,
			 (struct hwtimer_request){ .time = HOUR,
						   .interval = HOUR });
		/* Expired, events unread: not the last expiration, and the last one. */
		add_many(_metadata, self->fd, 50,
			 (struct hwtimer_request){ .interval = HOUR,
						   .expirations_max = i ? 2 :
									  0 });
		add_many(_metadata, self->fd, 50,
			 (struct hwtimer_request){ .interval = HOUR,
						   .expirations_max = 1 });
		add_many(_metadata, self->fd, 50,
			 (struct hwtimer_request){ .interval = MS,
						   .expirations_max = 3 });
		add_many(_metadata, self->fd, 50,
			 (struct hwtimer_request){ .time = 0 });
	}
	id = dev_every(self->fd, 0, HOUR, 0);
	ASSERT_TRUE(dev_wait_ready(self->fd, 4 * n + 1));
	sleep_ns(10 * MS);
	EXPECT_EQ(1, dev_cancel(self->fd, id, 0));
	id = dev_every(self->fd, 0, HOUR, 0);
	ASSERT_TRUE(dev_wait_ready(self->fd, 4 * n + 2));
	EXPECT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));

	while ((ret = dev_stop(self->fd, timers, 1 + calls++ % 64, &cursor))) {
		ASSERT_LT(0, ret);
		back += ret;
	}
	EXPECT_EQ(expect, back);
	while (dev_read(self->fd, &event, 1) == 1)
		events++;
	EXPECT_EQ(4 * n + 1, events);
	EXPECT_EQ(0, dev_stop(self->fd, timers, 64, NULL));
	EXPECT_EQ(expect, stats_of(self->fd).cancelled);
	EXPECT_EQ(n, stats_of(self->fd).rearmed);
}

/* Timers come back in parts; some events are read between two of them. */
TEST_F(hwtimer, stop_hands_back_timers_while_their_events_are_read)
{
	struct hwtimer_timer timers[64];
	struct hwtimer_event events[10];
	bool came[60] = { false };
	unsigned int got = 0;
	__u64 cursor = 0;

	for (unsigned int i = 0; i < 60; i++) {
		ASSERT_NE(0, dev_every(self->fd, i % 2 ? HOUR : 0, HOUR, i));
		if (!(i % 2))
			ASSERT_TRUE(dev_wait_ready(self->fd, i / 2 + 1));
	}
	while (got < 60) {
		int read = dev_read(self->fd, events, 10), ret;

		ASSERT_LE(0, read == -EAGAIN ? 0 : read);
		ret = dev_stop(self->fd, timers, 7, &cursor);
		ASSERT_LT(0, ret);
		for (int i = 0; i < ret; i++, got++) {
			ASSERT_GT(60, timers[i].user_data);
			EXPECT_FALSE(came[timers[i].user_data]);
			came[timers[i].user_data] = true;
			EXPECT_EQ(HOUR, timers[i].interval);
		}
	}
	EXPECT_EQ(0, dev_stop(self->fd, timers, 64, NULL));
	EXPECT_EQ(60, stats_of(self->fd).cancelled);
}

/* Like Dubbo: each event schedules the next timer. */
TEST_F(hwtimer, one_shot_that_is_scheduled_anew_from_each_event)
{
	struct hwtimer_event events[16];
	unsigned int rounds[16] = { 0 }, total = 0;
	__u64 ids[16], last[16] = { 0 };
	struct hwtimer_stats stats;

	for (unsigned int i = 0; i < 16; i++) {
		ids[i] = dev_after(self->fd, i * MS / 4, i);
		ASSERT_NE(0, ids[i]);
	}
	while (total < 16 * 20) {
		unsigned int got = dev_collect(self->fd, events, 1);
		int more = dev_read(self->fd, events + 1, 15);

		ASSERT_EQ(1, got);
		got += more > 0 ? more : 0;
		for (unsigned int i = 0; i < got; i++, total++) {
			__u64 nth = events[i].user_data;

			ASSERT_GT(16, nth);
			expect_due(_metadata, &events[i]);
			EXPECT_EQ(ids[nth], events[i].id);
			EXPECT_LT(last[nth], events[i].deadline);
			last[nth] = events[i].deadline;
			rounds[nth]++;
			ids[nth] = dev_after(self->fd, nth % 5 * MS / 2, nth);
			ASSERT_NE(0, ids[nth]);
			EXPECT_NE(events[i].id, ids[nth]);
		}
	}
	for (unsigned int i = 0; i < 16; i++)
		EXPECT_LT(0, rounds[i]);
	stats = stats_of(self->fd);
	EXPECT_EQ(16, stats.pending + stats.ready);
}

TEST_F(hwtimer, timer_that_reschedules_others_from_its_event)
{
	__u64 id = dev_every(self->fd, 0, 2 * MS, 1), timeout;
	struct hwtimer_event event;

	/* The timeout is a connection's, which each heartbeat postpones. */
	timeout = dev_after(self->fd, HOUR, 2);
	ASSERT_NE(0, id);
	ASSERT_NE(0, timeout);
	for (unsigned int i = 0; i < 20; i++) {
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		EXPECT_EQ(id, event.id);
		ASSERT_EQ(0,
			  dev_reschedule(self->fd, timeout, 0, HOUR + i * SEC));
	}
	EXPECT_EQ(20, stats_of(self->fd).rescheduled);
}

TEST_F(hwtimer, failed_read_neither_loses_nor_counts)
{
	__u64 id = dev_every(self->fd, 0, INTERVAL, 0);
	struct hwtimer_event events[3];
	struct hwtimer_stats stats;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	for (unsigned int i = 0; i < 3; i++) {
		EXPECT_EQ(-EFAULT, dev_read(self->fd, bad_address(), 1));
		EXPECT_EQ(-EFAULT, dev_read(self->fd, page_edge(31), 1));
		sleep_ns(2 * INTERVAL);
	}
	stats = stats_of(self->fd);
	EXPECT_EQ(1, stats.ready);
	EXPECT_EQ(0, stats.pending);
	EXPECT_EQ(0, stats.rearmed);
	EXPECT_EQ(0, stats.missed);
	EXPECT_EQ(0, stats.delivered);
	EXPECT_EQ(HWTIMER_STATE_EXPIRED,
		  query_of(_metadata, self->fd, id).state);
	events[0] = read_event(_metadata, self->fd, INTERVAL);
	EXPECT_LE(6, events[0].expirations);
	ASSERT_EQ(1, dev_collect(self->fd, &events[1], 1));
	ASSERT_EQ(1, dev_collect(self->fd, &events[2], 1));
	expect_chain(_metadata, events, 3, events[0].deadline, INTERVAL);
}

TEST_F(hwtimer, failed_read_costs_a_limited_timer_nothing)
{
	struct hwtimer_event event;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .interval = HOUR,
				       .expirations_max = 2,
			       });
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(-EFAULT, dev_read(self->fd, bad_address(), 1));
	EXPECT_EQ(2, query_of(_metadata, self->fd, id).expirations_left);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(1, event.expirations);
	EXPECT_EQ(1, query_of(_metadata, self->fd, id).expirations_left);
}

TEST_F(hwtimer, fixed_delay_counts_from_the_read_that_succeeds)
{
	struct hwtimer_event event;
	__u64 id, before;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .flags = HWTIMER_REQ_FIXED_DELAY,
				       .interval = HOUR,
			       });
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(-EFAULT, dev_read(self->fd, bad_address(), 1));
	sleep_ns(10 * MS);
	before = now_ns();
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(1, event.expirations);
	EXPECT_LE(before + HOUR, query_of(_metadata, self->fd, id).deadline);
}

#define PARTLY 40

TEST_F(hwtimer, read_that_faults_half_way_loses_nothing)
{
	struct hwtimer_event rest[PARTLY], *edge;
	__u64 next[PARTLY] = { 0 };

	for (unsigned int i = 0; i < PARTLY; i++)
		ASSERT_NE(0, dev_every(self->fd, 0, INTERVAL, i));
	for (unsigned int whole = 1; whole < PARTLY; whole += 13) {
		struct hwtimer_stats stats;
		int got, more;

		ASSERT_TRUE(dev_wait_ready(self->fd, PARTLY));
		edge = page_edge(whole * sizeof(*edge) + 8);
		stats = stats_of(self->fd);
		got = dev_read(self->fd, edge, PARTLY);
		ASSERT_LE(1, got);
		ASSERT_GE(whole, got);
		EXPECT_EQ(stats.rearmed + got, stats_of(self->fd).rearmed);
		EXPECT_EQ(stats.delivered + got, stats_of(self->fd).delivered);
		/* Some of the timers that were read may have expired again. */
		more = dev_read(self->fd, rest, PARTLY);
		ASSERT_LE(PARTLY - got, more);
		for (int i = 0; i < got + more; i++) {
			struct hwtimer_event *event = i < got ? &edge[i] :
								&rest[i - got];
			__u64 nth = event->user_data;

			ASSERT_GT(PARTLY, nth);
			if (next[nth])
				EXPECT_EQ(next[nth], event->deadline);
			next[nth] =
				event->deadline + event->expirations * INTERVAL;
		}
	}
}

TEST_F(hwtimer, ready_again_for_each_expiration)
{
	struct hwtimer_event event;

	ASSERT_NE(0, dev_every(self->fd, 0, 50 * MS, 0));
	for (unsigned int i = 0; i < 3; i++) {
		ASSERT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
		ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	}
}

TEST_F(hwtimer, blocked_reads_get_each_expiration)
{
	struct hwtimer_event events[5];

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	ASSERT_NE(0, dev_every(self->fd, 0, INTERVAL, 0));
	for (unsigned int i = 0; i < 5; i++)
		ASSERT_EQ(1, dev_read(self->fd, &events[i], 1));
	expect_chain(_metadata, events, 5, events[0].deadline, INTERVAL);
}

TEST_F(hwtimer, many_that_nobody_reads_cost_nothing)
{
	struct hwtimer_request requests[BATCH];
	struct hwtimer_event events[BATCH];
	struct hwtimer_stats before, after;
	long long turns;
	/* Events of all of them may wait. */
	unsigned int n = scaled(3000);
	bool *came = calloc(n, sizeof(*came));

	ASSERT_NE(NULL, came);
	for (unsigned int done = 0; done < n;) {
		unsigned int count = n - done < BATCH ? n - done : BATCH;

		fill_schedules(requests, count, 0, 0, done);
		for (unsigned int i = 0; i < count; i++) {
			requests[i].time = i % 20 * MS;
			requests[i].interval = (1 + i % 10) * MS;
		}
		ASSERT_EQ(count, dev_submit(self->fd, requests, count));
		for (unsigned int i = 0; i < count; i++)
			ASSERT_EQ(0, requests[i].result);
		done += count;
	}
	ASSERT_TRUE(dev_wait_ready(self->fd, n));
	before = stats_of(self->fd);
	turns = told(self->fd, "turns");
	dev_wait_rest(self->fd);
	after = stats_of(self->fd);
	EXPECT_EQ(n, after.expired);
	EXPECT_EQ(n, after.ready);
	EXPECT_EQ(turns, told(self->fd, "turns"));
	EXPECT_GE(before.bytes, after.bytes);
	for (unsigned int got = 0; got < n;) {
		unsigned int want = n - got < BATCH ? n - got : BATCH;

		ASSERT_EQ(want, dev_read(self->fd, events, want));
		for (unsigned int i = 0; i < want; i++, got++) {
			ASSERT_GT(n, events[i].user_data);
			ASSERT_FALSE(came[events[i].user_data]);
			came[events[i].user_data] = true;
			ASSERT_LE(10, events[i].expirations);
		}
	}
}

/* Events of very many timers report every deadline once, to the end. */
TEST_F(hwtimer, many_that_are_read_tell_of_every_deadline)
{
	unsigned int n = scaled(10000), handed_back = 0;
	__u64 *next = calloc(n, sizeof(*next)), end, cursor = 0;
	struct hwtimer_timer timers[BATCH];
	struct hwtimer_event events[BATCH];
	int got;

	ASSERT_NE(NULL, next);
	for (unsigned int i = 0; i < n; i++)
		ASSERT_NE(0, dev_every(self->fd, i % 20 * MS, (1 + i % 50) * MS,
				       i));
	end = now_ns() + 300 * MS;
	do {
		bool stopped = now_ns() >= end;

		if (stopped)
			ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
		got = dev_read(self->fd, events, BATCH);
		for (int i = 0; i < got; i++) {
			__u64 nth = events[i].user_data;

			ASSERT_GT(n, nth);
			ASSERT_LE(1, events[i].expirations);
			if (next[nth])
				ASSERT_EQ(next[nth], events[i].deadline);
			next[nth] = events[i].deadline +
				    events[i].expirations * (1 + nth % 50) * MS;
		}
	} while (got);
	do {
		got = dev_stop(self->fd, timers, BATCH, &cursor);
		ASSERT_LE(0, got);
		for (int i = 0; i < got; i++) {
			__u64 nth = timers[i].user_data;

			ASSERT_GT(n, nth);
			ASSERT_EQ((1 + nth % 50) * MS, timers[i].interval);
			if (next[nth])
				ASSERT_EQ(next[nth], timers[i].deadline);
		}
		handed_back += got;
	} while (got);
	EXPECT_EQ(n, handed_back);
}

/* Timers that several threads read and change at once. */
#define CROWD 64

struct crowd {
	int fd;
	__u64 ids[CROWD];
	unsigned int expirations[CROWD]; /* by user_data */
	unsigned char cancelled[CROWD]; /* CANCEL has returned 0 */
	unsigned int came_after; /* events that came after that */
	unsigned int failures;
	bool stop;
};

static void *read_until_told(void *arg)
{
	struct crowd *crowd = *(struct crowd **)arg;
	struct hwtimer_event events[16];

	while (!__atomic_load_n(&crowd->stop, __ATOMIC_RELAXED)) {
		unsigned char cancelled[CROWD];
		int got;

		for (unsigned int i = 0; i < CROWD; i++)
			cancelled[i] = __atomic_load_n(&crowd->cancelled[i],
						       __ATOMIC_ACQUIRE);
		if (!dev_poll(crowd->fd, POLLIN, 10))
			continue;
		got = dev_read(crowd->fd, events, 16);
		for (int i = 0; i < got; i++) {
			__u64 nth = events[i].user_data;

			__atomic_fetch_add(&crowd->expirations[nth],
					   events[i].expirations,
					   __ATOMIC_RELAXED);
			if (cancelled[nth])
				__atomic_fetch_add(&crowd->came_after, 1,
						   __ATOMIC_RELAXED);
		}
		if (got < 0 && got != -EAGAIN)
			__atomic_fetch_add(&crowd->failures, 1,
					   __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST_F(hwtimer, many_readers_of_limited_timers_get_the_exact_count)
{
	struct crowd crowd = { .fd = self->fd }, *args[4];
	struct hwtimer_stats stats;
	pthread_t threads[4];

	for (unsigned int i = 0; i < CROWD; i++) {
		crowd.ids[i] = dev_add(self->fd, (struct hwtimer_request){
							 .interval = MS,
							 .user_data = i,
							 .expirations_max = 50,
						 });
		ASSERT_NE(0, crowd.ids[i]);
	}
	for (unsigned int i = 0; i < 4; i++)
		args[i] = &crowd;
	start_threads(threads, 4, read_until_told, args, sizeof(args[0]));
	for (;;) {
		stats = stats_of(self->fd);
		expect_balance(_metadata, &stats);
		if (!stats.pending && !stats.ready)
			break;
		sleep_ns(MS);
	}
	__atomic_store_n(&crowd.stop, true, __ATOMIC_RELAXED);
	join_threads(threads, 4);
	EXPECT_EQ(0, crowd.failures);
	for (unsigned int i = 0; i < CROWD; i++)
		EXPECT_EQ(50, crowd.expirations[i]);
	stats = stats_of(self->fd);
	EXPECT_EQ(0, stats.pending + stats.ready);
	EXPECT_EQ(CROWD * 50, stats.delivered + stats.missed);
	EXPECT_EQ(stats.delivered - CROWD, stats.rearmed);
}

/* A thread that cancels all timers and notes which of the cancels succeeded. */
static void *cancel_crowd(void *arg)
{
	struct crowd *crowd = *(struct crowd **)arg;

	for (unsigned int i = 0; i < CROWD; i++) {
		int ret = dev_cancel(crowd->fd, crowd->ids[i],
				     HWTIMER_REQ_DISCARD);

		if (!ret)
			__atomic_store_n(&crowd->cancelled[i], 1,
					 __ATOMIC_RELEASE);
		else if (ret != -ENOENT)
			__atomic_fetch_add(&crowd->failures, 1,
					   __ATOMIC_RELAXED);
		sleep_ns(100 * US);
	}
	return NULL;
}

TEST_F(hwtimer, cancels_against_reads_end_every_timer)
{
	for (unsigned int round = 0; round < scaled(20); round++) {
		struct crowd crowd = { .fd = self->fd }, *args[3];
		pthread_t readers[2], rivals[2];
		struct hwtimer_stats stats;

		for (unsigned int i = 0; i < CROWD; i++) {
			crowd.ids[i] = dev_every(self->fd, 0, MS, i);
			ASSERT_NE(0, crowd.ids[i]);
		}
		for (unsigned int i = 0; i < 3; i++)
			args[i] = &crowd;
		start_threads(readers, 2, read_until_told, args,
			      sizeof(args[0]));
		start_threads(rivals, 2, cancel_crowd, args, sizeof(args[0]));
		join_threads(rivals, 2);
		__atomic_store_n(&crowd.stop, true, __ATOMIC_RELAXED);
		join_threads(readers, 2);
		for (unsigned int i = 0; i < CROWD; i++)
			EXPECT_EQ(-ENOENT, dev_cancel(self->fd, crowd.ids[i],
						      HWTIMER_REQ_DISCARD));
		EXPECT_EQ(0, crowd.failures);
		EXPECT_EQ(0, crowd.came_after);
		stats = stats_of(self->fd);
		expect_balance(_metadata, &stats);
		EXPECT_EQ(0, stats.pending);
		EXPECT_EQ(0, stats.ready);
	}
}

/* A thread that reschedules the timers again and again. */
static void *reschedule_crowd(void *arg)
{
	struct crowd *crowd = *(struct crowd **)arg;

	for (unsigned int i = 0;
	     !__atomic_load_n(&crowd->stop, __ATOMIC_RELAXED); i++) {
		int ret = dev_reschedule(crowd->fd, crowd->ids[i % CROWD], 0,
					 i % 5 * MS);

		if (ret && ret != -EALREADY && ret != -ENOENT)
			__atomic_fetch_add(&crowd->failures, 1,
					   __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST_F(hwtimer, reschedules_against_reads_lose_no_timer)
{
	struct crowd crowd = { .fd = self->fd }, *args[3];
	struct hwtimer_stats stats;
	pthread_t threads[3];

	for (unsigned int i = 0; i < CROWD; i++) {
		crowd.ids[i] = dev_every(self->fd, 0, 2 * MS, i);
		ASSERT_NE(0, crowd.ids[i]);
	}
	for (unsigned int i = 0; i < 3; i++)
		args[i] = &crowd;
	start_threads(threads, 2, read_until_told, args, sizeof(args[0]));
	start_threads(&threads[2], 1, reschedule_crowd, &args[2], 0);
	for (__u64 end = now_ns() + 200 * MS; now_ns() < end; sleep_ns(MS)) {
		stats = stats_of(self->fd);
		expect_balance(_metadata, &stats);
		EXPECT_GE(CROWD, stats.pending + stats.ready);
	}
	__atomic_store_n(&crowd.stop, true, __ATOMIC_RELAXED);
	join_threads(threads, 3);
	EXPECT_EQ(0, crowd.failures);
	for (unsigned int i = 0; i < CROWD; i++)
		EXPECT_EQ(0, dev_cancel(self->fd, crowd.ids[i],
					HWTIMER_REQ_DISCARD));
}

TEST_HARNESS_MAIN
