// SPDX-License-Identifier: GPL-2.0
/*
 * Where the unit tests' random numbers begin, and how many they are for; see
 * random.h.
 */
#include <linux/module.h>
#include <linux/random.h>

#include "random.h"

static unsigned int kunit_seed;
module_param(kunit_seed, uint, 0444);
MODULE_PARM_DESC(kunit_seed,
		 "Seed of the unit tests; 0: another one each time");

static unsigned int kunit_scale = 1;
module_param(kunit_scale, uint, 0444);
MODULE_PARM_DESC(kunit_scale,
		 "Of very many random operations, the unit tests do an Nth");

/* How many of @count operations are to be done here: one at least. */
u32 hwtimer_test_scaled(u32 count)
{
	return max(count / max(kunit_scale, 1U), 1U);
}

/* Skips @test, which does not shrink, if kunit_scale asks for less. */
void hwtimer_test_skip_if_scaled(struct kunit *test)
{
	if (hwtimer_test_scaled(2) < 2)
		kunit_skip(test, "takes long, and less would show nothing");
}

/* Begins random numbers for @test, and prints how to repeat them. */
void hwtimer_test_seed(struct kunit *test, struct rnd_state *state)
{
	u32 seed = kunit_seed ?: get_random_u32();

	kunit_info(test, "kunit_seed=%u\n", seed);
	prandom_seed_state(state, seed);
}
