// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the time and waits for it; see clock.h.
 */
#include "clock.h"

#define CALIBRATION (50 * NSEC_PER_MSEC)
#define READINGS 4096
/* A gap is a reading of the clock that takes this many times as long as usual. */
#define GAP_FACTOR 8
/* Shorter pauses, ns, are no gaps: the other thread of the core causes them. */
#define STUMBLE 400
/* The work in interrupts has ended once this many ns have passed without a gap. */
#define SETTLED 500000

static double ns_per_cycle;
static __u64 origin_ns, origin_cycles;
static __u64 gap_min;

/* Reads both clocks at one moment: the least disturbed of several tries */
static void read_both(__u64 *ns, __u64 *tsc)
{
	__u64 before, after, best = ~0ULL;
	int i;

	for (i = 0; i < 8; i++) {
		__u64 now;

		before = cycles();
		now = now_ns();
		after = cycles();
		if (after - before >= best)
			continue;
		best = after - before;
		*ns = now;
		*tsc = before + best / 2;
	}
}

/* Most readings of the clock take the shortest time measured here. */
static void find_gap_min(void)
{
	__u64 now, last = cycles(), least = ~0ULL;
	int i;

	for (i = 0; i < READINGS; i++) {
		now = cycles();
		if (now - last < least)
			least = now - last;
		last = now;
	}
	gap_min = least * GAP_FACTOR;
	if (clock_ns(gap_min) < STUMBLE)
		gap_min = STUMBLE / ns_per_cycle;
}

void clock_init(void)
{
	__u64 ns, tsc;

	read_both(&origin_ns, &origin_cycles);
	sleep_until(origin_ns + CALIBRATION);
	read_both(&ns, &tsc);
	ns_per_cycle = (double)(ns - origin_ns) / (tsc - origin_cycles);
	find_gap_min();
}

double clock_ns(__u64 count)
{
	return count * ns_per_cycle;
}

/*
 * The value of cycles() at @time, ns of CLOCK_MONOTONIC. Converts from the present moment, so that
 * no error adds up over minutes.
 */
static __u64 cycles_at(__u64 time)
{
	__u64 ns, tsc;

	read_both(&ns, &tsc);
	return tsc + (__s64)(((double)time - (double)ns) / ns_per_cycle);
}

struct gaps clock_gaps_settled(__u64 time, __u64 patience)
{
	__u64 end = cycles_at(time);
	__u64 limit = end + (__u64)(patience / ns_per_cycle);
	__u64 settled = SETTLED / ns_per_cycle;
	__u64 now, last = cycles(), sum = 0, seen = last;

	do {
		now = cycles();
		if (now - last > gap_min) {
			sum += now - last;
			seen = now;
		}
		last = now;
	} while ((__s64)(now - end) < 0 ||
		 (now - seen < settled && (__s64)(now - limit) < 0));
	return (struct gaps){
		.ns = clock_ns(sum),
		.last = time + (double)(__s64)(seen - end) * ns_per_cycle,
	};
}

struct gaps clock_gaps_until(__u64 time)
{
	return clock_gaps_settled(time, 0);
}
