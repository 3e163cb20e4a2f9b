// SPDX-License-Identifier: MIT
/* Enlarges arrays; see array.h. */
#define _GNU_SOURCE
#include "array.h"

#include <err.h>
#include <stdlib.h>

void *array_grow(void *array, size_t count, size_t size)
{
	/* 0 counts as a power of two here. */
	if (count & (count - 1))
		return array;
	array = reallocarray(array, count ? 2 * count : 1, size);
	if (!array)
		err(1, "no memory");
	return array;
}
