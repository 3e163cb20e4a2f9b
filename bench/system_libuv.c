// SPDX-License-Identifier: GPL-2.0
/*
 * libuv's timers: a heap in the loop. libuv_setup() makes the handles.
 */
#include <err.h>
#include <stdlib.h>
#include <uv.h>

#include "system.h"

static const char *const variants[] = { "heap", NULL };

static struct workload *load;
static uv_loop_t loop;
static uv_timer_t *handles;

static void check(int result, const char *what)
{
	if (result)
		errx(1, "%s: %s", what, uv_strerror(result));
}

static void fired(uv_timer_t *handle)
{
	workload_deliver(load, handle - handles);
}

static void libuv_setup(struct workload *new_load, unsigned int variant)
{
	__u32 i;

	(void)variant;
	load = new_load;
	check(uv_loop_init(&loop), "uv_loop_init");
	handles = allocate(load->timers, sizeof(*handles));
	for (i = 0; i < load->timers; i++)
		check(uv_timer_init(&loop, &handles[i]), "uv_timer_init");
}

static void libuv_teardown(void)
{
	__u32 i;

	for (i = 0; i < load->timers; i++)
		uv_close((uv_handle_t *)&handles[i], NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	check(uv_loop_close(&loop), "uv_loop_close");
	free(handles);
}

/* Delays are in ms and count from the loop's own time. */
static void start(__u32 timer)
{
	__u64 due = (workload_deadline(load, timer) + NSEC_PER_MSEC - 1) /
		    NSEC_PER_MSEC;

	check(uv_timer_start(&handles[timer], fired, due - uv_now(&loop), 0),
	      "uv_timer_start");
}

static void libuv_schedule(__u32 first, __u32 count)
{
	__u32 i;

	for (i = first; i < first + count; i++)
		start(i);
}

static void libuv_cancel(__u32 first, __u32 count)
{
	__u32 i;

	for (i = first; i < first + count; i++)
		check(uv_timer_stop(&handles[load->order[i]]), "uv_timer_stop");
}

static void libuv_reschedule(__u32 first, __u32 count)
{
	__u32 i;

	for (i = first; i < first + count; i++)
		start(load->order[i]);
}

static void libuv_deliver(void)
{
	uv_run(&loop, UV_RUN_NOWAIT);
}

const struct system system_libuv = {
	.name = "libuv",
	.variants = variants,
	.expiry = EXPIRY_DELIVERS,
	.tick = NSEC_PER_MSEC / 10,
	.setup = libuv_setup,
	.teardown = libuv_teardown,
	.schedule = libuv_schedule,
	.cancel = libuv_cancel,
	.reschedule = libuv_reschedule,
	.deliver = libuv_deliver,
};
