/* SPDX-License-Identifier: MIT */
/*
 * Adds an instance to a loop of libuv; see libhwtimer(3).
 *
 *	struct hwt_libuv timers = { hwt, on_timer, arg };
 *
 *	hwt_libuv_add(&timers, loop);		the loop calls on_timer()
 *	hwt_libuv_remove(&timers, on_close);	not in on_timer(); hwt_close() only
 *						after on_close()
 */
#ifndef HWTIMER_LIBUV_H
#define HWTIMER_LIBUV_H

#include <errno.h>
#include <limits.h>
#include <uv.h>

#include <libhwtimer.h>

/**
 * struct hwt_libuv - an instance in a loop
 * @hwt: the instance, opened with HWT_NONBLOCK
 * @callback: function that the loop calls for each event
 * @arg: first argument of @callback and @on_error
 * @on_error: NULL, or a function that is called with a negative errno: -ECANCELED: the
 *	clock was set, and the loop goes on. After any other errno, the loop serves the
 *	instance no more: -ENOTCONN: the instance is stopped; others: as hwt_read()
 * @poll: libuv's handle, used only by the functions below; the program may use its
 *	data field
 */
struct hwt_libuv {
	struct hwt *hwt;
	hwt_callback callback;
	void *arg;
	void (*on_error)(void *arg, int err);
	uv_poll_t poll;
};

static inline void hwt_libuv_ready(uv_poll_t *poll, int status, int events)
{
	struct hwt_libuv *timers =
		(struct hwt_libuv *)((char *)poll -
				     offsetof(struct hwt_libuv, poll));
	int ret = status;

	(void)events;
	/* No limit: poll() is not ready for fewer events than hwt_notify() asks for. */
	if (!status)
		ret = hwt_dispatch(timers->hwt, timers->callback, timers->arg,
				   INT_MAX);
	if (hwt_dispatch_failed(ret))
		uv_poll_stop(poll);
	if ((hwt_dispatch_failed(ret) || ret == -ECANCELED) && timers->on_error)
		timers->on_error(timers->arg, ret);
}

/*
 * Returns 0 or a negative error of libuv, which is a negative errno; -EINVAL as
 * hwt_dispatch_check().
 */
static inline int hwt_libuv_add(struct hwt_libuv *timers, uv_loop_t *loop)
{
	int err = hwt_dispatch_check(timers->hwt);

	if (err)
		return err;
	err = uv_poll_init(loop, &timers->poll, hwt_fd(timers->hwt));
	return err ? err :
		     uv_poll_start(&timers->poll, UV_READABLE, hwt_libuv_ready);
}

static inline void hwt_libuv_remove(struct hwt_libuv *timers,
				    uv_close_cb on_close)
{
	uv_close((uv_handle_t *)&timers->poll, on_close);
}

#endif /* HWTIMER_LIBUV_H */
