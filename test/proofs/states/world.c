// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the world, and brings it into its normal form; see world.h.
 *
 * Two worlds in which the wheel behaves alike have the same normal form, wherever that is
 * easy to see:
 *
 * - A stamp is 1 if it is that of a record or of a live entry, and 0 if the entry is dead:
 *   the wheel only compares stamps for equality.
 * - Records are numbered in the order of their entries: the wheel makes no difference
 *   between records. A dead entry refers to the first free record.
 * - No dead entry is marked as dead, and each walk looks for dead entries by the map. A
 *   walk that does not finds out later, by the record.
 * - Chunks stand in the order of the queues.
 * - What no function reads before it is written is 0.
 */
#include <err.h>
#include <string.h>

#include "world.h"

#define STAMP_LIVE 1
#define STAMP_DEAD 0

struct world world;
unsigned int states_hold = 256;

static void pool_fill(unsigned int first)
{
	unsigned int i = CHUNKS;

	world.pool = (struct hwtimer_pool){ .chunks = CHUNKS };
	while (i-- > first)
		hwtimer_pool_give(&world.pool, &world.chunks[i]);
}

void world_init(const struct config *config)
{
	struct hwtimer_shape shape = {
		.tick = 1ULL << config->tick_shift,
		.kind = config->kind,
		.buckets = config->buckets,
	};
	unsigned int i, levels = 1;

	memset(&world, 0, sizeof(world));
	if (shape.kind == HWTIMER_KIND_HIERARCHICAL)
		levels = hwtimer_hierarchy_levels(&shape);
	if (hwtimer_wheel_memory(&shape) > sizeof(world.memory) ||
	    levels > HWTIMER_LEVELS_MAX)
		errx(2, "the wheel is too large: %zu bytes, %u levels",
		     hwtimer_wheel_memory(&shape), levels);
	world.slot = (struct hwtimer_slot *)world.records;
	world.map = &world.free;
	world.table = (struct hwtimer_table){
		.slots = &world.slot,
		.maps = &world.map,
		.nr_slots = 1,
		.end = HWTIMER_SLOT_RECORDS,
	};
	for (i = 1; i <= config->timers; i++) {
		world.records[i].stamp = STAMP_LIVE;
		world.free |= BIT(i);
	}
	pool_fill(0);
	world.wheel = (struct hwtimer_wheel){
		.table = &world.table,
		.pool = &world.pool,
		.rewinds = config->rewinds,
	};
	hwtimer_wheel_init(&world.wheel, &shape, world.memory, 0);
	world.exact = !config->dead && !config->moves;
}

/* Number of queues, those of the buckets included */
unsigned int world_queues(void)
{
	return WALK_QUEUES + world.wheel.nr_buckets;
}

struct hwtimer_queue *world_queue(unsigned int nr)
{
	struct hwtimer_wheel *wheel = &world.wheel;

	switch (nr) {
	case 0:
		return &wheel->walk.source;
	case 1:
		return &wheel->walk.kept;
	case 2:
		return &wheel->ahead.source;
	case 3:
		return &wheel->ahead.kept;
	case 4:
		return &wheel->sweep.source;
	case 5:
		return &wheel->sweep.kept;
	case 6:
		return &wheel->refile.walk.source;
	case 7:
		return &wheel->refile.walk.kept;
	case 8:
		return &wheel->refile.fresh;
	default:
		return &wheel->buckets[nr - WALK_QUEUES].entries;
	}
}

/* Whether the entry is that of a pending timer */
bool world_alive(struct hwtimer_entry entry)
{
	const struct hwtimer_record *record = &world.records[entry.index];

	return record->state == HWTIMER_PENDING && record->stamp == entry.stamp;
}

/* Copies the slots in use of @chunk, which is in @queue, to @copy. */
static void chunk_normalise(const struct hwtimer_queue *queue,
			    const struct hwtimer_chunk *chunk,
			    struct hwtimer_chunk *copy)
{
	unsigned int first = chunk == queue->head ? queue->first : chunk->first;
	unsigned int end = hwtimer_queue_end(queue, chunk);

	if (chunk != queue->head)
		copy->first = first;
	if (chunk != queue->tail)
		copy->used = end;
	for (; first < end; first++)
		copy->entries[first] = chunk->entries[first];
}

/* Moves the chunks of @queue to @chunks[*@used] and the following ones. */
static void queue_normalise(struct hwtimer_queue *queue,
			    struct hwtimer_chunk *chunks, unsigned int *used)
{
	const struct hwtimer_chunk *chunk = queue->head;
	struct hwtimer_queue copy = { .first = queue->first,
				      .last = queue->last };

	if (!chunk) {
		*queue = (struct hwtimer_queue){};
		return;
	}
	for (;; chunk = chunk->next) {
		if (*used == CHUNKS)
			errx(1, "a queue does not end");
		chunk_normalise(queue, chunk, &chunks[*used]);
		/* The address in the world, to which @chunks is copied later */
		if (copy.head)
			chunks[*used - 1].next = &world.chunks[*used];
		else
			copy.head = &world.chunks[*used];
		copy.tail = &world.chunks[(*used)++];
		if (chunk == queue->tail)
			break;
	}
	*queue = copy;
}

