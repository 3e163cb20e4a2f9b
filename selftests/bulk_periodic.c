// SPDX-License-Identifier: GPL-2.0
/*
 * BULK with an interval, a slack, or flags that set them. The kernel makes requests of such a
 * bulk, unless it is a SCHEDULE with nothing but a slack. So it is compared to SUBMIT; and all
 * that BULK itself adds is tested: its checks, arrays of every length, older structures, and
 * memory that faults half way.
 */
#include "hwtimer_test.h"

/* Returns the negative errno in a result, or 0 if it has none. */
static int error_of(__u64 result)
{
	return result >= (__u64)-4095LL ? (int)result : 0;
}

/* Does @bulk, with its size filled in, to @count timers. */
static int dev_bulk_as(int fd, struct hwtimer_bulk bulk, const void *timers,
		       __u64 *results, unsigned int count)
{
	bulk.size = sizeof(bulk);
	bulk.count = count;
	bulk.timers = (uintptr_t)timers;
	bulk.results = (uintptr_t)results;
	return dev_ioctl(fd, HWTIMER_IOC_BULK, &bulk);
}

#define BULK(name, ...) \
	((struct hwtimer_bulk){ .op = HWTIMER_OP_##name, __VA_ARGS__ })

static void fill_timers(struct hwtimer_bulk_timer *timers, unsigned int count,
			__u64 time)
{
	for (unsigned int i = 0; i < count; i++)
		timers[i] = (struct hwtimer_bulk_timer){
			.user_data = i,
			.time = time,
		};
}

static int schedule_periodic(int fd, __u64 *ids, unsigned int count)
{
	struct hwtimer_bulk_timer timers[BATCH];

	fill_timers(timers, count, HOUR);
	return dev_bulk_as(fd, BULK(SCHEDULE, .interval = HOUR), timers, ids,
			   count);
}

TEST_F(hwtimer, fields_are_those_of_all_timers)
{
	struct hwtimer_bulk bulk = BULK(SCHEDULE, .flags = HWTIMER_FIXED_DELAY,
					.interval = 2 * HOUR, .slack = MS * 64,
					.expirations = 7);
	struct hwtimer_bulk_timer timers[300];
	struct hwtimer_query query;
	__u64 ids[300];

	fill_timers(timers, 300, HOUR);
	ASSERT_EQ(300, dev_bulk_as(self->fd, bulk, timers, ids, 300));
	for (unsigned int i = 0; i < 300; i++) {
		query = query_of(_metadata, self->fd, ids[i]);
		ASSERT_EQ(i, query.user_data);
		ASSERT_EQ(2 * HOUR, query.interval);
		ASSERT_LT(0, query.slack);
		ASSERT_EQ(7, query.count);
		ASSERT_EQ(HWTIMER_FIXED_DELAY, query.flags);
	}
}

TEST_F(hwtimer, periodic_timers_expire_as_often_as_they_shall)
{
	struct hwtimer_bulk bulk =
		BULK(SCHEDULE, .interval = 2 * MS, .expirations = 3);
	unsigned int seen[100] = { 0 };
	struct hwtimer_bulk_timer timers[100];
	struct hwtimer_event events[100];
	__u64 ids[100];

	fill_timers(timers, 100, MS);
	ASSERT_EQ(100, dev_bulk_as(self->fd, bulk, timers, ids, 100));
	for (unsigned int left = 300; left;) {
		unsigned int n = dev_collect(self->fd, events, 1);

		ASSERT_EQ(1, n);
		ASSERT_GT(100, events[0].user_data);
		EXPECT_EQ(ids[events[0].user_data], events[0].id);
		seen[events[0].user_data] += events[0].expirations;
		ASSERT_LE(events[0].expirations, left);
		left -= events[0].expirations;
	}
	for (unsigned int i = 0; i < 100; i++)
		EXPECT_EQ(3, seen[i]);
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

/* A bulk of a random operation on timers in @known, and the same as @requests. */
static struct hwtimer_bulk random_bulk(struct hwtimer_request *requests,
				       struct hwtimer_bulk_timer *timers,
				       unsigned int count, const __u64 *known,
				       unsigned int nr_known)
{
	struct hwtimer_bulk bulk = BULK(SCHEDULE, .flags = HWTIMER_ABSOLUTE);
	bool schedule = !nr_known || random() % 2;
	bool sets = schedule || random() % 3;

	if (!schedule)
		bulk.op = HWTIMER_OP_RESCHEDULE;
	if (sets && random() % 3) {
		bulk.interval = random() % 8 ? HOUR + random() : 0;
		if (bulk.interval) {
			bulk.expirations = random() % 3;
			bulk.flags |= random() % 2 ? HWTIMER_FIXED_DELAY : 0;
		}
		bulk.flags |= schedule ? 0 : HWTIMER_SET_INTERVAL;
	}
	if (sets && random() % 3) {
		bulk.slack = random();
		bulk.flags |= schedule ? 0 : HWTIMER_SET_SLACK;
	}
	for (unsigned int i = 0; i < count; i++) {
		__u64 id = nr_known ? known[random() % nr_known] : 0;
		__u64 time = now_ns() + HOUR + random();

		/* Too early for the slack: a result of its own */
		if (bulk.slack && !(random() % 10))
			time = bulk.slack / 2;
		timers[i] = (struct hwtimer_bulk_timer){
			.id = schedule ? i : id,
			.time = time,
		};
		requests[i] = (struct hwtimer_request){
			.op = bulk.op,
			.flags = bulk.flags,
			.id = schedule ? 0 : id,
			.time = time,
			.interval = bulk.interval,
			.slack = bulk.slack,
			.user_data = schedule ? i : 0,
			.count = bulk.expirations,
		};
	}
	return bulk;
}

/*
 * Two instances do the same, one by SUBMIT and one by BULK. All results and timers are
 * the same, and so are the ids, as both hand out records in the same order. No timer is
 * due meanwhile.
 */
TEST_F(hwtimer, random_bulks_are_the_same_as_submits)
{
	const unsigned int rounds = scaled(200) < 40 ? 40 : scaled(200);
	int other = dev_open(O_NONBLOCK);
	unsigned int nr_known = 0, refused = 0;
	__u64 known[4096] = { 0 };

	ASSERT_LE(0, other);
	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, 20000));
	ASSERT_EQ(0, dev_setup(other, 0, 0, 20000));
	srandom(4711);
	for (unsigned int round = 0; round < rounds; round++) {
		struct hwtimer_request requests[BATCH];
		struct hwtimer_bulk_timer timers[BATCH];
		__u64 results[BATCH];
		unsigned int count = 1 + random() % (BATCH - 1);
		struct hwtimer_bulk bulk =
			random_bulk(requests, timers, count, known, nr_known);

		ASSERT_EQ(count, dev_submit(other, requests, count));
		ASSERT_EQ(count,
			  dev_bulk_as(self->fd, bulk, timers, results, count));
		for (unsigned int i = 0; i < count; i++) {
			int err = error_of(results[i]);

			ASSERT_EQ(requests[i].result, err)
			{
				TH_LOG("round %u, entry %u", round, i);
			}
			refused += err == -EDOM;
			if (bulk.op != HWTIMER_OP_SCHEDULE || err)
				continue;
			ASSERT_EQ(requests[i].id, results[i]);
			known[nr_known < ARRAY_SIZE(known) ?
				      nr_known++ :
				      random() % nr_known] = results[i];
		}
	}
	EXPECT_LT(0, refused);
	for (unsigned int i = 0; i < nr_known; i++)
		expect_same_timer(_metadata, self->fd, other, known[i]);
	EXPECT_EQ(stats_of(other).scheduled, stats_of(self->fd).scheduled);
	EXPECT_EQ(stats_of(other).rescheduled, stats_of(self->fd).rescheduled);
	EXPECT_LT(0, stats_of(self->fd).rescheduled);
	EXPECT_EQ(0, close(other));
}

TEST_F(hwtimer, arrays_of_every_length)
{
	static const unsigned int lengths[] = { 1,  2,	 3,   4,   5,	31,
						32, 255, 256, 257, 513, BATCH };
	__u64 ids[BATCH];

	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		unsigned int n = lengths[i];

		ASSERT_EQ(n, schedule_periodic(self->fd, ids, n));
		for (unsigned int j = 0; j < n; j++) {
			struct hwtimer_query query =
				query_of(_metadata, self->fd, ids[j]);

			ASSERT_EQ(j, query.user_data);
			ASSERT_EQ(HOUR, query.interval);
		}
		ASSERT_EQ(n, dev_bulk(self->fd, HWTIMER_OP_CANCEL, 0, ids, ids,
				      n));
		EXPECT_EQ(0, stats_of(self->fd).pending);
	}
}

