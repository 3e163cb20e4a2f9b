/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What redis-drive measures. Each measure wants a server without timers.
 */
#ifndef REDIS_BENCH_MEASURE_H
#define REDIS_BENCH_MEASURE_H

#include "system.h"

/**
 * struct plan - what the command line asks for
 * @system: the system to drive
 * @port: the server's port
 * @timers: number of timers
 * @batch: timers per call
 * @rate: timers due per second
 * @lead: time between the start and the first deadline, in ms
 * @seconds: how long to watch an idle server
 */
struct plan {
	const struct system *system;
	__u32 port;
	__u32 timers;
	__u32 batch;
	__u32 rate;
	__u32 lead;
	__u32 seconds;
};

/* Timers scheduled per second, with calls pipelined */
void measure_schedule(const struct plan *plan);

/* Bytes of the server's memory per timer */
void measure_memory(const struct plan *plan);

/* Commands per second at the server while all timers are an hour away */
void measure_idle(const struct plan *plan);

/* The same, at a server that another program uses */
void measure_monitor(const struct plan *plan);

/* Timers delivered per second, if all are due at the same time */
void measure_burst(const struct plan *plan);

/* How late timers are delivered that are due at a rate, and what the server does */
void measure_lateness(const struct plan *plan);

/* Ends with status 1 if a timer is not delivered once, is early, or is left. */
void measure_check(const struct plan *plan);

#endif /* REDIS_BENCH_MEASURE_H */
