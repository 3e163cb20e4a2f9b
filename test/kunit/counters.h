/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gcov's counters in the module. counters.c and counters_first.c use it.
 */
#ifndef HWTIMER_TESTS_COUNTERS_H
#define HWTIMER_TESTS_COUNTERS_H

#include <linux/compiler.h>
#include <linux/types.h>

/* Known to the compiler and its library only */
struct gcov_info;

extern const struct gcov_info *const hwtimer_counters_begin[1];
extern const struct gcov_info *const hwtimer_counters_end[1];

/* The compiler's library has it; see Kbuild. */
void __gcov_info_to_gcda(const struct gcov_info *info,
			 void (*filename)(const char *name, void *arg),
			 void (*dump)(const void *data, unsigned int size,
				      void *arg),
			 void *(*allocate)(unsigned int size, void *arg),
			 void *arg);

void __gcov_merge_add(s64 *counters, unsigned int count);
void hwtimer_counters_abort(void);
void *hwtimer_counters_mmap(void);

void hwtimer_counters_dump(unsigned int number);

#endif /* HWTIMER_TESTS_COUNTERS_H */
