/* SPDX-License-Identifier: MIT */
/*
 * Adds an instance to a loop of sd-event, which is in libsystemd; see libhwtimer(3).
 *
 *	struct hwt_sd_event timers = { hwt, on_timer, arg };
 *
 *	hwt_sd_event_add(&timers, event);	the loop calls on_timer(), and the
 *						callbacks of timer objects
 *	hwt_sd_event_remove(&timers);		before hwt_close(). Both may be in a callback;
 *						no other one follows then
 *
 * After sd_event_exit() in a callback, no other one follows.
 */
#ifndef HWTIMER_SD_EVENT_H
#define HWTIMER_SD_EVENT_H

#include <errno.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>

#include <libhwtimer.h>

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

/* Maximum number of callbacks before other sources of the loop get their turn */
#define HWT_SD_EVENT_TURN 1000

/**
 * struct hwt_sd_event - an instance in a loop
 * @hwt: the instance, opened with HWT_NONBLOCK
 * @callback: function that the loop calls for each event that is not of a timer object;
 *	may be NULL
 * @arg: first argument of @callback and @on_error
 * @on_error: NULL, or a function that is called with a negative errno: -ECANCELED: the
 *	clock was set, and the loop goes on. An error of hwt_flush(): the loop goes on, and
 *	tries again. After any other errno, the loop serves the instance no more:
 *	-ENOTCONN: the instance is stopped; others: as hwt_read()
 * @source: sd-event's source, used only by the functions below
 * @retry: the same, for when hwt_flush() has failed, or events may be left that do not make
 *	the descriptor ready
 */
struct hwt_sd_event {
	struct hwt *hwt;
	hwt_callback callback;
	void *arg;
	void (*on_error)(void *arg, int err);
	sd_event_source *source;
	sd_event_source *retry;
};

static inline void hwt_sd_event_retry_in(struct hwt_sd_event *timers, int ms)
{
	sd_event_source_set_time_relative(timers->retry, (uint64_t)ms * 1000);
	sd_event_source_set_enabled(timers->retry, SD_EVENT_ONESHOT);
}

/* Called after each callback. @timers and the timer's object may be gone. */
static inline void hwt_sd_event_break(struct hwt *hwt, sd_event *event)
{
	int code;

	if (sd_event_get_exit_code(event, &code) >= 0)
		hwt_break(hwt);
}

static inline void hwt_sd_event_event(void *arg,
				      const struct hwtimer_event *event)
{
	struct hwt_sd_event *timers = (struct hwt_sd_event *)arg;
	sd_event *loop = sd_event_source_get_event(timers->source);
	struct hwt *hwt = timers->hwt;

	timers->callback(timers->arg, event);
	hwt_sd_event_break(hwt, loop);
}

static inline void hwt_sd_event_timer(void *event, struct hwt_timer *timer)
{
	struct hwt *hwt = timer->hwt;

	timer->callback(timer);
	hwt_sd_event_break(hwt, (sd_event *)event);
}

/* sd-event keeps the source while its callback runs. */
static inline void hwt_sd_event_serve(sd_event_source *source)
{
	struct hwt_sd_event *timers =
		(struct hwt_sd_event *)sd_event_source_get_userdata(source);
	int ret = hwt_dispatch(timers->hwt,
			       timers->callback ? hwt_sd_event_event : NULL,
			       timers, HWT_SD_EVENT_TURN);

	/* A callback has removed it. The memory of @timers may be something else's then. */
	if (!sd_event_source_get_userdata(source))
		return;
	if (hwt_dispatch_failed(ret)) {
		hwt_wrap_callbacks(timers->hwt, NULL, NULL);
		sd_event_source_set_enabled(timers->source, SD_EVENT_OFF);
		sd_event_source_set_enabled(timers->retry, SD_EVENT_OFF);
	}
	if ((hwt_dispatch_failed(ret) || ret == -ECANCELED) && timers->on_error)
		timers->on_error(timers->arg, ret);
}

static inline int hwt_sd_event_ready(sd_event_source *source, int fd,
				     uint32_t events, void *arg)
{
	(void)arg;
	(void)fd;
	(void)events;
	hwt_sd_event_serve(source);
	return 0;
}

static inline int hwt_sd_event_again(sd_event_source *source, uint64_t time,
				     void *arg)
{
	(void)arg;
	(void)time;
	hwt_sd_event_serve(source);
	return 0;
}

/* Called before the loop waits. */
static inline int hwt_sd_event_prepare(sd_event_source *source, void *arg)
{
	struct hwt_sd_event *timers = (struct hwt_sd_event *)arg;
	int err = hwt_flush(timers->hwt);
	int wait = hwt_wait_ms(timers->hwt, -1);

	(void)source;
	/* A loop that never rests would put it off in each pass. */
	if (!wait ||
	    (wait > 0 && !sd_event_source_get_enabled(timers->retry, NULL)))
		hwt_sd_event_retry_in(timers, wait);
	if (err && timers->on_error)
		timers->on_error(timers->arg, err);
	return 0;
}

static inline void hwt_sd_event_remove(struct hwt_sd_event *timers)
{
	if (timers->source) {
		hwt_break(timers->hwt);
		hwt_wrap_callbacks(timers->hwt, NULL, NULL);
		sd_event_source_set_userdata(timers->source, NULL);
	}
	if (timers->retry)
		sd_event_source_set_userdata(timers->retry, NULL);
	timers->source = sd_event_source_disable_unref(timers->source);
	timers->retry = sd_event_source_disable_unref(timers->retry);
}

/* Returns 0 or a negative errno; -EINVAL as hwt_dispatch_check(). */
static inline int hwt_sd_event_add(struct hwt_sd_event *timers, sd_event *event)
{
	/* In strict C, <time.h> has no CLOCK_MONOTONIC. */
	const clockid_t clock = HWTIMER_CLOCKID(HWTIMER_CLOCK_MONOTONIC);
	int err = hwt_dispatch_check(timers->hwt);

	timers->source = NULL;
	timers->retry = NULL;
	if (!err)
		err = sd_event_add_io(event, &timers->source,
				      hwt_fd(timers->hwt), EPOLLIN,
				      hwt_sd_event_ready, timers);
	if (err >= 0)
		err = sd_event_add_time_relative(event, &timers->retry, clock,
						 0, 1, hwt_sd_event_again,
						 timers);
	if (err >= 0)
		err = sd_event_source_set_enabled(timers->retry, SD_EVENT_OFF);
	if (err >= 0)
		err = sd_event_source_set_prepare(timers->source,
						  hwt_sd_event_prepare);
	if (err < 0) {
		hwt_sd_event_remove(timers);
		return err;
	}
	hwt_wrap_callbacks(timers->hwt, hwt_sd_event_timer, event);
	return 0;
}

#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

#endif /* HWTIMER_SD_EVENT_H */
