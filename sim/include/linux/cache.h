/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_CACHE_H
#define SIM_LINUX_CACHE_H

#include <linux/kernel.h>

#endif /* SIM_LINUX_CACHE_H */
