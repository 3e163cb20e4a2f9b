// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes KCSAN watch more of a module's accesses than of the kernel's own.
 *
 * test/vm/kernel.sh puts this into kernel/kcsan/core.c of the kernel kcsan-6.12, where it takes
 * the place of the counter of accesses that KCSAN skips. The kernel's accesses are many
 * times as many as the module's. So with one counter for both, either KCSAN hardly ever
 * watches an access of the module's, or the kernel hardly gets on.
 *
 * The boot argument kcsan.module_weight=N lets an access by a module count as N. The
 * others show how often the module was watched; they may miss a few, as nothing serializes
 * the processors that count.
 */

#include <linux/pgtable.h>

static long kcsan_module_weight = 1;
module_param_named(module_weight, kcsan_module_weight, long, 0644);

static unsigned long kcsan_module_accesses;
module_param_named(module_accesses, kcsan_module_accesses, ulong, 0444);

static unsigned long kcsan_module_watched;
module_param_named(module_watched, kcsan_module_watched, ulong, 0444);

/* Returns the number of accesses to skip after the one at @ip; negative: watch that one. */
static __always_inline long kcsan_skip_left(unsigned long ip)
{
	long left;

	if (ip < MODULES_VADDR || ip >= MODULES_END)
		return this_cpu_dec_return(kcsan_skip);

	left = this_cpu_sub_return(kcsan_skip, kcsan_module_weight);
	kcsan_module_accesses++;
	if (left < 0)
		kcsan_module_watched++;
	return left;
}
