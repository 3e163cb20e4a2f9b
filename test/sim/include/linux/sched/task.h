/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_SCHED_TASK_H
#define SIM_LINUX_SCHED_TASK_H

#include <linux/sched.h>

void get_task_struct(struct task_struct *task);
void put_task_struct(struct task_struct *task);

#endif /* SIM_LINUX_SCHED_TASK_H */
