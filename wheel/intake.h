/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Adds timers to a wheel, many in a row. This is the inline half of the wheel's
 * interface. The other half, hwtimer_intake_open(), is in wheel/wheel.c. timers/bulk.c
 * adds many timers this way; hwtimer_wheel_add() adds a single one.
 *
 * Adding is inline for speed. A loop that adds timers copies the few facts that it needs
 * of the wheel once, and the compiler keeps them in registers. Read from the wheel
 * itself, they would have to be loaded again after each store to a bucket or a record.
 * hwtimer_intake_open() files the timers for which these facts are not enough.
 */
#ifndef HWTIMER_INTAKE_H
#define HWTIMER_INTAKE_H

#include "wheel/kinds.h"
#include "wheel/wheel.h"

/**
 * struct hwtimer_intake - a wheel that timers are being added to
 * @wheel: the wheel; the caller does nothing else to it meanwhile
 * @scale: copy of the wheel's
 * @buckets: copy of the wheel's
 * @first: the earliest tick for a new timer
 * @reach: an entry of one of the @reach ticks from @first on goes to bucket tick & @mask;
 *	for all others, hwtimer_intake_open() asks the wheel
 * @mask: number of buckets of the lowest level minus 1
 */
struct hwtimer_intake {
	struct hwtimer_wheel *wheel;
	struct hwtimer_scale scale;
	struct hwtimer_bucket *buckets;
	u64 first;
	u64 reach;
	u32 mask;
};

void hwtimer_intake_open(struct hwtimer_wheel *wheel,
			 struct hwtimer_entry entry, u64 tick, bool near);

/* To be called before hwtimer_intake_file(). */
static __always_inline struct hwtimer_intake
hwtimer_intake_begin(struct hwtimer_wheel *wheel)
{
	u64 first = wheel->current_tick + 1;
	u64 direct = wheel->rewind.active ? 0 : hwtimer_kind_direct(wheel);

	return (struct hwtimer_intake){
		.wheel = wheel,
		.scale = wheel->scale,
		.buckets = wheel->buckets,
		.first = first,
		.reach = max(direct, first) - first,
		.mask = wheel->shape.buckets - 1,
	};
}

/**
 * hwtimer_intake_file - enter a timer into a bucket
 * @intake: from hwtimer_intake_begin(); stays valid, whatever is filed
 * @entry: the entry of the timer's record
 * @tick: the tick at which the timer is to expire; if it has passed, the timer expires
 *	at the next turn
 *
 * Takes at most one chunk from the pool.
 */
static __always_inline void
hwtimer_intake_file(const struct hwtimer_intake *intake,
		    struct hwtimer_entry entry, u64 tick)
{
	struct hwtimer_bucket *bucket = &intake->buckets[tick & intake->mask];
	bool near = tick - intake->first < intake->reach;

	/*
	 * Usually the bucket holds an earlier entry and its last chunk has room. Then no
	 * walk without expirations is in this bucket, because such a walk takes all
	 * chunks out of it.
	 */
	if (unlikely(!near || bucket->earliest > tick ||
		     !hwtimer_queue_try_entry(&bucket->entries, entry)))
		hwtimer_intake_open(intake->wheel, entry,
				    max(tick, intake->first), near);
}

/* To be called after hwtimer_intake_file() has filed @count entries. */
static inline void hwtimer_intake_end(const struct hwtimer_intake *intake,
				      u32 count)
{
	intake->wheel->entries += count;
}

#endif /* HWTIMER_INTAKE_H */
