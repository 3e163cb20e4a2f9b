// SPDX-License-Identifier: GPL-2.0
/*
 * The clocks; see worker/worker.h.
 */
#include <linux/kernel.h>
#include <linux/overflow.h>
#include <linux/time.h>
#include <linux/time_namespace.h>

#include "worker/worker.h"

#define NSEC_PER_DAY (24 * 3600 * NSEC_PER_SEC)

/**
 * hwtimer_clock_certain - the part of a time that no leap second takes back
 * @fine: CLOCK_REALTIME, ns
 * @coarse: CLOCK_REALTIME at the kernel's last update of its clocks, read after @fine, ns
 *
 * The kernel inserts a leap second with the first update of its clocks after midnight UTC,
 * usually the next jiffy. Until then CLOCK_REALTIME shows the new day, and afterwards goes back
 * to the last second of the old one. The kernel's own hrtimers know of that second, but
 * ktime_get_real() does not.
 *
 * Return: @fine; until the update, the last ns before midnight. Any context.
 */
u64 hwtimer_clock_certain(u64 fine, u64 coarse)
{
	u64 midnight = fine - fine % NSEC_PER_DAY;

	return likely(coarse >= midnight) ? fine : midnight - 1;
}

static u64 clock_real(void)
{
	u64 fine = ktime_get_real_ns();

	return hwtimer_clock_certain(fine,
				     ktime_to_ns(ktime_get_coarse_real()));
}

/**
 * hwtimer_clock_stands - check whether HWTIMER_REALTIME stands still
 *
 * See hwtimer_clock_certain(). hrtimers on that clock go on meanwhile. So a thread that waits for
 * the new day has to wait for a jiffy, or would be woken again and again.
 *
 * Return: whether it is the last ns before midnight UTC. Any context.
 */
bool hwtimer_clock_stands(void)
{
	return !((clock_real() + 1) % NSEC_PER_DAY);
}

const struct hwtimer_clock_desc hwtimer_clocks[HWTIMER_CLOCKS] = {
	[HWTIMER_MONOTONIC] = { ktime_get_ns, CLOCK_MONOTONIC,
				HWTIMER_MONOTONIC, false },
	[HWTIMER_BOOTTIME] = { ktime_get_boottime_ns, CLOCK_BOOTTIME,
			       HWTIMER_BOOTTIME, false },
	[HWTIMER_REALTIME] = { clock_real, CLOCK_REALTIME, HWTIMER_REALTIME,
			       true },
	[HWTIMER_TAI] = { ktime_get_clocktai_ns, CLOCK_TAI, HWTIMER_TAI, true },
};

/* The clock whose number in SETUP is @number; NULL if no clock has it. */
const struct hwtimer_clock_desc *hwtimer_clock_find(u32 number)
{
	unsigned int nr;

	for (nr = 0; nr < HWTIMER_CLOCKS; nr++)
		if (hwtimer_clock_number(&hwtimer_clocks[nr]) == number)
			return &hwtimer_clocks[nr];
	return NULL;
}

/**
 * hwtimer_clock_namespace - get how far the caller's clocks are ahead of the host's
 * @offsets: out: for each clock, the offset of the current task's time namespace, ns; 0
 *	for clocks that may be set
 */
void hwtimer_clock_namespace(s64 offsets[HWTIMER_CLOCKS])
{
	struct timespec64 monotonic = {}, boottime = {};

	timens_add_monotonic(&monotonic);
	timens_add_boottime(&boottime);
	offsets[HWTIMER_MONOTONIC] = timespec64_to_ns(&monotonic);
	offsets[HWTIMER_BOOTTIME] = timespec64_to_ns(&boottime);
	offsets[HWTIMER_REALTIME] = 0;
	offsets[HWTIMER_TAI] = 0;
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
