// SPDX-License-Identifier: GPL-2.0
/*
 * libhwtimer: whether each function does what its header says. Values arrive, errors are
 * negative, and arrays are handled to their end whatever interrupts the calls. The device
 * itself has tests of its own.
 */
#include "hwtimer_test.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "libhwtimer.h"

FIXTURE(library)
{
	struct hwt *hwt;
};

FIXTURE_SETUP(library)
{
	ASSERT_EQ(0, hwt_open(&self->hwt, HWT_NONBLOCK));
}

FIXTURE_TEARDOWN(library)
{
	hwt_close(self->hwt);
}

/* Waits for the next event. */
static int wait_next(struct hwt *hwt, struct hwtimer_event *event)
{
	int ret;

	while ((ret = hwt_next(hwt, event)) == -EAGAIN)
		dev_poll(hwt_fd(hwt), POLLIN, -1);
	return ret;
}

TEST(open_and_close)
{
	struct hwt *hwt = (struct hwt *)1;

	EXPECT_EQ(-EINVAL, hwt_open(&hwt, ~HWT_NONBLOCK));
	EXPECT_EQ(NULL, hwt);
	ASSERT_EQ(0, hwt_open(&hwt, 0));
	EXPECT_EQ(0, fcntl(hwt_fd(hwt), F_GETFL) & O_NONBLOCK);
	EXPECT_EQ(FD_CLOEXEC, fcntl(hwt_fd(hwt), F_GETFD));
	hwt_close(hwt);
	ASSERT_EQ(0, hwt_open(&hwt, HWT_NONBLOCK));
	EXPECT_NE(0, fcntl(hwt_fd(hwt), F_GETFL) & O_NONBLOCK);
	hwt_close(hwt);
	hwt_close(NULL);
	EXPECT_EQ(HWT_VERSION, hwt_version());
}

TEST(without_descriptors_it_is_emfile)
{
	struct hwt *hwt = (struct hwt *)1;
	struct rlimit limit, none;

	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	none = limit;
	none.rlim_cur = 0;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	EXPECT_EQ(-EMFILE, hwt_open(&hwt, 0));
	EXPECT_EQ(NULL, hwt);
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
}

TEST_F(library, setup_and_info)
{
	struct hwtimer_setup setup = { .clock = HWTIMER_CLOCK_BOOTTIME,
				       .tick = 5 * MS };
	struct hwtimer_info info;

	ASSERT_EQ(0, hwt_setup(self->hwt, &setup));
	ASSERT_EQ(0, hwt_info(self->hwt, &info));
	EXPECT_EQ(5 * MS, info.tick);
	EXPECT_EQ(HWTIMER_CLOCK_BOOTTIME, info.clock);
	ASSERT_EQ(0, hwt_schedule(self->hwt, HOUR, 0, NULL));
	EXPECT_EQ(-EBUSY, hwt_setup(self->hwt, &setup));
	setup.tick = 1;
	EXPECT_EQ(-EINVAL, hwt_setup(self->hwt, &setup));
}

/* Zeros are what an instance has without SETUP. */
TEST_F(library, setup_of_defaults)
{
	struct hwtimer_setup setup = { 0 };
	struct hwtimer_info before, after;

	ASSERT_EQ(0, hwt_info(self->hwt, &before));
	ASSERT_EQ(0, hwt_setup(self->hwt, &setup));
	ASSERT_EQ(0, hwt_info(self->hwt, &after));
	EXPECT_EQ(HWTIMER_CLOCK_MONOTONIC, after.clock);
	EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
}

TEST_F(library, one_timer)
{
	struct hwtimer_event event;
	uint64_t id;

	ASSERT_EQ(0, hwt_schedule(self->hwt, MS, 42, &id));
	ASSERT_EQ(1, wait_next(self->hwt, &event));
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(42, event.user_data);
	expect_due(_metadata, &event);
	EXPECT_EQ(-EAGAIN, hwt_next(self->hwt, &event));
	EXPECT_EQ(-ENOENT, hwt_cancel(self->hwt, id));
}

TEST_F(library, deadlines_and_new_ones)
{
	struct hwtimer_timer query = { 0 };
	__u64 deadline = now_ns() + HOUR;

	ASSERT_EQ(0, hwt_schedule_at(self->hwt, deadline, 7,
				     (uint64_t *)&query.id));
	query.state = 77; /* filled in */
	ASSERT_EQ(0, hwt_query(self->hwt, &query));
	EXPECT_EQ(deadline, query.deadline);
	EXPECT_EQ(7, query.user_data);
	ASSERT_EQ(0, hwt_reschedule_at(self->hwt, query.id, deadline + HOUR));
	ASSERT_EQ(0, hwt_query(self->hwt, &query));
	EXPECT_EQ(deadline + HOUR, query.deadline);
	ASSERT_EQ(0, hwt_reschedule(self->hwt, query.id, MS));
	ASSERT_EQ(0, hwt_query(self->hwt, &query));
	EXPECT_GT(deadline, query.deadline);
	EXPECT_EQ(-ENOENT, hwt_reschedule(self->hwt, 1, MS));
	EXPECT_EQ(-ENOENT, hwt_reschedule_at(self->hwt, 1, MS));
}

