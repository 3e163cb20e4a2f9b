/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_SCHED_SIGNAL_H
#define SIM_LINUX_SCHED_SIGNAL_H

#include <linux/sched.h>

#endif /* SIM_LINUX_SCHED_SIGNAL_H */
