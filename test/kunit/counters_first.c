// SPDX-License-Identifier: GPL-2.0
/*
 * The first object of a module that counts what it runs (HWTIMER_COVERAGE=y): begins the
 * table of gcov's counters, which the compiler puts into a section of that name. See
 * counters.c, the last object, which ends the table.
 */
#include "counters.h"

const struct gcov_info *const hwtimer_counters_begin[1] __used
	__section(".gcov_info");
