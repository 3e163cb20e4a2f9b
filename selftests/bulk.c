// SPDX-License-Identifier: GPL-2.0
/*
 * BULK: one operation on many timers, new ones with a common slack. It does the same as
 * SUBMIT, to which it is compared; takes arrays of every length; may write results over the
 * timers; and handles memory that faults half way, and a signal half way.
 */
#include "hwtimer_test.h"

/* As dev_bulk(), of the operation, the flags and the slack of @bulk */
static int dev_bulk_as(int fd, struct hwtimer_bulk bulk, const void *timers,
		       __u64 *results, unsigned int count)
{
	bulk.count = count;
	bulk.timers = (uintptr_t)timers;
	bulk.results = (uintptr_t)results;
	return dev_ioctl(fd, HWTIMER_IOC_BULK, &bulk);
}

#define BULK(name, ...) \
	((struct hwtimer_bulk){ .op = HWTIMER_OP_##name, __VA_ARGS__ })

static void fill_timers(struct hwtimer_bulk_timer *timers, unsigned int count,
			__s64 time, __u64 first_user_data)
{
	for (unsigned int i = 0; i < count; i++)
		timers[i] = (struct hwtimer_bulk_timer){
			.user_data = first_user_data + i,
			.time = time,
		};
}

static int bulk_schedule(int fd, __s64 time, unsigned int count, __u64 *ids)
{
	struct hwtimer_bulk_timer timers[BATCH];

	fill_timers(timers, count, time, 0);
	return dev_bulk(fd, HWTIMER_OP_SCHEDULE, 0, timers, ids, count);
}

/* Returns the negative errno in a result, or 0 if it has none. */
static int error_of(__u64 result)
{
	return result >= (__u64)-4095LL ? (int)result : 0;
}

/* Delays count from when the kernel takes them, and a negative one means now. */
TEST_F(hwtimer, delays_and_deadlines)
{
	const __s64 delays[] = { HOUR, 2 * HOUR, -2, INT64_MAX, INT64_MIN };
	struct hwtimer_bulk_timer timers[5];
	__u64 ids[5], results[5], before, after;

	for (__u32 op = HWTIMER_OP_SCHEDULE; op <= HWTIMER_OP_RESCHEDULE;
	     op += HWTIMER_OP_RESCHEDULE - HWTIMER_OP_SCHEDULE) {
		bool first = op == HWTIMER_OP_SCHEDULE;

		for (unsigned int i = 0; i < 5; i++) {
			timers[i].id = first ? i : ids[i];
			timers[i].time = first && delays[i] < 0 ? (__s64)HOUR :
								  delays[i];
		}
		before = now_ns();
		ASSERT_EQ(5, dev_bulk(self->fd, op, 0, timers,
				      first ? ids : results, 5));
		after = now_ns();
		for (unsigned int i = 0; i < 2; i++) {
			__u64 deadline =
				query_of(_metadata, self->fd, ids[i]).deadline;

			EXPECT_LE(before + delays[i], deadline);
			EXPECT_GE(after + delays[i], deadline);
		}
		EXPECT_EQ(HWTIMER_NEVER,
			  query_of(_metadata, self->fd, ids[3]).deadline);
	}
	for (unsigned int i = 2; i < 5; i += 2) {
		EXPECT_LE(before,
			  query_of(_metadata, self->fd, ids[i]).deadline);
		EXPECT_GE(after,
			  query_of(_metadata, self->fd, ids[i]).deadline);
	}
	timers[0] = (struct hwtimer_bulk_timer){ .time = HWTIMER_NEVER };
	timers[1] = (struct hwtimer_bulk_timer){ .time = after + HOUR };
	ASSERT_EQ(2, dev_bulk(self->fd, HWTIMER_OP_SCHEDULE,
			      HWTIMER_REQ_ABSTIME, timers, ids, 2));
	EXPECT_EQ(HWTIMER_NEVER,
		  query_of(_metadata, self->fd, ids[0]).deadline);
	EXPECT_EQ(after + HOUR, query_of(_metadata, self->fd, ids[1]).deadline);
}

/* Within an array, at both its ends, and at the limit */
TEST_F(hwtimer, a_delay_of_never_never_ends)
{
	const unsigned int count = 300, limit = 253;
	struct hwtimer_bulk_timer timers[300];
	__u64 results[300], ids[300];

	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, limit));
	fill_timers(timers, count, HOUR, 0);
	for (unsigned int i = 0; i < count; i++)
		if (i % 7 == 0 || i == count - 1)
			timers[i].time = HWTIMER_NEVER;
	ASSERT_EQ(count, dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, 0, timers, ids,
				  count));
	for (unsigned int i = 0; i < limit; i++) {
		struct hwtimer_timer query =
			query_of(_metadata, self->fd, ids[i]);

		ASSERT_EQ(i, query.user_data);
		ASSERT_EQ(i % 7 == 0, query.deadline == HWTIMER_NEVER);
	}
	for (unsigned int i = limit; i < count; i++)
		ASSERT_EQ(-ENOSPC, error_of(ids[i]));
	EXPECT_EQ(limit, stats_of(self->fd).pending);
	EXPECT_EQ(limit, told(self->fd, "entries"));

	for (unsigned int i = 0; i < limit; i++)
		timers[i] = (struct hwtimer_bulk_timer){
			.id = ids[i],
			.time = i % 3 ? (__s64)HOUR : HWTIMER_NEVER,
		};
	ASSERT_EQ(limit, dev_bulk(self->fd, HWTIMER_OP_RESCHEDULE, 0, timers,
				  results, limit));
	for (unsigned int i = 0; i < limit; i++) {
		ASSERT_EQ(0, results[i]);
		ASSERT_EQ(i % 3 == 0,
			  query_of(_metadata, self->fd, ids[i]).deadline ==
				  HWTIMER_NEVER);
	}
}

