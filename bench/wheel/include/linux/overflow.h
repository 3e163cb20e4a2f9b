/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_OVERFLOW_H
#define BENCH_LINUX_OVERFLOW_H

#define check_add_overflow(a, b, sum) __builtin_add_overflow(a, b, sum)
#define check_mul_overflow(a, b, product) __builtin_mul_overflow(a, b, product)

#endif /* BENCH_LINUX_OVERFLOW_H */
