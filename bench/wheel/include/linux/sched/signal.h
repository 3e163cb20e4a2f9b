/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_SCHED_SIGNAL_H
#define BENCH_LINUX_SCHED_SIGNAL_H

#include <linux/sched.h>
#include <linux/types.h>

#define current NULL

static inline bool fatal_signal_pending(const void *task)
{
	return false;
}

#endif /* BENCH_LINUX_SCHED_SIGNAL_H */
