/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_KERNEL_H
#define BENCH_LINUX_KERNEL_H

#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define U8_MAX 0xff
#define U32_MAX UINT32_MAX
#define S64_MAX INT64_MAX
#define U64_MAX ((u64)UINT64_MAX)

#define ALIGN(value, to)                                    \
	({                                                  \
		size_t align_to = (to);                     \
		((value) + align_to - 1) & ~(align_to - 1); \
	})

#define lower_32_bits(n) ((u32)(n))
#define upper_32_bits(n) ((u32)((n) >> 32))

#endif /* BENCH_LINUX_KERNEL_H */
