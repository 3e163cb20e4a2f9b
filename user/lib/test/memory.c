// SPDX-License-Identifier: MIT
/* See memory.h. */
#include <malloc.h>

#include "memory.h"
#include "wrapped.h"

int allocations_left = -1;
long allocated;

bool allocation_fails(void)
{
	if (allocations_left < 0)
		return false;
	if (!allocations_left)
		return true;
	allocations_left--;
	return false;
}

static void *counted(void *memory)
{
	allocated += malloc_usable_size(memory);
	return memory;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return allocation_fails() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
	long before = malloc_usable_size(memory);
	void *new = allocation_fails() ? NULL : __real_realloc(memory, size);

	if (new)
		allocated -= before;
	return counted(new);
}

void __wrap_free(void *memory)
{
	allocated -= malloc_usable_size(memory);
	__real_free(memory);
}
