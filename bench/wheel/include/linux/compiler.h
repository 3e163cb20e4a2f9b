/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The macros that the kernel includes everywhere.
 */
#ifndef BENCH_LINUX_COMPILER_H
#define BENCH_LINUX_COMPILER_H

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif /* BENCH_LINUX_COMPILER_H */