TEST_F(library, cancel_and_discard)
{
	uint64_t pending, expired;

	ASSERT_EQ(0, hwt_schedule(self->hwt, HOUR, 0, &pending));
	ASSERT_EQ(0, hwt_schedule(self->hwt, -1, 0, &expired));
	ASSERT_TRUE(dev_wait_ready(hwt_fd(self->hwt), 1));
	EXPECT_EQ(0, hwt_cancel(self->hwt, pending));
	EXPECT_EQ(-ENOENT, hwt_cancel(self->hwt, pending));
	EXPECT_EQ(1, hwt_cancel(self->hwt, expired));
	EXPECT_EQ(0, hwt_discard(self->hwt, expired));
	EXPECT_EQ(-ENOENT, hwt_discard(self->hwt, expired));
}

TEST_F(library, periodic_by_request)
{
	struct hwtimer_request request = {
		.time = MS,
		.interval = MS,
		.expirations_max = 3,
		.user_data = 9,
	};
	unsigned int expirations = 0;
	struct hwtimer_event event;

	ASSERT_EQ(0, hwt_schedule_request(self->hwt, &request));
	EXPECT_NE(0, request.id);
	while (expirations < 3) {
		ASSERT_EQ(1, wait_next(self->hwt, &event));
		EXPECT_EQ(request.id, event.id);
		expirations += event.expirations;
	}
	EXPECT_EQ(3, expirations);
	request.interval = UINT64_MAX;
	EXPECT_EQ(-EINVAL, hwt_schedule_request(self->hwt, &request));
}

TEST_F(library, rearmed_timers)
{
	struct hwtimer_request request = {
		.flags = HWTIMER_REQ_SET,
		.time = HOUR,
		.user_data = 3,
	};
	struct hwtimer_timer query;
	struct hwtimer_event event;
	uint64_t id = 0, before;

	ASSERT_EQ(0, hwt_rearm(self->hwt, &id, HOUR, 1));
	before = id;
	ASSERT_EQ(0, hwt_rearm_at(self->hwt, &id, HWTIMER_NEVER, 2));
	EXPECT_EQ(before, id);
	request.id = id;
	ASSERT_EQ(0, hwt_reschedule_request(self->hwt, &request));
	query.id = id;
	ASSERT_EQ(0, hwt_query(self->hwt, &query));
	EXPECT_EQ(3, query.user_data);
	ASSERT_EQ(0, hwt_rearm(self->hwt, &id, -1, 4));
	EXPECT_EQ(before, id);
	ASSERT_TRUE(dev_wait_ready(hwt_fd(self->hwt), 1));
	ASSERT_EQ(0, hwt_rearm(self->hwt, &id, 0, 5));
	EXPECT_NE(before, id);
	ASSERT_EQ(1, wait_next(self->hwt, &event));
	EXPECT_EQ(id, event.id);
	EXPECT_EQ(5, event.user_data);
	EXPECT_EQ(-ENOENT, hwt_reschedule_request(self->hwt, &request));
	ASSERT_EQ(0, hwt_stop(self->hwt, NULL, NULL, 0));
	before = id;
	EXPECT_EQ(-ESHUTDOWN, hwt_rearm(self->hwt, &id, 0, 6));
	EXPECT_EQ(before, id);
}

TEST_F(library, next_time_and_cancel_all)
{
	uint64_t remaining, cancelled;

	ASSERT_EQ(0, hwt_next_time(self->hwt, &remaining));
	EXPECT_EQ(HWTIMER_NEVER, remaining);
	ASSERT_EQ(0, hwt_schedule(self->hwt, HOUR, 1, NULL));
	ASSERT_EQ(0, hwt_next_time(self->hwt, &remaining));
	EXPECT_GE(HOUR + 2 * MS, remaining);
	EXPECT_LT(0, remaining);
	ASSERT_EQ(0, hwt_schedule(self->hwt, 0, 2, NULL));
	ASSERT_TRUE(dev_wait_ready(hwt_fd(self->hwt), 1));
	ASSERT_EQ(0, hwt_next_time(self->hwt, &remaining));
	EXPECT_EQ(0, remaining);
	ASSERT_EQ(0, hwt_cancel_all(self->hwt, 0, &cancelled));
	EXPECT_EQ(1, cancelled);
	ASSERT_EQ(0, hwt_cancel_all(self->hwt, HWTIMER_LIST_DISCARD, NULL));
	EXPECT_EQ(1, stats_of(hwt_fd(self->hwt)).discarded);
	EXPECT_EQ(-EINVAL, hwt_cancel_all(self->hwt, 1U << 31, NULL));
	ASSERT_EQ(0, hwt_next_time(self->hwt, &remaining));
	EXPECT_EQ(HWTIMER_NEVER, remaining);
}

TEST_F(library, many_whatever_interrupts)
{
	const unsigned int n = scaled(400000);
	struct hwtimer_bulk_timer *timers = calloc(n, sizeof(*timers));
	uint64_t *ids = calloc(n, sizeof(*ids));

	ASSERT_NE(NULL, timers);
	ASSERT_NE(NULL, ids);
	for (unsigned int i = 0; i < n; i++)
		timers[i].time = HOUR;
	interrupt_every(2000);
	ASSERT_EQ(n, hwt_schedule_many(self->hwt, 0, timers, ids, n));
	for (unsigned int i = 0; i < n; i++) {
		ASSERT_EQ(0, hwt_error(ids[i]));
		timers[i].id = ids[i];
		timers[i].time = 2 * HOUR;
	}
	ASSERT_EQ(n, hwt_reschedule_many(self->hwt, 0, timers, NULL, n));
	ASSERT_EQ(n, hwt_cancel_many(self->hwt, 0, ids, ids, n));
	interrupt_every(0);
	for (unsigned int i = 0; i < n; i++)
		ASSERT_EQ(0, ids[i]);
	EXPECT_EQ(n, stats_of(hwt_fd(self->hwt)).rescheduled);
	EXPECT_EQ(n, stats_of(hwt_fd(self->hwt)).cancelled);
	EXPECT_EQ(0, stats_of(hwt_fd(self->hwt)).pending);
}

