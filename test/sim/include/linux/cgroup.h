/* SPDX-License-Identifier: GPL-2.0 */
/* cgroups: one hierarchy; see test/sim/process.c */
#ifndef SIM_LINUX_CGROUP_H
#define SIM_LINUX_CGROUP_H

#include <linux/rcupdate.h>
#include <linux/sched.h>

struct cgroup {
	u64 id;
};

struct cgroup *task_dfl_cgroup(const struct task_struct *task);

#define cgroup_id(group) __atomic_load_n(&(group)->id, __ATOMIC_RELAXED)

#endif /* SIM_LINUX_CGROUP_H */
