/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module in this program: its clock and its threads. Only device.c knows how they are
 * made; its programs call the device as usual, see calls.h.
 */
#ifndef BENCH_CORE_H
#define BENCH_CORE_H

#include <linux/types.h>
#include <sys/types.h>

/* Loads the module. */
void core_load(void);
/* The calling thread may use the device, too. */
void core_enter(void);

/* CLOCK_MONOTONIC of the module, ns; only core_pass() lets time pass */
__u64 core_now(void);
void core_pass(__u64 ns);

/* Has the workers do all that is due. */
void core_run(void);

/* System calls, by which calls.h replaces those of programs */
int core_open(void);
int core_close(int fd);
int core_ioctl(int fd, unsigned long command, void *argument);
ssize_t core_read(int fd, void *buffer, size_t bytes);

#endif /* BENCH_CORE_H */
