/* SPDX-License-Identifier: MIT */
/*
 * Computes what to schedule so that a timer of a snapshot goes on in a new instance:
 * now, and perhaps after another boot, or in another time namespace. Used by restore.
 */
#ifndef REVIVAL_H
#define REVIVAL_H

#include "clocks.h"
#include "snapshot.h"

/**
 * struct revival - how the times of a snapshot become times of the new instance
 * @now: time on the clock of the new instance, ns
 * @shift: ns to add to each deadline
 * @passed: time between the save and now that counted for the timers, ns
 * @same_boot: whether the machine has not been restarted since the save
 * @set_back: whether CLOCK_REALTIME shows an earlier time than at the save, so that it
 *	cannot tell how much time has passed
 */
struct revival {
	uint64_t now;
	int64_t shift;
	uint64_t passed;
	bool same_boot;
	bool set_back;
};

struct revival revival_of(const struct snapshot_header *header,
			  const struct moment *now, bool paused);
unsigned int revival_timer(const struct revival *revival,
			   const struct snapshot_timer *timer,
			   struct hwtimer_request requests[2]);

#endif /* REVIVAL_H */
