/* SPDX-License-Identifier: GPL-2.0 */
/* Work queues; see test/sim/work.c */
#ifndef SIM_LINUX_WORKQUEUE_H
#define SIM_LINUX_WORKQUEUE_H

#include <linux/err.h>
#include <linux/list.h>
#include <linux/types.h>

#define WQ_UNBOUND 2

struct workqueue_struct;
struct work_struct;

typedef void (*work_func_t)(struct work_struct *work);

/**
 * struct work_struct - something that a thread is to do
 * @func: what to do
 * @entry: in the list of what its queue has to do
 */
struct work_struct {
	work_func_t func;
	struct list_head entry;
};

#define INIT_WORK(work, function)               \
	do {                                    \
		(work)->func = (function);      \
		INIT_LIST_HEAD(&(work)->entry); \
	} while (0)

struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags,
					 int max_active);
void destroy_workqueue(struct workqueue_struct *queue);
bool queue_work(struct workqueue_struct *queue, struct work_struct *work);

#endif /* SIM_LINUX_WORKQUEUE_H */
