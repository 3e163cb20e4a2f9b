/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spinlocks; see test/sim/schedule.c. Whoever waits for one does not run. Of SIM_PLAIN, they cost
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
/*
 * As the kernel's: the first byte says that the lock is held, the second one that a thread
 * waits, which gets it next. A lock that anybody may take at any time would be faster when
 * two threads want it: one of them would keep it, and all that it protects.
 */
#define SIM_LOCK_WAITED 0x100U

void sim_spin_wait(spinlock_t *lock);

static inline void spin_lock(spinlock_t *lock)
{
	unsigned int locked = 0;

	if (!__atomic_compare_exchange_n(&lock->locked, &locked, 1, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		sim_spin_wait(lock);
}

static inline void spin_unlock(spinlock_t *lock)
{
	__atomic_store_n((unsigned char *)&lock->locked, 0, __ATOMIC_RELEASE);
}
#else
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);
#endif
#define spin_lock_init(lock) (*(lock) = (spinlock_t)SPINLOCK_INIT)

#define raw_spin_lock_init(lock) spin_lock_init(lock)
#define raw_spin_lock(lock) spin_lock(lock)
#define raw_spin_unlock(lock) spin_unlock(lock)

#endif /* SIM_LINUX_SPINLOCK_H */
