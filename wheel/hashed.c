// SPDX-License-Identifier: GPL-2.0
/*
 * The hashed wheel puts a timer into bucket tick modulo number of buckets.
 *
 * This is scheme 6 of George Varghese and Tony Lauck, "Hashed and Hierarchical Timing
 * Wheels" (SOSP 1987). Netty's HashedWheelTimer is one, too, and counts down the rounds
 * of each timer. This one has no rounds to count down: the earliest tick of each bucket, of
 * each group of buckets and of all groups tell which bucket is next, however many rounds
 * away. Buckets that are not due are not touched.
 *
 * A walk passes over the entries of later rounds. So the wheel is for few entries: see
 * memory/start.c.
 */
#include "wheel/hashed.h"

static_assert(HWTIMER_START_BUCKETS <= HWTIMER_HASHED_MAX);
static_assert(HWTIMER_START_BUCKETS >= HWTIMER_HASHED_GROUP);

void hwtimer_hashed_init(struct hwtimer_wheel *wheel)
{
	struct hwtimer_hashed *hashed = &wheel->hashed;
	u32 i;

	hashed->first = HWTIMER_TICK_NONE;
	for (i = 0; i < HWTIMER_HASHED_GROUP; i++)
		hashed->groups[i] = HWTIMER_TICK_NONE;
}

void hwtimer_hashed_occupy(struct hwtimer_wheel *wheel, u32 nr, u64 tick)
{
	struct hwtimer_hashed *hashed = &wheel->hashed;
	u64 *group = &hashed->groups[nr / HWTIMER_HASHED_GROUP];

	if (wheel->buckets[nr].earliest <= tick)
		return;
	wheel->buckets[nr].earliest = tick;
	wheel->soonest = min(wheel->soonest, tick);
	*group = min(*group, tick);
	hashed->first = min(hashed->first, tick);
}

void hwtimer_hashed_settle(struct hwtimer_wheel *wheel, u32 nr, u64 tick)
{
	struct hwtimer_hashed *hashed = &wheel->hashed;
	u32 group = nr / HWTIMER_HASHED_GROUP;
	const struct hwtimer_bucket *buckets =
		&wheel->buckets[group * HWTIMER_HASHED_GROUP];
	u64 earliest = HWTIMER_TICK_NONE;
	u32 i;

	wheel->buckets[nr].earliest = tick;
	for (i = 0; i < HWTIMER_HASHED_GROUP; i++)
		earliest = min(earliest, buckets[i].earliest);
	hashed->groups[group] = earliest;

	hashed->first = HWTIMER_TICK_NONE;
	for (i = 0; i < HWTIMER_HASHED_GROUP; i++)
		hashed->first = min(hashed->first, hashed->groups[i]);
}

/*
 * The earliest tick is nearly always in the bucket where it belongs. The exception is an
 * entry that has outlived 2^32 stamps of its record and now stands for a timer that
 * belongs elsewhere.
 */
u64 hwtimer_hashed_first(const struct hwtimer_wheel *wheel, u32 *nr)
{
	u64 tick = wheel->hashed.first;

	*nr = hwtimer_hashed_place(wheel, tick);
	if (likely(wheel->buckets[*nr].earliest == tick))
		return tick;
	*nr = 0;
	while (wheel->buckets[*nr].earliest != tick)
		++*nr;
	return tick;
}
