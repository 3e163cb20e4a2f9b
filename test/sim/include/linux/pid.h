/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_PID_H
#define SIM_LINUX_PID_H

#include <linux/types.h>

struct task_struct;
struct pid_namespace;

pid_t task_pid_nr_ns(struct task_struct *task, struct pid_namespace *ns);
struct pid_namespace *task_active_pid_ns(struct task_struct *task);

#endif /* SIM_LINUX_PID_H */
