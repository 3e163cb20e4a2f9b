// SPDX-License-Identifier: GPL-2.0
/*
 * The clocks; see hwtimer_clock.h.
 */
#include <linux/kernel.h>
#include <linux/time.h>

#include "hwtimer_clock.h"

const struct hwtimer_clock hwtimer_clocks[HWTIMER_CLOCKS] = {
	[HWTIMER_MONOTONIC] = { ktime_get_ns, CLOCK_MONOTONIC,
				HWTIMER_MONOTONIC },
	[HWTIMER_BOOTTIME] = { ktime_get_boottime_ns, CLOCK_BOOTTIME,
			       HWTIMER_BOOTTIME },
	[HWTIMER_REALTIME] = { ktime_get_real_ns, CLOCK_REALTIME,
			       HWTIMER_REALTIME },
};

/* The clock that user space calls @id; NULL if there is none. */
const struct hwtimer_clock *hwtimer_clock_find(u32 id)
{
	unsigned int nr;

	for (nr = 0; nr < HWTIMER_CLOCKS; nr++)
		if (hwtimer_clocks[nr].id == (clockid_t)id)
			return &hwtimer_clocks[nr];
	return NULL;
}
