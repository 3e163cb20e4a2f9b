// SPDX-License-Identifier: GPL-2.0
/*
 * LIST: all timers of an instance, page by page, and none is taken. Whatever happens to a
 * timer meanwhile, it is listed exactly once if it exists all the while.
 */
#include "missing.h"
#include "hwtimer_test.h"

#define N 300

/* A page of a listing, of any length, and more room than a hold of the lock handles */
#define PAGE 1000

static struct hwtimer_list list_argument(struct hwtimer_timer *timers,
					 unsigned int count)
{
	return (struct hwtimer_list){
		.timers = (uintptr_t)timers,
		.count = count,
	};
}

/*
 * Lists all timers, up to @page in a call. Returns their number, which must not exceed
 * @room.
 */
static unsigned int list_all(struct __test_metadata *_metadata, int fd,
			     struct hwtimer_timer *timers, unsigned int room,
			     unsigned int page)
{
	unsigned int listed = 0;
	__u64 cursor = 0;

	for (;;) {
		struct hwtimer_timer more[PAGE];
		int ret = dev_list(fd, more, page, &cursor);

		if (ret == -EINTR)
			continue;
		ASSERT_LE(0, ret);
		ASSERT_GE(page, ret);
		ASSERT_GE(room - listed, ret);
		if (!ret)
			return listed;
		memcpy(timers + listed, more, ret * sizeof(*timers));
		listed += ret;
	}
}

/* Lists the only timer of an instance. */
static struct hwtimer_timer list_one(struct __test_metadata *_metadata, int fd)
{
	struct hwtimer_timer timer = { 0 };

	EXPECT_EQ(1, list_all(_metadata, fd, &timer, 1, 1));
	return timer;
}

/* Expects that QUERY describes a timer as LIST did, but that less time may remain. */
static void expect_as_query(struct __test_metadata *_metadata, int fd,
			    const struct hwtimer_timer *timer)
{
	struct hwtimer_timer query = query_of(_metadata, fd, timer->id);

	EXPECT_LE(query.remaining, timer->remaining);
	query.remaining = timer->remaining;
	EXPECT_LE(timer->expirations, query.expirations);
	query.expirations = timer->expirations;
	EXPECT_EQ(0, memcmp(timer, &query, sizeof(query)));
}

/*
 * Expects that the user_data of the timers in a listing are the numbers below @n, each
 * once.
 */
static void expect_numbers(struct __test_metadata *_metadata,
			   const struct hwtimer_timer *timers, unsigned int n)
{
	bool *came = calloc(n, sizeof(*came));

	ASSERT_NE(NULL, came);
	for (unsigned int i = 0; i < n; i++) {
		ASSERT_GT(n, timers[i].user_data);
		EXPECT_FALSE(came[timers[i].user_data]);
		came[timers[i].user_data] = true;
	}
	free(came);
}

/* ---- what is listed ---- */

TEST_F(hwtimer, nothing_is_listed_of_an_unused_instance)
{
	struct hwtimer_info info;
	__u64 cursor = 0;

	EXPECT_EQ(0, dev_list(self->fd, NULL, 1, &cursor));
	EXPECT_EQ(0, cursor);
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(0, info.started);
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(0, dev_list(self->fd, NULL, 1, &cursor));
}

TEST_F(hwtimer, nothing_is_listed_when_all_timers_have_ended)
{
	__u64 id = dev_after(self->fd, HOUR, 0);
	struct hwtimer_timer timer;

	ASSERT_EQ(0, dev_cancel(self->fd, id, 0));
	EXPECT_EQ(0, list_all(_metadata, self->fd, &timer, 1, 1));
}

