// SPDX-License-Identifier: GPL-2.0
/*
 * A worker's hoard; see hoard.h. run.sh has limited the memory of a user, so that a few calls
 * take all of it. No injected fault does that: hwtimer tries each operation again that has
 * found no memory, and an instance seldom needs any.
 */
#include "hoard.h"

#include <stdbool.h>
#include <time.h>

#include <hwtimer_ring.h>
#include <libhwtimer.h>

#include "board.h"

/* Maximum number of instances that take memory */
#define HOARD_MAX 64

/*
 * Buckets of the instance whose timers take what is too little for a ring. In such a wheel,
 * each of them needs a chunk, which is the least that hwtimer allocates.
 */
#define BUCKETS 512

/* Slots of the largest rings, and of the smallest ones */
#define SLOTS_MAX 32768
#define SLOTS_MIN 64

/**
 * struct taken - an instance that takes memory
 * @hwt: the instance
 * @ring: its ring
 */
struct taken {
	struct hwt *hwt;
	struct hwtimer_ring ring;
};

static struct taken hoard[HOARD_MAX];
static unsigned int count;

/* The instance with timers; NULL: there is none */
static struct hwt *small;

/* Opens an instance with a ring; returns whether there was memory for that. */
static bool take_ring(struct taken *taken, unsigned int slots)
{
	struct hwtimer_setup setup = {
		.clock = HWTIMER_CLOCK(CLOCK_MONOTONIC),
		.completions = slots,
	};

	if (hwt_open(&taken->hwt, HWT_NONBLOCK))
		return false;
	if (!hwt_setup(taken->hwt, &setup) &&
	    !hwtimer_ring_map(&taken->ring, hwt_fd(taken->hwt)))
		return true;
	hwt_close(taken->hwt);
	return false;
}

/* Takes what is left, or what others have given back, by timers that expire in an hour. */
void hoard_more(void)
{
	uint64_t id;

	while (small && !hwt_schedule(small, 3600 * SEC, 0, &id))
		;
}

/* Opens the instance with timers. It has its wheel before there are rings. */
static void begin(void)
{
	struct hwtimer_setup setup = {
		.clock = HWTIMER_CLOCK(CLOCK_MONOTONIC),
		.kind = HWTIMER_KIND_HIERARCHICAL,
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
	for (unsigned int slots = SLOTS_MAX; slots >= SLOTS_MIN; slots /= 2) {
		while (count < HOARD_MAX && take_ring(&hoard[count], slots))
			count++;
	}
	hoard_more();
	did(HOARDS);
}

/* Gives it back. */
void hoard_release(void)
{
	while (count) {
		struct taken *taken = &hoard[--count];

		hwtimer_ring_unmap(&taken->ring);
		hwt_close(taken->hwt);
	}
	if (small)
		hwt_close(small);
	small = NULL;
}
