// SPDX-License-Identifier: GPL-2.0
/*
 * What all calls have in common: the layout of the structures and the numbers of the
 * commands, which are the same in 32- and 64-bit programs; structures that may grow; bad
 * addresses; unknown commands; the device itself.
 */
#include "hwtimer_test.h"

#include <sys/ioctl.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define EXPECT_MEMBER(type, member, offset, length)                       \
	do {                                                              \
		EXPECT_EQ(offset, offsetof(struct type, member));         \
		EXPECT_EQ(length, sizeof(((struct type *)NULL)->member)); \
	} while (0)

TEST(layout_of_info)
{
	EXPECT_EQ(80, sizeof(struct hwtimer_info));
	EXPECT_MEMBER(hwtimer_info, size, 0, 4);
	EXPECT_MEMBER(hwtimer_info, abi_version, 4, 4);
	EXPECT_MEMBER(hwtimer_info, tick_min, 8, 8);
	EXPECT_MEMBER(hwtimer_info, tick_max, 16, 8);
	EXPECT_MEMBER(hwtimer_info, buckets_min, 24, 4);
	EXPECT_MEMBER(hwtimer_info, buckets_max, 28, 4);
	EXPECT_MEMBER(hwtimer_info, timers_max, 32, 8);
	EXPECT_MEMBER(hwtimer_info, tick, 40, 8);
	EXPECT_MEMBER(hwtimer_info, timers, 48, 8);
	EXPECT_MEMBER(hwtimer_info, buckets, 56, 4);
	EXPECT_MEMBER(hwtimer_info, kind, 60, 4);
	EXPECT_MEMBER(hwtimer_info, clock, 64, 4);
	EXPECT_MEMBER(hwtimer_info, started, 68, 4);
	EXPECT_MEMBER(hwtimer_info, flags, 72, 4);
	EXPECT_MEMBER(hwtimer_info, reserved, 76, 4);
}

TEST(layout_of_cancel_all)
{
	EXPECT_EQ(32, sizeof(struct hwtimer_cancel_all));
	EXPECT_MEMBER(hwtimer_cancel_all, size, 0, 4);
	EXPECT_MEMBER(hwtimer_cancel_all, flags, 4, 4);
	EXPECT_MEMBER(hwtimer_cancel_all, cursor, 8, 8);
	EXPECT_MEMBER(hwtimer_cancel_all, cancelled, 16, 8);
	EXPECT_MEMBER(hwtimer_cancel_all, discarded, 24, 8);
}

TEST(layout_of_setup)
{
	EXPECT_EQ(40, sizeof(struct hwtimer_setup));
	EXPECT_MEMBER(hwtimer_setup, size, 0, 4);
	EXPECT_MEMBER(hwtimer_setup, flags, 4, 4);
	EXPECT_MEMBER(hwtimer_setup, tick, 8, 8);
	EXPECT_MEMBER(hwtimer_setup, buckets, 16, 4);
	EXPECT_MEMBER(hwtimer_setup, kind, 20, 4);
	EXPECT_MEMBER(hwtimer_setup, clock, 24, 4);
	EXPECT_MEMBER(hwtimer_setup, reserved, 28, 4);
	EXPECT_MEMBER(hwtimer_setup, timers, 32, 8);
}

TEST(layout_of_request_and_submit)
{
	EXPECT_EQ(64, sizeof(struct hwtimer_request));
	EXPECT_MEMBER(hwtimer_request, op, 0, 4);
	EXPECT_MEMBER(hwtimer_request, flags, 4, 4);
	EXPECT_MEMBER(hwtimer_request, id, 8, 8);
	EXPECT_MEMBER(hwtimer_request, time, 16, 8);
	EXPECT_MEMBER(hwtimer_request, interval, 24, 8);
	EXPECT_MEMBER(hwtimer_request, slack, 32, 8);
	EXPECT_MEMBER(hwtimer_request, user_data, 40, 8);
	EXPECT_MEMBER(hwtimer_request, count, 48, 4);
	EXPECT_MEMBER(hwtimer_request, result, 52, 4);
	EXPECT_MEMBER(hwtimer_request, reserved, 56, 8);

	EXPECT_EQ(16, sizeof(struct hwtimer_submit));
	EXPECT_MEMBER(hwtimer_submit, requests, 0, 8);
	EXPECT_MEMBER(hwtimer_submit, count, 8, 4);
	EXPECT_MEMBER(hwtimer_submit, flags, 12, 4);

	EXPECT_EQ(16, sizeof(struct hwtimer_uring));
	EXPECT_MEMBER(hwtimer_uring, argument, 0, 8);
	EXPECT_MEMBER(hwtimer_uring, reserved, 8, 8);
}

