/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_MATH64_H
#define SIM_LINUX_MATH64_H

#include_next <linux/math64.h>

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

#endif /* SIM_LINUX_MATH64_H */
