/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_OVERFLOW_H
#define SIM_LINUX_OVERFLOW_H

#include_next <linux/overflow.h>

#define check_sub_overflow(a, b, difference) \
	__builtin_sub_overflow(a, b, difference)

#endif /* SIM_LINUX_OVERFLOW_H */
