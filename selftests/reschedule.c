// SPDX-License-Identifier: GPL-2.0
/*
 * RESCHEDULE: a pending timer's deadline moves, earlier or later, any number of times.
 * The timer comes once, at its last deadline, with its old id.
 */
#include "hwtimer_test.h"

static int do_reschedule(int fd, struct hwtimer_request request)
{
	return dev_ioctl(fd, HWTIMER_IOC_RESCHEDULE, &request);
}

static __u64 deadline_of(int fd, __u64 id)
{
	struct hwtimer_timer query;

	return dev_query(fd, id, &query) ? 0 : query.deadline;
}

/* Expects this timer's event, and no other one after it. */
static void expect_only(struct __test_metadata *_metadata, int fd, __u64 id,
			__u64 deadline)
{
	struct hwtimer_event event;

	ASSERT_EQ(1, dev_collect(fd, &event, 1));
	expect_due(_metadata, &event);
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(77, event.user_data);
	EXPECT_EQ(deadline, event.deadline);
	sleep_ns(50 * MS);
	EXPECT_EQ(-EAGAIN, dev_read(fd, &event, 1));
}

TEST_F(hwtimer, earlier)
{
	__u64 id = dev_after(self->fd, HOUR, 77), deadline = now_ns() + 20 * MS;

	ASSERT_EQ(0,
		  dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME, deadline));
	EXPECT_EQ(deadline, deadline_of(self->fd, id));
	expect_only(_metadata, self->fd, id, deadline);
}

/*
 * Schedules a timer that is due at *@due, and reschedules it before that to *@due plus
 * @more, or to HWTIMER_NEVER. With @pulled, the timer was first scheduled an hour later,
 * and rescheduled to *@due. If the machine was too slow, tries again with more time.
 * Returns the timer's id.
 */
static __u64 postpone_in_time(struct __test_metadata *_metadata, int fd,
			      bool pulled, __u64 more, __u64 *due)
{
	for (__u64 delay = 500 * MS;; delay *= 3) {
		__u64 id;
		int err;

		*due = now_ns() + delay;
		id = dev_at(fd, pulled ? *due + HOUR : *due, 77);
		if (pulled) {
			ASSERT_EQ(0, dev_reschedule(fd, id, HWTIMER_REQ_ABSTIME,
						    *due));
		}
		err = dev_reschedule(fd, id, HWTIMER_REQ_ABSTIME,
				     more == HWTIMER_NEVER ? more :
							     *due + more);
		if (!err)
			return id;
		ASSERT_EQ(-EALREADY, err);
		expect_only(_metadata, fd, id, *due);
	}
}

TEST_F(hwtimer, later)
{
	__u64 due;
	__u64 id = postpone_in_time(_metadata, self->fd, false, 100 * MS, &due);

	EXPECT_EQ(due + 100 * MS, deadline_of(self->fd, id));
	expect_only(_metadata, self->fd, id, due + 100 * MS);
}

TEST_F(hwtimer, later_then_earlier_again)
{
	__u64 id = dev_after(self->fd, HOUR, 77), deadline;

	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, 2 * HOUR));
	deadline = now_ns() + 30 * MS;
	ASSERT_EQ(0,
		  dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME, deadline));
	expect_only(_metadata, self->fd, id, deadline);
}

TEST_F(hwtimer, earlier_then_later_again)
{
	__u64 due;
	__u64 id = postpone_in_time(_metadata, self->fd, true, 100 * MS, &due);

	expect_only(_metadata, self->fd, id, due + 100 * MS);
}

TEST_F(hwtimer, to_the_same_deadline)
{
	__u64 due;
	__u64 id = postpone_in_time(_metadata, self->fd, false, 0, &due);

	expect_only(_metadata, self->fd, id, due);
}

TEST_F(hwtimer, relative_time_counts_from_now)
{
	__u64 id = dev_after(self->fd, HOUR, 77), before, after, deadline;

	before = now_ns();
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, 2 * HOUR));
	after = now_ns();
	deadline = deadline_of(self->fd, id);
	EXPECT_LE(before + 2 * HOUR, deadline);
	EXPECT_GE(after + 2 * HOUR, deadline);
}

