// SPDX-License-Identifier: GPL-2.0
/*
 * The order of events. Events come by tick; within a tick they come in the order in which
 * their timers were scheduled, whether far ahead or near.
 * Also, deadlines a tick and a century away in one instance.
 */
#include "hwtimer_test.h"

FIXTURE(order)
{
	int fd;
	__u64 tick;
};

FIXTURE_VARIANT(order)
{
	__u32 buckets;
	__u64 tick;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(order, default_size)
{
	.buckets = 4096, .tick = MS,
};

FIXTURE_VARIANT_ADD(order, few_buckets)
{
	.buckets = 8, .tick = MS,
};

FIXTURE_VARIANT_ADD(order, finest_tick)
{
	.buckets = 8, .tick = 10 * US,
};

/* clang-format on */

FIXTURE_SETUP(order)
{
	struct hwtimer_setup setup = {
		.buckets = variant->buckets,
		.tick = variant->tick,
		.clock = HWTIMER_CLOCK_MONOTONIC,
	};

	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, dev_setup_as(self->fd, setup));
	self->tick = variant->tick;
}

FIXTURE_TEARDOWN(order)
{
	expect_close(_metadata, self->fd);
}

/*
 * Expects events in order; @user_data is the order of scheduling. If two deadlines are
 * less than a tick apart, only the kernel knows whether they are in the same tick. But
 * the later one cannot be in an earlier tick.
 */
static void expect_order(struct __test_metadata *_metadata,
			 const FIXTURE_DATA(order) * self,
			 const struct hwtimer_event *events, unsigned int n)
{
	for (unsigned int i = 1; i < n; i++) {
		ASSERT_LT(events[i - 1].deadline,
			  events[i].deadline + self->tick);
		if (events[i - 1].deadline >= events[i].deadline)
			ASSERT_LT(events[i - 1].user_data, events[i].user_data);
	}
}

/* Collects the events of one-shot timers: each once, none early. */
static void collect_each_once(struct __test_metadata *_metadata, int fd,
			      struct hwtimer_event *events, unsigned int n)
{
	bool *came = calloc(n, sizeof(*came));
	unsigned int got = 0;

	ASSERT_NE(NULL, came);
	/* The sizes of the reads must not matter to the order. */
	for (unsigned int size = 1; got < n; size = size % 50 + 3) {
		unsigned int want = n - got < size ? n - got : size;

		ASSERT_EQ(want, dev_collect(fd, events + got, want));
		for (unsigned int i = 0; i < want; i++, got++) {
			expect_due(_metadata, &events[got]);
			ASSERT_GT(n, events[got].user_data);
			ASSERT_FALSE(came[events[got].user_data]);
			came[events[got].user_data] = true;
		}
	}
	free(came);
}

TEST_F(order, burst_in_one_tick_comes_as_it_was_scheduled)
{
	unsigned int n = scaled(30000);
	struct hwtimer_request *requests = calloc(n, sizeof(*requests));
	struct hwtimer_event *events = calloc(n, sizeof(*events));

	ASSERT_NE(NULL, requests);
	ASSERT_NE(NULL, events);
	fill_schedules(requests, n, HWTIMER_REQ_ABSTIME, 0, 0);
	schedule_in_time(_metadata, self->fd, CLOCK_MONOTONIC, requests, n,
			 50 * MS + n * 3 * US);
	collect_each_once(_metadata, self->fd, events, n);
	for (unsigned int i = 0; i < n; i++)
		ASSERT_EQ(i, events[i].user_data);
}

/*
 * Within a tick the deadlines do not matter. The deadlines here go down, by 1/100 tick
 * each. The last timers come first only if a new tick begins between two deadlines, which
 * can happen once at most.
 */
TEST_F(order, deadlines_within_a_tick_come_as_they_were_scheduled)
{
	struct hwtimer_request requests[50];
	struct hwtimer_event events[50];
	unsigned int descents = 0;

	fill_schedules(requests, 50, HWTIMER_REQ_ABSTIME, 0, 0);
	for (unsigned int i = 0; i < 50; i++)
		requests[i].time = (50 - i) * (self->tick / 100);
	schedule_in_time(_metadata, self->fd, CLOCK_MONOTONIC, requests, 50,
			 50 * MS);
	collect_each_once(_metadata, self->fd, events, 50);
	for (unsigned int i = 1; i < 50; i++) {
		if (events[i - 1].user_data + 1 == events[i].user_data)
			continue;
		EXPECT_EQ(49, events[i - 1].user_data);
		EXPECT_EQ(0, events[i].user_data);
		descents++;
	}
	EXPECT_GE(1, descents);
}

