// SPDX-License-Identifier: GPL-2.0
/*
 * libhwtimer in loops of epoll, libevent, libuv and GLib; see adapters.h.
 */
#include "adapters.h"

#include "hwtimer_epoll.h"
#include "hwtimer_glib.h"
#include "hwtimer_libevent.h"
#include "hwtimer_libuv.h"

/* Runs a loop until the instance fails; returns the error. */
static int run_epoll(struct __test_metadata *_metadata,
		     struct hwt_epoll *timers)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC), ret;
	struct hwt_epoll again = *timers;
	struct epoll_event ready;

	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, hwt_epoll_add(timers, epoll));
	EXPECT_EQ(-EEXIST, hwt_epoll_add(&again, epoll));
	do {
		ASSERT_EQ(0, hwt_epoll_wait(timers, &ready, 1, -1));
		ret = hwt_epoll_dispatch(timers);
	} while (!hwt_dispatch_failed(ret));
	EXPECT_EQ(0, epoll_wait(epoll, &ready, 1, 0));
	close(epoll);
	return ret;
}

TEST_F(adapter, epoll)
{
	struct hwt_epoll timers = { .hwt = self->timers.hwt,
				    .callback = on_timer,
				    .arg = &self->timers };

	EXPECT_EQ(-ENOTCONN, run_epoll(_metadata, &timers));
}

TEST_F(adapter, epoll_takes_what_notify_leaves)
{
	struct hwt_epoll timers = { .hwt = self->timers.hwt,
				    .callback = on_timer,
				    .arg = &self->timers };

	ASSERT_EQ(0, hwt_notify(self->timers.hwt, N, HWTIMER_NEVER));
	EXPECT_EQ(-ENOTCONN, run_epoll(_metadata, &timers));
}

static void on_beat(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	++*(unsigned int *)arg;
}

TEST_F(adapter, libevent)
{
	struct hwt_libevent timers = { .hwt = self->timers.hwt,
				       .callback = on_timer,
				       .arg = &self->timers,
				       .on_error = on_error };
	const struct timeval now = { 0 };
	struct event_base *base = event_base_new();
	unsigned int beats = 0;

	ASSERT_NE(NULL, base);
	ASSERT_EQ(0, hwt_libevent_add(&timers, base));
	ASSERT_EQ(0,
		  event_base_once(base, -1, EV_TIMEOUT, on_beat, &beats, &now));
	EXPECT_EQ(1, event_base_dispatch(base)); /* no events are left */
	EXPECT_EQ(1, beats);
	EXPECT_EQ(1, self->timers.errors);
	EXPECT_EQ(-ENOTCONN, self->timers.err);
	hwt_libevent_remove(&timers);
	event_base_free(base);
}

static void libuv_begin(struct __test_metadata *_metadata,
			struct hwt_libuv *timers, uv_loop_t *loop)
{
	ASSERT_EQ(0, uv_loop_init(loop));
	ASSERT_EQ(0, hwt_libuv_add(timers, loop));
}

/* The test has closed its own handles. */
static void libuv_end(struct __test_metadata *_metadata,
		      struct hwt_libuv *timers, uv_loop_t *loop)
{
	hwt_libuv_remove(timers, NULL);
	EXPECT_EQ(0, uv_run(loop, UV_RUN_DEFAULT));
	EXPECT_EQ(0, uv_loop_close(loop));
}

static void on_idle(uv_timer_t *timer)
{
	++*(unsigned int *)timer->data;
}

static void on_close(uv_handle_t *handle)
{
	*(bool *)handle->data = true;
}

TEST_F(adapter, libuv)
{
	struct hwt_libuv timers = { .hwt = self->timers.hwt,
				    .callback = on_timer,
				    .arg = &self->timers,
				    .on_error = on_error };
	unsigned int beats = 0;
	bool closed = false;
	uv_timer_t beat = { .data = &beats };
	uv_loop_t loop;

	libuv_begin(_metadata, &timers, &loop);
	ASSERT_EQ(0, uv_timer_init(&loop, &beat));
	ASSERT_EQ(0, uv_timer_start(&beat, on_idle, 0, 0));
	EXPECT_EQ(0, uv_run(&loop, UV_RUN_DEFAULT));
	EXPECT_EQ(1, beats);
	EXPECT_EQ(1, self->timers.errors);
	EXPECT_EQ(-ENOTCONN, self->timers.err);
	timers.poll.data = &closed;
	hwt_libuv_remove(&timers, on_close);
	uv_close((uv_handle_t *)&beat, NULL);
	EXPECT_EQ(0, uv_run(&loop, UV_RUN_DEFAULT));
	EXPECT_TRUE(closed);
	EXPECT_EQ(0, uv_loop_close(&loop));
}