TEST_F(hwtimer, pending_timer)
{
	__u64 deadline = now_ns() + HOUR, before, after;
	__u64 id = dev_at(self->fd, deadline, 99);
	struct hwtimer_timer timer;

	before = now_ns();
	timer = list_one(_metadata, self->fd);
	after = now_ns();
	EXPECT_EQ(id, timer.id);
	EXPECT_EQ(99, timer.user_data);
	EXPECT_EQ(deadline, timer.deadline);
	EXPECT_GE(deadline - before, timer.remaining);
	EXPECT_LE(deadline - after, timer.remaining);
	EXPECT_EQ(0, timer.interval);
	EXPECT_EQ(0, timer.slack);
	EXPECT_EQ(0, timer.expirations_left);
	EXPECT_EQ(0, timer.flags);
	EXPECT_EQ(HWTIMER_STATE_PENDING, timer.state);
	EXPECT_EQ(0, timer.expirations);
	expect_as_query(_metadata, self->fd, &timer);
}

TEST_F(hwtimer, timer_with_slack)
{
	struct hwtimer_timer timer;

	ASSERT_NE(0, dev_add(self->fd, (struct hwtimer_request){
					       .time = HOUR,
					       .slack = SEC,
				       }));
	timer = list_one(_metadata, self->fd);
	EXPECT_LT(SEC / 4, timer.slack);
	EXPECT_GE(SEC, timer.slack);
	expect_as_query(_metadata, self->fd, &timer);
}

TEST_F(hwtimer, periodic_timer)
{
	struct hwtimer_timer timer;

	ASSERT_NE(0, dev_add(self->fd, (struct hwtimer_request){
					       .flags = HWTIMER_REQ_FIXED_DELAY,
					       .time = HOUR,
					       .interval = 2 * HOUR,
					       .user_data = 1ULL << 63,
					       .expirations_max = 7,
				       }));
	timer = list_one(_metadata, self->fd);
	EXPECT_EQ(1ULL << 63, timer.user_data);
	EXPECT_EQ(2 * HOUR, timer.interval);
	EXPECT_EQ(7, timer.expirations_left);
	EXPECT_EQ(HWTIMER_REQ_FIXED_DELAY, timer.flags);
	EXPECT_EQ(HWTIMER_STATE_PENDING, timer.state);
	EXPECT_EQ(0, timer.expirations);
	expect_as_query(_metadata, self->fd, &timer);
}

TEST_F(hwtimer, parked_timer)
{
	struct hwtimer_timer timer;

	ASSERT_NE(0, dev_at(self->fd, HWTIMER_NEVER, 0));
	timer = list_one(_metadata, self->fd);
	EXPECT_EQ(HWTIMER_NEVER, timer.deadline);
	EXPECT_EQ(HWTIMER_NEVER, timer.remaining);
	expect_as_query(_metadata, self->fd, &timer);
}

TEST_F(hwtimer, rescheduled_timer)
{
	__u64 id = dev_after(self->fd, HOUR, 5), deadline = now_ns() + 3 * HOUR;
	struct hwtimer_timer timer;

	ASSERT_EQ(0, dev_reschedule(self->fd, id, 0, HOUR / 2));
	ASSERT_EQ(0,
		  dev_reschedule(self->fd, id, HWTIMER_REQ_ABSTIME, deadline));
	timer = list_one(_metadata, self->fd);
	EXPECT_EQ(id, timer.id);
	EXPECT_EQ(5, timer.user_data);
	EXPECT_EQ(deadline, timer.deadline);
}

TEST_F(hwtimer, expired_timer)
{
	__u64 deadline = now_ns() - MS;
	__u64 id = dev_at(self->fd, deadline, 99);
	struct hwtimer_timer timer;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	timer = list_one(_metadata, self->fd);
	EXPECT_EQ(id, timer.id);
	EXPECT_EQ(99, timer.user_data);
	EXPECT_EQ(deadline, timer.deadline);
	EXPECT_EQ(0, timer.remaining);
	EXPECT_EQ(HWTIMER_STATE_EXPIRED, timer.state);
	EXPECT_EQ(1, timer.expirations);
	expect_as_query(_metadata, self->fd, &timer);
}

