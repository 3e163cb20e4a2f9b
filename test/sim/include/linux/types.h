/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_TYPES_H
#define SIM_LINUX_TYPES_H

#include <sys/types.h>

#include_next <linux/types.h>

typedef __s32 s32;

#endif /* SIM_LINUX_TYPES_H */
