/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_BITMAP_H
#define SIM_LINUX_BITMAP_H

#include_next <linux/bitmap.h>

static inline bool test_bit(unsigned long nr, const unsigned long *words)
{
	return words[nr / BITS_PER_LONG] >> nr % BITS_PER_LONG & 1;
}

#endif /* SIM_LINUX_BITMAP_H */
