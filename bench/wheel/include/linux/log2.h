/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_LOG2_H
#define BENCH_LINUX_LOG2_H

#include <linux/bitops.h>

/* @n: not 0 */
#define ilog2(n) (63 - __builtin_clzll(n))

#define rounddown_pow_of_two(n) (1UL << ilog2(n))

#define roundup_pow_of_two(n) (1UL << fls64((n)-1ULL))

#endif /* BENCH_LINUX_LOG2_H */
