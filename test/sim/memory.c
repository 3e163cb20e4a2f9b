// SPDX-License-Identifier: GPL-2.0
/*
 * The allocators, and the access to the memory of programs. Both may fail. All memory must
 * be free when the module is unloaded.
 */
#include <stdlib.h>

#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/vmalloc.h>

#include "sim.h"

#ifdef __has_feature
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define SIM_MSAN 1
#endif
#endif

/* Number of allocations and the like of a system call that may fail */
#define REFUSALS 16

/* What the module holds now */
static struct {
	uint64_t allocations;
	uint64_t bytes;
} held;

static u64 nr_allocations;
static bool calm;

/* What new memory holds, and memory that was freed. MemorySanitizer takes it for undefined. */
#define NEW 0x5a
#define FREED 0x6b

static void *fill(void *memory, int byte, size_t size)
{
	memset(memory, byte, size);
#ifdef SIM_MSAN
	if (byte)
		__msan_allocated_memory(memory, size);
#endif
	return memory;
}

/* Called with what programs get to see. */
static void expect_defined(const void *memory, size_t size)
{
#ifdef SIM_MSAN
	__msan_check_mem_is_initialized(memory, size);
#endif
}

void sim_calm(void)
{
	calm = true;
	/* Threads that run freely only read it. */
	if (sim_run.jolts)
		sim_run.jolts = 0;
}

/* Whether this is what is to fail in the running system call, see sim_call_refuse() */
static bool call_refused(void)
{
	if (!current->refuse_in || --current->refuse_in)
		return false;
	if (current->refuse_more) {
		current->refuse_more--;
		current->refuse_in = 1;
	}
	return true;
}

bool sim_short(void)
{
	return !calm && (call_refused() || sim_chance(sim_run.alloc_fails));
}

#ifndef SIM_PLAIN
/*
 * One of the first things that can fail in the system call that begins does so, now and
 * then, or some in a row do. So each failure comes up of what a call does rarely, or only
 * once; and the failure of what it tries in another way if the first one fails.
 */
void sim_call_refuse(void)
{
	if (!sim_chance(sim_run.refusals))
		return;
	current->refuse_in = sim_between(1, REFUSALS);
	current->refuse_more = sim_run.refused_row - 1;
}

void sim_call_end(void)
{
	current->refuse_in = 0;
	current->refuse_more = 0;
}
#endif

void sim_memory_check_empty(void)
{
	if (held.allocations)
		sim_fail("%llu allocations, %llu bytes, are not freed",
			 (unsigned long long)held.allocations,
			 (unsigned long long)held.bytes);
}

/* Whether an allocation fails. One that may sleep does so, or at least might. */
static bool alloc_fails(gfp_t gfp)
{
	u64 nr;

	if (gfp & __GFP_DIRECT_RECLAIM) {
		might_sleep();
		if (current->hurried && !(gfp & __GFP_NORETRY))
			sim_fail("reclaims for long, and others wait");
	}
	sim_point("allocation");
	if (calm)
		return false;
	nr = __atomic_add_fetch(&nr_allocations, 1, __ATOMIC_RELAXED);
	if (sim_run.alloc_nth && nr >= sim_run.alloc_nth &&
	    nr < sim_run.alloc_nth + sim_run.refused_row)
		return true;
	return sim_short();
}

static void count(s64 allocations, s64 bytes)
{
	__atomic_add_fetch(&held.allocations, allocations, __ATOMIC_RELAXED);
	__atomic_add_fetch(&held.bytes, bytes, __ATOMIC_RELAXED);
}

/* ---- kmalloc() and vmalloc() ---- */

/**
 * struct header - what stands before the memory of kmalloc()
 * @size: its size, without the header
 * @magic: HEADER_MAGIC; something else: the memory is free, or is not ours
 */
struct header {
	u64 size;
	u64 magic;
};

#define HEADER_MAGIC 0x6b6d616c6c6f6321ull

void *kmalloc(size_t size, gfp_t gfp)
{
	struct header *header;

	if (alloc_fails(gfp))
		return NULL;
	header = malloc(sizeof(*header) + size);
	*header = (struct header){ .size = size, .magic = HEADER_MAGIC };
	count(1, size);
	/* What was not asked for as zeroes may be anything. */
	return fill(header + 1, gfp & __GFP_ZERO ? 0 : NEW, size);
}

