/* SPDX-License-Identifier: GPL-2.0 */
/* Looks into the module; see test/sim/inspect.c. */
#ifndef SIM_INSPECT_H
#define SIM_INSPECT_H

#include <stdbool.h>

struct file;

void sim_inspect_open(struct file *file);
void sim_inspect_waiter(struct file *file, const char *how,
			unsigned int events);
void sim_inspect_alarm(struct file *file);
void sim_inspect_idle(struct file *file);
bool sim_inspect_frees(struct file *file);
void sim_inspect_events(struct file *file);
void sim_inspect_deadlines(struct file *file);
void sim_inspect_instances(void);

#endif /* SIM_INSPECT_H */