TEST_F(order, bursts_that_were_scheduled_in_turns)
{
	enum { BURSTS = 20, EACH = 100, N = BURSTS * EACH };
	static struct hwtimer_request requests[N];
	static struct hwtimer_event events[N];

	fill_schedules(requests, N, HWTIMER_REQ_ABSTIME, 0, 0);
	for (unsigned int i = 0; i < N; i++)
		requests[i].time = i * 7 % BURSTS * 5 * MS;
	schedule_in_time(_metadata, self->fd, CLOCK_MONOTONIC, requests, N,
			 60 * MS);
	collect_each_once(_metadata, self->fd, events, N);
	expect_order(_metadata, self, events, N);
}

TEST_F(order, deadlines_all_over)
{
	enum { N = 1000 };
	static struct hwtimer_request requests[N];
	static struct hwtimer_event events[N];

	fill_schedules(requests, N, HWTIMER_REQ_ABSTIME, 0, 0);
	/* 7919 is a prime, which shuffles 0 to 100 ms. */
	for (unsigned int i = 0; i < N; i++)
		requests[i].time = i * 7919 % N * (100 * US + 1);
	schedule_in_time(_metadata, self->fd, CLOCK_MONOTONIC, requests, N,
			 60 * MS);
	collect_each_once(_metadata, self->fd, events, N);
	expect_order(_metadata, self, events, N);
}

/* Deadlines around each power of two, and so of eight, where levels and rounds end. */
TEST_F(order, deadlines_where_levels_end)
{
	static const int offsets[] = { 1, -1, 0, 2, -2 };
	struct hwtimer_request requests[200];
	struct hwtimer_event events[200];
	unsigned int n = 0;

	for (unsigned int ticks = 4; ticks * self->tick < 150 * MS;
	     ticks *= 2) {
		for (unsigned int i = 0; i < ARRAY_SIZE(offsets); i++, n++) {
			fill_schedules(&requests[n], 1, HWTIMER_REQ_ABSTIME,
				       (ticks + offsets[i]) * self->tick, n);
		}
	}
	schedule_in_time(_metadata, self->fd, CLOCK_MONOTONIC, requests, n,
			 50 * MS);
	collect_each_once(_metadata, self->fd, events, n);
	expect_order(_metadata, self, events, n);
}

#define PASSERS_BY \
	1000 /* user_data of timers that only keep the wheel turning */

/*
 * A timer that was scheduled when its tick was far ahead comes before timers that were
 * scheduled later for the same tick, when it was nearer and nearer.
 */
TEST_F(order, from_afar_before_those_scheduled_near)
{
	__u64 ahead = 130 * MS, nearest = 3 * MS, deadline;
	unsigned int n = 0, passers_by = 0, nth = 0;
	struct hwtimer_event event;

	/* If the machine was too slow, the next try is further ahead of the deadline. */
	for (bool in_time = false; !in_time; nearest *= 2, ahead *= 2) {
		ASSERT_EQ(n + passers_by,
			  dev_discard_events(self->fd, n + passers_by));
		n = 0;
		deadline = now_ns() + ahead;
		for (passers_by = 0; passers_by < 130; passers_by++)
			ASSERT_NE(0,
				  dev_at(self->fd, deadline - passers_by * MS,
					 PASSERS_BY));
		for (__u64 left = ahead; left > nearest; left -= left / 4) {
			sleep_until(deadline - left);
			ASSERT_NE(0, dev_at(self->fd, deadline, n++));
		}
		in_time = now_ns() < deadline;
	}
	for (unsigned int i = 0; i < n + passers_by; i++) {
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		if (event.user_data == PASSERS_BY)
			continue;
		EXPECT_EQ(nth, event.user_data);
		nth++;
	}
	EXPECT_EQ(n, nth);
}

/*
 * Schedules timers for the same few ticks, @batch every ms while the wheel turns, so that
 * the timers of one tick are at all levels at the same time.
 */
