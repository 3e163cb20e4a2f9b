/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's integer types, for the module's sources in user space; see
 * bench/wheel/kernel.h.
 */
#ifndef BENCH_LINUX_TYPES_H
#define BENCH_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/compiler.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#endif /* BENCH_LINUX_TYPES_H */
