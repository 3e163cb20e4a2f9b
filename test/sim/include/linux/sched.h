/* SPDX-License-Identifier: GPL-2.0 */
/* Threads; see test/sim/sim.h for what the simulation knows of them. */
#ifndef SIM_LINUX_SCHED_H
#define SIM_LINUX_SCHED_H

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#define TASK_RUNNING 0x0000
#define TASK_INTERRUPTIBLE 0x0001
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_WAKEKILL 0x0100
#define TASK_NOLOAD 0x0400
#define TASK_NEW 0x0800
#define TASK_KILLABLE (TASK_WAKEKILL | TASK_UNINTERRUPTIBLE)
#define TASK_IDLE (TASK_UNINTERRUPTIBLE | TASK_NOLOAD)
#define TASK_NORMAL (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE)

#define PF_IO_WORKER 0x00000010
#define PF_KTHREAD 0x00200000

#define SCHED_RR 2
#define MAX_RT_PRIO 100

struct kthread;
struct mm_struct;
struct sim_process;
struct sim_thread;
struct sched_attr;

/**
 * struct task_struct - a thread
 * @state: TASK_*
 * @flags: PF_*
 * @mm: what memory cgroups are charged by
 * @process: the process; of a kthread, that of all of them
 * @kthread: what a kthread is to do
 * @signal: a signal is pending
 * @killed: the signal is SIGKILL
 * @usage: references
 * @hurried: other programs wait for a lock that the thread's system call holds: the mutex of
 *	misc devices
 * @spins: number of spinlocks that the thread holds
 * @rcu: depth of RCU read locks
 * @nofaults: depth of pagefault_disable()
 * @thread: what runs it
 * @rcu_head: frees it after its end
 */
struct task_struct {
	unsigned int state;
	unsigned int flags;
	struct mm_struct *mm;
	struct sim_process *process;
	struct kthread *kthread;
	bool signal;
	bool killed;
	int usage;
	bool hurried;
	unsigned int spins;
	unsigned int rcu;
	unsigned int nofaults;
	unsigned int refuse_in;
	unsigned int refuse_more;
	struct sim_thread *thread;
	struct rcu_head rcu_head;
};

#ifdef SIM_PLAIN
extern __thread struct task_struct *sim_task;
#define current sim_task
#else
struct task_struct *sim_current(void);
#define current sim_current()
#endif

void schedule(void);
void set_current_state(unsigned int state);
#define __set_current_state(state) set_current_state(state)
int wake_up_state(struct task_struct *task, unsigned int states);
#define wake_up_process(task) wake_up_state(task, TASK_NORMAL | TASK_NEW)
bool signal_pending(const struct task_struct *task);
bool task_sigpending(const struct task_struct *task);
bool fatal_signal_pending(const struct task_struct *task);

pid_t task_tgid_nr(const struct task_struct *task);
int sched_setattr_nocheck(struct task_struct *task,
			  const struct sched_attr *attr);

#endif /* SIM_LINUX_SCHED_H */
