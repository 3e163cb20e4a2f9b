/* SPDX-License-Identifier: MIT */
/* Names that the linker makes of calls of the C library (--wrap), and what calls.c needs. */
#ifndef LIB_TEST_WRAPPED_H
#define LIB_TEST_WRAPPED_H

#include <poll.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int fd);
int __real_close(int fd);
int __wrap_ioctl(int fd, unsigned long number, ...);
ssize_t __wrap_read(int fd, void *buffer, size_t size);
ssize_t __real_read(int fd, void *buffer, size_t size);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);

/* What open() returns in calls.c; the program never has as many descriptors. */
#define NO_DESCRIPTOR 1000

/* Sets errno if @ret is an error. Returns what a system call returns. */
long returned(long ret);

/* The test's device: does an ioctl(). Returns its result or -errno. */
int answer(unsigned long number, void *argument);

#endif /* LIB_TEST_WRAPPED_H */
