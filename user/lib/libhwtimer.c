// SPDX-License-Identifier: MIT
/*
 * libhwtimer translates function calls to system calls, and has a buffer of events for
 * hwt_next() and hwt_dispatch(). See libhwtimer.h. Timer objects are in timer.c.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define DEVICE "/dev/hwtimer"

/* The major number of all misc devices. */
#define MISC_MAJOR 10

/* An array of results of a call. There may be none, if the program wants none. */
static void array_written(uint64_t array, size_t size)
{
	if (array)
		hwt_written((const void *)(uintptr_t)array, size);
}

/*
 * What a call has written, which has returned @ret. Both tools know that the argument itself is
 * written, by the number of the command, but not the arrays that it names.
 */
static void answer_written(unsigned long command, const void *argument, int ret)
{
	const struct hwtimer_submit *submit = argument;
	const struct hwtimer_bulk *bulk = argument;
	const struct hwtimer_list *list = argument;

	if (command == HWTIMER_IOC_SUBMIT)
		array_written(submit->requests,
			      ret * sizeof(struct hwtimer_request));
	if (command == HWTIMER_IOC_BULK)
		array_written(bulk->results, ret * sizeof(uint64_t));
	if (command == HWTIMER_IOC_LIST || command == HWTIMER_IOC_CANCEL_ALL)
		array_written(list->timers, ret * sizeof(struct hwtimer_timer));
}

/* Does a call whose argument is the program's. */
static int pass(const struct hwt *hwt, unsigned long command, void *argument)
{
	int ret;

	if (hwt->manual) {
		ret = hwt_manual_call(hwt->manual, command, argument);
		if (_IOC_DIR(command) & _IOC_READ)
			hwt_written(argument, _IOC_SIZE(command));
	} else {
		ret = ioctl(hwt->fd, command, argument);
		ret = ret < 0 ? -errno : ret;
	}
	if (ret > 0)
		answer_written(command, argument, ret);
	return ret;
}

/* The library has made the argument; MemorySanitizer would ask whether somebody has written it. */
static int call(const struct hwt *hwt, unsigned long command, void *argument)
{
	hwt_written(argument, _IOC_SIZE(command));
	return pass(hwt, command, argument);
}

/* The command for a structure as long as the program knows it */
static unsigned long sized(unsigned long command, size_t size)
{
	return _IOC(_IOC_DIR(command), _IOC_TYPE(command), _IOC_NR(command),
		    size);
}

unsigned int hwt_version(void)
{
	return HWT_VERSION;
}

/* Checks that the descriptor is an hwtimer whose ABI is the library's. */
static int check_abi(struct hwt *hwt)
{
	struct hwtimer_info info;
	int err = hwt_info(hwt, &info);

	if (err)
		return err;
	if (info.abi_version != HWTIMER_ABI_VERSION)
		return -EPROTO;
	return 0;
}

static int device_open(struct hwt *hwt, int unused, unsigned int flags)
{
	int err;

	(void)unused;
	hwt->waits = !(flags & HWT_NONBLOCK);
	hwt->fd = open(DEVICE,
		       O_RDWR | O_CLOEXEC | (hwt->waits ? 0 : O_NONBLOCK));
	if (hwt->fd < 0)
		return -errno;
	err = check_abi(hwt);
	if (err) {
		close(hwt->fd);
		return err == -ENOTTY ? -EPROTO : err;
	}
	return 0;
}

/*
 * Checks that a descriptor may be an hwtimer. The ioctl that makes sure of it must not
 * reach other drivers, to which its number may mean something else. The device file may
 * have another name here, or none.
 */
static int check_device(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return S_ISCHR(st.st_mode) && major(st.st_rdev) == MISC_MAJOR ? 0 :
									-ENOTTY;
}

/* Makes a descriptor what hwt_open() would have made of it. */
static int device_set_flags(struct hwt *hwt, unsigned int flags)
{
	int status = fcntl(hwt->fd, F_GETFL);

	if (status < 0 || fcntl(hwt->fd, F_SETFD, FD_CLOEXEC) < 0)
		return -errno;
	hwt->waits = !(status & O_NONBLOCK);
	if (!hwt->waits || !(flags & HWT_NONBLOCK))
		return 0;
	hwt->waits = false;
	return fcntl(hwt->fd, F_SETFL, status | O_NONBLOCK) < 0 ? -errno : 0;
}