static void schedule_while_it_turns(struct __test_metadata *_metadata, int fd,
				    unsigned int batch)
{
	enum { TICKS = 40, SPACING = 4, MAX = 4000 };
	__u64 base = now_ns() + 20 * MS, last = 0, last_in_time[TICKS] = { 0 };
	bool late[MAX], came[MAX] = { false };
	unsigned int n = 0, seed = 1, ticks[MAX];

	for (unsigned int first = 0; first < TICKS && n < MAX; n++) {
		__u64 deadline;

		ticks[n] = first + next_random(&seed) % (TICKS - first);
		deadline = base + ticks[n] * SPACING * MS;
		ASSERT_NE(0, dev_at(fd, deadline, n));
		late[n] = now_ns() >= deadline;
		if (n % batch == 0)
			sleep_ns(MS);
		while (first < TICKS &&
		       now_ns() + MS > base + first * SPACING * MS)
			first++;
	}
	for (unsigned int i = 0; i < n; i++) {
		struct hwtimer_event event;
		__u64 nth;

		ASSERT_EQ(1, dev_collect(fd, &event, 1));
		expect_due(_metadata, &event);
		nth = event.user_data;
		ASSERT_GT(n, nth);
		ASSERT_FALSE(came[nth]);
		came[nth] = true;
		if (late[nth]) /* it was due when it was scheduled */
			continue;
		EXPECT_LE(last, event.deadline);
		last = event.deadline;
		EXPECT_LE(last_in_time[ticks[nth]], nth);
		last_in_time[ticks[nth]] = nth;
	}
	TH_LOG("%u timers", n);
}

TEST_F(order, few_scheduled_while_the_wheel_turns)
{
	schedule_while_it_turns(_metadata, self->fd, 2);
}

TEST_F(order, many_scheduled_while_the_wheel_turns)
{
	schedule_while_it_turns(_metadata, self->fd, 20);
}

/* The wheel does not turn while nothing is pending; then it catches up. */
TEST_F(order, after_idle_times)
{
	struct hwtimer_request requests[20];
	struct hwtimer_event events[20];

	for (unsigned int round = 0; round < 3; round++) {
		fill_schedules(requests, 20, HWTIMER_REQ_ABSTIME, 0, 0);
		for (unsigned int i = 0; i < 20; i++)
			requests[i].time = i * 7 % 20 * self->tick * 2;
		schedule_in_time(_metadata, self->fd, CLOCK_MONOTONIC, requests,
				 20, 20 * MS);
		collect_each_once(_metadata, self->fd, events, 20);
		expect_order(_metadata, self, events, 20);
		sleep_ns((round + 1) * 11 * MS);
	}
}

#define NEAR 27 /* 2^27 ns are 134 ms */
#define POWERS 63

TEST_F(order, every_power_of_two_at_once)
{
	struct hwtimer_timer timers[POWERS];
	struct hwtimer_request requests[POWERS];
	struct hwtimer_event events[NEAR + 1];
	unsigned int far = POWERS - NEAR - 1;
	bool came[POWERS] = { false };
	__u64 base;

	fill_schedules(requests, POWERS, HWTIMER_REQ_ABSTIME, 0, 0);
	for (unsigned int i = 0; i < POWERS; i++)
		requests[i].time = 1ULL << i;
	base = schedule_in_time(_metadata, self->fd, CLOCK_MONOTONIC, requests,
				POWERS, 20 * MS);
	collect_each_once(_metadata, self->fd, events, NEAR + 1);
	expect_order(_metadata, self, events, NEAR + 1);
	for (unsigned int i = NEAR + 6; i < POWERS; i++) {
		struct hwtimer_timer query;

		ASSERT_EQ(0, dev_query(self->fd, requests[i].id, &query));
		EXPECT_TRUE(query.state == HWTIMER_STATE_PENDING ||
			    now_ns() >= base + (1ULL << i));
		EXPECT_EQ(base + (1ULL << i), query.deadline);
	}
	/* On a slow machine, some of the far timers may have expired. */
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	ASSERT_GE(far, stats_of(self->fd).pending);
	far = stats_of(self->fd).pending;
	ASSERT_EQ(far, dev_stop(self->fd, timers, POWERS, NULL));
	for (unsigned int i = 0; i < far; i++) {
		__u64 nth = timers[i].user_data;

		ASSERT_GT(POWERS, nth);
		EXPECT_FALSE(came[nth]);
		came[nth] = true;
		EXPECT_EQ(base + (1ULL << nth), timers[i].deadline);
	}
}

