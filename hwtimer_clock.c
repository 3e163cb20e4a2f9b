// SPDX-License-Identifier: GPL-2.0
/*
 * The clocks; see hwtimer_clock.h.
 */
#include <linux/kernel.h>
#include <linux/overflow.h>
#include <linux/time.h>
#include <linux/time_namespace.h>

#include "hwtimer_clock.h"

const struct hwtimer_clock_desc hwtimer_clocks[HWTIMER_CLOCKS] = {
	[HWTIMER_MONOTONIC] = { ktime_get_ns, CLOCK_MONOTONIC,
				HWTIMER_CLOCK_MONOTONIC, HWTIMER_MONOTONIC },
	[HWTIMER_BOOTTIME] = { ktime_get_boottime_ns, CLOCK_BOOTTIME,
			       HWTIMER_CLOCK_BOOTTIME, HWTIMER_BOOTTIME },
	[HWTIMER_REALTIME] = { ktime_get_real_ns, CLOCK_REALTIME,
			       HWTIMER_CLOCK_REALTIME, HWTIMER_REALTIME },
};

/* The clock whose number in SETUP is @number; NULL if no clock has it. */
const struct hwtimer_clock_desc *hwtimer_clock_find(u32 number)
{
	unsigned int nr;

	for (nr = 0; nr < HWTIMER_CLOCKS; nr++)
		if (hwtimer_clocks[nr].number == number)
			return &hwtimer_clocks[nr];
	return NULL;
}

/**
 * hwtimer_clock_namespace - get how far the caller's clocks are ahead of the host's
 * @offsets: out: for each clock, the offset of the current task's time namespace, ns; 0
 *	for CLOCK_REALTIME
 */
void hwtimer_clock_namespace(s64 offsets[HWTIMER_CLOCKS])
{
	struct timespec64 monotonic = {}, boottime = {};

	timens_add_monotonic(&monotonic);
	timens_add_boottime(&boottime);
	offsets[HWTIMER_MONOTONIC] = timespec64_to_ns(&monotonic);
	offsets[HWTIMER_BOOTTIME] = timespec64_to_ns(&boottime);
	offsets[HWTIMER_REALTIME] = 0;
}

/**
 * hwtimer_clock_host_time - convert a time of a time namespace to the host's time
 * @time: time on a clock of the namespace, ns; KTIME_MAX and more: never
 * @offset: how far that clock is ahead of the host's, ns
 *
 * Return: time on the host's clock, ns. It is 0 for a time before the beginning of that
 * clock, and KTIME_MAX for never and for a time beyond the clock's range.
 */
u64 hwtimer_clock_host_time(u64 time, s64 offset)
{
	s64 host;

	if (time >= KTIME_MAX || check_sub_overflow((s64)time, offset, &host))
		return KTIME_MAX;
	return max_t(s64, host, 0);
}
