// SPDX-License-Identifier: GPL-2.0
/*
 * Draws the timers of a workload; see timers.h.
 */
#include "device.h"
#include "timers.h"

/* The seeds of the delays and of the order of the cancels */
#define SEED_DELAYS 2015
#define SEED_ORDER 1987

#define MINUTES (60 * NSEC_PER_SEC)
#define HOURS (60 * MINUTES)

char *const workload_names[] = {
	[SHORT] = "short", [LONG] = "long",	[MIXED] = "mixed",
	[BURST] = "burst", [CANCEL] = "cancel", [WORKLOADS] = NULL,
};

static u64 mixed_horizon(u64 *seed)
{
	u32 percent = random_next(seed) % 100;

	if (percent < 50)
		return 5 * NSEC_PER_SEC;
	return percent < 90 ? 10 * MINUTES : 24 * HOURS;
}

static u64 random_delay(enum workload workload, u64 *seed)
{
	u64 least = workload == BURST ? 10 * MINUTES : 0;
	u64 horizon;

	switch (workload) {
	case SHORT:
		horizon = 5 * NSEC_PER_SEC;
		break;
	case LONG:
		horizon = 24 * HOURS;
		break;
	case BURST:
		horizon = NSEC_PER_SEC;
		break;
	default:
		horizon = mixed_horizon(seed);
	}
	return least + random_next(seed) % horizon;
}

/**
 * timers_fill - draw the timers of a workload, whose delays begin at TIMERS_START
 * @timers: out: the timers
 * @count: number of timers
 * @workload: any workload but CANCEL
 * @slack_permille: slack in thousandths of the delay
 */
void timers_fill(struct timer *timers, u32 count, enum workload workload,
		 u32 slack_permille)
{
	u64 seed = SEED_DELAYS;
	u32 i;

	for (i = 0; i < count; i++) {
		u64 delay = random_delay(workload, &seed);

		timers[i] = (struct timer){
			.deadline = TIMERS_START + delay,
			.slack = delay * slack_permille / 1000,
		};
	}
}

/* Fills @order with all numbers below @count, in random order. */
void timers_order(u32 *order, u32 count)
{
	u64 seed = SEED_ORDER;
	u32 i;

	for (i = 0; i < count; i++) {
		u32 other = random_next(&seed) % (i + 1);

		order[i] = order[other];
		order[other] = i;
	}
}
