/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The macros that the kernel includes everywhere.
 */
#ifndef BENCH_LINUX_COMPILER_H
#define BENCH_LINUX_COMPILER_H

#define __uninitialized
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* The compiler no longer knows the value of a variable, nor where it comes from. */
#define OPTIMIZER_HIDE_VAR(var) __asm__("" : "+r"(var))

#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELAXED)

#endif /* BENCH_LINUX_COMPILER_H */
