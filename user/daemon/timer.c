// SPDX-License-Identifier: MIT
/* Sets timers of the loop; see timer.h. */
#include "timer.h"
#include "clock.h"
#include "say.h"

#include <stdlib.h>

/**
 * timer_set_ns - have a timer expire
 * @timer: the timer, which may be set already
 * @ns: ns from now; a negative number counts as 0
 *
 * Without memory for that, a lease or a connection would be forgotten for ever. So the
 * daemon ends, and what starts it again gets it right: Redis has all timers.
 */
void timer_set_ns(struct event *timer, int64_t ns)
{
	int64_t us = ns > 0 ? (ns + 999) / 1000 : 0;
	struct timeval delay = { us / 1000000, us % 1000000 };

	if (!evtimer_add(timer, &delay))
		return;
	say(LOG_ERR, "no memory for a timer: ending");
	_Exit(1);
}

/* As timer_set_ns(), for times that need not be exact. */
void timer_set(struct event *timer, int64_t ms)
{
	timer_set_ns(timer, ms * NS_PER_MS);
}

/* Has the loop call the timer's function as soon as it can. */
void timer_now(struct event *timer)
{
	event_active(timer, EV_TIMEOUT, 0);
}