TEST_F(library, many_with_errors)
{
	struct hwtimer_bulk_timer *timers = page_edge(100 * sizeof(*timers));
	uint64_t ids[200], none = 1;

	for (unsigned int i = 0; i < 100; i++)
		timers[i] = (struct hwtimer_bulk_timer){ .time = HOUR };
	EXPECT_EQ(100, hwt_schedule_many(self->hwt, 0, timers, ids, 200));
	EXPECT_EQ(-EFAULT,
		  hwt_schedule_many(self->hwt, 0, timers + 100, ids, 100));
	EXPECT_EQ(-EINVAL, hwt_schedule_many(self->hwt, HWTIMER_REQ_REARM,
					     timers, ids, 100));
	EXPECT_EQ(-EINVAL,
		  hwt_schedule_many(self->hwt, 0, timers, ids, UINT_MAX));
	EXPECT_EQ(0, hwt_schedule_many(self->hwt, 0, NULL, NULL, 0));
	EXPECT_EQ(0, hwt_cancel_many(self->hwt, 0, NULL, NULL, 0));
	EXPECT_EQ(0, hwt_submit(self->hwt, NULL, 0));
	EXPECT_EQ(-EINVAL, hwt_schedule_many(self->hwt, 0, timers, NULL, 1));
	EXPECT_EQ(1, hwt_cancel_many(self->hwt, 0, &none, &none, 1));
	EXPECT_EQ(-ENOENT, hwt_error(none));
	EXPECT_EQ(100, stats_of(hwt_fd(self->hwt)).pending);
}

TEST_F(library, bulk_with_a_slack_whatever_interrupts)
{
	const unsigned int n = scaled(100000);
	struct hwtimer_bulk_timer *timers = calloc(n, sizeof(*timers));
	uint64_t *ids = calloc(n, sizeof(*ids));
	struct hwtimer_bulk bulk = {
		.op = HWTIMER_OP_SCHEDULE,
		.count = n,
		.timers = (uintptr_t)timers,
		.results = (uintptr_t)ids,
		.slack = 64 * MS,
	};

	ASSERT_NE(NULL, timers);
	ASSERT_NE(NULL, ids);
	for (unsigned int i = 0; i < n; i++)
		timers[i] = (struct hwtimer_bulk_timer){
			.user_data = i,
			.time = HOUR,
		};
	interrupt_every(2000);
	ASSERT_EQ(n, hwt_bulk(self->hwt, &bulk));
	interrupt_every(0);
	for (unsigned int i = 0; i < n; i += 997) {
		struct hwtimer_timer query = { .id = ids[i] };

		ASSERT_EQ(0, hwt_query(self->hwt, &query));
		ASSERT_EQ(i, query.user_data);
		ASSERT_LT(0, query.slack);
	}
	/* Results are not wanted. */
	bulk = (struct hwtimer_bulk){
		.op = HWTIMER_OP_CANCEL,
		.count = n,
		.timers = (uintptr_t)ids,
	};
	ASSERT_EQ(n, hwt_bulk(self->hwt, &bulk));
	EXPECT_EQ(n, stats_of(hwt_fd(self->hwt)).cancelled);
	bulk.count = UINT_MAX;
	EXPECT_EQ(-EINVAL, hwt_bulk(self->hwt, &bulk));
}

TEST_F(library, submit_whatever_interrupts)
{
	const unsigned int n = scaled(100000);
	struct hwtimer_request *requests = calloc(n, sizeof(*requests));

	ASSERT_NE(NULL, requests);
	fill_schedules(requests, n, 0, HOUR, 0);
	interrupt_every(2000);
	ASSERT_EQ(n, hwt_submit(self->hwt, requests, n));
	interrupt_every(0);
	for (unsigned int i = 0; i < n; i++)
		ASSERT_EQ(0, requests[i].result);
	EXPECT_EQ(n, stats_of(hwt_fd(self->hwt)).pending);
	EXPECT_EQ(-EINVAL, hwt_submit(self->hwt, requests, UINT_MAX));
	EXPECT_EQ(-EFAULT, hwt_submit(self->hwt, NULL, 1));
}

TEST_F(library, read_stats_and_notify)
{
	struct hwtimer_event events[5];
	struct hwtimer_stats stats;

	ASSERT_EQ(0, hwt_notify(self->hwt, 5, HWTIMER_NEVER));
	EXPECT_EQ(-EINVAL, hwt_notify(self->hwt, HWTIMER_EVENTS_MAX + 1, 0));
	for (unsigned int i = 0; i < 5; i++) {
		EXPECT_EQ(0, dev_poll(hwt_fd(self->hwt), POLLIN, 0));
		ASSERT_EQ(0, hwt_schedule(self->hwt, 0, i, NULL));
	}
	EXPECT_EQ(POLLIN, dev_poll(hwt_fd(self->hwt), POLLIN, -1));
	EXPECT_EQ(3, hwt_read(self->hwt, events, 3));
	EXPECT_EQ(2, hwt_read(self->hwt, events, 5));
	EXPECT_EQ(-EAGAIN, hwt_read(self->hwt, events, 5));
	EXPECT_EQ(-EINVAL, hwt_read(self->hwt, events, 0));
	ASSERT_EQ(0, hwt_stats(self->hwt, &stats));
	EXPECT_EQ(5, stats.delivered);
}

