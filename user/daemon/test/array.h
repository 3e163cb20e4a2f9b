/* SPDX-License-Identifier: GPL-2.0-only */
/* An array that grows. Its elements move, so no pointer to one outlives array_add(). */
#ifndef ARRAY_H
#define ARRAY_H

#include <err.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct array {
	size_t size; /* of an element */
	char *elements;
	uint32_t used;
	uint32_t room;
};

static inline void *array_at(const struct array *array, uint32_t index)
{
	return array->elements + index * array->size;
}

/* Returns a new element, which is zeroed. */
static inline void *array_add(struct array *array)
{
	void *element;

	if (array->used == array->room) {
		array->room = array->room ? array->room * 2 : 1024;
		array->elements =
			realloc(array->elements, array->room * array->size);
		if (!array->elements)
			errx(1, "no memory for %u of %zu bytes", array->room,
			     array->size);
	}
	element = array_at(array, array->used++);
	memset(element, 0, array->size);
	return element;
}

#endif
