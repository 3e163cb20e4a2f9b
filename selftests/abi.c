// SPDX-License-Identifier: GPL-2.0
/*
 * What all calls have in common: the layout of the structures and the numbers, which are the
 * same in 32- and 64-bit programs; structures of other sizes; flags and reserved fields; bad
 * addresses; unknown commands; the device itself.
 */
#include "hwtimer_test.h"

#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

/* clang-format off */
#define STRUCTURE(type, size) { #type, size, sizeof(struct hwtimer_##type) }
#define FIELD(type, field, offset) \
	{ #type "." #field, offset, offsetof(struct hwtimer_##type, field) }
#define NUMBER(name, value) { #name, value, HWTIMER_##name }

/*
 * The size of each structure, and then the offsets of its fields, between which there are no
 * gaps; then all numbers
 */
static const struct {
	const char *name;
	unsigned long long value, is;
} contract[] = {
	STRUCTURE(setup, 32),
	FIELD(setup, tick, 0),
	FIELD(setup, timers, 8),
	FIELD(setup, buckets, 16),
	FIELD(setup, clock, 20),
	FIELD(setup, flags, 24),
	FIELD(setup, reserved, 28),
	STRUCTURE(info, 80),
	FIELD(info, abi_version, 0),
	FIELD(info, started, 4),
	FIELD(info, tick, 8),
	FIELD(info, timers, 16),
	FIELD(info, buckets, 24),
	FIELD(info, clock, 28),
	FIELD(info, flags, 32),
	FIELD(info, reserved, 36),
	FIELD(info, until_next, 40),
	FIELD(info, tick_min, 48),
	FIELD(info, tick_max, 56),
	FIELD(info, timers_max, 64),
	FIELD(info, buckets_min, 72),
	FIELD(info, buckets_max, 76),
	STRUCTURE(request, 64),
	FIELD(request, op, 0),
	FIELD(request, flags, 4),
	FIELD(request, id, 8),
	FIELD(request, time, 16),
	FIELD(request, interval, 24),
	FIELD(request, slack, 32),
	FIELD(request, user_data, 40),
	FIELD(request, expirations_max, 48),
	FIELD(request, result, 52),
	FIELD(request, reserved, 56),
	STRUCTURE(submit, 16),
	FIELD(submit, requests, 0),
	FIELD(submit, count, 8),
	FIELD(submit, flags, 12),
	STRUCTURE(bulk_timer, 16),
	FIELD(bulk_timer, user_data, 0),
	FIELD(bulk_timer, id, 0),
	FIELD(bulk_timer, time, 8),
	STRUCTURE(bulk, 40),
	FIELD(bulk, op, 0),
	FIELD(bulk, flags, 4),
	FIELD(bulk, timers, 8),
	FIELD(bulk, results, 16),
	FIELD(bulk, slack, 24),
	FIELD(bulk, count, 32),
	FIELD(bulk, reserved, 36),
	STRUCTURE(timer, 64),
	FIELD(timer, id, 0),
	FIELD(timer, user_data, 8),
	FIELD(timer, deadline, 16),
	FIELD(timer, remaining, 24),
	FIELD(timer, interval, 32),
	FIELD(timer, slack, 40),
	FIELD(timer, state, 48),
	FIELD(timer, flags, 52),
	FIELD(timer, expirations_left, 56),
	FIELD(timer, expirations, 60),
	STRUCTURE(list, 24),
	FIELD(list, timers, 0),
	FIELD(list, cursor, 8),
	FIELD(list, count, 16),
	FIELD(list, flags, 20),
	STRUCTURE(stats, 888),
	FIELD(stats, pending, 0),
	FIELD(stats, ready, 8),
	FIELD(stats, scheduled, 16),
	FIELD(stats, rearmed, 24),
	FIELD(stats, rescheduled, 32),
	FIELD(stats, cancelled, 40),
	FIELD(stats, expired, 48),
	FIELD(stats, delivered, 56),
	FIELD(stats, discarded, 64),
	FIELD(stats, missed, 72),
	FIELD(stats, clock_sets, 80),
	FIELD(stats, bytes, 88),
	FIELD(stats, bytes_peak, 96),
	FIELD(stats, lateness_max, 104),
	FIELD(stats, lateness_sum, 112),
	FIELD(stats, lateness, 120),
	STRUCTURE(notify, 16),
	FIELD(notify, delay, 0),
	FIELD(notify, events, 8),
	FIELD(notify, flags, 12),
	STRUCTURE(event, 32),
	FIELD(event, id, 0),
	FIELD(event, user_data, 8),
	FIELD(event, deadline, 16),
	FIELD(event, lateness, 24),
	FIELD(event, expirations, 28),
	STRUCTURE(ack, 8),
	FIELD(ack, count, 0),
	FIELD(ack, flags, 4),
	STRUCTURE(uring, 16),
	FIELD(uring, argument, 0),
	FIELD(uring, reserved, 8),

	NUMBER(ABI_VERSION, 1),
	NUMBER(NEVER, INT64_MAX),
	NUMBER(EVENTS_MAX, 4096),
	NUMBER(CLOCK_DEFAULT, 0),
	NUMBER(CLOCK_REALTIME, 256),
	NUMBER(CLOCK_MONOTONIC, 257),
	NUMBER(CLOCK_BOOTTIME, 263),
	NUMBER(CLOCK_TAI, 267),
	NUMBER(CLOCK(CLOCK_REALTIME), 256),
	NUMBER(CLOCK(CLOCK_MONOTONIC), 257),
	NUMBER(CLOCK(CLOCK_BOOTTIME), 263),
	NUMBER(CLOCK(CLOCK_TAI), 267),
	NUMBER(CLOCKID(HWTIMER_CLOCK_REALTIME), CLOCK_REALTIME),
	NUMBER(CLOCKID(HWTIMER_CLOCK_TAI), CLOCK_TAI),
	NUMBER(SETUP_REPORT_CLOCK_SET, 1),
	NUMBER(SETUP_AT_LEAST_ONCE, 2),
	NUMBER(OP_SCHEDULE, 1),
	NUMBER(OP_CANCEL, 2),
	NUMBER(OP_RESCHEDULE, 3),
	NUMBER(REQ_ABSTIME, 1),
	NUMBER(REQ_DISCARD, 2),
	NUMBER(REQ_FIXED_DELAY, 4),
	NUMBER(REQ_REARM, 8),
	NUMBER(REQ_CREATE, 16),
	NUMBER(REQ_SET, 32),
	NUMBER(STATE_PENDING, 1),
	NUMBER(STATE_EXPIRED, 2),
	NUMBER(LIST_STOP, 256),
	NUMBER(LIST_DISCARD, 2),
	NUMBER(LATENESS_BUCKETS, 96),
	NUMBER(LATENESS_BOUND(5), 1280),
	NUMBER(ACK_REWIND, 1),
};

/* clang-format on */

TEST(layout_and_numbers)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(contract); i++) {
		EXPECT_EQ(contract[i].value, contract[i].is)
		{
			TH_LOG("%s", contract[i].name);
		}
	}
}

