/* SPDX-License-Identifier: MIT */
/* Names that the linker makes of calls of the C library (--wrap); see module.c. */
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
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);

#endif /* LIB_TEST_WRAPPED_H */