TEST(layout_of_bulk)
{
	EXPECT_EQ(16, sizeof(struct hwtimer_bulk_timer));
	EXPECT_MEMBER(hwtimer_bulk_timer, user_data, 0, 8);
	EXPECT_MEMBER(hwtimer_bulk_timer, id, 0, 8);
	EXPECT_MEMBER(hwtimer_bulk_timer, time, 8, 8);
	EXPECT_EQ(40, sizeof(struct hwtimer_bulk));
	EXPECT_MEMBER(hwtimer_bulk, size, 0, 4);
	EXPECT_MEMBER(hwtimer_bulk, op, 4, 4);
	EXPECT_MEMBER(hwtimer_bulk, flags, 8, 4);
	EXPECT_MEMBER(hwtimer_bulk, count, 12, 4);
	EXPECT_MEMBER(hwtimer_bulk, timers, 16, 8);
	EXPECT_MEMBER(hwtimer_bulk, results, 24, 8);
	EXPECT_MEMBER(hwtimer_bulk, slack, 32, 8);
}

TEST(layout_of_query)
{
	EXPECT_EQ(64, sizeof(struct hwtimer_query));
	EXPECT_MEMBER(hwtimer_query, id, 0, 8);
	EXPECT_MEMBER(hwtimer_query, user_data, 8, 8);
	EXPECT_MEMBER(hwtimer_query, deadline, 16, 8);
	EXPECT_MEMBER(hwtimer_query, remaining, 24, 8);
	EXPECT_MEMBER(hwtimer_query, interval, 32, 8);
	EXPECT_MEMBER(hwtimer_query, slack, 40, 8);
	EXPECT_MEMBER(hwtimer_query, state, 48, 4);
	EXPECT_MEMBER(hwtimer_query, count, 52, 4);
	EXPECT_MEMBER(hwtimer_query, flags, 56, 4);
	EXPECT_MEMBER(hwtimer_query, reserved, 60, 4);
}

TEST(layout_of_stop_and_unprocessed)
{
	EXPECT_EQ(32, sizeof(struct hwtimer_stop));
	EXPECT_MEMBER(hwtimer_stop, size, 0, 4);
	EXPECT_MEMBER(hwtimer_stop, flags, 4, 4);
	EXPECT_MEMBER(hwtimer_stop, timers, 8, 8);
	EXPECT_MEMBER(hwtimer_stop, count, 16, 4);
	EXPECT_MEMBER(hwtimer_stop, reserved, 20, 4);
	EXPECT_MEMBER(hwtimer_stop, left, 24, 8);

	EXPECT_EQ(56, sizeof(struct hwtimer_unprocessed));
	EXPECT_MEMBER(hwtimer_unprocessed, id, 0, 8);
	EXPECT_MEMBER(hwtimer_unprocessed, user_data, 8, 8);
	EXPECT_MEMBER(hwtimer_unprocessed, deadline, 16, 8);
	EXPECT_MEMBER(hwtimer_unprocessed, remaining, 24, 8);
	EXPECT_MEMBER(hwtimer_unprocessed, interval, 32, 8);
	EXPECT_MEMBER(hwtimer_unprocessed, slack, 40, 8);
	EXPECT_MEMBER(hwtimer_unprocessed, count, 48, 4);
	EXPECT_MEMBER(hwtimer_unprocessed, flags, 52, 4);
}

