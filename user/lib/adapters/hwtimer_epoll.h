/* SPDX-License-Identifier: MIT */
/*
 * Adds an instance to a plain epoll loop; see libhwtimer(3).
 *
 *	hwt_epoll_add(epoll, hwt);
 *
 *	count = hwt_epoll_wait(epoll, hwt, ready, ...);	tells what has changed, and waits
 *	for (...)
 *		if (ready[i].data.ptr == hwt)
 *			timers = true;
 *	if ((timers || hwt_refused(hwt)) &&
 *	    hwt_dispatch_failed(hwt_dispatch(hwt, NULL, NULL, 1000)))
 *		epoll_ctl(epoll, EPOLL_CTL_DEL, hwt_fd(hwt), NULL);
 */
#ifndef HWTIMER_EPOLL_H
#define HWTIMER_EPOLL_H

#include <errno.h>
#include <sys/epoll.h>

#include <libhwtimer.h>

/*
 * Adds @hwt, level-triggered, with @hwt as data.ptr. Returns 0 or a negative errno;
 * -EINVAL as hwt_dispatch_check().
 */
static inline int hwt_epoll_add(int epoll, struct hwt *hwt)
{
	int err = hwt_dispatch_check(hwt);
	struct epoll_event event;

	if (err)
		return err;
	event.events = EPOLLIN;
	event.data.ptr = hwt;
	return epoll_ctl(epoll, EPOLL_CTL_ADD, hwt_fd(hwt), &event) ? -errno :
								      0;
}

/*
 * As epoll_wait(), but first tells the module what has changed about timer objects. If that
 * fails, hwt_refused() has the error, and this returns soon.
 */
static inline int hwt_epoll_wait(int epoll, struct hwt *hwt,
				 struct epoll_event *ready, int count,
				 int timeout)
{
	hwt_flush(hwt);
	return epoll_wait(epoll, ready, count, hwt_wait_ms(hwt, timeout));
}

#endif /* HWTIMER_EPOLL_H */
