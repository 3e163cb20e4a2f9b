/* SPDX-License-Identifier: MIT */
/* Allocations that fail when the test says so. The linker puts them there (--wrap). */
#ifndef LIB_TEST_MEMORY_H
#define LIB_TEST_MEMORY_H

#include <stdbool.h>

/* How many allocations succeed before all others fail; -1: none fails. */
extern int allocations_left;

/* Bytes that calloc() and realloc() have allocated, and that were not freed */
extern long allocated;

/* Whether an allocation, which is counted, fails */
bool allocation_fails(void);

#endif /* LIB_TEST_MEMORY_H */
