// SPDX-License-Identifier: GPL-2.0
/*
 * SUBMIT: many operations in one call, each with its own result; arrays of every length;
 * memory that faults half way; a signal half way.
 */
#include "hwtimer_test.h"

static struct hwtimer_request cancel_request(__u64 id)
{
	return (struct hwtimer_request){ .op = HWTIMER_OP_CANCEL, .id = id };
}

static struct hwtimer_request schedule_request(__u64 time, __u64 user_data)
{
	return (struct hwtimer_request){
		.op = HWTIMER_OP_SCHEDULE,
		.time = time,
		.user_data = user_data,
	};
}

static struct hwtimer_request reschedule_request(__u64 id, __u64 time)
{
	return (struct hwtimer_request){
		.op = HWTIMER_OP_RESCHEDULE,
		.id = id,
		.time = time,
	};
}

TEST_F(hwtimer, every_entry_gets_its_own_result)
{
	__u64 pending = dev_after(self->fd, HOUR, 1);
	__u64 moved = dev_after(self->fd, HOUR, 2);
	struct hwtimer_request requests[] = {
		schedule_request(HOUR, 3),
		cancel_request(pending),
		cancel_request(pending),
		reschedule_request(moved, 2 * HOUR),
		reschedule_request(pending, HOUR),
		{ .op = 0 },
		{ .op = 4 },
		{ .op = HWTIMER_OP_SCHEDULE, .interval = UINT64_MAX },
		{ .op = HWTIMER_OP_SCHEDULE, .slack = UINT64_MAX },
		{ .op = HWTIMER_OP_SCHEDULE, .reserved = 1 },
		{ .op = HWTIMER_OP_SCHEDULE, .flags = 1U << 6 },
		{ .op = HWTIMER_OP_CANCEL, .id = moved, .reserved = 1 },
		{ .op = HWTIMER_OP_CANCEL, .id = moved, .flags = 1U << 6 },
		{ .op = HWTIMER_OP_RESCHEDULE, .id = moved, .reserved = 1 },
		schedule_request(HOUR, 4),
	};
	const int results[] = { 0,	 0,	  -ENOENT, 0,	    -ENOENT,
				-EINVAL, -EINVAL, -EINVAL, -EINVAL, -EINVAL,
				-EINVAL, -EINVAL, -EINVAL, -EINVAL, 0 };
	struct hwtimer_stats stats;
	struct hwtimer_timer query;

	for (unsigned int i = 0; i < ARRAY_SIZE(requests); i++)
		requests[i].result = 12345;
	ASSERT_EQ(15, dev_submit(self->fd, requests, 15));
	for (unsigned int i = 0; i < ARRAY_SIZE(requests); i++) {
		EXPECT_EQ(results[i], requests[i].result)
		{
			TH_LOG("requests[%u]", i);
		}
	}
	ASSERT_EQ(0, dev_query(self->fd, requests[0].id, &query));
	EXPECT_EQ(3, query.user_data);
	ASSERT_EQ(0, dev_query(self->fd, requests[14].id, &query));
	EXPECT_EQ(4, query.user_data);
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(3, stats.pending);
	EXPECT_EQ(4, stats.scheduled);
	EXPECT_EQ(1, stats.cancelled);
	EXPECT_EQ(1, stats.rescheduled);
}

/* Returns a random request: with a deadline hours away, or about one of @n @ids. */
static struct hwtimer_request random_request(unsigned int *seed,
					     const __u64 *ids, unsigned int n)
{
	__u64 time = now_ns() + 2 * HOUR + rand_r(seed) % 1000 * SEC;
	struct hwtimer_request request = schedule_request(time, rand_r(seed));
	__u64 id = n ? ids[rand_r(seed) % n] : 1;

	request.flags = HWTIMER_REQ_ABSTIME;
	switch (rand_r(seed) % 16) {
	case 0:
		request.expirations_max = 1 + rand_r(seed) % 5;
		request.interval = SEC;
		break;
	case 1:
		request.slack = HOUR;
		break;
	case 2:
		request.reserved = 1;
		break;
	case 3:
		request = reschedule_request(id, time);
		request.flags = HWTIMER_REQ_ABSTIME;
		break;
	case 4:
	case 5:
	case 6:
		return cancel_request(id);
	}
	return request;
}

