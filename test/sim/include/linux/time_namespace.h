/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_TIME_NAMESPACE_H
#define SIM_LINUX_TIME_NAMESPACE_H

#include <linux/time64.h>

/* Add the offsets of the current process's time namespace. */
void timens_add_monotonic(struct timespec64 *time);
void timens_add_boottime(struct timespec64 *time);

#endif /* SIM_LINUX_TIME_NAMESPACE_H */