TEST_F(hwtimer, results_may_overwrite_the_timers)
{
	struct hwtimer_bulk_timer timers[BATCH];
	__u64 *ids = (__u64 *)timers;

	fill_timers(timers, BATCH, HOUR);
	ASSERT_EQ(BATCH, dev_bulk_as(self->fd, BULK(SCHEDULE, .slack = MS),
				     timers, ids, BATCH));
	for (unsigned int i = 0; i < BATCH; i++)
		ASSERT_EQ(i, query_of(_metadata, self->fd, ids[i]).user_data);
}

TEST_F(hwtimer, reschedule_sets_what_its_flags_say)
{
	struct hwtimer_bulk_timer timers[300];
	struct hwtimer_query query;
	__u64 ids[300], results[300];

	ASSERT_EQ(300, schedule_periodic(self->fd, ids, 300));
	for (unsigned int i = 0; i < 300; i++)
		timers[i] = (struct hwtimer_bulk_timer){
			.id = ids[i],
			.time = 3 * HOUR,
		};
	ASSERT_EQ(300, dev_bulk_as(self->fd,
				   BULK(RESCHEDULE, .flags = HWTIMER_SET_SLACK,
					.slack = HOUR),
				   timers, results, 300));
	for (unsigned int i = 0; i < 300; i++) {
		ASSERT_EQ(0, results[i]);
		query = query_of(_metadata, self->fd, ids[i]);
		ASSERT_EQ(i, query.user_data);
		ASSERT_EQ(HOUR, query.interval);
		ASSERT_LT(0, query.slack);
		ASSERT_LT(2 * HOUR, query.remaining);
	}
	/* With 0 as the interval, the timers expire once. Results are not wanted. */
	ASSERT_EQ(300,
		  dev_bulk_as(self->fd,
			      BULK(RESCHEDULE, .flags = HWTIMER_SET_INTERVAL),
			      timers, NULL, 300));
	for (unsigned int i = 0; i < 300; i++)
		ASSERT_EQ(0, query_of(_metadata, self->fd, ids[i]).interval);
}