static void expect_as_asked(struct __test_metadata *_metadata, int fd,
			    const struct hwtimer_request *request)
{
	struct hwtimer_timer query;

	ASSERT_EQ(0, dev_query(fd, request->id, &query));
	EXPECT_EQ(request->user_data, query.user_data);
	EXPECT_EQ(request->interval, query.interval);
	EXPECT_EQ(request->expirations_max, query.expirations_left);
	EXPECT_EQ(!request->slack, !query.slack);
}

/* Several requests at once have the same effect as each alone. */
TEST_F(hwtimer, any_mixture_is_done_as_one_by_one)
{
	enum { ROUNDS = 20, N = 100 };
	int other = dev_open(O_NONBLOCK);
	unsigned int seed = 5, n = 0, refused = 0;
	__u64 ids[ROUNDS * N];

	ASSERT_LE(0, other);
	/* In the end there is room only for some. */
	ASSERT_EQ(0, dev_setup(self->fd, 0, 0, 900));
	ASSERT_EQ(0, dev_setup(other, 0, 0, 900));
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct hwtimer_request requests[N], singles[N];
		unsigned int before = n;

		for (unsigned int i = 0; i < N; i++)
			requests[i] = random_request(&seed, ids, before);
		memcpy(singles, requests, sizeof(singles));
		ASSERT_EQ(N, dev_submit(self->fd, requests, N));
		for (unsigned int i = 0; i < N; i++) {
			ASSERT_EQ(1, dev_submit(other, &singles[i], 1));
			ASSERT_EQ(singles[i].result, requests[i].result);
			ASSERT_EQ(singles[i].id, requests[i].id);
			if (requests[i].op == HWTIMER_OP_SCHEDULE &&
			    !requests[i].result) {
				expect_as_asked(_metadata, self->fd,
						&requests[i]);
				ids[n++] = requests[i].id;
			}
			refused += requests[i].result == -ENOSPC;
		}
	}
	TH_LOG("%u timers, and no room for %u", n, refused);
	EXPECT_LT(0, refused);
	EXPECT_EQ(stats_of(other).pending, stats_of(self->fd).pending);
	EXPECT_EQ(stats_of(other).cancelled, stats_of(self->fd).cancelled);
	for (unsigned int i = 0; i < n; i++)
		expect_same_timer(_metadata, self->fd, other, ids[i]);
	EXPECT_EQ(0, close(other));
}

/* A CANCEL that leaves one event says 1, which is no error. */
TEST_F(hwtimer, expired_timers)
{
	__u64 id = dev_after(self->fd, 0, 0);
	struct hwtimer_request requests[] = {
		cancel_request(id),	      cancel_request(id),
		reschedule_request(id, HOUR), cancel_request(id),
		cancel_request(id),
	};

	requests[3].flags = HWTIMER_REQ_DISCARD;
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	ASSERT_EQ(5, dev_submit(self->fd, requests, 5));
	EXPECT_EQ(1, requests[0].result);
	EXPECT_EQ(1, requests[1].result);
	EXPECT_EQ(-EALREADY, requests[2].result);
	EXPECT_EQ(0, requests[3].result);
	EXPECT_EQ(-ENOENT, requests[4].result);
}

