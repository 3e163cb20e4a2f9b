/* SPDX-License-Identifier: GPL-2.0 */
/* Executes the ioctls of /dev/hwtimer. */
#ifndef HWTIMER_IOCTL_H
#define HWTIMER_IOCTL_H

#include <linux/compiler.h>
#include <linux/types.h>

struct hwtimer_instance;

long hwtimer_ioctl(struct hwtimer_instance *instance, unsigned int command,
		   void __user *argument);
bool hwtimer_ioctl_waits(const struct hwtimer_instance *instance,
			 unsigned int command);

#endif /* HWTIMER_IOCTL_H */
