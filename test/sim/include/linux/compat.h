/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_COMPAT_H
#define SIM_LINUX_COMPAT_H

#include <linux/kernel.h>

#endif /* SIM_LINUX_COMPAT_H */