TEST_F(hwtimer, each_operation_does_what_it_says)
{
	struct hwtimer_bulk_timer timers[3];
	struct hwtimer_timer query;
	__u64 ids[3], results[3];

	ASSERT_EQ(3, bulk_schedule(self->fd, HOUR, 3, ids));
	for (unsigned int i = 0; i < 3; i++) {
		ASSERT_EQ(0, dev_query(self->fd, ids[i], &query));
		EXPECT_EQ(i, query.user_data);
		EXPECT_EQ(0, query.slack);
		EXPECT_EQ(0, query.interval);
		timers[i].id = ids[i];
		timers[i].time = now_ns() + (i + 2) * HOUR;
	}
	ASSERT_EQ(3, dev_bulk(self->fd, HWTIMER_OP_RESCHEDULE,
			      HWTIMER_REQ_ABSTIME, timers, results, 3));
	for (unsigned int i = 0; i < 3; i++) {
		EXPECT_EQ(0, results[i]);
		ASSERT_EQ(0, dev_query(self->fd, ids[i], &query));
		EXPECT_EQ(timers[i].time, query.deadline);
	}
	ASSERT_EQ(3, dev_bulk(self->fd, HWTIMER_OP_CANCEL, 0, ids, results, 3));
	for (unsigned int i = 0; i < 3; i++) {
		EXPECT_EQ(0, results[i]);
		EXPECT_EQ(-ENOENT, dev_query(self->fd, ids[i], &query));
	}
}

TEST_F(hwtimer, timers_of_a_bulk_expire_once_and_not_early)
{
	struct hwtimer_event events[600];
	bool came[600] = { false };
	__u64 ids[600], start;

	start = now_ns();
	ASSERT_EQ(600, bulk_schedule(self->fd, 5 * MS, 600, ids));
	ASSERT_EQ(600, dev_collect(self->fd, events, 600));
	for (unsigned int i = 0; i < 600; i++) {
		expect_due(_metadata, &events[i]);
		EXPECT_LE(start + 5 * MS, events[i].deadline);
		ASSERT_GT(600, events[i].user_data);
		EXPECT_EQ(ids[events[i].user_data], events[i].id);
		EXPECT_FALSE(came[events[i].user_data]);
		came[events[i].user_data] = true;
	}
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, events, 1));
}