TEST_F(library, stop_hands_back_what_is_left)
{
	struct hwtimer_timer timers[3];
	struct hwtimer_event event;
	uint64_t cursor = 0;

	for (unsigned int i = 0; i < 4; i++)
		ASSERT_EQ(0, hwt_schedule(self->hwt, HOUR, i, NULL));
	EXPECT_EQ(3, hwt_stop(self->hwt, &cursor, timers, 3));
	EXPECT_EQ(1, hwt_stop(self->hwt, &cursor, timers, 3));
	EXPECT_EQ(0, hwt_stop(self->hwt, &cursor, timers, 3));
	EXPECT_EQ(0, hwt_stop(self->hwt, NULL, NULL, 0));
	EXPECT_EQ(-ESHUTDOWN, hwt_schedule(self->hwt, 0, 0, NULL));
	EXPECT_EQ(-ENOTCONN, hwt_next(self->hwt, &event));
	EXPECT_EQ(-ENOTCONN, hwt_read(self->hwt, &event, 1));
	EXPECT_EQ(-ENOTCONN, hwt_dispatch(self->hwt, NULL, NULL, 1));
}

TEST_F(library, negative_delays_are_over)
{
	struct hwtimer_event event;
	uint64_t id;

	ASSERT_EQ(0, hwt_schedule(self->hwt, -1, 1, NULL));
	ASSERT_EQ(0, hwt_schedule(self->hwt, HOUR, 2, &id));
	ASSERT_EQ(0, hwt_reschedule(self->hwt, id, INT64_MIN));
	ASSERT_TRUE(dev_wait_ready(hwt_fd(self->hwt), 2));
	ASSERT_EQ(1, hwt_next(self->hwt, &event));
	EXPECT_EQ(1, event.user_data);
	ASSERT_EQ(1, hwt_next(self->hwt, &event));
	EXPECT_EQ(2, event.user_data);
}

/* As a delay, as a deadline, and as a deadline beyond it */
TEST_F(library, never_never_comes)
{
	struct hwtimer_timer query;
	uint64_t ids[4];

	ASSERT_EQ(0, hwt_schedule(self->hwt, HWTIMER_NEVER, 0, &ids[0]));
	ASSERT_EQ(0, hwt_schedule_at(self->hwt, HWTIMER_NEVER, 0, &ids[1]));
	ASSERT_EQ(0, hwt_schedule_at(self->hwt, UINT64_MAX, 0, &ids[2]));
	ASSERT_EQ(0, hwt_schedule(self->hwt, HOUR, 0, &ids[3]));
	ASSERT_EQ(0, hwt_reschedule_at(self->hwt, ids[3], UINT64_MAX));
	for (unsigned int i = 0; i < 4; i++) {
		query.id = ids[i];
		ASSERT_EQ(0, hwt_query(self->hwt, &query));
		EXPECT_EQ(HWTIMER_NEVER, query.deadline);
	}
}

/* A periodic timer is taken back, and the event that waits is its last. */
TEST_F(library, stop_takes_back_a_timer_whose_event_waits)
{
	struct hwtimer_request request = { .interval = HOUR };
	struct hwtimer_timer timers[3];
	struct hwtimer_event event;
	uint64_t cursor = 0;

	ASSERT_EQ(0, hwt_schedule_request(self->hwt, &request));
	ASSERT_TRUE(dev_wait_ready(hwt_fd(self->hwt), 1));
	EXPECT_EQ(1, hwt_stop(self->hwt, &cursor, timers, 3));
	EXPECT_EQ(request.id, timers[0].id);
	ASSERT_EQ(1, hwt_next(self->hwt, &event));
	EXPECT_EQ(request.id, event.id);
	EXPECT_EQ(-ENOTCONN, hwt_next(self->hwt, &event));
}

/* The buffer of hwt_next() has events that were read, and comes again after hwt_rewind(). */
TEST_F(library, at_least_once)
{
	struct hwtimer_setup setup = { 0 };
	struct hwtimer_event event;

	EXPECT_EQ(-EINVAL, hwt_ack(self->hwt, 0));
	EXPECT_EQ(-EINVAL, hwt_rewind(self->hwt));
	setup.flags = HWTIMER_SETUP_AT_LEAST_ONCE;
	ASSERT_EQ(0, hwt_setup(self->hwt, &setup));
	for (unsigned int i = 0; i < 10; i++) {
		ASSERT_EQ(0, hwt_schedule(self->hwt, 0, i, NULL));
		ASSERT_TRUE(dev_wait_ready(hwt_fd(self->hwt), i + 1));
	}
	for (unsigned int i = 0; i < 3; i++)
		ASSERT_EQ(1, hwt_next(self->hwt, &event));
	EXPECT_EQ(2, event.user_data);
	EXPECT_EQ(2, hwt_ack(self->hwt, 2));
	EXPECT_EQ(0, hwt_rewind(self->hwt));
	for (unsigned int i = 2; i < 10; i++) {
		ASSERT_EQ(1, hwt_next(self->hwt, &event));
		EXPECT_EQ(i, event.user_data);
	}
	EXPECT_EQ(-EINVAL, hwt_ack(self->hwt, 9));
	EXPECT_EQ(8, hwt_ack(self->hwt, 8));
	EXPECT_EQ(-EAGAIN, hwt_next(self->hwt, &event));
}

