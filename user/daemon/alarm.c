// SPDX-License-Identifier: MIT
/* Sets alarms; see alarm.h. */
#include "alarm.h"
#include "say.h"

#include <hwtimer_libevent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void on_error(void *unused, int error);

/* The wheel of all alarms; without @hwt, there is none. */
static struct hwt_libevent wheel = { .on_error = on_error };
static struct alarm *all;

/* CLOCK_MONOTONIC, which both kinds of timers have */
int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 * NS_PER_MS + now.tv_nsec;
}

static void set_event(struct event *event, int64_t ns)
{
	int64_t us = ns > 0 ? (ns + 999) / 1000 : 0;
	struct timeval delay = { us / 1000000, us % 1000000 };

	need(evtimer_add(event, &delay) ? NULL : event);
}

/* Has the loop call the function of a timer of libevent, in @ms from now. */
void timer_set(struct event *timer, int64_t ms)
{
	set_event(timer, ms * NS_PER_MS);
}

/* All alarms ring: each of their owners looks what is to be done, and sets it anew. */
static void on_error(void *unused, int error)
{
	struct alarm *alarm;

	if (error == -ECANCELED)
		return;
	say(LOG_ERR, "/dev/hwtimer: %s; using libevent's timers",
	    strerror(-error));
	hwt_libevent_remove(&wheel);
	hwt_close(wheel.hwt);
	wheel.hwt = NULL;
	for (alarm = all; alarm; alarm = alarm->next)
		timer_set(alarm->event, 0);
}

/* Opens the wheel, or says that there is none. */
void alarms_open(struct event_base *base)
{
	int error = hwt_open(&wheel.hwt, HWT_NONBLOCK);

	if (!error) {
		error = hwt_libevent_add(&wheel, base);
		if (!error)
			return;
		hwt_close(wheel.hwt);
	}
	wheel.hwt = NULL;
	say(LOG_NOTICE, "/dev/hwtimer: %s; using libevent's timers",
	    strerror(-error));
}

bool alarms_in_kernel(void)
{
	return wheel.hwt;
}

static void ring_timer(struct hwt_timer *timer)
{
	struct alarm *alarm = hwt_timer_object(timer, struct alarm, timer);

	alarm->ring(alarm->arg);
}

static void ring_event(evutil_socket_t unused, short what, void *arg)
{
	struct alarm *alarm = arg;

	alarm->ring(alarm->arg);
}

/**
 * alarm_init - make an alarm, which must stay
 * @alarm: out: the alarm
 * @base: the loop
 * @ring: the function that it calls
 * @arg: its argument
 */
void alarm_init(struct alarm *alarm, struct event_base *base,
		void (*ring)(void *arg), void *arg)
{
	*alarm = (struct alarm){ .ring = ring, .arg = arg, .next = all };
	alarm->event = need(evtimer_new(base, ring_event, alarm));
	if (wheel.hwt)
		hwt_timer_init(&alarm->timer, wheel.hwt, ring_timer);
	all = alarm;
}

/* Has it ring @ns from now, and not when it should have so far. */
void alarm_set(struct alarm *alarm, int64_t ns)
{
	int error =
		wheel.hwt ? hwt_timer_start(&alarm->timer, ns > 0 ? ns : 0) : 0;

	if (error)
		on_error(NULL, error);
	if (!wheel.hwt)
		set_event(alarm->event, ns);
}

void alarm_stop(struct alarm *alarm)
{
	if (wheel.hwt)
		hwt_timer_stop(&alarm->timer);
	evtimer_del(alarm->event);
}