TEST_F(hwtimer, into_the_past)
{
	__u64 id = dev_after(self->fd, HOUR, 77);

	ASSERT_EQ(0, dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME, 1));
	expect_only(_metadata, self->fd, id, 1);
}

TEST_F(hwtimer, negative_times_expire)
{
	const __s64 times[] = { -1, INT64_MIN + 1, INT64_MIN };

	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(times); i++) {
		__u64 id = dev_after(self->fd, HOUR, 0);
		struct hwtimer_event event;

		ASSERT_EQ(0, dev_reschedule(self->fd, id,
					    i % 2 ? HWTIMER_REQ_ABSTIME : 0,
					    times[i / 2]));
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		EXPECT_EQ(id, event.id);
	}
}

TEST_F(hwtimer, to_never_and_back)
{
	__u64 id, due, deadline;
	struct hwtimer_event event;

	id = postpone_in_time(_metadata, self->fd, false, HWTIMER_NEVER, &due);
	while (now_ns() < due + 100 * MS)
		sleep_ns(100 * MS);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	EXPECT_EQ(HWTIMER_NEVER, deadline_of(self->fd, id));
	deadline = now_ns() + 10 * MS;
	ASSERT_EQ(0,
		  dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME, deadline));
	expect_only(_metadata, self->fd, id, deadline);
}

TEST_F(hwtimer, thousands_of_times_in_both_directions)
{
	__u64 id = dev_after(self->fd, HOUR, 77), deadline;
	struct hwtimer_stats stats;

	for (unsigned int i = 0; i < 3000; i++) {
		ASSERT_EQ(0, dev_reschedule(self->fd, id, 0,
					    HOUR + (i * 7919 % 3001) * SEC));
	}
	deadline = now_ns() + 10 * MS;
	ASSERT_EQ(0,
		  dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME, deadline));
	expect_only(_metadata, self->fd, id, deadline);
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(1, stats.scheduled);
	EXPECT_EQ(3001, stats.rescheduled);
	EXPECT_EQ(1, stats.expired);
}

/*
 * Reschedules timer @id, which is due at *@deadline, again and again to a little later.
 * If the machine holds this program up, the timer may expire meanwhile: then returns
 * false.
 */
static bool postpone_often(struct __test_metadata *_metadata, int fd, __u64 id,
			   __u64 delay, __u64 *deadline)
{
	for (unsigned int i = 0; i < 20; i++) {
		__u64 later;
		int err;

		sleep_ns(5 * MS);
		later = now_ns() + delay;
		err = dev_reschedule(fd, id, HWTIMER_REQ_ABSTIME, later);
		if (err == -EALREADY) {
			EXPECT_LE(*deadline, now_ns());
			return false;
		}
		EXPECT_EQ(0, err);
		*deadline = later;
	}
	return true;
}

TEST_F(hwtimer, always_a_little_later_comes_after_the_last)
{
	for (__u64 delay = 500 * MS;; delay *= 2) {
		__u64 deadline = now_ns() + delay;
		__u64 id = dev_at(self->fd, deadline, 77);
		bool in_time = postpone_often(_metadata, self->fd, id, delay,
					      &deadline);

		expect_only(_metadata, self->fd, id, deadline);
		if (in_time)
			break;
	}
}

TEST_F(hwtimer, cancel_after_it)
{
	__u64 id = dev_after(self->fd, HOUR, 0);
	struct hwtimer_stats stats;

	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, 2 * HOUR));
	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, HOUR / 2));
	EXPECT_EQ(0, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(-ENOENT, dev_reschedule(self->fd, id, 0, HOUR));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(0, stats.pending);
	EXPECT_EQ(2, stats.rescheduled);
}

