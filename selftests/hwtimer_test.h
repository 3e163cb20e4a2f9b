/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared code of the selftests: a function for every call of uapi/linux/hwtimer.h,
 * helpers that schedule and collect many timers, memory that faults beyond its end,
 * threads, and the fixture "hwtimer". The fixture gives each test its own instance and
 * checks at the end that the instance's counters balance.
 */
#ifndef HWTIMER_TEST_H
#define HWTIMER_TEST_H

#include "kselftest_harness.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include <linux/hwtimer.h>

#define DEVICE "/dev/hwtimer"

#define US 1000ULL
#define MS (1000 * US)
#define SEC (1000 * MS)
#define HOUR (3600 * SEC)
#define YEAR (365 * 24 * HOUR)

/*
 * A test waits for what must come until it comes, and the harness has no limit for a test: only
 * on a machine that is quick enough does a time limit tell what is late from what is lost. If it
 * is lost, the test prints nothing more, and test/vm/run.sh, which started the machine, ends it.
 */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT (-1)

/* No more events of an instance than this ever wait. */
#define EVENTS_MAX 4096

/* The bulk helpers pass at most this many entries in one call. */
#define BATCH 1024

static inline __u64 clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec;
}

static inline __u64 now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline void sleep_ns(__u64 ns)
{
	struct timespec ts = { .tv_sec = ns / SEC, .tv_nsec = ns % SEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
		;
}

static inline void sleep_until(__u64 time)
{
	__u64 now = now_ns();

	if (now < time)
		sleep_ns(time - now);
}

/* Returns @n, or @n divided by the environment's variable @name, but at least 1. */
static inline unsigned int divided(unsigned int n, const char *name)
{
	const char *value = getenv(name);
	unsigned int divisor = value ? strtoul(value, NULL, 0) : 1;

	if (divisor <= 1)
		return n;
	return n > divisor ? n / divisor : 1;
}

/* The number of timers of a test that has @n of them elsewhere: see run.sh. */
static inline unsigned int scaled(unsigned int n)
{
	return divided(n, "HWTIMER_SCALE");
}

/* The same of a race's rounds. */
static inline unsigned int rounds_of(unsigned int n)
{
	return divided(scaled(n), "HWTIMER_ROUNDS");
}

/* Returns the next pseudo-random number, of 24 bits. Equal seeds give equal sequences. */
static inline unsigned int next_random(unsigned int *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 8;
}

static inline int result_of(long ret)
{
	return ret < 0 ? -errno : ret;
}

/* The calls. Each returns what the kernel returned, or -errno. */

static inline int dev_ioctl(int fd, unsigned long cmd, void *arg)
{
	return result_of(ioctl(fd, cmd, arg));
}

static inline int dev_info(int fd, struct hwtimer_info *info)
{
	return dev_ioctl(fd, HWTIMER_IOC_INFO, info);
}

static inline int dev_setup_as(int fd, struct hwtimer_setup setup)
{
	return dev_ioctl(fd, HWTIMER_IOC_SETUP, &setup);
}

static inline int dev_open(int flags)
{
	return result_of(open(DEVICE, O_RDWR | O_CLOEXEC | flags));
}

/* Opens an instance with @setup, whose reads do not block; returns the descriptor or -errno. */
static inline int dev_open_as(struct hwtimer_setup setup)
{
	int fd = dev_open(O_NONBLOCK);
	int err = fd < 0 ? fd : dev_setup_as(fd, setup);

	if (err && fd >= 0)
		close(fd);
	return err ?: fd;
}

static inline int dev_setup(int fd, __u64 tick, __u32 buckets, __u64 timers)
{
	return dev_setup_as(fd, (struct hwtimer_setup){
					.tick = tick,
					.buckets = buckets,
					.timers = timers,
				});
}

static inline int dev_notify(int fd, __u32 events, __u64 delay)
{
	struct hwtimer_notify notify = {
		.events = events,
		.delay = delay,
	};

	return dev_ioctl(fd, HWTIMER_IOC_NOTIFY, &notify);
}

static inline int dev_schedule(int fd, __u32 flags, __s64 time, __u64 user_data,
			       __u64 *id)
{
	struct hwtimer_request request = {
		.flags = flags,
		.time = time,
		.user_data = user_data,
	};
	int ret = dev_ioctl(fd, HWTIMER_IOC_SCHEDULE, &request);

	*id = request.id;
	return ret;
}

/**
 * dev_after() - schedule a timer with a delay
 *
 * Return: the timer's id, or 0 with errno set.
 */
static inline __u64 dev_after(int fd, __s64 delay, __u64 user_data)
{
	__u64 id;

	return dev_schedule(fd, 0, delay, user_data, &id) ? 0 : id;
}

/* Like dev_after(), with a deadline. */
static inline __u64 dev_at(int fd, __s64 deadline, __u64 user_data)
{
	__u64 id;

	return dev_schedule(fd, HWTIMER_REQ_ABSTIME, deadline, user_data, &id) ?
		       0 :
		       id;
}

/* Makes one SCHEDULE call; returns 0 or -errno. */
static inline int dev_try(int fd, struct hwtimer_request request)
{
	return dev_ioctl(fd, HWTIMER_IOC_SCHEDULE, &request);
}

/* Like dev_after(), with every field of a request. */
static inline __u64 dev_add(int fd, struct hwtimer_request request)
{
	return dev_ioctl(fd, HWTIMER_IOC_SCHEDULE, &request) ? 0 : request.id;
}

/* Like dev_after(), for a timer that repeats every @interval. */
static inline __u64 dev_every(int fd, __s64 delay, __u64 interval,
			      __u64 user_data)
{
	return dev_add(fd, (struct hwtimer_request){
				   .time = delay,
				   .interval = interval,
				   .user_data = user_data,
			   });
}

static inline int dev_cancel(int fd, __u64 id, __u32 flags)
{
	struct hwtimer_request request = { .flags = flags, .id = id };

	return dev_ioctl(fd, HWTIMER_IOC_CANCEL, &request);
}

/**
 * dev_cancel_some() - one CANCEL_ALL
 * @timers: room for @count timers; may be NULL
 * @count: number of timers to end, at most
 * @cursor: where to begin; moved. NULL: begin with the first
 */
static inline int dev_cancel_some(int fd, __u32 flags,
				  struct hwtimer_timer *timers,
				  unsigned int count, __u64 *cursor)
{
	struct hwtimer_list list = {
		.timers = (uintptr_t)timers,
		.cursor = cursor ? *cursor : 0,
		.count = count,
		.flags = flags,
	};
	int ret = dev_ioctl(fd, HWTIMER_IOC_CANCEL_ALL, &list);

	if (cursor)
		*cursor = list.cursor;
	return ret;
}

/* Stops the instance, and takes up to @count timers as dev_cancel_some() does. */
static inline int dev_stop(int fd, struct hwtimer_timer *timers,
			   unsigned int count, __u64 *cursor)
{
	return dev_cancel_some(fd, HWTIMER_LIST_STOP, timers, count, cursor);
}

/* Cancels all timers; returns how many were ended, or -errno. */
static inline int dev_cancel_all(int fd, __u32 flags)
{
	__u64 cursor = 0;
	int ended = 0;

	for (;;) {
		int ret = dev_cancel_some(fd, flags, NULL, INT_MAX, &cursor);

		if (!ret)
			return ended;
		if (ret > 0)
			ended += ret;
		else if (ret != -EINTR)
			return ret;
	}
}

static inline int dev_reschedule(int fd, __u64 id, __u32 flags, __s64 time)
{
	struct hwtimer_request request = {
		.flags = flags,
		.id = id,
		.time = time,
	};

	return dev_ioctl(fd, HWTIMER_IOC_RESCHEDULE, &request);
}

/* More timers than an instance starts with room for: with them, it has the whole wheel. */
#define WHOLE_WHEEL 64

/* Schedules WHOLE_WHEEL timers an hour ahead; returns 0 or -errno. */
static inline int dev_whole_wheel(int fd)
{
	for (unsigned int i = 0; i < WHOLE_WHEEL; i++) {
		__u64 id;
		int err = dev_schedule(fd, 0, HOUR, i, &id);

		if (err)
			return err;
	}
	return 0;
}

static inline int dev_submit(int fd, struct hwtimer_request *requests,
			     unsigned int count)
{
	struct hwtimer_submit submit = {
		.requests = (uintptr_t)requests,
		.count = count,
	};

	return dev_ioctl(fd, HWTIMER_IOC_SUBMIT, &submit);
}

/* One BULK call. For CANCEL, @timers are ids; otherwise, struct hwtimer_bulk_timer. */
static inline int dev_bulk(int fd, __u32 op, __u32 flags, const void *timers,
			   __u64 *results, unsigned int count)
{
	struct hwtimer_bulk bulk = {
		.op = op,
		.flags = flags,
		.count = count,
		.timers = (uintptr_t)timers,
		.results = (uintptr_t)results,
	};

	return dev_ioctl(fd, HWTIMER_IOC_BULK, &bulk);
}

static inline int dev_query(int fd, __u64 id, struct hwtimer_timer *query)
{
	memset(query, 0, sizeof(*query));
	query->id = id;
	return dev_ioctl(fd, HWTIMER_IOC_QUERY, query);
}

/* Queries a timer, which must exist. */
static inline struct hwtimer_timer query_of(struct __test_metadata *_metadata,
					    int fd, __u64 id)
{
	struct hwtimer_timer query;

	ASSERT_EQ(0, dev_query(fd, id, &query));
	EXPECT_EQ(id, query.id);
	return query;
}

/* One LIST with room for @count timers, which begins at *@cursor and moves it. */
static inline int dev_list(int fd, struct hwtimer_timer *timers,
			   unsigned int count, __u64 *cursor)
{
	struct hwtimer_list list = {
		.timers = (uintptr_t)timers,
		.count = count,
		.cursor = *cursor,
	};
	int ret = dev_ioctl(fd, HWTIMER_IOC_LIST, &list);

	*cursor = list.cursor;
	return ret;
}

/* Closes *@fd unchecked and opens a new instance there, whose reads do not block. */
static inline bool dev_renew(int *fd)
{
	close(*fd);
	*fd = dev_open(O_NONBLOCK);
	return *fd >= 0;
}

static inline int dev_stats(int fd, struct hwtimer_stats *stats)
{
	return dev_ioctl(fd, HWTIMER_IOC_STATS, stats);
}

static inline struct hwtimer_stats stats_of(int fd)
{
	struct hwtimer_stats stats;

	if (dev_stats(fd, &stats))
		abort();
	return stats;
}

/**
 * dev_read() - read up to @count events
 *
 * Return: the number of events; 0 at the end; -errno; -EPROTO after half an event.
 */
static inline int dev_read(int fd, struct hwtimer_event *events,
			   unsigned int count)
{
	int ret = result_of(read(fd, events, count * sizeof(*events)));

	if (ret <= 0)
		return ret;
	return ret % sizeof(*events) ? -EPROTO : ret / (int)sizeof(*events);
}

/* Ends the @count oldest events that were read; returns their number. */
static inline int dev_ack(int fd, __u32 count)
{
	struct hwtimer_ack ack = { .count = count };

	return dev_ioctl(fd, HWTIMER_IOC_ACK, &ack);
}

static inline int dev_rewind(int fd)
{
	struct hwtimer_ack ack = { .flags = HWTIMER_ACK_REWIND };

	return dev_ioctl(fd, HWTIMER_IOC_ACK, &ack);
}

/* Polls for @events; returns the events that came, or 0 after @timeout_ms. */
static inline short dev_poll(int fd, short events, int timeout_ms)
{
	struct pollfd pfd = { .fd = fd, .events = events };
	int ret;

	do {
		ret = poll(&pfd, 1, timeout_ms);
	} while (ret < 0 && errno == EINTR);
	return ret > 0 ? pfd.revents : 0;
}

/**
 * dev_collect() - read until @count events came
 *
 * Return: the number of events. It is less than @count at the end of a stopped
 * instance.
 */
static inline unsigned int dev_collect(int fd, struct hwtimer_event *events,
				       unsigned int count)
{
	unsigned int got = 0;

	while (got < count) {
		int ret;

		dev_poll(fd, POLLIN, -1);
		ret = dev_read(fd, events + got, count - got);
		if (ret > 0)
			got += ret;
		else if (ret != -EAGAIN && ret != -EINTR)
			break;
	}
	return got;
}

/**
 * dev_discard_events() - read @count events and forget them
 *
 * Return: the number of events.
 */
static inline unsigned int dev_discard_events(int fd, unsigned int count)
{
	struct hwtimer_event events[BATCH];
	unsigned int got = 0;

	while (got < count) {
		unsigned int want = count - got < BATCH ? count - got : BATCH;
		unsigned int ret = dev_collect(fd, events, want);

		got += ret;
		if (ret < want)
			break;
	}
	return got;
}

/* Fills in SCHEDULEs; their user_data counts up from @first_user_data. */
static inline void fill_schedules(struct hwtimer_request *requests,
				  unsigned int count, __u32 flags, __s64 time,
				  __u64 first_user_data)
{
	memset(requests, 0, count * sizeof(*requests));
	for (unsigned int i = 0; i < count; i++) {
		requests[i].op = HWTIMER_OP_SCHEDULE;
		requests[i].flags = flags;
		requests[i].time = time;
		requests[i].user_data = first_user_data + i;
	}
}

static inline void fill_cancels(struct hwtimer_request *requests,
				unsigned int count, const __u64 *ids)
{
	memset(requests, 0, count * sizeof(*requests));
	for (unsigned int i = 0; i < count; i++) {
		requests[i].op = HWTIMER_OP_CANCEL;
		requests[i].id = ids[i];
	}
}

/**
 * dev_schedule_many() - schedule @count timers for the same time
 * @ids: where to store the timers' ids; may be NULL
 *
 * The timers' user_data counts up from 0.
 *
 * Return: the number of timers scheduled; less than @count if one was refused.
 */
static inline unsigned int dev_schedule_many(int fd, unsigned int count,
					     __u32 flags, __s64 time,
					     __u64 *ids)
{
	struct hwtimer_request requests[BATCH];
	unsigned int done = 0;

	while (done < count) {
		unsigned int n = count - done < BATCH ? count - done : BATCH;
		int ret;

		fill_schedules(requests, n, flags, time, done);
		ret = dev_submit(fd, requests, n);
		for (int i = 0; i < ret; i++, done++) {
			if (requests[i].result)
				return done;
			if (ids)
				ids[done] = requests[i].id;
		}
		if (ret <= 0)
			break;
	}
	return done;
}

/**
 * dev_cancel_many() - cancel @count timers
 *
 * Return: the number of timers cancelled.
 */
static inline unsigned int dev_cancel_many(int fd, unsigned int count,
					   const __u64 *ids)
{
	struct hwtimer_request requests[BATCH];
	unsigned int done = 0, cancelled = 0;

	while (done < count) {
		unsigned int n = count - done < BATCH ? count - done : BATCH;
		int ret;

		fill_cancels(requests, n, ids + done);
		ret = dev_submit(fd, requests, n);
		if (ret <= 0)
			break;
		for (int i = 0; i < ret; i++)
			cancelled += !requests[i].result;
		done += ret;
	}
	return cancelled;
}

/*
 * Waits until @count events are ready, or as many as wait at most; returns false if there are
 * more.
 */
static inline bool dev_wait_ready(int fd, __u64 count)
{
	__u64 ready;

	while ((ready = stats_of(fd).ready) < count &&
	       ready <= HWTIMER_EVENTS_MAX - 256)
		sleep_ns(MS);
	return ready <= count && ready <= HWTIMER_EVENTS_MAX;
}

/* Schedules @n timers that are due now, and waits until they are ready. */
static inline void make_ready(struct __test_metadata *_metadata, int fd,
			      unsigned int n)
{
	__u64 ready = stats_of(fd).ready;

	ASSERT_EQ(n, dev_schedule_many(fd, n, 0, 0, NULL));
	ASSERT_TRUE(dev_wait_ready(fd, ready + n));
}

/**
 * number_after() - the number that follows @key in the file @path
 * @key: text at the start of a line; "" for the first line that starts with a number
 *
 * Return: the number, or -1 if there is none.
 */
static inline long long number_after(const char *path, const char *key)
{
	size_t length = strlen(key);
	long long value = -1;
	char line[1024];
	FILE *file;

	file = fopen(path, "r");
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, key, length) &&
		    sscanf(line + length, "%lld", &value) == 1)
			break;
	}
	fclose(file);
	return value;
}

