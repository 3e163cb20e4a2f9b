// SPDX-License-Identifier: GPL-2.0-only
/*
 * test/vm/kernel.sh appends this to arch/um/kernel/time.c of User-Mode Linux, whose
 * scheduler otherwise counts in jiffies of 10 ms. That is too coarse to say how
 * long the worker ran (/proc/PID/schedstat); other machines have such a clock.
 */
#include <linux/sched/clock.h>

notrace unsigned long long sched_clock(void)
{
	static unsigned long long boot;
	unsigned long long now = os_nsecs();

	if (!boot)
		boot = now;
	return now - boot;
}
