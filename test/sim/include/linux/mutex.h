/* SPDX-License-Identifier: GPL-2.0 */
/* Mutexes; see test/sim/wait.c */
#ifndef SIM_LINUX_MUTEX_H
#define SIM_LINUX_MUTEX_H

#include <linux/wait.h>

/**
 * struct mutex - a mutex
 * @owner: the thread that holds it; NULL: none
 * @waiters: those who wait for it; its lock protects @owner
 */
struct mutex {
	struct task_struct *owner;
	wait_queue_head_t waiters;
};

void mutex_init(struct mutex *mutex);
#ifdef SIM_PLAIN
static inline bool mutex_trylock(struct mutex *mutex)
{
	struct task_struct *nobody = NULL;

	return __atomic_compare_exchange_n(&mutex->owner, &nobody, current,
					   false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* No thread sleeps with a mutex held, so this one need not sleep either. */
static inline void mutex_lock(struct mutex *mutex)
{
	while (!mutex_trylock(mutex))
		__builtin_ia32_pause();
}

static inline int mutex_lock_killable(struct mutex *mutex)
{
	mutex_lock(mutex);
	return 0;
}

static inline void mutex_unlock(struct mutex *mutex)
{
	__atomic_store_n(&mutex->owner, NULL, __ATOMIC_RELEASE);
}
#else
void mutex_lock(struct mutex *mutex);
int mutex_lock_killable(struct mutex *mutex);
bool mutex_trylock(struct mutex *mutex);
void mutex_unlock(struct mutex *mutex);
#endif

#endif /* SIM_LINUX_MUTEX_H */
