// SPDX-License-Identifier: GPL-2.0
/*
 * Allocates the memory of the floors; see floor.h.
 */
#include <err.h>
#include <string.h>
#include <sys/mman.h>

#include "floor.h"

void *floor_map(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "no memory for %zu bytes", bytes);
	madvise(memory, bytes, MADV_HUGEPAGE);
	return memset(memory, 0, bytes);
}

void floor_unmap(void *memory, size_t bytes)
{
	munmap(memory, bytes);
}