static void chunks_normalise(void)
{
	struct hwtimer_chunk chunks[CHUNKS] = {};
	unsigned int i, used = 0;

	for (i = 0; i < world_queues(); i++)
		queue_normalise(world_queue(i), chunks, &used);
	memcpy(world.chunks, chunks, sizeof(chunks));
	pool_fill(used);
}

static void walks_normalise(struct hwtimer_wheel *wheel)
{
	if (!wheel->walk.active)
		wheel->walk = (struct hwtimer_walk){};
	if (!wheel->ahead.active)
		wheel->ahead = (struct hwtimer_walk){};
	if (!wheel->sweep.active)
		wheel->sweep = (struct hwtimer_walk){};
	/* Each step of these two sets its time anew. */
	wheel->ahead.tick = 0;
	wheel->ahead.time = 0;
	wheel->sweep.tick = 0;
	wheel->sweep.time = 0;
	if (!wheel->sweeping)
		wheel->sweep_next = 0;
	if (!wheel->refile.active)
		wheel->refile = (struct hwtimer_refile){};
}

static void record_normalise(struct hwtimer_record *record)
{
	struct hwtimer_record copy = { .stamp = STAMP_LIVE };

	if (record->state != HWTIMER_FREE) {
		copy.deadline = record->deadline;
		copy.status = record->status;
	}
	*record = copy;
}

/**
 * struct numbers - new numbers of the records
 * @of: for each record, its new number
 * @given: number of records that have one
 * @dead: the number that a dead entry gets
 */
struct numbers {
	u32 of[TIMERS_MAX + 1];
	u32 given;
	u32 dead;
};

typedef void visit_entry(struct hwtimer_entry *entry, struct numbers *numbers);

/* Calls @visit for each entry of the wheel, in the order of the queues. */
static void each_entry(visit_entry *visit, struct numbers *numbers)
{
	unsigned int i, slot;

	for (i = 0; i < world_queues(); i++) {
		struct hwtimer_queue *queue = world_queue(i);
		struct hwtimer_chunk *chunk = queue->head;

		while (chunk) {
			slot = chunk == queue->head ? queue->first :
						      chunk->first;
			for (; slot < hwtimer_queue_end(queue, chunk); slot++)
				visit(&chunk->entries[slot], numbers);
			chunk = chunk == queue->tail ? NULL : chunk->next;
		}
	}
}

static void number_entry(struct hwtimer_entry *entry, struct numbers *numbers)
{
	if (world_alive(*entry) && !numbers->of[entry->index])
		numbers->of[entry->index] = ++numbers->given;
}

static void renumber_entry(struct hwtimer_entry *entry, struct numbers *numbers)
{
	bool alive = world_alive(*entry);

	*entry = (struct hwtimer_entry){
		.index = alive ? numbers->of[entry->index] : numbers->dead,
		.stamp = alive ? STAMP_LIVE : STAMP_DEAD,
	};
}

static void records_normalise(void)
{
	struct hwtimer_record records[TIMERS_MAX + 1];
	struct duty duties[TIMERS_MAX + 1];
	struct numbers numbers = {};
	u32 i;

	each_entry(number_entry, &numbers);
	numbers.dead = min(numbers.given + 1, config.timers);
	for (i = 1; i <= config.timers; i++)
		if (!numbers.of[i])
			numbers.of[i] = ++numbers.given;
	each_entry(renumber_entry, &numbers);
	memcpy(records, world.records, sizeof(records));
	memcpy(duties, world.duties, sizeof(duties));
	world.free = 0;
	for (i = 1; i <= config.timers; i++) {
		u32 nr = numbers.of[i];

		record_normalise(&records[i]);
		world.records[nr] = records[i];
		world.duties[nr] = duties[i];
		if (records[i].state == HWTIMER_FREE)
			world.free |= BIT(nr);
	}
}

/* Sets the rank of a timer that is @ordered among those with the same @latest. */
static u8 rank_of(u32 index)
{
	const struct duty *duty = &world.duties[index], *other;
	u8 rank = 0;

	for (other = world.duties; other <= &world.duties[config.timers];
	     other++)
		rank += other->ordered && other->latest == duty->latest &&
			other->rank < duty->rank;
	return rank;
}

static void duties_normalise(void)
{
	u8 ranks[TIMERS_MAX + 1];
	u32 i;

	for (i = 1; i <= config.timers; i++) {
		struct duty *duty = &world.duties[i];

		if (!duty->pending)
			*duty = (struct duty){};
		ranks[i] = duty->ordered ? rank_of(i) : 0;
	}
	for (i = 1; i <= config.timers; i++)
		world.duties[i].rank = ranks[i];
}

/* Brings the world into its normal form. */
void world_normalise(void)
{
	walks_normalise(&world.wheel);
	records_normalise();
	chunks_normalise();
	duties_normalise();
	world.wheel.finds_dead = true;
	world.wheel.stats = (struct hwtimer_wheel_stats){};
}

static inline u64 mix(u64 hash)
{
	hash ^= hash >> 32;
	hash *= 0xd6e8feb86659fd93ULL;
	return hash ^ hash >> 29;
}

/* A hash of the world in its normal form */
u64 world_hash(void)
{
	const u64 *word = (const u64 *)&world;
	u64 hash = 0;
	size_t i;

	for (i = 0; i < sizeof(world) / sizeof(*word); i++)
		if (word[i])
			hash = mix(hash + word[i]) + i;
	return mix(hash);
}