TEST_F(hwtimer, each_entry_gets_its_own_result)
{
	struct hwtimer_bulk_timer timers[4];
	__u64 ids[2], expired, results[4];

	ASSERT_EQ(2, bulk_schedule(self->fd, HOUR, 2, ids));
	expired = dev_after(self->fd, 0, 0);
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	fill_timers(timers, 4, HOUR, 0);
	timers[1].id = ids[0];
	timers[2].id = expired;
	timers[3].id = ids[1];
	ASSERT_EQ(4, dev_bulk(self->fd, HWTIMER_OP_RESCHEDULE, 0, timers,
			      results, 4));
	EXPECT_EQ(-ENOENT, error_of(results[0]));
	EXPECT_EQ(0, results[1]);
	EXPECT_EQ(-EALREADY, error_of(results[2]));
	EXPECT_EQ(0, results[3]);
	/* The event that waits is told, and comes. */
	results[0] = expired;
	results[1] = 1;
	ASSERT_EQ(2, dev_bulk(self->fd, HWTIMER_OP_CANCEL, 0, results, results,
			      2));
	EXPECT_EQ(1, results[0]);
	EXPECT_EQ(-ENOENT, error_of(results[1]));
	EXPECT_EQ(1, stats_of(self->fd).ready);
	for (unsigned int i = 0; i < 4; i++)
		results[i] = timers[i].id;
	results[3] = ids[0];
	ASSERT_EQ(4, dev_bulk(self->fd, HWTIMER_OP_CANCEL, HWTIMER_REQ_DISCARD,
			      results, results, 4));
	EXPECT_EQ(-ENOENT, error_of(results[0]));
	EXPECT_EQ(0, results[1]);
	EXPECT_EQ(0, results[2]);
	EXPECT_EQ(-ENOENT, error_of(results[3]));
	ASSERT_EQ(1,
		  dev_bulk(self->fd, HWTIMER_OP_CANCEL, 0, &ids[1], NULL, 1));
	EXPECT_EQ(0, stats_of(self->fd).pending);
	EXPECT_EQ(1, stats_of(self->fd).discarded);
}

/* Expects the same results of all operations in both instances. */
static void check_same(struct __test_metadata *_metadata,
		       const struct hwtimer_request *requests,
		       const __u64 *results, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		ASSERT_EQ(requests[i].result, error_of(results[i]))
		{
			TH_LOG("operation %u, entry %u", requests[i].op, i);
		}
		if (requests[i].op == HWTIMER_OP_SCHEDULE &&
		    !error_of(results[i]))
			ASSERT_EQ(requests[i].id, results[i]);
	}
}

/*
 * Two instances do the same, one by SUBMIT and one by BULK. All results and timers are
 * the same, and so are the ids, as both hand out records in the same order.
 */
TEST_F(hwtimer, random_bulks_are_the_same_as_submits)
{
	static const __u32 ops[] = { HWTIMER_OP_SCHEDULE, HWTIMER_OP_CANCEL,
				     HWTIMER_OP_RESCHEDULE };
	const unsigned int rounds = scaled(400) < 40 ? 40 : scaled(400);
	int other = dev_open(O_NONBLOCK);
	unsigned int nr_known = 0;
	__u64 known[4096] = { 0 };

	ASSERT_LE(0, other);
	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, 3000));
	ASSERT_EQ(0, dev_setup(other, 0, 0, 3000));
	srandom(4711);
	for (unsigned int round = 0; round < rounds; round++) {
		struct hwtimer_request requests[BATCH];
		struct hwtimer_bulk_timer timers[BATCH];
		__u64 ids[BATCH], results[BATCH];
		unsigned int count = random() % BATCH;
		__u32 op = ops[random() % 3];
		__u32 flags = op != HWTIMER_OP_CANCEL ? HWTIMER_REQ_ABSTIME :
			      random() % 2	      ? HWTIMER_REQ_DISCARD :
							0;
		__u64 slack = op == HWTIMER_OP_SCHEDULE && random() % 2 ?
				      random() :
				      0;

		for (unsigned int i = 0; i < count; i++) {
			__u64 time = now_ns() + HOUR + random();

			ids[i] = nr_known ? known[random() % nr_known] : 0;
			requests[i] = (struct hwtimer_request){
				.op = op,
				.flags = flags,
				.id = op == HWTIMER_OP_SCHEDULE ? 0 : ids[i],
				.time = op == HWTIMER_OP_CANCEL ? 0 : time,
				.slack = slack,
				.user_data = op == HWTIMER_OP_SCHEDULE ? i : 0,
			};
			timers[i] = (struct hwtimer_bulk_timer){
				.id = op == HWTIMER_OP_SCHEDULE ? i : ids[i],
				.time = time,
			};
		}
		ASSERT_EQ(count, dev_submit(other, requests, count));
		ASSERT_EQ(count,
			  dev_bulk_as(self->fd,
				      (struct hwtimer_bulk){
					      .op = op,
					      .flags = flags,
					      .slack = slack,
				      },
				      op == HWTIMER_OP_CANCEL ? (void *)ids :
								(void *)timers,
				      results, count));
		check_same(_metadata, requests, results, count);
		for (unsigned int i = 0; i < count; i++) {
			if (op == HWTIMER_OP_SCHEDULE && !error_of(results[i]))
				known[nr_known < ARRAY_SIZE(known) ?
					      nr_known++ :
					      random() % nr_known] = results[i];
		}
	}
	for (unsigned int i = 0; i < nr_known; i++)
		expect_same_timer(_metadata, self->fd, other, known[i]);
	EXPECT_EQ(stats_of(other).scheduled, stats_of(self->fd).scheduled);
	EXPECT_EQ(stats_of(other).pending, stats_of(self->fd).pending);
	EXPECT_LT(0, stats_of(self->fd).cancelled);
	EXPECT_LT(0, stats_of(self->fd).rescheduled);
	EXPECT_EQ(0, close(other));
}

