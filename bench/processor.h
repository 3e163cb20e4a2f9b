/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Binds processes to processors, and chooses which of them run first.
 */
#ifndef BENCH_PROCESSOR_H
#define BENCH_PROCESSOR_H

/* Binds a process or a kthread to a processor; @pid 0: this process. */
void processor_pin(int pid, int cpu);

/* Returns the number of the last processor that is online. */
int processor_last(void);

/* Returns the processor time of @pid so far, ns; 0: the kernel does not tell. */
double processor_time(int pid);

/* Keeps ordinary processes off this processor, until processor_share(). */
void processor_hold(void);
void processor_share(void);

#endif /* BENCH_PROCESSOR_H */
