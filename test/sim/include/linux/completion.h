/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_COMPLETION_H
#define SIM_LINUX_COMPLETION_H

#include <linux/wait.h>

struct completion {
	unsigned int done;
	wait_queue_head_t wait;
};

void init_completion(struct completion *completion);
void complete(struct completion *completion);
void wait_for_completion(struct completion *completion);
bool try_wait_for_completion(struct completion *completion);

#endif /* SIM_LINUX_COMPLETION_H */
