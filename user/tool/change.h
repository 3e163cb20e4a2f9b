/* SPDX-License-Identifier: MIT */
/*
 * Computes what has happened to instances between two samples. Used by the commands
 * that sample more than once.
 */
#ifndef CHANGE_H
#define CHANGE_H

#include "instances.h"

/**
 * struct change - what has happened to instances between two samples
 * @seconds: time between the samples; 0: there is no earlier sample
 * @scheduled: number of timers scheduled or rearmed
 * @cancelled: number of timers cancelled
 * @expired: number of timers expired
 * @delivered: number of events delivered
 * @lateness: histogram of the lateness of the expired timers
 * @pending: pending timers at the end
 * @ready: events that wait to be read at the end
 * @bytes: memory at the end
 */
struct change {
	double seconds;
	uint64_t scheduled;
	uint64_t cancelled;
	uint64_t expired;
	uint64_t delivered;
	uint64_t lateness[HWTIMER_LATENESS_BUCKETS];
	uint64_t pending;
	uint64_t ready;
	uint64_t bytes;
};

struct change change_of(const struct instance *now,
			const struct instance *before, double seconds);
void change_add(struct change *sum, const struct change *change);

#endif /* CHANGE_H */
