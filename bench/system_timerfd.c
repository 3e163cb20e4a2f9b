// SPDX-License-Identifier: GPL-2.0
/*
 * timerfd and epoll: one descriptor per timer.
 *
 * In one variant the program makes and closes a descriptor for each timer. In the other
 * it keeps the descriptors and only sets them, which is the best case for timerfds.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "limit.h"
#include "system.h"

#define BATCH 4096
#define TIMERS_MAX 1000000
#define OTHER_FILES 64

enum { KEPT, MADE };

static const char *const variants[] = {
	"descriptors kept",
	"descriptors made and closed",
	NULL,
};

static struct workload *load;
static bool made;
static int epoll;
static int *fds;
static struct epoll_event events[BATCH];

static double timerfd_calls(unsigned int variant)
{
	return variant == MADE ? 5 : 2.5;
}

/* Root may raise the limit of descriptors per process, unless that is forbidden. */
static __u32 timerfd_timers_max(void)
{
	FILE *file = fopen("/proc/sys/fs/nr_open", "w");

	if (file) {
		fprintf(file, "%u\n", TIMERS_MAX + OTHER_FILES);
		fclose(file);
	}
	return limit_raise(RLIMIT_NOFILE, TIMERS_MAX + OTHER_FILES) -
	       OTHER_FILES;
}

static int make(__u32 timer)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = timer };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

	if (fd < 0)
		err(1, "timerfd_create");
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		err(1, "EPOLL_CTL_ADD");
	return fd;
}

static void timerfd_setup(struct workload *new_load, unsigned int variant)
{
	__u32 i;

	load = new_load;
	made = variant == MADE;
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		err(1, "epoll_create1");
	fds = allocate(load->timers, sizeof(*fds));
	for (i = 0; i < load->timers; i++)
		fds[i] = made ? -1 : make(i);
}

static void timerfd_teardown(void)
{
	__u32 i;

	for (i = 0; i < load->timers; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	close(epoll);
	free(fds);
}

static void set(int fd, __u64 time)
{
	struct itimerspec when = { .it_value = timespec_of(time) };

	if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL))
		err(1, "timerfd_settime");
}

static void timerfd_schedule(__u32 first, __u32 count)
{
	__u32 i;

	for (i = first; i < first + count; i++) {
		if (made)
			fds[i] = make(i);
		set(fds[i], workload_deadline(load, i));
	}
}

static void timerfd_cancel(__u32 first, __u32 count)
{
	__u32 i, timer;

	for (i = first; i < first + count; i++) {
		timer = load->order[i];
		if (!made) {
			set(fds[timer], 0);
			continue;
		}
		close(fds[timer]);
		fds[timer] = -1;
	}
}

static void timerfd_reschedule(__u32 first, __u32 count)
{
	__u32 i, timer;

	for (i = first; i < first + count; i++) {
		timer = load->order[i];
		set(fds[timer], workload_deadline(load, timer));
	}
}

static void take(__u32 timer)
{
	__u64 expirations;

	if (read(fds[timer], &expirations, sizeof(expirations)) < 0)
		err(1, "read of a timerfd");
	if (made) {
		close(fds[timer]);
		fds[timer] = -1;
	}
	workload_deliver(load, timer);
}

static void timerfd_deliver(void)
{
	int i, count;

	do {
		count = epoll_wait(epoll, events, BATCH, 0);
		if (count < 0 && errno != EINTR)
			err(1, "epoll_wait");
		for (i = 0; i < count; i++)
			take(events[i].data.u32);
	} while (count);
}

const struct system system_timerfd = {
	.name = "timerfd",
	.variants = variants,
	.expiry = EXPIRY_INTERRUPT,
	.tick = NSEC_PER_MSEC / 10,
	.timers_max = timerfd_timers_max,
	.calls = timerfd_calls,
	.setup = timerfd_setup,
	.teardown = timerfd_teardown,
	.schedule = timerfd_schedule,
	.cancel = timerfd_cancel,
	.reschedule = timerfd_reschedule,
	.deliver = timerfd_deliver,
};
