/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_CACHE_H
#define SIM_LINUX_CACHE_H

#define ____cacheline_aligned_in_smp __attribute__((__aligned__(64)))

#include <linux/kernel.h>

#endif /* SIM_LINUX_CACHE_H */
