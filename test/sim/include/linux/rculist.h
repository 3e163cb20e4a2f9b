/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_RCULIST_H
#define SIM_LINUX_RCULIST_H

#include <linux/list.h>

#endif /* SIM_LINUX_RCULIST_H */
