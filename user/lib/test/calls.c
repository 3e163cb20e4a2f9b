// SPDX-License-Identifier: MIT
/*
 * Calls of the C library for tests whose device is no descriptor: module.c, and threads_test.c.
 * The linker puts them there (--wrap).
 */
#include <errno.h>
#include <stdarg.h>

#include "wrapped.h"

long returned(long ret)
{
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}

int __wrap_open(const char *path, int flags, ...)
{
	(void)path;
	(void)flags;
	return NO_DESCRIPTOR;
}

int __wrap_close(int fd)
{
	(void)fd;
	return 0;
}

int __wrap_ioctl(int fd, unsigned long number, ...)
{
	void *argument;
	va_list list;

	(void)fd;
	va_start(list, number);
	argument = va_arg(list, void *);
	va_end(list);
	return returned(answer(number, argument));
}
