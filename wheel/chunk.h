/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chunks are blocks of HWTIMER_CHUNK_BYTES, 256. The wheel keeps its entries in queues of
 * chunks. The instance owns the pool of spare chunks, and makes sure that it never runs dry
 * (see hwtimer_pool_take()).
 *
 * A queue of chunks is an unrolled linked list. Walking it tells the processor its next
 * cache misses; walking a list of timers would not.
 *
 * No function here takes a lock. Callers hold the lock of the instance, except for
 * hwtimer_pool_fill() and hwtimer_pool_drain() on a pool of their own.
 */
#ifndef HWTIMER_CHUNK_H
#define HWTIMER_CHUNK_H

#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/gfp.h>
#include <linux/prefetch.h>
#include <linux/types.h>

#include "constants.h"

/*
 * Functions that only prefetch are __always_inline. Where prefetch() is gcc's builtin
 * (not on x86), gcc takes such functions for functions without effect and drops the
 * calls.
 */

/* The cache line of most processors. With another, some prefetches are of no use. */
#define HWTIMER_CACHE_LINE 64

/**
 * struct hwtimer_entry - a bucket's reference to a timer
 * @index: index of the timer's record
 * @stamp: the record's stamp when the entry was made; if the record now has another
 *	stamp, the entry is dead
 */
struct hwtimer_entry {
	u32 index;
	u32 stamp;
};

/**
 * struct hwtimer_chunk - a piece of a queue, or a spare one
 * @next: the following chunk of the queue or of the pool
 * @first: number of slots already taken from the front; not valid in the head of a queue
 * @used: number of slots filled; not valid in the tail of a queue
 * @dead: a bit for each entry that is known to be dead; and HWTIMER_CHUNK_LOOKED
 * @entries: the slots
 */
struct hwtimer_chunk {
	struct hwtimer_chunk *next;
	u16 first;
	u16 used;
	u32 dead;
	struct hwtimer_entry entries[HWTIMER_CHUNK_ENTRIES];
};

static_assert(sizeof(struct hwtimer_chunk) == HWTIMER_CHUNK_BYTES);
/*
 * A bit of @dead: the records of the entries are being fetched, except for those known to be
 * free.
 */
#define HWTIMER_CHUNK_LOOKED BIT(31)

static_assert(HWTIMER_CHUNK_ENTRIES <= 31); /* the other bits of @dead */

/* Starts to fetch all of @chunk, which may be NULL. */
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
 * @top: the chunk to be taken next
 * @bottom: the last chunk; valid if @spares is not 0
 * @spares: number of spare chunks
 * @chunks: number of chunks that the owner has, spare and in use
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
 * hwtimer_pool_take - take a spare chunk, empty
 * @pool: the pool to take it from
 *
 * Does not fail: before a queue grows, its owner has made sure, in a context that can
 * fail, that the pool has the chunk (hwtimer_supply_reserve()). If that went wrong,
 * hwtimer_pool_take_unreserved() warns and tries to allocate one.
 *
 * Return: the chunk; NULL only if the reservation was wrong and memory is used up, too.
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
 * struct hwtimer_queue - a queue of chunks
 * @head: the first chunk; NULL if the queue is empty
 * @tail: the last chunk; valid unless the queue is empty
 * @first: number of slots of @head already taken
 * @last: number of slots of @tail filled
 *
 * Each chunk in the queue has at least one slot in use.
 */
struct hwtimer_queue {
	struct hwtimer_chunk *head;
	struct hwtimer_chunk *tail;
	u32 first;
	u32 last;
};

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

/*
 * Appends an entry if that takes no chunk. Otherwise changes nothing, returns false.
 *
 * Starts to fetch the cache line behind that of the entry. Appending to one queue after the
 * other pushes that line out of the cache, and then all further stores of the processor
 * would wait for it.
 */
static __always_inline bool hwtimer_queue_try_entry(struct hwtimer_queue *queue,
						    struct hwtimer_entry entry)
{
	struct hwtimer_entry *slot;

	if (unlikely(!queue->head || queue->last == HWTIMER_CHUNK_ENTRIES))
		return false;
	slot = &queue->tail->entries[queue->last++];
	*slot = entry;
	prefetchw((const char *)slot + HWTIMER_CACHE_LINE);
	return true;
}

/*
 * Appends an entry; may take one chunk from @pool. If the pool is empty, against all
 * reservations, the entry is left out. Its timer then does not expire, but CANCEL and
 * CANCEL_ALL find it by its record, and close() frees it.
 */
static inline void hwtimer_queue_add_entry(struct hwtimer_queue *queue,
					   struct hwtimer_pool *pool,
					   struct hwtimer_entry entry)
{
	struct hwtimer_chunk *chunk;

	if (hwtimer_queue_try_entry(queue, entry))
		return;
	chunk = hwtimer_pool_take(pool);
	if (unlikely(!chunk))
		return;
	if (queue->head) {
		queue->tail->used = queue->last;
		queue->tail->next = chunk;
	} else {
		queue->head = chunk;
		queue->first = 0;
	}
	queue->tail = chunk;
	queue->last = 0;
	hwtimer_queue_try_entry(queue, entry);
}

void hwtimer_queue_drop_head(struct hwtimer_queue *queue,
			     struct hwtimer_pool *pool);
void hwtimer_queue_splice(struct hwtimer_queue *queue,
			  struct hwtimer_queue *more);
void hwtimer_queue_drain(struct hwtimer_queue *queue);

#endif /* HWTIMER_CHUNK_H */
