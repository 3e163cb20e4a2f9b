/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clocks that an instance may go by. Used by whoever needs to know the
 * time of one, and by the worker, which has a queue for each.
 *
 * These are the host's clocks. In a time namespace, a program's CLOCK_MONOTONIC
 * and CLOCK_BOOTTIME are ahead of them by an offset, which may be negative and is
 * constant for as long as a process is in the namespace.
 */
#ifndef HWTIMER_CLOCK_H
#define HWTIMER_CLOCK_H

#include <linux/ktime.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

/* Numbers of the clocks. */
enum {
	HWTIMER_MONOTONIC,
	HWTIMER_BOOTTIME,
	HWTIMER_REALTIME,
	HWTIMER_CLOCKS,
};

/**
 * struct hwtimer_clock - a clock
 * @now: the time, ns
 * @id: as user space knows it
 * @nr: HWTIMER_MONOTONIC and so on
 */
struct hwtimer_clock {
	u64 (*now)(void);
	clockid_t id;
	unsigned int nr;
};

extern const struct hwtimer_clock hwtimer_clocks[HWTIMER_CLOCKS];

const struct hwtimer_clock *hwtimer_clock_find(u32 id);
void hwtimer_clock_namespace(s64 offsets[HWTIMER_CLOCKS]);
u64 hwtimer_clock_host_time(u64 time, s64 offset);

/*
 * How far CLOCK_REALTIME is ahead of CLOCK_MONOTONIC, ns: another number means
 * that it was set, or that the machine was suspended.
 */
static inline s64 hwtimer_clock_offset(void)
{
	return ktime_to_ns(ktime_mono_to_real(0));
}

#endif /* HWTIMER_CLOCK_H */