static int device_adopt(struct hwt *hwt, int fd, unsigned int flags)
{
	int err = check_device(fd);

	if (err)
		return err;
	hwt->fd = fd;
	/* Another process may have chosen one. */
	hwt->watermark = true;
	err = check_abi(hwt);
	/* Other drivers refuse the ioctl in different ways. */
	if (err)
		return err == -EBADF || err == -EPROTO ? err : -ENOTTY;
	return device_set_flags(hwt, flags);
}

static int manual_open(struct hwt *hwt, int unused, unsigned int flags)
{
	(void)unused;
	hwt->waits = !(flags & HWT_NONBLOCK);
	hwt->uncached = true;
	hwt->fd = hwt_manual_new(&hwt->manual);
	return hwt->fd < 0 ? hwt->fd : 0;
}

/* Makes *@hwt by @begin, which gets @fd. */
static int instance_new(struct hwt **hwt,
			int (*begin)(struct hwt *hwt, int fd,
				     unsigned int flags),
			int fd, unsigned int flags)
{
	struct hwt *new;
	int err;

	*hwt = NULL;
	hwt_written(hwt, sizeof(*hwt));
	if (flags & ~HWT_NONBLOCK)
		return -EINVAL;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	err = begin(new, fd, flags);
	if (err) {
		free(new);
		return err;
	}
	new->now = NOW_UNKNOWN;
	*hwt = new;
	return 0;
}

int hwt_open(struct hwt **hwt, unsigned int flags)
{
	return instance_new(hwt, device_open, -1, flags);
}

int hwt_from_fd(struct hwt **hwt, int fd, unsigned int flags)
{
	return instance_new(hwt, device_adopt, fd, flags);
}

int hwt_open_manual(struct hwt **hwt, unsigned int flags)
{
	return instance_new(hwt, manual_open, -1, flags);
}

/* Time goes on while a loop waits, and before it waits it calls hwt_flush(). */
int hwt_advance(struct hwt *hwt, int64_t ns)
{
	if (!hwt->manual)
		return -ENOTSUP;
	if (__atomic_load_n(&hwt->timers, __ATOMIC_RELAXED))
		hwt_flush(hwt);
	return hwt_manual_advance(hwt->manual, ns);
}

static void instance_free(struct hwt *hwt)
{
	hwt_timers_free(hwt);
	hwt_manual_free(hwt->manual);
	free(hwt);
}

/* In a callback of @hwt, it leaves it to the hwt_dispatch() around that to free @hwt. */
void hwt_close(struct hwt *hwt)
{
	if (!hwt)
		return;
	close(hwt->fd);
	if (!hwt->depth) {
		instance_free(hwt);
		return;
	}
	hwt->closed = true;
	hwt->fd = -1;
	hwt->on_change = NULL;
}

int hwt_fd(const struct hwt *hwt)
{
	return hwt->fd;
}

/*
 * The module knows of timer objects only after hwt_flush(). But they have deadlines on the clock
 * that the instance has had so far.
 */
int hwt_setup_sized(struct hwt *hwt, const struct hwtimer_setup *setup,
		    size_t size)
{
	int err;

	if (hwt_active(hwt))
		return -EBUSY;
	err = pass(hwt, sized(HWTIMER_IOC_SETUP, size), (void *)setup);
	if (!err) {
		hwt->clock_known = false;
		hwt->now = NOW_UNKNOWN;
	}
	return err;
}

int hwt_info_sized(struct hwt *hwt, struct hwtimer_info *info, size_t size)
{
	return pass(hwt, sized(HWTIMER_IOC_INFO, size), info);
}

/* ---- one timer ---- */

int hwt_schedule_request(struct hwt *hwt, struct hwtimer_request *request)
{
	return pass(hwt, HWTIMER_IOC_SCHEDULE, request);
}

static int schedule(struct hwt *hwt, unsigned int flags, int64_t time,
		    uint64_t user_data, uint64_t *id)
{
	struct hwtimer_request request = {
		.flags = flags,
		.time = time,
		.user_data = user_data,
	};
	int err = call(hwt, HWTIMER_IOC_SCHEDULE, &request);

	if (!err && id)
		hwt_give(id, request.id);
	return err;
}

