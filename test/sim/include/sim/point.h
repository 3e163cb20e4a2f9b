/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a thread may be interrupted: each shim of a lock, a wait, a clock, an allocation
 * or an access to memory that threads share calls sim_point(). What happens there depends
 * on the build:
 *
 *   (default)	the scheduler of test/sim/schedule.c may let another thread run
 *   SIM_FREE	real threads run freely (test/sim/threads.c); for ThreadSanitizer
 *   SIM_COUNTED	as by default, for counting branches
 *   SIM_PLAIN	nothing: the shims are as cheap as the kernel's own functions, for
 *		measuring
 */
#ifndef SIM_POINT_H
#define SIM_POINT_H

#include <stdbool.h>

#if !defined(SIM_PLAIN) && !defined(SIM_FREE)
/* Number of points that the running thread passes before the scheduler is asked */
extern long sim_fuse;

void sim_switch(const char *what, const char *function, int line);
#endif

#if defined(SIM_PLAIN)
#define sim_point(what) ((void)0)
#elif defined(SIM_FREE)
void sim_breathe(void);
#define sim_point(what) sim_breathe()
#elif defined(SIM_COUNTED)
/* A function, so that gcov sees no branches here that the kernel's code does not have. */
void sim_point_pass(const char *what, const char *function, int line);

#define sim_point(what) sim_point_pass(what, __func__, __LINE__)
#else
#define sim_point(what)                                       \
	do {                                                  \
		if (__builtin_expect(--sim_fuse < 0, 0))      \
			sim_switch(what, __func__, __LINE__); \
	} while (0)
#endif

/* Reports a fault of the module, or of what it was told, and ends this run. */
void sim_fail(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

#endif /* SIM_POINT_H */
