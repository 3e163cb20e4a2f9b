// SPDX-License-Identifier: GPL-2.0
/*
 * Counts system calls. The linker sends the program's and its libraries' calls here
 * (--wrap, see ../Makefile); the C library's own ones are not counted.
 *
 * In User-Mode Linux, clock_gettime() is a system call too, which it is nowhere else. There
 * calls_read_counter() has it read the processor's counter, as the vDSO of a real kernel
 * does, and ask the kernel once in a while only.
 */
#include <err.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "../clock.h"
#include "calls.h"

/* How long the counter is trusted before the kernel is asked again */
#define TRUSTED (10 * NSEC_PER_MSEC)

struct calls calls;

static bool reads_counter;

void calls_read_counter(void)
{
#ifndef __x86_64__
	errx(2, "--counter: the counter of this processor is not known");
#endif
	clock_init();
	reads_counter = true;
}

/* Of the kernel itself: the counter is behind if the machine stood still at the wrong moment. */
__u64 calls_kernel_now(void)
{
	struct timespec now;

	__real_clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

/* CLOCK_MONOTONIC by the counter; never goes back when the kernel corrects it. */
static __u64 counter_now(void)
{
	static __u64 asked, anchor, last;
	__u64 passed, time;

	passed = clock_ns(cycles() - asked);
	if (!asked || passed > TRUSTED) {
		anchor = calls_kernel_now();
		asked = cycles();
		passed = 0;
	}
	time = anchor + passed;
	if (time > last)
		last = time;
	return last;
}

/* Only timers use ioctl() and read() here: connections have recv() and send(). */
int __wrap_ioctl(int fd, unsigned long command, void *argument)
{
	calls.timers++;
	return __real_ioctl(fd, command, argument);
}

ssize_t __wrap_read(int fd, void *buffer, size_t bytes)
{
	calls.timers++;
	return __real_read(fd, buffer, bytes);
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *new,
			   struct itimerspec *old)
{
	calls.timers++;
	return __real_timerfd_settime(fd, flags, new, old);
}

ssize_t __wrap_recv(int fd, void *buffer, size_t bytes, int flags)
{
	calls.others++;
	return __real_recv(fd, buffer, bytes, flags);
}

ssize_t __wrap_send(int fd, const void *buffer, size_t bytes, int flags)
{
	calls.others++;
	return __real_send(fd, buffer, bytes, flags);
}

int __wrap_epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
	calls.others++;
	return __real_epoll_wait(fd, events, max, timeout);
}

int __wrap_epoll_ctl(int fd, int op, int target, struct epoll_event *event)
{
	calls.others++;
	return __real_epoll_ctl(fd, op, target, event);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	calls.clocks++;
	if (reads_counter &&
	    (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE)) {
		*now = timespec_of(counter_now());
		return 0;
	}
	return __real_clock_gettime(clock, now);
}
