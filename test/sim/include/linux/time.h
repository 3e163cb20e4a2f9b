/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_TIME_H
#define SIM_LINUX_TIME_H

#include <linux/time64.h>

#endif /* SIM_LINUX_TIME_H */
