/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of this room share.
 */
#ifndef HWTIMER_SUPPLY_H
#define HWTIMER_SUPPLY_H

#include "hwtimer.h"

/* The maximum number of records: each timer may be periodic, and then has two. */
static inline u32 hwtimer_records_max(const struct hwtimer_settings *settings)
{
	return 2 * settings->timers;
}

static inline struct hwtimer_outlook
hwtimer_demand_outlook(const struct hwtimer_instance *instance,
		       const struct hwtimer_demand *demand)
{
	u32 periodic =
		instance->periodic + demand->periodic + demand->extensions;

	return (struct hwtimer_outlook){
		.adds = demand->timers,
		.moves = demand->moves,
		.resting = periodic,
		.live = instance->stats.pending + demand->timers + periodic,
	};
}

/**
 * struct hwtimer_supply - memory that was allocated, and that the instance has not got yet
 * @chunks: spare chunks
 * @block: slots for the table
 * @wheel: the whole wheel, to replace the one with which the instance started; NULL: none
 * @memory: memory of @wheel and of a ring of events; NULL: none, or the instance has got it
 */
struct hwtimer_supply {
	struct hwtimer_pool chunks;
	struct hwtimer_block block;
	struct hwtimer_wheel *wheel;
	void *memory;
};

/* ---- start.c ---- */

u64 hwtimer_start_bytes(const struct hwtimer_settings *settings);
u64 hwtimer_whole_bytes(const struct hwtimer_settings *settings);
int hwtimer_whole_get(struct hwtimer_instance *instance,
		      struct hwtimer_supply *supply);
void hwtimer_whole_use(struct hwtimer_instance *instance,
		       struct hwtimer_supply *supply);
void *hwtimer_start_return(struct hwtimer_instance *instance);

/* ---- account.c ---- */

void hwtimer_account_returned(struct hwtimer_instance *instance);
void hwtimer_account_settle(struct hwtimer_instance *instance, u64 charged);

#endif /* HWTIMER_SUPPLY_H */
