/* SPDX-License-Identifier: MIT */
/*
 * libhwtimer in a loop of libuv: libhwtimer(3).
 *
 *	struct hwt_libuv timers = { hwt, on_timer, arg };
 *
 *	hwt_libuv_add(&timers, loop);		the loop calls on_timer()
 *	hwt_libuv_remove(&timers, on_close);	hwt_close() after on_close()
 */
#ifndef HWTIMER_LIBUV_H
#define HWTIMER_LIBUV_H

#include <uv.h>

#include <libhwtimer.h>

/* Events for which the callback is called before others get their turn */
#define HWT_LIBUV_TURN 1000

/**
 * struct hwt_libuv - an instance in a loop
 * @hwt: opened with HWT_NONBLOCK
 * @callback: called by the loop for each event
 * @arg: of it
 * @poll: for the functions below; its data is the program's to use
 */
struct hwt_libuv {
	struct hwt *hwt;
	hwt_callback callback;
	void *arg;
	uv_poll_t poll;
};

static inline void hwt_libuv_ready(uv_poll_t *poll, int status, int events)
{
	struct hwt_libuv *timers =
		(struct hwt_libuv *)((char *)poll -
				     offsetof(struct hwt_libuv, poll));

	(void)status;
	(void)events;
	/* Once the instance is stopped, it would be ready for ever. */
	if (hwt_dispatch(timers->hwt, timers->callback, timers->arg,
			 HWT_LIBUV_TURN) == -ENOTCONN)
		uv_poll_stop(poll);
}

/* Returns 0 or a negative error of libuv, which is a negative errno. */
static inline int hwt_libuv_add(struct hwt_libuv *timers, uv_loop_t *loop)
{
	int err = uv_poll_init(loop, &timers->poll, hwt_fd(timers->hwt));

	return err ? err :
		     uv_poll_start(&timers->poll, UV_READABLE, hwt_libuv_ready);
}

static inline void hwt_libuv_remove(struct hwt_libuv *timers,
				    uv_close_cb on_close)
{
	uv_close((uv_handle_t *)&timers->poll, on_close);
}

#endif /* HWTIMER_LIBUV_H */