struct calls {
	struct hwt *hwt;
	unsigned int count;
};

static void count_and_go_on(void *arg, const struct hwtimer_event *event)
{
	struct calls *calls = arg;

	calls->count++;
	if (event->user_data)
		hwt_schedule(calls->hwt, 0, event->user_data - 1, NULL);
}

/* The events beyond the maximum keep poll() ready. */
TEST_F(library, dispatch_leaves_the_rest)
{
	struct calls calls = { .hwt = self->hwt };

	for (unsigned int i = 0; i < 300; i++)
		ASSERT_EQ(0, hwt_schedule(self->hwt, 0, 0, NULL));
	ASSERT_TRUE(dev_wait_ready(hwt_fd(self->hwt), 300));
	for (unsigned int i = 1; i <= 30; i++) {
		EXPECT_EQ(POLLIN, dev_poll(hwt_fd(self->hwt), POLLIN, 0));
		EXPECT_EQ(10,
			  hwt_dispatch(self->hwt, count_and_go_on, &calls, 10));
		EXPECT_EQ(10 * i, calls.count);
	}
	EXPECT_EQ(0, dev_poll(hwt_fd(self->hwt), POLLIN, 0));
	EXPECT_EQ(-EAGAIN,
		  hwt_dispatch(self->hwt, count_and_go_on, &calls, 10));
}

/* Events that hwt_next() has read come first. */
TEST_F(library, dispatch_after_next)
{
	struct calls calls = { .hwt = self->hwt };
	struct hwtimer_event event;

	EXPECT_EQ(0, hwt_dispatch(self->hwt, NULL, NULL, 0));
	for (unsigned int i = 0; i < 10; i++)
		ASSERT_EQ(0, hwt_schedule(self->hwt, 0, 0, NULL));
	ASSERT_TRUE(dev_wait_ready(hwt_fd(self->hwt), 10));
	ASSERT_EQ(1, hwt_next(self->hwt, &event));
	EXPECT_EQ(4, hwt_dispatch(self->hwt, count_and_go_on, &calls, 4));
	EXPECT_EQ(5, hwt_dispatch(self->hwt, count_and_go_on, &calls, 10));
	EXPECT_EQ(9, calls.count);
	EXPECT_EQ(-EAGAIN, hwt_next(self->hwt, &event));
}

/* An instance that waits is for hwt_next(). In a loop, hwt_dispatch() must come back. */
TEST(dispatch_waits_for_the_first_event_only)
{
	struct calls calls = { 0 };

	ASSERT_EQ(0, hwt_open(&calls.hwt, 0));
	ASSERT_EQ(0, hwt_schedule(calls.hwt, 10 * MS, 0, NULL));
	EXPECT_EQ(1, hwt_dispatch(calls.hwt, count_and_go_on, &calls, 1000));
	for (unsigned int i = 0; i < 300; i++)
		ASSERT_EQ(0, hwt_schedule(calls.hwt, 0, 0, NULL));
	ASSERT_TRUE(dev_wait_ready(hwt_fd(calls.hwt), 300));
	while (dev_poll(hwt_fd(calls.hwt), POLLIN, 0))
		ASSERT_LT(0, hwt_dispatch(calls.hwt, count_and_go_on, &calls,
					  1000));
	EXPECT_EQ(301, calls.count);
	hwt_close(calls.hwt);
}

static unsigned int object_callbacks;

static void on_object(struct hwt_timer *timer)
{
	(void)timer;
	object_callbacks++;
}

/* The module does not know of the object yet, so only the library can refuse. */
TEST_F(library, setup_beside_a_timer_object_is_ebusy)
{
	struct hwtimer_setup setup = { .clock = HWTIMER_CLOCK_REALTIME };
	struct hwt_timer timer;
	uint64_t now;

	hwt_timer_init(&timer, self->hwt, on_object);
	ASSERT_EQ(0, hwt_timer_start(&timer, 0));
	EXPECT_EQ(-EBUSY, hwt_setup(self->hwt, &setup));
	hwt_timer_stop(&timer);
	ASSERT_EQ(0, hwt_setup(self->hwt, &setup));
	now = clock_ns(CLOCK_REALTIME);
	ASSERT_EQ(0, hwt_timer_start(&timer, HOUR));
	EXPECT_LE(now + HOUR, hwt_timer_deadline(&timer));
	EXPECT_EQ(0, hwt_flush(self->hwt));
	hwt_timer_stop(&timer);
	EXPECT_EQ(-EBUSY, hwt_setup(self->hwt, &setup));
}

