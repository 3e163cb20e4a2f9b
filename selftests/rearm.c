// SPDX-License-Identifier: GPL-2.0
/*
 * RESCHEDULE with more than a time. HWTIMER_REQ_REARM makes a timer anew whatever its state: the
 * event that waits never comes, and the new one comes once. HWTIMER_REQ_SET changes all that a
 * pending timer is.
 */
#include "hwtimer_test.h"

/* A request whose op is HWTIMER_OP_@which. */
#define OP(which, ...) \
	((struct hwtimer_request){ .op = HWTIMER_OP_##which, __VA_ARGS__ })

/* Reschedules timer *@id, and stores the id that it then has. Returns the result. */
static int change(int fd, __u64 *id, struct hwtimer_request request)
{
	int err;

	request.id = *id;
	err = dev_ioctl(fd, HWTIMER_IOC_RESCHEDULE, &request);
	if (!err)
		*id = request.id;
	return err;
}

static int rearm(int fd, __u64 *id, __u64 delay, __u64 user_data)
{
	return change(fd, id,
		      OP(RESCHEDULE, .flags = HWTIMER_REQ_REARM, .time = delay,
			 .user_data = user_data));
}

/* The same, and makes a timer if there is none. */
static int rearm_or_create(int fd, __u64 *id, __u64 delay, __u64 user_data)
{
	return change(fd, id,
		      OP(RESCHEDULE,
			 .flags = HWTIMER_REQ_REARM | HWTIMER_REQ_CREATE,
			 .time = delay, .user_data = user_data));
}

/* Expects one event of the timer. */
static void expect_event(struct __test_metadata *_metadata, int fd, __u64 id,
			 __u64 user_data)
{
	struct hwtimer_event event;

	ASSERT_EQ(1, dev_collect(fd, &event, 1));
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(user_data, event.user_data);
	expect_due(_metadata, &event);
}

static void expect_no_event(struct __test_metadata *_metadata, int fd)
{
	struct hwtimer_event event;

	EXPECT_EQ(-EAGAIN, dev_read(fd, &event, 1));
	EXPECT_EQ(0, dev_poll(fd, POLLIN, 0));
	EXPECT_EQ(0, stats_of(fd).ready);
}

/* ---- HWTIMER_REQ_REARM ---- */

TEST_F(hwtimer, pending_timer_keeps_its_id)
{
	__u64 id = dev_after(self->fd, HOUR, 1), before = id;
	struct hwtimer_timer query;

	ASSERT_EQ(0, rearm(self->fd, &id, 2 * HOUR, 2));
	EXPECT_EQ(before, id);
	query = query_of(_metadata, self->fd, id);
	EXPECT_EQ(2, query.user_data);
	EXPECT_LT(HOUR, query.remaining);
	ASSERT_EQ(0, rearm(self->fd, &id, MS, 3));
	EXPECT_EQ(before, id);
	expect_event(_metadata, self->fd, id, 3);
	sleep_ns(20 * MS);
	expect_no_event(_metadata, self->fd);
	EXPECT_EQ(1, stats_of(self->fd).scheduled);
	EXPECT_EQ(2, stats_of(self->fd).rescheduled);
}

TEST_F(hwtimer, event_that_waits_does_not_come)
{
	__u64 id = dev_after(self->fd, 0, 1), before = id;
	struct hwtimer_stats stats;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(POLLIN, dev_poll(self->fd, POLLIN, -1));
	ASSERT_EQ(0, rearm(self->fd, &id, HOUR, 2));
	EXPECT_NE(before, id);
	/* What poll() has said is true no more. */
	expect_no_event(_metadata, self->fd);
	EXPECT_EQ(-ENOENT, dev_cancel(self->fd, before, HWTIMER_REQ_DISCARD));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(2, stats.scheduled);
	EXPECT_EQ(1, stats.rescheduled);
	EXPECT_EQ(1, stats.discarded);
	EXPECT_EQ(1, stats.pending);
	ASSERT_EQ(0, rearm(self->fd, &id, MS, 3));
	expect_event(_metadata, self->fd, id, 3);
}

TEST_F(hwtimer, of_three_events_each_may_be_dropped)
{
	for (unsigned int place = 0; place < 3; place++) {
		__u64 ids[3];

		for (unsigned int i = 0; i < 3; i++)
			ids[i] = dev_at(self->fd, 1, i);
		ASSERT_TRUE(dev_wait_ready(self->fd, 3));
		ASSERT_EQ(0, rearm(self->fd, &ids[place], HOUR, 7));
		EXPECT_EQ(2, stats_of(self->fd).ready);
		for (unsigned int i = 0; i < 2; i++) {
			struct hwtimer_event event;

			ASSERT_EQ(1, dev_read(self->fd, &event, 1));
			EXPECT_NE(place, event.user_data);
			EXPECT_EQ(ids[event.user_data], event.id);
		}
		expect_no_event(_metadata, self->fd);
		EXPECT_EQ(0, dev_cancel(self->fd, ids[place], 0));
	}
}

/* Stores the ids of timers that are gone, or have never been there. */
static void gone_ids(struct __test_metadata *_metadata, int fd, __u64 *ids)
{
	__u64 delivered = dev_after(fd, 0, 2);

	expect_event(_metadata, fd, delivered, 2);
	ids[0] = dev_after(fd, HOUR, 1);
	ASSERT_EQ(0, dev_cancel(fd, ids[0], 0));
	ids[1] = delivered;
	ids[2] = 0;
	ids[3] = 0xdeadbeef12345678;
}

TEST_F(hwtimer, timer_that_is_gone_is_enoent)
{
	struct hwtimer_stats stats;
	__u64 ids[4];

	gone_ids(_metadata, self->fd, ids);
	for (unsigned int i = 0; i < 4; i++) {
		__u64 id = ids[i];

		EXPECT_EQ(-ENOENT, rearm(self->fd, &id, 0, 10 + i));
		EXPECT_EQ(ids[i], id);
	}
	sleep_ns(20 * MS);
	expect_no_event(_metadata, self->fd);
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(2, stats.scheduled);
	EXPECT_EQ(0, stats.rescheduled);
}

TEST_F(hwtimer, timer_that_is_gone_gets_another_one)
{
	__u64 ids[4];

	gone_ids(_metadata, self->fd, ids);
	for (unsigned int i = 0; i < 4; i++) {
		__u64 id = ids[i];

		EXPECT_EQ(0, rearm_or_create(self->fd, &id, MS, 10 + i));
		EXPECT_NE(0, id);
		EXPECT_NE(ids[i], id);
		expect_event(_metadata, self->fd, id, 10 + i);
	}
	sleep_ns(20 * MS);
	expect_no_event(_metadata, self->fd);
	EXPECT_EQ(6, stats_of(self->fd).scheduled);
	EXPECT_EQ(4, stats_of(self->fd).rescheduled);
}

/* CREATE changes nothing for a timer that is there. */
TEST_F(hwtimer, timer_that_is_there_gets_no_other_one)
{
	__u64 pending = dev_after(self->fd, HOUR, 1), before = pending;
	__u64 waits = dev_after(self->fd, 0, 2);

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, rearm_or_create(self->fd, &pending, 2 * HOUR, 3));
	EXPECT_EQ(before, pending);
	before = waits;
	ASSERT_EQ(0, rearm_or_create(self->fd, &waits, MS, 4));
	EXPECT_NE(before, waits);
	expect_event(_metadata, self->fd, waits, 4);
	expect_no_event(_metadata, self->fd);
	EXPECT_EQ(1, stats_of(self->fd).pending);
}

/* Without HWTIMER_REQ_REARM, HWTIMER_REQ_CREATE means nothing. */
TEST_F(hwtimer, create_alone_makes_no_timer)
{
	__u64 id = 0;

	EXPECT_EQ(-ENOENT, change(self->fd, &id,
				  OP(RESCHEDULE, .flags = HWTIMER_REQ_CREATE,
				     .time = HOUR)));
	id = dev_after(self->fd, 0, 1);
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(-EALREADY, change(self->fd, &id,
				    OP(RESCHEDULE, .flags = HWTIMER_REQ_CREATE,
				       .time = HOUR)));
	expect_event(_metadata, self->fd, id, 1);
}

TEST_F(hwtimer, id_of_another_instance_is_no_timer)
{
	__u64 id, ours = dev_after(self->fd, HOUR, 1);
	int other = dev_open(O_NONBLOCK);

	ASSERT_LE(0, other);
	id = ours;
	EXPECT_EQ(-ENOENT, rearm(other, &id, 0, 2));
	ASSERT_EQ(0, rearm_or_create(other, &id, 0, 2));
	expect_event(_metadata, other, id, 2);
	EXPECT_EQ(1, query_of(_metadata, self->fd, ours).user_data);
	expect_close(_metadata, other);
}

TEST_F(hwtimer, periodic_timer_in_each_state)
{
	__u64 id = dev_every(self->fd, 0, HOUR, 1), before = id;
	struct hwtimer_request every =
		OP(RESCHEDULE, .flags = HWTIMER_REQ_REARM, .time = HOUR,
		   .interval = HOUR / 2, .user_data = 2, .expirations_max = 3);
	struct hwtimer_timer query;

	/* Its event waits. */
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, change(self->fd, &id, every));
	EXPECT_NE(before, id);
	expect_no_event(_metadata, self->fd);
	EXPECT_EQ(-ENOENT, dev_query(self->fd, before, &query));
	query = query_of(_metadata, self->fd, id);
	EXPECT_EQ(HOUR / 2, query.interval);
	EXPECT_EQ(3, query.expirations_left);
	EXPECT_EQ(2, query.user_data);
	/* It is pending: once more periodic, once, periodic again. */
	before = id;
	every.time = 0;
	every.expirations_max = 0;
	ASSERT_EQ(0, change(self->fd, &id, every));
	EXPECT_EQ(before, id);
	expect_event(_metadata, self->fd, id, 2);
	query = query_of(_metadata, self->fd, id);
	EXPECT_EQ(HWTIMER_STATE_PENDING, query.state);
	ASSERT_EQ(0, rearm(self->fd, &id, 0, 3));
	EXPECT_EQ(before, id);
	expect_event(_metadata, self->fd, id, 3);
	EXPECT_EQ(-ENOENT, dev_query(self->fd, id, &query));
	every.flags |= HWTIMER_REQ_CREATE;
	ASSERT_EQ(0, change(self->fd, &id, every));
	EXPECT_NE(before, id);
	expect_event(_metadata, self->fd, id, 2);
	EXPECT_EQ(0, dev_cancel(self->fd, id, 0));
}

