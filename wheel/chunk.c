// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of chunks, their pool and their queues; see wheel/chunk.h.
 */
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "alloc.h"
#include "wheel/chunk.h"

/* Maximum number of chunks in one call of the slab allocator. */
#define HWTIMER_CHUNK_BULK 64

static struct kmem_cache *hwtimer_chunk_cache;

/**
 * hwtimer_chunk_cache_create - create the slab cache of all chunks, at module load
 *
 * Return: 0 or -ENOMEM. May sleep.
 */
int hwtimer_chunk_cache_create(void)
{
	hwtimer_chunk_cache =
		kmem_cache_create("hwtimer_chunk", sizeof(struct hwtimer_chunk),
				  HWTIMER_CHUNK_BYTES, SLAB_ACCOUNT, NULL);
	return hwtimer_chunk_cache ? 0 : -ENOMEM;
}

/* Destroys the slab cache, at module unload: all pools are drained. May sleep. */
void hwtimer_chunk_cache_destroy(void)
{
	kmem_cache_destroy(hwtimer_chunk_cache);
}

/**
 * hwtimer_pool_fill - allocate chunks, charged to the caller's memory cgroup
 * @pool: a pool private to the caller until it is merged
 * @count: number of chunks
 *
 * Return: 0, or -ENOMEM with the chunks in @pool that could be allocated. May sleep.
 */
int hwtimer_pool_fill(struct hwtimer_pool *pool, u32 count)
{
	void *chunks[HWTIMER_CHUNK_BULK] __uninitialized;

	while (count) {
		u32 batch = min_t(u32, count, HWTIMER_CHUNK_BULK);

		cond_resched();
		/* Allocates all or none. Returns a number or, in some kernels, a bool. */
		if (!kmem_cache_alloc_bulk(hwtimer_chunk_cache, HWTIMER_GFP,
					   batch, chunks))
			return -ENOMEM;
		count -= batch;
		pool->chunks += batch;
		while (batch--)
			hwtimer_pool_give(pool, chunks[batch]);
	}
	return 0;
}

/**
 * hwtimer_pool_alloc - allocate an empty chunk in a context that must not sleep
 * @pool: the instance's pool, which counts the chunk
 *
 * Return: the chunk, or NULL.
 */
struct hwtimer_chunk *hwtimer_pool_alloc(struct hwtimer_pool *pool)
{
	const gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN;
	struct hwtimer_chunk *chunk =
		kmem_cache_alloc(hwtimer_chunk_cache, gfp);

	if (!chunk)
		return NULL;
	pool->chunks++;
	hwtimer_chunk_reset(chunk);
	return chunk;
}

/* hwtimer_pool_take() calls this for an empty pool, which is a bug of the module. */
struct hwtimer_chunk *hwtimer_pool_take_unreserved(struct hwtimer_pool *pool)
{
	WARN_ON_ONCE(1);
	return hwtimer_pool_alloc(pool);
}

/* Takes up to HWTIMER_CHUNK_BULK chunks out of @pool. Returns their number. */
static unsigned int pool_empty_some(struct hwtimer_pool *pool, void **chunks)
{
	unsigned int count = 0;

	while (pool->spares && count < HWTIMER_CHUNK_BULK)
		chunks[count++] = hwtimer_pool_take(pool);
	pool->chunks -= count;
	return count;
}

/**
 * hwtimer_pool_drain - free all spare chunks
 * @pool: a pool private to the caller
 *
 * May sleep.
 */
void hwtimer_pool_drain(struct hwtimer_pool *pool)
{
	void *chunks[HWTIMER_CHUNK_BULK] __uninitialized;
	unsigned int count;

	while ((count = pool_empty_some(pool, chunks))) {
		kmem_cache_free_bulk(hwtimer_chunk_cache, count, chunks);
		cond_resched();
	}
}

/* Moves all spare chunks of @from to @pool, in constant time. */
void hwtimer_pool_merge(struct hwtimer_pool *pool, struct hwtimer_pool *from)
{
	if (!from->spares)
		return;
	if (pool->spares)
		from->bottom->next = pool->top;
	else
		pool->bottom = from->bottom;
	pool->top = from->top;
	pool->spares += from->spares;
	pool->chunks += from->spares;
	from->chunks -= from->spares;
	from->spares = 0;
	from->top = NULL;
}

/**
 * hwtimer_pool_trim - take out spare chunks that are not needed
 * @pool: the instance's pool
 * @count: number of chunks, not more than @pool has; each is a step of a loop under the
 *	instance's lock
 * @to: a pool private to the caller, to be drained after unlocking
 */
void hwtimer_pool_trim(struct hwtimer_pool *pool, u32 count,
		       struct hwtimer_pool *to)
{
	while (count--) {
		hwtimer_pool_give(to, hwtimer_pool_take(pool));
		pool->chunks--;
		to->chunks++;
	}
}

/* Hands the head chunk of @queue, which is not empty, back to @pool. */
void hwtimer_queue_drop_head(struct hwtimer_queue *queue,
			     struct hwtimer_pool *pool)
{
	struct hwtimer_chunk *head = queue->head;

	if (head == queue->tail) {
		queue->head = NULL;
	} else {
		queue->head = head->next;
		queue->first = head->next->first;
	}
	hwtimer_pool_give(pool, head);
}

/* Moves all of @more to the end of @queue, in constant time. */
void hwtimer_queue_splice(struct hwtimer_queue *queue,
			  struct hwtimer_queue *more)
{
	if (hwtimer_queue_empty(more))
		return;
	if (hwtimer_queue_empty(queue)) {
		*queue = *more;
	} else {
		queue->tail->used = queue->last;
		more->head->first = more->first;
		queue->tail->next = more->head;
		queue->tail = more->tail;
		queue->last = more->last;
	}
	more->head = NULL;
}

/* Frees all chunks of @queue. May sleep. */
void hwtimer_queue_drain(struct hwtimer_queue *queue)
{
	struct hwtimer_pool pool = {};

	while (!hwtimer_queue_empty(queue)) {
		hwtimer_queue_drop_head(queue, &pool);
		pool.chunks++;
		if (pool.chunks == HWTIMER_CHUNK_BULK)
			hwtimer_pool_drain(&pool);
	}
	hwtimer_pool_drain(&pool);
}
