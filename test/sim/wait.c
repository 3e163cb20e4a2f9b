// SPDX-License-Identifier: GPL-2.0
/*
 * What threads wait in and for: wait queues, mutexes, completions, RCU. Each does step by
 * step what the kernel's does, so that a wake-up can get lost here as it can there.
 */
#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "sim.h"

/* ---- threads ---- */

bool signal_pending(const struct task_struct *task)
{
	sim_point("signal_pending");
	return __atomic_load_n(&task->signal, __ATOMIC_RELAXED);
}

/* There is no io_uring here, so a signal is the only reason to be woken. */
bool task_sigpending(const struct task_struct *task)
{
	return signal_pending(task);
}

bool fatal_signal_pending(const struct task_struct *task)
{
	return signal_pending(task) &&
	       __atomic_load_n(&task->killed, __ATOMIC_RELAXED);
}

/* Whether a signal keeps a task in this state from sleeping */
static bool signal_wakes(const struct task_struct *task, unsigned int state)
{
	if (!__atomic_load_n(&task->signal, __ATOMIC_RELAXED))
		return false;
	return state & TASK_INTERRUPTIBLE ||
	       (state & TASK_WAKEKILL &&
		__atomic_load_n(&task->killed, __ATOMIC_RELAXED));
}

void set_current_state(unsigned int state)
{
	struct task_struct *task = current;

	sim_point("set_current_state");
	sim_task_lock(task);
	task->state = state;
	sim_task_unlock(task);
	sim_point("set_current_state, done");
}

void schedule(void)
{
	struct task_struct *task = current;

	might_sleep();
	sim_point("schedule");
	sim_task_lock(task);
	if (signal_wakes(task, task->state))
		task->state = TASK_RUNNING;
	sim_task_unlock(task);
	sim_park();
}

/* Returns whether the task was in one of the states, and is running now. */
int wake_up_state(struct task_struct *task, unsigned int states)
{
	bool woken;

	sim_task_lock(task);
	woken = task->state & states;
	if (woken) {
		task->state = TASK_RUNNING;
		sim_unpark(task);
	}
	sim_task_unlock(task);
	return woken;
}

/* ---- wait queues ---- */

void init_waitqueue_head(wait_queue_head_t *queue)
{
	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->head);
}

void init_waitqueue_func_entry(wait_queue_entry_t *entry,
			       wait_queue_func_t func)
{
	*entry = (wait_queue_entry_t){ .func = func };
	INIT_LIST_HEAD(&entry->entry);
}

int autoremove_wake_function(wait_queue_entry_t *entry, unsigned int mode,
			     int flags, void *key)
{
	int woken = wake_up_state(entry->private, mode);

	if (woken)
		list_del_init(&entry->entry);
	return woken;
}

void init_wait_entry(wait_queue_entry_t *entry, int flags)
{
	init_waitqueue_func_entry(entry, autoremove_wake_function);
	entry->private = current;
	entry->flags = flags;
}

void add_wait_queue(wait_queue_head_t *queue, wait_queue_entry_t *entry)
{
	spin_lock(&queue->lock);
	if (entry->flags & WQ_FLAG_EXCLUSIVE)
		list_add_tail(&entry->entry, &queue->head);
	else
		list_add(&entry->entry, &queue->head);
	spin_unlock(&queue->lock);
}

void remove_wait_queue(wait_queue_head_t *queue, wait_queue_entry_t *entry)
{
	spin_lock(&queue->lock);
	list_del_init(&entry->entry);
	spin_unlock(&queue->lock);
}

long prepare_to_wait_event(wait_queue_head_t *queue, wait_queue_entry_t *entry,
			   int state)
{
	long ret = 0;

	spin_lock(&queue->lock);
	if (signal_wakes(current, state)) {
		list_del_init(&entry->entry);
		ret = -ERESTARTSYS;
	} else {
		if (list_empty(&entry->entry))
			list_add(&entry->entry, &queue->head);
		set_current_state(state);
	}
	spin_unlock(&queue->lock);
	return ret;
}

void finish_wait(wait_queue_head_t *queue, wait_queue_entry_t *entry)
{
	set_current_state(TASK_RUNNING);
	spin_lock(&queue->lock);
	if (!list_empty(&entry->entry))
		list_del_init(&entry->entry);
	spin_unlock(&queue->lock);
}

static void wake_locked(wait_queue_head_t *queue, unsigned int mode,
			int exclusive, void *key)
{
	wait_queue_entry_t *entry, *next;

	list_for_each_entry_safe(entry, next, &queue->head, entry) {
		/* Once the function has been called, the entry may be gone. */
		bool alone = entry->flags & WQ_FLAG_EXCLUSIVE;
		int ret = entry->func(entry, mode, 0, key);

		if (ret < 0 || (ret && alone && !--exclusive))
			break;
	}
}

