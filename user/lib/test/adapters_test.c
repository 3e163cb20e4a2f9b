// SPDX-License-Identifier: MIT
/*
 * Tests adapters in programs that end a loop, or run one, in a callback; that remove an instance
 * from its loop there, and free the adapter's memory at once; that have no memory; and that remove
 * what they have not added. Built with sanitizers; see device.h. selftests/adapters.c has programs
 * that do what they should. Other threads have the loop start and stop timer objects.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include <event2/thread.h>
#include <hwtimer_epoll.h>
#include <hwtimer_glib.h>
#include <hwtimer_libevent.h>
#include <hwtimer_libuv.h>
#include <hwtimer_sd_event.h>

#include "check.h"
#include "device.h"
#include "memory.h"

/* ---- programs ---- */

/**
 * struct loop - a library of loops
 * @begin: makes a loop, and adds @hwt to it, with memory for the adapter; returns as the adapter
 * @pass: runs one pass of the loop, which does not wait
 * @run: runs the loop until it has nothing left to wait for; returns whether it has. NULL: a loop
 *	of this library ends only when it is told so
 * @waits: whether the loop has something to wait for
 * @stop: has the loop stop, in a callback
 * @breaks: no callback of the loop's own timers follows after that
 * @goes_on: a loop that was stopped can run again
 * @wait: runs one pass of the loop, which waits
 * @listen: makes what @post needs; NULL: nothing
 * @post: has the loop call posted(), from any thread
 * @remove: removes the instance, in a callback or not, and frees the adapter's memory
 * @end: ends the loop
 */
struct loop {
	int (*begin)(void);
	void (*pass)(void);
	bool (*run)(void);
	bool (*waits)(void);
	void (*stop)(void);
	bool breaks;
	bool goes_on;
	void (*wait)(void);
	void (*listen)(void);
	void (*post)(void);
	void (*remove)(void);
	void (*end)(void);
};

static struct hwt *hwt;
static const struct loop *loop;
static unsigned int callbacks, errors;

/* What the program does in which callback; NULL: nothing */
static void (*action)(void);
static unsigned int acts_at;

static void called(void)
{
	if (++callbacks == acts_at && action)
		action();
}

static void on_event(void *arg, const struct hwtimer_event *event)
{
	(void)event;
	CHECK(arg == &callbacks);
	called();
}

/* Timers that are due at once */
static struct hwt_timer objects[DEVICE_EVENTS];

static void on_timer(struct hwt_timer *timer)
{
	CHECK(!hwt_timer_active(timer));
	called();
}

static void start_objects(unsigned int count)
{
	while (count--) {
		hwt_timer_init(&objects[count], hwt, on_timer);
		CHECK(!hwt_timer_start(&objects[count], 0));
	}
}

static void on_error(void *arg, int err)
{
	CHECK(arg == &callbacks && err == -ECANCELED);
	errors++;
}

/* What another thread has the loop do: start a timer, and stop one that never expires */
static void posted(void)
{
	CHECK(!hwt_timer_start(&objects[1], 0));
	hwt_timer_stop(&objects[0]);
}

/* For loops without a way of their own: a descriptor that makes them call posted() */
static int posts;

static void post_to_descriptor(void)
{
	CHECK(!eventfd_write(posts, 1));
}

/* ---- libevent ---- */

static void *event_malloc(size_t size)
{
	return allocation_fails() ? NULL : malloc(size);
}

static struct event_base *base;
static struct hwt_libevent *of_libevent;

static int begin_libevent(void)
{
	base = event_base_new();
	of_libevent = malloc(sizeof(*of_libevent));
	*of_libevent = (struct hwt_libevent){ .hwt = hwt,
					      .callback = device_events ?
								  on_event :
								  NULL,
					      .arg = &callbacks,
					      .on_error = on_error };
	return hwt_libevent_add(of_libevent, base);
}

static void pass_libevent(void)
{
	event_base_loop(base, EVLOOP_NONBLOCK);
}

static bool run_libevent(void)
{
	return event_base_dispatch(base) == 1;
}

static bool libevent_waits(void)
{
	return event_base_loop(base, EVLOOP_NONBLOCK) == 0;
}

static void stop_libevent(void)
{
	event_base_loopbreak(base);
}

static void wait_libevent(void)
{
	event_base_loop(base, EVLOOP_ONCE);
}

static void on_post_libevent(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	posted();
}