TEST(layout_of_list_and_listed)
{
	EXPECT_EQ(32, sizeof(struct hwtimer_list));
	EXPECT_MEMBER(hwtimer_list, size, 0, 4);
	EXPECT_MEMBER(hwtimer_list, flags, 4, 4);
	EXPECT_MEMBER(hwtimer_list, timers, 8, 8);
	EXPECT_MEMBER(hwtimer_list, count, 16, 4);
	EXPECT_MEMBER(hwtimer_list, reserved, 20, 4);
	EXPECT_MEMBER(hwtimer_list, cursor, 24, 8);

	EXPECT_EQ(64, sizeof(struct hwtimer_listed));
	EXPECT_MEMBER(hwtimer_listed, id, 0, 8);
	EXPECT_MEMBER(hwtimer_listed, user_data, 8, 8);
	EXPECT_MEMBER(hwtimer_listed, deadline, 16, 8);
	EXPECT_MEMBER(hwtimer_listed, remaining, 24, 8);
	EXPECT_MEMBER(hwtimer_listed, interval, 32, 8);
	EXPECT_MEMBER(hwtimer_listed, slack, 40, 8);
	EXPECT_MEMBER(hwtimer_listed, count, 48, 4);
	EXPECT_MEMBER(hwtimer_listed, flags, 52, 4);
	EXPECT_MEMBER(hwtimer_listed, state, 56, 4);
	EXPECT_MEMBER(hwtimer_listed, expirations, 60, 4);
}

TEST(layout_of_stats)
{
	EXPECT_EQ(984, sizeof(struct hwtimer_stats));
	EXPECT_MEMBER(hwtimer_stats, size, 0, 4);
	EXPECT_MEMBER(hwtimer_stats, reserved, 4, 4);
	EXPECT_MEMBER(hwtimer_stats, pending, 8, 8);
	EXPECT_MEMBER(hwtimer_stats, ready, 16, 8);
	EXPECT_MEMBER(hwtimer_stats, scheduled, 24, 8);
	EXPECT_MEMBER(hwtimer_stats, cancelled, 32, 8);
	EXPECT_MEMBER(hwtimer_stats, rescheduled, 40, 8);
	EXPECT_MEMBER(hwtimer_stats, expired, 48, 8);
	EXPECT_MEMBER(hwtimer_stats, delivered, 56, 8);
	EXPECT_MEMBER(hwtimer_stats, discarded, 64, 8);
	EXPECT_MEMBER(hwtimer_stats, unprocessed, 72, 8);
	EXPECT_MEMBER(hwtimer_stats, entries, 80, 8);
	EXPECT_MEMBER(hwtimer_stats, dead, 88, 8);
	EXPECT_MEMBER(hwtimer_stats, walked, 96, 8);
	EXPECT_MEMBER(hwtimer_stats, passed_over, 104, 8);
	EXPECT_MEMBER(hwtimer_stats, refiled, 112, 8);
	EXPECT_MEMBER(hwtimer_stats, buried, 120, 8);
	EXPECT_MEMBER(hwtimer_stats, compactions, 128, 8);
	EXPECT_MEMBER(hwtimer_stats, turns, 136, 8);
	EXPECT_MEMBER(hwtimer_stats, wakeups, 144, 8);
	EXPECT_MEMBER(hwtimer_stats, bytes, 152, 8);
	EXPECT_MEMBER(hwtimer_stats, bytes_peak, 160, 8);
	EXPECT_MEMBER(hwtimer_stats, lateness_max, 168, 8);
	EXPECT_MEMBER(hwtimer_stats, lateness_sum, 176, 8);
	EXPECT_MEMBER(hwtimer_stats, lateness, 184, 768);
	EXPECT_MEMBER(hwtimer_stats, rearmed, 952, 8);
	EXPECT_MEMBER(hwtimer_stats, missed, 960, 8);
	EXPECT_MEMBER(hwtimer_stats, cascaded, 968, 8);
	EXPECT_MEMBER(hwtimer_stats, clock_sets, 976, 8);
}

TEST(layout_of_notify)
{
	EXPECT_EQ(24, sizeof(struct hwtimer_notify));
	EXPECT_MEMBER(hwtimer_notify, size, 0, 4);
	EXPECT_MEMBER(hwtimer_notify, flags, 4, 4);
	EXPECT_MEMBER(hwtimer_notify, events, 8, 4);
	EXPECT_MEMBER(hwtimer_notify, reserved, 12, 4);
	EXPECT_MEMBER(hwtimer_notify, delay, 16, 8);
}

TEST(layout_of_ack)
{
	EXPECT_EQ(16, sizeof(struct hwtimer_ack));
	EXPECT_MEMBER(hwtimer_ack, size, 0, 4);
	EXPECT_MEMBER(hwtimer_ack, flags, 4, 4);
	EXPECT_MEMBER(hwtimer_ack, count, 8, 4);
	EXPECT_MEMBER(hwtimer_ack, reserved, 12, 4);
}

