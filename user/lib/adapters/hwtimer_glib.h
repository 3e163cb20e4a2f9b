/* SPDX-License-Identifier: MIT */
/*
 * Adds an instance to a loop of GLib, as a GSource; see libhwtimer(3).
 *
 *	struct hwt_glib timers = { hwt, on_timer, arg };
 *
 *	hwt_glib_add(&timers, context);		context: NULL: the default one. The loop
 *						calls on_timer(), and the callbacks of
 *						timer objects
 *	hwt_glib_remove(&timers);		before hwt_close(). Both may be in a callback;
 *						no other one follows then
 *
 * After g_main_loop_quit() in a callback, those that are due still come, as those of
 * g_timeout_add() do. While a callback runs a loop itself, as a modal dialog does, other timers go
 * on.
 */
#ifndef HWTIMER_GLIB_H
#define HWTIMER_GLIB_H

#include <errno.h>
#include <glib.h>

#include <libhwtimer.h>

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

/* Maximum number of callbacks before other sources of the loop get their turn */
#define HWT_GLIB_TURN 1000

/**
 * struct hwt_glib - an instance in a loop
 * @hwt: the instance, opened with HWT_NONBLOCK
 * @callback: function that the loop calls for each event that is not of a timer object;
 *	may be NULL
 * @arg: first argument of @callback and @on_error
 * @on_error: NULL, or a function that is called with a negative errno: -ECANCELED: the
 *	clock was set, and the loop goes on. An error of hwt_flush(): the loop goes on, and
 *	tries again. After any other errno, the loop serves the instance no more:
 *	-ENOTCONN: the instance is stopped; others: as hwt_read()
 * @source: GLib's source; the program may set its priority
 * @tag: of the descriptor, used only by the functions below
 */
struct hwt_glib {
	struct hwt *hwt;
	hwt_callback callback;
	void *arg;
	void (*on_error)(void *arg, int err);
	GSource *source;
	gpointer tag;
};

/* What GLib allocates for the source; @timers: NULL: it was removed, perhaps in a callback */
struct hwt_glib_source {
	GSource source;
	struct hwt_glib *timers;
};

static inline struct hwt_glib *hwt_glib_of(GSource *source)
{
	return ((struct hwt_glib_source *)source)->timers;
}

static inline gboolean hwt_glib_prepare(GSource *source, gint *timeout)
{
	struct hwt_glib *timers = hwt_glib_of(source);
	int err = hwt_flush(timers->hwt);

	*timeout = hwt_wait_ms(timers->hwt, -1);
	if (err && timers->on_error)
		timers->on_error(timers->arg, err);
	return FALSE;
}

static inline gboolean hwt_glib_check(GSource *source)
{
	struct hwt_glib *timers = hwt_glib_of(source);

	return hwt_wait_ms(timers->hwt, -1) >= 0 ||
	       g_source_query_unix_fd(source, timers->tag);
}

static inline gboolean hwt_glib_dispatch(GSource *source, GSourceFunc callback,
					 gpointer data)
{
	struct hwt_glib *timers = hwt_glib_of(source);
	int ret = hwt_dispatch(timers->hwt, timers->callback, timers->arg,
			       HWT_GLIB_TURN);

	(void)callback;
	(void)data;
	/* The memory of @timers may be something else's then. */
	if (!hwt_glib_of(source))
		return G_SOURCE_REMOVE;
	if ((hwt_dispatch_failed(ret) || ret == -ECANCELED) && timers->on_error)
		timers->on_error(timers->arg, ret);
	return hwt_dispatch_failed(ret) ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE;
}

static GSourceFuncs hwt_glib_functions = {
	hwt_glib_prepare, hwt_glib_check, hwt_glib_dispatch, NULL, NULL, NULL,
};

/* Returns 0 or a negative errno; -EINVAL as hwt_dispatch_check(). */
static inline int hwt_glib_add(struct hwt_glib *timers, GMainContext *context)
{
	int err = hwt_dispatch_check(timers->hwt);

	timers->source = NULL;
	if (err)
		return err;
	timers->source = g_source_new(&hwt_glib_functions,
				      sizeof(struct hwt_glib_source));
	((struct hwt_glib_source *)timers->source)->timers = timers;
	timers->tag = g_source_add_unix_fd(timers->source, hwt_fd(timers->hwt),
					   G_IO_IN);
	g_source_set_can_recurse(timers->source, TRUE);
	/* While sources of a higher priority are ready, GLib does not prepare this one. */
	hwt_cache_time(timers->hwt, 0);
	g_source_attach(timers->source, context);
	return 0;
}

static inline void hwt_glib_remove(struct hwt_glib *timers)
{
	if (!timers->source)
		return;
	hwt_break(timers->hwt);
	((struct hwt_glib_source *)timers->source)->timers = NULL;
	g_source_destroy(timers->source);
	g_source_unref(timers->source);
	timers->source = NULL;
}

#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

#endif /* HWTIMER_GLIB_H */
