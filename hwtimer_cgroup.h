/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Has kthreads of the module live in the cgroups of programs, and tells when no program is
 * left there.
 *
 * hwtimer_owner.c has the threads of its workers join, asks whether they are alone, and
 * then ends them: a cgroup with a thread cannot be removed.
 */
#ifndef HWTIMER_CGROUP_H
#define HWTIMER_CGROUP_H

#include <linux/list.h>
#include <linux/types.h>

struct task_struct;

/**
 * struct hwtimer_resident - a kthread that has joined the cgroups of a program
 * @node: entry in the list of all residents; protected by the list's lock, also read by
 *	RCU; not in the list: the thread is where kthreads begin
 * @task: the kthread; written before @node
 * @home: hwtimer_cgroup_of() @task when it had joined; written before @node
 */
struct hwtimer_resident {
	struct list_head node;
	struct task_struct *task;
	u64 home;
};

int hwtimer_cgroup_start(void);
void hwtimer_cgroup_stop(void);

void hwtimer_resident_init(struct hwtimer_resident *resident);
int hwtimer_resident_join(struct hwtimer_resident *resident,
			  struct task_struct *task);
void hwtimer_resident_leave(struct hwtimer_resident *resident);
bool hwtimer_resident_away(const struct hwtimer_resident *resident);
bool hwtimer_resident_alone(const struct hwtimer_resident *resident);

#endif /* HWTIMER_CGROUP_H */