/* ---- refusals ---- */

/* Fields that are wrong for all timers fail the call, even if there is no timer. */
TEST_F(hwtimer, wrong_fields_are_errors_of_the_call)
{
	const struct {
		struct hwtimer_bulk bulk;
		int err;
	} wrong[] = {
		{ BULK(SCHEDULE, .interval = MS - 1), -ERANGE },
		{ BULK(SCHEDULE, .interval = INT64_MAX + 1ULL), -ERANGE },
		{ BULK(SCHEDULE, .interval = ~0ULL), -ERANGE },
		{ BULK(SCHEDULE, .interval = MS, .slack = MS + 1), -EDOM },
		{ BULK(SCHEDULE, .slack = INT64_MAX), -EDOM },
		{ BULK(SCHEDULE, .slack = ~0ULL), -EDOM },
		{ BULK(SCHEDULE, .flags = HWTIMER_ABSOLUTE,
		       .slack = INT64_MAX + 1ULL),
		  -EDOM },
		{ BULK(SCHEDULE, .expirations = 1), -EINVAL },
		{ BULK(SCHEDULE, .flags = HWTIMER_FIXED_DELAY), -EINVAL },
		{ BULK(SCHEDULE, .flags = HWTIMER_SET_INTERVAL, .interval = MS),
		  -EINVAL },
		{ BULK(SCHEDULE, .flags = HWTIMER_REARM), -EINVAL },
		{ BULK(SCHEDULE, .reserved = 1), -EINVAL },
		{ BULK(SCHEDULE, .interval = MS, .reserved = ~0U), -EINVAL },
		{ BULK(RESCHEDULE, .interval = MS), -EINVAL },
		{ BULK(RESCHEDULE, .slack = MS), -EINVAL },
		{ BULK(RESCHEDULE, .expirations = 1), -EINVAL },
		{ BULK(RESCHEDULE, .flags = HWTIMER_SET_INTERVAL,
		       .expirations = 1),
		  -EINVAL },
		{ BULK(RESCHEDULE, .flags = HWTIMER_SET_INTERVAL,
		       .interval = MS - 1),
		  -ERANGE },
		{ BULK(RESCHEDULE,
		       .flags = HWTIMER_SET_INTERVAL | HWTIMER_SET_SLACK,
		       .interval = MS, .slack = MS + 1),
		  -EDOM },
		{ BULK(RESCHEDULE, .flags = HWTIMER_SET_USER_DATA), -EINVAL },
		{ BULK(RESCHEDULE, .flags = HWTIMER_REARM), -EINVAL },
		{ BULK(RESCHEDULE, .flags = HWTIMER_SET_SLACK, .reserved = 1),
		  -EINVAL },
		{ BULK(CANCEL, .interval = MS), -EINVAL },
		{ BULK(CANCEL, .slack = 1), -EINVAL },
		{ BULK(CANCEL, .expirations = 1), -EINVAL },
		{ BULK(CANCEL, .flags = HWTIMER_SET_INTERVAL), -EINVAL },
		{ BULK(CANCEL, .reserved = 1), -EINVAL },
		{ BULK(NONE, .interval = MS), -EINVAL },
		{ { .op = 77, .slack = 1 }, -EINVAL },
	};
	struct hwtimer_bulk_timer timers[2];
	struct hwtimer_info info;
	__u64 results[2];

	fill_timers(timers, 2, HOUR);
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++)
		for (unsigned int count = 0; count <= 2; count += 2) {
			EXPECT_EQ(wrong[i].err,
				  dev_bulk_as(self->fd, wrong[i].bulk, timers,
					      results, count))
			{
				TH_LOG("case %u, %u timers", i, count);
			}
		}
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(0, info.started);
	EXPECT_EQ(0, stats_of(self->fd).scheduled);
}

