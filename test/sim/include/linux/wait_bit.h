/* SPDX-License-Identifier: GPL-2.0 */
/* All waiters for variables wait in one queue, and are all woken: they check then. */
#ifndef SIM_LINUX_WAIT_BIT_H
#define SIM_LINUX_WAIT_BIT_H

#include <linux/wait.h>

extern wait_queue_head_t sim_variables;

#define wait_var_event_killable(variable, condition) \
	((void)(variable), wait_event_killable(sim_variables, condition))
#define wake_up_var(variable) ((void)(variable), wake_up_all(&sim_variables))

#endif /* SIM_LINUX_WAIT_BIT_H */
