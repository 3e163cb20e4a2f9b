/* SPDX-License-Identifier: MIT */
/*
 * Adds an instance to a loop of libevent; see libhwtimer(3).
 *
 *	struct hwt_libevent timers = { hwt, on_timer, arg };
 *
 *	hwt_libevent_add(&timers, base);	the loop calls on_timer()
 *	hwt_libevent_remove(&timers);		before hwt_close();
 *						not in on_timer()
 */
#ifndef HWTIMER_LIBEVENT_H
#define HWTIMER_LIBEVENT_H

#include <errno.h>
#include <event2/event.h>

#include <libhwtimer.h>

/* Maximum number of callbacks before other events of the loop get their turn */
#define HWT_LIBEVENT_TURN 1000

/**
 * struct hwt_libevent - an instance in a loop
 * @hwt: the instance, opened with HWT_NONBLOCK
 * @callback: function that the loop calls for each event
 * @arg: first argument of @callback and @on_error
 * @on_error: NULL, or a function that is called with a negative errno: -ECANCELED: the
 *	clock was set, and the loop goes on. After any other errno, the loop serves the
 *	instance no more: -ENOTCONN: the instance is stopped; others: as hwt_read()
 * @event: libevent's event, used only by the functions below
 */
struct hwt_libevent {
	struct hwt *hwt;
	hwt_callback callback;
	void *arg;
	void (*on_error)(void *arg, int err);
	struct event *event;
};

static inline void hwt_libevent_ready(evutil_socket_t fd, short what, void *arg)
{
	struct hwt_libevent *timers = (struct hwt_libevent *)arg;
	int ret = hwt_dispatch(timers->hwt, timers->callback, timers->arg,
			       HWT_LIBEVENT_TURN);

	(void)fd;
	(void)what;
	/* If fewer events are left than hwt_notify() asks for, poll() is not ready. */
	if (ret == HWT_LIBEVENT_TURN)
		event_active(timers->event, EV_READ, 0);
	if (hwt_dispatch_failed(ret))
		event_del(timers->event);
	if ((hwt_dispatch_failed(ret) || ret == -ECANCELED) && timers->on_error)
		timers->on_error(timers->arg, ret);
}

/* Returns 0 or a negative errno; -EINVAL as hwt_dispatch_check(). */
static inline int hwt_libevent_add(struct hwt_libevent *timers,
				   struct event_base *base)
{
	int err = hwt_dispatch_check(timers->hwt);

	timers->event = NULL;
	if (err)
		return err;
	timers->event = event_new(base, hwt_fd(timers->hwt),
				  EV_READ | EV_PERSIST, hwt_libevent_ready,
				  timers);
	if (!timers->event)
		return -ENOMEM;
	if (!event_add(timers->event, NULL))
		return 0;
	event_free(timers->event);
	timers->event = NULL;
	return -EINVAL;
}

static inline void hwt_libevent_remove(struct hwt_libevent *timers)
{
	if (timers->event)
		event_free(timers->event);
	timers->event = NULL;
}

#endif /* HWTIMER_LIBEVENT_H */