TEST_F(hwtimer, flags_that_are_unknown_are_einval)
{
	struct hwtimer_bulk_timer timers[2];
	__u64 results[2];

	fill_timers(timers, 2, HOUR);
	for (unsigned int bit = 7; bit < 32; bit++)
		for (__u32 op = 0; op < 5; op++)
			EXPECT_EQ(-EINVAL,
				  dev_bulk_as(self->fd,
					      (struct hwtimer_bulk){
						      .op = op,
						      .flags = 1U << bit,
						      .slack = MS,
					      },
					      timers, results, 2));
}

/* Times are each timer's own, so they are refused one by one. */
TEST_F(hwtimer, a_time_that_is_refused_is_a_result)
{
	const struct {
		__u64 time;
		int err;
	} some[] = {
		{ HOUR, 0 },
		{ HWTIMER_NEVER, -EINVAL },
		{ MS, 0 },
		{ MS - 1, -EDOM },
		{ 0, -EDOM },
		{ -5, -EDOM },
		{ INT64_MAX - MS, 0 },
		{ INT64_MAX - MS + 1, -EDOM },
	};
	struct hwtimer_bulk_timer timers[ARRAY_SIZE(some)];
	__u64 results[ARRAY_SIZE(some)];

	for (unsigned int i = 0; i < ARRAY_SIZE(some); i++)
		timers[i] = (struct hwtimer_bulk_timer){
			.user_data = i,
			.time = some[i].time,
		};
	ASSERT_EQ(ARRAY_SIZE(some),
		  dev_bulk_as(self->fd, BULK(SCHEDULE, .slack = MS), timers,
			      results, ARRAY_SIZE(some)));
	for (unsigned int i = 0; i < ARRAY_SIZE(some); i++) {
		EXPECT_EQ(some[i].err, error_of(results[i]))
		{
			TH_LOG("case %u", i);
		}
	}
	EXPECT_EQ(3, stats_of(self->fd).scheduled);
}