TEST(layout_of_event)
{
	EXPECT_EQ(32, sizeof(struct hwtimer_event));
	EXPECT_MEMBER(hwtimer_event, id, 0, 8);
	EXPECT_MEMBER(hwtimer_event, user_data, 8, 8);
	EXPECT_MEMBER(hwtimer_event, deadline, 16, 8);
	EXPECT_MEMBER(hwtimer_event, lateness, 24, 4);
	EXPECT_MEMBER(hwtimer_event, expirations, 28, 4);
}

TEST(numbers)
{
	EXPECT_EQ(0x0000bb00U, HWTIMER_IOC_INFO);
	EXPECT_EQ(0x0000bb01U, HWTIMER_IOC_SETUP);
	EXPECT_EQ(0xc040bb02U, HWTIMER_IOC_SCHEDULE);
	EXPECT_EQ(0x4040bb03U, HWTIMER_IOC_CANCEL);
	EXPECT_EQ(0xc040bb04U, HWTIMER_IOC_RESCHEDULE);
	EXPECT_EQ(0x0000bb0dU, HWTIMER_IOC_CANCEL_ALL);
	EXPECT_EQ(0x4010bb05U, HWTIMER_IOC_SUBMIT);
	EXPECT_EQ(0xc040bb06U, HWTIMER_IOC_QUERY);
	EXPECT_EQ(0x0000bb07U, HWTIMER_IOC_STOP);
	EXPECT_EQ(0x0000bb08U, HWTIMER_IOC_STATS);
	EXPECT_EQ(0x0000bb09U, HWTIMER_IOC_NOTIFY);
	EXPECT_EQ(0x0000bb0bU, HWTIMER_IOC_BULK);
	EXPECT_EQ(0x0000bb0cU, HWTIMER_IOC_LIST);
	EXPECT_EQ(0x0000bb0eU, HWTIMER_IOC_ACK);
	EXPECT_EQ(0x0000bb0fU, HWTIMER_IOC_REWIND);
	EXPECT_EQ(0, HWTIMER_KIND_DEFAULT);
	EXPECT_EQ(1, HWTIMER_KIND_HASHED);
	EXPECT_EQ(2, HWTIMER_KIND_HIERARCHICAL);
	EXPECT_EQ(1, HWTIMER_ABI_VERSION);
	EXPECT_EQ(0, HWTIMER_CLOCK_DEFAULT);
	EXPECT_EQ(1, HWTIMER_CLOCK_MONOTONIC);
	EXPECT_EQ(7, HWTIMER_CLOCK_BOOTTIME);
	EXPECT_EQ(256, HWTIMER_CLOCK_REALTIME);
	EXPECT_EQ(256, HWTIMER_CLOCK(0));
	EXPECT_EQ(7, HWTIMER_CLOCK(7));
	EXPECT_EQ(0, HWTIMER_CLOCKID(HWTIMER_CLOCK_REALTIME));
	EXPECT_EQ(1, HWTIMER_CLOCKID(HWTIMER_CLOCK_DEFAULT));
	EXPECT_EQ(96, HWTIMER_LATENESS_BUCKETS);
	EXPECT_EQ(1280, HWTIMER_LATENESS_BOUND(5));
	EXPECT_EQ(1, HWTIMER_REPORT_CLOCK_SET);
	EXPECT_EQ(2, HWTIMER_AT_LEAST_ONCE);
	EXPECT_EQ(4096, HWTIMER_EVENTS_MAX);
	EXPECT_EQ(0, HWTIMER_OP_NONE);
	EXPECT_EQ(1, HWTIMER_OP_SCHEDULE);
	EXPECT_EQ(2, HWTIMER_OP_CANCEL);
	EXPECT_EQ(3, HWTIMER_OP_RESCHEDULE);
	EXPECT_EQ(1, HWTIMER_ABSOLUTE);
	EXPECT_EQ(2, HWTIMER_DISCARD);
	EXPECT_EQ(4, HWTIMER_FIXED_DELAY);
	EXPECT_EQ(8, HWTIMER_REARM);
	EXPECT_EQ(16, HWTIMER_SET_USER_DATA);
	EXPECT_EQ(32, HWTIMER_SET_INTERVAL);
	EXPECT_EQ(64, HWTIMER_SET_SLACK);
	EXPECT_EQ(1, HWTIMER_STATE_PENDING);
	EXPECT_EQ(2, HWTIMER_STATE_EXPIRED);
	EXPECT_EQ(UINT64_MAX, HWTIMER_NEVER);
}

