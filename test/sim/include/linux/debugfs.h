/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_DEBUGFS_H
#define SIM_LINUX_DEBUGFS_H

#include <linux/fs.h>

#endif /* SIM_LINUX_DEBUGFS_H */