void kfree(const void *memory)
{
	struct header *header;

	if (!memory)
		return;
	header = (struct header *)memory - 1;
	if (header->magic != HEADER_MAGIC)
		sim_fail("kfree() of what is not allocated");
	count(-1, -(s64)header->size);
	header->magic = 0;
	fill(header + 1, FREED, header->size);
	free(header);
}

void kvfree(const void *memory)
{
	sim_point("kvfree");
	kfree(memory);
}

void *__vmalloc(unsigned long size, gfp_t gfp)
{
	return kmalloc(size, gfp);
}

/* ---- pages ---- */

/**
 * struct page - an allocation of pages
 * @address: where
 * @order: log2 of their number
 * @next: another one, in the same bucket of the table, or free
 */
struct page {
	void *address;
	unsigned int order;
	struct page *next;
};

#define BUCKETS 1024

static struct page *pages[BUCKETS];

static struct page **page_bucket(const void *address)
{
	return &pages[(unsigned long)address / PAGE_SIZE % BUCKETS];
}

struct page *alloc_pages(gfp_t gfp, unsigned int order)
{
	struct page *page, **bucket;

	if (alloc_fails(gfp))
		return NULL;
	page = malloc(sizeof(*page));
	sim_lock();
	page->address = aligned_alloc(PAGE_SIZE, PAGE_SIZE << order);
	page->order = order;
	bucket = page_bucket(page->address);
	page->next = *bucket;
	*bucket = page;
	sim_unlock();
	count(1, PAGE_SIZE << order);
	fill(page->address, gfp & __GFP_ZERO ? 0 : NEW, PAGE_SIZE << order);
	return page;
}

/* The link to a page in the table; NULL: there is none at that address. */
static struct page **page_find(const void *address)
{
	struct page **link = page_bucket(address);

	while (*link && (*link)->address != address)
		link = &(*link)->next;
	return *link ? link : NULL;
}

void __free_pages(struct page *page, unsigned int order)
{
	struct page **link;

	sim_point("__free_pages");
	sim_lock();
	link = page_find(page->address);
	if (!link || *link != page || page->order != order)
		sim_fail("free of pages that are not allocated");
	*link = page->next;
	count(-1, -(s64)(PAGE_SIZE << order));
	fill(page->address, FREED, PAGE_SIZE << order);
	free(page->address);
	sim_unlock();
	free(page);
}

unsigned long get_zeroed_page(gfp_t gfp)
{
	struct page *page = alloc_pages(gfp | __GFP_ZERO, 0);

	return page ? (unsigned long)page->address : 0;
}

struct page *virt_to_page(const void *address)
{
	struct page **link;

	sim_lock();
	link = page_find(address);
	if (!link)
		sim_fail("virt_to_page() of what is no page");
	sim_unlock();
	return *link;
}

void free_page(unsigned long address)
{
	if (address)
		__free_pages(virt_to_page((void *)address), 0);
}

void *page_address(const struct page *page)
{
	return page->address;
}

unsigned int compound_order(const struct page *page)
{
	return page->order;
}

bool is_vmalloc_addr(const void *address)
{
	bool found;

	sim_lock();
	found = page_find(address);
	sim_unlock();
	return !found;
}

unsigned long totalram_pages(void)
{
	return 1UL << 22;
}

long si_mem_available(void)
{
	if (sim_short())
		return 0;
	return 1L << 21;
}

/* ---- slab caches ---- */

/**
 * struct kmem_cache - objects of one size
 * @size: size of an object
 * @align: alignment of an object
 * @used: number of objects that are not free
 */
struct kmem_cache {
	unsigned int size;
	unsigned int align;
	u64 used;
};

struct kmem_cache *kmem_cache_create(const char *name, unsigned int size,
				     unsigned int align, unsigned int flags,
				     void (*ctor)(void *object))
{
	struct kmem_cache *cache = kzalloc(sizeof(*cache), GFP_KERNEL);

	if (!cache)
		return NULL;
	cache->size = size;
	cache->align = max_t(unsigned int, align, sizeof(long));
	return cache;
}

