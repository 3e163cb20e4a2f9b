/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For unit tests that are run with each kind of wheel: kind_gen_params(), for
 * KUNIT_CASE_PARAM(), makes test->param_value point to the kind.
 */
#ifndef HWTIMER_TESTS_KINDS_H
#define HWTIMER_TESTS_KINDS_H

#include <kunit/test.h>

#include <uapi/linux/hwtimer.h>

static const u32 kinds[] = { HWTIMER_KIND_HASHED, HWTIMER_KIND_HIERARCHICAL };

static void kind_name(const u32 *kind, char *name)
{
	strscpy(name, *kind == HWTIMER_KIND_HASHED ? "hashed" : "hierarchical",
		KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(kind, kinds, kind_name);

/* The kind with which @test is run. */
static inline u32 kind_of(const struct kunit *test)
{
	return *(const u32 *)test->param_value;
}

#endif /* HWTIMER_TESTS_KINDS_H */
