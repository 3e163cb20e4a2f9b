/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lanes let threads on several processors use one instance at the same time. An instance
 * gets them when its requests come from several processors in quick succession. Each lane is
 * for some of the processors.
 *
 * While a lane is open, hwtimer_express.c schedules and cancels plain timers with the lane's
 * own lock held, instead of the instance's. Each slot of the table belongs to a lane, which
 * protects the slot's records while it is open. To schedule, a lane borrows more from the
 * instance: the free records of some of its slots; a number of timers, for which memory is
 * reserved; and the time before which nothing else happens. Timers that are scheduled so are
 * not in the wheel. The lane's log has their indices, and their records are in state
 * HWTIMER_LOGGED. Most timeouts are cancelled while they are young, so most of these
 * timers never touch a bucket, which another processor may just have used.
 *
 * All else that concerns timers takes the instance's lock by hwtimer_instance_lock(), which
 * closes all lanes first. A closed lane has given back what it had borrowed, and the instance's
 * counters are complete. Only the timers in the logs are still there. They are filed in the
 * wheel, oldest first, before the first of them can be due, and before any other timer is
 * scheduled. So timers of a tick expire in the order in which they were scheduled, whatever
 * lanes they came through.
 */
#ifndef HWTIMER_LANE_H
#define HWTIMER_LANE_H

#include <linux/cache.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "hwtimer_limits.h"
#include "hwtimer_table.h"

struct hwtimer_instance;

#define HWTIMER_LANES_MAX 16U
/* The number of no lane, to which a slot belongs that no lane has been opened for */
#define HWTIMER_LANE_NONE 0xffU

/**
 * struct hwtimer_logged - a timer in a lane's log
 * @when: time at which it was scheduled, ns on the instance's clock
 * @index: index of its record; HWTIMER_NO_RECORD: it is no longer in the log
 */
struct hwtimer_logged {
	u64 when;
	u32 index;
};

/**
 * struct hwtimer_lane - what the threads of some processors schedule and cancel timers with
 * @lock: spinlock, taken inside the instance's lock. Protects the members below while the
 *	lane is open; while it is closed, the instance's lock does
 * @open: the lane may be used with @lock alone. Written with both locks held
 * @credit: number of timers that may be scheduled before the lane is opened anew;
 *	instance->table.used counts their records, too
 * @head: number of the first timer in @log, modulo 2^32
 * @tail: number of the next timer in @log, modulo 2^32
 * @places: maximum number of places of @log that may be in use; set when it is opened
 * @from: the worker comes at this time at the latest, ns on the instance's clock; no timer
 *	with an earlier deadline may be scheduled
 * @earliest: no timer that was scheduled since the lane was opened has an earlier deadline
 * @hand: free records; the maps do not show them
 * @scheduled: number of timers scheduled since the lane was opened
 * @cancelled: number of timers cancelled since then
 * @buried: of @cancelled, those that were in the wheel
 * @dirty: the words of @vacant that may have set bits are those from this one on,
 * @dirty_end: and before this one
 * @log: ring of HWTIMER_LANE_LOG timers, oldest first
 * @vacant: a bit for each of its slots with free records that it has borrowed; none while
 *	closed
 * @own: a bit for each slot that belongs to it
 * @map: memory for the map of the instance's lanes, unless another lane has brought it
 * @used: when the lane was opened last, in jiffies
 */
struct hwtimer_lane {
	spinlock_t lock; /* see above */
	bool open;
	u32 credit;
	u32 head;
	u32 tail;
	u32 places;
	u64 from;
	u64 earliest;
	struct hwtimer_hand hand;
	u32 scheduled;
	u32 cancelled;
	u32 buried;
	u32 dirty;
	u32 dirty_end;
	struct hwtimer_logged *log;
	unsigned long *vacant;
	unsigned long *own;
	struct hwtimer_lane_map *map;
	u64 used;
} ____cacheline_aligned_in_smp;

/**
 * struct hwtimer_lane_map - which lanes an instance has, and what belongs to them
 * @of: the lanes; NULL: not needed so far. Each is set once, with the instance's lock held,
 *	and also read without it
 * @owners: for each slot of the table, the number of its lane, or HWTIMER_LANE_NONE; also
 *	read without the instance's lock. The lane that gets a slot is locked, and the one
 *	that gives it is closed
 */
struct hwtimer_lane_map {
	struct hwtimer_lane *of[HWTIMER_LANES_MAX];
	u8 owners[];
};

