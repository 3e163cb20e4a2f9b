/* SPDX-License-Identifier: MIT */
/*
 * Adds an instance to a plain epoll loop; see libhwtimer(3).
 *
 *	struct hwt_epoll timers = { hwt, on_timer, arg };
 *
 *	hwt_epoll_add(&timers, epoll);
 *
 *	count = hwt_epoll_wait(&timers, ready, ...);	as epoll_wait()
 *	for (...)
 *		...					all entries, none of which is the instance's
 *	ret = hwt_epoll_dispatch(&timers);		calls on_timer(), and the callbacks of
 *							timer objects
 *
 *	hwt_epoll_remove(&timers);			before hwt_close(). Both may be in a
 *							callback; no other one follows then
 *
 * As callbacks come after all entries, they may free what an entry points to. After hwt_break() in
 * a callback, no other one follows; they come in the next round.
 */
#ifndef HWTIMER_EPOLL_H
#define HWTIMER_EPOLL_H

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <libhwtimer.h>

/* Maximum number of callbacks before other entries get their turn */
#define HWT_EPOLL_TURN 1000

/**
 * struct hwt_epoll - an instance in a loop
 * @hwt: the instance, opened with HWT_NONBLOCK
 * @callback: function that the loop calls for each event that is not of a timer object;
 *	may be NULL
 * @arg: first argument of @callback
 * @by_fd: the loop's entries have data.fd; 0: they have data.ptr
 * @epoll: the loop's descriptor, used only by the functions below
 * @pid: the same: process that has added the instance; 0: it is not in the loop
 * @ready: the same: hwt_epoll_dispatch() has something to do
 */
struct hwt_epoll {
	struct hwt *hwt;
	hwt_callback callback;
	void *arg;
	int by_fd;
	int epoll;
	pid_t pid;
	int ready;
};

/*
 * Adds @timers, level-triggered. Returns 0 or a negative errno; -EINVAL as
 * hwt_dispatch_check().
 */
static inline int hwt_epoll_add(struct hwt_epoll *timers, int epoll)
{
	int err = hwt_dispatch_check(timers->hwt);
	struct epoll_event event;

	timers->epoll = epoll;
	timers->pid = 0;
	timers->ready = 0;
	if (err)
		return err;
	memset(&event, 0, sizeof(event));
	event.events = EPOLLIN;
	if (timers->by_fd)
		event.data.fd = hwt_fd(timers->hwt);
	else
		event.data.ptr = timers;
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, hwt_fd(timers->hwt), &event))
		return -errno;
	timers->pid = getpid();
	return 0;
}

/*
 * Does nothing if it was removed already, or could not be added. In a child of fork(), it leaves
 * alone the loop, which is the parent's, too.
 */
static inline void hwt_epoll_remove(struct hwt_epoll *timers)
{
	if (!timers->pid)
		return;
	hwt_break(timers->hwt);
	if (timers->pid == getpid())
		epoll_ctl(timers->epoll, EPOLL_CTL_DEL, hwt_fd(timers->hwt),
			  NULL);
	timers->pid = 0;
	timers->ready = 0;
}

/* Takes the entry of @timers from the @count entries at @ready. Returns how many are left. */
static inline int hwt_epoll_take(struct hwt_epoll *timers,
				 struct epoll_event *ready, int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (timers->by_fd ? ready[i].data.fd == hwt_fd(timers->hwt) :
				    ready[i].data.ptr == timers)
			break;
	if (i >= count)
		return count;
	timers->ready = 1;
	for (; i + 1 < count; i++)
		ready[i] = ready[i + 1];
	return count - 1;
}

/*
 * As epoll_wait(), but first tells the module what has changed about timer objects; if that fails,
 * hwt_refused() has the error. Returns 0 also if only hwt_epoll_dispatch() has something to do.
 */
static inline int hwt_epoll_wait(struct hwt_epoll *timers,
				 struct epoll_event *ready, int count,
				 int timeout)
{
	/* It was removed, and may be closed. */
	if (!timers->pid)
		return epoll_wait(timers->epoll, ready, count, timeout);
	hwt_flush(timers->hwt);
	count = epoll_wait(timers->epoll, ready, count,
			   hwt_wait_ms(timers->hwt, timeout));
	timers->ready = hwt_wait_ms(timers->hwt, -1) >= 0;
	return hwt_epoll_take(timers, ready, count);
}

/*
 * Call it when all entries of hwt_epoll_wait() are handled. Returns 0 if there is nothing to do, or
 * as hwt_dispatch(). If hwt_dispatch_failed() says so, the instance is not in the loop any more.
 */
static inline int hwt_epoll_dispatch(struct hwt_epoll *timers)
{
	int ret;

	if (!timers->ready)
		return 0;
	timers->ready = 0;
	ret = hwt_dispatch(timers->hwt, timers->callback, timers->arg,
			   HWT_EPOLL_TURN);
	/* No callback has run then, and so @timers is still there. */
	if (hwt_dispatch_failed(ret))
		hwt_epoll_remove(timers);
	return ret;
}

#endif /* HWTIMER_EPOLL_H */
