// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection. Every call is repeated while the first, the second, the third...
 * allocation or copy in it fails, until no fault is left to inject. Each time the call
 * returns a clean error, and the counts are exact: the kernel has what the program was
 * told. Only a copy of results that fails may leave timers that the program has to look for.
 */
#include "hwtimer_test.h"

#define DEBUGFS "/sys/kernel/debug/"
#define FAIL_NTH "/proc/thread-self/fail-nth"

/* Enough timers to make tables grow and to have arrays handled in parts. */
#define N 300

/*
 * The first FAULTS_EACH faults are all tried, then ever fewer of the next ones. A slow
 * machine tries fewer. The faults that are left out are like those around them: in the
 * copies of an array's entries.
 */
#define FAULTS_EACH 32
#define FAULTS_EACH_MIN 5

/* A call in which more faults than this can be injected counts as endless. */
#define FAULTS_MAX 5000

/* The data of a call. All of it exists before the fault is armed. */
struct subject {
	int fd;
	__u64 deadline; /* of the timers that are pending before the call */
	struct hwtimer_info info;
	struct hwtimer_stats stats;
	struct hwtimer_timer query;
	struct hwtimer_request requests[N];
	struct hwtimer_bulk_timer bulk[N];
	__u64 results[N];
	struct hwtimer_event events[N];
	struct hwtimer_timer timers[N];
	__u64 ids[N]; /* by user_data; 0: the program knows of no such timer */
};

/**
 * struct trial - a call to try
 * @pending: number of timers that are pending before the call
 * @ready: number of events that are ready before the call
 * @interval: the interval of those events' timers; 0: they are not periodic
 * @call: the call
 * @check: checks what the call reported, and which timers exist; may be NULL
 * @repeats: the call allocates nothing, and copies again after a fault: one fault does not make
 *	it fail
 */
struct trial {
	unsigned int pending;
	unsigned int ready;
	__u64 interval;
	int (*call)(struct subject *self);
	void (*check)(struct __test_metadata *_metadata, struct subject *self,
		      int ret);
	bool repeats;
};

FIXTURE(fault)
{
	int fail_nth;
	struct subject subject;
};

FIXTURE_VARIANT(fault)
{
	struct trial trial;
};

static bool clean_error(int ret)
{
	return ret == -ENOMEM || ret == -EFAULT;
}

