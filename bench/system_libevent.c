// SPDX-License-Identifier: GPL-2.0
/*
 * libevent's timers: a heap in the event base. libevent_setup() makes the events.
 */
#include <err.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdlib.h>

#include "system.h"

static const char *const variants[] = { "heap", NULL };

static struct workload *load;
static struct event_base *base;
static struct event *events;

static void fired(evutil_socket_t fd, short what, void *event)
{
	(void)fd;
	(void)what;
	workload_deliver(load, (struct event *)event - events);
}

static void libevent_setup(struct workload *new_load, unsigned int variant)
{
	__u32 i;

	(void)variant;
	load = new_load;
	base = event_base_new();
	if (!base)
		err(1, "event_base_new");
	events = allocate(load->timers, sizeof(*events));
	for (i = 0; i < load->timers; i++)
		if (evtimer_assign(&events[i], base, fired, &events[i]))
			errx(1, "evtimer_assign");
}

static void libevent_teardown(void)
{
	event_base_free(base);
	free(events);
}

/* libevent counts delays from this clock. */
static __u64 coarse_now(void)
{
	return clock_now(CLOCK_MONOTONIC_COARSE);
}

static void add(__u32 timer, __u64 now)
{
	__u64 delay = (workload_deadline(load, timer) - now + 999) / 1000;
	struct timeval value = {
		.tv_sec = delay / 1000000,
		.tv_usec = delay % 1000000,
	};

	if (event_add(&events[timer], &value))
		errx(1, "event_add");
}

static void libevent_schedule(__u32 first, __u32 count)
{
	__u64 now = coarse_now();
	__u32 i;

	for (i = first; i < first + count; i++)
		add(i, now);
}

static void libevent_cancel(__u32 first, __u32 count)
{
	__u32 i;

	for (i = first; i < first + count; i++)
		if (event_del(&events[load->order[i]]))
			errx(1, "event_del");
}

static void libevent_reschedule(__u32 first, __u32 count)
{
	__u64 now = coarse_now();
	__u32 i;

	for (i = first; i < first + count; i++)
		add(load->order[i], now);
}

static void libevent_deliver(void)
{
	event_base_loop(base, EVLOOP_NONBLOCK);
}

const struct system system_libevent = {
	.name = "libevent",
	.variants = variants,
	.expiry = EXPIRY_DELIVERS,
	.tick = NSEC_PER_MSEC / 10,
	.setup = libevent_setup,
	.teardown = libevent_teardown,
	.schedule = libevent_schedule,
	.cancel = libevent_cancel,
	.reschedule = libevent_reschedule,
	.deliver = libevent_deliver,
};
