/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Has kthreads of the module live in the cgroups of programs, and tells when no program is
 * left there.
 *
 * hwtimer_owner.c has the threads of its workers join, is told by a function pointer when a
 * program has ended, asks whether the threads are alone, and then ends them: a cgroup with
 * a thread cannot be removed.
 */
#ifndef HWTIMER_CGROUP_H
#define HWTIMER_CGROUP_H

#include <linux/rculist.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct hwtimer_resident;
struct pid;
struct task_struct;

/**
 * typedef hwtimer_exited_fn - function that is called when a program has ended
 * @resident: the resident that the program had join
 *
 * A work item calls it with no lock held, perhaps too early and several times, but not
 * after hwtimer_resident_leave().
 */
typedef void hwtimer_exited_fn(struct hwtimer_resident *resident);

/**
 * struct hwtimer_resident - a kthread that has joined the cgroups of a program
 * @node: entry in hwtimer_residents by @home; protected by their lock, also read by RCU;
 *	no entry: the thread is where kthreads begin
 * @task: the kthread; written before @node
 * @home: hwtimer_cgroup_of() @task when it had joined; written before @node
 * @exited: called when @process has ended; constant
 * @process: the process that had the thread join
 * @wait: entry in the wait queue of @process
 * @work: work item that calls @exited
 */
struct hwtimer_resident {
	struct hlist_node node;
	struct task_struct *task;
	u64 home;
	hwtimer_exited_fn *exited;
	struct pid *process;
	wait_queue_entry_t wait;
	struct work_struct work;
};

int hwtimer_cgroup_start(void);
void hwtimer_cgroup_stop(void);

void hwtimer_resident_init(struct hwtimer_resident *resident,
			   hwtimer_exited_fn *exited);
int hwtimer_resident_join(struct hwtimer_resident *resident,
			  struct task_struct *task);
void hwtimer_resident_leave(struct hwtimer_resident *resident);
bool hwtimer_resident_away(const struct hwtimer_resident *resident);
bool hwtimer_resident_alone(const struct hwtimer_resident *resident);

#endif /* HWTIMER_CGROUP_H */