/* An array of SCHEDULEs becomes one of CANCELs with the op alone. */
TEST_F(hwtimer, requests_of_a_schedule_serve_a_cancel)
{
	struct hwtimer_request requests[20];

	fill_schedules(requests, 20, HWTIMER_REQ_ABSTIME, now_ns() + HOUR, 1);
	for (unsigned int i = 0; i < 20; i++) {
		requests[i].interval = i % 2 * SEC;
		requests[i].slack = i % 3 * MS;
		requests[i].expirations_max = i % 5;
	}
	ASSERT_EQ(20, dev_submit(self->fd, requests, 20));
	for (unsigned int i = 0; i < 20; i++) {
		EXPECT_EQ(0, requests[i].result);
		requests[i].op = HWTIMER_OP_CANCEL;
	}
	ASSERT_EQ(20, dev_submit(self->fd, requests, 20));
	for (unsigned int i = 0; i < 20; i++)
		EXPECT_EQ(0, requests[i].result);
	EXPECT_EQ(20, stats_of(self->fd).cancelled);
}

/* Whether an instance can start is a matter of each operation that needs it. */
TEST_F(hwtimer, instance_that_cannot_start_is_a_result)
{
	struct hwtimer_request requests[] = {
		schedule_request(HOUR, 0),
		cancel_request(1ULL << 32),
		schedule_request(HOUR, 0),
		{ .op = 4 },
	};

	ASSERT_EQ(0, dev_stop(self->fd, NULL, 0, NULL));
	ASSERT_EQ(4, dev_submit(self->fd, requests, 4));
	EXPECT_EQ(-ESHUTDOWN, requests[0].result);
	EXPECT_EQ(-ENOENT, requests[1].result);
	EXPECT_EQ(-ESHUTDOWN, requests[2].result);
	EXPECT_EQ(-EINVAL, requests[3].result);
}

TEST_F(hwtimer, only_new_timers_start_an_instance)
{
	struct hwtimer_request requests[] = {
		cancel_request(1ULL << 32),
		reschedule_request(1ULL << 32, HOUR),
		reschedule_request(0, HOUR),
	};

	requests[2].flags = HWTIMER_REQ_REARM;
	ASSERT_EQ(3, dev_submit(self->fd, requests, 3));
	for (unsigned int i = 0; i < 3; i++)
		EXPECT_EQ(-ENOENT, requests[i].result);
	EXPECT_EQ(0, dev_setup(self->fd, 2 * MS, 0, 0));
	requests[2].flags |= HWTIMER_REQ_CREATE;
	ASSERT_EQ(3, dev_submit(self->fd, requests, 3));
	EXPECT_EQ(-ENOENT, requests[0].result);
	EXPECT_EQ(-ENOENT, requests[1].result);
	EXPECT_EQ(0, requests[2].result);
	EXPECT_EQ(-EBUSY, dev_setup(self->fd, 2 * MS, 0, 0));
}

TEST_F(hwtimer, arrays_of_every_length)
{
	static const unsigned int lengths[] = { 1,   2,	  3,   15,   16,  17,
						31,  32,  33,  63,   64,  65,
						127, 128, 129, 255,  256, 257,
						511, 512, 513, BATCH };
	struct hwtimer_request requests[BATCH];
	struct hwtimer_stats stats;
	__u64 total = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		unsigned int n = lengths[i];

		fill_schedules(requests, n, 0, HOUR, total);
		ASSERT_EQ(n, dev_submit(self->fd, requests, n));
		for (unsigned int j = 0; j < n; j++) {
			ASSERT_EQ(0, requests[j].result);
			ASSERT_NE(0, requests[j].id);
			ASSERT_EQ(total + j, requests[j].user_data);
		}
		total += n;
	}
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(total, stats.pending);
}

TEST_F(hwtimer, a_hundred_thousand_in_one_call)
{
	unsigned int n = scaled(100000);
	struct hwtimer_request *requests = calloc(n, sizeof(*requests));
	struct hwtimer_stats stats;

	ASSERT_NE(NULL, requests);
	fill_schedules(requests, n, 0, HOUR, 0);
	ASSERT_EQ(n, dev_submit(self->fd, requests, n));
	for (unsigned int i = 0; i < n; i++) {
		ASSERT_EQ(0, requests[i].result);
		requests[i] = cancel_request(requests[i].id);
	}
	ASSERT_EQ(n, dev_submit(self->fd, requests, n));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(n, stats.cancelled);
	EXPECT_EQ(0, stats.pending);
}

