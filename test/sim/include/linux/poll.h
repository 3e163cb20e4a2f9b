/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_POLL_H
#define SIM_LINUX_POLL_H

#include <sys/epoll.h>

#include <linux/wait.h>

typedef unsigned int __poll_t;

#define poll_to_key(mask) ((void *)(uintptr_t)(mask))
#define key_to_poll(key) ((__poll_t)(uintptr_t)(key))

struct file;
struct poll_table_struct;

typedef void poll_queue_proc(struct file *file, wait_queue_head_t *queue,
			     struct poll_table_struct *table);

typedef struct poll_table_struct {
	poll_queue_proc *proc;
	__poll_t key;
} poll_table;

static inline void poll_wait(struct file *file, wait_queue_head_t *queue,
			     poll_table *table)
{
	if (table && table->proc)
		table->proc(file, queue, table);
}

#endif /* SIM_LINUX_POLL_H */
