/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Delivers events to read(), and hands timers back for STOP.
 *
 * hwtimer_main.c calls this for read(), hwtimer_ioctl.c for STOP.
 * hwtimer_request.c and hwtimer_bulk.c free discarded events before they run requests.
 * hwtimer_query.c asks which events are being read.
 */
#ifndef HWTIMER_HARVEST_H
#define HWTIMER_HARVEST_H

#include <linux/compiler.h>
#include <linux/types.h>

struct hwtimer_instance;
struct hwtimer_unprocessed;
struct iov_iter;

/**
 * struct hwtimer_leaving - the batch of timers that is being delivered or handed back
 * @page: one page of events, or of unprocessed timers, for user space
 * @free: the records of the batch are in state HWTIMER_FREE already
 * @refused: a reader that must not wait did not get the mutex harvest; the holder has to
 *	wake readers when it unlocks. No lock, see harvest_lock()
 *
 * Protected by the instance's mutex harvest, except for @refused. @page itself is
 * constant.
 */
struct hwtimer_leaving {
	void *page;
	bool free;
	bool refused;
};

/**
 * struct hwtimer_stopping - progress of STOP
 * @at: time at which the instance was stopped, ns on its clock; constant once stopped
 * @cursor: index of the record from which STOP goes on; no record below it is pending
 * @surveyed: index of the record from which STOP goes on to count timers that rest
 * @resting: number of timers counted so far that rest: periodic timers that become
 *	pending again when their event is read, see hwtimer_period.c
 *
 * Protected by the instance's lock.
 */
struct hwtimer_stopping {
	u64 at;
	u64 cursor;
	u64 surveyed;
	u32 resting;
};

bool hwtimer_harvest_discarded_one(struct hwtimer_instance *instance);
u32 hwtimer_harvest_discarded(struct hwtimer_instance *instance);

u32 hwtimer_harvest_take(struct hwtimer_instance *instance, u32 max, u64 *now);
void hwtimer_harvest_finish(struct hwtimer_instance *instance, u32 taken,
			    u32 copied, u64 now);
u32 hwtimer_harvest_leaving(const struct hwtimer_instance *instance, u64 first,
			    unsigned long *leaving);
ssize_t hwtimer_harvest_events(struct hwtimer_instance *instance,
			       struct iov_iter *to, bool nonblock);

u32 hwtimer_harvest_take_pending(struct hwtimer_instance *instance, u32 max,
				 bool *more);
void hwtimer_harvest_finish_pending(struct hwtimer_instance *instance,
				    u32 taken, u32 copied);
ssize_t hwtimer_harvest_unprocessed(struct hwtimer_instance *instance,
				    struct hwtimer_unprocessed __user *timers,
				    u32 count, u64 *left);

#endif /* HWTIMER_HARVEST_H */
