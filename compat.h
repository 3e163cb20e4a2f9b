/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes up for the differences between the kernels that hwtimer builds on: their versions,
 * and options without which some of their functions do not exist. A source file
 * that needs one of these functions includes this header. No other file but compat_uring.h tests
 * the version or the configuration of the kernel; all are written against the newest one.
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
 * The id of the caller's cgroup in the version 2 hierarchy; 0 on a kernel without cgroups,
 * which has no task_dfl_cgroup(). Ids are not used again.
 */
static inline u64 hwtimer_cgroup_of_caller(void)
{
	u64 id = 0;

#ifdef CONFIG_CGROUPS
	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(current));
	rcu_read_unlock();
#endif
	return id;
}

#endif /* HWTIMER_COMPAT_H */