TEST_F(hwtimer, arrays_of_every_length)
{
	static const unsigned int lengths[] = { 1,   2,	  31,  32,  33,
						63,  64,  65,  255, 256,
						257, 511, 512, 513, BATCH };
	struct hwtimer_bulk_timer timers[BATCH];
	__u64 ids[BATCH];

	fill_timers(timers, BATCH, HOUR, 0);
	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(lengths); i++) {
		unsigned int n = lengths[i / 2];
		__u64 slack = i % 2 ? 64 * MS : 0;

		ASSERT_EQ(n,
			  dev_bulk_as(self->fd, BULK(SCHEDULE, .slack = slack),
				      timers, ids, n));
		EXPECT_EQ(n, stats_of(self->fd).pending);
		for (unsigned int j = 0; j < n; j++) {
			struct hwtimer_timer query =
				query_of(_metadata, self->fd, ids[j]);

			ASSERT_EQ(j, query.user_data);
			ASSERT_EQ(slack > 0, query.slack > 0);
		}
		ASSERT_EQ(n, dev_bulk(self->fd, HWTIMER_OP_CANCEL, 0, ids, ids,
				      n));
		for (unsigned int j = 0; j < n; j++)
			ASSERT_EQ(0, ids[j]);
		EXPECT_EQ(0, stats_of(self->fd).pending);
	}
}

/* The results of one part of the array must not spoil the timers of the next part. */
TEST_F(hwtimer, results_may_overwrite_the_timers)
{
	struct hwtimer_bulk_timer timers[BATCH];
	__u64 *ids = (__u64 *)timers;
	struct hwtimer_timer query;

	for (__u64 slack = 0; slack <= MS; slack += MS) {
		fill_timers(timers, BATCH, HOUR, 1000);
		ASSERT_EQ(BATCH,
			  dev_bulk_as(self->fd, BULK(SCHEDULE, .slack = slack),
				      timers, ids, BATCH));
		for (unsigned int i = 0; i < BATCH; i++) {
			ASSERT_EQ(0, dev_query(self->fd, ids[i], &query));
			ASSERT_EQ(1000 + i, query.user_data);
		}
	}
}

/* The same for ids and new deadlines: every part gets the right ones. */
TEST_F(hwtimer, each_of_many_parts_is_done)
{
	struct hwtimer_bulk_timer timers[BATCH];
	__u64 ids[BATCH], base = now_ns() + HOUR;
	struct hwtimer_timer query;

	ASSERT_EQ(BATCH, bulk_schedule(self->fd, HOUR, BATCH, ids));
	for (unsigned int i = 0; i < BATCH; i++)
		timers[i] = (struct hwtimer_bulk_timer){
			.id = ids[i],
			.time = base + i * SEC,
		};
	ASSERT_EQ(BATCH,
		  dev_bulk(self->fd, HWTIMER_OP_RESCHEDULE, HWTIMER_REQ_ABSTIME,
			   timers, (__u64 *)timers, BATCH));
	for (unsigned int i = 0; i < BATCH; i++) {
		ASSERT_EQ(0, ((__u64 *)timers)[i]);
		ASSERT_EQ(0, dev_query(self->fd, ids[i], &query));
		ASSERT_EQ(base + i * SEC, query.deadline);
		ASSERT_EQ(i, query.user_data);
	}
	ASSERT_EQ(BATCH / 2, dev_bulk(self->fd, HWTIMER_OP_CANCEL, 0, ids, NULL,
				      BATCH / 2));
	for (unsigned int i = 0; i < BATCH; i++)
		ASSERT_EQ(i < BATCH / 2 ? -ENOENT : 0,
			  dev_query(self->fd, ids[i], &query));
}

