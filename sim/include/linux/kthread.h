/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_KTHREAD_H
#define SIM_LINUX_KTHREAD_H

#include <linux/completion.h>
#include <linux/err.h>
#include <linux/sched.h>

struct task_struct *kthread_create(int (*run)(void *data), void *data,
				   const char *format, ...) __printf(3, 4);
void kthread_complete_and_exit(struct completion *completion, long code)
	__attribute__((noreturn));

#endif /* SIM_LINUX_KTHREAD_H */
