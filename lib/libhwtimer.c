// SPDX-License-Identifier: MIT
/*
 * libhwtimer; see libhwtimer.h. Nothing here but the translation of calls, and a
 * buffer of events for hwt_next().
 */
#include "libhwtimer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEVICE "/dev/hwtimer"

/* As many as the module copies at a time. */
#define EVENTS 120

/**
 * struct hwt - see libhwtimer.h
 * @fd: of the device
 * @features: of the module
 * @first: of @events, the first that was not given away
 * @count: and how many there are from there
 * @events: that were read
 */
struct hwt {
	int fd;
	uint64_t features;
	unsigned int first;
	unsigned int count;
	struct hwtimer_event events[EVENTS];
};

static int call(const struct hwt *hwt, unsigned long command, void *argument)
{
	int ret = ioctl(hwt->fd, command, argument);

	return ret < 0 ? -errno : ret;
}

unsigned int hwt_version(void)
{
	return HWT_VERSION;
}

/* Opens the device, and sees whether we know each other. */
static int device_open(struct hwt *hwt, unsigned int flags)
{
	struct hwtimer_info info;
	int err;

	hwt->fd = open(DEVICE, O_RDWR | O_CLOEXEC |
				       (flags & HWT_NONBLOCK ? O_NONBLOCK : 0));
	if (hwt->fd < 0)
		return -errno;
	err = hwt_info(hwt, &info);
	if (!err && info.abi_version != HWTIMER_ABI_VERSION)
		err = -EPROTO;
	if (err) {
		close(hwt->fd);
		return err == -ENOTTY ? -EPROTO : err;
	}
	hwt->features = info.features;
	return 0;
}

int hwt_open(struct hwt **hwt, unsigned int flags)
{
	struct hwt *new;
	int err;

	if (flags & ~HWT_NONBLOCK)
		return -EINVAL;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	err = device_open(new, flags);
	if (err) {
		free(new);
		return err;
	}
	*hwt = new;
	return 0;
}

void hwt_close(struct hwt *hwt)
{
	if (!hwt)
		return;
	close(hwt->fd);
	free(hwt);
}

int hwt_fd(const struct hwt *hwt)
{
	return hwt->fd;
}

uint64_t hwt_features(const struct hwt *hwt)
{
	return hwt->features;
}

int hwt_setup_sized(struct hwt *hwt, struct hwtimer_setup *setup, size_t size)
{
	setup->size = size;
	return call(hwt, HWTIMER_IOC_SETUP, setup);
}

int hwt_info_sized(struct hwt *hwt, struct hwtimer_info *info, size_t size)
{
	memset(info, 0, size);
	info->size = size;
	return call(hwt, HWTIMER_IOC_INFO, info);
}

/* ---- one timer ---- */

int hwt_schedule_request(struct hwt *hwt, struct hwtimer_request *request)
{
	return call(hwt, HWTIMER_IOC_SCHEDULE, request);
}

static int schedule(struct hwt *hwt, unsigned int flags, uint64_t time,
		    uint64_t user_data, uint64_t *id)
{
	struct hwtimer_request request = {
		.flags = flags,
		.time = time,
		.user_data = user_data,
	};
	int err = hwt_schedule_request(hwt, &request);

	if (!err && id)
		*id = request.id;
	return err;
}

/* A delay that was computed may come to be -1, which is HWTIMER_NEVER: it is 0. */
static uint64_t delay_time(int64_t delay)
{
	return delay < 0 ? 0 : delay;
}

int hwt_schedule(struct hwt *hwt, int64_t delay, uint64_t user_data,
		 uint64_t *id)
{
	return schedule(hwt, 0, delay_time(delay), user_data, id);
}

int hwt_schedule_at(struct hwt *hwt, uint64_t deadline, uint64_t user_data,
		    uint64_t *id)
{
	return schedule(hwt, HWTIMER_ABSOLUTE, deadline, user_data, id);
}

int hwt_cancel(struct hwt *hwt, uint64_t id)
{
	struct hwtimer_request request = { .id = id };

	return call(hwt, HWTIMER_IOC_CANCEL, &request);
}

int hwt_discard(struct hwt *hwt, uint64_t id)
{
	struct hwtimer_request request = {
		.flags = HWTIMER_DISCARD,
		.id = id,
	};

	return call(hwt, HWTIMER_IOC_CANCEL, &request);
}

int hwt_reschedule(struct hwt *hwt, uint64_t id, int64_t delay)
{
	struct hwtimer_request request = { .id = id,
					   .time = delay_time(delay) };

	return call(hwt, HWTIMER_IOC_RESCHEDULE, &request);
}

int hwt_reschedule_at(struct hwt *hwt, uint64_t id, uint64_t deadline)
{
	struct hwtimer_request request = {
		.flags = HWTIMER_ABSOLUTE,
		.id = id,
		.time = deadline,
	};

	return call(hwt, HWTIMER_IOC_RESCHEDULE, &request);
}

/* ---- many ---- */

/*
 * How it goes on after a call that returned @ret, when @done of @count are done: 1
 * if it does, otherwise what is to be returned is in *@ret.
 */
static int goes_on(int *ret, unsigned int *done, unsigned int count)
{
	if (*ret > 0)
		*done += *ret;
	if (*ret == -EINTR || (*ret > 0 && *done < count))
		return 1;
	if (*done)
		*ret = *done;
	return 0;
}

