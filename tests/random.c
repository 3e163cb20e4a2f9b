// SPDX-License-Identifier: GPL-2.0
/*
 * Where the unit tests' random numbers begin; see random.h.
 */
#include <linux/module.h>
#include <linux/random.h>

#include "random.h"

static unsigned int kunit_seed;
module_param(kunit_seed, uint, 0444);
MODULE_PARM_DESC(kunit_seed,
		 "Seed of the unit tests; 0: another one each time");

/* Begins random numbers for @test, and prints how to repeat them. */
void hwtimer_test_seed(struct kunit *test, struct rnd_state *state)
{
	u32 seed = kunit_seed ?: get_random_u32();

	kunit_info(test, "kunit_seed=%u\n", seed);
	prandom_seed_state(state, seed);
}