/* A child that cleans up as its parent would, by hwt_close() alone, takes nothing from it. */
TEST_F(library, a_child_that_closes_harms_nobody)
{
	struct hwtimer_event event;
	struct hwt_timer timer;
	pid_t child;

	object_callbacks = 0;
	ASSERT_EQ(0, hwt_schedule(self->hwt, 200 * MS, 5, NULL));
	hwt_timer_init(&timer, self->hwt, on_object);
	ASSERT_EQ(0, hwt_timer_start(&timer, 200 * MS));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		hwt_close(self->hwt);
		_exit(0);
	}
	EXPECT_EQ(0, wait_for_child(child));
	ASSERT_EQ(0, hwt_flush(self->hwt));
	ASSERT_TRUE(dev_wait_ready(hwt_fd(self->hwt), 2));
	EXPECT_EQ(-EBUSY, hwt_next(self->hwt, &event));
	EXPECT_EQ(2, hwt_dispatch(self->hwt, NULL, NULL, 10));
	EXPECT_EQ(1, object_callbacks);
}

/* Nobody but hwt_close() may close the descriptor. If somebody has, each call says so. */
TEST_F(library, closed_descriptor_is_ebadf)
{
	struct hwtimer_event event;
	struct hwt_timer timer;
	int kept = dup(hwt_fd(self->hwt)), fd = hwt_fd(self->hwt), ret;

	ASSERT_LE(0, kept);
	hwt_timer_init(&timer, self->hwt, on_object);
	ASSERT_EQ(0, close(fd));
	EXPECT_EQ(-EBADF, hwt_schedule(self->hwt, HOUR, 0, NULL));
	EXPECT_EQ(-EBADF, hwt_next(self->hwt, &event));
	EXPECT_EQ(-EBADF, hwt_dispatch_check(self->hwt));
	EXPECT_EQ(-EBADF, hwt_timer_start(&timer, HOUR));
	EXPECT_FALSE(hwt_timer_active(&timer));
	ASSERT_EQ(fd, dup2(kept, fd));
	ASSERT_EQ(0, hwt_timer_start(&timer, HOUR));
	ASSERT_EQ(0, close(fd));
	EXPECT_EQ(-EBADF, hwt_flush(self->hwt));
	ret = hwt_dispatch(self->hwt, NULL, NULL, 10);
	EXPECT_EQ(-EBADF, ret);
	EXPECT_TRUE(hwt_dispatch_failed(ret));
	ASSERT_EQ(fd, dup2(kept, fd));
	close(kept);
	EXPECT_EQ(0, hwt_flush(self->hwt));
}

TEST_F(library, what_a_loop_cannot_serve_is_told)
{
	struct hwt *blocking;

	EXPECT_EQ(0, hwt_dispatch_check(self->hwt));
	ASSERT_EQ(0, hwt_open(&blocking, 0));
	EXPECT_EQ(-EINVAL, hwt_dispatch_check(blocking));
	hwt_close(blocking);
}

/* A set of the clock is reported once, whatever events come with it. */
TEST_F(library, set_clock_is_told_by_dispatch)
{
	struct hwtimer_setup setup = { .clock = HWTIMER_CLOCK_REALTIME,
				       .flags =
					       HWTIMER_SETUP_REPORT_CLOCK_SET };
	struct calls calls = { .hwt = self->hwt };
	struct timespec time;

	ASSERT_EQ(0, hwt_setup(self->hwt, &setup));
	ASSERT_EQ(0, hwt_schedule_at(self->hwt, clock_ns(CLOCK_REALTIME) + HOUR,
				     0, NULL));
	ASSERT_EQ(0, clock_gettime(CLOCK_REALTIME, &time));
	time.tv_sec += 2 * 3600;
	ASSERT_EQ(0, clock_settime(CLOCK_REALTIME, &time));
	/* The timer's event and the report come in either order. */
	for (int told = 0; told < 1 || calls.count < 1;) {
		int ret;

		ASSERT_NE(0, dev_poll(hwt_fd(self->hwt), POLLIN, -1));
		ret = hwt_dispatch(self->hwt, count_and_go_on, &calls, 10);
		told += ret == -ECANCELED;
		ASSERT_GE(1, told);
	}
	time.tv_sec -= 2 * 3600;
	ASSERT_EQ(0, clock_settime(CLOCK_REALTIME, &time));
}

/*
 * A periodic timer whose event the library has read is pending again. It can be cancelled, and the
 * event still comes; or the event goes with it.
 */
TEST_F(library, event_that_was_read_comes)
{
	struct hwtimer_request request = { .time = 0, .interval = HOUR };
	struct hwtimer_event event;
	__u64 ids[2], first;

	ASSERT_EQ(0, hwt_schedule_request(self->hwt, &request));
	ids[0] = request.id;
	ASSERT_EQ(0, hwt_schedule_request(self->hwt, &request));
	ids[1] = request.id;
	ASSERT_TRUE(dev_wait_ready(hwt_fd(self->hwt), 2));
	ASSERT_EQ(1, hwt_next(self->hwt, &event));
	first = event.id;
	EXPECT_EQ(1, hwt_cancel(self->hwt, ids[first == ids[0]]));
	ASSERT_EQ(1, hwt_next(self->hwt, &event));
	EXPECT_EQ(ids[first == ids[0]], event.id);
	EXPECT_EQ(-EAGAIN, hwt_next(self->hwt, &event));
	EXPECT_EQ(0, hwt_cancel(self->hwt, first));
	ASSERT_EQ(0, hwt_schedule_request(self->hwt, &request));
	ids[0] = request.id;
	ASSERT_EQ(0, hwt_schedule_request(self->hwt, &request));
	ids[1] = request.id;
	ASSERT_TRUE(dev_wait_ready(hwt_fd(self->hwt), 2));
	ASSERT_EQ(1, hwt_next(self->hwt, &event));
	EXPECT_EQ(0, hwt_discard(self->hwt, ids[event.id == ids[0]]));
	EXPECT_EQ(-EAGAIN, hwt_next(self->hwt, &event));
}

