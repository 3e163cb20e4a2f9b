/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chunks: the 256-byte blocks in which the wheel keeps its entries and the
 * instance its queue of events, a pool of spare ones, and the two queues that
 * are built from them. Used by the wheel and by the instance, which owns the
 * pool and makes sure that it never runs dry (see hwtimer_pool_take()).
 *
 * A queue of chunks is an unrolled linked list: walking it tells the processor
 * its next cache misses, which a list of timers does not.
 *
 * Nothing here locks: callers hold the lock of the instance, except for
 * hwtimer_pool_fill() and hwtimer_pool_drain() on a pool of their own.
 */
#ifndef HWTIMER_CHUNK_H
#define HWTIMER_CHUNK_H

#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/gfp.h>
#include <linux/prefetch.h>
#include <linux/types.h>

/*
 * Functions that do nothing but prefetch are __always_inline: where prefetch()
 * is gcc's own (not on x86), gcc takes them for functions without effect, and
 * drops the calls.
 */

/* Of most processors; where it is another, some prefetches are of no use. */
#define HWTIMER_CACHE_LINE 64

#define HWTIMER_CHUNK_BYTES 256
#define HWTIMER_CHUNK_ENTRIES 30
#define HWTIMER_CHUNK_INDICES 60

/**
 * struct hwtimer_entry - a timer, as a bucket refers to it
 * @index: of its record
 * @stamp: the record's stamp when the entry was made; another one now means
 *	that the entry is dead
 */
struct hwtimer_entry {
	u32 index;
	u32 stamp;
};

/**
 * struct hwtimer_chunk - a piece of a queue, or a spare one
 * @next: the following chunk of the queue or of the pool
 * @first: slots taken already, from the front; valid unless it is the head
 * @used: slots filled; valid unless it is the tail
 * @dead: a bit for each of the entries that is known to be dead
 * @entries: slots of a bucket
 * @indices: slots of the queue of events
 */
struct hwtimer_chunk {
	struct hwtimer_chunk *next;
	u16 first;
	u16 used;
	u32 dead;
	union {
		struct hwtimer_entry entries[HWTIMER_CHUNK_ENTRIES];
		u32 indices[HWTIMER_CHUNK_INDICES];
	};
};

static_assert(sizeof(struct hwtimer_chunk) == HWTIMER_CHUNK_BYTES);
static_assert(HWTIMER_CHUNK_ENTRIES <= 32); /* the bits of @dead */

/* Starts to fetch all of @chunk, or of no chunk. */
static __always_inline void
hwtimer_chunk_prefetch(const struct hwtimer_chunk *chunk)
{
	unsigned int i;

	for (i = 0; i < sizeof(*chunk); i += HWTIMER_CACHE_LINE)
		prefetch((const char *)chunk + i);
}

/* Makes @chunk, which is in no queue and no pool, an empty one. */
static inline void hwtimer_chunk_reset(struct hwtimer_chunk *chunk)
{
	chunk->next = NULL;
	chunk->first = 0;
	chunk->used = 0;
	chunk->dead = 0;
}

/**
 * struct hwtimer_pool - a stack of spare chunks
 * @top: the next to be taken
 * @bottom: the last; valid while there is one
 * @spares: how many there are
 * @chunks: how many the owner has in all, spare and in use
 */
struct hwtimer_pool {
	struct hwtimer_chunk *top;
	struct hwtimer_chunk *bottom;
	u32 spares;
	u32 chunks;
};

int hwtimer_chunk_cache_create(void);
void hwtimer_chunk_cache_destroy(void);

int hwtimer_pool_fill(struct hwtimer_pool *pool, u32 count);
void hwtimer_pool_drain(struct hwtimer_pool *pool);
void hwtimer_pool_merge(struct hwtimer_pool *pool, struct hwtimer_pool *from);
void hwtimer_pool_trim(struct hwtimer_pool *pool, u32 count,
		       struct hwtimer_pool *to);

struct hwtimer_chunk *hwtimer_pool_take_unreserved(struct hwtimer_pool *pool);
struct hwtimer_chunk *hwtimer_pool_alloc(struct hwtimer_pool *pool);