TEST(device_is_a_misc_device_that_only_root_opens)
{
	struct stat st;

	ASSERT_EQ(0, stat(DEVICE, &st));
	EXPECT_TRUE(S_ISCHR(st.st_mode));
	EXPECT_EQ(10, major(st.st_rdev));
	EXPECT_EQ(0600, st.st_mode & 07777);
}

TEST_F(hwtimer, unknown_commands_are_enotty)
{
	const unsigned long commands[] = {
		_IO(HWTIMER_IOC_MAGIC, 16),
		_IO(HWTIMER_IOC_MAGIC, 255),
		_IO(HWTIMER_IOC_MAGIC, 2),
		_IO(0xba, 0),
		_IOR(HWTIMER_IOC_MAGIC, 2, struct hwtimer_request),
		_IOWR(HWTIMER_IOC_MAGIC, 2, struct hwtimer_submit),
		_IOWR(HWTIMER_IOC_MAGIC, 0, struct hwtimer_info),
		_IOWR(HWTIMER_IOC_MAGIC, 3, struct hwtimer_request),
		_IOW(HWTIMER_IOC_MAGIC, 9, struct hwtimer_notify),
		0,
	};
	struct hwtimer_request request = { 0 };

	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++) {
		EXPECT_EQ(-ENOTTY, dev_ioctl(self->fd, commands[i], &request))
		{
			TH_LOG("command %#lx", commands[i]);
		}
	}
}

TEST_F(hwtimer, opens_are_independent)
{
	struct hwtimer_event event;
	struct hwtimer_stats stats;
	struct hwtimer_info info;
	int other = dev_open(O_NONBLOCK);

	ASSERT_LE(0, other);
	ASSERT_EQ(0, dev_setup(other, 5 * MS, 64, 3));
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(MS, info.tick);
	ASSERT_NE(0, dev_after(other, 0, 7));
	ASSERT_EQ(1, dev_collect(other, &event, 1));
	EXPECT_EQ(7, event.user_data);
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(0, stats.scheduled);
	ASSERT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(0, info.started);
	ASSERT_EQ(0, dev_stop(other, NULL, 0, NULL));
	EXPECT_NE(0, dev_after(self->fd, HOUR, 0));
	EXPECT_EQ(0, close(other));
}

TEST(descriptor_for_reading_reads_and_polls)
{
	int fd = open(DEVICE, O_RDONLY | O_NONBLOCK | O_CLOEXEC), copy;
	struct hwtimer_event event;

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EAGAIN, dev_read(fd, &event, 1));
	EXPECT_EQ(0, dev_poll(fd, POLLIN, 0));
	EXPECT_EQ(-EBADF, dev_notify(fd, 0, 0));
	/* isatty() asks so. */
	EXPECT_EQ(-ENOTTY, dev_ioctl(fd, TCGETS, &event));
	EXPECT_EQ(-ENOTTY, dev_ioctl(fd, _IO(HWTIMER_IOC_MAGIC, 2), &event));
	copy = dup(fd);
	EXPECT_EQ(-EBADF, dev_setup(copy, 0, 0, 0));
	EXPECT_EQ(0, close(copy));
	EXPECT_EQ(0, close(fd));
}

TEST(descriptor_for_writing_does_not_read)
{
	int fd = open(DEVICE, O_WRONLY | O_CLOEXEC);
	struct hwtimer_event event;

	ASSERT_LE(0, fd);
	ASSERT_NE(0, dev_after(fd, 0, 0));
	EXPECT_EQ(POLLIN, dev_poll(fd, POLLIN, -1));
	EXPECT_EQ(-EBADF, dev_read(fd, &event, 1));
	EXPECT_EQ(1, stats_of(fd).ready);
	EXPECT_EQ(0, close(fd));
}

/* Another mode needs another open(), which makes another instance. */
TEST_F(hwtimer, open_through_proc_is_another_instance)
{
	static const int modes[] = { O_RDONLY, O_RDWR };
	char path[64];

	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	sprintf(path, "/proc/self/fd/%d", self->fd);
	for (unsigned int i = 0; i < ARRAY_SIZE(modes); i++) {
		int fd = open(path, modes[i] | O_CLOEXEC);

		ASSERT_LE(0, fd);
		EXPECT_EQ(0, stats_of(fd).pending);
		EXPECT_EQ(0, close(fd));
	}
	EXPECT_EQ(1, stats_of(self->fd).pending);
}