/* ---- the device ---- */

TEST(device_is_a_misc_device_that_only_root_opens)
{
	struct stat st;

	ASSERT_EQ(0, stat(DEVICE, &st));
	EXPECT_TRUE(S_ISCHR(st.st_mode));
	EXPECT_EQ(10, major(st.st_rdev));
	EXPECT_EQ(0600, st.st_mode & 07777);
}

/* Opening a descriptor through /proc makes another instance. */
TEST_F(hwtimer, only_a_descriptor_for_reading_and_writing_is_opened)
{
	/* The mode 3 allows neither read() nor write(). */
	static const int refused[] = { O_RDONLY, O_WRONLY, O_ACCMODE };
	char path[64];
	int fd;

	sprintf(path, "/proc/self/fd/%d", self->fd);
	for (unsigned int i = 0; i < ARRAY_SIZE(refused); i++) {
		EXPECT_EQ(-EINVAL, result_of(open(DEVICE, refused[i])));
		EXPECT_EQ(-EINVAL, result_of(open(path, refused[i])));
	}
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	fd = open(path, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, stats_of(fd).pending);
	EXPECT_EQ(0, close(fd));
	EXPECT_EQ(1, stats_of(self->fd).pending);
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

/* isatty() asks with TCGETS. */
TEST_F(hwtimer, unknown_commands_are_enotty)
{
	const unsigned long unknown[] = {
		_IOWR(HWTIMER_IOC_MAGIC, 13, struct hwtimer_request),
		_IOW(HWTIMER_IOC_MAGIC, 255, struct hwtimer_request),
		_IO(HWTIMER_IOC_MAGIC, 16),
		_IOR(HWTIMER_IOC_MAGIC - 1, 0, struct hwtimer_info),
		TCGETS,
		0,
	};
	struct hwtimer_request request = { 0 };

	for (unsigned int i = 0; i < ARRAY_SIZE(unknown); i++) {
		EXPECT_EQ(-ENOTTY, dev_ioctl(self->fd, unknown[i], &request))
		{
			TH_LOG("command %#lx", unknown[i]);
		}
	}
}

/* What cannot be done to the descriptor takes no event, and leaves it as it was. */
TEST_F(hwtimer, other_calls_are_refused)
{
	struct hwtimer_event event;
	struct iovec part = { &event, sizeof(event) };
	int pipe_fds[2];

	make_ready(_metadata, self->fd, 1);
	ASSERT_EQ(0, pipe2(pipe_fds, O_CLOEXEC));
	EXPECT_EQ(-EINVAL, result_of(splice(self->fd, NULL, pipe_fds[1], NULL,
					    sizeof(event), 0)));
	EXPECT_EQ(-EINVAL, result_of(splice(pipe_fds[0], NULL, self->fd, NULL,
					    sizeof(event), SPLICE_F_NONBLOCK)));
	EXPECT_EQ(-EINVAL, result_of(sendfile(pipe_fds[1], self->fd, NULL,
					      sizeof(event))));
	EXPECT_EQ(-ESPIPE, result_of(lseek(self->fd, 0, SEEK_CUR)));
	EXPECT_EQ(-ESPIPE,
		  result_of(pread(self->fd, &event, sizeof(event), 0)));
	EXPECT_EQ(-ESPIPE, result_of(preadv2(self->fd, &part, 1, 0, 0)));
	EXPECT_EQ(-EINVAL, result_of(write(self->fd, &event, sizeof(event))));
	EXPECT_EQ(-EINVAL, result_of(fsync(self->fd)));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED,
				   self->fd, 0));
	EXPECT_EQ(ENODEV, errno);
	EXPECT_EQ(-EINVAL, dev_read(self->fd, &event, 0));
	for (size_t size = 1; size < sizeof(event); size++)
		EXPECT_EQ(-EINVAL, result_of(read(self->fd, &event, size)));
	EXPECT_EQ(1, dev_read(self->fd, &event, 1));
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* ---- each command ---- */