TEST_F(adapter, glib)
{
	struct hwt_glib timers = { .hwt = self->timers.hwt,
				   .callback = on_timer,
				   .arg = &self->timers,
				   .on_error = on_error };

	ASSERT_EQ(0, hwt_glib_add(&timers, NULL));
	while (!self->timers.errors)
		g_main_context_iteration(NULL, TRUE);
	EXPECT_EQ(-ENOTCONN, self->timers.err);
	hwt_glib_remove(&timers);
	hwt_glib_remove(&timers); /* does nothing */
}

/*
 * There are more events than one turn of the loop takes. With this watermark, the
 * descriptor is not ready for the rest.
 */
TEST_F(adapter, libevent_takes_what_notify_leaves)
{
	struct hwt_libevent timers = { .hwt = self->timers.hwt,
				       .callback = on_timer,
				       .arg = &self->timers };
	struct event_base *base = event_base_new();

	ASSERT_NE(NULL, base);
	ASSERT_EQ(0, hwt_notify(self->timers.hwt, N, HWTIMER_NEVER));
	ASSERT_EQ(0, hwt_libevent_add(&timers, base));
	EXPECT_EQ(1, event_base_dispatch(base));
	hwt_libevent_remove(&timers);
	hwt_libevent_remove(&timers); /* does nothing */
	event_base_free(base);
}

TEST_F(adapter, libuv_takes_what_notify_leaves)
{
	struct hwt_libuv timers = { .hwt = self->timers.hwt,
				    .callback = on_timer,
				    .arg = &self->timers };
	uv_loop_t loop;

	ASSERT_EQ(0, hwt_notify(self->timers.hwt, N, HWTIMER_NEVER));
	libuv_begin(_metadata, &timers, &loop);
	EXPECT_EQ(0, uv_run(&loop, UV_RUN_DEFAULT));
	libuv_end(_metadata, &timers, &loop);
}

TEST_F(adapter, glib_takes_what_notify_leaves)
{
	struct hwt_glib timers = { .hwt = self->timers.hwt,
				   .callback = on_timer,
				   .arg = &self->timers };

	ASSERT_EQ(0, hwt_notify(self->timers.hwt, N, HWTIMER_NEVER));
	ASSERT_EQ(0, hwt_glib_add(&timers, NULL));
	while (self->timers.count < N)
		g_main_context_iteration(NULL, TRUE);
	hwt_glib_remove(&timers);
}

TEST_F(objects, epoll)
{
	struct hwt_epoll timers = { .hwt = self->timers.hwt };
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ready;

	ASSERT_EQ(0, hwt_epoll_add(&timers, epoll));
	while (left) {
		ASSERT_EQ(0, hwt_epoll_wait(&timers, &ready, 1, -1));
		refused += hwt_refused(self->timers.hwt) == -ENOSPC;
		hwt_epoll_dispatch(&timers);
	}
	close(epoll);
}

TEST_F(objects, libevent)
{
	struct hwt_libevent timers = { .hwt = self->timers.hwt,
				       .arg = &self->timers,
				       .on_error = on_refusal };
	struct event_base *base = event_base_new();

	ASSERT_EQ(0, hwt_libevent_add(&timers, base));
	EXPECT_EQ(1, event_base_dispatch(base)); /* no events are left */
	EXPECT_TRUE(ended_with_the_last(&self->timers));
	hwt_libevent_remove(&timers);
	event_base_free(base);
}

TEST_F(objects, libuv)
{
	struct hwt_libuv timers = { .hwt = self->timers.hwt,
				    .arg = &self->timers,
				    .on_error = on_refusal };
	uv_loop_t loop;

	libuv_begin(_metadata, &timers, &loop);
	EXPECT_EQ(0, uv_run(&loop, UV_RUN_DEFAULT));
	EXPECT_TRUE(ended_with_the_last(&self->timers));
	libuv_end(_metadata, &timers, &loop);
}