/**
 * hwtimer_pool_take - a spare chunk, empty
 * @pool: where from
 *
 * Does not fail: whoever lets a queue grow has made sure before, in a context
 * that can fail, that the chunk is there (hwtimer_instance_reserve()). If that went
 * wrong, hwtimer_pool_take_unreserved() says so and tries to make up for it.
 *
 * Return: the chunk; NULL only if it should have been there and memory is used up too.
 */
static inline struct hwtimer_chunk *hwtimer_pool_take(struct hwtimer_pool *pool)
{
	struct hwtimer_chunk *chunk = pool->top;

	if (unlikely(!chunk))
		return hwtimer_pool_take_unreserved(pool);
	pool->top = chunk->next;
	pool->spares--;
	hwtimer_chunk_reset(chunk);
	prefetchw(pool->top);
	return chunk;
}

static inline void hwtimer_pool_give(struct hwtimer_pool *pool,
				     struct hwtimer_chunk *chunk)
{
	if (!pool->spares++)
		pool->bottom = chunk;
	chunk->next = pool->spares > 1 ? pool->top : NULL;
	pool->top = chunk;
}

/**
 * struct hwtimer_queue - a queue of chunks, whatever their slots hold
 * @head: the first chunk; NULL when the queue is empty
 * @tail: the last chunk; valid unless the queue is empty
 * @first: slots of @head taken already
 * @last: slots of @tail filled
 *
 * No chunk in it is without a slot in use.
 */
struct hwtimer_queue {
	struct hwtimer_chunk *head;
	struct hwtimer_chunk *tail;
	u16 first;
	u16 last;
};

bool hwtimer_queue_grow(struct hwtimer_queue *queue, struct hwtimer_pool *pool);

static inline bool hwtimer_queue_empty(const struct hwtimer_queue *queue)
{
	return !queue->head;
}

/* One past the last slot in use of @chunk, which is in @queue. */
static inline unsigned int hwtimer_queue_end(const struct hwtimer_queue *queue,
					     const struct hwtimer_chunk *chunk)
{
	return chunk == queue->tail ? queue->last : chunk->used;
}

/* Appends an entry if that takes no chunk; otherwise false, and nothing is done. */
static inline bool hwtimer_queue_try_entry(struct hwtimer_queue *queue,
					   struct hwtimer_entry entry)
{
	if (unlikely(!queue->head || queue->last == HWTIMER_CHUNK_ENTRIES))
		return false;
	queue->tail->entries[queue->last++] = entry;
	return true;
}

/*
 * Appends an entry; may take one chunk from @pool. If there is none, against all
 * reservations, the entry is left out: its timer does not expire, but CANCEL and STOP find
 * it by its record, and close() frees it.
 */
static inline void hwtimer_queue_add_entry(struct hwtimer_queue *queue,
					   struct hwtimer_pool *pool,
					   struct hwtimer_entry entry)
{
	if (hwtimer_queue_try_entry(queue, entry))
		return;
	hwtimer_queue_grow(queue, pool);
	hwtimer_queue_try_entry(queue, entry);
}

/*
 * Starts to fetch the cache line behind that of the last entry of @queue, which
 * is not empty. Whoever goes from queue to queue finds it gone otherwise, and
 * all that the processor has to write waits for it.
 */
static __always_inline void
hwtimer_queue_prefetch(const struct hwtimer_queue *queue)
{
	prefetchw((const char *)&queue->tail->entries[queue->last - 1] +
		  HWTIMER_CACHE_LINE);
}

unsigned int hwtimer_queue_add_indices(struct hwtimer_queue *queue,
				       struct hwtimer_pool *pool,
				       const u32 *indices, unsigned int count);
void hwtimer_queue_drop_head(struct hwtimer_queue *queue,
			     struct hwtimer_pool *pool);
void hwtimer_queue_take(struct hwtimer_queue *queue, struct hwtimer_pool *pool,
			unsigned int slots);
void hwtimer_queue_drop(struct hwtimer_queue *queue, struct hwtimer_pool *pool,
			unsigned int slots);
void hwtimer_queue_splice(struct hwtimer_queue *queue,
			  struct hwtimer_queue *more);
void hwtimer_queue_drain(struct hwtimer_queue *queue);

#endif /* HWTIMER_CHUNK_H */