/* Writes a valid argument of any command to @arg. */
static void valid_argument(void *arg, unsigned long number, size_t size,
			   __u64 id)
{
	struct hwtimer_setup setup = { .clock = CLOCK_MONOTONIC };
	static struct hwtimer_listed timer;
	struct hwtimer_list list = {
		.timers = (uintptr_t)&timer,
		.count = 1,
		.cursor = UINT_MAX, /* the end, so the call returns 0 */
	};

	memset(arg, 0, size);
	switch (number) {
	case HWTIMER_IOC_SETUP:
		memcpy(arg, &setup, MIN(size, sizeof(setup)));
		break;
	case HWTIMER_IOC_LIST:
		memcpy(arg, &list, MIN(size, sizeof(list)));
		break;
	case HWTIMER_IOC_CANCEL:
	case HWTIMER_IOC_RESCHEDULE:
		((struct hwtimer_request *)arg)->id = id;
		break;
	case HWTIMER_IOC_QUERY:
		((struct hwtimer_query *)arg)->id = id;
		break;
	case HWTIMER_IOC_BULK:
		((struct hwtimer_bulk *)arg)->op = HWTIMER_OP_CANCEL;
		break;
	}
	switch (number) {
	case HWTIMER_IOC_INFO:
	case HWTIMER_IOC_SETUP:
	case HWTIMER_IOC_STOP:
	case HWTIMER_IOC_STATS:
	case HWTIMER_IOC_NOTIFY:
	case HWTIMER_IOC_BULK:
	case HWTIMER_IOC_LIST:
	case HWTIMER_IOC_CANCEL_ALL:
	case HWTIMER_IOC_ACK:
		*(__u32 *)arg = size;
		break;
	}
}

/* Opens an instance in which the command may succeed. */
static int open_for(unsigned long number)
{
	const struct hwtimer_setup keeps = { .flags = HWTIMER_AT_LEAST_ONCE };
	int fd = dev_open(O_NONBLOCK);

	if (number == HWTIMER_IOC_ACK && dev_setup_as(fd, keeps))
		abort();
	return fd;
}

/* Bad addresses, tried with each command */
FIXTURE(command)
{
	int fd;
	__u64 id;
};

FIXTURE_VARIANT(command)
{
	unsigned long number;
	size_t size;
	bool writes; /* to the argument */
	bool queries; /* and changes nothing */
};

/* clang-format off */
FIXTURE_VARIANT_ADD(command, info)
{
	.number = HWTIMER_IOC_INFO,
	.size = sizeof(struct hwtimer_info),
	.writes = true,
	.queries = true,
};

FIXTURE_VARIANT_ADD(command, setup)
{
	.number = HWTIMER_IOC_SETUP,
	.size = sizeof(struct hwtimer_setup),
};

FIXTURE_VARIANT_ADD(command, schedule)
{
	.number = HWTIMER_IOC_SCHEDULE,
	.size = sizeof(struct hwtimer_request),
	.writes = true,
};

FIXTURE_VARIANT_ADD(command, cancel)
{
	.number = HWTIMER_IOC_CANCEL,
	.size = sizeof(struct hwtimer_request),
};

FIXTURE_VARIANT_ADD(command, reschedule)
{
	.number = HWTIMER_IOC_RESCHEDULE,
	.size = sizeof(struct hwtimer_request),
};

FIXTURE_VARIANT_ADD(command, submit)
{
	.number = HWTIMER_IOC_SUBMIT,
	.size = sizeof(struct hwtimer_submit),
};

FIXTURE_VARIANT_ADD(command, bulk)
{
	.number = HWTIMER_IOC_BULK,
	.size = sizeof(struct hwtimer_bulk),
};

FIXTURE_VARIANT_ADD(command, cancel_all)
{
	.number = HWTIMER_IOC_CANCEL_ALL,
	.size = sizeof(struct hwtimer_cancel_all),
	.writes = true,
};

FIXTURE_VARIANT_ADD(command, query)
{
	.number = HWTIMER_IOC_QUERY,
	.size = sizeof(struct hwtimer_query),
	.writes = true,
	.queries = true,
};

