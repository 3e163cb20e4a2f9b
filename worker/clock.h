/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clocks that an instance can use. Instances read the time from them, and a worker
 * has a queue for each.
 *
 * These are the host's clocks. In a time namespace, a program's CLOCK_MONOTONIC and
 * CLOCK_BOOTTIME are ahead of them by an offset. The offset may be negative. It is
 * constant for as long as a process is in the namespace.
 */
#ifndef HWTIMER_CLOCK_H
#define HWTIMER_CLOCK_H

#include <linux/ktime.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

#include <uapi/linux/hwtimer.h>

/* The module's numbers of the clocks. */
enum {
	HWTIMER_MONOTONIC,
	HWTIMER_BOOTTIME,
	HWTIMER_REALTIME,
	HWTIMER_TAI,
	HWTIMER_CLOCKS,
};

/**
 * struct hwtimer_clock_desc - a clock
 * @now: returns the time, ns
 * @id: number of the clock in the kernel, such as CLOCK_MONOTONIC
 * @nr: number of the clock in this module, such as HWTIMER_MONOTONIC
 * @settable: whether the clock may be set
 */
struct hwtimer_clock_desc {
	u64 (*now)(void);
	clockid_t id;
	unsigned int nr;
	bool settable;
};

extern const struct hwtimer_clock_desc hwtimer_clocks[HWTIMER_CLOCKS];

const struct hwtimer_clock_desc *hwtimer_clock_find(u32 number);
u64 hwtimer_clock_certain(u64 fine, u64 coarse);
bool hwtimer_clock_stands(void);
void hwtimer_clock_namespace(s64 offsets[HWTIMER_CLOCKS]);
u64 hwtimer_clock_host_time(u64 time, s64 offset);

/* The number of a clock in SETUP and INFO, such as HWTIMER_CLOCK_MONOTONIC. */
static inline u32 hwtimer_clock_number(const struct hwtimer_clock_desc *clock)
{
	return HWTIMER_CLOCK(clock->id);
}

/*
 * How far a clock that may be set is ahead of CLOCK_MONOTONIC, ns. If the number has changed,
 * the clock was set, or the machine was suspended.
 */
static inline s64 hwtimer_clock_offset(const struct hwtimer_clock_desc *clock)
{
	enum tk_offsets offset = clock->nr == HWTIMER_TAI ? TK_OFFS_TAI :
							    TK_OFFS_REAL;

	return ktime_to_ns(ktime_mono_to_any(0, offset));
}

#endif /* HWTIMER_CLOCK_H */