TEST_F(hwtimer, empty_array_is_0)
{
	EXPECT_EQ(0, dev_submit(self->fd, NULL, 0));
}

TEST_F(hwtimer, unknown_flags_are_einval)
{
	struct hwtimer_request request = schedule_request(HOUR, 0);
	struct hwtimer_submit submit = {
		.requests = (uintptr_t)&request,
		.count = 1,
	};
	struct hwtimer_stats stats;

	for (unsigned int bit = 0; bit < 32; bit++) {
		submit.flags = 1U << bit;
		EXPECT_EQ(-EINVAL,
			  dev_ioctl(self->fd, HWTIMER_IOC_SUBMIT, &submit));
	}
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(0, stats.scheduled);
}

/* The result could not tell so many. */
TEST_F(hwtimer, more_than_an_int_can_count_is_einval)
{
	struct hwtimer_request request = schedule_request(HOUR, 0);
	struct hwtimer_submit submit = {
		.requests = (uintptr_t)&request,
		.count = (__u32)INT_MAX + 1,
	};

	EXPECT_EQ(-EINVAL, dev_ioctl(self->fd, HWTIMER_IOC_SUBMIT, &submit));
	submit.count = 1;
	EXPECT_EQ(1, dev_ioctl(self->fd, HWTIMER_IOC_SUBMIT, &submit));
}

TEST_F(hwtimer, array_at_a_bad_address_is_efault)
{
	EXPECT_EQ(-EFAULT, dev_submit(self->fd, NULL, 1));
	EXPECT_EQ(-EFAULT, dev_submit(self->fd, bad_address(), 1));
	EXPECT_EQ(-EFAULT, dev_submit(self->fd, bad_address(), 1000));
	EXPECT_EQ(-EFAULT, dev_submit(self->fd, (void *)-64L, 1000));
}

/* Pages that the program has not touched read as zeros, and results are written to them. */
TEST_F(hwtimer, array_in_memory_that_nobody_has_touched)
{
	const size_t size = BATCH * sizeof(struct hwtimer_request);
	struct hwtimer_request *requests =
		mmap(NULL, whole_pages(size), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, requests);
	ASSERT_EQ(BATCH, dev_submit(self->fd, requests, BATCH));
	for (unsigned int i = 0; i < BATCH; i++)
		ASSERT_EQ(-EINVAL, requests[i].result);
}

/*
 * Whole entries before the edge are handled. The entry across the edge and those beyond
 * it are not. No entry is lost or handled twice.
 */
static void check_edge(struct __test_metadata *_metadata, int fd, __u64 time,
		       unsigned int whole, size_t part)
{
	const size_t room = whole * sizeof(struct hwtimer_request) + part;
	struct hwtimer_request *requests = page_edge(room);
	struct hwtimer_stats before, after;
	struct hwtimer_event events[64];

	ASSERT_EQ(0, dev_stats(fd, &before));
	fill_schedules(requests, whole, 0, time, 100);
	memset(&requests[whole], 0, part);
	if (part >= sizeof(__u32))
		requests[whole].op = HWTIMER_OP_SCHEDULE;
	EXPECT_EQ(whole ? (int)whole : -EFAULT,
		  dev_submit(fd, requests, whole + 300));
	for (unsigned int i = 0; i < whole; i++) {
		EXPECT_EQ(0, requests[i].result);
		EXPECT_NE(0, requests[i].id);
	}
	ASSERT_EQ(0, dev_stats(fd, &after));
	EXPECT_EQ(before.scheduled + whole, after.scheduled);
	expect_balance(_metadata, &after);
	if (time == HOUR) {
		EXPECT_EQ(before.pending + whole, after.pending);
		return;
	}
	ASSERT_EQ(whole, dev_collect(fd, events, whole));
	EXPECT_EQ(-EAGAIN, dev_read(fd, events, 1));
}

TEST_F(hwtimer, array_that_faults_half_way)
{
	for (unsigned int whole = 0; whole <= 60; whole += 15) {
		check_edge(_metadata, self->fd, HOUR, whole, 0);
		check_edge(_metadata, self->fd, HOUR, whole, 4);
		check_edge(_metadata, self->fd, HOUR, whole, 48);
	}
}