TEST_F(hwtimer, cancelled_timer_is_enoent)
{
	__u64 id = dev_after(self->fd, HOUR, 0);

	ASSERT_EQ(0, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(-ENOENT, dev_reschedule(self->fd, id, 0, HOUR));
}

TEST_F(hwtimer, expired_timer_is_ealready_then_enoent)
{
	__u64 id = dev_after(self->fd, 0, 0);
	struct hwtimer_event event;
	struct hwtimer_stats stats;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(-EALREADY, dev_reschedule(self->fd, id, 0, HOUR));
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(-ENOENT, dev_reschedule(self->fd, id, 0, HOUR));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(0, stats.rescheduled);
}

TEST_F(hwtimer, refusal_leaves_the_old_deadline)
{
	const struct hwtimer_request bad[] = {
		{ .flags = 1U << 6 },
		{ .flags = 1U << 31 },
		{ .reserved = 1 },
		{ .reserved = 1ULL << 63 },
	};
	__u64 deadline = now_ns() + 500 * MS;
	__u64 id = dev_at(self->fd, deadline, 77);

	ASSERT_NE(0, id);
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		struct hwtimer_request request = bad[i];

		request.id = id;
		request.time = HOUR;
		EXPECT_EQ(-EINVAL, do_reschedule(self->fd, request))
		{
			TH_LOG("bad[%u]", i);
		}
	}
	expect_only(_metadata, self->fd, id, deadline);
}

/* The request that scheduled a timer may be used again for it, with another time. */
TEST_F(hwtimer, what_it_does_not_use_is_ignored)
{
	const struct hwtimer_request odd[] = {
		{ .op = HWTIMER_OP_SCHEDULE },
		{ .op = HWTIMER_OP_CANCEL },
		{ .op = HWTIMER_OP_RESCHEDULE },
		{ .op = UINT_MAX },
		{ .result = -1 },
		{ .flags = HWTIMER_REQ_DISCARD },
		{ .flags = HWTIMER_REQ_FIXED_DELAY },
		{ .flags = HWTIMER_REQ_CREATE },
		{ .interval = 1 },
		{ .interval = UINT64_MAX },
		{ .slack = 1 },
		{ .slack = UINT64_MAX },
		{ .user_data = 77 },
		{ .expirations_max = 1 },
	};
	__u64 id = dev_add(self->fd, (struct hwtimer_request){
					     .time = HOUR,
					     .interval = SEC,
					     .slack = 7 * MS,
					     .user_data = 9,
					     .expirations_max = 5,
				     });

	ASSERT_NE(0, id);
	for (unsigned int i = 0; i < ARRAY_SIZE(odd); i++) {
		struct hwtimer_request request = odd[i];
		struct hwtimer_timer timer;

		request.id = id;
		request.time = (2 + i) * HOUR;
		EXPECT_EQ(0, do_reschedule(self->fd, request))
		{
			TH_LOG("odd[%u]", i);
		}
		timer = query_of(_metadata, self->fd, id);
		EXPECT_LT((1 + i) * HOUR, timer.remaining);
		EXPECT_EQ(SEC, timer.interval);
		EXPECT_EQ(7 * MS, timer.slack);
		EXPECT_EQ(9, timer.user_data);
		EXPECT_EQ(5, timer.expirations_left);
		EXPECT_EQ(0, timer.flags);
	}
}

/* A timer without an interval has no options of one. */
TEST_F(hwtimer, set_without_an_interval_ignores_its_options)
{
	struct hwtimer_request request = {
		.flags = HWTIMER_REQ_SET | HWTIMER_REQ_FIXED_DELAY,
		.id = dev_every(self->fd, HOUR, SEC, 0),
		.time = HOUR,
		.expirations_max = 3,
	};
	struct hwtimer_timer timer;

	EXPECT_EQ(0, do_reschedule(self->fd, request));
	timer = query_of(_metadata, self->fd, request.id);
	EXPECT_EQ(0, timer.interval);
	EXPECT_EQ(0, timer.expirations_left);
	EXPECT_EQ(0, timer.flags);
}

/* Only a new timer needs an instance that has started. */
TEST_F(hwtimer, it_does_not_start_an_instance)
{
	EXPECT_EQ(-ENOENT, dev_reschedule(self->fd, 1ULL << 32, 0, HOUR));
	EXPECT_EQ(-ENOENT, dev_reschedule(self->fd, 0, 0, HOUR));
	EXPECT_EQ(0, dev_setup(self->fd, 2 * MS, 0, 0));
}

TEST_HARNESS_MAIN
