// SPDX-License-Identifier: MIT
/*
 * Tests adapters in programs that remove an instance from its loop in a callback, and free the
 * adapter's memory at once; that have no memory; and that remove what they have not added. Built
 * with sanitizers; see device.h. selftests/adapters.c has programs that do what they should.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

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
 * @remove: removes the instance, in a callback or not, and frees the adapter's memory
 * @end: ends the loop
 */
struct loop {
	int (*begin)(void);
	void (*pass)(void);
	void (*remove)(void);
	void (*end)(void);
};

static struct hwt *hwt;
static const struct loop *loop;
static unsigned int callbacks, errors;

/* In which callback the program removes the instance, and whether it closes it, too */
static unsigned int removes_at;
static bool closes;

static void on_event(void *arg, const struct hwtimer_event *event)
{
	(void)event;
	CHECK(arg == &callbacks);
	if (++callbacks != removes_at)
		return;
	loop->remove();
	if (closes) {
		hwt_close(hwt);
		hwt = NULL;
	}
}

static void on_error(void *arg, int err)
{
	CHECK(arg == &callbacks && err == -ECANCELED);
	errors++;
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
					      .callback = on_event,
					      .arg = &callbacks,
					      .on_error = on_error };
	return hwt_libevent_add(of_libevent, base);
}

static void pass_libevent(void)
{
	event_base_loop(base, EVLOOP_NONBLOCK);
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
	*of_libuv = (struct hwt_libuv){ .hwt = hwt,
					.callback = on_event,
					.arg = &callbacks,
					.on_error = on_error };
	return hwt_libuv_add(of_libuv, &uv);
}

static void pass_libuv(void)
{
	uv_run(&uv, UV_RUN_NOWAIT);
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
static struct _GMainContext *context;

static int begin_glib(void)
{
	context = g_main_context_new();
	of_glib = malloc(sizeof(*of_glib));
	*of_glib = (struct hwt_glib){ .hwt = hwt,
				      .callback = on_event,
				      .arg = &callbacks,
				      .on_error = on_error };
	return hwt_glib_add(of_glib, context);
}

static void pass_glib(void)
{
	g_main_context_iteration(context, FALSE);
}

static void remove_glib(void)
{
	hwt_glib_remove(of_glib);
	hwt_glib_remove(of_glib);
	free(of_glib);
}

static void end_glib(void)
{
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
					      .callback = on_event,
					      .arg = &callbacks,
					      .on_error = on_error };
	return hwt_sd_event_add(of_sd_event, sd);
}

static void pass_sd_event(void)
{
	sd_event_run(sd, 0);
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
	{ begin_libevent, pass_libevent, remove_libevent, end_libevent },
	{ begin_libuv, pass_libuv, remove_libuv, end_libuv },
	{ begin_glib, pass_glib, remove_glib, end_glib },
	{ begin_sd_event, pass_sd_event, remove_sd_event, end_sd_event },
};

static void run_loop(void)
{
	unsigned int i;

	callbacks = 0;
	errors = 0;
	CHECK(!hwt_open(&hwt, HWT_NONBLOCK));
	CHECK(!loop->begin());
	for (i = 0; i < 20; i++)
		loop->pass();
	loop->end();
	hwt_close(hwt);
}

/* The callbacks that were to come in this turn may come, but none after it. */
static void remove_in_a_callback(unsigned int at)
{
	removes_at = at;
	closes = false;
	run_loop();
	CHECK(callbacks >= at && callbacks <= 1000);
	device_report = 501;
	run_loop();
	CHECK(callbacks == 500 && !errors);
}

static void close_in_a_callback(unsigned int at)
{
	removes_at = at;
	closes = true;
	run_loop();
	CHECK(callbacks == at);
}

/* What the other tests have as an error is told to a program that has not removed anything. */
static void report(void)
{
	removes_at = DEVICE_EVENTS;
	closes = true;
	device_report = 501;
	run_loop();
	CHECK(callbacks == DEVICE_EVENTS && errors == 1);
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

int main(void)
{
	unsigned int i;

	event_set_mem_functions(event_malloc, realloc, free);
	for (i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
		loop = &loops[i];
		remove_in_a_callback(1);
		remove_in_a_callback(300);
		close_in_a_callback(1);
		close_in_a_callback(300);
		report();
		remove_what_is_refused();
	}
	libevent_without_memory();
	printf("all is well\n");
	return 0;
}
