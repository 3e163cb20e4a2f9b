/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Raises a limit of this process, for the systems whose timers count against one.
 */
#ifndef BENCH_LIMIT_H
#define BENCH_LIMIT_H

#include <linux/types.h>

/* Raises RLIMIT_* @resource to @wanted or as near as allowed; returns the new limit. */
__u32 limit_raise(int resource, __u32 wanted);

#endif /* BENCH_LIMIT_H */
