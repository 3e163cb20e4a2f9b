// SPDX-License-Identifier: MIT
/*
 * Counts the system calls that a program makes for its timers once it has accepted its last
 * connection: all ioctls of hwtimer, and all calls of read(). Linked into a program whose
 * sockets use recv(), with -Wl,--wrap=ioctl,--wrap=read,--wrap=accept. Prints the count
 * when SIGTERM ends the program.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/hwtimer.h>

#include "calls.h"

static unsigned long commands, reads;

int __wrap_ioctl(int fd, unsigned long command, ...)
{
	void *argument;
	va_list list;

	va_start(list, command);
	argument = va_arg(list, void *);
	va_end(list);
	commands += _IOC_TYPE(command) == HWTIMER_IOC_MAGIC;
	return __real_ioctl(fd, command, argument);
}

ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	reads++;
	return __real_read(fd, buffer, size);
}

int __wrap_accept(int fd, struct sockaddr *address, socklen_t *length)
{
	int connection = __real_accept(fd, address, length);

	if (connection >= 0) {
		commands = 0;
		reads = 0;
	}
	return connection;
}

static void print(int signal)
{
	(void)signal;
	dprintf(STDOUT_FILENO, "counted: calls=%lu ioctls=%lu reads=%lu\n",
		commands + reads, commands, reads);
	_exit(0);
}

static void __attribute__((constructor)) await_end(void)
{
	signal(SIGTERM, print);
}