/* Deadlines one tick and a century away, in the past, and never. */
TEST_F(order, all_horizons_in_one_instance)
{
	enum { EACH = 100 };
	struct hwtimer_request requests[EACH];
	struct hwtimer_event events[EACH];
	struct hwtimer_stats stats;
	__u64 now = now_ns();

	for (unsigned int i = 0; i < EACH; i++) {
		ASSERT_NE(0, dev_after(self->fd, 100 * YEAR + i * HOUR, 1000));
		ASSERT_NE(0, dev_after(self->fd, (i + 1) * HOUR, 1000));
		ASSERT_NE(0, dev_at(self->fd, HWTIMER_NEVER, 1000));
	}
	fill_schedules(requests, EACH, HWTIMER_REQ_ABSTIME, 0, 0);
	for (unsigned int i = 0; i < EACH; i++)
		requests[i].time = (1 + i * 37 % EACH) * self->tick;
	schedule_in_time(_metadata, self->fd, CLOCK_MONOTONIC, requests, EACH,
			 20 * MS);
	collect_each_once(_metadata, self->fd, events, EACH);
	expect_order(_metadata, self, events, EACH);
	for (unsigned int i = 0; i < EACH; i++)
		ASSERT_NE(0, dev_at(self->fd, now * i / EACH, i));
	collect_each_once(_metadata, self->fd, events, EACH);
	stats = stats_of(self->fd);
	EXPECT_EQ(3 * EACH, stats.pending);
	EXPECT_EQ(0, stats.ready);
}

/* A timer that is rescheduled to soon comes soon, wherever in the wheel it was. */
TEST_F(order, from_any_distance_rescheduled_to_near_and_back)
{
	struct hwtimer_event events[POWERS];
	__u64 ids[POWERS], base = now_ns();

	for (unsigned int i = 0; i < POWERS; i++) {
		ids[i] = dev_at(self->fd, base + HOUR + (1ULL << i), i);
		ASSERT_NE(0, ids[i]);
		ASSERT_EQ(0,
			  dev_reschedule(self->fd, ids[i], HWTIMER_REQ_ABSTIME,
					 base + HOUR + (1ULL << (62 - i))));
		ASSERT_EQ(0, dev_reschedule(self->fd, ids[i],
					    HWTIMER_REQ_ABSTIME, base + HOUR));
		ASSERT_EQ(0, dev_reschedule(self->fd, ids[i], 0,
					    i * MS + (i % 3) * 13 * US));
	}
	collect_each_once(_metadata, self->fd, events, POWERS);
	EXPECT_EQ(0, stats_of(self->fd).pending);
	EXPECT_EQ(3 * POWERS, stats_of(self->fd).rescheduled);
}

/*
 * Returns the number of levels of a wheel. A bucket of level 1 is an eighth as wide as level 0,
 * or half as wide if that has fewer than 64 buckets; one of each further level is 32 times as
 * wide as one of the level below. The last level reaches the end of the clock.
 */
static unsigned int levels_of(const struct hwtimer_info *info)
{
	double width = (double)info->tick * info->buckets /
		       (info->buckets < 64 ? 2 : 8);
	unsigned int levels = 1;

	for (; 2 * width <= 0x1p64; width *= 32)
		levels++;
	return levels;
}

TEST_F(order, those_far_ahead_are_not_touched)
{
	enum { N = 2000, NEARBY = 20 };
	struct hwtimer_event events[NEARBY];
	struct hwtimer_info info;
	unsigned int levels;
	long long walked, cascaded;

	ASSERT_EQ(0, dev_info(self->fd, &info));
	levels = levels_of(&info);
	for (unsigned int i = 0; i < N; i++)
		ASSERT_NE(0, dev_after(self->fd, YEAR + i * HOUR, i));
	walked = told(self->fd, "walked");
	cascaded = told(self->fd, "cascaded");
	for (unsigned int i = 0; i < NEARBY; i++)
		ASSERT_NE(0, dev_after(self->fd, i * 5 * MS, i));
	collect_each_once(_metadata, self->fd, events, NEARBY);
	EXPECT_EQ(N, stats_of(self->fd).pending);
	/* The documentation says: "a timer moves down at most once a level". */
	EXPECT_GE(NEARBY * levels, told(self->fd, "walked") - walked);
	EXPECT_GE(NEARBY * (levels - 1), told(self->fd, "cascaded") - cascaded);
}

