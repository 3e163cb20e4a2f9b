/* SPDX-License-Identifier: GPL-2.0 */
/* The system calls that this program makes: calls.c */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <time.h>

/**
 * struct calls - numbers of system calls
 * @timers: calls for timers: ioctl(), timerfd_settime(), and read() of either descriptor
 * @others: calls for connections and of the loop
 * @clocks: clock_gettime(), which enters no kernel but User-Mode Linux
 */
struct calls {
	unsigned long timers, others, clocks;
};

extern struct calls calls;

/* From now on, the processor's counter is the clock. */
void calls_read_counter(void);
__u64 calls_kernel_now(void);

/* Names that the linker makes of calls of the C library (--wrap) */
int __real_ioctl(int fd, unsigned long command, void *argument);
ssize_t __real_read(int fd, void *buffer, size_t bytes);
ssize_t __real_recv(int fd, void *buffer, size_t bytes, int flags);
ssize_t __real_send(int fd, const void *buffer, size_t bytes, int flags);
int __real_epoll_wait(int fd, struct epoll_event *events, int max, int timeout);
int __real_epoll_ctl(int fd, int op, int target, struct epoll_event *event);
int __real_timerfd_settime(int fd, int flags, const struct itimerspec *new,
			   struct itimerspec *old);
int __real_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_ioctl(int fd, unsigned long command, void *argument);
ssize_t __wrap_read(int fd, void *buffer, size_t bytes);
ssize_t __wrap_recv(int fd, void *buffer, size_t bytes, int flags);
ssize_t __wrap_send(int fd, const void *buffer, size_t bytes, int flags);
int __wrap_epoll_wait(int fd, struct epoll_event *events, int max, int timeout);
int __wrap_epoll_ctl(int fd, int op, int target, struct epoll_event *event);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *new,
			   struct itimerspec *old);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

#endif /* BENCH_CALLS_H */
