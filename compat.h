/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes up for the differences between the kernels that hwtimer builds on: their versions,
 * and options without which some of their functions do not exist. A source file
 * that needs one of these functions includes this header. No other file tests the version or
 * the configuration of the kernel; all are written against the newest one.
 */
#ifndef HWTIMER_COMPAT_H
#define HWTIMER_COMPAT_H

#include <linux/cgroup.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/version.h>

/*
 * 6.7 moved what a driver needs to a header of its own. A kernel without CONFIG_IO_URING has the
 * same headers, with functions that do nothing.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
#include <linux/io_uring/cmd.h>
#else
#include <linux/io_uring.h>
#endif

#include <uapi/linux/hwtimer.h>

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

/* ---- io_uring ---- */

/* The 16 bytes of an entry that are the driver's. They may be in memory of the program. */
static inline const struct hwtimer_uring *
hwtimer_uring_data(const struct io_uring_cmd *cmd)
{
/* 6.5 gave drivers the whole entry. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
	return (const struct hwtimer_uring *)cmd->sqe->cmd;
#else
	return cmd->cmd;
#endif
}

/*
 * Whether the program has set a field that no command uses. io_uring itself checks some. It
 * keeps flags of its own beside those of the program, since it has a mask for the latter.
 */
static inline bool hwtimer_uring_unused_set(const struct io_uring_cmd *cmd)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
	const struct io_uring_sqe *sqe = cmd->sqe;

	if (READ_ONCE(sqe->addr) || READ_ONCE(sqe->len) ||
	    READ_ONCE(sqe->buf_index) || READ_ONCE(sqe->file_index))
		return true;
#endif
#ifdef IORING_URING_CMD_MASK
	return cmd->flags & IORING_URING_CMD_MASK;
#else
	return cmd->flags;
#endif
}

/* Completes a command: it does not exist any more afterwards. */
static inline void hwtimer_uring_done(struct io_uring_cmd *cmd, int result,
				      unsigned int issue_flags)
{
/* 6.18 removed the second result, which only entries of double size have. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	io_uring_cmd_done(cmd, result, issue_flags);
#else
	io_uring_cmd_done(cmd, result, 0, issue_flags);
#endif
}

#endif /* HWTIMER_COMPAT_H */
