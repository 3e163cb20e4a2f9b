/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_BITMAP_H
#define BENCH_LINUX_BITMAP_H

#include <linux/bitops.h>

#define BITMAP_FIRST_WORD_MASK(begin) (~0UL << ((begin) % BITS_PER_LONG))

/* In kernel.c: it is not inline in the kernel either. */
unsigned long find_next_bit(const unsigned long *words, unsigned long size,
			    unsigned long begin);

static inline unsigned long find_first_bit(const unsigned long *words,
					   unsigned long size)
{
	return find_next_bit(words, size, 0);
}

static inline bool bitmap_empty(const unsigned long *words, unsigned int size)
{
	return find_first_bit(words, size) == size;
}

/* One bit at a time: the wheel calls this only for newly allocated memory. */
static inline void bitmap_set(unsigned long *words, unsigned int begin,
			      unsigned int count)
{
	while (count--)
		__set_bit(begin++, words);
}

static inline void bitmap_fill(unsigned long *words, unsigned int size)
{
	bitmap_set(words, 0, size);
}

#endif /* BENCH_LINUX_BITMAP_H */