FIXTURE_VARIANT_ADD(command, list)
{
	.number = HWTIMER_IOC_LIST,
	.size = sizeof(struct hwtimer_list),
	.writes = true,
	.queries = true,
};

FIXTURE_VARIANT_ADD(command, stop)
{
	.number = HWTIMER_IOC_STOP,
	.size = sizeof(struct hwtimer_stop),
	.writes = true,
};

FIXTURE_VARIANT_ADD(command, stats)
{
	.number = HWTIMER_IOC_STATS,
	.size = sizeof(struct hwtimer_stats),
	.writes = true,
	.queries = true,
};

FIXTURE_VARIANT_ADD(command, notify)
{
	.number = HWTIMER_IOC_NOTIFY,
	.size = sizeof(struct hwtimer_notify),
};

FIXTURE_VARIANT_ADD(command, ack)
{
	.number = HWTIMER_IOC_ACK,
	.size = sizeof(struct hwtimer_ack),
};

/* clang-format on */

FIXTURE_SETUP(command)
{
	self->fd = open_for(variant->number);
	ASSERT_LE(0, self->fd);
	if (variant->number == HWTIMER_IOC_SETUP)
		return;
	self->id = dev_after(self->fd, HOUR, 1);
	ASSERT_NE(0, self->id);
}

FIXTURE_TEARDOWN(command)
{
	EXPECT_EQ(0, close(self->fd));
}

TEST_F(command, that_changes_something_needs_a_descriptor_for_writing)
{
	/* An open mode of 3 allows neither read() nor write(). */
	static const int modes[] = { O_RDONLY, O_ACCMODE, O_WRONLY, O_RDWR };
	int works = variant->number == HWTIMER_IOC_QUERY ||
				    variant->number == HWTIMER_IOC_CANCEL ||
				    variant->number == HWTIMER_IOC_RESCHEDULE ?
			    -ENOENT :
		    variant->number == HWTIMER_IOC_ACK ? -EINVAL :
							 0;
	char arg[2048];

	for (unsigned int i = 0; i < ARRAY_SIZE(modes); i++) {
		bool writable = modes[i] == O_WRONLY || modes[i] == O_RDWR;
		int fd = open(DEVICE, modes[i] | O_CLOEXEC);

		ASSERT_LE(0, fd);
		valid_argument(arg, variant->number, variant->size, 1);
		EXPECT_EQ(writable || variant->queries ? works : -EBADF,
			  dev_ioctl(fd, variant->number, arg))
		{
			TH_LOG("mode %d", modes[i]);
		}
		if (!writable && !variant->queries)
			EXPECT_EQ(-EBADF, dev_ioctl(fd, variant->number, NULL));
		EXPECT_EQ(0, close(fd));
	}
}

TEST_F(command, null_is_efault)
{
	EXPECT_EQ(-EFAULT, dev_ioctl(self->fd, variant->number, NULL));
}

TEST_F(command, bad_address_is_efault)
{
	EXPECT_EQ(-EFAULT, dev_ioctl(self->fd, variant->number, bad_address()));
}

TEST_F(command, address_that_faults_half_way_is_efault)
{
	void *edge = page_edge(variant->size / 2);
	char arg[2048];

	valid_argument(arg, variant->number, variant->size, self->id);
	memcpy(edge, arg, variant->size / 2);
	EXPECT_EQ(-EFAULT, dev_ioctl(self->fd, variant->number, edge));
}

TEST_F(command, read_only_memory_is_efault_where_there_is_an_answer)
{
	char arg[2048];

	valid_argument(arg, variant->number, variant->size, self->id);
	EXPECT_EQ(variant->writes ? -EFAULT : 0,
		  dev_ioctl(self->fd, variant->number,
			    read_only_copy(arg, variant->size)));
}

/* The structures that carry their size, and so may grow */
FIXTURE(growable)
{
	int fd;
	char arg[2048];
};

