/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Adding timers to a wheel, many in a row. Used by hwtimer_bulk.c, and by
 * hwtimer_wheel.c, which adds a single one in the same way.
 *
 * What has to be known of the wheel for each timer is copied once, to where the
 * compiler keeps it in registers: in the wheel each store to a bucket or a record
 * would have it read again. Where more has to be known, the wheel is asked.
 */
#ifndef HWTIMER_INTAKE_H
#define HWTIMER_INTAKE_H

#include "hwtimer_wheel.h"

/**
 * struct hwtimer_intake - a wheel that timers are being added to
 * @wheel: it; nothing else is done to it meanwhile
 * @scale: its
 * @buckets: its
 * @first: the earliest tick for a new timer
 * @direct: before this tick, entries go to bucket tick & @mask; 0: ask for all
 * @mask: see there
 */
struct hwtimer_intake {
	struct hwtimer_wheel *wheel;
	struct hwtimer_scale scale;
	struct hwtimer_bucket *buckets;
	u64 first;
	u64 direct;
	u32 mask;
};

struct hwtimer_intake hwtimer_intake_begin(struct hwtimer_wheel *wheel);
void hwtimer_intake_ask(struct hwtimer_wheel *wheel, struct hwtimer_entry entry,
			u64 tick);

/**
 * hwtimer_intake_file - enter a timer into a bucket
 * @intake: from hwtimer_intake_begin(); stays true, whatever is filed
 * @entry: of its record
 * @tick: at which it is to expire; if that has passed, the next turn
 *
 * Takes one chunk at the most from the pool.
 */
static __always_inline void
hwtimer_intake_file(const struct hwtimer_intake *intake,
		    struct hwtimer_entry entry, u64 tick)
{
	struct hwtimer_bucket *bucket;

	tick = max(tick, intake->first);
	bucket = &intake->buckets[tick & intake->mask];
	/*
	 * Mostly it has an earlier one, and its last chunk has room: then no walk
	 * without expirations is there, as that would have taken all of it.
	 */
	if (likely(tick < intake->direct && bucket->earliest <= tick &&
		   hwtimer_queue_try_entry(&bucket->entries, entry)))
		hwtimer_queue_prefetch(&bucket->entries);
	else
		hwtimer_intake_ask(intake->wheel, entry, tick);
}

/* Afterwards: @count have been filed. */
static inline void hwtimer_intake_end(const struct hwtimer_intake *intake,
				      u32 count)
{
	intake->wheel->entries += count;
}

#endif /* HWTIMER_INTAKE_H */
