// SPDX-License-Identifier: GPL-2.0
/* Says on which processor a thread runs; see <linux/smp.h>. */
#include <linux/sched.h>
#include <linux/smp.h>

#include "sim.h"

#define PROCESSORS 3
/* One in so many questions finds that the thread has moved. */
#define STAYS 16

unsigned int raw_smp_processor_id(void)
{
	struct task_struct *task = current;

	if (!sim_below(STAYS))
		task->processor = sim_below(PROCESSORS);
	return task->processor;
}
