/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_NOSPEC_H
#define BENCH_LINUX_NOSPEC_H

#include <linux/bits.h>

/* As in the kernel's generic version */
static inline unsigned long array_index_nospec(unsigned long index,
					       unsigned long size)
{
	return index &
	       ~(long)(index | (size - 1 - index)) >> (BITS_PER_LONG - 1);
}

#endif /* BENCH_LINUX_NOSPEC_H */
