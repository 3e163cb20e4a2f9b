/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_PID_H
#define SIM_LINUX_PID_H

#include <linux/wait.h>

struct pid {
	int count;
	wait_queue_head_t wait_pidfd;
};

struct pid_namespace;

struct pid *task_tgid(struct task_struct *task);
struct pid *get_pid(struct pid *pid);
void put_pid(struct pid *pid);
pid_t task_pid_nr_ns(struct task_struct *task, struct pid_namespace *ns);
struct pid_namespace *task_active_pid_ns(struct task_struct *task);

#endif /* SIM_LINUX_PID_H */
