/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the wheel's own files share: appending entries to buckets, and walking through them.
 */
#ifndef HWTIMER_WALK_H
#define HWTIMER_WALK_H

#include "wheel/kinds.h"

/* The tick at which a timer is to expire. */
static inline u64 hwtimer_record_tick(const struct hwtimer_wheel *wheel,
				      const struct hwtimer_record *record)
{
	return hwtimer_tick_align(hwtimer_wheel_tick_of(wheel,
							record->deadline),
				  record->deadline, record->align);
}

#ifdef HWTIMER_CHECKED
/* The number of calls of hwtimer_entry_alive() since the module was loaded */
extern u64 hwtimer_entry_looks;

static inline void hwtimer_entry_looked(void)
{
	WRITE_ONCE(hwtimer_entry_looks, READ_ONCE(hwtimer_entry_looks) + 1);
}
#else
/* Only a build with the KUnit suites counts this. */
static inline void hwtimer_entry_looked(void)
{
}
#endif

/*
 * An entry is alive if its record still has the timer that the entry was made for. After
 * 2^32 changes of the stamp, an old entry matches again, so the state is checked, too.
 */
static inline bool hwtimer_entry_alive(const struct hwtimer_record *record,
				       struct hwtimer_entry entry)
{
	hwtimer_entry_looked();
	return record->stamp == entry.stamp && record->state == HWTIMER_PENDING;
}

/* A bit for each of the entries @begin to @end - 1 that is not known to be dead. */
static inline u32 hwtimer_chunk_live(const struct hwtimer_chunk *chunk,
				     unsigned int begin, unsigned int end)
{
	return GENMASK(end - 1, begin) & ~chunk->dead;
}

/* Accounts for @count dead entries that have been removed. */
static inline void hwtimer_wheel_removed(struct hwtimer_wheel *wheel,
					 unsigned int count)
{
	wheel->entries -= count;
	wheel->stats.removed += count;
}

/* wheel/bucket.c */
void hwtimer_bucket_append(struct hwtimer_wheel *wheel, u32 nr,
			   struct hwtimer_entry entry, u64 tick);

/* wheel/walk.c */
void hwtimer_queue_look(const struct hwtimer_wheel *wheel,
			const struct hwtimer_queue *queue);
void hwtimer_queue_look_ahead(const struct hwtimer_wheel *wheel,
			      const struct hwtimer_queue *queue);
void hwtimer_walk_set_tick(const struct hwtimer_wheel *wheel,
			   struct hwtimer_walk *walk, u64 tick);
void hwtimer_walk_begin(struct hwtimer_wheel *wheel, struct hwtimer_walk *walk,
			u32 nr, u64 tick);
void hwtimer_walk_put_back(struct hwtimer_wheel *wheel,
			   struct hwtimer_walk *walk);
void hwtimer_walk_cut(struct hwtimer_wheel *wheel, struct hwtimer_walk *walk);
unsigned int hwtimer_walk_chunk(struct hwtimer_wheel *wheel,
				struct hwtimer_walk *walk, u32 **due);
unsigned int hwtimer_walk_step(struct hwtimer_wheel *wheel,
			       struct hwtimer_walk *walk);
void hwtimer_walk_ahead(struct hwtimer_wheel *wheel, unsigned int budget);

/* wheel/expire.c */
unsigned int hwtimer_expire_due(struct hwtimer_wheel *wheel,
				unsigned int budget, u32 **due);

/* wheel/refile.c */
void hwtimer_refile_add(struct hwtimer_wheel *wheel,
			struct hwtimer_entry entry);

#endif /* HWTIMER_WALK_H */