static void post_libevent(void)
{
	CHECK(!event_base_once(base, -1, EV_TIMEOUT, on_post_libevent, NULL,
			       NULL));
}

static void remove_libevent(void)
{
	hwt_libevent_remove(of_libevent);
	hwt_libevent_remove(of_libevent);
	free(of_libevent);
}

static void end_libevent(void)
{
	event_base_free(base);
}

/* ---- libuv ---- */

static uv_loop_t uv;
static struct hwt_libuv *of_libuv;

static int begin_libuv(void)
{
	CHECK(!uv_loop_init(&uv));
	of_libuv = malloc(sizeof(*of_libuv));
	*of_libuv =
		(struct hwt_libuv){ .hwt = hwt,
				    .callback = device_events ? on_event : NULL,
				    .arg = &callbacks,
				    .on_error = on_error };
	return hwt_libuv_add(of_libuv, &uv);
}

static void pass_libuv(void)
{
	uv_run(&uv, UV_RUN_NOWAIT);
}

static bool run_libuv(void)
{
	return !uv_run(&uv, UV_RUN_DEFAULT);
}

static bool libuv_waits(void)
{
	return uv_loop_alive(&uv);
}

static void stop_libuv(void)
{
	uv_stop(&uv);
}

static void wait_libuv(void)
{
	uv_run(&uv, UV_RUN_ONCE);
}

static uv_async_t of_posts;

static void on_post_libuv(uv_async_t *async)
{
	posted();
	uv_close((uv_handle_t *)async, NULL);
}

static void listen_libuv(void)
{
	CHECK(!uv_async_init(&uv, &of_posts, on_post_libuv));
}

static void post_libuv(void)
{
	CHECK(!uv_async_send(&of_posts));
}

static void on_close(uv_handle_t *handle)
{
	CHECK(handle == (uv_handle_t *)&of_libuv->poll);
	free(of_libuv);
}

static void remove_libuv(void)
{
	hwt_libuv_remove(of_libuv, on_close);
	hwt_libuv_remove(of_libuv, on_close);
}

static void end_libuv(void)
{
	CHECK(!uv_loop_close(&uv));
}

/* ---- GLib ---- */

static struct hwt_glib *of_glib;
static GMainContext *context;
static GMainLoop *of_context;

static int begin_glib(void)
{
	context = g_main_context_new();
	of_context = g_main_loop_new(context, FALSE);
	of_glib = malloc(sizeof(*of_glib));
	*of_glib =
		(struct hwt_glib){ .hwt = hwt,
				   .callback = device_events ? on_event : NULL,
				   .arg = &callbacks,
				   .on_error = on_error };
	return hwt_glib_add(of_glib, context);
}

static void pass_glib(void)
{
	g_main_context_iteration(context, FALSE);
}

static void stop_glib(void)
{
	g_main_loop_quit(of_context);
}

static void wait_glib(void)
{
	g_main_context_iteration(context, TRUE);
}

static gboolean on_post_glib(gpointer arg)
{
	(void)arg;
	posted();
	return G_SOURCE_REMOVE;
}

static void post_glib(void)
{
	g_main_context_invoke(context, on_post_glib, NULL);
}

static void remove_glib(void)
{
	hwt_glib_remove(of_glib);
	hwt_glib_remove(of_glib);
	free(of_glib);
}

static void end_glib(void)
{
	g_main_loop_unref(of_context);
	g_main_context_unref(context);
}

/* ---- sd-event ---- */

static struct hwt_sd_event *of_sd_event;
static struct sd_event *sd;

static int begin_sd_event(void)
{
	CHECK(sd_event_new(&sd) >= 0);
	of_sd_event = malloc(sizeof(*of_sd_event));
	*of_sd_event = (struct hwt_sd_event){ .hwt = hwt,
					      .callback = device_events ?
								  on_event :
								  NULL,
					      .arg = &callbacks,
					      .on_error = on_error };
	return hwt_sd_event_add(of_sd_event, sd);
}

static void pass_sd_event(void)
{
	sd_event_run(sd, 0);
}

static void stop_sd_event(void)
{
	sd_event_exit(sd, 0);
}

static void wait_sd_event(void)
{
	CHECK(sd_event_run(sd, UINT64_MAX) >= 0);
}

static int on_post_sd_event(sd_event_source *source, int fd, uint32_t events,
			    void *arg)
{
	(void)events;
	(void)arg;
	posted();
	sd_event_source_disable_unref(source);
	close(fd);
	return 0;
}

