// SPDX-License-Identifier: GPL-2.0
/*
 * A worker's hoard; see hoard.h. run.sh has limited the memory of a user, so that a few calls
 * take all of it. No injected fault does that: hwtimer tries each operation again that has
 * found no memory, and an instance seldom needs any.
 */
#include "hoard.h"

#include <stdbool.h>
#include <time.h>

#include <libhwtimer.h>

#include "board.h"

/* Maximum number of instances that take memory */
#define HOARD_MAX 64

/*
 * Buckets of the instance whose timers take what is too little for a wheel. In such a wheel,
 * each of them needs a chunk, which is the least that hwtimer allocates.
 */
#define BUCKETS 512

/* Buckets of the largest wheels, and of the smallest ones */
#define BUCKETS_MAX 65536
#define BUCKETS_MIN 256

/* So many timers need the whole wheel. */
#define WHOLE 64

static struct hwt *hoard[HOARD_MAX];
static unsigned int count;

/* The instance with timers; NULL: there is none */
static struct hwt *small;

/* Opens an instance with a whole wheel; returns whether there was memory for that. */
static bool take_wheel(struct hwt **hwt, unsigned int buckets)
{
	struct hwtimer_setup setup = {
		.clock = HWTIMER_CLOCK(CLOCK_MONOTONIC),
		.buckets = buckets,
	};
	unsigned int left = WHOLE;
	uint64_t id;

	if (hwt_open(hwt, HWT_NONBLOCK))
		return false;
	if (!hwt_setup(*hwt, &setup))
		while (left && !hwt_schedule(*hwt, 3600 * SEC, 0, &id))
			left--;
	if (!left)
		return true;
	hwt_close(*hwt);
	return false;
}

/* Takes what is left, or what others have given back, by timers that expire in an hour. */
void hoard_more(void)
{
	uint64_t id;

	while (small && !hwt_schedule(small, 3600 * SEC, 0, &id))
		;
}

/* Opens the instance with timers. It has its wheel before others take the memory. */
static void begin(void)
{
	struct hwtimer_setup setup = {
		.clock = HWTIMER_CLOCK(CLOCK_MONOTONIC),
		.buckets = BUCKETS,
	};
	uint64_t id;

	if (hwt_open(&small, HWT_NONBLOCK))
		small = NULL;
	else if (!hwt_setup(small, &setup))
		hwt_schedule(small, 3600 * SEC, 0, &id);
}

/* Takes all memory that the user of this process may have. */
void hoard_take(void)
{
	begin();
	for (unsigned int n = BUCKETS_MAX; n >= BUCKETS_MIN; n /= 2) {
		while (count < HOARD_MAX && take_wheel(&hoard[count], n))
			count++;
	}
	hoard_more();
	did(HOARDS);
}

/* Gives it back. */
void hoard_release(void)
{
	while (count)
		hwt_close(hoard[--count]);
	if (small)
		hwt_close(small);
	small = NULL;
}