/* Nothing is left to read, so a reader that was there before poll() speaks waits on. */
TEST_F(hwtimer, reader_that_waits_gets_the_new_event_only)
{
	struct reader reader = { .fd = dev_open(0) };
	pthread_t thread;
	__u64 id;

	ASSERT_LE(0, reader.fd);
	for (unsigned int round = 0; round < 20; round++) {
		id = dev_after(reader.fd, 0, 1);
		ASSERT_TRUE(dev_wait_ready(reader.fd, 1));
		ASSERT_EQ(0, rearm(reader.fd, &id, HOUR, 2));
		start_threads(&thread, 1, read_one, &reader, sizeof(reader));
		ASSERT_EQ(0, rearm(reader.fd, &id, round * MS, 3));
		join_threads(&thread, 1);
		ASSERT_EQ(1, reader.result);
		EXPECT_EQ(id, reader.event.id);
		EXPECT_EQ(3, reader.event.user_data);
	}
	expect_close(_metadata, reader.fd);
}

/* As a program does that never misses a timeout, however late it is */
struct racer {
	int fd;
	unsigned int rounds;
	bool stop;
	__u64 stale;
};

/* Reads events until @stop. The user_data counts up, so an old one is smaller. */
static void *read_racing(void *arg)
{
	struct racer *racer = arg;
	struct hwtimer_event event;
	__u64 last = 0;

	while (!__atomic_load_n(&racer->stop, __ATOMIC_ACQUIRE)) {
		if (dev_read(racer->fd, &event, 1) != 1)
			continue;
		racer->stale += event.user_data <= last;
		last = event.user_data;
	}
	return NULL;
}