void kmem_cache_destroy(struct kmem_cache *cache)
{
	if (cache->used)
		sim_fail("kmem_cache_destroy(): objects are not freed");
	kfree(cache);
}

static void *object_alloc(struct kmem_cache *cache)
{
	void *object = aligned_alloc(cache->align,
				     round_up(cache->size, cache->align));

	count(1, cache->size);
	__atomic_add_fetch(&cache->used, 1, __ATOMIC_RELAXED);
	return fill(object, NEW, cache->size);
}

void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t gfp)
{
	return alloc_fails(gfp) ? NULL : object_alloc(cache);
}

int kmem_cache_alloc_bulk(struct kmem_cache *cache, gfp_t gfp, size_t count,
			  void **objects)
{
	size_t i;

	if (alloc_fails(gfp))
		return 0;
	for (i = 0; i < count; i++)
		objects[i] = object_alloc(cache);
	return count;
}

void kmem_cache_free_bulk(struct kmem_cache *cache, size_t nr, void **objects)
{
	size_t i;

	sim_point("kmem_cache_free_bulk");
	for (i = 0; i < nr; i++) {
		fill(objects[i], FREED, cache->size);
		free(objects[i]);
	}
	count(-(s64)nr, -(s64)(nr * cache->size));
	__atomic_sub_fetch(&cache->used, nr, __ATOMIC_RELAXED);
}

/* ---- memory of programs ---- */

/* How many of @size bytes can be accessed before one faults */
static size_t accessible(size_t size)
{
	might_sleep();
	sim_point("user memory");
	if (calm || !sim_chance(sim_run.faults))
		return size;
	return sim_below(size + 1) & ~7ul;
}

unsigned long copy_from_user(void *to, const void __user *from,
			     unsigned long count)
{
	size_t good = accessible(count);

	memcpy(to, from, good);
	memset((char *)to + good, 0, count - good);
#ifdef SIM_MSAN
	/* Whatever a program has in its memory, the kernel may give back to it. */
	__msan_unpoison(to, count);
#endif
	sim_point("copy_from_user");
	return count - good;
}

unsigned long copy_to_user(void __user *to, const void *from,
			   unsigned long count)
{
	size_t good = accessible(count);
	size_t half = sim_below(2) ? good / 2 & ~7ul : good;

	expect_defined(from, count);
	memcpy(to, from, half);
	/* The page behind may have to be brought in first, which takes long. */
	if (half < good) {
		sim_point("copy_to_user");
		memcpy((char *)to + half, (const char *)from + half,
		       good - half);
	}
	return count - good;
}

unsigned long clear_user(void __user *to, unsigned long count)
{
	size_t good = accessible(count);

	memset(to, 0, good);
	return count - good;
}

/*
 * A copy that takes no page faults: how many of @size bytes are there. Any thread may have
 * to wait for the rest, which fault_in() then brings in, or not.
 */
static size_t present(size_t size)
{
	if (calm || !sim_chance(sim_run.faults))
		return size;
	return sim_below(size + 1) & ~7ul;
}

long copy_to_user_nofault(void __user *to, const void *from, size_t size)
{
	size_t good = present(size);

	expect_defined(from, size);
	memcpy(to, from, good);
	return good < size ? -EFAULT : 0;
}

size_t copy_to_iter(const void *from, size_t size, struct iov_iter *to)
{
	size_t good = present(size);

	if (!current->nofaults)
		sim_fail("copy_to_iter() may wait for a page");
	expect_defined(from, size);
	memcpy(to->buffer, from, good);
	to->buffer += good;
	to->count -= good;
	return good;
}

size_t fault_in_writeable(char __user *to, size_t size)
{
	might_sleep();
	sim_point("fault in");
	return !calm && sim_chance(sim_run.faults) ? size : 0;
}

int copy_struct_from_user(void *to, size_t size, const void __user *from,
			  size_t user_size)
{
	size_t both = min(size, user_size);
	size_t i;

	memset(to, 0, size);
	if (copy_from_user(to, from, both))
		return -EFAULT;
	for (i = both; i < user_size; i++)
		if (((const char *)from)[i])
			return -E2BIG;
	return 0;
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
