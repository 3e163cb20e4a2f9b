/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_KTHREAD_H
#define SIM_LINUX_KTHREAD_H

#include <linux/err.h>
#include <linux/sched.h>

struct task_struct *kthread_create(int (*run)(void *data), void *data,
				   const char *format, ...) __printf(3, 4);
bool kthread_should_stop(void);
int kthread_stop(struct task_struct *task);

#endif /* SIM_LINUX_KTHREAD_H */
