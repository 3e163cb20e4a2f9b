/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_EXPORT_H
#define SIM_LINUX_EXPORT_H

#include <linux/module.h>

#endif /* SIM_LINUX_EXPORT_H */
