// SPDX-License-Identifier: GPL-2.0
/*
 * The seed of the unit tests' random numbers, and the number of their random
 * operations; see random.h.
 */
#include <linux/module.h>
#include <linux/random.h>

#include "random.h"

static unsigned int kunit_seed;
module_param(kunit_seed, uint, 0444);
MODULE_PARM_DESC(kunit_seed,
		 "Seed of the unit tests; 0: a new one for each test");

static unsigned int kunit_scale = 1;
module_param(kunit_scale, uint, 0444);
MODULE_PARM_DESC(kunit_scale,
		 "N: the unit tests do one Nth of their random operations");

/* Scales @count operations by kunit_scale; returns at least 1. */
u32 hwtimer_test_scaled(u32 count)
{
	return max(count / max(kunit_scale, 1U), 1U);
}

/* Skips @test, which cannot do fewer operations, if kunit_scale asks for fewer. */
void hwtimer_test_skip_if_scaled(struct kunit *test)
{
	if (hwtimer_test_scaled(2) < 2)
		kunit_skip(test, "takes long; fewer operations show nothing");
}

/* Seeds the random numbers of @test, and prints the seed. */
void hwtimer_test_seed(struct kunit *test, struct rnd_state *state)
{
	u32 seed = kunit_seed ?: get_random_u32();

	kunit_info(test, "kunit_seed=%u\n", seed);
	prandom_seed_state(state, seed);
}
