/* SPDX-License-Identifier: GPL-2.0 */
/* What tells the scheduler, and lockdep, that the caller may sleep */
#ifndef SIM_LINUX_COND_RESCHED_H
#define SIM_LINUX_COND_RESCHED_H

#include <linux/compiler.h>

#ifdef SIM_PLAIN
#define might_sleep() ((void)0)
#else
/* Fails if the caller holds a spinlock, reads under RCU, or runs in an interrupt. */
void sim_might_sleep(const char *function, int line);
#define might_sleep() sim_might_sleep(__func__, __LINE__)
#endif

#define cond_resched()                     \
	do {                               \
		might_sleep();             \
		sim_point("cond_resched"); \
	} while (0)

#endif /* SIM_LINUX_COND_RESCHED_H */