/* @size: of what @timers has for each */
static int bulk(struct hwt *hwt, struct hwtimer_bulk bulk, const void *timers,
		size_t size, uint64_t *results, unsigned int count)
{
	unsigned int done = 0;
	int ret;

	if (count > INT_MAX)
		return -EINVAL;
	bulk.size = sizeof(bulk);
	do {
		bulk.count = count - done;
		bulk.timers = (uintptr_t)((const char *)timers + done * size);
		bulk.results = results ? (uintptr_t)(results + done) : 0;
		ret = call(hwt, HWTIMER_IOC_BULK, &bulk);
	} while (goes_on(&ret, &done, count));
	return ret;
}

int hwt_schedule_many(struct hwt *hwt, unsigned int flags,
		      const struct hwtimer_bulk_timer *timers,
		      uint64_t *results, unsigned int count)
{
	struct hwtimer_bulk schedule = {
		.op = HWTIMER_OP_SCHEDULE,
		.flags = flags,
	};

	return bulk(hwt, schedule, timers, sizeof(*timers), results, count);
}

int hwt_reschedule_many(struct hwt *hwt, unsigned int flags,
			const struct hwtimer_bulk_timer *timers,
			uint64_t *results, unsigned int count)
{
	struct hwtimer_bulk reschedule = {
		.op = HWTIMER_OP_RESCHEDULE,
		.flags = flags,
	};

	return bulk(hwt, reschedule, timers, sizeof(*timers), results, count);
}

int hwt_cancel_many(struct hwt *hwt, unsigned int flags, const uint64_t *ids,
		    uint64_t *results, unsigned int count)
{
	struct hwtimer_bulk cancel = {
		.op = HWTIMER_OP_CANCEL,
		.flags = flags,
	};

	return bulk(hwt, cancel, ids, sizeof(*ids), results, count);
}

int hwt_submit(struct hwt *hwt, struct hwtimer_request *requests,
	       unsigned int count)
{
	struct hwtimer_submit submit = { 0 };
	unsigned int done = 0;
	int ret;

	if (count > INT_MAX)
		return -EINVAL;
	do {
		submit.requests = (uintptr_t)(requests + done);
		submit.count = count - done;
		ret = call(hwt, HWTIMER_IOC_SUBMIT, &submit);
	} while (goes_on(&ret, &done, count));
	return ret;
}

/* ---- looking, and the end ---- */

int hwt_query(struct hwt *hwt, struct hwtimer_query *query)
{
	query->reserved = 0;
	return call(hwt, HWTIMER_IOC_QUERY, query);
}

int hwt_stop(struct hwt *hwt, struct hwtimer_unprocessed *timers,
	     unsigned int count, uint64_t *left)
{
	struct hwtimer_stop stop = {
		.size = sizeof(stop),
		.timers = (uintptr_t)timers,
		.count = count,
	};
	int ret = call(hwt, HWTIMER_IOC_STOP, &stop);

	if ((ret >= 0 || ret == -EAGAIN) && left)
		*left = stop.left;
	return ret;
}

int hwt_stats_sized(struct hwt *hwt, struct hwtimer_stats *stats, size_t size)
{
	memset(stats, 0, size);
	stats->size = size;
	return call(hwt, HWTIMER_IOC_STATS, stats);
}

int hwt_notify(struct hwt *hwt, unsigned int events, uint64_t delay,
	       int eventfd)
{
	struct hwtimer_notify notify = {
		.size = sizeof(notify),
		.events = events,
		.eventfd = eventfd,
		.delay = delay,
	};

	return call(hwt, HWTIMER_IOC_NOTIFY, &notify);
}

/* ---- events ---- */

int hwt_read(struct hwt *hwt, struct hwtimer_event *events, unsigned int count)
{
	ssize_t bytes;

	if (count > INT_MAX / sizeof(*events))
		count = INT_MAX / sizeof(*events);
	bytes = read(hwt->fd, events, count * sizeof(*events));
	return bytes < 0 ? -errno : (int)(bytes / sizeof(*events));
}

/* Reads up to @max events if none is left; returns as hwt_read(). */
static int fill(struct hwt *hwt, unsigned int max)
{
	int ret;

	if (hwt->count)
		return hwt->count;
	ret = hwt_read(hwt, hwt->events, max < EVENTS ? max : EVENTS);
	hwt->first = 0;
	hwt->count = ret > 0 ? ret : 0;
	return ret;
}

int hwt_next(struct hwt *hwt, struct hwtimer_event *event)
{
	int ret = fill(hwt, EVENTS);

	if (ret <= 0)
		return ret;
	*event = hwt->events[hwt->first++];
	hwt->count--;
	return 1;
}

int hwt_dispatch(struct hwt *hwt, hwt_callback callback, void *arg,
		 unsigned int max)
{
	unsigned int done = 0;
	int ret = 0;

	if (!max)
		return 0;
	if (max > INT_MAX)
		max = INT_MAX;
	while (done < max) {
		/* No more than will be given away: the rest makes poll() ready. */
		ret = fill(hwt, max - done);
		if (ret <= 0)
			break;
		hwt->count--;
		callback(arg, &hwt->events[hwt->first++]);
		done++;
	}
	/* It is told once. */
	if (ret == -ECANCELED)
		return ret;
	if (done)
		return done;
	return ret ?: -ENOTCONN;
}

int hwt_dispatch_check(struct hwt *hwt)
{
	struct hwtimer_info info;
	int ret = fcntl(hwt->fd, F_GETFL);

	if (ret < 0)
		return -errno;
	if (!(ret & O_NONBLOCK))
		return -EINVAL;
	ret = hwt_info(hwt, &info);
	return ret ? ret : info.completions ? -EINVAL : 0;
}
