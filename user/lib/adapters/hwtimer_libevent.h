/* SPDX-License-Identifier: MIT */
/*
 * Adds an instance to a loop of libevent; see libhwtimer(3).
 *
 *	struct hwt_libevent timers = { hwt, on_timer, arg };
 *
 *	hwt_libevent_add(&timers, base);	the loop calls on_timer(), and the
 *						callbacks of timer objects
 *	hwt_libevent_remove(&timers);		before hwt_close(). Both may be in a callback;
 *						no other one follows then
 *
 * After event_base_loopbreak() in a callback, no other one follows; they come when the loop runs
 * again.
 *
 * In a child of fork(), remove the instance before event_base_free().
 *
 * Without on_timer(), the loop ends with the last timer object that is active; with it, not before
 * it is removed, as any thread may schedule.
 */
#ifndef HWTIMER_LIBEVENT_H
#define HWTIMER_LIBEVENT_H

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <unistd.h>

#include <libhwtimer.h>

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

/* Maximum number of callbacks before other events of the loop get their turn */
#define HWT_LIBEVENT_TURN 1000

/* Whether callbacks run, and whether one of them has removed the instance */
struct hwt_libevent_running {
	int runs;
	int removed;
};

/**
 * struct hwt_libevent - an instance in a loop
 * @hwt: the instance, opened with HWT_NONBLOCK
 * @callback: function that the loop calls for each event that is not of a timer object;
 *	may be NULL
 * @arg: first argument of @callback and @on_error
 * @on_error: NULL, or a function that is called with a negative errno: -ECANCELED: the
 *	clock was set, and the loop goes on. An error of hwt_flush(): the loop goes on, and
 *	tries again. After any other errno, the loop serves the instance no more:
 *	-ENOTCONN: the instance is stopped; others: as hwt_read()
 * @event: libevent's event, used only by the functions below
 * @flush: the same, for hwt_flush()
 * @retry: the same, for when hwt_flush() has failed, or events may be left that do not make
 *	the descriptor ready
 * @pid: the same: process that has added the instance
 * @running: the same: what outlives this if a callback removes it
 */
struct hwt_libevent {
	struct hwt *hwt;
	hwt_callback callback;
	void *arg;
	void (*on_error)(void *arg, int err);
	struct event *event;
	struct event *flush;
	struct event *retry;
	pid_t pid;
	struct hwt_libevent_running *running;
};

/* Called after each callback. @timers and the timer's object may be gone. */
static inline void hwt_libevent_break(struct hwt *hwt, struct event_base *base)
{
	if (event_base_got_break(base))
		hwt_break(hwt);
}

static inline void hwt_libevent_event(void *arg,
				      const struct hwtimer_event *event)
{
	struct hwt_libevent *timers = (struct hwt_libevent *)arg;
	struct event_base *base = event_get_base(timers->event);
	struct hwt *hwt = timers->hwt;

	timers->callback(timers->arg, event);
	hwt_libevent_break(hwt, base);
}

static inline void hwt_libevent_timer(void *base, struct hwt_timer *timer)
{
	struct hwt *hwt = timer->hwt;

	timer->callback(timer);
	hwt_libevent_break(hwt, (struct event_base *)base);
}

static inline void hwt_libevent_ready(evutil_socket_t fd, short what, void *arg)
{
	struct hwt_libevent *timers = (struct hwt_libevent *)arg;
	struct hwt_libevent_running *running = timers->running;
	int ret;

	(void)fd;
	(void)what;
	running->runs = 1;
	ret = hwt_dispatch(timers->hwt,
			   timers->callback ? hwt_libevent_event : NULL, timers,
			   HWT_LIBEVENT_TURN);
	running->runs = 0;
	/* The memory of @timers may be something else's then. */
	if (running->removed) {
		free(running);
		return;
	}
	/* What is made active here would be called again before the loop asks for other events. */
	if (!hwt_wait_ms(timers->hwt, -1)) {
		const struct timeval now = { 0, 0 };

		event_add(timers->retry, &now);
	}
	if (hwt_dispatch_failed(ret)) {
		hwt_on_change(timers->hwt, NULL, NULL);
		hwt_wrap_callbacks(timers->hwt, NULL, NULL);
		event_del(timers->event);
		event_del(timers->flush);
		event_del(timers->retry);
	}
	if ((hwt_dispatch_failed(ret) || ret == -ECANCELED) && timers->on_error)
		timers->on_error(timers->arg, ret);
}

