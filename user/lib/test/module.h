/* SPDX-License-Identifier: MIT */
/*
 * A module for tests of the library, as functions in place of the system calls, with a
 * clock that the test turns. The linker puts them there (--wrap).
 */
#ifndef LIB_TEST_MODULE_H
#define LIB_TEST_MODULE_H

#include <stdbool.h>
#include <stdint.h>

/* Deadlines are rounded up to ticks. */
#define TICK 1000000LL

/**
 * struct module - the state of the one instance
 * @now: time of its clock
 * @limit: number of timers above which it says ENOSPC
 * @no_memory: SCHEDULE and RESCHEDULE say ENOMEM
 * @interrupts: one in this many calls is interrupted, at once or half way; 0: none
 * @faults: one in this many calls about timers, and one in this many timers of a call, fails
 *	with an errno that the module may have; 0: none
 * @cut: the next SUBMIT is interrupted after so many operations, and then SUBMIT says ENOMEM;
 *	0: it is not
 * @stopped: SCHEDULE and RESCHEDULE say ESHUTDOWN
 * @report: the next read() says ECANCELED
 * @clock: clock that INFO tells
 * @flags: flags that INFO tells
 * @calls: number of system calls
 * @operations: number of timers scheduled, rescheduled and cancelled
 * @pending: number of timers that wait
 * @ready: number of events that wait, or are not acknowledged
 */
struct module {
	int64_t now;
	unsigned int limit;
	bool no_memory;
	unsigned int interrupts;
	unsigned int faults;
	unsigned int cut;
	bool stopped;
	bool report;
	uint32_t clock;
	uint32_t flags;
	unsigned long calls;
	unsigned long operations;
	unsigned int pending;
	unsigned int ready;
};

extern struct module module;

/* Starts with an empty instance, and random numbers from @seed. */
void module_reset(unsigned int seed);

/* Sets the clock, and makes events of the timers that are due. */
void module_set_clock(int64_t now);

/* A random number below @limit */
unsigned int pick(unsigned int limit);

#endif /* LIB_TEST_MODULE_H */
