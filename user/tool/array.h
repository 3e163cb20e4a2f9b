/* SPDX-License-Identifier: MIT */
/* Enlarges arrays. Used by all that finds instances. */
#ifndef ARRAY_H
#define ARRAY_H

#include <stddef.h>

/*
 * Returns @array, which has @count elements of @size bytes, with room for one more. Its room is
 * the next power of two, so it is enlarged only when @count is one. Ends the program if there
 * is no memory.
 */
void *array_grow(void *array, size_t count, size_t size);

#endif /* ARRAY_H */
