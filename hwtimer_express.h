/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Schedules and cancels plain timers through the lane of the current processor, without the
 * instance's lock; see hwtimer_lane.h. Called by hwtimer_bulk.c and
 * hwtimer_request.c.
 */
#ifndef HWTIMER_EXPRESS_H
#define HWTIMER_EXPRESS_H

#include <linux/types.h>

#include "hwtimer.h"

struct hwtimer_bulk;
struct hwtimer_request;

/*
 * Whether hwtimer_express_run() and hwtimer_express_request() are worth a call. Any context.
 */
static __always_inline bool
hwtimer_express_waits(const struct hwtimer_instance *instance)
{
	return unlikely(READ_ONCE(instance->lanes.attend));
}

u32 hwtimer_express_run(struct hwtimer_instance *instance, u32 nr,
			const struct hwtimer_bulk *bulk, u64 *words, u32 count);
bool hwtimer_express_request(struct hwtimer_instance *instance, u32 nr,
			     struct hwtimer_request *request);
void hwtimer_express_provide(struct hwtimer_instance *instance, u32 nr);

#endif /* HWTIMER_EXPRESS_H */
