/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_PID_NAMESPACE_H
#define SIM_LINUX_PID_NAMESPACE_H

#include <linux/pid.h>

#endif /* SIM_LINUX_PID_NAMESPACE_H */