/* A timer that is never due may have any slack, as in a request. */
TEST_F(hwtimer, the_longest_slack)
{
	struct hwtimer_bulk_timer timer = { .time = HWTIMER_NEVER };
	__u64 id;

	ASSERT_EQ(1, dev_bulk_as(self->fd,
				 BULK(SCHEDULE, .flags = HWTIMER_ABSOLUTE,
				      .slack = INT64_MAX),
				 &timer, &id, 1));
	EXPECT_EQ(0, error_of(id));
	timer.time = INT64_MAX / 2;
	ASSERT_EQ(1,
		  dev_bulk_as(self->fd, BULK(SCHEDULE, .slack = INT64_MAX / 2),
			      &timer, &id, 1));
	EXPECT_EQ(0, error_of(id));
	EXPECT_EQ(2, stats_of(self->fd).pending);
}

TEST_F(hwtimer, realtime_takes_deadlines_and_fixed_rates)
{
	struct hwtimer_setup setup = { .clock = HWTIMER_CLOCK_REALTIME };
	struct hwtimer_bulk_timer timers[2];
	__u64 ids[2];

	ASSERT_EQ(0, dev_setup_as(self->fd, setup));
	fill_timers(timers, 2, clock_ns(CLOCK_REALTIME) + HOUR);
	EXPECT_EQ(-EINVAL,
		  dev_bulk_as(self->fd, BULK(SCHEDULE, .interval = HOUR),
			      timers, ids, 2));
	EXPECT_EQ(-EINVAL, dev_bulk_as(self->fd,
				       BULK(SCHEDULE,
					    .flags = HWTIMER_ABSOLUTE |
						     HWTIMER_FIXED_DELAY,
					    .interval = HOUR),
				       timers, ids, 2));
	EXPECT_EQ(2, dev_bulk_as(self->fd,
				 BULK(SCHEDULE, .flags = HWTIMER_ABSOLUTE,
				      .interval = HOUR, .slack = MS),
				 timers, ids, 2));
	EXPECT_EQ(HOUR, query_of(_metadata, self->fd, ids[1]).interval);
}

TEST_F(hwtimer, limit_and_stop_are_results)
{
	struct hwtimer_query query;
	__u64 ids[6];

	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, 4));
	ASSERT_EQ(6, schedule_periodic(self->fd, ids, 6));
	for (unsigned int i = 0; i < 6; i++)
		EXPECT_EQ(i < 4 ? 0 : -ENOSPC, error_of(ids[i]));
	EXPECT_EQ(0, dev_query(self->fd, ids[3], &query));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	ASSERT_EQ(6, schedule_periodic(self->fd, ids, 6));
	for (unsigned int i = 0; i < 6; i++)
		EXPECT_EQ(-ESHUTDOWN, error_of(ids[i]));
}

/* ---- memory ---- */