TEST_F(hwtimer, events_of_a_racing_reader_are_never_older)
{
	struct racer racer = { .fd = self->fd };
	struct hwtimer_stats stats;
	unsigned int rounds = scaled(20000);
	pthread_t thread;
	__u64 id = 0;

	start_threads(&thread, 1, read_racing, &racer, sizeof(racer));
	for (unsigned int i = 1; i <= rounds; i++)
		ASSERT_EQ(0,
			  rearm_or_create(self->fd, &id, i % 3 ? 0 : HOUR, i));
	ASSERT_EQ(0, rearm_or_create(self->fd, &id, HOUR, rounds + 1));
	__atomic_store_n(&racer.stop, true, __ATOMIC_RELEASE);
	join_threads(&thread, 1);
	EXPECT_EQ(0, racer.stale);
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(1, stats.pending);
	EXPECT_EQ(0, stats.ready);
	EXPECT_EQ(rounds + 1, stats.rescheduled);
	TH_LOG("%llu delivered, %llu dropped, %llu moved",
	       (unsigned long long)stats.delivered,
	       (unsigned long long)stats.discarded,
	       (unsigned long long)(stats.rescheduled - stats.scheduled));
}

TEST_F(hwtimer, at_the_limit)
{
	__u64 ids[4], none = 0;

	ASSERT_EQ(0, dev_setup(self->fd, MS, 0, 4));
	for (unsigned int i = 0; i < 4; i++)
		ids[i] = dev_at(self->fd, 1 + i * SEC, i);
	ASSERT_TRUE(dev_wait_ready(self->fd, 4));
	EXPECT_EQ(-ENOSPC, rearm_or_create(self->fd, &none, HOUR, 9));
	EXPECT_EQ(0, none);
	/* The event that is dropped makes the room that the new timer needs. */
	for (unsigned int i = 0; i < 4; i++)
		if (i != 2)
			EXPECT_EQ(0, rearm(self->fd, &ids[i], HOUR, 9));
	EXPECT_EQ(1, stats_of(self->fd).ready);
	EXPECT_EQ(-ENOSPC, rearm_or_create(self->fd, &none, HOUR, 9));
	expect_event(_metadata, self->fd, ids[2], 2);
	expect_no_event(_metadata, self->fd);
	EXPECT_EQ(0, rearm_or_create(self->fd, &ids[2], HOUR, 9));
	EXPECT_EQ(-ENOSPC, rearm_or_create(self->fd, &none, HOUR, 9));
	for (unsigned int i = 0; i < 4; i++)
		EXPECT_EQ(0, rearm(self->fd, &ids[i], 2 * HOUR, 9));
}

