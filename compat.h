/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes up for the differences between the kernels that hwtimer builds on: their versions,
 * and options without which some of their functions do not exist. A source file
 * that needs one of these functions includes this header. No other file tests the version
 * or the configuration of the kernel; all are written against the newest one.
 */
#ifndef HWTIMER_COMPAT_H
#define HWTIMER_COMPAT_H

#include <linux/cgroup.h>
#include <linux/hrtimer.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/version.h>

/* 6.13 added hrtimer_setup(); 6.16 removed hrtimer_init(). */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *),
	      clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

/*
 * Identifies the cgroups of a task in all hierarchies: tasks in the same cgroups share one
 * css_set. Only good for comparing while the task stays where it is. Does not sleep.
 */
static inline const void *hwtimer_cgroups(struct task_struct *task)
{
	const void *cgroups = NULL;

#ifdef CONFIG_CGROUPS
	rcu_read_lock();
	cgroups = task_css_set(task);
	rcu_read_unlock();
#endif
	return cgroups;
}

/*
 * The number of tasks in what hwtimer_cgroups() has returned: a snapshot. The caller has
 * held the RCU read lock since then.
 */
static inline int hwtimer_cgroups_tasks(const void *cgroups)
{
#ifdef CONFIG_CGROUPS
	const struct css_set *set = cgroups;

	/* The kernel writes it under css_set_lock, which modules cannot take. */
	return data_race(READ_ONCE(set->nr_tasks));
#else
	return INT_MAX;
#endif
}

/* The id of a task's cgroup, in the version 2 hierarchy. Ids are not used again. */
static inline u64 hwtimer_cgroup_of(struct task_struct *task)
{
	u64 id = 0;

/* Without CONFIG_CGROUPS there is no task_dfl_cgroup(). */
#ifdef CONFIG_CGROUPS
	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(task));
	rcu_read_unlock();
#endif
	return id;
}

/* The id of the caller's cgroup. */
static inline u64 hwtimer_cgroup_of_caller(void)
{
	return hwtimer_cgroup_of(current);
}

/*
 * Whether the current task is to sleep because its memory cgroup is above memory.high: on its
 * way to user space, or in the next allocation that may wait for memory.
 */
static inline bool hwtimer_cgroup_is_high(void)
{
#ifdef CONFIG_MEMCG
	return current->memcg_nr_pages_over_high;
#else
	return false;
#endif
}

#endif /* HWTIMER_COMPAT_H */