static void listen_sd_event(void)
{
	sd_event_source *source;

	posts = eventfd(0, EFD_CLOEXEC);
	CHECK(sd_event_add_io(sd, &source, posts, EPOLLIN, on_post_sd_event,
			      NULL) >= 0);
}

static void remove_sd_event(void)
{
	hwt_sd_event_remove(of_sd_event);
	hwt_sd_event_remove(of_sd_event);
	free(of_sd_event);
}

static void end_sd_event(void)
{
	sd_event_unref(sd);
}

/* ---- what programs do ---- */

static const struct loop loops[] = {
	{ begin_libevent, pass_libevent, run_libevent, libevent_waits,
	  stop_libevent, true, true, wait_libevent, NULL, post_libevent,
	  remove_libevent, end_libevent },
	{ begin_libuv, pass_libuv, run_libuv, libuv_waits, stop_libuv, false,
	  true, wait_libuv, listen_libuv, post_libuv, remove_libuv, end_libuv },
	{ begin_glib, pass_glib, NULL, NULL, stop_glib, false, true, wait_glib,
	  NULL, post_glib, remove_glib, end_glib },
	{ begin_sd_event, pass_sd_event, NULL, NULL, stop_sd_event, true, false,
	  wait_sd_event, listen_sd_event, post_to_descriptor, remove_sd_event,
	  end_sd_event },
};

static void begin(unsigned int events)
{
	callbacks = 0;
	errors = 0;
	device_events = events;
	CHECK(!hwt_open(&hwt, HWT_NONBLOCK));
	CHECK(!loop->begin());
}

static void run_passes(void)
{
	unsigned int i;

	for (i = 0; i < 20; i++)
		loop->pass();
}

static void end(void)
{
	loop->remove();
	loop->pass(); /* libuv closes what was removed */
	loop->end();
	hwt_close(hwt);
}

/* Runs a loop whose program does @act in callback number @at, and so ends the instance. */
static void run_loop(void (*act)(void), unsigned int at)
{
	action = act;
	acts_at = at;
	begin(DEVICE_EVENTS);
	run_passes();
	loop->end();
	hwt_close(hwt);
}

static void removes(void)
{
	loop->remove();
}

static void removes_and_closes(void)
{
	loop->remove();
	hwt_close(hwt);
	hwt = NULL;
}

static void remove_in_a_callback(unsigned int at)
{
	run_loop(removes, at);
	CHECK(callbacks == at);
	run_loop(removes_and_closes, at);
	CHECK(callbacks == at);
}

static void report(void)
{
	device_report = 501;
	run_loop(removes_and_closes, DEVICE_EVENTS);
	CHECK(callbacks == DEVICE_EVENTS && errors == 1);
}

/*
 * No callback follows where none of the loop's own timers does. What is left comes when the loop
 * runs again. Timers are objects, or events of the device.
 */
static void stop_in_a_callback(unsigned int at, unsigned int events)
{
	action = loop->stop;
	acts_at = at;
	begin(events);
	start_objects(DEVICE_EVENTS - events);
	while (callbacks < at)
		loop->pass();
	CHECK(!loop->breaks || callbacks == at);
	run_passes();
	CHECK(callbacks == (loop->goes_on ? DEVICE_EVENTS : at));
	end();
}

/* The adapter for libevent is the only one that allocates, but for GLib, which then aborts. */
static void libevent_without_memory(void)
{
	unsigned int n = 0;
	int err = -ENOMEM;

	loop = &loops[0];
	CHECK(!hwt_open(&hwt, HWT_NONBLOCK));
	while (err) {
		base = event_base_new();
		of_libevent = calloc(1, sizeof(*of_libevent));
		of_libevent->hwt = hwt;
		allocations_left = n++;
		err = hwt_libevent_add(of_libevent, base);
		allocations_left = -1;
		/* libevent says no more than that its event_add() has failed. */
		CHECK(!err || err == -ENOMEM || err == -EINVAL);
		loop->remove();
		loop->end();
	}
	CHECK(n > 4);
	hwt_close(hwt);
}

static unsigned int at_end_of_inner;

static void runs_the_loop(void)
{
	run_passes();
	at_end_of_inner = callbacks;
}

