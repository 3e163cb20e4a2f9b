/* SPDX-License-Identifier: GPL-2.0 */
/* As the newest kernel that compat.h knows, so that it adds nothing */
#ifndef SIM_LINUX_VERSION_H
#define SIM_LINUX_VERSION_H

#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))
#define LINUX_VERSION_CODE KERNEL_VERSION(7, 3, 0)

#endif /* SIM_LINUX_VERSION_H */
