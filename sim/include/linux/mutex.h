/* SPDX-License-Identifier: GPL-2.0 */
/* Mutexes; see sim/locks.c */
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

#ifdef SIM_PLAIN
#define mutex_init(mutex) ((void)(mutex))
#define mutex_lock(mutex) ((void)(mutex))
#define mutex_lock_interruptible(mutex) ((void)(mutex), 0)
#define mutex_trylock(mutex) ((void)(mutex), true)
#define mutex_unlock(mutex) ((void)(mutex))
#else
void mutex_init(struct mutex *mutex);
void mutex_lock(struct mutex *mutex);
int mutex_lock_interruptible(struct mutex *mutex);
bool mutex_trylock(struct mutex *mutex);
void mutex_unlock(struct mutex *mutex);
#endif

#endif /* SIM_LINUX_MUTEX_H */
