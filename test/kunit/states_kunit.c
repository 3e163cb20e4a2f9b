// SPDX-License-Identifier: GPL-2.0
/*
 * Checks, after all other suites, that they have seen each change of a record's state that
 * hwtimer_states_after[] allows. hwtimer_record_check() warns of any other. So the table says
 * neither more nor less than what the module does.
 *
 * Kbuild lists this suite last, and KUnit runs suites in the order of Kbuild.
 */
#include <kunit/test.h>

#include "wheel/table.h"

static void each_change_of_state_happens(struct kunit *test)
{
	unsigned int state;

	for (state = 0; state < HWTIMER_STATES; state++)
		KUNIT_EXPECT_EQ_MSG(test, hwtimer_states_seen[state],
				    hwtimer_states_after[state],
				    "after state %u", state);
}

static struct kunit_case states_test_cases[] = {
	KUNIT_CASE(each_change_of_state_happens),
	{}
};

static struct kunit_suite states_test_suite = {
	.name = "hwtimer_states",
	.test_cases = states_test_cases,
};

kunit_test_suite(states_test_suite);