/* The event of a periodic timer grows until it is read. */
TEST_F(hwtimer, expired_periodic_timer)
{
	struct hwtimer_timer timer;
	struct hwtimer_event event;
	__u64 id;

	id = dev_add(self->fd, (struct hwtimer_request){
				       .time = 0,
				       .interval = 10 * MS,
				       .expirations_max = 1000000,
			       });
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	sleep_ns(50 * MS);
	timer = list_one(_metadata, self->fd);
	EXPECT_EQ(id, timer.id);
	EXPECT_EQ(HWTIMER_STATE_EXPIRED, timer.state);
	EXPECT_LE(5, timer.expirations);
	EXPECT_EQ(1000000, timer.expirations_left);
	expect_as_query(_metadata, self->fd, &timer);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_LE(timer.expirations, event.expirations);
	EXPECT_EQ(timer.deadline, event.deadline);
}

/* If CANCEL returns 1, what waits is the timer's last event. */
TEST_F(hwtimer, last_event_of_a_periodic_timer)
{
	__u64 id = dev_every(self->fd, 0, 10 * MS, 0);
	struct hwtimer_timer timer;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(0, list_one(_metadata, self->fd).expirations_left);
	ASSERT_EQ(1, dev_cancel(self->fd, id, 0));
	timer = list_one(_metadata, self->fd);
	EXPECT_EQ(HWTIMER_STATE_EXPIRED, timer.state);
	EXPECT_EQ(timer.expirations_left, timer.expirations);
}

TEST_F(hwtimer, discarded_event_is_not_listed)
{
	struct hwtimer_timer timers[4];
	__u64 ids[3];

	ASSERT_EQ(3, dev_schedule_many(self->fd, 3, 0, 0, ids));
	ASSERT_TRUE(dev_wait_ready(self->fd, 3));
	ASSERT_EQ(0, dev_cancel(self->fd, ids[1], HWTIMER_REQ_DISCARD));
	ASSERT_EQ(2, list_all(_metadata, self->fd, timers, 4, 4));
	EXPECT_NE(ids[1], timers[0].id);
	EXPECT_NE(ids[1], timers[1].id);
}

TEST_F(hwtimer, nothing_is_taken)
{
	struct hwtimer_timer timers[2 * N];
	struct hwtimer_timer rest[N];
	struct hwtimer_stats before, after;

	make_ready(_metadata, self->fd, N);
	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	before = stats_of(self->fd);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(2 * N,
			  list_all(_metadata, self->fd, timers, 2 * N, PAGE));
	after = stats_of(self->fd);
	EXPECT_EQ(before.pending, after.pending);
	EXPECT_EQ(before.ready, after.ready);
	EXPECT_EQ(before.delivered, after.delivered);
	EXPECT_EQ(POLLIN, dev_poll(self->fd, POLLIN, 0));
	EXPECT_EQ(N, dev_discard_events(self->fd, N));
	EXPECT_EQ(N, dev_stop(self->fd, rest, N, NULL));
}

TEST_F(hwtimer, stopped_instance)
{
	struct hwtimer_timer timers[N];
	struct hwtimer_timer rest[N];
	struct hwtimer_event event;

	make_ready(_metadata, self->fd, 1);
	ASSERT_EQ(9, dev_schedule_many(self->fd, 9, 0, HOUR, NULL));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	EXPECT_EQ(10, list_all(_metadata, self->fd, timers, N, PAGE));
	ASSERT_EQ(4, dev_stop(self->fd, rest, 4, NULL));
	EXPECT_EQ(6, list_all(_metadata, self->fd, timers, N, PAGE));
	for (int i = 0; i < 6; i++)
		for (int j = 0; j < 4; j++)
			EXPECT_NE(rest[j].id, timers[i].id);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	ASSERT_EQ(5, dev_stop(self->fd, rest, 9, NULL));
	EXPECT_EQ(0, list_all(_metadata, self->fd, timers, N, PAGE));
}

