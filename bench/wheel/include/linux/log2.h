/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_LOG2_H
#define BENCH_LINUX_LOG2_H

/* @n: not 0 */
#define ilog2(n) (63 - __builtin_clzll(n))

#define rounddown_pow_of_two(n) (1UL << ilog2(n))

#define roundup_pow_of_two(n) ((n) <= 1 ? 1UL : 2UL << ilog2((n) - 1))

#endif /* BENCH_LINUX_LOG2_H */