int hwt_schedule(struct hwt *hwt, int64_t delay, uint64_t user_data,
		 uint64_t *id)
{
	return schedule(hwt, 0, delay, user_data, id);
}

int hwt_schedule_at(struct hwt *hwt, uint64_t deadline, uint64_t user_data,
		    uint64_t *id)
{
	return schedule(hwt, HWTIMER_REQ_ABSTIME, hwt_deadline_time(deadline),
			user_data, id);
}

unsigned int hwt_this_thread(void)
{
	static __thread unsigned int number;
	static unsigned int threads;

	if (!number)
		number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
	return number;
}

/* After each change of the buffer */
static void note_reader(struct hwt *hwt)
{
	__atomic_store_n(&hwt->reader, hwt->count ? hwt_this_thread() : 0,
			 __ATOMIC_RELAXED);
}

/*
 * Finds a timer's event in the buffer, if this thread is the one that reads. Returns its index, or
 * -1.
 */
static int find_read(const struct hwt *hwt, uint64_t id)
{
	unsigned int reader = __atomic_load_n(&hwt->reader, __ATOMIC_RELAXED);
	unsigned int i;

	if (!reader || reader != hwt_this_thread())
		return -1;
	for (i = hwt->first; i < hwt->first + hwt->count; i++)
		if (hwt->events[i].id == id)
			return i;
	return -1;
}

/* Takes the events of a timer out of the buffer. Returns whether there was one. */
static bool drop_read(struct hwt *hwt, uint64_t id)
{
	int i, found = 0;

	for (; (i = find_read(hwt, id)) >= 0; found++) {
		hwt->count--;
		memmove(&hwt->events[i], &hwt->events[i + 1],
			(hwt->first + hwt->count - i) * sizeof(*hwt->events));
		note_reader(hwt);
	}
	return found;
}

static int cancel(struct hwt *hwt, unsigned int flags, uint64_t id)
{
	struct hwtimer_request request = { .flags = flags, .id = id };

	return call(hwt, HWTIMER_IOC_CANCEL, &request);
}

int hwt_cancel(struct hwt *hwt, uint64_t id)
{
	int ret = cancel(hwt, 0, id);

	if ((!ret || ret == -ENOENT) && find_read(hwt, id) >= 0)
		return 1;
	return ret;
}

/* What was read has to be acknowledged in its place, so it stays. */
int hwt_discard(struct hwt *hwt, uint64_t id)
{
	int ret = cancel(hwt, HWTIMER_REQ_DISCARD, id);

	if (ret && ret != -ENOENT)
		return ret;
	if (find_read(hwt, id) < 0 || hwt_keeps(hwt))
		return ret;
	drop_read(hwt, id);
	return 0;
}

static int reschedule(struct hwt *hwt, unsigned int flags, uint64_t id,
		      int64_t time)
{
	struct hwtimer_request request = {
		.flags = flags,
		.id = id,
		.time = time,
	};

	return call(hwt, HWTIMER_IOC_RESCHEDULE, &request);
}

int hwt_reschedule(struct hwt *hwt, uint64_t id, int64_t delay)
{
	return reschedule(hwt, 0, id, delay);
}

int hwt_reschedule_at(struct hwt *hwt, uint64_t id, uint64_t deadline)
{
	return reschedule(hwt, HWTIMER_REQ_ABSTIME, id,
			  hwt_deadline_time(deadline));
}

int hwt_reschedule_request(struct hwt *hwt, struct hwtimer_request *request)
{
	return pass(hwt, HWTIMER_IOC_RESCHEDULE, request);
}

static int rearm(struct hwt *hwt, unsigned int flags, uint64_t *id,
		 int64_t time, uint64_t user_data)
{
	struct hwtimer_request request = {
		.flags = flags | HWTIMER_REQ_REARM | HWTIMER_REQ_CREATE,
		.id = *id,
		.time = time,
		.user_data = user_data,
	};
	int err = call(hwt, HWTIMER_IOC_RESCHEDULE, &request);

	if (!err)
		*id = request.id;
	return err;
}

int hwt_rearm(struct hwt *hwt, uint64_t *id, int64_t delay, uint64_t user_data)
{
	return rearm(hwt, 0, id, delay, user_data);
}