/* Ids up to the edge are handled, too. */
TEST_F(hwtimer, ids_that_fault_half_way)
{
	for (unsigned int whole = 0; whole <= 520; whole += 65) {
		__u64 *ids = page_edge(whole * sizeof(*ids) + 4);
		__u64 some[BATCH];

		ASSERT_EQ(BATCH, bulk_schedule(self->fd, HOUR, BATCH, some));
		memcpy(ids, some, whole * sizeof(*ids));
		EXPECT_EQ(whole ? (int)whole : -EFAULT,
			  dev_bulk(self->fd, HWTIMER_OP_CANCEL, 0, ids, NULL,
				   BATCH));
		EXPECT_EQ(BATCH - whole, stats_of(self->fd).pending);
		EXPECT_EQ(BATCH, dev_bulk(self->fd, HWTIMER_OP_CANCEL, 0, some,
					  NULL, BATCH));
	}
}

TEST_F(hwtimer, no_timers_is_0)
{
	__u64 id;

	EXPECT_EQ(0, dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, 0, NULL, &id, 0));
	EXPECT_EQ(0, dev_bulk(self->fd, HWTIMER_OP_CANCEL, 0, NULL, NULL, 0));
}

/* Nobody would learn the ids. */
TEST_F(hwtimer, schedule_without_results_is_einval)
{
	struct hwtimer_bulk_timer timer = { .time = HOUR };

	for (unsigned int count = 0; count <= 1; count++)
		EXPECT_EQ(-EINVAL, dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, 0,
					    &timer, NULL, count));
	EXPECT_EQ(0, stats_of(self->fd).scheduled);
}

TEST_F(hwtimer, wrong_operations_flags_and_counts_are_einval)
{
	const __u32 known = HWTIMER_REQ_ABSTIME | HWTIMER_REQ_DISCARD;
	struct hwtimer_bulk_timer timers[2] = { 0 };
	__u64 results[2];

	for (unsigned int i = 0; i < 10 * 32; i++) {
		__u32 op = i / 32, flags = 1U << i % 32;

		if (op && op <= HWTIMER_OP_RESCHEDULE && known & flags)
			continue;
		for (unsigned int count = 0; count <= 2; count++)
			EXPECT_EQ(-EINVAL,
				  dev_bulk_as(self->fd,
					      (struct hwtimer_bulk){
						      .op = op,
						      .flags = flags,
						      .slack = count % 2,
					      },
					      timers, results, count))
			{
				TH_LOG("operation %u, flags %#x", op, flags);
			}
	}
	EXPECT_EQ(-EINVAL, dev_bulk(self->fd, 0, 0, timers, results, 2));
	EXPECT_EQ(-EINVAL, dev_bulk(self->fd, 4, 0, timers, results, 2));
	EXPECT_EQ(-EINVAL, dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, 0, timers,
				    results, (unsigned int)INT_MAX + 1));
	EXPECT_EQ(0, stats_of(self->fd).scheduled);
}

/* A slack that is wrong for all timers fails the call, even if there is no timer. */
TEST_F(hwtimer, a_wrong_slack_is_an_error_of_the_call)
{
	const struct hwtimer_bulk wrong[] = {
		BULK(SCHEDULE, .slack = INT64_MAX + 1ULL),
		BULK(SCHEDULE, .slack = ~0ULL),
		BULK(SCHEDULE, .flags = HWTIMER_REQ_ABSTIME, .slack = ~0ULL),
	};
	struct hwtimer_bulk_timer timers[2];
	struct hwtimer_info info;
	__u64 results[2];

	fill_timers(timers, 2, HOUR, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++)
		for (unsigned int count = 0; count <= 2; count += 2) {
			EXPECT_EQ(-EINVAL, dev_bulk_as(self->fd, wrong[i],
						       timers, results, count))
			{
				TH_LOG("case %u, %u timers", i, count);
			}
		}
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(0, info.started);
	EXPECT_EQ(0, stats_of(self->fd).scheduled);
}

