// SPDX-License-Identifier: GPL-2.0
/*
 * read(): whole events into a buffer of any size, blocking or not, ended by signals and
 * by bad addresses. No event is lost.
 */
#include "missing.h"

#include <sys/uio.h>

static __u64 ready_events(int fd)
{
	struct hwtimer_stats stats;

	return dev_stats(fd, &stats) ? UINT64_MAX : stats.ready;
}

static void set_nonblocking(struct __test_metadata *_metadata, int fd,
			    bool nonblocking)
{
	ASSERT_EQ(0, fcntl(fd, F_SETFL, nonblocking ? O_NONBLOCK : 0));
}

TEST_F(hwtimer, nothing_to_read_is_eagain)
{
	struct hwtimer_event event;

	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
}

TEST_F(hwtimer, room_for_less_than_one_event_is_einval)
{
	char buffer[sizeof(struct hwtimer_event)];

	EXPECT_EQ(-EINVAL, result_of(read(self->fd, buffer, 0)));
	EXPECT_EQ(-EINVAL, result_of(read(self->fd, buffer, 1)));
	make_ready(_metadata, self->fd, 1);
	EXPECT_EQ(-EINVAL, result_of(read(self->fd, buffer, 0)));
	EXPECT_EQ(-EINVAL, result_of(read(self->fd, buffer, 31)));
	EXPECT_EQ(32, result_of(read(self->fd, buffer, 32)));
}

TEST_F(hwtimer, only_whole_events_are_read)
{
	char buffer[3 * sizeof(struct hwtimer_event)];

	make_ready(_metadata, self->fd, 3);
	memset(buffer, 0x5a, sizeof(buffer));
	EXPECT_EQ(64, result_of(read(self->fd, buffer, 95)));
	for (unsigned int i = 64; i < sizeof(buffer); i++)
		EXPECT_EQ(0x5a, buffer[i]);
	EXPECT_EQ(1, ready_events(self->fd));
	EXPECT_EQ(32, result_of(read(self->fd, buffer, 63)));
}

TEST_F(hwtimer, less_events_than_room)
{
	struct hwtimer_event events[100];

	make_ready(_metadata, self->fd, 5);
	EXPECT_EQ(5, dev_read(self->fd, events, 100));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, events, 100));
}

TEST_F(hwtimer, many_events_by_reads_of_every_size)
{
	struct hwtimer_event events[300];
	unsigned int got = 0, total = 0;
	bool came[2000] = { false };

	make_ready(_metadata, self->fd, 2000);
	for (unsigned int size = 1; got < 2000; size = size % 300 + 7) {
		int ret = dev_read(self->fd, events, size);

		ASSERT_EQ(2000 - got < size ? 2000 - got : size, ret);
		for (int i = 0; i < ret; i++, total++) {
			ASSERT_GT(2000, events[i].user_data);
			EXPECT_FALSE(came[events[i].user_data]);
			came[events[i].user_data] = true;
		}
		got += ret;
	}
	EXPECT_EQ(2000, total);
}

TEST_F(hwtimer, blocks_until_there_is_an_event)
{
	struct hwtimer_event event;
	__u64 id;

	set_nonblocking(_metadata, self->fd, false);
	id = dev_after(self->fd, 100 * MS, 3);
	ASSERT_EQ(1, dev_read(self->fd, &event, 1));
	expect_due(_metadata, &event);
	EXPECT_EQ(id, event.id);
}

TEST_F(hwtimer, blocked_read_does_not_wait_for_a_full_buffer)
{
	struct hwtimer_event events[10];

	set_nonblocking(_metadata, self->fd, false);
	ASSERT_NE(0, dev_after(self->fd, 50 * MS, 0));
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	EXPECT_EQ(1, dev_read(self->fd, events, 10));
}

TEST_F(hwtimer, open_decides_whether_it_blocks)
{
	int fd = dev_open(0);
	struct hwtimer_event event;

	ASSERT_LE(0, fd);
	ASSERT_NE(0, dev_after(fd, 50 * MS, 0));
	EXPECT_EQ(1, dev_read(fd, &event, 1));
	EXPECT_EQ(0, close(fd));
}

TEST_F(hwtimer, signal_ends_a_blocked_read)
{
	struct reader reader = { .fd = self->fd };
	struct hwtimer_stats stats;
	pthread_t thread;

	interrupt_by(SIGUSR1, 0);
	set_nonblocking(_metadata, self->fd, false);
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	start_threads(&thread, 1, read_one, &reader, sizeof(reader));
	/* The read may not block yet: try until the thread has ended. */
	do {
		sleep_ns(20 * MS);
		ASSERT_EQ(0, pthread_kill(thread, SIGUSR1));
	} while (pthread_tryjoin_np(thread, NULL));
	EXPECT_EQ(-EINTR, reader.result);
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(1, stats.pending);
}