/* Called after the callbacks that have changed something, or to try again. */
static inline void hwt_libevent_flush(evutil_socket_t fd, short what, void *arg)
{
	struct hwt_libevent *timers = (struct hwt_libevent *)arg;
	int err = hwt_flush(timers->hwt);
	int wait = hwt_wait_ms(timers->hwt, -1);

	(void)fd;
	(void)what;
	/* What was added keeps the loop going. */
	if (timers->callback || hwt_active(timers->hwt))
		event_add(timers->event, NULL);
	else
		event_del(timers->event);
	/* A loop with changes in each pass would put off what waits already. */
	if (wait >= 0 && !event_pending(timers->retry, EV_TIMEOUT, NULL)) {
		const struct timeval soon = { 0, wait * 1000 };

		event_add(timers->retry, &soon);
	}
	if (err && timers->on_error)
		timers->on_error(timers->arg, err);
}

/* In libevent 2.1, nothing is called before the loop waits. */
static inline void hwt_libevent_changed(void *arg)
{
	struct hwt_libevent *timers = (struct hwt_libevent *)arg;

	event_active(timers->flush, EV_WRITE, 0);
}

/* Not by the timeout of @flush: a change would end it. */
static inline void hwt_libevent_retry(evutil_socket_t fd, short what, void *arg)
{
	struct hwt_libevent *timers = (struct hwt_libevent *)arg;

	(void)fd;
	(void)what;
	event_active(timers->event, EV_READ, 0);
	event_active(timers->flush, EV_WRITE, 0);
}

static inline void hwt_libevent_remove(struct hwt_libevent *timers)
{
	if (timers->running && timers->running->runs)
		timers->running->removed = 1;
	else
		free(timers->running);
	if (timers->event) {
		/* Otherwise the parent's loop would lose what is removed here. */
		if (timers->pid != getpid())
			event_reinit(event_get_base(timers->event));
		hwt_break(timers->hwt);
		hwt_on_change(timers->hwt, NULL, NULL);
		hwt_wrap_callbacks(timers->hwt, NULL, NULL);
		event_free(timers->event);
	}
	if (timers->flush)
		event_free(timers->flush);
	if (timers->retry)
		event_free(timers->retry);
	timers->event = NULL;
	timers->flush = NULL;
	timers->retry = NULL;
	timers->running = NULL;
}

/* Returns 0 or a negative errno; -EINVAL as hwt_dispatch_check(). */
static inline int hwt_libevent_add(struct hwt_libevent *timers,
				   struct event_base *base)
{
	int err = hwt_dispatch_check(timers->hwt);
	void *running;

	timers->event = NULL;
	timers->flush = NULL;
	timers->retry = NULL;
	timers->running = NULL;
	if (err)
		return err;
	running = calloc(1, sizeof(*timers->running));
	timers->running = (struct hwt_libevent_running *)running;
	timers->pid = getpid();
	timers->event = event_new(base, hwt_fd(timers->hwt),
				  EV_READ | EV_PERSIST, hwt_libevent_ready,
				  timers);
	timers->flush = event_new(base, -1, 0, hwt_libevent_flush, timers);
	timers->retry = event_new(base, -1, 0, hwt_libevent_retry, timers);
	if (!timers->running || !timers->event || !timers->flush ||
	    !timers->retry)
		err = -ENOMEM;
	else if (event_add(timers->event, NULL))
		err = -EINVAL;
	if (err) {
		hwt_libevent_remove(timers);
		return err;
	}
	/* A pass without a change does not call hwt_flush(). */
	hwt_cache_time(timers->hwt, 0);
	hwt_wrap_callbacks(timers->hwt, hwt_libevent_timer, base);
	hwt_on_change(timers->hwt, hwt_libevent_changed, timers);
	hwt_libevent_changed(timers);
	return 0;
}

#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

#endif /* HWTIMER_LIBEVENT_H */