/* Whether a timer is asked for, listed or handed back, it is described in the same way. */
TEST_F(hwtimer, timers_are_handed_back_as_they_are_listed)
{
	const struct hwtimer_request requests[] = {
		{ .time = HOUR, .user_data = 1 },
		{ .time = HWTIMER_NEVER, .user_data = 2 },
		{ .time = HOUR, .slack = 100 * SEC },
		{ .time = HOUR, .interval = SEC, .expirations_max = 3 },
		{ .flags = HWTIMER_REQ_FIXED_DELAY,
		  .time = HOUR,
		  .interval = MS },
	};
	const unsigned int n = ARRAY_SIZE(requests);
	struct hwtimer_timer listed[8], ended[8];
	__u64 cursor = 0;

	for (unsigned int i = 0; i < n; i++)
		ASSERT_NE(0, dev_add(self->fd, requests[i]));
	ASSERT_EQ(n, list_all(_metadata, self->fd, listed, 8, 8));
	for (unsigned int i = 0; i < n; i++)
		expect_as_query(_metadata, self->fd, &listed[i]);
	ASSERT_EQ(n, dev_cancel_some(self->fd, 0, ended, 8, &cursor));
	for (unsigned int i = 0; i < n; i++) {
		EXPECT_LE(ended[i].remaining, listed[i].remaining);
		ended[i].remaining = listed[i].remaining;
	}
	EXPECT_EQ(0, memcmp(listed, ended, n * sizeof(*ended)));
}

/* ---- pages ---- */

TEST_F(hwtimer, pages_of_any_length)
{
	const unsigned int pages[] = { 1, 2, 7, 255, 256, 257, N - 1, N, PAGE };
	struct hwtimer_timer timers[N];

	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	for (unsigned int i = 0; i < ARRAY_SIZE(pages); i++) {
		ASSERT_EQ(N,
			  list_all(_metadata, self->fd, timers, N, pages[i]));
		expect_numbers(_metadata, timers, N);
	}
}

/* A page is full unless a signal or the end comes. */
TEST_F(hwtimer, many_timers_in_one_call)
{
	unsigned int n = scaled(100000);
	struct hwtimer_timer *timers = calloc(n + 1, sizeof(*timers));
	__u64 cursor = 0;

	ASSERT_NE(NULL, timers);
	ASSERT_EQ(n, dev_schedule_many(self->fd, n, 0, HOUR, NULL));
	ASSERT_EQ(n, dev_list(self->fd, timers, n + 1, &cursor));
	expect_numbers(_metadata, timers, n);
	EXPECT_EQ(0, dev_list(self->fd, timers, n, &cursor));
	EXPECT_EQ(0, dev_list(self->fd, timers, n, &cursor));
	cursor = 0;
	ASSERT_EQ(n - 1, dev_list(self->fd, timers, n - 1, &cursor));
	ASSERT_EQ(1, dev_list(self->fd, timers + n - 1, 1, &cursor));
	expect_numbers(_metadata, timers, n);
	free(timers);
}

/* Few timers are left among records that many others have left. */
TEST_F(hwtimer, few_timers_far_apart)
{
	unsigned int n = scaled(50000), left = 0;
	struct hwtimer_timer timers[64];
	__u64 *ids = calloc(n, sizeof(*ids));
	__u64 cursor = 0;

	ASSERT_NE(NULL, ids);
	ASSERT_EQ(n, dev_schedule_many(self->fd, n, 0, HOUR, ids));
	for (unsigned int i = 0; i < n; i++)
		if (i % 1000 == 999)
			left++;
		else
			ASSERT_EQ(0, dev_cancel(self->fd, ids[i], 0));
	EXPECT_EQ(left, dev_list(self->fd, timers, 64, &cursor));
	EXPECT_EQ(left, list_all(_metadata, self->fd, timers, 64, 1));
	for (unsigned int i = 0; i < left; i++)
		EXPECT_EQ(999, timers[i].user_data % 1000);
	free(ids);
}

TEST_F(hwtimer, array_is_written_as_far_as_the_result_says)
{
	struct hwtimer_timer timers[8], untouched;
	__u64 cursor = 0;

	memset(timers, 0x5a, sizeof(timers));
	memset(&untouched, 0x5a, sizeof(untouched));
	ASSERT_EQ(3, dev_schedule_many(self->fd, 3, 0, HOUR, NULL));
	ASSERT_EQ(3, dev_list(self->fd, timers, 8, &cursor));
	for (int i = 3; i < 8; i++)
		EXPECT_EQ(0, memcmp(&untouched, &timers[i], sizeof(untouched)));
}

/* ---- what is refused ---- */