int hwt_rearm_at(struct hwt *hwt, uint64_t *id, uint64_t deadline,
		 uint64_t user_data)
{
	return rearm(hwt, HWTIMER_REQ_ABSTIME, id, hwt_deadline_time(deadline),
		     user_data);
}

/* ---- many timers ---- */

/*
 * Adds *@ret, the count that a call has returned, to *@done, unless it is an error.
 * Returns whether to call again for the rest; if not, sets *@ret to what the program gets.
 */
static bool goes_on(int *ret, unsigned int *done, unsigned int count)
{
	if (*ret > 0)
		*done += *ret;
	if (*ret == -EINTR || (*ret > 0 && *done < count))
		return true;
	if (*done)
		*ret = *done;
	return false;
}

int hwt_bulk(struct hwt *hwt, const struct hwtimer_bulk *bulk)
{
	size_t size = bulk->op == HWTIMER_OP_CANCEL ?
			      sizeof(uint64_t) :
			      sizeof(struct hwtimer_bulk_timer);
	struct hwtimer_bulk rest = *bulk;
	unsigned int done = 0;
	int ret;

	if (bulk->count > INT_MAX)
		return -EINVAL;
	/* An empty array may have no address, but the module wants one for the results. */
	if (!bulk->count)
		return 0;
	do {
		rest.count = bulk->count - done;
		rest.timers = bulk->timers + done * size;
		if (bulk->results)
			rest.results = bulk->results + done * sizeof(uint64_t);
		ret = call(hwt, HWTIMER_IOC_BULK, &rest);
	} while (goes_on(&ret, &done, bulk->count));
	return ret;
}

static int bulk_plain(struct hwt *hwt, enum hwtimer_op op, unsigned int flags,
		      const void *timers, uint64_t *results, unsigned int count)
{
	struct hwtimer_bulk bulk = {
		.op = op,
		.flags = flags,
		.count = count,
		.timers = (uintptr_t)timers,
		.results = (uintptr_t)results,
	};

	return hwt_bulk(hwt, &bulk);
}

int hwt_schedule_many(struct hwt *hwt, unsigned int flags,
		      const struct hwtimer_bulk_timer *timers,
		      uint64_t *results, unsigned int count)
{
	return bulk_plain(hwt, HWTIMER_OP_SCHEDULE, flags, timers, results,
			  count);
}

int hwt_reschedule_many(struct hwt *hwt, unsigned int flags,
			const struct hwtimer_bulk_timer *timers,
			uint64_t *results, unsigned int count)
{
	return bulk_plain(hwt, HWTIMER_OP_RESCHEDULE, flags, timers, results,
			  count);
}