TEST_F(objects, glib)
{
	struct hwt_glib timers = { .hwt = self->timers.hwt,
				   .arg = &self->timers,
				   .on_error = on_refusal };

	ASSERT_EQ(0, hwt_glib_add(&timers, NULL));
	while (!self->timers.errors)
		g_main_context_iteration(NULL, TRUE);
	EXPECT_EQ(-ENOTCONN, self->timers.err);
	hwt_glib_remove(&timers);
}

static void on_ready(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	if (!busy_work())
		event_base_loopbreak(arg);
}

/* The usual clock may count so coarsely that each pass seems to take as long as a wait. */
static struct event_base *precise_base(void)
{
	struct event_config *config = event_config_new();
	struct event_base *base;

	if (!config ||
	    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER))
		abort();
	base = event_base_new_with_config(config);
	event_config_free(config);
	return base;
}

TEST_F(busy, libevent)
{
	struct hwt_libevent timers = { .hwt = self->timers.hwt,
				       .arg = &self->timers,
				       .on_error = on_error };
	struct event_base *base = precise_base();
	int always = eventfd(1, EFD_CLOEXEC);
	struct event *work =
		event_new(base, always, EV_READ | EV_PERSIST, on_ready, base);

	ASSERT_EQ(0, hwt_libevent_add(&timers, base));
	ASSERT_EQ(0, event_add(work, NULL));
	EXPECT_EQ(0, event_base_dispatch(base));
	hwt_libevent_remove(&timers);
	event_free(work);
	close(always);
	event_base_free(base);
}

static void on_work(uv_idle_t *work)
{
	if (!busy_work())
		uv_stop(work->loop);
}

TEST_F(busy, libuv)
{
	struct hwt_libuv timers = { .hwt = self->timers.hwt,
				    .arg = &self->timers,
				    .on_error = on_error };
	uv_idle_t work;
	uv_loop_t loop;

	libuv_begin(_metadata, &timers, &loop);
	ASSERT_EQ(0, uv_idle_init(&loop, &work));
	ASSERT_EQ(0, uv_idle_start(&work, on_work));
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_close((uv_handle_t *)&work, NULL);
	libuv_end(_metadata, &timers, &loop);
}

static gboolean on_glib_work(gpointer more)
{
	*(bool *)more = busy_work();
	return G_SOURCE_CONTINUE;
}

TEST_F(busy, glib)
{
	struct hwt_glib timers = { .hwt = self->timers.hwt,
				   .arg = &self->timers,
				   .on_error = on_error };
	bool more = true;
	guint work;

	ASSERT_EQ(0, hwt_glib_add(&timers, NULL));
	work = g_idle_add_full(G_PRIORITY_DEFAULT, on_glib_work, &more, NULL);
	while (more)
		g_main_context_iteration(NULL, TRUE);
	g_source_remove(work);
	hwt_glib_remove(&timers);
}

/* A request of a connection; counts the deadlines that are too early. */
static gboolean on_request(gpointer early_deadlines)
{
	__u64 before = now_ns();

	if (hwt_timer_again(&busy_other))
		abort();
	*(unsigned int *)early_deadlines += hwt_timer_deadline(&busy_other) <
					    before + HOUR;
	sleep_ns(2 * MS);
	return G_SOURCE_CONTINUE;
}

/* GLib does not prepare a source while others of a higher priority are ready. */
TEST_F(adapter, glib_knows_the_time_behind_other_sources)
{
	struct hwt_glib timers = { .hwt = self->timers.hwt,
				   .callback = on_timer,
				   .arg = &self->timers };
	unsigned int i, early_deadlines = 0;
	guint work;

	hwt_timer_init(&busy_other, timers.hwt, on_due);
	ASSERT_EQ(0, hwt_timer_start(&busy_other, HOUR));
	ASSERT_EQ(0, hwt_glib_add(&timers, NULL));
	g_source_set_priority(timers.source, G_PRIORITY_LOW);
	work = g_idle_add_full(G_PRIORITY_DEFAULT, on_request, &early_deadlines,
			       NULL);
	for (i = 0; i < 10; i++)
		g_main_context_iteration(NULL, TRUE);
	EXPECT_EQ(0, early_deadlines);
	g_source_remove(work);
	while (self->timers.count < N)
		g_main_context_iteration(NULL, TRUE);
	hwt_glib_remove(&timers);
}