void wake_up_key(wait_queue_head_t *queue, unsigned int mode, int exclusive,
		 void *key)
{
	spin_lock(&queue->lock);
	wake_locked(queue, mode, exclusive, key);
	spin_unlock(&queue->lock);
}

/* ---- mutexes ---- */

void mutex_init(struct mutex *mutex)
{
	mutex->owner = NULL;
	init_waitqueue_head(&mutex->waiters);
}

#ifndef SIM_PLAIN
bool mutex_trylock(struct mutex *mutex)
{
	struct task_struct *nobody = NULL;

	sim_point("mutex_trylock");
	return __atomic_compare_exchange_n(&mutex->owner, &nobody, current,
					   false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static void mutex_expect(struct mutex *mutex)
{
	might_sleep();
	if (__atomic_load_n(&mutex->owner, __ATOMIC_RELAXED) == current)
		sim_fail("mutex_lock() of a mutex that the thread holds");
}

void mutex_lock(struct mutex *mutex)
{
	mutex_expect(mutex);
	wait_event(mutex->waiters, mutex_trylock(mutex));
}

int mutex_lock_killable(struct mutex *mutex)
{
	mutex_expect(mutex);
	return wait_event_killable(mutex->waiters, mutex_trylock(mutex)) ?
		       -EINTR :
		       0;
}

/*
 * The wake-up comes within the lock of the queue. So whoever frees the mutex after it has
 * had it finds nobody there any more; the kernel's mutexes do not promise as much.
 */
void mutex_unlock(struct mutex *mutex)
{
	if (__atomic_load_n(&mutex->owner, __ATOMIC_RELAXED) != current)
		sim_fail(
			"mutex_unlock() of a mutex that the thread does not hold");
	spin_lock(&mutex->waiters.lock);
	__atomic_store_n(&mutex->owner, NULL, __ATOMIC_RELEASE);
	wake_locked(&mutex->waiters, TASK_NORMAL | TASK_WAKEKILL, 1, NULL);
	spin_unlock(&mutex->waiters.lock);
}

#endif /* SIM_PLAIN */

/* ---- completions ---- */

void init_completion(struct completion *completion)
{
	completion->done = 0;
	init_waitqueue_head(&completion->wait);
}

/* When the lock is free again, the waiter may free the completion. */
void complete(struct completion *completion)
{
	spin_lock(&completion->wait.lock);
	completion->done++;
	wake_locked(&completion->wait, TASK_NORMAL, 1, NULL);
	spin_unlock(&completion->wait.lock);
}

bool try_wait_for_completion(struct completion *completion)
{
	bool done;

	spin_lock(&completion->wait.lock);
	done = completion->done;
	completion->done -= done;
	spin_unlock(&completion->wait.lock);
	return done;
}

void wait_for_completion(struct completion *completion)
{
	might_sleep();
	wait_event(completion->wait, try_wait_for_completion(completion));
}

/* ---- RCU ---- */

static struct rcu_head *rcu_waiting;
#ifndef SIM_PLAIN
static unsigned int rcu_readers;
#endif

/* Frees memory, or a thread that has ended. */
static void rcu_free_one(struct rcu_head *head)
{
	/* @head is a part of what is freed. */
	if (!head->memory)
		put_task_struct(
			container_of(head, struct task_struct, rcu_head));
	else
		kfree(head->memory);
}

/**
 * sim_rcu_finish - free what waits, at the end of a run
 *
 * There is no reader left.
 */
void sim_rcu_finish(void)
{
	struct rcu_head *head;

	sim_lock();
	while ((head = rcu_waiting)) {
		rcu_waiting = head->next;
		rcu_free_one(head);
	}
	sim_unlock();
}

/* Frees what waits, if there is no reader. With real threads, everything waits for the end. */
static void rcu_free(void)
{
#if !defined(SIM_FREE) && !defined(SIM_PLAIN)
	if (!rcu_readers)
		sim_rcu_finish();
#endif
}

#ifndef SIM_PLAIN
void rcu_read_lock(void)
{
	current->rcu++;
	__atomic_add_fetch(&rcu_readers, 1, __ATOMIC_ACQ_REL);
	sim_point("rcu_read_lock");
}

void rcu_read_unlock(void)
{
	sim_point("rcu_read_unlock");
	if (!current->rcu--)
		sim_fail("rcu_read_unlock() without rcu_read_lock()");
	__atomic_sub_fetch(&rcu_readers, 1, __ATOMIC_ACQ_REL);
	rcu_free();
}
#endif /* SIM_PLAIN */

void sim_free_rcu(struct rcu_head *head, void *memory)
{
	sim_lock();
	head->memory = memory;
	head->next = rcu_waiting;
	rcu_waiting = head;
	sim_unlock();
	rcu_free();
}
