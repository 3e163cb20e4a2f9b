/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_BITS_H
#define BENCH_LINUX_BITS_H

#define BITS_PER_LONG (__SIZEOF_LONG__ * 8)
#define BIT(nr) (1UL << (nr))
#define BIT_ULL(nr) (1ULL << (nr))
#define GENMASK(high, low) \
	(~0UL << (low) & ~0UL >> (BITS_PER_LONG - 1 - (high)))

#endif /* BENCH_LINUX_BITS_H */