/* GLib's loop goes on in a callback, with what was read together with that one, too. */
static void run_in_a_callback(unsigned int events)
{
	action = runs_the_loop;
	acts_at = 1;
	begin(events);
	start_objects(DEVICE_EVENTS - events);
	run_passes();
	CHECK(at_end_of_inner == (loop->pass == pass_glib ? DEVICE_EVENTS : 1));
	CHECK(callbacks == DEVICE_EVENTS);
	end();
}

/* The loop ends with its last timer, which may come from anywhere if there is a callback. */
static void end_with_the_last_timer(void)
{
	action = NULL;
	begin(0);
	CHECK(loop->run());
	start_objects(DEVICE_EVENTS);
	CHECK(loop->run());
	CHECK(callbacks == DEVICE_EVENTS);
	CHECK(!hwt_timer_start_at(&objects[0], HWTIMER_NEVER));
	run_passes();
	CHECK(loop->waits());
	hwt_timer_stop(&objects[0]);
	CHECK(loop->run());
	/* Nothing has to be told to the module for this one, which takes the other one's place. */
	CHECK(!hwt_timer_start_at(&objects[1], HWTIMER_NEVER));
	run_passes();
	CHECK(loop->waits());
	hwt_timer_stop(&objects[1]);
	CHECK(loop->run());
	end();
	begin(1);
	run_passes();
	CHECK(callbacks == 1 && loop->waits());
	end();
}

static void until_called(uv_idle_t *idle)
{
	if (callbacks)
		uv_idle_stop(idle);
}

static void libuv_does_not_wait_for_unref(void)
{
	uv_idle_t idle;

	loop = &loops[1];
	begin(0);
	hwt_libuv_unref(of_libuv);
	start_objects(1);
	CHECK(loop->run());
	uv_idle_init(&uv, &idle);
	uv_idle_start(&idle, until_called);
	CHECK(loop->run());
	CHECK(callbacks == 1);
	CHECK(!hwt_timer_start_at(&objects[0], HWTIMER_NEVER));
	CHECK(loop->run());
	hwt_libuv_ref(of_libuv);
	run_passes();
	CHECK(loop->waits());
	hwt_libuv_unref(of_libuv);
	CHECK(loop->run());
	uv_close((uv_handle_t *)&idle, NULL);
	end();
}

/* A child ends all that it finds; the parent's loop goes on. */
static void fork_and_remove(void)
{
	int status;

	action = NULL;
	begin(1);
	run_passes();
	if (!fork()) {
		end();
		_exit(0);
	}
	CHECK(wait(&status) > 0 && WIFEXITED(status) && !WEXITSTATUS(status));
	device_add_event(hwt_fd(hwt));
	run_passes();
	CHECK(callbacks == 2);
	end();
}

static void *another_thread(void *post)
{
	((void (*)(void))post)();
	return NULL;
}

static void post_from_another_thread(void)
{
	pthread_t thread;

	action = NULL;
	begin(0);
	start_objects(2);
	hwt_timer_stop(&objects[1]);
	CHECK(!hwt_timer_start_at(&objects[0], HWTIMER_NEVER));
	run_passes();
	if (loop->listen)
		loop->listen();
	CHECK(!pthread_create(&thread, NULL, another_thread, loop->post));
	while (!callbacks)
		loop->wait();
	CHECK(!pthread_join(thread, NULL));
	CHECK(callbacks == 1 && !hwt_active(hwt));
	end();
}

/* An instance whose reads wait is refused; a program may remove it nevertheless. */
static void remove_what_is_refused(void)
{
	CHECK(!hwt_open(&hwt, HWT_NONBLOCK));
	CHECK(!fcntl(hwt_fd(hwt), F_SETFL, 0));
	CHECK(loop->begin() == -EINVAL);
	loop->remove();
	if (loop->remove == remove_libuv)
		free(of_libuv);
	loop->end();
	hwt_close(hwt);
}

/* A timer object and another timer, on a clock that the program moves. */
static void on_a_manual_clock(void)
{
	action = NULL;
	callbacks = 0;
	device_events = 1;
	CHECK(!hwt_open_manual(&hwt, HWT_NONBLOCK));
	CHECK(!loop->begin());
	hwt_timer_init(&objects[0], hwt, on_timer);
	CHECK(!hwt_timer_start(&objects[0], 5000000000));
	CHECK(!hwt_schedule(hwt, 10000000000, 0, NULL));
	run_passes();
	CHECK(!hwt_advance(hwt, 4999999999));
	run_passes();
	CHECK(!callbacks);
	CHECK(!hwt_advance(hwt, 1));
	run_passes();
	CHECK(callbacks == 1);
	CHECK(!hwt_timer_start(&objects[0], 5000000000));
	run_passes();
	CHECK(!hwt_advance(hwt, 5000000000));
	run_passes();
	CHECK(callbacks == 3);
	end();
}

