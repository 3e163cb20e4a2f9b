/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The macros that the kernel includes everywhere.
 */
#ifndef BENCH_LINUX_COMPILER_H
#define BENCH_LINUX_COMPILER_H

#define __uninitialized
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile __typeof__(x) *)&(x) = (value))

/* The compiler no longer knows the value of a variable, nor where it comes from. */
#define OPTIMIZER_HIDE_VAR(var) __asm__("" : "+r"(var))

#endif /* BENCH_LINUX_COMPILER_H */
