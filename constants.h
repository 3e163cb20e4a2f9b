/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The constants that decide how soon rare things happen: how much one hold of a lock does,
 * how much memory is kept in advance, and when counters wrap. Users have the first set.
 *
 * HWTIMER_SMALL selects the second set, for tests: a timer or two fill a chunk, a hold of
 * the lock ends after a few timers, stamps wrap after 16, and a record is spent after 63.
 * The module must be correct with it, too; only its speed and its memory differ. So a test
 * that depends on one of these constants names it, and the tests run with both sets.
 */
#ifndef HWTIMER_CONSTANTS_H
#define HWTIMER_CONSTANTS_H

#include <linux/build_bug.h>

/**
 * DOC: the constants
 *
 * HWTIMER_HOLD
 *	maximum number of timers handled in one hold of an instance's lock
 * HWTIMER_CHUNK_BYTES, HWTIMER_CHUNK_ENTRIES
 *	size of a chunk, and how many entries it has room for
 * HWTIMER_EVENTS, HWTIMER_START_EVENTS
 *	size of the ring of events, and of the one with which an instance starts; powers of
 *	two
 * HWTIMER_STAMP_MAX
 *	the last stamp of a record, before 0 again; a power of two minus 1
 * HWTIMER_GENERATION_MAX
 *	the last generation of a record, after which the record is not used again
 * HWTIMER_SLOTS_RETIRED
 *	number of slots of a table beyond those that its limit needs: room for records that
 *	are not used again. Without them, a table of one slot may have no room for the slot
 *	of the second of two threads that let it grow at the same time
 * HWTIMER_SLOTS_CACHED
 *	the maps of as many slots, 256 KB, are usually in the processor's cache
 * HWTIMER_SPARE_CHUNKS
 *	number of spare chunks that an instance keeps beyond those that it has to reserve. A
 *	full batch of requests may need HWTIMER_HOLD, so that many are not freed between two
 *	batches
 * HWTIMER_AHEAD_CHUNKS
 *	maximum number of chunks that are allocated in advance
 * HWTIMER_TRIM_CHUNKS, HWTIMER_SHRINK_BLOCKS
 *	maximum number of chunks that one slice of the worker's chores frees, and of blocks
 *	of a table
 * HWTIMER_START_RECORDS, HWTIMER_START_BUCKETS, HWTIMER_START_ENTRIES
 *	number of records with which an instance starts, number of buckets of the wheel with
 *	which it starts, and number of entries that this wheel may hold; see
 *	memory/start.c. The entries are filed anew in one hold of the lock
 * HWTIMER_START_SPARE_CHUNKS
 *	HWTIMER_SPARE_CHUNKS of an instance that still has that wheel
 * HWTIMER_DEAD_SPARED, HWTIMER_DEAD_DURING
 *	how many dead entries there may be beyond the number of pending timers before a
 *	compaction begins, and how many more may come until it ends
 */
#ifndef HWTIMER_SMALL

#define HWTIMER_HOLD 256U
#define HWTIMER_CHUNK_BYTES 256
#define HWTIMER_CHUNK_ENTRIES 30
#define HWTIMER_EVENTS 4096U
#define HWTIMER_STAMP_MAX 0xffffffffU
#define HWTIMER_GENERATION_MAX 0xffffffffU
#define HWTIMER_SLOTS_RETIRED 16
#define HWTIMER_SLOTS_CACHED 2048U
#define HWTIMER_SPARE_CHUNKS (HWTIMER_HOLD + 64)
#define HWTIMER_AHEAD_CHUNKS 64U
#define HWTIMER_TRIM_CHUNKS 128U
#define HWTIMER_SHRINK_BLOCKS 16U
#define HWTIMER_START_RECORDS 40U
#define HWTIMER_START_BUCKETS 64U
#define HWTIMER_START_ENTRIES 256U
#define HWTIMER_START_EVENTS 128U
#define HWTIMER_START_SPARE_CHUNKS 32U
#define HWTIMER_DEAD_SPARED 32768
#define HWTIMER_DEAD_DURING 16384

#else

#define HWTIMER_HOLD 8U
#define HWTIMER_CHUNK_BYTES 32
#define HWTIMER_CHUNK_ENTRIES 2
/* The KUnit suites have thousands of events wait. */
#ifdef HWTIMER_CHECKED
#define HWTIMER_EVENTS 4096U
#else
#define HWTIMER_EVENTS 32U
#endif
#define HWTIMER_STAMP_MAX 15U
#define HWTIMER_GENERATION_MAX 63U
#define HWTIMER_SLOTS_RETIRED 0
#define HWTIMER_SLOTS_CACHED 0U
#define HWTIMER_SPARE_CHUNKS 0U
#define HWTIMER_AHEAD_CHUNKS 0U
#define HWTIMER_TRIM_CHUNKS 4U
#define HWTIMER_SHRINK_BLOCKS 1U
#define HWTIMER_START_RECORDS 6U
#define HWTIMER_START_BUCKETS 8U
#define HWTIMER_START_ENTRIES 8U
#define HWTIMER_START_EVENTS 16U
#define HWTIMER_START_SPARE_CHUNKS 0U
#define HWTIMER_DEAD_SPARED 32
#define HWTIMER_DEAD_DURING 16

#endif

/* A step of a refile files more than half of a hold, see refile_steps(). */
static_assert(HWTIMER_HOLD - HWTIMER_CHUNK_ENTRIES > HWTIMER_HOLD / 2);

/* A turn lets no more timers expire than the ring has room for, see hwtimer_events_move(). */
static_assert(HWTIMER_EVENTS / 2 >= HWTIMER_HOLD);
static_assert(HWTIMER_START_EVENTS / 2 >= HWTIMER_START_RECORDS);

static_assert((HWTIMER_STAMP_MAX & (HWTIMER_STAMP_MAX + 1)) == 0);

static_assert(HWTIMER_START_ENTRIES <= HWTIMER_HOLD);

#endif /* HWTIMER_CONSTANTS_H */
