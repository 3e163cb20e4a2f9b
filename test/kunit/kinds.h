/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a unit test once with each kind of wheel. A suite lists such a test as
 * KIND_CASE(); the test asks kind_of() for its kind.
 */
#ifndef HWTIMER_TESTS_KINDS_H
#define HWTIMER_TESTS_KINDS_H

#include <kunit/test.h>

#include "wheel/wheel.h"

static const u32 kinds[] = { HWTIMER_KIND_HASHED, HWTIMER_KIND_HIERARCHICAL };

static void kind_name(const u32 *kind, char *name)
{
	strscpy(name, *kind == HWTIMER_KIND_HASHED ? "hashed" : "hierarchical",
		KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(kind, kinds, kind_name);

/* A test case that runs once with each kind of wheel. */
#define KIND_CASE(test_name) KUNIT_CASE_PARAM(test_name, kind_gen_params)

/* Returns the kind of wheel that @test runs with. */
static inline u32 kind_of(const struct kunit *test)
{
	return *(const u32 *)test->param_value;
}

#endif /* HWTIMER_TESTS_KINDS_H */