TEST_F(hwtimer, stopped_instance)
{
	__u64 pending = dev_after(self->fd, HOUR, 1), none = 0;
	__u64 id = dev_after(self->fd, 0, 2);

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(-ESHUTDOWN, rearm(self->fd, &pending, HOUR, 9));
	EXPECT_EQ(-ESHUTDOWN, rearm_or_create(self->fd, &none, HOUR, 9));
	EXPECT_EQ(-ESHUTDOWN, rearm(self->fd, &id, HOUR, 9));
	expect_event(_metadata, self->fd, id, 2);
	EXPECT_EQ(POLLHUP, dev_poll(self->fd, POLLIN, -1));
}

TEST_F(hwtimer, starts_the_instance)
{
	__u64 id = 0;

	EXPECT_EQ(-ENOENT, rearm(self->fd, &id, 0, 1));
	EXPECT_EQ(0, dev_setup(self->fd, 0, 0, 0));
	ASSERT_EQ(0, rearm_or_create(self->fd, &id, 0, 1));
	expect_event(_metadata, self->fd, id, 1);
	EXPECT_EQ(-EBUSY, dev_setup(self->fd, 0, 0, 0));
}

TEST_F(hwtimer, refusals_change_nothing)
{
	const struct hwtimer_request bad[] = {
		{ .flags = HWTIMER_REQ_REARM | 1U << 6 },
		{ .flags = HWTIMER_REQ_REARM | 1U << 31 },
		{ .flags = HWTIMER_REQ_REARM, .reserved = 1 },
		{ .flags = HWTIMER_REQ_REARM, .interval = 1ULL << 63 },
		{ .flags = HWTIMER_REQ_REARM, .slack = 1ULL << 63 },
		{ .flags = HWTIMER_REQ_SET, .interval = UINT64_MAX },
		{ .flags = HWTIMER_REQ_SET, .slack = UINT64_MAX },
	};
	__u64 id = dev_after(self->fd, 0, 1), before;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		struct hwtimer_request request = bad[i];

		request.time = HOUR;
		before = id;
		EXPECT_EQ(-EINVAL, change(self->fd, &id, request))
		{
			TH_LOG("bad[%u]", i);
		}
		EXPECT_EQ(before, id);
	}
	EXPECT_EQ(1, stats_of(self->fd).ready);
	expect_event(_metadata, self->fd, id, 1);
}