TEST_F(hwtimer, bad_counts_are_einval)
{
	struct hwtimer_timer timer;
	struct hwtimer_list list;

	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	list = list_argument(&timer, 0);
	EXPECT_EQ(-EINVAL, dev_ioctl(self->fd, HWTIMER_IOC_LIST, &list));
	list = list_argument(&timer, 1U << 31);
	EXPECT_EQ(-EINVAL, dev_ioctl(self->fd, HWTIMER_IOC_LIST, &list));
	list = list_argument(&timer, INT_MAX);
	EXPECT_EQ(1, dev_ioctl(self->fd, HWTIMER_IOC_LIST, &list));
}

/* LIST ends nothing, whatever the flags of CANCEL_ALL say. */
TEST_F(hwtimer, flags_of_cancel_all_are_ignored)
{
	struct hwtimer_timer timers[2];
	struct hwtimer_list list = list_argument(timers, 2);

	make_ready(_metadata, self->fd, 1);
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	list.flags = HWTIMER_LIST_STOP | HWTIMER_LIST_DISCARD;
	EXPECT_EQ(2, dev_ioctl(self->fd, HWTIMER_IOC_LIST, &list));
	EXPECT_EQ(1, stats_of(self->fd).pending);
	EXPECT_EQ(1, stats_of(self->fd).ready);
	EXPECT_NE(0, dev_after(self->fd, HOUR, 0));
}

TEST_F(hwtimer, any_cursor_is_harmless)
{
	struct hwtimer_timer timers[N];
	unsigned int seed = 1;

	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	for (unsigned int i = 0; i < 64; i++) {
		__u64 cursor = 1ULL << i;

		EXPECT_LE(0, dev_list(self->fd, timers, N, &cursor));
		cursor = 0 - (1ULL << i);
		EXPECT_EQ(0, dev_list(self->fd, timers, N, &cursor));
	}
	for (unsigned int i = 0; i < 1000; i++) {
		__u64 cursor = (__u64)next_random(&seed) << seed % 40;
		int ret = dev_list(self->fd, timers, N, &cursor);

		ASSERT_LE(0, ret);
		ASSERT_GE(N, ret);
	}
}

/* ---- bad addresses ---- */

TEST_F(hwtimer, bad_array_is_efault)
{
	struct hwtimer_timer zeroes[8] = { 0 };
	struct hwtimer_timer *copy = read_only_copy(zeroes, sizeof(zeroes));
	__u64 cursor = 0;

	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	EXPECT_EQ(-EFAULT, dev_list(self->fd, NULL, N, &cursor));
	EXPECT_EQ(-EFAULT, dev_list(self->fd, bad_address(), N, &cursor));
	EXPECT_EQ(-EFAULT, dev_list(self->fd, copy, 8, &cursor));
	EXPECT_EQ(-EFAULT, dev_list(self->fd, page_edge(24), 1, &cursor));
	/* The cursor has not passed a timer. */
	EXPECT_EQ(N, dev_list(self->fd,
			      page_edge(N * sizeof(struct hwtimer_timer)), N,
			      &cursor));
}

/* Beyond half of the @fit + 1st element, the array faults. */
static void check_half_way(struct __test_metadata *_metadata, int fd,
			   unsigned int fit)
{
	const size_t one = sizeof(struct hwtimer_timer);
	struct hwtimer_timer *edge = page_edge(fit * one + one / 2);
	struct hwtimer_timer timers[N];
	__u64 cursor = 0;
	int got;

	got = dev_list(fd, edge, N, &cursor);
	ASSERT_LE(1, got);
	ASSERT_GE(fit, got);
	memcpy(timers, edge, got * one);
	ASSERT_EQ(N - got, dev_list(fd, timers + got, N - got, &cursor));
	expect_numbers(_metadata, timers, N);
}

TEST_F(hwtimer, array_that_faults_half_way_loses_nothing)
{
	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	check_half_way(_metadata, self->fd, 1);
	check_half_way(_metadata, self->fd, 20);
	check_half_way(_metadata, self->fd, 256);
	check_half_way(_metadata, self->fd, 280);
}

/* ---- signals ---- */