TEST_F(hwtimer, any_slack_goes_with_any_time)
{
	const __s64 times[] = {
		HOUR,		MS,	      1, 0, -5, INT64_MIN, 2 * HOUR,
		INT64_MAX - MS, HWTIMER_NEVER
	};
	const __u64 slacks[] = { MS, HOUR, INT64_MAX / 2, INT64_MAX };
	const unsigned int n = ARRAY_SIZE(times);
	struct hwtimer_bulk_timer timers[ARRAY_SIZE(times)];
	__u64 ids[ARRAY_SIZE(times)];

	for (unsigned int i = 0; i < n; i++)
		timers[i].time = times[i];
	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(slacks); i++) {
		ASSERT_EQ(n, dev_bulk_as(self->fd,
					 BULK(SCHEDULE, .flags = i % 2,
					      .slack = slacks[i / 2]),
					 timers, ids, n));
		for (unsigned int j = 0; j < n; j++) {
			__u64 slack =
				query_of(_metadata, self->fd, ids[j]).slack;

			EXPECT_GE(slacks[i / 2], slack);
			EXPECT_LE(slacks[i / 2] / 4, slack);
		}
	}
}

TEST_F(hwtimer, what_an_operation_does_not_use_is_ignored)
{
	struct hwtimer_bulk_timer timer = { .time = HOUR };
	__u64 id, result;

	ASSERT_EQ(1, dev_bulk(self->fd, HWTIMER_OP_SCHEDULE,
			      HWTIMER_REQ_DISCARD, &timer, &id, 1));
	timer.id = id;
	ASSERT_EQ(1, dev_bulk_as(self->fd,
				 BULK(RESCHEDULE, .flags = HWTIMER_REQ_DISCARD,
				      .slack = ~0ULL),
				 &timer, &result, 1));
	EXPECT_EQ(0, result);
	EXPECT_EQ(0, query_of(_metadata, self->fd, id).slack);
	ASSERT_EQ(1, dev_bulk_as(self->fd,
				 BULK(CANCEL, .flags = HWTIMER_REQ_ABSTIME,
				      .slack = ~0ULL),
				 &id, &result, 1));
	EXPECT_EQ(0, result);
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

/* After a set of the clock, delays would have no meaning. */
TEST_F(hwtimer, delays_of_clocks_that_may_be_set_are_einval)
{
	const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_TAI };

	for (unsigned int i = 0; i < ARRAY_SIZE(clocks); i++) {
		struct hwtimer_setup setup = {
			.clock = HWTIMER_CLOCK(clocks[i]),
		};
		struct hwtimer_bulk_timer timers[2];
		struct hwtimer_info info;
		__u64 ids[2];

		ASSERT_TRUE(dev_renew(&self->fd));
		ASSERT_EQ(0, dev_setup_as(self->fd, setup));
		fill_timers(timers, 2, clock_ns(clocks[i]) + HOUR, 0);
		EXPECT_EQ(-EINVAL, dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, 0,
					    timers, ids, 2));
		ASSERT_EQ(0, dev_info(self->fd, &info));
		EXPECT_EQ(0, info.started);
		EXPECT_EQ(2, dev_bulk(self->fd, HWTIMER_OP_SCHEDULE,
				      HWTIMER_REQ_ABSTIME, timers, ids, 2));
		EXPECT_EQ(-EINVAL,
			  dev_bulk_as(self->fd, BULK(SCHEDULE, .slack = MS),
				      timers, ids, 2));
		EXPECT_EQ(2, dev_bulk_as(self->fd,
					 BULK(SCHEDULE,
					      .flags = HWTIMER_REQ_ABSTIME,
					      .slack = MS),
					 timers, ids, 2));
		timers[0].id = ids[0];
		EXPECT_EQ(-EINVAL, dev_bulk(self->fd, HWTIMER_OP_RESCHEDULE, 0,
					    timers, ids, 1));
	}
}

