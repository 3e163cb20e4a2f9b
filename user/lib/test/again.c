// SPDX-License-Identifier: MIT
/*
 * Pushes active timers out, for callgrind to count what that takes. Built and run by
 * test/vm/userland.sh.
 *
 *	usage: again PUSHES [uncached]
 *
 * uncached: each push reads the clock, as with the adapters to libevent, Boost.Asio and GLib
 */
#include <stdlib.h>

#include <libhwtimer.h>

#include "module.h"

#define TIMERS 1000

static struct hwt_timer timers[TIMERS];

static void on_timer(struct hwt_timer *timer)
{
	(void)timer;
	abort();
}

int main(int argc, char **argv)
{
	unsigned int i, n = argc > 1 ? atoi(argv[1]) : 0;
	struct hwt *hwt;
	int err;

	module_reset(1);
	err = hwt_open(&hwt, HWT_NONBLOCK);
	if (!err && argc > 2)
		hwt_cache_time(hwt, 0);
	for (i = 0; !err && i < TIMERS; i++) {
		hwt_timer_init(&timers[i], hwt, on_timer);
		err = hwt_timer_start(&timers[i], 1000000000);
	}
	err = err ? err : hwt_flush(hwt);
	/* In each pass of the loop, the time has gone on. */
	for (i = 0; !err && i < n; i++) {
		if (i % TIMERS == 0) {
			err = hwt_flush(hwt);
			module_set_clock(module.now + 1000);
		}
		err = err ? err : hwt_timer_again(&timers[i % TIMERS]);
	}
	return err || module.calls != 4 || module.operations != TIMERS;
}