/* REARM sets all, and is told so by one flag; an interval of 0 has no options. */
TEST_F(hwtimer, what_rearm_does_not_use_is_ignored)
{
	const struct hwtimer_request odd[] = {
		{ .op = HWTIMER_OP_SCHEDULE },
		{ .op = HWTIMER_OP_CANCEL },
		{ .op = UINT_MAX },
		{ .flags = HWTIMER_REQ_DISCARD },
		{ .flags = HWTIMER_REQ_SET },
		{ .flags = HWTIMER_REQ_FIXED_DELAY, .expirations_max = 3 },
	};
	__u64 id = dev_every(self->fd, HOUR, HOUR, 1), before = id;

	for (unsigned int i = 0; i < ARRAY_SIZE(odd); i++) {
		struct hwtimer_request request = odd[i];
		struct hwtimer_timer timer;

		request.flags |= HWTIMER_REQ_REARM;
		request.time = HOUR;
		request.user_data = 10 + i;
		request.slack = 7 * MS;
		ASSERT_EQ(0, change(self->fd, &id, request))
		{
			TH_LOG("odd[%u]", i);
		}
		EXPECT_EQ(before, id);
		timer = query_of(_metadata, self->fd, id);
		EXPECT_EQ(10 + i, timer.user_data);
		EXPECT_EQ(0, timer.interval);
		EXPECT_EQ(7 * MS, timer.slack);
		EXPECT_EQ(0, timer.flags);
		EXPECT_EQ(0, timer.expirations_left);
	}
}

TEST_F(hwtimer, not_done_if_the_id_cannot_be_written)
{
	struct hwtimer_request requests[] = {
		OP(RESCHEDULE, .flags = HWTIMER_REQ_REARM, .time = 2 * HOUR),
		OP(RESCHEDULE, .flags = HWTIMER_REQ_REARM, .time = 2 * HOUR),
		OP(RESCHEDULE, .flags = HWTIMER_REQ_REARM, .time = 2 * HOUR),
	};
	struct hwtimer_stats stats;

	requests[0].id = dev_after(self->fd, 0, 1);
	requests[1].id = dev_after(self->fd, HOUR, 2);
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	for (unsigned int i = 0; i < 3; i++)
		EXPECT_EQ(-EFAULT,
			  dev_ioctl(self->fd, HWTIMER_IOC_RESCHEDULE,
				    read_only_copy(&requests[i],
						   sizeof(*requests))));
	EXPECT_EQ(-EFAULT,
		  dev_submit(self->fd,
			     read_only_copy(requests, sizeof(requests)), 3));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(2, stats.scheduled);
	EXPECT_EQ(1, stats.pending);
	EXPECT_GE(HOUR,
		  query_of(_metadata, self->fd, requests[1].id).remaining);
	expect_event(_metadata, self->fd, requests[0].id, 1);
}

TEST_F(hwtimer, in_a_submit)
{
	struct hwtimer_request requests[300];
	struct hwtimer_event event;
	__u64 ids[300];

	ASSERT_EQ(100, dev_schedule_many(self->fd, 100, 0, 0, ids));
	ASSERT_TRUE(dev_wait_ready(self->fd, 100));
	ASSERT_EQ(100, dev_schedule_many(self->fd, 100, 0, HOUR, ids + 100));
	memset(ids + 200, 0, sizeof(*ids) * 100);
	for (unsigned int i = 0; i < 300; i++)
		requests[i] = OP(RESCHEDULE, .flags = HWTIMER_REQ_REARM,
				 .id = ids[i], .time = 2 * HOUR,
				 .user_data = i);
	for (unsigned int i = 0; i < 300; i += 2)
		requests[i].flags |= HWTIMER_REQ_CREATE;
	ASSERT_EQ(300, dev_submit(self->fd, requests, 300));
	for (unsigned int i = 0; i < 300; i++) {
		struct hwtimer_timer query;

		if (i >= 200 && i % 2) {
			EXPECT_EQ(-ENOENT, requests[i].result);
			EXPECT_EQ(0, requests[i].id);
			continue;
		}
		EXPECT_EQ(0, requests[i].result);
		EXPECT_EQ(i >= 100 && i < 200, ids[i] == requests[i].id);
		query = query_of(_metadata, self->fd, requests[i].id);
		EXPECT_EQ(i, query.user_data);
		EXPECT_LT(HOUR, query.remaining);
	}
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	EXPECT_EQ(250, stats_of(self->fd).pending);
}