TEST_F(hwtimer, limit_and_stop_are_results)
{
	struct hwtimer_bulk_timer timers[6];
	__u64 ids[6], results[6];

	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, 4));
	ASSERT_EQ(6, bulk_schedule(self->fd, HOUR, 6, ids));
	for (unsigned int i = 0; i < 6; i++)
		EXPECT_EQ(i < 4 ? 0 : -ENOSPC, error_of(ids[i]));
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	fill_timers(timers, 6, HOUR, 0);
	ASSERT_EQ(6, dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, 0, timers, results,
			      6));
	for (unsigned int i = 0; i < 6; i++)
		EXPECT_EQ(-ESHUTDOWN, error_of(results[i]));
	ASSERT_EQ(6, dev_bulk(self->fd, HWTIMER_OP_CANCEL, 0, ids, results, 6));
	for (unsigned int i = 0; i < 6; i++)
		EXPECT_EQ(i < 4 ? 0 : -ENOENT, error_of(results[i]));
}

/* That it cannot start is the result of each operation that needs it, as in a SUBMIT. */
TEST_F(hwtimer, an_instance_that_does_not_start)
{
	struct hwtimer_bulk_timer timers[2] = { 0 };
	struct hwtimer_request requests[2] = { 0 };
	struct hwtimer_info info;
	__u64 results[2];

	for (__u32 op = HWTIMER_OP_CANCEL; op <= HWTIMER_OP_RESCHEDULE; op++) {
		ASSERT_EQ(2, dev_bulk(self->fd, op, 0, timers, results, 2));
		requests[0].op = op;
		ASSERT_EQ(1, dev_submit(self->fd, requests, 1));
		EXPECT_EQ(-ENOENT, error_of(results[1]));
		EXPECT_EQ(-ENOENT, requests[0].result);
	}
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(0, info.started);
	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	for (__u32 op = HWTIMER_OP_SCHEDULE; op <= HWTIMER_OP_CANCEL; op++) {
		int err = op == HWTIMER_OP_SCHEDULE ? -ESHUTDOWN : -ENOENT;

		ASSERT_EQ(2, dev_bulk(self->fd, op, 0, timers, results, 2));
		requests[0].op = op;
		requests[1].op = op;
		ASSERT_EQ(2, dev_submit(self->fd, requests, 2));
		for (unsigned int i = 0; i < 2; i++) {
			EXPECT_EQ(err, error_of(results[i]));
			EXPECT_EQ(err, requests[i].result);
		}
	}
}

TEST_F(hwtimer, bad_addresses_are_efault)
{
	struct hwtimer_bulk_timer timers[2];
	__u64 ids[2];

	fill_timers(timers, 2, HOUR, 0);
	EXPECT_EQ(-EFAULT,
		  dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, 0, NULL, ids, 2));
	EXPECT_EQ(-EFAULT, dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, 0,
				    bad_address(), ids, 2));
	EXPECT_EQ(-EFAULT, dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, 0,
				    (void *)-16L, ids, 1000));
	EXPECT_EQ(-EFAULT, dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, 0, timers,
				    bad_address(), 2));
	EXPECT_EQ(-EFAULT, dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, 0, timers,
				    read_only_copy(ids, sizeof(ids)), 2));
	EXPECT_EQ(0, stats_of(self->fd).scheduled);
}

/* The end of the array is beyond 32 or 64 bits; or it lies in the half of the kernel. */
TEST_F(hwtimer, results_beyond_the_address_space)
{
	const __u64 addresses[] = { -8ULL,	-16ULL,	      -4096ULL,
				    1ULL << 63, UINT_MAX - 7, UINT_MAX - 15 };
	struct hwtimer_bulk_timer timers[BATCH];

	fill_timers(timers, BATCH, HOUR, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(addresses); i++) {
		struct hwtimer_bulk bulk = BULK(SCHEDULE, .count = BATCH,
						.timers = (uintptr_t)timers,
						.results = addresses[i]);

		EXPECT_EQ(-EFAULT, dev_ioctl(self->fd, HWTIMER_IOC_BULK, &bulk))
		{
			TH_LOG("%#llx", addresses[i]);
		}
	}
	EXPECT_EQ(0, stats_of(self->fd).scheduled);
}

