/* SPDX-License-Identifier: GPL-2.0 */
/* The slab allocator; see test/sim/memory.c */
#ifndef SIM_LINUX_SLAB_H
#define SIM_LINUX_SLAB_H

#include <errno.h>
#include <string.h>

#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/overflow.h>

#define SLAB_ACCOUNT 0U
#define KMALLOC_MAX_SIZE (4U << 20)

struct kmem_cache;

struct kmem_cache *kmem_cache_create(const char *name, unsigned int size,
				     unsigned int align, unsigned int flags,
				     void (*ctor)(void *object));
void kmem_cache_destroy(struct kmem_cache *cache);
void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t gfp);
int kmem_cache_alloc_bulk(struct kmem_cache *cache, gfp_t gfp, size_t count,
			  void **objects);
void kmem_cache_free_bulk(struct kmem_cache *cache, size_t count,
			  void **objects);

void *kmalloc(size_t size, gfp_t gfp);
void kfree(const void *memory);
void kvfree(const void *memory);

static inline void *kzalloc(size_t size, gfp_t gfp)
{
	return kmalloc(size, gfp | __GFP_ZERO);
}

static inline void *kvmalloc_array(size_t count, size_t size, gfp_t gfp)
{
	return kmalloc(count * size, gfp);
}

#endif /* SIM_LINUX_SLAB_H */
