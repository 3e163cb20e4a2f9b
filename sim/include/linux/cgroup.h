/* SPDX-License-Identifier: GPL-2.0 */
/* cgroups: one hierarchy, and a css_set for each cgroup; see sim/process.c */
#ifndef SIM_LINUX_CGROUP_H
#define SIM_LINUX_CGROUP_H

#include <linux/rcupdate.h>
#include <linux/sched.h>

struct cgroup {
	u64 id;
};

struct css_set {
	int nr_tasks;
	struct cgroup cgroup;
};

static inline struct css_set *task_css_set(const struct task_struct *task)
{
	return READ_ONCE(task->cgroups);
}

#define task_dfl_cgroup(task) (&task_css_set(task)->cgroup)
#define cgroup_id(group) __atomic_load_n(&(group)->id, __ATOMIC_RELAXED)

int cgroup_attach_task_all(struct task_struct *from, struct task_struct *task);

#endif /* SIM_LINUX_CGROUP_H */
