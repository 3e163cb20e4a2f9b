/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random numbers for the unit tests. Each test prints the seed that it begins
 * with. To repeat a run: insmod hwtimer.ko kunit_seed=SEED, and the same kunit_scale.
 */
#ifndef HWTIMER_TESTS_RANDOM_H
#define HWTIMER_TESTS_RANDOM_H

#include <kunit/test.h>
#include <linux/prandom.h>

u32 hwtimer_test_scaled(u32 count);
void hwtimer_test_skip_if_scaled(struct kunit *test);
void hwtimer_test_seed(struct kunit *test, struct rnd_state *state);

/* Returns a random number below @below. */
static inline u32 random_below(struct rnd_state *state, u32 below)
{
	return prandom_u32_state(state) % below;
}

#endif /* HWTIMER_TESTS_RANDOM_H */
