/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_JIFFIES_H
#define SIM_LINUX_JIFFIES_H

#include <linux/ktime.h>

#define MAX_JIFFY_OFFSET ((~0UL >> 1) - 1)
#define time_after_eq64(a, b) ((s64)((a) - (b)) >= 0)

u64 get_jiffies_64(void);

static inline u64 nsecs_to_jiffies64(u64 ns)
{
	return ns / TICK_NSEC;
}

#endif /* SIM_LINUX_JIFFIES_H */