int hwt_cancel_many(struct hwt *hwt, unsigned int flags, const uint64_t *ids,
		    uint64_t *results, unsigned int count)
{
	return bulk_plain(hwt, HWTIMER_OP_CANCEL, flags, ids, results, count);
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

/* ---- queries, stop and notification ---- */

/* The program need not write what the module does not look at, but valgrind would miss it. */
int hwt_query(struct hwt *hwt, struct hwtimer_timer *timer)
{
	struct hwtimer_timer query = { .id = timer->id };
	int err = call(hwt, HWTIMER_IOC_QUERY, &query);

	if (err)
		return err;
	*timer = query;
	hwt_written(timer, sizeof(*timer));
	return 0;
}

int hwt_cancel_all(struct hwt *hwt, unsigned int flags, uint64_t *cancelled)
{
	struct hwtimer_list all = { .count = INT_MAX, .flags = flags };
	uint64_t ended = 0;
	int ret;

	do {
		ret = call(hwt, HWTIMER_IOC_CANCEL_ALL, &all);
		if (ret > 0)
			ended += ret;
	} while (ret > 0 || ret == -EINTR);
	if (!ret) {
		__atomic_add_fetch(&hwt->cancellations, 1, __ATOMIC_RELEASE);
		if (hwt_active(hwt))
			hwt_timers_end(hwt);
	}
	if (cancelled)
		hwt_give(cancelled, ended);
	return ret;
}

int hwt_next_time(struct hwt *hwt, uint64_t *remaining)
{
	struct hwtimer_info info;
	int err = hwt_info(hwt, &info);

	if (!err)
		hwt_give(remaining, info.until_next);
	return err;
}

static int page(struct hwt *hwt, unsigned long command, unsigned int flags,
		uint64_t *cursor, struct hwtimer_timer *timers,
		unsigned int count)
{
	struct hwtimer_list list = {
		.timers = (uintptr_t)timers,
		.cursor = *cursor,
		.count = count,
		.flags = flags,
	};
	int ret = call(hwt, command, &list);

	/* After an error, too, the module leaves in it where to go on. */
	*cursor = list.cursor;
	return ret;
}

int hwt_list(struct hwt *hwt, uint64_t *cursor, struct hwtimer_timer *timers,
	     unsigned int count)
{
	return page(hwt, HWTIMER_IOC_LIST, 0, cursor, timers, count);
}

int hwt_stop(struct hwt *hwt, uint64_t *cursor, struct hwtimer_timer *timers,
	     unsigned int count)
{
	uint64_t unused = 0;

	return page(hwt, HWTIMER_IOC_CANCEL_ALL, HWTIMER_LIST_STOP,
		    count ? cursor : &unused, timers, count);
}

int hwt_stats_sized(struct hwt *hwt, struct hwtimer_stats *stats, size_t size)
{
	return pass(hwt, sized(HWTIMER_IOC_STATS, size), stats);
}

int hwt_notify(struct hwt *hwt, unsigned int events, uint64_t delay)
{
	struct hwtimer_notify notify = { .delay = delay, .events = events };

	/* It stays set: of two threads that call this, the module may take either last. */
	if (events > 1)
		__atomic_store_n(&hwt->watermark, true, __ATOMIC_RELAXED);
	return call(hwt, HWTIMER_IOC_NOTIFY, &notify);
}

/* ---- events ---- */

static int manual_read(struct hwt *hwt, struct hwtimer_event *events,
		       unsigned int count)
{
	int ret = hwt_manual_read(hwt->manual, events, count, hwt->waits);

	if (ret > 0)
		hwt_written(events, ret * sizeof(*events));
	return ret;
}

/* The module tells the end as files do, by 0 bytes, and the library by an error. */
static int read_events(struct hwt *hwt, struct hwtimer_event *events,
		       unsigned int count)
{
	ssize_t bytes;

	if (count > INT_MAX / sizeof(*events))
		count = INT_MAX / sizeof(*events);
	if (hwt->manual)
		return manual_read(hwt, events, count);
	bytes = read(hwt->fd, events, count * sizeof(*events));
	if (bytes < 0)
		return -errno;
	return bytes ? (int)(bytes / sizeof(*events)) : -ENOTCONN;
}

/* The events of timer objects are for hwt_dispatch() alone. */
int hwt_read(struct hwt *hwt, struct hwtimer_event *events, unsigned int count)
{
	return __atomic_load_n(&hwt->timers, __ATOMIC_RELAXED) ?
		       -EBUSY :
		       read_events(hwt, events, count);
}

/*
 * Fills the buffer with up to @max events if it is empty. Returns the number of events in
 * the buffer, or as hwt_read().
 */
static int fill(struct hwt *hwt, unsigned int max)
{
	int ret;

	/* A callback may have forked. */
	if (hwt_timers_foreign(hwt))
		return -EBADF;
	if (hwt->count)
		return hwt->count;
	if (max > EVENTS)
		max = EVENTS;
	ret = read_events(hwt, hwt->events, max);
	hwt->now = NOW_UNKNOWN;
	hwt->first = 0;
	hwt->count = ret > 0 ? ret : 0;
	note_reader(hwt);
	hwt->drained = ret < (int)max;
	return ret;
}

int hwt_next(struct hwt *hwt, struct hwtimer_event *event)
{
	int ret = hwt->timers ? -EBUSY : fill(hwt, EVENTS);

	if (ret < 0)
		return ret;
	*event = hwt->events[hwt->first++];
	hwt_written(event, sizeof(*event));
	hwt->count--;
	note_reader(hwt);
	return 1;
}

int hwt_ack(struct hwt *hwt, unsigned int count)
{
	struct hwtimer_ack ack = { .count = count };

	return call(hwt, HWTIMER_IOC_ACK, &ack);
}

int hwt_rewind(struct hwt *hwt)
{
	struct hwtimer_ack ack = { .flags = HWTIMER_ACK_REWIND };
	int err = call(hwt, HWTIMER_IOC_ACK, &ack);

	if (!err) {
		hwt->count = 0;
		note_reader(hwt);
	}
	return err;
}

/* Handles the next event of the buffer, of a copy: the callback may fill the buffer anew. */
static void dispatch_one(struct hwt *hwt, hwt_callback callback, void *arg)
{
	const struct hwtimer_event event = hwt->events[hwt->first++];

	hwt->count--;
	if (!hwt->count)
		note_reader(hwt);
	if ((hwt->timers && hwt_timers_take(hwt, &event)) || !callback)
		return;
	hwt_written(&event, sizeof(event));
	hwt_will_call_back();
	callback(arg, &event);
}

/*
 * Whether there is enough done: if a callback has ended it, or a read could wait, or is known to
 * find nothing. What comes later makes poll() ready, but what an interrupted read
 * has left does not, if there is a watermark.
 */
static bool enough(const struct hwt *hwt, unsigned int done)
{
	if (hwt_ends(hwt))
		return true;
	if (!done || hwt->count)
		return false;
	return hwt->waits ||
	       (hwt->drained && hwt->timers &&
		!__atomic_load_n(&hwt->watermark, __ATOMIC_RELAXED));
}

/*
 * If a read would wait, tells the module what has changed, and waits no longer than what the
 * module has refused allows. Returns 0 if there is something to read; -EAGAIN, -EINTR or another
 * error of poll().
 */
static int wait_for_refused(struct hwt *hwt)
{
	struct pollfd ready = { .fd = hwt->fd, .events = POLLIN };
	int ms, ret;

	if (!hwt->waits || hwt->count)
		return 0;
	/* When to try again what was refused is for the program to choose. */
	if (!hwt_refused(hwt))
		hwt_flush(hwt);
	ms = hwt_wait_ms(hwt, -1);
	if (ms < 0)
		return 0;
	hwt_written(&ready, sizeof(ready));
	ret = poll(&ready, 1, ms);
	hwt->now = NOW_UNKNOWN;
	if (ret < 0)
		return -errno;
	return ret ? 0 : -EAGAIN;
}

/* @max is from 1 to INT_MAX. */
static int dispatch(struct hwt *hwt, hwt_callback callback, void *arg,
		    unsigned int max)
{
	unsigned int done = 0;
	int ret;

	hwt->drained = false;
	ret = wait_for_refused(hwt);
	while (!ret && done < max && !enough(hwt, done)) {
		/* Events beyond @max stay unread, so that they make poll() ready. */
		ret = fill(hwt, max - done);
		if (ret < 0)
			break;
		ret = 0;
		dispatch_one(hwt, callback, arg);
		done++;
	}
	/* The module reports it only once. */
	if (ret == -ECANCELED)
		return ret;
	if (hwt->timers)
		done += hwt_timers_serve_refused(hwt, max - done);
	return done ? (int)done : ret;
}

int hwt_dispatch(struct hwt *hwt, hwt_callback callback, void *arg,
		 unsigned int max)
{
	int ret;

	if (!max)
		return 0;
	if (hwt_timers_foreign(hwt))
		return -EBADF;
	if (max > INT_MAX)
		max = INT_MAX;
	hwt->left = false;
	/* Another thread may have read before. */
	note_reader(hwt);
	hwt->depth++;
	ret = dispatch(hwt, callback, arg, max);
	hwt->left = hwt->broken == hwt->depth || ret == (int)max;
	hwt->depth--;
	/* Those around it end, too, but not what their callbacks call after that. */
	if (hwt->broken > hwt->depth)
		hwt->broken = hwt->depth;
	if (hwt->closed && !hwt->depth)
		instance_free(hwt);
	return ret;
}

void hwt_break(struct hwt *hwt)
{
	hwt->broken = hwt->depth;
}

int hwt_dispatch_check(struct hwt *hwt)
{
	int ret;

	if (hwt->manual)
		return hwt->waits ? -EINVAL : 0;
	ret = fcntl(hwt->fd, F_GETFL);
	if (ret < 0)
		return -errno;
	return ret & O_NONBLOCK ? 0 : -EINVAL;
}
