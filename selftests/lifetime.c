// SPDX-License-Identifier: GPL-2.0
/*
 * How long an instance lives: as long as its last descriptor, wherever fork, dup or a
 * socket took that. Nothing of it stays when a process ends, with a million timers
 * pending, in the middle of a call, or by SIGKILL.
 */
#include "hwtimer_test.h"

#include <sys/socket.h>

/* Returns the number of references to the module: one for each instance, and others. */
static long long module_references(void)
{
	return number_after("/sys/module/hwtimer/refcnt", "");
}

static void wait_for_references(long long count)
{
	while (module_references() != count)
		sleep_ns(MS);
}

TEST_F(hwtimer, forked_child_uses_the_same_instance)
{
	struct hwtimer_event event;
	struct hwtimer_stats stats;
	pid_t pid;

	ASSERT_NE(0, dev_after(self->fd, HOUR, 1));
	pid = fork();
	if (!pid)
		_exit(dev_after(self->fd, 100 * MS, 2) ? 0 : 1);
	ASSERT_EQ(0, wait_for_child(pid));
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(2, event.user_data);
	ASSERT_EQ(0, dev_stats(self->fd, &stats));
	EXPECT_EQ(2, stats.scheduled);
	EXPECT_EQ(1, stats.pending);
}

TEST_F(hwtimer, forked_child_reads_what_the_parent_scheduled)
{
	struct hwtimer_event event;
	pid_t pid;

	ASSERT_NE(0, dev_after(self->fd, 20 * MS, 2));
	pid = fork();
	if (!pid)
		_exit(dev_collect(self->fd, &event, 1) == 1 ? 0 : 1);
	ASSERT_EQ(0, wait_for_child(pid));
	EXPECT_EQ(-EAGAIN, dev_read(self->fd, &event, 1));
}

TEST_F(hwtimer, child_outlives_the_parents_descriptor)
{
	struct hwtimer_event event;
	int pipes[2];
	pid_t pid;
	char byte;

	ASSERT_EQ(0, pipe(pipes));
	ASSERT_NE(0, dev_after(self->fd, 50 * MS, 2));
	pid = fork();
	if (!pid) {
		if (read(pipes[0], &byte, 1) != 1)
			_exit(2);
		_exit(dev_collect(self->fd, &event, 1) == 1 ? 0 : 1);
	}
	ASSERT_EQ(0, close(self->fd));
	self->fd = -1;
	ASSERT_EQ(1, write(pipes[1], "", 1));
	EXPECT_EQ(0, wait_for_child(pid));
}

TEST_F(hwtimer, duplicate_outlives_the_original)
{
	struct hwtimer_event event;
	int copy = dup(self->fd);

	ASSERT_LE(0, copy);
	ASSERT_NE(0, dev_after(self->fd, 20 * MS, 2));
	ASSERT_EQ(0, close(self->fd));
	self->fd = copy;
	ASSERT_EQ(1, dev_collect(copy, &event, 1));
	EXPECT_EQ(2, event.user_data);
}

TEST_F(hwtimer, sent_to_another_process)
{
	struct hwtimer_event event;
	int sockets[2];
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	pid = fork();
	if (!pid) {
		int fd;

		close(self->fd);
		fd = receive_descriptor(sockets[1]);
		_exit(dev_collect(fd, &event, 1) == 1 && event.user_data == 7 ?
			      0 :
			      1);
	}
	ASSERT_NE(0, dev_after(self->fd, 50 * MS, 7));
	ASSERT_EQ(1, send_descriptor(sockets[0], self->fd));
	ASSERT_EQ(0, close(self->fd));
	self->fd = -1;
	EXPECT_EQ(0, wait_for_child(pid));
}