/* An instance in which each command succeeds if its argument is valid */
FIXTURE(command)
{
	int fd;
};

/*
 * @value: the number as a program has it; @writes: whether the kernel writes to the argument
 * of valid_argument(); @flags: offset of the flags; @ignored: flags of other operations;
 * @unknown: those of none
 */
FIXTURE_VARIANT(command)
{
	unsigned int number;
	unsigned int value;
	bool writes;
	size_t flags;
	__u32 ignored;
	__u32 unknown;
};

/* clang-format off */
#define FLAGS(type) offsetof(struct hwtimer_##type, flags)

FIXTURE_VARIANT_ADD(command, INFO)
{
	HWTIMER_IOC_INFO, 0x8050bb00, true, 0, 0, 0,
};

FIXTURE_VARIANT_ADD(command, SETUP)
{
	HWTIMER_IOC_SETUP, 0x4020bb01, false, FLAGS(setup), 0, ~3U,
};

FIXTURE_VARIANT_ADD(command, SCHEDULE)
{
	HWTIMER_IOC_SCHEDULE, 0xc040bb02, true, FLAGS(request), 0x3a, ~0x3fU,
};

FIXTURE_VARIANT_ADD(command, CANCEL)
{
	HWTIMER_IOC_CANCEL, 0x4040bb03, false, FLAGS(request), 0x3d, ~0x3fU,
};