static int call_open(struct subject *self)
{
	int fd = dev_open(0);

	(void)self;
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int call_info(struct subject *self)
{
	return dev_info(self->fd, &self->info);
}

static int call_stats(struct subject *self)
{
	return dev_stats(self->fd, &self->stats);
}

static int call_query(struct subject *self)
{
	return dev_query(self->fd, self->ids[0], &self->query);
}

static int call_setup(struct subject *self)
{
	return dev_setup(self->fd, 2 * MS, 1 << 16, 5000);
}

static void check_setup(struct __test_metadata *_metadata, struct subject *self,
			int ret)
{
	struct hwtimer_info info;

	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(ret ? MS : 2 * MS, info.tick);
	EXPECT_EQ(0, info.started);
}

static int call_schedule(struct subject *self)
{
	__u64 id;
	int ret;

	ret = dev_schedule(self->fd, HWTIMER_REQ_ABSTIME, self->deadline, 0,
			   &id);
	self->ids[0] = ret ? 0 : id;
	return ret;
}

static int call_cancel(struct subject *self)
{
	int ret = dev_cancel(self->fd, self->ids[0], 0);

	if (!ret)
		self->ids[0] = 0;
	return ret;
}

static int call_reschedule(struct subject *self)
{
	return dev_reschedule(self->fd, self->ids[0], HWTIMER_REQ_ABSTIME,
			      self->deadline / 2);
}

static void check_reschedule(struct __test_metadata *_metadata,
			     struct subject *self, int ret)
{
	struct hwtimer_timer query;

	ASSERT_EQ(0, dev_query(self->fd, self->ids[0], &query));
	EXPECT_EQ(ret ? self->deadline : self->deadline / 2, query.deadline);
}

/* An array is copied in parts of so many entries. */
#define PART 256

/* Finds the timers that were scheduled, and whose results could not be copied to the program. */
static void check_lost(struct __test_metadata *_metadata, struct subject *self,
		       int ret)
{
	__u64 first = ret < 0 ? 0 : ret, cursor = 0;
	struct hwtimer_timer timer;
	int count;

	while ((count = dev_list(self->fd, &timer, 1, &cursor)) > 0) {
		ASSERT_GT(N, timer.user_data);
		if (self->ids[timer.user_data])
			continue;
		EXPECT_LE(first, timer.user_data);
		EXPECT_GT(first + PART, timer.user_data);
		self->ids[timer.user_data] = timer.id;
	}
	EXPECT_EQ(0, count);
}

static int call_submit_schedules(struct subject *self)
{
	int ret;

	fill_schedules(self->requests, N, HWTIMER_REQ_ABSTIME, self->deadline,
		       0);
	ret = dev_submit(self->fd, self->requests, N);
	for (int i = 0; i < ret; i++)
		self->ids[i] = self->requests[i].id;
	return ret;
}

/* Each entry that was handled succeeded or had no memory. */
static void check_submit(struct __test_metadata *_metadata,
			 struct subject *self, int ret)
{
	for (int i = 0; i < ret; i++) {
		struct hwtimer_request *request = &self->requests[i];

		if (request->result)
			EXPECT_EQ(-ENOMEM, request->result);
		if (request->op == HWTIMER_OP_SCHEDULE)
			EXPECT_EQ(!request->result, !!request->id);
	}
}

static void check_submit_schedules(struct __test_metadata *_metadata,
				   struct subject *self, int ret)
{
	check_submit(_metadata, self, ret);
	check_lost(_metadata, self, ret);
}

static int call_submit_cancels(struct subject *self)
{
	fill_cancels(self->requests, N, self->ids);
	return dev_submit(self->fd, self->requests, N);
}

/* Cancels that were not reported to the program may have been done, too. */
static void check_cancels(struct __test_metadata *_metadata,
			  struct subject *self, int ret)
{
	struct hwtimer_timer query;

	check_submit(_metadata, self, ret);
	for (int i = 0; i < N; i++) {
		int gone = dev_query(self->fd, self->ids[i], &query);

		if (i < ret)
			EXPECT_EQ(self->requests[i].result ? 0 : -ENOENT, gone);
		if (gone)
			self->ids[i] = 0;
	}
}

static int call_submit_reschedules(struct subject *self)
{
	memset(self->requests, 0, sizeof(self->requests));
	for (unsigned int i = 0; i < N; i++) {
		self->requests[i].op = HWTIMER_OP_RESCHEDULE;
		self->requests[i].flags = HWTIMER_REQ_ABSTIME;
		self->requests[i].id = self->ids[i];
		self->requests[i].time = self->deadline - i * SEC;
	}
	return dev_submit(self->fd, self->requests, N);
}

static void check_reschedules(struct __test_metadata *_metadata,
			      struct subject *self, int ret)
{
	struct hwtimer_timer query;

	check_submit(_metadata, self, ret);
	for (int i = 0; i < N; i++) {
		struct hwtimer_request *request = &self->requests[i];

		ASSERT_EQ(0, dev_query(self->fd, self->ids[i], &query));
		if (i < ret) {
			EXPECT_EQ(request->result ? self->deadline :
						    (__u64)request->time,
				  query.deadline);
		}
	}
}

/* A timer without memory gets no id. */
static int call_bulk(struct subject *self)
{
	int ret;

	for (unsigned int i = 0; i < N; i++)
		self->bulk[i] = (struct hwtimer_bulk_timer){
			.user_data = i,
			.time = self->deadline,
		};
	ret = dev_bulk(self->fd, HWTIMER_OP_SCHEDULE, HWTIMER_REQ_ABSTIME,
		       self->bulk, self->results, N);
	for (int i = 0; i < ret; i++)
		if (self->results[i] != (__u64)-ENOMEM)
			self->ids[i] = self->results[i];
	return ret;
}

static int call_bulk_reschedule(struct subject *self)
{
	for (unsigned int i = 0; i < N; i++)
		self->bulk[i] = (struct hwtimer_bulk_timer){
			.id = self->ids[i],
			.time = self->deadline - i * SEC,
		};
	return dev_bulk(self->fd, HWTIMER_OP_RESCHEDULE, HWTIMER_REQ_ABSTIME,
			self->bulk, self->results, N);
}

static void check_bulk_reschedule(struct __test_metadata *_metadata,
				  struct subject *self, int ret)
{
	struct hwtimer_timer query;

	for (int i = 0; i < ret; i++) {
		if (self->results[i])
			EXPECT_EQ((__u64)-ENOMEM, self->results[i]);
		ASSERT_EQ(0, dev_query(self->fd, self->ids[i], &query));
		EXPECT_EQ(self->deadline - (self->results[i] ? 0 : i * SEC),
			  query.deadline);
	}
}

/* Cancels that were not reported to the program may have been done, too. */
static int call_bulk_cancel(struct subject *self)
{
	struct hwtimer_timer query;
	int ret = dev_bulk(self->fd, HWTIMER_OP_CANCEL, 0, self->ids,
			   self->results, N);

	for (int i = 0; i < N; i++)
		if (i < ret ? !self->results[i] :
			      dev_query(self->fd, self->ids[i], &query) != 0)
			self->ids[i] = 0;
	return ret;
}

static int call_read(struct subject *self)
{
	return dev_read(self->fd, self->events, N);
}

/* Reads the rest; each event came once. */
static void check_read(struct __test_metadata *_metadata, struct subject *self,
		       int ret)
{
	unsigned int got = ret < 0 ? 0 : ret;
	bool came[N] = { false };

	while (got < N) {
		int more = dev_read(self->fd, self->events + got, N - got);

		ASSERT_LT(0, more);
		got += more;
	}
	for (unsigned int i = 0; i < N; i++) {
		ASSERT_GT(N, self->events[i].user_data);
		EXPECT_FALSE(came[self->events[i].user_data]);
		came[self->events[i].user_data] = true;
	}
}

/* Periodic timers are pending again, which needed no memory. */
static void check_periodic_read(struct __test_metadata *_metadata,
				struct subject *self, int ret)
{
	struct hwtimer_timer query;

	if (ret < 0)
		EXPECT_EQ(-EFAULT, ret);
	check_read(_metadata, self, ret);
	for (unsigned int i = 0; i < N; i++) {
		struct hwtimer_event *event = &self->events[i];

		EXPECT_EQ(1, event->expirations);
		ASSERT_EQ(0, dev_query(self->fd, event->id, &query));
		EXPECT_EQ(HWTIMER_STATE_PENDING, query.state);
		EXPECT_EQ(event->deadline + HOUR, query.deadline);
	}
}

/* A successful call raises the watermark: one event no longer makes poll() ready. */
static int call_notify(struct subject *self)
{
	return dev_notify(self->fd, 2, HWTIMER_NEVER);
}

static void check_notify(struct __test_metadata *_metadata,
			 struct subject *self, int ret)
{
	EXPECT_EQ(ret ? POLLIN : 0, dev_poll(self->fd, POLLIN, 0));
	ASSERT_EQ(1, dev_read(self->fd, self->events, 1));
}

static int call_stop(struct subject *self)
{
	return dev_stop(self->fd, self->timers, N, NULL);
}

/* The kernel no longer knows timers that were handed back. */
static void check_stop(struct __test_metadata *_metadata, struct subject *self,
		       int ret)
{
	for (int i = 0; i < ret; i++) {
		ASSERT_GT(N, self->timers[i].user_data);
		EXPECT_EQ(self->ids[self->timers[i].user_data],
			  self->timers[i].id);
		self->ids[self->timers[i].user_data] = 0;
	}
}

/* clang-format off */
FIXTURE_VARIANT_ADD(fault, open)
{
	.trial = { .call = call_open },
};

FIXTURE_VARIANT_ADD(fault, info)
{
	.trial = { .call = call_info },
};

FIXTURE_VARIANT_ADD(fault, stats)
{
	.trial = { .call = call_stats },
};

FIXTURE_VARIANT_ADD(fault, query)
{
	.trial = { .pending = 1, .call = call_query },
};

FIXTURE_VARIANT_ADD(fault, setup)
{
	.trial = { .call = call_setup, .check = check_setup },
};

FIXTURE_VARIANT_ADD(fault, first_schedule)
{
	.trial = { .call = call_schedule },
};

FIXTURE_VARIANT_ADD(fault, cancel)
{
	.trial = { .pending = 1, .call = call_cancel },
};

FIXTURE_VARIANT_ADD(fault, reschedule)
{
	.trial = {
		.pending = 1, .call = call_reschedule,
		.check = check_reschedule,
	},
};

FIXTURE_VARIANT_ADD(fault, submit_of_schedules)
{
	.trial = {
		.call = call_submit_schedules, .check = check_submit_schedules,
	},
};

FIXTURE_VARIANT_ADD(fault, submit_of_cancels)
{
	.trial = {
		.pending = N, .call = call_submit_cancels,
		.check = check_cancels,
	},
};

FIXTURE_VARIANT_ADD(fault, submit_of_reschedules)
{
	.trial = {
		.pending = N,
		.call = call_submit_reschedules, .check = check_reschedules,
	},
};

FIXTURE_VARIANT_ADD(fault, bulk_of_schedules)
{
	.trial = {
		.call = call_bulk, .check = check_lost,
	},
};

FIXTURE_VARIANT_ADD(fault, bulk_of_cancels)
{
	.trial = { .pending = N, .call = call_bulk_cancel },
};

FIXTURE_VARIANT_ADD(fault, bulk_of_reschedules)
{
	.trial = {
		.pending = N,
		.call = call_bulk_reschedule, .check = check_bulk_reschedule,
	},
};

FIXTURE_VARIANT_ADD(fault, read)
{
	.trial = {
		.ready = N, .call = call_read, .check = check_read,
		.repeats = true,
	},
};

FIXTURE_VARIANT_ADD(fault, read_of_periodic_timers)
{
	.trial = {
		.ready = N, .interval = HOUR,
		.call = call_read, .check = check_periodic_read,
		.repeats = true,
	},
};

FIXTURE_VARIANT_ADD(fault, notify)
{
	.trial = { .ready = 1, .call = call_notify, .check = check_notify },
};

FIXTURE_VARIANT_ADD(fault, stop)
{
	.trial = { .pending = N, .call = call_stop, .check = check_stop },
};

/* clang-format on */

FIXTURE_SETUP(fault)
{
	self->fail_nth = open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	/* Allocations that may sleep fail too, and nothing is logged. */
	write_file(DEBUGFS "failslab/ignore-gfp-wait", "N");
	write_file(DEBUGFS "failslab/verbose", "0");
	write_file(DEBUGFS "fail_page_alloc/ignore-gfp-wait", "N");
	write_file(DEBUGFS "fail_page_alloc/ignore-gfp-highmem", "N");
	write_file(DEBUGFS "fail_page_alloc/min-order", "0");
	write_file(DEBUGFS "fail_page_alloc/verbose", "0");
	write_file(DEBUGFS "fail_usercopy/verbose", "0");
	/* The fault must not hit a page fault. */
	ASSERT_EQ(0, mlockall(MCL_CURRENT | MCL_FUTURE));
}

FIXTURE_TEARDOWN(fault)
{
	close(self->fail_nth);
}

/* Makes an instance as the trial says. */
static void prepare(struct __test_metadata *_metadata, struct subject *self,
		    const struct trial *trial)
{
	unsigned int pending = trial->pending, ready = trial->ready;

	memset(self, 0, sizeof(*self));
	self->deadline = now_ns() + HOUR;
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(pending,
		  dev_schedule_many(self->fd, pending, HWTIMER_REQ_ABSTIME,
				    self->deadline, self->ids));
	fill_schedules(self->requests, ready, 0, 0, 0);
	for (unsigned int i = 0; i < ready; i++)
		self->requests[i].interval = trial->interval;
	ASSERT_EQ(ready, dev_submit(self->fd, self->requests, ready));
	for (unsigned int i = 0; i < ready && trial->interval; i++)
		self->ids[i] = self->requests[i].id;
	ASSERT_TRUE(dev_wait_ready(self->fd, ready));
}

/* Makes the @nth allocation or copy of this thread, counted from now, fail. */
static void arm(int fail_nth, unsigned int nth)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", nth);

	if (pwrite(fail_nth, text, length, 0) != length)
		abort();
}