/* Pages that the program has not touched are given to it, and ids written to them. */
TEST_F(hwtimer, results_in_memory_that_nobody_has_touched)
{
	struct hwtimer_bulk_timer timers[BATCH];
	__u64 *ids = mmap(NULL, whole_pages(BATCH * sizeof(*ids)),
			  PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	ASSERT_NE(MAP_FAILED, ids);
	fill_timers(timers, BATCH, HOUR, 0);
	ASSERT_EQ(BATCH, dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, 0, timers, ids,
				  BATCH));
	for (unsigned int i = 0; i < BATCH; i++)
		ASSERT_EQ(i, query_of(_metadata, self->fd, ids[i]).user_data);
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

			fill_timers(timers, whole, HOUR, 0);
			EXPECT_EQ(whole ? (int)whole : -EFAULT,
				  dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, 0,
					   timers, ids, 1000));
			EXPECT_EQ(before + whole, stats_of(self->fd).pending);
		}
}

/* Each operation whose result can be written is done, and no other one. */
TEST_F(hwtimer, operations_whose_results_cannot_be_written_are_not_done)
{
	struct hwtimer_bulk_timer timers[BATCH];
	__u64 ids[BATCH], fresh[600];

	ASSERT_EQ(BATCH, bulk_schedule(self->fd, HOUR, BATCH, ids));
	for (unsigned int room = 0; room < 600; room += 50) {
		struct hwtimer_stats before = stats_of(self->fd), after;
		__u64 *results = page_edge(room * sizeof(*results) + 4);
		int expected = room ? (int)room : -EFAULT;

		fill_timers(timers, BATCH, HOUR, 0);
		EXPECT_EQ(expected, dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, 0,
					     timers, results, BATCH));
		memcpy(fresh, results, room * sizeof(*results));
		for (unsigned int i = 0; i < BATCH; i++)
			timers[i] = (struct hwtimer_bulk_timer){
				.id = ids[i],
				.time = 2 * HOUR,
			};
		EXPECT_EQ(expected, dev_bulk(self->fd, HWTIMER_OP_RESCHEDULE, 0,
					     timers, results, BATCH));
		for (unsigned int i = 0; i < BATCH; i++)
			ASSERT_EQ(i >= room,
				  query_of(_metadata, self->fd, ids[i])
						  .remaining <= HOUR);
		EXPECT_EQ(expected, dev_bulk(self->fd, HWTIMER_OP_CANCEL, 0,
					     ids, results, BATCH));
		after = stats_of(self->fd);
		EXPECT_EQ(before.scheduled + room, after.scheduled);
		EXPECT_EQ(before.rescheduled + room, after.rescheduled);
		EXPECT_EQ(before.cancelled + room, after.cancelled);
		for (unsigned int i = 0; i < room; i++) {
			ids[i] = fresh[i];
			EXPECT_EQ(i, query_of(_metadata, self->fd, ids[i])
					     .user_data);
		}
	}
}

struct all_timers {
	struct hwtimer_bulk_timer *timers;
	__u64 *ids;
};

static int schedule_some(int fd, void *arg, unsigned int done,
			 unsigned int count)
{
	struct all_timers *all = arg;

	return dev_bulk(fd, HWTIMER_OP_SCHEDULE, 0, all->timers + done,
			all->ids + done, count);
}

TEST_F(hwtimer, signals_end_it_early_and_lose_nothing)
{
	unsigned int n = scaled(1000000) < 20000 ? 20000 : scaled(1000000);
	struct all_timers all = {
		.timers = calloc(n, sizeof(*all.timers)),
		.ids = calloc(n, sizeof(*all.ids)),
	};
	bool interrupted;

	ASSERT_NE(NULL, all.timers);
	ASSERT_NE(NULL, all.ids);
	fill_timers(all.timers, n, HOUR, 0);
	interrupted =
		do_interrupted(_metadata, &self->fd, n, schedule_some, &all);
	EXPECT_TRUE(interrupted);
	for (unsigned int i = 0; i < n; i++)
		ASSERT_EQ(0, error_of(all.ids[i]));
	EXPECT_EQ(n, stats_of(self->fd).scheduled);
	EXPECT_EQ(n, stats_of(self->fd).pending);
}

TEST_HARNESS_MAIN
