/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_UAPI_LINUX_SCHED_TYPES_H
#define SIM_UAPI_LINUX_SCHED_TYPES_H

#include <linux/types.h>

struct sched_attr {
	u32 size;
	u32 sched_policy;
	u64 sched_flags;
	s32 sched_nice;
	u32 sched_priority;
};

#endif /* SIM_UAPI_LINUX_SCHED_TYPES_H */