/* A program that knows only the older structure does what it did. */
TEST_F(hwtimer, older_structures_have_no_interval)
{
	for (__u32 size = 32; size <= sizeof(struct hwtimer_bulk); size += 8) {
		struct hwtimer_bulk_timer timer = { .time = HOUR };
		struct hwtimer_bulk bulk = BULK(SCHEDULE, .size = size,
						.count = 1, .interval = HOUR,
						.slack = MS, .expirations = 5);
		struct hwtimer_bulk *edge = page_edge(size);
		struct hwtimer_query query;
		__u64 id;

		bulk.timers = (uintptr_t)&timer;
		bulk.results = (uintptr_t)&id;
		memcpy(edge, &bulk, size);
		ASSERT_EQ(1, dev_ioctl(self->fd, HWTIMER_IOC_BULK, edge));
		query = query_of(_metadata, self->fd, id);
		EXPECT_EQ(size >= 40 ? HOUR : 0, query.interval);
		EXPECT_EQ(size >= 48, query.slack > 0);
		EXPECT_EQ(size >= 56 ? 5 : 0, query.count);
	}
}

TEST_F(hwtimer, bad_addresses_are_efault)
{
	struct hwtimer_bulk bulk = BULK(SCHEDULE, .interval = HOUR);
	struct hwtimer_bulk_timer timers[2];
	__u64 ids[2];

	fill_timers(timers, 2, HOUR);
	EXPECT_EQ(-EFAULT, dev_bulk_as(self->fd, bulk, NULL, ids, 2));
	EXPECT_EQ(-EFAULT, dev_bulk_as(self->fd, bulk, bad_address(), ids, 2));
	EXPECT_EQ(-EFAULT, dev_bulk_as(self->fd, bulk, timers, NULL, 2));
	EXPECT_EQ(0, stats_of(self->fd).scheduled);
	EXPECT_EQ(-EFAULT,
		  dev_bulk_as(self->fd, bulk, timers, bad_address(), 2));
	EXPECT_EQ(2, stats_of(self->fd).scheduled); /* and undone */
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

/* Timers up to the edge are scheduled, whatever part of the next one can be read. */
TEST_F(hwtimer, timers_that_fault_half_way)
{
	for (unsigned int whole = 0; whole <= 520; whole += 65)
		for (unsigned int part = 0; part < 16; part += 8) {
			struct hwtimer_bulk_timer *timers =
				page_edge(whole * sizeof(*timers) + part);
			__u64 before = stats_of(self->fd).pending;
			__u64 ids[1000];

			fill_timers(timers, whole, HOUR);
			EXPECT_EQ(whole ? (int)whole : -EFAULT,
				  dev_bulk_as(self->fd,
					      BULK(SCHEDULE, .interval = HOUR),
					      timers, ids, 1000));
			EXPECT_EQ(before + whole, stats_of(self->fd).pending);
		}
}

/* A schedule is undone if its id cannot be written; every other id is written. */
TEST_F(hwtimer, schedules_whose_ids_cannot_be_written_are_undone)
{
	struct hwtimer_bulk bulk = BULK(SCHEDULE, .interval = HOUR);
	struct hwtimer_bulk_timer timers[BATCH];

	fill_timers(timers, BATCH, HOUR);
	for (unsigned int room = 0; room < 600; room += 50) {
		__u64 *ids = page_edge(room * sizeof(*ids) + 4);
		__u64 before = stats_of(self->fd).pending;

		EXPECT_EQ(room ? (int)room : -EFAULT,
			  dev_bulk_as(self->fd, bulk, timers, ids, BATCH));
		EXPECT_EQ(before + room, stats_of(self->fd).pending);
		for (unsigned int i = 0; i < room; i++) {
			struct hwtimer_query query =
				query_of(_metadata, self->fd, ids[i]);

			EXPECT_EQ(i, query.user_data);
			EXPECT_EQ(HOUR, query.interval);
		}
	}
}

TEST_HARNESS_MAIN