TEST_F(hwtimer, lives_on_in_a_sockets_queue)
{
	struct hwtimer_event event;
	int sockets[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	ASSERT_NE(0, dev_after(self->fd, 20 * MS, 7));
	ASSERT_EQ(1, send_descriptor(sockets[0], self->fd));
	ASSERT_EQ(0, close(self->fd));
	sleep_ns(50 * MS);
	self->fd = receive_descriptor(sockets[1]);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(1, dev_collect(self->fd, &event, 1));
	EXPECT_EQ(7, event.user_data);
}

TEST_F(hwtimer, dies_in_a_sockets_queue)
{
	long long references = module_references();
	int sockets[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	ASSERT_NE(0, dev_after(self->fd, HOUR, 7));
	ASSERT_EQ(1, send_descriptor(sockets[0], self->fd));
	ASSERT_EQ(0, close(self->fd));
	self->fd = -1;
	EXPECT_EQ(references, module_references());
	ASSERT_EQ(0, close(sockets[0]));
	ASSERT_EQ(0, close(sockets[1]));
	wait_for_references(references - 1);
}

TEST_F(hwtimer, blocked_read_outlives_close)
{
	long long references = module_references();
	struct reader reader;
	pthread_t thread;

	/* Not self->fd: the test closes its descriptor several times. */
	ASSERT_EQ(0, close(self->fd));
	self->fd = -1;
	/* If the thread did not read before the close, it gets more time. */
	for (__u64 lead = 100 * MS;; lead *= 3) {
		int fd = dev_open(0);

		reader = (struct reader){ .fd = fd };
		ASSERT_NE(0, dev_after(fd, 2 * lead, 5));
		start_threads(&thread, 1, read_one, &reader, sizeof(reader));
		sleep_ns(lead);
		ASSERT_EQ(0, close(fd));
		join_threads(&thread, 1);
		if (reader.result != -EBADF)
			break;
	}
	EXPECT_EQ(1, reader.result);
	EXPECT_EQ(5, reader.event.user_data);
	wait_for_references(references - 1);
}

TEST_F(hwtimer, holds_the_module_once_each)
{
	long long references = module_references();
	int fds[10];

	ASSERT_LE(1, references);
	for (unsigned int i = 0; i < 10; i++) {
		fds[i] = dev_open(0);
		ASSERT_LE(0, fds[i]);
		EXPECT_EQ(references + 1 + i, module_references());
	}
	for (unsigned int i = 0; i < 10; i++)
		ASSERT_EQ(0, close(fds[i]));
	wait_for_references(references);
}

TEST_F(hwtimer, open_and_close_again_and_again)
{
	long long references = module_references();

	for (unsigned int i = 0; i < scaled(2000); i++) {
		int fd = dev_open(0);

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, close(fd));
	}
	wait_for_references(references);
}

/* The last descriptor is closed while the worker is busy with the instance. */
TEST_F(hwtimer, close_while_timers_expire)
{
	long long references = module_references();

	for (unsigned int i = 0; i < scaled(400); i++) {
		int fd = dev_open(O_NONBLOCK);

		ASSERT_LE(0, fd);
		ASSERT_EQ(500, dev_schedule_many(fd, 500, 0, i % 8 * 300 * US,
						 NULL));
		sleep_ns(i % 5 * 200 * US);
		ASSERT_EQ(0, close(fd));
	}
	wait_for_references(references);
}

/* In a child: opens an instance with @n timers pending. */
static int instance_with_pending(unsigned int n)
{
	int fd = dev_open(0);

	if (fd < 0 || dev_setup(fd, 0, 0, n) ||
	    dev_schedule_many(fd, n, 0, HOUR, NULL) != n)
		_exit(1);
	return fd;
}

TEST_F(hwtimer, exit_with_a_million_pending)
{
	long long references = module_references();
	pid_t pid = fork();

	if (!pid) {
		instance_with_pending(scaled(1000000));
		_exit(0);
	}
	EXPECT_EQ(0, wait_for_child(pid));
	wait_for_references(references);
}

TEST_F(hwtimer, sigkill_in_read_with_a_million_pending)
{
	long long references = module_references();
	struct hwtimer_event event;
	int pipes[2], fd;
	pid_t pid;
	char byte;

	ASSERT_EQ(0, pipe(pipes));
	pid = fork();
	if (!pid) {
		fd = instance_with_pending(scaled(1000000));
		if (write(pipes[1], "", 1) != 1)
			_exit(2);
		dev_read(fd, &event, 1);
		_exit(3);
	}
	ASSERT_EQ(0, close(pipes[1]));
	ASSERT_EQ(1, read(pipes[0], &byte, 1));
	sleep_ns(20 * MS);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(-SIGKILL, wait_for_child(pid));
	wait_for_references(references);
}

/* A thread that schedules, cancels and reads for ever. */
static void *churn(void *arg)
{
	struct hwtimer_event events[BATCH];
	int fd = *(int *)arg;
	__u64 ids[BATCH];

	for (;;) {
		dev_schedule_many(fd, BATCH, 0, MS, ids);
		dev_cancel_many(fd, BATCH / 2, ids);
		dev_read(fd, events, BATCH);
	}
	return NULL;
}

TEST_F(hwtimer, sigkill_in_the_middle_of_everything)
{
	long long references = module_references();

	for (unsigned int i = 0; i < 10; i++) {
		pid_t pid = fork();

		if (!pid) {
			int fd = dev_open(O_NONBLOCK);
			pthread_t thread;

			start_threads(&thread, 1, churn, &fd, 0);
			churn(&fd);
		}
		sleep_ns((10 + 7 * i) * MS);
		ASSERT_EQ(0, kill(pid, SIGKILL));
		EXPECT_EQ(-SIGKILL, wait_for_child(pid));
	}
	wait_for_references(references);
}

TEST_HARNESS_MAIN
