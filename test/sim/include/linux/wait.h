/* SPDX-License-Identifier: GPL-2.0 */
/* Wait queues, which do step by step what those of the kernel do; see test/sim/wait.c */
#ifndef SIM_LINUX_WAIT_H
#define SIM_LINUX_WAIT_H

#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#define WQ_FLAG_EXCLUSIVE 1

struct wait_queue_entry;

typedef int (*wait_queue_func_t)(struct wait_queue_entry *entry,
				 unsigned int mode, int flags, void *key);

typedef struct wait_queue_entry {
	unsigned int flags;
	void *private;
	wait_queue_func_t func;
	struct list_head entry;
} wait_queue_entry_t;

typedef struct wait_queue_head {
	spinlock_t lock;
	struct list_head head;
} wait_queue_head_t;

void init_waitqueue_head(wait_queue_head_t *queue);

static inline bool waitqueue_active(const wait_queue_head_t *queue)
{
	return !list_empty(&queue->head);
}

void init_waitqueue_func_entry(wait_queue_entry_t *entry,
			       wait_queue_func_t func);
void init_wait_entry(wait_queue_entry_t *entry, int flags);
void add_wait_queue(wait_queue_head_t *queue, wait_queue_entry_t *entry);
void remove_wait_queue(wait_queue_head_t *queue, wait_queue_entry_t *entry);
long prepare_to_wait_event(wait_queue_head_t *queue, wait_queue_entry_t *entry,
			   int state);
void finish_wait(wait_queue_head_t *queue, wait_queue_entry_t *entry);
void wake_up_key(wait_queue_head_t *queue, unsigned int mode, int exclusive,
		 void *key);
int autoremove_wake_function(wait_queue_entry_t *entry, unsigned int mode,
			     int flags, void *key);

#define wake_up(queue) wake_up_key(queue, TASK_NORMAL, 1, NULL)
#define wake_up_all(queue) wake_up_key(queue, TASK_NORMAL, 0, NULL)

#define wake_up_poll(queue, mask) \
	wake_up_key(queue, TASK_NORMAL, 1, poll_to_key(mask))

#define wait_event_state(queue, condition, state)              \
	({                                                     \
		wait_queue_entry_t wait_entry;                 \
		long wait_ret = 0;                             \
		might_sleep();                                 \
		init_wait_entry(&wait_entry, 0);               \
		for (;;) {                                     \
			long wait_int = prepare_to_wait_event( \
				&(queue), &wait_entry, state); \
			if (condition)                         \
				break;                         \
			if (wait_int) {                        \
				wait_ret = wait_int;           \
				break;                         \
			}                                      \
			schedule();                            \
		}                                              \
		finish_wait(&(queue), &wait_entry);            \
		wait_ret;                                      \
	})
#define wait_event(queue, condition)                            \
	do {                                                    \
		if (!(condition))                               \
			wait_event_state(queue, condition,      \
					 TASK_UNINTERRUPTIBLE); \
	} while (0)
#define wait_event_interruptible(queue, condition) \
	((condition) ?                             \
		 0 :                               \
		 (int)wait_event_state(queue, condition, TASK_INTERRUPTIBLE))
#define wait_event_killable(queue, condition) \
	((condition) ? 0 :                    \
		       (int)wait_event_state(queue, condition, TASK_KILLABLE))

#endif /* SIM_LINUX_WAIT_H */