/* The structures of a newer program may be longer than the library's. */
TEST_F(library, structures_of_a_newer_header)
{
	struct {
		struct hwtimer_info info;
		char beyond[64];
	} room, zero = { 0 };

	memset(&room, 0x5a, sizeof(room));
	ASSERT_EQ(0, hwt_info_sized(self->hwt, &room.info, sizeof(room)));
	EXPECT_EQ(HWTIMER_ABI_VERSION, room.info.abi_version);
	EXPECT_EQ(0, memcmp(room.beyond, zero.beyond, sizeof(room.beyond)));
	EXPECT_EQ(-EINVAL,
		  hwt_info_sized(self->hwt, &room.info, sizeof(room.info) - 1));
}

TEST_F(library, callbacks_may_schedule)
{
	struct calls calls = { .hwt = self->hwt };

	ASSERT_EQ(0, hwt_schedule(self->hwt, 0, 20, NULL));
	while (calls.count < 21) {
		ASSERT_EQ(POLLIN, dev_poll(hwt_fd(self->hwt), POLLIN, -1));
		ASSERT_LT(0, hwt_dispatch(self->hwt, count_and_go_on, &calls,
					  1000));
	}
	EXPECT_EQ(21, calls.count);
}

TEST_F(library, list_goes_on_where_it_ended)
{
	struct hwtimer_timer timers[4];
	uint64_t cursor = 0, ids[5], before;
	unsigned int got = 0;
	int ret;

	EXPECT_EQ(0, hwt_list(self->hwt, &cursor, timers, 4));
	for (unsigned int i = 0; i < 5; i++)
		ASSERT_EQ(0, hwt_schedule(self->hwt, HOUR, i, &ids[i]));
	EXPECT_EQ(-EINVAL, hwt_list(self->hwt, &cursor, timers, 0));
	EXPECT_EQ(-EFAULT, hwt_list(self->hwt, &cursor, NULL, 4));
	cursor = 0;
	while ((ret = hwt_list(self->hwt, &cursor, timers, 4)) > 0) {
		for (int i = 0; i < ret; i++, got++) {
			EXPECT_EQ(ids[timers[i].user_data], timers[i].id);
			ids[timers[i].user_data] = 0;
		}
		before = cursor;
	}
	EXPECT_EQ(0, ret);
	EXPECT_EQ(5, got);
	EXPECT_EQ(before, cursor);
	EXPECT_EQ(0, hwt_list(self->hwt, &cursor, timers, 4));
}

/* ---- descriptors that somebody else has opened ---- */

/* Makes the library use a descriptor that a test has opened. */
static struct hwt *adopt(struct __test_metadata *_metadata, int fd,
			 unsigned int flags)
{
	struct hwt *hwt = NULL;

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, hwt_from_fd(&hwt, fd, flags));
	ASSERT_NE(NULL, hwt);
	EXPECT_EQ(fd, hwt_fd(hwt));
	return hwt;
}

TEST(from_fd_finds_what_is_there)
{
	int fd = result_of(open(DEVICE, O_RDWR));
	__u64 id = dev_after(fd, HOUR, 42);
	struct hwt *hwt = adopt(_metadata, fd, 0);
	struct hwtimer_timer timer;
	uint64_t cursor = 0;

	ASSERT_EQ(1, hwt_list(hwt, &cursor, &timer, 1));
	EXPECT_EQ(id, timer.id);
	EXPECT_EQ(42, timer.user_data);
	EXPECT_EQ(0, hwt_cancel(hwt, id));
	hwt_close(hwt);
	EXPECT_EQ(-EBADF, dev_notify(fd, 0, 0));
}

/* Close-on-exec is the descriptor's own; O_NONBLOCK is shared by all its duplicates. */
TEST(from_fd_sets_flags)
{
	int fd = result_of(open(DEVICE, O_RDWR)), other = dup(fd);
	struct hwt *hwt = adopt(_metadata, fd, 0);

	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	EXPECT_EQ(0, fcntl(other, F_GETFD));
	EXPECT_EQ(0, fcntl(other, F_GETFL) & O_NONBLOCK);
	EXPECT_EQ(-EINVAL, hwt_dispatch_check(hwt));
	hwt_close(hwt);

	ASSERT_EQ(0, fcntl(other, F_SETFL, O_APPEND));
	hwt = adopt(_metadata, dup(other), HWT_NONBLOCK);
	EXPECT_EQ(O_APPEND | O_NONBLOCK,
		  fcntl(other, F_GETFL) & (O_APPEND | O_NONBLOCK));
	EXPECT_EQ(0, hwt_dispatch_check(hwt));
	hwt_close(hwt);

	/* Without HWT_NONBLOCK, O_NONBLOCK stays as others may have set it. */
	hwt = adopt(_metadata, dup(other), 0);
	EXPECT_NE(0, fcntl(other, F_GETFL) & O_NONBLOCK);
	hwt_close(hwt);
	EXPECT_EQ(0, close(other));
}