/* A listing that signals cut into short pages is complete all the same. */
TEST_F(hwtimer, signals_end_it_early_and_lose_nothing)
{
	unsigned int n = scaled(200000), got = 0, calls = 0;
	struct hwtimer_timer *timers = calloc(n, sizeof(*timers));
	__u64 cursor = 0;

	ASSERT_NE(NULL, timers);
	ASSERT_EQ(n, dev_schedule_many(self->fd, n, 0, HOUR, NULL));
	memset(timers, 0xff, n * sizeof(*timers));
	interrupt_every(2000);
	for (; got < n; calls++) {
		int ret = dev_list(self->fd, timers + got, n - got, &cursor);

		if (ret != -EINTR) {
			ASSERT_LT(0, ret);
			got += ret;
		}
	}
	interrupt_every(0);
	TH_LOG("%u timers in %u calls", n, calls);
	expect_numbers(_metadata, timers, n);
	free(timers);
}

/*
 * All records but the last are unused. A signal ends a call that has found nothing, and
 * the next one goes on where that ended: however many signals come, the listing ends.
 */
TEST_F(hwtimer, signals_end_a_call_that_finds_nothing)
{
	unsigned int n = scaled(200000), interrupted = 0;
	__u64 *ids = calloc(n, sizeof(*ids));
	struct hwtimer_timer timer;

	ASSERT_NE(NULL, ids);
	ASSERT_EQ(n, dev_schedule_many(self->fd, n, 0, HOUR, ids));
	ASSERT_EQ(n - 1, dev_cancel_many(self->fd, n - 1, ids));
	interrupt_every(500);
	while (interrupted < 10) {
		__u64 cursor = 0, before = 0;
		int ret;

		while ((ret = dev_list(self->fd, &timer, 1, &cursor)) ==
		       -EINTR) {
			ASSERT_LT(before, cursor);
			before = cursor;
			interrupted++;
		}
		ASSERT_EQ(1, ret);
		ASSERT_EQ(n - 1, timer.user_data);
	}
	interrupt_every(0);
	free(ids);
}

/* ---- beside others ---- */

#define LASTING \
	1000 /* timers that exist all the while; their user_data is lower */

/* What threads do while the test lists */
struct unrest {
	int fd;
	bool stop;
	bool stopped; /* the instance is */
	unsigned int failures;
	__u64 ids[LASTING];
};

static bool unrest_goes_on(const struct unrest *unrest)
{
	return !__atomic_load_n(&unrest->stop, __ATOMIC_RELAXED);
}

static void unrest_failed(struct unrest *unrest)
{
	__atomic_add_fetch(&unrest->failures, 1, __ATOMIC_RELAXED);
}

/* Moves the first half of the lasting timers; none becomes due. */
static void *move_some(void *arg)
{
	struct unrest *unrest = arg;
	unsigned int seed = 1;

	while (unrest_goes_on(unrest)) {
		__u64 id = unrest->ids[next_random(&seed) % (LASTING / 2)];

		if (dev_reschedule(unrest->fd, id, 0,
				   HOUR + next_random(&seed) * MS))
			unrest_failed(unrest);
	}
	return NULL;
}

/* Timers and events that there may be before churn() waits for those who take them */
#define CROWD 10000

/* Schedules timers that expire soon, and cancels half of them. */
static void *churn(void *arg)
{
	struct unrest *unrest = arg;
	__u64 ids[64];

	while (unrest_goes_on(unrest)) {
		struct hwtimer_stats stats = stats_of(unrest->fd);
		struct hwtimer_request requests[64];

		/* A machine may not run the reader, or the worker, for a while. */
		if (stats.pending + stats.ready > CROWD) {
			sched_yield();
			continue;
		}

		fill_schedules(requests, 64, 0, MS, LASTING);
		if (dev_submit(unrest->fd, requests, 64) != 64)
			unrest_failed(unrest);
		for (int i = 0; i < 64; i++) {
			ids[i] = requests[i].id;
			if (requests[i].result)
				unrest_failed(unrest);
		}
		dev_cancel_many(unrest->fd, 32, ids);
	}
	return NULL;
}