TEST_F(order, timers_move_down_at_most_once_a_level)
{
	enum { N = 500 };
	struct hwtimer_request requests[N];
	struct hwtimer_event events[N];
	struct hwtimer_info info;
	long long cascaded;

	ASSERT_EQ(0, dev_info(self->fd, &info));
	fill_schedules(requests, N, HWTIMER_REQ_ABSTIME, 0, 0);
	for (unsigned int i = 0; i < N; i++)
		requests[i].time = i * 250 * US;
	schedule_in_time(_metadata, self->fd, CLOCK_MONOTONIC, requests, N,
			 50 * MS);
	collect_each_once(_metadata, self->fd, events, N);
	cascaded = told(self->fd, "cascaded");
	EXPECT_LE(cascaded, told(self->fd, "walked"));
	EXPECT_GE(told(self->fd, "scheduled") * (levels_of(&info) - 1),
		  cascaded);
	if (variant->buckets == 8)
		EXPECT_LT(0, cascaded);
}

TEST_F(order, cancelled_on_their_way_down_do_not_come)
{
	enum { N = 400 };
	struct hwtimer_request requests[N];
	unsigned int cancelled = 0, came = 0;
	bool ended[N] = { false }, in_time = false;
	struct hwtimer_event event;
	__u64 base;

	fill_schedules(requests, N, HWTIMER_REQ_ABSTIME, 0, 0);
	for (unsigned int i = 0; i < N; i++)
		requests[i].time = i * 400 * US;
	base = schedule_in_time(_metadata, self->fd, CLOCK_MONOTONIC, requests,
				N, 50 * MS);
	/* Cancel from the last to the first, while the first ones expire. */
	for (unsigned int i = N; i--;) {
		if (i % 3 == 0 && !dev_cancel(self->fd, requests[i].id, 0)) {
			ended[i] = true;
			cancelled++;
		}
		/* Was the first cancel made before its timer was due? */
		if (i == N - 1)
			in_time = now_ns() < base + i * 400 * US;
		if (i % 30 == 0)
			sleep_ns(MS);
	}
	TH_LOG("%u were cancelled", cancelled);
	EXPECT_TRUE(cancelled > 0 || !in_time);
	while (came < N - cancelled) {
		ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
		ASSERT_GT(N, event.user_data);
		ASSERT_FALSE(ended[event.user_data]);
		ended[event.user_data] = true;
		came++;
	}
	EXPECT_EQ(0, stats_of(self->fd).pending);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
}

/* Two instances run at the same time, on one worker, with the same timers. */
TEST(two_wheels_in_one_program)
{
	enum { N = 60 };
	struct hwtimer_request requests[2][N];
	struct hwtimer_event events[N];
	__u64 base[2];
	int fds[2];

	for (unsigned int nr = 0; nr < 2; nr++) {
		fds[nr] = dev_open(O_NONBLOCK);
		ASSERT_LE(0, fds[nr]);
		ASSERT_EQ(0, dev_setup(fds[nr], 0, nr ? 512 : 8, 0));
		fill_schedules(requests[nr], N, HWTIMER_REQ_ABSTIME, 0, 0);
		/* Two ticks apart, so that their order is strict. */
		for (unsigned int i = 0; i < N; i++)
			requests[nr][i].time = i * 37 % N * 2 * MS;
		base[nr] = schedule_in_time(_metadata, fds[nr], CLOCK_MONOTONIC,
					    requests[nr], N, 50 * MS);
	}
	for (unsigned int nr = 0; nr < 2; nr++) {
		collect_each_once(_metadata, fds[nr], events, N);
		for (unsigned int i = 0; i < N; i++)
			EXPECT_EQ(base[nr] + i * 2 * MS, events[i].deadline);
		EXPECT_EQ(0, close(fds[nr]));
	}
}

TEST_HARNESS_MAIN
