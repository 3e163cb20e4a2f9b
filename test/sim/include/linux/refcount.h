/* SPDX-License-Identifier: GPL-2.0 */
/* Counts of references; a wrong use fails the run. */
#ifndef SIM_LINUX_REFCOUNT_H
#define SIM_LINUX_REFCOUNT_H

#include <linux/atomic.h>
#include <linux/kernel.h>

typedef struct {
	int refs;
} refcount_t;

static inline void refcount_set(refcount_t *r, int n)
{
	__atomic_store_n(&r->refs, n, __ATOMIC_RELAXED);
}

static inline void refcount_inc(refcount_t *r)
{
	sim_point("refcount_inc");
	if (__atomic_fetch_add(&r->refs, 1, __ATOMIC_RELAXED) <= 0)
		sim_fail("refcount_inc() of a count that was 0");
}

static inline bool refcount_dec_and_test(refcount_t *r)
{
	int before;

	sim_point("refcount_dec_and_test");
	before = __atomic_fetch_sub(&r->refs, 1, __ATOMIC_ACQ_REL);
	if (before <= 0)
		sim_fail("refcount_dec_and_test() of a count that was 0");
	return before == 1;
}

static inline void refcount_dec(refcount_t *r)
{
	if (refcount_dec_and_test(r))
		sim_fail("refcount_dec() to 0");
}

#endif /* SIM_LINUX_REFCOUNT_H */