static void *read_on(void *arg)
{
	struct unrest *unrest = arg;
	struct hwtimer_event events[64];

	while (unrest_goes_on(unrest)) {
		if (dev_read(unrest->fd, events, 64) == -EAGAIN)
			dev_poll(unrest->fd, POLLIN, 1);
	}
	return NULL;
}

/* Reads or, once the instance is stopped, has timers handed back, but nowhere. */
static void *take_in_vain(void *arg)
{
	struct unrest *unrest = arg;
	void *nowhere = bad_address();

	while (unrest_goes_on(unrest)) {
		int ret = dev_read(unrest->fd, nowhere, 64);

		if (ret != -EFAULT && ret != -EAGAIN && ret != 0)
			unrest_failed(unrest);
		if (!__atomic_load_n(&unrest->stopped, __ATOMIC_RELAXED))
			continue;
		ret = dev_stop(unrest->fd, nowhere, 64, NULL);
		if (ret != -EFAULT && ret != -EAGAIN)
			unrest_failed(unrest);
	}
	return NULL;
}

static int compare_ids(const void *a, const void *b)
{
	const struct hwtimer_timer *first = a, *second = b;

	return first->id < second->id ? -1 : first->id > second->id;
}

/* Expects that each lasting timer is in a listing once, and no other one twice. */
static void expect_listing(struct __test_metadata *_metadata,
			   const struct unrest *unrest,
			   struct hwtimer_timer *timers, unsigned int listed)
{
	unsigned int lasting = 0;

	qsort(timers, listed, sizeof(*timers), compare_ids);
	for (unsigned int i = 0; i < listed; i++) {
		if (i)
			ASSERT_NE(timers[i - 1].id, timers[i].id);
		if (timers[i].user_data >= LASTING)
			continue;
		ASSERT_EQ(unrest->ids[timers[i].user_data], timers[i].id);
		lasting++;
	}
	ASSERT_EQ(LASTING, lasting);
}

/* Whether all that the threads are there for has happened to timers of an instance */
static bool all_happened(int fd)
{
	struct hwtimer_stats stats = stats_of(fd);

	return stats.rearmed && stats.rescheduled && stats.cancelled;
}

/*
 * Lists again and again while threads run, in pages of many lengths: for a number of
 * rounds, and until enough has happened, if @happened is a function that tells.
 */
static void list_beside(struct __test_metadata *_metadata,
			struct unrest *unrest, void *(*const *run)(void *),
			unsigned int threads, unsigned int rounds,
			bool (*happened)(int fd))
{
	const unsigned int room = 200000;
	struct hwtimer_timer *timers = calloc(room, sizeof(*timers));
	unsigned int listed = 0, states[3] = { 0 };
	pthread_t thread[4];

	ASSERT_NE(NULL, timers);
	unrest->stop = false;
	for (unsigned int i = 0; i < threads; i++)
		start_threads(&thread[i], 1, run[i], unrest, 0);
	for (unsigned int i = 0;
	     i < rounds || (happened && !happened(unrest->fd)); i++) {
		listed = list_all(_metadata, unrest->fd, timers, room,
				  1 + i * 37 % 500);
		expect_listing(_metadata, unrest, timers, listed);
		for (unsigned int j = 0; j < listed; j++) {
			ASSERT_GE(HWTIMER_STATE_EXPIRED, timers[j].state);
			states[timers[j].state]++;
		}
	}
	__atomic_store_n(&unrest->stop, true, __ATOMIC_RELAXED);
	join_threads(thread, threads);
	EXPECT_EQ(0, unrest->failures);
	EXPECT_EQ(0, states[0]);
	TH_LOG("%u pending, %u expired", states[HWTIMER_STATE_PENDING],
	       states[HWTIMER_STATE_EXPIRED]);
	free(timers);
}

/* Schedules the lasting timers from number @first to @end. */
static void schedule_lasting(struct __test_metadata *_metadata,
			     struct unrest *unrest, unsigned int first,
			     unsigned int end, struct hwtimer_request request)
{
	for (unsigned int i = first; i < end; i++) {
		request.user_data = i;
		unrest->ids[i] = dev_add(unrest->fd, request);
		ASSERT_NE(0, unrest->ids[i]);
	}
}

