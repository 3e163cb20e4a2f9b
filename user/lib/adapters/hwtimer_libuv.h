/* SPDX-License-Identifier: MIT */
/*
 * Adds an instance to a loop of libuv; see libhwtimer(3).
 *
 *	struct hwt_libuv timers = { hwt, on_timer, arg };
 *
 *	hwt_libuv_add(&timers, loop);		the loop calls on_timer(), and the
 *						callbacks of timer objects
 *	hwt_libuv_remove(&timers, on_close);	hwt_close() only after on_close(). After this
 *						in a callback, no other one follows
 *
 * Without on_timer(), uv_run() returns when no timer object is active any more; with it, only when
 * it was removed, as any thread may schedule. After hwt_libuv_unref(), uv_run() does not wait for
 * timers, but still serves them; hwt_libuv_ref() takes that back.
 *
 * In a child of fork(), remove the instance before any other handle.
 *
 * After uv_stop() in a callback, those that are due still come, as those of uv_timer_t do.
 */
#ifndef HWTIMER_LIBUV_H
#define HWTIMER_LIBUV_H

#include <errno.h>
#include <unistd.h>
#include <uv.h>

#include <libhwtimer.h>

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

/* Maximum number of callbacks before other handles of the loop get their turn */
#define HWT_LIBUV_TURN 1000

/**
 * struct hwt_libuv - an instance in a loop
 * @hwt: the instance, opened with HWT_NONBLOCK
 * @callback: function that the loop calls for each event that is not of a timer object;
 *	may be NULL
 * @arg: first argument of @callback and @on_error
 * @on_error: NULL, or a function that is called with a negative errno: -ECANCELED: the
 *	clock was set, and the loop goes on. An error of hwt_flush(): the loop goes on, and
 *	tries again. After any other errno, the loop serves the instance no more:
 *	-ENOTCONN: the instance is stopped; others: as hwt_read()
 * @unref: uv_run() does not wait for timers
 * @poll: libuv's handle, used only by the functions below; the program may use its
 *	data field
 * @prepare: the same, for hwt_flush() before the loop waits
 * @retry: the same, for when hwt_flush() has failed, or events may be left that do not make
 *	the descriptor ready
 * @pid: the same: process that has added the instance
 */
struct hwt_libuv {
	struct hwt *hwt;
	hwt_callback callback;
	void *arg;
	void (*on_error)(void *arg, int err);
	int unref;
	uv_poll_t poll;
	uv_prepare_t prepare;
	uv_timer_t retry;
	pid_t pid;
};

static inline void hwt_libuv_retry(uv_timer_t *retry);

static inline void hwt_libuv_serve(struct hwt_libuv *timers, int ret)
{
	if (!ret)
		ret = hwt_dispatch(timers->hwt, timers->callback, timers->arg,
				   HWT_LIBUV_TURN);
	/* A callback may have removed it. */
	if (uv_is_closing((uv_handle_t *)&timers->poll))
		return;
	if (hwt_dispatch_failed(ret)) {
		uv_poll_stop(&timers->poll);
		uv_prepare_stop(&timers->prepare);
		uv_timer_stop(&timers->retry);
	}
	if ((hwt_dispatch_failed(ret) || ret == -ECANCELED) && timers->on_error)
		timers->on_error(timers->arg, ret);
}

static inline void hwt_libuv_ready(uv_poll_t *poll, int status, int events)
{
	(void)events;
	hwt_libuv_serve((struct hwt_libuv *)((char *)poll -
					     offsetof(struct hwt_libuv, poll)),
			status);
}

static inline void hwt_libuv_retry(uv_timer_t *retry)
{
	hwt_libuv_serve((struct hwt_libuv *)((char *)retry -
					     offsetof(struct hwt_libuv, retry)),
			0);
}

/* A timer may be active now. Before uv_run() nothing else tells. */
static inline void hwt_libuv_changed(void *arg)
{
	struct hwt_libuv *timers = (struct hwt_libuv *)arg;

	if (!timers->unref)
		uv_ref((uv_handle_t *)&timers->poll);
}

static inline void hwt_libuv_flush(uv_prepare_t *prepare)
{
	struct hwt_libuv *timers =
		(struct hwt_libuv *)((char *)prepare -
				     offsetof(struct hwt_libuv, prepare));
	int err = hwt_flush(timers->hwt);
	int wait = hwt_wait_ms(timers->hwt, -1);

	if (!timers->callback && !hwt_active(timers->hwt))
		uv_unref((uv_handle_t *)&timers->poll);
	/* A loop that never rests would put a new start off in each pass. */
	if (!wait || (wait > 0 && !uv_is_active((uv_handle_t *)&timers->retry)))
		uv_timer_start(&timers->retry, hwt_libuv_retry, (uint64_t)wait,
			       0);
	if (err && timers->on_error)
		timers->on_error(timers->arg, err);
}

/*
 * Returns 0 or a negative error of libuv, which is a negative errno; -EINVAL as
 * hwt_dispatch_check().
 */
static inline int hwt_libuv_add(struct hwt_libuv *timers, uv_loop_t *loop)
{
	int err = hwt_dispatch_check(timers->hwt);

	timers->poll.loop = NULL;
	if (err)
		return err;
	err = uv_poll_init(loop, &timers->poll, hwt_fd(timers->hwt));
	if (err)
		return err;
	uv_prepare_init(loop, &timers->prepare);
	uv_timer_init(loop, &timers->retry);
	uv_prepare_start(&timers->prepare, hwt_libuv_flush);
	/* These two alone do not keep the loop going. */
	uv_unref((uv_handle_t *)&timers->prepare);
	uv_unref((uv_handle_t *)&timers->retry);
	timers->unref = 0;
	timers->pid = getpid();
	hwt_on_change(timers->hwt, hwt_libuv_changed, timers);
	return uv_poll_start(&timers->poll, UV_READABLE, hwt_libuv_ready);
}

/*
 * libuv finishes what is closed last first; so all three are closed at @on_close. Does nothing if
 * it was removed already, or could not be added.
 */
static inline void hwt_libuv_remove(struct hwt_libuv *timers,
				    uv_close_cb on_close)
{
	if (!timers->poll.loop || uv_is_closing((uv_handle_t *)&timers->poll))
		return;
	/* Otherwise the parent's loop would lose what is closed here. */
	if (timers->pid != getpid())
		uv_loop_fork(timers->poll.loop);
	hwt_break(timers->hwt);
	hwt_on_change(timers->hwt, NULL, NULL);
	uv_close((uv_handle_t *)&timers->poll, on_close);
	uv_close((uv_handle_t *)&timers->prepare, NULL);
	uv_close((uv_handle_t *)&timers->retry, NULL);
}

static inline void hwt_libuv_unref(struct hwt_libuv *timers)
{
	timers->unref = 1;
	uv_unref((uv_handle_t *)&timers->poll);
}

static inline void hwt_libuv_ref(struct hwt_libuv *timers)
{
	timers->unref = 0;
	uv_ref((uv_handle_t *)&timers->poll);
}

#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

#endif /* HWTIMER_LIBUV_H */
