/* SPDX-License-Identifier: GPL-2.0 */
/* RCU; see test/sim/locks.c */
#ifndef SIM_LINUX_RCUPDATE_H
#define SIM_LINUX_RCUPDATE_H

#include <linux/compiler.h>
#include <linux/cond_resched.h>

struct rcu_head {
	struct rcu_head *next;
	void *memory;
};

#ifdef SIM_PLAIN
#define rcu_read_lock() ((void)0)
#define rcu_read_unlock() ((void)0)
#else
void rcu_read_lock(void);
void rcu_read_unlock(void);
#endif
void sim_free_rcu(struct rcu_head *head, void *memory);

/* There is no RCU Tasks. */
#define cond_resched_tasks_rcu_qs() cond_resched()

#endif /* SIM_LINUX_RCUPDATE_H */