/* Half of the timers are moved all the time, and half of them expire all the time. */
TEST_F(hwtimer, each_timer_is_listed_once_whatever_happens_to_it)
{
	void *(*const run[])(void *) = { move_some, churn, read_on };
	struct unrest unrest = { .fd = self->fd };

	schedule_lasting(_metadata, &unrest, 0, LASTING / 2,
			 (struct hwtimer_request){ .time = HOUR });
	schedule_lasting(_metadata, &unrest, LASTING / 2, LASTING,
			 (struct hwtimer_request){
				 .time = MS,
				 .interval = 2 * MS,
			 });
	list_beside(_metadata, &unrest, run, 3, scaled(50), all_happened);
}

/* All events are taken by reads that fail, and by CANCEL_ALLs that fail; none is missing. */
TEST_F(hwtimer, no_timer_is_missing_while_reads_fail)
{
	void *(*const run[])(void *) = { take_in_vain, take_in_vain };
	struct unrest unrest = { .fd = self->fd };

	schedule_lasting(_metadata, &unrest, 0, LASTING / 2,
			 (struct hwtimer_request){ .time = 30 * MS });
	schedule_lasting(_metadata, &unrest, LASTING / 2, LASTING,
			 (struct hwtimer_request){ .time = HOUR });
	list_beside(_metadata, &unrest, run, 2, scaled(50), NULL);
	EXPECT_TRUE(dev_wait_ready(self->fd, LASTING / 2));
	list_beside(_metadata, &unrest, run, 2, scaled(50), NULL);
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	unrest.stopped = true;
	list_beside(_metadata, &unrest, run, 2, scaled(50), NULL);
}

/*
 * While a read() or a CANCEL_ALL waits for its page, LIST does not wait for it, and lists the
 * timer. Afterwards the timer is gone.
 */
static void check_taker(struct __test_metadata *_metadata, int fd, bool stops)
{
	struct taker taker = { .fd = fd, .stops = stops };
	struct hwtimer_timer timer;
	__u64 id, cursor = 0, again = 0;
	pthread_t thread;

	if (!missing_make(&taker.missing))
		SKIP(return, "this kernel has no userfaultfd");
	id = dev_after(fd, stops ? HOUR : 0, 0);
	ASSERT_NE(0, id);
	if (!stops)
		ASSERT_TRUE(dev_wait_ready(fd, 1));
	ASSERT_TRUE(start_taker(&thread, &taker));
	EXPECT_EQ(1, dev_list(fd, &timer, 1, &cursor));
	EXPECT_EQ(id, timer.id);
	EXPECT_EQ(stops ? HWTIMER_STATE_PENDING : HWTIMER_STATE_EXPIRED,
		  timer.state);
	EXPECT_EQ(stops ? 0 : 1, timer.expirations);
	EXPECT_TRUE(missing_provide(&taker.missing));
	join_threads(&thread, 1);
	EXPECT_EQ(1, taker.result);
	EXPECT_EQ(0, dev_list(fd, &timer, 1, &again));
	close(taker.missing.fd);
}

TEST_F(hwtimer, timer_that_is_being_read_is_listed)
{
	check_taker(_metadata, self->fd, false);
}

TEST_F(hwtimer, timer_that_is_being_handed_back_is_listed)
{
	check_taker(_metadata, self->fd, true);
}

/* Another process that gets the descriptor lists the same timers. */
TEST_F(hwtimer, all_holders_list_the_same)
{
	struct hwtimer_timer timers[N];
	__u64 cursor = 0;
	int sockets[2];
	pid_t pid;

	ASSERT_EQ(N, dev_schedule_many(self->fd, N, 0, HOUR, NULL));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	pid = fork();
	if (!pid) {
		close(self->fd);
		_exit(dev_list(receive_descriptor(sockets[1]), timers, N,
			       &cursor) == N ?
			      0 :
			      1);
	}
	ASSERT_EQ(1, send_descriptor(sockets[0], self->fd));
	EXPECT_EQ(0, wait_for_child(pid));
	close(sockets[0]);
	close(sockets[1]);
}

TEST_HARNESS_MAIN
