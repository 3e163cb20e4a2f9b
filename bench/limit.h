/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The limits of a process, for the systems whose timers count against one.
 */
#ifndef BENCH_LIMIT_H
#define BENCH_LIMIT_H

#include <linux/types.h>

/* Tries to raise RLIMIT_* @resource to @wanted; returns what may be had of it. */
__u32 limit_raise(int resource, __u32 wanted);

#endif /* BENCH_LIMIT_H */