/* Returns whether the fault has happened. If not, it may hit this read. */
static bool disarm(int fail_nth)
{
	char text[16] = { 0 };
	bool fired = pread(fail_nth, text, sizeof(text) - 1, 0) > 0 &&
		     !atoi(text);

	while (pwrite(fail_nth, "0", 1, 0) != 1)
		;
	return fired;
}

/* Expects that the kernel has the timers that the program knows of, and no others. */
static void expect_known(struct __test_metadata *_metadata,
			 struct subject *self)
{
	struct hwtimer_stats stats;
	unsigned int known = 0;

	for (unsigned int i = 0; i < N; i++)
		known += self->ids[i] != 0;
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(known, stats.pending);
	EXPECT_EQ(0, stats.ready);
	expect_balance(_metadata, &stats);
	ASSERT_EQ(known, dev_stop(self->fd, self->timers, N, NULL));
	for (unsigned int i = 0; i < known; i++) {
		ASSERT_GT(N, self->timers[i].user_data);
		EXPECT_EQ(self->ids[self->timers[i].user_data],
			  self->timers[i].id);
		self->ids[self->timers[i].user_data] = 0;
	}
}

TEST_F(fault, every_failure_is_clean)
{
	const struct trial *trial = &variant->trial;
	struct subject *subject = &self->subject;
	unsigned int each = scaled(FAULTS_EACH);
	unsigned int nth = 0, tries = 0, failures = 0;
	bool fired;
	int ret;

	if (each < FAULTS_EACH_MIN)
		each = FAULTS_EACH_MIN;
	if (self->fail_nth < 0)
		SKIP(return, "this kernel has no " FAIL_NTH);
	do {
		prepare(_metadata, subject, trial);
		nth += 1 + nth / each;
		arm(self->fail_nth, nth);
		ret = trial->call(subject);
		fired = disarm(self->fail_nth);
		tries++;
		if (ret < 0) {
			EXPECT_TRUE(clean_error(ret));
			failures++;
		}
		if (trial->check)
			trial->check(_metadata, subject, ret);
		expect_known(_metadata, subject);
		ASSERT_EQ(0, close(subject->fd));
	} while (fired && nth < FAULTS_MAX);
	TH_LOG("%u of up to %u faults, %u made the call fail", tries - 1,
	       nth - 1, failures);
	EXPECT_FALSE(fired);
	EXPECT_LE(0, ret);
	EXPECT_EQ(!trial->repeats, failures > 0);
}

