/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_KTIME_H
#define SIM_LINUX_KTIME_H

#include <linux/types.h>

#include_next <linux/ktime.h>

#include <linux/time64.h>

typedef s64 ktime_t;

u64 ktime_get_ns(void);
u64 ktime_get_boottime_ns(void);
u64 ktime_get_real_ns(void);
ktime_t ktime_get_real(void);
u64 ktime_get_clocktai_ns(void);
ktime_t ktime_get_coarse_real(void);

enum tk_offsets {
	TK_OFFS_REAL,
	TK_OFFS_TAI,
};

/* A clock at a time of CLOCK_MONOTONIC */
ktime_t ktime_mono_to_any(ktime_t mono, enum tk_offsets offset);
#define ktime_to_ns(time) ((s64)(time))

#endif /* SIM_LINUX_KTIME_H */