/* The value of hwtimer-@name in @fd's fdinfo, or -1. */
static inline long long told(int fd, const char *name)
{
	char path[64], key[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	snprintf(key, sizeof(key), "hwtimer-%s:", name);
	return number_after(path, key);
}

/**
 * dev_wait_rest() - wait until the worker has not woken up for 100 ms
 *
 * Before it rests, the worker may wake up several times to free memory that was not
 * needed for a second.
 */
static inline void dev_wait_rest(int fd)
{
	long long before, after = told(fd, "wakeups");

	do {
		before = after;
		sleep_ns(100 * MS);
		after = told(fd, "wakeups");
	} while (before != after);
}

/* Returns an epoll descriptor that watches @fd for @events, or -1. */
static inline int epoll_watch(int fd, __u32 events)
{
	struct epoll_event event = { .events = events };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		return -1;
	return epoll;
}

static inline int make_eventfd(void)
{
	return result_of(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
}

static inline long long module_parameter(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/hwtimer/parameters/%s", name);
	return number_after(path, "");
}

static inline bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t ret;

	if (fd < 0)
		return false;
	ret = write(fd, text, strlen(text));
	close(fd);
	return ret == (ssize_t)strlen(text);
}

static inline size_t whole_pages(size_t bytes)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

/**
 * page_edge() - an address shortly before memory that faults
 * @room: bytes between the address and the memory that faults
 *
 * The memory beyond the edge stays mapped without access, so that no other mapping can
 * take its place.
 *
 * Return: the address.
 */
static inline void *page_edge(size_t room)
{
	size_t usable = whole_pages(room);
	char *map = mmap(NULL, usable + whole_pages(1), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED ||
	    mprotect(map + usable, whole_pages(1), PROT_NONE))
		abort();
	return map + usable - room;
}

/* Returns a copy of @size bytes that can be read but not written. */
static inline void *read_only_copy(const void *from, size_t size)
{
	char *map = mmap(NULL, whole_pages(size), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		abort();
	memcpy(map, from, size);
	if (mprotect(map, whole_pages(size), PROT_READ))
		abort();
	return map;
}

/* Returns an address that can be neither read nor written. */
static inline void *bad_address(void)
{
	return page_edge(0);
}

/**
 * start_threads() - run @run in @count threads
 * @args: array of the threads' arguments
 * @size: size of one argument in bytes
 */
static inline void start_threads(pthread_t *threads, unsigned int count,
				 void *(*run)(void *), void *args, size_t size)
{
	for (unsigned int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, run,
				   (char *)args + i * size))
			abort();
}

static inline void join_threads(pthread_t *threads, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

/* Waits for a child to end; returns its exit status, or -signal. */
static inline int wait_for_child(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		abort();
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* Sends a descriptor over a socket; returns the number of bytes sent, or -errno. */
static inline int send_descriptor(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	return result_of(sendmsg(socket, &message, 0));
}

/* Receives a descriptor from send_descriptor(); returns it, or -errno. */
static inline int receive_descriptor(int socket)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header;
	int fd;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
		return -errno;
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_type != SCM_RIGHTS)
		return -EPROTO;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

/* The argument of read_one(), which reads one event in a thread of its own. */
struct reader {
	int fd;
	int result; /* of dev_read(), once the thread has ended */
	struct hwtimer_event event;
};

static inline void *read_one(void *arg)
{
	struct reader *reader = arg;

	reader->result = dev_read(reader->fd, &reader->event, 1);
	return NULL;
}

/* A signal handler that does nothing: the signal only interrupts calls. */
static inline void ignore_signal(int signal)
{
	(void)signal;
}

static inline void interrupt_by(int signal, int flags)
{
	struct sigaction action = {
		.sa_handler = ignore_signal,
		.sa_flags = flags,
	};

	sigaction(signal, &action, NULL);
}

/* Interrupts this process every @microseconds from now on; 0 ends that. */
static inline void interrupt_every(unsigned int microseconds)
{
	const struct itimerval interval = {
		.it_interval.tv_usec = microseconds,
		.it_value.tv_usec = microseconds,
	};

	interrupt_by(SIGALRM, 0);
	if (setitimer(ITIMER_REAL, &interval, NULL))
		abort();
}

/*
 * Handles entries of @all from index @done on, at most @count of them. Returns what
 * dev_submit() would return.
 */
typedef int (*some_fn)(int fd, void *all, unsigned int done,
		       unsigned int count);

/**
 * do_interrupted() - have @some handle all of @all while signals interrupt its calls
 * @fd: a descriptor, replaced by that of a new instance
 * @count: number of entries in @all
 * @some: function that handles some of the entries
 * @all: the entries
 *
 * All signals may come between calls and interrupt none. Then it tries again with
 * another instance, up to 20 times.
 *
 * Return: whether it took more than one call.
 */
static inline bool do_interrupted(struct __test_metadata *_metadata, int *fd,
				  unsigned int count, some_fn some, void *all)
{
	for (unsigned int tries = 0; tries < 20; tries++) {
		unsigned int done = 0, calls = 0;

		ASSERT_TRUE(dev_renew(fd));
		interrupt_every(2000);
		for (; done < count; calls++) {
			int ret = some(*fd, all, done, count - done);

			if (ret != -EINTR) {
				ASSERT_LT(0, ret);
				done += ret;
			}
		}
		interrupt_every(0);
		TH_LOG("%u in %u calls", count, calls);
		if (calls > 1)
			return true;
	}
	return false;
}

/*
 * Expects that @id names the same timer in both instances, or a timer in neither. The
 * test did the same to both instances.
 */
static inline void expect_same_timer(struct __test_metadata *_metadata, int fd,
				     int other, __u64 id)
{
	struct hwtimer_timer ours, theirs;
	int err = dev_query(fd, id, &ours);

	ASSERT_EQ(dev_query(other, id, &theirs), err);
	if (err)
		return;
	EXPECT_EQ(theirs.id, ours.id);
	EXPECT_EQ(theirs.deadline, ours.deadline);
	EXPECT_EQ(theirs.user_data, ours.user_data);
	EXPECT_EQ(theirs.state, ours.state);
	EXPECT_EQ(theirs.interval, ours.interval);
	EXPECT_EQ(theirs.slack, ours.slack);
	EXPECT_EQ(theirs.expirations_left, ours.expirations_left);
	EXPECT_EQ(theirs.flags, ours.flags);
}

/* The bucket of the histogram for a lateness: the last one whose bound it reaches */
static inline unsigned int lateness_bucket(__u64 lateness)
{
	unsigned int i = HWTIMER_LATENESS_BUCKETS - 1;

	while (lateness < HWTIMER_LATENESS_BOUND(i))
		i--;
	return i;
}

/* Expects that the counters balance, as the header promises at all times. */
static inline void expect_balance(struct __test_metadata *_metadata,
				  const struct hwtimer_stats *s)
{
	__u64 lateness = 0;

	for (unsigned int i = 0; i < HWTIMER_LATENESS_BUCKETS; i++)
		lateness += s->lateness[i];
	EXPECT_EQ(s->scheduled + s->rearmed,
		  s->pending + s->cancelled + s->expired);
	EXPECT_EQ(s->expired, s->ready + s->delivered + s->discarded);
	EXPECT_EQ(s->expired, lateness);
	EXPECT_LE(s->bytes, s->bytes_peak);
}

/*
 * Expects that an event was not early by the instance's clock, and was queued at a time
 * that has passed. Call it after the event was read.
 */
static inline void expect_not_early(struct __test_metadata *_metadata,
				    const struct hwtimer_event *event,
				    clockid_t clock)
{
	__u64 now = clock_ns(clock);

	EXPECT_LE(event->deadline, now);
	if (event->lateness != UINT_MAX)
		EXPECT_LE(event->deadline + event->lateness, now);
}

/* Expects the same by CLOCK_MONOTONIC, of a timer that expired once. */
static inline void expect_due(struct __test_metadata *_metadata,
			      const struct hwtimer_event *event)
{
	expect_not_early(_metadata, event, CLOCK_MONOTONIC);
	EXPECT_EQ(1, event->expirations);
}

/* Submits all of @requests, in as many calls as it takes; none may be refused. */
static inline void schedule_all(struct __test_metadata *_metadata, int fd,
				struct hwtimer_request *requests,
				unsigned int count)
{
	for (unsigned int done = 0; done < count;) {
		int ret = dev_submit(fd, requests + done, count - done);

		ASSERT_LT(0, ret);
		for (int i = 0; i < ret; i++, done++)
			ASSERT_EQ(0, requests[done].result);
	}
}

/**
 * schedule_in_time() - schedule all of @requests before the first is due
 * @clock: the instance's clock
 * @requests: SCHEDULEs; each @time is relative to the moment that is returned
 * @lead: ns from now to that moment, for the first try
 *
 * Timers that are due when they are scheduled have no defined order. If the machine was
 * too slow, the timers are cancelled and scheduled again with a longer @lead.
 *
 * Return: the moment, by @clock.
 */
static inline __u64 schedule_in_time(struct __test_metadata *_metadata, int fd,
				     clockid_t clock,
				     struct hwtimer_request *requests,
				     unsigned int count, __u64 lead)
{
	for (;; lead *= 3) {
		__u64 base = clock_ns(clock) + lead;

		for (unsigned int i = 0; i < count; i++) {
			requests[i].flags = HWTIMER_REQ_ABSTIME;
			requests[i].time += base;
		}
		schedule_all(_metadata, fd, requests, count);
		if (clock_ns(clock) < base)
			return base;
		TH_LOG("%llu ms were too short", lead / MS);
		for (unsigned int i = 0; i < count; i++) {
			ASSERT_EQ(0, dev_cancel(fd, requests[i].id,
						HWTIMER_REQ_DISCARD));
			requests[i].time -= base;
			requests[i].id = 0;
		}
	}
}

/**
 * cancel_in_time() - schedule a timer and cancel it before it is due
 * @delay: ns until the timer is due, for the first try
 *
 * If the machine was too slow, the timer expires. Then its event is read, and the next
 * try has more time.
 *
 * Return: the delay of the timer that was cancelled.
 */
static inline __u64 cancel_in_time(struct __test_metadata *_metadata, int fd,
				   __u64 delay)
{
	for (;; delay *= 3) {
		struct hwtimer_event event;
		int err = dev_cancel(fd, dev_after(fd, delay, 0), 0);

		if (!err)
			return delay;
		ASSERT_EQ(1, err);
		ASSERT_EQ(1, dev_collect(fd, &event, 1));
	}
}

/* Expects that the counters of the instance balance, and closes it. */
static inline void expect_close(struct __test_metadata *_metadata, int fd)
{
	struct hwtimer_stats stats;

	EXPECT_EQ(0, dev_stats(fd, &stats));
	expect_balance(_metadata, &stats);
	EXPECT_EQ(0, close(fd));
}

/* Not every program that includes this file has tests with the fixture. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"

/* An instance whose reads do not block and whose counters balance at the end. */
FIXTURE(hwtimer)
{
	int fd;
};

FIXTURE_SETUP(hwtimer)
{
	self->fd = dev_open(O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(hwtimer)
{
	if (self->fd >= 0) /* otherwise the test closed it */
		expect_close(_metadata, self->fd);
}

#pragma GCC diagnostic pop

#endif /* HWTIMER_TEST_H */
