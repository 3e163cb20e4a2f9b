/* SPDX-License-Identifier: MIT */
/* Names that the linker makes of calls of the C library (--wrap); see calls.c. */
#ifndef EXAMPLE_CALLS_H
#define EXAMPLE_CALLS_H

#include <sys/socket.h>
#include <sys/types.h>

int __wrap_ioctl(int fd, unsigned long command, ...);
int __real_ioctl(int fd, unsigned long command, ...);
ssize_t __wrap_read(int fd, void *buffer, size_t size);
ssize_t __real_read(int fd, void *buffer, size_t size);

int __wrap_accept(int fd, struct sockaddr *address, socklen_t *length);
int __real_accept(int fd, struct sockaddr *address, socklen_t *length);

#endif /* EXAMPLE_CALLS_H */