/**
 * struct hwtimer_lanes - the lanes of an instance
 * @open: a bit for each open lane
 * @nr: number of lanes
 * @wanted: the instance could use another lane; also written without the lock
 * @attend: there are lanes, or another one is wanted; set once, also read without the lock
 * @cpu: the processor of the last request that took the instance's lock; U32_MAX if the
 *	instance has lanes, so that one comparison finds both
 * @last: the same, with lanes, too
 * @switches: number of requests in @jiffy that came from another processor than the one
 *	before
 * @granted: number of timers that open lanes may schedule, but for what they have done
 * @unfiled: number of timers in the logs and of those that open lanes may schedule, but for
 *	what open lanes have done
 * @buried: number of timers in the wheel that lanes have cancelled since a compaction is due,
 *	and for which no request has paid yet, see hwtimer_op_end()
 * @filing: number of threads that are filing what is in the logs; see logs_file()
 * @watched: the chores' alarm has been set for the lanes
 * @moved: number of timers that were taken out of logs one by one, most of them by
 *	RESCHEDULE, since the lanes were closed
 * @useless: how many times in a row lanes were closed before they had been of any use
 * @pause: number of requests before a lane is opened again; also read without the lock
 * @done: number of operations of all lanes so far, but for the last ones of open lanes
 * @judged: @done when lanes were closed last
 * @jiffy: time of the last such request, in jiffies
 * @earliest: no timer in a log expires earlier, but for what open lanes have done: the time of
 *	a tick
 * @assigned: number of slots that belong to a lane: all but the latest
 * @map: which lanes there are; NULL: none. Set once, and also read without the lock
 *
 * Protected by the instance's lock.
 */
struct hwtimer_lanes {
	u32 open;
	u32 cpu;
	u32 last;
	u32 switches;
	u32 nr;
	bool wanted;
	bool attend;
	u32 granted;
	u32 unfiled;
	u32 buried;
	u32 filing;
	bool watched;
	u32 moved;
	u32 useless;
	u32 pause;
	u64 done;
	u64 judged;
	u64 jiffy;
	u64 earliest;
	u32 assigned;
	struct hwtimer_lane_map *map;
};

u64 hwtimer_lane_bytes(const struct hwtimer_table *table);
struct hwtimer_lane *hwtimer_lane_alloc(const struct hwtimer_table *table);
void hwtimer_lanes_add(struct hwtimer_instance *instance, u32 nr,
		       struct hwtimer_lane *lane);
void hwtimer_lane_free(struct hwtimer_lane *lane);
void hwtimer_lanes_free(struct hwtimer_lanes *lanes);

void hwtimer_lanes_switched(struct hwtimer_instance *instance, u32 cpu);
bool hwtimer_lanes_allowed(const struct hwtimer_instance *instance);
void hwtimer_lanes_close(struct hwtimer_instance *instance);
void hwtimer_lane_settle(struct hwtimer_instance *instance, u32 nr);
bool hwtimer_lane_open(struct hwtimer_instance *instance, u32 nr, u32 credit);
bool hwtimer_lane_finds_slot(const struct hwtimer_instance *instance, u32 nr);

bool hwtimer_lanes_file(struct hwtimer_instance *instance, u64 until, u32 max);
void hwtimer_lanes_file_one(struct hwtimer_instance *instance,
			    struct hwtimer_record *record, u32 index);

/* Has an instance do without lanes for a while. The instance's lock is held. */
static inline void hwtimer_lanes_pause(struct hwtimer_lanes *lanes)
{
	WRITE_ONCE(lanes->pause, HWTIMER_LANE_PAUSE);
}

/* The number of the lane for the current processor. */
static inline u32 hwtimer_lane_here(void)
{
	return raw_smp_processor_id() % HWTIMER_LANES_MAX;
}

/* A lane's place for the timer with number @nr in its log. */
static inline struct hwtimer_logged *
hwtimer_lane_place(const struct hwtimer_lane *lane, u32 nr)
{
	return &lane->log[nr % HWTIMER_LANE_LOG];
}

/**
 * hwtimer_lanes_of - find a lane
 * @lanes: the lanes of an instance; no lock is needed
 * @nr: number of the lane; may be HWTIMER_LANE_NONE
 *
 * Return: the lane, or NULL. Any context.
 */
static inline struct hwtimer_lane *
hwtimer_lanes_of(const struct hwtimer_lanes *lanes, u32 nr)
{
	/* Pairs with the smp_store_release() in hwtimer_lanes_add(). */
	const struct hwtimer_lane_map *map = smp_load_acquire(&lanes->map);

	if (!map || nr >= HWTIMER_LANES_MAX)
		return NULL;
	/* Pairs with the smp_store_release() in hwtimer_lanes_add(). */
	return smp_load_acquire(&map->of[nr]);
}

/* The number of the lane to which the slot of record @index belongs, while @lane is open. */
static inline u32 hwtimer_lanes_owner(const struct hwtimer_lanes *lanes,
				      u32 index)
{
	return READ_ONCE(lanes->map->owners[index >> HWTIMER_SLOT_SHIFT]);
}

/*
 * Takes a timer out of its log. That may be the log of a lane that is open, which only looks
 * whether a timer at its front has gone.
 */
static inline void hwtimer_lanes_strike(const struct hwtimer_lanes *lanes,
					const struct hwtimer_record *record)
{
	struct hwtimer_lane *lane =
		lanes->map->of[record->place / HWTIMER_LANE_LOG];

	WRITE_ONCE(hwtimer_lane_place(lane, record->place)->index,
		   HWTIMER_NO_RECORD);
}

/* Notes that slot @slot may have free records. */
static inline void hwtimer_lane_mark(struct hwtimer_lane *lane, u32 slot)
{
	u32 word = slot / BITS_PER_LONG;

	__set_bit(slot, lane->vacant);
	lane->dirty = min(lane->dirty, word);
	lane->dirty_end = max(lane->dirty_end, word + 1);
}

#endif /* HWTIMER_LANE_H */
