/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_BITMAP_H
#define SIM_LINUX_BITMAP_H

#include_next <linux/bitmap.h>
#include <linux/string.h>

/* Not BITS_TO_LONGS(), which is no constant expression here */
#define DECLARE_BITMAP(name, bits) \
	unsigned long name[((bits) + BITS_PER_LONG - 1) / BITS_PER_LONG]

static inline bool test_bit(unsigned long nr, const unsigned long *words)
{
	return words[nr / BITS_PER_LONG] >> nr % BITS_PER_LONG & 1;
}

static inline void bitmap_zero(unsigned long *words, unsigned int size)
{
	memset(words, 0, BITS_TO_LONGS(size) * sizeof(*words));
}

static inline unsigned int bitmap_weight(const unsigned long *words,
					 unsigned int size)
{
	unsigned int nr, weight = 0;

	for (nr = 0; nr < size / BITS_PER_LONG; nr++)
		weight += hweight_long(words[nr]);
	if (size % BITS_PER_LONG)
		weight +=
			hweight_long(words[nr] & ~BITMAP_FIRST_WORD_MASK(size));
	return weight;
}

#endif /* SIM_LINUX_BITMAP_H */