TEST_F(hwtimer, signal_with_sa_restart_does_not)
{
	struct reader reader = { .fd = self->fd };
	pthread_t thread;

	interrupt_by(SIGUSR1, SA_RESTART);
	set_nonblocking(_metadata, self->fd, false);
	start_threads(&thread, 1, read_one, &reader, sizeof(reader));
	for (unsigned int i = 0; i < 5; i++) {
		sleep_ns(20 * MS);
		ASSERT_EQ(0, pthread_kill(thread, SIGUSR1));
	}
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	join_threads(&thread, 1);
	EXPECT_EQ(1, reader.result);
}

TEST_F(hwtimer, signal_does_not_hide_an_event)
{
	struct hwtimer_event event;
	sigset_t set;

	set_nonblocking(_metadata, self->fd, false);
	make_ready(_metadata, self->fd, 1);
	/* A blocked signal that is pending must not interrupt. */
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, &set, NULL));
	ASSERT_EQ(0, raise(SIGUSR1));
	EXPECT_EQ(1, dev_read(self->fd, &event, 1));
}

TEST_F(hwtimer, signals_end_long_reads_and_lose_nothing)
{
	unsigned int n = scaled(200000), got = 0, calls = 0;
	struct hwtimer_event *events = calloc(n, sizeof(*events));
	bool *came = calloc(n, sizeof(*came));

	ASSERT_NE(NULL, events);
	ASSERT_NE(NULL, came);
	make_ready(_metadata, self->fd, n);
	memset(events, 0xff, n * sizeof(*events));
	interrupt_every(2000);
	for (; got < n; calls++) {
		int ret = dev_read(self->fd, events + got, n - got);

		if (ret != -EINTR) {
			ASSERT_LT(0, ret);
			got += ret;
		}
	}
	interrupt_every(0);
	TH_LOG("%u events in %u calls", n, calls);
	for (unsigned int i = 0; i < n; i++) {
		ASSERT_GT(n, events[i].user_data);
		ASSERT_FALSE(came[events[i].user_data]);
		came[events[i].user_data] = true;
	}
}

TEST_F(hwtimer, each_of_many_readers_gets_one)
{
	struct reader readers[8];
	pthread_t threads[8];
	unsigned int came = 0;

	set_nonblocking(_metadata, self->fd, false);
	for (unsigned int i = 0; i < 8; i++)
		readers[i] = (struct reader){ .fd = self->fd };
	start_threads(threads, 8, read_one, readers, sizeof(readers[0]));
	sleep_ns(50 * MS);
	ASSERT_EQ(8, dev_schedule_many(self->fd, 8, 0, 0, NULL));
	join_threads(threads, 8);
	for (unsigned int i = 0; i < 8; i++) {
		EXPECT_EQ(1, readers[i].result);
		came |= 1 << readers[i].event.user_data;
	}
	EXPECT_EQ(0xff, came);
}

TEST_F(hwtimer, one_event_ends_one_of_two_reads)
{
	struct reader readers[2] = { { .fd = self->fd }, { .fd = self->fd } };
	struct hwtimer_stats stats;
	pthread_t threads[2];

	set_nonblocking(_metadata, self->fd, false);
	start_threads(threads, 2, read_one, readers, sizeof(readers[0]));
	sleep_ns(20 * MS);
	ASSERT_NE(0, dev_after(self->fd, 0, 1));
	while (!__atomic_load_n(&readers[0].result, __ATOMIC_RELAXED) &&
	       !__atomic_load_n(&readers[1].result, __ATOMIC_RELAXED))
		sleep_ns(MS);
	sleep_ns(20 * MS);
	EXPECT_EQ(1, __atomic_load_n(&readers[0].result, __ATOMIC_RELAXED) +
			     __atomic_load_n(&readers[1].result,
					     __ATOMIC_RELAXED));
	ASSERT_NE(0, dev_after(self->fd, 0, 2));
	join_threads(threads, 2);
	EXPECT_EQ(3, readers[0].event.user_data + readers[1].event.user_data);
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(2, stats.delivered);
}

/* Expects EFAULT from a read into @buffer; afterwards all @n events come. */
static void expect_fault(struct __test_metadata *_metadata, int fd,
			 void *buffer, unsigned int n)
{
	struct hwtimer_event events[8];

	EXPECT_EQ(-EFAULT, dev_read(fd, buffer, n));
	EXPECT_EQ(n, ready_events(fd));
	ASSERT_EQ(n, dev_read(fd, events, 8));
	for (unsigned int i = 0; i < n; i++)
		EXPECT_EQ(i, events[i].user_data);
}

