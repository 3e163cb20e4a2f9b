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

static int device = -1;
static unsigned int events_left;

/* The ids and the user_data of timers that have expired; ids count up. */
static struct hwtimer_event due[DEVICE_EVENTS];
static uint64_t last_id;
static unsigned int expired, delivered;

unsigned int device_events = DEVICE_EVENTS, device_report, device_reads;

int __wrap_open(const char *path, int flags, ...)
{
	(void)path;
	(void)flags;
	events_left = device_events;
	delivered = expired;
	device = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	return device;
}

int __wrap_close(int fd)
{
	return __real_close(fd);
}

/* Returns the id. */
static uint64_t schedule(int64_t time, uint64_t user_data)
{
	last_id++;
	if (time == HWTIMER_NEVER)
		return last_id;
	due[expired++ % DEVICE_EVENTS] = (struct hwtimer_event){
		.id = last_id,
		.user_data = user_data,
		.expirations = 1,
	};
	eventfd_write(device, 1);
	return last_id;
}

static int bulk(const struct hwtimer_bulk *bulk)
{
	const struct hwtimer_bulk_timer *timers = (void *)bulk->timers;
	uint64_t *results = (void *)bulk->results;
	unsigned int i;

	for (i = 0; i < bulk->count && bulk->op == HWTIMER_OP_SCHEDULE; i++)
		results[i] = schedule(timers[i].time, timers[i].user_data);
	return bulk->count;
}

int __wrap_ioctl(int fd, unsigned long number, ...)
{
	struct hwtimer_request *request;
	void *argument;
	va_list list;

	(void)fd;
	va_start(list, number);
	argument = va_arg(list, void *);
	va_end(list);
	request = argument;
	if (number == HWTIMER_IOC_INFO)
		*(struct hwtimer_info *)argument = (struct hwtimer_info){
			.abi_version = HWTIMER_ABI_VERSION,
			.clock = HWTIMER_CLOCK_MONOTONIC,
		};
	if (number == HWTIMER_IOC_SCHEDULE)
		request->id = schedule(request->time, request->user_data);
	return number == HWTIMER_IOC_BULK ? bulk(argument) : 0;
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

/* Adds to the @n events at @events those of timers, up to @max in all. */
static unsigned int read_due(struct hwtimer_event *events, unsigned int n,
			     unsigned int max)
{
	for (; n < max && delivered != expired; n++)
		events[n] = due[delivered++ % DEVICE_EVENTS];
	return n;
}

ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	unsigned int max = size / sizeof(struct hwtimer_event);
	unsigned int n = least(max, events_left);
	uint64_t value;

	device_reads++;
	if (device_report == 1) {
		device_report = 0;
		errno = ECANCELED;
		return -1;
	}
	if (device_report)
		n = least(n, device_report - 1);
	memset(buffer, 0, n * sizeof(struct hwtimer_event));
	events_left -= n;
	device_report -= device_report ? n : 0;
	if (!device_report)
		n = read_due(buffer, n, max);
	if (!events_left && delivered == expired && !device_report)
		__real_read(fd, &value, sizeof(value));
	if (!n) {
		errno = EAGAIN;
		return -1;
	}
	return n * sizeof(struct hwtimer_event);
}
