/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spinlocks; see sim/schedule.c. Whoever waits for one does not run. Of SIM_PLAIN, they cost
 * what those of the kernel cost.
 */
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
 * @locked: what they use in a build with SIM_PLAIN
 */
typedef struct spinlock {
	struct task_struct *owner;
	void (*released)(struct spinlock *lock);
#ifdef SIM_FREE
	pthread_mutex_t mutex;
#endif
#ifdef SIM_PLAIN
	unsigned int locked;
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
static inline void spin_lock(spinlock_t *lock)
{
	while (__atomic_exchange_n(&lock->locked, 1, __ATOMIC_ACQUIRE))
		while (__atomic_load_n(&lock->locked, __ATOMIC_RELAXED))
			__builtin_ia32_pause();
}

static inline void spin_unlock(spinlock_t *lock)
{
	__atomic_store_n(&lock->locked, 0, __ATOMIC_RELEASE);
}
#else
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
#endif
#define spin_lock_init(lock) (*(lock) = (spinlock_t)SPINLOCK_INIT)

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