/* Expects that @fd is refused, and is as it was. */
static void expect_refused(struct __test_metadata *_metadata, int fd, int error)
{
	int descriptor = fcntl(fd, F_GETFD), status = fcntl(fd, F_GETFL);
	struct hwt *hwt = (struct hwt *)1;

	EXPECT_EQ(error, hwt_from_fd(&hwt, fd, HWT_NONBLOCK));
	EXPECT_EQ(NULL, hwt);
	EXPECT_EQ(descriptor, fcntl(fd, F_GETFD));
	EXPECT_EQ(status, fcntl(fd, F_GETFL));
	close(fd);
}

TEST(from_fd_refuses_what_is_no_hwtimer)
{
	int fd = dev_open(0), sockets[2];
	struct hwt *hwt;

	EXPECT_EQ(-EINVAL, hwt_from_fd(&hwt, fd, ~HWT_NONBLOCK));
	EXPECT_EQ(0, close(fd));
	expect_refused(_metadata, fd, -EBADF);
	expect_refused(_metadata, -1, -EBADF);
	expect_refused(_metadata, INT_MAX, -EBADF);
	expect_refused(_metadata, open(DEVICE, O_PATH), -EBADF);
	expect_refused(_metadata, open("/dev/null", O_RDWR), -ENOTTY);
	expect_refused(_metadata, open("/", O_RDONLY), -ENOTTY);
	expect_refused(_metadata, make_eventfd(), -ENOTTY);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	expect_refused(_metadata, sockets[0], -ENOTTY);
	close(sockets[1]);
}

/* Opens the misc device @name of another driver; returns -1 if this kernel lacks it. */
static int open_misc(const char *name)
{
	const char *path = "misc-device";
	char line[64], found[32];
	int fd = -1, minor;
	FILE *misc = fopen("/proc/misc", "r");

	while (misc && fd < 0 && fgets(line, sizeof(line), misc)) {
		if (sscanf(line, "%d %31s", &minor, found) != 2 ||
		    strcmp(name, found))
			continue;
		unlink(path);
		if (!mknod(path, S_IFCHR | 0600, makedev(10, minor)))
			fd = open(path, O_RDONLY);
		unlink(path);
	}
	if (misc)
		fclose(misc);
	return fd;
}

/* They have the major number of hwtimer, and refuse the ioctl with various errors. */
TEST(from_fd_refuses_other_misc_devices)
{
	static const char *const names[] = { "cpu_dma_latency", "userfaultfd",
					     "loop-control" };
	unsigned int refused = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		int fd = open_misc(names[i]);

		if (fd < 0)
			continue;
		TH_LOG("%s", names[i]);
		expect_refused(_metadata, fd, -ENOTTY);
		refused++;
	}
	if (!refused)
		SKIP(return, "this kernel has no such device");
}

/*
 * A process opens an instance, passes it on, and ends. The other one goes on: it lists
 * the timers, and gets the events that nobody has read.
 */
TEST(instance_outlives_the_process_that_opened_it)
{
	struct hwtimer_timer timers[4];
	struct hwtimer_event event;
	uint64_t cursor = 0;
	struct hwt *hwt;
	int sockets[2];
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	pid = fork();
	if (!pid) {
		if (hwt_open(&hwt, HWT_NONBLOCK) ||
		    hwt_schedule(hwt, 0, 1, NULL) ||
		    hwt_schedule(hwt, HOUR, 2, NULL) ||
		    send_descriptor(sockets[1], hwt_fd(hwt)) != 1)
			_exit(1);
		hwt_close(hwt);
		_exit(0);
	}
	ASSERT_EQ(0, wait_for_child(pid));
	hwt = adopt(_metadata, receive_descriptor(sockets[0]), HWT_NONBLOCK);
	ASSERT_TRUE(dev_wait_ready(hwt_fd(hwt), 1));
	ASSERT_EQ(2, hwt_list(hwt, &cursor, timers, 4));
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(timers[i].user_data == 1 ? HWTIMER_STATE_EXPIRED :
						     HWTIMER_STATE_PENDING,
			  timers[i].state);
	ASSERT_EQ(1, hwt_next(hwt, &event));
	EXPECT_EQ(1, event.user_data);
	ASSERT_EQ(0, hwt_schedule(hwt, 0, 3, NULL));
	ASSERT_EQ(1, wait_next(hwt, &event));
	EXPECT_EQ(3, event.user_data);
	hwt_close(hwt);
	close(sockets[0]);
	close(sockets[1]);
}

static void *schedule_and_cancel(void *arg)
{
	struct hwt *hwt = *(struct hwt **)arg;
	uintptr_t errors = 0;

	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t id;

		errors += !!hwt_schedule(hwt, HOUR, i, &id);
		errors += !!hwt_reschedule(hwt, id, 2 * HOUR);
		errors += !!hwt_cancel(hwt, id);
	}
	return (void *)errors;
}

TEST_F(library, threads_share_an_instance)
{
	pthread_t threads[4];
	void *errors;

	for (unsigned int i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL,
					    schedule_and_cancel, &self->hwt));
	for (unsigned int i = 0; i < 4; i++) {
		ASSERT_EQ(0, pthread_join(threads[i], &errors));
		EXPECT_EQ(NULL, errors);
	}
	EXPECT_EQ(4000, stats_of(hwt_fd(self->hwt)).cancelled);
}

TEST_HARNESS_MAIN
