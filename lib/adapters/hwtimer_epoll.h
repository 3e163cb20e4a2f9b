/* SPDX-License-Identifier: MIT */
/*
 * Adds an instance to a plain epoll loop; see libhwtimer(3).
 *
 *	hwt_epoll_add(epoll, hwt);
 *
 *	count = epoll_wait(epoll, ready, ...);
 *	if (ready[i].data.ptr == hwt &&
 *	    hwt_dispatch_failed(hwt_dispatch(hwt, on_timer, arg, 1000)))
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
	struct epoll_event event = { .events = EPOLLIN };
	int err = hwt_dispatch_check(hwt);

	if (err)
		return err;
	event.data.ptr = hwt;
	return epoll_ctl(epoll, EPOLL_CTL_ADD, hwt_fd(hwt), &event) ? -errno :
								      0;
}

#endif /* HWTIMER_EPOLL_H */
