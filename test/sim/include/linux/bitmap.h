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

#endif /* SIM_LINUX_BITMAP_H */
