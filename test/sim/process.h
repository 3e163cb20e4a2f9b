/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes, users and cgroups of the simulation; see test/sim/process.c.
 */
#ifndef SIM_PROCESS_H
#define SIM_PROCESS_H

#include <linux/cgroup.h>
#include <linux/uidgid.h>

#include "sim.h"

/**
 * struct sim_process - a process
 * @nr: its pid
 * @uid: its user
 * @privileged: it has all capabilities
 * @cgroup: its cgroup
 * @dying: its threads are to end
 * @offset: by how much the clocks of its time namespace are ahead, ns
 */
struct sim_process {
	pid_t nr;
	kuid_t uid;
	bool privileged;
	struct cgroup *cgroup;
	bool dying;
	s64 offset;
};

struct sim_process *sim_process_create(kuid_t uid, bool privileged,
				       unsigned int cgroup, s64 offset);
struct sim_process *sim_process_first(void);
struct sim_process *sim_process_of_kernel(void);
void sim_process_join(struct task_struct *task, struct sim_process *process);

/* Starts a thread of another process than the current one. */
struct task_struct *sim_spawn_in(struct sim_process *process, const char *name,
				 sim_main_fn *main, void *argument);

/* Wakes a thread that sleeps, for no reason. */
void sim_process_spurious(void);
void sim_signal(struct task_struct *task, bool kill);

/* For the scheduler */
void sim_thread_free(struct task_struct *task);
void sim_threads_each(void (*look)(struct task_struct *task));

#endif /* SIM_PROCESS_H */