FIXTURE_VARIANT_ADD(command, RESCHEDULE)
{
	HWTIMER_IOC_RESCHEDULE, 0xc040bb04, false, FLAGS(request), 0x16, ~0x3fU,
};

FIXTURE_VARIANT_ADD(command, SUBMIT)
{
	HWTIMER_IOC_SUBMIT, 0x4010bb05, false, FLAGS(submit), 0, ~0U,
};

FIXTURE_VARIANT_ADD(command, BULK)
{
	HWTIMER_IOC_BULK, 0x4028bb06, false, FLAGS(bulk), 1, ~3U,
};

FIXTURE_VARIANT_ADD(command, QUERY)
{
	HWTIMER_IOC_QUERY, 0xc040bb07, true, FLAGS(timer), ~0U, 0,
};

FIXTURE_VARIANT_ADD(command, LIST)
{
	HWTIMER_IOC_LIST, 0xc018bb08, true, FLAGS(list), 0x102, ~0x102U,
};

FIXTURE_VARIANT_ADD(command, CANCEL_ALL)
{
	HWTIMER_IOC_CANCEL_ALL, 0xc018bb09, true, FLAGS(list), 0, ~0x102U,
};

FIXTURE_VARIANT_ADD(command, STATS)
{
	HWTIMER_IOC_STATS, 0x8378bb0a, true, 0, 0, 0,
};

FIXTURE_VARIANT_ADD(command, NOTIFY)
{
	HWTIMER_IOC_NOTIFY, 0x4010bb0b, false, FLAGS(notify), 0, ~0U,
};

FIXTURE_VARIANT_ADD(command, ACK)
{
	HWTIMER_IOC_ACK, 0x4008bb0c, false, FLAGS(ack), 0, ~1U,
};

/* clang-format on */

FIXTURE_SETUP(command)
{
	const struct hwtimer_setup keeps = {
		.flags = HWTIMER_SETUP_AT_LEAST_ONCE, /* for ACK */
	};

	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, dev_setup_as(self->fd, keeps));
}

FIXTURE_TEARDOWN(command)
{
	EXPECT_EQ(0, close(self->fd));
}

/* Writes an argument with which the command returns 0 to @arg. */
static void valid_argument(int fd, unsigned int number, void *arg)
{
	static struct hwtimer_timer timer;

	memset(arg, 0, _IOC_SIZE(number));
	switch (number) {
	case HWTIMER_IOC_SCHEDULE:
		((struct hwtimer_request *)arg)->time = HOUR;
		break;
	case HWTIMER_IOC_CANCEL:
	case HWTIMER_IOC_RESCHEDULE:
		((struct hwtimer_request *)arg)->id = dev_after(fd, HOUR, 0);
		((struct hwtimer_request *)arg)->time = HOUR;
		break;
	case HWTIMER_IOC_BULK:
		((struct hwtimer_bulk *)arg)->op = HWTIMER_OP_CANCEL;
		break;
	case HWTIMER_IOC_QUERY:
		((struct hwtimer_timer *)arg)->id = dev_after(fd, HOUR, 0);
		break;
	case HWTIMER_IOC_LIST:
	case HWTIMER_IOC_CANCEL_ALL:
		*(struct hwtimer_list *)arg = (struct hwtimer_list){
			.timers = (uintptr_t)&timer,
			.cursor = UINT_MAX, /* the end */
			.count = 1,
		};
		break;
	}
}

/* The command's number for a structure of another @size */
static unsigned int resized(unsigned int number, size_t size)
{
	return _IOC(_IOC_DIR(number), HWTIMER_IOC_MAGIC, _IOC_NR(number), size);
}

TEST_F(command, has_its_number)
{
	EXPECT_EQ(variant->value, variant->number);
}

