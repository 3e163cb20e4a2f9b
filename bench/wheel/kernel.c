// SPDX-License-Identifier: GPL-2.0
/*
 * Provides the kernel's allocators and its search for a bit; see kernel.h.
 *
 * Memory comes from the front of the arena. Of freed memory, only objects of a slab
 * cache are used again; arena_reset() frees all the rest at once.
 */
#include <err.h>
#include <string.h>
#include <sys/mman.h>

#include <linux/bitmap.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "kernel.h"

/* The arena reserves addresses only; its pages get memory at their first touch. */
#define ARENA_BYTES (32ULL << 30)
#define LARGE_PAGE (2UL << 20)

static char *arena;
static size_t arena_used;

/**
 * struct page - one allocation of the page allocator
 * @address: address of the memory
 * @next: the allocation before this one
 * @order: log2 of its number of pages
 */
struct page {
	void *address;
	struct page *next;
	unsigned int order;
};

static struct page *pages;

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

/**
 * arena_alloc - allocate memory until arena_reset()
 * @size: number of bytes
 * @align: alignment, a power of two
 *
 * Return: the memory, with undefined content.
 */
void *arena_alloc(size_t size, size_t align)
{
	size_t begin = ALIGN(arena_used, align);

	if (!arena)
		arena_map();
	if (size > ARENA_BYTES - begin)
		errx(1, "the arena is full: try fewer timers");
	arena_used = begin + size;
	return arena + begin;
}

/* Frees the whole arena; the caller must no longer use any of it. */
void arena_reset(void)
{
	arena_used = 0;
	pages = NULL;
}

struct page *alloc_pages(gfp_t gfp, unsigned int order)
{
	struct page *page = arena_alloc(sizeof(*page), sizeof(long));

	page->address = arena_alloc(PAGE_SIZE << order, PAGE_SIZE << order);
	page->order = order;
	page->next = pages;
	pages = page;
	memset(page->address, 0, PAGE_SIZE << order);
	return page;
}

void __free_pages(struct page *page, unsigned int order)
{
}

unsigned long get_zeroed_page(gfp_t gfp)
{
	return (unsigned long)page_address(alloc_pages(gfp, 0));
}

void free_page(unsigned long address)
{
}

void *page_address(const struct page *page)
{
	return page->address;
}

unsigned int compound_order(const struct page *page)
{
	return page->order;
}

struct page *virt_to_page(const void *address)
{
	struct page *page = pages;

	while (page->address != address)
		page = page->next;
	return page;
}

struct kmem_cache *kmem_cache_create(const char *name, unsigned int size,
				     unsigned int align, unsigned int flags,
				     void (*ctor)(void *object))
{
	struct kmem_cache *cache = arena_alloc(sizeof(*cache), sizeof(long));

	*cache = (struct kmem_cache){ .size = size, .align = align };
	return cache;
}

void kmem_cache_destroy(struct kmem_cache *cache)
{
}

void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t gfp)
{
	void *object = cache->free;

	if (!object)
		return arena_alloc(cache->size, cache->align);
	cache->free = *cache->free;
	return object;
}

int kmem_cache_alloc_bulk(struct kmem_cache *cache, gfp_t gfp, size_t count,
			  void **objects)
{
	size_t i;

	for (i = 0; i < count; i++)
		objects[i] = kmem_cache_alloc(cache, gfp);
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
	while (count--)
		object_free(cache, objects[count]);
}

/* The memory is zeroed, whatever @gfp says. */
void *kmalloc(size_t size, gfp_t gfp)
{
	return memset(arena_alloc(size, PAGE_SIZE), 0, size);
}

void kvfree(const void *memory)
{
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
