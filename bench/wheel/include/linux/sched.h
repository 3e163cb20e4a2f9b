/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_LINUX_SCHED_H
#define BENCH_LINUX_SCHED_H

/* Nobody else wants the processor, as far as this program is concerned. */
#define cond_resched() \
	do {           \
	} while (0)

#endif /* BENCH_LINUX_SCHED_H */