TEST_F(command, in_another_direction_is_enotty)
{
	__u64 arg[128];

	valid_argument(self->fd, variant->number, arg);
	for (unsigned int direction = 0; direction < 4; direction++) {
		unsigned int number = _IOC(direction, HWTIMER_IOC_MAGIC,
					   _IOC_NR(variant->number),
					   _IOC_SIZE(variant->number));

		EXPECT_EQ(number == variant->number ? 0 : -ENOTTY,
			  dev_ioctl(self->fd, number, arg))
		{
			TH_LOG("direction %u", direction);
		}
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
	size_t half = _IOC_SIZE(variant->number) / 2;
	void *edge = page_edge(half);
	__u64 arg[128];

	valid_argument(self->fd, variant->number, arg);
	memcpy(edge, arg, half);
	EXPECT_EQ(-EFAULT, dev_ioctl(self->fd, variant->number, edge));
}

TEST_F(command, read_only_memory_is_efault_where_there_is_an_answer)
{
	__u64 arg[128];

	valid_argument(self->fd, variant->number, arg);
	EXPECT_EQ(variant->writes ? -EFAULT : 0,
		  dev_ioctl(self->fd, variant->number,
			    read_only_copy(arg, _IOC_SIZE(variant->number))));
}

TEST_F(command, ignores_flags_of_other_operations)
{
	__u64 arg[128];

	valid_argument(self->fd, variant->number, arg);
	*(__u32 *)((char *)arg + variant->flags) |= variant->ignored;
	EXPECT_EQ(0, dev_ioctl(self->fd, variant->number, arg));
	/* LIST has not stopped the instance. */
	EXPECT_NE(0, dev_after(self->fd, HOUR, 0));
}

TEST_F(command, refuses_unknown_flags)
{
	__u64 arg[128];

	for (__u64 flag = 1; flag <= UINT_MAX; flag <<= 1) {
		if (!(variant->unknown & flag))
			continue;
		valid_argument(self->fd, variant->number, arg);
		*(__u32 *)((char *)arg + variant->flags) = flag;
		EXPECT_EQ(-EINVAL, dev_ioctl(self->fd, variant->number, arg))
		{
			TH_LOG("flag %#llx", flag);
		}
	}
}

/* Whether the structure may grow. A request never does, and has one size. */
static bool may_grow(unsigned int number)
{
	return number != HWTIMER_IOC_SCHEDULE && number != HWTIMER_IOC_CANCEL &&
	       number != HWTIMER_IOC_RESCHEDULE;
}

TEST_F(command, shorter_than_in_the_first_version_is_einval)
{
	const size_t size = _IOC_SIZE(variant->number);
	const size_t sizes[] = { 0, 1, size / 2, size - 1 };
	__u64 arg[128];

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		valid_argument(self->fd, variant->number, arg);
		EXPECT_EQ(may_grow(variant->number) ? -EINVAL : -ENOTTY,
			  dev_ioctl(self->fd,
				    resized(variant->number, sizes[i]), arg))
		{
			TH_LOG("size %zu", sizes[i]);
		}
	}
}

/* Bytes that a newer program's structure has beyond this one's */
#define GROWTH 64

/*
 * Does the command with a structure of @size, before memory that faults. In the part that the
 * kernel does not know, the byte at @dirty is not 0; 0: all are. Stores in *@zeros whether all
 * are 0 afterwards.
 */
static int do_longer(int fd, unsigned int number, size_t size, size_t dirty,
		     bool *zeros)
{
	char *arg = page_edge(size);
	int ret;

	valid_argument(fd, number, arg);
	if (dirty)
		arg[dirty] = 1;
	ret = dev_ioctl(fd, resized(number, size), arg);
	*zeros = true;
	for (size_t i = _IOC_SIZE(number); i < size; i++)
		*zeros &= !arg[i];
	return ret;
}

TEST_F(command, of_a_newer_program_is_served)
{
	const size_t size = _IOC_SIZE(variant->number);
	const size_t sizes[] = { size, size + 8, size + GROWTH,
				 _IOC_SIZEMASK & ~7U };
	bool zeros;

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		EXPECT_EQ(!i || may_grow(variant->number) ? 0 : -ENOTTY,
			  do_longer(self->fd, variant->number, sizes[i], 0,
				    &zeros))
		{
			TH_LOG("size %zu", sizes[i]);
		}
		EXPECT_TRUE(zeros);
	}
}

