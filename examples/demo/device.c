// SPDX-License-Identifier: GPL-2.0
/*
 * Calls /dev/hwtimer and handles errors; see device.h.
 */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "device.h"

#define DEVICE "/dev/hwtimer"

static const char *open_advice(int error)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return "load the module: modprobe hwtimer, or insmod ./hwtimer.ko";
	case EACCES:
	case EPERM:
		return "run this as root, or let yourself in: chmod a+rw /dev/hwtimer";
	case EMFILE:
	case ENFILE:
		return "too many open files or instances: close some";
	default:
		return "dmesg may say more";
	}
}

static void check_abi(int fd)
{
	struct hwtimer_info info;

	device_info(fd, &info);
	if (info.abi_version != HWTIMER_ABI_VERSION)
		errx(1,
		     "the loaded module speaks ABI version %u, this program %u: build both from the same source",
		     info.abi_version, HWTIMER_ABI_VERSION);
}

int device_open(void)
{
	int fd = open(DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		errx(1, "cannot open " DEVICE ": %s\n%s", strerror(errno),
		     open_advice(errno));
	check_abi(fd);
	return fd;
}

void device_info(int fd, struct hwtimer_info *info)
{
	if (ioctl(fd, HWTIMER_IOC_INFO, info))
		err(1, "HWTIMER_IOC_INFO");
}

static void check_limit(int fd, __u64 timers)
{
	struct hwtimer_info info;

	device_info(fd, &info);
	if (timers > info.timers_max)
		errx(1, "an instance has %llu timers at most", info.timers_max);
}

void device_setup(int fd, __u64 tick, __u32 buckets, __u64 timers)
{
	struct hwtimer_setup setup = {
		.tick = tick,
		.buckets = buckets,
		.timers = timers,
	};

	check_limit(fd, timers);
	if (ioctl(fd, HWTIMER_IOC_SETUP, &setup))
		err(1,
		    "HWTIMER_IOC_SETUP: tick %llu ns, %u buckets, %llu timers",
		    tick, buckets, timers);
}

void device_stats(int fd, struct hwtimer_stats *stats)
{
	if (ioctl(fd, HWTIMER_IOC_STATS, stats))
		err(1, "HWTIMER_IOC_STATS");
}

void device_submit(int fd, struct hwtimer_request *requests, __u32 count)
{
	struct hwtimer_submit submit;
	int done;

	while (count) {
		submit = (struct hwtimer_submit){
			.requests = (uintptr_t)requests,
			.count = count,
		};
		done = ioctl(fd, HWTIMER_IOC_SUBMIT, &submit);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			err(1, "HWTIMER_IOC_SUBMIT of %u", count);
		if (done == 0 || (__u32)done > count)
			errx(1, "HWTIMER_IOC_SUBMIT of %u returned %d", count,
			     done);
		requests += done;
		count -= done;
	}
}

__u32 device_read(int fd, struct hwtimer_event *events, __u32 count)
{
	ssize_t bytes = read(fd, events, count * sizeof(*events));

	if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (bytes < 0)
		err(1, "read of " DEVICE);
	if (bytes == 0 || bytes % sizeof(*events))
		errx(1, "read of " DEVICE " returned %zd bytes", bytes);
	return bytes / sizeof(*events);
}

__u64 device_schedule(int fd, __u64 deadline)
{
	struct hwtimer_request request = {
		.flags = HWTIMER_REQ_ABSTIME,
		.time = deadline,
	};

	if (ioctl(fd, HWTIMER_IOC_SCHEDULE, &request))
		err(1, "HWTIMER_IOC_SCHEDULE");
	return request.id;
}

void device_cancel(int fd, __u64 id)
{
	struct hwtimer_request request = { .id = id };
	int ret = ioctl(fd, HWTIMER_IOC_CANCEL, &request);

	if (ret)
		errx(1, "HWTIMER_IOC_CANCEL: %s",
		     ret < 0 ? strerror(errno) : "the timer has expired");
}