TEST_F(hwtimer, null_is_efault_and_loses_nothing)
{
	make_ready(_metadata, self->fd, 1);
	expect_fault(_metadata, self->fd, NULL, 1);
}

TEST_F(hwtimer, bad_buffer_is_efault_and_loses_nothing)
{
	make_ready(_metadata, self->fd, 1);
	expect_fault(_metadata, self->fd, bad_address(), 1);
}

TEST_F(hwtimer, read_only_buffer_is_efault_and_loses_nothing)
{
	struct hwtimer_event events[1] = { 0 };

	make_ready(_metadata, self->fd, 1);
	expect_fault(_metadata, self->fd,
		     read_only_copy(events, sizeof(events)), 1);
}

TEST_F(hwtimer, fault_within_the_first_event_is_efault_and_loses_nothing)
{
	make_ready(_metadata, self->fd, 1);
	expect_fault(_metadata, self->fd, page_edge(31), 1);
}

TEST_F(hwtimer, fault_half_way_loses_nothing)
{
	const size_t event_size = sizeof(struct hwtimer_event);
	struct hwtimer_event rest[200];

	for (unsigned int whole = 1; whole <= 100; whole += 33) {
		struct hwtimer_event *events = page_edge(whole * event_size);
		bool came[200] = { false };
		int got;

		make_ready(_metadata, self->fd, 200);
		got = dev_read(self->fd, events, 200);
		ASSERT_LE(1, got);
		ASSERT_GE(whole, got);
		for (int i = 0; i < got; i++)
			came[events[i].user_data] = true;
		EXPECT_EQ(200 - got, ready_events(self->fd));
		ASSERT_EQ(200 - got, dev_read(self->fd, rest, 200));
		for (int i = 0; i < 200 - got; i++) {
			EXPECT_FALSE(came[rest[i].user_data]);
			came[rest[i].user_data] = true;
		}
		for (unsigned int i = 0; i < 200; i++)
			EXPECT_TRUE(came[i]);
	}
}

TEST_F(hwtimer, fault_half_way_keeps_the_order)
{
	const size_t event_size = sizeof(struct hwtimer_event);
	struct hwtimer_event *edge = page_edge(3 * event_size + 16);
	__u64 base = now_ns(), last = 0;
	struct hwtimer_event rest[20];
	int got;

	for (unsigned int i = 0; i < 20; i++)
		ASSERT_NE(0, dev_at(self->fd, base + i * 2 * MS, i));
	ASSERT_TRUE(dev_wait_ready(self->fd, 20));
	got = dev_read(self->fd, edge, 20);
	ASSERT_LE(1, got);
	ASSERT_GE(3, got);
	ASSERT_EQ(20 - got, dev_read(self->fd, rest, 20));
	for (int i = 0; i < 20; i++) {
		struct hwtimer_event *event = i < got ? &edge[i] :
							&rest[i - got];

		EXPECT_LE(last, event->deadline);
		last = event->deadline;
	}
}

TEST_F(hwtimer, blocked_read_into_a_bad_buffer_loses_nothing)
{
	set_nonblocking(_metadata, self->fd, false);
	ASSERT_NE(0, dev_after(self->fd, 50 * MS, 0));
	expect_fault(_metadata, self->fd, page_edge(16), 1);
}

/* Reads the first and the last of many events; all between them are discarded. */
TEST_F(hwtimer, discarded_events_do_not_shorten_a_read)
{
	struct hwtimer_event events[4];
	__u64 ids[600];

	ASSERT_EQ(600, dev_schedule_many(self->fd, 600, 0, 0, ids));
	ASSERT_TRUE(dev_wait_ready(self->fd, 600));
	for (unsigned int i = 1; i < 599; i++)
		ASSERT_EQ(0, dev_cancel(self->fd, ids[i], HWTIMER_REQ_DISCARD));
	ASSERT_EQ(2, dev_read(self->fd, events, 4));
	EXPECT_EQ(ids[0], events[0].id);
	EXPECT_EQ(ids[599], events[1].id);
}

/* ---- a reader that waits for a page of its buffer ---- */