/* If the kernel only writes the structure, it writes zeros there. */
TEST_F(command, of_a_newer_program_that_asks_for_the_unknown_is_e2big)
{
	const size_t size = _IOC_SIZE(variant->number);
	bool reads = _IOC_DIR(variant->number) & _IOC_WRITE, zeros;

	if (!may_grow(variant->number))
		return;
	for (unsigned int i = 0; i < GROWTH; i += 21) {
		EXPECT_EQ(reads ? -E2BIG : 0,
			  do_longer(self->fd, variant->number, size + GROWTH,
				    size + i, &zeros))
		{
			TH_LOG("byte %u", i);
		}
		EXPECT_EQ(!reads, zeros);
	}
}

TEST_F(command, larger_than_its_memory_is_efault)
{
	const size_t size = _IOC_SIZE(variant->number);
	void *edge = page_edge(size);

	if (!may_grow(variant->number))
		return;
	valid_argument(self->fd, variant->number, edge);
	EXPECT_EQ(-EFAULT,
		  dev_ioctl(self->fd, resized(variant->number, size + GROWTH),
			    edge));
}

/* ---- requests ---- */

TEST_F(hwtimer, reserved_fields_must_be_zero)
{
	struct hwtimer_request request = { .time = HOUR, .reserved = 1 };
	struct hwtimer_bulk bulk = { .op = HWTIMER_OP_CANCEL, .reserved = 1 };
	const struct hwtimer_setup setup = { .reserved = 1 };
	struct hwtimer_info info = { .reserved = 1 };

	EXPECT_EQ(-EINVAL, dev_setup_as(self->fd, setup));
	EXPECT_EQ(0, dev_info(self->fd, &info));
	EXPECT_EQ(0, info.reserved);
	EXPECT_EQ(-EINVAL, dev_try(self->fd, request));
	request.id = dev_after(self->fd, HOUR, 0);
	EXPECT_EQ(-EINVAL,
		  dev_ioctl(self->fd, HWTIMER_IOC_RESCHEDULE, &request));
	EXPECT_EQ(-EINVAL, dev_ioctl(self->fd, HWTIMER_IOC_CANCEL, &request));
	EXPECT_EQ(-EINVAL, dev_ioctl(self->fd, HWTIMER_IOC_BULK, &bulk));
	EXPECT_EQ(1, stats_of(self->fd).pending);
}

/* A request may go from one operation to the next as it is, whatever its @op. */
TEST_F(hwtimer, a_request_of_one_operation_serves_the_others)
{
	struct hwtimer_request request = {
		.op = 77,
		.flags = HWTIMER_REQ_ABSTIME | HWTIMER_REQ_FIXED_DELAY,
		.id = 4711,
		.time = now_ns() + HOUR,
		.interval = SEC,
		.slack = MS,
		.user_data = 7,
		.expirations_max = 3,
		.result = -1,
	};
	struct hwtimer_timer before, after;

	ASSERT_EQ(0, dev_ioctl(self->fd, HWTIMER_IOC_SCHEDULE, &request));
	before = query_of(_metadata, self->fd, request.id);
	request.user_data = 8;
	request.interval = 2 * SEC;
	EXPECT_EQ(0, dev_ioctl(self->fd, HWTIMER_IOC_RESCHEDULE, &request));
	after = query_of(_metadata, self->fd, request.id);
	after.remaining = before.remaining;
	EXPECT_EQ(0, memcmp(&before, &after, sizeof(before)));
	EXPECT_EQ(0, dev_ioctl(self->fd, HWTIMER_IOC_CANCEL, &request));
	EXPECT_EQ(-ENOENT,
		  dev_ioctl(self->fd, HWTIMER_IOC_RESCHEDULE, &request));
	EXPECT_EQ(-ENOENT, dev_ioctl(self->fd, HWTIMER_IOC_CANCEL, &request));
}

TEST_HARNESS_MAIN
