// SPDX-License-Identifier: GPL-2.0
/*
 * Provides the kernel's allocators and its search for a bit; see kernel.h.
 *
 * Memory comes from the arena, small pieces from a part of their own: so they are near each
 * other, and not a large page apart, where the processor would have only a few places in
 * its caches for all of them. Freed memory is used again for allocations of the same size.
 */
#include <err.h>
#include <string.h>
#include <sys/mman.h>

#include <linux/bitmap.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "kernel.h"

unsigned long yields;

/* The arena reserves addresses only; its pages get memory at their first touch. */
#define ARENA_BYTES (32ULL << 30)
#define LARGE_PAGE (2UL << 20)
/* What is smaller than a large page comes from the first part of the arena. */
#define SMALL_BYTES (8ULL << 30)
/* log2 of the largest size of memory */
#define ORDERS 36

static char *arena;
static size_t small_used, large_used = SMALL_BYTES;
/* Freed memory by log2 of its size; each piece points to the next */
static void **freed[ORDERS];
/*
 * The piece of each size that the thread has freed last. As in the kernel, where a processor
 * has such pieces, threads do not take turns with the same memory.
 */
static __thread void *kept[ORDERS];
static int locked;

/**
 * struct page - what is known of each page of the arena
 * @order: log2 of the number of pages, of the first page of an allocation
 */
struct page {
	unsigned int order;
};

static struct page mem_map[ARENA_BYTES / PAGE_SIZE];

/**
 * struct kmem_cache - objects of one size
 * @free: the first freed object; each freed object points to the next
 * @size: size of an object
 * @align: alignment of an object
 */
struct kmem_cache {
	void **free;
	unsigned int size;
	unsigned int align;
};

/* Several threads may allocate memory at a time. */
static void lock(void)
{
	while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE))
		;
}

static void unlock(void)
{
	__atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
}

static void arena_map(void)
{
	char *map = mmap(NULL, ARENA_BYTES + LARGE_PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		err(1, "mmap of the arena");
	arena = (char *)ALIGN((uintptr_t)map, LARGE_PAGE);
	/* Without large pages everything works, only slower. */
	madvise(arena, ARENA_BYTES, MADV_HUGEPAGE);
}

static void *carve(size_t size, size_t align)
{
	bool large = size >= LARGE_PAGE;
	size_t *used = large ? &large_used : &small_used;
	size_t begin = ALIGN(*used, align);

	if (!arena)
		arena_map();
	if (size > (large ? ARENA_BYTES : SMALL_BYTES) - begin)
		errx(1, "the arena is full: try fewer timers");
	*used = begin + size;
	return arena + begin;
}

/**
 * arena_alloc - allocate memory until arena_reset()
 * @size: number of bytes
 * @align: alignment, a power of two
 *
 * Return: the memory, with undefined content.
 */
void *arena_alloc(size_t size, size_t align)
{
	void *memory;

	lock();
	memory = carve(size, align);
	unlock();
	return memory;
}

/* Frees the whole arena; nobody uses any of it, and no other thread has used it. */
void arena_reset(void)
{
	small_used = 0;
	large_used = SMALL_BYTES;
	memset(freed, 0, sizeof(freed));
	memset(kept, 0, sizeof(kept));
}

/* Memory of 2^@order bytes, aligned to that, but not to more than a large page */
static void *piece_alloc(unsigned int order)
{
	size_t size = 1UL << order;
	void **piece = kept[order];

	if (piece) {
		kept[order] = NULL;
		return piece;
	}
	lock();
	piece = freed[order];
	if (piece)
		freed[order] = *piece;
	else
		piece = carve(size, min(size, LARGE_PAGE));
	unlock();
	return piece;
}

static void piece_free(void *memory, unsigned int order)
{
	void **piece = memory;

	if (!kept[order]) {
		kept[order] = piece;
		return;
	}
	lock();
	*piece = freed[order];
	freed[order] = piece;
	unlock();
}

/* ---- pages ---- */

struct page *alloc_pages(gfp_t gfp, unsigned int order)
{
	void *memory = piece_alloc(PAGE_SHIFT + order);
	struct page *page = virt_to_page(memory);

	page->order = order;
	if (gfp & __GFP_ZERO)
		memset(memory, 0, PAGE_SIZE << order);
	return page;
}

void __free_pages(struct page *page, unsigned int order)
{
	piece_free(page_address(page), PAGE_SHIFT + order);
}

unsigned long get_zeroed_page(gfp_t gfp)
{
	return (unsigned long)page_address(alloc_pages(gfp | __GFP_ZERO, 0));
}

void free_page(unsigned long address)
{
	if (address)
		piece_free((void *)address, PAGE_SHIFT);
}

void *page_address(const struct page *page)
{
	return arena + (page - mem_map) * PAGE_SIZE;
}

unsigned int compound_order(const struct page *page)
{
	return page->order;
}

struct page *virt_to_page(const void *address)
{
	return &mem_map[((const char *)address - arena) / PAGE_SIZE];
}

/* ---- slab caches ---- */

struct kmem_cache *kmem_cache_create(const char *name, unsigned int size,
				     unsigned int align, unsigned int flags,
				     void (*ctor)(void *object))
{
	struct kmem_cache *cache = arena_alloc(sizeof(*cache), sizeof(long));

	*cache = (struct kmem_cache){
		.size = size,
		.align = max_t(unsigned int, align, sizeof(long)),
	};
	return cache;
}

void kmem_cache_destroy(struct kmem_cache *cache)
{
}

/* The lock is held. */
static void *object_alloc(struct kmem_cache *cache)
{
	void *object = cache->free;

	if (!object)
		return carve(cache->size, cache->align);
	cache->free = *cache->free;
	return object;
}

void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t gfp)
{
	void *object;

	lock();
	object = object_alloc(cache);
	unlock();
	return object;
}

int kmem_cache_alloc_bulk(struct kmem_cache *cache, gfp_t gfp, size_t count,
			  void **objects)
{
	size_t i;

	lock();
	for (i = 0; i < count; i++)
		objects[i] = object_alloc(cache);
	unlock();
	return count;
}

static void object_free(struct kmem_cache *cache, void *object)
{
	*(void **)object = cache->free;
	cache->free = object;
}

void kmem_cache_free_bulk(struct kmem_cache *cache, size_t count,
			  void **objects)
{
	lock();
	while (count--)
		object_free(cache, objects[count]);
	unlock();
}

/* ---- kmalloc() ---- */

/* What stands before the memory of kmalloc(): log2 of the size of both, as a cache line */
#define HEADER 64

void *kmalloc(size_t size, gfp_t gfp)
{
	unsigned int order = ilog2(HEADER + size - 1) + 1;
	unsigned int *header = piece_alloc(order);
	void *memory = (char *)header + HEADER;

	*header = order;
	if (gfp & __GFP_ZERO)
		memset(memory, 0, size);
	return memory;
}

void kvfree(const void *memory)
{
	unsigned int *header = (unsigned int *)((char *)memory - HEADER);

	if (memory)
		piece_free(header, *header);
}

unsigned long find_next_bit(const unsigned long *words, unsigned long size,
			    unsigned long begin)
{
	unsigned long nr = begin / BITS_PER_LONG;
	unsigned long word;

	if (begin >= size)
		return size;
	word = words[nr] & BITMAP_FIRST_WORD_MASK(begin);
	while (!word) {
		if (++nr * BITS_PER_LONG >= size)
			return size;
		word = words[nr];
	}
	return min(nr * BITS_PER_LONG + __ffs(word), size);
}