/* After a stop, read() reports the end, whether or not timers are still being handed back. */
TEST_F(hwtimer, nonblocking_read_sees_the_end_while_stop_waits)
{
	struct taker taker = { .fd = self->fd, .stops = true };
	struct hwtimer_event event;
	pthread_t thread;

	if (!missing_make(&taker.missing))
		SKIP(return, "this kernel has no userfaultfd");
	ASSERT_NE(0, dev_after(self->fd, HOUR, 0));
	ASSERT_TRUE(start_taker(&thread, &taker));
	EXPECT_EQ(0, dev_read(self->fd, &event, 1));
	EXPECT_TRUE(missing_provide(&taker.missing));
	join_threads(&thread, 1);
	EXPECT_EQ(1, taker.result);
}

/* Reads into two buffers; with RWF_NOWAIT as @flags, without waiting. */
static int read_two(int fd, void *first, size_t first_size, void *second,
		    size_t second_size, int flags)
{
	struct iovec parts[] = {
		{ .iov_base = first, .iov_len = first_size },
		{ .iov_base = second, .iov_len = second_size },
	};

	return result_of(preadv2(fd, parts, 2, -1, flags));
}

/* Reads one event, or none, without waiting. */
static int read_nowait(int fd, struct hwtimer_event *event)
{
	return read_two(fd, event, sizeof(*event), event, 0, RWF_NOWAIT);
}

TEST_F(hwtimer, a_full_buffer_and_an_empty_one_do_not_wait)
{
	struct hwtimer_event first, second;

	set_nonblocking(_metadata, self->fd, false);
	make_ready(_metadata, self->fd, 1);
	EXPECT_EQ(sizeof(first), read_two(self->fd, &first, sizeof(first),
					  &second, sizeof(second), 0));
	EXPECT_EQ(0, first.user_data);
	EXPECT_EQ(0, ready_events(self->fd));
}

TEST_F(hwtimer, an_event_may_lie_across_two_buffers)
{
	struct hwtimer_event events[2];
	char *bytes = (char *)events;

	make_ready(_metadata, self->fd, 3);
	EXPECT_EQ(-EINVAL, read_two(self->fd, bytes, 30, bytes + 30, 1, 0));
	ASSERT_EQ(sizeof(events),
		  read_two(self->fd, bytes, 10, bytes + 10, 80, 0));
	EXPECT_EQ(0, events[0].user_data);
	EXPECT_EQ(1, events[1].user_data);
	EXPECT_EQ(1, events[1].expirations);
	EXPECT_EQ(1, ready_events(self->fd));
}

TEST_F(hwtimer, fault_in_the_second_buffer_loses_nothing)
{
	struct hwtimer_event first, second;

	make_ready(_metadata, self->fd, 2);
	ASSERT_EQ(sizeof(first), read_two(self->fd, &first, sizeof(first),
					  bad_address(), sizeof(second), 0));
	EXPECT_EQ(0, first.user_data);
	ASSERT_EQ(-EFAULT,
		  read_two(self->fd, &second, 16, bad_address(), 16, 0));
	ASSERT_EQ(1, dev_read(self->fd, &second, 1));
	EXPECT_EQ(1, second.user_data);
}

TEST_F(hwtimer, nowait_is_for_one_call)
{
	struct hwtimer_event event;

	set_nonblocking(_metadata, self->fd, false);
	EXPECT_EQ(-EAGAIN, read_nowait(self->fd, &event));
	ASSERT_NE(0, dev_after(self->fd, 50 * MS, 0));
	EXPECT_EQ(1, dev_read(self->fd, &event, 1));
	EXPECT_EQ(-EAGAIN, read_nowait(self->fd, &event));
	make_ready(_metadata, self->fd, 1);
	EXPECT_EQ(sizeof(event), read_nowait(self->fd, &event));
}

/* A blocking descriptor would wait for the other event, so this says that. */
TEST_F(hwtimer, nowait_heeds_the_number_of_events)
{
	struct hwtimer_event event;

	set_nonblocking(_metadata, self->fd, false);
	ASSERT_EQ(0, dev_notify(self->fd, 2, HWTIMER_NEVER));
	ASSERT_NE(0, dev_after(self->fd, 0, 0));
	ASSERT_TRUE(dev_wait_ready(self->fd, 1));
	EXPECT_EQ(-EAGAIN, read_nowait(self->fd, &event));
	ASSERT_NE(0, dev_after(self->fd, 0, 1));
	ASSERT_TRUE(dev_wait_ready(self->fd, 2));
	EXPECT_EQ(sizeof(event), read_nowait(self->fd, &event));
}

TEST_F(hwtimer, write_is_einval)
{
	char byte = 0;

	EXPECT_EQ(-EINVAL, result_of(write(self->fd, &byte, 1)));
}

TEST_HARNESS_MAIN
