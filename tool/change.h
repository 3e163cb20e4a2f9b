/* SPDX-License-Identifier: MIT */
/*
 * What has happened between two looks at the instances. Used by the commands that
 * look more than once.
 */
#ifndef CHANGE_H
#define CHANGE_H

#include "instances.h"

/**
 * struct change - what has happened to instances
 * @seconds: in so long a time; 0: since they were opened
 * @scheduled: timers, rearmed ones included
 * @cancelled: timers
 * @expired: timers
 * @delivered: events
 * @lateness: of those that expired
 */
struct change {
	double seconds;
	uint64_t scheduled;
	uint64_t cancelled;
	uint64_t expired;
	uint64_t delivered;
	uint64_t lateness[HWTIMER_LATENESS_BUCKETS];
};

struct change change_of(const struct instance *now,
			const struct instance *before, double seconds);
void change_add(struct change *sum, const struct change *change);

#endif /* CHANGE_H */
