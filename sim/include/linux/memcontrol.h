/* SPDX-License-Identifier: GPL-2.0 */
/* Memory cgroups: only references are counted. */
#ifndef SIM_LINUX_MEMCONTROL_H
#define SIM_LINUX_MEMCONTROL_H

#include <linux/sched.h>

struct mem_cgroup;

struct mem_cgroup *get_mem_cgroup_from_mm(struct mm_struct *mm);
void mem_cgroup_put(struct mem_cgroup *group);
struct mem_cgroup *set_active_memcg(struct mem_cgroup *group);

#endif /* SIM_LINUX_MEMCONTROL_H */
