// SPDX-License-Identifier: MIT
/* See device.h. */
#include "device.h"
#include "wrapped.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/hwtimer.h>

static unsigned int events_left;

unsigned int device_report, device_reads;

int __wrap_open(const char *path, int flags, ...)
{
	(void)path;
	(void)flags;
	events_left = DEVICE_EVENTS;
	return eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
}

int __wrap_close(int fd)
{
	return __real_close(fd);
}

int __wrap_ioctl(int fd, unsigned long number, ...)
{
	struct hwtimer_info *info;
	va_list list;

	(void)fd;
	va_start(list, number);
	info = va_arg(list, struct hwtimer_info *);
	va_end(list);
	if (number == HWTIMER_IOC_INFO)
		*info = (struct hwtimer_info){
			.abi_version = HWTIMER_ABI_VERSION,
			.clock = HWTIMER_CLOCK_MONOTONIC,
		};
	return 0;
}

void device_add_event(int fd)
{
	events_left++;
	eventfd_write(fd, 1);
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	unsigned int n =
		least(size / sizeof(struct hwtimer_event), events_left);
	uint64_t value;

	device_reads++;
	if (device_report == 1) {
		device_report = 0;
		errno = ECANCELED;
		return -1;
	}
	if (device_report)
		n = least(n, device_report - 1);
	if (!n) {
		__real_read(fd, &value, sizeof(value));
		errno = EAGAIN;
		return -1;
	}
	memset(buffer, 0, n * sizeof(struct hwtimer_event));
	events_left -= n;
	device_report -= device_report ? n : 0;
	return n * sizeof(struct hwtimer_event);
}
