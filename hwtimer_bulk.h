/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does bulks: the same operation on many timers. Called by hwtimer_batch.c and
 * hwtimer_submission.c.
 */
#ifndef HWTIMER_BULK_H
#define HWTIMER_BULK_H

#include <linux/compiler.h>
#include <linux/types.h>

#include <uapi/linux/hwtimer.h>

#include "hwtimer_ring.h"

struct hwtimer_instance;

/**
 * hwtimer_bulk_plain - whether a bulk is valid, whatever the settings of the instance are
 * @bulk: the bulk; only op, flags and slack are used
 *
 * Most bulks are: a CANCEL, or a SCHEDULE or RESCHEDULE with deadlines and without a slack.
 * Each clock takes deadlines.
 *
 * Return: whether hwtimer_bulk_check() need not be called. Any context.
 */
static inline bool hwtimer_bulk_plain(const struct hwtimer_bulk *bulk)
{
	if (bulk->slack)
		return false;
	if (bulk->op == HWTIMER_OP_CANCEL)
		return !(bulk->flags & ~HWTIMER_DISCARD);
	return bulk->flags == HWTIMER_ABSOLUTE &&
	       (bulk->op == HWTIMER_OP_SCHEDULE ||
		bulk->op == HWTIMER_OP_RESCHEDULE);
}

int hwtimer_bulk_check(struct hwtimer_instance *instance,
		       const struct hwtimer_bulk *bulk);
int hwtimer_bulk_run(struct hwtimer_instance *instance,
		     const struct hwtimer_bulk *bulk, u64 *words, u32 count);
int hwtimer_bulk_try(struct hwtimer_instance *instance,
		     const struct hwtimer_bulk *bulk, u64 *words, u32 count);

#endif /* HWTIMER_BULK_H */
