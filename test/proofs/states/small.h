/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wheel's constants for the exploration of all states, see explore.c. The compiler
 * includes this file before all others. With the module's own constants, the smallest
 * wheel in which entries cascade through several levels has too many states.
 *
 * A level above the lowest has 4 buckets instead of 64, and a chunk has room for
 * STATES_CHUNK_ENTRIES entries. STATES_FULL leaves the module's constants alone.
 */
#ifndef STATES_SMALL_H
#define STATES_SMALL_H

#include <linux/bitops.h>

#include "../../../constants.h"

/* As in the kernel's <linux/compiler_attributes.h> */
#define __packed __attribute__((__packed__))
#define __aligned(bytes) __attribute__((__aligned__(bytes)))
#define __noreturn __attribute__((__noreturn__))
#define __printf(format_at, arguments_at) \
	__attribute__((__format__(printf, format_at, arguments_at)))

/* Variable: each call of a function of the wheel may have another budget. */
extern unsigned int states_hold;
#undef HWTIMER_HOLD
#define HWTIMER_HOLD states_hold

#ifndef STATES_FULL

#define HWTIMER_LEVEL_SHIFT 1

#undef HWTIMER_CHUNK_ENTRIES
#undef HWTIMER_CHUNK_INDICES
#undef HWTIMER_CHUNK_BYTES
#define HWTIMER_CHUNK_ENTRIES STATES_CHUNK_ENTRIES
#define HWTIMER_CHUNK_INDICES (2 * HWTIMER_CHUNK_ENTRIES)
#define HWTIMER_CHUNK_BYTES (16 + 8 * HWTIMER_CHUNK_ENTRIES)

/* wheel/hierarchy.c rotates words with a bit for each bucket of a level. */
static inline u64 states_rotate(u64 word, unsigned int shift)
{
	const unsigned int bits = 2U << HWTIMER_LEVEL_SHIFT;

	shift %= bits;
	return (word >> shift | word << (bits - shift)) & ((1U << bits) - 1);
}

#define ror64(word, shift) states_rotate(word, shift)

#endif

#endif /* STATES_SMALL_H */