/* ---- epoll ---- */

/* What an entry points to. Its descriptor is always ready. */
struct connection {
	int fd;
};

static struct connection *connection;
static int epoll;
static struct hwt_epoll *of_epoll;

static void begin_epoll(unsigned int events, int by_fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	callbacks = 0;
	device_events = events;
	CHECK(!hwt_open(&hwt, HWT_NONBLOCK));
	epoll = epoll_create1(EPOLL_CLOEXEC);
	of_epoll = malloc(sizeof(*of_epoll));
	*of_epoll = (struct hwt_epoll){ hwt, on_event, &callbacks, by_fd };
	CHECK(!hwt_epoll_add(of_epoll, epoll));
	connection = malloc(sizeof(*connection));
	connection->fd = eventfd(1, EFD_CLOEXEC);
	/* Where the upper half is anything, a number is no pointer. */
	memset(&event.data, 0xff, sizeof(event.data));
	if (by_fd)
		event.data.fd = connection->fd;
	else
		event.data.ptr = connection;
	CHECK(!epoll_ctl(epoll, EPOLL_CTL_ADD, connection->fd, &event));
}

static void end_connection(void)
{
	close(connection->fd);
	free(connection);
	connection = NULL;
}

static void remove_epoll(void)
{
	hwt_epoll_remove(of_epoll);
	hwt_epoll_remove(of_epoll);
	free(of_epoll);
}

static void end_epoll(void)
{
	remove_epoll();
	hwt_close(hwt);
	close(epoll);
}

/* Runs a round of the loop. Returns what hwt_epoll_dispatch() has. */
static int round_of_epoll(int by_fd)
{
	unsigned int before = callbacks;
	struct epoll_event ready[2];
	int i, count = hwt_epoll_wait(of_epoll, ready, 2, -1);

	CHECK(count == !!connection);
	for (i = 0; i < count; i++)
		CHECK(by_fd ? ready[i].data.fd == connection->fd :
			      ((struct connection *)ready[i].data.ptr)->fd ==
				      connection->fd);
	CHECK(callbacks == before);
	return hwt_epoll_dispatch(of_epoll);
}

/* A callback frees what an entry of its round points to. */
static void timers_come_last(int by_fd)
{
	begin_epoll(1, by_fd);
	action = end_connection;
	acts_at = 1;
	CHECK(round_of_epoll(by_fd) == 1);
	start_objects(50);
	CHECK(round_of_epoll(by_fd) == 50);
	end_epoll();
}

static void breaks(void)
{
	hwt_break(hwt);
}

static void break_an_epoll_loop(void)
{
	begin_epoll(20, 0);
	start_objects(80);
	action = breaks;
	acts_at = 30;
	CHECK(round_of_epoll(0) == 30);
	CHECK(round_of_epoll(0) == 70);
	end_connection();
	end_epoll();
}

static void runs_a_round(void)
{
	CHECK(round_of_epoll(0) == 49);
	at_end_of_inner = callbacks;
}

static void run_epoll_in_a_callback(void)
{
	begin_epoll(0, 0);
	end_connection();
	start_objects(50);
	action = runs_a_round;
	acts_at = 1;
	CHECK(round_of_epoll(0) == 1);
	CHECK(at_end_of_inner == 50);
	end_epoll();
}

/* A descriptor that somebody else has keeps the entry in epoll. */
static void remove_before_close(void)
{
	struct epoll_event ready;
	int copy;

	begin_epoll(1, 0);
	end_connection();
	copy = dup(hwt_fd(hwt));
	remove_epoll();
	hwt_close(hwt);
	CHECK(!epoll_wait(epoll, &ready, 1, 0));
	close(copy);
	close(epoll);
}

static void remove_and_close_in_a_round(void)
{
	begin_epoll(DEVICE_EVENTS, 0);
	end_connection();
	loop = &(const struct loop){ .remove = remove_epoll };
	action = removes_and_closes;
	acts_at = 30;
	CHECK(round_of_epoll(0) == 30);
	CHECK(callbacks == 30);
	close(epoll);
}

