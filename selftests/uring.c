// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring: each command by rings of all kinds, with its errors; reads and polls that wait, are
 * cancelled, or end with their program; and that nothing needs io_uring.
 */
#include "uring.h"

#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#define ENTRIES 64

/* Whether the kernel has io_uring, and allows it to us */
static bool has_uring(void)
{
	struct ring ring;

	if (ring_begin(&ring, 1, 0))
		return false;
	ring_end(&ring);
	return true;
}

/* ---- each command, by rings of all kinds ---- */

/* An instance whose reads block, and a ring. @at is what entries have as descriptor. */
FIXTURE(kinds)
{
	int fd;
	int at;
	struct ring ring;
};

FIXTURE_VARIANT(kinds)
{
	unsigned int flags;
	__u8 sqe_flags;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(kinds, plain)
{
};

FIXTURE_VARIANT_ADD(kinds, deferred)
{
	.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
};

FIXTURE_VARIANT_ADD(kinds, sqpoll)
{
	.flags = IORING_SETUP_SQPOLL,
};

FIXTURE_VARIANT_ADD(kinds, large_entries)
{
	.flags = IORING_SETUP_SQE128,
};

FIXTURE_VARIANT_ADD(kinds, async)
{
	.sqe_flags = IOSQE_ASYNC,
};

FIXTURE_VARIANT_ADD(kinds, registered_file)
{
	.sqe_flags = IOSQE_FIXED_FILE,
};

FIXTURE_VARIANT_ADD(kinds, registered_file_of_sqpoll)
{
	.flags = IORING_SETUP_SQPOLL,
	.sqe_flags = IOSQE_FIXED_FILE,
};

/* clang-format on */
FIXTURE_SETUP(kinds)
{
	self->fd = -1;
	if (!has_uring())
		SKIP(return, "this kernel has no io_uring, or refuses it");
	ASSERT_EQ(0, ring_begin(&self->ring, ENTRIES, variant->flags));
	self->fd = dev_open(0);
	self->at = self->fd;
	ASSERT_LE(0, self->fd);
	self->ring.sqe_flags = variant->sqe_flags;
	if (!(variant->sqe_flags & IOSQE_FIXED_FILE))
		return;
	ASSERT_EQ(0, ring_register(&self->ring, IORING_REGISTER_FILES,
				   &self->fd, 1));
	self->at = 0;
}

FIXTURE_TEARDOWN(kinds)
{
	if (self->fd < 0)
		return;
	expect_close(_metadata, self->fd);
	ring_end(&self->ring);
}

TEST_F(kinds, settings)
{
	struct hwtimer_setup setup = {
		.tick = 2 * MS,
		.timers = 77,
	};
	struct hwtimer_info info = { 0 };
	struct hwtimer_request request = { .time = HOUR };

	EXPECT_EQ(0,
		  ring_ioctl(&self->ring, self->at, HWTIMER_IOC_SETUP, &setup));
	EXPECT_EQ(0,
		  ring_ioctl(&self->ring, self->at, HWTIMER_IOC_INFO, &info));
	EXPECT_EQ(2 * MS, info.tick);
	EXPECT_EQ(77, info.timers);
	EXPECT_EQ(0, info.started);
	EXPECT_EQ(0, ring_ioctl(&self->ring, self->at, HWTIMER_IOC_SCHEDULE,
				&request));
	EXPECT_EQ(-EBUSY,
		  ring_ioctl(&self->ring, self->at, HWTIMER_IOC_SETUP, &setup));
}

TEST_F(kinds, one_timer)
{
	struct hwtimer_request request = { .time = HOUR, .user_data = 5 };
	struct hwtimer_timer query = { 0 };
	struct hwtimer_event event;

	hwt_prep_schedule(ring_sqe(&self->ring), self->at, &request);
	ASSERT_EQ(0, ring_result(&self->ring));
	ASSERT_NE(0, request.id);
	query.id = request.id;
	EXPECT_EQ(0,
		  ring_ioctl(&self->ring, self->at, HWTIMER_IOC_QUERY, &query));
	EXPECT_EQ(5, query.user_data);
	EXPECT_EQ(query.deadline,
		  query_of(_metadata, self->fd, query.id).deadline);

	request = (struct hwtimer_request){ .id = query.id };
	hwt_prep_reschedule(ring_sqe(&self->ring), self->at, &request);
	EXPECT_EQ(0, ring_result(&self->ring));
	hwt_prep_read(ring_sqe(&self->ring), self->at, &event, 1);
	EXPECT_EQ(sizeof(event), ring_result(&self->ring));
	EXPECT_EQ(query.id, event.id);
	EXPECT_EQ(5, event.user_data);
	expect_due(_metadata, &event);
	hwt_prep_cancel(ring_sqe(&self->ring), self->at, &request);
	EXPECT_EQ(-ENOENT, ring_result(&self->ring));
}

TEST_F(kinds, many_timers)
{
	struct hwtimer_list all = { .count = INT_MAX };
	struct hwtimer_request requests[3];
	struct hwtimer_bulk_timer timers[5];
	struct hwtimer_submit submit = {
		.requests = (uintptr_t)requests,
		.count = 3,
	};
	__u64 ids[5] = { 0 };
	struct hwtimer_bulk bulk = {
		.op = HWTIMER_OP_SCHEDULE,
		.count = 5,
		.timers = (uintptr_t)timers,
		.results = (uintptr_t)ids,
	};
	struct hwtimer_timer listed[10];
	struct hwtimer_list list = {
		.timers = (uintptr_t)listed,
		.count = 10,
	};
	struct hwtimer_stats stats = { 0 };

	fill_schedules(requests, 3, 0, HOUR, 0);
	hwt_prep_submit(ring_sqe(&self->ring), self->at, &submit);
	EXPECT_EQ(3, ring_result(&self->ring));
	for (unsigned int i = 0; i < 3; i++)
		EXPECT_EQ(0, requests[i].result);
	for (unsigned int i = 0; i < 5; i++)
		timers[i] = (struct hwtimer_bulk_timer){ .time = HOUR };
	hwt_prep_bulk(ring_sqe(&self->ring), self->at, &bulk);
	EXPECT_EQ(5, ring_result(&self->ring));
	for (unsigned int i = 0; i < 5; i++)
		EXPECT_NE(0, ids[i]);
	EXPECT_EQ(8,
		  ring_ioctl(&self->ring, self->at, HWTIMER_IOC_LIST, &list));
	EXPECT_EQ(ids[4], listed[7].id);
	EXPECT_EQ(0,
		  ring_ioctl(&self->ring, self->at, HWTIMER_IOC_STATS, &stats));
	EXPECT_EQ(8, stats.pending);
	hwt_prep_cancel_all(ring_sqe(&self->ring), self->at, &all);
	EXPECT_EQ(8, ring_result(&self->ring));
	EXPECT_EQ(0, stats_of(self->fd).pending);
}

TEST_F(kinds, stop)
{
	struct hwtimer_timer timers[2];
	struct hwtimer_list stop = {
		.timers = (uintptr_t)timers,
		.count = 2,
		.flags = HWTIMER_LIST_STOP,
	};
	struct hwtimer_event event;

	ASSERT_EQ(3, dev_schedule_many(self->fd, 3, 0, HOUR, NULL));
	for (int expected = 2; expected >= 0; expected--) {
		hwt_prep_cancel_all(ring_sqe(&self->ring), self->at, &stop);
		EXPECT_EQ(expected, ring_result(&self->ring));
	}
	hwt_prep_read(ring_sqe(&self->ring), self->at, &event, 1);
	EXPECT_EQ(0, ring_result(&self->ring));
}

/* A read waits for the number of events that NOTIFY demands. */
TEST_F(kinds, notify)
{
	struct hwtimer_notify notify = {
		.events = 3,
		.delay = HWTIMER_NEVER,
	};
	struct hwtimer_event events[4];
	struct completion cqe;

	EXPECT_EQ(0, ring_ioctl(&self->ring, self->at, HWTIMER_IOC_NOTIFY,
				&notify));
	hwt_prep_read(ring_sqe(&self->ring), self->at, events, 4);
	ASSERT_EQ(1, ring_submit(&self->ring));
	make_ready(_metadata, self->fd, 2);
	EXPECT_FALSE(ring_look(&self->ring, &cqe));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	EXPECT_EQ(3 * sizeof(*events), ring_wait(&self->ring).res);
}

/* The results are those of the ioctls, whose errors are negative. */
TEST_F(kinds, errors_of_commands)
{
	struct hwtimer_request request = { .time = HOUR, .reserved = 1 };
	struct hwtimer_setup setup = { .buckets = 1 };

	EXPECT_EQ(-ENOTTY, ring_ioctl(&self->ring, self->at, 0, &request));
	EXPECT_EQ(-ENOTTY, ring_ioctl(&self->ring, self->at,
				      _IO(HWTIMER_IOC_MAGIC, 2), &request));
	EXPECT_EQ(-ENOTTY,
		  ring_ioctl(&self->ring, self->at,
			     _IOW(HWTIMER_IOC_MAGIC, 2, struct hwtimer_request),
			     &request));
	/* A request has one size. */
	EXPECT_EQ(-ENOTTY,
		  ring_ioctl(&self->ring, self->at,
			     _IOWR(HWTIMER_IOC_MAGIC, 2, __u64), &request));
	EXPECT_EQ(-EINVAL, ring_ioctl(&self->ring, self->at,
				      HWTIMER_IOC_SCHEDULE, &request));
	EXPECT_EQ(-EINVAL,
		  ring_ioctl(&self->ring, self->at, HWTIMER_IOC_SETUP, &setup));
	EXPECT_EQ(-EFAULT, ring_ioctl(&self->ring, self->at,
				      HWTIMER_IOC_SCHEDULE, NULL));
	EXPECT_EQ(-EFAULT, ring_ioctl(&self->ring, self->at, HWTIMER_IOC_STATS,
				      bad_address()));
	request = (struct hwtimer_request){ .time = HOUR };
	EXPECT_EQ(-EFAULT,
		  ring_ioctl(&self->ring, self->at, HWTIMER_IOC_SCHEDULE,
			     read_only_copy(&request, sizeof(request))));
	EXPECT_EQ(0, stats_of(self->fd).scheduled);
}

/* The first timer starts the instance, for which a thread may have to be created. */
TEST_F(kinds, many_first_timers)
{
	struct hwtimer_request requests[ENTRIES] = { 0 };

	for (unsigned int i = 0; i < ENTRIES; i++) {
		requests[i].time = HOUR + i;
		hwt_prep_schedule(ring_sqe(&self->ring), self->at,
				  &requests[i]);
	}
	ASSERT_EQ(ENTRIES, ring_submit(&self->ring));
	for (unsigned int i = 0; i < ENTRIES; i++)
		EXPECT_EQ(0, ring_wait(&self->ring).res);
	EXPECT_EQ(ENTRIES, stats_of(self->fd).pending);
	for (unsigned int i = 0; i < ENTRIES; i++)
		EXPECT_EQ(0, dev_cancel(self->fd, requests[i].id, 0));
}

/* An entry that is linked to one is done after it. */
TEST_F(kinds, links)
{
	struct hwtimer_setup setup = { .timers = 9 };
	struct hwtimer_request request = { .user_data = 3 };
	struct hwtimer_event event;
	struct io_uring_sqe *sqe;

	for (unsigned int i = 0; i < 3; i++) {
		sqe = ring_sqe(&self->ring);
		if (i == 0)
			hwt_prep_ioctl(sqe, self->at, HWTIMER_IOC_SETUP,
				       &setup);
		else if (i == 1)
			hwt_prep_schedule(sqe, self->at, &request);
		else
			hwt_prep_read(sqe, self->at, &event, 1);
		sqe->user_data = i;
		if (i < 2)
			sqe->flags |= IOSQE_IO_LINK;
	}
	ASSERT_EQ(3, ring_submit(&self->ring));
	for (unsigned int i = 0; i < 3; i++) {
		struct completion cqe = ring_wait(&self->ring);

		EXPECT_EQ(i, cqe.user_data);
		EXPECT_EQ(i == 2 ? sizeof(event) : 0, cqe.res);
	}
	EXPECT_EQ(3, event.user_data);
}

/* Submits SUBMIT of a @count, linked to it an INFO; returns what becomes of that. */
static int result_of_linked(struct ring *ring, int at, __u32 count,
			    int *submitted)
{
	struct hwtimer_info info = { 0 };
	struct hwtimer_request requests[2];
	struct hwtimer_submit submit = {
		.requests = (uintptr_t)requests,
		.count = count,
	};
	struct io_uring_sqe *sqe = ring_sqe(ring);

	fill_schedules(requests, 2, 0, HOUR, 0);
	hwt_prep_submit(sqe, at, &submit);
	sqe->flags |= IOSQE_IO_LINK;
	sqe->user_data = 1;
	hwt_prep_ioctl(ring_sqe(ring), at, HWTIMER_IOC_INFO, &info);
	ring_submit(ring);
	*submitted = ring_wait(ring).res;
	return ring_wait(ring).res;
}

/* A number of timers is a success, an error cancels. */
TEST_F(kinds, links_behind_numbers_and_errors)
{
	int submitted;

	EXPECT_EQ(0, result_of_linked(&self->ring, self->at, 2, &submitted));
	EXPECT_EQ(2, submitted);
	EXPECT_EQ(0, result_of_linked(&self->ring, self->at, 2, &submitted));
	EXPECT_EQ(2, submitted);
	EXPECT_EQ(-ECANCELED, result_of_linked(&self->ring, self->at, UINT_MAX,
					       &submitted));
	EXPECT_EQ(-EINVAL, submitted);
	EXPECT_EQ(4, stats_of(self->fd).pending);
}

/* A structure of a newer program is taken by its size in the number of the command. */
TEST_F(kinds, larger_structures)
{
	struct {
		struct hwtimer_setup setup;
		__u64 unknown;
	} larger = { .setup.timers = 77 };
	const __u32 command = _IOC(_IOC_WRITE, HWTIMER_IOC_MAGIC,
				   _IOC_NR(HWTIMER_IOC_SETUP), sizeof(larger));
	struct hwtimer_info info;

	EXPECT_EQ(0, ring_ioctl(&self->ring, self->at, command, &larger));
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(77, info.timers);
	larger.unknown = 1;
	EXPECT_EQ(-E2BIG, ring_ioctl(&self->ring, self->at, command, &larger));
}

/* CANCEL says 1 if an event waits, which is a success: what is linked to it is done. */
TEST_F(kinds, links_behind_a_cancel_that_leaves_an_event)
{
	struct hwtimer_request cancel = { .id = dev_after(self->fd, 0, 5) };
	struct hwtimer_event event;
	struct io_uring_sqe *sqe;

	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	sqe = ring_sqe(&self->ring);
	hwt_prep_cancel(sqe, self->at, &cancel);
	sqe->flags |= IOSQE_IO_LINK;
	sqe->user_data = 1;
	sqe = ring_sqe(&self->ring);
	hwt_prep_read(sqe, self->at, &event, 1);
	sqe->flags |= IOSQE_IO_LINK;
	sqe->user_data = 2;
	/* The timer has ended with its event: an error, which breaks the link. */
	sqe = ring_sqe(&self->ring);
	hwt_prep_cancel(sqe, self->at, &cancel);
	sqe->flags |= IOSQE_IO_LINK;
	sqe->user_data = 3;
	sqe = ring_sqe(&self->ring);
	hwt_prep_cancel(sqe, self->at, &cancel);
	sqe->user_data = 4;
	ASSERT_EQ(4, ring_submit(&self->ring));
	for (unsigned int i = 1; i <= 4; i++) {
		const int results[] = { 1, sizeof(event), -ENOENT, -ECANCELED };
		struct completion cqe = ring_wait(&self->ring);

		ASSERT_LE(1, cqe.user_data);
		ASSERT_GE(4, cqe.user_data);
		EXPECT_EQ(results[cqe.user_data - 1], cqe.res);
	}
	EXPECT_EQ(5, event.user_data);
}

/* ---- what is refused ---- */

FIXTURE(uring)
{
	int fd;
	struct ring ring;
};

FIXTURE_SETUP(uring)
{
	self->fd = -1;
	if (!has_uring())
		SKIP(return, "this kernel has no io_uring, or refuses it");
	ASSERT_EQ(0, ring_begin(&self->ring, ENTRIES, 0));
	self->fd = dev_open(0);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(uring)
{
	if (self->fd < 0)
		return;
	expect_close(_metadata, self->fd);
	ring_end(&self->ring);
}

/* Submits an entry that would have made a timer, but for @byte of it; returns the result. */
static int result_with(struct ring *ring, int fd, unsigned int byte, __u8 value)
{
	struct hwtimer_request request = { .time = HOUR };
	struct io_uring_sqe *sqe = ring_sqe(ring);

	hwt_prep_schedule(sqe, fd, &request);
	((__u8 *)sqe)[byte] = value;
	return ring_result(ring);
}

TEST_F(uring, fields_that_must_be_0)
{
	static const unsigned int always[] = {
		offsetof(struct io_uring_sqe, ioprio),
		offsetof(struct io_uring_sqe, __pad1),
		offsetof(struct io_uring_sqe, uring_cmd_flags) + 3,
		offsetof(struct io_uring_sqe, addr3) +
			offsetof(struct hwtimer_uring, reserved),
		sizeof(struct io_uring_sqe) - 1,
	};
	static const unsigned int new_kernels[] = {
		offsetof(struct io_uring_sqe, addr),
		offsetof(struct io_uring_sqe, addr) + 7,
		offsetof(struct io_uring_sqe, len),
		offsetof(struct io_uring_sqe, buf_index),
		offsetof(struct io_uring_sqe, file_index),
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(always); i++)
		EXPECT_EQ(-EINVAL,
			  result_with(&self->ring, self->fd, always[i], 0x40));
	for (unsigned int i = 0;
	     kernel_has(6, 5) && i < ARRAY_SIZE(new_kernels); i++)
		EXPECT_EQ(-EINVAL, result_with(&self->ring, self->fd,
					       new_kernels[i], 0x40));
	EXPECT_EQ(0, stats_of(self->fd).scheduled);
	/* The test knows what would have been done otherwise. */
	EXPECT_EQ(0, result_with(&self->ring, self->fd,
				 offsetof(struct io_uring_sqe, __pad1), 0));
	EXPECT_EQ(1, stats_of(self->fd).scheduled);
}

/* Until 7.x, a polled ring takes only what can be polled for. Others take commands as usual. */
TEST_F(uring, polled_rings)
{
	struct hwtimer_request request = { .time = HOUR };
	struct ring polled;
	int result;

	ASSERT_EQ(0, ring_begin(&polled, 1, IORING_SETUP_IOPOLL));
	result = ring_ioctl(&polled, self->fd, HWTIMER_IOC_SCHEDULE, &request);
	if (!kernel_has(6, 13))
		EXPECT_EQ(-EOPNOTSUPP, result);
	EXPECT_TRUE(!result || result == -EOPNOTSUPP);
	EXPECT_EQ(!result, stats_of(self->fd).scheduled);
	ring_end(&polled);
}

/* ---- reads and polls ---- */

/* Whether io_uring has a thread in this process that waits for us. */
static bool has_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	bool found = false;

	if (!tasks)
		abort();
	while ((entry = readdir(tasks))) {
		char path[300], name[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm",
			 entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(name, sizeof(name), file) &&
		    !strncmp(name, "iou-wrk", 7))
			found = true;
		fclose(file);
	}
	closedir(tasks);
	return found;
}

/* A read waits as poll() does: it needs no thread. */
TEST_F(uring, reads_wait_without_threads)
{
	struct hwtimer_event events[3];
	struct completion cqe;
	unsigned int seen = 0;

	ASSERT_EQ(0, dev_whole_wheel(self->fd));
	for (unsigned int i = 0; i < 3; i++) {
		struct io_uring_sqe *sqe = ring_sqe(&self->ring);

		hwt_prep_read(sqe, self->fd, &events[i], 1);
		sqe->user_data = i;
	}
	ASSERT_EQ(3, ring_submit(&self->ring));
	EXPECT_FALSE(ring_look(&self->ring, &cqe));
	EXPECT_FALSE(has_threads());
	/* Each of the readers gets one of the events. */
	for (unsigned int i = 0; i < 3; i++)
		ASSERT_NE(0, dev_after(self->fd, 0, i));
	for (unsigned int i = 0; i < 3; i++) {
		cqe = ring_wait(&self->ring);
		EXPECT_EQ(sizeof(*events), cqe.res);
		seen |= 1U << events[cqe.user_data].user_data;
	}
	EXPECT_EQ(7, seen);
	EXPECT_FALSE(has_threads());
}

/* has_threads() would have seen one. */
TEST_F(uring, forced_reads_have_threads)
{
	struct hwtimer_event event;

	self->ring.sqe_flags = IOSQE_ASYNC;
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	hwt_prep_read(ring_sqe(&self->ring), self->fd, &event, 1);
	EXPECT_EQ(sizeof(event), ring_result(&self->ring));
	EXPECT_TRUE(has_threads());
}

/* O_NONBLOCK is for read(). An entry that must not wait says so itself. */
TEST_F(uring, reads_of_descriptors_that_do_not_block)
{
	struct hwtimer_event event;
	struct completion cqe;
	struct io_uring_sqe *sqe;

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	sqe = ring_sqe(&self->ring);
	hwt_prep_read(sqe, self->fd, &event, 1);
	sqe->rw_flags = RWF_NOWAIT;
	EXPECT_EQ(-EAGAIN, ring_result(&self->ring));
	hwt_prep_read(ring_sqe(&self->ring), self->fd, &event, 1);
	ASSERT_EQ(1, ring_submit(&self->ring));
	EXPECT_FALSE(ring_look(&self->ring, &cqe));
	ASSERT_NE(0, dev_after(self->fd, 0, 4));
	EXPECT_EQ(sizeof(event), ring_wait(&self->ring).res);
	EXPECT_EQ(4, event.user_data);
}

/* Cancels the request with @user_data 1, and expects that it ends so. */
static void cancel_request(struct __test_metadata *_metadata, struct ring *ring)
{
	struct io_uring_sqe *sqe = ring_sqe(ring);
	int results[2] = { 1, 1 };

	sqe->opcode = IORING_OP_ASYNC_CANCEL;
	sqe->addr = 1;
	sqe->user_data = 0;
	ASSERT_EQ(1, ring_submit(ring));
	for (unsigned int i = 0; i < 2; i++) {
		struct completion cqe = ring_wait(ring);

		ASSERT_GE(1, cqe.user_data);
		results[cqe.user_data] = cqe.res;
	}
	EXPECT_EQ(0, results[0]);
	EXPECT_EQ(-ECANCELED, results[1]);
}

/* A read that was cancelled has taken nothing. */
TEST_F(uring, cancelled_reads)
{
	struct hwtimer_event event = { 0 }, next;
	struct io_uring_sqe *sqe = ring_sqe(&self->ring);

	hwt_prep_read(sqe, self->fd, &event, 1);
	sqe->user_data = 1;
	ASSERT_EQ(1, ring_submit(&self->ring));
	cancel_request(_metadata, &self->ring);
	ASSERT_NE(0, dev_after(self->fd, 0, 8));
	ASSERT_EQ(1, dev_read(self->fd, &next, 1));
	EXPECT_EQ(8, next.user_data);
	EXPECT_EQ(0, event.id);
}

TEST_F(uring, cancelled_polls)
{
	struct io_uring_sqe *sqe = ring_sqe(&self->ring);

	hwt_prep_poll_multishot(sqe, self->fd);
	sqe->user_data = 1;
	ASSERT_EQ(1, ring_submit(&self->ring));
	cancel_request(_metadata, &self->ring);
	make_ready(_metadata, self->fd, 1);
	ASSERT_FALSE(ring_look(&self->ring, &(struct completion){ 0 }));
	dev_discard_events(self->fd, 1);
}

/* Each event is an edge, also while others wait. */
TEST_F(uring, polls_of_edges)
{
	hwt_prep_poll_multishot(ring_sqe(&self->ring), self->fd);
	ASSERT_EQ(1, ring_submit(&self->ring));
	for (unsigned int i = 0; i < 100; i++) {
		struct hwtimer_event events[9];
		struct completion cqe;

		ASSERT_NE(0, dev_after(self->fd, 0, i));
		cqe = ring_wait(&self->ring);
		EXPECT_LT(0, cqe.res);
		EXPECT_TRUE(cqe.res & POLLIN);
		EXPECT_TRUE(cqe.flags & IORING_CQE_F_MORE);
		if (i % 3 == 2)
			EXPECT_EQ(3, dev_read(self->fd, events, 9));
	}
	dev_discard_events(self->fd, 1);
}

TEST_F(uring, polls_of_the_end)
{
	struct hwtimer_timer timer;
	struct completion cqe;

	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	hwt_prep_poll_multishot(ring_sqe(&self->ring), self->fd);
	ASSERT_EQ(1, ring_submit(&self->ring));
	EXPECT_FALSE(ring_look(&self->ring, &cqe));
	EXPECT_EQ(1, dev_stop(self->fd, &timer, 1, NULL));
	EXPECT_TRUE(ring_wait(&self->ring).res & POLLHUP);
}

/* Gives the kernel @count buffers of group 7, for one event each, from number @first on. */
static int provide(struct ring *ring, struct hwtimer_event *events,
		   unsigned int first, unsigned int count)
{
	struct io_uring_sqe *sqe = ring_sqe(ring);

	sqe->opcode = IORING_OP_PROVIDE_BUFFERS;
	sqe->fd = count;
	sqe->addr = (uintptr_t)&events[first];
	sqe->len = sizeof(*events);
	sqe->off = first;
	sqe->buf_group = 7;
	return ring_result(ring);
}

/* Events come without another call, in their order, as long as there are buffers. */
TEST_F(uring, reads_with_provided_buffers)
{
	const unsigned int count = 8, rounds = 50;
	struct hwtimer_event events[8];
	unsigned int got = 0;
	bool armed = false;

	if (!kernel_has(6, 7))
		SKIP(return, "this kernel has no IORING_OP_READ_MULTISHOT");
	ASSERT_EQ(0, provide(&self->ring, events, 0, count));
	for (unsigned int i = 0; i < rounds; i++)
		for (unsigned int j = 0; j < 3; j++)
			ASSERT_NE(0, dev_at(self->fd, 1, 3 * i + j));
	while (got < 3 * rounds) {
		struct completion cqe;
		unsigned int buffer;

		if (!armed) {
			hwt_prep_read_multishot(ring_sqe(&self->ring), self->fd,
						7);
			ASSERT_EQ(1, ring_submit(&self->ring));
			armed = true;
		}
		cqe = ring_wait(&self->ring);
		armed = cqe.flags & IORING_CQE_F_MORE;
		if (cqe.res == -ENOBUFS) {
			EXPECT_FALSE(armed);
			ASSERT_EQ(0, provide(&self->ring, events, 0, count));
			continue;
		}
		ASSERT_EQ(sizeof(*events), cqe.res);
		ASSERT_TRUE(cqe.flags & IORING_CQE_F_BUFFER);
		buffer = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
		ASSERT_GT(count, buffer);
		EXPECT_EQ(got, events[buffer].user_data);
		got++;
	}
	EXPECT_EQ(3 * rounds, stats_of(self->fd).delivered);
}

/* It stays armed while no event waits. */
TEST_F(uring, reads_with_provided_buffers_wait)
{
	struct hwtimer_event events[8];
	struct completion cqe;

	if (!kernel_has(6, 7))
		SKIP(return, "this kernel has no IORING_OP_READ_MULTISHOT");
	ASSERT_EQ(0, provide(&self->ring, events, 0, 8));
	hwt_prep_read_multishot(ring_sqe(&self->ring), self->fd, 7);
	ASSERT_EQ(1, ring_submit(&self->ring));
	EXPECT_FALSE(ring_look(&self->ring, &cqe));
	EXPECT_FALSE(has_threads());
	for (unsigned int i = 0; i < 7; i++) {
		const struct hwtimer_event *event;

		ASSERT_NE(0, dev_after(self->fd, 0, i));
		cqe = ring_wait(&self->ring);
		ASSERT_EQ(sizeof(*event), cqe.res);
		EXPECT_TRUE(cqe.flags & IORING_CQE_F_MORE);
		event = &events[cqe.flags >> IORING_CQE_BUFFER_SHIFT];
		EXPECT_EQ(i, event->user_data);
	}
}

/* The request has the file: the instance goes on without the descriptor, until it is done. */
TEST_F(uring, descriptors_closed_during_a_read)
{
	struct hwtimer_event event;

	ASSERT_NE(0, dev_after(self->fd, 50 * MS, 6));
	hwt_prep_read(ring_sqe(&self->ring), self->fd, &event, 1);
	ASSERT_EQ(1, ring_submit(&self->ring));
	close(self->fd);
	EXPECT_EQ(sizeof(event), ring_wait(&self->ring).res);
	EXPECT_EQ(6, event.user_data);
	self->fd = dev_open(0);
}

/*
 * Polls for a pipe, and fills in an entry that writes to it. So while the entries behind that one
 * are issued, the ring has other work for this thread. Both have 0 as user_data.
 */
static void bring_other_work(struct __test_metadata *_metadata,
			     struct ring *ring, int pipe_fds[2])
{
	struct io_uring_sqe *sqe;

	ASSERT_EQ(0, pipe2(pipe_fds, O_CLOEXEC));
	sqe = ring_sqe(ring);
	sqe->opcode = IORING_OP_POLL_ADD;
	sqe->fd = pipe_fds[0];
	sqe->poll32_events = POLLIN;
	ASSERT_EQ(1, ring_submit(ring));
	sqe = ring_sqe(ring);
	sqe->opcode = IORING_OP_WRITE;
	sqe->fd = pipe_fds[1];
	sqe->addr = (uintptr_t)pipe_fds;
	sqe->len = 1;
}

/* Returns the result of the entry whose user_data is 1. */
static int result_of_first(struct ring *ring)
{
	struct completion cqe = { 0 };

	while (cqe.user_data != 1)
		cqe = ring_wait(ring);
	return cqe.res;
}

/* Only a signal interrupts a read, and not what the ring has to do for others. */
TEST_F(uring, reads_while_the_ring_has_other_work)
{
	/* A read looks at so many entries of the queue in one hold of the lock. */
	const unsigned int dead = 256;
	__u64 ids[256 + 1];
	struct hwtimer_event event;
	struct io_uring_sqe *sqe;
	int pipe_fds[2];

	ASSERT_EQ(dead + 1, dev_schedule_many(self->fd, dead + 1, 0, 0, ids));
	ASSERT_TRUE(dev_wait_ready(self->fd, dead + 1));
	ASSERT_EQ(dead, dev_bulk(self->fd, HWTIMER_OP_CANCEL,
				 HWTIMER_REQ_DISCARD, ids, NULL, dead));
	bring_other_work(_metadata, &self->ring, pipe_fds);
	sqe = ring_sqe(&self->ring);
	hwt_prep_read(sqe, self->fd, &event, 1);
	sqe->user_data = 1;
	ASSERT_EQ(2, ring_submit(&self->ring));
	EXPECT_EQ(sizeof(event), result_of_first(&self->ring));
	EXPECT_EQ(dead, event.user_data);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* The same of a LIST and a CANCEL_ALL, whose arrays are in memory that nobody has touched yet. */
TEST_F(uring, lists_while_the_ring_has_other_work)
{
	static const __u32 commands[] = { HWTIMER_IOC_LIST,
					  HWTIMER_IOC_CANCEL_ALL };

	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++) {
		struct hwtimer_timer *timer =
			mmap(NULL, sizeof(*timer), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		struct hwtimer_list list = {
			.timers = (uintptr_t)timer,
			.count = 1,
		};
		struct io_uring_sqe *sqe;
		int pipe_fds[2];

		ASSERT_NE(MAP_FAILED, timer);
		bring_other_work(_metadata, &self->ring, pipe_fds);
		sqe = ring_sqe(&self->ring);
		hwt_prep_ioctl(sqe, self->fd, commands[i], &list);
		sqe->user_data = 1;
		ASSERT_EQ(2, ring_submit(&self->ring));
		EXPECT_EQ(1, result_of_first(&self->ring));
		munmap(timer, sizeof(*timer));
		close(pipe_fds[0]);
		close(pipe_fds[1]);
	}
}

/* A SUBMIT that takes more than one hold of the lock is not cut short, either. */
TEST_F(uring, submits_while_the_ring_has_other_work)
{
	static struct hwtimer_request requests[3 * 256];
	struct hwtimer_submit submit = {
		.requests = (uintptr_t)requests,
		.count = ARRAY_SIZE(requests),
	};
	struct io_uring_sqe *sqe;
	int pipe_fds[2];

	/* The first timer of an instance may take another thread. */
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	fill_schedules(requests, ARRAY_SIZE(requests), 0, HOUR, 0);
	bring_other_work(_metadata, &self->ring, pipe_fds);
	sqe = ring_sqe(&self->ring);
	hwt_prep_submit(sqe, self->fd, &submit);
	sqe->user_data = 1;
	ASSERT_EQ(2, ring_submit(&self->ring));
	EXPECT_EQ(ARRAY_SIZE(requests), result_of_first(&self->ring));
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* ---- programs that end ---- */

/* What a child does with a ring, in memory that the parent shares */
struct child {
	unsigned int done;
	struct hwtimer_event events[4];
	struct hwtimer_request requests[ENTRIES];
};

static struct child *child_make(void)
{
	void *memory = mmap(NULL, sizeof(struct child), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

static void await_done(const struct child *child, unsigned int done)
{
	while (__atomic_load_n(&child->done, __ATOMIC_ACQUIRE) < done)
		sleep_ns(MS);
}

/* Waits in a child for events, in all ways, and for its end. */
static void child_reads(struct child *child, int fd)
{
	struct ring ring;

	if (ring_begin(&ring, ENTRIES, 0))
		_exit(1);
	hwt_prep_read(ring_sqe(&ring), fd, &child->events[0], 1);
	hwt_prep_read(ring_sqe(&ring), fd, &child->events[1], 1);
	hwt_prep_poll_multishot(ring_sqe(&ring), fd);
	if (ring_submit(&ring) != 3)
		_exit(1);
	/* These wait in threads. */
	ring.sqe_flags = IOSQE_ASYNC;
	hwt_prep_read(ring_sqe(&ring), fd, &child->events[2], 1);
	hwt_prep_read(ring_sqe(&ring), fd, &child->events[3], 1);
	if (ring_submit(&ring) != 2)
		_exit(1);
	__atomic_store_n(&child->done, 1, __ATOMIC_RELEASE);
}

static void kill_child(struct __test_metadata *_metadata, pid_t pid)
{
	kill(pid, SIGKILL);
	EXPECT_EQ(-SIGKILL, wait_for_child(pid));
}

/* The requests of a program end with it: events are for others. */
static void end_of_readers(struct __test_metadata *_metadata, int fd,
			   bool killed)
{
	struct child *child = child_make();
	struct hwtimer_event event;
	pid_t pid = fork();

	if (!pid) {
		child_reads(child, fd);
		while (killed)
			pause();
		_exit(0);
	}
	await_done(child, 1);
	if (killed)
		kill_child(_metadata, pid);
	else
		EXPECT_EQ(0, wait_for_child(pid));
	for (unsigned int i = 0; i < 10; i++) {
		ASSERT_NE(0, dev_after(fd, 0, i));
		ASSERT_EQ(1, dev_read(fd, &event, 1));
		EXPECT_EQ(i, event.user_data);
	}
	for (unsigned int i = 0; i < 4; i++)
		EXPECT_EQ(0, child->events[i].id);
	munmap(child, sizeof(*child));
}

TEST_F(uring, programs_that_exit_with_reads)
{
	for (unsigned int i = 0; i < rounds_of(20); i++)
		end_of_readers(_metadata, self->fd, false);
}

TEST_F(uring, programs_that_are_killed_with_reads)
{
	for (unsigned int i = 0; i < rounds_of(20); i++)
		end_of_readers(_metadata, self->fd, true);
}

/* Schedules and cancels in a child without an end, in threads and without. */
static void child_schedules(struct child *child, int fd, __u8 sqe_flags)
{
	struct ring ring;

	if (ring_begin(&ring, ENTRIES, 0))
		_exit(1);
	for (;; __atomic_add_fetch(&child->done, 1, __ATOMIC_RELEASE)) {
		for (unsigned int i = 0; i < ENTRIES; i++) {
			struct hwtimer_request *request = &child->requests[i];
			struct io_uring_sqe *sqe = ring_sqe(&ring);

			if (request->id) {
				*request = (struct hwtimer_request){
					.id = request->id,
				};
				hwt_prep_cancel(sqe, fd, request);
			} else {
				request->time = HOUR;
				hwt_prep_schedule(sqe, fd, request);
			}
			sqe->user_data = i;
			sqe->flags = i % 2 ? sqe_flags : 0;
		}
		ring_submit(&ring);
		for (unsigned int i = 0; i < ENTRIES; i++) {
			struct completion cqe = ring_wait(&ring);

			if (child->done % 2)
				child->requests[cqe.user_data].id = 0;
		}
	}
}

TEST_F(uring, programs_that_are_killed_with_commands)
{
	for (unsigned int i = 0; i < rounds_of(20); i++) {
		struct child *child = child_make();
		pid_t pid;

		/* The first timers of an instance are the hardest. */
		if (i % 2)
			close(self->fd);
		if (i % 2)
			self->fd = dev_open(0);
		pid = fork();
		if (!pid)
			child_schedules(child, self->fd, IOSQE_ASYNC);
		await_done(child, i % 4);
		kill_child(_metadata, pid);
		EXPECT_GE(ENTRIES, dev_cancel_all(self->fd, 0));
		EXPECT_EQ(0, stats_of(self->fd).pending);
		munmap(child, sizeof(*child));
	}
}

/* ---- without io_uring ---- */

/* Has io_uring_setup() fail with @error in this process. */
static bool refuse_uring(int error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {
		.len = ARRAY_SIZE(filter),
		.filter = filter,
	};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* As a container does: all but io_uring is as ever. */
static void without_uring(struct __test_metadata *_metadata, int error)
{
	struct hwtimer_event event;
	struct ring ring;
	int fd;

	if (!refuse_uring(error))
		SKIP(return, "this kernel has no seccomp");
	EXPECT_EQ(-error, ring_begin(&ring, 1, 0));
	fd = dev_open(0);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, dev_setup(fd, 2 * MS, 64, 10));
	ASSERT_NE(0, dev_after(fd, 0, 4));
	ASSERT_EQ(1, dev_read(fd, &event, 1));
	EXPECT_EQ(4, event.user_data);
	expect_close(_metadata, fd);
}

TEST(a_kernel_that_refuses_io_uring)
{
	without_uring(_metadata, EPERM);
}

TEST(a_kernel_without_io_uring)
{
	/* A kernel without a call says the same of any call that no kernel has. */
	without_uring(_metadata, -result_of(syscall(-1)));
}

TEST_HARNESS_MAIN