/* The kernel copies 256 requests at a time; the edge lies between two copies. */
TEST_F(hwtimer, array_that_faults_between_two_batches)
{
	check_edge(_metadata, self->fd, HOUR, 256, 0);
	check_edge(_metadata, self->fd, HOUR, 512, 0);
	check_edge(_metadata, self->fd, HOUR, 512, 4);
}

TEST_F(hwtimer, array_that_faults_half_way_with_timers_that_are_due)
{
	for (unsigned int whole = 0; whole <= 60; whole += 15) {
		check_edge(_metadata, self->fd, 0, whole, 0);
		check_edge(_metadata, self->fd, 0, whole, 56);
	}
}

/* Returns requests; the first @writable can be written, the @others only read. */
static struct hwtimer_request *half_read_only(unsigned int writable,
					      unsigned int others)
{
	size_t before = whole_pages(writable * sizeof(struct hwtimer_request));
	size_t after = whole_pages(others * sizeof(struct hwtimer_request));
	char *map = mmap(NULL, before + after, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct hwtimer_request *requests;

	if (map == MAP_FAILED)
		abort();
	requests = (struct hwtimer_request *)(map + before) - writable;
	fill_schedules(requests, writable + others, 0, HOUR, 0);
	if (mprotect(map + before, after, PROT_READ))
		abort();
	return requests;
}

TEST_F(hwtimer, requests_that_cannot_be_written_are_not_done)
{
	struct hwtimer_request *requests = half_read_only(10, 50);

	EXPECT_EQ(10, dev_submit(self->fd, requests, 60));
	EXPECT_EQ(10, stats_of(self->fd).scheduled);
	EXPECT_EQ(-EFAULT, dev_submit(self->fd, requests + 10, 50));
	EXPECT_EQ(10, stats_of(self->fd).scheduled);
}

/* The first batch is handled and reported; nothing of the second can be written. */
TEST_F(hwtimer, batch_that_cannot_be_written_is_not_done)
{
	struct hwtimer_request *requests = half_read_only(256, 256);

	EXPECT_EQ(256, dev_submit(self->fd, requests, 512));
	for (unsigned int i = 0; i < 256; i++)
		EXPECT_EQ(0, requests[i].result);
	EXPECT_EQ(256, stats_of(self->fd).scheduled);
}

TEST_F(hwtimer, cancels_that_cannot_be_written_are_not_done)
{
	struct hwtimer_request requests[16];
	__u64 ids[16];

	ASSERT_EQ(16, dev_schedule_many(self->fd, 16, 0, HOUR, ids));
	fill_cancels(requests, 16, ids);
	EXPECT_EQ(-EFAULT,
		  dev_submit(self->fd,
			     read_only_copy(requests, sizeof(requests)), 16));
	EXPECT_EQ(0, stats_of(self->fd).cancelled);
	EXPECT_EQ(16, dev_cancel_many(self->fd, 16, ids));
}

static int schedule_some(int fd, void *requests, unsigned int done,
			 unsigned int count)
{
	fill_schedules((struct hwtimer_request *)requests + done, count, 0,
		       HOUR, done);
	return dev_submit(fd, (struct hwtimer_request *)requests + done, count);
}

TEST_F(hwtimer, signals_end_it_early_and_lose_nothing)
{
	unsigned int n = scaled(200000);
	struct hwtimer_request *requests = calloc(n, sizeof(*requests));

	ASSERT_NE(NULL, requests);
	EXPECT_TRUE(do_interrupted(_metadata, &self->fd, n, schedule_some,
				   requests));
	for (unsigned int i = 0; i < n; i++)
		ASSERT_EQ(0, requests[i].result);
	EXPECT_EQ(n, stats_of(self->fd).scheduled);
	EXPECT_EQ(n, stats_of(self->fd).pending);
}

TEST_HARNESS_MAIN
