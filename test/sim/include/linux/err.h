/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_ERR_H
#define SIM_LINUX_ERR_H

#include <errno.h>

#include <linux/types.h>

#define ERESTARTSYS 512

#define ERR_PTR(err) ((void *)(long)(err))
#define PTR_ERR(p) ((long)(p))
#define ERR_CAST(error) ((void *)(error))
#define IS_ERR(p) ((unsigned long)(p) >= (unsigned long)-4095L)

#endif /* SIM_LINUX_ERR_H */