TEST_F(hwtimer, not_in_a_bulk)
{
	const __u32 flags[] = { HWTIMER_REQ_REARM, HWTIMER_REQ_CREATE,
				HWTIMER_REQ_SET };
	struct hwtimer_bulk_timer timer = { .time = 2 * HOUR };
	__u64 result;

	timer.id = dev_after(self->fd, HOUR, 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(flags); i++)
		EXPECT_EQ(-EINVAL, dev_bulk(self->fd, HWTIMER_OP_RESCHEDULE,
					    flags[i], &timer, &result, 1));
	EXPECT_GE(HOUR, query_of(_metadata, self->fd, timer.id).remaining);
}

/* ---- HWTIMER_REQ_SET ---- */

/* What the request does not say becomes 0, as with SCHEDULE. */
TEST_F(hwtimer, sets_all_fields)
{
	__u64 id = dev_after(self->fd, HOUR, 1), before = id;
	struct hwtimer_timer query;

	ASSERT_EQ(0,
		  change(self->fd, &id,
			 OP(RESCHEDULE,
			    .flags = HWTIMER_REQ_SET | HWTIMER_REQ_FIXED_DELAY,
			    .time = 2 * HOUR, .interval = SEC, .slack = 7 * MS,
			    .user_data = 2, .expirations_max = 4)));
	query = query_of(_metadata, self->fd, id);
	EXPECT_LT(HOUR, query.remaining);
	EXPECT_EQ(2, query.user_data);
	EXPECT_EQ(SEC, query.interval);
	EXPECT_EQ(7 * MS, query.slack);
	EXPECT_EQ(4, query.expirations_left);
	EXPECT_EQ(HWTIMER_REQ_FIXED_DELAY, query.flags);
	ASSERT_EQ(0, change(self->fd, &id,
			    OP(RESCHEDULE, .flags = HWTIMER_REQ_SET,
			       .time = HOUR, .interval = MS)));
	query = query_of(_metadata, self->fd, id);
	EXPECT_GE(HOUR, query.remaining);
	EXPECT_EQ(0, query.user_data);
	EXPECT_EQ(MS, query.interval);
	EXPECT_EQ(0, query.slack);
	EXPECT_EQ(0, query.expirations_left);
	EXPECT_EQ(0, query.flags);
	ASSERT_EQ(0, change(self->fd, &id,
			    OP(RESCHEDULE, .flags = HWTIMER_REQ_SET, .time = 0,
			       .user_data = 3)));
	EXPECT_EQ(before, id);
	expect_event(_metadata, self->fd, id, 3);
	EXPECT_EQ(-ENOENT, change(self->fd, &id,
				  OP(RESCHEDULE, .flags = HWTIMER_REQ_SET,
				     .time = HOUR)));
}

TEST_F(hwtimer, sets_pending_timers_only)
{
	__u64 id = dev_after(self->fd, 0, 1), none = 0;

	EXPECT_EQ(-ENOENT, change(self->fd, &none,
				  OP(RESCHEDULE, .flags = HWTIMER_REQ_SET,
				     .time = HOUR)));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(-EALREADY, change(self->fd, &id,
				    OP(RESCHEDULE, .flags = HWTIMER_REQ_SET,
				       .time = HOUR)));
	expect_event(_metadata, self->fd, id, 1);
}

/* The rate changes from one event to the next. */
TEST_F(hwtimer, interval_counts_from_the_new_deadline)
{
	__u64 id = dev_every(self->fd, HOUR, HOUR, 1), deadline = now_ns();
	struct hwtimer_event event;

	ASSERT_EQ(0, change(self->fd, &id,
			    OP(RESCHEDULE,
			       .flags = HWTIMER_REQ_ABSTIME | HWTIMER_REQ_SET,
			       .time = deadline, .interval = 5 * MS,
			       .expirations_max = 1000)));
	for (__u64 next = 0; next < 20; next += event.expirations) {
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		EXPECT_EQ(id, event.id);
		EXPECT_EQ(deadline + next * 5 * MS, event.deadline);
	}
	EXPECT_EQ(0, dev_cancel(self->fd, id, HWTIMER_REQ_DISCARD));
}

TEST_HARNESS_MAIN
