/* SPDX-License-Identifier: GPL-2.0 */
/* Spinlocks; see sim/locks.c. Whoever waits for one does not run. */
#ifndef SIM_LINUX_SPINLOCK_H
#define SIM_LINUX_SPINLOCK_H

#include <linux/lockdep.h>
#include <linux/types.h>
#ifdef SIM_FREE
#include <pthread.h>
#endif

struct task_struct;

/**
 * struct spinlock - a spinlock
 * @owner: the thread that holds it; NULL: none
 * @released: called by the holder before it releases the lock, to look at what it has
 *	done; NULL: nothing
 * @mutex: what real threads use
 */
typedef struct spinlock {
	struct task_struct *owner;
	void (*released)(struct spinlock *lock);
#ifdef SIM_FREE
	pthread_mutex_t mutex;
#endif
} spinlock_t;

typedef struct spinlock raw_spinlock_t;

#ifdef SIM_FREE
#define SPINLOCK_INIT                              \
	{                                          \
		.mutex = PTHREAD_MUTEX_INITIALIZER \
	}
#else
#define SPINLOCK_INIT \
	{             \
	}
#endif
#define DEFINE_SPINLOCK(name) spinlock_t name = SPINLOCK_INIT
#define DEFINE_RAW_SPINLOCK(name) raw_spinlock_t name = SPINLOCK_INIT

#ifdef SIM_PLAIN
#define spin_lock_init(lock) ((void)(lock))
#define spin_lock(lock) ((void)(lock))
#define spin_unlock(lock) ((void)(lock))
#else
#define spin_lock_init(lock) (*(lock) = (spinlock_t)SPINLOCK_INIT)
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
#endif

#define raw_spin_lock(lock) spin_lock(lock)
#define raw_spin_unlock(lock) spin_unlock(lock)
#define spin_lock_irqsave(lock, flags) \
	do {                           \
		(flags) = 0;           \
		spin_lock(lock);       \
	} while (0)
#define spin_unlock_irqrestore(lock, flags) \
	do {                                \
		(void)(flags);              \
		spin_unlock(lock);          \
	} while (0)

#endif /* SIM_LINUX_SPINLOCK_H */
