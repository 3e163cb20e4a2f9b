/* SPDX-License-Identifier: GPL-2.0 */
/* The module's statements about locks: all are checked, and the first wrong one fails. */
#ifndef SIM_LINUX_LOCKDEP_H
#define SIM_LINUX_LOCKDEP_H

#include <linux/kernel.h>

#ifdef SIM_PLAIN
#define lockdep_assert(condition) ((void)0)
#define lockdep_assert_held(lock) ((void)0)
#define lockdep_assert_not_held(lock) ((void)0)
#else
struct task_struct;
struct task_struct *sim_current(void);

#define lockdep_assert(condition)                                       \
	do {                                                            \
		if (unlikely(!(condition)))                             \
			sim_fail("%s:%d: lockdep_assert(%s)", __func__, \
				 __LINE__, #condition);                 \
	} while (0)
/* All kinds of locks have a member owner. */
#define lock_is_ours(lock) \
	(__atomic_load_n(&(lock)->owner, __ATOMIC_RELAXED) == sim_current())
#define lockdep_assert_held(lock) lockdep_assert(lock_is_ours(lock))
#define lockdep_assert_not_held(lock) lockdep_assert(!lock_is_ours(lock))
#endif

#endif /* SIM_LINUX_LOCKDEP_H */
