// SPDX-License-Identifier: GPL-2.0
/*
 * Counts system calls. The linker sends the program's and its libraries' calls here
 * (--wrap, see ../Makefile); the C library's own ones are not counted.
 */
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"

struct calls calls;

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
	return __real_clock_gettime(clock, now);
}
