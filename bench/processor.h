/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which processor who runs on, and who goes first there.
 */
#ifndef BENCH_PROCESSOR_H
#define BENCH_PROCESSOR_H

/* @pid: a process or a kthread; 0: us */
void processor_pin(int pid, int cpu);

int processor_last(void);

/* How long the scheduler has let @pid run so far, ns; 0: it does not tell. */
double processor_time(int pid);

/* Nobody ordinary runs beside us: until processor_share(). */
void processor_hold(void);
void processor_share(void);

/* Whoever ordinary wants to run does so at once. */
void processor_yield(void);

/* @pid runs only if nobody else wants to: until processor_return(). */
void processor_hold_back(int pid);
void processor_return(int pid);

#endif /* BENCH_PROCESSOR_H */
