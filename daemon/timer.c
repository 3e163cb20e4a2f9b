// SPDX-License-Identifier: MIT
/* Sets timers of the loop; see timer.h. */
#include "timer.h"
#include "say.h"

#include <stdlib.h>

/**
 * timer_set - have a timer expire
 * @timer: the timer, which may be set already
 * @ms: ms from now; a negative number counts as 0
 *
 * Without memory for that, a lease or a connection would be forgotten for ever. So the
 * daemon ends, and what starts it again gets it right: Redis has all timers.
 */
void timer_set(struct event *timer, int64_t ms)
{
	struct timeval delay = { ms / 1000, ms % 1000 * 1000 };

	if (ms < 0)
		delay = (struct timeval){ 0 };
	if (!evtimer_add(timer, &delay))
		return;
	say(LOG_ERR, "no memory for a timer: ending");
	_Exit(1);
}

/* Has the loop call the timer's function as soon as it can. */
void timer_now(struct event *timer)
{
	event_active(timer, EV_TIMEOUT, 0);
}
