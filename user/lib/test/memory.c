// SPDX-License-Identifier: MIT
/* See memory.h. */
#include "memory.h"
#include "wrapped.h"

int allocations_left = -1;

bool allocation_fails(void)
{
	if (allocations_left < 0)
		return false;
	if (!allocations_left)
		return true;
	allocations_left--;
	return false;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return allocation_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	return allocation_fails() ? NULL : __real_realloc(memory, size);
}
