/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What went wrong, and how much was done: counters that all threads and callbacks of the
 * module add to, and the verdict. Used by all units of the module.
 */
#ifndef TORTURE_REPORT_H
#define TORTURE_REPORT_H

#include <linux/types.h>

/**
 * enum torture_wrong - what hwtimer must never do
 * @TORTURE_EARLY: a callback ran before its deadline
 * @TORTURE_TWICE: a timer that expires once was called twice
 * @TORTURE_GHOST: a callback ran for a timer that had ended or was never scheduled
 * @TORTURE_LOST: a timer was neither called nor handed back
 * @TORTURE_ORDER: a timer was passed over by a later tick
 * @TORTURE_STALLED: a client with timers that were due called no callback, while another
 *	thread slept and woke up again and again
 * @TORTURE_DEADLINE: an event had another deadline than its timer
 * @TORTURE_COUNT: a periodic timer expired more often than it was to
 * @TORTURE_RUNNING: a callback was running when it must have returned
 * @TORTURE_TOGETHER: two callbacks of a client ran at the same time
 * @TORTURE_RESULT: a function returned what it must not return
 * @TORTURE_STATS: the client's counters do not balance
 * @TORTURE_WRONGS: number of these
 */
enum torture_wrong {
	TORTURE_EARLY,
	TORTURE_TWICE,
	TORTURE_GHOST,
	TORTURE_LOST,
	TORTURE_ORDER,
	TORTURE_STALLED,
	TORTURE_DEADLINE,
	TORTURE_COUNT,
	TORTURE_RUNNING,
	TORTURE_TOGETHER,
	TORTURE_RESULT,
	TORTURE_STATS,
	TORTURE_WRONGS
};

/**
 * enum torture_done - what the module has done
 * @TORTURE_CREATED: clients created
 * @TORTURE_SCHEDULED: timers scheduled
 * @TORTURE_CALLED: callbacks
 * @TORTURE_CANCELLED: timers cancelled before their (last) callback
 * @TORTURE_RESCHEDULED: deadlines changed
 * @TORTURE_RETURNED: timers handed back
 * @TORTURE_REFUSED: calls that found no memory or no room
 * @TORTURE_UNJUDGED: callbacks that may have been early, as the clock was set meanwhile
 * @TORTURE_DONES: number of these
 */
enum torture_done {
	TORTURE_CREATED,
	TORTURE_SCHEDULED,
	TORTURE_CALLED,
	TORTURE_CANCELLED,
	TORTURE_RESCHEDULED,
	TORTURE_RETURNED,
	TORTURE_REFUSED,
	TORTURE_UNJUDGED,
	TORTURE_DONES
};

extern unsigned long torture_seed;

void torture_did(enum torture_done what);
void torture_late(u64 lateness);
__printf(2, 3) void torture_wrong(enum torture_wrong what, const char *format,
				  ...);
void torture_tell(const char *when);
bool torture_verdict(void);

#endif /* TORTURE_REPORT_H */
