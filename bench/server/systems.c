// SPDX-License-Identifier: GPL-2.0
/* See struct system. All are used as their manuals say, in the same loop of libevent. */
#include <err.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "device.h"
#include "hwtimer_libevent.h"
#include "server.h"

#define SECOND 1000000000ULL

static struct event_base *base;
static uint64_t timeout;

static bool begin(struct event_base *event_base, uint64_t ns)
{
	base = event_base;
	timeout = ns;
	return true;
}

static void nothing(struct connection *connection)
{
	(void)connection;
}

/* ---- libevent ---- */

static void libevent_expired(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	on_timeout(arg);
}

static void libevent_push(struct connection *connection)
{
	const struct timeval time = { timeout / SECOND,
				      timeout % SECOND / 1000 };

	if (evtimer_add(connection->timeout, &time))
		errx(1, "evtimer_add");
}

static void libevent_add(struct connection *connection)
{
	connection->timeout = evtimer_new(base, libevent_expired, connection);
	libevent_push(connection);
}

static void libevent_remove(struct connection *connection)
{
	event_free(connection->timeout);
}

/* ---- a timerfd per connection ---- */

static void timerfd_expired(evutil_socket_t fd, short what, void *arg)
{
	uint64_t count;

	(void)what;
	if (read(fd, &count, sizeof(count)) == sizeof(count))
		on_timeout(arg);
}

static void timerfd_push(struct connection *connection)
{
	const struct itimerspec time = {
		.it_value = { timeout / SECOND, timeout % SECOND },
	};

	if (timerfd_settime(connection->timerfd, 0, &time, NULL))
		err(1, "timerfd_settime");
}

static void timerfd_add(struct connection *connection)
{
	connection->timerfd =
		timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (connection->timerfd < 0)
		err(1, "timerfd_create");
	connection->timeout = event_new(base, connection->timerfd,
					EV_READ | EV_PERSIST, timerfd_expired,
					connection);
	event_add(connection->timeout, NULL);
	timerfd_push(connection);
}

static void timerfd_remove(struct connection *connection)
{
	event_free(connection->timeout);
	close(connection->timerfd);
}

/* ---- hwtimer ---- */

static struct hwt_libevent timers;

static void hwtimer_failed(void *arg, int error)
{
	(void)arg;
	errx(1, "hwtimer: %d", error);
}

static bool hwtimer_begin(struct event_base *event_base, uint64_t ns)
{
	begin(event_base, ns);
	timers = (struct hwt_libevent){ .on_error = hwtimer_failed };
	if (hwt_open(&timers.hwt, HWT_NONBLOCK))
		return false;
	if (hwt_libevent_add(&timers, event_base))
		errx(1, "hwt_libevent_add");
	return true;
}

static void hwtimer_end(void)
{
	hwt_libevent_remove(&timers);
	hwt_close(timers.hwt);
}

static void hwtimer_expired(struct hwt_timer *timer)
{
	on_timeout(hwt_timer_object(timer, struct connection, timer));
}

static void hwtimer_add(struct connection *connection)
{
	hwt_timer_init(&connection->timer, timers.hwt, hwtimer_expired);
	if (hwt_timer_start(&connection->timer, timeout))
		errx(1, "hwt_timer_start");
}

/* The module hears of all the timers now. */
static void hwtimer_settle(void)
{
	if (hwt_flush(timers.hwt))
		errx(1, "hwt_flush");
}

static void hwtimer_push(struct connection *connection)
{
	if (hwt_timer_again(&connection->timer))
		errx(1, "hwt_timer_again");
}

static uint64_t hwtimer_now(void)
{
	return hwt_now(timers.hwt);
}

static void hwtimer_remove(struct connection *connection)
{
	hwt_timer_stop(&connection->timer);
}

static uint64_t monotonic_now(void)
{
	return now_ns();
}

/* libevent counts from when its loop woke up, by a clock of jiffies. */
const struct system systems[] = {
	{ .name = "none",
	  .now = monotonic_now,
	  .begin = begin,
	  .add = nothing,
	  .push = nothing,
	  .remove = nothing },
	{ .name = "libevent",
	  .begin = begin,
	  .add = libevent_add,
	  .push = libevent_push,
	  .remove = libevent_remove },
	{ .name = "timerfd",
	  .now = monotonic_now,
	  .begin = begin,
	  .add = timerfd_add,
	  .push = timerfd_push,
	  .remove = timerfd_remove },
	{ .name = "hwtimer",
	  .now = hwtimer_now,
	  .has_worker = true,
	  .begin = hwtimer_begin,
	  .add = hwtimer_add,
	  .settle = hwtimer_settle,
	  .push = hwtimer_push,
	  .remove = hwtimer_remove,
	  .end = hwtimer_end },
	{ NULL },
};