static void on_other(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	flood_other();
}

TEST_F(flood, libevent)
{
	struct hwt_libevent timers = { .hwt = flood.hwt,
				       .callback = on_flood,
				       .arg = &self->timers,
				       .on_error = on_error };
	struct event_base *base = event_base_new();

	ASSERT_EQ(0, hwt_libevent_add(&timers, base));
	ASSERT_EQ(0, event_base_once(base, flood.other, EV_READ, on_other, NULL,
				     NULL));
	EXPECT_LE(0, event_base_dispatch(base));
	hwt_libevent_remove(&timers);
	event_base_free(base);
}

static void on_uv_other(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	flood_other();
	uv_poll_stop(poll);
}

TEST_F(flood, libuv)
{
	struct hwt_libuv timers = { .hwt = flood.hwt,
				    .callback = on_flood,
				    .arg = &self->timers,
				    .on_error = on_error };
	uv_poll_t other;
	uv_loop_t loop;

	libuv_begin(_metadata, &timers, &loop);
	ASSERT_EQ(0, uv_poll_init(&loop, &other, flood.other));
	ASSERT_EQ(0, uv_poll_start(&other, UV_READABLE, on_uv_other));
	while (!self->timers.errors)
		uv_run(&loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&other, NULL);
	libuv_end(_metadata, &timers, &loop);
}

static gboolean on_glib_other(gpointer arg)
{
	(void)arg;
	if (flood.count < 500)
		return G_SOURCE_CONTINUE;
	flood_other();
	return G_SOURCE_REMOVE;
}

TEST_F(flood, glib)
{
	struct hwt_glib timers = { .hwt = flood.hwt,
				   .callback = on_flood,
				   .arg = &self->timers,
				   .on_error = on_error };

	ASSERT_EQ(0, hwt_glib_add(&timers, NULL));
	g_idle_add_full(G_PRIORITY_DEFAULT, on_glib_other, NULL, NULL);
	while (!self->timers.errors)
		g_main_context_iteration(NULL, TRUE);
	hwt_glib_remove(&timers);
}

TEST_F(broken, epoll)
{
	struct hwt_epoll timers = { .hwt = self->timers.hwt,
				    .callback = break_descriptor,
				    .arg = &self->timers };
	int epoll = epoll_create1(EPOLL_CLOEXEC), ret;
	struct epoll_event ready;

	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, hwt_epoll_add(&timers, epoll));
	do {
		ASSERT_EQ(0, hwt_epoll_wait(&timers, &ready, 1, -1));
		ret = hwt_epoll_dispatch(&timers);
	} while (!hwt_dispatch_failed(ret));
	on_error(&self->timers, ret);
	close(epoll);
}

TEST_F(broken, libevent)
{
	struct hwt_libevent timers = { .hwt = self->timers.hwt,
				       .callback = break_descriptor,
				       .arg = &self->timers,
				       .on_error = on_error };
	struct event_base *base = event_base_new();

	ASSERT_NE(NULL, base);
	ASSERT_EQ(0, hwt_libevent_add(&timers, base));
	EXPECT_EQ(1, event_base_dispatch(base)); /* no events are left */
	hwt_libevent_remove(&timers);
	event_base_free(base);
}

TEST_F(broken, libuv)
{
	struct hwt_libuv timers = { .hwt = self->timers.hwt,
				    .callback = break_descriptor,
				    .arg = &self->timers,
				    .on_error = on_error };
	uv_loop_t loop;

	libuv_begin(_metadata, &timers, &loop);
	EXPECT_EQ(0, uv_run(&loop, UV_RUN_DEFAULT));
	libuv_end(_metadata, &timers, &loop);
}

TEST_F(broken, glib)
{
	struct hwt_glib timers = { .hwt = self->timers.hwt,
				   .callback = break_descriptor,
				   .arg = &self->timers,
				   .on_error = on_error };

	ASSERT_EQ(0, hwt_glib_add(&timers, NULL));
	while (!self->timers.errors)
		g_main_context_iteration(NULL, TRUE);
	hwt_glib_remove(&timers);
}

TEST_HARNESS_MAIN