#define FAIL_PAGES DEBUGFS "fail_page_alloc/"

/* More than three slots of records, and more than a page of requests in a call. */
#define MANY 4000

/* Makes allocations of neighbouring pages fail for a process that asks for it. */
static bool prepare_scattering(void)
{
	return write_file(FAIL_PAGES "task-filter", "Y") &&
	       write_file(FAIL_PAGES "ignore-gfp-wait", "N") &&
	       write_file(FAIL_PAGES "ignore-gfp-highmem", "N") &&
	       write_file(FAIL_PAGES "verbose", "0") &&
	       write_file(FAIL_PAGES "min-order", "1") &&
	       write_file(FAIL_PAGES "times", "-1") &&
	       write_file(FAIL_PAGES "probability", "100");
}

static bool end_scattering(void)
{
	return write_file(FAIL_PAGES "probability", "0") &&
	       write_file(FAIL_PAGES "times", "1") &&
	       write_file(FAIL_PAGES "min-order", "0") &&
	       write_file(FAIL_PAGES "task-filter", "N");
}

/* Where no two free pages are neighbours, single pages are enough for everything. */
TEST(scattered_memory_is_enough)
{
	int asks = open("/proc/self/make-it-fail", O_WRONLY | O_CLOEXEC);
	int fd = dev_open(O_NONBLOCK);
	struct hwtimer_stats before;
	unsigned int scheduled;

	if (asks < 0 || access(FAIL_PAGES "min-order", W_OK))
		SKIP(return, "this kernel has no " FAIL_PAGES);
	ASSERT_LE(0, fd);
	/* With 256 buckets, the list of their pages fits into one page. */
	ASSERT_EQ(0, dev_setup(fd, 0, 256, MANY));
	before = stats_of(fd);
	ASSERT_TRUE(prepare_scattering());
	ASSERT_EQ(1, write(asks, "1", 1));
	scheduled = dev_schedule_many(fd, MANY, 0, 0, NULL);
	ASSERT_EQ(1, pwrite(asks, "0", 1, 0));
	ASSERT_TRUE(end_scattering());
	EXPECT_EQ(MANY, scheduled);
	EXPECT_LE(before.bytes + MANY * 32, stats_of(fd).bytes);
	EXPECT_TRUE(dev_wait_ready(fd, scheduled));
	EXPECT_EQ(scheduled, dev_discard_events(fd, scheduled));
	ASSERT_EQ(0, close(fd));
}

TEST_HARNESS_MAIN
