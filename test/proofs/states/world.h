/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A wheel with all that it uses, in one piece of memory, so that a state of it can be
 * copied, compared and hashed. The functions of the module work on the one struct world
 * that is called world.
 */
#ifndef STATES_WORLD_H
#define STATES_WORLD_H

#include "wheel/kinds.h"

#include "config.h"

/* Maximum number of timers, and of entries, live and dead */
#define TIMERS_MAX 4
#define ENTRIES_MAX 8

/*
 * Each entry may have a chunk of its own. Each walk may have one more, while it moves an
 * entry; and see hwtimer_queue_drop_head(), which comes last.
 */
#define CHUNKS (ENTRIES_MAX + 8)

#ifdef STATES_FULL
#define WHEEL_BYTES 16384
#else
#define WHEEL_BYTES 1024
#endif

/**
 * struct duty - what the wheel owes to a pending timer
 * @pending: the timer has been added, and has neither expired nor been cancelled
 * @ordered: the timer was not overdue when it was added, and was not postponed since:
 *	among timers with the same @latest, it expires in the order of @rank
 * @rank: number of the timers that it follows among those with the same @latest
 * @earliest: the tick before which the timer must not expire
 * @latest: the tick by which the timer must have expired. It is later than @earliest if
 *	the timer was overdue when it was added
 */
struct duty {
	bool pending;
	bool ordered;
	u8 rank;
	u64 earliest;
	u64 latest;
};

/**
 * struct world - a wheel and all that it uses
 * @wheel: the wheel
 * @table: its table, with a single slot that is cut off after the last record
 * @pool: its pool of chunks
 * @slot: table.slots
 * @map: table.maps
 * @free: the map: a bit for each record that is free
 * @records: the records; the first one is never used
 * @duties: for each record, the duty of the wheel
 * @exact: all entries have been live and none was postponed since the wheel was last
 *	empty. So the wheel must know exactly when it has something to do. Only if the
 *	configuration has no dead entries and no moves
 * @memory: the buckets, and what the kind of wheel needs behind them
 * @chunks: the chunks
 *
 * All is 0 that has no meaning; see world_normalise().
 */
struct world {
	struct hwtimer_wheel wheel;
	struct hwtimer_table table;
	struct hwtimer_pool pool;
	struct hwtimer_slot *slot;
	unsigned long *map;
	unsigned long free;
	struct hwtimer_record records[TIMERS_MAX + 1];
	struct duty duties[TIMERS_MAX + 1];
	bool exact;
	u8 memory[WHEEL_BYTES] __aligned(64);
	struct hwtimer_chunk chunks[CHUNKS];
};

extern struct world world;

/* The queues of the wheel besides those of its buckets */
#define WALK_QUEUES 9

void world_init(const struct config *config);
void world_normalise(void);
u64 world_hash(void);

unsigned int world_queues(void);
struct hwtimer_queue *world_queue(unsigned int nr);
bool world_alive(struct hwtimer_entry entry);

#endif /* STATES_WORLD_H */