FIXTURE_VARIANT(growable)
{
	unsigned long number;
	size_t size;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(growable, info)
{
	.number = HWTIMER_IOC_INFO,
	.size = sizeof(struct hwtimer_info),
};

FIXTURE_VARIANT_ADD(growable, setup)
{
	.number = HWTIMER_IOC_SETUP,
	.size = sizeof(struct hwtimer_setup),
};

FIXTURE_VARIANT_ADD(growable, stop)
{
	.number = HWTIMER_IOC_STOP,
	.size = sizeof(struct hwtimer_stop),
};

FIXTURE_VARIANT_ADD(growable, stats)
{
	.number = HWTIMER_IOC_STATS,
	.size = sizeof(struct hwtimer_stats),
};

FIXTURE_VARIANT_ADD(growable, bulk)
{
	.number = HWTIMER_IOC_BULK,
	.size = sizeof(struct hwtimer_bulk),
};

FIXTURE_VARIANT_ADD(growable, cancel_all)
{
	.number = HWTIMER_IOC_CANCEL_ALL,
	.size = sizeof(struct hwtimer_cancel_all),
};

FIXTURE_VARIANT_ADD(growable, list)
{
	.number = HWTIMER_IOC_LIST,
	.size = sizeof(struct hwtimer_list),
};

FIXTURE_VARIANT_ADD(growable, notify)
{
	.number = HWTIMER_IOC_NOTIFY,
	.size = sizeof(struct hwtimer_notify),
};

FIXTURE_VARIANT_ADD(growable, ack)
{
	.number = HWTIMER_IOC_ACK,
	.size = sizeof(struct hwtimer_ack),
};

/* clang-format on */

/* Bytes that a newer program's structure has beyond this one's */
#define GROWTH 64

FIXTURE_SETUP(growable)
{
	self->fd = open_for(variant->number);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(growable)
{
	EXPECT_EQ(0, close(self->fd));
}

TEST_F(growable, shorter_than_the_kernels_is_einval)
{
	const __u32 sizes[] = { 0, 1, 4, 8, variant->size - 1 };

	valid_argument(self->arg, variant->number, variant->size, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		*(__u32 *)self->arg = sizes[i];
		EXPECT_EQ(-EINVAL,
			  dev_ioctl(self->fd, variant->number, self->arg))
		{
			TH_LOG("size %u", sizes[i]);
		}
	}
}

/* The kernel neither reads nor writes beyond the structure. */
TEST_F(growable, what_is_beyond_does_not_matter)
{
	void *edge = page_edge(variant->size);
	char beyond[2048];

	valid_argument(edge, variant->number, variant->size, 0);
	EXPECT_EQ(0, dev_ioctl(self->fd, variant->number, edge));
	EXPECT_EQ(variant->size, *(__u32 *)edge);
	valid_argument(self->arg, variant->number, variant->size, 0);
	memset(self->arg + variant->size, 0x5a, sizeof(beyond) - variant->size);
	memset(beyond, 0x5a, sizeof(beyond));
	EXPECT_EQ(0, dev_ioctl(self->fd, variant->number, self->arg));
	EXPECT_EQ(0, memcmp(self->arg + variant->size, beyond,
			    sizeof(beyond) - variant->size));
}

TEST_F(growable, longer_than_a_page_is_e2big)
{
	size_t size = whole_pages(1) + 1;
	void *arg = page_edge(size);

	valid_argument(arg, variant->number, size, 0);
	EXPECT_EQ(-E2BIG, dev_ioctl(self->fd, variant->number, arg));
	*(__u32 *)arg = UINT_MAX;
	EXPECT_EQ(-E2BIG, dev_ioctl(self->fd, variant->number, arg));
}

TEST_F(growable, newer_program_is_served)
{
	char zeroes[GROWTH] = { 0 };

	valid_argument(self->arg, variant->number, variant->size + GROWTH, 0);
	EXPECT_EQ(0, dev_ioctl(self->fd, variant->number, self->arg));
	EXPECT_EQ(0, memcmp(self->arg + variant->size, zeroes, GROWTH));
}

TEST_F(growable, newer_program_asking_for_the_unknown_is_e2big)
{
	for (unsigned int i = 0; i < GROWTH; i += 21) {
		valid_argument(self->arg, variant->number,
			       variant->size + GROWTH, 0);
		self->arg[variant->size + i] = 1;
		EXPECT_EQ(-E2BIG,
			  dev_ioctl(self->fd, variant->number, self->arg))
		{
			TH_LOG("byte %u", i);
		}
	}
}

TEST_F(growable, larger_than_its_memory_is_efault)
{
	void *edge = page_edge(variant->size);

	valid_argument(edge, variant->number, variant->size, 0);
	*(__u32 *)edge = variant->size + GROWTH;
	EXPECT_EQ(-EFAULT, dev_ioctl(self->fd, variant->number, edge));
}

TEST_HARNESS_MAIN