static void fork_with_epoll(void)
{
	int status;

	action = NULL;
	begin_epoll(1, 0);
	if (!fork()) {
		end_epoll();
		_exit(0);
	}
	CHECK(wait(&status) > 0 && WIFEXITED(status) && !WEXITSTATUS(status));
	CHECK(round_of_epoll(0) == 1);
	end_connection();
	end_epoll();
}

static void epoll_on_a_manual_clock(void)
{
	struct epoll_event ready;

	action = NULL;
	callbacks = 0;
	epoll = epoll_create1(EPOLL_CLOEXEC);
	CHECK(!hwt_open_manual(&hwt, HWT_NONBLOCK));
	of_epoll = malloc(sizeof(*of_epoll));
	*of_epoll = (struct hwt_epoll){ hwt, on_event, &callbacks };
	CHECK(!hwt_epoll_add(of_epoll, epoll));
	hwt_timer_init(&objects[0], hwt, on_timer);
	CHECK(!hwt_timer_start(&objects[0], 5000000000));
	CHECK(!hwt_epoll_wait(of_epoll, &ready, 1, 0));
	CHECK(!hwt_epoll_dispatch(of_epoll) && !callbacks);
	CHECK(!hwt_advance(hwt, 5000000000));
	CHECK(!hwt_epoll_wait(of_epoll, &ready, 1, -1));
	CHECK(hwt_epoll_dispatch(of_epoll) == 1 && callbacks == 1);
	end_epoll();
	CHECK(!hwt_open_manual(&hwt, 0));
	CHECK(hwt_epoll_add(&(struct hwt_epoll){ hwt }, epoll) == -EINVAL);
	hwt_close(hwt);
}

static void post_to_an_epoll_loop(void)
{
	struct epoll_event ready = { .events = EPOLLIN };
	pthread_t thread;

	action = NULL;
	begin_epoll(0, 0);
	end_connection();
	start_objects(1);
	CHECK(!hwt_timer_start_at(&objects[0], HWTIMER_NEVER));
	hwt_timer_init(&objects[1], hwt, on_timer);
	posts = eventfd(0, EFD_CLOEXEC);
	CHECK(!epoll_ctl(epoll, EPOLL_CTL_ADD, posts, &ready));
	CHECK(!hwt_flush(hwt));
	CHECK(!pthread_create(&thread, NULL, another_thread,
			      post_to_descriptor));
	while (!hwt_epoll_wait(of_epoll, &ready, 1, -1))
		hwt_epoll_dispatch(of_epoll);
	posted();
	close(posts);
	CHECK(!pthread_join(thread, NULL));
	CHECK(round_of_epoll(0) == 1);
	CHECK(callbacks == 1 && !hwt_active(hwt));
	end_epoll();
}

static void epoll_refuses_what_blocks(void)
{
	begin_epoll(0, 0);
	hwt_epoll_remove(of_epoll);
	CHECK(!fcntl(hwt_fd(hwt), F_SETFL, 0));
	CHECK(hwt_epoll_add(of_epoll, epoll) == -EINVAL);
	end_connection();
	end_epoll();
}

int main(void)
{
	unsigned int i;

	event_set_mem_functions(event_malloc, realloc, free);
	CHECK(!evthread_use_pthreads());
	for (i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
		loop = &loops[i];
		remove_in_a_callback(1);
		remove_in_a_callback(300);
		report();
		stop_in_a_callback(1, DEVICE_EVENTS);
		stop_in_a_callback(1, 0);
		stop_in_a_callback(150, 200);
		stop_in_a_callback(300, 200);
		if (loop->run)
			end_with_the_last_timer();
		/* uv_run() must not be called in a callback, and does not find out. */
		if (loop->pass != pass_libuv) {
			run_in_a_callback(DEVICE_EVENTS);
			run_in_a_callback(0);
			run_in_a_callback(50);
		}
		fork_and_remove();
		post_from_another_thread();
		remove_what_is_refused();
		on_a_manual_clock();
	}
	libuv_does_not_wait_for_unref();
	timers_come_last(0);
	timers_come_last(1);
	break_an_epoll_loop();
	run_epoll_in_a_callback();
	remove_before_close();
	remove_and_close_in_a_round();
	fork_with_epoll();
	post_to_an_epoll_loop();
	epoll_refuses_what_blocks();
	epoll_on_a_manual_clock();
	libevent_without_memory();
	printf("all is well\n");
	return 0;
}
